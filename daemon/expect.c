// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/expect.h"

#include <math.h>
#include <unistd.h>

#define RECORD_S   3.0 /* enough for a first ranking */
#define OF_RUN	   0.1 /* but no more of a run whose length is known, unless the warm-up is longer */
#define PATIENCE_S 3.0 /* for the replay, with the same limit before experiments */
#define LEAST_S	   0.1 /* less tells nothing */
#define TOLD	   5   /* targets, of those that something is expected of */

static double part_of_run(const struct options *o, double most_s)
{
	return o->duration > 0 ? fmin(OF_RUN * o->duration, most_s) : most_s;
}

static double enough_s(const struct options *o)
{
	return fmax(part_of_run(o, RECORD_S), o->warmup);
}

/* Likely and certain first. */
static int best_first(const void *pa, const void *pb)
{
	const struct expectation *a = *(const struct expectation *const *)pa;
	const struct expectation *b = *(const struct expectation *const *)pb;
	const struct profile_expectation *x = expectation_half(a), *y = expectation_half(b);
	double v = x ? profile_expectation_worth(x) : -INFINITY;
	double w = y ? profile_expectation_worth(y) : -INFINITY;

	return v != w ? (v > w ? -1 : 1) : strcmp(a->target, b->target);
}

static bool is_named(const struct session *s, const char *target)
{
	for (size_t i = 0; i < s->opt.n_targets; i++) {
		if (!strcmp(s->opt.targets[i].spec, target))
			return true;
	}
	return false;
}

/*
 * A line and the function that is all in it are one to the user: the line is told, or what he has
 * named.
 */
static bool is_told_otherwise(const struct session *s, const struct expectation *e)
{
	if (is_named(s, e->target))
		return false;
	if (e->kind == TARGET_LINE)
		return is_named(s, e->function);
	return e->kind == TARGET_FUNCTION && s->opt.granularity != GRANULARITY_FUNCTION &&
	       e->has_lines;
}

static const char *point_name(const struct session *s, uint32_t progress)
{
	return s->opt.end_to_end ? "end-to-end" : s->opt.points[progress].name;
}

static void tell_nothing(struct session *s)
{
	const struct expectations *e = s->expected;
	size_t n_points = options_progress(&s->opt), known = expectations_points_known(e, n_points);
	_cleanup_free_ char *of =
		known < n_points ? xasprintf(" (of %zu of %zu progress points)", known, n_points)
				 : xstrdup("");

	if (e->replay.seconds < LEAST_S)
		session_say(s, "expected",
			    "%.1f s: %.2f s were recorded of the beginning, too little to expect "
			    "anything",
			    session_elapsed_s(s), e->replay.seconds);
	else if (!known)
		session_say(s, "expected",
			    "%.1f s: a replay of the first %.1f s knows of no code by name, and "
			    "expects "
			    "nothing; experiments follow",
			    session_elapsed_s(s), e->replay.seconds);
	else
		session_say(
			s, "expected",
			"%.1f s: a replay of the first %.1f s expects no target that it knows to "
			"matter%s; experiments follow",
			session_elapsed_s(s), e->replay.seconds, of);
}

static void tell(struct session *s)
{
	const struct expectations *e = s->expected;
	const struct expectation **list = xcalloc(e->n + 1, sizeof(*list));
	bool many = options_progress(&s->opt) > 1;
	size_t n = 0;

	for (size_t i = 0; i < e->n; i++) {
		const struct profile_expectation *x = expectation_half(&e->list[i]);

		if (x && x->pct >= EXPECTATION_LEAST_PCT && !is_told_otherwise(s, &e->list[i]))
			list[n++] = &e->list[i];
	}
	qsort(list, n, sizeof(*list), best_first);
	if (n)
		session_say(
			s, "expected",
			"%.1f s: a replay of the first %.1f s expects, before any experiment and "
			"within bounds:",
			session_elapsed_s(s), e->replay.seconds);
	else
		tell_nothing(s);
	for (size_t i = 0; i < n && i < TOLD; i++) {
		const struct profile_expectation *x = expectation_half(list[i]);

		session_say(
			s, "expected",
			"  %s: saves %.1f %%, between %.1f and %.1f%s%s%s, were it %g %% faster",
			list[i]->target, x->pct, x->low, x->high,
			many ? ", of the time per \"" : "",
			many ? point_name(s, list[i]->progress) : "", many ? "\"" : "",
			100 * x->speedup);
	}
	free(list);
}

