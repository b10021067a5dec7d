// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cores: work, ticks, stops. The order of steps at a tick, at a stop and at a switch is that of
 * the BPF engine (lib/engine/bpf/tick.bpf.h, stop.bpf.h, sched.bpf.h); a change there belongs here
 * as well.
 */
#include "machine_internal.h"

#include "base/base.h"

#include <math.h>

#define JITTER_TICKS_MIN 20
#define JITTER_TICKS_MAX 50
#define BALANCE_NS	 (4 * SIM_MS)

void sim_options_default(struct sim_options *o)
{
	*o = (struct sim_options){
		.model = SCOZ_MODEL_WAIT,
		.period = SIM_MS,
		.tick_jitter = 0.2,
		.tick_cost = 2 * SIM_US,
		.credit_cost = true,
		.batch = 1,
		.waive = true,
		.max_stop = 2 * SIM_MS,
		.max_share = 90,
		.wake_latency = 5 * SIM_US,
		.slice = 3 * SIM_MS,
		.work_jitter = 0.1,
		.drift_ns = 20 * SIM_MS,
		.weather = { .common = 0.5 },
		.charge_stops = true,
		.share = true,
		.taken = true,
		.spread = true,
		.waits = true,
		.devices = true,
		.servers = true,
		.exchange = true,
		.sees_spins = true,
		.seed = 1,
	};
}

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

uint64_t rng_seed(uint64_t seed, uint64_t stream)
{
	return mix(mix(seed + 0x9e3779b97f4a7c15ULL) ^ (stream + 1) * 0xd1342543de82ef95ULL);
}

double rng_uniform(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ULL;
	return (mix(*state) >> 11) * 0x1p-53;
}

void list_push(struct list *l, int v)
{
	array_reserve(l->v, l->cap, (size_t)l->n + 1);
	l->v[l->n++] = v;
}

void list_remove(struct list *l, int i)
{
	memmove(&l->v[i], &l->v[i + 1], (--l->n - i) * sizeof(*l->v));
}

int list_shift(struct list *l)
{
	int v = l->v[0];

	list_remove(l, 0);
	return v;
}

/* ---- work ---- */

int64_t core_debt(const struct sim *s, int c)
{
	return scoz_debt(s->delay, &s->core[c].account);
}

void core_update(struct sim *s, int c)
{
	struct core *k = &s->core[c];
	int64_t passed = s->now - k->segment_began;
	struct task *t;

	if (k->cur == NOBODY || k->stop)
		return;
	t = &s->task[k->cur];
	if (t->rem < FOREVER) {
		int64_t done = passed * core_pace(s, c);

		t->rem = t->rem > done ? t->rem - done : 0;
	}
	trace_runs(s, c, passed);
	if (is_apart(s, t))
		s->others_ran += passed;
	else
		s->ran += passed;
	k->ran += passed;
	t->fair += passed;
	k->segment_began = s->now;
}

void core_resume(struct sim *s, int c)
{
	struct core *k = &s->core[c];
	struct task *t = &s->task[k->cur];
	double pace = core_pace(s, c);
	int64_t length;

	k->segment_began = s->now;
	k->segment++;
	if (t->rem >= FOREVER || !(pace > 0))
		return;
	length = pace == 1 ? t->rem : ceil(t->rem / pace) + 1;
	event_add(&s->events, s->now + length, EV_SEGMENT, c, k->segment);
}

static bool is_spread(const struct sim *s, const struct task *t)
{
	return s->o.spread && s->o.model == SCOZ_MODEL_WAIT && s->o.batch == 1 &&
	       !t->spec->stranger && !is_server(s, t);
}

static bool is_seen(const struct sim *s, const struct task *t)
{
	return s->o.seen && (uint64_t)s->now >= t->spread.spun_until;
}

static void insert_spread(struct sim *s, struct core *k, uint64_t r)
{
	int64_t d = r && !s->o.control ? scoz_spread_insert(&k->account, r, s->speedup) : 0;

	if (d)
		insert_delay(s, d);
}

