// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs whose bottleneck is known, run by the simulator, recorded, and given to scoz waits: what
 * it puts first must be that. And what was run during those waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#include "builder.h"
#include "machine.h"

#include "tools/scoz/arguments.c"
#include "tools/scoz/text.c"
#include "tools/scoz/wrong_file.c"
#include "tools/scoz/commands/waits.c"
#include "waits/behind.h"

#define SECONDS 4
#define TASKS	16
#define PERIOD	(SIM_MS / 4) /* of samples */

/* Experiments are tests/system/test-waits-verify's. */
int waits_verify(const struct waits_recorded *r, const struct waits_edge *edges, size_t n,
		 const struct verify_options *o)
{
	(void)r, (void)edges, (void)n, (void)o;
	return EXIT_FAILED;
}

struct known {
	struct builder b;
	const char *names[TASKS];
	int pids[TASKS];
};

/* A task of a process, of which there may be several. */
static void named(struct known *k, const char *name, int pid)
{
	task(&k->b);
	k->names[k->b.task] = name;
	k->pids[k->b.task] = pid;
}

/* ---- the recording ---- */

static char path[64];

struct recorder_of_sim {
	const struct known *k;
	struct trace_writer *w;
};

/* As a recorder samples, while the simulator tells of all that ran at its end. */
static void put_samples(struct recorder_of_sim *r, const struct trace_event *e)
{
	uint64_t begin = e->time - e->weight;
	struct trace_event one = *e;

	one.stack = e->thread * 2 + (e->stack == SIM_TARGET);
	one.weight = PERIOD;
	for (one.time = begin / PERIOD * PERIOD + PERIOD; one.time <= e->time; one.time += PERIOD)
		assert_int_equal(trace_write_event(r->w, &one), 0);
}

static void put(const struct trace_event *e, void *arg)
{
	struct recorder_of_sim *r = arg;
	struct trace_event mine = *e;

	if (e->type == TRACE_SAMPLE) {
		put_samples(r, e);
		return;
	}
	/* Whatever its number in the simulator, it is the only device. */
	if (e->type == TRACE_ISSUE || e->type == TRACE_COMPLETE ||
	    (e->type == TRACE_WAKE && e->by == TRACE_BY_DEVICE))
		mine.other = 0;
	assert_int_equal(trace_write_event(r->w, &mine), 0);
}

/* Of each task the functions NAME_work and NAME_target. */
static void put_names(const struct known *k, struct trace_writer *w)
{
	trace_write_device(w, "sda");
	trace_write_point(w, "progress");
	for (int i = 0; i < k->b.p->n_tasks; i++) {
		for (int part = 0; part < 2; part++) {
			_cleanup_free_ char *symbol =
				xasprintf("%s_%s", k->names[i], part ? "target" : "work");
			const struct record_frame f = { .symbol = symbol,
							.object = "/home/user/program",
							.file = "program.c",
							.kind = FRAME_USER };

			trace_write_frame(w, &f);
			trace_write_stack(w,
					  &(struct record_stack){ i * 2 + part, RECORDING_NONE });
		}
	}
	for (int i = 0; i < k->b.p->n_tasks; i++) {
		trace_write_process(w, i, k->pids[i], k->names[i]);
		trace_write_thread(w,
				   &(struct trace_thread){ 100 + i, k->pids[i], i, k->names[i] });
	}
}

static void record(struct known *k)
{
	const struct trace_header h = {
		SIM_MS, "program", "command", "h", "k", "now", k->b.p->cores
	};
	const struct trace_footer f = { .duration = SECONDS * SIM_S, .end = "done" };
	struct recorder_of_sim r = { .k = k };
	struct sim_options o;
	struct sim *s;

	unlink(path);
	assert_int_equal(trace_writer_open(path, &h, &r.w, NULL), 0);
	put_names(k, r.w);
	sim_options_default(&o);
	o.tick_cost = 0;
	o.trace = put;
	o.trace_arg = &r;
	s = sim_create(k->b.p, &o);
	sim_run(s, SECONDS * SIM_S);
	sim_free(s);
	assert_int_equal(trace_writer_close(r.w, &f, NULL), 0);
	program_free(k->b.p);
}

