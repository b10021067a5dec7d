// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ranking in a terminal: the answer, then a line for each target with a bar as long as what is
 * sure and a whisker for the 95 % interval, all on one axis. What was done to get there comes
 * after (report_run.c).
 */
#include "tools/scoz/causal/report_text.h"

#include <math.h>

#include "progress/labels.h"
#include "stats/describe.h"
#include "tools/scoz/causal/expected.h"
#include "tools/scoz/causal/next.h"
#include "tools/scoz/causal/report_axis.h"
#include "tools/scoz/causal/report_run.h"
#include "tools/scoz/causal/report_target.h"
#include "tools/scoz/cmds.h"
#include "tools/scoz/text.h"

#define FOLDED_ROWS 5 /* of what nobody needs to act on, unless --limit says otherwise */
#define LEAST_NAME  16
#define SEEN_FROM   70	/* columns, from which on there is one for the samples */
#define PLACE_FROM  100 /* columns, from which on there is one for the place */
#define CURVE_FROM  120

/* ---- the axis ---- */

static struct scale scale_of(const struct ranking *r, size_t width)
{
	struct scale s = { .lo = 0, .hi = 5, .width = width };
	double air;

	for (size_t i = 0; i < r->n; i++) {
		const struct estimate *e = r->rows[i]->e;

		if (e->best != KNOWN_VALUE)
			continue;
		scale_stretch(&s, e->best_pct);
		if (section_of(r->rows[i]) != SECTION_UNCLEAR ||
		    e->best_hi - e->best_lo < STRETCHING) {
			scale_stretch(&s, e->best_lo);
			scale_stretch(&s, e->best_hi);
		}
	}
	air = (s.hi - s.lo) / (2.0 * s.width);
	s.hi += air;
	s.lo -= s.lo < 0 ? air : 0;
	return s;
}

/* ---- cells ---- */

static char *value_text(const struct model_row *row)
{
	const struct estimate *e = row->e;

	if (e->best == KNOWN_NOTHING)
		return xstrdup(glyphs()->dash);
	return percent_interval_text(e->best_pct, e->best_lo, e->best_hi, e->best_at_pct);
}

static char *at_text(const struct model_row *row)
{
	return row->e->best == KNOWN_NOTHING ? xstrdup("")
					     : xasprintf("%g %%", row->e->best_at_pct);
}

char *report_share_text(const struct model_row *row)
{
	double share = ranking_share(row);

	if (!isfinite(share))
		return xstrdup(glyphs()->dash);
	return xasprintf(share < 9.95 ? "%.1f" : "%.0f", share);
}

/* Where it is, and in which binary: what the label does not say. */
static char *place_text(const struct model_row *row)
{
	const char *binary = label_binary(row->target->name), *location = row->target->location;

	if (!strcmp(location, row->target->name))
		location = "";
	if (binary && *location)
		return xasprintf("%s %s", binary, location);
	return xstrdup(binary ? binary : location);
}

/* The whole curve, on a scale that all share; blank where nothing is known. */
static char *curve_text(const struct model *m, const struct model_row *row, const struct scale *s)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	char *text = xstrdup("");

	for (size_t i = 0; i < m->n_speedups; i++) {
		const struct estimate_point *p = model_point(row, m->speedups[i]);
		double part = p ? (p->program_speedup_pct - s->lo) / (s->hi - s->lo) : 0;

		if (!p || estimate_point_knowledge(p) != KNOWN_VALUE)
			text_add(&text, " ");
		else
			text_add(&text, "%s", blocks[(int)fmin(fmax(part * 8, 0), 7)]);
	}
	return text;
}

/* ---- the ranking ---- */

struct columns {
	size_t name, place, value, at, curve;
	bool seen;
	struct scale scale;
};

static size_t most_width(const struct ranking *r, char *(*text)(const struct model_row *row))
{
	size_t most = 0;

	for (size_t i = 0; i < r->n; i++) {
		_cleanup_free_ char *t = text(r->rows[i]);
		size_t w = text_width(t);

		most = w > most ? w : most;
	}
	return most;
}

/* By row of the model; those that are not shown are NULL. */
static char **shown_labels(const struct ranking *r)
{
	char **labels = xcalloc(r->n ? r->n : 1, sizeof(*labels));

	for (size_t i = 0; i < r->n; i++)
		labels[i] = text_shown(r->m->labels[r->rows[i] - r->m->rows]);
	return labels;
}

