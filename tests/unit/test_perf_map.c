// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of code that is made while a program runs: perf maps, and the processes that write them. */
#include "test_map_util.h"

#include "maps/maps_internal.h"
#include "maps/perf_map.h"
#include "symbolizer/symbolizer.h"
#include "table/table.h"

#include <fcntl.h>
#include <time.h>

#define PID   4711
#define INNER 7 /* as the process itself sees it */
#define CODE  0x7f0000001000

/* ---- the file ---- */

static int file_of(const void *text, size_t n)
{
	_cleanup_free_ char *path = in_scratch("map");
	int fd;

	write_file(path, text, n);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static struct maptable *table_of(const void *text, size_t n, uint64_t from)
{
	_cleanup_close_ int fd = file_of(text, n);
	struct error err = { 0 };
	struct maptable *t = table_of_perf_map(fd, "map", from, &err);
	struct maptable *copy;
	void *mem;

	assert_non_null(t);
	/* As whoever gets it from another process looks at it. */
	mem = xmalloc(t->size);
	memcpy(mem, t->mem, t->size);
	((struct table_header *)mem)->checksum = table_checksum(mem, t->size);
	copy = table_attach(mem, t->size, false, true);
	assert_non_null(copy);
	maptable_free(t);
	return copy;
}

static struct maptable *table_of_text(const char *text)
{
	return table_of(text, strlen(text), 0);
}

/* NULL: none. */
static const char *name_at(const struct maptable *t, uint64_t address)
{
	struct map_frame f[2];
	uint64_t vaddr;

	if (!maptable_offset_to_vaddr(t, address, &vaddr))
		return NULL;
	return maptable_lookup(t, vaddr, f, 2) == 1 ? f[0].function : NULL;
}

static void expect_name(const struct maptable *t, uint64_t address, const char *name)
{
	const char *got = name_at(t, address);

	if (!name)
		assert_null(got);
	else if (!got || strcmp(got, name))
		fail_msg("at %llx is %s, not %s", (unsigned long long)address,
			 got ? got : "nothing", name);
}

static void test_lines(void **state)
{
	struct maptable *t = table_of_text("7f0000002000 10 JS:*hot loop /tmp/a b.js:1:17\n"
					   "0x7f0000001000 0X20 first\n"
					   "7F0000001A00\t8  tab\r\n"
					   "400000 1 Ljava/lang/String;::hashCode\n");

	(void)state;
	expect_name(t, 0x7f0000001000, "first");
	expect_name(t, 0x7f000000101f, "first");
	expect_name(t, 0x7f0000001020, NULL);
	expect_name(t, 0x7f0000000fff, NULL);
	expect_name(t, 0x7f0000001a07, "tab");
	expect_name(t, 0x7f0000002000, "JS:*hot loop /tmp/a b.js:1:17");
	expect_name(t, 0x400000, "Ljava/lang/String;::hashCode");
	expect_name(t, 0x400001, NULL);
	expect_name(t, 0, NULL);
	/* What is in no segment of the table is never taken for a place in it. */
	assert_true(t->h->base >= TABLE_PERF_MAP);
	maptable_free(t);
}

static void test_later_wins(void **state)
{
	struct maptable *t = table_of_text("1000 100 old\n"
					   "1080 100 middle\n"
					   "1040 10 new\n"
					   "3000 10 twice\n"
					   "3000 10 twice, later\n"
					   "5010 10 inner, older\n"
					   "5000 100 outer, newer\n");

	(void)state;
	expect_name(t, 0x1000, "old");
	expect_name(t, 0x103f, "old");
	expect_name(t, 0x1040, "new");
	expect_name(t, 0x1050, "old");
	expect_name(t, 0x1080, "middle");
	expect_name(t, 0x10ff, "middle");
	expect_name(t, 0x117f, "middle");
	expect_name(t, 0x1180, NULL);
	expect_name(t, 0x3000, "twice, later");
	expect_name(t, 0x5010, "outer, newer");
	maptable_free(t);
}

/* Against the simplest way to tell: the last line that has the address. */
static void test_random(void **state)
{
	enum { LINES = 300, SPACE = 4000 };

	(void)state;
	srand(1);
	for (int round = 0; round < 20; round++) {
		_cleanup_free_ char *text = xcalloc(LINES, 64);
		int owner[SPACE + 400];
		struct maptable *t;

		memset(owner, 0xff, sizeof(owner));
		for (int i = 0; i < LINES; i++) {
			int start = rand() % SPACE, size = 1 + rand() % (round % 2 ? 300 : 30);

			sprintf(text + strlen(text), "%x %x f%d\n", start, size, i);
			for (int k = start; k < start + size; k++)
				owner[k] = i;
		}
		t = table_of_text(text);
		for (int k = 0; k < SPACE + 400; k++) {
			char name[16];

			snprintf(name, sizeof(name), "f%d", owner[k]);
			expect_name(t, k, owner[k] < 0 ? NULL : name);
		}
		maptable_free(t);
	}
}

/* Lines that say nothing are as if they were not there. */
static void test_nonsense(void **state)
{
	static const char text[] = "\n \nhello\n1000\n1000 \n1000 10\n1000 10 \n10 zz name\n"
				   "1000 0 no size\n"
				   "1000 40000001 more than a gigabyte\n"
				   "ffffffff81000000 10 kernel\n"
				   "7ffffffffffffff8 10 over the edge\n"
				   "fffffffffffff000 2010 around\n"
				   "10000000000000000 10 seventeen digits\n"
				   "-1000 10 minus\n"
				   "1000 10 \0 nothing\n"
				   "2000 10 a\0b\n"
				   "3000 10 last, and cut of";
	struct maptable *t = table_of(text, sizeof(text) - 1, 0);

	(void)state;
	expect_name(t, 0x1000, NULL);
	expect_name(t, 0x2000, "a");
	expect_name(t, 0x3000, NULL);
	expect_name(t, 0xffffffff81000000, NULL);
	expect_name(t, 0x7ffffffffffffff8, NULL);
	/* The last one is still being written. */
	assert_memory_equal(text + t->h->file_size, "3000 10", 7);
	maptable_free(t);
	t = table_of(text, 0, 0);
	expect_name(t, 0x1000, NULL);
	assert_int_equal(t->h->file_size, 0);
	maptable_free(t);
}

static void test_from(void **state)
{
	static const char text[] = "1000 10 one\n2000 10 two\n3000 10 thr";
	struct maptable *t = table_of_text(text);
	uint64_t next = t->h->file_size;

	(void)state;
	assert_int_equal(next, 24);
	maptable_free(t);
	t = table_of("1000 10 one\n2000 10 two\n3000 10 three\n", 38, next);
	expect_name(t, 0x1000, NULL);
	expect_name(t, 0x3000, "three");
	assert_int_equal(t->h->file_size, 38);
	maptable_free(t);
	/* Behind the end. */
	t = table_of_text(text);
	maptable_free(t);
	t = table_of(text, strlen(text), 1 << 20);
	assert_int_equal(t->n_iv, 0);
	maptable_free(t);
}

/* Files made to cost much. */
static void test_large(void **state)
{
	const size_t n = 40 << 20;
	_cleanup_free_ char *text = xmalloc(n + 1);
	struct maptable *t;
	size_t used = 0;
	uint64_t next;

	(void)state;
	/* One line that never ends is passed over. */
	memset(text, 'a', n);
	t = table_of(text, n, 0);
	assert_in_range(t->h->file_size, 32 << 20, 33 << 20);
	maptable_free(t);
	/* A name without end is cut. */
	memcpy(text, "1000 10 ", 8);
	text[n / 2] = '\n';
	t = table_of(text, n / 2 + 1, 0);
	assert_int_equal(strlen(name_at(t, 0x1000)), 1024);
	maptable_free(t);
	/* More functions than one table takes: the rest is for the next. */
	for (uint64_t i = 0; used < n - 64 && i < 700000; i++)
		used += sprintf(text + used, "%llx 10 f%llu\n", (unsigned long long)(CODE + 16 * i),
				(unsigned long long)i);
	t = table_of(text, used, 0);
	expect_name(t, CODE, "f0");
	expect_name(t, CODE + 16 * 600000, NULL);
	next = t->h->file_size;
	assert_true(next > 0 && next < used);
	maptable_free(t);
	t = table_of(text, used, next);
	expect_name(t, CODE + 16 * 600000, "f600000");
	assert_int_equal(t->h->file_size, used);
	maptable_free(t);
	/* All over the address space: as many segments as may be, and it is said. */
	used = 0;
	for (uint64_t i = 0; i < 3000; i++)
		used += sprintf(text + used, "%llx 10 f\n", (unsigned long long)(i << 30));
	t = table_of(text, used, 0);
	expect_name(t, 1023ULL << 30, "f");
	expect_name(t, 1024ULL << 30, NULL);
	assert_non_null(maptable_warning(t));
	maptable_free(t);
	/* Or large: 32 bits are for all of them together. */
	used = 0;
	for (uint64_t i = 0; i < 8; i++)
		used += sprintf(text + used, "%llx 40000000 f\n", (unsigned long long)(i << 33));
	t = table_of(text, used, 0);
	expect_name(t, 2ULL << 33, "f");
	expect_name(t, 5ULL << 33, NULL);
	assert_non_null(maptable_warning(t));
	maptable_free(t);
}

/* ---- the process ---- */

static char *map_path(void)
{
	return in_scratch("root/tmp/perf-%d.map", INNER);
}

/* A /proc with one process of @user. */
static void make_process(uid_t user, unsigned long long ticks)
{
	_cleanup_free_ char *status = in_scratch("proc/%d/status", PID),
			    *stat = in_scratch("proc/%d/stat", PID), *text = NULL, *line = NULL;

	sh("rm -rf proc root; mkdir -p proc/%d root/tmp; ln -s %s/root proc/%d/root", PID, scratch,
	   PID);
	text = xasprintf("Name:\tjit\nPid:\t%d\nUid:\t0\t%u\t0\t0\nGid:\t0\t%u\t0\t0\n"
			 "NSpid:\t%d\t%d\nThreads:\t1\n",
			 PID, user, getgid(), PID, INNER);
	line = xasprintf("%d (a) b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %llu 0 0\n", PID,
			 ticks);
	write_file(status, text, strlen(text));
	write_file(stat, line, strlen(line));
}

static void write_map(const char *text)
{
	_cleanup_free_ char *path = map_path();

	write_file(path, text, strlen(text));
	assert_int_equal(chmod(path, 0644), 0);
}

static void append_map(const char *text)
{
	_cleanup_free_ char *path = map_path();
	FILE *f = fopen(path, "a");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* What is wrong with the map, or NULL; "": there is none. */
static const char *trouble(void)
{
	static struct error err;
	_cleanup_free_ char *path = NULL;
	struct stat st;
	int fd;

	err = (struct error){ 0 };
	fd = perf_map_open(PID, &st, &path, &err);
	if (fd >= 0) {
		close(fd);
		return NULL;
	}
	assert_true(!err.code || (err.code == fd && strstr(err.text, "/tmp/perf-7.map")));
	return err.text;
}

static void expect_trouble(const char *why)
{
	const char *got = trouble();

	if (!got || !strstr(got, why) || (!*why && *got))
		fail_msg("said is \"%s\", not \"%s\"", got ? got : "nothing", why);
}

static void test_whose(void **state)
{
	_cleanup_free_ char *path = map_path();

	(void)state;
	make_process(getuid(), 0);
	expect_trouble("");
	write_map("1000 10 f\n");
	assert_null(trouble());
	/* By its own number, not by ours. */
	sh("mv root/tmp/perf-%d.map root/tmp/perf-%d.map", INNER, PID);
	expect_trouble("");
	sh("mv root/tmp/perf-%d.map root/tmp/perf-%d.map", PID, INNER);
	assert_int_equal(chmod(path, 0646), 0);
	expect_trouble("others may write to it");
	assert_int_equal(chmod(path, 0664), 0);
	assert_null(trouble()); /* of the process's own group */
	assert_int_equal(chmod(path, 0600), 0);
	assert_null(trouble());
	make_process(getuid() + 1, 0);
	write_map("1000 10 f\n");
	expect_trouble("it belongs to user");
}

/* None of these is opened: nobody would write to the FIFO. */
static void test_no_file(void **state)
{
	(void)state;
	make_process(getuid(), 0);
	alarm(20);
	sh("echo '1000 10 f' >root/other; ln -s %s/root/other root/tmp/perf-%d.map", scratch,
	   INNER);
	expect_trouble("it is a symbolic link");
	sh("ln -sfn other root/tmp/perf-%d.map", INNER);
	expect_trouble("it is a symbolic link");
	sh("rm root/tmp/perf-%d.map; mkfifo root/tmp/perf-%d.map", INNER, INNER);
	expect_trouble("it is no regular file");
	sh("rm root/tmp/perf-%d.map; mkdir root/tmp/perf-%d.map", INNER, INNER);
	expect_trouble("it is a directory");
	/* A way out of its root leads nowhere. */
	sh("rm -r root/tmp; mkdir -p out; echo '1000 10 f' >out/perf-%d.map; ln -s ../../out "
	   "root/tmp",
	   INNER);
	expect_trouble("");
	sh("ln -sfn %s/out root/tmp", scratch);
	expect_trouble("");
	alarm(0);
}

/* Of a process that had the number before. */
static void test_older(void **state)
{
	_cleanup_free_ char *path = map_path();
	struct timespec ago[2] = { { .tv_nsec = UTIME_OMIT } };
	struct timespec boot, now;

	(void)state;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &now);
	/* Began half of what the machine has been up, ago. */
	make_process(getuid(), boot.tv_sec / 2 * sysconf(_SC_CLK_TCK));
	write_map("1000 10 f\n");
	assert_null(trouble());
	ago[1].tv_sec = now.tv_sec - boot.tv_sec / 2 - 60;
	assert_int_equal(utimensat(AT_FDCWD, path, ago, 0), 0);
	expect_trouble("");
}

/* ---- names ---- */

static struct maps *create(void)
{
	static const struct file_id none;
	struct maps *m;

	assert_int_equal(maps_create(&(struct maps_options){ .perf_maps = true }, &m, NULL), 0);
	maps_add(m, 0, PID, CODE, 0x10000, 0, none, "//anon");
	return m;
}

/* Of a process of ours with this map. */
static struct maps *create_for(const char *text)
{
	make_process(getuid(), 0);
	write_map(text);
	return create();
}

/* What is at @address of @pid now; NULL: nothing. Tables are made at once. */
static const char *found(struct maps *m, int pid, uint64_t address)
{
	struct map_frame f[2];
	uint64_t place;
	uint32_t id;

	maps_resolve(m, pid, address, &id, &place);
	maps_catch_up(m);
	if (!maps_resolve(m, pid, address, &id, &place))
		return NULL;
	assert_int_equal(place, address);
	assert_true(maps_binary_is_made(m, id));
	assert_string_equal(maps_binary_path(m, id), "/tmp/perf-7.map");
	return maps_lookup(maps_binary(m, id), place, f, 2) == 1 ? f[0].function : NULL;
}

/* The same, once all is known that was written before. */
static const char *found_soon(struct maps *m, int pid, uint64_t address)
{
	uint64_t now = clock_now_ns();

	while (maps_names_awaited(m, pid, now)) {
		const char *name = found(m, pid, address);

		assert_true(clock_now_ns() - now < 20 * NSEC_PER_SEC);
		if (name)
			return name;
		usleep(1000);
	}
	return found(m, pid, address);
}

static void expect_found(struct maps *m, int pid, uint64_t address, const char *name)
{
	const char *got = found_soon(m, pid, address);

	if (!name)
		assert_null(got);
	else if (!got || strcmp(got, name))
		fail_msg("found is %s, not %s", got ? got : "nothing", name);
}

static void test_names(void **state)
{
	struct maps *m;
	char *file;
	uint64_t serial = 0;

	(void)state;
	m = create_for("7f0000001000 10 one\n7f0000001010 10 two, cut");
	expect_found(m, PID, CODE + 5, "one");
	expect_found(m, PID, CODE + 0x15, NULL);
	/* It grows, and the code is replaced. */
	append_map(" off\n7f0000001008 10 three\n");
	expect_found(m, PID, CODE + 0x18, "two, cut off");
	expect_found(m, PID, CODE + 5, "one");
	expect_found(m, PID, CODE + 8, "three");
	/* What is known is not waited for. */
	assert_true(maps_names_awaited(m, PID, clock_now_ns()));
	assert_false(maps_names_awaited(m, PID, 1));
	/* Nobody takes the map for a program that marks may be in. */
	while ((file = maps_next_file(m, &serial, NULL))) {
		assert_null(strstr(file, "perf-"));
		free(file);
	}
	maps_destroy(m);
}

static void test_written_anew(void **state)
{
	struct maps *m;

	(void)state;
	m = create_for("7f0000001000 10 one\n7f0000002000 10 two\n");
	expect_found(m, PID, CODE, "one");
	write_map("7f0000003000 10 other\n"); /* shorter */
	expect_found(m, PID, CODE + 0x2000, "other");
	expect_found(m, PID, CODE, NULL);
	/* Longer, from the beginning. */
	write_map("7f0000005000 10 before\n7f0000003000 10 other\n7f0000006000 10 behind\n");
	expect_found(m, PID, CODE + 0x4000, "before");
	expect_found(m, PID, CODE + 0x5000, "behind");
	sh("rm root/tmp/perf-%d.map", INNER);
	write_map("7f0000004000 10 another file\n");
	expect_found(m, PID, CODE + 0x3000, "another file");
	expect_found(m, PID, CODE + 0x2000, NULL);
	maps_destroy(m);
}

static void test_life(void **state)
{
	struct maps *m;

	(void)state;
	m = create_for("7f0000001000 10 one\n");
	expect_found(m, PID, CODE, "one");
	/* A child has what its parent had made. */
	maps_fork(m, clock_now_ns(), PID, PID + 1);
	expect_found(m, PID + 1, CODE, "one");
	maps_exec(m, clock_now_ns(), PID + 1);
	expect_found(m, PID + 1, CODE, NULL);
	/* The process ends; its map was open, and what came to it last is read. */
	append_map("7f0000003000 10 last words\n");
	sh("rm -r proc/%d", PID);
	maps_exit(m, clock_now_ns(), PID);
	expect_found(m, PID, CODE + 0x2000, "last words");
	expect_found(m, PID, CODE, "one");
	maps_destroy(m);
}

/* Files are asked first, but for those that are no programs. */
static void test_files(void **state)
{
	_cleanup_free_ char *shared = in_scratch("root/memfd");
	struct file_id id = { .ino = 0 };
	struct maps *m;
	uint64_t place;
	uint32_t binary;

	(void)state;
	make_process(getuid(), 0);
	write_map("7f0000001000 10 one\n");
	write_file(shared, "no program", 10);
	assert_int_equal(maps_create(&(struct maps_options){ .perf_maps = true }, &m, NULL), 0);
	maps_add(m, 0, PID, CODE, 0x1000, 0, id, "/memfd");
	maps_catch_up(m);
	assert_true(maps_resolve(m, PID, CODE, &binary, &place));
	assert_string_equal(maps_binary_path(m, binary), "/memfd");
	assert_null(maps_binary(m, binary)->table);
	/* That it is no program makes it look for a map. */
	maps_resolve(m, PID, CODE, &binary, &place);
	maps_catch_up(m);
	expect_found(m, PID, CODE, "one");
	maps_destroy(m);
}

static void test_refused(void **state)
{
	struct maps *m;

	(void)state;
	make_process(getuid() + 1, 0);
	write_map("7f0000001000 10 of somebody else\n");
	m = create();
	expect_found(m, PID, CODE, NULL);
	usleep(120000);
	expect_found(m, PID, CODE, NULL);
	maps_destroy(m);
}

/* A map that always grows is not read for ever. */
static void test_bounded(void **state)
{
	struct maps *m;
	uint32_t before;

	(void)state;
	m = create_for("7f0000001000 10 one\n");
	m->made_bytes = 255 << 20;
	expect_found(m, PID, CODE, "one");
	m->made_bytes = 256 << 20;
	append_map("7f0000002000 10 two\n");
	before = maps_binary_count(m);
	expect_found(m, PID, CODE + 0x1000, NULL);
	assert_int_equal(maps_binary_count(m), before);
	expect_found(m, PID, CODE, "one");
	maps_destroy(m);
}

/* Nor is one that is written anew again and again, with 14 MB of names each time. */
static void test_bounded_anew(void **state)
{
	const size_t room = 40 << 20;
	_cleanup_free_ char *text = xmalloc(room);
	struct maps *m;
	int round;

	(void)state;
	make_process(getuid(), 0);
	m = create();
	for (round = 0; round < 10; round++) {
		char name[32];
		size_t n = 0;

		for (int i = 0; i < 300000; i++)
			n += sprintf(text + n,
				     "%llx 10 a function in round %d, and its number: %d\n",
				     CODE + 16ULL * i, round, i);
		n += sprintf(text + n, "%llx 10 round %d\n", 0x400000ULL + 16 * round, round);
		write_map(text);
		snprintf(name, sizeof(name), "round %d", round);
		if (!found_soon(m, PID, 0x400000 + 16 * round))
			break;
		expect_found(m, PID, 0x400000 + 16 * round, name);
	}
	assert_in_range(round, 2, 6);
	assert_in_range(m->made_bytes, 64 << 20, 128 << 20);
	maps_destroy(m);
}

static void resolve_only(struct maps *m)
{
	uint64_t place;
	uint32_t id;

	maps_resolve(m, PID, CODE, &id, &place);
	maps_catch_up(m);
}

/* It ends, and so long ago that it is forgotten. */
static void end_process(struct maps *m)
{
	static const struct file_id none;

	maps_exit(m, clock_now_ns(), PID);
	usleep(1100000);
	maps_add(m, 0, PID + 5, CODE, 0x1000, 0, none, "//anon");
	maps_catch_up(m);
}

/* Maps that are held are counted, and let go with their processes, read or not. */
static void test_descriptors(void **state)
{
	struct maps *m;
	size_t before;

	(void)state;
	m = create_for("7f0000001000 10 one\n");
	before = m->n_fd;
	expect_found(m, PID, CODE, "one");
	assert_int_equal(m->n_fd, before + 1);
	end_process(m);
	assert_int_equal(m->n_fd, before);
	maps_destroy(m);

	m = create();
	resolve_only(m);
	assert_int_equal(m->n_fd, before + 2); /* the map, and what a table is to be made of */
	end_process(m);
	assert_int_equal(m->n_fd, before);
	maps_destroy(m);
}

static void test_no_descriptors(void **state)
{
	struct maps *m;

	(void)state;
	m = create_for("7f0000001000 10 one\n");
	m->max_fd = m->n_fd;
	resolve_only(m);
	assert_int_equal(m->n_fd, m->max_fd);
	expect_found(m, PID, CODE, NULL);
	maps_destroy(m);
}

/* Its end was not seen, and its number is another one's now. */
static void test_end_unseen(void **state)
{
	struct maps *m;

	(void)state;
	make_process(getuid(), 1);
	write_map("7f0000001000 10 one\n");
	m = create();
	expect_found(m, PID, CODE, "one");
	make_process(getuid(), 2);
	usleep(250000); /* until the next look */
	expect_found(m, PID, CODE, NULL);
	write_map("7f0000001000 10 of the other\n");
	usleep(120000);
	expect_found(m, PID, CODE, "of the other");
	maps_destroy(m);
}

/* What is no longer believed is not read on. */
static void test_refused_later(void **state)
{
	_cleanup_free_ char *path = map_path();
	struct maps *m;

	(void)state;
	m = create_for("7f0000001000 10 one\n");
	expect_found(m, PID, CODE, "one");
	append_map("7f0000002000 10 forged\n");
	assert_int_equal(chmod(path, 0666), 0);
	expect_found(m, PID, CODE + 0x1000, NULL);
	expect_found(m, PID, CODE, "one");
	maps_destroy(m);
}

/* Of a map that cannot be read, no table after the other is tried. */
static void test_unreadable(void **state)
{
	struct maps *m;
	uint32_t n;

	(void)state;
	make_process(getuid(), 0);
	write_map("7f0000001000 10 one\n");
	for (int i = 0; i < 5000; i++)
		append_map("7f0000003000 10 more\n");
	m = create();
	resolve_only(m);
	n = maps_binary_count(m);
	assert_true(m->binary[n - 1]->pub.made);
	close(m->binary[n - 1]->fd);
	m->binary[n - 1]->fd = open("/", O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 4; i++) {
		expect_found(m, PID, CODE, NULL);
		usleep(210000);
	}
	assert_int_equal(maps_binary_count(m), n);
	append_map("7f0000002000 10 two\n");
	expect_found(m, PID, CODE + 0x1000, "two");
	maps_destroy(m);
}

static void test_few_warnings(void **state)
{
	struct maps *m = create();
	int n = 0;

	(void)state;
	for (int i = 0; i < 500; i++)
		n += made_may_warn(m);
	assert_int_equal(n, 10);
	maps_destroy(m);
}

/* The reader without rights tells the same. */
static void test_symbolizer(void **state)
{
	struct error err = { 0 };
	struct maps *m;

	(void)state;
	sysroot = "";
	assert_int_equal(symbolizer_start(&err), 0);
	sysroot = scratch;
	m = create_for("7f0000001000 10 one\n");
	expect_found(m, PID, CODE, "one");
	append_map("7f0000002000 10 two\n");
	expect_found(m, PID, CODE + 0x1000, "two");
	expect_found(m, PID, CODE, "one");
	maps_destroy(m);
	symbolizer_stop();
}

static int setup(void **state)
{
	(void)state;
	sysroot = scratch;
	log_level = LOG_QUIET;
	return 0;
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),	       cmocka_unit_test(test_later_wins),
		cmocka_unit_test(test_random),	       cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_from),	       cmocka_unit_test(test_large),
		cmocka_unit_test(test_whose),	       cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_older),	       cmocka_unit_test(test_names),
		cmocka_unit_test(test_written_anew),   cmocka_unit_test(test_life),
		cmocka_unit_test(test_files),	       cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bounded),	       cmocka_unit_test(test_bounded_anew),
		cmocka_unit_test(test_symbolizer),     cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_no_descriptors), cmocka_unit_test(test_end_unseen),
		cmocka_unit_test(test_refused_later),  cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_few_warnings),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

int main(void)
{
	return run_in_scratch(run, false);
}
