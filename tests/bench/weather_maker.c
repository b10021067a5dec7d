// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the weather of a shared machine, by a seed: on each core a real-time hog takes the core in
 * bursts of 1 to 50 ms, a share of them on all cores at once, every third one walking through
 * memory to throw others out of the caches. Ends after --seconds at the latest, and with its
 * parent.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BURST_MIN   0.001
#define BURST_MAX   0.050 /* lengths are uniform in their logarithm */
#define SECONDS_MAX 600
#define SHARE_MAX   60 /* percent: below what the kernel lets real-time tasks have */
#define LINE	    64

struct weather {
	double share, common; /* of time; of bursts */
	double seconds;
	uint64_t seed;
	size_t memory;
};

static const char usage[] = "usage: weather_maker [OPTION...]\n"
			    "  --share PCT    of each core's time that is taken (30)\n"
			    "  --common PCT   of it, on all cores at once (50)\n"
			    "  --seconds N    at most (60)\n"
			    "  --seed N       (1)\n"
			    "  --memory MB    walked through by every third burst (16)\n";

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void sleep_until(double at)
{
	struct timespec t = { .tv_sec = floor(at), .tv_nsec = (at - floor(at)) * 1e9 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* splitmix64, 0 to 1 */
static double uniform(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return ((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

/* Bursts one after the other, a @share of the time. */
struct bursts {
	uint64_t rng;
	double share, begin, length;
};

static void next_burst(struct bursts *b)
{
	double mean = (BURST_MAX - BURST_MIN) / log(BURST_MAX / BURST_MIN);
	double pause = mean * (1 - b->share) / b->share;

	b->begin += b->length - pause * log(1 - uniform(&b->rng));
	b->length = BURST_MIN * pow(BURST_MAX / BURST_MIN, uniform(&b->rng));
}

static void take(double until, volatile char *memory, size_t size)
{
	static size_t at;

	while (now() < until) {
		for (int i = 0; i < 2000; i++) {
			if (!memory)
				continue;
			memory[at]++;
			at = (at + LINE) % size;
		}
	}
}

static void be_urgent(int core)
{
	struct sched_param p = { .sched_priority = 10 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(core, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fprintf(stderr, "weather_maker: cannot go to CPU %d: %m\n", core);
	if (sched_setscheduler(0, SCHED_FIFO, &p) && setpriority(PRIO_PROCESS, 0, -20))
		fprintf(stderr, "weather_maker: no real-time priority (%m): run it as root\n");
}

static void core_weather(const struct weather *w, int core, double start)
{
	struct bursts own = { .rng = w->seed * 1000 + core + 1,
			      .share = w->share * (1 - w->common),
			      .begin = start };
	struct bursts common = { .rng = w->seed * 1000,
				 .share = w->share * w->common,
				 .begin = start };
	char *memory = w->memory ? calloc(1, w->memory) : NULL;
	uint64_t n = 0;

	be_urgent(core);
	if (own.share > 0)
		next_burst(&own);
	else
		own.begin = INFINITY;
	if (common.share > 0)
		next_burst(&common);
	else
		common.begin = INFINITY;
	for (;;) {
		struct bursts *b = own.begin < common.begin ? &own : &common;

		if (b->begin > start + w->seconds)
			break;
		sleep_until(b->begin);
		take(b->begin + b->length, n++ % 3 ? NULL : memory, w->memory);
		next_burst(b);
	}
	free(memory);
}

static double number(const char *text, double least, double most)
{
	char *end;
	double v = strtod(text, &end);

	if (*end || end == text || !(v >= least && v <= most)) {
		fprintf(stderr, "weather_maker: %s is not a number from %g to %g\n%s", text, least,
			most, usage);
		exit(2);
	}
	return v;
}

static void parse(int argc, char **argv, struct weather *w)
{
	static const struct option options[] = {
		{ "share", required_argument, NULL, 's' },
		{ "common", required_argument, NULL, 'c' },
		{ "seconds", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 'r' },
		{ "memory", required_argument, NULL, 'm' },
		{ 0 },
	};
	int o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (o) {
		case 's':
			w->share = number(optarg, 0, SHARE_MAX) / 100;
			break;
		case 'c':
			w->common = number(optarg, 0, 100) / 100;
			break;
		case 't':
			w->seconds = number(optarg, 0.1, SECONDS_MAX);
			break;
		case 'r':
			w->seed = number(optarg, 0, 1e15);
			break;
		case 'm':
			w->memory = number(optarg, 0, 1024) * 1024 * 1024;
			break;
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (optind != argc) {
		fputs(usage, stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct weather w = {
		.share = 0.3, .common = 0.5, .seconds = 60, .seed = 1, .memory = 16 << 20
	};
	pid_t parent = getppid(), self;
	double start = now() + 0.05;
	cpu_set_t cores;

	parse(argc, argv, &w);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it has ended before that */
		return 1;
	if (sched_getaffinity(0, sizeof(cores), &cores)) {
		fprintf(stderr, "weather_maker: cannot tell which CPUs there are: %m\n");
		return 1;
	}
	self = getpid();
	for (int c = 0; c < CPU_SETSIZE; c++) {
		if (!CPU_ISSET(c, &cores))
			continue;
		switch (fork()) {
		case -1:
			fprintf(stderr, "weather_maker: cannot start a process: %m\n");
			return 1;
		case 0:
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != self)
				_exit(1);
			alarm(ceil(w.seconds) + 2);
			core_weather(&w, c, start);
			_exit(0);
		}
	}
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return 0;
}
