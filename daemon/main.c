// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scozd: sets a run up, in the order in which its parts need one another, and takes it down.
 * Everything that changes the machine is undone on every way out; what a kill leaves behind is
 * the guardian's (guardian.c) and the lease's (lease.c) business.
 */
#include "base/cgroup.h"
#include "base/privileges.h"
#include "daemon/calibrate.h"
#include "daemon/ending.h"
#include "daemon/guardian.h"
#include "daemon/lease.h"
#include "daemon/members.h"
#include "daemon/session.h"
#include "daemon/targets.h"
#include "daemon/truth.h"
#include "run/descendants.h"
#include "run/machine_lock.h"
#include "symbolizer/symbolizer.h"

#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define SLICE_S		0.02
#define LOOK_NS		(100 * NSEC_PER_MSEC) /* for processes that are new */
#define RECORD_HZ	500 /* samples a second and core that are looked at in user space */
#define SAMPLE_RATE	1000000
#define GRACE_S		5
#define STUCK_S		1 /* a file that cannot be read for so long is left alone */
#define SEQ_GAP		8 /* windows of different runs of the command are no neighbours */
#define RUNS_BY_DEFAULT 5 /* of the command at each speedup, with --end-to-end */

void session_reason(struct session *s, const char *fmt, ...)
{
	va_list ap;

	array_reserve(s->reasons, s->cap_reasons, s->n_reasons + 1);
	va_start(ap, fmt);
	if (vasprintf(&s->reasons[s->n_reasons], fmt, ap) >= 0)
		s->n_reasons++;
	va_end(ap);
}

void session_warn(struct session *s, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = xstrdup(fmt);
	va_end(ap);
	array_reserve(s->warnings, s->cap_warnings, s->n_warnings + 1);
	s->warnings[s->n_warnings++] = text;
	if (s->opt.json) {
		status_event(s, "warning", "%s", text);
	} else {
		status_clear();
		log_warn("warning: %s", text);
	}
}

double session_elapsed_s(const struct session *s)
{
	return (clock_now_ns() - s->start_ns) / 1e9;
}

bool session_over(struct session *s)
{
	lease_beat(s->lease);
	if (session_interrupted) {
		s->end = s->end ? s->end : "signal";
		return true;
	}
	if (s->opt.duration > 0 && session_elapsed_s(s) >= s->opt.duration) {
		s->end = "duration";
		return true;
	}
	if (s->opt.command && !s->opt.end_to_end && !command_running(&s->command)) {
		s->command_status = s->command.status;
		if (s->command.interrupted) /* Ctrl-C went to the command: it was meant for all */
			session_interrupted = true;
		return true;
	}
	return false;
}

static void renew_users(struct session *s)
{
	_cleanup_free_ uid_t *users = NULL;
	size_t n;

	if (points_have_marks(s->points) && members_users(&s->opt, s->command.pid, &users, &n))
		points_only_users(s->points, users, n);
}

void session_look_for_marks(struct session *s)
{
	uint32_t n;
	uint64_t now = clock_now_ns();

	if (!points_have_marks(s->points) || s->in_window)
		return;
	if (now - s->marks_refreshed_ns > NSEC_PER_SEC) {
		s->marks_refreshed_ns = now;
		points_refresh(s->points);
		renew_users(s);
	}
	n = maps_binary_count(s->maps);
	for (; s->marks_searched < n; s->marks_searched++) {
		const char *path = maps_binary_path(s->maps, s->marks_searched);

		if (path && path[0] == '/')
			points_add_binary(s->points, path);
	}
}

void session_look(struct session *s)
{
	uint64_t now = clock_now_ns();

	session_look_for_marks(s);
	if (now - s->processes_looked_ns > LOOK_NS) {
		s->processes_looked_ns = now;
		process_table_look(s->processes);
	}
}

bool session_sleep(struct session *s, double seconds)
{
	uint64_t end = clock_now_ns() + seconds * NSEC_PER_SEC, now;

	while (!session_over(s)) {
		session_look(s);
		now = clock_now_ns();
		if (now >= end)
			return true;
		usleep(end - now > SLICE_S * NSEC_PER_SEC ? SLICE_S * 1e6 : (end - now) / 1000 + 1);
	}
	return false;
}

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
static int change_settings(struct session *s, struct guardian *guardian, struct error *err)
{
	unsigned long rate;
	int ret = guardian_start(guardian, SAMPLE_RATE, s->truth, &rate, err);

	if (ret || rate >= SAMPLE_RATE)
		return ret;
	s->min_period_ns = 2 * NSEC_PER_SEC / (rate ? rate : 1);
	session_warn(s,
		     "kernel.perf_event_max_sample_rate is %lu and cannot be raised from here: "
		     "cores that idle are sampled less often; as root: sysctl -w "
		     "kernel.perf_event_max_sample_rate=%d",
		     rate, SAMPLE_RATE);
	return 0;
}

