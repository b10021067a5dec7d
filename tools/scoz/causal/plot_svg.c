// SPDX-License-Identifier: GPL-2.0-or-later
/* All panels in one drawing that stands alone: fixed colours, headings cut to fit. */
#include <math.h>

#include "profile/subject.h"
#include "stats/describe.h"
#include "tools/scoz/causal/plot.h"
#include "tools/scoz/text.h"

#define MARGIN	    28
#define GAP	    22
#define HEADING	    62 /* above the curve of each panel */
#define PAD	    12
#define TITLE	    98
#define FOOT	    26
#define PANEL_W	    (PLOT_WIDTH + 2 * PAD)
#define PANEL_H	    (HEADING + PLOT_HEIGHT + 6)
#define MAX_COLUMNS 4
#define MAX_PANELS  60 /* more would be too large a picture; the page shows all */

static const char style[] =
	"text{font-family:'Helvetica Neue',Helvetica,Arial,'Liberation Sans','DejaVu Sans',"
	"sans-serif;fill:#1f2933}\n"
	".page{fill:#f6f7f8}.panel{fill:#fff;stroke:#dfe3e8}\n"
	".h1{font-size:20px;font-weight:600}.sub{font-size:12px;fill:#5b6875}\n"
	".target{font-family:'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace;"
	"font-size:12px;font-weight:600}\n"
	".meta{font-size:11px;fill:#5b6875}.badge{font-size:11px;font-weight:600}\n"
	".tick{font-size:10.5px;fill:#5b6875}.name{font-size:10.5px;fill:#5b6875}\n"
	".grid{stroke:#e9ecef}.axis{stroke:#aab3bd}.zero{stroke:#7b8794}\n"
	".limit{stroke:#b4bcc5;stroke-dasharray:3 4}\n"
	".curve{fill:none;stroke-width:1.8;stroke-linejoin:round}.bar{fill:none;stroke-width:1}\n"
	".dot{stroke:#fff;stroke-width:1.2}.measured{fill:none;stroke:#1f2933;stroke-width:1.3}\n"
	".label{font-size:11.5px;font-weight:600;paint-order:stroke;stroke:#fff;stroke-width:4px;"
	"stroke-linejoin:round}\n"
	".good .curve,.good .bar{stroke:#0072b2}.good .band,.good .dot{fill:#0072b2}"
	".good .label,.good.badge{fill:#0072b2}\n"
	".bad .curve,.bad .bar{stroke:#b84a00}.bad .band,.bad .dot{fill:#b84a00}"
	".bad .label,.bad.badge{fill:#b84a00}\n"
	".none .curve,.none .bar{stroke:#66727f}.none .band,.none .dot{fill:#66727f}"
	".none .label,.none.badge{fill:#66727f}\n"
	".open .curve,.open .bar{stroke:#66727f}.open .band,.open .dot{fill:#66727f}"
	".open .label,.open.badge{fill:#66727f}\n"
	".open .curve{stroke-dasharray:5 3}.band{fill-opacity:.13}\n";

static size_t columns(size_t n)
{
	size_t c = ceil(sqrt(n * 0.8));

	return c < 1 ? 1 : c > MAX_COLUMNS ? MAX_COLUMNS : c;
}

/* Text that is cut to @max characters. */
static void write_text(FILE *out, const char *class, double x, double y, const char *anchor,
		       const char *s, size_t max)
{
	_cleanup_free_ char *text = text_shorten(text_clean(s, "\xef\xbf\xbd"), max, ELLIPSIS);

	fprintf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class, x, y,
		anchor);
	text_xml(out, text);
	fprintf(out, "</text>\n");
}

/* What panels are called: malloc'ed strings in a malloc'ed array. */
static char **panel_names(const struct model *m, size_t shown)
{
	char **names = xcalloc(shown, sizeof(*names));

	for (size_t i = 0; i < shown; i++)
		names[i] = text_clean(m->rows[i].target->name, "\xef\xbf\xbd");
	names_shorten(names, shown, 46, ELLIPSIS);
	return names;
}

