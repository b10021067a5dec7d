// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/profile_samples.h"

#define LEAST_SHARE 100	 /* of the samples, one in so many, for a line of its own, ... */
#define FEW	    16	 /* ... unless there are no more processes than that, or it is a rank */
#define MOST_PLACES 2000 /* of one process */
#define NOWHERE	    UINT32_MAX

/* ---- by process: bounded, whatever ran ---- */

/* Of locations and of binaries by their ids: which of the written samples they are. */
struct where {
	uint32_t *location, *binary;
	uint32_t *around; /* of a location: which sample its binary is */
	size_t n_locations, n_binaries, n_samples;
};

static void where_init(struct where *w, struct session *s, const uint32_t *places, size_t n)
{
	w->n_locations = locations_count(s->locations);
	w->n_binaries = maps_binary_count(s->maps);
	w->n_samples = n;
	w->location = xcalloc(w->n_locations, sizeof(*w->location));
	w->around = xcalloc(w->n_locations, sizeof(*w->around));
	w->binary = xcalloc(w->n_binaries, sizeof(*w->binary));
	memset(w->location, 0xff, w->n_locations * sizeof(*w->location));
	memset(w->around, 0xff, w->n_locations * sizeof(*w->around));
	memset(w->binary, 0xff, w->n_binaries * sizeof(*w->binary));
	for (size_t i = 0; i < n; i++) {
		uint32_t id = places[i] & ~PLACE_BINARY;

		if (!(places[i] & PLACE_BINARY)) {
			w->location[id] = i;
			continue;
		}
		w->binary[id] = i;
		for (size_t l = 0; l < w->n_locations; l++) {
			if (!strcmp(locations_get(s->locations, l)->binary,
				    maps_binary_path(s->maps, id)))
				w->around[l] = i;
		}
	}
}

static void where_deinit(struct where *w)
{
	free(w->location);
	free(w->around);
	free(w->binary);
}

static int by_total(const void *pa, const void *pb)
{
	const struct profile_place *a = pa, *b = pb;

	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return (a->sample > b->sample) - (a->sample < b->sample);
}

/* Credit is for a place and for the binary that it is in, as in the samples themselves. */
static void add_entry(struct profile_place *by_sample, const struct where *w,
		      const struct place_entry *e)
{
	uint32_t id = e->place & ~PLACE_BINARY, at = NOWHERE, around = NOWHERE;

	if (e->place & PLACE_BINARY) {
		at = id < w->n_binaries ? w->binary[id] : NOWHERE;
	} else if (id < w->n_locations) {
		at = w->location[id];
		around = w->around[id];
	}
	if (at != NOWHERE) {
		by_sample[at].self += e->counts.self;
		by_sample[at].total += e->counts.total;
		by_sample[at].credit += e->counts.credit;
	}
	if (around != NOWHERE)
		by_sample[around].credit += e->counts.credit;
}

static int write_process(struct session *s, const struct process *q, const struct where *w,
			 const struct place_entry *e, size_t n, struct error *err)
{
	_cleanup_free_ struct profile_place *places = xcalloc(w->n_samples, sizeof(*places));
	bool ending = q->pid < 0; /* tasks that no longer had a number when they were sampled */
	struct profile_process p = {
		.pid = ending ? 0 : q->pid,
		.members = ending ? 1 : q->members,
		.name = ending ? "(ending)" : q->name,
		.rank = q->rank,
		.rank_from = q->rank_from ? q->rank_from : "",
		.samples = q->samples,
		.polled = q->polled,
		.places = places,
	};

	for (size_t i = 0; i < w->n_samples; i++)
		places[i].sample = i;
	for (size_t i = 0; i < n; i++) {
		if (e[i].process == q->id)
			add_entry(places, w, &e[i]);
	}
	qsort(places, w->n_samples, sizeof(*places), by_total);
	while (p.n_places < w->n_samples && places[p.n_places].total)
		p.n_places++;
	while (p.n_places > MOST_PLACES)
		p.left_out += places[--p.n_places].self;
	return profile_writer_process(s->writer, &p, err);
}

