// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths that others may change: whatever lies there when it is opened, and while it is, nothing but
 * a regular file is opened, nothing is waited for, and no link is followed where it must not be.
 */
#include "files/file_open.h"
#include "files/held_file.h"
#include "files/output_file.h"
#include "jsonl/reader.h"
#include "jsonl/writer.h"
#include "maps/made_files.h"
#include "maps/maps_internal.h"
#include "table/table.h"

#include "daemon/truth.c"
#include "tools/scoz/causal/source.c"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#define NOBODY	 65534
#define STRANGER 65533
#define LINE	 "a line\n"
#define TRIES	 300 /* and as many renames meanwhile */

static char dir[] = "/tmp/test_hostile_paths.XXXXXX";

static char *at(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

/* ---- what may lie at a path ---- */

enum { GOOD, FIFO, DEVICE, LINK, LINK_TO_FIFO, LINK_TO_DEVICE, STRANGERS, SECRET, N_THINGS };
static const char *const names[N_THINGS] = {
	[GOOD] = "good",
	[FIFO] = "fifo",
	[DEVICE] = "device",
	[LINK] = "link",
	[LINK_TO_FIFO] = "link to the FIFO",
	[LINK_TO_DEVICE] = "link to the device",
	[STRANGERS] = "file of another user",
	[SECRET] = "secret",
};
static char *things[N_THINGS];
static struct stat good;

static void make_file(const char *path, mode_t mode, uid_t owner)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(LINE, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
	assert_int_equal(chown(path, owner, owner), 0);
}

static int make_things(void **state)
{
	(void)state;
	if (geteuid())
		return 0;
	if (!mkdtemp(dir))
		return -1;
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	for (size_t i = 0; i < N_THINGS; i++)
		things[i] = at(names[i]);
	make_file(things[GOOD], 0644, 0);
	make_file(things[STRANGERS], 0644, STRANGER);
	make_file(things[SECRET], 0600, 0);
	assert_int_equal(stat(things[GOOD], &good), 0);
	assert_int_equal(mkfifo(things[FIFO], 0666), 0);
	assert_int_equal(chown(things[FIFO], STRANGER, STRANGER), 0);
	if (mknod(things[DEVICE], S_IFCHR | 0666, makedev(1, 3)))
		assert_int_equal(mkfifo(things[DEVICE], 0666), 0);
	assert_int_equal(symlink(things[SECRET], things[LINK]), 0);
	assert_int_equal(symlink(things[FIFO], things[LINK_TO_FIFO]), 0);
	assert_int_equal(symlink(things[DEVICE], things[LINK_TO_DEVICE]), 0);
	return 0;
}

static int remove_things(void **state)
{
	_cleanup_free_ char *command = xasprintf("rm -rf %s /tmp/perf-%d.map", dir, getpid());

	(void)state;
	return geteuid() ? 0 : system(command);
}

/* ---- who opens paths ---- */

/* Returns a descriptor, or a negative errno; what is no descriptor is 0 where it was read. */
static int binary_in_root(const char *path)
{
	return file_open(dir, path + strlen(dir), NULL);
}

static int kernel_image(const char *path)
{
	return file_open_told(path, path, NULL);
}

static int program_or_library(const char *path)
{
	struct sighting s = { .pid = getpid(), .path = path };
	struct opened o;

	s.id = (struct file_id){ .dev_major = major(good.st_dev),
				 .dev_minor = minor(good.st_dev),
				 .ino = good.st_ino };
	sighting_open(&s, &o);
	return o.fd >= 0 ? o.fd : -o.errnum;
}

static int point(const char *path)
{
	struct held_file f;
	int r = held_file_open(path, &f, NULL);

	free(f.name);
	return r ? r : f.fd;
}

static int source_text(const char *path)
{
	return file_open_named(NULL, path, NOBODY, NULL);
}

static int debug_file(const char *path)
{
	return file_open_partner(NULL, path, NOBODY, NULL);
}

static int perf_map(const char *path)
{
	_cleanup_free_ char *shown = NULL;
	struct stat st;

	(void)path;
	return perf_map_open(getpid(), &st, &shown, NULL);
}

static int cached_table(const char *path)
{
	size_t size;
	void *mem = cache_map(path, &size, NULL);

	return mem ? munmap(mem, size) : -ENOENT;
}

static int reports_source(const char *path)
{
	_cleanup_free_ char *location = xasprintf("%s:1", path + strlen(dir));
	struct source_lines l;

	if (!source_read(dir, location, 1, &l))
		return -ENOENT;
	source_lines_free(&l);
	return 0;
}

static const struct jsonl_format format = { .noun = "profile", .command = "scozd" };

static int profile(const char *path)
{
	return jsonl_open(&format, path, NULL);
}

static int written_profile(const char *path)
{
	struct jsonl_file f;
	int r = jsonl_file_open(&f, &format, path, NULL);

	jsonl_file_close(&f);
	return r;
}

static int written_trace(const char *path)
{
	return output_file_open(path, O_RDWR, OUTPUT_PRIVATE, NULL, NULL);
}

static int written_report(const char *path)
{
	return output_file_open(path, O_WRONLY | O_NOCTTY, OUTPUT_USERS, NULL, NULL);
}

static int truth(const char *path)
{
	int fd = truth_open(path, NULL, NULL);

	/* It is others' good file, too. */
	return fd < 0 || pwrite(fd, LINE, strlen(LINE), 0) > 0 ? fd : -EIO;
}

#define ALL_BUT(x)  ((1u << N_THINGS) - 1 - (1u << GOOD) - (x))
#define BIT(x)	    (1u << (x))
#define LINKED_FILE (BIT(LINK) | BIT(SECRET)) /* which is the user's to name */

/*
 * What is refused, and what is not even opened for that. Nothing is said of the rest: a link to
 * what root alone may read is root's to name, and where no link is followed it is not met.
 */
static const struct {
	const char *name;
	int (*open)(const char *path);
	unsigned int refused, unopened;
} kinds[] = {
	{ "binary below a root", binary_in_root, ALL_BUT(BIT(STRANGERS)), ALL_BUT(BIT(STRANGERS)) },
	{ "kernel image", kernel_image, ALL_BUT(LINKED_FILE | BIT(STRANGERS)),
	  ALL_BUT(LINKED_FILE | BIT(STRANGERS)) },
	{ "mapped file", program_or_library, ALL_BUT(0), ALL_BUT(LINKED_FILE | BIT(STRANGERS)) },
	{ "POINT", point, ALL_BUT(LINKED_FILE | BIT(STRANGERS)),
	  ALL_BUT(LINKED_FILE | BIT(STRANGERS)) },
	{ "source text", source_text, ALL_BUT(BIT(STRANGERS)), ALL_BUT(BIT(STRANGERS)) },
	{ "debug file", debug_file, ALL_BUT(0), ALL_BUT(BIT(STRANGERS)) },
	{ "perf map", perf_map, ALL_BUT(0), ALL_BUT(0) },
	{ "cached table", cached_table, ALL_BUT(0), ALL_BUT(BIT(STRANGERS)) },
	{ "--source", reports_source, ALL_BUT(BIT(STRANGERS)), ALL_BUT(BIT(STRANGERS)) },
	{ "profile", profile, ALL_BUT(LINKED_FILE | BIT(STRANGERS)),
	  ALL_BUT(LINKED_FILE | BIT(STRANGERS)) },
	/* Root's device is as good as a file, as /dev/null is. */
	{ "-o of scozd", written_profile, ALL_BUT(BIT(DEVICE)), ALL_BUT(BIT(DEVICE)) },
	{ "-o of scoz record --causal", written_trace, ALL_BUT(BIT(DEVICE)), ALL_BUT(BIT(DEVICE)) },
	{ "-o of scoz export", written_report, ALL_BUT(BIT(DEVICE)), ALL_BUT(BIT(DEVICE)) },
	{ "--truth", truth, ALL_BUT(BIT(STRANGERS)), ALL_BUT(BIT(STRANGERS)) },
};

static char *path_of(size_t kind)
{
	return kinds[kind].open == perf_map ? xasprintf("/tmp/perf-%d.map", getpid()) : at("path");
}

static bool put(size_t thing, const char *path)
{
	_cleanup_free_ char *beside = at("beside");
	bool done = !link(things[thing], beside) && !rename(beside, path);

	unlink(beside); /* rename() of the same file leaves it */
	return done;
}

/* Negative: it was refused. */
static int try(size_t kind, const char *path)
{
	int fd = kinds[kind].open(path);
	struct stat st;

	if (fd <= 0)
		return fd;
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	if (!S_ISREG(st.st_mode) && kinds[kind].refused & BIT(DEVICE))
		fail_msg("%s: mode %o was opened", kinds[kind].name, st.st_mode);
	if (st.st_ino == good.st_ino)
		return 0;
	for (size_t i = 0; i < N_THINGS; i++) {
		struct stat other;

		if (kinds[kind].refused & BIT(i) && !lstat(things[i], &other) &&
		    other.st_ino == st.st_ino)
			fail_msg("%s: the %s was opened", kinds[kind].name, names[i]);
	}
	return 0;
}

/* ---- what the kernel saw opened ---- */

static int watches[N_THINGS];

static int watch(void)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	assert_true(fd >= 0);
	for (size_t i = 0; i < N_THINGS; i++)
		watches[i] = inotify_add_watch(fd, things[i], IN_OPEN | IN_DONT_FOLLOW);
	return fd;
}

