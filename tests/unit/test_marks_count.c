// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs with marks, counted through the shared file. Their semaphores are raised by the
 * programs themselves, in the way the kernel does it; test_marks_uprobe.c has the real thing.
 */
#include "daemon/marked.c"
#include "daemon/members.c"
#include "daemon/points.c"
#include "daemon/probe_cost.c"
#include "engine/backend.h"
#include "test_marks.d/common.h"
#include "scoz.h"

#include <fcntl.h>

static size_t n_preads;
ssize_t __real_pread(int fd, void *to, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at)
{
	n_preads++;
	return __real_pread(fd, to, n, at);
}

static struct marks *open_marks(void)
{
	struct error err = { 0 };
	struct marks *m;

	if (marks_open(test_marks, &m, &err))
		fail_msg("%s", err.text);
	return m;
}

static struct marks_counts counts(struct marks *m, const char *name)
{
	struct marks_counts c;
	struct error err = { 0 };

	if (marks_read(m, name, &c, &err))
		fail_msg("%s", err.text);
	assert_int_equal(c.underway, 0);
	return c;
}

static uint64_t visits(struct marks *m, const char *name)
{
	return counts(m, name).visits;
}

static void remove_marks(void)
{
	run("rm -rf %s", test_marks);
}

static const char *const builds[][2] = {
	{ "gcc", "-O0" },
	{ "gcc", "-O3 -fno-pie -no-pie" },
	{ "g++ -x c++", "-O2" },
	{ "clang", "-O2" },
	{ "clang++ -x c++", "-O0" },
	{ "gcc", "-O2 -fsanitize=thread" },
	{ "gcc", "-O2 -fsanitize=address,undefined" },
};

static void test_modes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		_cleanup_free_ char *path = build(builds[i][0], builds[i][1], "modes");
		_cleanup_free_ char *up = path ? semaphores(path) : NULL;
		struct marks_counts before, after;
		uint64_t t0, t1, area;
		struct marks *m;
		FILE *f;
		int ticks = 0;
		_cleanup_free_ char *command = NULL;

		if (!path)
			continue;
		remove_marks();
		m = open_marks();
		t0 = clock_now_ns();
		assert_int_equal(run("%s count 1000 %s", path, up), 0);
		t1 = clock_now_ns();
		assert_int_equal(visits(m, "loop"), 1000);
		assert_int_equal(visits(m, "hot"), 1000);
		after = counts(m, "request");
		assert_int_equal(after.begins, 1000);
		assert_int_equal(after.ends, 1000);
		assert_int_equal(after.visits, 0);
		before = (struct marks_counts){ 0 };
		area = marks_area(&before, t0, &after, t1, 0);
		assert_in_range(area, 1000, t1 - t0);
		assert_int_equal(counts(m, "coz").begins, 1);
		assert_int_equal(visits(m, "step"), 0);

		assert_int_equal(run("%s threads 2000 %s", path, up), 0);
		assert_int_equal(visits(m, "loop"), 1000 + 8 * 2000);
		assert_int_equal(counts(m, "request").ends, 1000 + 8 * 2000);

		assert_int_equal(run("%s fork 500 %s", path, up), 0);
		assert_int_equal(visits(m, "hot"), 1000 + 8 * 2000 + 5 * 500);

		assert_int_equal(run("%s count 100", path), 0); /* semaphores down */
		assert_int_equal(visits(m, "hot"), 1000 + 8 * 2000 + 5 * 500);

		before = counts(m, "request");
		command = xasprintf("%s signal 1000 %s", path, up);
		f = popen(command, "r");
		assert_int_equal(fscanf(f, "%d", &ticks), 1);
		assert_int_equal(pclose(f), 0);
		assert_int_equal(visits(m, "tick"), ticks);
		after = counts(m, "request");
		assert_int_equal((after.begins - before.begins - ticks) % 1000, 0);
		assert_int_equal(after.begins, after.ends);
		marks_close(m);
	}
}

