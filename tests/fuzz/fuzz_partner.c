// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Debug files beside a program: the input is what three programs name in their different ways
 * (.gnu_debuglink and build-id, .gnu_debugaltlink, split DWARF), which tests/fuzz/seeds has made.
 */
#include "tests/fuzz/fuzz.h"

#include "elf/table_make.h"
#include "maps/maps.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* As the programs have it for their directory; the digits become a number that nobody else has. */
#define DIRECTORY "/tmp/scoz-fuzz-partner-00000000"
#define DIGITS	  8

static const char *const programs[] = { "linked", "common", "split" };
static char directory[] = DIRECTORY;
static int partner = -1;

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	_exit(1);
}

static void copy_program(const char *from, const char *name)
{
	_cleanup_free_ char *source = xasprintf("%s/%s", from, name);
	_cleanup_free_ char *path = xasprintf("%s/%s", directory, name), *bytes;
	size_t n = 0;
	int fd;

	bytes = read_file(source, &n);
	need(bytes, source);
	for (char *p = bytes; (p = memmem(p, bytes + n - p, DIRECTORY, strlen(DIRECTORY))); p++)
		memcpy(p, directory, strlen(directory));
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	need(fd >= 0 && write(fd, bytes, n) == (ssize_t)n, path);
	close(fd);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void remove_files(void)
{
	nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_partner(void)
{
	static const char *const names[] = { "partner.debug", ".build-id/01/234567.debug",
					     "s.dwo" };
	_cleanup_free_ char *path = xasprintf("%s/partner", directory);

	partner = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	need(partner >= 0, path);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *to = xasprintf("%s/%s", directory, names[i]);

		need(!link(path, to), to);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	_cleanup_free_ char *ids = NULL, *id = NULL, *from = NULL;
	char exe[PATH_MAX] = "";

	(void)argc;
	(void)argv;
	log_level = LOG_QUIET;
	need(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0, "/proc/self/exe");
	*strrchr(exe, '/') = '\0';
	from = xasprintf("%s/../fuzz/seeds/partner-of", exe);
	snprintf(directory + strlen(directory) - DIGITS, DIGITS + 1, "%08d", getpid() % 100000000);
	ids = xasprintf("%s/.build-id", directory);
	id = xasprintf("%s/01", ids);
	need(!mkdir(directory, 0700) && !mkdir(ids, 0700) && !mkdir(id, 0700), directory);
	atexit(remove_files);
	make_partner();
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		copy_program(from, programs[i]);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct map_options opt = { .debug_root = directory };

	need(pwrite(partner, data, size, 0) == (ssize_t)size && !ftruncate(partner, size),
	     directory);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		_cleanup_free_ char *path = xasprintf("%s/%s", directory, programs[i]);
		struct maptable *t = NULL;
		struct error err;

		if (maptable_make(path, path, &opt, &t, &err))
			continue;
		fuzz_use_table(t);
		maptable_free(t);
	}
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate_elf(data, size, max, seed);
}
