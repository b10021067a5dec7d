// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One curve: program speedup over line speedup, with its 95 % band. All panels share their axes,
 * so that heights can be compared by eye; what leaves the frame (a hopelessly wide interval) is
 * cut where it does: drawn along the edge it would look like a plateau. The dashed diagonal is the
 * most a target can give: a program that consists of it.
 */
#include <math.h>

#include "tools/scoz/causal/plot.h"
#include "stats/describe.h"
#include "tools/scoz/causal/ranking.h"
#include "tools/scoz/text.h"

#define LEFT   44.0
#define RIGHT  (PLOT_WIDTH - 14.0)
#define TOP    12.0
#define BOTTOM (PLOT_HEIGHT - 38.0)

#define LABEL_HALF 56.0 /* half the width of the label of a point */

static bool known(const struct estimate_point *p)
{
	return isfinite(p->ci_lo) && isfinite(p->ci_hi);
}

static void stretch(struct plot_axis *a, double v)
{
	v = fmin(fmax(v, -100), 100);
	a->lo = fmin(a->lo, v);
	a->hi = fmax(a->hi, v);
}

/* Something was learned about it. */
static bool learned(const struct estimate_point *p)
{
	return estimate_point_knowledge(p) == KNOWN_VALUE;
}

/* What was learned fits, whatever else: of its intervals those that say something. */
static void stretch_point(struct plot_axis *a, const struct model_row *row,
			  const struct estimate_point *p)
{
	bool result = section_of(row) != SECTION_UNCLEAR && p->speedup_pct == row->e->best_at_pct;

	if (learned(p))
		stretch(a, p->program_speedup_pct);
	if (p->ci_hi - p->ci_lo < STRETCHING || (result && learned(p))) {
		stretch(a, p->ci_lo);
		stretch(a, p->ci_hi);
	}
	if (p->measured_windows)
		stretch(a, p->measured_pct);
}

struct plot_axis plot_axis(const struct model *m)
{
	struct plot_axis a = { -4, 8, 0 };
	double rough, magnitude, air;

	for (size_t i = 0; i < m->n_rows; i++) {
		const struct estimate *e = m->rows[i].e;

		for (size_t k = 1; k < e->n_points; k++)
			stretch_point(&a, &m->rows[i], &e->points[k]);
	}
	rough = (a.hi - a.lo) / 5;
	magnitude = pow(10, floor(log10(rough)));
	rough /= magnitude;
	a.step = magnitude * (rough < 1.5 ? 1 : rough < 3.5 ? 2 : rough < 7.5 ? 5 : 10);
	/* For the labels. */
	air = 0.1 * (a.hi - a.lo);
	a.hi += air;
	a.lo -= a.lo < -4 ? air : 0;
	return a;
}

static double px(double speedup)
{
	return LEFT + speedup / 100 * (RIGHT - LEFT);
}

static double py(const struct plot_axis *a, double v)
{
	v = fmin(fmax(v, a->lo), a->hi);
	return BOTTOM - (v - a->lo) / (a->hi - a->lo) * (BOTTOM - TOP);
}

const char *plot_verdict_class(enum verdict v)
{
	static const char *const classes[] = {
		[VERDICT_OPTIMIZE] = "good",
		[VERDICT_NO_EFFECT] = "none",
		[VERDICT_CONTENTION] = "bad",
		[VERDICT_UNDECIDED] = "open",
	};

	return classes[v];
}

