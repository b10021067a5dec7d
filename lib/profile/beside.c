// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/beside.h"

#include "progress/labels.h"
#include "progress/point.h"
#include "stats/describe.h"

const struct profile_expected *expected_find(const struct profile_expected *list, size_t n,
					     const char *target, uint32_t progress)
{
	for (size_t i = n; i-- > 0;) {
		if (list[i].progress == progress && list[i].n_at && !strcmp(list[i].target, target))
			return &list[i];
	}
	return NULL;
}

static const struct profile_expected *find(const struct beside *b, const char *target,
					   uint32_t progress)
{
	return expected_find(b->expected, b->n_expected, target, progress);
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

char *expected_text(const struct profile_expectation *at)
{
	return xasprintf("%.1f, between %.1f and %.1f", at->pct + 0.0, at->low, at->high);
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
static bool is_one_of_lines(const struct profile_expected *e, const struct beside_row *row)
{
	struct target one, all;
	bool ret = false;

	if (strcmp(e->kind, "line") != 0 || strcmp(row->kind, "line") != 0 ||
	    target_parse(row->target, &all, NULL))
		return false;
	if (!target_parse(e->target, &one, NULL)) {
		ret = !strcmp(one.name, all.name) && one.line >= all.line && one.line <= all.last;
		target_free(&one);
	}
	target_free(&all);
	return ret;
}

/* Is @e a part of what @row's target is? */
static bool lies_within(const struct profile_expected *e, const struct beside_row *row)
{
	const char *function = e->function && *e->function ? e->function : e->target;
	const char *binary = label_binary(function);
	const char *glob = strchr(row->target, ':');

	if (!strcmp(row->kind, "binary"))
		return glob && binary && glob_match(glob + 1, binary);
	if (!strcmp(row->kind, "file")) {
		_cleanup_free_ char *file = xstrndup(e->location, strcspn(e->location, ":"));

		return glob && *file && glob_match(glob + 1, file);
	}
	return !strcmp(row->target, function) || is_one_of_lines(e, row);
}

/* Of it, or of what it lies in. */
static bool is_measured(const struct beside *b, const struct profile_expected *e)
{
	for (size_t i = 0; i < b->n_rows; i++) {
		const struct beside_row *row = &b->rows[i];

		if (row->e->progress == e->progress && row->e->best != KNOWN_NOTHING &&
		    (!strcmp(row->target, e->target) || lies_within(e, row)))
			return true;
	}
	return false;
}

/* All of what is expected of a line: a function that is in that line alone, say. */
static bool is_told_by_line(const struct beside *b, const struct profile_expected *e)
{
	for (size_t i = 0; strcmp(e->kind, "line") && i < b->n_expected; i++) {
		const struct profile_expected *x = &b->expected[i];

		if (x->run == e->run && x->progress == e->progress && x->n_at == e->n_at &&
		    !strcmp(x->kind, "line") && !memcmp(x->at, e->at, e->n_at * sizeof(*e->at)))
			return true;
	}
	return false;
}

const struct profile_expected **beside_unmeasured(const struct beside *b, uint32_t progress,
						  size_t *n)
{
	const struct profile_expected **list = xcalloc(b->n_expected + 1, sizeof(*list));

	*n = 0;
	for (size_t i = 0; i < b->n_expected; i++) {
		const struct profile_expected *e = &b->expected[i];

		if (e->progress == progress && find(b, e->target, progress) == e &&
		    !is_measured(b, e) && !is_told_by_line(b, e) &&
		    profile_expectation_half(e->at, e->n_at)->pct >= EXPECTATION_LEAST_PCT)
			list[(*n)++] = e;
	}
	qsort(list, *n, sizeof(*list), more_worth);
	return list;
}

static bool is_line_of(const struct beside *b, const struct beside_row *row, const char *function)
{
	const struct profile_expected *line = find(b, row->target, row->e->progress);

	return line && line->function && !strcmp(line->function, function);
}

/*
 * Of the unmeasured the first that surely, by its bounds, would save more than experiments say of
 * @row, at the speedup of its best; NULL: none. A function that @row's target is a line of does not
 * count.
 */
static const struct profile_expected *beyond_row(const struct beside *b,
						 const struct beside_row *row)
{
	const struct profile_expected *beyond = NULL;
	const struct estimate *e = row->e;
	size_t n;
	const struct profile_expected **list = beside_unmeasured(b, e->progress, &n);

	for (size_t i = 0; i < n && !beyond; i++) {
		const struct profile_expected *x = list[i];
		struct profile_expectation at;

		if (expected_at(x, e->best_at_pct, &at) && at.low > e->best_hi &&
		    !is_line_of(b, row, x->target))
			beyond = x;
	}
	free(list);
	return beyond;
}

const struct beside_row *beside_pick(const struct beside *b, uint32_t progress,
				     const struct answer_row *(*pick)(const struct answer_row *rows,
								      size_t n))
{
	_cleanup_free_ const struct beside_row **from = xcalloc(b->n_rows + 1, sizeof(*from));
	_cleanup_free_ struct answer_row *rows = xcalloc(b->n_rows + 1, sizeof(*rows));
	const struct answer_row *found;
	size_t n = 0;

	for (size_t i = 0; i < b->n_rows; i++) {
		if (b->rows[i].e->progress != progress || b->rows[i].joint)
			continue;
		rows[n] = (struct answer_row){ b->rows[i].e, b->rows[i].label };
		from[n++] = &b->rows[i];
	}
	found = pick(rows, n);
	return found ? from[found - rows] : NULL;
}

const char *beside_untried(const struct beside *b, const struct beside_row *first)
{
	const struct profile_expected *x = beyond_row(b, first);

	return x ? x->target : NULL;
}

/* ---- what comes after the best ---- */

/* As it is called where it was measured alone, if it was. */
static char *label_of(const struct beside *b, const char *target)
{
	char **made, *label;

	for (size_t i = 0; i < b->n_rows; i++) {
		if (!strcmp(b->rows[i].target, target))
			return xstrdup(b->rows[i].label);
	}
	made = labels_make(&target, 1);
	label = made[0];
	free(made);
	return label;
}

/*
 * Of both replay expects more, for all its doubt, than of the first alone: replay is compared with
 * replay, for what it is wrong about it is wrong about in both.
 */
static bool expects_more(const struct profile_expectation *both,
			 const struct profile_expectation *alone)
{
	return both->pct - alone->pct >= NEXT_LEAST_PP && both->low > alone->low;
}

/* Of those that replay expects more of, with the first, than of that one alone. */
static void find_expected(const struct beside *b, struct steps *s)
{
	const struct beside_row *first = s->first;
	const struct profile_expected *only = find(b, first->target, first->e->progress);

	/* What is not known to be first has no next. */
	if (!only || beyond_row(b, first))
		return;
	for (size_t i = 0; i < b->n_next; i++) {
		const struct profile_expected *x = &b->next[i];
		const struct estimate_point *at =
			x->n_at == 1 ? estimate_point_at(first->e, 100 * x->at[0].speedup) : NULL;
		struct profile_expectation alone;

		if (x->progress != first->e->progress || x->run != b->replay->run ||
		    strcmp(x->after, first->target) != 0 || !at ||
		    estimate_point_knowledge(at) != KNOWN_VALUE || at->ci_lo <= 0 ||
		    x->at[0].pct <= at->program_speedup_pct ||
		    !expected_at(only, at->speedup_pct, &alone) || !expects_more(&x->at[0], &alone))
			continue;
		if (!s->expected || profile_expectation_worth(&x->at[0]) >
					    profile_expectation_worth(&s->expected->at[0])) {
			s->expected = x;
			s->at = at;
			s->alone = alone;
		}
	}
}

void steps_find(const struct beside *b, uint32_t progress, struct steps *s)
{
	*s = (struct steps){ .first = beside_pick(b, progress, answer_first) };
	s->joint = xcalloc(b->n_rows + 1, sizeof(*s->joint));
	s->row = xcalloc(b->n_rows + 1, sizeof(*s->row));
	s->other = xcalloc(b->n_rows + 1, sizeof(*s->other));
	for (size_t i = 0; s->first && i < b->n_rows; i++) {
		const struct beside_row *row = &b->rows[i];

		if (!row->joint || row->e->progress != progress)
			continue;
		s->other[s->n] = next_other_part(row->target, s->first->target);
		if (!s->other[s->n])
			continue;
		s->row[s->n] = row;
		s->joint[s->n].e = row->e;
		s->joint[s->n].label = label_of(b, s->other[s->n]);
		s->n++;
	}
	if (s->first)
		s->found = next_step_find(s->first->e, s->joint, s->n);
	if (s->first && b->replay && (s->found.answer == NEXT_NONE || s->found.answer == NEXT_OPEN))
		find_expected(b, s);
}

void steps_deinit(struct steps *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free((char *)s->joint[i].label);
		free(s->other[i]);
	}
	free(s->joint);
	free(s->row);
	free(s->other);
}

static char *expected_step_text(const struct beside *b, const struct steps *s)
{
	const struct profile_expectation *x = &s->expected->at[0];
	_cleanup_free_ char *other = label_of(b, s->expected->target);
	_cleanup_free_ char *alone = expected_text(&s->alone);
	_cleanup_free_ char *both = percent_text(x->pct), *low = percent_text(x->low);
	_cleanup_free_ char *high = percent_text(x->high);
	_cleanup_free_ char *less = less_time_text(100 * x->speedup);
	const char *first = s->first->label;

	return xasprintf(
		"After %s, %s may be next: if both took %s, %s %% would be saved (between %s and "
		"%s; %s alone: %s), as a recording of the beginning makes expect: %s",
		first, other, less, both, low, high, first, alone,
		s->found.answer == NEXT_OPEN ? "experiments do not know yet" : "not measured");
}

char *steps_text(const struct beside *b, const struct steps *s)
{
	if (!s->first)
		return NULL;
	if (s->expected)
		return expected_step_text(b, s);
	return next_step_text(&s->found, s->first->label, s->joint, s->n);
}
