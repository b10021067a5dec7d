// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/predict.h"

#include "base/hash_index.h"
#include "trace/devices.h"
#include "whatif/alike.h"
#include "whatif/candidates.h"
#include "whatif/handed.h"
#include "whatif/looks.h"
#include "whatif/polls.h"
#include "whatif/strangers.h"
#include "whatif/turns.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>

const struct predict_options predict_usual = { .point = TRACE_NONE,
					       .most_targets = PREDICT_TARGETS,
					       .speedups = { 0.25, 0.5, 1 },
					       .n_speedups = 3 };

#define OWN_SAMPLES  8 /* so many in one turn say more than what is known of such turns */
#define SPIN_FRAMES  3 /* innermost ones that may tell what is waited for */
#define SURE	     1.96
#define METHOD	     1.0 /* points that bounds are always wider by */
#define MOST_PARTS   16
#define LEAST_OWN    0.5
#define LEAST_STEP   0.5 /* points that a step brings */
#define PART_TARGETS 8	 /* fewer are not worth reading the recording for */
/* What replay takes: so much, and so many times the file. */
#define MEMORY_LEAST (256ULL << 20)
#define MEMORY_TIMES 64

/*
 * What a thread does between two events is known from samples, of which few turns have any. So
 * turns are taken together that began after the same kind of wait or waking, and each is worth the
 * mean of its kind.
 */
struct context {
	uint64_t key;
	double weight, hit[PREDICT_TARGETS], spun[REPLAY_SPINS];
};

struct runner {
	uint64_t since; /* it runs, and that is not yet told */
	bool runs;
	uint8_t waited, woke; /* kinds of the last wait and waking, plus one; 0: none */
	double own, spun[REPLAY_SPINS];
	double *hit; /* by target of the part; NULL: no sample so far */
	bool spins;  /* since it last followed others */
	bool there;  /* it has been met, and not ended */
};

struct predictor {
	const struct trace *t;
	const struct predict_options *o;
	struct predict *out;
	struct bounds *bounds; /* NULL: the first pass */
	struct turns *turns;
	struct devices *devices;
	struct looks *looks;
	struct handed *handed;
	uint32_t *families; /* by thread */
	struct alike alike;
	struct runner *threads;
	struct context *contexts;
	size_t n_contexts, cap_contexts;
	struct hash_index by_key;
	const uint64_t *masks;	  /* by stack: its targets */
	const uint8_t *polls;	  /* by stack */
	uint8_t *spins;		  /* by stack: enum replay_spin, should it spin there */
	size_t there, most_there; /* threads; at a time */
	uint32_t *running;	  /* by CPU */
	uint64_t *runs;		  /* a bit for each CPU that somebody runs on */
	double sampled, spun;
	uint64_t brought, outside; /* waits for work that are over; by who is not recorded */
	uint32_t point, root;
	struct strangers strangers;
	uint64_t root_from;
	uint32_t cpus;
	uint64_t most;	 /* bytes that this part may take */
	size_t from, to; /* the targets that this part of the second pass is for */
	bool concluded;
};

/* ---- spinning ---- */

/* "lock" as a part of a name, but for "block" and "clock". */
static bool names_lock(const char *name)
{
	for (const char *at = name; (at = strcasestr(at, "lock")); at++) {
		if (at == name || !strchr("bcBC", at[-1]))
			return true;
	}
	return strcasestr(name, "mutex") || strcasestr(name, "latch");
}

/* What is waited for in a loop, by the names of the innermost functions. */
static enum replay_spin spin_of(const struct trace *t, uint32_t stack)
{
	for (int i = 0; i < SPIN_FRAMES && stack != TRACE_NONE; i++) {
		const char *name = t->frames[t->stacks[stack].frame].symbol;

		if (strcasestr(name, "barrier"))
			return REPLAY_SPIN_MEETS;
		if (names_lock(name))
			return REPLAY_SPIN_LOCK;
		stack = t->stacks[stack].parent;
	}
	return REPLAY_SPIN_ANY;
}

