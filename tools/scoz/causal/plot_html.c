// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One page that needs nothing else. All of the ranking is in it as HTML and SVG; page.js ranks anew
 * for other speedups, sorts and filters. Style sheet and script are page.css and page.js.
 */
#include <math.h>

#include "progress/labels.h"
#include "page.h"
#include "stats/answer.h"
#include "stats/describe.h"
#include "tools/scoz/causal/callers.h"
#include "tools/scoz/causal/expected.h"
#include "tools/scoz/causal/next.h"
#include "tools/scoz/causal/plot.h"
#include "tools/scoz/causal/plot_lists.h"
#include "tools/scoz/causal/ranking.h"
#include "tools/scoz/causal/waiters.h"
#include "tools/scoz/text.h"

#define WHISKER	     200.0 /* page.js has the same */
#define EDGE	     4
#define SPARK_HEIGHT 28.0
#define MOST_SOURCE  (128 << 10) /* bytes of it in a page: the first rows' */
#define MOST_CURVES  60		 /* large ones, when the page is too large with all of them */
#define MOST_LABEL   96		 /* characters */
#define MOST_PAGE    950000	 /* bytes, if leaving out what is least missed can do it */
#define MOST_NAMES   4		 /* of what is folded; page.js has the same */
#define DASH	     "\xe2\x80\x94"

/* What a page that would be too large goes without, more and more. */
enum less { LESS_NOTHING, LESS_CALLERS, LESS_SOURCE, LESS_WINDOWS, LESS_CURVES };

struct page {
	FILE *out;
	const struct model *m;
	char **labels; /* by row */
	struct plot_axis axis;
	size_t n_rows, n_points; /* of the progress point that is written */
	const char *source;
	bool no_source;
	enum less less;
	size_t source_bytes;
	size_t curves;
};

static void page_text(const struct page *p, const char *s)
{
	text_xml(p->out, s);
}

/* ---- a row ---- */

static double at_x(const struct page *p, double v)
{
	double x = (v - p->axis.lo) / (p->axis.hi - p->axis.lo) * WHISKER;

	return fmin(fmax(x, 0), WHISKER);
}

/* The most that is possible is within the axis. */
static bool has_limit(const struct page *p, const struct model_row *row)
{
	return row->e->best == KNOWN_VALUE && row->e->best_at_pct < p->axis.hi &&
	       row->progress->kind != PROGRESS_LATENCY;
}

static void write_whisker(const struct page *p, const struct model_row *row)
{
	const struct estimate *e = row->e;
	enum section section = section_of(row);
	double lo = e->best_lo, hi = e->best_hi;
	double sure = section == SECTION_WORTH	   ? fmax(lo, 0)
		      : section == SECTION_HARMFUL ? fmin(hi, 0)
						   : 0;
	bool some = e->best == KNOWN_VALUE;

	fprintf(p->out,
		"<svg viewBox=\"0 0 200 24\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
		"<use href=\"#grid\"/><path class=\"sure\" d=\"");
	if (some && sure != 0)
		fprintf(p->out, "M%.1f 7H%.1fV17H%.1fz", at_x(p, 0), at_x(p, sure), at_x(p, 0));
	fprintf(p->out, "\"/><path class=\"limit\" d=\"");
	if (has_limit(p, row))
		fprintf(p->out, "M%.1f 0V24", at_x(p, e->best_at_pct));
	fprintf(p->out, "\"/><path class=\"ci\" d=\"");
	if (some)
		fprintf(p->out, "M%.1f 12H%.1f", at_x(p, lo), at_x(p, hi));
	/* Arrows where it goes on. */
	if (some && lo < p->axis.lo)
		fprintf(p->out, "M%d 8L0 12L%d 16", EDGE, EDGE);
	if (some && hi > p->axis.hi)
		fprintf(p->out, "M%.0f 8L%.0f 12L%.0f 16", WHISKER - EDGE, WHISKER, WHISKER - EDGE);
	fprintf(p->out, "\"/><path class=\"est\" d=\"");
	if (some)
		fprintf(p->out, "M%.1f 4V20", at_x(p, e->best_pct));
	fprintf(p->out, "\"/></svg>");
}

/* What is outside is cut by the browser. */
static double spark_y(const struct page *p, double v)
{
	return SPARK_HEIGHT * (p->axis.hi - v) / (p->axis.hi - p->axis.lo);
}

