// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/candidates.h"

#include "base/hash_index.h"
#include "maps/credit.h"
#include "whatif/polls.h"

#include <math.h>

#define LEAST_REQUESTS 20
#define MOST_WAITING   0.9 /* of its time: a library's way to wait */

struct candidate {
	struct predict_target target;
	double rank;  /* what they are chosen by */
	double waits; /* of share: in a loop, or by polling */
	bool system;
};

struct all {
	const struct trace *t;
	struct candidate *list;
	size_t n, cap;
	struct hash_index index;
	uint32_t *function, *line; /* by frame: number in the list, HASH_NONE */
	bool *system;		   /* by frame: it is not the user's */
	const uint8_t *polls;	   /* by stack */
	uint32_t *on_path;	   /* by number: how often it is in the chain that is looked at */
};

static bool same(const void *items, uint32_t number, const void *key)
{
	const struct predict_target *a = &((const struct candidate *)items)[number].target;
	const struct predict_target *b = key;

	if (a->line != b->line)
		return false;
	/* The same line in several programs (a header's, say) is one. */
	return a->line ? !strcmp(a->file, b->file)
		       : !strcmp(a->symbol, b->symbol) && !strcmp(a->object, b->object);
}

static uint32_t intern(struct all *a, const struct predict_target *t)
{
	uint64_t hash = t->line ? hash_mix(hash_chosen(HASH_START, t->file), t->line)
				: hash_chosen(hash_chosen(HASH_START, t->symbol), t->object);
	uint32_t i = hash_index_find(&a->index, hash, same, a->list, t);

	if (i != HASH_NONE)
		return i;
	i = a->n++;
	array_reserve(a->list, a->cap, a->n);
	a->list[i] = (struct candidate){ .target = *t };
	hash_index_add(&a->index, hash, i);
	return i;
}

bool frame_is_function(const struct record_frame *f)
{
	return f->kind != FRAME_MISSING && f->symbol[0] != '[' && f->symbol[0];
}

bool frame_is_in_kernel(const struct record_frame *f)
{
	return f->object[0] == '[' && strcmp(f->object, MAPS_VDSO) != 0;
}

bool frame_is_of_system(const struct record_frame *f)
{
	bool binary = f->object[0] == '[' || binary_is_system(f->object);

	/* As origin_in_program() of maps: a relative path tells whose it is only by the binary. */
	if (!f->file || (f->file[0] != '/' && binary))
		return binary;
	return source_is_system(f->file);
}

static void name_frames(struct all *a, enum predict_grain grain)
{
	const struct trace *t = a->t;

	a->function = xcalloc(t->n_frames + 1, sizeof(*a->function));
	a->line = xcalloc(t->n_frames + 1, sizeof(*a->line));
	a->system = xcalloc(t->n_frames + 1, sizeof(*a->system));
	for (size_t i = 0; i < t->n_frames; i++) {
		const struct record_frame *f = &t->frames[i];
		struct predict_target named = { .symbol = f->symbol,
						.object = f->object,
						.file = f->line ? f->file : NULL };

		a->function[i] = a->line[i] = HASH_NONE;
		a->system[i] = frame_is_of_system(f);
		if (grain != PREDICT_LINES && frame_is_function(f)) {
			a->function[i] = intern(a, &named);
			a->list[a->function[i]].system = a->system[i];
		}
		named.line = f->line;
		if ((grain == PREDICT_LINES || grain == PREDICT_BOTH) && f->kind != FRAME_MISSING &&
		    f->file && f->line)
			a->line[i] = intern(a, &named);
	}
	a->on_path = xcalloc(a->n + 1, sizeof(*a->on_path));
}

/* What samples stand for that begin with a stack. */
struct met {
	double weight, waits;
	uint64_t samples;
};

static void count(struct all *a, uint32_t i, const struct met *m)
{
	if (i == HASH_NONE || a->on_path[i]++)
		return;
	a->list[i].target.share += m->weight;
	a->list[i].target.samples += m->samples;
	a->list[i].waits += m->waits;
}

static void leave(struct all *a, uint32_t stack)
{
	uint32_t f = a->t->stacks[stack].frame;

	if (a->function[f] != HASH_NONE)
		a->on_path[a->function[f]]--;
	if (a->line[f] != HASH_NONE)
		a->on_path[a->line[f]]--;
}

