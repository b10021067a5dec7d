// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pairs of threads, or processes, that wake each other in turn, as fast as they can. Each thread
 * waits in functions that only it calls (sw_wait_3, sw_loop_3), so that a wait recorded for the
 * wrong thread shows, and each counts its switches.
 */
#include "waiting.h"

#define MAX_PAIRS 8

struct end {
	atomic_uint word;
	int in, out;
	struct end *other;
	uint64_t turns;
	bool first;
	int cpu;
	struct truth truth;
};

static enum { BY_PIPE, BY_FUTEX, BY_POLL } by;
static struct end *ends;
static atomic_uint *ready;
static unsigned int n_ends;

static inline void await(struct end *e)
{
	struct pollfd p = { e->in, POLLIN, 0 };
	char c;

	switch (by) {
	case BY_FUTEX:
		wait_word(&e->word);
		return;
	case BY_POLL:
		while (raw_poll(&p, 1) != 1)
			;
		/* fall through */
	case BY_PIPE:
		if (raw_read(e->in, &c, 1) != 1)
			_exit(1);
	}
}

static inline void hand_over(struct end *e)
{
	if (by == BY_FUTEX)
		post_word(&e->other->word);
	else if (raw_write(e->out, "x", 1) != 1)
		_exit(1);
}

#define SWITCHER(n) \
	NOIPA void sw_wait_##n(struct end *e) \
	{ \
		await(e); \
	} \
	NOIPA void sw_loop_##n(struct end *e) \
	{ \
		for (uint64_t i = 0; i < e->turns; i++) { \
			if (!e->first) \
				sw_wait_##n(e); \
			hand_over(e); \
			if (e->first) \
				sw_wait_##n(e); \
		} \
	}
#define NAME(n) \
	{ \
		sw_loop_##n, "sw_loop_" #n, "sw_" #n, "_" #n \
	}
#define ALL(f, sep) \
	f(0) sep f(1) sep f(2) sep f(3) sep f(4) sep f(5) sep f(6) sep f(7) sep f(8) sep f(9) \
		sep f(10) sep f(11) sep f(12) sep f(13) sep f(14) sep f(15)
#define NOTHING
#define COMMA ,
ALL(SWITCHER, NOTHING)

static const struct {
	void (*loop)(struct end *e);
	const char *loop_name, *name, *own;
} switcher[2 * MAX_PAIRS] = { ALL(NAME, COMMA) };

static void *run(void *arg)
{
	struct end *e = arg;
	struct truth *t = &e->truth;
	long i = e - ends;

	if (e->cpu >= 0)
		pin_cpu(e->cpu);
	t->mark = "sw_";
	t->own = switcher[i].own;
	t->phase[0].name = switcher[i].loop_name;
	t->tid = (int)syscall(SYS_gettid);
	atomic_fetch_add(ready, 1);
	while (atomic_load(ready) < n_ends)
		raw_sleep(MS);
	truth_begin(t, switcher[i].name);
	t->partner = e->other->truth.tid;
	phase_begin(t);
	switcher[i].loop(e);
	phase_end(t, 0);
	truth_end(t);
	return NULL;
}

static void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("out of memory");
	return p;
}

static void usage(FILE *f)
{
	fprintf(f,
		"usage: switches [option]...\n"
		"  --switches N      of all threads together, about (200000)\n"
		"  --pairs N         (2; at most %d)\n"
		"  --by pipe|futex|poll  (pipe)\n"
		"  --processes       instead of threads\n"
		"  --pin             both of a pair on one CPU: each turn is a switch\n"
		"  --truth FILE      what each thread did, as JSON (standard output)\n",
		MAX_PAIRS);
}

int main(int argc, char **argv)
{
	enum { SWITCHES = 256, PAIRS, BY, PROCESSES, PIN, TRUTH };
	static const struct option opt[] = {
		{ "switches", 1, NULL, SWITCHES },
		{ "pairs", 1, NULL, PAIRS },
		{ "by", 1, NULL, BY },
		{ "pin", 0, NULL, PIN },
		{ "processes", 0, NULL, PROCESSES },
		{ "truth", 1, NULL, TRUTH },
		{ "help", 0, NULL, 'h' },
		{ 0 },
	};
	const char *truth = "-";
	bool processes = false, pin = false;
	uint64_t switches = 200000;
	unsigned int pairs = 2;
	pthread_t t[2 * MAX_PAIRS];
	struct truth all[2 * MAX_PAIRS];
	int c, status, bad = 0;

	program = "switches";
	while ((c = getopt_long(argc, argv, "h", opt, NULL)) != -1) {
		switch (c) {
		case SWITCHES:
			switches = (uint64_t)number(optarg, 1, 1e12);
			break;
		case PAIRS:
			pairs = (unsigned int)number(optarg, 1, MAX_PAIRS);
			break;
		case BY:
			if (!strcmp(optarg, "pipe"))
				by = BY_PIPE;
			else if (!strcmp(optarg, "futex"))
				by = BY_FUTEX;
			else if (!strcmp(optarg, "poll"))
				by = BY_POLL;
			else
				die("--by: pipe, futex or poll, not '%s'", optarg);
			break;
		case PROCESSES:
			processes = true;
			break;
		case PIN:
			pin = true;
			break;
		case TRUTH:
			truth = optarg;
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
	n_ends = 2 * pairs;
	ends = shared(sizeof(*ends) * 2 * MAX_PAIRS);
	ready = shared(sizeof(*ready));
	for (unsigned int i = 0; i < n_ends; i += 2) {
		int a[2], b[2];

		if (pipe2(a, O_CLOEXEC) || pipe2(b, O_CLOEXEC))
			die("no pipe: %s", strerror(errno));
		ends[i] = (struct end){ .in = a[0], .out = b[1], .first = true };
		ends[i + 1] = (struct end){ .in = b[0], .out = a[1] };
		for (unsigned int k = 0; k < 2; k++) {
			ends[i + k].other = &ends[i + 1 - k];
			ends[i + k].turns = switches / n_ends + 1;
			ends[i + k].cpu = -1;
			ends[i + k].truth.cheap = true;
			if (pin)
				ends[i + k].cpu = (int)(i / 2) % (last_cpu() + 1);
		}
	}
	for (unsigned int i = 0; i < n_ends; i++) {
		if (!processes) {
			start_thread(&t[i], run, &ends[i], 0);
			continue;
		}
		switch (fork()) {
		case 0:
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			run(&ends[i]);
			_exit(0);
		case -1:
			die("cannot fork: %s", strerror(errno));
		}
	}
	for (unsigned int i = 0; !processes && i < n_ends; i++)
		pthread_join(t[i], NULL);
	while (processes && wait(&status) > 0)
		bad |= status;
	if (bad)
		die("a process failed");
	for (unsigned int i = 0; i < n_ends; i++)
		all[i] = ends[i].truth;
	print_truth(truth, all, n_ends);
	return 0;
}
