// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The CPU quota of a cgroup lets its tasks run for some time in each period of 0.1 s, say, and
 * keeps them from it until the next one begins. Delays do not shorten these pauses: stops are
 * charged to the quota and make them longer, and while G grows, periods begin by the clock on the
 * wall. But who needs less CPU time for a unit of work gets on with more of them before the pause:
 * where the quota is what holds the program up, the time for a unit is the CPU time it would need,
 * by the CPUs that the quota allows,
 *
 *     (ran - speedup * target_ran) / cpus
 *
 * and, where it would need less than it is allowed, what is left of its time without pauses,
 *
 *     wall - inserted - pauses
 *
 * whichever is longer. (Without either, 28 % was predicted where 47 were to be won, and -6 for 42:
 * docs/accuracy/weather.md, "CPU quotas".)
 *
 * That is so where the group holds what is profiled and nothing else: then it runs at 0 % for as
 * long as it may, which can be seen. With several groups, with others in it, for latencies, where
 * tasks spin while they wait (so that what they run is no measure of their work), and where the
 * quota does not bind yet but would, nothing is corrected, and all of it is doubted.
 */
#include "stats/quota.h"

#include <math.h>

#define MATTERS	       0.01 /* of the time */
#define ALONE	       0.07 /* from the quota, of it */
#define LEAST_SPINNING 0.02 /* of CPU time */

struct sums {
	double wall, ran, used, spun, pauses;
	double cpus; /* NAN: not the same in all windows */
};

/*
 * The kernel tells the sum over cores that had somebody to run: as many at once as run at other
 * times.
 */
static double pauses(const struct profile_window *w)
{
	double busy = w->ran_s + w->stopped_s + w->throttled_s;

	return busy > w->wall_s ? w->throttled_s * w->wall_s / busy : w->throttled_s;
}

static void add_window(struct sums *s, const struct profile_window *w)
{
	s->cpus = s->wall > 0 && s->cpus != w->quota_cpus ? NAN : w->quota_cpus;
	s->wall += w->wall_s;
	s->ran += w->ran_s;
	s->used += w->ran_s + w->stopped_s;
	s->spun += w->spun_s;
	s->pauses += pauses(w);
}

static double share(const struct sums *s)
{
	return s->wall > 0 ? s->pauses / s->wall : 0;
}

/* The CPU time that it would have needed; where samples have not told of the target, by what was
 * inserted. */
static double needed(const struct profile_window *w)
{
	bool told = w->target_ran_s + w->target_waited_s > 0;

	return w->ran_s - (told ? w->speedup * w->target_ran_s : w->inserted_s);
}

struct speedup {
	const struct profile_window *const *w;
	size_t n;
	const double *work, *scale;
	double cpus; /* that the profiled tasks are allowed */
	double at;
	/* Sums over its windows: time as it is, as the quota allows, and without pauses. */
	double measured, allowed, least;
};

static bool belongs(const struct speedup *s, size_t i)
{
	return s->work[i] > 0 && window_is_treated(s->w[i]) &&
	       fabs(s->w[i]->speedup - s->at) < 1e-6;
}

static double by_quota(const struct speedup *s, size_t i)
{
	return s->scale[i] * needed(s->w[i]) / s->cpus;
}

static double without_pauses(const struct speedup *s, size_t i)
{
	const struct profile_window *w = s->w[i];

	return s->scale[i] * (w->wall_s - w->inserted_s - pauses(w));
}

static void add_up(struct speedup *s, const double *time)
{
	s->measured = s->allowed = s->least = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (!belongs(s, i))
			continue;
		s->measured += time[i];
		s->allowed += by_quota(s, i);
		s->least += without_pauses(s, i);
	}
}

/* All windows of a speedup alike: by each one's own, noise would choose. */
static void correct(const struct speedup *s, double *time)
{
	for (size_t i = 0; i < s->n; i++) {
		double t = 0;

		if (belongs(s, i))
			t = s->allowed > s->least ? by_quota(s, i) : without_pauses(s, i);
		if (t > 0)
			time[i] = t;
	}
}

static bool is_first_of_its_speedup(const struct speedup *s, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (belongs(s, k))
			return false;
	}
	return true;
}

/* As if the quota held the program up by that share of its time, where it is about to. */
static double about_to_bind(struct speedup *s, const double *time)
{
	double most = 0;

	for (size_t i = 0; i < s->n; i++) {
		s->at = s->w[i]->speedup;
		if (!belongs(s, i) || !is_first_of_its_speedup(s, i))
			continue;
		add_up(s, time);
		if (s->allowed > 0)
			most = fmax(most, 1 - s->measured / s->allowed);
	}
	return most;
}

static void correct_all(struct speedup *s, double *time)
{
	for (size_t i = 0; i < s->n; i++) {
		s->at = s->w[i]->speedup;
		if (belongs(s, i) && is_first_of_its_speedup(s, i)) {
			add_up(s, time);
			correct(s, time);
		}
	}
	for (size_t i = 0; i < s->n; i++) {
		bool zero = !s->w[i]->real && !window_is_treated(s->w[i]);

		if (zero && s->work[i] > 0 && needed(s->w[i]) > 0)
			time[i] = by_quota(s, i);
	}
}

void quota_correct(const struct profile_window *const *w, size_t n, const double *work,
		   const double *scale, bool latency, double *time, struct quota_effect *ret)
{
	struct speedup s = { .w = w, .n = n, .work = work, .scale = scale };
	struct sums zero = { 0 }, treated = { 0 };
	bool binds, comparable;

	*ret = (struct quota_effect){ 0 };
	for (size_t i = 0; i < n; i++) {
		if (work[i] > 0 && !w[i]->real)
			add_window(window_is_treated(w[i]) ? &treated : &zero, w[i]);
	}
	if (zero.cpus == 0 && treated.cpus == 0 && !(zero.pauses + treated.pauses > 0))
		return;
	ret->throttled = fmax(share(&zero), share(&treated));
	binds = share(&zero) > MATTERS;
	comparable = zero.cpus > 0 && zero.cpus == treated.cpus && !latency &&
		     zero.spun <= LEAST_SPINNING * zero.ran;
	s.cpus = binds ? zero.used / zero.wall : zero.cpus;
	/* Who runs for longer than the group may is not in it, or not as a whole. */
	if (comparable && !binds && zero.used <= (1 + ALONE) * zero.cpus * zero.wall)
		ret->throttled = fmax(ret->throttled, about_to_bind(&s, time));
	if (ret->throttled <= MATTERS) {
		ret->throttled = 0;
		return;
	}
	ret->known = comparable && binds && fabs(s.cpus / zero.cpus - 1) < ALONE;
	if (ret->known)
		correct_all(&s, time);
}
