// SPDX-License-Identifier: GPL-2.0-or-later
/* Replay of ranks that wait for each other by polling in MPI. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/trace.h"
#include "whatif/polls.h"
#include "whatif/predict.h"

enum {
	MAIN,
	SLOW,
	FAST,
	ALLREDUCE,
	WAITALL,
	PROGRESS,
	DEVICE,
	CLOCK,
	READ_CLOCK,
	TEST,
	MPICH_RECV,
	MPICH_WAIT,
	UCX,
	INLINED,
	MPICH_LINE,
	MPICH_INLINED,
	MPICH_CALLER,
	MPICH_NOWHERE,
	MPICH_ELSEWHERE,
	FRAMES
};

static const struct record_frame frames[FRAMES] = {
	[MAIN] = { .symbol = "main", .object = "/h/solver" },
	[SLOW] = { .symbol = "slow", .object = "/h/solver" },
	[FAST] = { .symbol = "fast", .object = "/h/solver" },
	[ALLREDUCE] = { .symbol = "PMPI_Allreduce", .object = "/usr/lib/libmpi.so.40" },
	[WAITALL] = { .symbol = "PMPI_Waitall", .object = "/usr/lib/libmpi.so.40" },
	[PROGRESS] = { .symbol = "opal_progress", .object = "/usr/lib/libopen-pal.so.40" },
	[DEVICE] = { .symbol = "0x4d50", .object = "/usr/lib/openmpi3/mca_btl_vader.so" },
	[CLOCK] = { .symbol = "0x2fcb0", .object = "/usr/lib/libopen-pal.so.40" },
	[READ_CLOCK] = { .symbol = "0x878b0", .object = "/usr/lib/libopen-pal.so.40" },
	[TEST] = { .symbol = "PMPI_Test", .object = "/usr/lib/libmpi.so.40" },
	[MPICH_RECV] = { .symbol = "PMPI_Recv", .object = "/usr/lib/libmpich.so.12" },
	[MPICH_WAIT] = { .symbol = "0x2b9150", .object = "/usr/lib/libmpich.so.12" },
	[UCX] = { .symbol = "ucp_worker_progress", .object = "/usr/lib/libucp.so.0" },
	[INLINED] = { .symbol = "look",
		      .object = "/usr/lib/openmpi3/mca_btl_vader.so",
		      .kind = FRAME_INLINED },
	[MPICH_LINE] = { .symbol = "0x2b9150",
			 .object = "/usr/lib/libmpich.so.12",
			 .file = "progress.c",
			 .line = 7 },
	[MPICH_INLINED] = { .symbol = "ask",
			    .object = "/usr/lib/libmpich.so.12",
			    .kind = FRAME_INLINED },
	[MPICH_NOWHERE] = { .symbol = "[unknown]",
			    .object = "/usr/lib/libmpich.so.12",
			    .address = 1 },
	[MPICH_ELSEWHERE] = { .symbol = "[unknown]",
			      .object = "/usr/lib/libmpich.so.12",
			      .address = 2 },
	[MPICH_CALLER] = { .symbol = "0x2c0000", .object = "/usr/lib/libmpich.so.12" },
};

enum {
	IN_MAIN,
	IN_SLOW,
	IN_FAST,
	IN_ALLREDUCE,
	BELOW_ALLREDUCE,
	IN_DEVICE,
	IN_CLOCK,
	IN_READ_CLOCK,
	IN_WAITALL,
	BELOW_WAITALL,
	DEVICE_OF_WAITALL,
	IN_TEST,
	BELOW_TEST,
	IN_MPICH_RECV,
	IN_MPICH_WAIT,
	BELOW_MPICH_WAIT,
	IN_INLINED,
	IN_MPICH_LINE,
	IN_MPICH_INLINED,
	BELOW_MPICH_INLINED,
	IN_MPICH_CALLER,
	BELOW_MPICH_CALLER,
	IN_MPICH_NOWHERE,
	BELOW_MPICH_NOWHERE,
	IN_MPICH_ELSEWHERE,
	STACKS
};

static const struct record_stack stacks[STACKS] = {
	[IN_MAIN] = { MAIN, TRACE_NONE },
	[IN_SLOW] = { SLOW, IN_MAIN },
	[IN_FAST] = { FAST, IN_MAIN },
	[IN_ALLREDUCE] = { ALLREDUCE, IN_MAIN },
	[BELOW_ALLREDUCE] = { PROGRESS, IN_ALLREDUCE },
	[IN_DEVICE] = { DEVICE, BELOW_ALLREDUCE },
	[IN_CLOCK] = { CLOCK, BELOW_ALLREDUCE },
	[IN_READ_CLOCK] = { READ_CLOCK, IN_CLOCK },
	[IN_WAITALL] = { WAITALL, IN_MAIN },
	[BELOW_WAITALL] = { PROGRESS, IN_WAITALL },
	[DEVICE_OF_WAITALL] = { DEVICE, BELOW_WAITALL },
	[IN_TEST] = { TEST, IN_MAIN },
	[BELOW_TEST] = { PROGRESS, IN_TEST },
	[IN_MPICH_RECV] = { MPICH_RECV, IN_MAIN },
	[IN_MPICH_WAIT] = { MPICH_WAIT, IN_MPICH_RECV },
	[BELOW_MPICH_WAIT] = { UCX, IN_MPICH_WAIT },
	[IN_INLINED] = { INLINED, IN_DEVICE },
	[IN_MPICH_LINE] = { MPICH_LINE, IN_MPICH_RECV },
	[IN_MPICH_INLINED] = { MPICH_INLINED, IN_MPICH_WAIT },
	[BELOW_MPICH_INLINED] = { UCX, IN_MPICH_INLINED },
	[IN_MPICH_CALLER] = { MPICH_CALLER, IN_MPICH_RECV },
	[BELOW_MPICH_CALLER] = { MPICH_WAIT, IN_MPICH_CALLER },
	[IN_MPICH_NOWHERE] = { MPICH_NOWHERE, IN_MPICH_RECV },
	[BELOW_MPICH_NOWHERE] = { UCX, IN_MPICH_NOWHERE },
	[IN_MPICH_ELSEWHERE] = { MPICH_ELSEWHERE, IN_MPICH_RECV },
};

static void test_stacks(void **state)
{
	struct trace t = { .frames = (struct record_frame *)frames,
			   .n_frames = FRAMES,
			   .stacks = (struct record_stack *)stacks,
			   .n_stacks = STACKS };
	static const uint8_t meant[STACKS] = {
		[BELOW_ALLREDUCE] = POLLS_TO_MEET, [IN_DEVICE] = POLLS_TO_MEET,
		[IN_CLOCK] = POLLS_TO_MEET,	   [IN_READ_CLOCK] = POLLS_TO_MEET,
		[BELOW_WAITALL] = POLLS,	   [DEVICE_OF_WAITALL] = POLLS,
		[IN_MPICH_WAIT] = POLLS,	   [BELOW_MPICH_WAIT] = POLLS,
		[IN_INLINED] = POLLS_TO_MEET,	   [IN_MPICH_LINE] = POLLS,
		[IN_MPICH_INLINED] = POLLS,	   [BELOW_MPICH_INLINED] = POLLS,
		[BELOW_MPICH_CALLER] = POLLS,	   [BELOW_MPICH_NOWHERE] = POLLS,
	};
	_cleanup_free_ uint8_t *polls = polls_find(&t);

	(void)state;
	for (int i = 0; i < STACKS; i++) {
		if (polls[i] != meant[i])
			fail_msg("stack %d: %d instead of %d", i, polls[i], meant[i]);
	}
}

/* ---- a job ---- */

