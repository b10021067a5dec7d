// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/causal/ranking.h"

#include <fnmatch.h>
#include <math.h>

#include "stats/answer.h"
#include "tools/scoz/causal/expected.h"

#define BUSY 0.25 /* of the machine, by others: reason enough for wide intervals */

static const char *const sort_names[SORTS] = {
	[SORT_BOUND] = "bound", [SORT_ESTIMATE] = "estimate", [SORT_SAMPLES] = "samples",
	[SORT_NAME] = "name",	[SORT_DOUBT] = "doubt",
};

enum section section_of(const struct model_row *row)
{
	static const enum section sections[] = {
		[VERDICT_OPTIMIZE] = SECTION_WORTH,
		[VERDICT_CONTENTION] = SECTION_HARMFUL,
		[VERDICT_NO_EFFECT] = SECTION_WORTHLESS,
		[VERDICT_UNDECIDED] = SECTION_UNCLEAR,
	};

	return sections[row->e->verdict];
}

const char *section_title(enum section s)
{
	static const char *const titles[] = {
		[SECTION_WORTH] = "Worth it",
		[SECTION_HARMFUL] = "Harmful if faster",
		[SECTION_WORTHLESS] = "Surely worthless",
		[SECTION_UNCLEAR] = "Unclear",
	};

	return titles[s];
}

int ranking_sort_named(const char *name)
{
	for (int i = 0; i < SORTS; i++) {
		if (!strcmp(name, sort_names[i]))
			return i;
	}
	return -1;
}

double ranking_share(const struct model_row *row)
{
	return row->of ? 100.0 * row->samples / row->of : NAN;
}

/* What to rank by, the larger the earlier; what is not known last. */
static double rank_key(const struct model_row *row, enum ranking_sort sort)
{
	const struct estimate *e = row->e;
	double width = e->best == KNOWN_VALUE ? e->best_hi - e->best_lo : INFINITY;

	if (sort == SORT_SAMPLES)
		return row->samples;
	if (sort == SORT_DOUBT)
		return width;
	if (sort == SORT_BOUND && section_of(row) == SECTION_WORTHLESS)
		return row->samples; /* hot and worthless */
	if (e->best == KNOWN_BOUND)
		return sort == SORT_BOUND && section_of(row) == SECTION_UNCLEAR ? e->best_hi : -1e9;
	if (e->best == KNOWN_NOTHING)
		return -INFINITY;
	if (sort == SORT_ESTIMATE)
		return section_of(row) == SECTION_HARMFUL ? -e->best_pct : e->best_pct;
	return answer_key(e);
}

static int compare_ranks(const void *pa, const void *pb, void *arg)
{
	const struct model_row *a = *(const struct model_row *const *)pa;
	const struct model_row *b = *(const struct model_row *const *)pb;
	enum ranking_sort sort = *(enum ranking_sort *)arg;
	double x, y;

	if (section_of(a) != section_of(b))
		return section_of(a) < section_of(b) ? -1 : 1;
	x = rank_key(a, sort);
	y = rank_key(b, sort);
	if (sort != SORT_NAME && x != y)
		return x > y ? -1 : 1;
	return strcmp(a->target->name, b->target->name);
}

static bool row_matches(const struct model_row *row, const char *filter)
{
	const char *const texts[] = { row->target->name, row->target->location };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (strpbrk(filter, "*?") ? !fnmatch(filter, texts[i], FNM_CASEFOLD)
					  : strcasestr(texts[i], filter) != NULL)
			return true;
	}
	return false;
}

/* Who names one exactly does not mean those that have more in their names. */
static bool is_named(const struct model *m, const struct model_row *row, const char *name)
{
	return !strcmp(row->target->name, name) || !strcmp(m->labels[row - m->rows], name);
}

static bool is_any_named(const struct model *m, const char *name)
{
	for (size_t i = 0; i < m->n_rows; i++) {
		if (is_named(m, &m->rows[i], name))
			return true;
	}
	return false;
}

static int compare_chosen(const void *pa, const void *pb, void *arg)
{
	const struct model_row *a = *(const struct model_row *const *)pa;
	const struct model_row *b = *(const struct model_row *const *)pb;

	if (a->joint != b->joint)
		return a->joint ? 1 : -1;
	return compare_ranks(pa, pb, arg) ?: (int)a->e->progress - (int)b->e->progress;
}

/* The first @limit of each section and progress point; joints are a section of their own. */
static size_t limit_rows(const struct model *m, const struct model_row **rows, size_t n,
			 size_t limit)
{
	_cleanup_free_ size_t *seen =
		xcalloc(m->profile->n_progress * (SECTIONS + 1), sizeof(*seen));
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		enum section s = rows[i]->joint ? SECTIONS : section_of(rows[i]);

		if (seen[rows[i]->e->progress * (SECTIONS + 1) + s]++ < limit)
			rows[kept++] = rows[i];
	}
	return kept;
}

