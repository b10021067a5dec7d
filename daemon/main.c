// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scozd: sets a run up, in the order in which its parts need one another, and takes it down.
 * Everything that changes the machine is undone on every way out; what a kill leaves behind is
 * the guardian's (guardian.c) and the lease's (lease.c) business.
 */
#include "host/capabilities.h"
#include "host/cgroup.h"
#include "host/fd_limit.h"
#include "host/privileges.h"
#include "daemon/calibrate.h"
#include "daemon/end_to_end.h"
#include "daemon/end_signals.h"
#include "daemon/expect.h"
#include "daemon/finish.h"
#include "daemon/guardian.h"
#include "daemon/lease.h"
#include "daemon/status.h"
#include "daemon/target_check.h"
#include "daemon/truth.h"
#include "elf/table_make.h"
#include "files/file_identity.h"
#include "run/descendants.h"
#include "run/machine_lock.h"
#include "symbolizer/symbolizer.h"

#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define RECORD_HZ 500 /* samples a second and core that are looked at in user space */
#define GRACE_S	  5
/* What estimates work with goes back to the system: its size is that of all windows so far. */
#define LARGE_BLOCK (128 << 10)
#define STUCK_S	    1 /* a file that cannot be read for so long is left alone */
#define MARKS_S	    5 /* so long the command waits until its marks are found */

/* Without privileges everything would fail, at the first thing that needs them. */
static int check_privileges(struct error *err)
{
	privileges_raise();
	if (privileges_suffice(privileges_own("CapEff")))
		return 0;
	return error_set(
		err, EPERM,
		"no CAP_BPF and CAP_PERFMON: scozd stops cores and needs root or these (try "
		"sudo, or run `scoz doctor`)");
}

/* Settings of the machine; where they cannot be had the run does with those that there are. */
static int change_settings(struct experiment *x, struct guardian *guardian, struct error *err)
{
	struct session *s = x->s;
	unsigned long rate;
	int ret = guardian_start(guardian, CAPABILITY_SAMPLE_RATE, s->truth, &rate, err);

	if (ret || rate >= CAPABILITY_SAMPLE_RATE)
		return ret;
	x->sampling.min_period_ns = 2 * NSEC_PER_SEC / (rate ? rate : 1);
	session_warn(s,
		     "kernel.perf_event_max_sample_rate is %lu and cannot be raised from here: "
		     "cores that idle are sampled less often; as root: sysctl -w "
		     "kernel.perf_event_max_sample_rate=%d",
		     rate, CAPABILITY_SAMPLE_RATE);
	return 0;
}

static void on_mapping(uint32_t binary, const struct maps_mapping *m, void *arg)
{
	struct experiment *x = arg;

	trials_on_mapping(x->trials, binary, m);
	if (x->s->unwind)
		unwind_follow_mapped(x->s->unwind, m->pid);
}

static void on_exec(int pid, void *arg)
{
	struct session *s = arg;

	engine_forget_image(s->engine, pid);
	if (s->unwind)
		unwind_follow_execed(s->unwind, pid);
}

static void on_exit_of(int pid, void *arg)
{
	struct session *s = arg;

	process_table_gone(s->processes, pid);
	engine_forget_process(s->engine, pid);
	if (s->unwind)
		unwind_follow_exited(s->unwind, pid);
}

static void on_rank(int pid, int rank, void *arg)
{
	struct session *s = arg;

	engine_set_rank(s->engine, pid, rank);
}

/* Does a program count its progress by itself? */
static bool has_marks(const struct options *o)
{
	for (size_t i = 0; i < o->n_points; i++) {
		if (o->points[i].begin.kind == POINT_MARK || o->points[i].end.kind == POINT_MARK)
			return true;
	}
	return false;
}

/* Classes, and several system calls at once. */
static bool needs_bpf(const struct options *o)
{
	for (size_t i = 0; i < o->n_targets; i++) {
		if (target_is_tasks(&o->targets[i]) ||
		    (o->together && o->targets[i].kind == TARGET_SYSCALL))
			return true;
	}
	return false;
}