static void test_names_seen(void **state)
{
	_cleanup_free_ char *path = build("gcc", "-O2", "names"), *up = semaphores(path);
	struct marks *m;

	(void)state;
	remove_marks();
	m = open_marks();
	assert_int_equal(visits(m, "hot"), 0);
	assert_int_equal(run("%s count 2 %s", path, up), 0);
	assert_int_equal(visits(m, "hot"), 2);
	assert_int_equal(visits(m, "loop"), 2);
	assert_int_equal(counts(m, "request").ends, 2);
	assert_int_equal(counts(m, "coz").ends, 1);
	assert_int_equal(visits(m, "odd %d {a|b} \"q\" \\ \xc3\xa9"), 1);
	assert_int_equal(visits(m, "program.c:52"), 1);
	assert_int_equal(visits(m,
				"long: 0123456789 0123456789 0123456789 0123456789 0123456789 "
				"0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
				"0123456789 0123456789 0123456789 the end"),
			 1);
	marks_close(m);
}

/* The file outlives the profiler, and counts go on where they were. */
static void test_restart(void **state)
{
	_cleanup_free_ char *path = build("gcc", "-O2", "restart"), *up = semaphores(path);
	struct marks *m;

	(void)state;
	remove_marks();
	assert_int_equal(run("%s count 10 %s", path, up), 0); /* no file at all: only probes */
	m = open_marks();
	assert_int_equal(run("%s count 10 %s", path, up), 0);
	marks_close(m);
	assert_int_equal(run("%s count 10 %s", path, up), 0); /* nobody reads: only probes */
	m = open_marks();
	assert_int_equal(visits(m, "loop"), 10);
	assert_int_equal(run("%s count 10 %s", path, up), 0);
	assert_int_equal(visits(m, "loop"), 20);
	marks_close(m);
}

struct program {
	pid_t pid;
	int in, out;
};

static struct program start(const char *path, const char *args)
{
	_cleanup_free_ char *command = xasprintf("exec %s %s", path, args);
	int in[2], out[2];
	struct program p;

	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	p.pid = fork();
	if (!p.pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	p.in = in[1];
	p.out = out[0];
	return p;
}

static void step(struct program *p)
{
	char c = '.';

	assert_int_equal(write(p->in, &c, 1), 1);
	assert_int_equal(read(p->out, &c, 1), 1);
}

static void finish(struct program *p)
{
	int status;

	close(p->in);
	close(p->out);
	waitpid(p->pid, &status, 0);
	assert_int_equal(status, 0);
}

/* The program runs before there is a file, while it is idle, and after it was deleted. */
static void test_late(void **state)
{
	_cleanup_free_ char *path = build("gcc", "-O2", "late"), *up = semaphores(path);
	_cleanup_free_ char *args = xasprintf("steps 10000 %s", up);
	struct marks *m;
	struct program p;
	uint64_t seen;

	(void)state;
	remove_marks();
	p = start(path, args);
	step(&p);
	m = open_marks();
	step(&p);
	seen = visits(m, "step");
	assert_in_range(seen, 10000 - 4096, 10000);
	step(&p);
	assert_int_equal(visits(m, "step"), seen + 10000);

	/* deleted: the old file is told so, and the program finds the new one */
	run("rm %s/*", test_marks);
	assert_int_equal(marks_refresh(m, NULL), 0);
	step(&p);
	step(&p);
	assert_in_range(visits(m, "step"), seen + 30000 - 4096, seen + 30000);
	marks_close(m);
	m = open_marks();
	step(&p);
	step(&p);
	assert_in_range(visits(m, "step"), 20000 - 4096, 40000);
	marks_close(m);
	finish(&p);
}

/* While marks are paused programs count nothing, in files that come meanwhile neither. */
static void test_paused(void **state)
{
	_cleanup_free_ char *path = build("gcc", "-O2", "paused"), *up = semaphores(path);
	_cleanup_free_ char *args = xasprintf("steps 10000 %s", up);
	struct program p;
	struct marks *m;
	uint64_t seen;

	(void)state;
	remove_marks();
	m = open_marks();
	p = start(path, args);
	step(&p);
	assert_int_equal(visits(m, "step"), 10000);
	marks_pause(m, true);
	step(&p);
	assert_int_equal(visits(m, "step"), 10000);
	run("rm %s/*", test_marks);
	assert_int_equal(marks_refresh(m, NULL), 0);
	step(&p);
	assert_int_equal(visits(m, "step"), 10000);
	marks_pause(m, false);
	step(&p);
	seen = visits(m, "step");
	assert_in_range(seen, 20000 - 4096, 20000);
	step(&p);
	assert_int_equal(visits(m, "step"), seen + 10000);
	marks_close(m);
	finish(&p);
}

/* Every user's programs count in a file of their own, which others cannot write to. */
static void test_users(void **state)
{
	_cleanup_free_ char *path = NULL, *up = NULL, *with = NULL, *args = NULL, *file = NULL;
	struct program p;
	struct marks *m;
	struct stat st;

	(void)state;
	if (geteuid() || !have("setpriv"))
		skip();
	path = build("gcc", "-O2", "users");
	up = semaphores(path);
	with = xasprintf("setpriv --reuid 4243 --regid 4243 --clear-groups %s", path);
	args = xasprintf("steps 5000 %s", up);
	file = xasprintf("%s/4243", test_marks);
	run("chmod 755 %s", test_dir);
	remove_marks();
	m = open_marks();
	assert_int_not_equal(stat(file, &st), 0);
	p = start(with, args);
	step(&p);
	assert_int_equal(visits(m, "step"), 0);
	assert_int_equal(marks_refresh(m, NULL), 0);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_uid, 4243);
	assert_int_equal(st.st_mode & 0777, 0600);
	step(&p);
	assert_true(visits(m, "step") > 0);
	finish(&p);
	marks_close(m);
}

