// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The process scozd-replay. Two halves: to record it needs the rights of `scoz record`, and reads
 * only what the kernel tells (tables of programs come from a symbolizer of its own); to replay what
 * it has recorded, which holds names that anybody may have chosen, it has no rights left.
 */
#include "daemon/locations.h"
#include "daemon/polling.h"
#include "daemon/prior_process.h"
#include "host/cgroup.h"
#include "host/privileges.h"
#include "host/process.h"
#include "maps/made_files.h"
#include "maps/made_name.h"
#include "maps/credit.h"
#include "plan/plan.h"
#include "record/causal_points.h"
#include "record/trace_output.h"
#include "run/cores.h"
#include "symbolizer/sandbox.h"
#include "symbolizer/symbolizer.h"
#include "trace/trace.h"
#include "whatif/predict.h"
#include "whatif/strangers.h"
#include "whatif/through.h"
#include "whatif/waiters.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define MARKS_S	      5 /* that a command is looked through for marks, at most */
#define PERIOD_NS     NSEC_PER_MSEC
#define MARK_RATE     20000 /* visits a second, at about 2 us each: 4 % of a CPU */
#define MARK_NS	      (NSEC_PER_SEC / 4)
#define RING_BYTES    (8u << 20)
#define MOST_NS	      (60 * NSEC_PER_SEC) /* it records no longer, whatever it is told */
#define MOST_EVENTS   1500000		  /* nor more: about two seconds of replay */
#define MOST_BYTES    (64u << 20)	  /* of the recording */
#define MOST_MEMORY   (1ull << 30)	  /* of the replay */
#define MOST_CPU_S    60
#define NEXT_FIRSTS   2	  /* of which next steps are looked for: a replay each, ... */
#define NEXT_TARGETS  24  /* ... of so many targets */
#define LEAST_SAMPLES 8	  /* of a target that nobody has named */
#define LEAST_OWN     0.1 /* of what is in it: a mere caller is no target */
#define NICE	      10  /* the replay: experiments may have begun */
/* What a recorder needs, and what it takes to become nobody. */
#define RIGHTS \
	(PRIVILEGE(CAP_BPF) | PRIVILEGE(CAP_PERFMON) | PRIVILEGE(CAP_SYS_ADMIN) | \
	 PRIVILEGE(CAP_SYS_PTRACE) | PRIVILEGE(CAP_SYS_RESOURCE) | PRIVILEGE(CAP_IPC_LOCK) | \
	 PRIVILEGE(CAP_SYS_NICE) | PRIVILEGE(CAP_SYSLOG) | PRIVILEGE(CAP_DAC_READ_SEARCH) | \
	 PRIVILEGE(CAP_SETUID) | PRIVILEGE(CAP_SETGID))

struct process {
	int socket;
	const struct options *o;
	struct cores cores;
	struct recorder *recorder;
	struct causal_points *points;
	struct causal_output out;
	int memory;
	char path[32]; /* leads to it */
	bool everybody;
	uint32_t progress[PRIOR_POINTS]; /* by number in the recording */
	size_t n_points;
	struct profile_replay replay;
	struct through through;
	char **files; /* of each target: what its binary is a link to; NULL: it is none */
};

size_t prior_points(const struct options *o, uint32_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n_points && n < PRIOR_POINTS; i++) {
		if (!o->points[i].latency)
			ret[n++] = i;
	}
	return n;
}

/* ---- answers ---- */

static void __attribute__((noreturn)) finish(struct process *p, const char *why)
{
	struct prior_message m = { .type = PRIOR_DONE, .done.replay = p->replay };

	snprintf(m.done.why, sizeof(m.done.why), "%s", why);
	snprintf(m.done.through, sizeof(m.done.through), "%s", p->through.name);
	m.done.replay.disk_waits = p->through.waited;
	m.done.replay.through_share = p->through.share;
	m.done.replay.why = m.done.replay.through = NULL;
	send(p->socket, &m, sizeof(m), MSG_NOSIGNAL);
	/* As long as it looks for marks nobody else is to read what anybody wrote. */
	symbolizer_abandon();
	causal_points_destroy(p->points);
	symbolizer_stop();
	_exit(0);
}

