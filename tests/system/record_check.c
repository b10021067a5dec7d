// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks into a recording for the tests; usage() tells what it can say. */
#include "record/recording.h"

#include <jansson.h>
#include <math.h>

/* Clock reads on two CPUs, and the way from the clock to the switch. */
#define SLOP_NS (50 * NSEC_PER_USEC)

static struct recording *rec;
static double period;
static int failures;

static __attribute__((format(printf, 1, 2))) void wrong(const char *fmt, ...)
{
	va_list ap;

	if (++failures > 20)
		return;
	printf("WRONG: ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static __attribute__((noreturn)) void usage(void)
{
	fprintf(stderr,
		"usage: record_check FILE WHAT...\n"
		"  summary           header and footer, \"name value\" lines\n"
		"  threads           tid, pid, name, points, ns on CPU, ns in the run queue, "
		"exited\n"
		"  points FILTER...  how many: tid=N pid=N comm=C class=X kind=K function=F "
		"event=E\n"
		"                    unfinished=1 held=1 rank=N, from=PERCENT of the time on\n"
		"  stacks FILTER...  call chains with their points, folded\n"
		"  valid [chainless=PERCENT] [gap=PERCENT]\n"
		"                    no sample contradicts another; samples without call chain "
		"(100),\n"
		"                    time of a thread that is nowhere (2)\n"
		"  truth JSON [shares=POINTS] [states=POINTS] [off=POINTS] [runq=PERCENT]\n"
		"             [kinds=PERCENT]\n"
		"                    beside what a program of workloads/waiting measured\n"
		"  attribution JSON [off]  no function, no waker of another thread (switches)\n"
		"  faults JSON PERCENT\n"
		"                    points in functions under the names of their threads "
		"(faults)\n"
		"Exit status 1: the recording does not say what it should.\n");
	exit(2);
}

/* The name without a version ("@GLIBC_2.2.5"). */
static bool same_symbol(const char *symbol, const char *name)
{
	size_t n = strcspn(symbol, "@");

	return strlen(name) == n && !strncmp(symbol, name, n);
}

#define for_each_frame(id, ret) \
	for (uint32_t at_ = (id), depth_ = 0; \
	     at_ != RECORDING_NONE && depth_ < 10000 && \
	     ((ret) = &rec->frames[rec->stacks[at_].frame], true); \
	     at_ = rec->stacks[at_].parent, depth_++)

static bool in_function(const struct record_sample *s, const char *name)
{
	const struct record_frame *f;

	for_each_frame(s->stack, f)
	{
		if (same_symbol(f->symbol, name))
			return true;
	}
	return false;
}

static const struct record_thread *thread_of(const struct record_sample *s)
{
	return &rec->threads[s->thread];
}

static char letter(const struct record_sample *s)
{
	char c = record_class_letter(s);

	return c == 'k' ? '.' : c;
}

/* ---- summary, threads, points, stacks ---- */

static void summary(void)
{
	const struct record_header *h = &rec->header;
	const struct record_footer *f = &rec->footer;
	uint64_t points[256] = { 0 };

	for (size_t i = 0; i < rec->n_samples; i++)
		points[(unsigned char)letter(&rec->samples[i])] += rec->samples[i].points;
	printf("engine %s\nperiod_ns %llu\ncpus %u\ncomplete %d\nend %s\nduration_ns %llu\n",
	       h->engine, (unsigned long long)h->period_ns, h->cpus, rec->complete,
	       f->end ? f->end : "", (unsigned long long)f->duration);
	printf("samples %zu\npoints %llu\nlost %llu\nbroken_chains %llu\nwithout_chain %llu\n",
	       rec->n_samples, (unsigned long long)f->points, (unsigned long long)f->lost,
	       (unsigned long long)f->broken_chains, (unsigned long long)f->without_chain);
	printf("threads %zu\nskipped_lines %zu\nunknown_lines %zu\ncommand_status %d\n",
	       rec->n_threads, rec->skipped_lines, rec->unknown_lines, f->command_status);
	for (const char *c = ".ILSB"; *c; c++)
		printf("points_%s %llu\n", *c == '.' ? "on" : (char[]){ *c, 0 },
		       (unsigned long long)points[(unsigned char)*c]);
}

static void threads(void)
{
	uint64_t *points = xcalloc(rec->n_threads + 1, sizeof(*points));

	for (size_t i = 0; i < rec->n_samples; i++)
		points[rec->samples[i].thread] += rec->samples[i].points;
	for (size_t i = 0; i < rec->n_threads; i++) {
		const struct record_thread *t = &rec->threads[i];

		printf("%d %d %s %llu %llu %llu %d\n", t->tid, t->pid, *t->comm ? t->comm : "?",
		       (unsigned long long)points[i], (unsigned long long)t->on,
		       (unsigned long long)t->sched, t->exited);
	}
	free(points);
}

static bool filter(const struct record_sample *s, char **args)
{
	for (; *args; args++) {
		const char *value = strchr(*args, '=');
		size_t n = value ? (size_t)(value++ - *args) : 0;
		const struct record_thread *t = thread_of(s);

#define IS(name) (n == strlen(name) && !strncmp(*args, name, n))
		if (IS("tid")	       ? t->tid != atoi(value)
		    : IS("pid")	       ? t->pid != atoi(value)
		    : IS("comm")       ? strcmp(s->comm, value)
		    : IS("class")      ? letter(s) != *value
		    : IS("kind")       ? !s->kind || strcmp(s->kind, value)
		    : IS("held")       ? (s->holder != RECORDING_NONE) != (atoi(value) != 0)
		    : IS("rank")       ? rec->processes[t->process].rank != atoi(value)
		    : IS("from")       ? s->time < rec->footer.duration / 100 * atoi(value)
		    : IS("event")      ? !s->event || strcmp(s->event, value)
		    : IS("function")   ? !in_function(s, value)
		    : IS("unfinished") ? s->unfinished != (atoi(value) != 0)
				       : (usage(), true))
			return false;
#undef IS
	}
	return true;
}

static void print_chain(uint32_t stack)
{
	const struct record_frame *f = NULL;

	if (stack == RECORDING_NONE)
		return;
	print_chain(rec->stacks[stack].parent);
	f = &rec->frames[rec->stacks[stack].frame];
	printf(";%s%s", f->symbol, f->kind == FRAME_KERNEL ? "_[k]" : "");
}

static void stacks(char **args)
{
	for (size_t i = 0; i < rec->n_samples; i++) {
		const struct record_sample *s = &rec->samples[i];

		if (!filter(s, args))
			continue;
		printf("%s", s->comm);
		print_chain(s->stack);
		printf(";[%c %s %s] %u\n", letter(s), s->kind ? s->kind : "-",
		       s->event ? s->event : "-", s->points);
	}
}

static void points(char **args)
{
	uint64_t n = 0;

	for (size_t i = 0; i < rec->n_samples; i++)
		if (filter(&rec->samples[i], args))
			n += rec->samples[i].points;
	printf("%llu\n", (unsigned long long)n);
}

/* ---- valid ---- */

struct account {
	uint64_t until; /* the end of its last wait */
	uint64_t points, last_on;
};

static void valid_sample(const struct record_sample *s, struct account *a)
{
	uint64_t start = s->time - s->duration;
	double n = (double)s->duration / period;

	a->points += s->points;
	if (!s->points)
		wrong("tid %d at %llu: no points", thread_of(s)->tid, (unsigned long long)s->time);
	if (s->duration > s->time + SLOP_NS)
		wrong("tid %d at %llu: the wait began %llu ns before, before the recording",
		      thread_of(s)->tid, (unsigned long long)s->time,
		      (unsigned long long)s->duration);
	else if (s->time + SLOP_NS < a->until + s->duration)
		wrong("tid %d: [%c %s] from %llu to %llu, but the one before ended at %llu",
		      thread_of(s)->tid, letter(s), s->kind ? s->kind : "-",
		      (unsigned long long)start, (unsigned long long)s->time,
		      (unsigned long long)a->until);
	if (s->class == RECORD_ON) {
		if (s->duration)
			wrong("tid %d at %llu: on a CPU, but waited", thread_of(s)->tid,
			      (unsigned long long)s->time);
		return;
	}
	/*
	 * At its very end it runs again: a tick that meets a thread whose switch the kernel has
	 * passed over ends the wait at its own time, and is written first (on_tick(),
	 * record/bpf/waits.bpf.h).
	 */
	if (a->last_on > start + SLOP_NS && a->last_on < s->time)
		wrong("tid %d: ran at %llu, in a wait from %llu to %llu", thread_of(s)->tid,
		      (unsigned long long)a->last_on, (unsigned long long)start,
		      (unsigned long long)s->time);
	/* One point in each period, anywhere in it. */
	if (s->points > n + 2 || s->points < n - 2)
		wrong("tid %d at %llu: %u points for %llu ns", thread_of(s)->tid,
		      (unsigned long long)s->time, s->points, (unsigned long long)s->duration);
	if (a->until < s->time)
		a->until = s->time;
}

/* By how much a number of points may be off: percents, and chance. */
static double allowed(double expected)
{
	return expected * 0.02 + 4 * sqrt(expected) + 3;
}

static void valid_thread(const struct record_thread *t, const struct account *a, double gap)
{
	double span = (double)(t->to - t->from);
	double sum = (double)t->on + (double)t->sched + (double)t->io + (double)t->other;

	/* Threads that only woke others have none. */
	if (!t->has_times && !a->points)
		return;
	if (!t->has_times || t->to < t->from) {
		wrong("tid %d %s: %llu points, but no times", t->tid, t->comm,
		      (unsigned long long)a->points);
		return;
	}
	/* Not 0: where a switch cannot be seen (some systems hide their agents), time is lost. */
	if (fabs(sum - span) > span * gap / 100 + 20e6)
		wrong("tid %d %s: its times add up to %.0f ns of %.0f", t->tid, t->comm, sum, span);
	/* Without loss, the points are complete, but where it runs they are met by chance. */
	if (!rec->footer.lost && fabs((double)a->points - span / period) > allowed(span / period))
		wrong("tid %d %s: %llu points in %.0f ns", t->tid, t->comm,
		      (unsigned long long)a->points, span);
}

static void valid(char **limits)
{
	struct account *a = xcalloc(rec->n_threads + 1, sizeof(*a));
	double chainless = 100, gap = 2;
	uint64_t sum = 0;

	for (; *limits; limits++) {
		if (sscanf(*limits, "chainless=%lf", &chainless) != 1 &&
		    sscanf(*limits, "gap=%lf", &gap) != 1)
			usage();
	}

	if (!rec->complete)
		wrong("no footer");
	if (rec->skipped_lines)
		wrong("%zu lines were cut off", rec->skipped_lines);
	for (size_t i = 0; i < rec->n_samples; i++) {
		const struct record_sample *s = &rec->samples[i];

		if (i && s->time < s[-1].time)
			wrong("sample %zu is not in the order of time", i);
		if (s->class == RECORD_ON)
			a[s->thread].last_on = s->time;
		valid_sample(s, &a[s->thread]);
		sum += s->points;
	}
	for (size_t i = 0; i < rec->n_threads; i++)
		valid_thread(&rec->threads[i], &a[i], gap);
	if (rec->complete && rec->footer.samples != rec->n_samples)
		wrong("%zu samples, the footer says %llu", rec->n_samples,
		      (unsigned long long)rec->footer.samples);
	if (rec->complete && rec->footer.points != sum)
		wrong("%llu points, the footer says %llu", (unsigned long long)sum,
		      (unsigned long long)rec->footer.points);
	if (rec->n_samples && 100. * (double)rec->footer.without_chain > chainless * rec->n_samples)
		wrong("%llu of %zu samples without call chain",
		      (unsigned long long)rec->footer.without_chain, rec->n_samples);
	printf("%zu samples, %llu points, %zu threads, %d wrong\n", rec->n_samples,
	       (unsigned long long)sum, rec->n_threads, failures);
	free(a);
}

/* ---- truth ---- */

static double get(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return v ? json_number_value(v) : NAN;
}

static const char *text(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return v ? json_string_value(v) : NULL;
}

static const char *name_of(const json_t *o)
{
	const char *name = text(o, "name");

	return name ? name : "?";
}

static json_t *load(const char *path)
{
	json_error_t e;
	json_t *j = json_load_file(path, 0, &e);

	if (j)
		return j;
	fprintf(stderr, "record_check: %s: %s\n", path, e.text);
	exit(2);
}

static bool in_phase(const struct record_sample *s, const json_t *phase)
{
	const json_t *names = json_object_get(phase, "functions");

	for (size_t i = 0; i < json_array_size(names); i++)
		if (in_function(s, json_string_value(json_array_get(names, i))))
			return true;
	return false;
}

struct seen {
	double all, on, sched, wait, class, kind; /* points */
};

/* The innermost phase wins, which matters where one function calls another. */
static void collect(const json_t *thread, struct seen *phase, size_t n, struct seen *total)
{
	const json_t *phases = json_object_get(thread, "phases");
	int tid = (int)get(thread, "tid"), pid = (int)get(thread, "pid");

	memset(phase, 0, (n + 1) * sizeof(*phase)); /* the last: none of them */
	memset(total, 0, sizeof(*total));
	for (size_t i = 0; i < rec->n_samples; i++) {
		const struct record_sample *s = &rec->samples[i];
		const json_t *p = NULL;
		struct seen *to[2] = { total };
		size_t k;

		if (thread_of(s)->tid != tid || thread_of(s)->pid != pid)
			continue;
		for (k = 0; k < n; k++) {
			p = json_array_get(phases, k);
			if (in_phase(s, p))
				break;
		}
		for (size_t r = 0; k == n && s->class != RECORD_ON && r < n; r++)
			if (json_is_true(json_object_get(p = json_array_get(phases, r), "rest")))
				k = r;
		to[1] = &phase[k];
		for (size_t j = 0; j < 2; j++) {
			to[j]->all += s->points;
			to[j]->on += s->class == RECORD_ON ? s->points : 0;
			to[j]->sched += s->class == RECORD_SCHED ? s->points : 0;
			if (s->class == RECORD_ON || s->class == RECORD_SCHED)
				continue;
			to[j]->wait += s->points;
			if (k == n)
				continue;
			to[j]->class +=
				text(p, "class") && letter(s) == *text(p, "class") ? s->points : 0;
			to[j]->kind +=
				text(p, "kind") && s->kind && !strcmp(s->kind, text(p, "kind"))
					? s->points
					: 0;
		}
	}
}

static double worst_share, worst_state, worst_off, worst_runq = NAN, worst_kind = 100;

static void column(double truth, double recorded, double *worst)
{
	double error = recorded - truth;

	if (isnan(truth)) {
		printf("  %22s", "");
		return;
	}
	printf("  %6.2f %6.2f (%+5.2f)", truth, recorded, error);
	*worst = fmax(*worst, fabs(error));
}

/*
 * Stolen time is in none of the numbers that a thread can read of itself, and is part of whatever
 * state it fell into for a recording: a thread that is woken up on a core that does not run waits
 * for a CPU, although the scheduler puts it into the queue later only. So much of a difference is
 * not an error.
 */
static void state(double truth, double recorded, double stolen, double *worst)
{
	double error = 0;

	column(truth, recorded, &error);
	*worst = fmax(*worst, error - stolen);
}

static void row(const char *thread, const char *phase, const struct seen *s, const json_t *truth,
		double wall, double stolen)
{
	double scale = 100 * period / wall, truth_scale = 100 / wall;
	double cpu = get(truth, "cpu"), runq = get(truth, "runq");

	printf("%-8s %-14s", thread, phase);
	column(get(truth, "wall") * truth_scale, s->all * scale, &worst_share);
	stolen *= truth_scale;
	/* CPU time is taken last: beyond a long wait it may exceed the wall time a little. */
	state(cpu * truth_scale, s->on * scale, stolen, &worst_state);
	state(runq * truth_scale, s->sched * scale, stolen, &worst_state);
	state(fmax(get(truth, "wall") - cpu - runq, isnan(cpu) ? NAN : 0) * truth_scale,
	      s->wait * scale, stolen, &worst_state);
	if (!isnan(cpu))
		worst_off = fmax(worst_off, fabs((s->sched + s->wait) * scale -
						 fmax(get(truth, "wall") - cpu, 0) * truth_scale) -
						    stolen);
	if (text(truth, "class") && s->wait * scale > 1) {
		double class = 100 * s->class / s->wait, kind = 100 * s->kind / s->wait;

		printf("  %5.1f %5.1f  %s %s", class, kind, text(truth, "class"),
		       text(truth, "kind"));
		worst_kind = fmin(worst_kind, fmin(class, kind));
	}
	putchar('\n');
}

static void runq(const json_t *thread, const struct seen *total)
{
	double truth = get(thread, "runq"), recorded = total->sched * period, exact = NAN;
	double error;
	bool waits;

	/* A tenth of the time at least: with less, the points are too few for percents. */
	if (isnan(truth) || truth < get(thread, "wall") / 10 || truth < 200 * period)
		return;
	/*
	 * The scheduler's own number begins when the thread is in the queue, a recorded one when it
	 * is woken up: the way to another CPU lies in between. So compare where nobody is woken.
	 */
	waits = truth + get(thread, "cpu") < get(thread, "wall") * 0.95;
	for (size_t i = 0; i < rec->n_threads; i++)
		if (rec->threads[i].tid == (int)get(thread, "tid"))
			exact = (double)rec->threads[i].sched;
	error = 100 * (recorded / truth - 1);
	printf("%-8s run queue: schedstat %.1f ms, points %.1f ms (%+.2f %%), times %.1f ms "
	       "(%+.2f %%)%s\n",
	       name_of(thread), truth / 1e6, recorded / 1e6, error, exact / 1e6,
	       100 * (exact / truth - 1), waits ? ", from the wake-up" : "");
	if (!waits)
		worst_runq = fmax(worst_runq, fmax(fabs(error), fabs(100 * (exact / truth - 1))) -
						      100 * get(thread, "stolen") / truth);
}

static void truth(const char *path, char **limits)
{
	json_t *j = load(path), *list = json_object_get(j, "threads");
	double max_share = 1e9, max_state = 1e9, max_off = 1e9, max_runq = 1e9, min_kind = 0;

	for (; *limits; limits++) {
		if (sscanf(*limits, "shares=%lf", &max_share) != 1 &&
		    sscanf(*limits, "states=%lf", &max_state) != 1 &&
		    sscanf(*limits, "off=%lf", &max_off) != 1 &&
		    sscanf(*limits, "runq=%lf", &max_runq) != 1 &&
		    sscanf(*limits, "kinds=%lf", &min_kind) != 1)
			usage();
	}
	printf("%-8s %-14s  %-22s  %-22s  %-22s  %-22s  of the waits\n", "percent", "", "wall time",
	       "on CPU", "run queue", "waits");
	printf("%-8s %-14s", "thread", "phase");
	for (int i = 0; i < 4; i++)
		printf("  %-22s", " truth    rec. (error)");
	printf("  class  kind\n");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *t = json_array_get(list, i), *phases = json_object_get(t, "phases");
		size_t n = json_array_size(phases);
		struct seen *s = xcalloc(n + 1, sizeof(*s)), total;
		double wall = get(t, "wall"), stolen = fmax(get(t, "stolen"), 0), outside = wall;

		collect(t, s, n, &total);
		if (!total.all)
			wrong("thread %s, tid %.0f, is not in the recording", name_of(t),
			      get(t, "tid"));
		for (size_t k = 0; k < n; k++) {
			const json_t *p = json_array_get(phases, k);

			row(name_of(t), name_of(p), &s[k], p, wall, stolen);
			outside -= get(p, "wall");
		}
		row(name_of(t), "all", &total, t, wall, stolen);
		if (s[n].all)
			printf("%-8s %-14s  %6.2f %6.2f\n", name_of(t), "(no phase)",
			       100 * outside / wall, 100 * s[n].all * period / wall);
		if (stolen > 0)
			printf("%-8s %.1f ms were stolen meanwhile, %.2f %% of its wall time\n",
			       name_of(t), stolen / 1e6, 100 * stolen / wall);
		runq(t, &total);
		free(s);
	}
	printf("largest error: wall time %.2f points, states %.2f points, off the CPU %.2f "
	       "points, ",
	       worst_share, worst_state, worst_off);
	if (isnan(worst_runq))
		printf("run queue not compared");
	else
		printf("run queue %.2f %%", worst_runq);
	printf("; least share of the right class and kind %.1f %%\n", worst_kind);
	if (worst_share > max_share)
		wrong("a share is off by %.2f points, more than %g", worst_share, max_share);
	if (worst_state > max_state)
		wrong("a state is off by %.2f points, more than %g", worst_state, max_state);
	if (worst_off > max_off)
		wrong("time off the CPU is off by %.2f points, more than %g", worst_off, max_off);
	if (worst_runq > max_runq)
		wrong("run-queue time is off by %.2f %%, more than %g", worst_runq, max_runq);
	if (worst_kind < min_kind)
		wrong("only %.1f %% of the waits of a phase are of its kind", worst_kind);
	json_decref(j);
}

/* ---- attribution ---- */

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

static const json_t *find_thread(const json_t *list, int tid)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if ((int)get(json_array_get(list, i), "tid") == tid)
			return json_array_get(list, i);
	return NULL;
}

