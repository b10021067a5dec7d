// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/boundaries.h"

#include "progress/probe_sites.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/*
 * Of one core. A probe on an instruction that the kernel has to single-step was seen to cost 13 us
 * in a virtual machine (1 to 2 us on others): with one of those a call, 2 % of the core. Later a
 * program may be faster for a while: to go back and forth would help nobody.
 */
#define MAX_CALLS_PER_S	 1500.0
#define MOST_CALLS_PER_S (4 * MAX_CALLS_PER_S)
#define MAX_DIFFERING	 0.1 /* of the samples */
#define LEAST_COMPARED	 100 /* samples, before that is judged */

struct part {
	uint32_t binary;
	struct file_id id;
	char *name;
	struct addr_ranges ranges;
	struct held_file file;
	struct probe_sites *sites;
	uint64_t *offsets; /* entries, then exits */
	bool returns;	   /* some exit is no jump to another function */
};

enum state { SOUGHT, FOUND, COUNTED, PUT, REFUSED }; /* COUNTED: calls are few enough */

struct boundaries {
	pthread_t thread;
	bool started;
	_Atomic(int) state; /* enum state; the thread's while SOUGHT */
	struct error why;   /* of REFUSED, by the thread */
	struct part part[SCOZ_MAX_PARTS];
	struct engine_bounds bounds[SCOZ_MAX_PARTS];
	int n;
	/* When it was put, or checked last: */
	uint64_t since_ns, agreed, differed;
	bool counting;	 /* calls, over a run */
	uint64_t *calls; /* of each core */
	int cores;
};

/* ---- where they go: by the thread ---- */

static void sort_sites(struct part *p, struct engine_bounds *ret)
{
	size_t n = p->sites->n, entries = 0, exits = 0;

	p->offsets = xcalloc(n, sizeof(*p->offsets));
	for (size_t i = 0; i < n; i++) {
		entries += p->sites->list[i].kind == PROBE_ENTRY;
		p->returns |= p->sites->list[i].kind == PROBE_EXIT;
	}
	*ret = (struct engine_bounds){ p->file.path, p->offsets, p->offsets + entries, entries,
				       n - entries };
	for (size_t i = 0; i < n; i++) {
		const struct probe_site *s = &p->sites->list[i];

		p->offsets[s->kind == PROBE_ENTRY ? --entries : ret->n_entries + exits++] =
			s->offset;
	}
}

static int look(struct part *p, struct engine_bounds *ret, struct error *err)
{
	int r = held_file_adopt(maps_open_file(p->name, &p->id), p->name, &p->file, err);

	if (!r)
		r = probe_sites_of_code(&p->file, &p->ranges, &p->sites, err);
	if (!r)
		sort_sites(p, ret);
	return r;
}

static void *seek(void *arg)
{
	struct boundaries *b = arg;
	int r = 0;

	pthread_setname_np(pthread_self(), "scozd/bounds");
	for (int i = 0; !r && i < b->n; i++)
		r = look(&b->part[i], &b->bounds[i], &b->why);
	atomic_store(&b->state, r ? REFUSED : FOUND);
	return NULL;
}

static bool can_be_seen(const struct resolved_target *r)
{
	if (!r->n || !resolved_target_is_functions(r))
		return false;
	for (int i = 0; i < r->n; i++) {
		if (r->parts[i].binary == MAPS_KERNEL_ID || !r->parts[i].file.ino ||
		    !r->parts[i].ranges->n)
			return false;
	}
	return true;
}

struct boundaries *boundaries_find(const struct resolved_target *r, struct maps *maps,
				   const struct engine *e)
{
	struct boundaries *b;

	if (!engine_can_see_functions(e) || !can_be_seen(r))
		return NULL;
	b = xcalloc(1, sizeof(*b));
	b->n = r->n;
	b->cores = engine_cpus(e);
	b->calls = xcalloc(b->cores, sizeof(*b->calls));
	for (int i = 0; i < b->n; i++) {
		const struct addr_ranges *ranges = r->parts[i].ranges;
		struct part *p = &b->part[i];

		p->file = HELD_FILE_INIT;
		p->binary = r->parts[i].binary;
		p->id = r->parts[i].file;
		p->name = xstrdup(maps_binary_path(maps, p->binary) ?: "");
		p->ranges.n = ranges->n;
		p->ranges.r = xcalloc(ranges->n, sizeof(*ranges->r));
		memcpy(p->ranges.r, ranges->r, ranges->n * sizeof(*ranges->r));
	}
	b->started = !pthread_create(&b->thread, NULL, seek, b);
	if (!b->started)
		atomic_store(&b->state, REFUSED);
	return b;
}

bool boundaries_are_sought(const struct boundaries *b)
{
	return atomic_load(&b->state) == SOUGHT;
}

bool boundaries_are_known(const struct boundaries *b)
{
	int state = atomic_load(&b->state);

	return state == PUT || state == REFUSED;
}

bool boundaries_hand_on(const struct boundaries *b)
{
	enum state state = atomic_load(&b->state);

	for (int i = 0; i < b->n; i++) {
		if (state == SOUGHT || !b->part[i].sites || b->part[i].returns)
			return false;
	}
	return true;
}

bool boundaries_are_put(const struct boundaries *b)
{
	return atomic_load(&b->state) == PUT;
}