static void name_spins(struct predictor *p)
{
	const struct trace *t = p->t;

	p->spins = xcalloc(t->n_stacks + 1, sizeof(*p->spins));
	for (size_t i = 0; i < t->n_samples; i++) {
		const struct trace_event *e = &t->samples[i];

		p->sampled += e->weight;
		if (!sample_waits(p->polls, e))
			continue;
		p->spun += e->weight;
		if (sample_polls(p->polls, e))
			p->spins[e->stack] = p->polls[e->stack] == POLLS_TO_MEET ? REPLAY_SPIN_MEETS
										 : REPLAY_SPIN_ANY;
		else if (e->stack != TRACE_NONE)
			p->spins[e->stack] = spin_of(t, e->stack);
	}
}

static enum replay_spin kind_of_spin(const struct predictor *p, const struct trace_event *e)
{
	return e->stack != TRACE_NONE ? p->spins[e->stack] : REPLAY_SPIN_ANY;
}

/* ---- turns on the CPU ---- */

static bool same_key(const void *items, uint32_t number, const void *key)
{
	return ((const struct context *)items)[number].key == *(const uint64_t *)key;
}

/* Whose turns: those of its kind that began alike, all of its kind, or all of its name. */
enum scope { TURNS_ALIKE, TURNS_OF_KIND, TURNS_OF_NAME, SCOPES };

static uint64_t key_of(const struct predictor *p, uint32_t thread, enum scope scope)
{
	const struct runner *r = &p->threads[thread];

	if (scope == TURNS_OF_NAME)
		return (uint64_t)p->alike.name[thread] << 16 | 0xffff;
	return (uint64_t)p->alike.kind[thread] << 16 |
	       (scope == TURNS_OF_KIND ? 0x7fff : r->waited << 5 | r->woke);
}

/* NULL: there is none, and @make is false. */
static struct context *context(struct predictor *p, uint32_t thread, enum scope scope, bool make)
{
	uint64_t key = key_of(p, thread, scope);
	uint32_t i =
		hash_index_find(&p->by_key, hash_mix(HASH_START, key), same_key, p->contexts, &key);

	if (i != HASH_NONE)
		return &p->contexts[i];
	if (!make)
		return NULL;
	i = p->n_contexts++;
	array_reserve(p->contexts, p->cap_contexts, p->n_contexts);
	p->contexts[i] = (struct context){ .key = key };
	hash_index_add(&p->by_key, hash_mix(HASH_START, key), i);
	return &p->contexts[i];
}

/* What is faster in the lanes of target @i. */
static uint64_t sped(const struct predictor *p, size_t i)
{
	return p->o->with | 1ULL << i;
}

static void add_weight(struct predictor *p, struct context *c, uint64_t mask,
		       const struct trace_event *e)
{
	double weight = e->weight;

	c->weight += weight;
	if (sample_waits(p->polls, e))
		c->spun[kind_of_spin(p, e)] += weight;
	for (size_t i = 0; i < p->out->n_targets; i++)
		c->hit[i] += mask & sped(p, i) ? weight : 0;
}

static void sample(struct predictor *p, const struct trace_event *e)
{
	uint64_t mask = e->stack != TRACE_NONE ? p->masks[e->stack] : 0;
	struct runner *r = &p->threads[e->thread];

	if (!p->bounds) {
		turns_sample(p->turns, &(struct turns_sample){ .time = e->time,
							       .mask = mask,
							       .thread = e->thread,
							       .family = p->families[e->thread],
							       .cpu = e->cpu,
							       .weight = e->weight });
		for (int k = 0; k < SCOPES; k++)
			add_weight(p, context(p, e->thread, k, true), mask, e);
		return;
	}
	r->own += e->weight;
	if (sample_waits(p->polls, e))
		r->spun[kind_of_spin(p, e)] += e->weight;
	if (!r->hit)
		r->hit = xcalloc(p->to - p->from + 1, sizeof(*r->hit));
	for (size_t i = p->from; i < p->to; i++)
		r->hit[i - p->from] += mask & sped(p, i) ? e->weight : 0;
}