static int create_engine(struct session *s, uint64_t period_ns, struct error *err)
{
	struct engine_options opt = {
		.name = s->opt.engine,
		.classes = needs_bpf(&s->opt),
		.cpus = s->cores.cpus,
		.n_cpus = s->cores.n,
		.model = s->opt.model,
		.period_ns = period_ns,
		.max_stop_ns = s->opt.max_delay_us * NSEC_PER_USEC,
		.max_share = s->opt.max_share,
		.record_hz = RECORD_HZ,
		.waive = s->opt.waive,
		.trace_tasks = true,
		.own_forks = true,
		.unwind = s->opt.unwind && !s->opt.batch,
		.keep_sinks = has_marks(&s->opt) || s->opt.end_to_end,
		.members_known = options_know_members(&s->opt),
		.waits = s->opt.waits,
		.flags = s->opt.tune_on,
		.no_flags = s->opt.tune_off,
		.no_ways = s->opt.bpf_off,
		.batch = s->opt.batch,
	};

	return engine_create(&opt, &s->engine, err);
}

static int start_handlers(struct experiment *x, struct error *err)
{
	struct session *s = x->s;
	struct handlers_options opt = {
		.engine = s->engine,
		.maps = s->maps,
		.locations = s->locations,
		.processes = s->processes,
		.unwind = s->unwind,
		.polling = s->polling,
		.cores = &s->cores,
		.kernel = s->opt.n_kernel_scope > 0,
		.source_scope = s->opt.n_source_scope > 0,
		.scoped = s->opt.n_source_scope || s->opt.n_binary_scope,
		.batch = s->opt.batch > 0,
		.period_ns = x->sampling.period_ns,
		.seed = s->opt.seed,
		.process_execs = on_exec,
		.arg = s,
	};

	maps_on_mapping(s->maps, on_mapping, x);
	maps_on_exit(s->maps, on_exit_of, s);
	return handlers_start(&opt, &s->handlers, err);
}

static void add_binary(struct profile_binary *list, size_t *n, const char *name)
{
	_cleanup_free_ char *path = NULL;

	if (!name || binary_find(name, &path, NULL))
		return;
	for (size_t i = 0; i < *n; i++) {
		if (!strcmp(list[i].path, path))
			return;
	}
	list[(*n)++] = (struct profile_binary){ xstrdup(path), file_identity(path) };
}

/* What may have been built anew when the profile is extended: malloc'ed strings in an array. */
static struct profile_binary *list_binaries(const struct options *o, size_t *n)
{
	struct profile_binary *list = xcalloc(2 * o->n_points + 1, sizeof(*list));

	*n = 0;
	if (o->command)
		add_binary(list, n, o->command[0]);
	for (size_t i = 0; i < o->n_points; i++) {
		add_binary(list, n, o->points[i].begin.binary);
		add_binary(list, n, o->points[i].end.binary);
	}
	return list;
}

static void free_binaries(struct profile_binary *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free((char *)list[i].path);
		free((char *)list[i].build);
	}
	free(list);
}

