// SPDX-License-Identifier: GPL-2.0-or-later
/* The end of a run: samples, footer, and the reasons when nothing can be concluded. */
#include "daemon/session.h"
#include "daemon/targets.h"
#include "engine/span_bins.h"
#include "plan/period.h"
#include "symbolizer/symbolizer.h"

#include <sys/wait.h>
#include <unistd.h>

#define MAX_NAMELESS  3	   /* binaries to be named */
#define MIN_OTHERS    0.02 /* of the samples of a target */
#define MIN_NAMELESS  0.05 /* of the samples, to be worth a warning */
#define MIN_IN_KERNEL 0.2
#define PERIOD_WORSE  1.5		 /* times what was expected, to be worth a warning */
#define PATIENCE_NS   (5 * NSEC_PER_SEC) /* with tables that are asked for */

/* A place's samples, and which place it is (handlers_places()). */
struct placed {
	struct profile_sample s;
	uint32_t place;
};

static int by_self(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return (x->s.self < y->s.self) - (x->s.self > y->s.self);
}

/* To what lies in the binary, and is not the binary as a whole. */
static uint64_t credited_in(struct session *s, const struct tally_sums *places, size_t n,
			    const char *path)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (places[i].credit && !strcmp(locations_get(s->locations, i)->binary, path))
			sum += places[i].credit;
	}
	return sum;
}

static void write_places(struct session *s, const struct placed *placed, size_t n)
{
	_cleanup_free_ struct profile_sample *samples = xcalloc(n, sizeof(*samples));
	_cleanup_free_ uint32_t *places = xcalloc(n, sizeof(*places));
	struct error err = {};

	for (size_t i = 0; i < n; i++) {
		samples[i] = placed[i].s;
		places[i] = placed[i].place;
	}
	if (profile_writer_samples(s->writer, samples, n, &err) ||
	    process_samples_write(s, places, n, &err))
		log_warn("%s", err.text);
}

static void write_samples(struct session *s)
{
	_cleanup_free_ struct placed *placed = NULL;
	_cleanup_free_ struct tally_sums *places = NULL;
	_cleanup_free_ struct tally_binary *binaries = NULL;
	size_t n, n_binary, kept = 0, first_binary;

	handlers_samples(s->handlers, &places, &n);
	handlers_binaries(s->handlers, &binaries, &n_binary);
	placed = xcalloc(n + n_binary, sizeof(*placed));
	for (size_t i = 0; i < n; i++) {
		const struct location *l = locations_get(s->locations, i);

		if (places[i].total)
			placed[kept++] = (struct placed){
				.s = { .target = l->target,
				       .location = l->where,
				       .binary = l->binary,
				       .self = places[i].self,
				       .total = places[i].total,
				       .credit = places[i].credit },
				.place = i,
			};
	}
	first_binary = kept;
	for (size_t i = 0; i < n_binary; i++) {
		const char *path = maps_binary_path(s->maps, i);

		if (!binaries[i].sums.total || path[0] != '/')
			continue;
		/* With a scope of sources, callers outside of it are not asked about. */
		if (s->opt.n_source_scope && !binaries[i].sums.self && !binaries[i].sums.credit)
			continue;
		placed[kept++] = (struct placed){
			.s = { .target = locations_binary_target(path),
			       .location = "",
			       .binary = path,
			       .self = binaries[i].sums.self,
			       .total = binaries[i].sums.total,
			       .credit = binaries[i].sums.credit + credited_in(s, places, n, path),
			       .unnamed = binaries[i].unnamed },
			.place = PLACE_BINARY | i,
		};
	}
	qsort(placed, first_binary, sizeof(*placed), by_self);
	qsort(placed + first_binary, kept - first_binary, sizeof(*placed), by_self);
	write_places(s, placed, kept);
	while (kept > first_binary)
		free((char *)placed[--kept].s.target);
}

