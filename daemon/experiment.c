// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/expect.h"
#include "daemon/experiment.h"
#include "daemon/flaws.h"
#include "daemon/lease.h"
#include "daemon/live.h"
#include "daemon/precise.h"
#include "daemon/target_check.h"
#include "stats/stretch.h"

#include <math.h>

#define LOOK_S	     0.05 /* how long to look at what happens, at least */
#define SEEN_LIMIT_S 5	  /* how long to wait for where targets begin and end */
/* Windows from one in which all is stopped to the next, as long as it is open what they tell. */
#define CONTROL_OFTEN  6
#define CONTROL_SELDOM 32
/* So many of them, and they come half as often. */
#define CONTROL_HASTY	4
#define CONTROL_PATIENT 16

void experiment_choose_period(struct experiment *x, const struct happened *h)
{
	sampling_choose(&x->sampling, x->s, h, x->provisional);
	trials_set_period(x->trials, x->sampling.period_ns);
}

/* Without visits nothing is known of the work yet: then it is to be done again after the first. */
static int warm_up(struct experiment *x, double seconds, bool *visited)
{
	struct session *s = x->s;
	size_t n = points_count(s->points);
	_cleanup_free_ struct point_reading *before = xcalloc(n, sizeof(*before));
	struct engine_ledger a, b;
	uint64_t t0 = clock_now_ns();
	double busiest = 0;

	for (size_t i = 0; i < n; i++)
		points_read(s->points, i, &before[i]);
	engine_read_ledger(s->engine, &a);
	if (!expect_sleep(s, seconds))
		return -EINTR;
	engine_read_ledger(s->engine, &b);
	seconds = (clock_now_ns() - t0) / 1e9;
	for (size_t i = 0; i < n; i++) {
		struct point_reading r;

		points_read(s->points, i, &r);
		busiest = fmax(busiest, (r.visits - before[i].visits) / seconds);
	}
	x->provisional = session_elapsed_s(s) < SEEN_LIMIT_S && trials_may_be_seen(x->trials);
	experiment_choose_period(x, &(struct happened){ &a, &b, seconds, busiest,
							trials_are_seen(x->trials),
							targets_wait(&s->opt, s->engine) });
	*visited = busiest > 0;
	return 0;
}

/* A point that moves, how often, and the pause between visits that a random moment finds. */
struct pace {
	size_t point;
	double visits_per_s; /* 0: none moves */
	double pause_s;
};

/*
 * Of the point that says least in a given time. One that would want windows that are longer than
 * usual does not count where another point does without: reached once, it would take almost all of
 * the windows of the other one (what they then say of it is for the estimator to judge).
 */
static struct pace slowest_pace(struct session *s)
{
	struct pace ret = { 0 }, usual = { 0 };
	double slowest = INFINITY, slowest_usual = INFINITY;

	for (size_t i = 0; i < points_count(s->points); i++) {
		const struct point_reading *first = points_first(s->points, i);
		struct pace p = { i, 0, points_pause_s(s->points, i) };
		struct point_reading r;
		double rate;

		points_read(s->points, i, &r);
		p.visits_per_s = (r.visits - first->visits) / ((r.time - first->time) / 1e9);
		rate = window_visits_per_s(p.visits_per_s, p.pause_s);
		if (rate > 0 && rate < slowest) {
			slowest = rate;
			ret = p;
		}
		if (rate >= WINDOW_USUAL_PER_S && rate < slowest_usual) {
			slowest_usual = rate;
			usual = p;
		}
	}
	return isfinite(slowest_usual) ? usual : ret;
}

/* The point with most visits says most about whether the program had settled. */
static double log_period(const struct profile_window *w)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < w->n_progress; i++) {
		if (w->progress[i].visits > w->progress[best].visits)
			best = i;
	}
	return w->discard ? NAN : log(w->progress[best].virtual_s / w->progress[best].visits);
}

static struct window_length next_length(struct experiment *x, const struct pace *pace)
{
	struct window_length ret = window_tuner_next(x->tuner, pace->visits_per_s, pace->pause_s);

	x->slowest = pace->point;
	x->in_bursts = ret.paused;
	return ret;
}

static void tell_of_bursts(struct experiment *x, const struct pace *pace,
			   const struct window_length *length)
{
	struct session *s = x->s;
	const char *name = s->opt.points[pace->point].name;
	double left_s = s->opt.duration - session_elapsed_s(s);
	double least_s = EXPERIMENT_LEAST_WINDOWS * (length->settle_s + length->length_s);

	session_event(
		s, "bursts",
		"%s is reached in bursts, with pauses of about %.2g s: windows take %.2g s and "
		"begin after %.2g s from now on",
		name, pace->pause_s, length->length_s, length->settle_s);
	if (s->opt.duration > 0 && left_s < least_s)
		session_warn(s,
			     "windows that are long enough for the pauses of %s do not fit into "
			     "what is left of --duration %g: an answer needs about %.0f s more, or "
			     "a progress point that is reached more evenly, or smaller pieces of "
			     "work",
			     name, s->opt.duration, ceil(least_s - left_s));
}