static unsigned int seen_opened(int fd)
{
	char buf[65536] __attribute__((aligned(8)));
	unsigned int ret = 0;
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		const struct inotify_event *e;

		for (char *p = buf; p < buf + n; p += sizeof(*e) + e->len) {
			e = (const struct inotify_event *)p;
			for (size_t i = 0; i < N_THINGS; i++)
				ret |= watches[i] == e->wd ? BIT(i) : 0;
		}
	}
	return ret;
}

/* Kernels before 6.10 tell of O_PATH as if it opened something. */
static bool tells_looking(int fd)
{
	int found = open(things[GOOD], O_PATH | O_CLOEXEC);

	assert_true(found >= 0);
	close(found);
	return seen_opened(fd);
}

static void expect_unopened(size_t kind, int fd, const char *when)
{
	unsigned int opened = seen_opened(fd) & kinds[kind].unopened;

	for (size_t i = 0; i < N_THINGS; i++) {
		if (opened & BIT(i))
			fail_msg("%s: the %s was opened, %s", kinds[kind].name, names[i], when);
	}
}

/* Returns the watch; that a test hangs is how it fails. */
static int begin(unsigned int seconds, bool *blind)
{
	int fd;

	if (geteuid())
		skip();
	fd = watch();
	*blind = tells_looking(fd);
	alarm(seconds);
	return fd;
}