static struct known begin(const char *name, int cores)
{
	return (struct known){ .b = { program_create(name, cores), SIM_MS, 0 } };
}

/* ---- what is said of it ---- */

static char *said;

static void capture(void (*print)(void *), void *arg)
{
	char out[] = "/tmp/test_waits_known-XXXXXX";
	int file = mkstemp(out), saved = dup(STDOUT_FILENO);

	fflush(stdout);
	dup2(file, STDOUT_FILENO);
	print(arg);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(file);
	free(said);
	said = read_file(out, NULL);
	unlink(out);
}

static void print_waits(void *option)
{
	char *argv[] = { "scoz", path, option };

	assert_int_equal(cmd_waits(option ? 3 : 2, argv), EXIT_DONE);
}

static void ask(char *option)
{
	capture(print_waits, option);
}

/* The Nth row (from 1) of the first table. */
static char *row(int n)
{
	const char *at = strstr(said, "who waits");

	assert_non_null(at);
	for (; n; n--) {
		at = strchr(at, '\n');
		assert_non_null(at);
		at++;
	}
	return xstrndup(at, strcspn(at, "\n"));
}

static void expect_row(int n, const char *from, const char *to, const char *in)
{
	_cleanup_free_ char *text = row(n);
	const char *a = strstr(text, from), *b = a ? strstr(a + strlen(from), to) : NULL;

	if (!b || !strstr(b, in))
		fail_msg("not \"%s\" for \"%s\" in \"%s\" in row %d of:\n%s", from, to, in, n,
			 said);
}

static void expect_text(const char *text)
{
	if (!strstr(said, text))
		fail_msg("no \"%s\" in:\n%s", text, said);
}

/* Each moment of a wait is work of somebody, and of one only. */
static void check_sums(const struct waits_recorded *r)
{
	uint64_t own = 0, work = 0;

	for (size_t i = 0; i < r->waits.graph.n; i++) {
		const struct waits_edge *e = &r->waits.graph.edges[i];

		assert_true(e->work <= e->weight);
		if (e->to == r->timer || e->to == r->nobody || e->from >= r->trace->n_threads)
			continue;
		own += e->own;
		work += e->work;
	}
	assert_true(own > 0);
	assert_int_equal(own, work);
}

/* The code behind the heaviest wait. */
static void expect_behind(const char *target, double least)
{
	struct view v = { .o = { .least = 1, .enough = 20, .alike = true } };
	struct waits_behind b;
	struct waits_edge *list;
	struct trace *t;
	char *found;

	assert_int_equal(trace_open(path, &t, NULL), 0);
	assert_int_equal(waits_read(t, MOST_WAITS, &v.r, NULL), 0);
	check_sums(&v.r);
	waits_group(&v.r, true);
	sum_up(&v);
	list = sorted_edges(&v, &v.graph);
	assert_int_equal(waits_find_behind(&v.r, list, 1, &b, NULL), 0);
	assert_true(b.frame != TRACE_NONE);
	found = waits_target_of(&t->frames[b.frame]);
	assert_string_equal(found, target);
	assert_true(b.share >= least && b.share <= 1);
	assert_true(b.ran <= b.waited * 1.01 && b.samples > 100);
	free(found);
	free(list);
	view_deinit(&v);
	trace_free(t);
}

/*
 * A server: a dispatcher waits for the network, or for a disk, and two workers hold a lock most of
 * the time, for which the other one waits.
 */