const struct model_row **ranking_choose(const struct model *m, const struct ranking_choice *c,
					size_t *n)
{
	const struct model_row **rows = xcalloc(m->n_rows + 1, sizeof(*rows));
	bool exact = c->target && is_any_named(m, c->target);
	enum ranking_sort sort = c->sort;

	*n = 0;
	for (size_t i = 0; i < m->n_rows; i++) {
		const struct model_row *row = &m->rows[i];

		if (c->target &&
		    !(exact ? is_named(m, row, c->target) : row_matches(row, c->target)))
			continue;
		if (!c->filter || row_matches(row, c->filter))
			rows[(*n)++] = row;
	}
	if (c->sorted)
		qsort_r(rows, *n, sizeof(*rows), compare_chosen, &sort);
	if (c->limit)
		*n = limit_rows(m, rows, *n, c->limit);
	return rows;
}

void ranking_init(struct ranking *r, const struct model *m, uint32_t progress,
		  enum ranking_sort sort, const char *filter)
{
	*r = (struct ranking){ .m = m, .progress = &m->profile->progress[progress] };
	r->rows = xcalloc(m->n_rows ? m->n_rows : 1, sizeof(*r->rows));
	for (size_t i = 0; i < m->n_rows; i++) {
		if (m->rows[i].e->progress != progress || m->rows[i].joint)
			continue;
		if (filter && !row_matches(&m->rows[i], filter))
			r->others++;
		else
			r->rows[r->n++] = &m->rows[i];
	}
	qsort_r(r->rows, r->n, sizeof(*r->rows), compare_ranks, &sort);
	for (size_t s = 0, i = 0; s <= SECTIONS; s++) {
		while (i < r->n && section_of(r->rows[i]) < s)
			i++;
		r->start[s] = i;
	}
}

void ranking_deinit(struct ranking *r)
{
	free(r->rows);
}

char *ranking_unit(const struct model *m, const struct profile_progress *p)
{
	const char *name = m->progress[p - m->profile->progress].label;

	if (p->kind == PROGRESS_LATENCY)
		return xasprintf("the latency of \"%s\"", name);
	if (!strcmp(m->profile->runs[m->profile->n_runs - 1].header.mode, "end-to-end"))
		return xstrdup("the run time");
	return xasprintf("the time per \"%s\"", name);
}

static size_t section_size(const struct ranking *r, enum section s)
{
	return r->start[s + 1] - r->start[s];
}

static bool all_of_kind(const struct ranking *r, const char *kind)
{
	for (size_t i = 0; i < r->n; i++) {
		if (strcmp(r->rows[i]->target->kind, kind) != 0)
			return false;
	}
	return true;
}

char *ranking_tried(const struct ranking *r)
{
	const char *what = all_of_kind(r, "function") ? "function"
			   : all_of_kind(r, "line")   ? "line"
						      : "target";

	return xasprintf("%zu %s%s tried", r->n, what, r->n == 1 ? "" : "s");
}

char *ranking_counts(const struct ranking *r)
{
	static const char *const words[] = {
		[SECTION_WORTH] = "worth it",
		[SECTION_HARMFUL] = "harmful if faster",
		[SECTION_WORTHLESS] = "surely worthless",
		[SECTION_UNCLEAR] = "unclear",
	};
	char *text = ranking_tried(r);
	const char *before = ": ";

	for (enum section s = 0; s < SECTIONS; s++) {
		if (!section_size(r, s))
			continue;
		text_add(&text, "%s%zu %s", before, section_size(r, s), words[s]);
		before = ", ";
	}
	return text;
}

/* As the answer takes them; to be freed. */
static struct answer_row *answer_rows(const struct ranking *r, char *const *labels)
{
	struct answer_row *rows = xcalloc(r->n ? r->n : 1, sizeof(*rows));

	for (size_t i = 0; i < r->n; i++)
		rows[i] = (struct answer_row){ r->rows[i]->e, labels[r->rows[i] - r->m->rows] };
	return rows;
}

const char *ranking_untried(const struct ranking *r)
{
	_cleanup_free_ struct answer_row *rows = answer_rows(r, r->m->labels);
	const struct answer_row *first = answer_first(rows, r->n);

	return first ? beside_untried(&r->m->beside,
				      &r->m->beside.rows[r->rows[first - rows] - r->m->rows])
		     : NULL;
}

static char *ranking_answer(const struct ranking *r, char *const *labels)
{
	_cleanup_free_ struct answer_row *rows = answer_rows(r, labels);
	_cleanup_free_ char *unit = ranking_unit(r->m, r->progress);

	return answer_text(rows, r->n, unit, ranking_untried(r));
}

char *ranking_headline(const struct ranking *r, char *const *labels, bool counts)
{
	_cleanup_free_ char *answer = ranking_answer(r, labels);
	_cleanup_free_ char *count = ranking_counts(r);

	return counts && r->n ? xasprintf("%s. %s.", answer, count) : xasprintf("%s.", answer);
}

char *ranking_excuse(const struct ranking *r)
{
	double others = r->m->machine.others;

	if (section_size(r, SECTION_WORTH) || !section_size(r, SECTION_UNCLEAR) ||
	    !(others >= BUSY))
		return NULL;
	return xasprintf("Other programs took %.0f %% of the machine meanwhile: on an idle one "
			 "intervals are narrower.",
			 100 * others);
}