static void test_things(void **state)
{
	bool blind;
	int fd = begin(60, &blind);

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		_cleanup_free_ char *path = path_of(k);

		for (size_t i = 0; i < N_THINGS; i++) {
			if (i == SECRET)
				continue;
			assert_true(put(i, path));
			if (try(k, path) < 0 ? i == GOOD : kinds[k].refused >> i & 1)
				fail_msg("%s: the %s was%s refused", kinds[k].name, names[i],
					 i == GOOD ? "" : " not");
			if (!blind)
				expect_unopened(k, fd, names[i]);
		}
		unlink(path);
		assert_int_equal(mkdir(path, 0755), 0);
		assert_true(try(k, path) < 0);
		assert_int_equal(rmdir(path), 0);
	}
	alarm(0);
	close(fd);
}

/* ---- and while it is opened ---- */

static struct {
	const char *path;
	_Atomic unsigned long renames;
	_Atomic bool stop;
} swap;

static void *swapper_main(void *arg)
{
	(void)arg;
	for (size_t i = 0; !swap.stop; i++) {
		swap.renames += put(i % 2 ? GOOD : 1 + i / 2 % (SECRET - 1), swap.path);
	}
	return NULL;
}

static void race(size_t k, int fd, bool blind)
{
	_cleanup_free_ char *path = path_of(k);
	unsigned long good_ones = 0, refused = 0;
	pthread_t swapper;

	swap.path = path;
	swap.renames = 0;
	swap.stop = false;
	assert_true(put(GOOD, path));
	assert_int_equal(pthread_create(&swapper, NULL, swapper_main, NULL), 0);
	while (!good_ones || !refused || good_ones + refused < TRIES || swap.renames < TRIES) {
		if (try(k, path) < 0)
			refused++;
		else
			good_ones++;
		sched_yield();
	}
	swap.stop = true;
	pthread_join(swapper, NULL);
	unlink(path);
	if (!blind)
		expect_unopened(k, fd, "while files were renamed");
	print_message("%s: %lu opened, %lu refused, %lu renames\n", kinds[k].name, good_ones,
		      refused, swap.renames);
}

static void test_renamed(void **state)
{
	bool blind;
	int fd = begin(120, &blind);

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
		race(k, fd, blind);
	alarm(0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_things),
		cmocka_unit_test(test_renamed),
	};

	return cmocka_run_group_tests(tests, make_things, remove_things);
}