#define ITERATIONS 400
#define MS	   1000000

static void put(struct trace_writer *w, struct trace_event e)
{
	assert_int_equal(trace_write_event(w, &e), 0);
}

/* Both compute, one for 3 ms and the other for 1, and meet. None of them ever sleeps. */
static void write_job(const char *path)
{
	static const uint32_t polling[] = { IN_DEVICE, IN_READ_CLOCK, BELOW_ALLREDUCE };
	const struct trace_header h = { MS / 2, "job", "command", "h", "k", "now", 2 };
	const struct trace_footer f = { .duration = 3ULL * MS * ITERATIONS, .end = "done" };
	struct trace_writer *w;

	assert_int_equal(trace_writer_open(path, &h, &w, NULL), 0);
	trace_write_point(w, "iteration");
	for (int i = 0; i < FRAMES; i++)
		trace_write_frame(w, &frames[i]);
	for (int i = 0; i < STACKS; i++)
		trace_write_stack(w, &stacks[i]);
	for (int i = 0; i < 2; i++) {
		trace_write_process(w, i, 100 + i, "solver");
		trace_write_thread(w, &(struct trace_thread){ 100 + i, 100 + i, i, "solver" });
		put(w,
		    (struct trace_event){ .type = TRACE_FOLLOW, .thread = i, .cpu = i, .time = 1 });
		put(w,
		    (struct trace_event){ .type = TRACE_ENTER, .thread = i, .cpu = i, .time = 1 });
	}
	for (int i = 0; i < ITERATIONS; i++) {
		uint64_t begin = 3ULL * MS * i;

		for (int k = 0; k < 6; k++) {
			for (uint32_t rank = 0; rank < 2; rank++)
				put(w, (struct trace_event){ .type = TRACE_SAMPLE,
							     .time = begin + MS / 2 * k + MS / 4,
							     .thread = rank,
							     .cpu = rank,
							     .weight = MS / 2,
							     .stack = !rank   ? IN_SLOW
								      : k < 2 ? IN_FAST
									      : polling[k % 3] });
		}
		for (uint32_t rank = 0; rank < 2; rank++)
			put(w, (struct trace_event){ .type = TRACE_PROGRESS,
						     .time = begin + 3 * MS - 1 + rank,
						     .thread = rank,
						     .cpu = rank,
						     .other = 0 });
	}
	assert_int_equal(trace_writer_close(w, &f, NULL), 0);
}

