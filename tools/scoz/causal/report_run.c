// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/causal/report_run.h"

#include "profile/subject.h"
#include "tools/scoz/causal/expected.h"
#include "tools/scoz/causal/latency.h"
#include "tools/scoz/causal/mpi_view.h"
#include "tools/scoz/causal/report_axis.h"
#include "tools/scoz/text.h"

#define FACTS_INDENT 12 /* columns before what is told about a run */

/* "  name      text", on as many lines as it takes; frees @text. */
static void put_field(const char *name, char *text, size_t width)
{
	_cleanup_free_ char *shown = text_shown(text);

	printf("  %-*s", FACTS_INDENT - 2, name);
	text_put_wrapped(shown, FACTS_INDENT, width);
	free(text);
}

static char *windows_text(const struct model *m)
{
	const char *before = " (";
	size_t n = model_discarded(m);
	char *text = xasprintf("%zu kept, %zu discarded", m->kept, n);

	for (size_t i = 0; i < m->n_discards; i++) {
		if (!m->discards[i].n)
			continue;
		text_add(&text, "%s%zu %s", before, m->discards[i].n, m->discards[i].name);
		before = ", ";
	}
	if (n)
		text_add(&text, ")");
	return text;
}

static void print_progress(const struct model *m, size_t width)
{
	const struct profile *p = m->profile;

	for (size_t i = 0; i < p->n_progress; i++) {
		char *latency = model_latency_text(m, i), *stretch = model_stretch_text(m, i);

		put_field("progress",
			  xasprintf("%s%s: %.0f visits in kept windows, %.4g/s",
				    p->progress[i].name,
				    p->progress[i].kind == PROGRESS_LATENCY ? " (latency)" : "",
				    m->progress[i].visits, m->progress[i].rate_per_s),
			  width);
		if (latency)
			put_field("", latency, width);
		if (stretch)
			put_field("", stretch, width);
	}
}

static void print_run(const struct model *m, size_t width)
{
	const struct profile *p = m->profile;
	const struct profile_header *h = &p->runs[p->n_runs - 1].header;
	_cleanup_free_ char *subject = profile_subject(h);
	_cleanup_free_ char *title = xasprintf("%s: %s", p->path, subject);
	_cleanup_free_ char *shown = text_shown(title);
	double share = m->kept_wall_s > 0 ? 100 * m->inserted_s / m->kept_wall_s : 0;
	char *samples;

	text_put_wrapped(shown, 4, width);
	put_field("machine",
		  xasprintf("%s, Linux %s, %d core%s", h->host, h->kernel, h->cpus,
			    h->cpus == 1 ? "" : "s"),
		  width);
	put_field("method",
		  xasprintf("engine %s, model %s, %.0f Hz, seed %llu%s", h->engine, h->model,
			    h->frequency_hz, (unsigned long long)h->seed,
			    strcmp(h->mode, "end-to-end") ? "" : ", end to end"),
		  width);
	put_field("time",
		  xasprintf("%.1f s in %zu run%s", m->duration_s, p->n_runs,
			    p->n_runs == 1 ? "" : "s"),
		  width);
	put_field("windows", windows_text(m), width);
	samples = xasprintf("%llu, %llu lost", (unsigned long long)m->samples_total,
			    (unsigned long long)m->samples_lost);
	if (m->samples_unnamed && m->samples_total)
		text_add(&samples, ", %.1f %% without a name",
			 100.0 * m->samples_unnamed / m->samples_total);
	put_field("samples", samples, width);
	if (m->chosen)
		put_field("chosen",
			  xasprintf("%llu samples of %llu process%s; predictions are about the "
				    "whole program",
				    (unsigned long long)m->view.all.samples,
				    (unsigned long long)m->view.all.members,
				    m->view.all.members == 1 ? "" : "es"),
			  width);
	put_field("delay",
		  xasprintf("%.2f s inserted (%.1f %% of the kept windows), %.2f s unpaid at the "
			    "end",
			    m->inserted_s, share, m->owed_s),
		  width);
	print_progress(m, width);
}

/* The targets' samples in each process or rank. */
static void print_group(const struct model *m, const struct process_group *g)
{
	_cleanup_free_ char *name = process_group_name(g, m->per), *shown = text_shown(name);
	const char *dash = glyphs()->dash;
	struct table t;
	char **cell;

	printf("\n# %s: %llu samples\n", shown, (unsigned long long)g->samples);
	table_init_heads(&t, ">SHARE|>SAMPLES|>SELF|TARGET|LOCATION");
	for (size_t i = 0; i < m->n_rows; i++) {
		const struct profile_target *target = m->rows[i].target;
		struct profile_place sum;
		bool known;

		if (!model_row_is_first(m, i))
			continue;
		known = model_samples_in(m->profile, g, target->name, &sum);
		cell = table_row(&t);
		cell[0] = known ? xasprintf("%.1f %%",
					    g->samples ? 100.0 * sum.total / g->samples : 0.0)
				: xstrdup(dash);
		cell[1] = known ? xasprintf("%llu", (unsigned long long)sum.total) : xstrdup(dash);
		cell[2] = known ? xasprintf("%llu", (unsigned long long)sum.self) : xstrdup(dash);
		cell[3] = text_shown(target->name);
		cell[4] = text_shown(target->location);
	}
	table_print(&t);
}

