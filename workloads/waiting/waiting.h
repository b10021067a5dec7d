/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that know what their threads waited for, to compare a recording with.
 *
 * A thread's time is divided into phases: calls of functions with names of their own. The program
 * takes the clock around each call, so that the wall time of a phase is exact, and beside it the
 * thread's CPU time and its time in the run queue (/proc/PID/schedstat); what is left was waited.
 * --truth FILE gets all that as JSON:
 *
 *   {"program": "shares", "threads": [{"name": "mixed", "tid": 12, "pid": 11, "wall": ns,
 *    "cpu": ns, "runq": ns, "switches": n, "stolen": ns, "phases": [{"name": "phase_sleep",
 *    "functions": ["phase_sleep"], "class": "B", "kind": "sleep", "wall": ns, "cpu": ns,
 *    "runq": ns, "count": n}]}]}
 *
 * "mark", "own", "partner": functions that begin with mark are the thread's own if they end with
 * own, and only the partner wakes it.
 *
 * The waits themselves are system calls made in the function (raw_syscall()), because a libc
 * without frame pointers breaks call chains; --libc, where there is one, goes through libc.
 */
#ifndef WORKLOADS_WAITING_H
#define WORKLOADS_WAITING_H

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOIPA	   __attribute__((noipa, noinline, unused))
#define UNUSED	   __attribute__((unused))
#define MAX_PHASES 16
#define MS	   1000000ULL
#define SEC	   1000000000ULL

struct phase {
	const char *name;
	const char *functions; /* more names, separated by spaces: whatever shows in call chains */
	const char *class;     /* of its waits: I, L, B; NULL: computes */
	const char *kind;
	bool rest; /* waits that show none of the functions are its: call chains may be broken */
	uint64_t wall, cpu, runq, count;
};

struct truth {
	const char *name;
	int tid, pid;
	bool cheap; /* phases are too short for more than their wall time */
	int schedstat;
	uint64_t begin, wall, cpu, runq, switches;
	uint64_t stolen; /* from all cores meanwhile; in none of the scheduler's own numbers */
	uint64_t wall0, cpu0, runq0;
	const char *mark, *own;
	int partner;
	struct phase phase[MAX_PHASES];
};

static const char *program = "";

static UNUSED __attribute__((format(printf, 1, 2), noreturn)) void die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * SEC + (uint64_t)ts.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline long raw_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#else
	long ret = syscall(nr, a, b, c, d, e, f);

	return ret < 0 ? -errno : ret;
#endif
}

static inline long raw_sleep(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / SEC), (long)(ns % SEC) };

	return raw_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&ts, 0, 0, 0);
}

static inline long raw_read(int fd, void *buf, size_t size)
{
	return raw_syscall(SYS_read, fd, (long)buf, (long)size, 0, 0, 0);
}

static inline long raw_write(int fd, const void *buf, size_t size)
{
	return raw_syscall(SYS_write, fd, (long)buf, (long)size, 0, 0, 0);
}

static inline long raw_poll(struct pollfd *p, unsigned long n)
{
	return raw_syscall(SYS_ppoll, (long)p, (long)n, 0, 0, 0, 0);
}

static inline long futex_wait(atomic_uint *word, unsigned int value)
{
	return raw_syscall(SYS_futex, (long)word, FUTEX_WAIT, (long)value, 0, 0, 0);
}

static inline long futex_wake(atomic_uint *word, int n)
{
	return raw_syscall(SYS_futex, (long)word, FUTEX_WAKE, n, 0, 0, 0);
}

/* A mutex of one word: 0 free, 1 taken, 2 taken and waited for. */
static inline void lock_word(atomic_uint *word)
{
	unsigned int zero = 0;

	if (atomic_compare_exchange_strong(word, &zero, 1))
		return;
	while (atomic_exchange(word, 2))
		futex_wait(word, 2);
}

static inline void unlock_word(atomic_uint *word)
{
	if (atomic_exchange(word, 0) == 2)
		futex_wake(word, 1);
}

/* Binary semaphore: one waits, one posts. */
static inline void wait_word(atomic_uint *word)
{
	while (!atomic_exchange(word, 0))
		futex_wait(word, 0);
}

