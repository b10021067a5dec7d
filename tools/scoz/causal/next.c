// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/causal/next.h"

#include <math.h>

#include "base/labels.h"
#include "stats/answer.h"
#include "stats/next_step.h"
#include "tools/scoz/causal/expected.h"
#include "tools/scoz/json_values.h"

static bool is_together(const struct profile_target *t)
{
	return !strcmp(t->kind, "together");
}

bool next_is_joint(const struct profile *p, const bool *alone, uint32_t target)
{
	bool joint = false;

	for (size_t i = 0; i < p->n_targets && is_together(&p->targets[target]) && !joint; i++) {
		char *other = alone[i] && !is_together(&p->targets[i])
				      ? next_other_part(p->targets[target].name, p->targets[i].name)
				      : NULL;

		joint = other != NULL;
		free(other);
	}
	return joint;
}

/* The best of one progress point, and what it was tried with. */
struct steps {
	const struct model_row *first; /* NULL: nothing is surely worth it */
	struct next_joint *joint;
	const struct model_row **row; /* of the joints */
	char **other;		      /* names */
	size_t n;
	struct next_step found;
	/* By replay, where experiments do not tell: of the first at that speedup, and of both. */
	const struct estimate_point *at;
	const struct profile_expected *expected; /* NULL: nothing is */
	struct profile_expectation alone;	 /* of the first, by replay as well */
};