static struct columns find_columns(const struct ranking *r, char **labels, size_t width)
{
	struct columns c = { .value = most_width(r, value_text), .at = most_width(r, at_text) };
	size_t fixed, longest = 0, place = most_width(r, place_text);

	c.value = c.value < 12 ? 12 : c.value;
	c.at = c.at < 5 ? 5 : c.at;
	for (size_t i = 0; i < r->n; i++) {
		size_t w = text_width(labels[i]);

		longest = w > longest ? w : longest;
	}
	longest = longest < LEAST_NAME ? LEAST_NAME : longest;
	if (width >= CURVE_FROM && locale_is_utf8() && r->m->n_speedups > 1 &&
	    r->m->n_speedups <= 24)
		c.curve = r->m->n_speedups < 5 ? 5 : r->m->n_speedups;
	c.seen = width >= SEEN_FROM;
	/* Two blanks before the name, and between columns. */
	fixed = 2 + 2 + (c.seen ? 6 : 0) + 2 + c.value + 2 + c.at + (c.curve ? 2 + c.curve : 0);
	c.name = width > fixed + 2 * LEAST_NAME ? (width - fixed) / 2 : LEAST_NAME;
	c.name = width >= PLACE_FROM ? c.name * 2 / 3 : c.name;
	c.name = c.name < LEAST_NAME ? LEAST_NAME : c.name > longest ? longest : c.name;
	if (fixed + c.name + LEAST_BAR > width)
		c.name = 12;
	fixed += c.name;
	if (width >= PLACE_FROM && place && width > fixed + 24) {
		size_t room = (width - fixed) / 2 - 2;

		c.place = place < room ? place : room;
		fixed += 2 + c.place;
	}
	c.scale.width = width > fixed + LEAST_BAR ? width - fixed : LEAST_BAR;
	c.scale.width = c.scale.width > MOST_BAR ? MOST_BAR : c.scale.width;
	c.scale = scale_of(r, c.scale.width);
	return c;
}

static void print_columns(const struct columns *c)
{
	_cleanup_free_ char *ticks = scale_ticks(&c->scale);

	paint(PAINT_SOFT);
	printf("  %-*s  ", (int)c->name, "TARGET");
	if (c->place)
		printf("%-*s  ", (int)c->place, "WHERE");
	if (c->seen)
		printf("SEEN  ");
	printf("%s  ", ticks);
	put_cell("SAVES", c->value, true);
	printf("  %*s", (int)c->at, "AT");
	if (c->curve)
		printf("  CURVE");
	printf("\n");
	paint(PAINT_PLAIN);
}

static void print_measured(const struct model_row *row)
{
	const struct estimate_point *p = model_point(row, row->e->best_at_pct);

	if (p && p->measured_windows) {
		_cleanup_free_ char *text = percent_interval_text(p->measured_pct, p->measured_lo,
								  p->measured_hi, p->speedup_pct);

		printf("    measured at %g %%: %s\n", p->speedup_pct, text);
	}
}

static void print_expected(const struct model *m, const struct model_row *row)
{
	struct profile_expectation at;
	enum expected_says says = expected_beside(m, row, &at);
	_cleanup_free_ char *text = NULL;

	if (says == EXPECTED_NOTHING)
		return;
	text = expected_text(&at);
	printf("    replay expected %s%s\n", text,
	       says == EXPECTED_AGREES ? "" : ": not what experiments say");
}

static void print_doubt(const struct model_row *row)
{
	if (estimate_needs_reason(row->e))
		printf("    not sure: %s\n", doubt_text(row->e->doubt));
}