/* ---- the recording ---- */

static int add_points(struct process *p, struct error *err)
{
	const struct options *o = p->o;
	_cleanup_free_ char *path = NULL;
	int ret = 0;

	p->points = causal_points_create(p->recorder);
	p->n_points = prior_points(o, p->progress);
	for (size_t i = 0; i < p->n_points && !ret; i++)
		ret = causal_points_add(p->points, &o->points[p->progress[i]].begin, i, err);
	if (!ret && o->command && !binary_find(o->command[0], &path, NULL))
		causal_points_search(p->points, path, MARKS_S);
	return ret;
}

/* Programs are often links to others: those are called by their files in a recording. */
static void find_files(struct process *p)
{
	process_own_image(); /* is looked up, and from then on known */
	p->files = xcalloc(p->o->n_targets + 1, sizeof(*p->files));
	for (size_t i = 0; i < p->o->n_targets; i++) {
		const struct target *t = &p->o->targets[i];
		_cleanup_free_ char *path =
			t->binary && t->kind == TARGET_FUNCTION ? target_file(t, p->o) : NULL;

		p->files[i] = path ? realpath(path, NULL) : NULL;
	}
}

static int prepare(struct process *p, struct error *err)
{
	struct recorder_options opt = {
		.engine = "auto",
		.period_ns = PERIOD_NS,
		.everybody = p->everybody,
		.ring_bytes = RING_BYTES,
		.pointers = !p->o->unwind,
		.causal = true,
		.perf_maps = !p->o->no_perf_maps,
		.live = true,
	};
	struct recorder_sink sink = causal_sink(&p->out);
	int ret = symbolizer_start(err);

	find_files(p);
	privileges_raise();
	privileges_keep(RIGHTS);
	p->out.period_ns = PERIOD_NS;
	p->memory = memfd_create("scozd-replay", MFD_CLOEXEC);
	if (!ret && p->memory < 0)
		ret = error_set(err, errno, "no memory for a recording: %s", strerror(errno));
	snprintf(p->path, sizeof(p->path), "/proc/self/fd/%d", p->memory);
	if (!ret)
		ret = cores_select(p->o->cpus, &p->cores, err);
	opt.cpus = p->cores.cpus;
	opt.n_cpus = p->cores.n;
	if (!ret)
		ret = recorder_create(&opt, &sink, &p->recorder, err);
	return ret ? ret : add_points(p, err);
}

static int add_process(int pid, void *arg, struct error *err)
{
	int ret = recorder_add_process(((struct process *)arg)->recorder, pid, err);

	return ret < 0 && ret != -ESRCH ? ret : 0;
}

static int begin(struct process *p, int pid, struct error *err)
{
	const struct trace_header h = { PERIOD_NS, "", p->everybody ? "all" : "command", "", "", "",
					p->cores.n };
	int ret = recorder_start(p->recorder, err);

	if (!ret && pid)
		ret = add_process(pid, p, err);
	for (size_t i = 0; !ret && i < p->o->n_pids; i++)
		ret = add_process(p->o->pids[i], p, err);
	for (size_t i = 0; !ret && i < p->o->n_cgroups; i++)
		ret = cgroup_each_process(p->o->cgroups[i], add_process, p, err);
	if (!ret)
		ret = trace_writer_open(p->path, &h, &p->out.writer, err);
	for (size_t i = 0; !ret && i < p->n_points; i++)
		ret = trace_write_point(p->out.writer, p->o->points[p->progress[i]].name);
	return ret;
}

/* False: scozd has gone. */
static bool await(struct process *p, enum prior_type type, int ms, struct prior_order *ret)
{
	struct pollfd fd = { p->socket, POLLIN, 0 };

	*ret = (struct prior_order){ .type = PRIOR_DONE };
	if (poll(&fd, 1, ms) <= 0)
		return true;
	return recv(p->socket, ret, sizeof(*ret), 0) == sizeof(*ret) && ret->type == type;
}

