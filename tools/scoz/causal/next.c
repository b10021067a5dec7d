// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/causal/next.h"

#include "profile/beside.h"
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

char *next_text(const struct model *m, uint32_t progress, bool *known)
{
	struct steps s;
	char *text;

	steps_find(&m->beside, progress, &s);
	text = steps_text(&m->beside, &s);
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

	steps_find(&m->beside, progress, &s);
	text = steps_text(&m->beside, &s);
	for (size_t i = 0; i < s.n; i++)
		json_array_append_new(tried, json_clean(s.other[i]));
	if (text) {
		const struct difference *d = &s.found.more;

		p = s.expected ? s.at : s.found.first;
		o = json_pack(
			"{s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:o}", "progress",
			json_clean(m->profile->progress[progress].name), "speedup_pct",
			json_percent(p->speedup_pct), "first",
			gain_json(s.first->target, p->program_speedup_pct, p->ci_lo, p->ci_hi),
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