void core_release(struct sim *s, int c, bool ends)
{
	struct core *k = &s->core[c];
	struct task *t;

	if (k->cur == NOBODY || k->stop)
		return;
	t = &s->task[k->cur];
	if (!is_spread(s, t))
		return;
	if (is_seen(s, t)) {
		insert_spread(s, k, scoz_spread_seen(&t->spread, &k->account, s->now));
		return;
	}
	insert_spread(s, k,
		      t->exited ? scoz_spread_flush(&t->spread)
				: scoz_spread_release(&t->spread, &k->account, ends, s->o.period,
						      s->now));
}

int64_t core_unreleased(const struct sim *s, int c)
{
	const struct core *k = &s->core[c];
	const struct task *t;

	if (k->cur == NOBODY || k->stop)
		return 0;
	t = &s->task[k->cur];
	if (!is_spread(s, t))
		return 0;
	if (is_seen(s, t))
		return scoz_lump(scoz_spread_seen_due(&t->spread, &k->account, s->now), s->speedup);
	return scoz_lump(scoz_spread_due(&t->spread, &k->account, s->o.period, s->now), s->speedup);
}

int64_t account_of(const struct sim *s, int c)
{
	const struct core *k = &s->core[c];

	if (k->cur != NOBODY && is_server(s, &s->task[k->cur]))
		return s->task[k->cur].account.absorbed;
	return k->account.absorbed;
}

void core_switch_out(struct sim *s, int c, bool blocks)
{
	struct core *k = &s->core[c];
	struct task *t = &s->task[k->cur];

	k->account.spinning = 0;
	core_release(s, c, blocks);
	scoz_look(&k->account, s->delay, s->waived);
	scoz_run_count(&k->account, &t->account, s->now, !t->spec->stranger);
	scoz_switch_out(&k->account, is_server(s, t) ? NULL : &t->account, s->now);
	if (is_server(s, t))
		t->account.since = s->now;
	scoz_use_out(&k->use, is_apart(s, t), s->now);
	if (s->o.share && t->spec->stranger)
		scoz_core_follow(&k->account, s->delay);
	if (!is_apart(s, t) && !is_sink(s, t))
		k->left = k->account.absorbed - s->now;
}

static bool involved_queue(const struct sim *s, const struct core *k)
{
	for (int i = 0; i < k->ready.n; i++) {
		if (!is_apart(s, &s->task[k->ready.v[i]]))
			return true;
	}
	return false;
}

/* What of the stop under way was for the running task alone, while others wanted the core. */
void core_crowded(struct sim *s, int c)
{
	struct core *k = &s->core[c];
	int64_t common = scoz_common_debt(s->delay, &k->account), from = k->stop_began;

	if (!k->stop)
		return;
	if (common > 0)
		from += common;
	if (k->crowded_since > from)
		from = k->crowded_since;
	if (k->crowded_since && k->account.alone && s->now > from)
		k->account.crowded += s->now - from;
	k->crowded_since = involved_queue(s, k) ? s->now : 0;
}

static void segment_end(struct sim *s, int c, uint32_t version)
{
	struct core *k = &s->core[c];

	if (k->segment != version || k->stop || k->cur == NOBODY)
		return;
	core_update(s, c);
	operations_run(s, c);
}

/* ---- stops ---- */

static int64_t share_burst(const struct sim *s)
{
	return 100 * SIM_MS / (100 - s->o.max_share);
}

