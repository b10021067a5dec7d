// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs whose causal profile is known.
 *
 * All work is counted in turns of one integer loop, so what a knob takes away from a target is
 * exact, whatever the machine's speed is doing. The knobs live in shared memory: one per
 * candidate, in percent of its work. A controller (the parent) can turn them while the workers
 * (its children) run, which is how --alternate measures the true program speedup: base and
 * sped-up phases in the order B S S B, rates taken from progress visit to progress visit, and
 * each phase compared with its neighbour, so that drift cancels. With --knob-file the chosen knob
 * is an integer at the beginning of a file, for a controller outside to turn.
 *
 * Workers are processes, or with --threads threads of one process. Built with TRUTH_COZ, progress
 * and latency are COZ's as well; its target is the line of the loop in truth_target().
 *
 * A program calls truth_init(), truth_spawn() for each worker, and returns truth_run().
 */
#ifndef WORKLOADS_TRUTH_H
#define WORKLOADS_TRUTH_H

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "spin.h"
#ifdef TRUTH_COZ
#include <coz.h>
#else
#define COZ_PROGRESS
#define COZ_BEGIN(name)
#define COZ_END(name)
#endif

#define TRUTH_MAX_SLOTS	  64
#define TRUTH_MAX_WORKERS 64
#define TRUTH_MAX_OPTS	  32
#define TRUTH_MAX_FLIGHT  256

#if defined(__has_attribute)
#if __has_attribute(noipa)
#define TRUTH_NOIPA __attribute__((noipa, unused))
#endif
#endif
#ifndef TRUTH_NOIPA
#define TRUTH_NOIPA __attribute__((noinline, unused))
#endif

enum truth_knob {
	TRUTH_TARGET,
	TRUTH_OTHER,
	TRUTH_IO,
	TRUTH_KNOBS,
	TRUTH_BOTH = TRUTH_KNOBS, /* --knob only: target and other */
};

/* One writer each: a thread that makes progress. */
struct truth_slot {
	uint64_t seq;
	uint64_t count;
	uint64_t ns;
	uint64_t requests;
	uint64_t request_ns;
} __attribute__((aligned(64)));

struct truth_shared {
	int32_t pct[TRUTH_KNOBS];
	struct {
		uint64_t value;
	} __attribute__((aligned(64))) total;
	struct truth_slot slot[TRUTH_MAX_SLOTS];
};

struct truth_opt {
	const char *name;
	bool flag; /* takes no value: stores 1 */
	long *value;
	const char *help;
};

struct truth_spec {
	const char *about;
	long iter_us;
	const struct truth_opt *opt; /* ends with a NULL name */
	bool processes;		     /* the shape has no meaning with threads */
};

struct truth_start {
	void (*fn)(void *);
	void *arg;
	int nr;
};

static struct {
	const char *name;
	struct truth_shared *sh;
	int32_t *live[TRUTH_KNOBS];
	const char *knob_file;
	double unit; /* turns of the loop per microsecond */
	double iter_us;
	double heartbeat_ms;
	double seconds;
	double alternate_ms;
	uint64_t count;
	int knob;
	int pct;
	bool pct_given;
	bool pin;
	bool threads;
	bool verbose;
	cpu_set_t cpus;
	uint64_t start_ns;
	double start_busy;
	int nr_workers;
	pid_t pid;
	pid_t worker[TRUTH_MAX_WORKERS];
	struct truth_start start[TRUTH_MAX_WORKERS];
	uint64_t begun[TRUTH_MAX_FLIGHT];
	uint64_t begins, ends;
} truth;

static TRUTH_NOIPA void truth_target(uint64_t n)
{
	TRUTH_SPIN(n);
}

static TRUTH_NOIPA void truth_other(uint64_t n)
{
	TRUTH_SPIN(n);
}

/* Work that nothing changes. */
static TRUTH_NOIPA void truth_rest(uint64_t n)
{
	TRUTH_SPIN(n);
}

static inline uint64_t truth_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static inline int32_t truth_pct(enum truth_knob knob)
{
	int32_t pct = __atomic_load_n(truth.live[knob], __ATOMIC_RELAXED);

	return pct < 0 ? 0 : pct > 100 ? 100 : pct;
}

/* Is the next request to be made? --knob io leaves that share of them out, evenly spread: @due. */
static inline bool truth_io_is_due(int32_t *due)
{
	*due += 100 - truth_pct(TRUTH_IO);
	if (*due < 100)
		return false;
	*due -= 100;
	return true;
}

