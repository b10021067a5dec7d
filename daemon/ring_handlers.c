// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ownership: a handler's ring belongs to its thread. What it has counted lies in `chains`, under
 * `lock`: the collector takes it away now and then by giving empty ones for it, and whoever asks
 * for counts has it taken at once. A handler waits for nothing but that exchange.
 *
 * The collector's locks: `collecting`, then the tally's and each handler's.
 */
#include "daemon/ring_handlers.h"
#include "base/cond_wait.h"
#include "daemon/machine.h"
#include "host/privileges.h"
#include "maps/maps_perf.h"
#include "ring/perf_ring.h"

#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

#define RING_PAGES     256
#define POLL_MS	       20
#define LOOK_NS	       (100 * NSEC_PER_MSEC) /* for CPUs that are gone */
#define GONE_NS	       (500 * NSEC_PER_MSEC)
#define COLLECT_NS     (100 * NSEC_PER_MSEC)
#define REST_NS	       NSEC_PER_SEC /* after that tables that were not asked leave their pages */
#define MAX_CHAINS     (4 << 20)    /* bytes, until they are collected */
#define JITTER_SPREAD  0.2
#define SPEED_EVERY_NS (20 * NSEC_PER_MSEC) /* of a core: a fiftieth of a percent of it */

/* What a handler counts by itself, for whoever wants to know. */
struct own_counts {
	_Atomic uint64_t samples, lost, dropped;
	_Atomic double cpu_s, count_s;
	_Atomic double fullest; /* that the ring was, of 1 */
};

struct handler {
	struct handlers *all;
	int index;
	pthread_t thread;
	bool running;
	struct ring ring;
	uint64_t random;
	/* Speed of the core: written by its thread only. */
	uint64_t speed_at_ns;
	_Atomic uint64_t speed_sum_ns, speeds;
	uint64_t hits;		     /* of the target, in the batch being read */
	struct chain *chain;	     /* of the sample being read */
	uint64_t clock, clock_at_ns; /* what its event had counted, and when that grew last */
	uint64_t clock_read_ns;
	pthread_mutex_t lock;
	struct chains chains, taken; /* two by turns: what a core writes is of its node */
	struct own_counts counts;
};

struct handlers {
	struct handlers_options opt;
	struct tally *tally;
	struct handler *list;
	int n;
	atomic_bool stop;
	_Atomic uint64_t period_ns;
	_Atomic uint64_t begun_ns; /* since then events count */
	_Atomic(int) gone;	   /* a CPU, -1: none */

	pthread_t collector;
	bool collector_runs;
	pthread_mutex_t collecting;
	pthread_cond_t wake;
	_Atomic double collect_s;
};

static double thread_cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void add_address(struct handler *h, int pid, uint64_t addr, bool kernel, bool *hit)
{
	const struct handlers_options *opt = &h->all->opt;
	struct chain *c = h->chain;
	struct chain_frame f = { addr, CHAIN_NO_BINARY };

	if (c->n == CHAIN_MAX_FRAMES)
		return;
	/* Where a program keeps no frame pointers, its chains may lead anywhere. */
	if (!kernel && addr >> 63) {
		c->frame[c->n++] = f;
		return;
	}
	if (maps_place_of(opt->maps, pid, addr, &f.binary, &f.place) && !kernel && opt->batch) {
		const struct maps_binary *b = maps_binary_ask(opt->maps, f.binary);

		*hit |= b && engine_matches(opt->engine, f.binary, maps_vaddr(b, f.place));
	}
	c->frame[c->n++] = f;
}

/* Is any of them in the target? They are the user's, until a marker says otherwise. */
static bool read_frames(struct handler *h, int pid, const uint64_t *frame, uint64_t n)
{
	bool kernel = false, first = true, hit = false;
	struct chain *c = h->chain;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t addr = frame[i];

		if (addr >= PERF_CONTEXT_MAX) {
			kernel = addr == PERF_CONTEXT_KERNEL;
			first = true;
			continue;
		}
		if (!first)
			addr--; /* a return address: the call is before it */
		first = false;
		if (kernel && h->all->opt.batch)
			hit |= engine_matches(h->all->opt.engine, MAPS_KERNEL_ID, addr);
		if (kernel && !h->all->opt.kernel)
			c->kernel = true;
		else
			add_address(h, pid, addr, kernel, &hit);
	}
	return hit;
}