bool core_pay(struct sim *s, int c, enum stop_kind kind)
{
	struct core *k = &s->core[c];
	int64_t debt = core_debt(s, c), room, allowed;

	if (is_server(s, &s->task[k->cur]))
		return false;
	if (s->o.share && s->task[k->cur].spec->stranger) {
		scoz_core_follow(&k->account, s->delay);
		return false;
	}
	if (debt <= 0 || k->account.spinning)
		return false;
	room = s->o.max_share >= 100
		       ? FOREVER
		       : scoz_share_room(&k->account, s->now, s->o.max_share, share_burst(s));
	room = scoz_min(room, scoz_paid_room(&k->account, s->delay + s->waived));
	if (room < debt && room < s->o.max_stop)
		k->account.capped++;
	allowed = room < s->o.max_stop ? room : s->o.max_stop;
	if (allowed <= 0)
		return false;
	core_update(s, c);
	scoz_look(&k->account, s->delay, s->waived);
	k->stop = kind;
	k->stop_began = s->now;
	k->stop_limit = s->now + allowed;
	k->crowded_since = involved_queue(s, k) ? s->now : 0;
	k->account.stop_began = s->now;
	event_add(&s->events, s->now + (debt < allowed ? debt : allowed), EV_STOP_END, c,
		  ++k->stop_version);
	return true;
}

static void stop_end(struct sim *s, int c, uint32_t version)
{
	struct core *k = &s->core[c];
	int64_t length = s->now - k->stop_began, left;
	enum stop_kind kind = k->stop;

	if (!kind || version != k->stop_version)
		return;
	if (k->burst_end) { /* the spin goes on when the host gives the core back, and looks then */
		event_add(&s->events, k->burst_end + 1, EV_STOP_END, c, version);
		return;
	}
	left = core_debt(s, c) - length; /* G may have grown meanwhile */
	if (left > 0 && s->now < k->stop_limit) {
		int64_t end = s->now + left;

		event_add(&s->events, end < k->stop_limit ? end : k->stop_limit, EV_STOP_END, c,
			  ++k->stop_version);
		return;
	}
	core_crowded(s, c);
	scoz_stopped(&k->account, length, s->delay, 0);
	scoz_share_stopped(&k->account, length, s->now);
	k->account.stops++;
	k->account.stop_began = 0;
	k->stop = STOP_NONE;
	k->segment_began = s->now;
	if (s->o.charge_stops) {
		k->ran += length;
		s->task[k->cur].fair += length;
	}
	if (kind == STOP_TICK) {
		/* With interrupts off the timer could not fire; it goes on at its next multiple. */
		while (k->next_tick <= s->now)
			k->next_tick += k->period;
		event_add(&s->events, k->next_tick, EV_TICK, c, 0);
	}
	if (k->resched && schedule_preempt(s, c))
		return;
	if (s->task[k->cur].rem == 0)
		operations_run(s, c);
	else
		core_resume(s, c);
}

void core_hurry(struct sim *s, int c)
{
	struct core *k = &s->core[c];

	if (!k->stop)
		return;
	k->stop_limit = s->now;
	scoz_use_stood(&k->use);
	event_add(&s->events, s->now, EV_STOP_END, c, ++k->stop_version);
}

/* G has shrunk: whoever stands still notices by itself. */
static void shorten_stops(struct sim *s)
{
	for (int c = 0; c < s->n_cores; c++) {
		struct core *k = &s->core[c];
		int64_t end;

		if (!k->stop)
			continue;
		end = k->stop_began + core_debt(s, c);
		if (end < s->now)
			end = s->now;
		if (end < k->stop_limit)
			event_add(&s->events, end, EV_STOP_END, c, ++k->stop_version);
	}
}

static void waive_common_debt(struct sim *s)
{
	int64_t least = FOREVER;

	if (!s->o.waive || s->o.control || s->external_waiters > 0 ||
	    s->now - s->waived_at < s->o.waive_every * s->o.period)
		return;
	s->waived_at = s->now;
	for (int c = 0; c < s->n_cores && least > 0; c++) {
		struct core *k = &s->core[c];
		int64_t debt;

		s->waiver_looks++;
		if (k->account.idle || k->cur == NOBODY ||
		    (s->o.share && !scoz_use_counts(&k->use)))
			continue;
		debt = core_debt(s, c) - (k->stop ? s->now - k->stop_began : 0);
		if (debt < least)
			least = debt;
	}
	if (least <= 0 || least == FOREVER)
		return;
	s->delay -= least;
	s->waived += least;
	shorten_stops(s);
}

