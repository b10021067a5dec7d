// SPDX-License-Identifier: GPL-2.0-or-later
/* Address spaces, from a /proc made up for the purpose. */
#include "test_map_process_util.h"

#include "maps/maps_internal.h"
#include "test_descriptors.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void test_scan(void **state)
{
	struct program a = make_program("scan-a", ""), b = make_program("scan-b", "-no-pie");
	_cleanup_free_ char *la = maps_line(&a, 0x555500000000, "r-xp", ""),
			    *ld = maps_line(&a, 0x555500001000, "r--p", ""),
			    *lb = maps_line(&b, 0x401000, "r-xp", " (deleted)"), *text = NULL;
	struct maps *m = create(NULL, 0);
	const struct maps_binary *vdso;
	struct error err;

	(void)state;
	text = xasprintf("%s%s"
			 "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
			 "7f0000001000-7f0000002000 r-xp 00000000 00:01 99  /dev/zero (deleted)\n"
			 "7ffff7fc0000-7ffff7fc2000 r-xp 00000000 00:00 0        [vdso]\n"
			 "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n"
			 "this is no mapping\n",
			 la, ld);
	make_process(10, text);
	make_process(11, lb);
	assert_int_equal(maps_scan_all(m, &err), 0);
	assert_int_equal(maps_binary_count(m), 4);
	assert_string_equal(function_at(m, 10, &a, 0x555500000000), "work");
	assert_string_equal(function_at(m, 11, &b, 0x401000), "work");
	assert_null(function_at(m, 11, &a, 0x555500000000));
	assert_null(function_at(m, 12, &a, 0x555500000000));
	/* The vdso is known for what it is. */
	vdso = maps_binary_wait(m, id_at(m, 10, 0x7ffff7fc0010));
	assert_non_null(vdso);
	assert_string_equal(vdso->path, MAPS_VDSO);
	assert_null(vdso->table);
	/* Data, anonymous memory: not known. */
	assert_int_equal(id_at(m, 10, 0x555500001000), UINT32_MAX);
	assert_int_equal(id_at(m, 10, 0x7f0000000000), UINT32_MAX);
	assert_int_equal(id_at(m, 10, 0x7f0000001000), UINT32_MAX);
	assert_int_equal(id_at(m, 10, 0x5554ffffffff), UINT32_MAX);
	/* The kernel, from anywhere. */
	assert_int_equal(id_at(m, 10, 0xffffffff81000000), MAPS_KERNEL_ID);
	assert_int_equal(id_at(m, 4711, 0xffffffff81000000), MAPS_KERNEL_ID);
	assert_int_equal(maps_scan_process(m, 4711), -ESRCH);
	assert_null(maps_binary_wait(m, 99));
	maps_destroy(m);
	free(a.path);
	free(b.path);
	sh("rm -r proc");
}

/* Address spaces that stay locked as long as their owner wants it: nobody waits for them. */
static void test_held(void **state)
{
	struct program p = make_program("held", "");
	_cleanup_free_ char *line = maps_line(&p, 0x40000, "r-xp", ""),
			    *path = in_scratch("proc/21/maps");
	struct maps *m = create(NULL, 0);
	uint64_t end = clock_now_ns() + 60 * NSEC_PER_SEC;
	int rc, fd;

	(void)state;
	make_process(20, line);
	make_process(21, "");
	make_process(22, line);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(60);
	assert_int_equal(maps_scan_all(m, NULL), 0);
	assert_string_equal(function_at(m, 20, &p, 0x40000), "work");
	assert_string_equal(function_at(m, 22, &p, 0x40000), "work");
	assert_int_equal(id_at(m, 21, 0x40000 + p.work), UINT32_MAX);
	assert_int_equal(maps_scan_process(m, 21), -ETIMEDOUT);
	/* It is read again once it can be. */
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	close(fd);
	make_process(21, line);
	while ((rc = maps_scan_process(m, 21)) == -ETIMEDOUT && clock_now_ns() < end)
		usleep(1000);
	alarm(0);
	assert_int_equal(rc, 0);
	assert_string_equal(function_at(m, 21, &p, 0x40000), "work");
	maps_destroy(m);
	free(p.path);
	sh("rm -r proc");
}

