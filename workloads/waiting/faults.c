// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What tasks can do while they are recorded: "faults CASE", one line of JSON about what should be
 * seen: for each thread and function the time in it, {"tid": t, "comm": "c", "function": "f", "ns":
 * n}.
 */
#include "waiting.h"

#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/time.h>

static atomic_uint never;
static double ms = 300;
static atomic_ulong *child_ns; /* what children measured */

/* Times are those of the caller: shared memory would tell those of the killed, too. */
static void expect(int tid, const char *comm, const char *function, uint64_t ns)
{
	static bool more;

	printf("%s{\"tid\": %d, \"comm\": \"%s\", \"function\": \"%s\", \"ns\": %llu}",
	       more ? ",\n " : "[", tid, comm, function, (unsigned long long)ns);
	more = true;
}

static int own_tid(void)
{
	return (int)syscall(SYS_gettid);
}

static uint64_t a_while(void)
{
	return (uint64_t)(ms * 1e6);
}

#define SLEEPER(name) \
	NOIPA uint64_t name(uint64_t ns) \
	{ \
		uint64_t start = now_ns(); \
		raw_sleep(ns); \
		return now_ns() - start; \
	}
SLEEPER(sleep_as_before)
SLEEPER(sleep_as_after)
SLEEPER(before_exec)
SLEEPER(after_exec)
SLEEPER(reuse_first)
SLEEPER(reuse_second)
SLEEPER(child_sleep)
SLEEPER(sleep_between)
SLEEPER(before_stop)
SLEEPER(clock_sleep)
SLEEPER(main_sleep)

NOIPA void blocked_forever(void)
{
	futex_wait(&never, 0);
}

NOIPA void paused_forever(void)
{
	for (;;)
		raw_poll(NULL, 0);
}

NOIPA void waits_for_exec(void)
{
	for (;;)
		futex_wait(&never, 0);
}

NOIPA void burns_until_killed(void)
{
	for (;;)
		SPIN_TURNS(1000);
}

static void *blocked(void *arg)
{
	prctl(PR_SET_NAME, "blocked");
	*(int *)arg = own_tid();
	blocked_forever();
	return NULL;
}

/* The process ends while a thread of it waits. */
static int exit_blocked(void)
{
	static int tid;
	pthread_t t;
	uint64_t slept;

	start_thread(&t, blocked, &tid, 0);
	slept = main_sleep(a_while());
	expect(own_tid(), "faults", "main_sleep", slept);
	expect(tid, "blocked", "blocked_forever", slept);
	return 0;
}

/* For recordings that end first. */
static int still_blocked(void)
{
	prctl(PR_SET_NAME, "blocked");
	blocked_forever();
	return 0;
}

static pid_t start_child(const char *name, void (*fn)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		die("cannot fork: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_NAME, name);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fn();
		_exit(0);
	}
	return pid;
}

static int killed(void)
{
	pid_t waiting = start_child("waiting", paused_forever);
	pid_t burning = start_child("burning", burns_until_killed);
	uint64_t slept = main_sleep(a_while());

	kill(waiting, SIGKILL);
	kill(burning, SIGKILL);
	while (wait(NULL) > 0)
		;
	expect(waiting, "waiting", "paused_forever", slept);
	expect(burning, "burning", "burns_until_killed", slept);
	return 0;
}

static int renamed(void)
{
	prctl(PR_SET_NAME, "before");
	expect(own_tid(), "before", "sleep_as_before", sleep_as_before(a_while()));
	prctl(PR_SET_NAME, "after");
	expect(own_tid(), "after", "sleep_as_after", sleep_as_after(a_while()));
	return 0;
}

static void *exec_self(void *arg)
{
	char slept[32], tid[32], in[32];

	prctl(PR_SET_NAME, "before");
	snprintf(tid, sizeof(tid), "%d", own_tid());
	snprintf(slept, sizeof(slept), "%llu", (unsigned long long)before_exec(a_while()));
	snprintf(in, sizeof(in), "%g", ms);
	execl("/proc/self/exe", "faults", "exec-2", "--ms", in, "--before", slept, tid, NULL);
	die("cannot exec: %s", strerror(errno));
	return arg;
}

static int execs(void)
{
	exec_self(NULL);
	return 1;
}

/* Not by the first thread: it takes over that one's id. */
static int thread_execs(void)
{
	pthread_t t;

	start_thread(&t, exec_self, NULL, 0);
	waits_for_exec();
	return 1;
}

static int exec_2(const char *slept, const char *tid)
{
	expect(atoi(tid), "before", "before_exec", strtoull(slept, NULL, 10));
	/* The name that the kernel gives: of what was executed. */
	expect(own_tid(), "exe", "after_exec", after_exec(a_while()));
	return 0;
}

static int forks(void)
{
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("cannot fork: %s", strerror(errno));
		if (!pid) {
			/* A child's first look at the clock faults for a while (a fork leaves out
			 * what is mapped of files), and may be preempted there: not where what the
			 * function takes is not measured yet. */
			now_ns();
			atomic_fetch_add(child_ns, child_sleep(10 * MS));
			_exit(0);
		}
		if (i % 10 == 9)
			while (wait(NULL) > 0)
				;
	}
	expect(0, "faults", "child_sleep", atomic_load(child_ns));
	return 0;
}