static void read_chain(struct handler *h, const struct ring_sample *s)
{
	bool hit;

	*h->chain = (struct chain){ .count = 1, .pid = s->pid, .spins = s->spins };
	hit = read_frames(h, s->pid, s->chain, s->n_chain);
	if (s->user)
		hit |= read_frames(h, s->pid, s->user, s->n_user);
	h->hits += hit;
}

static void add_sample(struct handler *h, const struct ring_sample *s)
{
	h->counts.samples++;
	if (h->all->opt.unwind)
		unwind_follow_sampled(h->all->opt.unwind, s->pid);
	read_chain(h, s);
	pthread_mutex_lock(&h->lock);
	if (!chains_add(&h->chains, h->chain))
		h->counts.dropped++;
	pthread_mutex_unlock(&h->lock);
}

static void follow_child(struct unwind_follow *f, const struct perf_event_header *header)
{
	const uint32_t *ids = (const uint32_t *)(header + 1); /* pid, ppid */

	if (header->size >= sizeof(*header) + 2 * sizeof(*ids))
		unwind_follow_forked(f, ids[1], ids[0]);
}

static void on_record(struct handler *h, const struct perf_event_header *header)
{
	const uint64_t *words = (const uint64_t *)(header + 1);
	struct ring_sample sample;
	int pid;

	if (header->type == PERF_RECORD_SAMPLE) {
		if (ring_decode_sample(header, &sample))
			add_sample(h, &sample);
	} else if (header->type == PERF_RECORD_LOST) {
		h->counts.lost += words[1];
	} else {
		process_table_record(h->all->opt.processes, header);
		if (header->type == PERF_RECORD_FORK && h->all->opt.unwind)
			follow_child(h->all->opt.unwind, header);
		if (maps_perf_record(h->all->opt.maps, header, &pid) == MAPS_PERF_EXEC &&
		    h->all->opt.process_execs)
			h->all->opt.process_execs(pid, h->all->opt.arg);
	}
}

static void drain(struct handler *h)
{
	const struct perf_event_header *r;
	double start = thread_cpu_s(), full = (double)ring_waiting(&h->ring) / h->ring.size, end;

	if (full > h->counts.fullest)
		h->counts.fullest = full;
	while ((r = ring_next(&h->ring))) {
		on_record(h, r);
		ring_release(&h->ring);
	}
	ring_release(&h->ring); /* also what was no record */
	end = thread_cpu_s();
	h->counts.count_s = h->counts.count_s + end - start; /* nobody else writes */
	h->counts.cpu_s = end;
	if (h->all->opt.batch)
		engine_account_batch(h->all->opt.engine, h->index, h->hits);
	h->hits = 0;
}

/* A fixed period locks onto periodic programs. */
static void jitter(struct handler *h)
{
	uint64_t period = h->all->period_ns;
	double u;

	h->random ^= h->random << 13;
	h->random ^= h->random >> 7;
	h->random ^= h->random << 17;
	u = (h->random >> 11) * 0x1p-53;
	engine_set_period(h->all->opt.engine, h->index,
			  period * (1 - JITTER_SPREAD + 2 * JITTER_SPREAD * u));
}

/* Now and then, so that it costs nothing. */
static void measure_speed(struct handler *h)
{
	uint64_t now = clock_now_ns();

	if (now - h->speed_at_ns < SPEED_EVERY_NS)
		return;
	h->speed_at_ns = now;
	h->speed_sum_ns += machine_speed_ns();
	h->speeds++;
}

void handlers_speed(const struct handlers *h, int core, uint64_t *sum_ns, uint64_t *n)
{
	*sum_ns = *n = 0;
	for (int i = 0; i < h->n; i++) {
		if (core >= 0 && i != core)
			continue;
		*sum_ns += h->list[i].speed_sum_ns;
		*n += h->list[i].speeds;
	}
}

/*
 * A CPU that goes offline takes its event with it, which stays dead when the CPU is back (after
 * suspend, say), and no poll tells. As long as there is a CPU its clock goes on, also when idle.
 */
