// SPDX-License-Identifier: GPL-2.0-or-later
/* Marks that could not be looked for: the user hears why, once for each kind of reason. */
#include "progress/mark_search.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int answer; /* of whoever reads files for us */

static int read_nothing(int fd, const char *name, const char *spec, struct probe_sites **ret,
			struct error *err)
{
	(void)fd;
	(void)spec;
	*ret = NULL;
	return error_set(err, -answer, "%s: %s", name, strerror(-answer));
}

static void write_over(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* A file that is looked through, with that outcome; each is longer than those before. */
static void look(struct mark_search *s, const char *name, int outcome)
{
	static int length;
	char dir[] = "/tmp/test_mark_search.XXXXXX";
	_cleanup_free_ char *path = NULL, *text = xasprintf("%*s", ++length, "");

	assert_non_null(mkdtemp(dir));
	path = xasprintf("%s/%s", dir, name);
	write_over(path, text);
	answer = outcome;
	mark_search_add_path(s, path, MARK_NO_ID);
	mark_search_wait(s, 60);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void test_reasons(void **state)
{
	static const int unheard[] = { -ETIMEDOUT, -EPIPE, -EBADMSG, -EMFILE };
	struct mark_search *s = mark_search_create();
	struct held_file file;
	struct probe_sites *sites;
	struct error why;

	(void)state;
	probe_sites_read_by(read_nothing);
	look(s, "text", -ENOEXEC);
	look(s, "at the end", -EINTR);
	assert_false(mark_search_failed(s, &why));
	for (size_t i = 0; i < ARRAY_SIZE(unheard); i++) {
		look(s, "first", unheard[i]);
		look(s, "second", unheard[i]);
		assert_true(mark_search_failed(s, &why));
		assert_int_equal(why.code, unheard[i]);
		assert_non_null(strstr(why.text, "first: "));
		look(s, "third", unheard[i]);
		assert_false(mark_search_failed(s, &why));
	}
	error_set(&why, EMFILE, "again");
	mark_search_add_failure(s, &why);
	assert_false(mark_search_failed(s, &why));
	error_set(&why, ENFILE, "not opened");
	mark_search_add_failure(s, &why);
	assert_true(mark_search_failed(s, &why));
	assert_string_equal(why.text, "not opened: raise the machine's limit (sysctl fs.file-max)");
	assert_false(mark_search_take(s, &file, &sites));
	mark_search_destroy(s);
}

static int put_at(size_t i, void *arg, struct error *err)
{
	size_t *n = arg;

	assert_int_equal(i % 2, 0);
	*n += 1;
	return error_set(err, EINVAL, "no probe there");
}

/* Of a program that is full of one mark, which each is told to be somewhere. */
static void test_many_places(void **state)
{
	struct probe_site *list = xcalloc(4 * MARK_PLACES, sizeof(*list));
	const struct probe_sites sites = { .list = list, .n = 4 * MARK_PLACES };
	const struct held_file file = { .name = (char *)"full" };
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < sites.n; i++) {
		list[i].kind = MARK_PROGRESS;
		strcpy(list[i].name, i % 2 ? "other" : "mark");
	}
	mark_search_put(&sites, MARK_PROGRESS, "mark", &file, put_at, &n);
	assert_int_equal(n, MARK_PLACES);
	n = 0;
	mark_search_put(&sites, MARK_BEGIN, "mark", &file, put_at, &n);
	assert_int_equal(n, 0);
	list[0].kind = MARK_BEGIN;
	mark_search_put(&sites, MARK_BEGIN, "mark", &file, put_at, &n);
	assert_int_equal(n, 1);
	free(list);
}

static size_t searches; /* by whoever reads files for us, who finds a mark in those of 5 bytes */

static int find_mark(int fd, const char *name, const char *spec, struct probe_sites **ret,
		     struct error *err)
{
	struct stat st;

	(void)spec;
	searches++;
	if (fstat(fd, &st) || st.st_size != 5)
		return error_set(err, ENOEXEC, "%s: no program", name);
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->n = 1;
	return 0;
}

/* Asks for the file; how often it was looked through, and whether marks were found. */
static size_t ask(struct mark_search *s, const char *path, bool *marks)
{
	struct probe_sites *sites;
	struct held_file file;
	size_t before = searches;

	mark_search_add_path(s, path, MARK_NO_ID);
	mark_search_wait(s, 60);
	*marks = mark_search_take(s, &file, &sites);
	if (*marks) {
		probe_sites_free(sites);
		held_file_close(&file);
	}
	return searches - before;
}

/* A program that is built anew, under the number of the one that was deleted or in its place. */
static void test_built_anew(void **state)
{
	char path[] = "/tmp/test_mark_search.XXXXXX";
	struct mark_search *s = mark_search_create();
	int fd = mkstemp(path);
	bool marks;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	probe_sites_read_by(find_mark);
	write_over(path, "none");
	assert_int_equal(ask(s, path, &marks), 1);
	assert_false(marks);
	assert_int_equal(ask(s, path, &marks), 0);
	write_over(path, "marks");
	assert_int_equal(ask(s, path, &marks), 1);
	assert_true(marks);
	/* It has its probes: whatever becomes of it, it gets no others. */
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(ask(s, path, &marks), 0);
	assert_false(marks);
	assert_int_equal(unlink(path), 0);
	mark_search_destroy(s);
}

/* A file system that does not answer, for whoever asks for a file in it. */
static pthread_mutex_t server = PTHREAD_MUTEX_INITIALIZER;
int __real_held_file_open(const char *path, struct held_file *ret, struct error *err);
int __wrap_held_file_open(const char *path, struct held_file *ret, struct error *err);

int __wrap_held_file_open(const char *path, struct held_file *ret, struct error *err)
{
	pthread_mutex_lock(&server);
	pthread_mutex_unlock(&server);
	return __real_held_file_open(path, ret, err);
}

/* Nobody waits for it but the thread; then all is told of files that were asked for. */
static void test_hangs(void **state)
{
	char path[] = "/tmp/test_mark_search.XXXXXX";
	struct mark_search *s = mark_search_create();
	struct probe_sites *sites;
	struct mark_file opened;
	struct held_file file;
	int fd = mkstemp(path);
	struct stat st;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	probe_sites_read_by(find_mark);
	write_over(path, "marks");
	alarm(60);
	pthread_mutex_lock(&server);
	mark_search_add_path(s, path, 7);
	mark_search_add_path(s, "/no/such/file", 8);
	mark_search_add_path(s, path, 9);
	assert_false(mark_search_opened(s, &opened));
	assert_false(mark_search_take(s, &file, &sites));
	assert_true(mark_search_takes_more(s));
	pthread_mutex_unlock(&server);
	mark_search_wait(s, 60);
	for (uint32_t id = 7; id <= 9; id++) {
		assert_true(mark_search_opened(s, &opened));
		assert_int_equal(opened.id, id);
		assert_int_equal(opened.ino, id == 8 ? 0 : st.st_ino);
		assert_int_equal(opened.dev, id == 8 ? 0 : st.st_dev);
	}
	assert_false(mark_search_opened(s, &opened));
	assert_true(mark_search_take(s, &file, &sites));
	assert_string_equal(file.name, path);
	probe_sites_free(sites);
	held_file_close(&file);
	assert_false(mark_search_take(s, &file, &sites));
	/* Nor at the end: it goes on to hang. */
	pthread_mutex_lock(&server);
	mark_search_add_path(s, path, 10);
	mark_search_destroy(s);
	alarm(0);
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_reasons),
					    cmocka_unit_test(test_many_places),
					    cmocka_unit_test(test_built_anew),
					    cmocka_unit_test(test_hangs) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
