// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/causal/report_axis.h"

#include <math.h>
#include <unistd.h>

#include "tools/scoz/text.h"

/* ---- colour ---- */

static bool colored;

void paint(enum paint p)
{
	static const char *const codes[] = { "0", "1", "2", "94", "33" };

	if (colored)
		printf("\033[%sm", codes[p]);
}

enum paint paint_of(enum section s)
{
	return s == SECTION_WORTH ? PAINT_WORTH : s == SECTION_HARMFUL ? PAINT_HARMFUL : PAINT_SOFT;
}

static bool wants_color(enum color c)
{
	const char *no = getenv("NO_COLOR");

	if (c != COLOR_AUTO)
		return c == COLOR_ALWAYS;
	return terminal_obeys(STDOUT_FILENO) && !(no && *no);
}

void paint_begin(enum color c)
{
	colored = wants_color(c);
}

/* ---- lines ---- */

void put_cell(const char *text, size_t width, bool right)
{
	size_t w = text_width(text), pad = width > w ? width - w : 0;

	printf("%*s%s%*s", right ? (int)pad : 0, "", text, right ? 0 : (int)pad, "");
}

/* ---- the axis ---- */

static size_t scale_at(const struct scale *s, double v)
{
	double x = (v - s->lo) / (s->hi - s->lo) * (s->width - 1);

	return x <= 0 ? 0 : x >= s->width - 1 ? s->width - 1 : (size_t)lround(x);
}

void scale_stretch(struct scale *s, double v)
{
	s->lo = fmin(s->lo, fmax(v, -100));
	s->hi = fmax(s->hi, fmin(v, 100));
}

/* So that a number stands about every @columns, on both sides of 0 or at least on one. */
static double scale_step(const struct scale *s, double columns)
{
	double rough = (s->hi - s->lo) * columns / s->width;
	double magnitude = pow(10, floor(log10(rough)));

	return magnitude * (rough / magnitude < 2 ? 2 : rough / magnitude < 5 ? 5 : 10);
}

char *scale_ticks(const struct scale *s)
{
	double step = scale_step(s, 5);
	char *line = xmalloc(s->width + 1);

	if (step > s->hi && -step < s->lo)
		step = scale_step(s, 3);

	memset(line, ' ', s->width);
	line[s->width] = '\0';
	for (double v = ceil(s->lo / step) * step; v <= s->hi; v += step) {
		_cleanup_free_ char *text = xasprintf("%g", fabs(v) < step / 2 ? 0.0 : v);
		size_t len = strlen(text), at = scale_at(s, v);

		at = at > len / 2 ? at - len / 2 : 0;
		if (at + len <= s->width)
			memcpy(line + at, text, len);
	}
	return line;
}

const struct glyphs *glyphs(void)
{
	static const struct glyphs utf8 = { "│", "█", "─", "●", "◂", "▸", "—", " → " };
	static const struct glyphs ascii = { "|", "#", "-", "o", "<", ">", "-", " -> " };

	return locale_is_utf8() ? &utf8 : &ascii;
}

/* Arrows take the ends: a value that is on the axis stands beside them. */
static size_t value_at(const struct scale *s, double lo, double v, double hi)
{
	size_t at = scale_at(s, v), last = s->width - 1;

	if (lo < s->lo && v >= s->lo && at < 1)
		at = 1;
	if (hi > s->hi && v <= s->hi && at > last - 1)
		at = last - 1;
	return at;
}

void print_interval(const struct scale *s, double lo, double v, double hi, enum section section)
{
	const struct glyphs *g = glyphs();
	const char **cell = xcalloc(s->width, sizeof(*cell));
	size_t zero = scale_at(s, 0), from = scale_at(s, lo), to = scale_at(s, hi);

	for (size_t i = from; i <= to; i++)
		cell[i] = g->whisker;
	for (size_t i = zero; section == SECTION_WORTH && lo > 0 && i < from; i++)
		cell[i] = g->sure;
	for (size_t i = to + 1; section == SECTION_HARMFUL && hi < 0 && i <= zero; i++)
		cell[i] = g->sure;
	cell[zero] = g->zero;
	cell[value_at(s, lo, v, hi)] = g->value;
	if (lo < s->lo)
		cell[0] = g->below;
	if (hi > s->hi)
		cell[s->width - 1] = g->above;
	paint(paint_of(section));
	for (size_t i = 0; i < s->width; i++)
		fputs(cell[i] ? cell[i] : " ", stdout);
	paint(PAINT_PLAIN);
	free(cell);
}

void print_empty(const struct scale *s)
{
	size_t zero = scale_at(s, 0);

	printf("%*s%s%*s", (int)zero, "", glyphs()->zero, (int)(s->width - zero - 1), "");
}