static void test_truncated(void **state)
{
	_cleanup_free_ char *path = build("gcc", "-O2", "short"), *up = semaphores(path);
	struct marks_counts c;
	struct marks *m;

	(void)state;
	remove_marks();
	m = open_marks();
	assert_int_equal(run("%s count 10 %s", path, up), 0);
	assert_int_equal(visits(m, "loop"), 10);
	run("truncate -s 5000 %s/*", test_marks);
	assert_int_equal(marks_read(m, "loop", &c, NULL), 0);
	assert_true(c.underway);
	assert_int_equal(run("%s count 10 %s", path, up), 0); /* refuses that size */
	assert_int_equal(marks_refresh(m, NULL), 0);
	assert_int_equal(run("%s count 10 %s", path, up), 0);
	assert_int_equal(visits(m, "loop"), 10);
	marks_close(m);
}

/* What a program finds in the place of its file must not harm it. */
static void test_hostile(void **state)
{
	static const char *const setups[] = {
		"mkfifo $F",
		"mkdir $F",
		"ln -s /etc/passwd $F",
		"ln -s /dev/zero $F",
		"echo scozmrk1 > $F",
		"truncate -s 659456 $F",
		"head -c 659456 /dev/urandom > $F",
		"(printf scozmrk1; head -c 659448 /dev/urandom) > $F",
		": > $F; chmod 0 $F",
	};
	_cleanup_free_ char *path = build("gcc", "-O2 -fsanitize=address,undefined", "hostile");
	_cleanup_free_ char *up = semaphores(path);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(setups); i++) {
		remove_marks();
		assert_int_equal(
			run("mkdir %s; F=%s/$(id -u); %s", test_marks, test_marks, setups[i]), 0);
		assert_int_equal(run("timeout 10 %s threads 1000 %s", path, up), 0);
	}
	assert_int_equal(sizeof(struct scoz_slot_1), 640);
	assert_int_equal(SCOZ_FILE_SIZE_, 659456);
}

static void fill(const struct scoz_slot_1 *slot, uint32_t from, uint32_t to)
{
	_cleanup_free_ char *file = xasprintf("%s/%u", test_marks, geteuid());
	_cleanup_close_ int fd = open(file, O_RDWR);

	for (uint32_t i = from; i < to; i++)
		assert_int_equal(pwrite(fd, slot, sizeof(*slot),
					sizeof(struct scoz_header_1) + i * sizeof(*slot)),
				 sizeof(*slot));
}

