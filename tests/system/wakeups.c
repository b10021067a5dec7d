// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wakeups SECONDS [lately|sleep|device]: a thread sleeps until points in time on the last CPU, and
 * looks how much later it runs, with a real-time priority. Prints how many wake-ups there were, how
 * many were later than is to be, and quantiles of the lateness in us.
 *
 * lately (default): it is a real-time thread of that CPU, and runs there every 0.5 to 1.5 ms.
 * sleep: no real-time thread runs there. One of the first CPU is woken by a timer of the last one,
 *	where it fell asleep as an ordinary thread.
 * device: as "lately", every 1 to 6 ms, but what wakes it is no sleep that the kernel shows as one.
 *
 * Exit 77: no real-time priority is to be had.
 */
#include "base/base.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define BIN_NS	     10000
#define BINS	     1000
#define LONGEST_STOP (2500 * NSEC_PER_USEC) /* and a bit */

struct mode {
	const char *name;
	uint64_t late_ns; /* less than a stop can last, more than a wake-up takes */
	uint64_t least_ns, more_ns;
	int (*run)(const struct mode *mode, uint64_t end);
};

static unsigned int bins[BINS];
static uint64_t wakeups, late, most;

/* What the one who sleeps tells the one who makes it a real-time thread meanwhile. */
static pid_t sleeper;
static sem_t falls_asleep;
static _Atomic uint64_t wakes_at, urgent_at;

static uint64_t quantile(double q)
{
	uint64_t seen = 0;

	for (int i = 0; i < BINS; i++) {
		seen += bins[i];
		if (seen >= q * wakeups)
			return (i + 1) * (uint64_t)BIN_NS / 1000;
	}
	return 0;
}

static void note(const struct mode *mode, uint64_t by)
{
	wakeups++;
	late += by > mode->late_ns;
	most = by > most ? by : most;
	bins[by / BIN_NS < BINS ? by / BIN_NS : BINS - 1]++;
}

static long last_cpu(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) - 1;
}

static void pin(pid_t thread, long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(thread, sizeof(set), &set);
}

static bool make_realtime(pid_t thread)
{
	struct sched_param fifo = { .sched_priority = 50 };

	return !sched_setscheduler(thread, SCHED_FIFO, &fifo);
}

static void make_ordinary(pid_t thread)
{
	struct sched_param none = {};

	sched_setscheduler(thread, SCHED_OTHER, &none);
}

static uint64_t some_time(const struct mode *mode)
{
	return mode->least_ns + random() % mode->more_ns;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };
}

static void sleep_until(uint64_t at)
{
	struct timespec until = timespec_of(at);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void wait_for_timer(int fd, uint64_t at)
{
	struct itimerspec timer = { .it_value = timespec_of(at) };
	uint64_t times;

	if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &timer, NULL) ||
	    read(fd, &times, sizeof(times)) != sizeof(times)) {
		printf("timerfd: %m\n");
		exit(1);
	}
}

/* Sleeps, or (@fd) waits. */
static int stay(const struct mode *mode, uint64_t end, int fd)
{
	uint64_t at = clock_now_ns();

	pin(0, last_cpu());
	if (!make_realtime(0))
		return 77;
	while (at < end) {
		uint64_t by;

		at += some_time(mode);
		if (fd >= 0)
			wait_for_timer(fd, at);
		else
			sleep_until(at);
		by = clock_now_ns() - at;
		note(mode, by);
		if (by > mode->least_ns) /* those that were missed are not late, too */
			at = clock_now_ns();
	}
	return 0;
}

static int run_lately(const struct mode *mode, uint64_t end)
{
	return stay(mode, end, -1);
}

static int run_device(const struct mode *mode, uint64_t end)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, 0), status;

	if (fd < 0)
		return 1;
	status = stay(mode, end, fd);
	close(fd);
	return status;
}

/* Where timers start on the last CPU, and nobody runs there with a real-time priority. */
static void *sleep_elsewhere(void *arg)
{
	const struct mode *mode = arg;

	sleeper = gettid();
	setpriority(PRIO_PROCESS, 0, -20);
	for (;;) {
		uint64_t at, by;

		make_ordinary(0);
		pin(0, last_cpu());
		at = clock_now_ns() + some_time(mode);
		wakes_at = at;
		sem_post(&falls_asleep);
		sleep_until(at);
		by = clock_now_ns() - at;
		if (urgent_at == at)
			note(mode, by);
	}
	return NULL;
}

static bool is_asleep(pid_t thread)
{
	char path[64], line[256] = "";
	const char *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
	f = fopen(path, "re");
	if (!f || !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	state = strrchr(line, ')');
	return state && !strncmp(state, ") S", 3);
}

/* A wake-up counts if no stop that did not know of it can last so long. */
static int run_sleep(const struct mode *mode, uint64_t end)
{
	pthread_t thread;

	pin(0, 0);
	if (!make_realtime(0))
		return 77;
	make_ordinary(0);
	prctl(PR_SET_TIMERSLACK, 1); /* what its threads have */
	if (pthread_create(&thread, NULL, sleep_elsewhere, (void *)mode))
		return 1;
	make_realtime(0);
	while (clock_now_ns() < end) {
		uint64_t at;

		sem_wait(&falls_asleep);
		at = wakes_at;
		while (clock_now_ns() + LONGEST_STOP < at) {
			if (!is_asleep(sleeper)) {
				sleep_until(clock_now_ns() + 200 * NSEC_PER_USEC);
				continue;
			}
			pin(sleeper, 0); /* at first: else it could run there */
			make_realtime(sleeper);
			if (clock_now_ns() + LONGEST_STOP < at)
				urgent_at = at;
			break;
		}
	}
	return 0;
}

static const struct mode modes[] = {
	{ "lately", 400000, 500000, 1000000, run_lately },
	{ "sleep", 400000, 6000000, 4000000, run_sleep },
	{ "device", 700000, 1000000, 5000000, run_device },
};

int main(int argc, char **argv)
{
	uint64_t end = clock_now_ns() + (uint64_t)((argc > 1 ? atof(argv[1]) : 5) * NSEC_PER_SEC);
	const struct mode *mode = modes;

	for (size_t i = 0; argc > 2 && i < sizeof(modes) / sizeof(*modes); i++)
		mode = strcmp(argv[2], modes[i].name) ? mode : &modes[i];
	srandom(1);
	switch (mode->run(mode, end)) {
	case 0:
		break;
	case 77:
		printf("no real-time priority: %m\n");
		return 77;
	default:
		return 1;
	}
	printf("wakeups %llu late %llu p50 %llu p90 %llu p99 %llu p99.9 %llu max %llu us\n",
	       (unsigned long long)wakeups, (unsigned long long)late,
	       (unsigned long long)quantile(0.5), (unsigned long long)quantile(0.9),
	       (unsigned long long)quantile(0.99), (unsigned long long)quantile(0.999),
	       (unsigned long long)most / 1000);
	return 0;
}