/* A child with that id, if it is free. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = (uint64_t)(uintptr_t)&pid,
				   .set_tid_size = 1 };

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static int pid_reuse(void)
{
	static const struct {
		const char *comm, *function;
		uint64_t (*fn)(uint64_t ns);
	} use[] = { { "first", "reuse_first", reuse_first },
		    { "second", "reuse_second", reuse_second } };
	pid_t pid = 0;

	for (int i = 0; i < 2; i++) {
		pid_t child = i ? fork_as(pid) : fork();

		if (child < 0)
			die("cannot fork: %s", strerror(errno));
		if (!child) {
			prctl(PR_SET_NAME, use[i].comm);
			atomic_store(child_ns, use[i].fn(a_while()));
			_exit(0);
		}
		pid = child;
		waitpid(pid, NULL, 0);
		expect(pid, use[i].comm, use[i].function, atomic_load(child_ns));
	}
	return 0;
}

static int migrates(void)
{
	cpu_set_t set;
	uint64_t slept = 0, end;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("cannot tell the CPUs: %s", strerror(errno));
	end = now_ns() + 3 * a_while();
	while (now_ns() < end) {
		do
			cpu = (cpu + 1) % CPU_SETSIZE;
		while (!CPU_ISSET(cpu, &set));
		pin_cpu(cpu);
		slept += sleep_between(3 * MS);
		SPIN_TURNS(100000);
	}
	expect(own_tid(), "faults", "sleep_between", slept);
	return 0;
}

NOIPA void sleeps_while_stopped(void)
{
	raw_sleep(a_while() / 2);
	paused_forever();
}

/* Stopped and continued while it sleeps. */
static int stopped(void)
{
	pid_t pid = start_child("stopped", sleeps_while_stopped);
	uint64_t slept = main_sleep(a_while() / 4);

	kill(pid, SIGSTOP);
	slept += main_sleep(a_while());
	kill(pid, SIGCONT);
	slept += main_sleep(a_while() / 4);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	expect(pid, "stopped", "sleeps_while_stopped", slept);
	return 0;
}

/* The clock of the day goes forward and back while somebody sleeps. Only where that hurts nobody.
 */
static int clock_steps(void)
{
	struct timespec ts;
	uint64_t slept;
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < 4; i++) {
			raw_sleep(a_while() / 5);
			clock_gettime(CLOCK_REALTIME, &ts);
			ts.tv_sec += i & 1 ? -3600 : 3600;
			if (clock_settime(CLOCK_REALTIME, &ts))
				_exit(1);
		}
		_exit(0);
	}
	slept = clock_sleep(a_while());
	expect(own_tid(), "faults", "clock_sleep", slept);
	return waitpid(pid, NULL, 0) == pid ? 0 : 1;
}

static const struct {
	const char *name;
	int (*fn)(void);
	const char *help;
} cases[] = {
	{ "exit-blocked", exit_blocked, "the process ends while a thread waits" },
	{ "still-blocked", still_blocked, "waits for ever" },
	{ "killed", killed, "kill -9 of one that waits and one that computes" },
	{ "rename", renamed, "another name" },
	{ "exec", execs, "another program" },
	{ "exec-thread", thread_execs, "the same, not by the first thread" },
	{ "fork", forks, "200 children of 10 ms each" },
	{ "pid-reuse", pid_reuse, "two processes with one id, one after the other (root)" },
	{ "migrate", migrates, "from CPU to CPU" },
	{ "stop", stopped, "SIGSTOP and SIGCONT in a sleep" },
	{ "clock", clock_steps, "the time of day is changed by an hour, and back (root)" },
};

static void usage(FILE *f)
{
	fprintf(f, "usage: faults CASE [--ms MS]\nMS is how long things take (300). Cases:\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		fprintf(f, "  %-14s %s\n", cases[i].name, cases[i].help);
}

int main(int argc, char **argv)
{
	enum { IN_MS = 256, BEFORE };
	static const struct option opt[] = {
		{ "ms", 1, NULL, IN_MS },
		{ "before", 1, NULL, BEFORE },
		{ "help", 0, NULL, 'h' },
		{ 0 },
	};
	const char *before = "";
	int c, ret;

	program = "faults";
	while ((c = getopt_long(argc, argv, "h", opt, NULL)) != -1) {
		switch (c) {
		case IN_MS:
			ms = number(optarg, 1, 1e6);
			break;
		case BEFORE:
			before = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind < argc && !strcmp(argv[optind], "exec-2")) {
		ret = exec_2(before, argv[argc - 1]);
		printf("]\n");
		return ret;
	}
	child_ns = mmap(NULL, sizeof(*child_ns), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (child_ns == MAP_FAILED)
		die("out of memory");
	for (size_t i = 0; optind < argc && i < sizeof(cases) / sizeof(*cases); i++) {
		if (strcmp(argv[optind], cases[i].name))
			continue;
		ret = cases[i].fn();
		printf("]\n");
		return fflush(stdout) ? 1 : ret;
	}
	usage(stderr);
	return 2;
}
