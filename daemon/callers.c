// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/callers.h"

#define MOST_PATHS  64 /* told apart, of a target */
#define MOST_FRAMES 12 /* of a path; what called those is not told */

struct path {
	uint64_t samples;
	size_t n;
	const char *function[MOST_FRAMES];
};

struct watched {
	uint32_t id;
	char *name;
	bool kernel; /* a part of it: that is found by its name, for it is moved when it is loaded
		      */
	int n;
	uint32_t binary[SCOZ_MAX_PARTS];
	struct addr_ranges ranges[SCOZ_MAX_PARTS];
	uint64_t samples, polled, all_before;
	struct path *paths;
	size_t n_paths, cap_paths;
};

struct callers {
	struct locations *locations;
	struct watched *list;
	size_t n, cap;
	uint64_t all;
};

struct callers *callers_create(struct locations *locations)
{
	struct callers *c = xcalloc(1, sizeof(*c));

	c->locations = locations;
	return c;
}

static void forget_ranges(struct watched *w)
{
	for (int i = 0; i < w->n; i++)
		addr_ranges_free(&w->ranges[i]);
	w->n = 0;
	w->kernel = false;
}

void callers_destroy(struct callers *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		forget_ranges(&c->list[i]);
		free(c->list[i].name);
		free(c->list[i].paths);
	}
	free(c->list);
	free(c);
}

static struct watched *find(struct callers *c, uint32_t id)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->list[i].id == id)
			return &c->list[i];
	}
	return NULL;
}

void callers_watch(struct callers *c, uint32_t id, const char *name,
		   const struct engine_part *parts, int n)
{
	struct watched *w = find(c, id);

	if (!w) {
		array_reserve(c->list, c->cap, c->n + 1);
		w = &c->list[c->n++];
		*w = (struct watched){ .id = id, .name = xstrdup(name), .all_before = c->all };
	}
	forget_ranges(w);
	for (int i = 0; i < n; i++) {
		const struct addr_ranges *from = parts[i].ranges;
		struct addr_ranges *to = &w->ranges[w->n];

		w->kernel |= parts[i].binary == MAPS_KERNEL_ID;
		if (parts[i].binary == MAPS_KERNEL_ID || !from->n)
			continue;
		to->r = xcalloc(from->n, sizeof(*to->r));
		memcpy(to->r, from->r, from->n * sizeof(*to->r));
		to->n = from->n;
		w->binary[w->n++] = parts[i].binary;
	}
}

bool callers_are_watched(const struct callers *c)
{
	return c->n;
}

/* ---- a chain ---- */

static bool holds(const struct addr_ranges *ranges, uint64_t vaddr)
{
	size_t lo = 0, hi = ranges->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (vaddr < ranges->r[mid].start)
			hi = mid;
		else if (vaddr >= ranges->r[mid].end)
			lo = mid + 1;
		else
			return true;
	}
	return false;
}

static const char *function_of(const struct callers *c, const struct caller_frame *f)
{
	const struct location *l;

	if (f->location == LOCATION_NONE)
		return NULL;
	l = locations_get(c->locations, f->location);
	return l->function ? l->function : l->kind == TARGET_LINE ? NULL : l->target;
}

/* "func:work" and "func:work@bar" are called alike, and a line is where it says. */
static bool is_named(const struct callers *c, const struct watched *w, const struct caller_frame *f)
{
	const char *function = function_of(c, f);
	size_t n = strcspn(w->name, "@");

	if (f->location == LOCATION_NONE)
		return false;
	if (!strcmp(locations_get(c->locations, f->location)->target, w->name))
		return true;
	return function && !strncmp(function, w->name, n) && (!function[n] || function[n] == '@');
}

static bool is_in(const struct callers *c, const struct watched *w, const struct caller_frame *f)
{
	for (int i = 0; i < w->n; i++) {
		if (w->binary[i] == f->binary && holds(&w->ranges[i], f->vaddr))
			return true;
	}
	return w->kernel && is_named(c, w, f);
}

/*
 * Where the target's own frame is among those of one address, @i being the first of them: what was
 * inlined into it comes before.
 */
static int own_frame(const struct callers *c, const struct watched *w,
		     const struct caller_frame *frame, int i, int n)
{
	for (int k = i; k < n && frame[k].chain == frame[i].chain; k++) {
		if (is_named(c, w, &frame[k]))
			return k;
	}
	return i;
}

/* What starts programs and threads says nothing: main() is where a path begins. */
static int without_start(const struct caller_frame *frame, int from, int n)
{
	while (n > from + 1 &&
	       (frame[n - 1].location == LOCATION_NONE || frame[n - 1].origin == CODE_LIBRARY ||
		frame[n - 1].origin == CODE_PASSING))
		n--;
	return n;
}

static void make_path(const struct callers *c, const struct caller_frame *frame, int from, int n,
		      struct path *ret)
{
	n = without_start(frame, from, n);
	for (int i = from; i < n && ret->n < MOST_FRAMES; i++) {
		const char *function = function_of(c, &frame[i]);

		/* Recursion is told once. */
		if (function && (!ret->n || strcmp(ret->function[ret->n - 1], function) != 0))
			ret->function[ret->n++] = function;
	}
}

static void count_path(struct watched *w, const struct path *p, uint64_t count)
{
	for (size_t i = 0; i < w->n_paths; i++) {
		if (texts_equal(w->paths[i].function, w->paths[i].n, p->function, p->n)) {
			w->paths[i].samples += count;
			return;
		}
	}
	if (!p->n || w->n_paths == MOST_PATHS)
		return;
	array_reserve(w->paths, w->cap_paths, w->n_paths + 1);
	w->paths[w->n_paths] = *p;
	w->paths[w->n_paths++].samples = count;
}

void callers_add(struct callers *c, const struct caller_frame *frame, int n, uint64_t count,
		 bool polls)
{
	c->all += count;
	for (size_t t = 0; t < c->n; t++) {
		struct watched *w = &c->list[t];
		struct path path = { .n = 0 };
		int i = 0;

		while (i < n && !is_in(c, w, &frame[i]))
			i++;
		if (i == n)
			continue;
		w->samples += count;
		w->polled += polls ? count : 0;
		make_path(c, frame, own_frame(c, w, frame, i, n), n, &path);
		count_path(w, &path, count);
	}
}

/* ---- what came of it ---- */

static int by_samples(const void *pa, const void *pb)
{
	const struct path *a = pa, *b = pb;

	return (a->samples < b->samples) - (a->samples > b->samples);
}

bool callers_get(struct callers *c, size_t i, struct caller_target *ret)
{
	struct watched *w;

	if (i >= c->n)
		return false;
	w = &c->list[i];
	if (w->n_paths)
		qsort(w->paths, w->n_paths, sizeof(*w->paths), by_samples);
	*ret = (struct caller_target){ .id = w->id,
				       .samples = w->samples,
				       .all = c->all - w->all_before,
				       .polled = w->polled };
	for (size_t k = 0; k < w->n_paths && k < CALLERS_SHOWN; k++)
		ret->paths[ret->n_paths++] =
			(struct caller_path){ w->paths[k].samples, w->paths[k].function,
					      w->paths[k].n };
	return true;
}