/* Within bounds that say something, and near it. */
static void expect(const struct predict_target *t, int at, double truth)
{
	const struct bounds_answer *a = &t->at[at];

	if (fabs(a->middle - truth) > 3 || a->low > truth || a->high < truth)
		fail_msg("%s: %.1f [%.1f, %.1f], really %.1f", t->symbol, a->middle, a->low,
			 a->high, truth);
}

static void test_job(void **state)
{
	char path[] = "/tmp/test_whatif_polls-XXXXXX";
	struct error err = {};
	struct predict ret;
	struct trace *t;
	int file = mkstemp(path), seen = 0;

	(void)state;
	assert_true(file >= 0);
	close(file);
	unlink(path);
	write_job(path);
	assert_int_equal(trace_open(path, &t, &err), 0);
	assert_int_equal(predict(t, &predict_usual, &ret, &err), 0);
	assert_true(ret.concluded);
	/* 25 and 50 % */
	for (size_t i = 0; i < ret.n_targets; i++) {
		const struct predict_target *target = &ret.targets[i];
		bool slow = !strcmp(target->symbol, "slow"), fast = !strcmp(target->symbol, "fast");

		seen += slow || fast;
		if (slow || fast) {
			expect(target, 0, slow ? 25 : 0);
			expect(target, 1, slow ? 50 : 0);
		}
		/* What MPI does to wait is nothing to be mended. */
		assert_true(slow || fast || !strcmp(target->symbol, "main"));
	}
	assert_int_equal(seen, 2);
	assert_true(fabs(ret.spun - 1.0 / 3) < 0.02);
	predict_free(&ret);
	trace_free(t);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
