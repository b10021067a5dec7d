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
#define ASK_AGAIN_NS  (100 * NSEC_PER_MSEC)
#define NO_BINARY     UINT32_MAX
#define MAX_FRAMES    1024 /* of one sample, inlined ones included */
#define JITTER_SPREAD 0.2

struct cache_entry {
	uint64_t key; /* binary << 48 ^ vaddr, 0: empty */
	uint64_t vaddr;
	uint32_t binary;
	uint8_t n;			/* at least 1 */
	bool unnamed;			/* the innermost function */
	uint8_t origin[MAP_MAX_INLINE]; /* enum code_origin */
	uint32_t location[MAP_MAX_INLINE];
};

/* A sample's frames, innermost first, inlined ones included. */
struct chain {
	int n;
	bool kernel;		     /* taken in the kernel, whose frames are not here */
	bool unnamed;		     /* where it ran */
	uint32_t binary[MAX_FRAMES]; /* or NO_BINARY */
	uint32_t location[MAX_FRAMES];
	uint8_t origin[MAX_FRAMES];
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
	struct chain chain;
	/* The sample that a location or binary was last seen in, so that each counts once. */
	uint32_t sample, *location_sample, binary_sample[MAX_BINARIES];
	uint32_t process; /* that the sample fell into */
	struct places *places;
	int asked_pid; /* made_at_run_time() */
	uint64_t asked_ns;
	bool in_memory;
	pthread_mutex_t lock;
	struct handlers_location *locations;
	size_t n_locations;
	struct handlers_counts counts;
	struct handlers_binary binaries[MAX_BINARIES];
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

/* What is known about an address. */
static void fill_entry(struct handler *h, struct cache_entry *e)
{
	const struct maps_binary *b = maps_binary(h->all->opt.maps, e->binary);
	struct map_frame frames[MAP_MAX_INLINE];
	int n = 0;

	if (b && b->table)
		n = maptable_lookup(b->table, e->vaddr, frames, MAP_MAX_INLINE);
	if (!n) {
		bool lent = b && !strcmp(b->path, MAPS_VDSO);

		e->n = 1;
		e->location[0] = LOCATION_NONE;
		e->origin[0] = (b && b->outside) || h->all->opt.source_scope ? CODE_OUTSIDE
			       : lent					     ? CODE_PASSING
									     : CODE_UNKNOWN;
		e->unnamed = !lent;
		return;
	}
	code_origins(b, frames, n, e->origin);
	e->n = n;
	e->unnamed = e->origin[0] != CODE_PASSING && function_is_unnamed(frames[0].function);
	for (int i = 0; i < n; i++)
		e->location[i] =
			locations_intern(h->all->opt.locations, b, &frames[i], &e->origin[i]);
}

static struct cache_entry *look_up(struct handler *h, uint32_t binary, uint64_t vaddr)
{
	uint64_t key = ((uint64_t)binary << 48 ^ vaddr) | 1ULL << 63;
	size_t i = (key * 0x9e3779b97f4a7c15ULL) >> 48 & (CACHE_SIZE - 1);
	struct cache_entry *e;

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
	*e = (struct cache_entry){ .key = key, .vaddr = vaddr, .binary = binary };
	fill_entry(h, e);
	h->cached++;
	return e;
}

static struct handlers_location *location_counts(struct handler *h, uint32_t id)
{
	if (id >= h->n_locations) {
		size_t n = (id + 1) * 2, more = n - h->n_locations;

		h->locations = xreallocarray(h->locations, n, sizeof(*h->locations));
		memset(h->locations + h->n_locations, 0, more * sizeof(*h->locations));
		h->location_sample =
			xreallocarray(h->location_sample, n, sizeof(*h->location_sample));
		memset(h->location_sample + h->n_locations, 0, more * sizeof(*h->location_sample));
		h->n_locations = n;
	}
	return &h->locations[id];
}

static void add_frame(struct chain *c, uint32_t binary, enum code_origin origin, uint32_t location)
{
	if (c->n == MAX_FRAMES)
		return;
	c->binary[c->n] = binary;
	c->origin[c->n] = origin;
	c->location[c->n++] = location;
}

/*
 * Is it in no file at all, or do the events that would tell lag behind? /proc knows, but asking it
 * takes long: an answer holds for a while, for that process.
 */
static bool made_at_run_time(struct handler *h, int pid, uint64_t addr)
{
	uint64_t now = clock_now_ns();

	if (h->asked_pid != pid || now - h->asked_ns > ASK_AGAIN_NS) {
		h->asked_pid = pid;
		h->asked_ns = now;
		h->in_memory = maps_code_at(pid, addr) == MAPS_CODE_MEMORY;
	}
	return h->in_memory;
}

static void add_address(struct handler *h, int pid, uint64_t addr, bool kernel, bool *hit)
{
	const struct handlers_options *opt = &h->all->opt;
	const struct cache_entry *e;
	struct chain *c = &h->chain;
	bool innermost = !c->n;
	uint32_t binary;
	uint64_t vaddr;

	if (!maps_resolve(opt->maps, pid, addr, &binary, &vaddr)) {
		c->unnamed |= innermost && made_at_run_time(h, pid, addr);
		add_frame(c, NO_BINARY, opt->scoped ? CODE_OUTSIDE : CODE_UNKNOWN, LOCATION_NONE);
		return;
	}
	if (!kernel && opt->batch)
		*hit |= engine_matches(opt->engine, binary, vaddr);
	e = look_up(h, binary, vaddr);
	c->unnamed |= innermost && e->unnamed;
	for (int i = 0; i < e->n; i++)
		add_frame(c, binary, e->origin[i], e->location[i]);
}

static void read_chain(struct handler *h, const struct ring_sample *s)
{
	bool kernel = false, first = true, hit = false;
	struct chain *c = &h->chain;

	c->n = 0;
	c->kernel = c->unnamed = false;
	for (uint64_t i = 0; i < s->n_chain; i++) {
		uint64_t addr = s->chain[i];

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
			add_address(h, s->pid, addr, kernel, &hit);
	}
	h->hits += hit;
}

static void count_location(struct handler *h, uint32_t id, enum place_count what)
{
	struct handlers_location *l = location_counts(h, id);

	l->self += what == PLACE_SELF;
	l->total += what == PLACE_TOTAL;
	l->credit += what == PLACE_CREDIT;
	places_count(h->places, h->process, id, what);
}

static void count_binary(struct handler *h, uint32_t id, enum place_count what)
{
	struct handlers_binary *b = &h->binaries[id];

	b->self += what == PLACE_SELF;
	b->total += what == PLACE_TOTAL;
	b->credit += what == PLACE_CREDIT;
	places_count(h->places, h->process, PLACE_BINARY | id, what);
}

static void count_frames(struct handler *h)
{
	const struct chain *c = &h->chain;

	h->sample++;
	for (int i = 0; i < c->n; i++) {
		uint32_t id = c->location[i], binary = c->binary[i];

		if (binary < MAX_BINARIES && h->binary_sample[binary] != h->sample) {
			h->saw[binary] = 1;
			count_binary(h, binary, PLACE_TOTAL);
			h->binary_sample[binary] = h->sample;
		}
		if (id == LOCATION_NONE)
			continue;
		location_counts(h, id); /* makes room */
		if (h->location_sample[id] != h->sample)
			count_location(h, id, PLACE_TOTAL);
		h->location_sample[id] = h->sample;
	}
}

/* Where it ran: known or not. What is out of scope is as if it were not there. */
static void count_innermost(struct handler *h)
{
	const struct chain *c = &h->chain;
	int i = 0;

	while (i < c->n && c->origin[i] == CODE_OUTSIDE)
		i++;
	if (i == c->n)
		return;
	if (c->location[i] != LOCATION_NONE)
		count_location(h, c->location[i], PLACE_SELF);
	if (c->binary[i] < MAX_BINARIES)
		count_binary(h, c->binary[i], PLACE_SELF);
	if (i || !c->unnamed)
		return;
	h->counts.unnamed++;
	if (c->binary[i] < MAX_BINARIES)
		h->binaries[c->binary[i]].unnamed++;
	else
		h->counts.no_file++;
}

static void count_credit(struct handler *h)
{
	const struct chain *c = &h->chain;
	int i = code_credit(c->origin, c->n);

	/* Without -k, a system call counts for the code that made it, which is never libc. */
	if (i < 0 || (c->kernel && c->origin[i] == CODE_LIBRARY && !h->all->opt.scoped))
		h->counts.in_kernel += c->kernel;
	else if (c->location[i] != LOCATION_NONE)
		count_location(h, c->location[i], PLACE_CREDIT);
	else if (c->origin[i] != CODE_UNKNOWN)
		h->counts.without_line++;
	else if (c->binary[i] < MAX_BINARIES)
		count_binary(h, c->binary[i], PLACE_CREDIT);
}

static void add_sample(struct handler *h, const struct ring_sample *s)
{
	h->counts.samples++;
	h->process = process_table_sample(h->all->opt.processes, s->pid);
	read_chain(h, s);
	count_frames(h);
	count_innermost(h);
	count_credit(h);
}

static void on_record(struct handler *h, const struct perf_event_header *header)
{
	const uint64_t *words = (const uint64_t *)(header + 1);
	struct ring_sample sample;
	enum maps_perf what;
	int pid;

	if (header->type == PERF_RECORD_SAMPLE) {
		if (ring_decode_sample(header, &sample))
			add_sample(h, &sample);
	} else if (header->type == PERF_RECORD_LOST) {
		h->counts.lost += words[1];
	} else {
		what = maps_perf_record(h->all->opt.maps, header, &pid);
		process_table_record(h->all->opt.processes, header);
		if (what == MAPS_PERF_EXIT)
			process_table_gone(h->all->opt.processes, pid);
		if (what != MAPS_PERF_OTHER && h->all->opt.process_gone)
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
		one->places = places_create(opt->processes);
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
		free(h->list[i].locations);
		free(h->list[i].location_sample);
		places_destroy(h->list[i].places);
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
	sum->unnamed += c->unnamed;
	sum->no_file += c->no_file;
	sum->in_kernel += c->in_kernel;
	sum->without_line += c->without_line;
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

void handlers_samples(struct handlers *h, struct handlers_location **ret, size_t *n)
{
	*n = locations_count(h->opt.locations);
	*ret = xcalloc(*n, sizeof(**ret));
	for (int i = 0; i < h->n; i++) {
		struct handler *one = &h->list[i];

		pthread_mutex_lock(&one->lock);
		for (size_t j = 0; j < *n && j < one->n_locations; j++) {
			(*ret)[j].self += one->locations[j].self;
			(*ret)[j].total += one->locations[j].total;
			(*ret)[j].credit += one->locations[j].credit;
		}
		pthread_mutex_unlock(&one->lock);
	}
}

struct place_entry *handlers_places(struct handlers *h, size_t *n, uint64_t *left_out)
{
	struct place_entry *list = NULL;

	*n = *left_out = 0;
	for (int i = 0; i < h->n; i++) {
		pthread_mutex_lock(&h->list[i].lock);
		places_add(h->list[i].places, &list, n);
		*left_out += places_left_out(h->list[i].places);
		pthread_mutex_unlock(&h->list[i].lock);
	}
	return list;
}

void handlers_binaries(struct handlers *h, struct handlers_binary **ret, size_t *n)
{
	*n = maps_binary_count(h->opt.maps);
	*n = *n < MAX_BINARIES ? *n : MAX_BINARIES;
	*ret = xcalloc(*n, sizeof(**ret));
	for (int i = 0; i < h->n; i++) {
		struct handler *one = &h->list[i];

		pthread_mutex_lock(&one->lock);
		for (size_t j = 0; j < *n; j++) {
			(*ret)[j].self += one->binaries[j].self;
			(*ret)[j].total += one->binaries[j].total;
			(*ret)[j].credit += one->binaries[j].credit;
			(*ret)[j].unnamed += one->binaries[j].unnamed;
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