static int measure_trial(struct experiment *x, const struct plan_window *what,
			 const struct pace *pace)
{
	struct window_length length = next_length(x, pace);
	struct profile_window w[WINDOW_MAX_HOLD];
	size_t n;
	int ret;

	x->length = (struct window_length){};
	windows_all(x->windows, &n);
	if (length.bursts && !n) { /* seen while it warmed up: nothing was too short */
		tell_of_bursts(x, pace, &length);
	} else if (length.bursts && windows_often_empty(x->windows)) {
		tell_of_bursts(x, pace, &length);
		windows_discard_all(x->windows, DISCARD_BURSTS);
		x->next_control = 0;
		return 0; /* the plan begins anew */
	}
	ret = windows_hold(x->windows, what, &length, w);
	x->length = length;
	if (ret || length.hold == 1)
		return ret;
	/* A real speedup changes the program as a virtual one does, but they are not the same. */
	if (window_tuner_held(x->tuner, what->real ? -what->speedup : what->speedup,
			      log_period(&w[length.hold - 1]) - log_period(&w[0]))) {
		length = next_length(x, pace);
		session_event(
			x->s, "unsettled",
			"the program had not settled when windows began: they take %.2f s and "
			"begin after %.2f s from now on",
			length.length_s, length.settle_s);
		windows_discard_all(x->windows, DISCARD_UNSETTLED);
		x->next_control = 0;
	}
	return 0;
}

/* What windows in which all was stopped tell so far, of all progress points that move. */
struct clocks {
	size_t controls;
	bool known;    /* of each whether it goes by a clock */
	bool unjudged; /* of some nothing: it has no verdict before that is told */
};

static struct clocks look_at_clocks(const struct experiment *x)
{
	struct clocks c = { .known = true };
	size_t n;
	const struct profile_window *w = windows_all(x->windows, &n);

	for (size_t i = 0; i < points_count(x->s->points); i++) {
		struct stretch s = stretch_estimate(w, n, i);

		c.controls = s.windows > c.controls ? s.windows : c.controls;
		c.known &= !s.moves || !stretch_is_open(&s, STRETCH_NEARLY);
		c.unjudged |= s.moves && stretch_is_unjudged(&s);
	}
	return c;
}

/*
 * Does it go by a clock? Asked between the others, seldomer with time, and as soon as it is clear;
 * only slowly so where verdicts wait for it.
 */
static int look_for_clock(struct experiment *x, const struct plan_window *what)
{
	struct clocks c;
	size_t n;
	int ret;

	windows_all(x->windows, &n);
	if (what->speedup > 0 || n < x->next_control || !(x->length.length_s > 0))
		return 0;
	c = look_at_clocks(x);
	if (c.known)
		x->next_control = n + CONTROL_SELDOM;
	else
		x->next_control =
			n + fmin(CONTROL_OFTEN * (1 + c.controls / (c.unjudged ? CONTROL_PATIENT
									       : CONTROL_HASTY)),
				 CONTROL_SELDOM);
	ret = windows_hold_control(x->windows, what->target, &x->length);
	if (ret == -ENOTSUP)
		x->next_control = SIZE_MAX;
	return ret == -ENOTSUP ? 0 : ret;
}

int experiment_run(struct experiment *x, struct error *err)
{
	struct session *s = x->s;
	bool visited = false;
	double warm_up_s = s->opt.warmup > 0 ? s->opt.warmup : LOOK_S;
	int ret = warm_up(x, warm_up_s, &visited);

	if (ret)
		return 0; /* the run is over */
	if (!s->lease)
		ret = lease_start(s->engine, &s->cores, &s->lease, err);

	trials_interrupt(x->trials);
	while (!ret) {
		enum plan_answer answer = PLAN_WAIT;
		struct plan_window what;
		struct pace pace;

		lease_beat(s->lease);
		session_look_for_marks(s);
		if (!session_repair(s, err))
			log_warn("%s", err->text);
		expect_poll(s);
		flaws_look(s);
		pace = slowest_pace(s);
		if (pace.visits_per_s > 0 && !visited) {
			ret = warm_up(x, warm_up_s, &visited) ? -EINTR : 0;
			visited = true;
			continue;
		}
		if (pace.visits_per_s > 0 && !expect_record(s))
			break;
		if (pace.visits_per_s > 0)
			answer = trials_next(x->trials, &what);
		if (answer == PLAN_PRECISE &&
		    precise_goes_on(s, x->trials, x->windows, &x->precise_s))
			continue;
		if (answer == PLAN_PRECISE) {
			s->end = END_PRECISION;
			return 0;
		}
		if (answer == PLAN_WAIT) {
			if (trials_are_over(x->trials))
				return 0;
			live_waits(s, visited ? "waiting for a target to be seen"
					      : "waiting for a progress point to be reached");
			ret = session_sleep(s, 0.1) ? 0 : -EINTR;
			continue;
		}
		ret = trials_select(x->trials, what.target, err);
		if (ret == -EAGAIN) {
			log_debug("%s", err->text);
			trials_retry(x->trials, what.target);
			ret = 0;
			continue;
		}
		if (ret == -ENOENT && trials_postpone(x->trials, what.target, err->text)) {
			log_debug("%s", err->text);
			ret = 0;
			continue;
		}
		if (ret == -ENOSPC || ret == -EIO)
			return ret;
		if (ret) {
			trials_break(x->trials, what.target, err->text);
			ret = 0;
			continue;
		}
		if (x->provisional && visited &&
		    (session_elapsed_s(s) >= SEEN_LIMIT_S || !trials_may_be_seen(x->trials)) &&
		    warm_up(x, LOOK_S, &visited))
			break;
		ret = session_await_chains(s) ? measure_trial(x, &what, &pace) : -EINTR;
		if (!ret)
			ret = look_for_clock(x, &what);
		trials_rest(x->trials, what.target);
	}
	return ret == -EINTR ? 0 : ret;
}