/* ---- ticks ---- */

void insert_delay(struct sim *s, int64_t d)
{
	s->delay += d;
	waive_common_debt(s);
	if (!s->o.kick)
		return;
	for (int c = 0; c < s->n_cores; c++) {
		if (s->core[c].cur != NOBODY && !s->core[c].stop)
			event_add(&s->events, s->now + s->o.kick, EV_KICK, c, 0);
	}
}

void add_delay(struct sim *s, int64_t d)
{
	s->hits++;
	insert_delay(s, d);
}

/* As published: a handler takes a core's samples in batches and accounts them at once. */
static void account_batch(struct sim *s, struct core *k, int64_t d)
{
	k->batch_delay += d;
	if (++k->batched < s->o.batch)
		return;
	k->account.absorbed += k->batch_delay;
	k->account.own += k->batch_delay;
	d = k->batch_delay;
	k->batched = 0;
	k->batch_delay = 0;
	if (d)
		add_delay(s, d);
}

static void account_stranger(struct sim *s, struct core *k, uint64_t weight)
{
	int64_t d = 0;

	if (s->o.share && !s->o.slice_credit)
		d = scoz_use_inserts(&k->use, weight, s->speedup);
	if (s->o.batch > 1) {
		account_batch(s, k, d);
	} else if (d) {
		s->shared += scoz_use_insert(&k->use, &k->account, d);
		add_delay(s, d);
	}
}

static void account_control(struct sim *s, struct core *k, uint64_t weight)
{
	int64_t d = scoz_hit(&k->account, weight, s->speedup);

	scoz_core_set(&k->account, k->account.absorbed - d);
	add_delay(s, d);
}

static void account_hit(struct sim *s, int c, uint64_t weight)
{
	struct core *k = &s->core[c];
	struct task *t = &s->task[k->cur];
	bool target = t->label == SIM_TARGET && !k->account.spinning;
	bool hit = target && s->speedup && weight;
	int64_t d;

	if (t->spec->urgent)
		s->urgent += weight;
	if (s->o.control) {
		if (!is_apart(s, t) && weight)
			account_control(s, k, weight);
		return;
	}
	if (t->spec->stranger) {
		account_stranger(s, k, weight);
		return;
	}
	if (!is_server(s, t)) {
		scoz_use_tick(&k->use, &t->use, weight, target, s->speedup);
		scoz_use_spun(&t->use, weight, k->spun_absorbed);
	}

	if (s->o.batch > 1) {
		account_batch(s, k, hit ? scoz_lump(weight, s->speedup) : 0);
		return;
	}
	if (is_spread(s, t)) {
		if (target && weight) {
			if (!is_seen(s, t))
				scoz_spread_hit(&t->spread, weight, 0);
			k->account.hits++;
			s->hits++;
		}
		core_release(s, c, false);
		return;
	}
	if (!hit)
		return;
	d = scoz_hit(&k->account, weight, s->speedup);
	if (s->o.slice_credit) {
		k->ran -= d;
		t->fair -= d;
	}
	add_delay(s, d);
}

static void next_period(struct sim *s, struct core *k)
{
	if (s->o.irregular > 0) {
		k->period = s->o.period * (1 - s->o.irregular -
					   s->o.irregular * log(rng_uniform(&k->rng) + 1e-12));
		return;
	}
	if (--k->ticks_to_jitter > 0)
		return;
	k->ticks_to_jitter =
		JITTER_TICKS_MIN + rng_uniform(&k->rng) * (JITTER_TICKS_MAX - JITTER_TICKS_MIN);
	k->period = s->o.period * (1 + s->o.tick_jitter * (2 * rng_uniform(&k->rng) - 1));
}

