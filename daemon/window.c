// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One speedup, held for one or more windows: let debts be paid and queues refill, then measure from
 * progress visit to progress visit in virtual time (docs/accounting.md 3a, "Windows"). The virtual
 * time of a visit is its time less what its core had absorbed; for marks, which the program counts
 * by itself, it is the time less G at the moment when the count is seen to move.
 */
#include "daemon/window.h"

#include "daemon/boundaries.h"
#include "daemon/flaws.h"
#include "daemon/lease.h"
#include "daemon/quotas.h"
#include "daemon/truth.h"

#include <math.h>
#include <unistd.h>

#define EDGE_POLL_US	100
#define EDGE_MIN_S	0.05 /* how long to wait for a visit at an edge: two at the usual rate, ... */
#define EDGE_MAX_S	1    /* ... within these limits */
#define MAX_OLD_DEBT_NS (5 * NSEC_PER_MSEC)
#define SETTLE_LIMIT_S	1
#define MAX_UNPAID	0.05  /* debt at the end, of the window: --max-share does not suffice */
#define MAX_LAPSED	0.05  /* without a lease, of the window: a part of it was not treated */
#define MAX_CLIPPED	0.002 /* of the ticks */
#define MAX_VISITS	1e15
#define CONTROL_DELAY	0.25 /* of the time that is left */
#define EMPTY_SHARE \
	0.2	  /* a program that stands still now and then leaves fewer windows without visits */
#define SEQ_GAP 8 /* windows of different runs of the command are no neighbours */

struct windows {
	struct session *s;
	struct trials *trials;
	const struct sampling *sampling;
	struct profile_window *list;
	size_t n, cap;
	size_t judged; /* the first since all were discarded */
	uint32_t seq, units;
	atomic_bool useful;
};

struct windows *windows_create(struct session *s, struct trials *trials,
			       const struct sampling *sampling)
{
	struct windows *l = xcalloc(1, sizeof(*l));

	l->s = s;
	l->trials = trials;
	l->sampling = sampling;
	return l;
}

void windows_destroy(struct windows *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++)
		free(l->list[i].progress);
	free(l->list);
	free(l);
}

void windows_next_run(struct windows *l)
{
	l->seq += SEQ_GAP;
}

const struct profile_window *windows_all(const struct windows *l, size_t *n)
{
	*n = l->n;
	return l->list;
}

bool windows_often_empty(const struct windows *l)
{
	size_t empty = 0;

	for (size_t i = l->judged; i < l->n; i++)
		empty += l->list[i].discard == DISCARD_FEW_VISITS;
	return empty > EMPTY_SHARE * (l->n - l->judged);
}

uint32_t windows_units(const struct windows *l)
{
	return l->units;
}

static struct live live_of(const struct windows *l, int target)
{
	return (struct live){ l->s, l->trials, l->list, l->n, l->units, target };
}

char *windows_conclusion(const struct windows *l)
{
	struct live live = live_of(l, 0);

	return live_conclusion(&live);
}

bool windows_awaited(const struct windows *l, struct awaited_verdict *ret)
{
	struct live live = live_of(l, 0);

	return live_awaited(&live, ret);
}

bool windows_are_useful(const struct windows *l)
{
	return l->useful;
}

struct edge {
	struct point_reading reading;
	double virtual_s;
};

