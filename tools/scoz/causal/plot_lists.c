// SPDX-License-Identifier: GPL-2.0-or-later
/* What the page lists below the ranking: targets measured together, and what only replay tells. */
#include "tools/scoz/causal/plot_lists.h"

#include <math.h>

#include "profile/subject.h"
#include "stats/describe.h"
#include "tools/scoz/causal/expected.h"
#include "tools/scoz/causal/latency.h"
#include "tools/scoz/causal/next.h"
#include "tools/scoz/text.h"

#define MOST_LISTED 30
#define MOST_NAMES  4

/* @names: of what is in it, seen as long as it is folded; "": too many. */
static void list_begin(FILE *out, const char *title, size_t n, const char *what, const char *names,
		       const char *less)
{
	fprintf(out, "<details class=\"list\"><summary>%s (%zu): %s<span class=\"names\">%s", title,
		n, what, *names ? ": " : "");
	text_xml(out, names);
	fprintf(out,
		"</span></summary>\n<table><tr><th scope=\"col\">target</th><th "
		"scope=\"col\">saves, %%</th><th scope=\"col\">%s</th></tr>\n",
		less);
}

/* @at_pct: NAN where nothing is known of any. */
static void list_row(FILE *out, const char *name, const char *value, double at_pct)
{
	_cleanup_free_ char *less = isfinite(at_pct) ? less_time_text(at_pct) : NULL;

	fprintf(out, "<tr><td>");
	text_xml(out, name);
	fprintf(out, "</td><td>%s</td><td>%s</td></tr>\n", value, less ? less : "");
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
	_cleanup_free_ char *names = xstrdup("");

	for (size_t i = 0; i < n && n <= MOST_NAMES; i++)
		text_add(&names, "%s%s", i ? ", " : "", labels[list[i] - m->rows]);
	if (n)
		list_begin(out, "Together", n, "what both would save if both took less time", names,
			   "if both took");
	for (size_t i = 0; i < n && i < MOST_LISTED; i++) {
		const struct estimate *e = list[i]->e;
		_cleanup_free_ char *value =
			e->best == KNOWN_NOTHING
				? xstrdup("nothing learned")
				: percent_interval_text(e->best_pct, e->best_lo, e->best_hi,
							e->best_at_pct);

		list_row(out, labels[list[i] - m->rows], value,
			 e->best == KNOWN_NOTHING ? NAN : e->best_at_pct);
	}
	if (n)
		list_end(out, n);
	free(list);
}

void plot_list_unmeasured(const struct model *m, uint32_t progress, FILE *out)
{
	size_t n;
	const struct profile_expected **list = beside_unmeasured(&m->beside, progress, &n);
	const struct profile_replay *replay = expected_replay(m->profile);
	_cleanup_free_ char *names = xstrdup("");
	_cleanup_free_ char *what =
		xasprintf("only estimated, from a recording of the first %.1f s",
			  replay ? replay->seconds : 0);

	for (size_t i = 0; i < n && n <= MOST_NAMES; i++)
		text_add(&names, "%s%s", i ? ", " : "", list[i]->target);
	if (n)
		list_begin(out, "Not measured", n, what, names, "if it took");
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

void plot_facts(const struct model *m, FILE *out)
{
	const struct profile_header *h = &m->profile->runs[m->profile->n_runs - 1].header;
	_cleanup_free_ char *subject = profile_subject(h);

	fprintf(out, "<p class=\"sub facts\"><code>");
	text_xml(out, subject);
	fprintf(out, "</code> \xc2\xb7 %.1f s in %zu run%s", m->duration_s, m->profile->n_runs,
		m->profile->n_runs == 1 ? "" : "s");
	for (size_t i = 0; i < m->profile->n_progress; i++) {
		_cleanup_free_ char *latency = model_latency_text(m, i);

		fprintf(out, " \xc2\xb7 \"");
		text_xml(out, m->profile->progress[i].name);
		fprintf(out, "\" %.4g/s%s", m->progress[i].rate_per_s, latency ? ", " : "");
		text_xml(out, latency ? latency : "");
	}
	fprintf(out, " \xc2\xb7 %llu samples, %llu lost \xc2\xb7 ",
		(unsigned long long)m->samples_total, (unsigned long long)m->samples_lost);
	text_xml(out, h->host);
	fprintf(out, ", Linux ");
	text_xml(out, h->kernel);
	fprintf(out, ", %d core%s</p>\n", h->cpus, h->cpus == 1 ? "" : "s");
}

void plot_method(const struct model *m, FILE *out)
{
	const struct profile_header *h = &m->profile->runs[m->profile->n_runs - 1].header;
	double share = m->kept_wall_s > 0 ? 100 * m->inserted_s / m->kept_wall_s : 0;
	_cleanup_free_ char *machine = model_machine_text(m);

	fprintf(out,
		"<details class=\"list\"><summary>How it was measured</summary>\n"
		"<ul class=\"notes\"><li>%zu windows kept, %zu discarded: in each, one target was "
		"virtually faster, or none was</li>\n<li>everything else was held up for that, by "
		"%.1f %% of the time; all numbers are without that</li>\n<li>engine ",
		m->kept, model_discarded(m), share);
	text_xml(out, h->engine);
	fprintf(out, ", model ");
	text_xml(out, h->model);
	fprintf(out, ", %.0f samples a second and core, seed %llu: options of scozd</li>\n",
		h->frequency_hz, (unsigned long long)h->seed);
	if (machine) {
		fprintf(out, "<li>the machine: ");
		text_xml(out, machine);
		fprintf(out, "</li>\n");
	}
	fprintf(out, "</ul>\n</details>\n");
}
