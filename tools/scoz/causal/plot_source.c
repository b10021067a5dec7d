// SPDX-License-Identifier: GPL-2.0-or-later
/* The lines of source around a target, with what is known of each in the margin. */
#include "tools/scoz/causal/plot.h"
#include "stats/describe.h"
#include "tools/scoz/causal/source.h"
#include "tools/scoz/text.h"

/* What is known of a line, in the margin. */
static const struct model_row *row_at(const struct model *m, const struct model_row *row,
				      size_t line)
{
	const char *location = row->target->location, *colon = strrchr(location, ':');
	_cleanup_free_ char *other = xasprintf("%.*s:%zu", (int)(colon - location), location, line);

	for (size_t i = 0; i < m->n_rows; i++) {
		if (m->rows[i].progress == row->progress &&
		    !strcmp(m->rows[i].target->location, other))
			return &m->rows[i];
	}
	return NULL;
}

/* As they were when it was profiled; of several runs the last. */
static const struct profile_source *embedded(const struct model *m, const struct model_row *row)
{
	const struct profile *profile = m->profile;

	for (size_t i = profile->n_sources; i-- > 0;) {
		if (profile->sources[i].target == row->e->target && profile->sources[i].n_lines)
			return &profile->sources[i];
	}
	return NULL;
}

/* Of @line, percent of all samples; 0: none. */
static double line_share(const struct model *m, const struct model_row *row, size_t line)
{
	const char *location = row->target->location;
	size_t own, n = source_location(location, &own);
	const struct profile *profile = m->profile;
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->n_samples; i++) {
		const struct profile_sample *s = &profile->samples[i];
		size_t at, k = source_location(s->location, &at);

		/* They are called by the last parts of their paths. */
		if (at == line && !strncmp(s->target, s->location, strlen(s->location) + 1) &&
		    k <= n && !strncmp(location + n - k, s->location, k) &&
		    (k == n || location[n - k - 1] == '/'))
			sum += s->self;
	}
	return m->samples_total ? 100.0 * sum / m->samples_total : 0;
}

/* As tabs of 8 would stand, which is what files that mix them with blanks mean. */
static char *without_tabs(const char *text, size_t length)
{
	size_t column = 0, used = 0, cap = length + 1;
	char *line = xcalloc(cap, 1);

	for (size_t i = 0; i < length; i++) {
		size_t n = text[i] == '\t' ? 8 - column % 8 : 1;

		if (used + n + 1 > cap) {
			cap = 2 * cap + n;
			line = xreallocarray(line, cap, 1);
		}
		memset(line + used, ' ', n);
		if (text[i] != '\t')
			line[used] = text[i];
		used += n;
		column += (text[i] & 0xc0) == 0x80 ? 0 : n; /* the rest of a character */
	}
	line[used] = '\0';
	return line;
}

/* Returns how long the line is. */
static size_t write_source_line(FILE *out, const struct model *m, const struct model_row *row,
				size_t number, const char *text, size_t length)
{
	_cleanup_free_ char *line = without_tabs(text, length);
	const struct model_row *known = row_at(m, row, number);
	_cleanup_free_ char *best = known ? estimate_best_text(known->e) : xstrdup("");
	double share = line_share(m, row, number);
	size_t own;

	source_location(row->target->location, &own);
	fprintf(out, "<i>%6zu ", number);
	if (share >= 0.05)
		fprintf(out, "%5.1f %%</i>  ", share);
	else
		fprintf(out, "       </i>  ");
	fprintf(out, number == own ? "<b>" : "");
	text_xml(out, line);
	if (*best)
		fprintf(out, "  <i>%s %s</i>", known == row ? "\xe2\x97\x80" : "\xc2\xb7", best);
	fprintf(out, "%s\n", number == own ? "</b>" : "");
	return strlen(line);
}

size_t plot_source(FILE *out, const struct model *m, const struct model_row *row, const char *below)
{
	const struct profile_source *kept = below ? NULL : embedded(m, row);
	struct source_lines s = { .n = 0 };
	size_t own, bytes = 0;

	if (below)
		source_read(below, row->target->location, SOURCE_LINES_AROUND, &s);
	if ((!s.n && !kept) || !source_location(row->target->location, &own))
		goto out;
	fprintf(out, "<div class=\"source\" tabindex=\"0\" aria-label=\"source\">");
	if (kept && kept->newer)
		fprintf(out, "<i>the file is newer than the program: lines may have moved</i>\n");
	for (size_t i = 0; i < (kept ? kept->n_lines : s.n); i++) {
		const char *line = kept ? kept->lines[i] : s.line[i];

		bytes += 30 + write_source_line(out, m, row, (kept ? kept->first : s.first) + i,
						line, source_line_length(line));
	}
	fprintf(out, "</div>\n");
out:
	source_lines_free(&s);
	return bytes;
}
