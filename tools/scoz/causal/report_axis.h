/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reports in a terminal draw with: colours, cells, and intervals on an axis of characters. */
#ifndef SCOZ_REPORT_AXIS_H
#define SCOZ_REPORT_AXIS_H

#include "tools/scoz/causal/report_text.h"

#define LEAST_BAR 5
#define MOST_BAR  60

enum paint { PAINT_PLAIN, PAINT_BOLD, PAINT_SOFT, PAINT_WORTH, PAINT_HARMFUL };
void paint_begin(enum color c);
void paint(enum paint p);
enum paint paint_of(enum section s);

void put_cell(const char *text, size_t width, bool right);

struct glyphs {
	const char *zero, *sure, *whisker, *value, *below, *above, *dash, *calls;
};
const struct glyphs *glyphs(void);

struct scale {
	double lo, hi;
	size_t width;
};
void scale_stretch(struct scale *s, double v);
/* Numbers above the columns where they are; to be freed. */
char *scale_ticks(const struct scale *s);
/* A line from end to end of the interval; where the verdict is sure, a solid bar from 0 to it. */
void print_interval(const struct scale *s, double lo, double v, double hi, enum section section);
void print_empty(const struct scale *s);

#endif