/* @ticks_stay_away: points on the CPU may be missing, as in truth(). */
static void attribution(const char *path, bool ticks_stay_away)
{
	json_t *j = load(path), *list = json_object_get(j, "threads");
	uint64_t own = 0, without = 0, wakers = 0, no_waker = 0;
	double switches = 0;

	for (size_t i = 0; i < rec->n_samples; i++) {
		const struct record_sample *s = &rec->samples[i];
		const json_t *t = find_thread(list, thread_of(s)->tid);
		const char *mark = text(json_array_get(list, 0), "mark");
		const struct record_frame *f;
		bool mine = false;

		for_each_frame(s->stack, f)
		{
			if (strncmp(f->symbol, mark, strlen(mark)))
				continue;
			mine = t && ends_with(f->symbol, text(t, "own"));
			if (!mine)
				wrong("tid %d %s at %llu: %s is not its function",
				      thread_of(s)->tid, s->comm, (unsigned long long)s->time,
				      f->symbol);
		}
		if (!t)
			continue;
		own += mine;
		without += !mine;
		if (!mine || s->class == RECORD_ON || s->class == RECORD_SCHED || s->unfinished)
			continue;
		if (s->waker == RECORDING_NONE)
			no_waker++;
		else if (rec->threads[s->waker].tid == (int)get(t, "partner"))
			wakers++;
		else
			wrong("tid %d at %llu was woken by tid %d instead of %.0f",
			      thread_of(s)->tid, (unsigned long long)s->time,
			      rec->threads[s->waker].tid, get(t, "partner"));
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *t = json_array_get(list, i);
		double expected = get(t, "wall") / period;
		struct seen s[2], total;

		switches += get(t, "switches");
		collect(t, s, 1, &total);
		if (s[0].all - expected > allowed(expected) ||
		    (!ticks_stay_away && expected - s[0].all > allowed(expected)))
			wrong("tid %.0f: %.0f points in %s instead of %.0f", get(t, "tid"),
			      s[0].all, name_of(t), expected);
	}
	printf("%.0f switches, %llu samples in functions of their threads, %llu in none, wakers: "
	       "%llu right, %llu unknown; lost %llu; %d wrong\n",
	       switches, (unsigned long long)own, (unsigned long long)without,
	       (unsigned long long)wakers, (unsigned long long)no_waker,
	       (unsigned long long)rec->footer.lost, failures);
	if (rec->footer.lost)
		wrong("%llu records were lost", (unsigned long long)rec->footer.lost);
	/* Before and after the loop. */
	if (without > own / 50 + 200)
		wrong("%llu samples without any of the functions", (unsigned long long)without);
	json_decref(j);
}

