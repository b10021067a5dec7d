/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Building and running tests/unit/test_marks.d/program.c. */
#ifndef TEST_MARKS_COMMON_H
#define TEST_MARKS_COMMON_H

#include "progress/marks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char test_dir[] = "/tmp/scoz-marks-XXXXXX";
static char *test_root;	 /* of the source tree */
static char *test_marks; /* directory of counters */

__attribute__((format(printf, 1, 2), unused)) static int run(const char *fmt, ...)
{
	_cleanup_free_ char *command = NULL;
	va_list ap;
	int status;

	va_start(ap, fmt);
	if (vasprintf(&command, fmt, ap) < 0)
		abort();
	va_end(ap);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool have(const char *tool)
{
	return !run("command -v %s >/dev/null 2>&1", tool);
}

static void setup_or_skip(void)
{
	static const char file[] = __FILE__;
	const char *tests = strstr(file, "tests/unit/");

	test_root = tests > file ? xstrndup(file, tests - file) : xstrdup("./");
	if (run("test -e %sinclude/scoz.h", test_root)) {
		printf("skipped: include/scoz.h is not below the current directory\n");
		exit(77);
	}
	if (!have("gcc")) {
		printf("skipped: there is no gcc to build programs with marks\n");
		exit(77);
	}
	if (!mkdtemp(test_dir))
		abort();
	test_marks = xasprintf("%s/marks", test_dir);
}

static void teardown(void)
{
	run("rm -rf %s", test_dir);
	free(test_root);
	free(test_marks);
}

static inline int find_sites(const char *path, struct mark_site **sites, size_t *n,
			     struct error *err)
{
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT;
	int r = held_file_open(path, &file, err);

	return r ? r : marks_find_sites(&file, sites, n, err);
}

/* Returns the program's path, or NULL without that compiler. */
static char *build(const char *cc, const char *flags, const char *name)
{
	_cleanup_free_ char *tool = xstrndup(cc, strcspn(cc, " "));
	char *out;

	if (!have(tool))
		return NULL;
	out = xasprintf("%s/%s", test_dir, name);
	if (run("%s -DSCOZ_LINT -DSCOZ_MARKS_DIR='\"%s\"' -Wall -Wextra -Werror %s -I%sinclude "
		"-pthread %s%s -o %s",
		cc, test_marks, flags, test_root, test_root, "tests/unit/test_marks.d/program.c",
		out))
		fail_msg("%s %s does not build the program", cc, flags);
	return out;
}

/* " OFFSET OFFSET..." of the semaphores in @path. */
__attribute__((unused)) static char *semaphores(const char *path)
{
	struct error err = { 0 };
	struct mark_site *sites;
	char *text = xstrdup("");
	size_t n;

	if (find_sites(path, &sites, &n, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < n; i++) {
		char *longer =
			xasprintf("%s %llu", text, (unsigned long long)sites[i].semaphore_offset);

		free(text);
		text = longer;
	}
	mark_sites_free(sites, n);
	return text;
}

#endif
