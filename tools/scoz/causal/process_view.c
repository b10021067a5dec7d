// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/causal/process_view.h"
#include "progress/point.h"

#include <math.h>

#define LEAST_SAMPLES 50   /* of a process that is compared with others */
#define LEAST_DIFFERS 0.10 /* of its samples */
#define SURELY	      5.0  /* standard errors: there may be many pairs */

bool process_view_filters(const struct record_options *o)
{
	return o->filter.processes || o->filter.ranks.given || o->filter.pids.given;
}

static bool is_chosen(const struct record_options *o, const struct profile_process *q)
{
	return record_filter_process(&o->filter, q->name, q->pid, q->rank);
}

static bool belongs(const struct process_group *g, const struct profile_process *q,
		    enum record_per per)
{
	const struct profile_process *f = g->first;

	if (per == PER_RANK)
		return f->rank == q->rank;
	if (per != PER_PROCESS)
		return true;
	return f->run == q->run && f->pid == q->pid && (f->pid || !strcmp(f->name, q->name));
}

static void count_process(struct process_group *g, const struct profile_process *q,
			  size_t n_samples)
{
	if (!g->places)
		g->places = xcalloc(n_samples, sizeof(*g->places));
	if (!g->first || q->samples > g->first->samples)
		g->first = q;
	g->members += q->members;
	g->samples += q->samples;
	for (size_t i = 0; i < q->n_places; i++) {
		struct profile_place *at = &g->places[q->places[i].sample];

		at->self += q->places[i].self;
		at->total += q->places[i].total;
		at->credit += q->places[i].credit;
	}
}

static int by_rank(const struct process_group *a, const struct process_group *b)
{
	return (unsigned int)a->first->rank < (unsigned int)b->first->rank ? -1 : 1; /* -1: last */
}

static int by_samples(const void *pa, const void *pb)
{
	const struct process_group *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return (a->first > b->first) - (a->first < b->first);
}

static int ranks_in_order(const void *pa, const void *pb)
{
	const struct process_group *a = pa, *b = pb;

	return a->first->rank == b->first->rank ? by_samples(a, b) : by_rank(a, b);
}

/* What there is, for those who asked for something else. */
static char *what_there_is(const struct profile *p)
{
	int least = INT32_MAX, most = -1;
	char *text = xstrdup("");

	for (size_t i = 0; i < p->n_processes; i++) {
		int rank = p->processes[i].rank;

		least = rank >= 0 && rank < least ? rank : least;
		most = rank > most ? rank : most;
	}
	for (size_t i = 0; i < p->n_processes && i < 8; i++) {
		const struct profile_process *q = &p->processes[i];
		char *longer =
			q->pid ? xasprintf("%s%s%s (%d)", text, i ? ", " : "", q->name, q->pid)
			       : xasprintf("%s%s%s", text, i ? ", " : "", q->name);

		free(text);
		text = longer;
	}
	if (most >= 0) {
		char *longer = xasprintf("%s; ranks %d to %d", text, least, most);

		free(text);
		text = longer;
	}
	return text;
}

int process_view_create(const struct profile *p, const struct record_options *o,
			struct process_view *ret, struct error *err)
{
	_cleanup_free_ char *there = NULL;
	size_t cap = 0;

	*ret = (struct process_view){ .n = 0 };
	if (!p->n_processes)
		return error_set(err, ENODATA,
				 "%s does not tell processes apart: it was recorded by an older "
				 "scozd, or without samples",
				 p->path);
	for (size_t i = 0; i < p->n_processes; i++) {
		const struct profile_process *q = &p->processes[i];
		size_t k = 0;

		if (!is_chosen(o, q))
			continue;
		count_process(&ret->all, q, p->n_samples);
		while (k < ret->n && !belongs(&ret->groups[k], q, o->per))
			k++;
		if (k == ret->n) {
			array_reserve(ret->groups, cap, ret->n + 1);
			ret->groups[ret->n++] = (struct process_group){ .first = NULL };
		}
		count_process(&ret->groups[k], q, p->n_samples);
	}
	if (!ret->n) {
		there = what_there_is(p);
		return error_set(err, ENODATA,
				 "%s: samples of no such process are in it: there are %s", p->path,
				 there);
	}
	qsort(ret->groups, ret->n, sizeof(*ret->groups),
	      o->per == PER_RANK ? ranks_in_order : by_samples);
	return 0;
}