static void put_server(const char *device, bool disk)
{
	static const char *const names[] = { "dispatcher", "worker-a", "worker-b" };
	enum { DISPATCHER, A, B };
	const struct {
		unsigned int at_us;
		uint32_t thread, other;
		uint8_t type, wait, by;
	} steps[] = {
		{ 400, DISPATCHER, 0, TRACE_WAKE, 0, disk ? TRACE_BY_DEVICE : TRACE_BY_OTHER },
		{ 401, DISPATCHER, TRACE_NONE, TRACE_ENTER, 0, 0 },
		{ 500, A, DISPATCHER, TRACE_WAKE, 0, TRACE_BY_THREAD },
		{ 501, A, TRACE_NONE, TRACE_ENTER, 0, 0 },
		{ 510, B, DISPATCHER, TRACE_WAKE, 0, TRACE_BY_THREAD },
		{ 511, B, TRACE_NONE, TRACE_ENTER, 0, 0 },
		{ 520, DISPATCHER, TRACE_NONE, TRACE_LEAVE, TRACE_WAIT_POLL, 0 },
		{ 600, B, TRACE_NONE, TRACE_LEAVE, TRACE_WAIT_LOCK, 0 },
		{ 6000, B, A, TRACE_WAKE, 0, TRACE_BY_THREAD },
		{ 6001, B, TRACE_NONE, TRACE_ENTER, 0, 0 },
		{ 6050, A, TRACE_NONE, TRACE_LEAVE, TRACE_WAIT_LOCK, 0 },
		{ 9500, A, B, TRACE_WAKE, 0, TRACE_BY_THREAD },
		{ 9501, A, TRACE_NONE, TRACE_ENTER, 0, 0 },
		{ 9600, A, TRACE_NONE, TRACE_LEAVE, TRACE_WAIT_FUTEX, 0 },
		{ 9700, B, TRACE_NONE, TRACE_LEAVE, TRACE_WAIT_FUTEX, 0 },
	};
	const struct trace_header h = { SIM_MS, "server", "command", "h", "k", "now", 4 };
	const struct trace_footer f = { .duration = 10 * SIM_S, .end = "done" };
	struct trace_writer *w;

	unlink(path);
	assert_int_equal(trace_writer_open(path, &h, &w, NULL), 0);
	trace_write_process(w, 0, 100, "server");
	for (int i = 0; i < 3; i++)
		trace_write_thread(w, &(struct trace_thread){ 100 + i, 100, 0, names[i] });
	trace_write_device(w, device);
	for (uint32_t i = 0; i < 3; i++)
		trace_write_event(w, &(struct trace_event){ .thread = i,
							    .type = TRACE_FOLLOW,
							    .why = i ? TRACE_BLOCKED : TRACE_RUNS,
							    .wait = TRACE_WAIT_FUTEX,
							    .other = TRACE_NONE,
							    .stack = TRACE_NONE });
	for (uint64_t t = 0; t < 10 * SIM_S; t += 10 * SIM_MS) {
		struct trace_event request = { .time = t + SIM_MS / 10,
					       .thread = DISPATCHER,
					       .type = TRACE_ISSUE,
					       .stack = t / SIM_MS };

		for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
			if (!i && disk) {
				trace_write_event(w, &request);
				request.time += SIM_MS / 10;
				request.thread = TRACE_NONE;
				request.type = TRACE_COMPLETE;
				trace_write_event(w, &request);
			}
			trace_write_event(
				w, &(struct trace_event){ .time = t + steps[i].at_us * SIM_US,
							  .thread = steps[i].thread,
							  .type = steps[i].type,
							  .why = TRACE_BLOCKED,
							  .wait = steps[i].wait,
							  .by = steps[i].by,
							  .other = steps[i].other,
							  .stack = TRACE_NONE });
		}
	}
	assert_int_equal(trace_writer_close(w, &f, NULL), 0);
}

/* What comes from outside is not what takes the time because nobody knows what it waits for. */
static void test_outside(void **state)
{
	static const char *const devices[] = { "network", "irq 30 eth0", "sda" };

	(void)state;
	for (int i = 0; i < 3; i++) {
		put_server(devices[i], i == 2);
		ask("--no-merge");
		if (i < 2)
			expect_text("# outside, not known");
		if (strstr(said, "what it does takes the time"))
			fail_msg("a sink in:\n%s", said);
		expect_text("# knot: these wait for one another");
		expect_text(i < 2 ? "worker-a (101): on a CPU" : "sda: a device");
		ask("--lines=1");
		expect_text("and 1 more (--lines)");
	}
}

/* ---- the programs ---- */