/* Shares of what it did since it was last told; of targets from the part's first one. */
static void turn_of(struct predictor *p, uint32_t thread, float *share, double *spun)
{
	const struct runner *r = &p->threads[thread];
	const double *hits = r->hit, *spins = r->spun;
	double weight = r->own;

	if (weight < OWN_SAMPLES * (double)p->t->header.period_ns || !(weight > 0)) {
		const struct context *c = NULL;

		for (int k = 0; !c && k < SCOPES; k++)
			c = context(p, thread, k, false);
		weight = c ? c->weight : 0;
		hits = c ? c->hit + p->from : NULL;
		spins = c ? c->spun : NULL;
	}
	for (size_t i = p->from; i < p->to; i++)
		share[i - p->from] = weight > 0 ? hits[i - p->from] / weight : 0;
	for (int k = 0; k < REPLAY_SPINS; k++)
		spun[k] = weight > 0 ? spins[k] / weight : 0;
}

/* It has run until now. */
static void tell(struct predictor *p, uint32_t thread, uint64_t now)
{
	struct runner *r = &p->threads[thread];
	float share[PREDICT_TARGETS];
	double spun[REPLAY_SPINS];

	if (!r->runs || now <= r->since)
		return;
	if (p->bounds) {
		turn_of(p, thread, share, spun);
		for (int k = 0; k < REPLAY_SPINS; k++) {
			spun[k] *= now - r->since;
			r->spins |= spun[k] > 0;
		}
		bounds_ran(p->bounds, thread, now - r->since, share, spun);
		r->own = 0;
		if (r->hit)
			memset(r->hit, 0, (p->to - p->from) * sizeof(*r->hit));
		memset(r->spun, 0, sizeof(r->spun));
	}
	r->since = now;
}

/* The first CPU from @c on that somebody runs on; p->cpus: none. */
static size_t next_running(const struct predictor *p, size_t c)
{
	uint64_t word;

	for (size_t i = c / 64; c < p->cpus; c = 64 * ++i) {
		word = p->runs[i] & ~0ULL << c % 64;
		if (word)
			return 64 * i + __builtin_ctzll(word);
	}
	return p->cpus;
}

/* It has come so far, and whoever it may have spun for, too. */
static void account(struct predictor *p, uint32_t thread, uint64_t now)
{
	struct runner *r = &p->threads[thread];

	tell(p, thread, now);
	if (!p->bounds || !r->runs)
		return;
	for (size_t c = r->spins ? next_running(p, 0) : p->cpus; c < p->cpus;
	     c = next_running(p, c + 1))
		tell(p, p->running[c], now);
	if (p->spun > 0)
		bounds_follow(p->bounds, thread);
	r->spins = false;
}

/* It looks whether others of its family have come to something, who may run all the time. */
static void account_beside(struct predictor *p, const struct trace_event *e)
{
	if (!p->bounds || e->by != TRACE_BY_TIMER || !looks_of(p->looks, e->thread))
		return;
	for (size_t c = next_running(p, 0); c < p->cpus; c = next_running(p, c + 1)) {
		if (p->families[p->running[c]] == p->families[e->thread])
			tell(p, p->running[c], e->time);
	}
}

static void comes_to(struct predictor *p, const struct trace_event *e, bool runs)
{
	struct runner *r = &p->threads[e->thread];

	r->runs = runs;
	r->since = e->time;
	/* The file is read twice, and may have changed. */
	if (!p->bounds || e->cpu >= p->cpus)
		return;
	if (runs) {
		p->running[e->cpu] = e->thread;
		p->runs[e->cpu / 64] |= 1ULL << e->cpu % 64;
	} else if (p->running[e->cpu] == e->thread) {
		p->running[e->cpu] = TRACE_NONE;
		p->runs[e->cpu / 64] &= ~(1ULL << e->cpu % 64);
	}
}

