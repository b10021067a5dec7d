// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/unwind.h"
#include "daemon/flaws.h"
#include "daemon/quotas.h"
#include "daemon/reasons.h"
#include "plan/period.h"

#define MAX_BEYOND    0.05 /* of the time that the target waits: not counted */
#define MAX_NAMELESS  3	   /* binaries to be named */
#define MIN_OTHERS    0.02 /* of the samples of a target */
#define MIN_NAMELESS  0.05 /* of the samples, to be worth a warning */
#define MIN_IN_KERNEL 0.2
#define PERIOD_WORSE  1.5 /* times what was expected, to be worth a warning */

static uint64_t visits_of(struct session *s, size_t i)
{
	struct point_reading r;

	points_read(s->points, i, &r);
	return r.visits - points_first(s->points, i)->visits;
}

static void not_reached(struct session *s, size_t i, bool others)
{
	const char *given = s->opt.points[i].name, *spec = s->opt.points[i].begin.spec;
	_cleanup_free_ char *name =
		strcmp(given, spec) != 0 ? xasprintf("%s (%s)", given, spec) : xstrdup(spec);
	_cleanup_free_ char *tasks = points_others(s->points, i);
	_cleanup_free_ char *hint =
		*tasks ? xasprintf(" (tasks of these names did: %s)", tasks) : xstrdup("");
	/* Some commands do no more than to start what goes on without them. */
	_cleanup_free_ char *ended =
		s->opt.command && s->command_status >= 0
			? xasprintf(", by when %s had ended", s->opt.command[0])
			: xstrdup("");

	if (others)
		session_warn(s, "%s was not visited by any process in %.1f s%s", name,
			     session_elapsed_s(s), hint);
	else
		session_reason(s,
			       "no progress point was reached: %s was not visited by any process "
			       "in %.1f s%s%s; check that the program gets there",
			       name, session_elapsed_s(s), ended, hint);
}

/* Named targets whose code has never been seen: the run was not too short, the name is wrong. */
static void find_missing(struct experiment *x)
{
	for (size_t i = 0; i < trials_count(x->trials); i++) {
		const struct trial *t = trials_get(x->trials, i);
		struct error err = {};

		if (!t->broken && !t->told && !t->joint && x->s->opt.n_targets &&
		    trials_find(x->trials, i, &err))
			session_reason(x->s, "%s", err.text);
	}
}

/* Nothing was chosen: because of where the samples lie, or as they were too few. */
static void no_target(struct session *s, const struct handlers_counts *c)
{
	double all = c->samples;

	if (!c->samples)
		session_reason(s,
			       "no target was seen: no sample of the profiled processes was taken "
			       "in %.1f s",
			       session_elapsed_s(s));
	else if (s->opt.n_source_scope || s->opt.n_binary_scope)
		session_reason(s,
			       "no target was seen: of %.0f samples in %.1f s too few for any fell "
			       "into the scope (--binary-scope, --source-scope)",
			       all, session_elapsed_s(s));
	else if (c->places.in_kernel > all / 2)
		session_reason(
			s,
			"no target was seen: %.0f %% of the samples lie in system calls that "
			"only system libraries are known to make: -k auto makes the kernel's "
			"functions targets, --target syscall:NAME a system call",
			100 * c->places.in_kernel / all);
	else if (c->places.no_file > all / 2)
		session_reason(s,
			       "no target was seen: %.0f %% of the samples lie in code that is in "
			       "no file (made at run time, as by a just-in-time compiler) and has "
			       "no names, as the program tells none (node --perf-basic-prof, "
			       "python -X perf)",
			       100 * c->places.no_file / all);
	else if (c->places.without_line > all / 2)
		session_reason(s,
			       "no target was seen: %.0f %% of the samples lie in code without "
			       "line information: build with -g, or leave out --granularity line",
			       100 * c->places.without_line / all);
	else
		session_reason(s,
			       "no target was seen: no place has enough of the %.0f samples (20, "
			       "and 2 %%): let it run longer, or name one with --target",
			       all);
}

