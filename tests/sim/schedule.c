// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who runs where: per-core queues in fair order (least run time first), slices, wake-up
 * preemption, idle cores that look for work elsewhere, and a balancer; and what the accounting
 * does when tasks are switched, block and are woken (lib/engine/bpf/sched.bpf.h).
 */
#include "machine_internal.h"

#include "base/base.h"

#define WAKE_UP_GRANULARITY SIM_MS

bool core_is_idle(const struct sim *s, int c)
{
	return s->core[c].cur == NOBODY && !s->core[c].waking;
}

static int load(const struct sim *s, int c)
{
	return s->core[c].ready.n + (s->core[c].cur != NOBODY);
}

/* Core model as published: a core with debt takes no tasks. */
static bool eligible(const struct sim *s, int c)
{
	return !s->o.exclude || s->o.model != SCOZ_MODEL_CORE || core_debt(s, c) <= 0;
}

static int place(const struct sim *s, const struct task *t)
{
	int best = t->core;

	if (t->spec->pinned >= 0)
		return t->spec->pinned;
	for (int i = 0; s->n_idle && i < s->n_cores; i++) {
		int c = (t->core + i) % s->n_cores;

		if (core_is_idle(s, c) && eligible(s, c))
			return c;
	}
	for (int i = 1; i < s->n_cores && i < 16; i++) {
		int c = (t->core + i) % s->n_cores;

		if (eligible(s, c) && load(s, c) < load(s, best))
			best = c;
	}
	return best;
}

static void enqueue(struct sim *s, int t, int c)
{
	struct task *x = &s->task[t];
	struct core *k = &s->core[c];

	if (x->core != c)
		x->fair += k->fair_floor - s->core[x->core].fair_floor;
	if (x->fair < k->fair_floor - s->o.slice)
		x->fair = k->fair_floor - s->o.slice;
	x->core = c;
	x->state = TASK_READY;
	if (!is_apart(s, x) && !x->use.wants) {
		struct core *last = &s->core[x->use.cpu];

		last->use.wanted += scoz_use_queue(&last->use, &x->use, s->delay);
	}
	list_push(&k->ready, t);
	s->n_ready++;
	core_crowded(s, c);
}

static int dequeue(struct sim *s, int c, int i)
{
	int t = s->core[c].ready.v[i];

	list_remove(&s->core[c].ready, i);
	s->n_ready--;
	core_crowded(s, c);
	return t;
}

/* Is @a rather to run than @b? */
static bool before(const struct task *a, const struct task *b)
{
	if (a->spec->urgent || b->spec->urgent)
		return a->spec->urgent && !b->spec->urgent;
	return a->fair < b->fair;
}

static int fairest(const struct sim *s, int c)
{
	const struct list *l = &s->core[c].ready;
	int best = 0;

	for (int i = 1; i < l->n; i++) {
		if (before(&s->task[l->v[i]], &s->task[l->v[best]]))
			best = i;
	}
	return best;
}

/* ---- switching ---- */

/* The current task has waited in the target. */
static void end_hit_wait(struct sim *s, int c, const struct scoz_arrival *arrival)
{
	struct task *x = &s->task[s->core[c].cur];
	int64_t d = x->wait_hit, others = 0;

	x->wait_hit = 0;
	x->waited_in_target = false;
	if (s->o.control) /* only what runs is a hit */
		return;
	if (x->wait_device) {
		others = x->wait_device->booked - x->wait_booked;
		scoz_device_hit(x->wait_device, d);
	}
	scoz_wait_hit(&s->core[c].account, arrival, d, others, x->wait_limit, s->delay + d);
	add_delay(s, d);
}

/* Nobody runs on core @c, or a thread of the kernel. */
static bool is_free(const struct sim *s, int c)
{
	const struct core *k = &s->core[c];

	return k->cur == NOBODY ? !k->waking : is_server(s, &s->task[k->cur]);
}

