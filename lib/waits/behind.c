// SPDX-License-Identifier: GPL-2.0-or-later
#include "waits/behind.h"

#include "progress/point.h"
#include "whatif/candidates.h"

#define NOT_YET (UINT32_MAX - 1)

/* Where a thread is. */
struct place {
	uint64_t since;
	bool waits;
};

struct search {
	const struct waits_recorded *r;
	const struct waits_edge *edges;
	size_t n;
	struct waits_behind *ret;
	struct hash_index by_ends;
	struct place *threads;
	struct devices *devices;
	uint64_t *idle_from;
	uint32_t *waiting; /* devices that wait for somebody */
	size_t n_waiting;
	struct trace_order order;
	/* Code that samples are credited to. */
	uint32_t *code_of_frame, *code_of_stack;
	uint32_t *frame_of_code;
	size_t n_codes, cap_codes;
	struct hash_index by_name;
	double *weights; /* by edge and code */
};

/* ---- code ---- */

static bool same_code(const void *items, uint32_t number, const void *key)
{
	const struct search *s = items;
	const struct record_frame *a = &s->r->trace->frames[s->frame_of_code[number]], *b = key;

	return frame_is_function(a) == frame_is_function(b) && !strcmp(a->object, b->object) &&
	       (!frame_is_function(a) || !strcmp(a->symbol, b->symbol));
}

static uint32_t intern(struct search *s, uint32_t frame)
{
	const struct record_frame *f = &s->r->trace->frames[frame];
	uint64_t hash = hash_chosen(HASH_START, f->object);
	uint32_t i;

	if (s->code_of_frame[frame] != NOT_YET)
		return s->code_of_frame[frame];
	if (frame_is_function(f))
		hash = hash_chosen(hash, f->symbol);
	i = hash_index_find(&s->by_name, hash, same_code, s, f);
	if (i == HASH_NONE) {
		i = s->n_codes++;
		array_reserve(s->frame_of_code, s->cap_codes, s->n_codes);
		s->frame_of_code[i] = frame;
		hash_index_add(&s->by_name, hash, i);
	}
	return s->code_of_frame[frame] = i;
}

/* A caller never stands for code that is not known. */
static uint32_t credited(const struct trace *t, uint32_t stack)
{
	uint32_t innermost = TRACE_NONE;

	for (uint32_t at = stack; at != TRACE_NONE; at = t->stacks[at].parent) {
		const struct record_frame *f = &t->frames[t->stacks[at].frame];

		if (innermost == TRACE_NONE)
			innermost = t->stacks[at].frame;
		if (!frame_is_function(f))
			break;
		if (!frame_is_of_system(f))
			return t->stacks[at].frame;
	}
	return innermost;
}

static uint32_t code_of(struct search *s, uint32_t stack)
{
	uint32_t frame;

	if (stack == TRACE_NONE)
		return HASH_NONE;
	if (s->code_of_stack[stack] != NOT_YET)
		return s->code_of_stack[stack];
	frame = credited(s->r->trace, stack);
	return s->code_of_stack[stack] = frame == TRACE_NONE ? HASH_NONE : intern(s, frame);
}

static void know_code(struct search *s)
{
	const struct trace *t = s->r->trace;

	s->code_of_frame = xmalloc((t->n_frames + 1) * sizeof(*s->code_of_frame));
	s->code_of_stack = xmalloc((t->n_stacks + 1) * sizeof(*s->code_of_stack));
	for (size_t i = 0; i < t->n_frames; i++)
		s->code_of_frame[i] = NOT_YET;
	for (size_t i = 0; i < t->n_stacks; i++)
		s->code_of_stack[i] = NOT_YET;
	for (size_t i = 0; i < t->n_samples; i++)
		code_of(s, t->samples[i].stack);
	s->weights = xcalloc(s->n * s->n_codes + 1, sizeof(*s->weights));
}

/* ---- samples ---- */

static void credit(struct search *s, size_t edge, const struct trace_event *sample)
{
	uint32_t code = code_of(s, sample->stack);

	s->ret[edge].samples++;
	s->ret[edge].ran += sample->weight;
	if (code != HASH_NONE)
		s->weights[edge * s->n_codes + code] += sample->weight;
}

/* What @thread was met in after @from, up to @to. */
static void credit_between(struct search *s, size_t edge, uint32_t thread, uint64_t from,
			   uint64_t to)
{
	const struct trace *t = s->r->trace;

	for (size_t i = trace_first_after(t, &s->order, thread, from);
	     i < s->order.first[thread + 1]; i++) {
		const struct trace_event *sample = &t->samples[s->order.samples[i]];

		if (sample->time > to)
			break;
		credit(s, edge, sample);
	}
}