/* What the engine has measured of latency point @i. @l->bins is malloc'ed. */
static void read_latency(struct session *s, size_t i, struct profile_latency *l)
{
	const volatile uint64_t *counts = points_spans(s->points, i);
	const struct progress_spec *spec = &s->opt.points[i];
	size_t cap = 0;

	*l = (struct profile_latency){ .progress = i, .why = "" };
	if (!counts) {
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
static void write_machine(struct session *s, const struct engine_ledger *l)
{
	_cleanup_free_ struct machine_times *now = xcalloc(s->cores.n, sizeof(*now));
	_cleanup_free_ struct profile_core *cores = xcalloc(s->cores.n, sizeof(*cores));
	struct profile_machine m = { .tick_cost_s = s->tick_cost_ns / 1e9,
				     .ticks = l->ticks,
				     .cores = cores,
				     .n_cores = s->cores.n };
	struct machine_times sum;
	struct error err = {};

	if (!s->machine)
		return;
	machine_read(&s->cores, now, &sum);
	for (int i = 0; i < s->cores.n; i++) {
		uint64_t speed_ns, n;

		handlers_speed(s->handlers, i, &speed_ns, &n);
		cores[i] = (struct profile_core){
			.cpu = s->cores.cpus[i],
			.stolen_s = now[i].stolen - s->machine[i].stolen,
			.busy_s = now[i].busy - s->machine[i].busy,
			.stopped_s = engine_core(s->engine, i)->stopped / 1e9,
			.work_ns = n ? (double)speed_ns / n : 0,
		};
	}
	if (profile_writer_machine(s->writer, &m, &err))
		log_warn("%s", err.text);
}

static uint64_t visits_of(struct session *s, size_t i)
{
	struct point_reading r;

	points_read(s->points, i, &r);
	return r.visits - s->first[i].visits;
}

static void not_reached(struct session *s, size_t i, bool others)
{
	const char *name = s->opt.points[i].name, *spec = s->opt.points[i].begin.spec;
	_cleanup_free_ char *tasks = points_others(s->points, i);
	_cleanup_free_ char *hint =
		*tasks ? xasprintf(" (tasks of these names did: %s)", tasks) : xstrdup("");

	if (others)
		session_warn(s, "%s (%s) was not visited by any process in %.1f s%s", name, spec,
			     session_elapsed_s(s), hint);
	else
		session_reason(
			s,
			"no progress point was reached: %s (%s) was not visited by any process "
			"in %.1f s%s; check that the program gets there",
			name, spec, session_elapsed_s(s), hint);
}

/* Named targets whose code has never been seen: the run was not too short, the name is wrong. */
static void find_missing(struct session *s)
{
	for (size_t i = 0; i < s->n_trials; i++) {
		struct resolved_target r;
		struct error err = {};

		if (s->trials[i].broken || s->trials[i].named || !s->opt.n_targets)
			continue;
		if (target_resolve(&s->trials[i].target, s->maps, s->handlers, false, &r, &err))
			session_reason(s, "%s", err.text);
		else
			resolved_target_free(&r);
	}
}

/* Nothing was chosen: because of where the samples lie, or as they were too few. */
static void no_target(struct session *s)
{
	struct handlers_counts c;
	double all;

	handlers_counts(s->handlers, &c);
	all = c.samples;
	if (!c.samples || s->opt.n_targets)
		session_reason(s,
			       "no target was seen: no sample of the profiled processes was taken "
			       "in %.1f s",
			       session_elapsed_s(s));
	else if (s->opt.n_source_scope || s->opt.n_binary_scope)
		session_reason(s,
			       "no target was seen: of %.0f samples in %.1f s too few for any fell "
			       "into the scope (--binary-scope, --source-scope)",
			       all, session_elapsed_s(s));
	else if (c.places.in_kernel > all / 2)
		session_reason(
			s,
			"no target was seen: %.0f %% of the samples lie in system calls that "
			"only system libraries are known to make: -k auto makes the kernel's "
			"functions targets, --target syscall:NAME a system call",
			100 * c.places.in_kernel / all);
	else if (c.places.no_file > all / 2)
		session_reason(s,
			       "no target was seen: %.0f %% of the samples lie in code that is in "
			       "no file (made at run time, as by a just-in-time compiler), which "
			       "cannot be a target",
			       100 * c.places.no_file / all);
	else if (c.places.without_line > all / 2)
		session_reason(s,
			       "no target was seen: %.0f %% of the samples lie in code without "
			       "line information: build with -g, or leave out --granularity line",
			       100 * c.places.without_line / all);
	else
		session_reason(s,
			       "no target was seen: no place has enough of the %.0f samples (20, "
			       "and 2 %%): let it run longer, or name one with --target",
			       all);
}

/* Why nothing can be concluded, most fundamental reason first. */
static void find_reasons(struct session *s)
{
	uint64_t hits = 0, others = 0;
	size_t kept = 0;
	bool visited = s->opt.end_to_end;

	for (size_t i = 0; i < points_count(s->points); i++)
		visited |= visits_of(s, i) > 0;
	for (size_t i = 0; i < points_count(s->points); i++) {
		uint64_t visits = visits_of(s, i);

		log_info("%s: %llu visits", s->opt.points[i].name, (unsigned long long)visits);
		if (!visits)
			not_reached(s, i, visited);
	}
	if (visited)
		find_missing(s);
	for (size_t i = 0; i < s->n_windows; i++)
		kept += !s->windows[i].discard && window_is_treated(&s->windows[i]);
	for (size_t i = 0; i < s->n_trials; i++) {
		hits += s->trials[i].hits;
		others += s->trials[i].others_hits;
	}
	if (visited && !s->n_trials)
		no_target(s);
	else if (visited && !s->n_windows && !s->n_reasons)
		session_reason(
			s,
			"the run ended after %.1f s, before the first window was complete: let "
			"it run longer, repeat the command with --runs, or use --end-to-end",
			session_elapsed_s(s));
	else if (visited && s->n_windows && !kept && !s->n_reasons)
		session_reason(s,
			       "no window with a speedup was kept: the run was too short, or all "
			       "were discarded (see `scoz report`)");
	else if (kept && !hits && s->opt.n_targets)
		session_reason(s,
			       "no target was seen: %s was never running when a sample was taken%s",
			       s->opt.targets[0].spec,
			       others ? ", but in processes that are not profiled: name them with "
					"--pid, or leave COMMAND, --pid and --cgroup out"
				      : "");
}

/* Who reads a prediction must know that others run that code, too. */
static void warn_of_others(struct session *s)
{
	for (size_t i = 0; i < s->n_trials; i++) {
		const struct trial *t = &s->trials[i];
		double all = (double)t->hits + t->others_hits;

		if (t->hits && t->others_hits >= MIN_OTHERS * all)
			session_warn(
				s,
				"%.0f %% of the samples of %s were of processes that are not "
				"profiled: they stop nobody and count for nothing (--pid takes "
				"a process in; without COMMAND, --pid and --cgroup all count)",
				100 * t->others_hits / all, t->target.spec);
	}
}

/* Named, and not even begun: the time went into others, which are known for it. */
static void warn_of_untried(struct session *s)
{
	const char *first = NULL;
	size_t untried = 0;

	for (size_t i = 0; i < s->n_trials; i++) {
		if (s->trials[i].broken || plan_state(s->plan, i).rounds)
			continue;
		first = first ? first : s->trials[i].target.spec;
		untried++;
	}
	if (s->opt.n_targets && untried && untried < s->n_trials)
		session_warn(
			s,
			"%s was not tried (%zu of %zu targets were not): at the rate of windows in "
			"this run, %.0f s suffice for the others only; let it run longer, or name "
			"fewer targets",
			first, untried, s->n_trials, session_elapsed_s(s));
}

/* --precision has ended the run, and not everything is as precise as that. */
static void warn_of_limits(struct session *s)
{
	for (size_t i = 0; i < s->n_trials; i++) {
		double fixed = plan_state(s->plan, i).fixed;

		if (fixed > 0)
			session_warn(
				s,
				"%s: --precision %g is out of reach here: \xc2\xb1%.1f is what "
				"does not shrink with time (cores shared with strangers, or with "
				"tasks that devices or timers wake; the method itself, half a "
				"point): fewer tasks, or more cores",
				s->trials[i].target.spec, s->opt.precision, fixed);
	}
}

static void warn_about_waits(struct session *s, const struct engine_ledger *l)
{
	double waiting = l->queued / 1e9 / session_elapsed_s(s);
	double asleep = l->external_waited / 1e9 / session_elapsed_s(s);

	log_info("%.2f profiled tasks on average ran, %.2f waited for a core, %.2f for devices or "
		 "timers",
		 l->ran / 1e9 / session_elapsed_s(s), waiting, asleep);
	if (l->unawaited > 10)
		session_warn(s,
			     "%llu timers fired before the program waited for them: what they "
			     "overlapped with is taken to be all that counts, and predictions may "
			     "be too high",
			     (unsigned long long)l->unawaited);
}

/* The program synchronised more often in the windows than when the period was chosen. */
static void warn_about_period(struct session *s)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->n_windows; i++) {
		const struct profile_window *w = &s->windows[i];

		if (w->discard || w->real || window_is_treated(w))
			continue;
		sum += w->expected_pp;
		n++;
	}
	if (n && sum / n > s->expected_pp + PERIOD_ERROR_PP &&
	    sum / n > PERIOD_WORSE * s->expected_pp)
		session_warn(
			s,
			"the profiled tasks synchronised more often in the windows than before "
			"the first: at one sample each %.2f ms expect predictions to be wrong by "
			"%.1f points on average, not %.1f (a longer --warmup lets the period be "
			"chosen by what the program does later)",
			s->period_ns / 1e6, sum / n, s->expected_pp);
}