/* Garbage in the slots, and no slot left: nothing is counted, nothing breaks. */
static void test_slots(void **state)
{
	_cleanup_free_ char *path = build("gcc", "-O2", "slots"), *up = semaphores(path);
	struct scoz_slot_1 slot = { .state = SCOZ_CLAIMED_ };
	struct marks_counts c;
	struct marks *m;

	(void)state;
	remove_marks();
	m = open_marks();
	fill(&slot, 0, SCOZ_SLOTS_);
	assert_int_equal(run("%s count 10 %s", path, up), 0);
	assert_int_equal(visits(m, "loop"), 0);

	slot.state = SCOZ_READY_;
	memset(slot.name, 'x', sizeof(slot.name)); /* does not end */
	fill(&slot, 0, SCOZ_SLOTS_);
	assert_int_equal(run("%s count 10 %s", path, up), 0);
	strcpy(slot.name, "evil\033[2J");
	slot.shard[0].visits = 1000000;
	fill(&slot, 0, 8);
	slot.state = 77;
	fill(&slot, 8, 16);
	memset(&slot, 0, sizeof(slot));
	fill(&slot, 16, SCOZ_SLOTS_);
	assert_int_equal(run("%s count 10 %s", path, up), 0);
	assert_int_equal(visits(m, "evil\033[2J"), 0);
	assert_int_equal(visits(m, "loop"), 10);

	/* a writer that died between the sum and the count */
	memset(&slot, 0, sizeof(slot));
	slot.state = SCOZ_READY_;
	strcpy(slot.name, "dead");
	slot.shard[3].begin_started = 2;
	slot.shard[3].begins = 1;
	slot.shard[5].begin_started = 4;
	slot.shard[5].begins = 4;
	slot.hash = scoz_hash_1(slot.name);
	marks_close(m);
	fill(&slot, slot.hash % SCOZ_SLOTS_, slot.hash % SCOZ_SLOTS_ + 1);
	m = open_marks();
	assert_int_equal(marks_read(m, "dead", &c, NULL), 0);
	assert_true(c.underway);
	assert_int_equal(c.begins, 5);
	marks_close(m);
}

/*
 * A program that is stopped between the sum and the count of a latency's begin: of what happened
 * between two readings nothing is known once it goes on, all if it never does.
 */
static void test_torn(void **state)
{
	struct scoz_slot_1 slot = { .state = SCOZ_READY_, .name = "unit" };
	struct point mark = { .kind = POINT_MARK, .name = (char *)"unit" };
	struct progress_spec spec = { .latency = true };
	struct one one = { .spec = &spec,
			   .begin = { &mark, ENGINE_BEGIN, -1, -1 },
			   .end = { &mark, ENGINE_END, -1, -1 } };
	struct points p = { .list = &one, .n = 1 };
	struct point_reading settled, torn, later;
	uint32_t at;

	(void)state;
	remove_marks();
	marks_close(open_marks());
	assert_int_equal(run("printf 1 | dd bs=1 seek=%zu conv=notrunc of=%s/$(id -u) 2>/dev/null",
			     offsetof(struct scoz_header_1, claims), test_marks),
			 0);
	slot.hash = scoz_hash_1(slot.name);
	at = slot.hash % SCOZ_SLOTS_;
	fill(&slot, at, at + 1);
	p.marks = open_marks();
	points_begin(&p);
	points_read_edge(&p, 0, &settled);
	slot.shard[2].begin_started = 1;
	slot.shard[2].begin_ns = clock_now_ns();
	fill(&slot, at, at + 1);
	points_read_edge(&p, 0, &torn);
	assert_true(points_inflight(&p, 0, &settled, &torn) < 0);
	points_read_edge(&p, 0, &later);
	assert_true(points_inflight(&p, 0, &torn, &later) >= 0);
	slot.shard[2].begins = 1;
	fill(&slot, at, at + 1);
	points_read_edge(&p, 0, &later);
	assert_true(points_inflight(&p, 0, &torn, &later) < 0);
	assert_in_range(points_inflight(&p, 0, &settled, &later) * 1000, 0, 1000);
	marks_close(p.marks);
}