/* A mark costs next to nothing as long as nobody wants to know of each visit. */
static bool is_slowed_down(const struct process *p)
{
	uint64_t time = recorder_time(p->recorder);

	return causal_points_have_marks(p->points) && time > MARK_NS &&
	       p->out.visits > MARK_RATE * (time / 1e9);
}

static int record(struct process *p, struct error *err)
{
	struct trace_footer f = { .command_status = -1, .end = "done" };
	struct recorder_counts counts;
	struct prior_order order;
	int ret = 0;

	do {
		if (!await(p, PRIOR_END, RECORDER_POLL_MS, &order))
			_exit(0);
		recorder_poll(p->recorder);
		causal_points_poll(p->points);
		if (is_slowed_down(p))
			return error_set(err, E2BIG,
					 "the mark is reached too often to be recorded: that would "
					 "slow the program down");
	} while (order.type != PRIOR_END && recorder_time(p->recorder) < MOST_NS &&
		 p->out.events < MOST_EVENTS && lseek(p->memory, 0, SEEK_END) < MOST_BYTES);
	recorder_finish(p->recorder);
	recorder_counts(p->recorder, &counts);
	f.duration = recorder_time(p->recorder);
	f.lost = counts.lost;
	ret = trace_writer_close(p->out.writer, &f, err);
	p->out.writer = NULL;
	p->replay.seconds = f.duration / 1e9;
	p->replay.lost = f.lost;
	return ret;
}

/* ---- the replay ---- */

static bool ends_with_path(const char *path, const char *end)
{
	size_t n = strlen(path), k = strlen(end);

	return k <= n && !strcmp(path + n - k, end) && (k == n || path[n - k - 1] == '/');
}

static bool is_in_binary(const struct process *p, size_t i, const char *object)
{
	const char *binary = p->o->targets[i].binary;

	if (!binary)
		return strcmp(object, process_own_image()) != 0;
	return !strcmp(path_base(object), path_base(binary)) ||
	       (p->files[i] && !strcmp(object, p->files[i]));
}

static bool is_target(const struct process *p, size_t i, const struct predict_target *t)
{
	const struct target *named = &p->o->targets[i];

	if (t->devices) /* all of them are called class:io, one by its name */
		return named->kind == TARGET_CLASS &&
		       !strcmp(named->device ? named->device : named->spec, t->symbol);
	switch (named->kind) {
	case TARGET_LINE:
		return t->line && t->line == named->line && named->last == named->line &&
		       ends_with_path(t->file, named->name);
	case TARGET_FUNCTION:
		return !t->line && t->object[0] != '[' &&
		       (is_made_file(t->object) ? made_name_is(t->symbol, named->name)
						: !strcmp(t->symbol, named->name)) &&
		       is_in_binary(p, i, t->object);
	case TARGET_KERNEL:
		return !t->line && t->object[0] == '[' && !strcmp(t->symbol, named->name);
	default:
		return false;
	}
}

/* As locations.c names what is sampled. */
static enum target_kind name_target(const struct process *p, const struct predict_target *t,
				    char *name, size_t size)
{
	bool kernel = t->object[0] == '[';

	if (t->devices) {
		snprintf(name, size, "%s", t->symbol);
	} else if (t->line) {
		snprintf(name, size, "%s:%u", location_short_path(t->file), t->line);
	} else {
		_cleanup_free_ char *function = location_function_target(
			t->symbol, t->object, is_made_file(t->object), kernel);

		snprintf(name, size, "%s", function);
	}
	for (size_t i = 0; i < p->o->n_targets; i++) {
		if (is_target(p, i, t))
			snprintf(name, size, "%s", p->o->targets[i].spec);
	}
	return t->devices ? TARGET_CLASS
	       : t->line  ? TARGET_LINE
	       : kernel	  ? TARGET_KERNEL
			  : TARGET_FUNCTION;
}

static bool is_named(const struct predict_target *t, void *arg)
{
	const struct process *p = arg;

	for (size_t i = 0; i < p->o->n_targets; i++) {
		if (is_target(p, i, t))
			return true;
	}
	return false;
}