static void write_spark(const struct page *p, const struct model_row *row)
{
	const struct estimate *e = row->e;

	fprintf(p->out,
		"<svg viewBox=\"0 0 100 28\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
		"<path class=\"zero\" d=\"M0 %.1fH100\"/><polyline class=\"curve\" points=\"0,%.1f",
		spark_y(p, 0), spark_y(p, 0));
	for (size_t i = 1; i < e->n_points; i++) {
		if (estimate_point_knowledge(&e->points[i]) == KNOWN_VALUE)
			fprintf(p->out, " %.0f,%.1f", e->points[i].speedup_pct,
				spark_y(p, e->points[i].program_speedup_pct));
	}
	fprintf(p->out, "\"/></svg>");
}

/* Shortly: what it takes to be surer. */
static char *trust_short(const struct model_row *row)
{
	const struct trust *t = &row->trust.t;
	double s = row->trust.more_s;

	if (t->answer != TRUST_MORE)
		return xstrdup("");
	return xasprintf(" \xc2\xb7 \xc2\xb1%g in %.0f %s", t->goal_pp,
			 fmax(s < 90	 ? s
			      : s < 5400 ? s / 60
					 : s / 3600,
			      1),
			 s < 90	    ? "s"
			 : s < 5400 ? "min"
				    : "h");
}

static void write_value(const struct page *p, const struct model_row *row)
{
	const struct estimate *e = row->e;
	_cleanup_free_ char *value = percent_text(e->best_pct), *lo = percent_text(e->best_lo);
	_cleanup_free_ char *hi = percent_text(e->best_hi), *trust = trust_short(row);

	fprintf(p->out, "<span class=\"value\">");
	switch (e->best) {
	case KNOWN_VALUE:
		fprintf(p->out, "<b>%s</b> <i>[%s, %s]</i>", value, lo, hi);
		break;
	case KNOWN_BOUND:
		fprintf(p->out, "<b>at most %s</b> <i></i>", hi);
		break;
	default:
		fprintf(p->out, "<b>" DASH "</b> <i></i>");
	}
	fprintf(p->out, "<small><span class=\"at\">");
	if (e->best != KNOWN_NOTHING) {
		_cleanup_free_ char *less = less_time_text(e->best_at_pct);

		fprintf(p->out, "if it took %s", less);
	}
	fprintf(p->out, "</span>%s%s%s</small></span>", trust,
		estimate_needs_reason(e) ? " \xc2\xb7 not sure: " : "",
		estimate_needs_reason(e) ? doubt_text(e->doubt) : "");
}

static void write_number(const struct page *p, double v)
{
	if (isfinite(v))
		fprintf(p->out, ",%.2f", v);
	else
		fprintf(p->out, ",x");
}

