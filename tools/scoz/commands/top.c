// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz top: what threads do and what they wait for, live. */
#include <fcntl.h>
#include <getopt.h>
#include <langinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "host/privileges.h"
#include "record/recorder.h"
#include "run/cores.h"
#include "tools/scoz/arguments.h"
#include "tools/scoz/cmds.h"
#include "tools/scoz/recording/record_filter.h"
#include "tools/scoz/recording/recording_args.h"
#include "tools/scoz/text.h"
#include "tools/scoz/top/top_proc.h"
#include "tools/scoz/top/top_screen.h"
#include "symbolizer/symbolizer.h"

/*
 * Five times that of `scoz record`: a window of 10 s has 2,000 points of each thread, more than can
 * be seen, and this may watch a busy machine for days.
 */
#define DEFAULT_PERIOD_NS (5 * NSEC_PER_MSEC)
#define RING_BYTES	  (32u << 20)
#define FIRST_NS	  (500 * NSEC_PER_MSEC)
/* Call chains are kept by the recorder as long as it lives; at about 100 MB it is replaced. */
#define MAX_STACKS 4000000
#define STOPPED_NS NSEC_PER_SEC	      /* between two looks at the recorder */
#define NAMES_NS   (5 * NSEC_PER_SEC) /* that the first table waits for names at most */

struct options {
	const char *engine;
	uint64_t period_ns;
	double delay_s, window_s;
	long iterations; /* 0: no end */
	bool batch, no_perf_maps;
	struct number_list pids;
};

/* How many records had been lost by then. */
struct loss {
	uint64_t when, lost;
};

struct session {
	struct options opt;
	struct top_view view;
	struct cores cores;
	struct recorder *recorder;
	struct top_model *model;
	struct top_result *result;
	struct top_lines lines;
	struct loss *losses; /* over the window */
	size_t n_losses, cap_losses;
	uint64_t lost;
	uint64_t polled;
	uint64_t told; /* up to when the model knows what happened */
	bool resting;  /* the recorder has grown too large while nobody wanted to see more */
};

static atomic_int signals;

static void usage(FILE *out)
{
	fprintf(out,
		"Usage: scoz top [OPTION...]\n\n"
		"Shows what threads do on the CPU and what they wait for off it, of the last "
		"seconds,\n"
		"until q or Ctrl-C. h shows what the columns mean, and the keys.\n\n"
		"  -a, --all             all threads of the machine (default)\n"
		"  -p, --pid PID[,...]   these processes and all that they have started, or "
		"will\n"
		"  -d, --delay SEC       time between refreshes (default 2)\n"
		"  -w, --window SEC      time that is looked back at (default 10)\n"
		"      --by WHAT         process, thread or function (default process)\n"
		"      --sort KEY        activity, on, user, kernel, sched, io, lock, other, "
		"waiting,\n"
		"                        threads, pid or name (default activity)\n"
		"      --class CLASS[,...]  only on, io, lock, sched, other, waiting or off (all "
		"but on),\n"
		"                        or letters (default all)\n"
		"  -i, --hide-idle       hides what shows no activity\n"
		"  -u, --user-functions  functions of programs, not those of the kernel they "
		"called\n"
		"  -b, --batch           plain text to standard output, no keys\n"
		"  -n, --iterations N    ends after N refreshes\n"
		"  -c, --period NS       time that a sample stands for (default 5000000)\n"
		"  -F, --frequency HZ    the same as a rate (default 200)\n"
		"      --engine NAME     auto, bpf or kernel (default auto)\n"
		"      --no-perf-maps    code that programs make while they run stays without "
		"names\n"
		"      --help\n\n"
		"CPU%% is of one CPU, as in top; S%%, I%%, L%%, B%% and W%% are shares of the time "
		"of a row's\n"
		"threads: queueing for a CPU, I/O, locks, other waits, waits that go on.\n"
		"Exit status: 0 done, 1 failed, 2 usage.\n");
}

/* ---- options ---- */

static bool parse_name(const char *name, const char *const *names, size_t n, unsigned int *ret)
{
	for (*ret = 0; *ret < n; ++*ret) {
		if (!strcmp(names[*ret], name))
			return true;
	}
	return false;
}

static const struct option long_options[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "pid", required_argument, NULL, 'p' },
	{ "delay", required_argument, NULL, 'd' },
	{ "window", required_argument, NULL, 'w' },
	{ "by", required_argument, NULL, 'B' },
	{ "sort", required_argument, NULL, 'S' },
	{ "class", required_argument, NULL, 'C' },
	{ "hide-idle", no_argument, NULL, 'i' },
	{ "user-functions", no_argument, NULL, 'u' },
	{ "batch", no_argument, NULL, 'b' },
	{ "iterations", required_argument, NULL, 'n' },
	{ "period", required_argument, NULL, 'c' },
	{ "frequency", required_argument, NULL, 'F' },
	{ "engine", required_argument, NULL, 'e' },
	{ "no-perf-maps", no_argument, NULL, 'm' },
	{ "help", no_argument, NULL, 'h' },
	{},
};

