// SPDX-License-Identifier: GPL-2.0-or-later
/* Devices in a replay: each rule by itself, and simulated programs whose truth is known. */
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/sim/replay.h"
#include "trace/devices.h"
#include "whatif/requests.h"

#define SECONDS 3
#define FASTER	1 /* bit of device 0 */

/* Lanes: code only, the device half as long, the same where all are served at once, nothing. */
static const struct replay_lane lanes[] = {
	{ 0, 0.5, REPLAY_USUAL, 0 },
	{ 1, 0.5, REPLAY_USUAL, FASTER },
	{ 1, 0.5, REPLAY_FREE, FASTER },
	{ 1, 0, REPLAY_USUAL, FASTER },
};
static const double none[ARRAY_SIZE(lanes)];

static void issue(struct requests *r, uint64_t time, uint32_t id, const double *earlier)
{
	const struct trace_event e = { .time = time, .type = TRACE_ISSUE, .other = 0, .stack = id };

	requests_issued(r, &e, earlier);
}

static const double *complete(struct requests *r, uint64_t time, uint32_t id, int cpu)
{
	const struct trace_event e = {
		.time = time, .type = TRACE_COMPLETE, .other = 0, .stack = id, .cpu = cpu
	};

	requests_completed(r, &e);
	return requests_ended(r, 0, cpu);
}

static void assert_row(const double *row, double code, double device, double at_once)
{
	assert_non_null(row);
	assert_true(row[0] == code && row[1] == device && row[2] == at_once && row[3] == 0);
}

static void test_alone(void **state)
{
	struct requests *r = requests_create(lanes, ARRAY_SIZE(lanes), 2);
	const double earlier[] = { 30, 10, 10, 0 };

	(void)state;
	issue(r, 100, 7, earlier);
	assert_null(requests_ended(r, 0, 0));
	assert_row(complete(r, 200, 7, 1), 30, 60, 60);
	/* Another CPU, another device, a request that was not seen to begin. */
	assert_null(requests_ended(r, 0, 0));
	assert_null(requests_ended(r, 1, 1));
	assert_null(complete(r, 210, 8, 1));
	assert_int_equal(requests_busy(r, FASTER, 150, 400), 50);
	assert_int_equal(requests_busy(r, FASTER << 1, 150, 400), 0);
	/* By one of whom nothing is known. */
	issue(r, 300, 9, NULL);
	assert_null(complete(r, 400, 9, 0));
	assert_int_equal(requests_busy(r, FASTER, 150, 350), 100);
	assert_int_equal(requests_busy_in_all(r, FASTER), 200);
	requests_free(r);
}

/* 2 is issued 10 after 1, and both are served for 100. */
static void test_behind(void **state)
{
	for (uint32_t servers = 0; servers < 3; servers++) {
		struct requests *r = requests_create(lanes, ARRAY_SIZE(lanes), 1);

		(void)state;
		requests_servers(r, 0, servers);
		issue(r, 0, 1, none);
		issue(r, 10, 2, none);
		assert_row(complete(r, 100, 1, 0), 0, 50, 50);
		/* With one server it waits for 90 of its 190; else it would have begun at once. */
		if (servers == 1)
			assert_row(complete(r, 200, 2, 0), 0, 100, 95);
		else
			assert_row(complete(r, 200, 2, 0), 0, 95, 95);
		requests_free(r);
	}
}

/* Who comes earlier than whom it waited for is served first. */
static void test_other_order(void **state)
{
	struct requests *r = requests_create(lanes, ARRAY_SIZE(lanes), 1);
	const double much[] = { 40, 40, 40, 0 }, little[] = { 5, 5, 5, 0 };

	(void)state;
	requests_servers(r, 0, 1);
	issue(r, 0, 1, none);
	issue(r, 10, 2, much);
	complete(r, 100, 1, 0);
	/* The device's own gain: 50 by then, more than what it had. */
	assert_row(complete(r, 200, 2, 0), 40, 100, 40 + 95);
	issue(r, 1000, 3, none);
	issue(r, 1010, 4, little);
	complete(r, 1100, 3, 0);
	assert_row(complete(r, 1200, 4, 0), 0, 100, 5 + 95);
	/* A stranger's request is no reason to be late. */
	issue(r, 2000, 5, NULL);
	issue(r, 2010, 6, much);
	complete(r, 2100, 5, 0);
	assert_row(complete(r, 2200, 6, 0), 40, 40 + 95, 40 + 95);
	requests_free(r);
}