static void end_of_root(struct predictor *p, uint64_t now)
{
	struct predict *out = p->out;

	for (size_t i = p->from; i < p->to; i++) {
		for (size_t s = 0; s < p->o->n_speedups; s++)
			bounds_read_now(p->bounds, p->root, now - p->root_from, i - p->from, s,
					&out->targets[i].at[s]);
	}
	p->concluded = true;
}

static void count_there(struct predictor *p, const struct trace_event *e)
{
	struct runner *r = &p->threads[e->thread];

	p->there += !r->there;
	r->there = e->type != TRACE_EXIT;
	p->most_there = p->there > p->most_there ? p->there : p->most_there;
	p->there -= !r->there;
}

static void count_outside(struct predictor *p, const struct trace_event *e)
{
	uint8_t waited = p->threads[e->thread].waited;

	if (!waited || !replay_brings_work(waited - 1) || e->by == TRACE_BY_TIMER)
		return;
	p->brought++;
	p->outside += e->by != TRACE_BY_THREAD || !p->strangers.followed[e->other];
}

static int see(const struct trace_event *e, void *arg)
{
	struct predictor *p = arg;
	struct runner *r = e->thread != TRACE_NONE ? &p->threads[e->thread] : NULL;

	if (e->type == TRACE_SAMPLE) {
		sample(p, e);
		return 0;
	}
	if (strangers_visit(&p->strangers, e))
		return 0;
	if (!p->bounds)
		devices_event(p->devices, e);
	if (!r) {
		if (p->bounds)
			bounds_event(p->bounds, e);
		return p->bounds && bounds_memory(p->bounds) > p->most ? -E2BIG : 0;
	}
	if (e->type == TRACE_PROGRESS && e->other != p->point)
		return 0;
	/* What happens to somebody else happens by whoever runs there, who has come so far. */
	account(p, e->thread, e->time);
	if (e->type == TRACE_WAKE && e->by == TRACE_BY_THREAD)
		account(p, e->other, e->time);
	if (e->type == TRACE_FORK && e->other != TRACE_NONE)
		account(p, e->other, e->time);
	switch (e->type) {
	case TRACE_FOLLOW:
		if (p->root == TRACE_NONE) {
			p->root = e->thread;
			p->root_from = e->time;
		}
		comes_to(p, e, e->why == TRACE_RUNS);
		break;
	case TRACE_ENTER:
		comes_to(p, e, true);
		break;
	case TRACE_LEAVE:
		comes_to(p, e, false);
		if (e->why == TRACE_BLOCKED) {
			r->waited = e->wait + 1;
			r->woke = 0;
		}
		break;
	case TRACE_WAKE:
		if (e->by == TRACE_BY_THREAD)
			p->threads[e->other].woke = r->waited;
		if (!p->bounds)
			count_outside(p, e);
		else
			account_beside(p, e);
		break;
	case TRACE_PROGRESS:
		if (!p->bounds)
			p->out->visits++;
		break;
	}
	if (!p->bounds) {
		if (e->cpu >= p->cpus)
			p->cpus = e->cpu + 1;
		count_there(p, e);
		turns_event(p->turns, e);
		looks_event(p->looks, e);
		handed_event(p->handed, e);
		return 0;
	}
	if (e->type == TRACE_EXIT && e->thread == p->root && p->out->by_run_time)
		end_of_root(p, e->time);
	bounds_event(p->bounds, e);
	if (bounds_memory(p->bounds) > p->most)
		return -E2BIG;
	if (e->type == TRACE_EXIT) {
		free(r->hit);
		r->hit = NULL;
		r->own = 0;
		memset(r->spun, 0, sizeof(r->spun));
	}
	return 0;
}

/* Their numbers are below that; not all CPUs of the machine need be recorded, or there. */
static size_t cpus_of_samples(const struct trace *t)
{
	size_t cpus = t->header.cpus;

	for (size_t i = 0; i < t->n_samples; i++) {
		if (t->samples[i].cpu >= cpus)
			cpus = t->samples[i].cpu + 1;
	}
	return cpus;
}