/* What is left of n turns with the knob as it stands. */
static inline uint64_t truth_cut(enum truth_knob knob, uint64_t n)
{
	int32_t pct = truth_pct(knob);

	return n / 100 * (uint64_t)(100 - pct) + n % 100 * (uint64_t)(100 - pct) / 100;
}

/* Turns that take this share of an iteration. */
static inline uint64_t truth_share(double percent)
{
	return (uint64_t)(truth.unit * truth.iter_us * percent / 100 + 0.5);
}

/* One unit of work is done; each calling thread has its own slot. */
static TRUTH_NOIPA void truth_progress(int slot)
{
	struct truth_slot *s = &truth.sh->slot[slot];
	uint64_t total = __atomic_add_fetch(&truth.sh->total.value, 1, __ATOMIC_RELAXED);
	uint64_t now = truth_now();

	__atomic_store_n(&s->seq, s->seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&s->count, s->count + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&s->ns, now, __ATOMIC_RELAXED);
	__atomic_store_n(&s->seq, s->seq + 1, __ATOMIC_RELEASE);
	COZ_PROGRESS;
	if (total == truth.count)
		kill(truth.pid, SIGUSR1);
}

/* Requests end in the order in which they began, in the thread that began them. */
static TRUTH_NOIPA void truth_begin(void)
{
	truth.begun[truth.begins++ % TRUTH_MAX_FLIGHT] = truth_now();
	COZ_BEGIN("request");
}

static TRUTH_NOIPA void truth_end(int slot)
{
	struct truth_slot *s = &truth.sh->slot[slot];
	uint64_t ns = truth_now() - truth.begun[truth.ends++ % TRUTH_MAX_FLIGHT];

	__atomic_store_n(&s->seq, s->seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&s->requests, s->requests + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&s->request_ns, s->request_ns + ns, __ATOMIC_RELAXED);
	__atomic_store_n(&s->seq, s->seq + 1, __ATOMIC_RELEASE);
	COZ_END("request");
}

static void __attribute__((noreturn, format(printf, 1, 2))) truth_die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", truth.name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

/* Processor seconds the whole machine has spent, the host's share (steal) included. */
static inline double truth_busy(void)
{
	double v[8] = { 0 };
	FILE *f = fopen("/proc/stat", "re");
	int n = 0;

	if (f) {
		n = fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &v[0], &v[1], &v[2], &v[3],
			   &v[4], &v[5], &v[6], &v[7]);
		fclose(f);
	}
	if (n != 8)
		return NAN;
	return (v[0] + v[1] + v[2] + v[5] + v[6] + v[7]) / (double)sysconf(_SC_CLK_TCK);
}

static inline double truth_own(void)
{
	double seconds = 0;

	for (int i = 0; i < 2; i++) {
		struct rusage ru;

		getrusage(i ? RUSAGE_CHILDREN : RUSAGE_SELF, &ru);
		seconds += (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
			   (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
	}
	return seconds;
}

static inline void *truth_alloc_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		truth_die("cannot map %zu bytes of shared memory: %s", size, strerror(errno));
	return p;
}

static inline pthread_barrier_t *truth_barrier(unsigned int parties)
{
	pthread_barrier_t *b = truth_alloc_shared(sizeof(*b));
	pthread_barrierattr_t attr;
	int err;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	err = pthread_barrier_init(b, &attr, parties);
	if (err)
		truth_die("cannot make a barrier: %s", strerror(err));
	pthread_barrierattr_destroy(&attr);
	return b;
}

static inline void truth_pin(int nr)
{
	cpu_set_t one;
	int n = 0;

	if (!truth.pin)
		return;
	nr %= CPU_COUNT(&truth.cpus);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &truth.cpus) || n++ != nr)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

static inline pthread_t truth_thread(void *(*fn)(void *), void *arg)
{
	pthread_t t;
	int err = pthread_create(&t, NULL, fn, arg);

	if (err)
		truth_die("cannot create a thread: %s", strerror(err));
	return t;
}

static void *truth_thread_main(void *p)
{
	struct truth_start *start = p;

	truth_pin(start->nr);
	start->fn(start->arg);
	_exit(1);
}

/*
 * A worker that runs fn(arg) until the parent ends: a child, which never outlives the parent, or
 * a thread. arg is not copied.
 */
