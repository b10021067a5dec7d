// SPDX-License-Identifier: GPL-2.0-or-later
/* The recorder's pure parts: sampling points, the order of records, calls in code, kinds of waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "record/call_check.h"
#include "record/wait_kinds.h"
#include "record/sampling_points.h"
#include "record/queue.h"

#define MS 1000000ULL

static void test_points_count_time(void **state)
{
	(void)state;
	/* n whole periods hold n points, or one more or less at the ends */
	for (uint64_t start = 12345; start < 200 * MS; start += 777777) {
		uint64_t n =
			points_before(start + 5000 * MS, 4711, MS) - points_before(start, 4711, MS);

		assert_in_range(n, 4999, 5001);
	}
	/* never backwards, and adjoining intervals lose nothing */
	for (uint64_t t = 0; t < 50 * MS; t += 9973)
		assert_true(points_before(t + 9973, 1, MS) - points_before(t, 1, MS) <= 1);
}

/* Waits of 0.3 ms, in step with the clock: on average 0.3 points each, for every thread. */
static void test_points_are_fair(void **state)
{
	(void)state;
	for (uint32_t tid = 1; tid < 20; tid++) {
		uint64_t points = 0;

		for (uint64_t i = 0; i < 20000; i++)
			points += points_before(i * MS + 400000, tid, MS) -
				  points_before(i * MS + 100000, tid, MS);
		assert_in_range(points, 5700, 6300); /* 4.6 standard deviations */
	}
}

/* Two threads do not have their points at the same places. */
static void test_next_point(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {
		uint64_t period = i % 3 ? 1000000 : 250000,
			 from = points_hash(i) % (NSEC_PER_SEC * 100);
		uint64_t to = from + points_hash(~i) % (2 * period);
		uint64_t point = points_next(from, i % 7, period);

		assert_true(point >= from && point < from + 2 * period);
		assert_int_equal(points_before(to, i % 7, period) >
					 points_before(from, i % 7, period),
				 point < to);
		assert_int_equal(points_next(point, i % 7, period), point);
	}
}

static void test_points_of_threads_differ(void **state)
{
	unsigned same = 0;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		same += points_before(i * MS + MS / 2, 7, MS) ==
			points_before(i * MS + MS / 2, 8, MS);
	assert_in_range(same, 400, 600);
}

/* Takes no "x". */
static bool note(enum queue_kind kind, const void *record, size_t size, void *arg)
{
	char *text = arg;

	if (*(const char *)record == 'x')
		return false;

	strncat(text, kind == QUEUE_PERF ? "p" : "s", 2);
	strncat(text, record, size);
	return true;
}

static void test_queue_orders_by_time(void **state)
{
	struct queue q = {};
	char got[64] = "";

	(void)state;
	queue_put(&q, QUEUE_SAMPLE, 30, "c", 1);
	queue_put(&q, QUEUE_PERF, 10, "a", 1);
	queue_put(&q, QUEUE_SAMPLE, 50, "e", 1);
	queue_put(&q, QUEUE_SAMPLE, 20, "b", 1);
	queue_put(&q, QUEUE_PERF, 20, "B", 1); /* equal times stay as they came */
	queue_take(&q, 30, note, got);
	assert_string_equal(got, "pasbpBsc");
	queue_put(&q, QUEUE_SAMPLE, 40, "d", 1);
	queue_take(&q, UINT64_MAX, note, got);
	assert_string_equal(got, "pasbpBscsdse");
	assert_int_equal(q.n, 0);
	*got = '\0';
	queue_put(&q, QUEUE_SAMPLE, 3, "c", 1);
	queue_put(&q, QUEUE_SAMPLE, 1, "a", 1);
	queue_put(&q, QUEUE_SAMPLE, 2, "x", 1);
	assert_false(queue_take(&q, UINT64_MAX, note, got)); /* what comes after it waits, too */
	assert_false(queue_take(&q, UINT64_MAX, note, got));
	assert_string_equal(got, "sa");
	assert_int_equal(q.n, 2);
	q.bytes[q.entries[0].offset] = 'b';
	assert_true(queue_take(&q, UINT64_MAX, note, got));
	assert_string_equal(got, "sasbsc");
	queue_free(&q);
}

#if defined(__x86_64__)
static enum code_call call_of(const char *bytes, size_t n, uint64_t *target)
{
	uint8_t code[8] = { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 };

	memcpy(code + 8 - n, bytes, n);
	return code_decode_call(code, 8, 0x1000, target);
}