static void look_for_cpu(struct handler *h)
{
	uint64_t now = clock_now_ns(), begun = h->all->begun_ns, clock;
	bool known;

	if (now - h->clock_read_ns < LOOK_NS)
		return;
	h->clock_read_ns = now;
	known = read(engine_event_fd(h->all->opt.engine, h->index), &clock, sizeof(clock)) ==
		sizeof(clock);
	if (!known || clock != h->clock) {
		h->clock = known ? clock : 0;
		h->clock_at_ns = now;
		if (!begun)
			h->all->begun_ns = now;
	} else if (begun && now - begun > GONE_NS && now - h->clock_at_ns > GONE_NS) {
		h->all->gone = h->all->opt.cores->cpus[h->index];
	}
}

int handlers_gone(const struct handlers *h)
{
	return h->gone;
}

static void *handler_main(void *arg)
{
	struct handler *h = arg;
	struct pollfd p = { .fd = engine_event_fd(h->all->opt.engine, h->index), .events = POLLIN };
	char name[16];

	snprintf(name, sizeof(name), "scozd/%d", h->all->opt.cores->cpus[h->index]);
	pthread_setname_np(pthread_self(), name);
	if (cores_bind_thread(h->all->opt.cores, h->index))
		log_warn("cannot bind a thread to CPU %d: %s", h->all->opt.cores->cpus[h->index],
			 strerror(errno));
	privileges_keep(PRIVILEGE(CAP_BPF));
	/* Allocated here: the memory belongs to this core's node. */
	h->chain = xcalloc(1, CHAIN_SIZE(CHAIN_MAX_FRAMES));
	while (!h->all->stop) {
		poll(&p, 1, POLL_MS);
		drain(h);
		look_for_cpu(h);
		jitter(h);
		measure_speed(h);
	}
	drain(h);
	return NULL;
}

/* Under `collecting`. */
static void collect(struct handlers *h)
{
	for (int i = 0; i < h->n; i++) {
		struct handler *one = &h->list[i];
		struct chains full;

		pthread_mutex_lock(&one->lock);
		full = one->chains;
		one->chains = one->taken;
		pthread_mutex_unlock(&one->lock);
		tally_add(h->tally, &full);
		chains_clear(&full);
		one->taken = full;
	}
	tally_retry(h->tally);
}

static void collect_now(struct handlers *h)
{
	pthread_mutex_lock(&h->collecting);
	collect(h);
	pthread_mutex_unlock(&h->collecting);
}

static void *collector_main(void *arg)
{
	struct handlers *h = arg;
	uint64_t rest_ns = 0;

	pthread_setname_np(pthread_self(), "scozd/tally");
	privileges_keep(PRIVILEGE(CAP_BPF));
	pthread_mutex_lock(&h->collecting);
	while (!h->stop) {
		cond_wait_until(&h->wake, &h->collecting, clock_now_ns() + COLLECT_NS);
		collect(h);
		if (clock_now_ns() >= rest_ns) {
			maps_rest(h->opt.maps);
			rest_ns = clock_now_ns() + REST_NS;
		}
		h->collect_s = thread_cpu_s();
	}
	pthread_mutex_unlock(&h->collecting);
	return NULL;
}

static int start_handler(struct handlers *h, int index, struct error *err)
{
	struct handler *one = &h->list[index];
	int r;

	one->all = h;
	one->index = index;
	one->random = (h->opt.seed + index + 1) * 0x9e3779b97f4a7c15ULL;
	r = ring_map(&one->ring, engine_event_fd(h->opt.engine, index), RING_PAGES, err);
	if (r)
		return r;
	r = pthread_create(&one->thread, NULL, handler_main, one);
	if (r)
		return error_set(err, r, "starting a handler thread: %s", strerror(r));
	one->running = true;
	return 0;
}

static int start_collector(struct handlers *h, struct error *err)
{
	int r = pthread_create(&h->collector, NULL, collector_main, h);

	if (r)
		return error_set(err, r, "starting a thread: %s", strerror(r));
	h->collector_runs = true;
	return 0;
}