static void on_mapping(uint32_t binary, const struct maps_mapping *m, void *arg)
{
	struct session *s = arg;
	int n = __atomic_load_n(&s->n_published, __ATOMIC_ACQUIRE);

	for (int i = 0; i < n; i++) {
		if (s->published[i] == binary)
			engine_publish_mapping(s->engine, binary, m);
	}
}

static void on_exec(int pid, void *arg)
{
	struct session *s = arg;

	engine_forget_process(s->engine, pid);
}

static void on_exit_of(int pid, void *arg)
{
	struct session *s = arg;

	process_table_gone(s->processes, pid);
	engine_forget_process(s->engine, pid);
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

static int create_engine(struct session *s, struct error *err)
{
	struct engine_options opt = {
		.name = s->opt.engine,
		.cpus = s->cores.cpus,
		.n_cpus = s->cores.n,
		.model = s->opt.model,
		.period_ns = s->period_ns,
		.max_stop_ns = s->opt.max_delay_us * NSEC_PER_USEC,
		.max_share = s->opt.max_share,
		.record_hz = RECORD_HZ,
		.waive = s->opt.waive,
		.trace_tasks = true,
		.keep_sinks = has_marks(&s->opt),
		.members_known = s->opt.command || s->opt.n_pids || s->opt.n_cgroups,
		.flags = s->opt.tune_on,
		.no_flags = s->opt.tune_off,
		.batch = s->opt.batch,
	};

	return engine_create(&opt, &s->engine, err);
}

static int start_handlers(struct session *s, struct error *err)
{
	struct handlers_options opt = {
		.engine = s->engine,
		.maps = s->maps,
		.locations = s->locations,
		.processes = s->processes,
		.cores = &s->cores,
		.kernel = s->opt.n_kernel_scope > 0,
		.source_scope = s->opt.n_source_scope > 0,
		.scoped = s->opt.n_source_scope || s->opt.n_binary_scope,
		.batch = s->opt.batch > 0,
		.period_ns = s->period_ns,
		.seed = s->opt.seed,
		.process_execs = on_exec,
		.arg = s,
	};

	maps_on_mapping(s->maps, on_mapping, s);
	maps_on_exit(s->maps, on_exit_of, s);
	return handlers_start(&opt, &s->handlers, err);
}

static char *join_command(char **argv)
{
	char *text = xstrdup("");

	for (; argv && *argv; argv++) {
		char *longer = xasprintf("%s%s%s", text, *text ? " " : "", *argv);

		free(text);
		text = longer;
	}
	return text;
}

static int open_profile(struct session *s, struct error *err)
{
	_cleanup_free_ struct profile_progress *points = NULL;
	_cleanup_free_ char *command = join_command(s->opt.command);
	_cleanup_free_ char **specs = xcalloc(s->opt.n_points, sizeof(*specs));
	size_t n = s->opt.end_to_end ? 1 : s->opt.n_points;
	struct profile_header h = {};
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
	h = (struct profile_header){
		.engine = engine_name(s->engine),
		.model = model_name(s->opt.model),
		.frequency_hz = 1e9 / s->period_ns,
		.period_s = s->period_ns / 1e9,
		.seed = s->opt.seed,
		.command = command,
		.arguments = s->opt.arguments,
		.n_arguments = s->opt.n_arguments,
		.host = uts.nodename,
		.kernel = uts.release,
		.started = started,
		.mode = s->opt.end_to_end ? "end-to-end" : "windows",
		.cpus = s->cores.n,
	};
	ret = profile_writer_open(s->opt.output, &h, points, n, &s->writer, err);
	for (size_t i = 0; i < s->opt.n_points; i++)
		free(specs[i]);
	return ret;
}

static int involve_one(int pid, void *arg, struct error *err)
{
	struct session *s = arg;

	return engine_involve(s->engine, pid, err);
}

static void warn_of_quota(struct session *s, int pid)
{
	char quota[512];

	if (cgroup_has_quota(pid, quota, sizeof(quota)))
		session_warn(
			s,
			"the profiled program has a CPU quota (%s): time it spends throttled is no "
			"one's to speed up, and predictions do not know of it",
			quota);
}

/* What one has started already belongs to it, as what it will start does. */
static int involve_with_descendants(struct session *s, int pid, struct error *err)
{
	int ret = involve_one(pid, s, err);
	struct descendants d;
	size_t taken = 0;

	if (ret)
		return ret;
	/* After @pid: its later children are followed by the engine. */
	descendants_of(pid, NULL, &d);
	for (size_t i = 0; i < d.n && !ret; i++) {
		ret = involve_one(d.list[i].pid, s, err);
		taken += !ret;
		ret = ret == -ESRCH ? 0 : ret; /* it has ended */
	}
	if (!ret && taken)
		log_msg(LOG_NORMAL,
			"--pid %d: it and %zu processes that it has started already are profiled",
			pid, taken);
	descendants_free(&d);
	return ret;
}

static int involve_processes(struct session *s, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < s->opt.n_pids; i++) {
		if (kill(s->opt.pids[i], 0) && errno == ESRCH)
			return error_set(err, ESRCH, "--pid %d: there is no such process",
					 s->opt.pids[i]);
		warn_of_quota(s, s->opt.pids[i]);
		ret = involve_with_descendants(s, s->opt.pids[i], err);
	}
	for (size_t i = 0; !ret && i < s->opt.n_cgroups; i++)
		ret = cgroup_each_process(s->opt.cgroups[i], involve_one, s, err);
	if (!ret && s->opt.command)
		warn_of_quota(s, getpid());
	return ret;
}

