// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ownership: a handler's ring, address cache and counters belong to its thread; others read the
 * counters under `lock`, which the thread holds only while it adds up one batch.
 *
 * The address cache maps (binary, virtual address) to the locations of its inline chain. Tables
 * are immutable, so entries never become stale; the cache is emptied when full.
 */
#include "daemon/handler.h"
#include "map/maps_perf.h"
#include "ring/ring.h"

#include <poll.h>
#include <pthread.h>
#include <time.h>

#define RING_PAGES    256
#define CACHE_SIZE    65536 /* a power of two */
#define POLL_MS	      20
#define MAX_BINARIES  4096
#define MAX_DISTINCT  128 /* locations of one sample */
#define JITTER_SPREAD 0.2

struct cache_entry {
	uint64_t key; /* binary << 48 ^ vaddr, 0: empty */
	uint64_t vaddr;
	uint32_t binary;
	uint8_t n;
	uint32_t location[MAP_MAX_INLINE];
};

struct handler {
	struct handlers *all;
	int index;
	pthread_t thread;
	bool running;
	struct ring ring;
	struct cache_entry *cache;
	size_t cached;
	uint64_t random;
	uint64_t hits; /* of the target, in the batch being read */
	pthread_mutex_t lock;
	uint64_t *self, *total;
	size_t n_locations;
	struct handlers_counts counts;
	uint8_t saw[MAX_BINARIES];
};

struct handlers {
	struct handlers_options opt;
	struct handler *list;
	int n;
	volatile bool stop;
	volatile uint64_t period_ns;
};

static double thread_cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static struct cache_entry *look_up(struct handler *h, uint32_t binary, uint64_t vaddr)
{
	uint64_t key = ((uint64_t)binary << 48 ^ vaddr) | 1ULL << 63;
	size_t i = (key * 0x9e3779b97f4a7c15ULL) >> 48 & (CACHE_SIZE - 1);
	struct map_frame frames[MAP_MAX_INLINE];
	const struct maps_binary *b;
	struct cache_entry *e;
	int n = 0;

	for (;; i = (i + 1) & (CACHE_SIZE - 1)) {
		e = &h->cache[i];
		if (e->key == key && e->vaddr == vaddr && e->binary == binary)
			return e;
		if (!e->key)
			break;
	}
	if (h->cached > CACHE_SIZE / 2) {
		memset(h->cache, 0, CACHE_SIZE * sizeof(*h->cache));
		h->cached = 0;
	}
	b = maps_binary(h->all->opt.maps, binary);
	if (b && b->table)
		n = maptable_lookup(b->table, vaddr, frames, MAP_MAX_INLINE);
	*e = (struct cache_entry){ .key = key, .vaddr = vaddr, .binary = binary };
	for (int j = 0; j < n; j++) {
		uint32_t id = locations_intern(h->all->opt.locations, b, &frames[j]);

		if (id != LOCATION_NONE)
			e->location[e->n++] = id;
	}
	h->cached++;
	return e;
}

static void count(struct handler *h, uint64_t **counts, uint32_t id)
{
	if (id >= h->n_locations) {
		size_t n = (id + 1) * 2;

		h->self = xreallocarray(h->self, n, sizeof(*h->self));
		h->total = xreallocarray(h->total, n, sizeof(*h->total));
		memset(h->self + h->n_locations, 0, (n - h->n_locations) * sizeof(*h->self));
		memset(h->total + h->n_locations, 0, (n - h->n_locations) * sizeof(*h->total));
		h->n_locations = n;
	}
	(*counts)[id]++;
}

/* One frame: its locations are counted once a sample; the first of all is where it ran. */
static void add_frame(struct handler *h, uint32_t binary, uint64_t vaddr, uint32_t *seen,
		      int *n_seen)
{
	const struct cache_entry *e = look_up(h, binary, vaddr);

	if (binary < MAX_BINARIES)
		h->saw[binary] = 1;
	for (int i = 0; i < e->n; i++) {
		bool known = false;

		for (int j = 0; j < *n_seen; j++)
			known |= seen[j] == e->location[i];
		if (known || *n_seen == MAX_DISTINCT)
			continue;
		if (!*n_seen)
			count(h, &h->self, e->location[i]);
		count(h, &h->total, e->location[i]);
		seen[(*n_seen)++] = e->location[i];
	}
}

static void add_sample(struct handler *h, const struct ring_sample *s)
{
	bool kernel = false, first = true, batch = h->all->opt.batch, hit = false;
	uint32_t seen[MAX_DISTINCT];
	int n_seen = 0;

	h->counts.samples++;
	for (uint64_t i = 0; i < s->n_chain; i++) {
		uint64_t addr = s->chain[i], vaddr;
		uint32_t binary;

		if (addr >= PERF_CONTEXT_MAX) {
			kernel = addr == PERF_CONTEXT_KERNEL;
			first = true;
			continue;
		}
		if (!first)
			addr--; /* a return address: the call is before it */
		first = false;
		if (kernel && batch)
			hit |= engine_matches(h->all->opt.engine, MAPS_KERNEL_ID, addr);
		if (kernel && !h->all->opt.kernel)
			continue;
		if (!maps_resolve(h->all->opt.maps, s->pid, addr, &binary, &vaddr))
			continue;
		if (!kernel && batch)
			hit |= engine_matches(h->all->opt.engine, binary, vaddr);
		add_frame(h, binary, vaddr, seen, &n_seen);
	}
	h->hits += hit;
	if (!n_seen)
		h->counts.unresolved++;
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
	} else if (maps_perf_record(h->all->opt.maps, header, &pid) != MAPS_PERF_OTHER &&
		   h->all->opt.process_gone) {
		h->all->opt.process_gone(pid, h->all->opt.arg);
	}
}

