// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cache maps (binary, place) to the locations of an inline chain. Tables are immutable, so
 * entries become stale only where processes make code and tell more of it; the cache is emptied
 * when full.
 */
#include "daemon/tally.h"
#include "maps/made_code.h"

#include <pthread.h>
#include <stdatomic.h>

#define MIN_CACHE  1024 /* powers of two */
#define MAX_CACHE  65536
#define MAX_KEPT   (64 << 20)
#define MAX_FRAMES (2 * CHAIN_MAX_FRAMES) /* of one chain, inlined ones included */

struct cache_entry {
	uint64_t place;
	uint32_t binary;
	uint8_t n;			/* at least 1; 0: free */
	bool unnamed;			/* the innermost function */
	uint32_t version;		/* of made code: what had been told of it */
	uint8_t origin[MAP_MAX_INLINE]; /* enum code_origin */
	uint32_t location[MAP_MAX_INLINE];
};

/* A chain's frames, innermost first, inlined ones included. */
struct expanded {
	int n;
	bool unnamed; /* where it ran */
	uint8_t origin[MAX_FRAMES];
	struct caller_frame frame[MAX_FRAMES];
};

struct location_count {
	struct tally_sums sum;
	uint64_t chain; /* that it was last seen in, so that each counts once */
};

struct binary_count {
	struct tally_binary sum;
	uint64_t chain;
	bool saw;
};

struct tally {
	struct tally_options opt;
	pthread_mutex_t lock;
	struct cache_entry *cache;
	size_t cached, cache_size;
	struct expanded x;
	uint64_t chain; /* counts those looked at */
	struct location_count *locations;
	size_t n_locations;
	struct binary_count *binaries;
	size_t n_binaries;
	struct tally_counts counts;
	_Atomic uint64_t in_memory; /* of unnamed and no_file; by whoever looks, without the lock */
	struct places *places;
	struct callers *callers;
	/* Processes with code in no file that is known: asked about once a pass. */
	struct question {
		int pid;
		uint64_t addr, count;
	} * questions;
	size_t n_questions, cap_questions;
	struct chains kept;
	uint64_t built; /* maps_built() when these were last looked at */
};

struct tally *tally_create(const struct tally_options *opt)
{
	struct tally *t = xcalloc(1, sizeof(*t));

	t->opt = *opt;
	t->cache_size = MIN_CACHE;
	t->cache = xcalloc(t->cache_size, sizeof(*t->cache));
	t->places = places_create(opt->processes);
	t->callers = callers_create(opt->locations);
	chains_init(&t->kept, MAX_KEPT);
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

void tally_destroy(struct tally *t)
{
	if (!t)
		return;
	chains_deinit(&t->kept);
	pthread_mutex_destroy(&t->lock);
	free(t->cache);
	free(t->locations);
	free(t->binaries);
	free(t->questions);
	places_destroy(t->places);
	callers_destroy(t->callers);
	free(t);
}

/* ---- what is known about a place ---- */

static void fill_entry(struct tally *t, const struct maps_binary *b, struct cache_entry *e)
{
	struct map_frame frames[MAP_MAX_INLINE];
	int n = maps_names_at(b, e->place, frames, MAP_MAX_INLINE);

	if (!n) {
		bool lent = !strcmp(b->path, MAPS_VDSO);

		e->n = 1;
		e->location[0] = LOCATION_NONE;
		e->origin[0] = b->outside || t->opt.source_scope ? CODE_OUTSIDE
			       : lent				 ? CODE_PASSING
								 : CODE_UNKNOWN;
		e->unnamed = !lent;
		return;
	}
	code_origins(b, frames, n, e->origin);
	e->n = n;
	e->unnamed = e->origin[0] != CODE_PASSING && function_is_unnamed(frames[0].function);
	for (int i = 0; i < n; i++)
		e->location[i] = locations_intern(t->opt.locations, b, &frames[i], &e->origin[i]);
}

/* Where it is, or where it belongs (n is 0). */
static struct cache_entry *cache_slot(const struct tally *t, uint32_t binary, uint64_t place)
{
	uint64_t key = (uint64_t)binary << 48 ^ place;
	size_t i = (key * 0x9e3779b97f4a7c15ULL) >> 48 & (t->cache_size - 1);

