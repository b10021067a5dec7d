// SPDX-License-Identifier: GPL-2.0-or-later
/* Causal recordings: written and read, cut off at every byte, damaged at every byte. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/recording.h"
#include "trace/trace.h"

static char path[64];

static const struct trace_header header = { 1000000, "./a \"b\"", "command",
					    "host",  "6.1",	  "2025-01-01T00:00:00Z",
					    2 };

static const struct trace_event events[] = {
	{ .type = TRACE_FOLLOW, .time = 5, .thread = 0, .why = TRACE_RUNS },
	{ .type = TRACE_FORK, .time = 10, .thread = 1, .other = 0, .cpu = 300 },
	{ .type = TRACE_ENTER, .time = 12, .thread = 1, .cpu = 1 },
	{ .type = TRACE_LEAVE,
	  .time = 1000000000000,
	  .thread = 1,
	  .why = TRACE_BLOCKED,
	  .wait = TRACE_WAIT_LOCK },
	{ .type = TRACE_WAKE,
	  .time = 1000000000001,
	  .thread = 1,
	  .by = TRACE_BY_THREAD,
	  .other = 0 },
	{ .type = TRACE_WAKE,
	  .time = 1000000000001,
	  .thread = 1,
	  .by = TRACE_BY_DEVICE,
	  .other = 0 },
	{ .type = TRACE_WAKE,
	  .time = 1000000000002,
	  .thread = 1,
	  .by = TRACE_BY_TIMER,
	  .other = TRACE_NONE },
	{ .type = TRACE_PROGRESS, .time = 1000000000003, .thread = 0, .other = 0 },
	{ .type = TRACE_PROGRESS, .time = 1000000000003, .thread = TRACE_NONE, .other = 0 },
	{ .type = TRACE_ISSUE,
	  .time = 1000000000004,
	  .thread = 0,
	  .other = 0,
	  .stack = 0xffffffff },
	{ .type = TRACE_COMPLETE,
	  .time = 1000000000005,
	  .thread = TRACE_NONE,
	  .other = 0,
	  .stack = 0xffffffff },
	{ .type = TRACE_EXIT, .time = 1000000000006, .thread = 1 },
};

/* Told late, as samples are that wait for their functions. */
static const struct trace_event sample = {
	.type = TRACE_SAMPLE,
	.spins = true,
	.time = 11,
	.thread = 1,
	.stack = 1,
	.weight = 1000000,
};

static char *const words[] = { "./a", "", "\"b\" c", NULL };

static void must(int r, const struct error *err)
{
	if (r)
		fail_msg("%s", err->text);
}

static struct trace_writer *begin(void)
{
	struct trace_writer *w;
	struct error err = {};

	unlink(path);
	must(trace_writer_open(path, &header, &w, &err), &err);
	return w;
}

static void write_one(bool footer, int repeat)
{
	static const struct record_frame frames[] = {
		{ .symbol = "main", .object = "/a", .file = "a.c", .line = 3, .address = 64 },
		{ .symbol = "f\nx", .object = "/a", .kind = FRAME_INLINED },
	};
	const struct trace_footer f = { 1000000000010, 7, -1, "done" };
	struct trace_writer *w;
	struct error err;

	w = begin();
	trace_write_command(w, words);
	trace_write_frame(w, &frames[0]);
	trace_write_frame(w, &frames[1]);
	trace_write_stack(w, &(struct record_stack){ 0, RECORDING_NONE });
	trace_write_stack(w, &(struct record_stack){ 1, 0 });
	trace_write_process(w, 0, 70, "old");
	trace_write_rank(w, 0, 3, "PMI_RANK");
	trace_write_process(w, 0, 70, "new");
	trace_write_process(w, 1, 72, "alone");
	trace_write_thread(w, &(struct trace_thread){ 70, 70, 0, "a" });
	trace_write_thread(w, &(struct trace_thread){ 71, 70, 0, "b" });
	trace_write_comm(w, 1, "c");
	trace_write_device(w, "sda");
	trace_write_point(w, "iter");
	for (int k = 0; k < repeat; k++) {
		for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
			struct trace_event e = events[i];

			e.time += k * 2000000000000;
			trace_write_event(w, &e);
		}
	}
	trace_write_event(w, &sample);
	must(trace_writer_close(w, footer ? &f : NULL, &err), &err);
}

struct seen {
	struct trace_event list[32];
	size_t n;
	uint64_t last;
};