static void print_replay(const struct model *m, size_t width)
{
	const struct profile_replay *r = expected_replay(m->profile);
	char *text;

	if (!r)
		return;
	text = xasprintf("%.1f s recorded, %llu events, %llu samples", r->seconds,
			 (unsigned long long)r->events, (unsigned long long)r->samples);
	if (*r->why)
		text_add(&text, "; nothing is expected: %s", r->why);
	else if (r->crowded > 0.1)
		text_add(&text, "; threads wanted a CPU that others had for %.0f %%: wide bounds",
			 100 * r->crowded);
	put_field("replay", text, width);
}

static void put_line(const char *text, size_t width)
{
	_cleanup_free_ char *shown = text_shown(text);

	printf("  ");
	text_put_wrapped(shown, 4, width);
}

static void print_trust(const struct model *m, size_t width)
{
	const struct model_row *row = model_trust_row(m);
	_cleanup_free_ char *text = row ? model_trust_text(row) : NULL;
	_cleanup_free_ char *machine = model_machine_text(m), *line = NULL;

	if (!row)
		return;
	printf("\nPrecision (percentage points, 95 %%)\n");
	put_line(text, width);
	if (row->trust.command) { /* whole: to be copied */
		_cleanup_free_ char *command = text_shown(row->trust.command);

		printf("    %s\n", command);
	}
	if (!machine)
		return;
	line = xasprintf("The machine: %s", machine);
	put_line(line, width);
}

static void print_notes(const struct model *m, size_t width)
{
	if (m->notes.n && m->per == PER_NOTHING)
		printf("\nNotes\n");
	for (size_t i = 0; i < m->notes.n && m->per == PER_NOTHING; i++) {
		_cleanup_free_ char *text = xasprintf(
			"%s%s", m->notes.text[i],
			i || !m->processes_differ ? "" : "; --per process tells them apart");

		put_line(text, width);
	}
}

/* ---- warnings, each once ---- */

/* The same but for the numbers in it? */
static bool same_words(const char *a, const char *b)
{
	static const char numbers[] = "0123456789.-";

	for (;;) {
		size_t x = strspn(a, numbers), y = strspn(b, numbers);

		if (!x != !y || a[x] != b[y])
			return false;
		a += x;
		b += y;
		if (!*a)
			return true;
		a++;
		b++;
	}
}

struct warned {
	char *text;   /* of the first of them */
	char *others; /* names of up to three more, "" without */
	size_t n;
};

static void warn_about(struct warned *list, size_t *n, const char *part, size_t len,
		       const char *label)
{
	_cleanup_free_ char *text = xstrndup(part, len);

	for (size_t i = 0; i < *n; i++) {
		struct warned *w = &list[i];
		const char *after = strchr(w->text, '\1');

		if (!same_words(after + 1, text))
			continue;
		if (w->n++ < 3)
			text_add(&w->others, "%s%s", *w->others ? ", " : "", label);
		return;
	}
	list[(*n)++] =
		(struct warned){ .text = xasprintf("%s\1%s", label, text), .others = xstrdup("") };
}

/* Of a joint they stand where it is asked for: it is no result by itself. */
static const char *warning_of(const struct model_row *row)
{
	return row->joint ? NULL : row->e->warning;
}

/* Parts of warnings are separated by "; "; those with the same words stand together. */
static void print_target_warnings(const struct model *m, size_t width)
{
	struct warned *list = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < m->n_rows; i++) {
		const char *text = warning_of(&m->rows[i]);
		_cleanup_free_ char *label =
			m->profile->n_progress > 1
				? xasprintf("%s (%s)", m->labels[i], m->rows[i].progress->name)
				: xstrdup(m->labels[i]);
		_cleanup_free_ char *name = text_shown(label);

		while (text) {
			const char *end = strstr(text, "; ");

			array_reserve(list, cap, n + 1);
			warn_about(list, &n, text, end ? (size_t)(end - text) : strlen(text), name);
			text = end ? end + 2 : NULL;
		}
	}
	for (size_t i = 0; i < n; i++) {
		struct warned *w = &list[i];
		char *at = strchr(w->text, '\1');
		_cleanup_free_ char *line = NULL;

		*at = '\0';
		line = !w->n	  ? xasprintf("%s: %s", w->text, at + 1)
		       : w->n > 3 ? xasprintf("%s: %s (so, but for numbers, also %s and %zu more)",
					      w->text, at + 1, w->others, w->n - 3)
				  : xasprintf("%s: %s (so, but for numbers, also %s)", w->text,
					      at + 1, w->others);
		put_line(line, width);
		free(w->text);
		free(w->others);
	}
	free(list);
}

static void print_warnings(const struct model *m, size_t width)
{
	bool any = m->warnings.n;

	for (size_t i = 0; i < m->n_rows; i++)
		any |= warning_of(&m->rows[i]) != NULL;
	if (!any)
		return;
	printf("\nWarnings\n");
	for (size_t i = 0; i < m->warnings.n; i++)
		put_line(m->warnings.text[i], width);
	print_target_warnings(m, width);
}

void report_print_run(const struct model *m, size_t width)
{
	print_run(m, width);
	print_replay(m, width);
	for (size_t i = 0; m->per != PER_NOTHING && i < m->view.n; i++)
		print_group(m, &m->view.groups[i]);
	mpi_view_print(m->profile);
	print_trust(m, width);
	print_notes(m, width);
	print_warnings(m, width);
}
