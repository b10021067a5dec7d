// SPDX-License-Identifier: GPL-2.0-or-later
/* One target in a terminal: its curve, who calls it, who waits for it, how precise that is. */
#include "tools/scoz/causal/report_target.h"
#include "stats/describe.h"

#include <math.h>
#include <unistd.h>

#include "tools/scoz/causal/callers.h"
#include "tools/scoz/causal/expected.h"
#include "tools/scoz/causal/report_axis.h"
#include "tools/scoz/causal/waiters.h"
#include "tools/scoz/cmds.h"
#include "tools/scoz/text.h"

/* "  text", on as many lines as it takes; frees @text. */
static void put_detail(char *text, size_t width)
{
	_cleanup_free_ char *shown = text_shown(text);

	printf("  ");
	text_put_wrapped(shown, 4, width);
	free(text);
}

static void print_trust_of(const struct model_row *row, size_t width)
{
	_cleanup_free_ char *text = model_precision_text(row);

	put_detail(xasprintf("precision at %g %%: %s%s", row->trust.speedup_pct, text,
			     row->trust.command ? ":" : ""),
		   width);
	if (row->trust.command) { /* whole: to be copied */
		_cleanup_free_ char *command = text_shown(row->trust.command);

		printf("    %s\n", command);
	}
}

static struct scale scale_of_curve(const struct model_row *row, size_t width)
{
	struct scale s = { .lo = 0, .hi = 5, .width = width };

	for (size_t i = 1; i < row->e->n_points; i++) {
		const struct estimate_point *p = &row->e->points[i];

		if (estimate_point_knowledge(p) != KNOWN_VALUE)
			continue;
		scale_stretch(&s, p->program_speedup_pct);
		if (p->ci_hi - p->ci_lo < STRETCHING) {
			scale_stretch(&s, p->ci_lo);
			scale_stretch(&s, p->ci_hi);
		}
	}
	return s;
}

/* What else is known of a point, a column each; NULL: nothing, to be freed. */
enum { BESIDE_REPLAY, BESIDE_MEASURED, BESIDES };

static char *beside_text(const struct profile_expected *expected, const struct estimate_point *p,
			 int which)
{
	struct profile_expectation at;

	if (which == BESIDE_MEASURED)
		return p->measured_windows ? percent_interval_text(p->measured_pct, p->measured_lo,
								   p->measured_hi, p->speedup_pct)
					   : NULL;
	if (!expected || !expected_at(expected, p->speedup_pct, &at))
		return NULL;
	return xasprintf("%.1f [%.1f, %.1f]", at.pct + 0.0, at.low, at.high);
}

static void print_curve(const struct model *m, const struct model_row *row, size_t width)
{
	static const char *const beside_heads[] = { "REPLAY (BOUNDS)", "MEASURED" };
	const struct profile_expected *expected =
		expected_of(m->profile, row->target->name, row->e->progress);
	size_t value = 12, fixed, beside[BESIDES] = { 0 }, bar;
	struct scale s;
	char *ticks;

	for (size_t i = 1; i < row->e->n_points; i++) {
		const struct estimate_point *p = &row->e->points[i];
		_cleanup_free_ char *text = estimate_point_text(p);

		value = text_width(text) > value ? text_width(text) : value;
		for (int k = 0; k < BESIDES; k++) {
			_cleanup_free_ char *other = beside_text(expected, p, k);
			size_t w = other ? text_width(other) : 0;

			w = w && w < strlen(beside_heads[k]) ? strlen(beside_heads[k]) : w;
			beside[k] = w > beside[k] ? w : beside[k];
		}
	}
	fixed = 2 + 7 + 2 + 2 + value + 2 + 7;
	for (int k = 0; k < BESIDES; k++)
		fixed += beside[k] ? 2 + beside[k] : 0;
	bar = width > fixed + LEAST_BAR ? width - fixed : LEAST_BAR;
	s = scale_of_curve(row, bar > MOST_BAR ? MOST_BAR : bar);
	ticks = scale_ticks(&s);
	paint(PAINT_SOFT);
	printf("  %7s  %s  %*s  WINDOWS", "AT", ticks, (int)value, "SAVES");
	for (int k = 0; k < BESIDES; k++) {
		if (beside[k])
			printf("  %*s", (int)beside[k], beside_heads[k]);
	}
	putchar('\n');
	paint(PAINT_PLAIN);
	free(ticks);
	for (size_t i = 1; i < row->e->n_points; i++) {
		const struct estimate_point *p = &row->e->points[i];
		_cleanup_free_ char *text = estimate_point_text(p);

		printf("  %5g %%  ", p->speedup_pct);
		if (estimate_point_knowledge(p) == KNOWN_VALUE)
			print_interval(&s, p->ci_lo, p->program_speedup_pct, p->ci_hi,
				       section_of(row));
		else
			print_empty(&s);
		printf("  ");
		put_cell(text, value, true);
		printf("  %7u", p->windows);
		for (int k = 0; k < BESIDES; k++) {
			_cleanup_free_ char *other = beside_text(expected, p, k);

			if (!beside[k])
				continue;
			printf("  ");
			put_cell(other ? other : glyphs()->dash, beside[k], true);
		}
		putchar('\n');
	}
}