/* One thread serves all, as a file server with one thread does; the disk has time to spare. */
static void test_single_server(void **state)
{
	struct known k = begin("single server", 4);
	struct builder *b = &k.b;
	int in = object(b, 16), disk = object(b, 1), out[6];

	(void)state;
	for (int i = 0; i < 6; i++)
		out[i] = object(b, 1);
	named(&k, "nfsd", 10);
	for (int i = 0; i < 6; i++) {
		op(b, OP_RECEIVE, in), work(b, 0.2), target(b, 0.8);
		if (i == 5)
			timed(b, OP_IO, 0.5, disk);
		op(b, OP_SEND, out[i]);
	}
	for (int i = 0; i < 6; i++) {
		named(&k, "client", 20 + i);
		work(b, 0.6), op(b, OP_SEND, in), op(b, OP_RECEIVE, out[i]), progress(b);
	}
	record(&k);
	ask(NULL);
	expect_row(1, "client (", "nfsd (100)", "read");
	expect_text("nfsd (100): on a CPU");
	expect_behind("func:nfsd_target@program", 0.6);
}

/* One thread that reads, computes, reads: neither it nor the disk has anything to do meanwhile. */
static void test_single_reader(void **state)
{
	struct known k = begin("single reader", 2);
	struct builder *b = &k.b;
	int disk = object(b, 1);

	(void)state;
	named(&k, "grep", 10);
	timed(b, OP_IO, 2, disk), target(b, 1), progress(b);
	record(&k);
	ask(NULL);
	expect_row(1, "grep (100)", "sda", "disk");
	expect_row(2, "sda", "grep (100)", "idle");
	expect_text("# knot: these wait for one another");
}

/* Each record is written by itself: all wait for one who waits for the disk. */
static void test_disk_batching(void **state)
{
	struct known k = begin("disk batching", 4);
	struct builder *b = &k.b;
	int in = object(b, 16), disk = object(b, 1), out[5];

	(void)state;
	for (int i = 0; i < 5; i++)
		out[i] = object(b, 1);
	named(&k, "logger", 10);
	for (int i = 0; i < 5; i++) {
		op(b, OP_RECEIVE, in), work(b, 0.1), timed(b, OP_IO, 2, disk);
		op(b, OP_SEND, out[i]);
	}
	for (int i = 0; i < 5; i++) {
		named(&k, "worker", 10);
		work(b, 1), op(b, OP_SEND, in), op(b, OP_RECEIVE, out[i]), progress(b);
	}
	record(&k);
	ask(NULL);
	expect_row(1, "logger (100)", "sda", "disk");
	expect_text("sda: a device");
}

/* Most of the time of all is below one lock. */
static void test_lock_knot(void **state)
{
	struct known k = begin("lock knot", 4);
	struct builder *b = &k.b;
	int m = object(b, 1);

	(void)state;
	for (int i = 0; i < 4; i++) {
		named(&k, "worker", 10);
		work(b, 1), op(b, OP_LOCK, m), target(b, 2), op(b, OP_UNLOCK, m);
		progress(b);
	}
	/* Who has nothing to do with it. */
	named(&k, "ticker", 10);
	timed(b, OP_SLEEP, 10, -1), work(b, 0.1);
	record(&k);
	ask(NULL);
	expect_row(1, "worker (4 threads of 10)", "worker (4 threads of 10)  ", "futex lock");
	expect_text("# knot: these wait for one another");
	expect_behind("func:worker_target@program", 0.9);
}

/* One has the lock for long, the others shortly. */
static void test_lock_holder(void **state)
{
	struct known k = begin("lock holder", 4);
	struct builder *b = &k.b;
	int m = object(b, 1);

	(void)state;
	named(&k, "compactor", 10);
	work(b, 1), op(b, OP_LOCK, m), target(b, 6), op(b, OP_UNLOCK, m);
	for (int i = 0; i < 3; i++) {
		named(&k, "reader", 10);
		work(b, 1), op(b, OP_LOCK, m), work(b, 0.2), op(b, OP_UNLOCK, m);
		progress(b);
	}
	record(&k);
	ask(NULL);
	expect_row(1, "reader (3 threads of 10)", "compactor (100)", "futex lock");
	expect_behind("func:compactor_target@program", 0.9);
}