/* The same for the same target in another profile: links stay good. */
static uint32_t row_hash(const struct model_row *row)
{
	uint32_t h = 2166136261;

	for (const char *s = row->target->name; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619;
	return h + row->e->progress;
}

/* On which side of 0 it surely is: as strict as verdicts (verdict.c), and never at odds with them.
 */
static int sure_side(const struct page *p, const struct estimate *e,
		     const struct estimate_point *point)
{
	double lo, hi;

	if (!point->decides)
		return 0;
	if (point->speedup_pct == e->best_at_pct &&
	    (e->verdict == VERDICT_OPTIMIZE || e->verdict == VERDICT_CONTENTION))
		return e->verdict == VERDICT_OPTIMIZE ? 1 : -1;
	estimate_point_bounds(point, VERDICT_ALPHA / 2 / p->n_points, &lo, &hi);
	return lo > 0 ? 1 : hi < 0 ? -1 : 0;
}

/* At, estimate, low, high; "at least" as in the headline; the side of 0 it is surely on. */
static void write_point(const struct page *p, const struct estimate *e,
			const struct estimate_point *point)
{
	fprintf(p->out, "%g", point->speedup_pct);
	write_number(p, point->program_speedup_pct);
	write_number(p, point->ci_lo);
	write_number(p, point->ci_hi);
	if (!(point->speedup_pct > 0))
		return;
	write_number(p, point->ci_lo - answer_luck(point, p->n_rows, false));
	fprintf(p->out, ",%d", sure_side(p, e, point));
}

static void write_data(const struct page *p, const struct model_row *row)
{
	const struct estimate *e = row->e;

	fprintf(p->out, " data-verdict=\"%d\" data-samples=\"%llu\" data-best=\"", section_of(row),
		(unsigned long long)row->samples);
	if (e->best == KNOWN_VALUE)
		fprintf(p->out, "%g", e->best_at_pct);
	fprintf(p->out, "\" data-high=\"");
	if (e->best == KNOWN_BOUND)
		fprintf(p->out, "%g", e->best_hi);
	fprintf(p->out, "\" data-p=\"");
	for (size_t i = 0; i < e->n_points; i++) {
		fputs(i ? ";" : "", p->out);
		write_point(p, e, &e->points[i]);
	}
	fputc('"', p->out);
}

/* Where there is no room for it, it breaks after what its parts are joined with, never before %. */
static void write_label(const struct page *p, const char *label)
{
	while (*label) {
		const char *joint = strstr(label, "::"), *percent = strstr(label, " %");
		bool whole = percent && (!joint || percent < joint);
		size_t n = whole	       ? (size_t)(percent - label)
			   : joint && joint[2] ? (size_t)(joint + 2 - label)
					       : strlen(label);
		_cleanup_free_ char *part = xstrndup(label, n);

		page_text(p, part);
		label += n + whole;
		fprintf(p->out, whole ? "\xc2\xa0" : *label ? "<wbr/>" : "");
	}
}

static void write_summary(const struct page *p, const struct model_row *row)
{
	const char *binary = label_binary(row->target->name), *location = row->target->location;
	double share = ranking_share(row);

	fprintf(p->out, "<summary class=\"grid-row\"><span class=\"name\" title=\"");
	page_text(p, row->target->name);
	fprintf(p->out, "\"><b>");
	write_label(p, p->labels[row - p->m->rows]);
	fprintf(p->out, "</b><span>");
	page_text(p, binary ? binary : "");
	fprintf(p->out, binary && *location ? " \xc2\xb7 " : "");
	page_text(p, location);
	fprintf(p->out, "</span></span><span class=\"seen\">");
	if (isfinite(share))
		fprintf(p->out, "%.1f", share);
	else
		fprintf(p->out, DASH);
	fprintf(p->out, "</span><span class=\"whisker\">");
	write_whisker(p, row);
	fprintf(p->out, "</span>");
	write_value(p, row);
	fprintf(p->out, "<span class=\"spark\">");
	write_spark(p, row);
	fprintf(p->out, "</span></summary>\n");
}

/* ---- what a row opens to ---- */

static void write_points(const struct page *p, const struct model_row *row)
{
	const struct profile_expected *expected =
		expected_of(p->m->profile, row->target->name, row->e->progress);

	fprintf(p->out,
		"<table><tr><th scope=\"col\">less time</th><th scope=\"col\">saves, %% [95 %%]"
		"</th><th scope=\"col\">windows</th>%s%s</tr>\n",
		p->m->measured ? "<th scope=\"col\">measured</th>" : "",
		expected ? "<th scope=\"col\" title=\"from a recording of the beginning, with "
			   "bounds\">was expected</th>"
			 : "");
	for (size_t i = 1; i < row->e->n_points; i++) {
		const struct estimate_point *e = &row->e->points[i];
		_cleanup_free_ char *text = estimate_point_text(e);
		struct profile_expectation at;
		_cleanup_free_ char *replayed =
			expected && expected_at(expected, e->speedup_pct, &at)
				? xasprintf("%.1f [%.1f, %.1f]", at.pct + 0.0, at.low, at.high)
				: xstrdup(DASH);

		fprintf(p->out, "<tr><td>%g %%</td><td>%s</td><td>%u</td>", e->speedup_pct, text,
			e->windows);
		if (p->m->measured) {
			_cleanup_free_ char *measured =
				e->measured_windows
					? percent_interval_text(e->measured_pct, e->measured_lo,
								e->measured_hi, e->speedup_pct)
					: xstrdup(DASH);

			fprintf(p->out, "<td>%s</td>", measured);
		}
		if (expected)
			fprintf(p->out, "<td>%s</td>", replayed);
		fprintf(p->out, "</tr>\n");
	}
	fprintf(p->out, "</table>\n");
}

static void write_row_trust(const struct page *p, const struct model_row *row)
{
	_cleanup_free_ char *text = model_precision_text(row);

	fprintf(p->out, "<p>At %g %%: ", row->trust.speedup_pct);
	page_text(p, text);
	fprintf(p->out, "</p>\n");
	if (row->trust.command) {
		fprintf(p->out, "<code class=\"command\">");
		page_text(p, row->trust.command);
		fprintf(p->out, "</code>\n");
	}
}

static void write_source(struct page *p, const struct model_row *row)
{
	if (!p->no_source && p->less < LESS_SOURCE && p->source_bytes <= MOST_SOURCE)
		p->source_bytes += plot_source(p->out, p->m, row, p->source);
}

static void write_curve(struct page *p, const struct model_row *row)
{
	_cleanup_free_ char *best = estimate_best_text(row->e);

	if (p->less >= LESS_CURVES && p->curves++ >= MOST_CURVES)
		return;
	fprintf(p->out,
		"<svg viewBox=\"0 0 %d %d\" role=\"img\" "
		"aria-label=\"%s: %s\"><use href=\"#frame\"/>%s",
		PLOT_WIDTH, PLOT_HEIGHT, verdict_name(row->e->verdict), best,
		row->progress->kind == PROGRESS_LATENCY ? "" : "<use href=\"#diagonal\"/>");
	if (p->less < LESS_WINDOWS)
		plot_windows(p->out, p->m, row, &p->axis);
	plot_values(p->out, row, &p->axis);
	fprintf(p->out, "</svg>\n");
}

static void write_callers(const struct page *p, const struct model_row *row)
{
	_cleanup_free_ struct call_path *paths = NULL;
	size_t n = call_paths(p->m->profile, row->e->target, &paths);

	if (!n || p->less >= LESS_CALLERS)
		return;
	fprintf(p->out, "<table class=\"paths\"><tr><th scope=\"col\">samples</th>"
			"<th scope=\"col\">reached by</th></tr>\n");
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *text = call_path_text(&paths[i], " \xe2\x86\x92 ");

		fprintf(p->out, "<tr><td>%.0f %%</td><td>", paths[i].share_pct);
		page_text(p, text);
		fprintf(p->out, "</td></tr>\n");
	}
	fprintf(p->out, "</table>\n");
}