/* Core @c, that is about to run @x, has rested while sinks and threads of the kernel ran there. */
static void rest(struct sim *s, int c, const struct task *x, bool exchange)
{
	struct core *k = &s->core[c], *other = NULL;
	int64_t mine = scoz_rested(&k->account, k->left, s->now), most = mine;
	int64_t task = scoz_task_arrives(&k->account, &x->account, s->now);
	int64_t wanted = scoz_min(s->delay, task) + x->wait_hit;

	for (int i = 0; exchange && x->spec->pinned < 0 && most < wanted && i < s->n_cores; i++) {
		int64_t rested = scoz_rested(&s->core[i].account, s->core[i].left, s->now);

		if (i != c && is_free(s, i) && rested > most) {
			other = &s->core[i];
			most = rested;
		}
	}
	k->left = most - s->now;
	scoz_core_rests(&k->account, &x->account, most, s->delay, s->now);
	if (!other)
		return;
	other->left = mine - s->now;
	scoz_core_rests(&other->account, NULL, mine, s->delay, s->now);
}

static void switch_in(struct sim *s, int c, int t)
{
	struct core *k = &s->core[c];
	struct task *x = &s->task[t];
	struct scoz_arrival arrival;
	int64_t spared = 0;

	if (s->o.taken && s->speedup && !is_apart(s, x) && !is_sink(s, x)) {
		uint64_t behind = scoz_use_behind(&k->use, &x->use, x->account.since, s->now);

		spared = scoz_use_spared(&x->use, x->account.absorbed, x->account.since, behind);
		if (x->waited_in_target) {
			x->wait_hit += scoz_wait_inserts(behind, s->speedup);
			x->wait_limit += behind;
		}
	}
	if (!is_apart(s, x)) {
		int from = x->use.cpu;

		if (s->o.share)
			x->account.since +=
				scoz_use_kept(&k->use, &s->core[from].use, &x->use, t + 1,
					      s->now - x->account.since, s->delay, s->now);
		s->core[from].use.wanted -= scoz_use_run(&x->use, c);
		scoz_use_given_back(&s->core[from].use, t + 1);
	}
	scoz_use_in(&k->use, is_apart(s, x), x->spec->urgent, s->now);
	k->cur = t;
	trace_enters(s, c);
	k->ran = 0;
	k->resched = false;
	k->segment++;
	x->state = TASK_RUNNING;
	if (x->fair > k->fair_floor && !x->spec->urgent)
		k->fair_floor = x->fair;
	scoz_run_begin(&k->account, s->now);
	if (k->account.idle)
		scoz_clock_busy(&k->clock, &k->account, s->now);
	scoz_spread_in(&x->spread, &k->account, s->now);
	if (!is_apart(s, x) && s->o.model == SCOZ_MODEL_WAIT)
		rest(s, c, x, s->servers && s->o.exchange);
	if (x->external && is_sink(s, x))
		scoz_sink_runs(&x->account, s->delay);
	if (x->waited_in_target && s->speedup) {
		scoz_arrive(&k->account, &x->account, s->o.share ? k->left + s->now : 0, s->delay,
			    s->now, &arrival);
		end_hit_wait(s, c, &arrival);
	} else {
		scoz_switch_in(&k->account, is_server(s, x) ? NULL : &x->account, s->delay, s->now,
			       s->o.model);
	}
	if (spared) {
		s->shared += scoz_use_insert(&k->use, &k->account, spared);
		insert_delay(s, spared);
	}
	k->segment_began = s->now;
	event_add(&s->events, s->now + s->o.slice, EV_SLICE, c, ++k->slice);
	if (core_pay(s, c, STOP_SWITCH))
		return;
	if (x->rem == 0)
		operations_run(s, c);
	else
		core_resume(s, c);
}

/* An idle core takes a task from where most are waiting. */
static bool pull(struct sim *s, int c)
{
	int from = NOBODY;

	if (!s->n_ready || !eligible(s, c))
		return false;
	for (int i = 1; i < s->n_cores; i++) {
		int o = (c + i) % s->n_cores;

		/* The first task of a core that wakes up is on its way there. */
		if (s->core[o].ready.n > s->core[o].waking &&
		    (from == NOBODY || s->core[o].ready.n > s->core[from].ready.n))
			from = o;
	}
	if (from == NOBODY)
		return false;
	for (int i = s->core[from].ready.n - 1; i >= 0; i--) {
		if (s->task[s->core[from].ready.v[i]].spec->pinned < 0) {
			enqueue(s, dequeue(s, from, i), c);
			return true;
		}
	}
	return false;
}

void schedule_next(struct sim *s, int c)
{
	struct core *k = &s->core[c];

	k->cur = NOBODY;
	k->segment++;
	k->slice++;
	if (!k->ready.n && !pull(s, c)) {
		s->n_idle++;
		scoz_use_idle(&k->use);
		if (!k->account.idle)
			scoz_idle_enter(&k->account, s->delay, s->now);
		return;
	}
	switch_in(s, c, dequeue(s, c, fairest(s, c)));
}

