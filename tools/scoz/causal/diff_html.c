// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The page of scoz diff: a slope for each target, from what it was worth to what it is worth, and
 * the numbers below it.
 */
#include <math.h>

#include "page.h"
#include "profile/subject.h"
#include "stats/describe.h"
#include "tools/scoz/causal/diff.h"
#include "tools/scoz/text.h"

#define MOST_SLOPES  30
#define SLOPE_LEFT   40.0
#define SLOPE_RIGHT  260.0
#define SLOPE_TOP    30.0
#define SLOPE_LINE   15.0 /* between labels */
#define SLOPES_WIDTH 720
#define SLOPE_LABEL  60
#define SLOPE_DASH   "\xe2\x80\x94"

static const char slopes_style[] =
	":root{color-scheme:light dark;--page:#fff;--text:#1c2430;--soft:#566270;--grid:#e6e9ed;"
	"--changed:#0072b2;--same:#626e7b}\n"
	"@media(prefers-color-scheme:dark){:root{--page:#14181c;--text:#e6eaee;--soft:#9fabb7;"
	"--grid:#272e36;--changed:#56b4e9;--same:#a3afba}}\n"
	".wait main{visibility:hidden}\n"
	"body{margin:0;background:var(--page);color:var(--text);font:14px/1.4 system-ui,"
	"\"Helvetica Neue\",Helvetica,Arial,sans-serif}\n"
	"main{max-width:1000px;margin:0 auto;padding:24px 20px 48px}\n"
	"h1{font-size:21px;line-height:1.3;margin:0 0 4px;overflow-wrap:anywhere}\n"
	"h2{font-size:15px;margin:28px 0 8px}\n"
	".sub,li{color:var(--soft);font-size:12.5px;overflow-wrap:anywhere}\n"
	"svg{display:block;width:100%;min-width:540px;max-width:820px}.wide{overflow-x:auto}\n"
	"line,path{stroke:var(--c);fill:none}.axis{stroke:var(--soft)}.zero{stroke:var(--grid)}\n"
	"text{font-size:12px;fill:var(--c)}.head{fill:var(--soft)}circle{fill:var(--c)}\n"
	".changed{--c:var(--changed);font-weight:600}.same{--c:var(--same)}\n"
	".unknown{--c:var(--same)}.unknown .slope{stroke-dasharray:4 3}\n"
	".slope{stroke-width:1.8}.ci{stroke-width:5;stroke-opacity:.25}\n"
	"table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px}\n"
	"th,td{text-align:right;padding:3px 0 3px 18px;font-weight:400;white-space:nowrap}\n"
	"th{color:var(--soft)}td:first-child,th:first-child{text-align:left;padding-left:0;"
	"white-space:normal;overflow-wrap:anywhere}caption{text-align:left;font-weight:700;"
	"padding:18px 0 4px}\n"
	/* A name, and below it its numbers. */
	"@media(max-width:600px){table,tbody,tr,caption,td:first-child{display:block}th{display:"
	"none}td{display:inline-block;padding:0 12px 0 0}td:first-child{padding-top:8px}"
	"td:nth-child(3)::before{content:\"old \"}td:nth-child(4)::before{content:\"new \"}"
	"td:nth-child(5)::before{content:\"difference \"}}\n";

static const char *const answer_classes[] = { "changed", "same", "unknown" };

const char *diff_title(enum difference_answer answer)
{
	static const char *const titles[] = { "Changed", "The same", "Cannot be told" };

	return titles[answer];
}

/* Drawn are those of which both sides are known, those that changed first. */
static bool is_drawn(const struct pair *p)
{
	return p->pa && p->pb && isfinite(p->d.value) &&
	       estimate_point_knowledge(p->pa) == KNOWN_VALUE &&
	       estimate_point_knowledge(p->pb) == KNOWN_VALUE;
}

struct slopes {
	FILE *out;
	const struct pair *pair[MOST_SLOPES];
	size_t n;
	double lo, hi, height;
};

