/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drawing the rows of a model; inside tools/scoz only. */
#ifndef SCOZ_PLOT_H
#define SCOZ_PLOT_H

#include "tools/scoz/causal/model.h"

/* The y axis that all panels share, in percent. */
struct plot_axis {
	double lo, hi, step;
};
struct plot_axis plot_axis(const struct model *m);

/* Size of the drawing of one curve, without its heading. */
#define PLOT_WIDTH  340
#define PLOT_HEIGHT 214

/*
 * The curve of one row as SVG elements, at the origin. Colours come from classes:
 * the style sheet is that of the drawing or of the page.
 * @id makes the ids in the document unique.
 */
void plot_curve(FILE *out, const struct model_row *row, const struct plot_axis *axis, size_t id);
const char *plot_verdict_class(enum verdict v);
/* Its parts: the axes with their grid; the windows that it is made from, faintly; the rest. */
void plot_frame(FILE *out, const struct plot_axis *a);
/* The most that a target can give: not of latencies, which can shrink by more. */
void plot_limit(FILE *out, const struct plot_axis *a);
void plot_windows(FILE *out, const struct model *m, const struct model_row *row,
		  const struct plot_axis *a);
void plot_values(FILE *out, const struct model_row *row, const struct plot_axis *axis);

/*
 * As HTML: lines of the profile, or of files below @below, unless that is NULL. Returns how many
 * bytes they are, about.
 */
size_t plot_source(FILE *out, const struct model *m, const struct model_row *row,
		   const char *below);

/* What plot_write_svg() draws on, in pixels. */
void plot_size(const struct model *m, int *width, int *height);
void plot_write_svg(const struct model *m, FILE *out);
/*
 * Lines of source go into the page. @source: NULL, those of the profile; a directory: of files
 * below it; "": none.
 */
void plot_write_html(const struct model *m, const char *source, FILE *out);

#endif
