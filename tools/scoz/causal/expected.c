// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/causal/expected.h"
#include "stats/describe.h"

#include <math.h>

#include "tools/scoz/json_values.h"
#include "tools/scoz/text.h"

const struct profile_expected *expected_of(const struct profile *p, const char *target,
					   uint32_t progress)
{
	return expected_find(p->expected, p->n_expected, target, progress);
}

static enum expected_says compare_bounds(const struct profile_expectation *x, double lo, double hi)
{
	return x->low > hi ? EXPECTED_MORE : x->high < lo ? EXPECTED_LESS : EXPECTED_AGREES;
}

enum expected_says expected_beside(const struct model *m, const struct model_row *row,
				   struct profile_expectation *at)
{
	const struct estimate *e = row->e;
	const struct profile_expected *x = expected_of(m->profile, row->target->name, e->progress);

	*at = (struct profile_expectation){ 0 };
	if (!x || e->best == KNOWN_NOTHING || !expected_at(x, e->best_at_pct, at))
		return EXPECTED_NOTHING;
	if (e->best == KNOWN_BOUND)
		return compare_bounds(at, -INFINITY, e->best_hi);
	return compare_bounds(at, e->best_lo, e->best_hi);
}

char *expected_difference(const struct model *m, size_t i)
{
	const struct model_row *row = &m->rows[i];
	struct profile_expectation at;
	enum expected_says says = expected_beside(m, row, &at);
	_cleanup_free_ char *best = NULL;

	if (says != EXPECTED_MORE && says != EXPECTED_LESS)
		return NULL;
	best = estimate_best_text(row->e);
	return xasprintf(
		"%s: experiments say %s, the replay of the beginning expected between %.1f and "
		"%.1f: %s; the experiments count",
		m->labels[i], best, at.low, at.high,
		says == EXPECTED_MORE
			? "less than was expected is usually due to loops that wait without PAUSE, "
			  "to a lock or device that would become the limit, to time limits, or to "
			  "caches"
			: "more than was expected is usually due to contention that ends (of a "
			  "lock, a CPU, caches), to tasks that communicate by memory alone, or to "
			  "a program that now does something else than in the beginning; but "
			  "where work goes on until some time is over, the replay is right");
}

const struct profile_replay *expected_replay(const struct profile *p)
{
	return p->n_replays ? &p->replays[p->n_replays - 1] : NULL;
}

/* ---- JSON ---- */

static json_t *expectations_json(const struct profile_expected *e)
{
	json_t *list = json_array();

	for (size_t i = 0; i < e->n_at; i++) {
		const struct profile_expectation *x = &e->at[i];

		json_array_append_new(list, json_pack("{s:o,s:o,s:[o,o]}", "speedup_pct",
						      json_percent(100 * x->speedup),
						      "program_speedup_pct", json_percent(x->pct),
						      "bounds", json_percent(x->low),
						      json_percent(x->high)));
	}
	return list;
}

json_t *expected_row_json(const struct model *m, const struct model_row *row)
{
	static const char *const says[] = {
		[EXPECTED_AGREES] = "agrees", [EXPECTED_MORE] = "more", [EXPECTED_LESS] = "less"
	};
	const struct profile_expected *e =
		expected_of(m->profile, row->target->name, row->e->progress);
	struct profile_expectation at;
	const char *beside = says[expected_beside(m, row, &at)];

	if (!e)
		return json_null();
	return json_pack("{s:o,s:o,s:o}", "share_pct", json_percent(100 * e->share), "points",
			 expectations_json(e), "beside",
			 beside ? json_string(beside) : json_null());
}

json_t *expected_json(const struct model *m)
{
	const struct profile *p = m->profile;
	const struct profile_replay *r = expected_replay(p);
	json_t *targets;

	if (!r)
		return json_null();
	targets = json_array();
	for (size_t i = 0; i < p->n_expected; i++) {
		const struct profile_expected *e = &p->expected[i];

		if (e->run != r->run)
			continue;
		json_array_append_new(
			targets,
			json_pack("{s:o,s:o,s:o,s:o,s:o,s:I,s:o}", "target", json_clean(e->target),
				  "kind", json_clean(e->kind), "location", json_clean(e->location),
				  "progress", json_clean(p->progress[e->progress].name),
				  "share_pct", json_percent(100 * e->share), "samples",
				  (json_int_t)e->samples, "points", expectations_json(e)));
	}
	return json_pack("{s:o,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o}", "seconds",
			 json_percent(r->seconds), "events", (json_int_t)r->events, "samples",
			 (json_int_t)r->samples, "lost", (json_int_t)r->lost, "crowded_pct",
			 json_percent(100 * r->crowded), "spun_pct", json_percent(100 * r->spun),
			 "why", *r->why ? json_clean(r->why) : json_null(), "targets", targets,
			 "disk_waits", json_percent(r->disk_waits), "through",
			 *r->through ? json_pack("{s:o,s:o}", "name", json_clean(r->through),
						 "share_pct", json_percent(100 * r->through_share))
				     : json_null());
}