static int write_processes(struct session *s, const uint32_t *places, size_t n, struct error *err)
{
	_cleanup_free_ struct process *list = NULL;
	_cleanup_free_ struct place_entry *entries = NULL;
	struct handlers_counts counts;
	size_t n_list, n_entries;
	uint64_t left_out;
	struct where w;
	int ret = 0;

	process_table_look(s->processes);
	process_table_settle(s->processes);
	handlers_counts(s->handlers, &counts);
	process_table_fold(s->processes, counts.samples / LEAST_SHARE, FEW);
	list = process_table_list(s->processes, &n_list);
	entries = handlers_places(s->handlers, &n_entries, &left_out);
	where_init(&w, s, places, n);
	for (size_t i = 0; !ret && i < n_list; i++)
		ret = write_process(s, &list[i], &w, entries, n_entries, err);
	where_deinit(&w);
	if (left_out)
		session_warn(s,
			     "%llu samples are not told apart by process: too many places in too "
			     "many processes",
			     (unsigned long long)left_out);
	return ret;
}

/* ---- by place ---- */

/* A place's samples, and which place it is (handlers_places()). */
struct placed {
	struct profile_sample s;
	uint32_t place;
};

static int by_self(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return (x->s.self < y->s.self) - (x->s.self > y->s.self);
}

/* To what lies in the binary, and is not the binary as a whole. */
static uint64_t credited_in(struct session *s, const struct tally_sums *places, size_t n,
			    const char *path)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (places[i].credit && !strcmp(locations_get(s->locations, i)->binary, path))
			sum += places[i].credit;
	}
	return sum;
}

static void write_samples(struct session *s, const struct placed *placed, size_t n)
{
	_cleanup_free_ struct profile_sample *samples = xcalloc(n, sizeof(*samples));
	_cleanup_free_ uint32_t *places = xcalloc(n, sizeof(*places));
	struct error err = {};

	for (size_t i = 0; i < n; i++) {
		samples[i] = placed[i].s;
		places[i] = placed[i].place;
	}
	if (profile_writer_samples(s->writer, samples, n, &err) ||
	    write_processes(s, places, n, &err))
		log_warn("%s", err.text);
}

void samples_write(struct session *s)
{
	_cleanup_free_ struct placed *placed = NULL;
	_cleanup_free_ struct tally_sums *places = NULL;
	_cleanup_free_ struct tally_binary *binaries = NULL;
	size_t n, n_binary, kept = 0, first_binary;

	handlers_locations(s->handlers, &places, &n);
	handlers_binaries(s->handlers, &binaries, &n_binary);
	placed = xcalloc(n + n_binary, sizeof(*placed));
	for (size_t i = 0; i < n; i++) {
		const struct location *l = locations_get(s->locations, i);

		if (places[i].total)
			placed[kept++] = (struct placed){
				.s = { .target = l->target,
				       .location = l->where,
				       .binary = l->binary,
				       .self = places[i].self,
				       .total = places[i].total,
				       .credit = places[i].credit,
				       .polled = places[i].polled },
				.place = i,
			};
	}
	first_binary = kept;
	for (size_t i = 0; i < n_binary; i++) {
		const char *path = binaries[i].sums.total ? maps_binary_path(s->maps, i) : NULL;

		if (!path || path[0] != '/')
			continue;
		/* With a scope of sources, callers outside of it are not asked about. */
		if (s->opt.n_source_scope && !binaries[i].sums.self && !binaries[i].sums.credit)
			continue;
		placed[kept++] = (struct placed){
			.s = { .target = locations_binary_target(path),
			       .location = "",
			       .binary = path,
			       .self = binaries[i].sums.self,
			       .total = binaries[i].sums.total,
			       .credit = binaries[i].sums.credit + credited_in(s, places, n, path),
			       .unnamed = binaries[i].unnamed,
			       .polled = binaries[i].sums.polled },
			.place = PLACE_BINARY | i,
		};
	}
	qsort(placed, first_binary, sizeof(*placed), by_self);
	qsort(placed + first_binary, kept - first_binary, sizeof(*placed), by_self);
	write_samples(s, placed, kept);
	while (kept > first_binary)
		free((char *)placed[--kept].s.target);
}