static const char *class_meaning(const struct target *t)
{
	const char *name = t->name;

	if (t->peer)
		return "waiting for that peer on another machine; of one on this machine its code "
		       "is the target: comm:NAME or func:NAME@BINARY";
	if (t->device)
		return "waiting for that block device";
	if (!strcmp(name, "on"))
		return "running";
	if (!strcmp(name, "io"))
		return "waiting for a block device";
	if (!strcmp(name, "other"))
		return "waiting for a timer, or for a device other than a block device";
	return "waiting for a device or a timer";
}

/* Windows were long because of pauses between visits, or most of them fell into one. */
static bool is_bursty(struct experiment *x, const struct profile_window *w, size_t n)
{
	double pause_s = points_longest_pause_s(x->s->points, x->slowest);

	return x->in_bursts || (windows_often_empty(x->windows) && pause_s > w[n - 1].wall_s);
}

static void too_few_bursts(struct experiment *x, size_t kept)
{
	struct session *s = x->s;
	_cleanup_free_ char *text = xasprintf(
		"%s is reached in bursts, with up to %.2g s between them, and windows have to hold "
		"several: too few of these fit into the run; let it run longer%s, or choose a "
		"progress point that is reached more evenly (a function that is called throughout "
		"the work), or give it smaller pieces of work",
		s->opt.points[x->slowest].name, points_longest_pause_s(s->points, x->slowest),
		s->opt.command && !s->opt.runs ? ", or again with --runs" : "");

	if (kept)
		session_warn(s, "%s", text);
	else
		session_reason(s, "%s", text);
}

/* Why nothing can be concluded, most fundamental reason first. */
static void find_reasons(struct experiment *x, const struct handlers_counts *c)
{
	size_t kept = 0, n_windows, n_trials = trials_count(x->trials);
	const struct profile_window *w = windows_all(x->windows, &n_windows);
	struct session *s = x->s;
	bool visited = s->opt.end_to_end;
	uint64_t hits = 0, others = 0;
	/* Named ones are tried from the first window on, whatever is sampled. */
	bool none_chosen = !n_trials && !(s->opt.n_targets && c->samples);

	for (size_t i = 0; i < points_count(s->points); i++)
		visited |= visits_of(s, i) > 0;
	for (size_t i = 0; i < points_count(s->points); i++) {
		uint64_t visits = visits_of(s, i);

		log_info("%s: %llu visits", s->opt.points[i].name, (unsigned long long)visits);
		if (!visits)
			not_reached(s, i, visited);
	}
	if (visited)
		find_missing(x);
	for (size_t i = 0; i < n_windows; i++)
		kept += !w[i].discard && window_is_treated(&w[i]);
	for (size_t i = 0; i < n_trials; i++) {
		hits += trials_get(x->trials, i)->hits;
		others += trials_get(x->trials, i)->others_hits;
	}
	if (s->opt.end_to_end && s->command_status < 0)
		session_reason(
			s,
			"no run of %s ended in %.1f s, and --end-to-end measures whole runs: "
			"let it run longer (--duration), give it less to do, or say with -p "
			"when a unit of work is done",
			s->opt.command[0], session_elapsed_s(s));
	else if (visited && none_chosen)
		no_target(s, c);
	else if (visited && n_windows && !s->n_reasons && kept < EXPERIMENT_LEAST_TREATED &&
		 is_bursty(x, w, n_windows))
		too_few_bursts(x, kept);
	else if (visited && !n_windows && !s->n_reasons)
		session_reason(
			s,
			"the run ended after %.1f s, before the first window was complete: let "
			"it run longer, repeat the command with --runs, or use --end-to-end",
			session_elapsed_s(s));
	else if (visited && n_windows && !kept && !s->n_reasons)
		session_reason(s,
			       "no window with a speedup was kept: the run was too short, or all "
			       "were discarded (see `scoz report`)");
	else if (kept && !hits && s->opt.n_targets && s->opt.targets[0].kind == TARGET_CLASS)
		session_reason(s,
			       "no target was seen: profiled processes did nothing of %s (%s) in "
			       "any window with a speedup",
			       s->opt.targets[0].spec, class_meaning(&s->opt.targets[0]));
	else if (kept && !hits && s->opt.n_targets && s->opt.targets[0].kind == TARGET_RANK)
		session_reason(s,
			       "no target was seen: no process of %s was running when a sample was "
			       "taken, or it waited by polling; ranks are known by what their "
			       "launcher puts into their environment: `scoz report --per rank` "
			       "shows them",
			       s->opt.targets[0].spec);
	else if (kept && !hits && s->opt.n_targets)
		session_reason(
			s, "no target was seen: %s was never running when a window was sampled%s",
			s->opt.targets[0].spec,
			others ? ", but in processes that are not profiled: name them with "
				 "--pid, or leave COMMAND, --pid and --cgroup out"
			       : "");
}