/* Each counts once in a chain. Chains may be deep: what begins alike is looked at once. */
static void count_chains(struct all *a)
{
	const struct trace *t = a->t;
	struct met *met = xcalloc(t->n_stacks + 1, sizeof(*met));
	uint32_t *path = xcalloc(t->n_stacks + 1, sizeof(*path));
	struct trace_tree tree;
	size_t depth = 0;

	for (size_t i = 0; i < t->n_samples; i++) {
		const struct trace_event *s = &t->samples[i];
		struct met *m = s->stack != TRACE_NONE ? &met[s->stack] : NULL;

		if (!m)
			continue;
		m->weight += s->weight;
		m->waits += sample_waits(a->polls, s) ? s->weight : 0;
		m->samples++;
	}
	for (size_t i = t->n_stacks; i-- > 0;) {
		struct met *parent;

		if (t->stacks[i].parent == TRACE_NONE)
			continue;
		parent = &met[t->stacks[i].parent];
		parent->weight += met[i].weight;
		parent->waits += met[i].waits;
		parent->samples += met[i].samples;
	}
	trace_tree_make(t, &tree);
	for (size_t i = 0; i < t->n_stacks; i++) {
		uint32_t at = tree.order[i], f = t->stacks[at].frame;

		while (depth && tree.end[path[depth - 1]] <= i)
			leave(a, path[--depth]);
		path[depth++] = at;
		count(a, a->function[f], &met[at]);
		count(a, a->line[f], &met[at]);
	}
	trace_tree_free(&tree);
	free(met);
	free(path);
}

static void credit(struct all *a, uint32_t i, double weight)
{
	if (i != HASH_NONE)
		a->list[i].target.own += weight;
}

/* Frames of a chain: the innermost, that of the user's, and that of whoever asked the kernel. */
struct inner {
	uint32_t any, own, asks;
};

/* By stack; each begins with its caller's. */
static struct inner *find_inner(const struct all *a)
{
	static const struct inner none = { TRACE_NONE, TRACE_NONE, TRACE_NONE };
	const struct trace *t = a->t;
	struct inner *ret = xcalloc(t->n_stacks + 1, sizeof(*ret));

	for (size_t i = 0; i < t->n_stacks; i++) {
		const struct record_stack *s = &t->stacks[i];
		const struct record_frame *f = &t->frames[s->frame];

		ret[i] = s->parent != TRACE_NONE ? ret[s->parent] : none;
		/* Whose names are in no file: what it does is its caller's. */
		if (!strcmp(f->object, MAPS_VDSO))
			continue;
		if (!frame_is_in_kernel(f) && !function_yields(f->symbol))
			ret[i].asks = s->frame;
		/* A caller never stands for code that is not known. */
		if (!frame_is_function(f)) {
			ret[i].any = ret[i].own = TRACE_NONE;
			continue;
		}
		ret[i].any = s->frame;
		if (!a->system[s->frame])
			ret[i].own = s->frame;
	}
	return ret;
}

static void credit_sample(struct all *a, const struct inner *in, const struct trace_event *s)
{
	uint32_t any = in->own != TRACE_NONE ? in->own : in->any;

	if (any == TRACE_NONE)
		return;
	/* Who waits makes nobody faster by waiting less; a loop of the user's may be mended. */
	if (sample_polls(a->polls, s) ||
	    (s->spins && in->asks != TRACE_NONE && a->system[in->asks]))
		return;
	credit(a, a->function[any], s->weight);
	/* If its line is not known, that of its caller is none of it. */
	credit(a, a->line[any], s->weight);
}