/* Task @t has lost core @c to another one. */
static void taken(struct sim *s, int c, int t)
{
	struct task *x = &s->task[t];

	if (is_apart(s, x) || !s->o.taken)
		return;
	if (s->o.seen)
		x->use.rate = 1 + (x->spread.inside ? s->speedup : 0);
	scoz_use_taken(&s->core[c].use, &x->use, t + 1);
}

static void preempt(struct sim *s, int c)
{
	struct core *k = &s->core[c];
	int t = k->cur;

	core_update(s, c);
	trace_leaves(s, c, TRACE_QUEUED);
	core_switch_out(s, c, false);
	k->cur = NOBODY;
	enqueue(s, t, c);
	taken(s, c, t);
	schedule_next(s, c);
}

bool schedule_preempt(struct sim *s, int c)
{
	struct core *k = &s->core[c];

	k->resched = false;
	if (!k->ready.n || !before(&s->task[k->ready.v[fairest(s, c)]], &s->task[k->cur]))
		return false;
	preempt(s, c);
	return true;
}

void schedule_slice(struct sim *s, int c)
{
	struct core *k = &s->core[c];

	if (k->cur == NOBODY)
		return;
	core_update(s, c);
	if (k->ran < s->o.slice) {
		event_add(&s->events, s->now + s->o.slice - k->ran, EV_SLICE, c, ++k->slice);
		return;
	}
	k->ran = 0;
	event_add(&s->events, s->now + s->o.slice, EV_SLICE, c, ++k->slice);
	if (k->stop)
		k->resched = true;
	else if (!schedule_preempt(s, c))
		core_resume(s, c);
}

/* Idle cores help themselves as they become idle, not afterwards. */
static void move(struct sim *s, int t, int c)
{
	struct core *k = &s->core[c];

	if (core_is_idle(s, c)) {
		k->waking = true;
		s->n_idle--;
		event_add(&s->events, s->now + s->o.wake_latency, EV_RUN, c, 0);
	}
	enqueue(s, t, c);
}

void schedule_balance(struct sim *s)
{
	int most = 0, least = 0;

	if (!s->n_ready)
		return;
	for (int c = 1; c < s->n_cores; c++) {
		if (load(s, c) > load(s, most))
			most = c;
		if (load(s, c) < load(s, least))
			least = c;
	}
	if (load(s, most) - load(s, least) < 2 || !eligible(s, least))
		return;
	for (int i = 0; i < s->core[most].ready.n; i++) {
		if (s->task[s->core[most].ready.v[i]].spec->pinned < 0) {
			move(s, dequeue(s, most, i), least);
			return;
		}
	}
}

/* ---- blocking and waking ---- */

void task_block(struct sim *s, int c)
{
	struct task *t = &s->task[s->core[c].cur];

	trace_leaves(s, c, TRACE_BLOCKED);
	core_switch_out(s, c, true);
	t->state = TASK_BLOCKED;
	scoz_use_sleeps(&t->use, t->account.absorbed, s->now);
	if (t->external && !t->spec->kernel && !t->counted && !is_sink(s, t)) {
		t->counted = true;
		s->external_waiters++;
	}
	schedule_next(s, c);
}

/* The task can run: where? */
static void make_ready(struct sim *s, int t, int waker, int core)
{
	int c = core == NOBODY ? place(s, &s->task[t]) : core;
	struct core *k = &s->core[c];
	bool idle = core_is_idle(s, c);

	enqueue(s, t, c);
	if (idle) {
		k->waking = true;
		s->n_idle--;
		if (waker != OUTSIDE && waker != c)
			scoz_core_woken(&k->account, &s->core[waker].account, s->delay);
		event_add(&s->events, s->now + s->o.wake_latency, EV_RUN, c, 0);
		return;
	}
	if (k->cur == NOBODY)
		return;
	if (s->task[t].spec->urgent)
		core_hurry(s, c);
	else if (s->task[k->cur].spec->urgent ||
		 s->task[k->cur].fair - s->task[t].fair < WAKE_UP_GRANULARITY)
		return;
	/* Not now: the waker is in the middle of an operation, perhaps on this very core. */
	k->resched = true;
	event_add(&s->events, s->now, EV_RESCHED, c, 0);
}