/* ---- events ---- */

static bool same_ends(const void *items, uint32_t number, const void *key)
{
	const struct waits_edge *e = (const struct waits_edge *)items + number, *k = key;

	return e->from == k->from && e->to == k->to;
}

static uint64_t ends_hash(uint32_t from, uint32_t to)
{
	return hash_mix(hash_mix(HASH_START, from), to);
}

static uint32_t edge_between(const struct search *s, uint32_t from, uint32_t to)
{
	const struct waits_edge key = { .from = s->r->group[from], .to = s->r->group[to] };

	return hash_index_find(&s->by_ends, ends_hash(key.from, key.to), same_ends, s->edges, &key);
}

static void see_wake(struct search *s, const struct trace_event *e)
{
	struct place *p = &s->threads[e->thread];
	uint32_t edge;

	if (!p->waits)
		return;
	p->waits = false;
	if (e->by != TRACE_BY_THREAD)
		return;
	edge = edge_between(s, e->thread, e->other);
	if (edge == HASH_NONE)
		return;
	s->ret[edge].waited += e->time - p->since;
	credit_between(s, edge, e->other, p->since, e->time);
}

/* An idle device waits for those who use it: for what they run meanwhile. */
static void see_sample(struct search *s, const struct trace_event *e)
{
	const struct trace *t = s->r->trace;

	for (size_t i = 0; i < s->n_waiting; i++) {
		uint32_t d = s->waiting[i], edge;

		if (devices_open(s->devices, d))
			continue;
		edge = edge_between(s, t->n_threads + d, e->thread);
		if (edge != HASH_NONE)
			credit(s, edge, e);
	}
}

static void end_idle(struct search *s, uint32_t device, uint64_t now)
{
	uint32_t group = s->r->group[s->r->trace->n_threads + device];

	for (size_t i = 0; i < s->n; i++) {
		if (s->edges[i].from == group)
			s->ret[i].waited += now - s->idle_from[device];
	}
}

static void see_device(struct search *s, const struct trace_event *e)
{
	bool idle;

	if (e->other == TRACE_NONE)
		return;
	idle = !devices_open(s->devices, e->other);
	devices_event(s->devices, e);
	if (idle && devices_open(s->devices, e->other))
		end_idle(s, e->other, e->time);
	else if (!idle && !devices_open(s->devices, e->other))
		s->idle_from[e->other] = e->time;
}

static void find_waiting(struct search *s)
{
	const struct waits_recorded *r = s->r;
	_cleanup_free_ bool *waits = xcalloc(r->n_groups + 1, sizeof(*waits));

	s->waiting = xcalloc(r->trace->n_devices + 1, sizeof(*s->waiting));
	for (size_t i = 0; i < s->n; i++)
		waits[s->edges[i].from] = true;
	for (size_t d = 0; d < r->trace->n_devices; d++) {
		if (waits[r->group[r->trace->n_threads + d]])
			s->waiting[s->n_waiting++] = d;
	}
}

static int see(const struct trace_event *e, void *arg)
{
	struct search *s = arg;

	switch (e->type) {
	case TRACE_ISSUE:
	case TRACE_COMPLETE:
		see_device(s, e);
		break;
	case TRACE_SAMPLE:
		see_sample(s, e);
		break;
	case TRACE_FOLLOW:
	case TRACE_LEAVE:
		s->threads[e->thread] = (struct place){ e->time, e->why == TRACE_BLOCKED };
		break;
	case TRACE_ENTER:
	case TRACE_EXIT:
		s->threads[e->thread].waits = false;
		break;
	case TRACE_WAKE:
		see_wake(s, e);
		break;
	}
	return 0;
}

static void choose(struct search *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const double *w = s->weights + i * s->n_codes;
		size_t best = 0;

		s->ret[i].frame = TRACE_NONE;
		for (size_t c = 1; c < s->n_codes; c++) {
			if (w[c] > w[best])
				best = c;
		}
		if (!s->n_codes || w[best] <= 0)
			continue;
		s->ret[i].frame = s->frame_of_code[best];
		s->ret[i].share = w[best] / s->ret[i].ran;
	}
}

int waits_find_behind(const struct waits_recorded *r, const struct waits_edge *edges, size_t n,
		      struct waits_behind *ret, struct error *err)
{
	const struct trace *t = r->trace;
	struct search s = { .r = r, .edges = edges, .n = n, .ret = ret };
	int e;