int handlers_start(const struct handlers_options *opt, struct handlers **ret, struct error *err)
{
	struct tally_options tally = {
		.maps = opt->maps,
		.locations = opt->locations,
		.processes = opt->processes,
		.polling = opt->polling,
		.source_scope = opt->source_scope,
		.scoped = opt->scoped,
	};
	struct handlers *h = xcalloc(1, sizeof(*h));
	int r;

	h->opt = *opt;
	h->period_ns = opt->period_ns;
	h->gone = -1;
	h->n = opt->cores->n;
	h->list = xcalloc(h->n, sizeof(*h->list));
	h->tally = tally_create(&tally);
	pthread_cond_init(&h->wake, NULL);
	pthread_mutex_init(&h->collecting, NULL);
	for (int i = 0; i < h->n; i++) {
		pthread_mutex_init(&h->list[i].lock, NULL);
		chains_init(&h->list[i].chains, MAX_CHAINS);
		chains_init(&h->list[i].taken, MAX_CHAINS);
	}
	r = start_collector(h, err);
	for (int i = 0; !r && i < h->n; i++)
		r = start_handler(h, i, err);
	if (r) {
		handlers_destroy(h);
		return r;
	}
	*ret = h;
	return 0;
}

void handlers_stop(struct handlers *h)
{
	pthread_mutex_lock(&h->collecting);
	h->stop = true;
	pthread_cond_signal(&h->wake);
	pthread_mutex_unlock(&h->collecting);
	for (int i = 0; i < h->n; i++) {
		if (h->list[i].running)
			pthread_join(h->list[i].thread, NULL);
		h->list[i].running = false;
	}
	if (h->collector_runs)
		pthread_join(h->collector, NULL);
	h->collector_runs = false;
}

void handlers_destroy(struct handlers *h)
{
	if (!h)
		return;
	handlers_stop(h);
	for (int i = 0; i < h->n; i++) {
		ring_unmap(&h->list[i].ring);
		free(h->list[i].chain);
		chains_deinit(&h->list[i].chains);
		chains_deinit(&h->list[i].taken);
		pthread_mutex_destroy(&h->list[i].lock);
	}
	pthread_mutex_destroy(&h->collecting);
	pthread_cond_destroy(&h->wake);
	tally_destroy(h->tally);
	free(h->list);
	free(h);
}

void handlers_set_period(struct handlers *h, uint64_t period_ns)
{
	h->period_ns = period_ns;
}

void handlers_give_up(struct handlers *h)
{
	collect_now(h);
	tally_give_up(h->tally);
}

void handlers_counts_now(const struct handlers *h, struct handlers_counts *ret)
{
	*ret = (struct handlers_counts){ .cpu_s = h->collect_s, .resolve_s = h->collect_s };
	for (int i = 0; i < h->n; i++) {
		const struct own_counts *c = &h->list[i].counts;

		ret->samples += c->samples;
		ret->lost += c->lost;
		ret->places.untold += c->dropped;
		ret->cpu_s += c->cpu_s;
		ret->resolve_s += c->count_s;
		if (c->fullest > ret->fullest)
			ret->fullest = c->fullest;
	}
}

void handlers_counts(struct handlers *h, struct handlers_counts *ret)
{
	struct tally_counts places;

	collect_now(h);
	handlers_counts_now(h, ret);
	tally_counts(h->tally, &places);
	places.untold += ret->places.untold;
	ret->places = places;
}

void handlers_locations(struct handlers *h, struct tally_sums **ret, size_t *n)
{
	collect_now(h);
	tally_locations(h->tally, ret, n);
}

void handlers_binaries(struct handlers *h, struct tally_binary **ret, size_t *n)
{
	collect_now(h);
	tally_binaries(h->tally, ret, n);
}

struct place_entry *handlers_places(struct handlers *h, size_t *n, uint64_t *left_out)
{
	collect_now(h);
	return tally_places(h->tally, n, left_out);
}

void handlers_watch(struct handlers *h, uint32_t id, const char *name,
		    const struct engine_part *parts, int n)
{
	collect_now(h); /* what was sampled before is not counted */
	tally_watch(h->tally, id, name, parts, n);
}

bool handlers_callers(struct handlers *h, size_t i, struct caller_target *ret)
{
	return tally_callers(h->tally, i, ret);
}

bool handlers_saw_binary(struct handlers *h, uint32_t binary)
{
	return tally_saw_binary(h->tally, binary);
}