static void write_waiters(const struct page *p, const struct model_row *row)
{
	const struct profile_waiters *w = waiters_of(p->m->profile, row->target->name);

	if (!w || p->less >= LESS_CALLERS)
		return;
	if (!w->n) {
		fprintf(p->out, "<p>In the first %.1f s nobody is known to wait for it.</p>\n",
			w->seconds);
		return;
	}
	fprintf(p->out,
		"<table class=\"paths\"><tr><th scope=\"col\">of %.1f s</th>"
		"<th scope=\"col\">waited for by</th></tr>\n",
		w->seconds);
	for (size_t i = 0; i < w->n; i++) {
		_cleanup_free_ char *text = waiter_text(&w->list[i]);

		fprintf(p->out, "<tr><td>%.0f %%</td><td>", 100 * w->list[i].share);
		page_text(p, text);
		fprintf(p->out, "</td></tr>\n");
	}
	fprintf(p->out, "</table>\n");
}

static void write_more(struct page *p, const struct model_row *row)
{
	fprintf(p->out, "<div class=\"more\"><p class=\"full\"><code>");
	page_text(p, row->target->name);
	fprintf(p->out, "</code></p>\n");
	write_curve(p, row);
	fprintf(p->out, "<div>");
	write_points(p, row);
	write_callers(p, row);
	write_waiters(p, row);
	write_row_trust(p, row);
	if (row->e->warning) {
		fprintf(p->out, "<p class=\"warning\">");
		page_text(p, row->e->warning);
		fprintf(p->out, "</p>\n");
	}
	fprintf(p->out, "</div>\n");
	write_source(p, row);
	fprintf(p->out, "</div>");
}

static void write_row(struct page *p, const struct model_row *row)
{
	fprintf(p->out, "<details class=\"row %s\" id=\"t-%08x\"",
		plot_verdict_class(row->e->verdict), row_hash(row));
	write_data(p, row);
	fprintf(p->out, ">");
	write_summary(p, row);
	write_more(p, row);
	fprintf(p->out, "</details>\n");
}

/* ---- the ranking ---- */