void core_enters(struct sim *s, int c, enum sim_label label)
{
	struct task *t = &s->task[s->core[c].cur];

	if (s->o.seen && (label == SIM_TARGET) != t->spread.inside)
		core_release(s, c, false);
	t->spread.inside = label == SIM_TARGET;
	t->label = label;
}

/* The current task of core @c spins (lib/engine/bpf/tick.bpf.h). */
static void spin_seen(struct sim *s, int c, uint64_t weight)
{
	int64_t ender = SCOZ_SPIN_NOBODY, before;

	s->core[c].spun += weight;
	if (s->o.sees_spins && !s->o.spins)
		scoz_spread_spins(&s->task[s->core[c].cur].spread, s->now);
	if (!s->core[c].spins)
		s->core[c].spun_first += weight;
	if (!s->o.sees_spins || s->o.spins || s->o.model != SCOZ_MODEL_WAIT)
		return;
	for (int i = 0; i < s->n_cores; i++) {
		const struct core *k = &s->core[i];
		int64_t absorbed = k->account.absorbed + (k->stop ? s->now - k->stop_began : 0);

		if (k->cur != NOBODY && s->task[k->cur].rem < FOREVER && absorbed < ender)
			ender = absorbed;
	}
	before = s->core[c].account.absorbed;
	scoz_spin_seen(&s->core[c].account, weight, ender, s->delay);
	s->core[c].spun_absorbed = s->core[c].account.absorbed - before;
}

static void tick(struct sim *s, int c)
{
	struct core *k = &s->core[c];
	uint64_t weight;

	if (k->stop == STOP_TICK)
		return;	    /* stop_end() starts the timer again */
	if (k->burst_end) { /* no interrupt before the host gives the core back */
		k->next_tick = k->burst_end + 1;
		event_add(&s->events, k->next_tick, EV_TICK, c, 0);
		return;
	}
	next_period(s, k);
	k->next_tick += k->period;
	if (k->stop) {
		k->account.ticks_in_stop++;
	} else if (k->cur != NOBODY) {
		core_update(s, c);
		scoz_look(&k->account, s->delay, s->waived);
		weight = scoz_tick(&k->account, s->now, SCOZ_MAX_WEIGHT);
		if (s->o.spread)
			weight = scoz_clock_tick(&k->clock, &k->account, weight, s->o.period,
						 s->now);
		scoz_run_count(&k->account, &s->task[k->cur].account, s->now, 1);
		if (s->o.credit_cost)
			scoz_tick_cost(&k->account, weight, s->o.tick_cost, s->o.period);
		if (s->task[k->cur].rem < FOREVER)
			s->task[k->cur].rem += s->o.tick_cost;
		k->spun_absorbed = 0;
		if (s->task[k->cur].rem == FOREVER)
			spin_seen(s, c, weight);
		k->spins = s->task[k->cur].rem == FOREVER;
		account_hit(s, c, weight);
		if (core_pay(s, c, STOP_TICK))
			return;
		core_resume(s, c);
	}
	event_add(&s->events, k->next_tick, EV_TICK, c, 0);
}

static void drift(struct sim *s)
{
	double u = rng_uniform(&s->drift_rng), v = rng_uniform(&s->drift_rng);

	s->slowness = exp(s->o.drift * sqrt(-2 * log(u + 1e-12)) * cos(2 * M_PI * v));
	event_add(&s->events, s->now + s->o.drift_ns, EV_DRIFT, 0, 0);
}