static void print_row(const struct ranking *r, const struct model_row *row, const char *label,
		      const struct columns *c)
{
	_cleanup_free_ char *value = value_text(row), *at = at_text(row);
	_cleanup_free_ char *share = report_share_text(row), *place = place_text(row);
	enum paint p = paint_of(section_of(row));

	printf("  ");
	paint(section_of(row) <= SECTION_HARMFUL ? PAINT_BOLD : PAINT_PLAIN);
	put_cell(label, c->name, false);
	paint(PAINT_PLAIN);
	if (c->place) {
		char *shown = text_shown(place);

		shown = text_shorten(shown, c->place, locale_ellipsis());
		printf("  ");
		paint(PAINT_SOFT);
		put_cell(shown, c->place, false);
		paint(PAINT_PLAIN);
		free(shown);
	}
	printf("  ");
	if (c->seen) {
		put_cell(share, 4, true);
		printf("  ");
	}
	if (row->e->best == KNOWN_VALUE)
		print_interval(&c->scale, row->e->best_lo, row->e->best_pct, row->e->best_hi,
			       section_of(row));
	else
		print_empty(&c->scale);
	printf("  ");
	put_cell(value, c->value, true);
	if (*at || c->curve)
		printf("  %*s", (int)c->at, at);
	if (c->curve) {
		_cleanup_free_ char *curve = curve_text(r->m, row, &c->scale);

		printf("  ");
		paint(p);
		fputs(curve, stdout);
		paint(PAINT_PLAIN);
	}
	putchar('\n');
	print_doubt(row);
	print_measured(row);
	print_expected(r->m, row);
}

static size_t limit_of(const struct report_options *o, enum section s)
{
	if (o->choice.limit != SIZE_MAX)
		return o->choice.limit ? o->choice.limit : SIZE_MAX;
	return s <= SECTION_HARMFUL ? SIZE_MAX : FOLDED_ROWS;
}

static void print_section(const struct ranking *r, enum section s, char *const *labels,
			  const struct columns *c, const struct report_options *o)
{
	size_t n = r->start[s + 1] - r->start[s], limit = limit_of(o, s);

	if (!n)
		return;
	paint(PAINT_BOLD);
	printf("%s (%zu)\n", section_title(s), n);
	paint(PAINT_PLAIN);
	for (size_t i = 0; i < n && i < limit; i++)
		print_row(r, r->rows[r->start[s] + i], labels[r->start[s] + i], c);
	if (n > limit)
		printf("  %zu more: --limit 0 shows all\n", n - limit);
}

/* By replay, as long as no experiment says anything: with bounds, in no order of what is sure. */
static void print_unmeasured(const struct model *m, uint32_t progress,
			     const struct report_options *o)
{
	size_t n, limit = o->choice.limit == SIZE_MAX ? FOLDED_ROWS
			  : o->choice.limit	      ? o->choice.limit
						      : SIZE_MAX;
	const struct profile_expected **list = beside_unmeasured(&m->beside, progress, &n);
	const struct profile_replay *replay = expected_replay(m->profile);

	if (n) {
		paint(PAINT_BOLD);
		printf("Not measured (%zu)", n);
		paint(PAINT_PLAIN);
		printf(": only estimated, from a recording of the first %.1f s\n",
		       replay ? replay->seconds : 0);
	}
	for (size_t i = 0; i < n && i < limit; i++) {
		const struct profile_expectation *at =
			profile_expectation_half(list[i]->at, list[i]->n_at);
		_cleanup_free_ char *name = text_shown(list[i]->target), *text = expected_text(at);

		printf("  %s: %s at %g %%\n", name, text, 100 * at->speedup);
	}
	if (n > limit)
		printf("  %zu more: --limit 0 shows all\n", n - limit);
	free(list);
}

static void print_joints(const struct model *m, uint32_t progress, const struct report_options *o)
{
	size_t n, limit = o->choice.limit == SIZE_MAX ? FOLDED_ROWS
			  : o->choice.limit	      ? o->choice.limit
						      : SIZE_MAX;
	const struct model_row **list = next_joints(m, progress, &n);

	if (n) {
		paint(PAINT_BOLD);
		printf("Together (%zu)", n);
		paint(PAINT_PLAIN);
		printf(": what both would save if both took less time\n");
	}
	for (size_t i = 0; i < n && i < limit; i++) {
		_cleanup_free_ char *label = text_shown(m->labels[list[i] - m->rows]);
		_cleanup_free_ char *best = estimate_best_text(list[i]->e);

		printf("  %s: %s\n", label, best);
	}
	if (n > limit)
		printf("  %zu more: --limit 0 shows all\n", n - limit);
	free(list);
}