static int see(const struct trace_event *e, void *arg)
{
	struct seen *s = arg;

	assert_true(e->time >= s->last);
	s->last = e->time;
	if (s->n < ARRAY_SIZE(s->list))
		s->list[s->n] = *e;
	s->n++;
	return 0;
}

static void same(const struct trace_event *a, const struct trace_event *b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->time, b->time);
	assert_int_equal(a->thread, b->thread);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->why, b->why);
	assert_int_equal(a->wait, b->wait);
	assert_int_equal(a->by, b->by);
	assert_int_equal(a->weight, b->weight);
	assert_int_equal(a->spins, b->spins);
	switch (a->type) {
	case TRACE_FORK:
	case TRACE_WAKE:
	case TRACE_PROGRESS:
		assert_int_equal(a->other, b->other);
		break;
	case TRACE_ISSUE:
	case TRACE_COMPLETE:
	case TRACE_SAMPLE:
		assert_int_equal(a->stack, b->stack);
		break;
	}
}

static void test_round_trip(void **state)
{
	struct seen s = {};
	struct trace *t;
	struct error err;

	(void)state;
	write_one(true, 1);
	assert_true(trace_is(path));
	assert_false(recording_is(path));
	must(trace_open(path, &t, &err), &err);
	assert_true(t->complete);
	assert_false(t->truncated);
	assert_string_equal(t->header.command, header.command);
	assert_int_equal(t->n_words, 3);
	for (int i = 0; i < 3; i++)
		assert_string_equal(t->command[i], words[i]);
	assert_null(t->command[3]);
	assert_int_equal(t->owner, geteuid());
	assert_int_equal(t->header.period_ns, 1000000);
	assert_int_equal(t->header.cpus, 2);
	assert_int_equal(t->n_frames, 2);
	assert_string_equal(t->frames[0].file, "a.c");
	assert_string_equal(t->frames[1].symbol, "f?x");
	/* Not known is not "". */
	assert_null(t->frames[1].file);
	assert_int_equal(t->stacks[0].parent, RECORDING_NONE);
	assert_int_equal(t->stacks[1].parent, 0);
	assert_string_equal(t->processes[0].name, "new");
	assert_string_equal(t->threads[1].comm, "c");
	assert_int_equal(t->n_processes, 2);
	assert_int_equal(t->processes[0].rank, 3);
	assert_string_equal(t->processes[0].rank_from, "PMI_RANK");
	assert_int_equal(t->processes[1].rank, -1);
	assert_null(t->processes[1].rank_from);
	assert_string_equal(t->devices[0], "sda");
	assert_string_equal(t->points[0], "iter");
	assert_int_equal(t->footer.lost, 7);
	assert_int_equal(t->footer.command_status, -1);
	assert_int_equal(t->n_events, ARRAY_SIZE(events));
	must(trace_each(t, see, &s, &err), &err);
	assert_int_equal(s.n, ARRAY_SIZE(events) + 1);
	same(&s.list[0], &events[0]);
	same(&s.list[1], &events[1]);
	same(&s.list[2], &sample);
	for (size_t i = 2; i < ARRAY_SIZE(events); i++)
		same(&s.list[i + 1], &events[i]);
	trace_free(t);
	s = (struct seen){};
	must(trace_open_unsampled(path, &t, &err), &err);
	must(trace_each(t, see, &s, &err), &err);
	assert_int_equal(s.n, ARRAY_SIZE(events));
	trace_free(t);
}

/* A word that would be read as another one is not executed. */
static void test_command(void **state)
{
	char *const odd[] = { "./a", "b\nc", NULL };
	struct trace_writer *w;
	struct trace *t;
	struct error err;

	(void)state;
	w = begin();
	trace_write_command(w, odd);
	must(trace_writer_close(w, NULL, &err), &err);
	must(trace_open(path, &t, &err), &err);
	assert_null(t->command);
	trace_free(t);
}

/* More than fits a chunk; without a footer. */
static void test_chunks(void **state)
{
	struct seen s = {};
	struct trace *t;
	struct error err;
	struct stat st;

	(void)state;
	write_one(false, 50000);
	assert_int_equal(stat(path, &st), 0);
	must(trace_open(path, &t, &err), &err);
	assert_false(t->complete);
	assert_int_equal(t->n_events, 50000 * ARRAY_SIZE(events));
	assert_true((size_t)st.st_size < t->n_events * 4);
	must(trace_each(t, see, &s, &err), &err);
	assert_int_equal(s.n, t->n_events + 1);
	trace_free(t);
}