static void dispatch(struct sim *s, const struct event *e)
{
	struct core *k;

	switch (e->kind) {
	case EV_SEGMENT:
		segment_end(s, e->who, e->version);
		break;
	case EV_TICK:
		tick(s, e->who);
		break;
	case EV_STOP_END:
		stop_end(s, e->who, e->version);
		break;
	case EV_SLICE:
		k = &s->core[e->who];
		if (e->version != k->slice)
			break;
		if (k->burst_end)
			event_add(&s->events, k->burst_end + 2, EV_SLICE, e->who, e->version);
		else
			schedule_slice(s, e->who);
		break;
	case EV_RUN:
		k = &s->core[e->who];
		if (k->waking && weather_late(s, e->who)) {
			event_add(&s->events, k->burst_end + 1, EV_RUN, e->who, 0);
		} else if (k->waking) {
			k->waking = false;
			schedule_next(s, e->who);
		}
		break;
	case EV_RESCHED:
		k = &s->core[e->who];
		if (k->burst_end) { /* after the tick that is due */
			event_add(&s->events, k->burst_end + 2, EV_RESCHED, e->who, 0);
		} else if (k->resched && k->cur != NOBODY && !k->stop) {
			core_update(s, e->who);
			if (!schedule_preempt(s, e->who))
				core_resume(s, e->who);
		}
		break;
	case EV_KICK:
		k = &s->core[e->who];
		if (k->burst_end)
			event_add(&s->events, k->burst_end + 2, EV_KICK, e->who, 0);
		else if (k->cur != NOBODY && !k->stop)
			core_pay(s, e->who, STOP_SWITCH);
		break;
	case EV_TIMER:
		operations_timer(s, e->who, e->version);
		break;
	case EV_DEFERRED:
		if (e->version == s->task[e->who].version)
			task_undefer(s, e->who);
		break;
	case EV_DEVICE:
		operations_device(s, e->who, e->version);
		break;
	case EV_BALANCE:
		schedule_balance(s);
		event_add(&s->events, s->now + BALANCE_NS, EV_BALANCE, 0, 0);
		break;
	case EV_DRIFT:
		drift(s);
		break;
	case EV_BURST:
		weather_burst(s, e->who, e->version);
		break;
	case EV_SPELL:
		weather_spell(s, e->who);
		break;
	}
}

void sim_run(struct sim *s, int64_t until)
{
	struct event e;

	while (event_next(&s->events, until, &e)) {
		s->now = e.time;
		dispatch(s, &e);
	}
	s->now = until;
}

/* ---- making and reading ---- */

static void make_core(struct sim *s, int c)
{
	struct core *k = &s->core[c];

	k->cur = NOBODY;
	k->pace = 1;
	k->weather_rng = rng_seed(s->o.seed, 50000 + c);
	k->rng = rng_seed(s->o.seed, 1000 + c);
	next_period(s, k);
	k->next_tick = s->o.period * rng_uniform(&k->rng);
	k->account.idle = 1;
	k->account.sampled = 1;
	event_add(&s->events, k->next_tick, EV_TICK, c, 0);
}

/* Waits are the target. */
static bool targets_waits(const struct sim_program *p)
{
	for (int t = 0; t < p->n_tasks; t++) {
		for (int i = 0; i < p->task[t].n; i++) {
			const struct sim_op *op = &p->task[t].op[i];

			if (op->label == SIM_TARGET && op->kind != OP_COMPUTE &&
			    op->kind != OP_SPIN_LOCK)
				return true;
		}
	}
	return false;
}

/* Waits for devices are the target. */
static bool waits_for_devices(const struct sim_program *p)
{
	for (int t = 0; t < p->n_tasks; t++) {
		for (int i = 0; i < p->task[t].n; i++) {
			if (p->task[t].op[i].kind == OP_IO && p->task[t].op[i].label == SIM_TARGET)
				return true;
		}
	}
	return false;
}

struct sim *sim_create(const struct sim_program *p, const struct sim_options *o)
{
	struct sim *s = xcalloc(1, sizeof(*s));