/* A client with little to do, and a server with much, which wakes it through the loopback. */
static void test_loopback(void **state)
{
	struct known k = begin("loopback", 2);
	struct builder *b = &k.b;
	int there = object(b, 4), back = object(b, 4);

	(void)state;
	named(&k, "client", 10);
	work(b, 0.3), op(b, OP_SEND, there), op(b, OP_RECEIVE, back), progress(b);
	named(&k, "server", 20);
	op(b, OP_RECEIVE, there), work(b, 0.1), target(b, 0.8), op(b, OP_SEND, back);
	record(&k);
	ask(NULL);
	expect_row(1, "client (100)", "server (101)", "read");
	expect_text("# knot: these wait for one another");
	expect_behind("func:server_target@program", 0.8);
}

/* All meet, and one has more to do. */
static void test_imbalance(void **state)
{
	struct known k = begin("imbalance", 4);
	struct builder *b = &k.b;
	int o = object(b, 4);

	(void)state;
	for (int i = 0; i < 4; i++) {
		named(&k, "rank", 10 + i);
		work(b, 2);
		if (i == 2)
			target(b, 3);
		op(b, OP_BARRIER, o);
		if (!i)
			progress(b);
	}
	record(&k);
	ask(NULL);
	for (int n = 1; n <= 3; n++)
		expect_row(n, "rank (10", "rank (102)", "futex");
	expect_text("# sink");
	expect_text("rank (102): on a CPU");
	expect_behind("func:rank_target@program", 0.5);
}

static void print_ranks_of(void *trace)
{
	print_ranks(trace);
}

/* Whoever made the recording chose the names in it. */
static void test_ranks(void **state)
{
	struct trace_process processes[] = { { .rank = -1, .rank_from = "" },
					     { .rank = 3, .rank_from = "PMI\033]0;x\a" } };
	struct trace t = { .processes = processes, .n_processes = 2 };

	(void)state;
	capture(print_ranks_of, &t);
	assert_string_equal(said, "# ranks 3 to 3 of a parallel job (PMI?]0;x?)\n");
}

/* Threads that meet in ten rounds, of which one is late in the first @often. */
static void record_threads(int often)
{
	static const int others[] = { 0, 1, 3 };
	struct known k = begin("imbalanced threads", 4);
	struct builder *b = &k.b;
	int o = object(b, 4);

	for (int i = 0; i < 4; i++) {
		named(&k, "worker", 10);
		for (int round = 0; round < 10; round++) {
			work(b, 2);
			if (i == (round < often ? 2 : others[round % 3]))
				target(b, 3);
			op(b, OP_BARRIER, o);
		}
		if (!i)
			progress(b);
	}
	record(&k);
}

static void test_imbalanced_threads(void **state)
{
	(void)state;
	record_threads(9);
	ask(NULL);
	expect_row(1, "worker (3 threads of 10)", "worker (102)  ", "futex");
	/* It waits as the others do. */
	record_threads(6);
	ask(NULL);
	expect_row(1, "worker (4 threads of 10)", "worker (4 threads of 10), mostly worker (102)",
		   "futex");
	expect_behind("func:worker_target@program", 0.5);
	/* Nobody is late more often than all others. */
	record_threads(4);
	ask(NULL);
	expect_row(1, "worker (4 threads of 10)", "worker (4 threads of 10)  ", "futex");
}