static void append(const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_APPEND);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

/* Read twice while it is being recorded: the second time to where it ended the first time. */
static void test_grows(void **state)
{
	struct error err = {};
	struct seen s = {};
	char *more;
	struct trace *t;
	size_t n;

	(void)state;
	write_one(false, 5000);
	more = read_file(path, &n);
	write_one(false, 1);
	must(trace_open(path, &t, &err), &err);
	assert_string_equal(trace_unfinished(t), "it was cut off: this is what came before");
	/* Chunks follow the line. */
	append(strchr(more, '\n') + 1, more + n - strchr(more, '\n') - 1);
	must(trace_each(t, see, &s, &err), &err);
	assert_int_equal(s.n, t->n_events + 1);
	assert_non_null(strstr(trace_unfinished(t), "is still being recorded"));
	assert_int_equal(truncate(path, 20), 0);
	assert_int_equal(trace_each(t, see, &s, &err), -EINVAL);
	assert_non_null(strstr(err.text, "it has changed while it was read"));
	trace_free(t);
	free(more);
}

static int look(struct error *err)
{
	struct seen s = {};
	struct trace *t;
	int r = trace_open(path, &t, err);

	if (r)
		return r;
	r = trace_each(t, see, &s, err);
	assert_int_equal(r, 0);
	trace_free(t);
	return 0;
}