/* A request whose end was lost keeps no place for ever. */
static void test_lost(void **state)
{
	struct requests *r = requests_create(lanes, ARRAY_SIZE(lanes), 1);

	(void)state;
	requests_servers(r, 0, 1);
	issue(r, 0, 1, none);
	issue(r, 20 * NSEC_PER_SEC, 2, none);
	assert_row(complete(r, 20 * NSEC_PER_SEC + 100, 2, 0), 0, 50, 50);
	for (uint32_t i = 0; i < 10000; i++)
		issue(r, 21 * NSEC_PER_SEC, 10 + i, none);
	requests_free(r);
}

/* Nor does it have the device busy from then on; and what overlaps is not counted twice. */
static void test_lost_is_not_busy(void **state)
{
	struct requests *r = requests_create(lanes, ARRAY_SIZE(lanes), 1);
	struct devices *d = devices_create();
	uint64_t end = 0;

	(void)state;
	for (uint32_t i = 0; i < 600; i++) {
		uint64_t at = i * 1000;
		const struct trace_event v[] = {
			{ .time = at, .type = TRACE_ISSUE, .stack = 2 * i },
			{ .time = at + 20, .type = TRACE_ISSUE, .stack = 2 * i + 1 },
			{ .time = at + 70, .type = TRACE_COMPLETE, .stack = 2 * i + 1 },
			{ .time = at + 100, .type = TRACE_COMPLETE, .stack = 2 * i },
		};

		for (size_t k = 0; k < ARRAY_SIZE(v); k++) {
			if (i == 300 && k == 3)
				continue;
			devices_event(d, &v[k]);
			if (v[k].type == TRACE_ISSUE)
				requests_issued(r, &v[k], none);
			else
				requests_completed(r, &v[k]);
		}
		end = at + 1000;
	}
	assert_int_equal(devices_busy(d, 0, end), 599 * 100 + 50);
	assert_int_equal(devices_open(d, 0), 0);
	assert_int_equal(requests_busy_in_all(r, FASTER), 599 * 100 + 50);
	assert_int_equal(requests_busy(r, FASTER, 500050, 510050), 50 + 9 * 100 + 50);
	/* What is open counts, as long as nothing speaks against it. */
	issue(r, end, 5000, none);
	assert_int_equal(requests_busy(r, FASTER, end - 1000, end + 5000), 100 + 5000);
	devices_free(d);
	requests_free(r);
}

/* ---- how many are served at a time ---- */

struct queue {
	double free_at[8];
	int servers;
};

/* First come, first served; @takes each. */
static double served(struct queue *q, double now, double takes)
{
	int first = 0;

	for (int i = 1; i < q->servers; i++) {
		if (q->free_at[i] < q->free_at[first])
			first = i;
	}
	q->free_at[first] = fmax(q->free_at[first], now) + takes;
	return q->free_at[first];
}

static int by_time(const void *pa, const void *pb)
{
	const struct trace_event *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->type == TRACE_ISSUE) - (b->type == TRACE_ISSUE);
}

/* Bursts of 1 to @most requests, which take 100 us give or take @spread. */
static uint32_t told(int servers, int most, double spread)
{
	struct trace_event v[4000];
	struct devices *d = devices_create();
	struct queue q = { .servers = servers };
	uint32_t ret, n = 0;

	for (int burst = 0; n + most * 2 <= ARRAY_SIZE(v); burst++) {
		for (int i = 0; i < 1 + burst % most; i++) {
			double now = burst * 3e6 + i * 1e3;
			double takes = 1e5 * (1 + spread * sin(n));

			v[n] = (struct trace_event){
				.type = TRACE_ISSUE, .time = now, .stack = n, .other = 0
			};
			v[n + 1] = (struct trace_event){ .type = TRACE_COMPLETE,
							 .time = served(&q, now, takes),
							 .stack = n,
							 .other = 0 };
			n += 2;
		}
	}
	qsort(v, n, sizeof(*v), by_time);
	for (uint32_t i = 0; i < n; i++)
		devices_event(d, &v[i]);
	assert_int_equal(devices_count(d), 1);
	assert_true(devices_busy(d, 0, v[n - 1].time) > 0);
	assert_int_equal(devices_requests(d, 0), n / 2);
	assert_int_equal(devices_open(d, 0), 0);
	ret = devices_servers(d, 0);
	devices_free(d);
	return ret;
}