/* A file of its own for each, mapped and gone at once; it ends a few processes back. */
static void come_and_go(struct maps *m, int n)
{
	struct file_id id = { .dev_major = 8, .dev_minor = 1 };

	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *path = xasprintf("/no/such/program-%d", i);

		id.ino = 1000 + i;
		maps_add(m, 0, 1000 + i % 40, 0x10000, 0x1000, 0, id, path);
		maps_catch_up(m);
		maps_exit(m, 0, 1000 + i % 40);
		if (i % 40 == 39)
			usleep(120000);
	}
}

/*
 * Thousands of files that nobody has asked about are not remembered; those that are mapped, were
 * sampled, or are known to somebody, are, and what is new is told apart from what is forgotten.
 */
static void test_forgotten_files(void **state)
{
	struct program mapped = make_program("forget-a", ""),
		       sampled = make_program("forget-b", ""), asked = make_program("forget-c", "");
	_cleanup_free_ struct maps_region *was = NULL, *is = NULL;
	_cleanup_free_ char *path = NULL, *first = NULL;
	struct maps *m = create(NULL, 0);
	uint32_t id_sampled, id_asked, id_mapped;
	struct maps_region gone;
	uint64_t serial = 0;

	(void)state;
	m->forget_ns = 0;
	maps_add(m, 0, 20, 0x10000, 0x1000, mapped.pgoff, mapped.id, mapped.path);
	maps_add(m, 0, 21, 0x10000, 0x1000, sampled.pgoff, sampled.id, sampled.path);
	maps_add(m, 0, 22, 0x10000, 0x1000, asked.pgoff, asked.id, asked.path);
	maps_add(m, 0, 23, 0x10000, 0x1000, 0, (struct file_id){ 8, 1, 7, 0 }, "/no/such/file");
	maps_catch_up(m);
	first = maps_next_file(m, &serial, NULL);
	assert_string_equal(first, mapped.path);
	id_sampled = id_at(m, 21, 0x10000);
	assert_int_equal(maps_regions(m, 22, &was), 1);
	id_asked = was->binary;
	assert_string_equal(maps_binary_path(m, id_asked), asked.path);
	assert_int_equal(maps_regions(m, 20, &is), 1);
	id_mapped = is->binary;
	free(was);
	assert_int_equal(maps_regions(m, 23, &was), 1);
	gone = *was;
	for (int pid = 21; pid <= 23; pid++)
		maps_exit(m, 0, pid);
	come_and_go(m, 2000);
	assert_true(maps_binary_count(m) < 1200);
	assert_true(m->cap_binary < 2000);
	assert_string_equal(maps_binary_path(m, id_sampled), sampled.path);
	assert_string_equal(maps_binary_path(m, id_asked), asked.path);
	assert_int_equal(id_at(m, 20, 0x10000), id_mapped);
	assert_int_equal(maps_open_region(m, 23, &gone, &path), -1);
	assert_null(path);
	/* The same file again: another binary, that stands in no place of another. */
	maps_add(m, 0, 24, 0x10000, 0x1000, 0, (struct file_id){ 8, 1, 7, 0 }, "/no/such/file");
	free(was);
	assert_int_equal(maps_regions(m, 24, &was), 1);
	assert_true(was->serial > gone.serial);
	serial = was->serial - 1;
	path = maps_next_file(m, &serial, NULL);
	assert_string_equal(path, "/no/such/file");
	assert_null(maps_next_file(m, &serial, NULL));
	maps_destroy(m);
	free(mapped.path);
	free(sampled.path);
	free(asked.path);
}