/* Where code without names is, in words: "88 % in /usr/bin/gzip, which is stripped, ...". */
static char *nameless_places(struct session *s, const struct handlers_counts *c)
{
	_cleanup_free_ struct tally_binary *b = NULL;
	char *text = xstrdup("");
	size_t n;

	handlers_binaries(s->handlers, &b, &n);
	for (int told = 0; told < MAX_NAMELESS; told++) {
		const struct maps_binary *binary;
		const char *why;
		char *longer;
		size_t most = 0;

		for (size_t i = 1; i < n; i++)
			most = b[i].unnamed > b[most].unnamed ? i : most;
		if (!n || b[most].unnamed < MIN_NAMELESS * c->samples)
			break;
		binary = maps_binary_known(s->maps, most);
		if (!binary)
			break;
		why = !binary->table			    ? binary->error
		      : maptable_is_stripped(binary->table) ? "it is stripped"
							    : "it has no symbols there";
		longer = xasprintf("%s%s%.0f %% in %s (%s)", text, *text ? ", " : "",
				   100.0 * b[most].unnamed / c->samples, binary->path, why);
		free(text);
		text = longer;
		b[most].unnamed = 0;
	}
	return text;
}

/* What could not be named, and how to mend it. */
static void warn_about_names(struct session *s, const struct handlers_counts *c)
{
	_cleanup_free_ char *places = NULL;
	double all = c->samples;

	if (!c->samples)
		return;
	places = nameless_places(s, c);
	if (*places)
		session_warn(s,
			     "%.0f %% of the samples lie in functions without a name: %s; they go "
			     "by address (func:0x...@BINARY) or as a whole (bin:BINARY): install "
			     "the -dbgsym package, or build with -g and do not strip",
			     100 * (c->places.unnamed - c->places.no_file) / all, places);
	if (c->places.no_file >= MIN_NAMELESS * all)
		session_warn(s,
			     "%.0f %% of the samples lie in code that is in no file (made at run "
			     "time, as by a just-in-time compiler): it cannot be a target, and its "
			     "callers do not stand for it",
			     100 * c->places.no_file / all);
	if (!s->opt.n_targets && c->places.without_line >= MIN_NAMELESS * all)
		session_warn(s,
			     "%.0f %% of the samples lie in code without line information, and "
			     "--granularity line leaves it out: build with -g, or let functions be "
			     "targets",
			     100 * c->places.without_line / all);
	if (!s->opt.n_targets && c->places.in_kernel >= MIN_IN_KERNEL * all)
		session_warn(s,
			     "%.0f %% of the samples lie in system calls of which no caller but "
			     "system libraries is known, and are credited to no target: -k auto "
			     "makes the kernel's functions targets, --target syscall:NAME a system "
			     "call",
			     100 * c->places.in_kernel / all);
}