/* Options with a value; -1: understood. */
static int parse_value(struct session *s, int c, const char *value)
{
	struct options *o = &s->opt;
	unsigned int name;
	double v;

	switch (c) {
	case 'p':
		return number_list_add(&o->pids, "--pid", value, 1) ? EXIT_USAGE : -1;
	case 'd':
		return parse_number(value, 0.1, 86400, &o->delay_s)
			       ? -1
			       : bad_argument("--delay", value, "0.1 to 86400 seconds are wanted");
	case 'w':
		return parse_number(value, 0.5, 3600, &o->window_s)
			       ? -1
			       : bad_argument("--window", value, "0.5 to 3600 seconds are wanted");
	case 'B':
		if (!parse_name(value, top_by_names, TOP_BYS, &name))
			return bad_argument("--by", value,
					    "process, thread and function are known");
		s->view.query.by = name;
		return -1;
	case 'S':
		if (!parse_name(value, top_sort_names, TOP_SORTS, &name))
			return bad_argument(
				"--sort", value,
				"activity, on, user, kernel, sched, io, lock, other, waiting, "
				"threads, pid and name are known");
		s->view.query.sort = name;
		return -1;
	case 'C':
		return top_view_filter(&s->view, value)
			       ? -1
			       : bad_argument(
					 "--class", value,
					 "all, on (. and k), io (I), lock (L), sched (S), other "
					 "(B), waiting (W) and off for the last five are known");
	case 'n':
		if (!parse_number(value, 1, 1e9, &v) || v != (long)v)
			return bad_argument("--iterations", value, "a number from 1 on is wanted");
		o->iterations = v;
		return -1;
	case 'c':
		return parse_period(value, &o->period_ns);
	case 'F':
		return parse_frequency(value, &o->period_ns);
	default:
		return parse_engine(value, &o->engine);
	}
}

static int parse_options(int argc, char **argv, struct session *s)
{
	int c, r = -1;

	while (r < 0 &&
	       (c = getopt_long(argc, argv, "ap:d:w:iubn:c:F:h", long_options, NULL)) != -1) {
		switch (c) {
		case 'a':
			s->opt.pids.n = 0;
			break;
		case 'i':
			s->view.query.hide_idle = true;
			break;
		case 'm':
			s->opt.no_perf_maps = true;
			break;
		case 'u':
			s->view.query.user_functions = true;
			break;
		case 'b':
			s->opt.batch = s->view.batch = true;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		case '?':
			return EXIT_USAGE;
		default:
			r = parse_value(s, c, optarg);
		}
	}
	if (r >= 0)
		return r;
	if (argv[optind])
		return bad_argument(
			"unexpected argument", argv[optind],
			"`scoz record -- COMMAND` runs commands; --pid watches processes");
	if (!top_can_sort(&s->view.query))
		return bad_argument("--sort", top_sort_names[s->view.query.sort],
				    "this view has no such column");
	return -1;
}

/* ---- the recorder ---- */

static void on_signal(int sig)
{
	(void)sig;
	signals++;
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	sigaction(SIGQUIT, &sa, NULL); /* Ctrl-\, which must not leave the screen as it is */
	signal(SIGPIPE, SIG_IGN);
}

static const struct record_frame *get_frame(uint32_t id, void *arg)
{
	return recorder_frame(((struct session *)arg)->recorder, id);
}

static const struct record_stack *get_stack(uint32_t id, void *arg)
{
	return recorder_stack(((struct session *)arg)->recorder, id);
}

/* What was lost before the window is nothing that it lacks. */
static void note_losses(struct session *s)
{
	uint64_t window_ns = s->opt.window_s * NSEC_PER_SEC;
	size_t old = 0;

	array_reserve(s->losses, s->cap_losses, s->n_losses + 1);
	s->losses[s->n_losses++] = (struct loss){ s->told, s->lost };
	while (s->told - s->losses[old].when > window_ns)
		old++;
	s->n_losses -= old;
	memmove(s->losses, s->losses + old, s->n_losses * sizeof(*s->losses));
}

/* The window begins anew. */
static void forget_losses(struct session *s)
{
	s->n_losses = 0;
	note_losses(s);
}

static uint64_t lost_in_window(const struct session *s)
{
	return s->losses[s->n_losses - 1].lost - s->losses[0].lost;
}

static void stop(struct session *s)
{
	symbolizer_abandon(); /* its thread may wait for it */
	top_result_free(s->result);
	top_model_destroy(s->model);
	recorder_destroy(s->recorder);
	symbolizer_stop();
	s->result = NULL;
	s->model = NULL;
	s->recorder = NULL;
	s->resting = false;
	s->lost = 0;
}