static void read_edges(struct session *s, struct edge *edges, double limit_s)
{
	size_t n = points_count(s->points), open = 0;
	uint64_t limit = clock_now_ns() + limit_s * NSEC_PER_SEC;

	for (size_t i = 0; i < n; i++) {
		points_read_edge(s->points, i, &edges[i].reading);
		edges[i].virtual_s = edges[i].reading.latest_virtual / 1e9;
		open += !edges[i].reading.latest_virtual;
	}
	while (open && clock_now_ns() < limit && !session_at_once) {
		lease_beat(s->lease);
		usleep(EDGE_POLL_US);
		for (size_t i = 0; i < n; i++) {
			struct point_reading r;

			if (edges[i].virtual_s != 0)
				continue;
			points_read(s->points, i, &r);
			if (r.visits == edges[i].reading.visits)
				continue;
			points_read_edge(s->points, i, &r);
			edges[i].reading = r;
			edges[i].virtual_s = (r.time - engine_delay(s->engine)) / 1e9;
			open--;
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (edges[i].virtual_s == 0)
			edges[i].virtual_s =
				(edges[i].reading.time - engine_delay(s->engine)) / 1e9;
	}
}

/* The largest debt of a core that is not idle, ns. */
static int64_t largest_debt(const struct session *s)
{
	int64_t delay = engine_delay(s->engine), largest = 0;

	for (int i = 0; i < s->cores.n; i++) {
		struct scoz_core c = engine_core(s->engine, i);
		int64_t debt = delay - c.absorbed;

		if (!c.idle && debt > largest)
			largest = debt;
	}
	return largest;
}

/*
 * A core that cannot keep up with its debt falls behind more and more; one that has just been woken
 * pays what it brought and is done. So: the smallest of a few looks.
 */
static int64_t lasting_debt(const struct session *s)
{
	int64_t least = INT64_MAX;

	for (int i = 0; i < 4; i++) {
		int64_t debt = largest_debt(s);

		lease_beat(s->lease);

		if (debt < least)
			least = debt;
		if (least <= 0)
			break;
		usleep(3000);
	}
	return least;
}

/*
 * Debts of the window before may take longer than the settling time: stops are bounded. False when
 * the run is over.
 */
static bool debts_settle(struct session *s)
{
	uint64_t limit = clock_now_ns() + SETTLE_LIMIT_S * NSEC_PER_SEC;

	while (largest_debt(s) > (int64_t)MAX_OLD_DEBT_NS && clock_now_ns() < limit) {
		if (!session_sleep(s, 0.02))
			return false;
	}
	return true;
}

/*
 * What happened to the sampling makes the window worthless. Stolen time does not: it explains next
 * to nothing of how windows differ, and where the host takes a third of the time, to discard for it
 * is to throw away the data and to keep the noise (lib/stats/control_variate.c has what does
 * explain it).
 */
static enum discard disturbance(const struct engine_ledger *a, const struct engine_ledger *b,
				bool records_lost)
{
	if (records_lost) /* where the target lies may be among them */
		return DISCARD_LOST;
	if (b->clipped - a->clipped > MAX_CLIPPED * (b->ticks - a->ticks) + 1)
		return DISCARD_LOST;
	return KEPT;
}

/* Windows with few visits count: to leave out the slow ones would be to choose by the result. */
static enum discard bad_visits(const struct profile_window *w)
{
	bool visited = false;

	for (uint32_t i = 0; i < w->n_progress; i++) {
		if (w->progress[i].visits > MAX_VISITS || w->progress[i].virtual_s < 0)
			return DISCARD_CLOCK; /* a counter went backwards */
		visited |= w->progress[i].visits > 0;
	}
	return visited ? KEPT : DISCARD_FEW_VISITS;
}

bool window_set_speedup(struct session *s, const struct plan_window *what)
{
	bool virtual = !what->real && what->speedup > 0, set;

	/* A write may wait for a disk: nobody is stopped meanwhile. */
	engine_set_speedup(s->engine, 0);
	set = truth_set(s->truth, what->real ? lround(what->speedup * 100) : 0);
	lease_beat(s->lease);
	if (virtual)
		engine_set_speedup(s->engine, what->speedup);
	return set;
}

void window_discard(struct profile_window *w, enum discard why)
{
	if (!w->discard)
		w->discard = why;
}

void window_watch_begin(struct session *s, struct window_watch *watch)
{
	machine_read(&s->cores, NULL, &watch->machine);
	handlers_speed(s->handlers, -1, &watch->speed_sum, &watch->speeds);
	watch->quota = quotas_begin(s);
	watch->lost = session_lost(s);
	watch->probes_ns = flaws_probes_ns(s);
	watch->lapsed_ns = lease_lapsed_ns(s->lease);
	engine_read_ledger(s->engine, &watch->before);
	watch->start_ns = clock_now_ns();
}

void window_watch_end(struct session *s, struct window_watch *watch, struct profile_window *w)
{
	const struct engine_ledger *a = &watch->before, *b = &watch->after;
	struct machine_times machine;
	struct cpu_quota quota;
	uint64_t speed_sum, speeds;

	w->cores = s->cores.n;
	w->wall_s = (clock_now_ns() - watch->start_ns) / 1e9;
	engine_read_ledger(s->engine, &watch->after);
	w->start_s = (watch->start_ns - s->start_ns) / 1e9;
	w->inserted_s = (b->delay - a->delay) / 1e9;
	w->external_s = (b->external_waited - a->external_waited) / 1e9;
	w->shared_s = (b->shared - a->shared) / 1e9;
	w->urgent_s = (b->urgent - a->urgent) / 1e9;
	w->queued_s = (b->queued - a->queued) / 1e9;
	w->woken_s = (b->woken - a->woken) / 1e9;
	w->polled_s = (b->polled - a->polled) / 1e9;
	w->crowded_s = (b->crowded - a->crowded) / 1e9 / s->cores.n;
	w->absolute_waits = b->absolute_waits - a->absolute_waits;
	w->external_waits = b->external_waits - a->external_waits;
	w->hits = b->hits - a->hits;
	w->others_hits = b->others_hits - a->others_hits;
	w->ran_s = (b->ran - a->ran) / 1e9;
	w->target_ran_s = (b->target_ran - a->target_ran) / 1e9;
	if (!s->opt.end_to_end && !points_have_marks(s->points)) { /* visits are seen */
		w->target_alone_s = (b->target_alone - a->target_alone) / 1e9;
		w->related_s = (b->related - a->related) / 1e9;
	}
	w->target_waited_s = (b->target_waited - a->target_waited) / 1e9;
	w->waits_sped = engine_speeds_waits(s->engine);
	w->hits_seen = engine_sees_hits(s->engine);
	w->spun_s = (b->busy_waited - a->busy_waited) / 1e9;
	w->spun_first_s = (b->busy_waited_first - a->busy_waited_first) / 1e9;
	w->syncs = b->syncs - a->syncs;
	machine_read(&s->cores, NULL, &machine);
	handlers_speed(s->handlers, -1, &speed_sum, &speeds);
	w->stolen_s = machine.stolen - watch->machine.stolen;
	quota = quotas_read(s);
	w->throttled_s = quota.throttled_s - watch->quota.throttled_s;
	w->quota_cpus = quota.cpus;
	w->busy_s = machine.busy - watch->machine.busy;
	w->stopped_s = (b->stopped - a->stopped) / 1e9;
	w->ticks = b->ticks - a->ticks;
	if (speeds > watch->speeds)
		w->work_ns = (double)(speed_sum - watch->speed_sum) / (speeds - watch->speeds);
	/*
	 * Windows without a speedup as well: whatever keeps the lease from being renewed keeps the
	 * program from its work, and what is compared must be alike.
	 */
	if (lease_lapsed_ns(s->lease) - watch->lapsed_ns > MAX_LAPSED * w->wall_s * 1e9)
		window_discard(w, DISCARD_STALLED);
	window_discard(w, disturbance(a, b, session_lost(s) != watch->lost));
	if (window_is_treated(w) && w->waits_sped &&
	    b->unpaid - a->unpaid > MAX_UNPAID * w->wall_s * 1e9)
		window_discard(w, DISCARD_CAPPED);
}

double window_flaws_pp(const struct session *s, const struct window_watch *watch,
		       const struct profile_window *w)
{
	double calls = watch->after.target_calls - watch->before.target_calls;
	double probes_s = (flaws_probes_ns(s) - watch->probes_ns) / 1e9, ret;

	ret = flaws_probes_pp(probes_s, w->wall_s, w->ran_s) + flaws_elsewhere_pp(&watch->after);
	if (w->hits_seen && w->ran_s > 0)
		ret += BOUNDARIES_SHARE_PP * BOUNDARIES_COST_NS / 1e9 * calls / w->ran_s;
	return ret;
}

static int keep(struct windows *l, int target, struct profile_window *w)
{
	struct session *s = l->s;
	struct error err = {};
	int ret;

	w->run = profile_writer_run(s->writer);
	w->seq = l->seq++;
	w->target = trials_get(l->trials, target)->id;
	ret = profile_writer_window(s->writer, w, &err);
	if (ret) {
		log_warn("%s", err.text);
		session_interrupted = true;
		s->end = END_OUTPUT_FAILED;
	}
	array_reserve(l->list, l->cap, l->n + 1);
	l->list[l->n++] = *w;
	return ret;
}

int windows_record_control(struct windows *l, int target, struct profile_window *w)
{
	window_discard(w, DISCARD_CONTROL);
	w->hits = w->others_hits = 0; /* of no target */
	return keep(l, target, w);
}

int windows_record(struct windows *l, int target, struct profile_window *w, bool more)
{
	int ret = keep(l, target, w);
	struct live live;

	trials_record(l->trials, target, w, more);
	if (!w->discard && window_is_treated(w)) {
		l->units++;
		l->useful |= w->hits > 0;
	}
	live = live_of(l, target);
	live_window(&live);
	return ret;
}

static bool measure(struct windows *l, const struct plan_window *what,
		    const struct window_length *length, struct profile_window *w)
{
	/* A settling time is several visits long. */
	double limit_s = fmin(fmax(length->settle_s / 2, EDGE_MIN_S), EDGE_MAX_S);
	struct session *s = l->s;
	size_t n = points_count(s->points);
	_cleanup_free_ struct edge *a = xcalloc(n, sizeof(*a)), *b = xcalloc(n, sizeof(*b));
	struct window_watch watch;
	double busiest = 0, inflight;
	int64_t behind;

	*w = (struct profile_window){ .speedup = what->speedup, .real = what->real };
	window_watch_begin(s, &watch);
	read_edges(s, a, limit_s);
	if (!session_sleep(s, length->length_s))
		return false;
	behind = lasting_debt(s);
	read_edges(s, b, limit_s);
	window_watch_end(s, &watch, w);

	w->n_progress = n;
	w->progress = xcalloc(n, sizeof(*w->progress));
	for (size_t i = 0; i < n; i++) {
		struct window_progress *p = &w->progress[i];

		p->visits = b[i].reading.visits - a[i].reading.visits;
		p->virtual_s = b[i].virtual_s - a[i].virtual_s;
		if (p->virtual_s > 0)
			busiest = fmax(busiest, p->visits / p->virtual_s);
		if (!s->opt.points[i].latency)
			continue;
		inflight = points_inflight(s->points, i, &a[i].reading, &b[i].reading);
		if (inflight >= 0)
			p->inflight = inflight;
		else
			window_discard(w, DISCARD_TORN);
	}
	w->expected_pp = sampling_expected_pp(
		l->sampling, s,
		&(struct happened){ &watch.before, &watch.after, w->wall_s, busiest, window_seen(w),
				    window_waits(w) });
	w->flaws_pp = window_flaws_pp(s, &watch, w);
	w->expected_pp += w->flaws_pp;
	if (behind > MAX_UNPAID * w->wall_s * 1e9)
		window_discard(w, DISCARD_CAPPED);
	window_discard(w, bad_visits(w));
	return true;
}

/* False when the run is over. */
static bool settle(struct session *s, const struct window_length *length)
{
	return session_sleep(s, length->settle_s) && debts_settle(s);
}

int windows_hold(struct windows *l, const struct plan_window *what,
		 const struct window_length *length, struct profile_window *w)
{
	struct session *s = l->s;
	struct engine_ledger now;
	bool set, trusted;
	uint32_t n = 0;
	int ret = 0;

	quotas_look(s);
	set = window_set_speedup(s, what);
	engine_forget_sleepers(s->engine);
	s->in_window = true;
	if (settle(s, length)) {
		while (n < length->hold && measure(l, what, length, &w[n]))
			n++;
	}
	/* Writing and showing the windows may take its time: nobody is stopped meanwhile. */
	engine_set_speedup(s->engine, 0);
	s->in_window = false;
	trusted = trials_trust(l->trials, what->target);
	for (uint32_t i = 0; i < n; i++) {
		int err;

		if (!trusted)
			window_discard(&w[i], DISCARD_LOST);
		if (!set)
			window_discard(&w[i], DISCARD_TRUTH);
		err = windows_record(l, what->target, &w[i], i > 0);
		ret = ret ? ret : err;
	}
	engine_read_ledger(s->engine, &now);
	flaws_tell(s, &now);
	return ret || n == length->hold ? ret : -EINTR;
}

/*
 * With which about a fifth of the time goes into stops where everything profiled is a hit: by the
 * tasks that run at a time, in the last window without a speedup.
 */
static double control_speedup(const struct windows *l)
{
	for (size_t i = l->n; i-- > 0;) {
		const struct profile_window *w = &l->list[i];

		if (w->speedup < 1e-9 && !w->discard && w->wall_s > 0)
			return CONTROL_DELAY / fmax(w->ran_s / w->wall_s, CONTROL_DELAY);
	}
	return CONTROL_DELAY;
}

bool windows_stop_all(struct windows *l)
{
	if (!engine_set_control(l->s->engine, true))
		return false;
	engine_set_speedup(l->s->engine, control_speedup(l));
	return true;
}

void windows_go_on(struct windows *l)
{
	engine_set_speedup(l->s->engine, 0);
	engine_set_control(l->s->engine, false);
}

int windows_hold_control(struct windows *l, int target, const struct window_length *length)
{
	struct session *s = l->s;
	struct profile_window w;
	bool measured;

	if (!windows_stop_all(l))
		return -ENOTSUP;
	engine_forget_sleepers(s->engine);
	s->in_window = true;
	measured = settle(s, length) && measure(l, &(struct plan_window){}, length, &w);
	windows_go_on(l);
	s->in_window = false;
	return measured ? windows_record_control(l, target, &w) : -EINTR;
}

void windows_discard_all(struct windows *l, enum discard why)
{
	struct error err = {};

	for (size_t i = 0; i < l->n; i++) {
		if (l->list[i].run == profile_writer_run(l->s->writer))
			window_discard(&l->list[i], why);
	}
	l->judged = l->n;
	l->seq += SEQ_GAP; /* nor are they neighbours of what comes */
	l->units = 0;
	l->useful = false;
	trials_forget(l->trials);
	if (profile_writer_discard(l->s->writer, l->seq, why, &err))
		log_warn("%s", err.text);
}