static void test_overlaps(void **state)
{
	struct program a = make_program("overlap-a", ""), b = make_program("overlap-b", "");
	struct maps *m = create(NULL, 0);
	uint32_t ia, ib;

	(void)state;
	make_process(30, "");
	maps_add(m, 0, 30, 0x10000, 0x9000, 0, a.id, a.path);
	ia = id_at(m, 30, 0x10000);
	/* In the middle: the old one is cut in two. */
	maps_add(m, 0, 30, 0x13000, 0x2000, 0, b.id, b.path);
	ib = id_at(m, 30, 0x13000);
	assert_true(ia != ib && ib != UINT32_MAX);
	assert_int_equal(id_at(m, 30, 0x12fff), ia);
	assert_int_equal(id_at(m, 30, 0x14fff), ib);
	assert_int_equal(id_at(m, 30, 0x15000), ia);
	assert_int_equal(mappings_of(m, ia), 2);
	/* Over several. */
	maps_add(m, 0, 30, 0x12000, 0x4000, 0, b.id, b.path);
	assert_int_equal(id_at(m, 30, 0x11fff), ia);
	assert_int_equal(id_at(m, 30, 0x12000), ib);
	assert_int_equal(id_at(m, 30, 0x15fff), ib);
	assert_int_equal(id_at(m, 30, 0x16000), ia);
	assert_int_equal(mappings_of(m, ib), 1);
	/* Anonymous memory over all of it. */
	maps_add(m, 0, 30, 0x10000, 0x9000, 0, a.id, "");
	assert_int_equal(mappings_of(m, ia) + mappings_of(m, ib), 0);
	maps_destroy(m);
	free(a.path);
	free(b.path);
	sh("rm -r proc");
}

static void test_scope(void **state)
{
	static const char *const scope[] = { "*/nothing*", "scope-i*" };
	struct program in = make_program("scope-in", ""), out = make_program("scope-out", "");
	struct maps *m = create(scope, 2);

	(void)state;
	make_process(40, "");
	maps_add(m, 0, 40, 0x10000, 0x1000, in.pgoff, in.id, in.path);
	maps_add(m, 0, 40, 0x20000, 0x1000, out.pgoff, out.id, out.path);
	assert_string_equal(function_at(m, 40, &in, 0x10000), "work");
	assert_string_equal(function_at(m, 40, &out, 0x20000), "outside --binary-scope");
	maps_destroy(m);
	free(in.path);
	free(out.path);
	sh("rm -r proc");
}

/*
 * Is written, after all that has been so far: the clock of files is coarse. @date: the time that is
 * given to it, "now" for that.
 */
static void write_again(const char *path, const char *date)
{
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &now);
	do {
		sh("touch -d %s %s", date, path);
		assert_int_equal(stat(path, &st), 0);
	} while (st.st_ctim.tv_sec < now.tv_sec ||
		 (st.st_ctim.tv_sec == now.tv_sec && st.st_ctim.tv_nsec <= now.tv_nsec));
}

static void map_it(struct maps *m, int pid, const struct program *p)
{
	make_process(pid, "");
	maps_add(m, 0, pid, 0x10000, 0x1000, p->pgoff, p->id, p->path);
}

/* The same inode and path, but another file: a compiler's output, made again. */
static void test_rewritten_file(void **state)
{
	static const char *const dates[] = { "now", "@1000000001" };
	struct program p = make_program("rewritten", "");
	struct maps *m = create(NULL, 0);
	uint32_t first;

	(void)state;
	map_it(m, 50, &p);
	maps_catch_up(m);
	first = id_at(m, 50, 0x10000);
	m->recheck_ns = 0;
	write_again(p.path, "@1000000000");
	map_it(m, 51, &p);
	maps_catch_up(m);
	assert_true(id_at(m, 51, 0x10000) != first);
	assert_int_equal(id_at(m, 50, 0x10000), first);

	/* Soon after a look: who had it before it was written, and who had it after. */
	for (size_t i = 0; i < ARRAY_SIZE(dates); i++) {
		first = id_at(m, 51, 0x10000);
		m->recheck_ns = UINT64_MAX;
		map_it(m, 52, &p);
		write_again(p.path, dates[i]);
		map_it(m, 53, &p);
		m->recheck_ns = 0;
		map_it(m, 51, &p);
		maps_catch_up(m);
		assert_int_equal(id_at(m, 52, 0x10000), first);
		assert_true(id_at(m, 53, 0x10000) != first);
		assert_int_equal(id_at(m, 51, 0x10000), id_at(m, 53, 0x10000));
	}

	/* Written between what asks for the look, and the look. */
	first = id_at(m, 51, 0x10000);
	map_it(m, 55, &p);
	write_again(p.path, "now");
	map_it(m, 56, &p);
	maps_catch_up(m);
	map_it(m, 57, &p);
	maps_catch_up(m);
	assert_int_equal(id_at(m, 55, 0x10000), first);
	assert_true(id_at(m, 56, 0x10000) != first);
	assert_int_equal(id_at(m, 57, 0x10000), id_at(m, 56, 0x10000));
	maps_destroy(m);
	free(p.path);
	sh("rm -r proc");
}

