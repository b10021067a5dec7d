// SPDX-License-Identifier: GPL-2.0-or-later
/* What the page lists below the ranking: targets measured together, and what only replay tells. */
#include "tools/scoz/causal/plot_lists.h"

#include "tools/scoz/causal/expected.h"
#include "tools/scoz/causal/next.h"
#include "tools/scoz/text.h"

#define MOST_LISTED 30

static void list_begin(FILE *out, const char *title, size_t n, const char *what)
{
	fprintf(out,
		"<details class=\"list\"><summary>%s (%zu): %s</summary>\n<table><tr><th "
		"scope=\"col\">target</th><th scope=\"col\">saves, %%</th><th "
		"scope=\"col\">at</th></tr>\n",
		title, n, what);
}

static void list_row(FILE *out, const char *name, const char *value, double at_pct)
{
	fprintf(out, "<tr><td>");
	text_xml(out, name);
	fprintf(out, "</td><td>%s</td><td>%g %%</td></tr>\n", value, at_pct);
}

static void list_end(FILE *out, size_t n)
{
	fprintf(out, "</table>\n");
	if (n > MOST_LISTED)
		fprintf(out, "<p class=\"sub\">%zu more: scoz report --limit 0</p>\n",
			n - MOST_LISTED);
	fprintf(out, "</details>\n");
}

void plot_list_joints(const struct model *m, char *const *labels, uint32_t progress, FILE *out)
{
	size_t n;
	const struct model_row **list = next_joints(m, progress, &n);

	if (n)
		list_begin(out, "Together", n,
			   "what both save, measured with both that much faster");
	for (size_t i = 0; i < n && i < MOST_LISTED; i++) {
		const struct estimate *e = list[i]->e;
		_cleanup_free_ char *value =
			e->best == KNOWN_NOTHING
				? xstrdup("nothing learned")
				: percent_interval_text(e->best_pct, e->best_lo, e->best_hi,
							e->best_at_pct);

		list_row(out, labels[list[i] - m->rows], value, e->best_at_pct);
	}
	if (n)
		list_end(out, n);
	free(list);
}

void plot_list_unmeasured(const struct model *m, uint32_t progress, FILE *out)
{
	size_t n;
	const struct profile_expected **list = expected_unmeasured(m, progress, &n);
	const struct profile_replay *replay = expected_replay(m->profile);
	_cleanup_free_ char *what =
		xasprintf("expected by a replay of the first %.1f s, with bounds; no verdict",
			  replay ? replay->seconds : 0);

	if (n)
		list_begin(out, "Not measured", n, what);
	for (size_t i = 0; i < n && i < MOST_LISTED; i++) {
		const struct profile_expectation *at =
			profile_expectation_half(list[i]->at, list[i]->n_at);
		_cleanup_free_ char *value =
			xasprintf("%.1f [%.1f, %.1f]", at->pct + 0.0, at->low, at->high);

		list_row(out, list[i]->target, value, 100 * at->speedup);
	}
	if (n)
		list_end(out, n);
	free(list);
}