/* What a user's programs cannot have written: the same mark everywhere, none of which settles. */
static void test_forged(void **state)
{
	_cleanup_free_ char *path = build("gcc", "-O2", "forged"), *up = semaphores(path);
	struct scoz_slot_1 slot = { .state = SCOZ_READY_, .name = "loop" };
	struct marks_counts c;
	struct marks *m;
	uint64_t start;

	(void)state;
	remove_marks();
	m = open_marks();
	assert_int_equal(run("%s count 10 %s", path, up), 0);
	assert_int_equal(visits(m, "loop"), 10);
	marks_close(m);
	slot.hash = scoz_hash_1(slot.name);
	slot.shard[0].visits = 1;
	slot.shard[1].begin_started = 1;
	for (uint32_t i = 0; i < SCOZ_SLOTS_; i++) {
		if ((i - slot.hash) % SCOZ_SLOTS_ >= SCOZ_PROBES_)
			fill(&slot, i, i + 1);
	}
	m = open_marks();
	assert_int_equal(visits(m, "loop"), 10);
	/* Where they may be: they are read, but within one budget, and hold up nobody else's. */
	for (uint32_t i = 1; i < SCOZ_PROBES_; i++)
		fill(&slot, (slot.hash + i) % SCOZ_SLOTS_, (slot.hash + i) % SCOZ_SLOTS_ + 1);
	marks_close(m);
	m = open_marks();
	start = clock_now_ns();
	n_preads = 0;
	assert_int_equal(marks_read(m, "loop", &c, NULL), 0);
	assert_in_range(n_preads, 2 * SCOZ_PROBES_, 2000 + 4 * SCOZ_PROBES_);
	assert_true(c.underway);
	assert_int_equal(c.visits, 10 + SCOZ_PROBES_ - 1);
	printf("%.1f ms for %d slots that never settle\n", (clock_now_ns() - start) / 1e6,
	       SCOZ_PROBES_ - 1);
	marks_close(m);
}

/* Users who have no part in the run may write what they like. */
static void test_only_users(void **state)
{
	struct scoz_slot_1 slot = { .state = SCOZ_READY_, .name = "loop" };
	_cleanup_free_ char *theirs = xasprintf("%s/4242", test_marks);
	_cleanup_free_ char *mine = xasprintf("%s/%u", test_marks, geteuid());
	const off_t claims_at = offsetof(struct scoz_header_1, claims);
	const uid_t me = geteuid(), other = 4242;
	const uint32_t claims = 1;
	struct marks *m;
	int fd, ours;
	off_t at;

	(void)state;
	if (geteuid() || !have("setpriv"))
		skip();
	remove_marks();
	slot.hash = scoz_hash_1(slot.name);
	slot.shard[0].visits = 5;
	at = sizeof(struct scoz_header_1) + slot.hash % SCOZ_SLOTS_ * sizeof(slot);
	marks_close(open_marks());
	fill(&slot, slot.hash % SCOZ_SLOTS_, slot.hash % SCOZ_SLOTS_ + 1);
	ours = open(mine, O_RDWR);
	assert_int_equal(pwrite(ours, &claims, sizeof(claims), claims_at), sizeof(claims));
	close(ours);
	m = open_marks();
	marks_only_users(m, &me, 1);
	assert_int_equal(visits(m, "loop"), 5);

	/* A file that the other user has filled appears with one of its processes. */
	fd = open(theirs, O_CREAT | O_RDWR, 0600);
	assert_int_equal(fchown(fd, other, other), 0);
	assert_int_equal(ftruncate(fd, SCOZ_FILE_SIZE_), 0);
	assert_int_equal(pwrite(fd, &claims, sizeof(claims), claims_at), sizeof(claims));
	slot.shard[0].visits = 1000;
	assert_int_equal(pwrite(fd, &slot, sizeof(slot), at), sizeof(slot));
	assert_int_equal(run("setpriv --reuid 4242 --clear-groups sleep 2 >/dev/null 2>&1 & "
			     "sleep 0.3"),
			 0);
	assert_int_equal(marks_refresh(m, NULL), 0);
	assert_int_equal(visits(m, "loop"), 5);
	slot.shard[0].visits = 1003;
	assert_int_equal(pwrite(fd, &slot, sizeof(slot), at), sizeof(slot));
	assert_int_equal(visits(m, "loop"), 5);
	/* Named from now on: what was there before is not theirs to claim. */
	marks_only_users(m, &other, 1);
	assert_int_equal(visits(m, "loop"), 5);
	slot.shard[0].visits = 1010;
	assert_int_equal(pwrite(fd, &slot, sizeof(slot), at), sizeof(slot));
	assert_int_equal(visits(m, "loop"), 12);
	close(fd);
	marks_close(m);
}

static int room_for_two(struct engine *e, uid_t uid)
{
	(void)e;
	return uid < 12 ? 0 : -E2BIG;
}