static inline void truth_spawn(void (*fn)(void *), void *arg)
{
	int nr = truth.nr_workers;
	pid_t pid;

	if (nr == TRUTH_MAX_WORKERS)
		truth_die("more than %d workers", TRUTH_MAX_WORKERS);
	if (truth.threads) {
		truth.start[nr] = (struct truth_start){ fn, arg, nr };
		truth_thread(truth_thread_main, &truth.start[nr]);
		truth.nr_workers++;
		return;
	}
	pid = fork();
	if (pid < 0)
		truth_die("cannot fork: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != truth.pid)
			_exit(1);
		truth_pin(nr);
		fn(arg);
		_exit(1);
	}
	truth.worker[truth.nr_workers++] = pid;
}

static inline void truth_stop_workers(void)
{
	if (truth.threads)
		return;
	for (int i = 0; i < truth.nr_workers; i++)
		kill(truth.worker[i], SIGKILL);
	for (int i = 0; i < truth.nr_workers; i++)
		waitpid(truth.worker[i], NULL, 0);
	truth.nr_workers = 0;
}

static inline int truth_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of short runs: one that the host interrupted does not count. */
static inline double truth_calibrate(void)
{
	enum { RUNS = 25 };
	double unit[RUNS];
	uint64_t n = 1000;

	for (;;) {
		uint64_t t = truth_now();

		truth_rest(n);
		if (truth_now() - t > 1000000)
			break;
		n *= 2;
	}
	for (int i = 0; i < RUNS; i++) {
		uint64_t t = truth_now();

		truth_rest(n);
		unit[i] = (double)n * 1000 / (double)(truth_now() - t);
	}
	qsort(unit, RUNS, sizeof(*unit), truth_compare);
	return unit[RUNS / 2];
}

static inline void truth_usage(FILE *f, const struct truth_spec *spec)
{
	fprintf(f,
		"usage: %s [options]\n%s\n\n"
		"  --iter-us N      length of an iteration in microseconds (%ld)\n"
		"  --speedup PCT    the target really does PCT %% less\n"
		"  --knob NAME      what --speedup changes: target, other, io, or both of the\n"
		"                   first two (target)\n"
		"  --knob-file FILE the knob is the int32 at the beginning of FILE\n"
		"  --seconds S      how long to run, 0: until a signal (10)\n"
		"  --count N        end after N units of progress\n"
		"  --alternate MS   switch between base and sped up, and measure the truth\n"
		"  --unit N         loop turns per microsecond, instead of calibrating\n"
		"  --threads        workers are threads, not processes\n"
		"  --pin            one worker a core\n"
		"  --heartbeat-ms N beside it somebody wakes every N ms, looks, and sleeps\n"
		"  -v               print the calibration\n",
		truth.name, spec->about, spec->iter_us);
	for (const struct truth_opt *o = spec->opt; o && o->name; o++)
		fprintf(f, "  --%-14s %s\n", o->name, o->help);
}

static inline double truth_number(const char *opt, const char *text, double min, double max)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= min && v <= max)) {
		fprintf(stderr, "%s: %s: '%s' is not a number from %g to %g\n", truth.name, opt,
			text, min, max);
		exit(2);
	}
	return v;
}