/* Files whose tables came too late, or not at all: " (/usr/bin/gzip, ...)". */
static char *unread_binaries(struct session *s)
{
	_cleanup_free_ struct tally_binary *b = NULL;
	char *text = xstrdup("");
	int listed = 0;
	size_t n;

	handlers_binaries(s->handlers, &b, &n);
	for (size_t i = 0; i < n && listed < MAX_NAMELESS; i++) {
		char *longer;

		if (!b[i].untold)
			continue;
		longer = xasprintf("%s%s%s", text, listed++ ? ", " : " (",
				   maps_binary_path(s->maps, i));
		free(text);
		text = longer;
	}
	if (listed) {
		char *closed = xasprintf("%s)", text);

		free(text);
		text = closed;
	}
	return text;
}

static void warn_about_losses(struct session *s, const struct handlers_counts *c)
{
	double elapsed = session_elapsed_s(s);

	if (c->lost)
		session_warn(
			s,
			"%llu records (samples, mappings, ends of processes) were lost because "
			"a ring was full; windows in which that happened are discarded, and what "
			"is mapped where was read again %u times",
			(unsigned long long)c->lost, s->repairs);
	if (c->places.untold) {
		_cleanup_free_ char *binaries = unread_binaries(s);

		session_warn(s,
			     "%llu samples have a caller or lie in a file whose symbols had not "
			     "been read when the run ended%s: they count for it as a whole",
			     (unsigned long long)c->places.untold, binaries);
	}
	warn_about_names(s, c);
	log_info("profiling took %.2f %% of a core for handling samples (%.2f µs a sample); rings "
		 "were at most %.1f %% full",
		 100 * c->cpu_s / elapsed, c->samples ? 1e6 * c->resolve_s / c->samples : 0,
		 100 * c->fullest);
}

