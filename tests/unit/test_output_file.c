// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that are written: through no link, for nobody else, and owned by whoever asked. */
#include "files/output_file.h"
#include "profile/profile.h"
#include "record/recording.h"

#include "daemon/truth.c"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_output_file.XXXXXX";

static char *at(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static int open_profile(const char *path)
{
	struct profile_header h = { .engine = "bpf",
				    .model = "wait",
				    .frequency_hz = 1000,
				    .period_s = 0.001,
				    .command = "true",
				    .host = "h",
				    .kernel = "k",
				    .started = "s",
				    .mode = "windows",
				    .cpus = 1 };
	struct profile_progress point = { .name = "a", .spec = "mark:a" };
	struct profile_writer *w;
	int r = profile_writer_open(path, &h, &point, 1, &w, NULL);

	if (!r)
		profile_writer_close(w);
	return r;
}

static int open_recording(const char *path)
{
	struct record_header h = { .engine = "bpf",
				   .command = "true",
				   .scope = "s",
				   .host = "h",
				   .kernel = "k",
				   .started = "s",
				   .cpus = 1 };
	struct recording_writer *w;
	int r = recording_writer_open(path, &h, &w, NULL);

	if (!r)
		recording_writer_close(w, NULL, NULL);
	return r;
}

static int open_truth(const char *path)
{
	int fd = truth_open(path, NULL, NULL);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int open_report(const char *path)
{
	int fd = output_file_open(path, O_WRONLY, OUTPUT_USERS, NULL, NULL);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static const struct {
	const char *name;
	int (*open)(const char *path);
	bool always_private; /* not for root alone */
} kinds[] = {
	{ "profile", open_profile, true },
	{ "recording", open_recording, true },
	{ "truth", open_truth, true },
	{ "report", open_report, false },
};

/* What lies behind a link that somebody has put there is not written to. */
static void follows_no_links(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_cleanup_free_ char *link = at("link"), *victim = at("victim");
		struct stat st;

		if (!kinds[i].always_private && geteuid())
			continue; /* a user's own links are the user's */
		assert_int_equal(close(open(victim, O_CREAT | O_WRONLY, 0644)), 0);
		assert_int_equal(symlink(victim, link), 0);
		assert_int_equal(kinds[i].open(link), -ELOOP);
		assert_int_equal(stat(victim, &st), 0);
		assert_int_equal(st.st_size, 0);
		/* Nor is anything made where it leads. */
		unlink(victim);
		assert_int_equal(kinds[i].open(link), -ELOOP);
		assert_int_equal(access(victim, F_OK), -1);
		unlink(link);
	}
}

static void is_private(void **state)
{
	mode_t old = umask(0);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_cleanup_free_ char *path = at(kinds[i].name);
		struct stat st;

		assert_int_equal(kinds[i].open(path), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777,
				 kinds[i].always_private || !geteuid() ? 0600 : 0666);
		assert_int_equal(st.st_uid, geteuid());
		unlink(path);
	}
	umask(old);
}

static void is_the_invoking_users(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65533", 1);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_cleanup_free_ char *path = at(kinds[i].name);
		struct stat st;

		assert_int_equal(kinds[i].open(path), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_uid, 65534);
		assert_int_equal(st.st_gid, 65533);
		assert_int_equal(st.st_mode & 07777, 0600);
		/* Again: it is the same user's. */
		assert_int_equal(kinds[i].open(path), 0);
		unlink(path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_cleanup_free_ char *path = at(kinds[i].name);
		struct stat st;

		setenv("SUDO_UID", "65534x", 1);
		assert_int_equal(kinds[i].open(path), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_uid, 0);
		unlink(path);
	}
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

/* Somebody else's file, for root to write secrets to; the profiled program's own is another thing.
 */
static void others_files(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_cleanup_free_ char *path = at(kinds[i].name);

		assert_int_equal(close(open(path, O_CREAT | O_WRONLY, 0666)), 0);
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_int_equal(kinds[i].open(path), kinds[i].open == open_truth ? 0 : -EPERM);
		unlink(path);
	}
}

static void what_is_no_file(void **state)
{
	_cleanup_free_ char *fifo = at("fifo");
	int fd;

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(open_profile(fifo), -EINVAL);
	assert_int_equal(open_recording(fifo), -EINVAL);
	assert_int_equal(open_truth(fifo), -EINVAL);
	unlink(fifo);
	assert_int_equal(open_report("/dev/full"), 0);
	fd = open("/dev/null", O_WRONLY);
	assert_int_equal(dup2(fd, 100), 100);
	assert_int_equal(open_report("/dev/fd/100"), 0);
	close(100);
	close(fd);
}

static void tells_what_is_missing(void **state)
{
	_cleanup_free_ char *path = at("none/file");
	struct error err = {};

	(void)state;
	assert_int_equal(output_file_open(path, O_WRONLY, OUTPUT_PRIVATE, NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "there is no directory /tmp/"));
	assert_non_null(strstr(err.text, "/none: make it, or choose another file with -o"));
	/* Which is no option for it. */
	assert_int_equal(output_file_open(path, O_WRONLY, OUTPUT_COMMANDS, NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "there is no directory"));
	assert_null(strstr(err.text, "-o"));
	assert_int_equal(output_file_open(dir, O_WRONLY, OUTPUT_COMMANDS, NULL, &err), -EISDIR);
	assert_null(strstr(err.text, "-o"));
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_no_links),	 cmocka_unit_test(is_private),
		cmocka_unit_test(is_the_invoking_users), cmocka_unit_test(others_files),
		cmocka_unit_test(what_is_no_file),	 cmocka_unit_test(tells_what_is_missing),
	};

	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