static inline void post_word(atomic_uint *word)
{
	atomic_store(word, 1);
	futex_wake(word, 1);
}

/*
 * A chain of dependent operations that no compiler shortens. A macro: profiles are to show the
 * function that computes, not one inlined in it.
 */
#define SPIN_TURNS(n) \
	do { \
		uint64_t x_ = 88172645463325252ULL; \
		for (uint64_t n_ = (n); n_; n_--) { \
			x_ ^= x_ << 13; \
			x_ ^= x_ >> 7; \
			x_ ^= x_ << 17; \
			__asm__ volatile("" : "+r"(x_)); \
		} \
	} while (0)

static NOIPA uint64_t spin_until(uint64_t end)
{
	uint64_t now;

	while ((now = now_ns()) < end)
		SPIN_TURNS(10000);
	return now;
}

/* Turns of SPIN_TURNS() in a microsecond: the best of some tries. */
static UNUSED double spin_speed(void)
{
	double best = 0;

	for (int i = 0; i < 20; i++) {
		uint64_t start = now_ns();
		double speed;

		SPIN_TURNS(1000000);
		speed = 1e9 / (double)(now_ns() - start);
		best = speed > best ? speed : best;
	}
	return best;
}

static UNUSED void pin_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("cannot be bound to CPU %d: %s", cpu, strerror(errno));
}

/* The last CPU that this process may use. */
static UNUSED int last_cpu(void)
{
	cpu_set_t set;
	int last = -1;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("cannot tell the CPUs: %s", strerror(errno));
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			last = i;
	return last;
}

static UNUSED void start_thread(pthread_t *t, void *(*fn)(void *), void *arg, size_t stack)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	if (stack)
		pthread_attr_setstacksize(&attr, stack);
	err = pthread_create(t, &attr, fn, arg);
	if (err)
		die("cannot start a thread: %s", strerror(err));
	pthread_attr_destroy(&attr);
}

/* An unlinked file of @size written bytes that is read and written without the page cache. */
static UNUSED int direct_file(size_t size)
{
	static const char *const dirs[] = { "TMPDIR", "/var/tmp", "." };
	const size_t chunk = 1 << 16;
	char path[4096], *buf = aligned_alloc(4096, chunk);
	int fd = -1;

	if (!buf)
		die("out of memory");
	memset(buf, 0x5a, chunk);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs) && fd < 0; i++) {
		const char *dir = i ? dirs[i] : getenv(dirs[i]);

		if (!dir)
			continue;
		snprintf(path, sizeof(path), "%s/scoz-waiting.XXXXXX", dir);
		fd = mkostemp(path, O_DIRECT | O_CLOEXEC);
		if (fd < 0)
			continue;
		unlink(path);
		for (size_t at = 0; at < size && fd >= 0; at += chunk) {
			if (pwrite(fd, buf, chunk, (off_t)at) == (ssize_t)chunk)
				continue;
			close(fd);
			fd = -1;
		}
	}
	if (fd < 0)
		die("no directory for O_DIRECT files: set TMPDIR to one on a disk");
	fsync(fd);
	free(buf);
	return fd;
}

static UNUSED uint64_t runq_ns(struct truth *t)
{
	unsigned long long on, queued;
	char text[128];
	ssize_t n;

	if (t->schedstat < 0)
		return 0;
	n = pread(t->schedstat, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return 0;
	text[n] = 0;
	return sscanf(text, "%llu %llu", &on, &queued) == 2 ? queued : 0;
}

static UNUSED uint64_t own_switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return (uint64_t)(u.ru_nvcsw + u.ru_nivcsw);
}