/* That probes count others than they should is said, once. */
static void test_miscounted_users(void **state)
{
	static const struct engine_backend backend = { .count_user = room_for_two };
	const uid_t users[] = { 10, 11, 12, 13 };
	struct engine e = { .backend = &backend };
	struct points p = { .engine = &e };
	struct error err;

	(void)state;
	remove_marks();
	p.marks = open_marks();
	points_only_users(&p, users, 2);
	assert_false(points_miscount_users(&p, &err));
	points_only_users(&p, users, 4);
	assert_true(points_miscount_users(&p, &err));
	assert_non_null(strstr(err.text, "user 12,"));
	points_only_users(&p, users, 4);
	assert_false(points_miscount_users(&p, &err));
	e.all_users = true;
	assert_true(points_miscount_users(&p, &err));
	assert_non_null(strstr(err.text, "all users"));
	assert_false(points_miscount_users(&p, &err));
	marks_close(p.marks);
}

/* The profiler before was killed, and told nobody to count no longer. */
static void test_left_active(void **state)
{
	_cleanup_free_ char *path = xasprintf("%s/%u", test_marks, geteuid());
	_cleanup_free_ char *idle = xasprintf("%s/4243", test_marks);
	_cleanup_free_ char *link = xasprintf("%s.link", test_marks);
	const off_t at = offsetof(struct scoz_header_1, active);
	uint32_t active = 1;
	int fd;

	(void)state;
	remove_marks();
	marks_close(open_marks());
	fd = open(path, O_RDWR);
	assert_int_equal(pwrite(fd, &active, sizeof(active), at), sizeof(active));
	/* Where others may have put something nothing is opened. */
	assert_int_equal(symlink(test_marks, link), 0);
	marks_silence(link);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(chmod(test_marks, 0777), 0);
	marks_silence(test_marks);
	assert_int_equal(chmod(test_marks, 0755), 0);
	assert_int_equal(pread(fd, &active, sizeof(active), at), sizeof(active));
	assert_int_equal(active, 1);
	marks_silence(test_marks);
	assert_int_equal(pread(fd, &active, sizeof(active), at), sizeof(active));
	assert_int_equal(active, 0);
	active = 1;
	assert_int_equal(pwrite(fd, &active, sizeof(active), at), sizeof(active));
	close(fd);
	/* Of a user who has no processes now. */
	assert_int_equal(rename(path, idle), 0);
	marks_close(open_marks());
	fd = open(idle, O_RDWR);
	assert_int_equal(pread(fd, &active, sizeof(active), at), sizeof(active));
	assert_int_equal(active, 0);
	close(fd);
}

/* Somebody was there first: root puts that aside, others do without. */
static void test_foreign_directory(void **state)
{
	_cleanup_free_ char *rm = xasprintf("rm -rf %s %s.%d", test_marks, test_marks, getpid());
	struct stat st;
	struct marks *m;

	(void)state;
	if (geteuid())
		skip();
	remove_marks();
	assert_int_equal(chmod(test_dir, 0711), 0);
	assert_int_equal(mkdir(test_marks, 0755), 0);
	assert_int_equal(chown(test_marks, 4242, 4242), 0);
	m = open_marks();
	assert_int_equal(stat(test_marks, &st), 0);
	assert_int_equal(st.st_uid, 0);
	marks_close(m);

	assert_int_equal(seteuid(4242), 0);
	m = open_marks();
	assert_int_equal(marks_refresh(m, NULL), 0);
	assert_int_equal(visits(m, "loop"), 0);
	marks_close(m);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(system(rm), 0);
}