	memset(ret, 0, n * sizeof(*ret));
	for (size_t i = 0; i < n; i++)
		hash_index_add(&s.by_ends, ends_hash(edges[i].from, edges[i].to), i);
	s.threads = xcalloc(t->n_threads + 1, sizeof(*s.threads));
	s.devices = devices_create();
	s.idle_from = xcalloc(t->n_devices + 1, sizeof(*s.idle_from));
	for (size_t i = 0; i < t->n_devices; i++)
		s.idle_from[i] = r->from;
	find_waiting(&s);
	know_code(&s);
	trace_order_samples(t, &s.order);
	e = trace_each(t, see, &s, err);
	for (size_t i = 0; i < t->n_devices; i++) {
		if (!devices_open(s.devices, i))
			end_idle(&s, i, r->to);
	}
	choose(&s);
	free(s.threads);
	devices_free(s.devices);
	free(s.idle_from);
	free(s.waiting);
	trace_order_free(&s.order);
	free(s.code_of_frame);
	free(s.code_of_stack);
	free(s.frame_of_code);
	free(s.weights);
	hash_index_deinit(&s.by_ends);
	hash_index_deinit(&s.by_name);
	return e;
}

char *waits_target_of(const struct record_frame *f)
{
	struct target t = { .kind = TARGET_FUNCTION, .name = (char *)f->symbol };
	bool kernel = f->object[0] == '[';

	if (f->kind == FRAME_MISSING || !f->object[0] || (kernel && !frame_is_function(f)))
		return NULL;
	if (!frame_is_function(f))
		t = (struct target){ .kind = TARGET_BINARY, .name = (char *)path_base(f->object) };
	else if (kernel)
		t.kind = TARGET_KERNEL;
	else
		t.binary = (char *)path_base(f->object);
	return target_text(&t);
}

/* ---- two orders ---- */

/*
 * Intervals of 95 % that do not overlap: of a pair that are about as wide that is 99 %, so that
 * what is said of all ten pairs of five holds together about as often as one interval does.
 */
static bool surely_better(const struct waits_tried *a, const struct waits_tried *b)
{
	return a->known && b->known && a->low > b->high;
}

static void find_places(struct waits_tried *tried, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t better = 0, worse = 0, known = 0;

		for (size_t k = 0; k < n; k++) {
			known += tried[k].known;
			better += surely_better(&tried[k], &tried[i]);
			worse += surely_better(&tried[i], &tried[k]);
		}
		tried[i].first = tried[i].known ? 1 + better : 0;
		tried[i].last = tried[i].known ? known - worse : 0;
	}
}

static void compare_pair(const struct waits_tried *a, const struct waits_tried *b,
			 struct waits_orders *ret)
{
	if (a->weight < b->weight) {
		compare_pair(b, a, ret);
		return;
	}
	if (b->weight >= WAITS_NEAR * a->weight)
		return;
	if (surely_better(a, b))
		ret->same++;
	else if (surely_better(b, a))
		ret->opposite++;
	else
		ret->undecided++;
}

/* Is the heaviest, or one as good as it, surely better than all that are lighter? */
static void compare_top(const struct waits_tried *tried, size_t n, struct waits_orders *ret)
{
	double heaviest = 0;
	bool best = false;
	size_t lighter = 0;

	for (size_t i = 0; i < n; i++)
		heaviest = tried[i].weight > heaviest ? tried[i].weight : heaviest;
	for (size_t i = 0; i < n; i++)
		lighter += tried[i].weight < WAITS_NEAR * heaviest;
	for (size_t i = 0; lighter && i < n; i++) {
		size_t over = 0, under = 0;

		for (size_t k = 0; k < n; k++) {
			bool light = tried[k].weight < WAITS_NEAR * heaviest;

			over += light && surely_better(&tried[i], &tried[k]);
			/* Better than all that are as heavy as the heaviest. */
			under += !light && !surely_better(&tried[i], &tried[k]);
		}
		if (tried[i].weight >= WAITS_NEAR * heaviest) {
			best |= over == lighter;
		} else if (!under && (ret->top != WAITS_DISAGREE ||
				      tried[i].value > tried[ret->better].value)) {
			ret->top = WAITS_DISAGREE;
			ret->better = i;
		}
	}
	if (best)
		ret->top = WAITS_AGREE;
}

void waits_compare_orders(struct waits_tried *tried, size_t n, struct waits_orders *ret)
{
	*ret = (struct waits_orders){};
	find_places(tried, n);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = i + 1; k < n; k++)
			compare_pair(&tried[i], &tried[k], ret);
	}
	compare_top(tried, n, ret);
}