static void print_callers(const struct model *m, const struct model_row *row, size_t width)
{
	_cleanup_free_ struct call_path *paths = NULL;
	size_t n = call_paths(m->profile, row->e->target, &paths);
	double rest = 100;

	if (!n)
		return;
	printf("  reached by:\n");
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *text = call_path_text(&paths[i], glyphs()->calls);
		_cleanup_free_ char *shown = text_shown(text);

		printf("    %3.0f %%  ", paths[i].share_pct);
		text_put_wrapped(shown, 11, width);
		rest -= paths[i].share_pct;
	}
	if (rest >= 0.5)
		printf("    %3.0f %%  other ways\n", rest);
}

static void print_waiters(const struct model *m, const struct model_row *row)
{
	const struct profile_waiters *w = waiters_of(m->profile, row->target->name);

	if (!w)
		return;
	if (!w->n) {
		printf("  nobody is known to wait for it (first %.1f s)\n", w->seconds);
		return;
	}
	printf("  waited for by (%% of the first %.1f s):\n", w->seconds);
	for (size_t i = 0; i < w->n; i++) {
		_cleanup_free_ char *text = waiter_text(&w->list[i]), *shown = text_shown(text);

		printf("    %3.0f %%  %s\n", 100 * w->list[i].share, shown);
	}
}

static void print_details(const struct model *m, const struct model_row *row, size_t width)
{
	const char *location = row->target->location;
	_cleanup_free_ char *name = text_shown(row->target->name);
	_cleanup_free_ char *unit = ranking_unit(m, row->progress);
	_cleanup_free_ char *best = estimate_best_text(row->e), *share = report_share_text(row);
	bool why = estimate_needs_reason(row->e);

	paint(PAINT_BOLD);
	printf("%s\n", name); /* whole: to be copied */
	paint(PAINT_PLAIN);
	if (*location && strcmp(location, row->target->name) != 0)
		put_detail(xstrdup(location), width);
	put_detail(xasprintf("%s%s%s%s: %s of %s", verdict_name(row->e->verdict), why ? " (" : "",
			     why ? doubt_text(row->e->doubt) : "", why ? ")" : "", best, unit),
		   width);
	if (row->of || !m->chosen)
		put_detail(xasprintf("%llu samples%s%s%s", (unsigned long long)row->samples,
				     row->of ? " (" : "", row->of ? share : "",
				     row->of ? " %)" : ""),
			   width);
	else
		put_detail(xstrdup("in which processes its samples were is not known"), width);
	print_callers(m, row, width);
	print_waiters(m, row);
	putchar('\n');
	print_curve(m, row, width);
	putchar('\n');
	print_trust_of(row, width);
	if (row->e->warning)
		put_detail(xstrdup(row->e->warning), width);
	putchar('\n');
}

int report_no_target(const struct model *m, const char *wanted)
{
	log_warn("%s: %s, and no target of %s is named like it: `scoz report --limit 0 %s` lists "
		 "all",
		 wanted, access(wanted, F_OK) ? "no such file" : "no profile or recording",
		 m->profile->path, m->profile->path);
	return EXIT_FAILED;
}

int report_print_targets(const struct model *m, const struct ranking_choice *c, size_t width)
{
	size_t n;
	const struct model_row **rows = ranking_choose(m, c, &n);

	for (size_t i = 0; i < n; i++)
		print_details(m, rows[i], width);
	free(rows);
	return n ? EXIT_DONE : report_no_target(m, c->target);
}