	s->program = p;
	s->o = *o;
	s->slowness = 1;
	s->drift_rng = rng_seed(o->seed, 1);
	s->n_cores = s->n_idle = p->cores;
	s->core = xcalloc(p->cores, sizeof(*s->core));
	s->object = xcalloc(p->n_objects, sizeof(*s->object));
	for (int i = 0; i < p->n_objects; i++)
		s->object[i] = (struct object){ .size = p->object[i].size, .holder = NOBODY };
	for (int c = 0; c < s->n_cores; c++)
		make_core(s, c);
	s->devices = o->devices && waits_for_devices(p);
	s->servers = o->servers && o->waits && o->model == SCOZ_MODEL_WAIT && targets_waits(p);
	array_reserve(s->task, s->cap_tasks, (size_t)p->n_tasks);
	s->n_tasks = p->n_tasks;
	for (int t = 0, nr = 0; t < p->n_tasks; t++) {
		s->task[t] = (struct task){ .spec = &p->task[t],
					    .parent = NOBODY,
					    .rng = rng_seed(o->seed, 100000 + t) };
		if (!p->task[t].dormant)
			task_start(s, t, NOBODY,
				   p->task[t].pinned >= 0 ? p->task[t].pinned : nr++ % s->n_cores);
	}
	event_add(&s->events, BALANCE_NS, EV_BALANCE, 0, 0);
	if (o->drift > 0)
		drift(s);
	weather_begin(s);
	return s;
}

void sim_free(struct sim *s)
{
	for (int i = 0; i < s->n_tasks; i++)
		free(s->task[i].children.v);
	for (int i = 0; i < s->program->n_objects; i++) {
		free(s->object[i].waiting.v);
		free(s->object[i].waiting2.v);
	}
	for (int c = 0; c < s->n_cores; c++)
		free(s->core[c].ready.v);
	free(s->task);
	free(s->object);
	free(s->core);
	free(s->events.e);
	free(s);
}

int64_t sim_now(const struct sim *s)
{
	return s->now;
}

void sim_set_speedup(struct sim *s, double virtual_speedup, double real_speedup)
{
	s->speedup = virtual_speedup * SCOZ_SPEEDUP_ONE + 0.5;
	s->real = real_speedup;
}

void sim_read_progress(const struct sim *s, struct sim_progress *ret)
{
	*ret = s->progress;
}

void sim_read_ledger(const struct sim *s, struct sim_ledger *ret)
{
	*ret = (struct sim_ledger){ .delay = s->delay,
				    .waived = s->waived,
				    .hits = s->hits,
				    .shared = s->shared,
				    .urgent = s->urgent,
				    .external_waited = s->external_waited,
				    .external_waits = s->external_waits,
				    .ran = s->ran,
				    .others_ran = s->others_ran,
				    .stolen = s->stolen,
				    .syncs = s->syncs,
				    .waiver_looks = s->waiver_looks };
	for (int c = 0; c < s->n_cores; c++) {
		const struct scoz_core *a = &s->core[c].account;

		ret->own += a->own;
		ret->stopped += a->stopped;
		ret->excused += a->excused;
		ret->overhead += a->overhead;
		ret->owed += scoz_debt(s->delay, a);
		ret->idle += a->in_idle;
		ret->crowded += a->crowded;
		ret->spins += a->spins;
		ret->spun_seen += s->core[c].spun;
		ret->spun_first += s->core[c].spun_first;
		ret->spun += a->spun;
		ret->ticks += a->ticks;
		ret->stops += a->stops;
		ret->capped += a->capped;
	}
}

int64_t sim_largest_debt(const struct sim *s)
{
	int64_t largest = 0;

	for (int c = 0; c < s->n_cores; c++) {
		int64_t debt = core_debt(s, c);

		if (s->core[c].cur != NOBODY && debt > largest)
			largest = debt;
	}
	return largest;
}

bool sim_deadlocked(const struct sim *s)
{
	for (int c = 0; c < s->n_cores; c++) {
		if (s->core[c].cur != NOBODY || s->core[c].waking)
			return false;
	}
	for (size_t i = 0; i < s->events.n; i++) {
		enum event_kind k = s->events.e[i].kind;

		if (k == EV_TIMER || k == EV_DEVICE || k == EV_DEFERRED)
			return false;
	}
	return true;
}
