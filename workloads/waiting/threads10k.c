// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Very many threads that mostly sleep, and work a little whenever they wake up. As they are, the
 * truth is their sum: {"threads": n, "tid_first": t, "wall": ns, "sleep": ns, "work": ns, "runq":
 * ns}.
 */
#include "waiting.h"

static long n_threads = 10000;
static double seconds = 10, every_ms = 1000, work_us = 20;
static uint64_t deadline;
static double speed;
static atomic_ulong sleep_ns, work_ns, wall_ns, queued_ns, wakeups, begun;

NOIPA void many_sleep(uint64_t ns)
{
	raw_sleep(ns);
}

NOIPA void many_work(uint64_t turns)
{
	SPIN_TURNS(turns);
}

static void *run(void *arg)
{
	struct truth t = { .cheap = true, .phase = { { .name = "sleep" }, { .name = "work" } } };
	uint64_t every = (uint64_t)(every_ms * 1e6), now;
	/* Not all at the same time. */
	uint64_t first = every * (uint64_t)(long)arg / (uint64_t)n_threads;

	truth_begin(&t, "many");
	phase_begin(&t);
	now = now_ns();
	for (uint64_t pause = first; now + pause < deadline; pause = every) {
		many_sleep(pause);
		phase_end(&t, 0);
		many_work((uint64_t)(speed * work_us));
		now = phase_end(&t, 1);
	}
	/* Otherwise threads would end in the order of their beginning. */
	if (now < deadline) {
		many_sleep(deadline - now);
		phase_end(&t, 0);
	}
	truth_end(&t);
	atomic_fetch_add(&sleep_ns, t.phase[0].wall);
	atomic_fetch_add(&work_ns, t.phase[1].wall);
	atomic_fetch_add(&wall_ns, t.wall);
	atomic_fetch_add(&queued_ns, t.runq);
	atomic_fetch_add(&wakeups, t.phase[0].count);
	return NULL;
}

static void usage(FILE *f)
{
	fprintf(f, "usage: threads10k [option]...\n"
		   "  --threads N      (10000)\n"
		   "  --seconds S      (10)\n"
		   "  --every-ms MS    each thread works as often (1000)\n"
		   "  --work-us US     as long (20)\n");
}

int main(int argc, char **argv)
{
	enum { THREADS = 256, SECS, EVERY, WORK };
	static const struct option opt[] = {
		{ "threads", 1, NULL, THREADS }, { "seconds", 1, NULL, SECS },
		{ "every-ms", 1, NULL, EVERY },	 { "work-us", 1, NULL, WORK },
		{ "help", 0, NULL, 'h' },	 { 0 },
	};
	pthread_t *t;
	int c;

	program = "threads10k";
	while ((c = getopt_long(argc, argv, "h", opt, NULL)) != -1) {
		switch (c) {
		case THREADS:
			n_threads = (long)number(optarg, 1, 1e6);
			break;
		case SECS:
			seconds = number(optarg, 0, 1e6);
			break;
		case EVERY:
			every_ms = number(optarg, 0.01, 1e6);
			break;
		case WORK:
			work_us = number(optarg, 0, 1e6);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind < argc) {
		usage(stderr);
		return 2;
	}
	t = calloc((size_t)n_threads, sizeof(*t));
	if (!t)
		die("out of memory");
	speed = spin_speed();
	deadline = now_ns() + (uint64_t)(seconds * 1e9);
	for (long i = 0; i < n_threads; i++) {
		start_thread(&t[i], run, (void *)i, 1 << 16);
		atomic_fetch_add(&begun, 1);
	}
	for (long i = 0; i < n_threads; i++)
		pthread_join(t[i], NULL);
	printf("{\"program\": \"threads10k\", \"count\": %lu, \"wakeups\": %lu, \"wall\": %lu, "
	       "\"sleep\": %lu, \"work\": %lu, \"runq\": %lu}\n",
	       begun, wakeups, wall_ns, sleep_ns, work_ns, queued_ns);
	return fflush(stdout) ? 1 : 0;
}
