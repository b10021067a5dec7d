// SPDX-License-Identifier: GPL-2.0-or-later
/* Debug information names any file: which of them get into a profile. */
#include "daemon/source_text.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_sources.XXXXXX";
static char *program;
static struct file_id id;

static char *at(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static char *make(const char *name, const char *text, mode_t mode, uid_t owner)
{
	char *path = at(name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
	if (!geteuid())
		assert_int_equal(chown(path, owner, owner), 0);
	return path;
}

static int set_up(void **state)
{
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0755), 0);
	program = make("program", "x", 0755, 1000);
	assert_int_equal(stat(program, &st), 0);
	id = (struct file_id){ .dev_major = major(st.st_dev),
			       .dev_minor = minor(st.st_dev),
			       .ino = st.st_ino };
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return 0;
}

static int tear_down(void **state)
{
	_cleanup_free_ char *command = xasprintf("rm -r %s", dir);

	(void)state;
	free(program);
	return system(command);
}

/* Lines around @line of file @name, as scozd gets them; 0: none. */
static size_t lines_of(const char *name, size_t line, bool *newer)
{
	struct sources *s = sources_start();
	_cleanup_free_ char *location = xasprintf("%s%s%s:%zu", *name == '/' ? "" : dir,
						  *name == '/' ? "" : "/", name, line);
	struct source_lines l;
	bool some, moved = false;
	size_t n = 0;

	assert_non_null(s);
	some = sources_read(s, program, &id, location, &l, &moved);
	if (some) {
		n = l.n;
		assert_int_equal(l.first, line > 8 ? line - 8 : 1);
		assert_true(!strncmp(l.line[0], "line", 4));
		source_lines_free(&l);
	}
	if (newer)
		*newer = moved;
	sources_stop(s);
	return n;
}

static void test_files(void **state)
{
	_cleanup_free_ char *many = NULL, *a = NULL, *wide = NULL, *text = xcalloc(5000, 1);
	_cleanup_free_ char *fifo = at("fifo.c"), *link = at("link.c"), *binary = NULL;
	const struct timespec later[2] = { { .tv_sec = 2000000000 }, { .tv_sec = 2000000000 } };
	const struct timespec before[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	bool newer;

	(void)state;
	for (int i = 0; i < 30; i++)
		text_add(&many, "line %d\n", i + 1);
	a = make("a.c", many, 0644, 1000);
	assert_int_equal(lines_of("a.c", 1, NULL), 9);
	assert_int_equal(lines_of("a.c", 20, NULL), 17);
	assert_int_equal(lines_of("a.c", 30, NULL), 9);
	assert_int_equal(lines_of("a.c", 31, NULL), 0); /* another version of it */
	assert_int_equal(lines_of("none.c", 1, NULL), 0);
	assert_int_equal(utimensat(AT_FDCWD, a, later, 0), 0);
	assert_int_equal(lines_of("a.c", 1, &newer), 9);
	assert_true(newer);
	assert_int_equal(utimensat(AT_FDCWD, a, before, 0), 0);
	assert_int_equal(lines_of("a.c", 1, &newer), 9);
	assert_false(newer);
	/* Nothing but files, and nobody waits for a writer. */
	assert_int_equal(mkfifo(fifo, 0644), 0);
	assert_int_equal(lines_of("fifo.c", 1, NULL), 0);
	assert_int_equal(lines_of("", 1, NULL), 0);
	assert_int_equal(lines_of("/dev/zero", 1, NULL), 0);
	/* Whose links they are does not matter: what they lead to is looked at. */
	assert_int_equal(symlink("/dev/zero", link), 0);
	assert_int_equal(lines_of("link.c", 1, NULL), 0);
	/* Long lines are cut. */
	memset(text, 'x', 4999);
	memcpy(text, "line", 4);
	wide = make("wide.c", text, 0644, 1000);
	assert_int_equal(lines_of("wide.c", 1, NULL), 1);
	binary = make("big.c", "", 0644, 1000);
	assert_int_equal(truncate(binary, 100 << 20), 0);
	assert_int_equal(lines_of("big.c", 1, NULL), 0);
}

/* As compilers are told to leave the beginning out. */
static void test_relative(void **state)
{
	_cleanup_free_ char *b = make("b.c", "line 1\n", 0644, 1000);
	struct sources *s = sources_start();
	struct source_lines l;
	bool newer;

	(void)state;
	assert_true(sources_read(s, program, &id, "b.c:1", &l, &newer));
	source_lines_free(&l);
	assert_false(sources_read(s, "", &id, "b.c:1", &l, &newer));
	sources_stop(s);
	assert_int_equal(chdir(dir), 0);
	s = sources_start();
	assert_true(sources_read(s, "", &id, "b.c:1", &l, &newer));
	source_lines_free(&l);
	sources_stop(s);
	assert_int_equal(chdir("/"), 0);
}

static void test_whose(void **state)
{
	_cleanup_free_ char *theirs = NULL, *others = NULL, *closed = NULL;
	struct file_id other = id;
	struct source_lines l;
	struct sources *s;
	bool newer;

	(void)state;
	if (geteuid())
		skip();
	/* What others may not read only if it is of the user whose program names it. */
	theirs = make("theirs.c", "line 1\n", 0600, 1000);
	others = make("others.c", "line 1\n", 0640, 0);
	assert_int_equal(lines_of("theirs.c", 1, NULL), 1);
	assert_int_equal(lines_of("others.c", 1, NULL), 0);
	assert_int_equal(lines_of("/etc/shadow", 1, NULL), 0);
	/* A program of that name elsewhere, in a container, is nobody's. */
	other.ino++;
	s = sources_start();
	closed = xasprintf("%s:1", theirs);
	assert_false(sources_read(s, program, &other, closed, &l, &newer));
	sources_stop(s);
	/* By sudo: with the rights of who called it. */
	setenv("SUDO_UID", "1234", 1);
	setenv("SUDO_GID", "1234", 1);
	assert_int_equal(lines_of("theirs.c", 1, NULL), 0);
	assert_int_equal(lines_of("a.c", 1, NULL), 9);
	setenv("SUDO_UID", "1000", 1);
	assert_int_equal(lines_of("theirs.c", 1, NULL), 1);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

static int pid_of(const struct sources *s)
{
	_cleanup_free_ char *path = xasprintf("/proc/self/fdinfo/%d", s->process);
	_cleanup_free_ char *text = read_file(path, NULL);
	const char *line = text ? strstr(text, "Pid:") : NULL;

	assert_non_null(line);
	return atoi(line + strlen("Pid:"));
}

/* One that hangs in a file is not waited for again. */
static void test_stuck(void **state)
{
	_cleanup_free_ char *location = at("a.c:1");
	struct sources *s = sources_start();
	uint64_t began = clock_now_ns();
	struct source_lines l;
	bool newer;

	(void)state;
	kill(pid_of(s), SIGSTOP);
	assert_false(sources_read(s, program, &id, location, &l, &newer));
	kill(pid_of(s), SIGCONT);
	usleep(100000);
	began = clock_now_ns();
	assert_false(sources_read(s, program, &id, location, &l, &newer));
	assert_true(clock_now_ns() - began < PATIENCE_NS);
	sources_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_relative),
		cmocka_unit_test(test_whose),
		cmocka_unit_test(test_stuck),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