static UNUSED uint64_t stolen_ns(void)
{
	unsigned long long ticks = 0;
	FILE *f = fopen("/proc/stat", "re");

	if (!f)
		return 0;
	if (fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
		ticks = 0;
	fclose(f);
	return ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* By the thread itself, first and last thing that it does. */
static UNUSED void truth_begin(struct truth *t, const char *name)
{
	t->name = name;
	t->tid = (int)syscall(SYS_gettid);
	t->pid = getpid();
	prctl(PR_SET_NAME, name);
	t->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	t->stolen = stolen_ns();
	t->switches = own_switches();
	t->runq = runq_ns(t);
	t->cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	t->begin = now_ns();
}

static UNUSED void truth_end(struct truth *t)
{
	t->wall = now_ns() - t->begin;
	t->cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - t->cpu;
	t->runq = runq_ns(t) - t->runq;
	t->switches = own_switches() - t->switches;
	t->stolen = stolen_ns() - t->stolen;
	if (t->schedstat >= 0)
		close(t->schedstat);
}

static inline void phase_begin(struct truth *t)
{
	if (!t->cheap) {
		/* In this order, in phase_end() the other way round: it is this that gets
		 * preempted. */
		t->cpu0 = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		t->runq0 = runq_ns(t);
	}
	t->wall0 = now_ns();
}

/* The next one may begin at once: returns and remembers when this one ended. */
static inline uint64_t phase_end(struct truth *t, int i)
{
	struct phase *p = &t->phase[i];
	uint64_t now = now_ns();

	p->wall += now - t->wall0;
	p->count++;
	t->wall0 = now;
	if (!t->cheap) {
		p->runq += runq_ns(t) - t->runq0;
		p->cpu += clock_ns(CLOCK_THREAD_CPUTIME_ID) - t->cpu0;
	}
	return now;
}

static UNUSED void print_words(FILE *f, const char *key, const char *name, const char *more)
{
	fprintf(f, ", \"%s\": [\"%s\"", key, name);
	while (more && *more) {
		size_t n = strcspn(more, " ");

		fprintf(f, ", \"%.*s\"", (int)n, more);
		more += n + (more[n] == ' ');
	}
	fprintf(f, "]");
}

static UNUSED void print_thread(FILE *f, const struct truth *t)
{
	bool first = true;

	fprintf(f,
		"{\"name\": \"%s\", \"tid\": %d, \"pid\": %d, \"wall\": %llu, \"cpu\": %llu, "
		"\"runq\": %llu, \"switches\": %llu, \"stolen\": %llu",
		t->name, t->tid, t->pid, (unsigned long long)t->wall, (unsigned long long)t->cpu,
		(unsigned long long)t->runq, (unsigned long long)t->switches,
		(unsigned long long)t->stolen);
	if (t->mark)
		fprintf(f, ", \"mark\": \"%s\", \"own\": \"%s\", \"partner\": %d", t->mark, t->own,
			t->partner);
	fprintf(f, ", \"phases\": [");
	for (int i = 0; i < MAX_PHASES; i++) {
		const struct phase *p = &t->phase[i];

		if (!p->name || !p->count)
			continue;
		fprintf(f, "%s\n  {\"name\": \"%s\"", first ? "" : ",", p->name);
		first = false;
		print_words(f, "functions", p->name, p->functions);
		if (p->class)
			fprintf(f, ", \"class\": \"%s\"", p->class);
		if (p->kind)
			fprintf(f, ", \"kind\": \"%s\"", p->kind);
		if (p->rest)
			fprintf(f, ", \"rest\": true");
		fprintf(f, ", \"wall\": %llu", (unsigned long long)p->wall);
		if (!t->cheap)
			fprintf(f, ", \"cpu\": %llu, \"runq\": %llu", (unsigned long long)p->cpu,
				(unsigned long long)p->runq);
		fprintf(f, ", \"count\": %llu}", (unsigned long long)p->count);
	}
	fprintf(f, "]}");
}

/* @path: "-" standard output, NULL nowhere. */
static UNUSED void print_truth(const char *path, const struct truth *t, size_t n)
{
	FILE *f;

	if (!path)
		return;
	f = strcmp(path, "-") ? fopen(path, "we") : stdout;
	if (!f)
		die("%s: %s", path, strerror(errno));
	fprintf(f, "{\"program\": \"%s\", \"threads\": [", program);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "%s\n ", i ? "," : "");
		print_thread(f, &t[i]);
	}
	fprintf(f, "]}\n");
	if (f == stdout ? fflush(f) : fclose(f))
		die("%s: %s", path, strerror(errno));
}

static UNUSED double number(const char *text, double min, double max)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= min && v <= max))
		die("'%s' is not a number from %g to %g", text, min, max);
	return v;
}

#endif