static struct profile_expected as_profile(const struct expectation *x)
{
	return (struct profile_expected){
		.target = x->target,
		.kind = target_kind_name(x->kind),
		.location = x->location,
		.function = x->function,
		.progress = x->progress,
		.share = x->share,
		.samples = x->samples,
		.at = (struct profile_expectation *)x->at,
		.n_at = x->n_at,
		.after = x->after,
	};
}

static bool put_list(struct session *s, const struct expectation *list, size_t n)
{
	struct error err = {};

	for (size_t i = 0; i < n; i++) {
		const struct profile_expected line = as_profile(&list[i]);

		if (profile_writer_expected(s->writer, &line, &err))
			return false;
	}
	return true;
}

static const struct profile_expected *all_as_profile(const struct expectation *list, size_t n)
{
	struct profile_expected *all = xcalloc(n + 1, sizeof(*all));

	for (size_t i = 0; i < n; i++)
		all[i] = as_profile(&list[i]);
	return all;
}

void expect_beside(const struct session *s, struct beside *b)
{
	const struct expectations *e = s->expected;

	if (!e)
		return;
	b->expected = all_as_profile(e->list, e->n);
	b->n_expected = e->n;
	b->next = all_as_profile(e->next, e->n_next);
	b->n_next = e->n_next;
	b->replay = &e->replay;
}

static bool put_awaited(struct session *s)
{
	const struct expectations *e = s->expected;
	struct error err = {};

	for (size_t i = 0; i < e->n_awaited; i++) {
		const struct awaited *a = &e->awaited[i];
		struct profile_waiter list[EXPECTED_WAITERS];

		for (size_t k = 0; k < a->n; k++)
			list[k] = (struct profile_waiter){ a->by[k].name, a->by[k].threads,
							   a->by[k].share, a->by[k].samples,
							   a->by[k].wait };
		if (profile_writer_waiters(s->writer,
					   &(struct profile_waiters){ .target = a->target,
								      .seconds = e->replay.seconds,
								      .list = list,
								      .n = a->n },
					   &err))
			return false;
	}
	return true;
}

/* An error here is one of the file, which the next line that is written meets, too. */
static void put(struct session *s)
{
	const struct expectations *e = s->expected;
	struct error err = {};

	if (!profile_writer_replay(s->writer, &e->replay, &err) && put_list(s, e->list, e->n) &&
	    put_list(s, e->next, e->n_next))
		put_awaited(s);
}

void expect_poll(struct session *s)
{
	struct expectations *e = s->expected ? NULL : prior_take(s->prior);

	if (!e)
		return;
	s->expected = e;
	points_pause_marks(s->points, false);
	put(s);
	if (*e->why)
		log_info("the replay of the beginning expects nothing: %s", e->why);
	else
		tell(s);
}

void expect_conclude(struct session *s)
{
	prior_conclude(s->prior);
	points_pause_marks(s->points, false);
}

bool expect_sleep(struct session *s, double seconds)
{
	uint64_t end = clock_now_ns() + seconds * NSEC_PER_SEC;
	bool goes_on = true;

	while (goes_on && clock_now_ns() < end) {
		goes_on = session_sleep(s, fmin(0.1, (end - clock_now_ns()) / 1e9));
		expect_poll(s);
	}
	return goes_on;
}

void expect_begin(struct session *s, int pid)
{
	prior_record(s->prior, pid);
	points_pause_marks(s->points, prior_records_marks(s->prior));
}

bool expect_record(struct session *s)
{
	uint64_t end;

	if (s->prior_waited || !prior_pending(s->prior))
		return true;
	s->prior_waited = true;
	while (prior_recorded(s->prior) < enough_s(&s->opt)) {
		if (!prior_recorded(s->prior)) /* it has not even begun */
			return true;
		if (!session_sleep(s, 0.05))
			return false;
		expect_poll(s);
		if (s->expected) /* it has given up */
			return true;
	}
	expect_conclude(s);
	end = clock_now_ns() + part_of_run(&s->opt, PATIENCE_S) * NSEC_PER_SEC;
	for (expect_poll(s); !s->expected && clock_now_ns() < end; expect_poll(s)) {
		if (!session_sleep(s, 0.02))
			return false;
	}
	return true;
}

void expect_end(struct session *s)
{
	uint64_t end = clock_now_ns() + PATIENCE_S * NSEC_PER_SEC;

	if (s->expected || !s->writer || !prior_pending(s->prior) || session_at_once)
		return;
	expect_conclude(s);
	for (expect_poll(s); !s->expected && clock_now_ns() < end && !session_at_once;
	     expect_poll(s))
		usleep(10000);
}