static int best_first(const void *pa, const void *pb)
{
	const struct candidate *a = *(struct candidate *const *)pa,
			       *b = *(struct candidate *const *)pb;

	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Returns ranks by number, HASH_NONE: not among those kept. */
static uint32_t *keep_best(const struct all *a, const struct predict_options *o, double weight,
			   struct candidates *ret)
{
	struct candidate **order = xcalloc(a->n + 1, sizeof(*order));
	uint32_t *rank = xcalloc(a->n + 1, sizeof(*rank));
	size_t left = PREDICT_TARGETS - ret->n;
	size_t room[2] = { left, left }; /* functions, lines */

	if (o->grain == PREDICT_BOTH)
		room[0] = room[1] = left / 2;
	for (size_t i = 0; i < a->n; i++) {
		struct candidate *c = &a->list[i];

		c->rank = o->grain == PREDICT_FUNCTIONS ? c->target.share : c->target.own;
		if (c->system && c->waits >= MOST_WAITING * c->target.share)
			c->rank = 0;
		if (o->wanted && c->target.samples && o->wanted(&c->target, o->wanted_arg))
			c->rank = INFINITY;
		order[i] = c;
		rank[i] = HASH_NONE;
	}
	qsort(order, a->n, sizeof(*order), best_first);
	for (size_t i = 0; i < a->n && order[i]->rank > 0; i++) {
		if (!room[order[i]->target.line > 0])
			continue;
		room[order[i]->target.line > 0]--;
		rank[order[i] - a->list] = ret->n;
		ret->list[ret->n] = order[i]->target;
		ret->list[ret->n].own /= weight;
		ret->list[ret->n++].share /= weight;
	}
	free(order);
	return rank;
}

static uint64_t mask_of(const uint32_t *rank, uint32_t i)
{
	return i != HASH_NONE && rank[i] != HASH_NONE ? 1ULL << rank[i] : 0;
}

static int busiest_first(const void *pa, const void *pb, void *arg)
{
	const uint64_t *requests = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (requests[a] != requests[b])
		return requests[a] > requests[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Where there is one only, all are that one. */
static void find_devices(const struct trace *t, struct candidates *ret)
{
	_cleanup_free_ uint32_t *list = xcalloc(t->n_devices + 1, sizeof(*list));
	struct predict_target all = { .symbol = PREDICT_ALL_DEVICES, .object = "" };
	size_t n = 0;

	for (uint32_t i = 0; i < t->n_devices; i++) {
		if (t->requests[i] < LEAST_REQUESTS)
			continue;
		list[n++] = i;
		all.devices |= replay_device_bit(i);
		all.samples += t->requests[i];
	}
	qsort_r(list, n, sizeof(*list), busiest_first, t->requests);
	if (n)
		ret->list[ret->n++] = all;
	for (size_t i = 0; n > 1 && i < n && ret->n < PREDICT_DEVICES; i++)
		ret->list[ret->n++] =
			(struct predict_target){ .symbol = t->devices[list[i]],
						 .object = "",
						 .devices = replay_device_bit(list[i]),
						 .samples = t->requests[list[i]] };
	ret->n_devices = ret->n;
}

void candidates_find(const struct trace *t, const struct predict_options *o, struct candidates *ret)
{
	struct all a = { .t = t };
	struct inner *inner;
	double weight = 0;
	uint32_t *rank;

	*ret = (struct candidates){ .list = xcalloc(PREDICT_TARGETS, sizeof(*ret->list)) };
	if (o->devices)
		find_devices(t, ret);
	ret->polls = polls_find(t);
	a.polls = ret->polls;
	name_frames(&a, o->grain);
	count_chains(&a);
	inner = find_inner(&a);
	for (size_t i = 0; i < t->n_samples; i++) {
		if (t->samples[i].stack != TRACE_NONE)
			credit_sample(&a, &inner[t->samples[i].stack], &t->samples[i]);
		weight += t->samples[i].weight;
	}
	free(inner);
	rank = keep_best(&a, o, weight, ret);
	ret->masks = xcalloc(t->n_stacks + 1, sizeof(*ret->masks));
	for (size_t i = 0; i < t->n_stacks; i++) {
		const struct record_stack *s = &t->stacks[i];

		if (s->parent != TRACE_NONE)
			ret->masks[i] = ret->masks[s->parent];
		ret->masks[i] |=
			mask_of(rank, a.function[s->frame]) | mask_of(rank, a.line[s->frame]);
	}
	for (size_t i = 0; i < t->n_stacks; i++)
		ret->masks[i] = ret->polls[i] ? 0 : ret->masks[i];
	free(rank);
	free(a.function);
	free(a.line);
	free(a.system);
	free(a.on_path);
	free(a.list);
	hash_index_deinit(&a.index);
}

void candidates_free(struct candidates *c)
{
	free(c->list);
	free(c->masks);
	free(c->polls);
	*c = (struct candidates){};
}