/* Waiting for any disk, which is chosen by itself (choose.c) where code is not asked for. */
static bool may_be_chosen(const struct process *p, const struct predict_target *t)
{
	return !strcmp(t->symbol, PREDICT_ALL_DEVICES) && p->o->model == SCOZ_MODEL_WAIT &&
	       !p->o->n_binary_scope && !p->o->n_source_scope;
}

/* Could scozd try it, by what the options say? */
static bool is_possible(const struct process *p, const struct predict_target *t)
{
	if (t->devices)
		return may_be_chosen(p, t) || is_named(t, (void *)p);
	if (!t->line && t->object[0] == '[' &&
	    (!p->o->n_kernel_scope || function_is_of_bpf(t->symbol)))
		return is_named(t, (void *)p);
	/* As by_line() of locations.c. */
	if (t->line && (p->o->granularity == GRANULARITY_FUNCTION ||
			(p->o->granularity != GRANULARITY_LINE && !p->o->n_source_scope &&
			 binary_is_system(t->object))))
		return is_named(t, (void *)p);
	return true;
}

/* Credited to it: what only calls has others' samples. */
static double own_samples(const struct predict_target *t)
{
	return t->share > 0 ? t->samples * t->own / t->share : 0;
}

/* By what MPI waits, and who yields: there is nothing to be mended. */
static bool may_poll(const struct predict_target *t)
{
	enum scoz_poll_role role;

	if (t->symbol && function_yields(t->symbol))
		return true;
	return t->object && polling_file(t->object, &role) &&
	       (role == SCOZ_POLL_LIBRARY || role == SCOZ_POLL_OWN);
}

/* Is there enough to be said of it, and is it one that the run may have? */
static bool is_worth_telling(const struct process *p, const struct predict_target *t)
{
	if (t->devices || is_named(t, (void *)p))
		return is_possible(p, t);
	return is_possible(p, t) && own_samples(t) >= LEAST_SAMPLES &&
	       t->own >= LEAST_OWN * t->share && !may_poll(t);
}

/*
 * A function that is compiled better while it runs is the same target each time; it comes first
 * where it matters most.
 */
static bool was_told(const struct process *p, const struct predict *r, size_t i)
{
	char name[sizeof(((struct expectation *)0)->target)], before[sizeof(name)];

	if (!r->targets[i].object || !is_made_file(r->targets[i].object))
		return false;
	name_target(p, &r->targets[i], name, sizeof(name));
	for (size_t k = 0; k < i; k++) {
		name_target(p, &r->targets[k], before, sizeof(before));
		if (is_worth_telling(p, &r->targets[k]) && !strcmp(name, before))
			return true;
	}
	return false;
}

/* @after: NULL, or what is faster besides. */
static void tell(struct process *p, const struct predict_options *o, uint32_t progress,
		 const struct predict_target *t, const struct predict_target *after)
{
	struct prior_message m = { .type = PRIOR_EXPECTED };
	struct expectation *x = &m.expected;

	if (!is_worth_telling(p, t))
		return;
	if (after)
		name_target(p, after, x->after, sizeof(x->after));
	x->kind = name_target(p, t, x->target, sizeof(x->target));
	if (t->line)
		snprintf(x->location, sizeof(x->location), "%s:%u", location_short_path(t->file),
			 t->line);
	if (t->line && *t->symbol) {
		struct predict_target around = { .symbol = t->symbol, .object = t->object };

		name_target(p, &around, x->function, sizeof(x->function));
	}
	x->has_lines = !t->line && t->file && !binary_is_system(t->object);
	x->progress = progress;
	/* Those of a device are none of the CPU's. */
	x->share = t->devices ? 0 : t->share;
	x->samples = t->devices ? 0 : t->samples;
	for (size_t s = 0; s < o->n_speedups; s++) {
		const struct bounds_answer *a = &t->at[s];

		if (!isfinite(a->middle) || !isfinite(a->low) || !isfinite(a->high))
			return;
		x->at[x->n_at++] =
			(struct profile_expectation){ o->speedups[s], a->middle, a->low, a->high };
	}
	send(p->socket, &m, sizeof(m), MSG_NOSIGNAL);
}