/* What took its place is known by its generation before the file is looked at: it stays one. */
static void test_known_successor(void **state)
{
	struct program p = make_program("generations", "");
	struct maps *m = create(NULL, 0);
	uint32_t first, second;

	(void)state;
	p.id.generation = 5;
	map_it(m, 50, &p);
	maps_catch_up(m);
	m->recheck_ns = 0;
	map_it(m, 51, &p);
	first = id_at(m, 51, 0x10000);
	write_again(p.path, "now");
	p.id.generation = 6;
	map_it(m, 52, &p);
	second = id_at(m, 52, 0x10000);
	assert_true(second != first);
	maps_catch_up(m);
	assert_int_equal(id_at(m, 51, 0x10000), first);
	assert_int_equal(id_at(m, 52, 0x10000), second);
	/* The same as /proc tells it, without generations. */
	p.id.generation = 0;
	map_it(m, 53, &p);
	maps_catch_up(m);
	assert_int_equal(id_at(m, 53, 0x10000), second);
	assert_int_equal(maps_binary_count(m), second + 1);
	maps_destroy(m);
	free(p.path);
	sh("rm -r proc");
}

static void test_replaced_file(void **state)
{
	struct program p = make_program("replaced", "");
	struct maps *m;

	(void)state;
	make_process(50, "");
	/* Another inode at that path: what was mapped cannot be had any more. */
	m = create(NULL, 0);
	p.id.ino++;
	maps_add(m, 0, 50, 0x10000, 0x1000, p.pgoff, p.id, p.path);
	assert_non_null(
		strstr(maps_binary_wait(m, id_at(m, 50, 0x10000))->error, "replaced or deleted"));
	maps_destroy(m);

	/* But through map_files it can: a process in a container, a deleted file. */
	m = create(NULL, 0);
	p.bias = 0x10000 - p.map_vaddr;
	sh("mkdir -p proc/50/map_files; ln -s %s proc/50/map_files/10000-11000", p.path);
	maps_add(m, 0, 50, 0x10000, 0x1000, p.pgoff, p.id, "/no/such/path");
	/* Unless the process has something else there by now. */
	assert_string_equal(maps_binary_wait(m, id_at(m, 50, 0x10000))->error,
			    "/no/such/path: cannot be opened: No such file or directory");
	maps_destroy(m);
	m = create(NULL, 0);
	p.id.ino--;
	maps_add(m, 0, 50, 0x10000, 0x1000, p.pgoff, p.id, "/no/such/path (deleted)");
	assert_string_equal(function_at(m, 50, &p, 0x10000), "work");
	assert_string_equal(maps_binary_wait(m, id_at(m, 50, 0x10000))->path, "/no/such/path");
	maps_destroy(m);
	free(p.path);
	sh("rm -r proc");
}

static void test_vanished_files(void **state)
{
	struct program p = make_program("vanished", "");
	struct maps *m = create(NULL, 0);
	const struct maps_binary *b;

	(void)state;
	make_process(60, "");
	/* Deleted after it was mapped: it was opened then. */
	maps_add(m, 0, 60, 0x10000, 0x1000, p.pgoff, p.id, p.path);
	maps_catch_up(m);
	sh("rm vanished");
	assert_string_equal(function_at(m, 60, &p, 0x10000), "work");
	/* Never there. */
	p.id.ino += 1000;
	maps_add(m, 0, 60, 0x20000, 0x1000, p.pgoff, p.id, "/no/such/file");
	b = maps_binary_wait(m, id_at(m, 60, 0x20000));
	assert_null(b->table);
	assert_non_null(strstr(b->error, "/no/such/file"));
	maps_destroy(m);
	free(p.path);
	sh("rm -r proc");
}

