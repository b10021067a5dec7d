// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/finish.h"
#include "host/process.h"
#include "daemon/reasons.h"
#include "daemon/profile_samples.h"
#include "base/text_fit.h"
#include "engine/span_bins.h"
#include "symbolizer/symbolizer.h"

#include <unistd.h>

#define PATIENCE_NS (5 * NSEC_PER_SEC) /* with tables that are asked for */

/* What the engine has measured of latency point @i. @l->bins is malloc'ed. */
static void read_latency(struct session *s, size_t i, struct profile_latency *l)
{
	uint64_t counts[SPAN_SLOT];
	const struct progress_spec *spec = &s->opt.points[i];
	size_t cap = 0;

	*l = (struct profile_latency){ .progress = i, .why = "" };
	if (!points_spans(s->points, i, counts)) {
		l->why = spec->begin.kind == POINT_MARK || spec->end.kind == POINT_MARK
				 ? "marks are counted, not timed"
				 : "this engine does not measure it";
		return;
	}
	l->elsewhere = counts[SPAN_ELSEWHERE];
	for (uint32_t bin = 0; bin < SPAN_BINS; bin++) {
		uint64_t count = counts[bin];

		if (!count)
			continue;
		array_reserve(l->bins, cap, l->n_bins + 1);
		l->bins[l->n_bins++] =
			(struct profile_latency_bin){ span_bin_start(bin) / 1e9,
						      span_bin_start(bin + 1) / 1e9, count };
		l->measured += count;
	}
	if (!l->measured)
		l->why = l->elsewhere ? "its ends run in different threads"
				      : "none began and ended without a speedup in force";
}

static void write_latencies(struct session *s)
{
	for (size_t i = 0; i < points_count(s->points); i++) {
		struct profile_latency l;
		struct error err = {};

		if (!s->opt.points[i].latency)
			continue;
		read_latency(s, i, &l);
		if (profile_writer_latency(s->writer, &l, &err))
			log_warn("%s", err.text);
		free(l.bins);
	}
}

/* What the machine was like, by core. */
static void write_machine(struct experiment *x, const struct engine_ledger *l)
{
	struct session *s = x->s;
	_cleanup_free_ struct machine_times *now = xcalloc(s->cores.n, sizeof(*now));
	_cleanup_free_ struct profile_core *cores = xcalloc(s->cores.n, sizeof(*cores));
	struct profile_machine m = { .tick_cost_s = x->sampling.tick_cost_ns / 1e9,
				     .ticks = l->ticks,
				     .cores = cores,
				     .n_cores = s->cores.n };
	struct machine_times sum;
	struct error err = {};

	if (!x->machine)
		return;
	machine_read(&s->cores, now, &sum);
	for (int i = 0; i < s->cores.n; i++) {
		uint64_t speed_ns, n;

		handlers_speed(s->handlers, i, &speed_ns, &n);
		cores[i] = (struct profile_core){
			.cpu = s->cores.cpus[i],
			.stolen_s = now[i].stolen - x->machine[i].stolen,
			.busy_s = now[i].busy - x->machine[i].busy,
			.stopped_s = engine_core(s->engine, i).stopped / 1e9,
			.work_ns = n ? (double)speed_ns / n : 0,
		};
	}
	if (profile_writer_machine(s->writer, &m, &err))
		log_warn("%s", err.text);
}

static void write_choices(struct experiment *x)
{
	struct error err = {};
	struct choices c;
	int r = 0;

	trials_choices(x->trials, &c);
	for (size_t i = 0; i < c.n && !r; i++)
		r = profile_writer_choice(x->s->writer,
					  &(struct profile_choice){ .target = c.list[i].target.name,
								    .samples = c.list[i].samples },
					  &err);
	if (r)
		log_warn("%s", err.text);
	choices_free(&c);
}

/* For a page that shows them wherever it is made. */
static void write_sources(struct experiment *x)
{
	for (size_t i = 0; i < trials_count(x->trials); i++) {
		const struct trial *t = trials_get(x->trials, i);
		struct source_lines lines;
		const char *text[2 * SOURCE_LINES_AROUND + 1];
		struct profile_source p = { .target = t->id, .lines = text };
		struct error err = {};

		if (!t->told || !t->location ||
		    !sources_read(x->s->sources, t->binary, &t->file, t->location, &lines,
				  &p.newer))
			continue;
		p.first = lines.first;
		p.n_lines = lines.n;
		for (size_t k = 0; k < lines.n; k++)
			text[k] = xstrndup(lines.line[k], source_line_length(lines.line[k]));
		if (profile_writer_source(x->s->writer, &p, &err))
			log_warn("%s", err.text);
		for (size_t k = 0; k < lines.n; k++)
			free((char *)text[k]);
		source_lines_free(&lines);
	}
}

static void write_callers(struct session *s)
{
	struct caller_target t;
	struct error err = {};

	for (size_t i = 0; handlers_callers(s->handlers, i, &t); i++) {
		struct profile_seen seen = {
			.target = t.id, .samples = t.samples, .all = t.all, .polled = t.polled
		};
		int r = profile_writer_seen(s->writer, &seen, &err);

		for (size_t k = 0; k < t.n_paths && !r; k++) {
			const struct caller_path *p = &t.paths[k];
			struct profile_path path = { .target = t.id,
						     .samples = p->samples,
						     .functions = p->functions,
						     .n_functions = p->n };

			r = profile_writer_path(s->writer, &path, &err);
		}
		if (r)
			log_warn("%s", err.text);
	}
}