void plot_frame(FILE *out, const struct plot_axis *a)
{
	double first = ceil(a->lo / a->step) * a->step;

	for (int i = 0; first + i * a->step <= a->hi; i++) {
		double v = first + i * a->step;
		bool zero = fabs(v) < a->step / 1000;

		fprintf(out,
			"<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
			"<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" "
			"text-anchor=\"end\">%g</text>\n",
			zero ? "zero" : "grid", LEFT, py(a, v), RIGHT, py(a, v), LEFT - 6,
			py(a, v) + 3.5, zero ? 0 : v);
	}
	for (int s = 0; s <= 100; s += 25) {
		fprintf(out,
			"<line class=\"axis\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
			"<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" "
			"text-anchor=\"middle\">%d</text>\n",
			px(s), BOTTOM, px(s), BOTTOM + 4, px(s), BOTTOM + 15, s);
	}
	fprintf(out, "<line class=\"axis\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
		LEFT, BOTTOM, RIGHT, BOTTOM);
	fprintf(out,
		"<text class=\"name\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">less time in "
		"the target, %%"
		"</text>\n",
		(LEFT + RIGHT) / 2, BOTTOM + 31);
	fprintf(out,
		"<text class=\"name\" transform=\"translate(11 %.1f) rotate(-90)\" "
		"text-anchor=\"middle\">less time per unit of progress, %%</text>\n",
		(TOP + BOTTOM) / 2);
}

void plot_limit(FILE *out, const struct plot_axis *a)
{
	double limit = fmin(100, a->hi);

	fprintf(out, "<line class=\"limit\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
		px(0), py(a, 0), px(limit), py(a, limit));
}

struct place {
	double x, v; /* pixels; percent */
};

/* Where the line between them crosses edges of the frame, in its order, and its end. */
static size_t pieces(const struct plot_axis *a, struct place from, struct place to,
		     struct place end[3])
{
	const double edges[] = { from.v < to.v ? a->lo : a->hi, from.v < to.v ? a->hi : a->lo };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(edges); i++) {
		double t = (edges[i] - from.v) / (to.v - from.v);

		if (t > 0 && t < 1)
			end[n++] = (struct place){ from.x + t * (to.x - from.x), edges[i] };
	}
	end[n++] = to;
	return n;
}

/* The part of it within the frame. */
static void draw_line(FILE *out, const struct plot_axis *a, const struct place *line, size_t n)
{
	struct place last = line[0], end[3];
	bool drawn = false;

	fprintf(out, "<path class=\"curve\" d=\"");
	for (size_t i = 1; i < n; i++) {
		size_t n_ends = pieces(a, last, line[i], end);

		for (size_t k = 0; k < n_ends; k++) {
			double middle = (last.v + end[k].v) / 2;
			bool within = middle >= a->lo && middle <= a->hi;

			if (within && !drawn)
				fprintf(out, "M%.1f %.1f", last.x, py(a, last.v));
			if (within)
				fprintf(out, "L%.1f %.1f", end[k].x, py(a, end[k].v));
			drawn = within;
			last = end[k];
		}
	}
	fprintf(out, "\"/>\n");
}

/* As it is within the frame: edges of the frame close what leaves it. */
static void draw_area(FILE *out, const struct plot_axis *a, const struct place *line, size_t n)
{
	struct place last = line[0], end[3];

	fprintf(out, "<polygon class=\"band\" points=\"%.1f,%.1f ", last.x, py(a, last.v));
	for (size_t i = 1; i < n; i++) {
		size_t n_ends = pieces(a, last, line[i], end);

		for (size_t k = 0; k < n_ends; k++)
			fprintf(out, "%.1f,%.1f ", end[k].x, py(a, end[k].v));
		last = line[i];
	}
	fprintf(out, "\"/>\n");
}

/* Nothing less saves nothing: the interval there only tells how much windows differ. */
static void draw_band(FILE *out, const struct estimate *e, const struct plot_axis *a)
{
	_cleanup_free_ struct place *line = xcalloc(2 * e->n_points, sizeof(*line));
	size_t n = 0;

	for (size_t i = 0; i < e->n_points; i++) {
		const struct estimate_point *p = &e->points[i];

		if (known(p))
			line[n++] = (struct place){ px(p->speedup_pct), i ? p->ci_hi : 0 };
	}
	if (n < 2)
		return;
	for (size_t i = e->n_points; i-- > 0;) {
		const struct estimate_point *p = &e->points[i];

		if (known(p))
			line[n++] = (struct place){ px(p->speedup_pct), i ? p->ci_lo : 0 };
	}
	draw_area(out, a, line, n);
}

