// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/expectation.h"

#include <math.h>

#define LEAST_FAVOUR 0.5
#define MOST_FAVOUR  2.0
#define SURE_PCT     2.0

const struct profile_expectation *expectation_half(const struct expectation *e)
{
	return profile_expectation_half(e->at, e->n_at);
}

const struct profile_expectation *expectations_half(const struct expectations *e,
						    const char *target)
{
	const struct profile_expectation *best = NULL;

	for (size_t i = 0; e && i < e->n; i++) {
		const struct profile_expectation *x =
			strcmp(e->list[i].target, target) ? NULL : expectation_half(&e->list[i]);

		if (x && (!best || x->high > best->high))
			best = x;
	}
	return best;
}

size_t expectations_points_known(const struct expectations *e, size_t n_points)
{
	size_t n = 0;

	for (size_t p = 0; p < n_points; p++) {
		bool known = false;

		for (size_t i = 0; i < e->n && !known; i++)
			known = e->list[i].progress == p && e->list[i].kind != TARGET_CLASS &&
				expectation_half(&e->list[i]);
		n += known;
	}
	return n;
}

double expectation_favour(const struct profile_expectation *x, double most)
{
	if (!x || !(most > 0))
		return 1;
	return LEAST_FAVOUR + (MOST_FAVOUR - LEAST_FAVOUR) * fmin(fmax(x->high / most, 0), 1);
}

bool expectation_is_sure(const struct profile_expectation *x)
{
	return x && x->low >= SURE_PCT;
}

const struct profile_expectation *expectations_of_both(const struct expectations *e,
						       const char *first, const char *second)
{
	for (size_t i = 0; e && i < e->n_next; i++) {
		const struct expectation *x = &e->next[i];

		if (x->n_at && !strcmp(x->after, first) && !strcmp(x->target, second))
			return &x->at[0];
	}
	return NULL;
}

void expectations_free(struct expectations *e)
{
	if (e) {
		free(e->list);
		free(e->next);
		free(e->awaited);
	}
	free(e);
}