static int start(struct session *s, bool again, struct error *err)
{
	const struct top_model_options model = {
		.period_ns = s->opt.period_ns,
		.window_ns = s->opt.window_s * NSEC_PER_SEC,
		.frame = get_frame,
		.stack = get_stack,
		.alive = top_proc_alive,
		.arg = s,
	};
	const struct recorder_options opt = {
		.engine = s->opt.engine,
		.period_ns = s->opt.period_ns,
		.cpus = s->cores.cpus,
		.n_cpus = s->cores.n,
		.new_cpus = true,
		.everybody = !s->opt.pids.n,
		.ring_bytes = RING_BYTES,
		.perf_maps = !s->opt.no_perf_maps,
		.live = true,
	};
	struct recorder_sink sink;
	int r;

	s->model = top_model_create(&model);
	sink = top_model_sink(s->model);
	r = symbolizer_start(err);
	if (!r)
		r = recorder_create(&opt, &sink, &s->recorder, err);
	if (r)
		return r;
	top_proc_seed(s->model, s->opt.pids.v, s->opt.pids.n);
	r = recorder_start(s->recorder, err);
	for (int i = 0; r >= 0 && i < s->opt.pids.n; i++) {
		r = recorder_add_process(s->recorder, s->opt.pids.v[i], err);
		if (r == -ESRCH && again) /* it has ended since */
			r = 0;
	}
	r = r < 0 ? r : 0;
	/* Threads are followed from now on, not from the beginning of the preparations. */
	s->told = s->polled = recorder_time(s->recorder);
	if (!r) {
		top_model_begin(s->model, s->told);
		forget_losses(s);
	}
	return r;
}

/*
 * RECORDER_POLL_MS on average: at equal intervals this program would always run at the same moments
 * between the samples, which then miss those whose CPU it takes.
 */
static int pause_ms(void)
{
	return RECORDER_POLL_MS / 2 + rand() % RECORDER_POLL_MS;
}

static void poll_recorder(struct session *s)
{
	uint64_t now = recorder_time(s->recorder), lost = s->lost, complete;
	bool stopped = now - s->polled > STOPPED_NS;
	struct recorder_counts counts;

	if (s->resting)
		return;
	recorder_poll(s->recorder);
	recorder_counts(s->recorder, &counts);
	s->polled = now;
	complete = recorder_complete(s->recorder);
	s->told = complete > s->told ? complete : s->told; /* it may be from before the start */
	s->lost = counts.lost;
	/* By Ctrl-Z, say: what happened meanwhile is known in part, and would seem to be all. */
	if (stopped && s->lost > lost) {
		top_model_begin(s->model, now);
		forget_losses(s);
	}
}

/*
 * What is frozen needs the recorder's strings, and nothing else of it: it records no more, and is
 * replaced afterwards.
 */
static int restart_if_large(struct session *s, struct error *err)
{
	if (top_model_size(s->model).stacks < MAX_STACKS)
		return 0;
	if (s->view.frozen) {
		if (!s->resting)
			recorder_finish(s->recorder);
		s->resting = true;
		return 0;
	}
	stop(s);
	s->view.has_cursor = false;
	s->view.page = PAGE_TABLE;
	return start(s, true, err);
}

/* ---- what is shown ---- */

static void query(struct session *s)
{
	top_result_free(s->result);
	s->result = top_model_query(s->model, &s->view.query);
	top_view_follow(&s->view, s->result);
}

static void update(struct session *s)
{
	if (s->view.frozen)
		return;
	top_model_advance(s->model, s->told);
	/* At first nothing is known of all that sleep; later, of few. */
	top_proc_explain(s->model, s->told < s->opt.window_s * NSEC_PER_SEC);
	note_losses(s);
	query(s);
}

/* Those that were named; what they have started may go on. */
static bool watched_have_gone(const struct session *s)
{
	for (int i = 0; i < s->opt.pids.n; i++) {
		if (!kill(s->opt.pids.v[i], 0) || errno != ESRCH)
			return false;
	}
	return s->opt.pids.n > 0;
}

static void draw(struct session *s, size_t rows, size_t cols)
{
	char clock[16];
	time_t now = time(NULL);
	const struct top_info info = {
		.engine = recorder_engine(s->recorder),
		.clock = clock,
		.period_ns = s->opt.period_ns,
		.window_ns = s->opt.window_s * NSEC_PER_SEC,
		.behind_ns = s->view.frozen || s->polled < s->told ? 0 : s->polled - s->told,
		.lost = lost_in_window(s),
		.gone = watched_have_gone(s),
		.frame = get_frame,
		.stack = get_stack,
		.arg = s,
	};

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now));
	top_view_draw(&s->view, s->result, &info, rows, cols, &s->lines);
}

