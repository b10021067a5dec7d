// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz record: on- and off-CPU samples into a file, for scoz report and scoz export. */
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "files/file_open.h"
#include "files/output_file.h"
#include "host/privileges.h"
#include "host/process.h"
#include "progress/marks.h"
#include "record/recorder.h"
#include "run/command.h"
#include "run/cores.h"
#include "run/machine_lock.h"
#include "tools/scoz/arguments.h"
#include "tools/scoz/cmds.h"
#include "tools/scoz/commands/record_causal.h"
#include "tools/scoz/recording/record_filter.h"
#include "tools/scoz/recording/recording_args.h"
#include "symbolizer/symbolizer.h"

#define DEFAULT_RING_BYTES (32u << 20)
#define FLUSH_NS	   NSEC_PER_SEC

struct options {
	const char *output, *engine, *cpus, *user;
	uint64_t period_ns;
	double duration_s;
	size_t ring_bytes;
	bool everybody, causal, pointers, no_perf_maps;
	struct number_list pids;
	struct progress_list points;
	char **command;
};

struct session {
	struct options opt;
	struct cores cores;
	struct recorder *recorder;
	struct causal_points *points;
	struct recording_writer *writer;
	struct causal_output causal; /* --causal: instead of it */
	struct launcher launcher;
	struct command command;
	struct pollfd *watched; /* those of --pid */
	uint64_t begun, flushed;
	const char *end;
	struct record_scozd scozd; /* pid 0: none runs */
};

static void usage(FILE *out)
{
	fprintf(out,
		"Usage: scoz record [OPTION...] -- COMMAND [ARG...]\n"
		"       scoz record [OPTION...] -a | --pid PID\n\n"
		"Records what threads do on the CPU and what they wait for off it, until "
		"COMMAND has\n"
		"ended, or Ctrl-C. `scoz report` and `scoz export` read the file.\n\n"
		"  -o, --output FILE     default " DEFAULT_RECORDING "\n"
		"  -a, --all             all threads of the machine\n"
		"  -p, --pid PID[,...]   these processes, what they have started and what they "
		"will;\n"
		"                        with COMMAND: these, too\n"
		"  -c, --period NS       time that a sample stands for (default 1000000)\n"
		"  -F, --frequency HZ    the same as a rate (default 1000)\n"
		"      --duration SEC    at most so long\n"
		"      --engine NAME     auto, bpf or kernel (default auto)\n"
		"      --cpus LIST       only these CPUs are sampled\n"
		"      --unwind HOW      call chains by tables (default) or frame pointers: "
		"pointers\n"
		"      --no-perf-maps    code that Node, the JVM or Python make while they run "
		"stays\n"
		"                        without names, whatever they write of it\n"
		"      --causal          everything the scheduler does, too: for `scoz waits` and\n"
		"                        `scoz whatif`; default output " DEFAULT_CAUSAL "\n"
		"  -P, --progress [NAME=]POINT\n"
		"                        with --causal: a unit of work is done here; repeatable\n"
		"      --user USER       runs COMMAND as this user\n"
		"      --ring-size BYTES room for records not read yet (default 32M);\n"
		"                        with --causal, besides, of all CPUs together 256M at "
		"most\n"
		"  -v, --verbose\n"
		"  -q, --quiet\n"
		"      --help\n\n"
		"Exit status: 0 done, 1 failed, 2 usage, 3 nothing was recorded.\n");
}

/* ---- options ---- */

static bool parse_size(const char *text, size_t *ret)
{
	char *end;
	double v = strtod(text, &end);
	const char *units = "KMG", *unit = *end ? strchr(units, *end) : NULL;

	if (unit && !end[1])
		v *= pow(1024, unit - units + 1);
	else if (end == text || *end)
		return false;
	if (v < 4096 || v > (1u << 30))
		return false;
	for (*ret = 4096; *ret < v; *ret *= 2)
		;
	return true;
}

