// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of code that processes make while they run, as they tell them: perf maps and jitdumps. */
#include "test_map_util.h"

#include "maps/made_code.h"
#include "maps/made_files.h"
#include "maps/maps_internal.h"
#include "symbolizer/symbolizer.h"
#include "test_descriptors.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <time.h>

#define PID   4711
#define INNER 7 /* as the process itself sees it */
#define CODE  0x7f0000001000

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

	maps_catch_up(m);
	if (!maps_place_of(m, pid, address, &id, &place))
		return NULL;
	assert_int_equal(place, address);
	assert_true(maps_binary_is_made(m, id));
	assert_string_equal(maps_binary_path(m, id), "/tmp/perf-7.map");
	return maps_names_at(maps_binary_wait(m, id), place, f, 2) == 1 ? f[0].function : NULL;
}

/* The same, once all is known that was written before. */
static const char *found_soon(struct maps *m, int pid, uint64_t address)
{
	struct maps_made_place at = { .pid = pid, .address = address, .time = clock_now_ns() };

	while (maps_name_awaited(m, &at)) {
		const char *name = found(m, pid, address);

		assert_true(clock_now_ns() - at.time < 300 * NSEC_PER_SEC);
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
	struct maps_made_place at = { .pid = PID };
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
	at.time = clock_now_ns();
	assert_true(maps_name_awaited(m, &at));
	at.time = 1;
	assert_false(maps_name_awaited(m, &at));
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
	assert_true(maps_place_of(m, PID, CODE, &binary, &place));
	assert_string_equal(maps_binary_path(m, binary), "/memfd");
	assert_null(maps_binary_wait(m, binary)->table);
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

/* What all of them may take. */
static void test_bounded(void **state)
{
	struct maps *m;

	(void)state;
	m = create_for("7f0000001000 10 one\n");
	m->made_bytes = 255 << 20;
	expect_found(m, PID, CODE, "one");
	m->made_bytes = 256 << 20;
	append_map("7f0000002000 10 two\n");
	expect_found(m, PID, CODE + 0x1000, NULL);
	expect_found(m, PID, CODE, "one");
	maps_destroy(m);
}

/* One that is written anew again and again, with 14 MB of names each time, takes no more than that
 * once. */
static void test_bounded_anew(void **state)
{
	const size_t room = 40 << 20;
	_cleanup_free_ char *text = xmalloc(room);
	uint64_t first = 0;
	struct maps *m;

	(void)state;
	make_process(getuid(), 0);
	m = create();
	for (int round = 0; round < 5; round++) {
		char name[32];
		size_t n = 0;

		for (int i = 0; i < 100000; i++)
			n += sprintf(text + n,
				     "%llx 10 a function in round %d, and its number: %d\n",
				     CODE + 16ULL * i, round, i);
		n += sprintf(text + n, "%llx 10 round %d\n", 0x400000ULL + 16 * round, round);
		write_map(text);
		snprintf(name, sizeof(name), "round %d", round);
		expect_found(m, PID, 0x400000 + 16 * round, name);
		first = first ? first : m->made_bytes;
		assert_in_range(m->made_bytes, first / 2, 2 * first);
	}
	maps_destroy(m);
}

/* A process alone may take 64 MB. */
static void test_full(void **state)
{
	const size_t room = 80 << 20;
	_cleanup_free_ char *text = xmalloc(room);
	struct maps *m;
	size_t n = 0;
	int lines = 0;

	(void)state;
	for (; n < room - 2000; lines++)
		n += sprintf(text + n, "%llx 10 %0900d\n", 0x10000ULL * lines, lines);
	make_process(getuid(), 0);
	write_map(text);
	m = create();
	assert_non_null(found_soon(m, PID, 0x10000));
	assert_null(found_soon(m, PID, 0x10000ULL * (lines - 1)));
	assert_non_null(found(m, PID, 0x10000));
	assert_in_range(m->made_bytes, 32 << 20, 160 << 20);
	maps_destroy(m);
}

static void ask_only(struct maps *m)
{
	struct maps_made_place at = { .pid = PID, .time = clock_now_ns() };

	maps_name_awaited(m, &at);
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

/* Files that are held are counted apart, and let go with their processes. */
static void test_descriptors(void **state)
{
	struct maps *m;
	size_t before;

	(void)state;
	m = create_for("7f0000001000 10 one\n");
	before = open_files();
	expect_found(m, PID, CODE, "one");
	assert_int_equal(open_files(), before + 1);
	end_process(m);
	assert_int_equal(open_files(), before);
	maps_destroy(m);
}

static void test_no_descriptors(void **state)
{
	struct maps *m;

	(void)state;
	m = create_for("7f0000001000 10 one\n");
	m->max_made_fd = 0;
	ask_only(m);
	expect_found(m, PID, CODE, NULL);
	/* Others are closed meanwhile. */
	m->max_made_fd = 1;
	usleep(250000);
	expect_found(m, PID, CODE, "one");
	maps_destroy(m);
}

/* What a process had made is given back some time after its end, but not while a child has it. */
static void test_given_back(void **state)
{
	struct maps *m;

	(void)state;
	m = create_for("7f0000001000 10 one\n");
	m->made_keep_ns = 0;
	expect_found(m, PID, CODE, "one");
	assert_true(m->made_bytes > 0);
	maps_fork(m, clock_now_ns(), PID, PID + 1);
	end_process(m);
	chores_made(m, PID);
	maps_catch_up(m);
	assert_string_equal(found(m, PID + 1, CODE), "one");
	assert_true(m->made_bytes > 0);
	maps_exec(m, clock_now_ns(), PID + 1);
	chores_made(m, PID);
	maps_catch_up(m);
	assert_int_equal(m->made_bytes, 0);
	maps_destroy(m);

	/* Not at once: what was seen of it may still be asked for. */
	m = create_for("7f0000001000 10 one\n");
	expect_found(m, PID, CODE, "one");
	end_process(m);
	chores_made(m, PID);
	maps_catch_up(m);
	assert_true(m->made_bytes > 0);
	maps_destroy(m);
}

/* What was seen of a process before it was known is read though it has gone by then. */
static void test_ahead(void **state)
{
	static const struct file_id none;
	struct maps *m;

	(void)state;
	for (int gone = 0; gone < 2; gone++) {
		size_t before = open_files();

		make_process(getuid(), 0);
		write_map("7f0000001000 10 one\n");
		assert_int_equal(maps_create(&(struct maps_options){ .perf_maps = true }, &m, NULL),
				 0);
		maps_expect_names(m, PID);
		maps_expect_names(m, PID);
		maps_catch_up(m);
		assert_int_equal(open_files(), before + 1);
		sh("rm -r proc/%d root/tmp", PID);
		/* Another program since then has not written it. */
		maps_exec(m, gone ? clock_now_ns() : 1, PID);
		maps_add(m, 0, PID, CODE, 0x10000, 0, none, "//anon");
		expect_found(m, PID, CODE, gone ? NULL : "one");
		maps_destroy(m);
		assert_int_equal(open_files(), before);
	}
}

/* Callers in no file make nobody look: only where something ran is asked about. */
static void test_callers(void **state)
{
	struct maps *m;
	uint64_t place;
	uint32_t id;

	(void)state;
	m = create_for("7f0000001000 10 one\n");
	for (int i = 0; i < 3; i++) {
		assert_false(maps_place_of(m, PID, CODE, &id, &place));
		maps_catch_up(m);
	}
	expect_found(m, PID, CODE, "one");
	maps_destroy(m);
}

/* A process that tells nothing is looked at seldom. */
static void test_pauses(void **state)
{
	struct maps_made_place at = { .pid = PID };
	struct maps *m;
	int looks = 0;

	(void)state;
	make_process(getuid(), 0);
	m = create();
	for (uint64_t end = clock_now_ns() + NSEC_PER_SEC / 2; clock_now_ns() < end; usleep(500)) {
		at.time = clock_now_ns();
		if (!maps_name_awaited(m, &at))
			continue;
		looks++;
		maps_catch_up(m);
		/* It is not waited for longer than a look takes. */
		assert_false(maps_name_awaited(m, &at));
	}
	assert_in_range(looks, 1, 4);
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

/* A file that cannot be read is not tried again and again. */
static int reads;
static struct code_loads *read_nothing(int fd, const char *name, enum code_loads_kind kind,
				       uint64_t from, struct error *err)
{
	(void)fd;
	(void)kind;
	(void)from;
	reads++;
	error_set(err, EBADMSG, "%s: malformed", name);
	return NULL;
}

static void test_unreadable(void **state)
{
	struct maps *m;

	(void)state;
	reads = 0;
	code_loads_read_by(read_nothing);
	m = create_for("7f0000001000 10 one\n");
	for (int i = 0; i < 4; i++) {
		expect_found(m, PID, CODE, NULL);
		usleep(210000);
	}
	assert_int_equal(reads, 1);
	append_map("7f0000002000 10 two\n");
	expect_found(m, PID, CODE, NULL);
	assert_int_equal(reads, 2);
	code_loads_read_by(NULL);
	maps_destroy(m);
}

/* ---- jitdumps ---- */

static char *dump_path(int number)
{
	return in_scratch("root/tmp/jit-%d.dump", number);
}

static void append_load(int number, uint64_t time, uint64_t start, const char *name)
{
	_cleanup_free_ char *path = dump_path(number);
	static const uint32_t header[] = { 0x4a695444, 1, 40, 62, 0, 7, 0, 0, 0, 0 };
	uint32_t size = 16 + 40 + strlen(name) + 1 + 16;
	uint32_t head[] = { 0, size }, ids[] = { INNER, INNER };
	uint64_t body[] = { start, start, 16, 0 }, code[2] = { 0 };
	FILE *f = fopen(path, "a");

	assert_non_null(f);
	if (!ftell(f))
		fwrite(header, 1, sizeof(header), f);
	fwrite(head, 1, sizeof(head), f);
	fwrite(&time, 1, sizeof(time), f);
	fwrite(ids, 1, sizeof(ids), f);
	fwrite(body, 1, sizeof(body), f);
	fwrite(name, 1, strlen(name) + 1, f);
	fwrite(code, 1, sizeof(code), f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0644), 0);
}

/* The process has mapped it, as its writer does for those who want to know. */
static void tell_dump(struct maps *m, int pid, int number)
{
	_cleanup_free_ char *path = dump_path(number), *seen = NULL;
	struct file_id id;
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	id = (struct file_id){ major(st.st_dev), minor(st.st_dev), st.st_ino, 0 };
	seen = xasprintf("/tmp/jit-%d.dump", number);
	maps_add(m, 0, pid, 0x10000, 0x1000, 0, id, seen);
}

static void map_dump(struct maps *m, int pid, int number)
{
	tell_dump(m, pid, number);
	maps_catch_up(m);
}

static const char *name_of(struct maps *m, int pid, uint64_t address)
{
	struct maps_made_place at = { .pid = pid, .address = address, .time = clock_now_ns() };
	struct map_frame f[2];
	uint64_t place;
	uint32_t id;

	while (maps_name_awaited(m, &at)) {
		maps_catch_up(m);
		usleep(1000);
	}
	if (!maps_place_of(m, pid, address, &id, &place) || !maps_binary_is_made(m, id))
		return NULL;
	return maps_names_at(maps_binary_wait(m, id), place, f, 2) == 1 ? f[0].function : NULL;
}

static void expect_of_dump(struct maps *m, int pid, uint64_t address, const char *name)
{
	const char *got = name_of(m, pid, address);

	if (!name)
		assert_null(got);
	else if (!got || strcmp(got, name))
		fail_msg("found is %s, not %s", got ? got : "nothing", name);
}

static void test_jitdump(void **state)
{
	struct maps *m;

	(void)state;
	make_process(getuid(), 0);
	append_load(INNER, 1, CODE, "one");
	m = create();
	map_dump(m, PID, INNER);
	/* Nobody had to wait: it was read when it was mapped. */
	expect_of_dump(m, PID, CODE, "one");
	append_load(INNER, 2, CODE + 0x1000, "two");
	expect_of_dump(m, PID, CODE + 0x1000, "two");
	/* What tells in both ways is known by both. */
	write_map("7f0000003000 10 of the map\n");
	expect_of_dump(m, PID, CODE + 0x2000, "of the map");
	expect_of_dump(m, PID, CODE, "one");
	/* A child has it, and what it maps of its parent's is not its own. */
	maps_fork(m, clock_now_ns(), PID, PID + 1);
	expect_of_dump(m, PID + 1, CODE, "one");
	maps_exec(m, clock_now_ns(), PID);
	expect_of_dump(m, PID, CODE, NULL);
	expect_of_dump(m, PID, CODE + 0x2000, "of the map");
	maps_destroy(m);
}

/* Samples from before a look that knew nothing of it wait for it, too. */
static void test_jitdump_told_late(void **state)
{
	struct maps_made_place at = { .pid = PID, .address = CODE, .time = clock_now_ns() };
	struct maps *m;

	(void)state;
	make_process(getuid(), 0);
	append_load(INNER, 1, CODE, "one");
	m = create();
	while (maps_name_awaited(m, &at))
		maps_catch_up(m);
	tell_dump(m, PID, INNER);
	assert_true(maps_name_awaited(m, &at));
	expect_of_dump(m, PID, CODE, "one");
	assert_false(maps_name_awaited(m, &at));
	maps_destroy(m);
}

/* Only a process's own file is believed, by its number and its owner. */
static void test_jitdump_whose(void **state)
{
	_cleanup_free_ char *path = dump_path(INNER);
	struct maps *m;

	(void)state;
	assert_true(is_jitdump("/home/jit-1.dump"));
	assert_false(is_jitdump("/home/jit-1.dumps"));
	assert_false(is_jitdump("/home/xjit-1.dump"));
	assert_false(is_jitdump("/home/jit-.dump"));
	assert_false(is_jitdump("/home/jit--1.dump"));
	make_process(getuid(), 0);
	append_load(INNER + 1, 1, CODE, "of another process");
	m = create();
	map_dump(m, PID, INNER + 1);
	expect_of_dump(m, PID, CODE, NULL);
	maps_destroy(m);

	append_load(INNER, 1, CODE, "forged");
	assert_int_equal(chmod(path, 0666), 0);
	m = create();
	map_dump(m, PID, INNER);
	expect_of_dump(m, PID, CODE, NULL);
	maps_destroy(m);

	make_process(getuid() + 1, 0);
	append_load(INNER, 1, CODE, "of somebody else");
	m = create();
	map_dump(m, PID, INNER);
	expect_of_dump(m, PID, CODE, NULL);
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
		cmocka_unit_test(test_whose),	      cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_older),	      cmocka_unit_test(test_names),
		cmocka_unit_test(test_written_anew),  cmocka_unit_test(test_life),
		cmocka_unit_test(test_files),	      cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bounded),	      cmocka_unit_test(test_bounded_anew),
		cmocka_unit_test(test_full),	      cmocka_unit_test(test_symbolizer),
		cmocka_unit_test(test_descriptors),   cmocka_unit_test(test_no_descriptors),
		cmocka_unit_test(test_given_back),    cmocka_unit_test(test_callers),
		cmocka_unit_test(test_ahead),	      cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_end_unseen),    cmocka_unit_test(test_refused_later),
		cmocka_unit_test(test_unreadable),    cmocka_unit_test(test_jitdump),
		cmocka_unit_test(test_jitdump_whose), cmocka_unit_test(test_jitdump_told_late),
		cmocka_unit_test(test_few_warnings),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

int main(void)
{
	return run_in_scratch(run, false);
}