static void tell_awaited(struct process *p, const struct predict_target *t, const struct waiters *w)
{
	struct prior_message m = { .type = PRIOR_AWAITED };
	struct awaited *a = &m.awaited;

	if (!is_worth_telling(p, t))
		return;
	name_target(p, t, a->target, sizeof(a->target));
	for (; a->n < w->n && a->n < EXPECTED_WAITERS; a->n++) {
		const struct waiter *from = &w->list[a->n];
		struct awaited_by *to = &a->by[a->n];
		bool same = !strcmp(from->thread, from->process);

		snprintf(to->name, sizeof(to->name), "%s%s%s%s", from->thread, same ? "" : " (",
			 same ? "" : from->process, same ? "" : ")");
		snprintf(to->wait, sizeof(to->wait), "%s", trace_wait_name(from->wait));
		to->threads = from->threads;
		to->share = from->share;
		to->samples = from->samples;
	}
	send(p->socket, &m, sizeof(m), MSG_NOSIGNAL);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Those that experiments will try; of many, some spread over all. */
static void choose_speedups(const struct options *o, struct predict_options *ret)
{
	_cleanup_free_ double *all = xcalloc(o->n_speedups, sizeof(*all));
	size_t n = 0, most = PREDICT_SPEEDUPS;

	memcpy(all, o->speedups, o->n_speedups * sizeof(*all));
	qsort(all, o->n_speedups, sizeof(*all), by_size);
	for (size_t i = 0; i < o->n_speedups; i++) {
		if (!n || all[i] > all[n - 1] + 1e-6)
			all[n++] = all[i];
	}
	ret->n_speedups = n < most ? n : most;
	for (size_t i = 0; i < ret->n_speedups; i++)
		ret->speedups[i] = all[n <= most ? i : (i + 1) * n / most - 1];
}

/* Does it run itself, and is it what experiments try: a line rather than the function around it? */
static bool may_be_step(const struct process *p, const struct predict_target *t)
{
	bool by_lines = !t->line && t->file && !binary_is_system(t->object) &&
			p->o->granularity != GRANULARITY_FUNCTION;

	return is_worth_telling(p, t) && !t->devices && 2 * t->own >= t->share &&
	       (!by_lines || is_named(t, (void *)p));
}

static size_t best_step(const struct process *p, const struct predict *r, uint64_t without)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < r->n_targets && i < NEXT_TARGETS; i++) {
		if (!(without >> i & 1) && may_be_step(p, &r->targets[i]) &&
		    (best == SIZE_MAX || r->targets[i].worth > r->targets[best].worth))
			best = i;
	}
	return best;
}

/* What the best ones and another one are worth together. It is no failure if that is not told. */
static void find_next(struct process *p, const struct trace *t, const struct predict_options *o,
		      uint32_t progress, const struct predict *alone)
{
	size_t at = plan_first_speedup(o->speedups, o->n_speedups);
	struct predict_options both = *o;
	uint64_t done = 0;

	both.n_speedups = 1;
	both.speedups[0] = o->speedups[at];
	both.most_targets = NEXT_TARGETS;
	for (int k = 0; k < NEXT_FIRSTS; k++) {
		size_t first = best_step(p, alone, done);
		struct error err = {};
		struct predict r;

		if (first == SIZE_MAX || alone->targets[first].worth <= 0)
			return;
		both.with = 1ULL << first;
		done |= both.with;
		if (predict(t, &both, &r, &err))
			return;
		for (size_t i = 0; r.concluded && i < r.n_targets; i++) {
			if (i != first && may_be_step(p, &r.targets[i]) &&
			    r.targets[i].at[0].middle >=
				    alone->targets[first].at[at].middle + EXPECTATION_LEAST_PCT)
				tell(p, &both, progress, &r.targets[i], &alone->targets[first]);
		}
		predict_free(&r);
	}
}