void boundaries_free(struct boundaries *b)
{
	if (!b)
		return;
	if (b->started)
		pthread_join(b->thread, NULL);
	for (int i = 0; i < b->n; i++) {
		struct part *p = &b->part[i];

		held_file_close(&p->file);
		probe_sites_free(p->sites);
		addr_ranges_free(&p->ranges);
		free(p->offsets);
		free(p->name);
	}
	free(b->calls);
	free(b);
}

bool boundaries_are_of(const struct boundaries *b, const struct resolved_target *r)
{
	if (b->n != r->n)
		return false;
	for (int i = 0; i < b->n; i++) {
		const struct addr_ranges *ranges = r->parts[i].ranges;
		const struct part *p = &b->part[i];

		if (p->binary != r->parts[i].binary || p->ranges.n != ranges->n ||
		    memcmp(p->ranges.r, ranges->r, ranges->n * sizeof(*ranges->r)) != 0)
			return false;
	}
	return true;
}

/* ---- at work ---- */

static void refuse(struct boundaries *b, struct engine *e, const char *target, const char *why)
{
	engine_sample_target(e);
	log_info("%s is sampled, as its calls cannot be seen: %s", target, why);
	atomic_store(&b->state, REFUSED);
}

static void begin(struct boundaries *b, const struct engine *e)
{
	for (int i = 0; i < b->cores; i++)
		b->calls[i] = engine_target_calls(e, i);
	engine_target_doubts(e, &b->agreed, &b->differed);
	b->since_ns = clock_now_ns();
}

static double run_s(const struct boundaries *b)
{
	return (clock_now_ns() - b->since_ns) / 1e9;
}

/* A second, of the core that has most. */
static double calls(const struct boundaries *b, const struct engine *e)
{
	double s = run_s(b);
	uint64_t most = 0;

	for (int i = 0; i < b->cores; i++) {
		uint64_t n = engine_target_calls(e, i) - b->calls[i];

		most = n > most ? n : most;
	}
	return s > 0 ? most / s : 0;
}

static bool too_many(struct boundaries *b, struct engine *e, double most, const char *target)
{
	double rate = calls(b, e);
	char why[128];

	if (rate <= most)
		return false;
	snprintf(why, sizeof(why), "%.0f a second on one CPU are too many for probes", rate);
	refuse(b, e, target, why);
	return true;
}

/* The code is still the one that was looked at, now that the probes are there; each piece once. */
static int check_code(const struct boundaries *b, struct error *err)
{
	int r = 0;

	for (int i = 0; i < b->n; i++) {
		const struct part *p = &b->part[i];
		const struct probe_site *s = p->sites->list;

		for (size_t k = 0; !r && k < p->sites->n; k++) {
			if (!k || s[k].copy != s[k - 1].copy)
				r = probe_sites_unchanged(p->sites, k, &p->file, err);
		}
	}
	return r;
}

void boundaries_put(struct boundaries *b, struct engine *e, bool runs, const char *target)
{
	struct error err = {};
	int state = atomic_load(&b->state);
	int r;

	if (state == REFUSED && b->why.code) {
		refuse(b, e, target, b->why.text);
		b->why.code = 0;
	}
	if (state == SOUGHT || state == REFUSED)
		return;
	begin(b, e);
	r = engine_count_calls(e, b->bounds, b->n, &err);
	if (!r && state == FOUND && runs) {
		b->counting = true;
		return;
	}
	if (!r && state == FOUND) {
		usleep(BOUNDARIES_TRIAL_NS / 1000);
		if (too_many(b, e, MAX_CALLS_PER_S, target))
			return;
	}
	if (!r)
		r = engine_see_target(e, b->bounds, b->n, &err);
	if (!r)
		r = check_code(b, &err);
	if (r) {
		refuse(b, e, target, err.text);
		return;
	}
	if (state != PUT)
		log_info("%s is not sampled: its calls are seen", target);
	atomic_store(&b->state, PUT);
	begin(b, e);
}

bool boundaries_check(struct boundaries *b, struct engine *e, const char *target)
{
	uint64_t agreed, differed, all;

	if (atomic_load(&b->state) != PUT || !engine_sees_hits(e))
		return true;
	if (too_many(b, e, MOST_CALLS_PER_S, target))
		return true;
	engine_target_doubts(e, &agreed, &differed);
	all = agreed - b->agreed + differed - b->differed;
	if (all < LEAST_COMPARED)
		return true;
	if (differed - b->differed > MAX_DIFFERING * all) {
		char why[128];

		snprintf(why, sizeof(why),
			 "%.0f %% of the samples say something else than its probes",
			 100.0 * (differed - b->differed) / all);
		refuse(b, e, target, why);
		return false;
	}
	begin(b, e);
	return true;
}

void boundaries_look(struct boundaries *b, struct engine *e, const char *target)
{
	/* At its beginning a run may have a few for which it is no longer. */
	if (b->counting && atomic_load(&b->state) == FOUND &&
	    calls(b, e) * fmin(run_s(b), 1) > MOST_CALLS_PER_S)
		too_many(b, e, 0, target);
}

bool boundaries_check_run(struct boundaries *b, struct engine *e, const char *target)
{
	int state = atomic_load(&b->state);

	if (b->counting) {
		b->counting = false;
		if (state == REFUSED || too_many(b, e, MAX_CALLS_PER_S, target))
			return false;
		atomic_store(&b->state, COUNTED);
		return true;
	}
	return state != PUT || (boundaries_check(b, e, target) && atomic_load(&b->state) == PUT);
}