static double slope_y(const struct slopes *s, double v)
{
	v = fmin(fmax(v, s->lo), s->hi);
	return SLOPE_TOP + (s->hi - v) / (s->hi - s->lo) * (s->height - 2 * SLOPE_TOP);
}

static int compare_new(const void *pa, const void *pb)
{
	double a = (*(const struct pair *const *)pa)->pb->program_speedup_pct;
	double b = (*(const struct pair *const *)pb)->pb->program_speedup_pct;

	return a < b ? 1 : a > b ? -1 : 0;
}

static void write_slope_end(const struct slopes *s, const struct estimate_point *p, double x)
{
	fprintf(s->out,
		"<path class=\"ci\" d=\"M%.0f %.1fV%.1f\"/><circle cx=\"%.0f\" cy=\"%.1f\" "
		"r=\"3.5\"/>",
		x, slope_y(s, p->ci_lo), slope_y(s, p->ci_hi), x,
		slope_y(s, p->program_speedup_pct));
}

/* @label_y: where its name has room. */
static void write_slope(const struct slopes *s, const struct pair *p, double label_y)
{
	_cleanup_free_ char *label =
		text_shorten(text_clean(p->label, "\xef\xbf\xbd"), SLOPE_LABEL, ELLIPSIS);
	double end = slope_y(s, p->pb->program_speedup_pct);

	fprintf(s->out, "<g class=\"%s\">", answer_classes[p->d.answer]);
	fprintf(s->out, "<line class=\"slope\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\"/>",
		SLOPE_LEFT, slope_y(s, p->pa->program_speedup_pct), SLOPE_RIGHT, end);
	write_slope_end(s, p->pa, SLOPE_LEFT);
	write_slope_end(s, p->pb, SLOPE_RIGHT);
	fprintf(s->out,
		"<path d=\"M%.0f %.1fL%.0f %.1f\"/><text x=\"%.0f\" y=\"%.1f\">%.1f " SLOPE_DASH
		" ",
		SLOPE_RIGHT + 6, end, SLOPE_RIGHT + 22, label_y, SLOPE_RIGHT + 26, label_y + 4,
		p->pb->program_speedup_pct);
	text_xml(s->out, label);
	fprintf(s->out, "</text></g>\n");
}

static void write_slopes(const struct diff *d, FILE *out)
{
	struct slopes s = { .out = out, .lo = 0, .hi = 5 };
	double y = 0;

	for (size_t i = 0; i < d->n && s.n < MOST_SLOPES; i++) {
		const struct pair *p = &d->pairs[i];

		if (!is_drawn(p))
			continue;
		s.pair[s.n++] = p;
		s.lo = fmin(s.lo, fmin(p->pa->ci_lo, p->pb->ci_lo));
		s.hi = fmax(s.hi, fmax(p->pa->ci_hi, p->pb->ci_hi));
	}
	if (!s.n)
		return;
	s.lo = fmax(s.lo, -100);
	s.hi = fmin(s.hi, 100);
	s.height = fmax(260, 2 * SLOPE_TOP + SLOPE_LINE * (s.n + 2));
	qsort(s.pair, s.n, sizeof(s.pair[0]), compare_new);
	fprintf(out,
		"<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"slopes\"><svg "
		"viewBox=\"0 0 %d %.0f\" role=\"img\" "
		"aria-label=\"What targets were worth and are worth; the table has the "
		"numbers\">\n<path class=\"zero\" d=\"M%.0f %.1fH%.0f\"/>"
		"<path class=\"axis\" d=\"M%.0f %.0fV%.1fM%.0f %.0fV%.1f\"/>\n",
		SLOPES_WIDTH, s.height, SLOPE_LEFT, slope_y(&s, 0), SLOPE_RIGHT, SLOPE_LEFT,
		SLOPE_TOP, s.height - SLOPE_TOP, SLOPE_RIGHT, SLOPE_TOP, s.height - SLOPE_TOP);
	fprintf(out,
		"<text class=\"head\" x=\"%.0f\" y=\"16\" text-anchor=\"middle\">old, %% "
		"saved</text><text class=\"head\" x=\"%.0f\" y=\"16\" "
		"text-anchor=\"middle\">new, %% saved</text>\n<text class=\"head\" x=\"%.0f\" "
		"y=\"%.1f\" text-anchor=\"end\">0</text>\n",
		SLOPE_LEFT, SLOPE_RIGHT, SLOPE_LEFT - 10, slope_y(&s, 0) + 4);
	for (size_t i = 0; i < s.n; i++) {
		y = fmax(slope_y(&s, s.pair[i]->pb->program_speedup_pct), y + SLOPE_LINE);
		/* Room for those that are still to come. */
		y = fmin(y, s.height - 8 - SLOPE_LINE * (s.n - 1 - i));
		write_slope(&s, s.pair[i], y);
	}
	fprintf(out, "</svg></div>\n");
}