static void test_calls(void **state)
{
	uint64_t target = 0;

	(void)state;
	assert_int_equal(call_of("\xe8\x10\x00\x00\x00", 5, &target), CODE_DIRECT);
	assert_int_equal(target, 0x1010);
	assert_int_equal(call_of("\xe8\xf0\xff\xff\xff", 5, &target), CODE_DIRECT);
	assert_int_equal(target, 0xff0);
	assert_int_equal(call_of("\xff\xd0", 2, &target), CODE_INDIRECT);     /* *%rax */
	assert_int_equal(call_of("\x41\xff\xd3", 3, &target), CODE_INDIRECT); /* *%r11 */
	assert_int_equal(call_of("\x41\xff\xd4", 3, &target), CODE_INDIRECT); /* *%r12 */
	assert_int_equal(call_of("\xff\x50\x18", 3, &target), CODE_INDIRECT); /* *24(%rax) */
	assert_int_equal(call_of("\xff\x15\x00\x20\x00\x00", 6, &target), CODE_INDIRECT); /* GOT */
	assert_int_equal(call_of("\xff\x54\xc5\x08", 4, &target),
			 CODE_INDIRECT); /* 8(%rbp,%rax,8) */
	assert_int_equal(call_of("\xff\x14\xc5\x00\x10\x00\x00", 7, &target), CODE_INDIRECT);
	assert_int_equal(call_of("\x48\x89\xe5", 3, &target), CODE_NO_CALL); /* mov */
	assert_int_equal(call_of("\xff\xe0", 2, &target), CODE_NO_CALL);     /* jmp *%rax */
	assert_int_equal(call_of("\x0f\x05", 2, &target), CODE_NO_CALL);     /* syscall */
}

static void test_frames_are_found(void **state)
{
	/* push %rbp; mov %rsp,%rbp, twice, and what begins like it */
	static const uint8_t twice[] = { 0x90, 0x55, 0x48, 0x89, 0xe5, 0x90,
					 0x55, 0x48, 0x89, 0xe5, 0x55, 0x48 };
	/* as V8 writes it; with xor %eax,%eax between the two */
	static const uint8_t other[] = { 0x55, 0x48, 0x8b, 0xec };
	static const uint8_t spread[] = { 0x55, 0x31, 0xc0, 0x48, 0x89, 0xe5 };
	/* not %rsp; push %rbx, or sub $16,%rsp between the two: of a local variable */
	static const uint8_t none[] = { 0x55, 0x48, 0x89, 0xfd, 0x55, 0x48, 0x89 };
	static const uint8_t pushed[] = { 0x55, 0x53, 0x48, 0x89, 0xe5 };
	static const uint8_t local[] = { 0x55, 0x48, 0x83, 0xec, 0x10, 0x48, 0x89, 0xe5 };

	(void)state;
	assert_int_equal(code_find_frame(twice, sizeof(twice)), 6);
	assert_int_equal(code_find_frame(twice, 9), 1);
	assert_int_equal(code_find_frame(twice, 5), 1);
	assert_int_equal(code_find_frame(twice, 4), 4);
	assert_int_equal(code_find_frame(other, sizeof(other)), 0);
	assert_int_equal(code_find_frame(other, 0), 0);
	assert_int_equal(code_find_frame(spread, sizeof(spread)), 0);
	assert_int_equal(code_find_frame(none, sizeof(none)), sizeof(none));
	assert_int_equal(code_find_frame(pushed, sizeof(pushed)), sizeof(pushed));
	assert_int_equal(code_find_frame(local, sizeof(local)), sizeof(local));
}
#endif

static const char *kind_of(enum record_class *class, const char *const *functions)
{
	size_t n = 0;

	while (functions[n])
		n++;
	return record_wait_kind(functions, n, class);
}

#define KIND(class, ...) kind_of(class, (const char *const[]){ __VA_ARGS__, NULL })

static void test_kinds(void **state)
{
	enum record_class class = RECORD_OTHER;

	(void)state;
	assert_string_equal(
		KIND(&class, "__schedule", "schedule", "futex_wait_queue", "futex_wait"), "futex");
	assert_int_equal(class, RECORD_LOCK);
	class = RECORD_OTHER;
	assert_string_equal(KIND(&class, "__schedule", "schedule", "schedule_preempt_disabled",
				 "__mutex_lock.constprop.0", "pipe_write"),
			    "mutex");
	assert_int_equal(class, RECORD_LOCK);
	class = RECORD_IO; /* mutex_lock_io() */
	assert_string_equal(
		KIND(&class, "__schedule", "io_schedule", "mutex_lock_io", "blkdev_read_iter"),
		"disk");
	assert_int_equal(class, RECORD_IO);
	class = RECORD_OTHER;
	assert_string_equal(KIND(&class, "__schedule", "schedule", "pipe_read", "vfs_read"),
			    "pipe");
	assert_string_equal(KIND(&class, "schedule", "do_nanosleep", "hrtimer_nanosleep"), "sleep");
	assert_string_equal(KIND(&class, "schedule", "schedule_hrtimeout_range", "ep_poll"),
			    "poll");
	assert_string_equal(KIND(&class, "schedule", "do_wait", "kernel_wait4"), "child");
	assert_int_equal(class, RECORD_OTHER);
	class = RECORD_IO;
	assert_string_equal(KIND(&class, "io_schedule", "folio_wait_bit_common", "filemap_fault",
				 "handle_mm_fault", "exc_page_fault"),
			    "page fault");
	assert_string_equal(KIND(&class, "io_schedule", "something_new"), "disk");
	class = RECORD_OTHER;
	assert_null(KIND(&class, "schedule", "something_new"));
	class = RECORD_SCHED;
	assert_null(KIND(&class, "schedule", "futex_wait_queue"));
	assert_int_equal(class, RECORD_SCHED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points_count_time),
		cmocka_unit_test(test_points_are_fair),
		cmocka_unit_test(test_next_point),
		cmocka_unit_test(test_points_of_threads_differ),
		cmocka_unit_test(test_queue_orders_by_time),
#if defined(__x86_64__)
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_frames_are_found),
#endif
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