static void write_panel(FILE *out, const struct model_row *row, const char *name,
			const struct plot_axis *axis, double x, double y, size_t id)
{
	_cleanup_free_ char *badge = xasprintf("%s badge", plot_verdict_class(row->e->verdict));
	_cleanup_free_ char *summary = estimate_best_text(row->e);
	_cleanup_free_ char *meta = xasprintf(
		"%llu samples \xc2\xb7 %s", (unsigned long long)row->samples, row->progress->name);
	bool located = *row->target->location != '\0';

	fprintf(out,
		"<g transform=\"translate(%.0f %.0f)\" role=\"img\" aria-labelledby=\"t%zu "
		"d%zu\">\n",
		x, y, id, id);
	fprintf(out, "<rect class=\"panel\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", PANEL_W,
		PANEL_H);
	write_text(out, "target", PAD, 22, "start", name, 46);
	write_text(out, "meta", PAD, 38, "start",
		   located ? row->target->location : row->target->kind, 38);
	write_text(out, "meta", PANEL_W - PAD, 38, "end", meta, 30);
	write_text(out, badge, PAD, 54, "start", verdict_name(row->e->verdict), 20);
	write_text(out, "meta", PANEL_W - PAD, 54, "end", summary, 50);
	fprintf(out, "<g transform=\"translate(%d %d)\">\n", PAD, HEADING);
	plot_curve(out, row, axis, id);
	fprintf(out, "</g></g>\n");
}

static void write_title(FILE *out, const struct model *m, size_t shown, size_t chars)
{
	const struct profile_header *h = &m->profile->runs[m->profile->n_runs - 1].header;
	_cleanup_free_ char *facts =
		xasprintf("%.1f s in %zu run%s \xc2\xb7 %zu windows \xc2\xb7 %s, %s model, %.0f Hz",
			  m->duration_s, m->profile->n_runs, m->profile->n_runs == 1 ? "" : "s",
			  m->kept, h->engine, h->model, h->frequency_hz);
	_cleanup_free_ char *more = NULL, *subject = profile_subject(h);

	write_text(out, "h1", MARGIN, 40, "start", "Causal profile", chars);
	write_text(out, "sub", MARGIN, 60, "start", subject, chars);
	if (shown < m->n_rows)
		more = xasprintf("%s \xc2\xb7 the first %zu of %zu targets", facts, shown,
				 m->n_rows);
	write_text(out, "sub", MARGIN, 77, "start", more ? more : facts, chars);
}

static size_t shown_rows(const struct model *m)
{
	return m->n_rows < MAX_PANELS ? m->n_rows : MAX_PANELS;
}

/* Without panels: room for the reasons, a line each. */
void plot_size(const struct model *m, int *width, int *height)
{
	size_t shown = shown_rows(m), cols = shown ? columns(shown) : 2;
	size_t rows = (shown + cols - 1) / cols;

	*width = 2 * MARGIN + cols * (PANEL_W + GAP) - GAP;
	*height = TITLE + (shown ? rows * (PANEL_H + GAP) - GAP : 18 * m->reasons.n) + FOOT;
}

void plot_write_svg(const struct model *m, FILE *out)
{
	size_t shown = shown_rows(m), cols = columns(shown);
	_cleanup_free_ char **names = panel_names(m, shown);
	struct plot_axis axis = plot_axis(m);
	int width, height;

	plot_size(m, &width, &height);
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\">\n<title>Causal profile</title>\n<style>%s</style>\n"
		"<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n",
		width, height, width, height, style, width, height);
	write_title(out, m, shown, width / 6.8);
	for (size_t i = 0; i < shown; i++) {
		write_panel(out, &m->rows[i], names[i], &axis,
			    MARGIN + (i % cols) * (PANEL_W + GAP),
			    TITLE + (i / cols) * (PANEL_H + GAP), i);
		free(names[i]);
	}
	for (size_t i = 0; !shown && i < m->reasons.n; i++)
		write_text(out, "sub", MARGIN, TITLE + 14 + 18 * i, "start", m->reasons.text[i],
			   118);
	fprintf(out, "</svg>\n");
}