static void end_wait(struct sim *s, struct task *t)
{
	t->version++;
	if (t->counted) {
		t->counted = false;
		s->external_waiters--;
	}
}

void task_undefer(struct sim *s, int t)
{
	struct task *x = &s->task[t];
	int64_t owed = s->delay - (x->account.absorbed + s->now - (int64_t)x->account.since);

	if (owed > 0) {
		event_add(&s->events, s->now + owed, EV_DEFERRED, t, x->version);
		return;
	}
	if (s->now > (int64_t)x->account.since)
		scoz_wake(&x->account, s->delay, s->now);
	make_ready(s, t, OUTSIDE, NOBODY);
}

/* @submitter: who started the operation, as it stood then; NULL: not known. */
static void task_wake_external(struct sim *s, int t, const int64_t *submitter)
{
	struct task *x = &s->task[t];

	trace_wakes(s, t, OUTSIDE);
	end_wait(s, x);
	if (x->spec->stranger) {
		scoz_wake(&x->account, s->delay, s->now);
		make_ready(s, t, OUTSIDE, NOBODY);
		return;
	}
	x->external = true;
	s->external_waited += s->now - x->account.since;
	s->external_waits++;
	scoz_sink_waited(&x->sink, s->now - x->account.since, x->account.ran);
	scoz_spread_woken(&x->spread, true);
	if (is_server(s, x))
		scoz_wake_external(&x->account, s->now);
	else if (is_sink(s, x))
		scoz_wake(&x->account, s->delay, s->now);
	else if (submitter)
		scoz_wake(&x->account, *submitter, s->now);
	else
		scoz_wake_external(&x->account, s->now);
	if (s->o.defer)
		task_undefer(s, t);
	else
		make_ready(s, t, OUTSIDE, NOBODY);
}

void task_wake(struct sim *s, int t, int waker)
{
	struct task *x = &s->task[t];

	if (waker == OUTSIDE) {
		task_wake_external(s, t, NULL);
		return;
	}
	trace_wakes(s, t, waker);
	end_wait(s, x);
	x->external = false;
	s->syncs++;
	scoz_spread_woken(&x->spread, false);
	core_release(s, waker, true);
	if (s->core[waker].cur != NOBODY) {
		scoz_spread_wakes(&s->task[s->core[waker].cur].spread);
		if ((!x->spec->kernel || s->task[s->core[waker].cur].spec->kernel) &&
		    !is_sink(s, x))
			scoz_sink_wakes(&s->task[s->core[waker].cur].sink,
					s->now - x->account.since);
	}
	if (is_server(s, x))
		scoz_set_to_work(&x->account, account_of(s, waker), s->now);
	else
		scoz_wake(&x->account, account_of(s, waker), s->now);
	make_ready(s, t, waker, NOBODY);
}

void task_wake_served(struct sim *s, int t, int waker, int64_t ender)
{
	struct task *x = &s->task[t];

	trace_wakes(s, t, waker);
	end_wait(s, x);
	x->external = true;
	s->external_waited += s->now - x->account.since;
	s->external_waits++;
	scoz_sink_waited(&x->sink, s->now - x->account.since, x->account.ran);
	scoz_spread_woken(&x->spread, true);
	scoz_wake(&x->account, ender, s->now);
	make_ready(s, t, waker, NOBODY);
}

void task_wake_submitted(struct sim *s, int t, int64_t submitter)
{
	task_wake_external(s, t, &submitter);
}

void task_start(struct sim *s, int t, int by, int core)
{
	struct task *x = &s->task[t];

	x->core = core != NOBODY ? core : by;
	if (by != NOBODY)
		core_release(s, by, false);
	x->account.absorbed = by == NOBODY ? s->delay : s->core[by].account.absorbed;
	x->account.since = s->now;
	x->use.cpu = x->core;
	x->fair = s->core[x->core].fair_floor;
	trace_starts(s, t, by);
	if (by != NOBODY)
		scoz_sink_counts(&s->task[s->core[by].cur].sink);
	make_ready(s, t, by == NOBODY ? OUTSIDE : by, core);
}

void task_exit(struct sim *s, int c)
{
	trace_exits(s, c);
	core_switch_out(s, c, true);
	s->task[s->core[c].cur].state = TASK_DORMANT;
	schedule_next(s, c);
}