	while (t->cache[i].n && (t->cache[i].place != place || t->cache[i].binary != binary))
		i = (i + 1) & (t->cache_size - 1);
	return &t->cache[i];
}

/* What is forgotten will be looked up again. */
static void empty_cache(struct tally *t)
{
	free(t->cache);
	if (t->cache_size < MAX_CACHE)
		t->cache_size *= 4;
	t->cache = xcalloc(t->cache_size, sizeof(*t->cache));
	t->cached = 0;
}

static void renew(struct tally *t, const struct maps_binary *b, struct cache_entry *e,
		  uint64_t place)
{
	*e = (struct cache_entry){ .place = place,
				   .binary = b->id,
				   .version = b->made ? made_code_version(b->made) : 0 };
	fill_entry(t, b, e);
}

static const struct cache_entry *look_up(struct tally *t, const struct maps_binary *b,
					 uint64_t place)
{
	struct cache_entry *e = cache_slot(t, b->id, place);

	if (e->n && b->made && e->version != made_code_version(b->made))
		renew(t, b, e, place);
	if (e->n)
		return e;
	if (t->cached > t->cache_size / 2) {
		empty_cache(t);
		e = cache_slot(t, b->id, place);
	}
	t->cached++;
	renew(t, b, e, place);
	return e;
}

/* ---- a chain ---- */

static struct location_count *location_count(struct tally *t, uint32_t id)
{
	if (id >= t->n_locations) {
		size_t n = ((size_t)id + 1) * 2;

		t->locations = xreallocarray(t->locations, n, sizeof(*t->locations));
		memset(t->locations + t->n_locations, 0,
		       (n - t->n_locations) * sizeof(*t->locations));
		t->n_locations = n;
	}
	return &t->locations[id];
}

static struct binary_count *binary_count(struct tally *t, uint32_t id)
{
	if (id >= t->n_binaries) {
		size_t n = ((size_t)id + 1) * 2;

		t->binaries = xreallocarray(t->binaries, n, sizeof(*t->binaries));
		memset(t->binaries + t->n_binaries, 0, (n - t->n_binaries) * sizeof(*t->binaries));
		t->n_binaries = n;
	}
	return &t->binaries[id];
}

static void add_frame(struct expanded *x, const struct caller_frame *f)
{
	if (x->n == MAX_FRAMES)
		return;
	x->origin[x->n] = f->origin;
	x->frame[x->n++] = *f;
}

/* False when a table is missing, unless that is to be taken for nothing being known. */
static bool expand(struct tally *t, const struct chain *c, bool give_up)
{
	struct expanded *x = &t->x;
	bool complete = true;

	x->n = 0;
	x->unnamed = false;
	for (int i = 0; i < c->n; i++) {
		const struct chain_frame *f = &c->frame[i];
		struct caller_frame to = { .chain = i,
					   .origin = CODE_UNKNOWN,
					   .location = LOCATION_NONE,
					   .binary = f->binary };
		const struct maps_binary *b;
		const struct cache_entry *e;

		if (f->binary == CHAIN_NO_BINARY) {
			to.origin = t->opt.scoped ? CODE_OUTSIDE : CODE_UNKNOWN;
			add_frame(x, &to);
			continue;
		}
		b = maps_binary_ask(t->opt.maps, f->binary);
		if (!b) {
			complete = false; /* go on: all that are missing are asked for */
			add_frame(x, &to);
			if (give_up)
				binary_count(t, f->binary)->sum.untold += c->count;
			continue;
		}
		e = look_up(t, b, f->place);
		x->unnamed |= !i && e->unnamed;
		to.vaddr = b->made ? f->place : maps_vaddr(b, f->place);
		for (int k = 0; k < e->n; k++) {
			to.origin = e->origin[k];
			to.location = e->location[k];
			add_frame(x, &to);
		}
	}
	if (!complete && give_up)
		t->counts.untold += c->count;
	return complete || give_up;
}

static void add_counts(struct tally_sums *sum, enum place_count what, uint64_t count)
{
	sum->self += what == PLACE_SELF ? count : 0;
	sum->total += what == PLACE_TOTAL ? count : 0;
	sum->credit += what == PLACE_CREDIT ? count : 0;
}

static void count_location(struct tally *t, const struct chain *c, uint32_t id,
			   enum place_count what)
{
	add_counts(&location_count(t, id)->sum, what, c->count);
	places_count(t->places, c->process, id, what, c->count);
}

static void count_binary(struct tally *t, const struct chain *c, uint32_t id, enum place_count what)
{
	add_counts(&binary_count(t, id)->sum.sums, what, c->count);
	places_count(t->places, c->process, PLACE_BINARY | id, what, c->count);
}

static void count_frames(struct tally *t, const struct chain *c, bool polls)
{
	const struct expanded *x = &t->x;

	t->chain++;
	for (int i = 0; i < x->n; i++) {
		uint32_t id = x->frame[i].location, binary = x->frame[i].binary;

		if (binary != CHAIN_NO_BINARY && binary_count(t, binary)->chain != t->chain) {
			binary_count(t, binary)->chain = t->chain;
			count_binary(t, c, binary, PLACE_TOTAL);
			binary_count(t, binary)->sum.sums.polled += polls ? c->count : 0;
		}
		if (id != LOCATION_NONE && location_count(t, id)->chain != t->chain) {
			location_count(t, id)->chain = t->chain;
			count_location(t, c, id, PLACE_TOTAL);
			location_count(t, id)->sum.polled += polls ? c->count : 0;
		}
	}
}

static void ask_code(struct tally *t, int pid, uint64_t addr, uint64_t count)
{
	for (size_t i = 0; i < t->n_questions; i++) {
		if (t->questions[i].pid == pid) {
			t->questions[i].count += count;
			return;
		}
	}
	array_reserve(t->questions, t->cap_questions, t->n_questions + 1);
	t->questions[t->n_questions++] = (struct question){ pid, addr, count };
}

static void on_code(enum maps_code code, uint64_t count, void *arg)
{
	struct tally *t = arg;

	if (code == MAPS_CODE_MEMORY)
		t->in_memory += count;
}

/* What the process makes it may tell: who asks makes that be looked for. */
static void ask_name(struct tally *t, int pid)
{
	struct maps_made_place at = { .pid = pid, .time = clock_now_ns() };

	maps_name_awaited(t->opt.maps, &at);
}

/* In no file at all, or do the events that would tell lag behind? /proc knows. */
static void put_questions(struct tally *t)
{
	for (size_t i = 0; i < t->n_questions; i++) {
		const struct question *q = &t->questions[i];

		maps_ask_code(t->opt.maps, q->pid, q->addr, q->count, on_code, t);
		ask_name(t, q->pid);
	}
	t->n_questions = 0;
}

/*
 * Where it ran: known or not. What is out of scope is as if it were not there. Of the name of what
 * waits for others nothing would come.
 */
static void count_innermost(struct tally *t, const struct chain *c, bool waits)
{
	const struct expanded *x = &t->x;
	struct binary_count *b = NULL;
	int i = 0;

	while (i < x->n && x->origin[i] == CODE_OUTSIDE)
		i++;
	if (i == x->n)
		return;
	if (x->frame[i].location != LOCATION_NONE)
		count_location(t, c, x->frame[i].location, PLACE_SELF);
	if (x->frame[i].binary != CHAIN_NO_BINARY) {
		count_binary(t, c, x->frame[i].binary, PLACE_SELF);
		b = binary_count(t, x->frame[i].binary);
	}
	if (i)
		return;
	if (!b) {
		ask_code(t, c->pid, c->frame[0].place, c->count);
	} else if (x->unnamed && !waits) {
		t->counts.unnamed += c->count;
		b->sum.unnamed += c->count;
		ask_name(t, c->pid);
	}
}

/* The majority, by the votes of all. */
static void count_caller(struct tally *t, const struct chain *c, int credited)
{
	const struct expanded *x = &t->x;
	uint32_t id = x->frame[credited].location, caller = LOCATION_NONE;
	struct tally_sums *sum = &location_count(t, id)->sum;

	for (int i = credited + 1; i < x->n && caller == LOCATION_NONE; i++) {
		if (x->frame[i].location != id)
			caller = x->frame[i].location;
	}
	if (caller == sum->caller) {
		sum->margin += c->count;
	} else if (sum->margin >= c->count) {
		sum->margin -= c->count;
	} else {
		sum->margin = c->count - sum->margin;
		sum->caller = caller;
	}
}

/* It ran in a library's loop, by which the library waits for its caller: no work of either. */
static bool library_spins(const struct tally *t, const struct chain *c)
{
	const struct expanded *x = &t->x;
	int i = 0;

	if (!c->spins)
		return false;
	while (i < x->n && (x->origin[i] == CODE_PASSING ||
			    (x->frame[i].binary != CHAIN_NO_BINARY &&
			     maps_binary_is_kernel(t->opt.maps, x->frame[i].binary))))
		i++;
	return i < x->n && x->origin[i] == CODE_LIBRARY;
}

static void count_credit(struct tally *t, const struct chain *c)
{
	const struct expanded *x = &t->x;
	int i = code_credit(x->origin, x->n);

	/* Without -k, a system call counts for the code that made it, which is never libc. */
	if (i < 0 || (c->kernel && x->origin[i] == CODE_LIBRARY && !t->opt.scoped))
		t->counts.in_kernel += c->kernel ? c->count : 0;
	else if (x->frame[i].location != LOCATION_NONE) {
		count_location(t, c, x->frame[i].location, PLACE_CREDIT);
		count_caller(t, c, i);
	} else if (x->origin[i] != CODE_UNKNOWN)
		t->counts.without_line += c->count;
	else if (x->frame[i].binary != CHAIN_NO_BINARY &&
		 !maps_binary_is_made(t->opt.maps, x->frame[i].binary))
		count_binary(t, c, x->frame[i].binary, PLACE_CREDIT);
}

static bool count_chain(struct tally *t, const struct chain *c, bool give_up)
{
	bool polls;

	if (!expand(t, c, give_up))
		return false;
	if (t->opt.polling)
		polling_learn(t->opt.polling, c);
	polls = t->opt.polling && polling_waits(t->opt.polling, c);
	count_frames(t, c, polls);
	count_innermost(t, c, polls || c->spins);
	/* Who waits makes nobody faster by waiting less: no target is chosen for it. */
	if (polls)
		process_table_polled(t->opt.processes, c->process, c->count);
	else if (!library_spins(t, c))
		count_credit(t, c);
	if (callers_are_watched(t->callers))
		callers_add(t->callers, t->x.frame, t->x.n, c->count, polls);
	return true;
}

void tally_add(struct tally *t, struct chains *chains)
{
	pthread_mutex_lock(&t->lock);
	for (struct chain *c = NULL; (c = chains_next(chains, c));) {
		c->process = process_table_sample(t->opt.processes, c->pid, c->count);
		for (int i = 0; i < c->n; i++) {
			if (c->frame[i].binary != CHAIN_NO_BINARY)
				binary_count(t, c->frame[i].binary)->saw = true;
		}
		if (!count_chain(t, c, false) && !chains_add(&t->kept, c))
			t->counts.no_room += c->count;
	}
	put_questions(t);
	pthread_mutex_unlock(&t->lock);
}

/* Under the lock. */
static void look_again(struct tally *t, bool give_up)
{
	uint64_t built = maps_built(t->opt.maps);
	struct chains old = t->kept;

	if (!old.used || (t->built == built && !give_up))
		return;
	t->built = built;
	chains_init(&t->kept, MAX_KEPT);
	for (struct chain *c = NULL; (c = chains_next(&old, c));) {
		if (!count_chain(t, c, give_up))
			chains_add(&t->kept, c);
	}
	put_questions(t);
	chains_deinit(&old);
}

void tally_retry(struct tally *t)
{
	pthread_mutex_lock(&t->lock);
	look_again(t, false);
	pthread_mutex_unlock(&t->lock);
}

void tally_give_up(struct tally *t)
{
	pthread_mutex_lock(&t->lock);
	look_again(t, false);
	look_again(t, true);
	pthread_mutex_unlock(&t->lock);
}

void tally_counts(struct tally *t, struct tally_counts *ret)
{
	pthread_mutex_lock(&t->lock);
	*ret = t->counts;
	ret->no_file = t->in_memory;
	ret->unnamed += ret->no_file;
	for (struct chain *c = NULL; (c = chains_next(&t->kept, c));)
		ret->untold += c->count;
	ret->untold += ret->no_room;
	pthread_mutex_unlock(&t->lock);
}

void tally_locations(struct tally *t, struct tally_sums **ret, size_t *n)
{
	pthread_mutex_lock(&t->lock);
	*n = locations_count(t->opt.locations);
	*ret = xcalloc(*n, sizeof(**ret));
	for (size_t i = 0; i < *n && i < t->n_locations; i++)
		(*ret)[i] = t->locations[i].sum;
	pthread_mutex_unlock(&t->lock);
}

void tally_binaries(struct tally *t, struct tally_binary **ret, size_t *n)
{
	pthread_mutex_lock(&t->lock);
	*n = maps_binary_count(t->opt.maps);
	*ret = xcalloc(*n, sizeof(**ret));
	for (size_t i = 0; i < *n && i < t->n_binaries; i++)
		(*ret)[i] = t->binaries[i].sum;
	pthread_mutex_unlock(&t->lock);
}

struct place_entry *tally_places(struct tally *t, size_t *n, uint64_t *left_out)
{
	struct place_entry *list = NULL;

	*n = 0;
	pthread_mutex_lock(&t->lock);
	places_add(t->places, &list, n);
	*left_out = places_left_out(t->places);
	pthread_mutex_unlock(&t->lock);
	return list;
}

void tally_watch(struct tally *t, uint32_t id, const char *name, const struct engine_part *parts,
		 int n)
{
	pthread_mutex_lock(&t->lock);
	callers_watch(t->callers, id, name, parts, n);
	pthread_mutex_unlock(&t->lock);
}

bool tally_callers(struct tally *t, size_t i, struct caller_target *ret)
{
	bool there;

	pthread_mutex_lock(&t->lock);
	there = callers_get(t->callers, i, ret);
	pthread_mutex_unlock(&t->lock);
	return there;
}

bool tally_saw_binary(struct tally *t, uint32_t binary)
{
	bool saw;

	pthread_mutex_lock(&t->lock);
	saw = binary < t->n_binaries && t->binaries[binary].saw;
	pthread_mutex_unlock(&t->lock);
	return saw;
}