static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "all", no_argument, NULL, 'a' },
		{ "pid", required_argument, NULL, 'p' },
		{ "period", required_argument, NULL, 'c' },
		{ "frequency", required_argument, NULL, 'F' },
		{ "duration", required_argument, NULL, 'd' },
		{ "engine", required_argument, NULL, 'e' },
		{ "cpus", required_argument, NULL, 'C' },
		{ "user", required_argument, NULL, 'u' },
		{ "ring-size", required_argument, NULL, 'r' },
		{ "unwind", required_argument, NULL, 'U' },
		{ "no-perf-maps", no_argument, NULL, 'm' },
		{ "causal", no_argument, NULL, 'x' },
		{ "progress", required_argument, NULL, 'P' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	bool quiet = false;
	int c, r = -1;

	while (r < 0 && (c = getopt_long(argc, argv, "+o:ap:c:F:P:vqh", longs, NULL)) != -1) {
		switch (c) {
		case 'o':
			o->output = optarg;
			break;
		case 'a':
			o->everybody = true;
			break;
		case 'p':
			if (number_list_add(&o->pids, "--pid", optarg, 1))
				return EXIT_USAGE;
			break;
		case 'c':
			r = parse_period(optarg, &o->period_ns);
			break;
		case 'F':
			r = parse_frequency(optarg, &o->period_ns);
			break;
		case 'd':
			if (!parse_number(optarg, 0.001, 1e9, &o->duration_s))
				return bad_argument("--duration", optarg,
						    "a number of seconds is wanted");
			break;
		case 'e':
			r = parse_engine(optarg, &o->engine);
			break;
		case 'C':
			o->cpus = optarg;
			break;
		case 'u':
			o->user = optarg;
			break;
		case 'r':
			if (!parse_size(optarg, &o->ring_bytes))
				return bad_argument("--ring-size", optarg,
						    "4K to 1G is wanted, for instance 64M");
			break;
		case 'U':
			o->pointers = !strcmp(optarg, "pointers");
			if (!o->pointers && strcmp(optarg, "tables"))
				return bad_argument("--unwind", optarg,
						    "tables or pointers is wanted");
			break;
		case 'm':
			o->no_perf_maps = true;
			break;
		case 'x':
			o->causal = true;
			break;
		case 'P':
			if (!progress_list_add(&o->points, optarg))
				return EXIT_USAGE;
			break;
		case 'v':
			log_level++;
			break;
		case 'q':
			quiet = true;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
	}
	if (r >= 0)
		return r;
	if (argv[optind])
		o->command = argv + optind;
	if (!o->command && !o->everybody && !o->pids.n) {
		log_warn("nothing to record: give a COMMAND, --pid or -a");
		return EXIT_USAGE;
	}
	if (o->points.n && !o->causal) {
		log_warn("--progress is for causal recordings: give --causal, too");
		return EXIT_USAGE;
	}
	if (!o->output)
		o->output = o->causal ? DEFAULT_CAUSAL : DEFAULT_RECORDING;
	if (quiet) /* not before: what is wrong with the options is said */
		log_level = LOG_QUIET;
	return -1;
}

/* ---- the file ---- */

static void put_frame(uint32_t id, const struct record_frame *f, void *arg)
{
	recording_write_frame(((struct session *)arg)->writer, id, f);
}

static void put_stack(uint32_t id, const struct record_stack *s, void *arg)
{
	recording_write_stack(((struct session *)arg)->writer, id, s);
}

static void put_process(const struct record_process *p, void *arg)
{
	recording_write_process(((struct session *)arg)->writer, p);
}

static void put_thread(const struct record_thread *t, void *arg)
{
	recording_write_thread(((struct session *)arg)->writer, t);
}

static void put_comm(uint32_t thread, uint64_t time, const char *comm, void *arg)
{
	recording_write_comm(((struct session *)arg)->writer, thread, time, comm);
}

static void put_sample(const struct record_sample *s, void *arg)
{
	recording_write_sample(((struct session *)arg)->writer, s);
}

static void put_times(const struct record_thread *t, void *arg)
{
	recording_write_times(((struct session *)arg)->writer, t);
}

static char *scope_text(const struct options *o)
{
	char *text = xstrdup(o->everybody ? "all" : o->command ? "command" : "pid");

	for (int i = 0; !o->everybody && i < o->pids.n; i++) {
		const char *before = i ? ", " : o->command ? ", pid " : " ";
		char *longer = xasprintf("%s%s%d", text, before, o->pids.v[i]);

		free(text);
		text = longer;
	}
	return text;
}

/*
 * Only what can be had again is replaced, and only once the command runs; but what will go wrong
 * then is to be known before.
 */
static int check_output(const char *path, bool causal, struct error *err)
{
	_cleanup_free_ char *copy = xstrdup(path);
	bool given = file_is_open_already(path);
	_cleanup_close_ int found = open(path, O_PATH | (given ? 0 : O_NOFOLLOW) | O_CLOEXEC);
	const char *what = found >= 0 ? path : dirname(copy);
	_cleanup_close_ int fd = -1;
	struct stat st = { 0 };
	char way[32];

	if (found >= 0 && !fstat(found, &st) && S_ISLNK(st.st_mode))
		return error_set(err, ELOOP,
				 "%s: cannot write: it is a symbolic link, and these are not "
				 "followed; name another file with -o",
				 path);
	if (access(what, W_OK))
		return output_file_error(path, errno, OUTPUT_PRIVATE, err);
	if (found < 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	snprintf(way, sizeof(way), "/proc/self/fd/%d", found);
	if (!(causal ? trace_is(way) : recording_is(way)))
		return error_set(err, EEXIST,
				 "%s exists and is not a %srecording: it is not replaced; remove "
				 "it, or name another file with -o",
				 path, causal ? "causal " : "");
	fd = open(way, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return error_set(err, EBUSY,
				 "%s: another recording is being written there; name another file "
				 "with -o",
				 path);
	return 0;
}

static int open_output(struct session *s, struct error *err)
{
	_cleanup_free_ char *command = text_join(s->opt.command), *scope = scope_text(&s->opt);
	time_t now = time(NULL);
	char started[32];
	struct utsname u;
	struct record_header h = {
		.engine = recorder_engine(s->recorder),
		.period_ns = s->opt.period_ns,
		.command = command,
		.scope = scope,
		.host = u.nodename,
		.kernel = u.release,
		.started = started,
		.cpus = s->cores.n,
	};

	uname(&u);
	strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	if (s->opt.causal) {
		const struct trace_header t = { h.period_ns, command, scope, u.nodename,
						u.release,   started, h.cpus };
		int r = trace_writer_open(s->opt.output, &t, &s->causal.writer, err);

		if (!r) {
			/* As another user it is not to be run again by whoever reads it. */
			if (!s->opt.user)
				trace_write_command(s->causal.writer, s->opt.command);
			causal_write_points(s->causal.writer, &s->opt.points);
		}
		return r;
	}
	return recording_writer_open(s->opt.output, &h, &s->writer, err);
}

/* ---- the session ---- */

static atomic_int signals;

static void on_signal(int sig)
{
	(void)sig;
	signals++;
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	struct sigaction old;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	if (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN) /* nohup keeps its word */
		sigaction(SIGHUP, &sa, NULL);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN); /* who read our warnings may be gone; the recording goes on */
}

/* A descriptor tells of its end also while nobody has collected it, and if its pid comes again. */
static void watch_processes(struct session *s)
{
	s->watched = xcalloc(s->opt.pids.n, sizeof(*s->watched));
	for (int i = 0; i < s->opt.pids.n; i++)
		s->watched[i] =
			(struct pollfd){ .fd = pidfd_open(s->opt.pids.v[i], 0), .events = POLLIN };
}

static void unwatch_processes(struct session *s)
{
	for (int i = 0; s->watched && i < s->opt.pids.n; i++) {
		if (s->watched[i].fd >= 0)
			close(s->watched[i].fd);
	}
	free(s->watched);
}

static int add_processes(struct session *s, struct error *err)
{
	int r = s->command.pid ? recorder_add_process(s->recorder, s->command.pid, err) : 0;

	for (int i = 0; r >= 0 && i < s->opt.pids.n; i++) {
		r = recorder_add_process(s->recorder, s->opt.pids.v[i], err);
		if (r > 1)
			log_msg(LOG_NORMAL,
				"--pid %d: it and %d processes that it has started already are "
				"recorded",
				s->opt.pids.v[i], r - 1);
	}
	return r < 0 ? r : 0;
}

static int prepare(struct session *s, struct error *err)
{
	const struct recorder_sink causal = causal_sink(&s->causal);
	const struct recorder_sink sink = {
		.frame = put_frame,
		.stack = put_stack,
		.process = put_process,
		.thread = put_thread,
		.comm = put_comm,
		.sample = put_sample,
		.times = put_times,
		.arg = s,
	};
	struct recorder_options opt = {
		.engine = s->opt.engine,
		.period_ns = s->opt.period_ns,
		.everybody = s->opt.everybody,
		.ring_bytes = s->opt.ring_bytes,
		.pointers = s->opt.pointers,
		.causal = s->opt.causal,
		.perf_maps = !s->opt.no_perf_maps,
	};
	int r = check_output(s->opt.output, s->opt.causal, err);

	s->causal.period_ns = s->opt.period_ns;

	if (!r)
		r = cores_select(s->opt.cpus, &s->cores, err);
	opt.cpus = s->cores.cpus;
	opt.n_cpus = s->cores.n;
	opt.new_cpus = !s->opt.cpus;
	if (!r)
		r = symbolizer_start(err);
	if (!r && s->opt.command)
		r = launcher_start(&s->launcher, s->opt.command, s->opt.user, err);
	if (!r)
		r = recorder_create(&opt, s->opt.causal ? &causal : &sink, &s->recorder, err);
	if (!r) {
		s->points = causal_points_create(s->recorder);
		r = causal_attach(s->points, &s->opt.points, s->opt.command, err);
	}
	if (!r && causal_points_have_marks(s->points) && !machine_lock_holder(NULL, 0))
		marks_silence(NULL);
	if (!r && s->opt.command)
		r = command_spawn(&s->command, &s->launcher, err);
	if (!r)
		r = recorder_start(s->recorder, err);
	watch_processes(s);
	if (!r && !s->opt.everybody)
		r = add_processes(s, err);
	if (!r && signals)
		r = error_set(err, EINTR, "interrupted before anything was recorded");
	if (!r && s->command.pid)
		r = command_release(&s->command, s->opt.command, err);
	if (!r)
		r = open_output(s, err);
	return r;
}

static bool all_gone(struct session *s)
{
	const struct options *o = &s->opt;

	poll(s->watched, o->pids.n, 0);
	for (int i = 0; i < o->pids.n; i++) {
		if (s->watched[i].fd >= 0 ? !s->watched[i].revents
					  : !kill(o->pids.v[i], 0) || errno != ESRCH)
			return false;
	}
	return o->pids.n > 0;
}

/* Others are made until it has ended. */
#define ENOUGH_THREADS (TRACE_THREADS_MOST - TRACE_THREADS_MOST / 64)

/* Why it is over; NULL: it goes on. */
static const char *over(struct session *s)
{
	if (signals)
		return "signal";
	if (s->opt.command && !command_running(&s->command))
		return "done";
	if (!s->opt.everybody && !s->opt.command && all_gone(s))
		return "done";
	if (s->causal.threads >= ENOUGH_THREADS) {
		log_warn("the recording ends here: it has %zu threads, and more than %u are not "
			 "read again (with -a, these are all that the machine makes)",
			 s->causal.threads, TRACE_THREADS_MOST);
		return "threads";
	}
	if (s->opt.duration_s && clock_now_ns() - s->begun > s->opt.duration_s * NSEC_PER_SEC)
		return "duration";
	return NULL;
}

/* A profiler's stops look like time of whoever they stop: that is to be known of a recording. */
static void look_for_scozd(struct session *s, bool end)
{
	int pid = machine_lock_holder(NULL, s->scozd.pid);

	if (s->scozd.pid && (end || pid != s->scozd.pid)) {
		s->scozd.to = recorder_time(s->recorder);
		if (s->writer)
			recording_write_scozd(s->writer, &s->scozd);
		s->scozd.pid = 0;
	}
	if (!pid || s->scozd.pid || end)
		return;
	s->scozd = (struct record_scozd){ .pid = pid, .from = recorder_time(s->recorder) };
	log_warn("scozd (process %d) profiles this machine at the same time: the time for which it "
		 "stops the CPUs is recorded as time of whoever is stopped; record without it",
		 pid);
}

static int run(struct session *s, struct error *err)
{
	struct timespec nap = { 0, RECORDER_POLL_MS * NSEC_PER_MSEC };
	int r = 0;

	s->begun = s->flushed = clock_now_ns();
	look_for_scozd(s, false);
	while (!r && !(s->end = over(s))) {
		nanosleep(&nap, NULL);
		recorder_poll(s->recorder);
		causal_points_poll(s->points);
		if (clock_now_ns() - s->flushed < FLUSH_NS)
			continue;
		s->flushed = clock_now_ns();
		look_for_scozd(s, false);
		r = s->opt.causal ? trace_writer_flush(s->causal.writer, err)
				  : recording_writer_flush(s->writer, err);
	}
	return r;
}

static void say_what_was_recorded(const struct session *s, const struct record_footer *f)
{
	const struct record_process *stranger;
	struct rusage used;
	uint64_t points;
	/* Why the exit status is EXIT_NOTHING is said whatever -q says. */
	enum log_level level = f->samples || s->causal.events ? LOG_NORMAL : LOG_QUIET;

	if (s->opt.causal)
		log_msg(level, "%s: %.1f s, %llu events, %llu of them samples%s", s->opt.output,
			f->duration / 1e9, (unsigned long long)s->causal.events,
			(unsigned long long)f->samples,
			s->causal.events ? "" : ": nothing ran or waited");
	else
		log_msg(level, "%s: %.1f s, %llu samples for %llu points%s", s->opt.output,
			f->duration / 1e9, (unsigned long long)f->samples,
			(unsigned long long)f->points,
			f->samples ? "" : ": nothing ran or waited long enough");
	getrusage(RUSAGE_SELF, &used);
	log_info("recording took %.2f s of a CPU",
		 used.ru_utime.tv_sec + used.ru_stime.tv_sec +
			 (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
	stranger = recorder_stranger(s->recorder, &points);
	if (stranger && record_is_much(points, f->points))
		log_msg(LOG_NORMAL,
			"%.0f %% of it is waits that %s (process %d) ended, which was not "
			"recorded: "
			"what it did meanwhile is in a recording with --pid %d, too, or with -a",
			100.0 * points / f->points, stranger->name, stranger->pid, stranger->pid);
	if (f->lost)
		log_warn("%llu records were lost: use a larger --ring-size or a longer --period",
			 (unsigned long long)f->lost);
}

static void say_how_it_ended(const struct session *s)
{
	int status = s->command.status;
	_cleanup_free_ char *text = process_status_text(status);
	/* Who is told to end may do that with any status, as mpirun does. */
	bool by_us = text && strcmp(s->end, "done") != 0;

	if (text && !by_us)
		log_warn("%s %s%s", s->opt.command[0], text,
			 WIFSIGNALED(status) ? ""
					     : ": what was recorded may not be what was meant");
}

static int finish(struct session *s, struct error *err)
{
	struct record_footer f = { .command_status = -1, .end = s->end ? s->end : "failed" };
	struct recording_writer *writer = s->writer;
	struct trace_writer *trace = s->causal.writer;
	struct recorder_counts counts;
	int r;

	look_for_scozd(s, false);
	recorder_finish(s->recorder);
	look_for_scozd(s, true);
	recorder_counts(s->recorder, &counts);
	if (s->command.pid)
		command_terminate(&s->command, 1, NULL);
	f.duration = recorder_time(s->recorder);
	f.samples = counts.samples;
	f.points = counts.points;
	f.lost = counts.lost;
	f.broken_chains = counts.broken_chains;
	f.without_chain = counts.without_chain;
	if (s->opt.command)
		f.command_status = s->command.status;
	s->writer = NULL;
	s->causal.writer = NULL;
	if (s->opt.causal)
		r = trace_writer_close(
			trace,
			&(struct trace_footer){ f.duration, f.lost, f.command_status, f.end }, err);
	else
		r = recording_writer_close(writer, &f, err);
	if (r)
		return EXIT_FAILED;
	say_what_was_recorded(s, &f);
	if (s->opt.command && s->end)
		say_how_it_ended(s);
	return f.samples || s->causal.events ? EXIT_DONE : EXIT_NOTHING;
}

int cmd_record(int argc, char **argv)
{
	struct session s = { .launcher = LAUNCHER_INIT,
			     .opt = { .engine = "auto",
				      .period_ns = NSEC_PER_MSEC,
				      .ring_bytes = DEFAULT_RING_BYTES } };
	struct error err = {};
	int ret = parse_options(argc, argv, &s.opt);

	if (ret >= 0)
		return ret;
	ret = EXIT_FAILED;
	privileges_raise();
	catch_signals();
	if (!prepare(&s, &err)) {
		struct error write_err = {};
		int r = run(&s, &err);

		ret = finish(&s, &write_err);
		if (ret == EXIT_FAILED && !r)
			err = write_err;
		if (r)
			ret = EXIT_FAILED;
	} else if (s.command.pid) {
		command_terminate(&s.command, 0, NULL);
	}
	if (ret == EXIT_FAILED)
		log_msg(LOG_QUIET, "%s", err.text);
	if (s.writer)
		recording_writer_close(s.writer, NULL, NULL);
	trace_writer_close(s.causal.writer, NULL, NULL);
	symbolizer_abandon();
	causal_points_destroy(s.points);
	recorder_destroy(s.recorder);
	launcher_stop(&s.launcher);
	symbolizer_stop();
	cores_free(&s.cores);
	unwatch_processes(&s);
	free(s.opt.pids.v);
	progress_list_free(&s.opt.points);
	return ret;
}