static struct predict_options question(const struct process *p)
{
	return (struct predict_options){ .grain = p->o->granularity == GRANULARITY_FUNCTION
							  ? PREDICT_OWN
							  : PREDICT_BOTH,
					 .point = TRACE_NONE,
					 .most_targets = PREDICT_TARGETS,
					 .devices = true,
					 .wanted = is_named,
					 .wanted_arg = (void *)p };
}

static void tell_waiters(struct process *p, const struct trace *t)
{
	struct predict_options o = question(p);
	struct waiters *found;
	struct candidates c;
	struct error err;

	o.devices = false;
	candidates_find(t, &o, &c);
	found = xcalloc(c.n + 1, sizeof(*found));
	if (!waiters_find(t, &c, found, &err)) {
		for (size_t i = 0; i < c.n; i++)
			tell_awaited(p, &c.list[i], &found[i]);
	}
	free(found);
	candidates_free(&c);
}

/* Of one progress point; returns why there is nothing, NULL: there is. */
static const char *answer(struct process *p, const struct trace *t, uint32_t point,
			  uint32_t progress, struct error *err)
{
	struct predict_options o = question(p);
	struct predict result;

	o.point = point;
	choose_speedups(p->o, &o);
	if (predict(t, &o, &result, err))
		return err->text;
	p->replay.crowded = result.crowded;
	p->replay.spun = result.spun;
	if (!result.n_targets)
		return "no function was sampled";
	if (!result.concluded)
		return result.by_run_time ? "the command had not ended by then"
		       : result.strangers > STRANGERS_MOST
			       ? "others than what is profiled, or interrupts, reach the progress "
				 "point"
			       : "the progress point was reached too seldom";
	for (size_t i = 0; i < result.n_targets; i++) {
		if (!was_told(p, &result, i))
			tell(p, &o, progress, &result.targets[i], NULL);
	}
	if (p->o->next && !p->o->together)
		find_next(p, t, &o, progress, &result);
	predict_free(&result);
	return NULL;
}

static void __attribute__((noreturn)) replay(struct process *p)
{
	const char *why = NULL, *first = NULL;
	struct error err = {};
	bool any = false;
	struct trace *t;

	if (trace_open(p->path, &t, &err))
		finish(p, err.text);
	p->replay.events = t->n_events;
	p->replay.samples = t->n_samples;
	for (uint32_t i = 0; i < p->n_points || (!p->n_points && !i); i++) {
		why = answer(p, t, p->n_points ? i : TRACE_NONE, p->n_points ? p->progress[i] : 0,
			     &err);
		any |= !why;
		first = first ? first : why;
	}
	tell_waiters(p, t);
	through_find(t, &p->through, &err);
	finish(p, any ? "" : first);
}

/* ---- the process ---- */

void prior_main(int socket, const struct options *o)
{
	static struct process p = { .memory = -1 };
	struct error err = {};
	struct prior_order order;
	int ret;

	prctl(PR_SET_NAME, "scozd-replay");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN); /* that is for the run */
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	/* What goes wrong here is told in the profile. */
	if (log_level < LOG_VERBOSE)
		log_level = LOG_QUIET;
	p.socket = socket;
	p.o = o;
	p.everybody = !options_know_members(o);
	ret = prepare(&p, &err);
	do {
		if (!await(&p, PRIOR_BEGIN, -1, &order))
			_exit(0);
	} while (order.type != PRIOR_BEGIN);
	if (!ret)
		ret = begin(&p, order.pid, &err);
	if (ret)
		finish(&p, err.text);
	if (send(socket, &(enum prior_type){ PRIOR_READY }, sizeof(enum prior_type), MSG_NOSIGNAL) <
	    0)
		_exit(0);
	ret = record(&p, &err);
	if (ret)
		finish(&p, err.text);
	symbolizer_abandon();
	causal_points_destroy(p.points);
	p.points = NULL;
	recorder_destroy(p.recorder);
	symbolizer_stop();
	setpriority(PRIO_PROCESS, 0, NICE);
	sandbox_drop_rights();
	sandbox_limit(MOST_MEMORY, MOST_CPU_S);
	if (!sandbox_be_alone())
		log_info("this kernel has no filters of system calls (seccomp)");
	replay(&p);
}
