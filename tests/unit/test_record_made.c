// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples in code that processes make while they run: what they wait for, and what they are called.
 */
#include "test_map_util.h"

#include "maps/maps.h"
#include "record/symbols.h"

#define PID  4711
#define CODE 0x7f0000001000

static struct record_stack stacks[16];

static void on_frame(uint32_t id, const struct record_frame *frame, void *arg)
{
	(void)id;
	(void)frame;
	(void)arg;
}

static void on_stack(uint32_t id, const struct record_stack *stack, void *arg)
{
	(void)arg;
	assert_true(id < ARRAY_SIZE(stacks));
	stacks[id] = *stack;
}

/* It has made code, and tells of it. */
static void make_process(const char *map)
{
	_cleanup_free_ char *status = in_scratch("proc/%d/status", PID),
			    *stat = in_scratch("proc/%d/stat", PID),
			    *path = in_scratch("root/tmp/perf-%d.map", PID), *text = NULL,
			    *line = NULL;

	sh("rm -rf proc root; mkdir -p proc/%d root/tmp; ln -s %s/root proc/%d/root", PID, scratch,
	   PID);
	text = xasprintf("Name:\tjit\nPid:\t%d\nUid:\t0\t%u\t0\t0\nGid:\t0\t%u\t0\t0\n"
			 "NSpid:\t%d\nThreads:\t1\n",
			 PID, getuid(), getgid(), PID);
	line = xasprintf("%d (a) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0\n", PID);
	write_file(status, text, strlen(text));
	write_file(stat, line, strlen(line));
	write_file(path, map, strlen(map));
	assert_int_equal(chmod(path, 0644), 0);
}

/* The functions of a sample, innermost first, once all is known. */
static char *functions_of(struct maps *m, struct symbols *s, const struct raw_chain *c)
{
	uint64_t end = clock_now_ns() + 60 * NSEC_PER_SEC;
	enum record_class class = RECORD_ON;
	struct resolved r = symbols_resolve(s, c, &class);
	char *text = xstrdup("");
	uint32_t stack = r.stack;
	bool broken;

	assert_false(r.pending);
	while (r.later && symbols_settle(s, r.later, false, &stack, &broken) != SYMBOLS_SETTLED) {
		assert_true(clock_now_ns() < end);
		maps_catch_up(m);
		usleep(1000);
	}
	symbols_later_free(r.later);
	for (; stack != RECORDING_NONE; stack = stacks[stack].parent)
		text_add(&text, "%s;", symbols_frame(s, stacks[stack].frame)->symbol);
	return text;
}

/* Of a process of which nothing is known yet: who waits for the innermost has the callers, too. */
static void test_callers(void **state)
{
	static const uint64_t user[] = { CODE, CODE + 0x18, CODE + 0x28 };
	static const struct file_id none;
	const struct symbols_sink sink = { on_frame, on_stack, NULL };
	struct raw_chain c = {
		.pid = PID, .user = user, .n_user = ARRAY_SIZE(user), .how = RECORD_CHAIN_WHOLE
	};
	_cleanup_free_ char *found = NULL;
	struct symbols *s;
	struct maps *m;

	(void)state;
	make_process("7f0000001000 10 one\n7f0000001010 10 two\n7f0000001020 10 three\n");
	assert_int_equal(maps_create(&(struct maps_options){ .perf_maps = true }, &m, NULL), 0);
	maps_add(m, 0, PID, CODE, 0x10000, 0, none, "//anon");
	s = symbols_create(m, &sink);
	c.time = clock_now_ns();
	found = functions_of(m, s, &c);
	assert_string_equal(found, "one;two;three;");
	symbols_destroy(s);
	maps_destroy(m);
}

static int run(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_callers) };

	sysroot = scratch;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return run_in_scratch(run, true);
}