static void drain(struct handler *h)
{
	const struct perf_event_header *r;
	double start = thread_cpu_s(), end;

	pthread_mutex_lock(&h->lock);
	while ((r = ring_next(&h->ring)))
		on_record(h, r);
	end = thread_cpu_s();
	h->counts.resolve_s += end - start;
	h->counts.cpu_s = end;
	pthread_mutex_unlock(&h->lock);
	ring_release(&h->ring);
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
	/* Allocated here: the memory belongs to this core's node. */
	h->cache = xcalloc(CACHE_SIZE, sizeof(*h->cache));
	while (!h->all->stop) {
		poll(&p, 1, POLL_MS);
		if (p.revents & POLLHUP) { /* the CPU went offline */
			log_warn("CPU %d has gone: it is profiled no longer",
				 h->all->opt.cores->cpus[h->index]);
			drain(h);
			return NULL;
		}
		drain(h);
		jitter(h);
	}
	drain(h);
	return NULL;
}

int handlers_start(const struct handlers_options *opt, struct handlers **ret, struct error *err)
{
	struct handlers *h = xcalloc(1, sizeof(*h));
	int r;

	h->opt = *opt;
	h->period_ns = opt->period_ns;
	h->n = opt->cores->n;
	h->list = xcalloc(h->n, sizeof(*h->list));
	for (int i = 0; i < h->n; i++) {
		struct handler *one = &h->list[i];

		one->all = h;
		one->index = i;
		one->random = (opt->seed + i + 1) * 0x9e3779b97f4a7c15ULL;
		pthread_mutex_init(&one->lock, NULL);
		r = ring_map(&one->ring, engine_event_fd(opt->engine, i), RING_PAGES, err);
		if (!r) {
			r = -pthread_create(&one->thread, NULL, handler_main, one);
			if (r)
				error_set(err, -r, "starting a handler thread: %s", strerror(-r));
		}
		if (r) {
			handlers_destroy(h);
			return r;
		}
		one->running = true;
	}
	*ret = h;
	return 0;
}

void handlers_stop(struct handlers *h)
{
	h->stop = true;
	for (int i = 0; i < h->n; i++) {
		if (h->list[i].running)
			pthread_join(h->list[i].thread, NULL);
		h->list[i].running = false;
	}
}

void handlers_destroy(struct handlers *h)
{
	if (!h)
		return;
	handlers_stop(h);
	for (int i = 0; i < h->n; i++) {
		ring_unmap(&h->list[i].ring);
		free(h->list[i].cache);
		free(h->list[i].self);
		free(h->list[i].total);
		pthread_mutex_destroy(&h->list[i].lock);
	}
	free(h->list);
	free(h);
}

void handlers_set_period(struct handlers *h, uint64_t period_ns)
{
	h->period_ns = period_ns;
}

static void add_counts(struct handlers_counts *sum, const struct handlers_counts *c)
{
	sum->samples += c->samples;
	sum->lost += c->lost;
	sum->unresolved += c->unresolved;
	sum->cpu_s += c->cpu_s;
	sum->resolve_s += c->resolve_s;
}

void handlers_counts(struct handlers *h, struct handlers_counts *ret)
{
	*ret = (struct handlers_counts){};
	for (int i = 0; i < h->n; i++) {
		pthread_mutex_lock(&h->list[i].lock);
		add_counts(ret, &h->list[i].counts);
		pthread_mutex_unlock(&h->list[i].lock);
	}
}

void handlers_counts_now(const struct handlers *h, struct handlers_counts *ret)
{
	*ret = (struct handlers_counts){};
	for (int i = 0; i < h->n; i++)
		add_counts(ret, &h->list[i].counts);
}

void handlers_samples(struct handlers *h, uint64_t **self, uint64_t **total, size_t *n)
{
	*n = locations_count(h->opt.locations);
	*self = xcalloc(*n, sizeof(**self));
	*total = xcalloc(*n, sizeof(**total));
	for (int i = 0; i < h->n; i++) {
		struct handler *one = &h->list[i];

		pthread_mutex_lock(&one->lock);
		for (size_t j = 0; j < *n && j < one->n_locations; j++) {
			(*self)[j] += one->self[j];
			(*total)[j] += one->total[j];
		}
		pthread_mutex_unlock(&one->lock);
	}
}

bool handlers_saw_binary(struct handlers *h, uint32_t binary)
{
	bool saw = false;

	for (int i = 0; i < h->n && binary < MAX_BINARIES; i++)
		saw |= h->list[i].saw[binary];
	return saw;
}