static void fill_footer(struct session *s, const struct engine_ledger *l,
			const struct handlers_counts *counts, struct profile_footer *f)
{
	*f = (struct profile_footer){
		.command_status = s->command_status,
		.end = run_end_text(s->end),
		.duration_s = s->start_ns ? session_elapsed_s(s) : 0,
		.samples_total = counts->samples,
		.samples_lost = counts->lost,
		.samples_unnamed = counts->places.unnamed,
		.inserted_s = l->delay / 1e9,
		.stopped_s = l->stopped / 1e9,
		.own_s = l->own / 1e9,
		.excused_s = l->excused / 1e9,
		.overhead_s = l->overhead / 1e9,
		.waived_s = l->waived / 1e9,
		.owed_s = l->owed / 1e9,
	};
}

int finish_at_once(struct experiment *x)
{
	/* Before there are windows nothing is useful. */
	bool useful = x->windows && windows_are_useful(x->windows);
	struct session *s = x->s;
	const char *reason =
		"a second signal ended the run before a window with a speedup was complete";
	const char *warning = "the run was ended at once, by a second signal: where samples fell "
			      "is not in the profile";
	struct handlers_counts counts = {};
	struct engine_ledger l = {};
	struct profile_footer f;
	struct error err = {};

	if (!s->writer) {
		log_msg(LOG_QUIET, "a second signal ended it before profiling began: no profile "
				   "was written");
		return 3;
	}
	if (s->engine)
		engine_read_ledger(s->engine, &l);
	if (s->handlers)
		handlers_counts_now(s->handlers, &counts);
	fill_footer(s, &l, &counts, &f);
	f.end = run_end_text(END_SIGNAL);
	f.reasons = &reason;
	f.n_reasons = !useful;
	f.warnings = &warning;
	f.n_warnings = 1;
	if (profile_writer_finish(s->writer, &f, &err)) {
		log_warn("%s", err.text);
		return 1;
	}
	if (!useful)
		log_msg(LOG_QUIET, "%s", reason);
	return useful ? 0 : 3;
}

/* A ledger that cannot be is an error, not a profile. */
static void check_ledger(struct experiment *x)
{
	uint64_t elapsed_ns = session_elapsed_s(x->s) * NSEC_PER_SEC;
	struct error err = {};

	if (!engine_check_ledger(x->s->engine, elapsed_ns, &err))
		return;
	windows_discard_all(x->windows, DISCARD_LEDGER);
	session_reason(x->s, "%s", err.text);
}

/* Where the samples of a short run lie is being found out when it ends: a moment for that. */
static void wait_for_tables(struct session *s)
{
	uint64_t end = clock_now_ns() + PATIENCE_NS;
	struct handlers_counts counts;

	handlers_counts(s->handlers, &counts);
	while (maps_awaited(s->maps) && clock_now_ns() < end && !session_at_once &&
	       !symbolizer_is_stuck())
		usleep(10000);
	handlers_give_up(s->handlers);
}

static void tell_conclusion(struct experiment *x)
{
	const char *output = x->s->opt.output;
	_cleanup_free_ char *text = windows_conclusion(x->windows);
	bool extended = profile_writer_run(x->s->writer) > 0;
	bool other = strcmp(output, "profile.scoz") != 0;

	log_warn("%u window%s with a speedup in %s; see `scoz report%s%s`",
		 windows_units(x->windows), windows_units(x->windows) == 1 ? "" : "s", output,
		 other ? " " : "", other ? output : "");
	for (char *save = NULL, *line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		_cleanup_free_ char *shown = locale_text(line);

		log_warn("%s%s.", extended ? "in this run: " : "", shown);
	}
}

int finish_run(struct experiment *x)
{
	struct session *s = x->s;
	struct handlers_counts counts;
	struct profile_footer f;
	_cleanup_free_ char *ended = NULL;
	struct engine_ledger l;
	struct error err = {};

	wait_for_tables(s);
	check_ledger(x);
	engine_read_ledger(s->engine, &l);
	handlers_counts(s->handlers, &counts);
	reasons_find(x, &l, &counts);
	fill_footer(s, &l, &counts, &f);
	samples_write(s);
	write_choices(x);
	write_sources(x);
	write_callers(s);
	write_latencies(s);
	write_machine(x, &l);
	/* There may be more warnings only now. */
	f.reasons = (const char *const *)s->reasons;
	f.n_reasons = s->n_reasons;
	f.warnings = (const char *const *)s->warnings;
	f.n_warnings = s->n_warnings;
	if (profile_writer_finish(s->writer, &f, &err)) {
		log_warn("%s", err.text);
		return 1;
	}
	ended = process_status_text(s->command_status);
	if (ended && log_level >= LOG_NORMAL)
		log_warn("%s %s", s->opt.command[0], ended);
	for (size_t i = 0; i < s->n_reasons; i++)
		log_msg(LOG_QUIET, "%s", s->reasons[i]);
	if (!windows_are_useful(x->windows))
		return 3;
	if (!s->opt.json)
		tell_conclusion(x);
	return 0;
}
