// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A speedup is held for several windows now and then (plan/window_length.h). What such windows have
 * in common, such as where the scheduler put the threads when the speedup changed, they have in
 * common: they are one look at the program, not several, and what they differ by says little about
 * how far off all of them may be. So they are one window, and their neighbours, all of those held
 * before and after, are the baseline.
 */
#include "stats/holds.h"

#include <math.h>

bool window_is_usable(const struct profile_window *w, uint32_t progress)
{
	const struct window_progress *p;

	if (w->discard || progress >= w->n_progress)
		return false;
	p = &w->progress[progress];
	return isfinite(p->visits) && p->visits > 0 && isfinite(p->virtual_s) && p->virtual_s > 0;
}

static bool same_hold(const struct profile_window *a, const struct profile_window *b)
{
	return a->run == b->run && a->seq + 1 == b->seq && a->real == b->real &&
	       fabs(a->speedup - b->speedup) < 1e-6;
}

void hold_add(struct hold *h, const struct profile_window *w, const struct window_progress *p)
{
	struct profile_window *to = &h->w;
	double part = 1.0 / (h->windows + 1), virtual_s = h->p.virtual_s + p->virtual_s;

	h->p.inflight += (p->inflight - h->p.inflight) * p->virtual_s / virtual_s;
	h->p.visits += p->visits;
	h->p.virtual_s = virtual_s;
#define SUM(field) to->field += w->field
	SUM(wall_s), SUM(inserted_s), SUM(external_s), SUM(crowded_s), SUM(shared_s), SUM(urgent_s);
	SUM(queued_s), SUM(woken_s), SUM(polled_s), SUM(absolute_waits), SUM(external_waits);
	SUM(ran_s), SUM(stolen_s), SUM(related_s), SUM(target_ran_s), SUM(target_waited_s);
	SUM(target_alone_s), SUM(busy_s), SUM(stopped_s), SUM(ticks), SUM(syncs), SUM(spun_s);
	SUM(spun_first_s), SUM(throttled_s), SUM(hits), SUM(others_hits);
#undef SUM
	to->work_ns += (w->work_ns - to->work_ns) * part;
	to->expected_pp += (w->expected_pp - to->expected_pp) * part;
	to->flaws_pp += (w->flaws_pp - to->flaws_pp) * part;
	to->waits_sped &= w->waits_sped;
	to->hits_seen &= w->hits_seen;
	if (!h->windows)
		to->cores = w->cores;
	else if (to->cores != w->cores)
		to->cores = 0;
	if (fabs(to->quota_cpus - w->quota_cpus) > 1e-9)
		to->quota_cpus = 0; /* several */
	h->windows++;
}

static struct hold *begin(struct holds *s, const struct profile_window *w, uint32_t progress)
{
	struct hold *h = &s->h[s->n++];

	*h = (struct hold){ .w = *w, .windows = 1, .usable = window_is_usable(w, progress) };
	if (progress < w->n_progress)
		h->p = w->progress[progress];
	h->w.n_progress = progress < w->n_progress;
	h->w.progress = &h->p;
	return h;
}

void holds_build(const struct profile_window *const *w, size_t n, uint32_t progress,
		 struct holds *ret)
{
	struct hold *open = NULL;

	*ret = (struct holds){ .h = xcalloc(n + 1, sizeof(*ret->h)) };
	for (size_t i = 0; i < n; i++) {
		bool usable = window_is_usable(w[i], progress);

		if (i && !same_hold(w[i - 1], w[i]))
			open = NULL;
		if (!usable)
			begin(ret, w[i], progress)->last = w[i]->seq;
		else if (open)
			hold_add(open, w[i], &w[i]->progress[progress]);
		else
			open = begin(ret, w[i], progress);
		if (open)
			open->last = w[i]->seq;
	}
}

void holds_free(struct holds *h)
{
	free(h->h);
	h->h = NULL;
	h->n = 0;
}