/* End to end, each window is a run of the command; without any limit there are enough for some
 * intervals, and an end. */
static uint32_t max_windows(const struct options *o)
{
	if (!o->end_to_end || o->runs)
		return o->end_to_end ? o->runs : 0;
	if (o->duration > 0 || o->precision > 0)
		return 0;
	return RUNS_BY_DEFAULT * 2 * o->n_speedups * (o->n_targets ? o->n_targets : 1) + 1;
}

static void create_plan(struct session *s)
{
	/* Who names targets and speedups wants to see these; who names targets, all of them. */
	bool all = s->opt.n_targets && !s->opt.default_speedups;
	struct plan_options opt = {
		.asked = all		    ? s->opt.n_speedups
			 : s->opt.n_targets ? 1
					    : 0,
		.speedups = s->opt.speedups,
		.n_speedups = s->opt.n_speedups,
		.n_progress = s->opt.end_to_end ? 1 : points_count(s->points),
		.truth = s->truth >= 0,
		.precision = s->opt.precision,
		.seconds = s->opt.duration,
		.windows = s->max_windows,
		.seed = s->opt.seed,
	};

	s->plan = plan_create(&opt);
	s->tuner = window_tuner_create();
}

static int set_up(struct session *s, struct error *err)
{
	struct maps_options maps_opt = {
		.binary_scope = s->opt.binary_scope,
		.n_binary_scope = s->opt.n_binary_scope,
	};
	int ret;

	s->map_options.cache_dir = maptable_default_cache_dir();
	maps_opt.table = s->map_options;
	s->period_ns = s->opt.frequency > 0 ? NSEC_PER_SEC / s->opt.frequency : NSEC_PER_MSEC;
	if (s->period_ns < s->min_period_ns)
		s->period_ns = s->min_period_ns;
	ret = cores_select(s->opt.cpus, &s->cores, err);
	if (!ret)
		ret = maps_create(&maps_opt, &s->maps, err);
	if (!ret && s->opt.n_kernel_scope)
		ret = maps_open_kernel(s->maps, s->opt.kernel_scope, s->opt.n_kernel_scope, err);
	if (!ret)
		ret = targets_check(&s->opt, s->maps, &s->map_options, err);
	if (!ret)
		ret = create_engine(s, err);
	if (!ret)
		ret = points_create(&s->opt, &s->map_options, s->engine, &s->points, err);
	if (!ret)
		ret = open_profile(s, err);
	if (ret)
		return ret;
	s->first = xcalloc(points_count(s->points), sizeof(*s->first));
	renew_users(s);
	s->locations = locations_create(&s->opt);
	s->processes = process_table_create();
	s->max_windows = max_windows(&s->opt);
	create_plan(s);
	ret = maps_start(s->maps, err);
	if (!ret)
		ret = start_handlers(s, err);
	if (!ret)
		ret = involve_processes(s, err);
	if (!ret)
		ret = engine_start(s->engine, err);
	if (!ret &&
	    !session_interrupted) /* after the start: a process born meanwhile is in the events */
		ret = maps_scan_all(s->maps, err);
	if (!ret && !session_interrupted)
		s->tick_cost_ns = calibrate_cost(s->engine, &s->cores);
	return ret;
}