static void add_program(struct maps *m, int pid, const char *name, struct program *ret)
{
	make_process(pid, "");
	sh("cp first %s-%d", name, pid);
	ret->path = in_scratch("%s-%d", name, pid);
	ret->id = id_of(ret->path);
	maps_add(m, 0, pid, 0x10000, 0x1000, ret->pgoff, ret->id, ret->path);
	maps_catch_up(m);
}

/*
 * Hundreds of programs that nobody has sampled, and that have gone: what is new is held open all
 * the same, and so is what runs still, and what was sampled.
 */
static void test_many_files(void **state)
{
	struct rlimit limit, few;
	struct program p = make_program("first", ""), q = p;
	uint32_t sampled = UINT32_MAX;
	struct maps *m;
	int before;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &limit);
	few = limit;
	few.rlim_cur = 256; /* a quarter for these files */
	setrlimit(RLIMIT_NOFILE, &few);
	m = create(NULL, 0);
	before = open_files();
	for (int i = 0; i < 100; i++) {
		add_program(m, 100 + i, "copy", &q);
		free(q.path);
	}
	sampled = id_at(m, 101, 0x10000);
	assert_int_equal(open_files() - before, 64);
	for (int i = 1; i < 100; i++)
		maps_exit(m, 0, 100 + i);
	usleep(1100000); /* who is gone is remembered for a second */
	add_program(m, 99, "last", &q);
	assert_int_equal(open_files() - before, 3);
	sh("rm last-* copy-*");
	assert_string_equal(function_at(m, 99, &q, 0x10000), "work");
	assert_string_equal(function_at(m, 100, &q, 0x10000), "work");
	assert_non_null(maps_binary_wait(m, sampled)->table);
	maps_destroy(m);
	free(p.path);
	free(q.path);
	setrlimit(RLIMIT_NOFILE, &limit);
	sh("rm -r proc");
}

static void test_container_path(void **state)
{
	struct program p = make_program("inside", "");
	struct maps *m = create(NULL, 0);

	(void)state;
	make_process(70, "");
	sh("mkdir -p box/opt; cp -p inside box/opt/app; ln -sfn %s/box proc/70/root", scratch);
	free(p.path);
	p.path = in_scratch("box/opt/app");
	p.id = id_of(p.path);
	maps_add(m, 0, 70, 0x10000, 0x1000, p.pgoff, p.id, "/opt/app");
	assert_string_equal(function_at(m, 70, &p, 0x10000), "work");
	maps_destroy(m);
	free(p.path);
	sh("rm -r proc");
}

static void test_this_process(void **state)
{
	const char *root = sysroot;
	struct maps *m;
	struct error err;
	uint64_t place, here = (uint64_t)(uintptr_t)&test_this_process, start;
	uint32_t id;

	(void)state;
	sysroot = "";
	m = create(NULL, 0);
	if (maps_scan_process(m, getpid())) {
		maps_destroy(m);
		skip();
	}
	assert_true(maps_place_of(m, getpid(), here, &id, &place));
	assert_non_null(maps_binary_wait(m, id)->table);
	if (maptable_function_address(maps_binary_wait(m, id)->table, "test_this_process", &start,
				      &err))
		fail_msg("%s", err.text);
	assert_int_equal(start, maps_vaddr(maps_binary_wait(m, id), place));
	maps_destroy(m);
	sysroot = root;
}

struct heard {
	int pid;
	bool seen;
};

static void hear(int pid, void *arg)
{
	struct heard *h = arg;

	h->seen |= pid == h->pid;
}

/* Where a process has code of that file, in its own words. */
static uint64_t code_of(int pid, const char *file)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/maps", pid);
	_cleanup_free_ char *text = read_file(path, NULL);

	for (char *line = text, *next; line && *line; line = next) {
		unsigned long long start;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (strstr(line, " r-xp ") && path_ends_with(line, file) &&
		    sscanf(line, "%llx-", &start) == 1)
			return start;
	}
	return 0;
}