/* ---- faults ---- */

static void faults(const char *path, double percent)
{
	json_t *list = load(path);

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *e = json_array_get(list, i);
		int tid = (int)get(e, "tid");
		double expected = get(e, "ns") / period, n = 0, other = 0;

		for (size_t k = 0; k < rec->n_samples; k++) {
			const struct record_sample *s = &rec->samples[k];

			if ((tid && thread_of(s)->tid != tid) ||
			    !in_function(s, text(e, "function")))
				continue;
			if (strcmp(s->comm, text(e, "comm")))
				other += s->points;
			else
				n += s->points;
		}
		printf("tid %d %s in %s: %.0f points, expected %.0f\n", tid, text(e, "comm"),
		       text(e, "function"), n, expected);
		if (fabs(n - expected) > expected * percent / 100 + 3)
			wrong("tid %d %s in %s: %.0f points instead of %.0f (and %.0f under other "
			      "names)",
			      tid, text(e, "comm"), text(e, "function"), n, expected, other);
	}
	json_decref(list);
}

int main(int argc, char **argv)
{
	struct error err = { 0 };
	const char *what;

	if (argc < 3)
		usage();
	if (recording_read(argv[1], &rec, &err)) {
		printf("%s\n", err.text);
		return 1;
	}
	period = (double)rec->header.period_ns;
	what = argv[2];
	if (!strcmp(what, "summary"))
		summary();
	else if (!strcmp(what, "threads"))
		threads();
	else if (!strcmp(what, "points"))
		points(argv + 3);
	else if (!strcmp(what, "stacks"))
		stacks(argv + 3);
	else if (!strcmp(what, "valid"))
		valid(argv + 3);
	else if (!strcmp(what, "truth") && argc > 3)
		truth(argv[3], argv + 4);
	else if (!strcmp(what, "attribution") && argc > 3)
		attribution(argv[3], argv[4] && !strcmp(argv[4], "off"));
	else if (!strcmp(what, "faults") && argc > 4)
		faults(argv[3], atof(argv[4]));
	else
		usage();
	if (failures > 20)
		printf("... and %d more\n", failures - 20);
	recording_free(rec);
	return failures ? 1 : 0;
}