static void put(const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

static void test_damaged(void **state)
{
	char *whole;
	size_t n;

	(void)state;
	write_one(true, 3);
	whole = read_file(path, &n);
	assert_non_null(whole);
	for (size_t i = 0; i < n; i++) {
		struct error err = {};
		int r;

		put(whole, i);
		r = look(&err);
		assert_true(r < 0 && r == err.code && *err.text);
		assert_non_null(strstr(err.text, path));
	}
	for (size_t i = 0; i < n; i++) {
		struct error err = {};
		char old = whole[i];

		whole[i] ^= 0x41;
		put(whole, n);
		if (look(&err))
			assert_non_null(strstr(err.text, path));
		whole[i] = old;
	}
	/* What there was before can be read, what comes after cannot. */
	for (char version = '1'; version <= '0' + TRACE_VERSION; version++) {
		struct error err = {};

		whole[12] = version;
		put(whole, n);
		must(look(&err), &err);
	}
	whole[12] = '1' + TRACE_VERSION;
	put(whole, n);
	{
		struct error err = {};

		assert_int_equal(look(&err), -ENOTSUP);
	}
	free(whole);
}

/* Cut off between two chunks, or in one: what came before is there. */
static void test_cut_off(void **state)
{
	struct error err;
	struct trace *t;
	char *whole;
	size_t n, all;

	(void)state;
	write_one(true, 50000);
	must(trace_open(path, &t, &err), &err);
	all = t->n_events;
	trace_free(t);
	whole = read_file(path, &n);
	put(whole, n - n / 3);
	must(trace_open(path, &t, &err), &err);
	assert_true(t->truncated);
	assert_false(t->complete);
	assert_true(t->n_events > all / 4 && t->n_events < all);
	trace_free(t);
	free(whole);
}

static void test_not_replaced(void **state)
{
	struct trace_writer *w;
	struct error err = {};

	(void)state;
	put("somebody's data\n", 16);
	assert_int_equal(trace_writer_open(path, &header, &w, &err), -EEXIST);
	assert_non_null(strstr(err.text, "is not replaced"));
	assert_int_equal(look(&err), -ENODATA);
	assert_false(trace_is(path));
}

/* A small file must not fill the memory: of equal bytes a megabyte packs to some 50. */
static void test_dense(void **state)
{
	struct trace_writer *w;
	struct error err = {};

	(void)state;
	w = begin();
	trace_write_process(w, 0, 1, "");
	for (int i = 0; i < 1000000; i++)
		trace_write_thread(w, &(struct trace_thread){ 1, 1, 0, "" });
	must(trace_writer_close(w, NULL, &err), &err);
	assert_int_equal(look(&err), -EINVAL);
	assert_non_null(strstr(err.text, "densely"));
}

/* Nor must it cost time without end: of equal events even more fit. */
static void test_dense_events(void **state)
{
	const struct trace_event e = { .type = TRACE_ENTER };
	struct trace_writer *w;
	struct error err = {};

	(void)state;
	w = begin();
	trace_write_process(w, 0, 1, "");
	trace_write_thread(w, &(struct trace_thread){ 1, 1, 0, "" });
	for (int i = 0; i < 4000000; i++)
		trace_write_event(w, &e);
	must(trace_writer_close(w, NULL, &err), &err);
	assert_int_equal(look(&err), -EINVAL);
	assert_non_null(strstr(err.text, "densely"));
}

static int with_stack(uint32_t depth, uint16_t cpu, uint32_t cpus, struct error *err)
{
	const struct trace_event e = { .type = TRACE_ENTER, .cpu = cpu };
	struct trace_header h = header;
	struct trace_writer *w;

	unlink(path);
	h.cpus = cpus;
	must(trace_writer_open(path, &h, &w, err), err);
	trace_write_frame(w, &(struct record_frame){ .symbol = "f", .object = "" });
	for (uint32_t i = 0; i < depth; i++)
		trace_write_stack(w, &(struct record_stack){ 0, i ? i - 1 : RECORDING_NONE });
	trace_write_process(w, 0, 1, "");
	trace_write_thread(w, &(struct trace_thread){ 1, 1, 0, "" });
	trace_write_event(w, &e);
	must(trace_writer_close(w, NULL, err), err);
	return look(err);
}

/* Tables are as long as there are CPUs, chains are followed. */
static void test_impossible(void **state)
{
	struct error err = {};

	(void)state;
	assert_int_equal(with_stack(TRACE_STACK_MOST, TRACE_CPUS_MOST - 1, TRACE_CPUS_MOST, &err),
			 0);
	assert_int_equal(with_stack(TRACE_STACK_MOST + 1, 0, 1, &err), -EINVAL);
	assert_int_equal(with_stack(1, TRACE_CPUS_MOST, 1, &err), -EINVAL);
	assert_int_equal(with_stack(1, 0, TRACE_CPUS_MOST + 1, &err), -EINVAL);
}

static bool begins_with(const struct trace *t, uint32_t stack, uint32_t with)
{
	while (stack != TRACE_NONE && stack != with)
		stack = t->stacks[stack].parent;
	return stack == with;
}

/* The same as by walking along each stack. */
static void test_tree(void **state)
{
	enum { N = 150 };
	struct record_stack stacks[N];
	struct trace t = { .stacks = stacks, .n_stacks = N };

	(void)state;
	srand(5);
	for (int round = 0; round < 20; round++) {
		struct trace_tree tree;

		for (uint32_t i = 0; i < N; i++)
			stacks[i].parent =
				i && rand() % (round + 2) ? (uint32_t)rand() % i : TRACE_NONE;
		trace_tree_make(&t, &tree);
		for (uint32_t i = 0; i < N; i++) {
			assert_int_equal(tree.order[tree.begin[i]], i);
			for (uint32_t k = 0; k < N; k++) {
				bool in = tree.begin[k] <= tree.begin[i] &&
					  tree.begin[i] < tree.end[k];

				assert_int_equal(in, begins_with(&t, i, k));
			}
			for (uint32_t at = i; at != TRACE_NONE; at = stacks[at].parent)
				assert_int_equal(trace_tree_step(&tree, stacks[at].parent, i), at);
		}
		trace_tree_free(&tree);
	}
}

static int with_devices(uint32_t n, struct error *err)
{
	struct trace_writer *w;

	unlink(path);
	must(trace_writer_open(path, &header, &w, err), err);
	for (uint32_t i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "sd%u", i * i);
		trace_write_device(w, name);
	}
	must(trace_writer_close(w, NULL, err), err);
	return look(err);
}

static void test_many_devices(void **state)
{
	struct error err = {};

	(void)state;
	assert_int_equal(with_devices(TRACE_DEVICES_MOST, &err), 0);
	assert_int_equal(with_devices(TRACE_DEVICES_MOST + 1, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_command),
		cmocka_unit_test(test_chunks),	     cmocka_unit_test(test_grows),
		cmocka_unit_test(test_damaged),	     cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_not_replaced), cmocka_unit_test(test_dense),
		cmocka_unit_test(test_many_devices), cmocka_unit_test(test_dense_events),
		cmocka_unit_test(test_impossible),   cmocka_unit_test(test_tree),
	};
	int r;

	snprintf(path, sizeof(path), "/tmp/test_trace.%d", getpid());
	r = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return r;
}