/* As in the ranking, if it is there. */
static char *label_of(const struct model *m, const char *target)
{
	char **made, *label;

	for (size_t i = 0; i < m->n_rows; i++) {
		if (!strcmp(m->rows[i].target->name, target))
			return xstrdup(m->labels[i]);
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
static void find_expected(const struct model *m, struct steps *s)
{
	const struct profile *p = m->profile;
	const struct model_row *first = s->first;
	const struct profile_expected *only =
		expected_of(p, first->target->name, first->e->progress);

	/* What is not known to be first has no next. */
	if (!only || expected_beyond(m, first))
		return;
	for (size_t i = 0; i < p->n_expected_next; i++) {
		const struct profile_expected *x = &p->expected_next[i];
		const struct estimate_point *at =
			x->n_at == 1 ? model_point(first, 100 * x->at[0].speedup) : NULL;
		struct profile_expectation alone;

		if (x->progress != first->e->progress || x->run != expected_replay(p)->run ||
		    strcmp(x->after, first->target->name) != 0 || !at ||
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

static void steps_find(const struct model *m, uint32_t progress, struct steps *s)
{
	*s = (struct steps){ .first = model_answer_row(m, progress, answer_first) };
	s->joint = xcalloc(m->n_rows + 1, sizeof(*s->joint));
	s->row = xcalloc(m->n_rows + 1, sizeof(*s->row));
	s->other = xcalloc(m->n_rows + 1, sizeof(*s->other));
	for (size_t i = 0; s->first && i < m->n_rows; i++) {
		const struct model_row *row = &m->rows[i];

		if (!row->joint || row->e->progress != progress)
			continue;
		s->other[s->n] = next_other_part(row->target->name, s->first->target->name);
		if (!s->other[s->n])
			continue;
		s->row[s->n] = row;
		s->joint[s->n].e = row->e;
		s->joint[s->n].label = label_of(m, s->other[s->n]);
		s->n++;
	}
	if (s->first)
		s->found = next_step_find(s->first->e, s->joint, s->n);
	if (s->first && expected_replay(m->profile) &&
	    (s->found.answer == NEXT_NONE || s->found.answer == NEXT_OPEN))
		find_expected(m, s);
}

static void steps_deinit(struct steps *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free((char *)s->joint[i].label);
		free(s->other[i]);
	}
	free(s->joint);
	free(s->row);
	free(s->other);
}

static char *expected_step_text(const struct model *m, const struct steps *s)
{
	const struct profile_expectation *x = &s->expected->at[0];
	_cleanup_free_ char *other = label_of(m, s->expected->target);
	_cleanup_free_ char *alone = expected_text(&s->alone);
	_cleanup_free_ char *both = percent_text(x->pct), *low = percent_text(x->low);
	_cleanup_free_ char *high = percent_text(x->high);
	_cleanup_free_ char *less = less_time_text(100 * x->speedup);
	const char *first = m->labels[s->first - m->rows];

	return xasprintf(
		"After %s, %s may be next: if both took %s, %s %% would be saved (between %s and "
		"%s; %s alone: %s), as a recording of the beginning makes expect: %s",
		first, other, less, both, low, high, first, alone,
		s->found.answer == NEXT_OPEN ? "experiments do not know yet" : "not measured");
}

static char *steps_text(const struct model *m, const struct steps *s)
{
	if (!s->first)
		return NULL;
	if (s->expected)
		return expected_step_text(m, s);
	return next_step_text(&s->found, m->labels[s->first - m->rows], s->joint, s->n);
}

char *next_text(const struct model *m, uint32_t progress, bool *known)
{
	struct steps s;
	char *text;

	steps_find(m, progress, &s);
	text = steps_text(m, &s);
	if (known)
		*known = text && (s.expected || s.found.answer != NEXT_OPEN);
	steps_deinit(&s);
	return text;
}

const struct model_row **next_joints(const struct model *m, uint32_t progress, size_t *n)
{
	const struct model_row **list = xcalloc(m->n_rows + 1, sizeof(*list));

	*n = 0;
	for (size_t i = 0; i < m->n_rows; i++) {
		if (m->rows[i].joint && m->rows[i].e->progress == progress)
			list[(*n)++] = &m->rows[i];
	}
	return list;
}

/* ---- JSON ---- */

static json_t *gain_json(const char *target, double pct, double lo, double hi)
{
	return json_pack("{s:o,s:o,s:[o,o]}", "target", json_clean(target), "program_speedup_pct",
			 json_percent(pct), "ci95", json_percent(lo), json_percent(hi));
}

static json_t *both_json(const struct steps *s)
{
	const struct profile_expectation *both = &s->expected->at[0], *alone = &s->alone;

	return json_pack("{s:o,s:o,s:[o,o],s:o,s:[o,o]}", "target", json_clean(s->expected->target),
			 "both_pct", json_percent(both->pct), "bounds", json_percent(both->low),
			 json_percent(both->high), "alone_pct", json_percent(alone->pct),
			 "alone_bounds", json_percent(alone->low), json_percent(alone->high));
}

static json_t *steps_json(const struct model *m, uint32_t progress)
{
	static const char *const answers[] = { [NEXT_NONE] = "not tried",
					       [NEXT_MORE] = "more",
					       [NEXT_NOTHING] = "nothing",
					       [NEXT_OPEN] = "not known" };
	json_t *o = NULL, *tried = json_array();
	_cleanup_free_ char *text = NULL;
	const struct estimate_point *p;
	struct steps s;

	steps_find(m, progress, &s);
	text = steps_text(m, &s);
	for (size_t i = 0; i < s.n; i++)
		json_array_append_new(tried, json_clean(s.other[i]));
	if (text) {
		const struct difference *d = &s.found.more;

		p = s.expected ? s.at : s.found.first;
		o = json_pack("{s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:o}", "progress",
			      json_clean(m->profile->progress[progress].name), "speedup_pct",
			      json_percent(p->speedup_pct), "first",
			      gain_json(s.first->target->name, p->program_speedup_pct, p->ci_lo,
					p->ci_hi),
			      "answer", answers[s.found.answer], "then",
			      s.found.answer == NEXT_MORE
				      ? gain_json(s.other[s.found.second], d->value, d->lo, d->hi)
				      : json_null(),
			      "tried", json_incref(tried), "expected",
			      s.expected ? both_json(&s) : json_null(), "text", json_clean(text));
	}
	json_decref(tried);
	steps_deinit(&s);
	return o;
}

json_t *next_json(const struct model *m)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->profile->n_progress; i++) {
		json_t *o = steps_json(m, i);

		if (o)
			json_array_append_new(list, o);
	}
	return list;
}
