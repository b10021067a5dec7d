// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/causal/expected.h"

#include "progress/point.h"

#include <math.h>

#include "base/labels.h"
#include "tools/scoz/json_values.h"
#include "tools/scoz/text.h"

const struct profile_expected *expected_of(const struct profile *p, const char *target,
					   uint32_t progress)
{
	for (size_t i = p->n_expected; i-- > 0;) {
		const struct profile_expected *e = &p->expected[i];

		if (e->progress == progress && e->n_at && !strcmp(e->target, target))
			return e;
	}
	return NULL;
}

bool expected_at(const struct profile_expected *e, double speedup_pct,
		 struct profile_expectation *ret)
{
	struct profile_expectation before = { 0 };
	double s = speedup_pct / 100, part;

	for (size_t i = 0; i < e->n_at; i++) {
		const struct profile_expectation *x = &e->at[i];

		if (s > x->speedup + 1e-6) {
			before = *x;
			continue;
		}
		part = (s - before.speedup) / (x->speedup - before.speedup);
		*ret = (struct profile_expectation){
			.speedup = s,
			.pct = before.pct + part * (x->pct - before.pct),
			.low = before.low + part * (x->low - before.low),
			.high = before.high + part * (x->high - before.high),
		};
		return true;
	}
	return false;
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

char *expected_text(const struct profile_expectation *at)
{
	return xasprintf("%.1f, between %.1f and %.1f", at->pct + 0.0, at->low, at->high);
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

/* ---- what was not measured ---- */

static double worth_of(const struct profile_expected *e)
{
	return profile_expectation_worth(profile_expectation_half(e->at, e->n_at));
}

static int more_worth(const void *pa, const void *pb)
{
	const struct profile_expected *a = *(const struct profile_expected *const *)pa;
	const struct profile_expected *b = *(const struct profile_expected *const *)pb;
	double x = worth_of(a), y = worth_of(b);

	return x != y ? (x > y ? -1 : 1) : strcmp(a->target, b->target);
}

/* Several lines, of which @e is one. */
static bool is_one_of_lines(const struct profile_expected *e, const struct profile_target *t)
{
	struct target one, all;
	bool ret = false;

	if (strcmp(e->kind, "line") != 0 || strcmp(t->kind, "line") != 0 ||
	    target_parse(t->name, &all, NULL))
		return false;
	if (!target_parse(e->target, &one, NULL)) {
		ret = !strcmp(one.name, all.name) && one.line >= all.line && one.line <= all.last;
		target_free(&one);
	}
	target_free(&all);
	return ret;
}

/* Is @e a part of what @t is? */
static bool lies_within(const struct profile_expected *e, const struct profile_target *t)
{
	const char *function = e->function && *e->function ? e->function : e->target;
	const char *binary = label_binary(function);
	const char *glob = strchr(t->name, ':');

	if (!strcmp(t->kind, "binary"))
		return glob && binary && glob_match(glob + 1, binary);
	if (!strcmp(t->kind, "file")) {
		_cleanup_free_ char *file = xstrndup(e->location, strcspn(e->location, ":"));

		return glob && *file && glob_match(glob + 1, file);
	}
	return !strcmp(t->name, function) || is_one_of_lines(e, t);
}

/* Of it, or of what it lies in. */
static bool is_measured(const struct model *m, const struct profile_expected *e)
{
	for (size_t i = 0; i < m->n_rows; i++) {
		const struct model_row *row = &m->rows[i];

		if (row->e->progress == e->progress && row->e->best != KNOWN_NOTHING &&
		    (!strcmp(row->target->name, e->target) || lies_within(e, row->target)))
			return true;
	}
	return false;
}

/* All of what is expected of a line: a function that is in that line alone, say. */
static bool is_told_by_line(const struct profile *p, const struct profile_expected *e)
{
	for (size_t i = 0; strcmp(e->kind, "line") && i < p->n_expected; i++) {
		const struct profile_expected *x = &p->expected[i];

		if (x->run == e->run && x->progress == e->progress && x->n_at == e->n_at &&
		    !strcmp(x->kind, "line") && !memcmp(x->at, e->at, e->n_at * sizeof(*e->at)))
			return true;
	}
	return false;
}

const struct profile_expected **expected_unmeasured(const struct model *m, uint32_t progress,
						    size_t *n)
{
	const struct profile *p = m->profile;
	const struct profile_expected **list = xcalloc(p->n_expected + 1, sizeof(*list));

	*n = 0;
	for (size_t i = 0; i < p->n_expected; i++) {
		const struct profile_expected *e = &p->expected[i];

		if (e->progress == progress && expected_of(p, e->target, progress) == e &&
		    !is_measured(m, e) && !is_told_by_line(p, e) &&
		    profile_expectation_half(e->at, e->n_at)->pct >= EXPECTATION_LEAST_PCT)
			list[(*n)++] = e;
	}
	qsort(list, *n, sizeof(*list), more_worth);
	return list;
}

static bool is_line_of(const struct profile *p, const struct model_row *row, const char *function)
{
	const struct profile_expected *line = expected_of(p, row->target->name, row->e->progress);

	return line && line->function && !strcmp(line->function, function);
}

const struct profile_expected *expected_beyond(const struct model *m, const struct model_row *row)
{
	const struct profile_expected *beyond = NULL;
	const struct estimate *e = row->e;
	size_t n;
	const struct profile_expected **list = expected_unmeasured(m, e->progress, &n);

	for (size_t i = 0; i < n && !beyond; i++) {
		const struct profile_expected *x = list[i];
		struct profile_expectation at;

		if (expected_at(x, e->best_at_pct, &at) && at.low > e->best_hi &&
		    !is_line_of(m->profile, row, x->target))
			beyond = x;
	}
	free(list);
	return beyond;
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