static void start(struct predictor *p)
{
	free(p->threads);
	p->threads = xcalloc(p->t->n_threads + 1, sizeof(*p->threads));
	strangers_begin(&p->strangers, p->t, p->point);
	p->root = TRACE_NONE;
}

/* The share of all that is sped up with target @i, and its samples. */
static double share_of(const struct predictor *p, size_t i, uint64_t *samples)
{
	double sum = 0;

	*samples = p->out->targets[i].samples;
	if (!p->o->with)
		return p->out->targets[i].share;
	*samples = 0;
	for (size_t k = 0; k < p->t->n_samples; k++) {
		const struct trace_event *e = &p->t->samples[k];

		if (e->stack == TRACE_NONE || !(p->masks[e->stack] & sped(p, i)))
			continue;
		sum += e->weight;
		++*samples;
	}
	return p->sampled > 0 ? sum / p->sampled : 0;
}

/* Few samples in it: its share may be another one. */
static void add_chance(const struct predictor *p, size_t target)
{
	struct predict_target *t = &p->out->targets[target];
	uint64_t samples;
	double share = share_of(p, target, &samples);
	double relative = samples ? SURE * sqrt((1 - share) / samples) : 1;

	/* Requests are no samples: all of them are there. */
	if (t->devices && !p->o->with)
		relative = 0;
	for (size_t s = 0; s < p->o->n_speedups; s++) {
		struct bounds_answer *a = &t->at[s];

		a->low -= relative * fabs(a->low) + METHOD;
		a->high += relative * fabs(a->high) + METHOD;
		if (a->high > 100)
			a->high = 100;
	}
}

/* ---- the second pass: each part reads the recording for some of the targets ---- */

struct part {
	struct predictor p;
	pthread_t thread;
	bool started;
	int r;
	struct error err;
};

static uint64_t memory_most(const struct trace *t)
{
	return MEMORY_LEAST + MEMORY_TIMES * t->size;
}

static void *run_part(void *arg)
{
	struct part *part = arg;
	struct predictor *p = &part->p;
	struct predict *out = p->out;

	part->r = trace_each(p->t, see, p, &part->err);
	if (part->r == -E2BIG)
		error_set(&part->err, E2BIG,
			  "%s: so many threads and requests at a time take more than %llu MB of "
			  "memory: ask for fewer speedups (--speedup), or record fewer of them",
			  p->t->path, (unsigned long long)(memory_most(p->t) >> 20));
	for (size_t i = p->from; i < p->to && !out->by_run_time; i++) {
		for (size_t s = 0; s < p->o->n_speedups; s++)
			bounds_read(p->bounds, i - p->from, s, &out->targets[i].at[s]);
		p->concluded = isfinite(out->targets[i].at[0].middle);
	}
	return NULL;
}

/* With target @i, and all that it is asked together with. */
static uint64_t faster_devices(const struct predictor *p, size_t i)
{
	uint64_t devices = 0;

	for (size_t k = 0; k < p->out->n_candidates; k++)
		devices |= sped(p, i) >> k & 1 ? p->out->targets[k].devices : 0;
	return devices;
}

static void begin_part(struct part *part, const struct predictor *whole, size_t from, size_t to)
{
	const struct trace *t = whole->t;
	struct predictor *p = &part->p;
	uint64_t faster[PREDICT_TARGETS];

	*p = *whole;
	p->from = from;
	p->to = to;
	p->threads = NULL;
	start(p);
	p->running = xcalloc(p->cpus + 1, sizeof(*p->running));
	memset(p->running, 0xff, (p->cpus + 1) * sizeof(*p->running));
	p->runs = xcalloc(p->cpus / 64 + 1, sizeof(*p->runs));
	for (size_t i = from; i < to; i++)
		faster[i - from] = faster_devices(p, i);
	p->bounds = bounds_create(t->n_threads, p->cpus, to - from, faster, p->o->speedups,
				  p->o->n_speedups, p->out->visits);
	bounds_cpus(p->bounds, t->header.cpus);
	for (uint32_t i = 0; i < devices_count(p->devices); i++)
		bounds_servers(p->bounds, i, devices_servers(p->devices, i));
	for (uint32_t i = 0; i < t->n_threads; i++) {
		bounds_family(p->bounds, i, p->families[i]);
		if (looks_of(p->looks, i))
			bounds_looks(p->bounds, i);
		if (handed_of(p->handed, i))
			bounds_handed(p->bounds, i);
	}
}