/* Made when missing: whoever turns the knob may come first or second. */
static inline int32_t *truth_map_knob(const char *path)
{
	static const int32_t zero;
	struct stat st;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	int32_t *p;

	if (fd < 0 || fstat(fd, &st))
		truth_die("cannot open the knob file %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		truth_die("the knob file %s is not a regular file", path);
	if (!st.st_size && pwrite(fd, &zero, sizeof(zero), 0) != sizeof(zero))
		truth_die("cannot write to the knob file %s: %s", path, strerror(errno));
	if (st.st_size && st.st_size < (off_t)sizeof(zero))
		truth_die("the knob file %s has %lld bytes: a 4-byte integer is needed", path,
			  (long long)st.st_size);
	p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		truth_die("cannot map the knob file %s: %s", path, strerror(errno));
	close(fd);
	if (*p < 0 || *p > 100)
		truth_die("the knob file %s says %d: 0 to 100 is needed", path, *p);
	return p;
}

static inline void truth_init(int argc, char **argv, const struct truth_spec *spec)
{
	enum {
		ITER = 256,
		SPEEDUP,
		KNOB,
		KNOB_FILE,
		SECONDS,
		COUNT,
		ALTERNATE,
		UNIT,
		THREADS,
		PIN,
		HEARTBEAT,
		EXTRA,
	};
	static const char *const knobs[] = { "target", "other", "io", "both" };
	bool both;
	struct option opt[TRUTH_MAX_OPTS] = {
		{ "iter-us", required_argument, NULL, ITER },
		{ "speedup", required_argument, NULL, SPEEDUP },
		{ "knob", required_argument, NULL, KNOB },
		{ "knob-file", required_argument, NULL, KNOB_FILE },
		{ "seconds", required_argument, NULL, SECONDS },
		{ "count", required_argument, NULL, COUNT },
		{ "alternate", required_argument, NULL, ALTERNATE },
		{ "unit", required_argument, NULL, UNIT },
		{ "threads", no_argument, NULL, THREADS },
		{ "pin", no_argument, NULL, PIN },
		{ "heartbeat-ms", required_argument, NULL, HEARTBEAT },
		{ "help", no_argument, NULL, 'h' },
		{ "verbose", no_argument, NULL, 'v' },
	};
	const struct truth_opt *o;
	sigset_t set;
	int n = 0, c;

	truth.name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	truth.pid = getpid();
	truth.iter_us = (double)spec->iter_us;
	truth.seconds = 10;
	if (sched_getaffinity(0, sizeof(truth.cpus), &truth.cpus))
		truth_die("cannot tell the cores: %s", strerror(errno));
	while (opt[n].name)
		n++;
	for (o = spec->opt; o && o->name && n < TRUTH_MAX_OPTS - 1; o++, n++)
		opt[n] = (struct option){ o->name, o->flag ? no_argument : required_argument, NULL,
					  EXTRA + (int)(o - spec->opt) };

	while ((c = getopt_long(argc, argv, "hv", opt, NULL)) != -1) {
		switch (c) {
		case ITER:
			truth.iter_us = truth_number("--iter-us", optarg, 1, 1e8);
			break;
		case SPEEDUP:
			truth.pct = (int)truth_number("--speedup", optarg, 0, 100);
			truth.pct_given = true;
			break;
		case KNOB:
			for (truth.knob = 0; truth.knob <= TRUTH_BOTH; truth.knob++)
				if (!strcmp(optarg, knobs[truth.knob]))
					break;
			if (truth.knob > TRUTH_BOTH) {
				fprintf(stderr,
					"%s: --knob: no '%s', use target, other, io or both\n",
					truth.name, optarg);
				exit(2);
			}
			break;
		case KNOB_FILE:
			truth.knob_file = optarg;
			break;
		case SECONDS:
			truth.seconds = truth_number("--seconds", optarg, 0, 1e9);
			break;
		case COUNT:
			truth.count = (uint64_t)truth_number("--count", optarg, 1, 1e15);
			break;
		case ALTERNATE:
			truth.alternate_ms = truth_number("--alternate", optarg, 1, 1e7);
			break;
		case UNIT:
			truth.unit = truth_number("--unit", optarg, 1e-3, 1e6);
			break;
		case THREADS:
			truth.threads = true;
			break;
		case PIN:
			truth.pin = true;
			break;
		case HEARTBEAT:
			truth.heartbeat_ms = truth_number("--heartbeat-ms", optarg, 0.1, 1e6);
			break;
		case 'v':
			truth.verbose = true;
			break;
		case 'h':
			truth_usage(stdout, spec);
			exit(0);
		default:
			if (c < EXTRA) {
				truth_usage(stderr, spec);
				exit(2);
			}
			o = &spec->opt[c - EXTRA];
			*o->value = o->flag ? 1 : (long)truth_number(o->name, optarg, 0, 1e9);
		}
	}
	if (optind < argc) {
		truth_usage(stderr, spec);
		exit(2);
	}

	if (truth.threads && spec->processes)
		truth_die("--threads: this program is about processes");

	truth.sh = truth_alloc_shared(sizeof(*truth.sh));
	for (int i = 0; i < TRUTH_KNOBS; i++)
		truth.live[i] = &truth.sh->pct[i];
	both = truth.knob == TRUTH_BOTH;
	if (both)
		truth.knob = TRUTH_TARGET;
	if (truth.knob_file)
		truth.live[truth.knob] = truth_map_knob(truth.knob_file);
	if (both)
		truth.live[TRUTH_OTHER] = truth.live[TRUTH_TARGET];
	if (!truth.unit)
		truth.unit = truth_calibrate();
	if (truth.verbose)
		fprintf(stderr, "%s: unit %.1f turns/us, iteration %.0f us\n", truth.name,
			truth.unit, truth.iter_us);
	if (truth.alternate_ms && truth.alternate_ms * 1000 < 20 * truth.iter_us)
		fprintf(stderr,
			"%s: --alternate %.0f is short for iterations of %.0f us: use %.0f or "
			"more\n",
			truth.name, truth.alternate_ms, truth.iter_us, truth.iter_us / 50);
	if (truth.pct_given || truth.alternate_ms)
		*truth.live[truth.knob] = truth.alternate_ms ? 0 : truth.pct;

	/* Blocked in the workers too: a signal to the whole group is the parent's to handle. */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	truth.start_busy = truth_busy() - truth_own();
	truth.start_ns = truth_now();
}

/* True when the run is over. */
static inline bool truth_wait_until(uint64_t until)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGUSR1);
	for (;;) {
		uint64_t now = truth_now();
		uint64_t end = truth.start_ns + (uint64_t)(truth.seconds * 1e9);
		uint64_t left;
		struct timespec ts;
		int sig;

		if (truth.seconds > 0 && now >= end)
			return true;
		if (now >= until)
			return false;
		if (truth.seconds > 0 && end < until)
			until = end;
		left = until - now;
		ts.tv_sec = (time_t)(left / 1000000000ULL);
		ts.tv_nsec = (long)(left % 1000000000ULL);
		sig = sigtimedwait(&set, NULL, &ts);
		if (sig == SIGCHLD) {
			fprintf(stderr, "%s: a worker ended by itself\n", truth.name);
			truth_stop_workers();
			exit(1);
		}
		if (sig > 0)
			return true;
	}
}

