// SPDX-License-Identifier: GPL-2.0-or-later
#include "heatmap.h"

#include <math.h>
#include <stdio.h>

#define ROW    15
#define LEFT   190
#define COLUMN 120
#define TOP    70
#define FULL   10.0 /* points of error for the strongest colour */

static void cell(FILE *f, int x, int y, double error)
{
	double strength = fmin(fabs(error) / FULL, 1);
	int fade = 255 - lround(200 * sqrt(strength));

	fprintf(f,
		"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"rgb(%d,%d,%d)\"/>"
		"<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%+.1f</text>\n",
		x, y, COLUMN - 2, ROW - 1, error > 0 ? 255 : fade, fade, error > 0 ? fade : 255,
		x + COLUMN / 2, y + ROW - 4, error);
}

/* One word a line. */
static void head(FILE *f, int x, const char *text)
{
	int y = 14;

	while (*text) {
		int n = 0;

		while (text[n] && text[n] != ' ')
			n++;
		fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%.*s</text>\n",
			x + COLUMN / 2, y, n, text);
		y += 13;
		text += n + (text[n] == ' ');
	}
}

int heatmap_write(const char *path, struct sim_program *const *programs, int n,
		  const struct sim_config *configs, int n_configs, const double *speedups,
		  int n_speedups, const struct sim_result *results)
{
	int width = LEFT + n_configs * COLUMN, height = TOP + n * n_speedups * ROW + 4;
	FILE *f = fopen(path, "we");

	if (!f)
		return -1;
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"font-family=\"sans-serif\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		width, height);
	for (int c = 0; c < n_configs; c++)
		head(f, LEFT + c * COLUMN, configs[c].text);
	for (int i = 0; i < n * n_speedups; i++) {
		const struct sim_result *r = &results[i * n_configs];
		int y = TOP + i * ROW;

		fprintf(f, "<text x=\"4\" y=\"%d\">%s, %.0f %%%s</text>\n", y + ROW - 4,
			programs[i / n_speedups]->name, 100 * speedups[i % n_speedups],
			programs[i / n_speedups]->unmendable ? " *" : "");
		for (int c = 0; c < n_configs; c++) {
			if (!r[c].stuck)
				cell(f, LEFT + c * COLUMN, y, r[c].predicted - r[c].truth);
		}
	}
	fputs("</svg>\n", f);
	return fclose(f);
}
