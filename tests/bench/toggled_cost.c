// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a profiler's sampling costs programs that compute, to a tenth of a percent on a machine
 * whose speed changes all the time: its perf events are switched off and on again every few
 * milliseconds, and neighbouring phases are compared.
 *
 * usage: toggled_cost [-s SECONDS] [-m PHASE_MS] [-e] [-k] PID
 *   PID: `scoz record -a` or `perf record -a`: its perf events are taken by pidfd_getfd()
 *   -e: leave the events on (cost of the reader alone; with -k)
 *   -k: stop the process, too, while its events are off
 * Prints the loss of work in percent, with a 95 % interval, and the events switched.
 */
#include <errno.h>
#include <dirent.h>
#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_CPUS   1024
#define MAX_EVENTS (16 * MAX_CPUS)

struct worker {
	_Alignas(128) _Atomic uint64_t turns;
	uint64_t x;
	int cpu;
};

static struct worker workers[MAX_CPUS];
static int n_workers, events[MAX_EVENTS], n_events;
static _Atomic bool finished;

static void die(const char *what)
{
	fprintf(stderr, "toggled_cost: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t x = w->cpu + 1;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(w->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	while (!atomic_load_explicit(&finished, memory_order_relaxed)) {
		for (int i = 0; i < 200; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
		}
		atomic_store_explicit(&w->turns, w->turns + 1, memory_order_relaxed);
	}
	w->x = x;
	return NULL;
}

static void take_events(int pid)
{
	char path[300], target[64];
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (pidfd < 0 || !dir)
		die(path);
	while ((d = readdir(dir))) {
		ssize_t n;
		int fd;

		snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, d->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = 0;
		if (strcmp(target, "anon_inode:[perf_event]") || n_events == MAX_EVENTS)
			continue;
		fd = syscall(SYS_pidfd_getfd, pidfd, atoi(d->d_name), 0);
		if (fd < 0)
			die("pidfd_getfd");
		events[n_events++] = fd;
	}
	closedir(dir);
	close(pidfd);
}

static double turns(void)
{
	double sum = 0;

	for (int i = 0; i < n_workers; i++)
		sum += atomic_load_explicit(&workers[i].turns, memory_order_relaxed);
	return sum;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	double seconds = 30, *losses, sum = 0, squares = 0, mean, half;
	bool keep_events = false, stop = false;
	long phase_ms = 20, n = 0, cut;
	pthread_t threads[MAX_CPUS];
	uint64_t end, random = 88172645463325252ULL;
	cpu_set_t all;
	int c, pid;

	while ((c = getopt(argc, argv, "s:m:ek")) != -1) {
		switch (c) {
		case 's':
			seconds = atof(optarg);
			break;
		case 'm':
			phase_ms = atol(optarg);
			break;
		case 'e':
			keep_events = true;
			break;
		case 'k':
			stop = true;
			break;
		default:
			return 2;
		}
	}
	pid = optind < argc ? atoi(argv[optind]) : 0;
	if (pid <= 0 || phase_ms <= 0 || seconds <= 0) {
		fprintf(stderr, "usage: toggled_cost [-s SECONDS] [-m PHASE_MS] [-e] [-k] PID\n");
		return 2;
	}
	if (!keep_events)
		take_events(pid);
	sched_getaffinity(0, sizeof(all), &all);
	for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		workers[n_workers].cpu = cpu;
		pthread_create(&threads[n_workers], NULL, work, &workers[n_workers]);
		n_workers++;
	}
	losses = calloc(seconds * 1000 / phase_ms + 2, sizeof(*losses));
	end = now_ns() + seconds * 1e9;
	while (now_ns() < end) {
		struct timespec nap = { phase_ms / 1000, phase_ms % 1000 * 1000000 };
		double rate[2];
		int first;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		first = random >> 63;
		for (int i = 0; i < 2; i++) {
			bool on = i ^ first;
			uint64_t t;
			double w;

			for (int k = 0; k < n_events; k++)
				ioctl(events[k],
				      on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
			if (stop)
				kill(pid, on ? SIGCONT : SIGSTOP);
			t = now_ns();
			w = turns();
			nanosleep(&nap, NULL);
			rate[on] = (turns() - w) / (now_ns() - t);
		}
		losses[n++] = log(rate[0] / rate[1]);
	}
	for (int k = 0; k < n_events; k++)
		ioctl(events[k], PERF_EVENT_IOC_ENABLE, 0);
	kill(pid, SIGCONT);
	atomic_store(&finished, true);
	for (int i = 0; i < n_workers; i++)
		pthread_join(threads[i], NULL);

	/* A tenth on either side is where the machine changed its speed between the two. */
	qsort(losses, n, sizeof(*losses), ascending);
	cut = n / 10;
	for (long i = cut; i < n - cut; i++)
		sum += losses[i];
	n -= 2 * cut;
	mean = sum / n;
	for (long i = 0; i < n; i++)
		squares += (losses[cut + i] - mean) * (losses[cut + i] - mean);
	/* Of a trimmed mean, by the winsorised variance. */
	squares += cut * (losses[cut] - mean) * (losses[cut] - mean);
	squares += cut * (losses[cut + n - 1] - mean) * (losses[cut + n - 1] - mean);
	half = 1.96 * sqrt(squares / (n + 2 * cut)) / sqrt(n + 2 * cut) / 0.8;
	printf("%.2f +- %.2f %% less work while sampled (%ld pairs of %ld ms, %d events)\n",
	       100 * (1 - exp(-mean)), 100 * half, n + 2 * cut, phase_ms, n_events);
	free(losses);
	return 0;
}
