// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/calibrate.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPIN_NS	       (150 * NSEC_PER_MSEC)
#define GAP_MIN_NS     500    /* shorter ones are the loop itself */
#define GAP_MAX_NS     100000 /* longer ones are other tasks, or the host */
#define MAX_GAPS       8192
#define MAX_BACKGROUND 0.2

struct spinner {
	uint32_t n;
	uint32_t gap[MAX_GAPS]; /* ns */
	uint64_t lasted_ns;	/* without long gaps */
};

static void spin(struct spinner *s)
{
	uint64_t start, last, now;

	start = last = clock_now_ns();
	while ((now = clock_now_ns()) - start < SPIN_NS) {
		uint64_t gap = now - last;

		if (gap < GAP_MAX_NS)
			s->lasted_ns += gap;
		if (gap > GAP_MIN_NS && gap < GAP_MAX_NS && s->n < MAX_GAPS)
			s->gap[s->n++] = gap;
		last = now;
	}
}

/*
 * In children: the engine does not look at the profiler itself. This process has threads by now,
 * any of which may hold a lock, so a child does nothing that may take one (no memory, no threads):
 * it would wait for ever, and we for it.
 */
static void spin_everywhere(struct spinner *spinners, const struct cores *cores)
{
	_cleanup_free_ pid_t *children = xcalloc(cores->n, sizeof(*children));
	int started = 0;

	for (int i = 0; i < cores->n; i++) {
		cpu_set_t *set = CPU_ALLOC(cores->cpus[i] + 1);
		size_t size = CPU_ALLOC_SIZE(cores->cpus[i] + 1);

		if (!set)
			break;
		CPU_ZERO_S(size, set);
		CPU_SET_S(cores->cpus[i], size, set);
		children[i] = _Fork();
		if (!children[i]) {
			prctl(PR_SET_NAME, "scozd/spin");
			if (!sched_setaffinity(0, size, set))
				spin(&spinners[i]);
			_exit(0);
		}
		CPU_FREE(set);
		if (children[i] < 0)
			break;
		started++;
	}
	for (int i = 0; i < started; i++)
		waitpid(children[i], NULL, 0);
}

static int compare_gap(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint32_t median(uint32_t *v, size_t n)
{
	qsort(v, n, sizeof(*v), compare_gap);
	return n ? v[n / 2] : 0;
}

double calibrate_cost(struct engine *e, const struct cores *cores)
{
	size_t size = cores->n * sizeof(struct spinner), n = 0;
	_cleanup_free_ uint64_t *ticks = xcalloc(cores->n, sizeof(*ticks));
	_cleanup_free_ uint32_t *cost = xcalloc(cores->n, sizeof(*cost));
	double background = 0, lasted = 0, tick_ns;
	struct spinner *s;

	s = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return 0;
	for (int i = 0; i < cores->n; i++)
		ticks[i] = engine_core(e, i).ticks;
	spin_everywhere(s, cores);
	for (int i = 0; i < cores->n; i++) {
		double sum = 0;

		ticks[i] = engine_core(e, i).ticks - ticks[i];
		for (uint32_t j = 0; j < s[i].n; j++)
			sum += s[i].gap[j];
		if (s[i].n < 16)
			continue; /* the core was busy with others */
		cost[n++] = median(s[i].gap, s[i].n);
		sum -= (double)cost[n - 1] * (ticks[i] < s[i].n ? ticks[i] : s[i].n);
		background += sum > 0 ? sum : 0;
		lasted += s[i].lasted_ns;
	}
	munmap(s, size);
	if (!n)
		return 0;
	tick_ns = median(cost, n);
	background /= lasted;
	if (background > MAX_BACKGROUND)
		background = MAX_BACKGROUND;
	engine_set_cost(e, tick_ns, background);
	log_info("a tick costs %.1f µs here, other interrupts take %.2f %% of a core",
		 tick_ns / 1e3, 100 * background);
	return tick_ns;
}