static void fill_footer(struct session *s, const struct engine_ledger *l,
			const struct handlers_counts *counts, struct profile_footer *f)
{
	*f = (struct profile_footer){
		.command_status = s->command_status,
		.end = s->end,
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

int session_finish_at_once(struct session *s)
{
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
	f.end = "signal";
	f.reasons = &reason;
	f.n_reasons = !s->useful;
	f.warnings = &warning;
	f.n_warnings = 1;
	if (profile_writer_finish(s->writer, &f, &err)) {
		log_warn("%s", err.text);
		return 1;
	}
	if (!s->useful)
		log_msg(LOG_QUIET, "%s", reason);
	return s->useful ? 0 : 3;
}

/* A ledger that cannot be is an error, not a profile. */
static void check_ledger(struct session *s)
{
	uint64_t elapsed_ns = session_elapsed_s(s) * NSEC_PER_SEC;
	struct error err = {};

	if (!engine_check_ledger(s->engine, elapsed_ns, &err))
		return;
	window_discard_all(s, "ledger");
	session_reason(s, "%s", err.text);
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

int session_finish(struct session *s)
{
	struct handlers_counts counts;
	struct profile_footer f;
	struct engine_ledger l;
	struct error err = {};

	wait_for_tables(s);
	check_ledger(s);
	engine_read_ledger(s->engine, &l);
	handlers_counts(s->handlers, &counts);
	find_reasons(s);
	warn_about_losses(s, &counts);
	warn_of_untried(s);
	warn_of_limits(s);
	warn_of_others(s);
	warn_about_waits(s, &l);
	warn_about_period(s);
	fill_footer(s, &l, &counts, &f);
	f.reasons = (const char *const *)s->reasons;
	f.n_reasons = s->n_reasons;
	f.warnings = (const char *const *)s->warnings;
	f.n_warnings = s->n_warnings;
	write_samples(s);
	write_latencies(s);
	write_machine(s, &l);
	if (profile_writer_finish(s->writer, &f, &err)) {
		log_warn("%s", err.text);
		return 1;
	}
	status_clear();
	if (s->command_status > 0 && log_level >= LOG_NORMAL) {
		if (WIFSIGNALED(s->command_status))
			log_warn("%s was ended by signal %d", s->opt.command[0],
				 WTERMSIG(s->command_status));
		else if (WEXITSTATUS(s->command_status))
			log_warn("%s ended with status %d", s->opt.command[0],
				 WEXITSTATUS(s->command_status));
	}
	for (size_t i = 0; i < s->n_reasons; i++)
		log_msg(LOG_QUIET, "%s", s->reasons[i]);
	if (!s->useful)
		return 3;
	if (!s->opt.json)
		log_warn("%u windows in %s; see `scoz report %s`", s->units, s->opt.output,
			 strcmp(s->opt.output, "profile.scoz") ? s->opt.output : "");
	return 0;
}