static void draw_bar(FILE *out, const struct estimate_point *p, const struct plot_axis *a)
{
	double x = px(p->speedup_pct);

	if (!known(p) || p->ci_hi < a->lo || p->ci_lo > a->hi)
		return;
	fprintf(out, "<path class=\"bar\" d=\"M%.1f %.1fV%.1f", x, py(a, p->ci_lo),
		py(a, p->ci_hi));
	if (p->ci_lo > a->lo)
		fprintf(out, "M%.1f %.1fh5", x - 2.5, py(a, p->ci_lo));
	if (p->ci_hi < a->hi)
		fprintf(out, "M%.1f %.1fh5", x - 2.5, py(a, p->ci_hi));
	fprintf(out, "\"/>\n");
}

static void draw_points(FILE *out, const struct estimate *e, const struct plot_axis *a)
{
	_cleanup_free_ struct place *line = xcalloc(e->n_points + 1, sizeof(*line));
	size_t n = 0;

	for (size_t i = 0; i < e->n_points; i++) {
		const struct estimate_point *p = &e->points[i];

		if (!i || learned(p))
			line[n++] = (struct place){ px(p->speedup_pct), p->program_speedup_pct };
	}
	draw_line(out, a, line, n);
	for (size_t i = 1; i < e->n_points; i++)
		draw_bar(out, &e->points[i], a);
	for (size_t i = 0; i < e->n_points; i++) {
		const struct estimate_point *p = &e->points[i];
		_cleanup_free_ char *text = estimate_point_text(p);
		double v = p->program_speedup_pct;

		if (i && !learned(p))
			continue;
		/* Outside the frame: an arrow at its edge. */
		if (v > a->hi || v < a->lo) {
			double tip = v > a->hi ? -5 : 5;

			fprintf(out,
				"<path class=\"dot\" d=\"M%.1f %.1fl4 %.1fh-8z\"><title>at %g %%: "
				"%s, %u windows</title></path>\n",
				px(p->speedup_pct), py(a, v) + tip, -tip * 1.4, p->speedup_pct,
				text, p->windows);
			continue;
		}
		fprintf(out,
			"<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\"><title>at %g %%: "
			"%s, %u windows</title></circle>\n",
			px(p->speedup_pct), py(a, p->program_speedup_pct), p->speedup_pct, text,
			p->windows);
	}
}

/* What was really gained (scozd --truth): open circles. */
static void draw_measured(FILE *out, const struct estimate *e, const struct plot_axis *a)
{
	for (size_t i = 0; i < e->n_points; i++) {
		const struct estimate_point *p = &e->points[i];
		_cleanup_free_ char *text = NULL;

		if (!p->measured_windows)
			continue;
		text = percent_interval_text(p->measured_pct, p->measured_lo, p->measured_hi,
					     p->speedup_pct);
		fprintf(out,
			"<circle class=\"measured\" cx=\"%.1f\" cy=\"%.1f\" "
			"r=\"5\"><title>measured "
			"at %g %%: %s, %u windows</title></circle>\n",
			px(p->speedup_pct), py(a, p->measured_pct), p->speedup_pct, text,
			p->measured_windows);
	}
}

static void draw_label(FILE *out, const struct model_row *row, const struct plot_axis *a)
{
	const struct estimate_point *p = model_point(row, row->e->best_at_pct);
	bool below = row->e->verdict == VERDICT_CONTENTION;
	_cleanup_free_ char *v = NULL;
	const char *anchor = "middle";
	double x, y;

	/* Only what is a result is written large. */
	if (!p || row->e->verdict == VERDICT_NO_EFFECT || row->e->verdict == VERDICT_UNDECIDED)
		return;
	v = percent_text(p->program_speedup_pct);
	x = px(p->speedup_pct);
	if (x + LABEL_HALF > RIGHT) {
		x = fmin(x + 4, RIGHT);
		anchor = "end";
	} else if (x - LABEL_HALF < LEFT) {
		x = fmax(x - 4, LEFT + 3);
		anchor = "start";
	}
	/* Outside the interval, so that the label hides neither it nor the curve. */
	y = py(a, below ? p->ci_lo : p->ci_hi);
	y += below ? 15 : -7;
	y = fmin(fmax(y, TOP + 6), BOTTOM - 5);
	fprintf(out,
		"<text class=\"label\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s %% at %g "
		"%%</text>\n",
		x, y, anchor, v, p->speedup_pct);
}