/* ---- batch ---- */

/* What is left in the buffer must not fail again when the program ends. */
static void drop_output(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	dup2(fd, STDOUT_FILENO);
	close(fd);
	fflush(stdout);
	clearerr(stdout);
}

/* -EPIPE, without an error: whoever reads has seen enough. */
static int print(struct session *s, bool first, struct error *err)
{
	int code;

	draw(s, SIZE_MAX, output_width());
	errno = 0;
	if (!first)
		putchar('\n');
	for (size_t i = 0; i < s->lines.n; i++)
		puts(s->lines.v[i].text);
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	code = errno ? errno : EIO;
	drop_output();
	if (code == EPIPE)
		return -EPIPE;
	return error_set(err, code, "standard output: cannot write: %s", strerror(code));
}

static int run_batch(struct session *s, struct error *err)
{
	uint64_t delay = s->opt.delay_s * NSEC_PER_SEC, due = clock_now_ns() + delay;
	int r = 0;

	for (long n = 0; !r && !signals && (!s->opt.iterations || n < s->opt.iterations);) {
		uint64_t now;

		usleep(pause_ms() * 1000 + rand() % 1000);
		poll_recorder(s);
		now = clock_now_ns();
		/* There may be one table only: it waits for what is to be in it. */
		if (now < due || (!n && s->polled - s->told > delay / 4 && now < due + NAMES_NS))
			continue;
		/* What could not be told in time, as whoever reads it was stopped, is left out. */
		due = due + delay > now ? due + delay : now + delay;
		update(s);
		r = print(s, !n++, err);
		if (!r)
			r = restart_if_large(s, err);
	}
	return r == -EPIPE ? 0 : r;
}

/* ---- interactive ---- */

static void show(struct session *s)
{
	size_t rows, cols;

	top_screen_size(&rows, &cols);
	draw(s, rows, cols);
	top_screen_put(&s->lines);
}

/* false: it is over. */
static bool act(struct session *s, int key)
{
	switch (top_view_key(&s->view, key, s->result)) {
	case TOP_QUIT:
		return false;
	case TOP_FREEZE:
		top_model_freeze(s->model, s->view.frozen, s->told);
		if (!s->view.frozen)
			forget_losses(s);
		update(s);
		break;
	case TOP_REQUERY:
		query(s);
		break;
	case TOP_REDRAW:
		break;
	case TOP_NOTHING:
		return true;
	}
	show(s);
	return true;
}

static int run_screen(struct session *s, struct error *err)
{
	uint64_t delay = s->opt.delay_s * NSEC_PER_SEC;
	uint64_t due = clock_now_ns() + (delay < FIRST_NS ? delay : FIRST_NS);
	long n = 0;
	int r = 0;

	update(s);
	show(s);
	while (!r && !signals && (!s->opt.iterations || n < s->opt.iterations)) {
		bool resized;
		int key = top_screen_key(pause_ms(), &resized);

		poll_recorder(s);
		r = restart_if_large(s, err);
		if (r || key < 0)
			break; /* the terminal has gone, nobody looks any more */
		if (!s->result)
			update(s);
		if (resized)
			show(s);
		if (key != TOP_NO_KEY && !act(s, key))
			break;
		if (clock_now_ns() < due)
			continue;
		due = clock_now_ns() + delay;
		n++;
		update(s);
		show(s);
	}
	return r;
}

static int run(struct session *s, struct error *err)
{
	enum log_level level = log_level;
	int r = s->opt.batch ? 0 : top_screen_check(err);

	if (!r)
		r = cores_select(NULL, &s->cores, err);
	if (!r)
		r = start(s, false, err);
	if (r)
		return r;
	if (s->opt.batch)
		return run_batch(s, err);
	r = top_screen_open(err);
	if (r)
		return r;
	log_level = LOG_QUIET; /* it would be written across the screen */
	r = run_screen(s, err);
	top_screen_close();
	log_level = level;
	return r;
}

int cmd_top(int argc, char **argv)
{
	struct session s = { .opt = { .engine = "auto",
				      .period_ns = DEFAULT_PERIOD_NS,
				      .delay_s = 2,
				      .window_s = 10 } };
	struct error err = {};
	int ret;

	top_view_init(&s.view, TOP_BY_PROCESS, TOP_SORT_ACTIVITY);
	s.view.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	ret = parse_options(argc, argv, &s);
	if (ret < 0) {
		privileges_raise();
		catch_signals();
		ret = run(&s, &err) ? EXIT_FAILED : EXIT_DONE;
		if (ret == EXIT_FAILED)
			log_warn("%s", err.text);
	}
	stop(&s);
	top_lines_clear(&s.lines);
	free(s.lines.v);
	cores_free(&s.cores);
	free(s.losses);
	free(s.opt.pids.v);
	return ret;
}