static void write_head(const struct page *p, const char *unit)
{
	double first = ceil(p->axis.lo / p->axis.step) * p->axis.step;

	fprintf(p->out, "<div class=\"grid-row head\" aria-hidden=\"true\"><span class=\"name\">"
			"target</span><span class=\"seen\">%% of samples</span><span "
			"class=\"whisker\"><span class=\"axis-name\">saves, %% of ");
	page_text(p, unit);
	fprintf(p->out, "</span><span class=\"ticks\">");
	for (int i = 0; first + i * p->axis.step <= p->axis.hi; i++) {
		double v = first + i * p->axis.step;

		v = fabs(v) < p->axis.step / 1000 ? 0 : v;
		fprintf(p->out, "<span style=\"left:%.1f%%\">%g</span>", at_x(p, v) / WHISKER * 100,
			v);
	}
	fprintf(p->out,
		"</span></span><span class=\"value\">estimate [95 %% interval]</span><span "
		"class=\"spark\" title=\"up: what it saves, to the right: how much less time it "
		"takes; the same scale in all rows\">what it saves with<span class=\"ends\">"
		"<span>0</span><span>100 %% less time</span></span></span></div>\n");
}

/* Those of what is folded, where they are few; seen as long as it is. */
static void write_names(const struct page *p, const struct ranking *r, enum section s)
{
	size_t from = r->start[s], n = r->start[s + 1] - from;

	fprintf(p->out, "<span class=\"names\">");
	for (size_t i = 0; i < n && n <= MOST_NAMES; i++) {
		fprintf(p->out, i ? ", " : ": ");
		page_text(p, p->labels[r->rows[from + i] - p->m->rows]);
	}
	fprintf(p->out, "</span>");
}

static void write_kind(struct page *p, const struct ranking *r, enum section s, bool open)
{
	size_t n = r->start[s + 1] - r->start[s];

	fprintf(p->out,
		"<details class=\"kind\"%s%s><summary>%s (<span class=\"count\">%zu</span>)",
		open ? " open=\"open\"" : "", n ? "" : " hidden=\"hidden\"", section_title(s), n);
	write_names(p, r, s);
	fprintf(p->out, "</summary><div class=\"rows\">\n");
	for (size_t i = r->start[s]; i < r->start[s + 1]; i++)
		write_row(p, r->rows[i]);
	fprintf(p->out, "</div></details>\n");
}

/* The slider begins at its end, which asks nothing. */
static void write_controls(const struct page *p)
{
	fputs("<div class=\"controls\" id=\"controls\"><label>What if each took less time? <input "
	      "type=\"range\" id=\"at\" min=\"0\" max=\"100\" step=\"5\" value=\"0\" "
	      "aria-label=\"percent less time in each target\"/> <output id=\"at-text\" "
	      "class=\"unset\">drag to "
	      "rank anew</output></label> <button type=\"button\" id=\"best\" "
	      "disabled=\"disabled\">"
	      "reset</button> <label>sort by <select id=\"sort\"><option "
	      "value=\"bound\">what is sure</option><option value=\"estimate\">estimate</option>"
	      "<option value=\"samples\">samples</option><option value=\"name\">name</option>"
	      "<option value=\"doubt\">widest interval</option></select></label> <input "
	      "type=\"search\" id=\"filter\" placeholder=\"filter names ( / )\" "
	      "aria-label=\"filter names\"/></div>\n",
	      p->out);
}

/* The answer, and beside it, not as large, how many there are of each kind. */
static void write_answer(const struct page *p, const struct ranking *r)
{
	_cleanup_free_ char *answer = ranking_headline(r, p->labels, false);
	_cleanup_free_ char *counts = r->n ? ranking_counts(r) : xstrdup("");

	fprintf(p->out, "<span>");
	write_label(p, answer);
	fprintf(p->out, "</span> <span class=\"counts\">");
	page_text(p, counts);
	fprintf(p->out, "%s</span>", r->n ? "." : "");
}

/* What else is to be known at once: what is best done next, or why there is no answer. */
static void write_next(const struct page *p, const struct ranking *r, uint32_t progress)
{
	bool known = false;
	_cleanup_free_ char *next = next_text(p->m, progress, &known), *excuse = ranking_excuse(r);

	if (!known && !excuse)
		return;
	fprintf(p->out, "<p class=\"next\">");
	write_label(p, known ? next : excuse);
	fprintf(p->out, "%s</p>\n", known ? "." : "");
}

static bool is_open(const struct ranking *r, enum section s)
{
	return s <= SECTION_HARMFUL || !r->start[SECTION_WORTHLESS];
}