static int open_profile(struct session *s, uint64_t period_ns, struct error *err)
{
	_cleanup_free_ struct profile_progress *points = NULL;
	_cleanup_free_ char *command = text_join(s->opt.command);
	_cleanup_free_ char **specs = xcalloc(s->opt.n_points, sizeof(*specs));
	size_t n = options_progress(&s->opt);
	struct profile_binary *binaries;
	struct profile_header h = {};
	size_t n_binaries;
	time_t now = time(NULL);
	struct utsname uts;
	char started[32];
	struct tm tm;
	int ret;

	uname(&uts);
	strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	points = xcalloc(n, sizeof(*points));
	for (size_t i = 0; i < n; i++) {
		points[i].id = i;
		if (s->opt.end_to_end) {
			points[i].name = "end-to-end";
			points[i].spec = "end-to-end";
			continue;
		}
		points[i].name = s->opt.points[i].name;
		points[i].kind = s->opt.points[i].latency ? PROGRESS_LATENCY : PROGRESS_THROUGHPUT;
		points[i].spec = specs[i] =
			s->opt.points[i].latency ? xasprintf("%s,%s", s->opt.points[i].begin.spec,
							     s->opt.points[i].end.spec)
						 : xstrdup(s->opt.points[i].begin.spec);
	}
	binaries = list_binaries(&s->opt, &n_binaries);
	h = (struct profile_header){
		.engine = engine_name(s->engine),
		.model = model_name(s->opt.model),
		.frequency_hz = 1e9 / period_ns,
		.period_s = period_ns / 1e9,
		.seed = s->opt.seed,
		.command = command,
		.arguments = s->opt.arguments,
		.n_arguments = s->opt.n_arguments,
		.binaries = binaries,
		.n_binaries = n_binaries,
		.host = uts.nodename,
		.kernel = uts.release,
		.started = started,
		.mode = s->opt.end_to_end ? "end-to-end" : "windows",
		.waits = s->opt.waits,
		.cpus = s->cores.n,
	};
	ret = profile_writer_open(s->opt.output, &h, points, n, &s->writer, err);
	free_binaries(binaries, n_binaries);
	for (size_t i = 0; i < s->opt.n_points; i++)
		free(specs[i]);
	return ret;
}

/* What one has started already belongs to it, as what it will start does: the engine follows that.
 */
static int involve_with_descendants(struct session *s, struct error *err)
{
	struct processes_taken t = { .take = session_involve, .arg = s };
	const struct options *o = &s->opt;
	int ret = processes_take_trees(&t, o->pids, o->n_pids, err);

	if (!ret && o->n_pids == 1 && t.n > 1)
		log_msg(LOG_NORMAL,
			"--pid %d: it and %zu processes that it has started already are profiled",
			o->pids[0], t.n - 1);
	else if (!ret && t.n > o->n_pids)
		log_msg(LOG_NORMAL,
			"--pid: the %zu that were named and %zu processes that they have started "
			"already are profiled",
			o->n_pids, t.n - o->n_pids);
	free(t.pids);
	return ret;
}

static int involve_cgroup(struct session *s, const char *path, struct error *err)
{
	struct processes_taken t = { .take = session_involve, .arg = s };
	size_t before, lists = 0;
	int ret;

	do {
		before = t.n;
		ret = cgroup_each_process(path, processes_take, &t, err);
	} while (!ret && t.n > before && ++lists < PROCESSES_LISTS);
	if (ret == -ENOENT && t.n) /* all have ended since */
		ret = 0;
	free(t.pids);
	return ret;
}

static int involve_processes(struct session *s, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < s->opt.n_pids; i++) {
		if (kill(s->opt.pids[i], 0) && errno == ESRCH)
			return error_set(err, ESRCH, "--pid %d: there is no such process",
					 s->opt.pids[i]);
	}
	if (s->opt.n_pids)
		ret = involve_with_descendants(s, err);
	for (size_t i = 0; !ret && i < s->opt.n_cgroups; i++)
		ret = involve_cgroup(s, s->opt.cgroups[i], err);
	return ret;
}