static void end_part(struct part *part)
{
	bounds_free(part->p.bounds);
	for (size_t i = 0; i < part->p.t->n_threads; i++)
		free(part->p.threads[i].hit);
	strangers_end(&part->p.strangers);
	free(part->p.threads);
	free(part->p.running);
	free(part->p.runs);
}

static size_t how_many_parts(size_t targets)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = targets / PART_TARGETS;

	if (cpus > 0 && n > (size_t)cpus)
		n = cpus;
	return n < 1 ? 1 : n > MOST_PARTS ? MOST_PARTS : n;
}

/* For targets @from to @to, in @n parts at a time. */
static int answer_some(struct predictor *p, size_t from, size_t to, size_t n, struct error *err)
{
	struct predict *out = p->out;
	struct part *parts = xcalloc(n, sizeof(*parts));
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		struct part *part = &parts[i];

		begin_part(part, p, from + i * (to - from) / n, from + (i + 1) * (to - from) / n);
		part->p.most = memory_most(p->t) / n;
		/* The last one runs here; others too, where there can be no thread. */
		part->started = i + 1 < n && !pthread_create(&part->thread, NULL, run_part, part);
		if (part->started)
			pthread_setname_np(part->thread, "scoz/replay");
		else
			run_part(part);
	}
	for (size_t i = 0; i < n; i++) {
		if (parts[i].started)
			pthread_join(parts[i].thread, NULL);
		if (parts[i].r && (!r || r == -E2BIG)) {
			r = parts[i].r;
			*err = parts[i].err;
		}
	}
	for (size_t i = 0; i < n; i++) {
		out->concluded |= !r && parts[i].p.concluded;
		if (!from && !i)
			out->crowded = bounds_crowded(parts[i].p.bounds);
		end_part(&parts[i]);
	}
	free(parts);
	return r;
}

/* For fewer targets at a time where all would take too much memory. */
static int answer(struct predictor *p, struct error *err)
{
	size_t all = p->out->n_targets, n = how_many_parts(all), each = (all + n - 1) / n, from = 0;
	/* What each thread takes for a target, at least. */
	uint64_t one = (uint64_t)p->most_there * bounds_row(p->o->n_speedups);
	int r;

	while (each > 1 && one * each * n > memory_most(p->t))
		each = (each + 1) / 2;
	do {
		size_t to = from + n * each < all ? from + n * each : all;

		r = answer_some(p, from, to, n, err);
		if (!r)
			from = to;
		else if (r == -E2BIG && each > 1)
			each = (each + 1) / 2;
		else if (r == -E2BIG && n > 1)
			n = 1;
		else
			return r;
	} while (r || from < all);
	return 0;
}

static void conclude(struct predictor *p)
{
	struct predict *out = p->out;

	for (size_t i = 0; i < out->n_candidates; i++) {
		struct predict_target *t = &out->targets[i];

		t->by_turns = turns_taken(p->turns, i);
		for (uint32_t d = 0; t->devices && d < devices_count(p->devices); d++) {
			if (t->devices & replay_device_bit(d))
				t->share = fmax(t->share, devices_busy(p->devices, d, p->t->end) /
								  fmax(p->t->end, 1));
		}
	}
	for (size_t i = 0; i < out->n_targets && out->concluded; i++) {
		const struct bounds_answer *a = &out->targets[i].at[p->o->n_speedups / 2];

		for (size_t k = 0; k < out->n_targets; k++) {
			for (size_t s = 0; sped(p, i) >> k & 1 && s < p->o->n_speedups; s++)
				turns_widen(p->turns, k, p->o->speedups[s], p->t->end,
					    &out->targets[i].at[s]);
		}
		add_chance(p, i);
		out->targets[i].worth = a->low + a->middle;
	}
}