/* What rows show, no more than there is. */
static void write_legend(const struct page *p, const struct ranking *r)
{
	bool worth = r->start[SECTION_WORTH + 1] > 0, harmful = r->start[SECTION_HARMFUL + 1] > 0;
	bool more = false, limit = false, seen = false;

	for (size_t i = 0; i < r->n; i++) {
		more |= r->rows[i]->trust.t.answer == TRUST_MORE;
		limit |= is_open(r, section_of(r->rows[i])) && has_limit(p, r->rows[i]);
		seen |= isfinite(ranking_share(r->rows[i]));
	}
	fprintf(p->out,
		"<p class=\"sub keys\">%s<i class=\"key key-est\"></i> the estimate "
		"<i class=\"key key-ci\"></i> its\xc2\xa0"
		"95\xc2\xa0%%\xc2\xa0"
		"interval%s "
		"<span class=\"dotted%s\"><i class=\"key key-limit\"></i> the most that is "
		"possible</span></p>\n",
		worth	  ? "<i class=\"key key-sure\"></i> what is surely saved "
		: harmful ? "<i class=\"key key-sure bad\"></i> what is surely lost "
			  : "",
		more ? " (\xc2\xb1"
		       "2 in 9 min: so precise after so much more profiling)"
		     : "",
		limit ? "" : " off");
	if (seen)
		fputs("<p class=\"sub of-samples\">% of samples is a share of the time of all "
		      "CPUs; what is saved is elapsed time, and may be more than that.</p>\n",
		      p->out);
}

static void count_points(struct page *p, const struct ranking *r)
{
	p->n_rows = r->n;
	p->n_points = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct estimate *e = r->rows[i]->e;

		for (size_t k = 1; k < e->n_points; k++)
			p->n_points += isfinite(e->points[k].ci_lo);
	}
}

static void write_progress(struct page *p, uint32_t progress)
{
	struct ranking r;
	char *unit, *tried;

	ranking_init(&r, p->m, progress, SORT_BOUND, NULL);
	count_points(p, &r);
	unit = ranking_unit(p->m, r.progress);
	tried = ranking_tried(&r);
	fprintf(p->out,
		"<section class=\"progress%s\" id=\"p-%u\" data-lo=\"%g\" data-hi=\"%g\" "
		"data-latency=\"%d\" data-unit=\"",
		progress ? "" : " shown", progress, p->axis.lo, p->axis.hi,
		r.progress->kind == PROGRESS_LATENCY);
	page_text(p, unit);
	fprintf(p->out, "\" data-untried=\"%d\" data-tried=\"%s\">\n<h1 class=\"headline\">",
		ranking_untried(&r) != NULL, tried);
	write_answer(p, &r);
	fprintf(p->out, "</h1>\n");
	write_next(p, &r, progress);
	write_legend(p, &r);
	if (!progress)
		write_controls(p);
	write_head(p, unit);
	for (enum section s = 0; s < SECTIONS; s++)
		write_kind(p, &r, s, is_open(&r, s));
	plot_list_joints(p->m, p->labels, progress, p->out);
	plot_list_unmeasured(p->m, progress, p->out);
	fprintf(p->out, "</section>\n");
	free(unit);
	free(tried);
	ranking_deinit(&r);
}

/* What all rows have in common. */
static void write_shared(const struct page *p)
{
	double first = ceil(p->axis.lo / p->axis.step) * p->axis.step;

	fprintf(p->out, "<svg width=\"0\" height=\"0\" style=\"position:absolute\" "
			"aria-hidden=\"true\"><defs><g id=\"grid\"><path class=\"grid\" d=\"");
	for (int i = 0; first + i * p->axis.step <= p->axis.hi; i++)
		fprintf(p->out, "M%.1f 0V24", at_x(p, first + i * p->axis.step));
	fprintf(p->out, "\"/><path class=\"zero\" d=\"M%.1f 0V24\"/></g><g id=\"frame\">",
		at_x(p, 0));
	plot_frame(p->out, &p->axis);
	fprintf(p->out, "</g><g id=\"diagonal\">");
	plot_limit(p->out, &p->axis);
	fprintf(p->out, "</g></defs></svg>\n");
}

static void write_list(const struct page *p, const char *title, const struct text_list *l)
{
	page_list(p->out, title, l->text, l->n);
}