/* What a flush stands for is done without having been issued: it ends nothing else. */
static void test_not_issued(void **state)
{
	const struct trace_event v[] = {
		{ .time = 10, .type = TRACE_ISSUE, .stack = 1 },
		{ .time = 20, .type = TRACE_COMPLETE, .stack = 2 },
		{ .time = 50, .type = TRACE_COMPLETE, .stack = 1 },
		{ .time = 60, .type = TRACE_COMPLETE, .stack = 3 },
	};
	struct devices *d = devices_create();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		devices_event(d, &v[i]);
		assert_int_equal(devices_open(d, 0), i < 2);
		assert_int_equal(devices_busy(d, 0, v[i].time),
				 v[i].time < 50 ? v[i].time - 10 : 40);
	}
	assert_int_equal(devices_requests(d, 0), 1);
	devices_free(d);
}

/* Damaged recordings have requests of no device. */
static void test_of_no_device(void **state)
{
	struct requests *r = requests_create(lanes, ARRAY_SIZE(lanes), 1);
	struct trace_event e = { .time = 10, .type = TRACE_ISSUE, .other = TRACE_NONE };

	(void)state;
	requests_issued(r, &e, NULL);
	e = (struct trace_event){ .time = 20, .type = TRACE_COMPLETE, .other = TRACE_NONE };
	requests_completed(r, &e);
	assert_null(requests_ended(r, TRACE_NONE, 0));
	requests_free(r);
}

static size_t memory(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* What is kept of a device is made for those that were given something, not for their numbers. */
static void test_last_device(void **state)
{
	const struct trace_event e = { .time = 10,
				       .type = TRACE_ISSUE,
				       .other = TRACE_DEVICES_MOST - 1 };
	struct devices *d = devices_create();
	struct requests *r = requests_create(lanes, ARRAY_SIZE(lanes), 1);
	size_t before = memory();

	(void)state;
	devices_event(d, &e);
	requests_issued(r, &e, NULL);
	requests_servers(r, 1, devices_servers(d, 1));
	assert_true(memory() < before + (256 << 10));
	assert_int_equal(devices_open(d, e.other), 1);
	assert_int_equal(devices_open(d, 1), 0);
	assert_int_equal(devices_requests(d, 1), 0);
	assert_int_equal(requests_busy(r, replay_device_bit(1), 0, 20), 0);
	assert_int_equal(requests_busy(r, replay_device_bit(e.other), 0, 20), 10);
	devices_free(d);
	requests_free(r);
}

static void test_servers(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		double spread = k ? 0.5 : 0;

		assert_int_equal(told(1, 6, spread), 1);
		assert_int_equal(told(2, 6, spread), 2);
		assert_int_equal(told(4, 8, spread), 4);
		/* Never more than it serves: as many as come. */
		assert_true(told(8, 4, spread) == 4 || told(8, 4, spread) == 0);
		/* Never two at a time. */
		assert_int_equal(told(1, 1, spread), 0);
	}
}

/* ---- waits that others end ---- */

static void leave(struct replay *r, uint64_t time, uint32_t thread, enum trace_wait wait)
{
	replay_event(r, &(struct trace_event){ .time = time,
					       .type = TRACE_LEAVE,
					       .thread = thread,
					       .why = TRACE_BLOCKED,
					       .wait = wait });
}

static void wake(struct replay *r, uint64_t time, uint32_t thread, enum trace_by by, uint32_t other)
{
	replay_event(r, &(struct trace_event){ .time = time,
					       .type = TRACE_WAKE,
					       .thread = thread,
					       .by = by,
					       .other = other });
}

static void request(struct replay *r, uint64_t time, uint32_t thread, enum trace_type type)
{
	replay_event(
		r, &(struct trace_event){
			   .time = time, .type = type, .thread = thread, .other = 0, .stack = 5 });
}

/* It asks for something, computes for 40 of the target, and waits. */
static void test_overlapped(void **state)
{
	struct replay *r = replay_create(2, 1, lanes, ARRAY_SIZE(lanes), 0);

	(void)state;
	replay_ran(r, 0, 20, (const float[]){ 1, 0 }, NULL);
	request(r, 100, 0, TRACE_ISSUE);
	replay_ran(r, 0, 80, (const float[]){ 1, 0 }, NULL);
	leave(r, 180, 0, TRACE_WAIT_IO);
	request(r, 300, TRACE_NONE, TRACE_COMPLETE);
	wake(r, 300, 0, TRACE_BY_DEVICE, 0);
	assert_row(replay_earlier(r, 0), 10, 100, 100);
	replay_free(r);
}

