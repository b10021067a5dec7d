/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows with known answers, for the tests of estimates. */
#ifndef TEST_STATS_WINDOWS_H
#define TEST_STATS_WINDOWS_H

#include "stats/resample.h"
#include "stats/stats.h"

#define MAX_WINDOWS 512

struct windows {
	struct profile_window w[MAX_WINDOWS];
	struct window_progress p[MAX_WINDOWS][2];
	size_t n;
};

static inline struct window_progress *add(struct windows *s, double speedup, double period)
{
	struct window_progress *p = s->p[s->n];

	p[0] = (struct window_progress){ .visits = 100, .virtual_s = 100 * period };
	p[1] = (struct window_progress){ 0 };
	s->w[s->n] = (struct profile_window){
		.seq = s->n, .speedup = speedup, .hits = 3, .n_progress = 2, .progress = p
	};
	s->n++;
	return p;
}

/* 0 s 0 s 0: a curve of period over line speedup, with a bit of deterministic noise. */
static inline void add_curve(struct windows *s, const double *speedup, const double *period,
			     size_t n, int rounds, double noise)
{
	struct rng r = { 3 };

	add(s, 0, 1);
	for (int k = 0; k < rounds; k++) {
		for (size_t i = 0; i < n; i++) {
			double a = (rng_next(&r) >> 40) / 16777216.0 - 0.5;
			double b = (rng_next(&r) >> 40) / 16777216.0 - 0.5;

			add(s, speedup[i], period[i] * (1 + noise * a));
			add(s, 0, 1 + noise * b);
		}
	}
}

static inline struct estimates run(const struct windows *s)
{
	struct stats_options opt = { .seed = 1, .exact = true };
	struct estimates e;

	assert_int_equal(stats_estimate(s->w, s->n, 2, &opt, &e), 0);
	return e;
}

#endif