/* Who reads a prediction must know that others run that code, too. */
static void warn_of_others(struct experiment *x)
{
	for (size_t i = 0; i < trials_count(x->trials); i++) {
		const struct trial *t = trials_get(x->trials, i);
		double all = (double)t->hits + t->others_hits;

		if (t->hits && !t->joint && t->others_hits >= MIN_OTHERS * all &&
		    !target_name_in(t->name, TARGET_CLASS, NULL))
			session_warn(
				x->s,
				"%.0f %% of the samples of %s were of processes that are not "
				"profiled: they stop nobody and count for nothing (--pid takes "
				"a process in; without COMMAND, --pid and --cgroup all count)",
				100 * t->others_hits / all, t->name);
	}
}

/* Named, and not even begun: the time went into others, which are known for it. */
static void warn_of_untried(struct experiment *x)
{
	size_t untried = 0, n = trials_count(x->trials);
	const char *first = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct trial *t = trials_get(x->trials, i);

		if (t->broken || t->joint || trials_state(x->trials, i).rounds)
			continue;
		first = first ? first : t->name;
		untried++;
	}
	if (x->s->opt.n_targets && untried && untried < n)
		session_warn(
			x->s,
			"%s was not tried (%zu of %zu targets were not): at the rate of windows in "
			"this run, %.0f s suffice for the others only; let it run longer, or name "
			"fewer targets",
			first, untried, n, session_elapsed_s(x->s));
}

/* --precision has ended the run, and not everything is as precise as that. */
static void warn_of_limits(struct experiment *x)
{
	for (size_t i = 0; i < trials_count(x->trials); i++) {
		double fixed = trials_state(x->trials, i).fixed;

		if (fixed > 0)
			session_warn(
				x->s,
				"%s: --precision %g is out of reach here: \xc2\xb1%.1f is what "
				"does not shrink with time (cores shared with strangers, or with "
				"tasks that devices or timers wake; the method itself, half a "
				"point): fewer tasks, or more cores",
				trials_get(x->trials, i)->name, x->s->opt.precision, fixed);
	}
}

static void warn_about_waits(struct session *s, const struct engine_ledger *l)
{
	double waiting = l->queued / 1e9 / session_elapsed_s(s);
	double asleep = l->external_waited / 1e9 / session_elapsed_s(s);

	log_info("%.2f profiled tasks on average ran, %.2f waited for a core, %.2f for devices or "
		 "timers",
		 l->ran / 1e9 / session_elapsed_s(s), waiting, asleep);
	if (engine_speeds_waits(s->engine) &&
	    l->target_waited_beyond > MAX_BEYOND * (l->target_waited + l->target_waited_beyond))
		session_warn(
			s,
			"the target waited for %.1f s of which only %.1f s count: a wait counts "
			"as 1 s at most, as windows are not longer; what is predicted is too low",
			(l->target_waited + l->target_waited_beyond) / 1e9, l->target_waited / 1e9);
	if (l->unawaited > 10)
		session_warn(s,
			     "%llu timers fired before the program waited for them: what they "
			     "overlapped with is taken to be all that counts, and predictions may "
			     "be too high",
			     (unsigned long long)l->unawaited);
}

