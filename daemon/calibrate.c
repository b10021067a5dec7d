// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/calibrate.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPIN_NS	       (150 * NSEC_PER_MSEC)
#define GAP_MIN_NS     500    /* shorter ones are the loop itself */
#define GAP_MAX_NS     100000 /* longer ones are other tasks, or the host */
#define MAX_GAPS       8192
#define MAX_BACKGROUND 0.2

struct spinner {
	const struct cores *cores;
	int index;
	uint32_t n;
	uint32_t gap[MAX_GAPS]; /* ns */
	uint64_t lasted_ns;	/* without long gaps */
};

static void *spin(void *arg)
{
	struct spinner *s = arg;
	uint64_t start, last, now;

	pthread_setname_np(pthread_self(), "scozd/spin");
	cores_bind_thread(s->cores, s->index);
	start = last = clock_now_ns();
	while ((now = clock_now_ns()) - start < SPIN_NS) {
		uint64_t gap = now - last;

		if (gap < GAP_MAX_NS)
			s->lasted_ns += gap;
		if (gap > GAP_MIN_NS && gap < GAP_MAX_NS && s->n < MAX_GAPS)
			s->gap[s->n++] = gap;
		last = now;
	}
	return NULL;
}

/* In a child: the engine does not look at the profiler itself. */
static void spin_everywhere(struct spinner *spinners, const struct cores *cores)
{
	pthread_t *threads = xcalloc(cores->n, sizeof(*threads));
	int started = 0;

	for (int i = 0; i < cores->n; i++) {
		spinners[i].cores = cores;
		spinners[i].index = i;
		if (pthread_create(&threads[i], NULL, spin, &spinners[i]))
			break;
		started++;
	}
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
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
	int pid;

	s = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return 0;
	for (int i = 0; i < cores->n; i++)
		ticks[i] = engine_core(e, i).ticks;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		spin_everywhere(s, cores);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	for (int i = 0; pid > 0 && i < cores->n; i++) {
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