static const char *who_looks(const struct predictor *p)
{
	const char *ret = NULL;
	uint64_t most = 0;

	for (uint32_t i = 0; i < p->t->n_threads; i++) {
		if (looks_of(p->looks, i) <= most)
			continue;
		most = looks_of(p->looks, i);
		ret = p->t->threads[i].comm;
	}
	return ret;
}

int predict(const struct trace *t, const struct predict_options *o, struct predict *ret,
	    struct error *err)
{
	struct predictor p = { .t = t,
			       .o = o,
			       .out = ret,
			       .point = o->point != TRACE_NONE ? o->point
					: t->n_points	       ? 0
							       : TRACE_NONE };
	struct candidates c;
	int r;

	*ret = (struct predict){ .by_run_time = p.point == TRACE_NONE,
				 .samples = t->n_samples,
				 .events = t->n_events };
	candidates_find(t, o, &c);
	ret->targets = c.list;
	ret->n_candidates = c.n;
	ret->n_targets = c.n_devices + o->most_targets;
	ret->n_targets = c.n < ret->n_targets ? c.n : ret->n_targets;
	p.masks = c.masks;
	p.polls = c.polls;
	name_spins(&p);
	p.families = alike_programs(t);
	alike_find(t, &p.alike);
	p.devices = devices_create();
	p.looks = looks_create(t->n_threads);
	p.handed = handed_create(t->n_threads);
	p.turns = turns_create(cpus_of_samples(t), t->n_threads, t->header.period_ns);
	ret->spun = p.sampled > 0 ? p.spun / p.sampled : 0;
	start(&p);
	r = trace_each(t, see, &p, err);
	ret->strangers = strangers_share(&p.strangers);
	ret->outside = p.brought ? (double)p.outside / p.brought : 0;
	if (!r)
		r = answer(&p, err);
	ret->concluded &= ret->strangers <= STRANGERS_MOST;
	if (!r)
		conclude(&p);
	ret->looks = who_looks(&p);
	strangers_end(&p.strangers);
	devices_free(p.devices);
	looks_free(p.looks);
	handed_free(p.handed);
	turns_free(p.turns);
	free(p.families);
	alike_free(&p.alike);
	free(p.threads);
	free(p.contexts);
	free(c.masks);
	free(c.polls);
	free(p.spins);
	hash_index_deinit(&p.by_key);
	if (r)
		predict_free(ret);
	return r;
}

int predict_steps(const struct trace *t, const struct predict_options *o, size_t most,
		  struct predict_step *ret, size_t *n, struct error *err)
{
	struct predict_options next = *o;
	size_t middle = o->n_speedups / 2;
	double before = 0;
	int r = 0;

	next.with = 0;
	for (*n = 0; *n < most; ++*n) {
		struct predict p;
		size_t best = SIZE_MAX;

		r = predict(t, &next, &p, err);
		if (r)
			break;
		for (size_t i = 0; p.concluded && i < p.n_targets; i++) {
			/* What mostly calls others is no step of its own. */
			if (!(next.with >> i & 1) &&
			    p.targets[i].own >= LEAST_OWN * p.targets[i].share &&
			    p.targets[i].at[middle].middle >= before + LEAST_STEP &&
			    (best == SIZE_MAX || p.targets[i].worth > p.targets[best].worth))
				best = i;
		}
		if (best != SIZE_MAX) {
			ret[*n] = (struct predict_step){ p.targets[best],
							 p.targets[best].at[middle] };
			before = p.targets[best].at[middle].middle;
			next.with |= 1ULL << best;
		}
		predict_free(&p);
		if (best == SIZE_MAX)
			break;
	}
	return r;
}

void predict_free(struct predict *p)
{
	free(p->targets);
	p->targets = NULL;
}