void process_view_deinit(struct process_view *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->groups[i].places);
	free(v->groups);
	free(v->all.places);
}

static char *process_name(const struct profile_process *q)
{
	const char *name = *q->name ? q->name : "of other names";

	if (!q->pid)
		return xasprintf("%llu process%s %s", (unsigned long long)q->members,
				 q->members == 1 ? "" : "es", name);
	if (q->rank >= 0)
		return xasprintf("process %d (%s), rank %d", q->pid, name, q->rank);
	return xasprintf("process %d (%s)", q->pid, name);
}

char *process_group_name(const struct process_group *g, enum record_per per)
{
	_cleanup_free_ char *one = process_name(g->first);

	if (per != PER_RANK)
		return xstrdup(one);
	if (g->first->rank < 0)
		return xasprintf("no rank: %llu process%s", (unsigned long long)g->members,
				 g->members == 1 ? "" : "es");
	if (g->members == 1)
		return xasprintf("rank %d: process %d (%s)", g->first->rank, g->first->pid,
				 g->first->name);
	return xasprintf("rank %d: process %d (%s) and %llu more", g->first->rank, g->first->pid,
			 g->first->name, (unsigned long long)g->members - 1);
}

bool place_is_of(const char *place, const char *target)
{
	size_t n, k;
	const char *name = target_name_in(target, TARGET_FUNCTION, &n);
	const char *function = name ? target_name_in(place, TARGET_FUNCTION, &k) : NULL;

	if (function && !name[n])
		return k == n && !memcmp(function, name, n);
	return !strcmp(place, target);
}

/* Of its samples in all places of that name. */
static double share_in(const struct profile *p, const struct profile_process *q, const char *target)
{
	uint64_t n = 0;

	for (size_t i = 0; i < q->n_places; i++) {
		if (place_is_of(p->samples[q->places[i].sample].target, target))
			n += q->places[i].total;
	}
	return (double)n / q->samples;
}

static bool surely_differ(const struct profile_process *a, double in_a,
			  const struct profile_process *b, double in_b)
{
	double mean = (in_a * a->samples + in_b * b->samples) / (a->samples + b->samples);
	double se = sqrt(mean * (1 - mean) * (1.0 / a->samples + 1.0 / b->samples));

	return in_a - in_b >= LEAST_DIFFERS && in_a - in_b > SURELY * se;
}

char *process_difference(const struct profile *p, const char *target)
{
	const struct profile_process *most = NULL, *least = NULL;
	_cleanup_free_ double *in = xcalloc(p->n_processes + 1, sizeof(*in));
	_cleanup_free_ char *a = NULL, *b = NULL;
	double high = 0, low = 0;

	for (size_t i = 0; i < p->n_processes; i++) {
		if (p->processes[i].pid && p->processes[i].samples >= LEAST_SAMPLES)
			in[i] = share_in(p, &p->processes[i], target);
	}
	for (size_t i = 0; i < p->n_processes; i++) {
		const struct profile_process *x = &p->processes[i];

		if (!x->pid || x->samples < LEAST_SAMPLES)
			continue;
		for (size_t k = 0; k < p->n_processes; k++) {
			const struct profile_process *y = &p->processes[k];

			if (!y->pid || y->samples < LEAST_SAMPLES || y->run != x->run ||
			    strcmp(x->name, y->name) != 0)
				continue;
			if (surely_differ(x, in[i], y, in[k]) && in[i] - in[k] > high - low) {
				most = x;
				least = y;
				high = in[i];
				low = in[k];
			}
		}
	}
	if (!most)
		return NULL;
	a = process_name(most);
	b = process_name(least);
	return xasprintf("%s: %.0f %% of the samples of %s, but %.0f %% of those of %s", target,
			 100 * high, a, 100 * low, b);
}