static int set_up(struct experiment *x, struct error *err)
{
	struct session *s = x->s;
	struct maps_options maps_opt = {
		.binary_scope = s->opt.binary_scope,
		.n_binary_scope = s->opt.n_binary_scope,
		.table = { .cache_dir = maptable_default_cache_dir() },
		.perf_maps = !s->opt.no_perf_maps,
	};
	int ret;

	sampling_begin(&x->sampling, &s->opt);
	ret = maps_create(&maps_opt, &s->maps, err);
	if (!ret && s->opt.n_kernel_scope)
		ret = maps_open_kernel(s->maps, s->opt.kernel_scope, s->opt.n_kernel_scope, err);
	if (!ret)
		ret = targets_check(&s->opt, s->maps, &maps_opt.table, err);
	if (!ret)
		ret = create_engine(s, x->sampling.period_ns, err);
	if (!ret)
		ret = points_create(&s->opt, s->engine, &s->points, err);
	if (!ret)
		ret = open_profile(s, x->sampling.period_ns, err);
	if (ret)
		return ret;
	session_renew_users(s);
	s->locations = locations_create(&s->opt);
	s->processes = process_table_create();
	process_table_tell_ranks(s->processes, on_rank, s);
	x->trials = trials_create(s, end_to_end_max_windows(&s->opt));
	x->windows = windows_create(s, x->trials, &x->sampling);
	x->tuner = window_tuner_create();
	ret = maps_start(s->maps, err);
	if (!ret && engine_unwind_refused(s->engine))
		session_warn(s, UNWIND_REFUSED
			     ", so callers are hit less than they should be, and MPI's polling "
			     "counts as work");
	if (!ret && engine_unwind_maps(s->engine))
		ret = unwind_follow_start(s->maps, engine_unwind_maps(s->engine),
					  maps_opt.table.cache_dir, &s->unwind, err);
	if (!ret && s->unwind)
		s->polling = polling_create(s->maps, s->engine, s->unwind);
	if (!ret)
		ret = start_handlers(x, err);
	if (!ret)
		ret = involve_processes(s, err);
	if (!ret)
		ret = engine_start(s->engine, err);
	if (!ret &&
	    !session_interrupted) /* after the start: a process born meanwhile is in the events */
		ret = maps_scan_all(s->maps, err);
	if (!ret && !session_interrupted)
		x->sampling.tick_cost_ns = calibrate_cost(s->engine, &s->cores);
	return ret;
}

/* One run of the command in windows mode, or the whole system until the end. */
static int run_once(struct experiment *x, struct error *err)
{
	struct session *s = x->s;
	int ret = 0;

	if (s->opt.command) {
		_cleanup_free_ char *path = NULL;

		if (!binary_find(s->opt.command[0], &path, NULL))
			points_add_binary(s->points, path, MAPS_KERNEL_ID);
		points_attach_found(s->points, MARKS_S);
		points_command_begins(s->points);
		ret = command_spawn(&s->command, &s->launcher, err);
		if (!ret)
			ret = engine_involve(s->engine, s->command.pid, err);
		if (!ret)
			expect_begin(s, s->command.pid);
		if (!ret)
			ret = command_release(&s->command, s->opt.command, err);
		if (!ret)
			session_expect_chains(s, s->command.pid);
		if (ret)
			command_terminate(&s->command, GRACE_S, &session_at_once);
	}
	if (ret)
		return ret;
	if (!s->opt.command)
		expect_begin(s, 0);
	points_interrupt(s->points);
	ret = experiment_run(x, err);
	engine_set_speedup(s->engine, 0);
	expect_conclude(s);
	if (s->command.pid) /* the run is over before the command is: its end says nothing */
		command_terminate(&s->command, GRACE_S, &session_at_once);
	return ret;
}

static int run(struct experiment *x, struct error *err)
{
	struct session *s = x->s;
	int runs = s->opt.runs ? s->opt.runs : 1, ret = 0;
	struct machine_times sum;

	s->start_ns = clock_now_ns();
	x->machine = xcalloc(s->cores.n, sizeof(*x->machine));
	machine_read(&s->cores, x->machine, &sum);
	points_begin(s->points);
	if (session_interrupted)
		session_reason(s, "a signal ended the run before anything was measured");
	else if (s->opt.end_to_end)
		return end_to_end_run(x, err);
	for (int i = 0; !ret && i < runs && !s->end && !session_interrupted; i++) {
		ret = run_once(x, err);
		windows_next_run(x->windows);
	}
	return ret;
}

static void take_down(struct session *s)
{
	if (s->engine)
		engine_set_speedup(s->engine, 0);
	truth_set(s->truth, 0); /* a write may wait for a disk */
	lease_stop(s->lease);
	if (s->handlers)
		handlers_stop(s->handlers);
}