/* The same by messages to the neighbour: two wait for who waits for the slow one. */
static void test_imbalanced_ring(void **state)
{
	struct known k = begin("imbalanced ring", 4);
	struct builder *b = &k.b;
	int q[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		q[i] = object(b, 2);
	for (int i = 0; i < 4; i++) {
		named(&k, "rank", 10 + i);
		work(b, 2);
		if (i == 2)
			target(b, 3);
		op(b, OP_SEND, q[i]), op(b, OP_RECEIVE, q[(i + 3) % 4]);
		if (!i)
			progress(b);
	}
	record(&k);
	ask(NULL);
	/* 3 receives from 2, which is the only one that waits for nobody. */
	expect_row(1, "rank (103)", "rank (102)", "read");
	expect_text("rank (102): on a CPU");
}

/* ---- what is behind a wait ---- */

static void expect_target(char *found, const char *wanted)
{
	if (wanted)
		assert_string_equal(found, wanted);
	else
		assert_null(found);
	free(found);
}

/* Stacks: copy() of the user's calls memcpy(); nothing is known of the innermost; another. */
static void write_calls(void)
{
	static const struct record_frame frames[] = {
		{ .symbol = "copy", .object = "/home/u/prog" },
		{ .symbol = "memcpy", .object = "/usr/lib/x86_64-linux-gnu/libc.so.6" },
		{ .symbol = "[unknown]", .object = "/home/u/plugin.so" },
		{ .symbol = "other", .object = "/home/u/prog" },
	};
	static const struct record_stack stacks[] = {
		{ 0, RECORDING_NONE }, { 1, 0 }, { 2, 0 }, { 3, RECORDING_NONE }
	};
	static const struct trace_event events[] = {
		{ .time = 10, .type = TRACE_FOLLOW, .thread = 0 },
		{ .time = 10, .type = TRACE_FOLLOW, .thread = 1 },
		{ .time = 50, .type = TRACE_SAMPLE, .thread = 1, .stack = 3, .weight = 500 },
		{ .time = 100,
		  .type = TRACE_LEAVE,
		  .thread = 0,
		  .why = TRACE_BLOCKED,
		  .wait = TRACE_WAIT_FUTEX },
		{ .time = 150, .type = TRACE_SAMPLE, .thread = 1, .stack = 1, .weight = 30 },
		{ .time = 160, .type = TRACE_SAMPLE, .thread = 1, .stack = 2, .weight = 10 },
		{ .time = 200, .type = TRACE_WAKE, .thread = 0, .by = TRACE_BY_THREAD, .other = 1 },
		{ .time = 210, .type = TRACE_ENTER, .thread = 0 },
		{ .time = 250, .type = TRACE_SAMPLE, .thread = 1, .stack = 3, .weight = 500 },
		/* Without the innermost one, here. */
		{ .time = 300,
		  .type = TRACE_LEAVE,
		  .thread = 1,
		  .why = TRACE_BLOCKED,
		  .wait = TRACE_WAIT_FUTEX },
		{ .time = 320, .type = TRACE_SAMPLE, .thread = 0, .stack = 2, .weight = 10 },
		{ .time = 400, .type = TRACE_WAKE, .thread = 1, .by = TRACE_BY_THREAD, .other = 0 },
	};
	const struct trace_header h = { SIM_MS, "program", "command", "h", "k", "now", 2 };
	struct trace_writer *w;

	unlink(path);
	assert_int_equal(trace_writer_open(path, &h, &w, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		trace_write_frame(w, &frames[i]);
	for (size_t i = 0; i < ARRAY_SIZE(stacks); i++)
		trace_write_stack(w, &stacks[i]);
	trace_write_process(w, 0, 10, "p");
	trace_write_thread(w, &(struct trace_thread){ 10, 10, 0, "a" });
	trace_write_thread(w, &(struct trace_thread){ 11, 10, 0, "b" });
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		assert_int_equal(trace_write_event(w, &events[i]), 0);
	assert_int_equal(trace_writer_close(w, NULL, NULL), 0);
}

static void test_behind(void **state)
{
	struct waits_edge edges[2];
	struct waits_behind b[2];
	struct waits_recorded r;
	struct trace *t;

	(void)state;
	write_calls();
	assert_int_equal(trace_open(path, &t, NULL), 0);
	assert_int_equal(waits_read(t, 0, &r, NULL), 0);
	waits_group(&r, false);
	edges[0] = *waits_edge(&r.graph, r.group[0], r.group[1]);
	edges[1] = *waits_edge(&r.graph, r.group[1], r.group[0]);
	assert_int_equal(waits_find_behind(&r, edges, 2, b, NULL), 0);
	/* What ran before and after counts for nothing; a library counts for who called it. */
	assert_int_equal(b[0].waited, 100);
	assert_int_equal(b[0].samples, 2);
	assert_true(b[0].ran == 40 && b[0].share == 0.75);
	expect_target(waits_target_of(&t->frames[b[0].frame]), "func:copy@prog");
	/* A caller does not stand for code that is not known. */
	assert_int_equal(b[1].waited, 100);
	expect_target(waits_target_of(&t->frames[b[1].frame]), "bin:plugin.so");
	waits_recorded_free(&r);
	trace_free(t);
}

/* ---- two orders ---- */

static struct waits_tried tried(double weight, double low, double high)
{
	return (struct waits_tried){
		.weight = weight, .known = true, .low = low, .value = (low + high) / 2, .high = high
	};
}

static void test_orders(void **state)
{
	struct waits_tried agree[] = { tried(10, 20, 25), tried(5, 3, 6), tried(2, -1, 1) };
	struct waits_tried other[] = { tried(10, -1, 1), tried(5, 3, 6), tried(2, 8, 12) };
	struct waits_tried open[] = { tried(10, 2, 9), tried(5, 3, 6), tried(2, -9, -3) };
	struct waits_tried near[] = { tried(10, 2, 3), tried(9.5, 5, 6) };
	struct waits_tried unknown[] = { tried(10, 20, 25), tried(5, 3, 6) };
	struct waits_orders o;

	(void)state;
	waits_compare_orders(agree, 3, &o);
	assert_int_equal(o.top, WAITS_AGREE);
	assert_int_equal(o.same, 3);
	assert_int_equal(o.opposite + o.undecided, 0);
	assert_int_equal(agree[0].first, 1);
	assert_int_equal(agree[0].last, 1);
	assert_int_equal(agree[2].first, 3);
	waits_compare_orders(other, 3, &o);
	assert_int_equal(o.top, WAITS_DISAGREE);
	assert_int_equal(o.better, 2);
	assert_int_equal(o.opposite, 3);
	waits_compare_orders(open, 3, &o);
	assert_int_equal(o.top, WAITS_UNDECIDED);
	assert_int_equal(o.same, 2);
	assert_int_equal(o.undecided, 1);
	assert_int_equal(open[0].first, 1);
	assert_int_equal(open[0].last, 2);
	assert_int_equal(open[1].first, 1);
	/* Weights that are as good as equal are no order. */
	waits_compare_orders(near, 2, &o);
	assert_int_equal(o.top, WAITS_UNDECIDED);
	assert_int_equal(o.same + o.opposite + o.undecided, 0);
	assert_int_equal(near[1].first, 1);
	assert_int_equal(near[1].last, 1);
	/* Nothing is known of one: nothing is decided. */
	unknown[1].known = false;
	waits_compare_orders(unknown, 2, &o);
	assert_int_equal(o.top, WAITS_UNDECIDED);
	assert_int_equal(o.undecided, 1);
	assert_int_equal(unknown[1].first, 0);
	assert_int_equal(unknown[0].last, 1);
	/* The heaviest is not known, another one is better than the rest: that says nothing. */
	agree[0].known = false;
	waits_compare_orders(agree, 3, &o);
	assert_int_equal(o.top, WAITS_UNDECIDED);
}

static char *target_of(const char *symbol, const char *object, enum record_frame_kind kind)
{
	const struct record_frame f = { .symbol = symbol, .object = object, .kind = kind };

	return waits_target_of(&f);
}

static void test_targets(void **state)
{
	(void)state;
	expect_target(target_of("work", "/home/u/prog", FRAME_USER), "func:work@prog");
	expect_target(target_of("ns::work", "/home/u/prog", FRAME_INLINED), "func:ns::work@prog");
	expect_target(target_of("vfs_read", "[kernel]", FRAME_KERNEL), "kernel:vfs_read");
	expect_target(target_of("ext4_sync_file", "[ext4]", FRAME_KERNEL), "kernel:ext4_sync_file");
	expect_target(target_of("[unknown]", "/usr/bin/prog", FRAME_USER), "bin:prog");
	expect_target(target_of("[unknown]", "[kernel]", FRAME_KERNEL), NULL);
	expect_target(target_of("[unknown]", "", FRAME_USER), NULL);
	expect_target(target_of("", "/usr/bin/prog", FRAME_MISSING), NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single_server),
		cmocka_unit_test(test_single_reader),
		cmocka_unit_test(test_disk_batching),
		cmocka_unit_test(test_lock_knot),
		cmocka_unit_test(test_lock_holder),
		cmocka_unit_test(test_loopback),
		cmocka_unit_test(test_imbalance),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_imbalanced_threads),
		cmocka_unit_test(test_imbalanced_ring),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_targets),
	};
	int r;

	snprintf(path, sizeof(path), "/tmp/test_waits_known.%d", getpid());
	r = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	free(said);
	return r;
}