static inline void truth_snapshot(struct truth_slot *ret)
{
	for (int i = 0; i < TRUTH_MAX_SLOTS; i++) {
		struct truth_slot *s = &truth.sh->slot[i];
		uint64_t seq;

		do {
			seq = __atomic_load_n(&s->seq, __ATOMIC_ACQUIRE);
			ret[i].count = __atomic_load_n(&s->count, __ATOMIC_RELAXED);
			ret[i].ns = __atomic_load_n(&s->ns, __ATOMIC_RELAXED);
			ret[i].requests = __atomic_load_n(&s->requests, __ATOMIC_RELAXED);
			ret[i].request_ns = __atomic_load_n(&s->request_ns, __ATOMIC_RELAXED);
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
		} while ((seq & 1) || seq != __atomic_load_n(&s->seq, __ATOMIC_RELAXED));
	}
}

/* Progress a nanosecond between two snapshots, from visit to visit. */
static inline double truth_rate(const struct truth_slot *a, const struct truth_slot *b)
{
	double rate = 0;

	for (int i = 0; i < TRUTH_MAX_SLOTS; i++)
		if (a[i].count && b[i].count > a[i].count)
			rate += (double)(b[i].count - a[i].count) / (double)(b[i].ns - a[i].ns);
	return rate;
}

/* 20 % trimmed mean, and its standard error from the winsorized variance. */
static inline void truth_trimmed(double *x, int n, double *mean, double *se)
{
	int g = n / 5, k = n - 2 * g;
	double sum = 0, wsum = 0, wsq = 0;

	qsort(x, (size_t)n, sizeof(*x), truth_compare);
	for (int i = g; i < n - g; i++)
		sum += x[i];
	*mean = sum / k;
	for (int i = 0; i < n; i++) {
		double w = x[i < g ? g : i >= n - g ? n - g - 1 : i];

		wsum += w;
		wsq += w * w;
	}
	*se = n > 1 ? sqrt(fmax(wsq - wsum * wsum / n, 0) / (n - 1) * n) / k : NAN;
}

/* Mean nanoseconds of the requests that ended between two snapshots. */
static inline double truth_latency(const struct truth_slot *a, const struct truth_slot *b)
{
	uint64_t n = 0, ns = 0;

	for (int i = 0; i < TRUTH_MAX_SLOTS; i++) {
		n += b[i].requests - a[i].requests;
		ns += b[i].request_ns - a[i].request_ns;
	}
	return n ? (double)ns / (double)n : 0;
}

struct truth_ratios {
	double *log;
	int n;
};

static inline void truth_ratio(struct truth_ratios *r, double base, double fast)
{
	if (!(base > 0) || !(fast > 0))
		return;
	if (!(r->n & (r->n - 1))) {
		r->log = realloc(r->log, (r->n ? 2 * (size_t)r->n : 1) * sizeof(*r->log));
		if (!r->log)
			truth_die("out of memory");
	}
	r->log[r->n++] = log(fast / base);
}

