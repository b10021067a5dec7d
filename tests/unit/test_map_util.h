/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs to look at, compiled while the tests run, in a directory that goes away again. */
#ifndef SCOZ_TEST_MAP_UTIL_H
#define SCOZ_TEST_MAP_UTIL_H

#include "elf/elf_image.h"
#include "elf/table_make.h"
#include "maps/maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[] = "/tmp/scoz-test-map.XXXXXX";

__attribute__((unused, format(printf, 1, 2))) static int try_sh(const char *fmt, ...)
{
	_cleanup_free_ char *command = NULL, *in_dir = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&command, fmt, ap) < 0)
		abort();
	va_end(ap);
	in_dir = xasprintf("cd %s && { %s; } >log 2>&1", scratch, command);
	return system(in_dir);
}

#define sh(...) \
	do { \
		if (try_sh(__VA_ARGS__)) { \
			_cleanup_free_ char *log_name__ = xasprintf("%s/log", scratch); \
			_cleanup_free_ char *log__ = read_file(log_name__, NULL); \
			fail_msg("command failed: %s", log__ ? log__ : "?"); \
		} \
	} while (0)

/* Compilers learned -gz=zstd only lately; objcopy does here what they would. */
__attribute__((unused)) static int try_compile(const char *compiler, const char *sources,
					       const char *out)
{
	static const char zstd[] = " -gz=zstd";
	const char *at = strstr(compiler, zstd);
	_cleanup_free_ char *rest = NULL;

	if (!at)
		return try_sh("%s %s -o %s", compiler, sources, out);
	rest = xasprintf("%.*s%s", (int)(at - compiler), compiler, at + strlen(zstd));
	return try_sh("%s %s -o %s && objcopy --compress-debug-sections=zstd %s", rest, sources,
		      out, out);
}

__attribute__((unused, format(printf, 1, 2))) static char *in_scratch(const char *fmt, ...)
{
	_cleanup_free_ char *name = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&name, fmt, ap) < 0)
		abort();
	va_end(ap);
	return xasprintf("%s/%s", scratch, name);
}

__attribute__((unused)) static void write_file(const char *path, const void *data, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* The line of a source that carries the comment @MARK. */
__attribute__((unused)) static uint32_t line_of(const char *source, const char *mark)
{
	_cleanup_free_ char *wanted = xasprintf("/* @%s */", mark);
	const char *at = strstr(source, wanted);
	uint32_t line = 1;

	assert_non_null(at);
	for (const char *p = source; p < at; p++)
		line += *p == '\n';
	return line;
}

__attribute__((unused)) static struct maptable *open_with(const char *path,
							  const struct map_options *opt)
{
	struct maptable *t = NULL;
	struct error err;

	if (maptable_make(path, path, opt, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

__attribute__((unused)) static bool in_ranges(const struct addr_ranges *r, uint64_t addr)
{
	for (size_t i = 0; i < r->n; i++) {
		if (addr >= r->r[i].start && addr < r->r[i].end)
			return true;
	}
	return false;
}

__attribute__((unused)) static char *build_id_of(const char *path)
{
	struct elf_image *image;
	struct error err;
	char *id;

	if (elf_image_open(path, path, ELF_PROGRAMS_AND_MODULES, &image, &err))
		fail_msg("%s", err.text);
	id = xstrdup(image->build_id);
	elf_image_close(image);
	return id;
}

/* The first one of its main thread; 0: none. */
__attribute__((unused)) static int child_of(int parent)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/task/%d/children", parent, parent);
	_cleanup_free_ char *text = read_file(path, NULL);

	return text ? atoi(text) : 0;
}

/* Runs the groups in a fresh directory; 77 without a C compiler. */
__attribute__((unused)) static int run_in_scratch(int (*run)(void), bool needs_compiler)
{
	_cleanup_free_ char *rm = NULL;
	int rc;

	if (needs_compiler && system("gcc --version >/dev/null 2>&1 && "
				     "objcopy --version >/dev/null 2>&1")) {
		printf("skipped: gcc and binutils are needed to make programs to look at\n");
		return 77;
	}
	if (!mkdtemp(scratch))
		return 1;
	rc = run();
	rm = xasprintf("rm -rf %s", scratch);
	return system(rm) ? 1 : rc;
}

#endif