/* Seen with the script only; without it all sections are. */
static void write_tabs(const struct page *p)
{
	const struct profile *profile = p->m->profile;

	if (profile->n_progress < 2)
		return;
	fprintf(p->out, "<div class=\"tabs\" role=\"tablist\" aria-label=\"progress points\">");
	for (uint32_t i = 0; i < profile->n_progress; i++) {
		fprintf(p->out,
			"<button type=\"button\" role=\"tab\" aria-controls=\"p-%u\" "
			"aria-selected=\"%s\"%s title=\"",
			i, i ? "false" : "true", i ? " tabindex=\"-1\"" : "");
		page_text(p, profile->progress[i].name);
		fprintf(p->out, "\">");
		page_text(p, p->m->progress[i].label);
		fprintf(p->out, "%s</button>",
			profile->progress[i].kind == PROGRESS_LATENCY ? " (latency)" : "");
	}
	fprintf(p->out, "</div>\n");
}

static void write_ranking(struct page *p)
{
	p->axis = plot_axis(p->m);
	write_shared(p);
	write_tabs(p);
	for (uint32_t i = 0; i < p->m->profile->n_progress; i++)
		write_progress(p, i);
}

/* No target was measured: why, and what is expected all the same. */
static void write_nothing(const struct page *p)
{
	for (uint32_t i = 0; i < p->m->profile->n_progress; i++) {
		struct ranking none;
		_cleanup_free_ char *headline = NULL;

		ranking_init(&none, p->m, i, SORT_BOUND, NULL);
		headline = ranking_headline(&none, p->labels, false);
		fprintf(p->out, "<h1 class=\"headline\">");
		write_label(p, headline);
		fprintf(p->out, "</h1>\n");
		plot_list_unmeasured(p->m, i, p->out);
		ranking_deinit(&none);
	}
	write_list(p, "Nothing can be concluded", &p->m->reasons);
}

static char **page_labels(const struct model *m)
{
	char **labels = xcalloc(m->n_rows ? m->n_rows : 1, sizeof(*labels));

	for (size_t i = 0; i < m->n_rows; i++)
		labels[i] = xstrdup(m->labels[i]);
	labels_fit(labels, m->n_rows, MOST_LABEL, ELLIPSIS);
	return labels;
}

static void write_start(const struct page *p)
{
	page_begin(p->out);
	fprintf(p->out, "Causal profile: ");
	text_xml(p->out, p->m->profile->path);
	fprintf(p->out,
		"</title>\n<style>\n%s</style>\n<script>\n%s%s</script>\n</head>\n<body>\n<main>\n",
		page_css, paint_once_js, page_js);
}

static void write_page(struct page *p)
{
	static const char *const left_out[] = {
		[LESS_CALLERS] = "call paths, and who waits",
		[LESS_SOURCE] = "call paths, who waits, and lines of source",
		[LESS_WINDOWS] = "call paths, who waits, lines of source, and the dots of windows",
		[LESS_CURVES] = "call paths, who waits, lines of source, the dots of windows, and "
				"the large "
				"curves of all but the first rows",
	};

	write_start(p);
	if (p->m->n_rows)
		write_ranking(p);
	else
		write_nothing(p);
	plot_facts(p->m, p->out);
	if (p->m->n_rows)
		plot_method(p->m, p->out);
	if (p->less)
		fprintf(p->out,
			"<p class=\"sub\">Left out, so that the page stays small: %s.</p>\n",
			left_out[p->less]);
	write_list(p, "Warnings", &p->m->warnings);
	write_list(p, "Notes", &p->m->notes);
	fprintf(p->out, "</main>\n</body>\n</html>\n");
}

void plot_write_html(const struct model *m, const char *source, FILE *out)
{
	struct page p = { .m = m,
			  .labels = page_labels(m),
			  .source = source && *source ? source : NULL,
			  .no_source = source && !*source };
	char *text = NULL;
	size_t size = 0;

	for (;; p.less++) {
		free(text);
		text = NULL;
		p.source_bytes = p.curves = 0;
		p.out = open_memstream(&text, &size);
		if (!p.out)
			break;
		write_page(&p);
		if (fclose(p.out) || size <= MOST_PAGE || p.less == LESS_CURVES)
			break;
	}
	fwrite(text, 1, text ? size : 0, out);
	free(text);
	for (size_t i = 0; i < m->n_rows; i++)
		free(p.labels[i]);
	free(p.labels);
}