/* One run of the command in windows mode, or the whole system until the end. */
static int run_once(struct session *s, struct error *err)
{
	int ret = 0;

	if (s->opt.command) {
		_cleanup_free_ char *path = NULL;

		if (!binary_find(s->opt.command[0], &path, NULL))
			points_add_binary(s->points, path);
		ret = command_spawn(&s->command, s->opt.command, s->opt.user, err);
		if (!ret)
			ret = engine_involve(s->engine, s->command.pid, err);
		if (!ret)
			ret = command_release(&s->command, s->opt.command, err);
		if (ret)
			command_terminate(&s->command, GRACE_S, &session_at_once);
	}
	if (ret)
		return ret;
	ret = experiment_run(s, err);
	engine_set_speedup(s->engine, 0);
	if (s->command.pid) /* the run is over before the command is: its end says nothing */
		command_terminate(&s->command, GRACE_S, &session_at_once);
	return ret;
}

static int run(struct session *s, struct error *err)
{
	int runs = s->opt.runs ? s->opt.runs : 1, ret = 0;
	struct machine_times sum;

	s->start_ns = clock_now_ns();
	s->machine = xcalloc(s->cores.n, sizeof(*s->machine));
	machine_read(&s->cores, s->machine, &sum);
	for (size_t i = 0; i < points_count(s->points); i++)
		points_read(s->points, i, &s->first[i]);
	if (session_interrupted)
		session_reason(s, "a signal ended the run before anything was measured");
	else if (s->opt.end_to_end)
		return end_to_end_run(s, err);
	for (int i = 0; !ret && i < runs && !s->end && !session_interrupted; i++) {
		ret = run_once(s, err);
		s->seq += SEQ_GAP;
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
static int conclude(struct session *s, int ret, const struct error *err)
{
	int status = 0;

	if (ret) {
		status_clear();
		if (err->text[0])
			log_msg(LOG_QUIET, "%s", err->text);
	}
	if (s->writer && ret && !s->n_windows) {
		profile_writer_abandon(s->writer);
	} else if (s->writer && !(ret && s->end)) { /* else the output itself has failed */
		if (!s->end)
			s->end = ret ? "failed" : session_interrupted ? "signal" : "done";
		status = session_finish(s);
	}
	profile_writer_close(s->writer);
	return ret ? 1 : status;
}

int main(int argc, char **argv)
{
	static struct session s;
	struct guardian guardian = { -1, -1 };
	struct error err = {};
	struct machine_lock lock;
	int ret, status;

	setlocale(LC_CTYPE, "");
	s.command_status = -1;
	s.truth = -1;
	options_parse(argc, argv, &s.opt);
	command_remember_limits();
	ret = symbolizer_start(&err); /* before there are other threads */
	if (!ret)
		ret = ending_start(&s, &err);
	if (!ret)
		ret = check_privileges(&err);
	if (!ret)
		ret = machine_lock_take(&lock, NULL, NULL, &err);
	if (!ret)
		ret = command_check_user(s.opt.user, &err);
	if (!ret && s.opt.truth) {
		s.truth = truth_open(s.opt.truth, s.opt.user, &err);
		ret = s.truth < 0 ? s.truth : 0;
	}
	if (!ret)
		ret = change_settings(&s, &guardian, &err);
	if (!ret)
		ret = set_up(&s, &err);
	if (!ret)
		ret = run(&s, &err);
	take_down(&s);
	status = conclude(&s, ret, &err);
	ending_is_over(status);
	symbolizer_abandon();
	if (s.maps && !maps_stop(s.maps, STUCK_S)) {
		guardian_stop(&guardian);
		_exit(status); /* a thread hangs in a file: all that it uses must stay */
	}
	handlers_destroy(s.handlers);
	engine_destroy(s.engine); /* closes the probes; only then may the marks be told */
	points_destroy(s.points);
	locations_destroy(s.locations);
	process_table_destroy(s.processes);
	plan_free(s.plan);
	window_tuner_free(s.tuner);
	maps_destroy(s.maps);
	symbolizer_stop();
	cores_free(&s.cores);
	guardian_stop(&guardian);
	return status;
}