static void write_side_cell(FILE *out, const struct estimate_point *p)
{
	_cleanup_free_ char *text = p ? estimate_point_text(p) : xstrdup(SLOPE_DASH);

	fprintf(out, "<td>%s</td>", text);
}

static void write_answers(const struct diff *d, enum difference_answer answer, FILE *out)
{
	if (!d->count[answer])
		return;
	fprintf(out,
		"<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"%s\"><table>"
		"<caption>%s (%zu)</caption><tr><th scope=\"col\">target</th><th "
		"scope=\"col\">less time</th><th scope=\"col\">old [95 %%]</th><th "
		"scope=\"col\">new "
		"[95 %%]</th><th scope=\"col\">difference [95 %%]</th></tr>\n",
		diff_title(answer), diff_title(answer), d->count[answer]);
	for (size_t i = 0; i < d->n; i++) {
		const struct pair *p = &d->pairs[i];

		if (p->d.answer != answer)
			continue;
		fprintf(out, "<tr><td title=\"");
		text_xml(out, p->a->target->name);
		fprintf(out, "\">");
		text_xml(out, p->label);
		fprintf(out, "</td><td>");
		if (isfinite(p->at_pct))
			fprintf(out, "%g %%", p->at_pct);
		fprintf(out, "</td>");
		write_side_cell(out, p->pa);
		write_side_cell(out, p->pb);
		if (isfinite(p->d.value))
			fprintf(out, "<td>%+.1f [%+.1f, %+.1f]</td></tr>\n", p->d.value, p->d.lo,
				p->d.hi);
		else
			fprintf(out, "<td>" SLOPE_DASH "</td></tr>\n");
	}
	fprintf(out, "</table></div>\n");
}

static void write_side(const char *which, const struct model *m, FILE *out)
{
	_cleanup_free_ char *subject =
		profile_subject(&m->profile->runs[m->profile->n_runs - 1].header);

	fprintf(out, "%s: ", which);
	text_xml(out, m->profile->path);
	fprintf(out, ", ");
	text_xml(out, subject);
	fprintf(out, ", %.0f s. ", m->duration_s);
}

void diff_write_html(const struct diff *d, const char *headline, FILE *out)
{
	page_begin(out);
	fprintf(out, "What changed</title>\n<style>\n%s</style>\n<script>\n%s</script>\n",
		slopes_style, paint_once_js);
	fputs("</head>\n<body>\n<main>\n<h1>", out);
	text_xml(out, headline);
	fprintf(out, "</h1>\n<p class=\"sub\">");
	write_side("Old", d->a, out);
	write_side("New", d->b, out);
	fprintf(out,
		"Saved: %% of the time per unit of work, if the target took so much less time; "
		"bars: 95 %% intervals; dashed: cannot be told; differences in percentage "
		"points.</p>\n");
	write_slopes(d, out);
	for (enum difference_answer i = 0; i <= DIFFERENCE_UNKNOWN; i++)
		write_answers(d, i, out);
	page_list(out, "Only in the old profile", d->only_a.text, d->only_a.n);
	page_list(out, "Only in the new profile", d->only_b.text, d->only_b.n);
	page_list(out, "Why", d->reasons.text, d->reasons.n);
	page_list(out, "Warnings", d->warnings.text, d->warnings.n);
	fprintf(out, "</main>\n</body>\n</html>\n");
}