/* The program synchronised more often in the windows than when the period was chosen. */
static void warn_about_period(struct experiment *x)
{
	const struct sampling *p = &x->sampling;
	double sum = 0;
	size_t n_windows, n = 0;
	const struct profile_window *w = windows_all(x->windows, &n_windows);

	for (size_t i = 0; i < n_windows; i++) {
		if (w[i].discard || w[i].real || window_is_treated(&w[i]))
			continue;
		sum += w[i].expected_pp;
		n++;
	}
	if (n && sum / n > p->expected_pp + PERIOD_ERROR_PP &&
	    sum / n > PERIOD_WORSE * p->expected_pp)
		session_warn(
			x->s,
			"the profiled tasks synchronised more often in the windows than before "
			"the first: at one sample each %.2f ms expect predictions to be wrong by "
			"%.1f points on average, not %.1f (a longer --warmup lets the period be "
			"chosen by what the program does later)",
			p->period_ns / 1e6, sum / n, p->expected_pp);
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
		size_t most = 0;

		for (size_t i = 1; i < n; i++)
			most = b[i].unnamed > b[most].unnamed ? i : most;
		if (!n || b[most].unnamed < MIN_NAMELESS * c->samples)
			break;
		binary = maps_binary_ask(s->maps, most);
		if (!binary)
			break;
		why = binary->made			    ? "it does not tell of that code"
		      : !binary->table			    ? binary->error
		      : maptable_is_stripped(binary->table) ? "it is stripped"
							    : "it has no symbols there";
		text_add(&text, "%s%.0f %% in %s (%s)", *text ? ", " : "",
			 100.0 * b[most].unnamed / c->samples, binary->path, why);
		b[most].unnamed = 0;
	}
	return text;
}

/* What could not be named, and how to mend it. */
static void warn_about_names(struct session *s, const struct engine_ledger *l,
			     const struct handlers_counts *c)
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
	/* Instructions under probes are carried out in no file, too. */
	if (c->places.no_file >= (MIN_NAMELESS + flaws_probes_share(s, l)) * all)
		session_warn(
			s,
			"%.0f %% of the samples lie in code that is in no file (made at run "
			"time, as by a just-in-time compiler): without names it is no target, and "
			"its callers do not stand for it; it has names where the program tells "
			"them "
			"(node --perf-basic-prof, python -X perf)",
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

/* Whose caller is not known hits no target above it, and nothing else tells. */
static void warn_about_chains(struct session *s)
{
	double cut = s->unwind ? unwind_follow_cut(s->unwind) : 0;

	if (cut >= MIN_NAMELESS)
		session_warn(
			s,
			"%.0f %% of the call chains end in code without unwind tables (assembly, "
			"mostly): what calls it is not known, so functions that do are worth more "
			"than is said of them, unless probes see their calls (-v tells); that "
			"code, "
			"its file (bin:NAME) and its threads (comm:NAME) can be targets",
			100 * cut);
}

/* Files whose tables came too late, or not at all, those of most samples: " (/usr/bin/gzip, ...)".
 */
static char *unread_binaries(struct session *s)
{
	_cleanup_free_ struct tally_binary *b = NULL;
	char *text = xstrdup("");
	int listed = 0;
	size_t n;

	handlers_binaries(s->handlers, &b, &n);
	while (n && listed < MAX_NAMELESS) {
		size_t most = 0;

		for (size_t i = 1; i < n; i++)
			most = b[i].untold > b[most].untold ? i : most;
		if (!b[most].untold)
			break;
		text_add(&text, "%s%s", listed++ ? ", " : " (", maps_binary_path(s->maps, most));
		b[most].untold = 0;
	}
	if (listed)
		text_add(&text, ")");
	return text;
}

static void warn_about_losses(struct session *s, const struct engine_ledger *l,
			      const struct handlers_counts *c)
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
	warn_about_names(s, l, c);
	log_info("profiling took %.2f %% of a core for handling samples (%.2f µs a sample); rings "
		 "were at most %.1f %% full",
		 100 * c->cpu_s / elapsed, c->samples ? 1e6 * c->resolve_s / c->samples : 0,
		 100 * c->fullest);
}

void reasons_find(struct experiment *x, const struct engine_ledger *l,
		  const struct handlers_counts *c)
{
	find_reasons(x, c);
	flaws_tell(x->s, l);
	warn_about_losses(x->s, l, c);
	warn_about_chains(x->s);
	warn_of_untried(x);
	warn_of_limits(x);
	warn_of_others(x);
	warn_about_waits(x->s, l);
	if (!x->s->probes_told && !x->s->elsewhere_told) /* that is in what is expected, too */
		warn_about_period(x);
	quotas_warn(x->s);
	if (x->s->unwind)
		unwind_follow_log(x->s->unwind);
}