/* Times of a unit and of a request, sped up by base. */
static inline void truth_alternate(struct truth_ratios *unit, struct truth_ratios *request)
{
	uint64_t phase = (uint64_t)(truth.alternate_ms * 1e6);
	struct truth_slot a[TRUTH_MAX_SLOTS], b[TRUTH_MAX_SLOTS];
	double period[2] = { 0 }, latency[2] = { 0 };
	uint64_t t = truth_now();

	if (truth_wait_until(t += phase))
		return;
	for (int i = 0;; i++) {
		bool fast = (i & 3) == 1 || (i & 3) == 2;

		__atomic_store_n(truth.live[truth.knob], fast ? truth.pct : 0, __ATOMIC_RELAXED);
		if (truth_wait_until(t + phase / 5))
			break;
		truth_snapshot(a);
		if (truth_wait_until(t += phase))
			break;
		truth_snapshot(b);
		period[fast] = 1 / truth_rate(a, b);
		latency[fast] = truth_latency(a, b);
		if (!(i & 1) || !isfinite(period[0]) || !isfinite(period[1]))
			continue;
		truth_ratio(unit, period[0], period[1]);
		truth_ratio(request, latency[0], latency[1]);
	}
}

static inline void truth_print(double v)
{
	if (isfinite(v))
		printf("%.3f", v);
	else
		printf("null");
}

static inline void truth_print_effect(const char *prefix, struct truth_ratios *r)
{
	double mean = NAN, se = NAN;

	if (r->n)
		truth_trimmed(r->log, r->n, &mean, &se);
	printf(", \"%struth_pct\": ", prefix);
	truth_print(100 * (1 - exp(mean)));
	printf(", \"%sstderr\": ", prefix);
	truth_print(100 * exp(mean) * se);
	printf(", \"%spairs\": %d", prefix, r->n);
	free(r->log);
}

/*
 * As many programs have one: a timer's thread, a supervisor, an event loop with a timeout. It has
 * no part in the work, and whatever is done to the program's speed, it changes nothing.
 */
static void truth_heartbeat(void *arg)
{
	uint64_t seen = 0, ns = (uint64_t)(truth.heartbeat_ms * 1e6);
	struct timespec ts = { (time_t)(ns / 1000000000ULL), (long)(ns % 1000000000ULL) };

	(void)arg;
	for (;;) {
		uint64_t total = __atomic_load_n(&truth.sh->total.value, __ATOMIC_RELAXED);

		if (total < seen)
			truth_die("progress went backwards");
		seen = total;
		nanosleep(&ts, NULL);
	}
}

/* Runs until the time is over or a signal comes, ends the workers, prints the result. */
static inline int truth_run(void)
{
	static const struct truth_slot none[TRUTH_MAX_SLOTS];
	struct truth_slot end[TRUTH_MAX_SLOTS];
	struct truth_ratios unit = { 0 }, request = { 0 };
	double seconds, others, latency;

	if (truth.heartbeat_ms > 0)
		truth_spawn(truth_heartbeat, NULL);
	if (truth.alternate_ms)
		truth_alternate(&unit, &request);
	else
		truth_wait_until(UINT64_MAX);
	seconds = (double)(truth_now() - truth.start_ns) / 1e9;
	/* Before the workers end: one may be killed while its slot is being written. */
	truth_snapshot(end);
	truth_stop_workers();
	others = truth_busy() - truth_own() - truth.start_busy;
	latency = truth_latency(none, end);

	printf("{\"progress\": %llu, \"seconds\": %.3f, \"rate\": %.3f",
	       (unsigned long long)truth.sh->total.value, seconds,
	       (double)truth.sh->total.value / seconds);
	/* In percent of one core: with much of it, the run does not show the truth. */
	printf(", \"others_pct\": ");
	truth_print(fmax(100 * others / seconds, 0));
	if (latency > 0)
		printf(", \"latency_us\": %.3f", latency / 1000);
	if (truth.alternate_ms) {
		printf(", \"speedup_pct\": %d", truth.pct);
		truth_print_effect("", &unit);
		if (latency > 0)
			truth_print_effect("latency_", &request);
	}
	printf("}\n");
	return fflush(stdout) ? 1 : 0;
}

#endif