/* The nearest 0 % window in direction @step, as lib/stats/units.c pairs them; NULL: none is near.
 */
static const struct profile_window *baseline_of(const struct profile *p, size_t from, int step)
{
	const struct profile_window *w = &p->windows[from];

	for (size_t i = from + step;
	     i < p->n_windows && w->seq + 3 >= p->windows[i].seq && p->windows[i].seq + 3 >= w->seq;
	     i += step) {
		const struct profile_window *x = &p->windows[i];

		if (x->run != w->run || x->target != w->target)
			return NULL;
		if (x->speedup < 1e-9 && !x->discard)
			return x;
	}
	return NULL;
}

static double time_per_unit(const struct profile_window *w, uint32_t progress)
{
	const struct window_progress *p = &w->progress[progress];
	double work = p->inflight > 0 ? p->inflight : 1;

	return p->visits > 0 ? work * p->virtual_s / p->visits : NAN;
}

/* One path: a page has thousands. */
void plot_windows(FILE *out, const struct model *m, const struct model_row *row,
		  const struct plot_axis *a)
{
	const struct profile *p = m->profile;

	fprintf(out, "<path class=\"window\" d=\"");
	for (size_t i = 0; i < p->n_windows; i++) {
		const struct profile_window *w = &p->windows[i], *zero[2];
		double sum = 0, v;
		int n = 0;

		if (w->target != row->e->target || w->discard || !window_is_treated(w))
			continue;
		zero[0] = baseline_of(p, i, -1);
		zero[1] = baseline_of(p, i, 1);
		for (int k = 0; k < 2; k++) {
			double t = zero[k] ? time_per_unit(zero[k], row->e->progress) : NAN;

			if (isfinite(t)) {
				sum += t;
				n++;
			}
		}
		v = n ? 100 * (1 - time_per_unit(w, row->e->progress) * n / sum) : NAN;
		if (isfinite(v) && v >= a->lo && v <= a->hi)
			/* Side by side, as far as there is room. */
			fprintf(out, "M%.0f %.0fh0", px(100 * w->speedup) + (int)(i * 7 % 11) - 5,
				py(a, v));
	}
	fprintf(out, "\"/>\n");
}

void plot_values(FILE *out, const struct model_row *row, const struct plot_axis *axis)
{
	draw_band(out, row->e, axis);
	draw_points(out, row->e, axis);
	draw_measured(out, row->e, axis);
	draw_label(out, row, axis);
}

void plot_curve(FILE *out, const struct model_row *row, const struct plot_axis *axis, size_t id)
{
	_cleanup_free_ char *summary = estimate_best_text(row->e);

	fprintf(out, "<title id=\"t%zu\">", id);
	text_xml(out, row->target->name);
	fprintf(out, " (");
	text_xml(out, row->progress->name);
	fprintf(out,
		"): %s</title>\n<desc id=\"d%zu\">Program speedup over line speedup with 95 %% "
		"intervals: %s.",
		verdict_name(row->e->verdict), id, summary);
	for (size_t i = 1; i < row->e->n_points; i++) {
		const struct estimate_point *p = &row->e->points[i];
		_cleanup_free_ char *text = estimate_point_text(p);

		fprintf(out, " At %g %%: %s.", p->speedup_pct, text);
	}
	fprintf(out, "</desc>\n<g class=\"%s\">\n", plot_verdict_class(row->e->verdict));
	plot_frame(out, axis);
	if (row->progress->kind != PROGRESS_LATENCY)
		plot_limit(out, axis);
	plot_values(out, row, axis);
	fprintf(out, "</g>\n");
}