/* A journal's thread of which nothing is recorded, and one that answers from outside. */
static void test_unknown(void **state)
{
	const struct replay_lane with_bound[] = {
		lanes[0], lanes[1], { 0, 0.5, REPLAY_BOUND, 0 }, { 0, 0, REPLAY_BOUND, 0 }
	};
	struct replay *r = replay_create(2, 1, with_bound, ARRAY_SIZE(with_bound), 0);

	(void)state;
	replay_ran(r, 0, 20, (const float[]){ 1, 0 }, NULL);
	leave(r, 100, 0, TRACE_WAIT_OTHER);
	request(r, 120, 1, TRACE_ISSUE);
	request(r, 220, TRACE_NONE, TRACE_COMPLETE);
	wake(r, 230, 0, TRACE_BY_THREAD, 1);
	assert_row(replay_earlier(r, 0), 10, 50, 10);
	leave(r, 300, 0, TRACE_WAIT_READ);
	wake(r, 400, 0, TRACE_BY_THREAD, 1);
	assert_row(replay_earlier(r, 0), 10, 50, 0);
	replay_free(r);
}

/*
 * A flush is a request of its own, which a worker of the kernel gives to the device some time
 * later. Of a device of which nothing was seen nothing is known but the wait.
 */
static void test_flush(void **state)
{
	struct replay *r = replay_create(2, 1, lanes, ARRAY_SIZE(lanes), 0);

	(void)state;
	leave(r, 100, 0, TRACE_WAIT_IO);
	wake(r, 200, 0, TRACE_BY_DEVICE, 0);
	assert_row(replay_earlier(r, 0), 0, 50, 50);
	leave(r, 1000, 0, TRACE_WAIT_IO);
	request(r, 1060, 1, TRACE_ISSUE);
	request(r, 1100, TRACE_NONE, TRACE_COMPLETE);
	wake(r, 1102, 0, TRACE_BY_DEVICE, 0);
	assert_row(replay_earlier(r, 0), 0, 50 + 20, 50 + 51);
	replay_free(r);
}

/* ---- programs ---- */

struct range {
	double mean;
	int n, inside;
};

static void judge(const struct sim_program *p, const struct sim_config *c, int how,
		  struct range *ret)
{
	for (int i = 0; i < 3; i++) {
		double speedup = (double[]){ 0.25, 0.5, 1 }[i];
		struct sim_replay x = replay_study(p, c, speedup, SECONDS, how);

		if (x.stuck)
			return;
		assert_true(x.zero == 0);
		ret->n++;
		ret->mean += fabs(x.middle - x.truth);
		ret->inside += x.truth > x.low - 1 && x.truth < x.high + 1;
	}
}

static struct range models(const char *part, int how)
{
	struct range ret = {};
	struct sim_program *p;
	struct sim_config c;

	assert_true(config_parse("wait", &c));
	for (int i = 0; (p = model_create(i, 1)); i++) {
		if (!strncmp(p->name, part, strlen(part)))
			judge(p, &c, how, &ret);
		program_free(p);
	}
	assert_true(ret.n >= 6);
	ret.mean /= ret.n;
	return ret;
}

static void test_disks(void **state)
{
	struct range r = models("disk:", SIM_NAMED);

	(void)state;
	if (r.mean > 1 || r.inside < 0.95 * r.n)
		fail_msg("mean error %.2f, %d of %d inside", r.mean, r.inside, r.n);
	r = models("io ", SIM_NAMED);
	if (r.mean > 1 || r.inside < r.n)
		fail_msg("mean error %.2f, %d of %d inside", r.mean, r.inside, r.n);
}

/* Through a thread of the kernel, which is recorded, or is not. */
static void test_sync(void **state)
{
	struct range r = models("sync:", SIM_NAMED);

	(void)state;
	if (r.mean > 4 || r.inside < 0.95 * r.n)
		fail_msg("mean error %.2f, %d of %d inside", r.mean, r.inside, r.n);
	r = models("sync:", SIM_NAMED | SIM_NO_KERNEL);
	if (r.mean > 5 || r.inside < 0.85 * r.n)
		fail_msg("unseen: mean error %.2f, %d of %d inside", r.mean, r.inside, r.n);
}

static void test_graphs(void **state)
{
	struct range r = {};
	struct sim_config c;

	(void)state;
	assert_true(config_parse("wait", &c));
	for (int i = 0; i < 60; i++) {
		struct sim_program *p = graph_create(1 + i, i % 2, 1);

		program_target_requests(p);
		judge(p, &c, SIM_NAMED, &r);
		program_free(p);
	}
	assert_true(r.n > 60);
	if (r.inside < 0.9 * r.n)
		fail_msg("%d of %d inside", r.inside, r.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_other_order),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_of_no_device),
		cmocka_unit_test(test_last_device),
		cmocka_unit_test(test_servers),
		cmocka_unit_test(test_not_issued),
		cmocka_unit_test(test_overlapped),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_disks),
		cmocka_unit_test(test_sync),
		cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_lost_is_not_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
