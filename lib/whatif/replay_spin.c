// SPDX-License-Identifier: GPL-2.0-or-later
/* Replay: what threads run, and for whom they spin meanwhile. */
#include "whatif/replay_internal.h"

#include <math.h>

#define MOST_BESIDE 256
#define SPINNER	    0.01 /* of its time that a thread spins: it is one that does */

/*
 * Those of its family that ran since @from, as far as CPUs still tell: whoever it spun for, or
 * looks for, is among them.
 */
static size_t beside(const struct replay *r, uint32_t thread, uint64_t from, uint32_t *ret,
		     size_t most)
{
	const struct thread *t = &r->threads[thread];
	size_t n = 0;

	for (size_t i = 0; i < r->n_cpus && n < most; i++) {
		const struct cpu *c = &r->cpus[i];

		if (c->last != TRACE_NONE && c->last != thread && c->left >= from &&
		    !r->threads[c->last].gone && r->threads[c->last].family == t->family)
			ret[n++] = c->last;
	}
	return n;
}

static double spun_since(const struct thread *t, enum replay_spin *kind)
{
	double all = 0, most = 0;

	*kind = REPLAY_SPIN_ANY;
	for (int k = 0; k < REPLAY_SPINS; k++) {
		all += t->spins[k];
		if (t->spins[k] > most) {
			most = t->spins[k];
			*kind = k;
		}
	}
	return all;
}

/*
 * It spun for @ns until one of @w let it go on, of which is not known: as a wait. At most that is
 * as early as the earliest of them, or gains what they have gained meanwhile; at least as the
 * latest. Where they meet, none of them can come before it does; and one that has spun itself, and
 * has not followed anybody for that yet, may be as early as those whom it would follow.
 */
static void spun(struct replay *r, uint32_t thread, const uint32_t *w, size_t n, double ns,
		 enum replay_spin kind)
{
	double *restrict x = of(r, thread), *family = family_of(r, thread);
	const double *seen = x + OTHERS * r->n_lanes, *own = x + BY_RUNNING * r->n_lanes;
	double *restrict first = r->spun, *restrict spinner = first + r->n_lanes,
			 *restrict last = spinner + r->n_lanes;
	enum replay_spin other;

	for (size_t l = 0; l < r->n_lanes; l++) {
		first[l] = spinner[l] = -INFINITY;
		last[l] = INFINITY;
	}
	/* There may be hundreds of them: a loop over lanes for each, without branches. */
	for (size_t i = 0; i < n; i++) {
		double late = kind == REPLAY_SPIN_MEETS ? spun_since(&r->threads[w[i]], &other) : 0;
		double *restrict y = of(r, w[i]);

		for (size_t l = 0; late > 0 && l < r->n_lanes; l++) {
			double far = y[l] + late;

			spinner[l] = far > spinner[l] ? far : spinner[l];
		}
		for (size_t l = 0; l < r->n_lanes; l++) {
			first[l] = y[l] > first[l] ? y[l] : first[l];
			last[l] = y[l] < last[l] ? y[l] : last[l];
		}
		for (size_t k = 0; kind != REPLAY_SPIN_LOCK && k < r->n_blocks; k++) {
			const struct block *b = &r->blocks[k];

			for (size_t l = b->from; b->rules != REPLAY_FREE && l < b->to; l++)
				y[l] = y[l] > x[l] + ns ? x[l] + ns : y[l];
		}
	}
	for (size_t l = 0; l < r->n_lanes; l++) {
		enum replay_rules rules = r->lanes[l].rules;
		double arrives = x[l] + ns, to;

		first[l] = fmax(first[l], fmin(fmax(spinner[l], first[l]), x[l]));
		if (rules == REPLAY_BOUND)
			to = last[l];
		else if (rules != REPLAY_FREE && kind == REPLAY_SPIN_MEETS)
			to = first[l];
		else
			to = fmax(first[l], x[l] + family[l] - own[l] - seen[l]);
		if (rules == REPLAY_FREE)
			to = fmax(to, x[l]);
		x[l] = to < arrives ? to : arrives;
	}
}

void replay_ran(struct replay *r, uint32_t thread, double ns, const float *share,
		const double *spins)
{
	struct thread *t = &r->threads[thread];
	double *e = of(r, thread), *family = family_of(r, thread);
	double *by_running = e + BY_RUNNING * r->n_lanes;
	bool spinner;

	t->followed = true;
	t->ran += ns;
	for (int k = 0; spins && k < REPLAY_SPINS; k++) {
		t->spins[k] += spins[k];
		t->spun += k == REPLAY_SPIN_MEETS ? 0 : spins[k];
	}
	spinner = t->spun > 0 && t->spun >= SPINNER * t->ran;
	for (size_t i = 0; i < r->n_targets; i++) {
		const struct lanes_of *of_target = &r->targets[i];
		double in = ns * share[of_target->target];

		for (size_t l = of_target->from; in > 0 && l < of_target->to; l++) {
			double gain = r->lanes[l].speedup * in;

			by_running[l] += gain;
			family[l] += gain;
			/* It may spin for longer instead. */
			if (r->lanes[l].rules != REPLAY_BOUND || !spinner)
				e[l] += gain;
		}
	}
}

void replay_follow(struct replay *r, uint32_t thread)
{
	struct thread *t = &r->threads[thread];
	double *e = of(r, thread), *family = family_of(r, thread);
	double *by_running = e + BY_RUNNING * r->n_lanes, *seen = e + OTHERS * r->n_lanes;
	uint32_t w[MOST_BESIDE];
	enum replay_spin kind;
	double all = spun_since(t, &kind);
	size_t n = all > 0 ? beside(r, thread, t->told, w, MOST_BESIDE) : 0;

	if (n)
		spun(r, thread, w, n, all, kind);
	for (size_t l = 0; l < r->n_lanes; l++)
		seen[l] = family[l] - by_running[l];
	memset(t->spins, 0, sizeof(t->spins));
	t->told = r->now;
}

/*
 * As a wait that one of them has ended, of which the last sleep is what it can gain by: at least as
 * the latest of them, and by the clock; at most as the earliest, or it keeps what it has gained.
 */
void replay_looked(struct replay *r, uint32_t thread, uint64_t now)
{
	uint64_t began = r->threads[thread].began;
	double *x = of(r, thread), waited = now - began;
	uint32_t w[MOST_BESIDE];
	size_t n = beside(r, thread, began, w, MOST_BESIDE);

	for (size_t l = 0; n && l < r->n_lanes; l++) {
		double to = of(r, w[0])[l];

		for (size_t i = 1; i < n; i++)
			to = r->lanes[l].rules == REPLAY_BOUND ? fmin(to, of(r, w[i])[l])
							       : fmax(to, of(r, w[i])[l]);
		if (r->lanes[l].rules == REPLAY_FREE)
			to = fmax(to, x[l]);
		x[l] = fmin(to, x[l] + waited);
	}
}