/* An exec, its mappings and an exit that no event told of. */
static void test_rescan(void **state)
{
	const char *root = sysroot;
	struct heard heard = { 0 };
	uint64_t at = 0, vaddr, end = clock_now_ns() + 60 * NSEC_PER_SEC;
	struct maps *m;
	uint32_t binary;
	int gate[2], pid;

	(void)state;
	sysroot = "";
	assert_int_equal(pipe(gate), 0);
	pid = fork();
	if (!pid) {
		char c;

		close(gate[1]);
		if (read(gate[0], &c, 1) == 1)
			execl("/bin/sleep", "sleep", "600", NULL);
		_exit(1);
	}
	close(gate[0]);
	assert_int_equal(maps_create(&(struct maps_options){ 0 }, &m, NULL), 0);
	assert_int_equal(maps_scan_process(m, pid), 0);
	assert_int_equal(write(gate[1], "x", 1), 1);
	close(gate[1]);
	while (!at && clock_now_ns() < end) {
		usleep(5000);
		at = code_of(pid, "sleep");
	}
	assert_true(at);
	assert_false(maps_place_of(m, pid, at, &binary, &vaddr) &&
		     path_ends_with(maps_binary_path(m, binary), "sleep"));
	heard.pid = pid;
	assert_int_equal(maps_rescan(m, hear, &heard, NULL), 0);
	assert_true(heard.seen);
	assert_true(maps_place_of(m, pid, at, &binary, &vaddr));
	assert_true(path_ends_with(maps_binary_path(m, binary), "sleep"));

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(maps_rescan(m, NULL, NULL, NULL), 0);
	heard.seen = false;
	assert_int_equal(maps_rescan(m, hear, &heard, NULL), 0);
	assert_false(heard.seen);
	maps_destroy(m);
	sysroot = root;
}

static void *sleeps(void *arg)
{
	sleep(600);
	return arg;
}

/* The first thread has ended, and /proc tells what others have mapped by their numbers only. */
static void test_first_thread_gone(void **state)
{
	const char *root = sysroot;
	uint32_t binary;
	uint64_t at = (uintptr_t)sleeps, vaddr;
	uint64_t end = clock_now_ns() + 60 * NSEC_PER_SEC;
	struct maps *m;
	char status = 0;
	int pid;

	(void)state;
	sysroot = "";
	pid = fork();
	if (!pid) {
		pthread_t thread;

		pthread_create(&thread, NULL, sleeps, NULL);
		pthread_exit(NULL);
	}
	while (status != 'Z' && clock_now_ns() < end) {
		_cleanup_free_ char *path = xasprintf("/proc/%d/stat", pid);
		_cleanup_free_ char *text = read_file(path, NULL);

		status = strrchr(text, ')')[2];
		usleep(1000);
	}
	assert_int_equal(status, 'Z');
	assert_int_equal(maps_create(&(struct maps_options){ 0 }, &m, NULL), 0);
	assert_int_equal(maps_scan_process(m, pid), 0);
	assert_true(maps_place_of(m, pid, at, &binary, &vaddr));
	assert_int_equal(maps_rescan(m, NULL, NULL, NULL), 0);
	assert_true(maps_place_of(m, pid, at, &binary, &vaddr));
	assert_non_null(maps_binary_wait(m, binary)->table);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	maps_destroy(m);
	sysroot = root;
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rescan),	       cmocka_unit_test(test_scan),
		cmocka_unit_test(test_held),	       cmocka_unit_test(test_forgotten_files),
		cmocka_unit_test(test_overlaps),       cmocka_unit_test(test_scope),
		cmocka_unit_test(test_rewritten_file), cmocka_unit_test(test_known_successor),
		cmocka_unit_test(test_replaced_file),  cmocka_unit_test(test_vanished_files),
		cmocka_unit_test(test_many_files),     cmocka_unit_test(test_container_path),
		cmocka_unit_test(test_this_process),   cmocka_unit_test(test_first_thread_gone),
	};

	sysroot = scratch;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return run_in_scratch(run, true);
}