/* Writes the end of the profile, or takes back what a start that failed has written. */
static int conclude(struct experiment *x, int ret, const struct error *err)
{
	struct session *s = x->s;
	size_t n_windows = 0;
	int status = 0;

	status_clear();
	if (ret && err->text[0])
		log_msg(LOG_QUIET, "%s", err->text);
	if (x->windows)
		windows_all(x->windows, &n_windows);
	if (s->writer && ret && !n_windows) {
		profile_writer_abandon(s->writer);
	} else if (s->writer && !(ret && s->end)) { /* else the output itself has failed */
		if (!s->end)
			s->end = ret ? END_FAILED : session_interrupted ? END_SIGNAL : END_DONE;
		status = finish_run(x);
	}
	profile_writer_close(s->writer);
	return ret ? 1 : status;
}

static void destroy(struct experiment *x)
{
	struct session *s = x->s;

	handlers_destroy(s->handlers);
	polling_destroy(s->polling);
	if (s->processes)
		process_table_tell_ranks(s->processes, NULL, NULL);
	engine_destroy(s->engine); /* closes the probes; only then may the marks be told */
	points_destroy(s->points);
	cpu_quotas_destroy(s->quotas);
	locations_destroy(s->locations);
	process_table_destroy(s->processes);
	windows_destroy(x->windows);
	trials_destroy(x->trials);
	window_tuner_free(x->tuner);
	free(x->machine);
	maps_destroy(s->maps);
	cores_free(&s->cores);
}

int main(int argc, char **argv)
{
	static struct session s = { .command_status = -1,
				    .truth = -1,
				    .probe_cost = PROBE_COST_USUAL };
	static struct experiment x = { .s = &s };
	static struct guardian guardian = { .alive = -1, .done = -1 };
	struct error err = {};
	struct machine_lock lock;
	int ret, status;

	setlocale(LC_CTYPE, "");
	mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
	options_parse(argc, argv, &s.opt);
	s.launcher = LAUNCHER_INIT;
	s.prior = prior_start(&s.opt); /* before there are other threads, or anything to share */
	ret = symbolizer_start(&err);
	s.sources = s.opt.no_sources ? NULL : sources_start();
	if (!ret)
		ret = check_privileges(&err);
	if (!ret && s.opt.command)
		ret = launcher_start(&s.launcher, s.opt.command, s.opt.user, &err);
	if (!s.opt.command || launcher_runs(&s.launcher))
		privileges_keep(PRIVILEGES_OF_SCOZD); /* before there are other threads */
	fd_limit_raise();
	if (!ret)
		ret = ending_start(&x, &guardian, &err);
	if (!ret)
		ret = machine_lock_take(&lock, NULL, NULL, &err);
	if (!ret && s.opt.truth) {
		s.truth = truth_open(s.opt.truth, s.opt.user ? &s.launcher : NULL, &err);
		ret = s.truth < 0 ? s.truth : 0;
	}
	/* Before anything is changed: hwloc 2.9 crashes where it gets no memory. */
	if (!ret)
		ret = cores_select(s.opt.cpus, &s.cores, &err);
	if (!ret)
		ret = change_settings(&x, &guardian, &err);
	if (!ret)
		ret = set_up(&x, &err);
	if (!ret) {
		ending_run_begins();
		ret = run(&x, &err);
	}
	expect_end(&s);
	take_down(&s);
	status = conclude(&x, ret, &err);
	ending_is_over(status);
	symbolizer_abandon();
	/* In this order: the threads of the one tell the other who has ended. */
	if ((s.maps && !maps_stop(s.maps, STUCK_S)) || !unwind_follow_stop(s.unwind, STUCK_S)) {
		guardian_stop(&guardian);
		_exit(status); /* a thread hangs in a file: all that it uses must stay */
	}
	destroy(&x);
	launcher_stop(&s.launcher);
	sources_stop(s.sources);
	prior_stop(s.prior);
	symbolizer_stop();
	guardian_stop(&guardian);
	return status;
}