static void print_next(const struct model *m, uint32_t progress, size_t width)
{
	_cleanup_free_ char *text = next_text(m, progress, NULL), *line = NULL, *shown = NULL;

	if (!text)
		return;
	line = xasprintf("%s.", text);
	shown = text_shown(line);
	text_put_wrapped(shown, 0, width);
}

static void print_headline(const struct model *m, const struct ranking *r, bool counts,
			   size_t width)
{
	_cleanup_free_ char *text = ranking_headline(r, m->labels, counts),
			    *shown = text_shown(text);

	text_put_wrapped(shown, 0, width);
}

static void print_ranking(const struct model *m, uint32_t progress, const struct report_options *o,
			  size_t width, size_t prose)
{
	_cleanup_free_ char *excuse = NULL;
	struct ranking r, all;
	struct columns c;
	char **labels;

	ranking_init(&all, m, progress, SORT_BOUND, NULL);
	excuse = ranking_excuse(&all);
	ranking_init(&r, m, progress, o->choice.sort, o->choice.filter);
	paint(PAINT_BOLD);
	print_headline(m, &all, true, prose);
	paint(PAINT_PLAIN);
	if (excuse)
		text_put_wrapped(excuse, 0, prose);
	if (r.n) {
		_cleanup_free_ char *unit = ranking_unit(m, r.progress), *shown = text_shown(unit);

		labels = shown_labels(&r);
		c = find_columns(&r, labels, width);
		labels_fit(labels, r.n, c.name, locale_ellipsis());
		putchar('\n');
		paint(PAINT_SOFT);
		_cleanup_free_ char *legend = xasprintf(
			"SAVES: %% of %s, if the target took AT %% less time [95 %% "
			"interval]%s",
			shown,
			c.seen ? "; SEEN: % of samples (of all CPUs; what is saved is elapsed time)"
			       : "");

		text_put_wrapped(legend, 0, prose);
		paint(PAINT_PLAIN);
		print_columns(&c);
		for (enum section s = 0; s < SECTIONS; s++)
			print_section(&r, s, labels, &c, o);
		if (!o->choice.filter) {
			print_joints(m, progress, o);
			print_unmeasured(m, progress, o);
		}
		for (size_t i = 0; i < r.n; i++)
			free(labels[i]);
		free(labels);
	}
	if (r.others)
		printf("  (%zu other targets do not match --filter)\n", r.others);
	putchar('\n');
	ranking_deinit(&r);
	ranking_deinit(&all);
}

/* Again the answer, where the terminal has not scrolled it away. */
static void print_last(const struct model *m, uint32_t progress, size_t width)
{
	struct ranking all;

	ranking_init(&all, m, progress, SORT_BOUND, NULL);
	if (m->profile->n_progress > 1 && all.n) {
		_cleanup_free_ char *name = text_shown(all.progress->name);

		printf("%s: ", name);
	}
	if (all.n) {
		print_headline(m, &all, false, width);
		print_next(m, progress, width);
	}
	ranking_deinit(&all);
}

/* No target was measured: why, is said at the end. */
static void print_nothing(const struct model *m, uint32_t progress, const struct report_options *o,
			  size_t width)
{
	struct ranking none;

	ranking_init(&none, m, progress, SORT_BOUND, NULL);
	paint(PAINT_BOLD);
	print_headline(m, &none, false, width);
	paint(PAINT_PLAIN);
	putchar('\n');
	print_unmeasured(m, progress, o);
	ranking_deinit(&none);
}

int report_print(const struct model *m, const struct report_options *o)
{
	size_t width = output_width(), prose = prose_width();

	width = width < 50 ? 50 : width;
	paint_begin(o->color);
	if (o->choice.target && m->n_rows)
		return report_print_targets(m, &o->choice, width);
	for (uint32_t i = 0; m->n_rows && i < m->profile->n_progress; i++)
		print_ranking(m, i, o, width, prose);
	for (uint32_t i = 0; !m->n_rows && i < m->profile->n_progress; i++)
		print_nothing(m, i, o, prose);
	if (!m->n_rows)
		putchar('\n');
	report_print_run(m, prose);
	if (m->n_rows)
		putchar('\n');
	for (uint32_t i = 0; m->n_rows && i < m->profile->n_progress; i++)
		print_last(m, i, prose);
	return m->n_rows ? EXIT_DONE : EXIT_NOTHING;
}