/* A lease on one's own file makes others wait who open it; nobody else's marks are lost by that. */
static void test_leased(void **state)
{
	_cleanup_free_ char *theirs = xasprintf("%s/4242", test_marks);
	struct marks *m;
	char has = 'n';
	int told[2], fd;
	pid_t child;

	(void)state;
	if (geteuid())
		skip();
	remove_marks();
	marks_close(open_marks());
	assert_int_equal(chmod(test_dir, 0755), 0);
	fd = open(theirs, O_CREAT | O_RDWR, 0600);
	assert_int_equal(fchown(fd, 4242, 4242), 0);
	close(fd);
	assert_int_equal(pipe(told), 0);
	child = fork();
	if (!child) {
		signal(SIGIO, SIG_IGN); /* somebody wants to open it */
		if (setresuid(4242, 4242, 4242))
			_exit(1);
		fd = open(theirs, O_RDWR);
		has = fd >= 0 && !fcntl(fd, F_SETLEASE, F_WRLCK) ? 'y' : 'n';
		if (write(told[1], &has, 1) == 1)
			pause();
		_exit(0);
	}
	assert_int_equal(read(told[0], &has, 1), 1);
	if (has == 'y') {
		m = open_marks();
		assert_int_equal(marks_refresh(m, NULL), 0);
		marks_close(m);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(told[0]);
	close(told[1]);
	if (has != 'y')
		skip();
}

/* Counts and sums belong together at every moment, not only in the end. */
static void test_consistent(void **state)
{
	_cleanup_free_ char *path = build("gcc", "-O2", "busy"), *up = semaphores(path);
	_cleanup_free_ char *args = xasprintf("threads 300000 %s", up);
	struct marks_counts before = { 0 }, c;
	uint64_t t0 = clock_now_ns(), now;
	unsigned int torn = 0, reads = 0;
	struct program p;
	struct marks *m;
	int status;

	(void)state;
	remove_marks();
	m = open_marks();
	p = start(path, args);
	while (!waitpid(p.pid, &status, WNOHANG)) {
		uint64_t area;

		assert_int_equal(marks_read(m, "request", &c, NULL), 0);
		now = clock_now_ns();
		reads++;
		torn += c.underway != 0;
		if (c.underway)
			continue;
		/* the shards are read one after the other, so a few ends may lack their begins */
		area = marks_area(&before, t0, &c, now, 0);
		assert_true((int64_t)area > -(int64_t)NSEC_PER_SEC);
		assert_true((int64_t)area < (int64_t)(8 * (now - t0)));
	}
	assert_int_equal(status, 0);
	print_message("%u reads, %u torn\n", reads, torn);
	assert_true(torn <= reads / 5);
	assert_int_equal(counts(m, "request").begins, 8 * 300000);
	marks_close(m);
	close(p.in);
	close(p.out);
}

static void test_bad_directory(void **state)
{
	struct stat st;
	struct error err = { 0 };
	struct marks *m;

	(void)state;
	remove_marks();
	assert_int_equal(run("mkdir -m 777 %s", test_marks), 0);
	assert_int_equal(marks_open(test_marks, &m, &err), -EPERM);
	assert_non_null(strstr(err.text, "rm -r"));
	assert_null(m);
	remove_marks();
	/* Of a link, which root puts aside; others do without files. Nothing is put behind it. */
	assert_int_equal(
		run("mkdir -m 755 %s.t; ln -s %s.t %s", test_marks, test_marks, test_marks), 0);
	marks_close(open_marks());
	assert_int_equal(run("rmdir %s.t", test_marks), 0);
	assert_int_equal(lstat(test_marks, &st), 0);
	assert_true(geteuid() ? S_ISLNK(st.st_mode) : S_ISDIR(st.st_mode));
	run("rm -rf %s %s.*", test_marks, test_marks);
	assert_int_equal(
		run("mkdir -m 755 %s; ln -s /etc/passwd %s/$(id -u)", test_marks, test_marks), 0);
	assert_int_equal(marks_open(test_marks, &m, &err), -ELOOP);
	assert_non_null(strstr(err.text, "symbolic link"));
	remove_marks();
	assert_int_equal(run("mkdir -m 755 %s; mkfifo %s/$(id -u)", test_marks, test_marks), 0);
	assert_int_equal(marks_open(test_marks, &m, &err), -EINVAL);
	remove_marks();
	assert_int_equal(marks_open("/nonexistent/x", &m, &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forged),
		cmocka_unit_test(test_only_users),
		cmocka_unit_test(test_miscounted_users),
		cmocka_unit_test(test_foreign_directory),
		cmocka_unit_test(test_left_active),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_names_seen),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_paused),
		cmocka_unit_test(test_consistent),
		cmocka_unit_test(test_bad_directory),
		cmocka_unit_test(test_leased),
		cmocka_unit_test(test_torn),
	};
	int failed;

	setup_or_skip();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	teardown();
	return failed;
}
