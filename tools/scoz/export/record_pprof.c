// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pprof's profile.proto, compressed with gzip. What a sample waited for is in labels, which pprof
 * filters (-tagfocus=class=io) and makes frames of (-tagleaf=kind). Field numbers are those of
 * profile.proto.
 */
#include <zlib.h>

#include "tools/scoz/export/record_export.h"
#include "tools/scoz/text.h"

/* ---- the wire format ---- */

struct pprof_buffer {
	unsigned char *data;
	size_t n, cap;
};

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

static void pprof_varint(struct pprof_buffer *b, uint64_t v)
{
	array_reserve(b->data, b->cap, b->n + 10);
	for (; v >= 0x80; v >>= 7)
		b->data[b->n++] = v | 0x80;
	b->data[b->n++] = v;
}

/* Zero is what a field is without being there. */
static void pprof_number(struct pprof_buffer *b, unsigned int field, uint64_t v)
{
	if (!v)
		return;
	pprof_varint(b, field << 3 | WIRE_VARINT);
	pprof_varint(b, v);
}

static void pprof_bytes(struct pprof_buffer *b, unsigned int field, const void *data, size_t n)
{
	pprof_varint(b, field << 3 | WIRE_BYTES);
	pprof_varint(b, n);
	array_reserve(b->data, b->cap, b->n + n + 1);
	memcpy(b->data + b->n, n ? data : "", n);
	b->n += n;
}

/* Puts @inner into @b and empties it. */
static void pprof_message(struct pprof_buffer *b, unsigned int field, struct pprof_buffer *inner)
{
	pprof_bytes(b, field, inner->data, inner->n);
	inner->n = 0;
}

/* ---- gzip ---- */

struct pprof {
	const struct record_view *v;
	FILE *out;
	z_stream z;
	struct pprof_buffer all, message, part, function;
	struct export_strings strings;
	struct export_map mappings, functions, locations, samples;
	uint64_t *limit;    /* of each mapping: the highest address */
	uint64_t *points;   /* of each sample */
	uint32_t *location; /* of each node: the one that begins there, inwards to outwards */
	uint32_t *outer;    /* of each node: the node where the next location begins */
	size_t points_cap;
};

static void pprof_write(struct pprof *x, bool finish)
{
	unsigned char out[1 << 16];

	x->z.next_in = x->all.data;
	x->z.avail_in = x->all.n;
	do {
		x->z.next_out = out;
		x->z.avail_out = sizeof(out);
		deflate(&x->z, finish ? Z_FINISH : Z_NO_FLUSH);
		fwrite(out, 1, sizeof(out) - x->z.avail_out, x->out);
	} while (!x->z.avail_out);
	x->all.n = 0;
}

/* Messages of the profile itself: they go out by the megabyte. */
static void pprof_emit(struct pprof *x, unsigned int field)
{
	pprof_message(&x->all, field, &x->message);
	if (x->all.n > 1 << 20)
		pprof_write(x, false);
}

/* ---- functions, mappings, locations ---- */

static uint32_t pprof_string(struct pprof *x, const char *s)
{
	_cleanup_free_ char *clean = text_clean(s, "\xef\xbf\xbd");

	return export_strings_add(&x->strings, clean);
}

static uint32_t pprof_function(struct pprof *x, uint32_t frame)
{
	const struct view_frame *f = &x->v->frames[frame];
	const char *file = f->frame && f->frame->file ? f->frame->file : "";
	uint32_t key[] = { pprof_string(x, f->name), pprof_string(x, file) };
	size_t n = x->functions.n;
	uint32_t id = export_map_add(&x->functions, key) + 1;

	if (id == n + 1) {
		pprof_number(&x->function, 1, id);
		pprof_number(&x->function, 2, key[0]);
		pprof_number(&x->function, 3, key[0]);
		pprof_number(&x->function, 4, key[1]);
		pprof_message(&x->all, 5, &x->function);
	}
	return id;
}

/* The id of the mapping, 0: none. */
static uint32_t pprof_mapping(struct pprof *x, const struct record_frame *f)
{
	size_t n = x->mappings.n;
	uint32_t key, id;

	if (!f || !f->object || !*f->object)
		return 0;
	key = pprof_string(x, f->object);
	id = export_map_add(&x->mappings, &key);
	if (id == n) {
		x->limit = xreallocarray(x->limit, n + 1, sizeof(*x->limit));
		x->limit[id] = 0;
	}
	if (f->address > x->limit[id])
		x->limit[id] = f->address;
	return id + 1;
}

static void pprof_line(struct pprof *x, uint32_t frame)
{
	const struct record_frame *f = x->v->frames[frame].frame;

	pprof_number(&x->part, 1, pprof_function(x, frame));
	pprof_number(&x->part, 2, f ? f->line : 0);
	pprof_message(&x->message, 4, &x->part);
}

/* A location is one address: an inlined call is in that of the call around it. */
static void pprof_locate(struct pprof *x, uint32_t node)
{
	uint32_t frame = view_node_frame(x->v, node), parent = view_node_parent(x->v, node);
	bool inlined =
		x->v->frames[frame].category == CATEGORY_INHERITED && parent != RECORDING_NONE;
	uint32_t key[] = { frame, inlined ? x->location[parent] : RECORDING_NONE };

	x->location[node] = export_map_add(&x->locations, key);
	x->outer[node] = inlined ? x->outer[parent] : parent;
}

static void pprof_location(struct pprof *x, uint32_t node)
{
	const struct record_frame *f = NULL;

	for (uint32_t n = node; n != x->outer[node]; n = view_node_parent(x->v, n)) {
		pprof_line(x, view_node_frame(x->v, n));
		f = x->v->frames[view_node_frame(x->v, n)].frame;
	}
	pprof_number(&x->message, 1, x->location[node] + 1);
	pprof_number(&x->message, 2, pprof_mapping(x, f));
	pprof_number(&x->message, 3, f ? f->address : 0);
	pprof_emit(x, 4);
}

/* Callers come first in the tree, so that one pass outwards finds all that samples refer to. */
static void pprof_locations(struct pprof *x)
{
	const struct record_view *v = x->v;
	_cleanup_free_ bool *used = xcalloc(v->nodes.n + 1, sizeof(*used)), *done = NULL;

	for (size_t i = 0; i < v->nodes.n; i++)
		pprof_locate(x, i);
	for (size_t i = 0; i < v->r->n_samples; i++) {
		if (v->chain[i] != RECORDING_NONE)
			used[v->chain[i]] = true;
	}
	done = xcalloc(x->locations.n + 1, sizeof(*done));
	for (size_t i = v->nodes.n; i--;) {
		if (!used[i])
			continue;
		if (x->outer[i] != RECORDING_NONE)
			used[x->outer[i]] = true;
		if (!done[x->location[i]])
			pprof_location(x, i);
		done[x->location[i]] = true;
	}
}

/* pprof calls the profile by its first mapping: a program rather than a library or the kernel. */
static size_t pprof_main_mapping(const struct pprof *x)
{
	for (size_t i = 0; i < x->mappings.n; i++) {
		const char *path = x->strings.text[x->mappings.keys[i]];

		if (*path == '/' && !strstr(path, ".so"))
			return i;
	}
	return 0;
}

static void pprof_mappings(struct pprof *x)
{
	size_t first = pprof_main_mapping(x);

	for (size_t i = 0; i < x->mappings.n; i++) {
		size_t m = !i ? first : i <= first ? i - 1 : i;

		pprof_number(&x->message, 1, m + 1);
		pprof_number(&x->message, 3, x->limit[m] + 1);
		pprof_number(&x->message, 5, x->mappings.keys[m]);
		/* All there is to know is known: has functions, files, lines, inlined calls. */
		for (unsigned int field = 7; field <= 10; field++)
			pprof_number(&x->message, field, 1);
		pprof_emit(x, 3);
	}
}

/* ---- samples ---- */

enum {
	SAMPLE_CHAIN,
	SAMPLE_THREAD,
	SAMPLE_COMM,
	SAMPLE_CLASS,
	SAMPLE_KIND, /* a string, 0 none, as SAMPLE_WAKER and SAMPLE_EVENT */
	SAMPLE_WAKER,
	SAMPLE_EVENT,
	SAMPLE_KEY
};

/* Each sample has one, since -tagleaf=kind calls the others unknown. */
static const char *pprof_kind(const struct record_sample *s)
{
	if (s->class == RECORD_ON)
		return s->kernel ? "kernel" : "user";
	return s->kind ? s->kind : record_class_name(s->class);
}

static void pprof_add_sample(struct pprof *x, size_t i)
{
	const struct record_sample *s = &x->v->r->samples[i];
	bool by_thread = s->class != RECORD_ON && s->waker < x->v->r->n_threads;
	_cleanup_free_ char *waker = by_thread ? view_waker(x->v, s) : NULL;
	uint32_t key[SAMPLE_KEY] = {
		[SAMPLE_CHAIN] = x->v->chain[i],
		[SAMPLE_THREAD] = s->thread,
		[SAMPLE_COMM] = pprof_string(x, view_comm(x->v, s)),
		[SAMPLE_CLASS] = s->class,
		[SAMPLE_KIND] = pprof_string(x, pprof_kind(s)),
		[SAMPLE_WAKER] = waker ? pprof_string(x, waker) : 0,
		[SAMPLE_EVENT] = s->event && !by_thread ? pprof_string(x, s->event) : 0,
	};
	size_t n = x->samples.n;
	uint32_t id = export_map_add(&x->samples, key);

	array_reserve(x->points, x->points_cap, n + 1);
	if (id == n)
		x->points[id] = 0;
	x->points[id] += s->points;
}

/* A label is text, or else a number. */
static void pprof_label(struct pprof *x, const char *name, uint32_t text, uint64_t number)
{
	if (!text && !number)
		return;
	pprof_number(&x->part, 1, pprof_string(x, name));
	pprof_number(&x->part, 2, text);
	pprof_number(&x->part, 3, number);
	pprof_message(&x->message, 3, &x->part);
}

static void pprof_sample(struct pprof *x, const uint32_t *key, uint64_t points)
{
	const struct record_thread *t = &x->v->r->threads[key[SAMPLE_THREAD]];
	int rank = view_rank(x->v, t);
	char thread[16], of_job[16];

	for (uint32_t n = key[SAMPLE_CHAIN]; n != RECORDING_NONE; n = x->outer[n])
		pprof_varint(&x->part, x->location[n] + 1);
	pprof_message(&x->message, 1, &x->part);
	pprof_varint(&x->part, points);
	pprof_varint(&x->part, points * x->v->r->header.period_ns);
	pprof_message(&x->message, 2, &x->part);
	snprintf(thread, sizeof(thread), "%d", t->tid);
	pprof_label(x, "class", pprof_string(x, record_class_name(key[SAMPLE_CLASS])), 0);
	pprof_label(x, "kind", key[SAMPLE_KIND], 0);
	pprof_label(x, "comm", key[SAMPLE_COMM], 0);
	pprof_label(x, "thread", pprof_string(x, thread), 0);
	pprof_label(x, "pid", 0, t->pid);
	/* Readers take the number 0 for none. */
	snprintf(of_job, sizeof(of_job), "%d", rank);
	if (rank >= 0)
		pprof_label(x, "rank", pprof_string(x, of_job), 0);
	pprof_label(x, "waker", key[SAMPLE_WAKER], 0);
	pprof_label(x, "event", key[SAMPLE_EVENT], 0);
	pprof_emit(x, 2);
}

/* ---- the whole ---- */

static void pprof_type(struct pprof *x, unsigned int field, const char *type, const char *unit)
{
	pprof_number(&x->message, 1, pprof_string(x, type));
	pprof_number(&x->message, 2, pprof_string(x, unit));
	pprof_emit(x, field);
}

static void pprof_head(struct pprof *x)
{
	const struct record_header *h = &x->v->r->header;

	pprof_type(x, 1, "samples", "count");
	pprof_type(x, 1, "time", "nanoseconds");
	pprof_type(x, 11, "time", "nanoseconds");
	pprof_number(&x->all, 9, view_started(x->v) * NSEC_PER_SEC);
	pprof_number(&x->all, 10, x->v->r->footer.duration);
	pprof_number(&x->all, 12, h->period_ns);
	if (h->command && *h->command)
		pprof_number(&x->all, 13, pprof_string(x, h->command));
	pprof_number(&x->all, 14, pprof_string(x, "time"));
}

static void pprof_profile(struct pprof *x)
{
	const struct record_view *v = x->v;

	pprof_string(x, ""); /* index 0 is nothing */
	pprof_head(x);
	pprof_locations(x);
	pprof_mappings(x);
	for (size_t i = 0; i < v->r->n_samples; i++) {
		if (v->chain[i] != RECORDING_NONE)
			pprof_add_sample(x, i);
	}
	for (size_t i = 0; i < x->samples.n; i++)
		pprof_sample(x, &x->samples.keys[i * SAMPLE_KEY], x->points[i]);
	for (size_t i = 0; i < x->strings.n; i++)
		pprof_bytes(&x->all, 6, x->strings.text[i], strlen(x->strings.text[i]));
	pprof_write(x, true);
}

void export_pprof(const struct record_view *v, FILE *out)
{
	struct pprof x = { .v = v, .out = out };

	/* 15 + 16: the largest window, with the head and tail of gzip. */
	if (deflateInit2(&x.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		abort();
	export_map_init(&x.mappings, 1);
	export_map_init(&x.functions, 2);
	export_map_init(&x.locations, 2);
	export_map_init(&x.samples, SAMPLE_KEY);
	x.location = xcalloc(v->nodes.n + 1, sizeof(*x.location));
	x.outer = xcalloc(v->nodes.n + 1, sizeof(*x.outer));
	pprof_profile(&x);
	deflateEnd(&x.z);
	free(x.all.data);
	free(x.message.data);
	free(x.part.data);
	export_strings_deinit(&x.strings);
	export_map_deinit(&x.mappings);
	export_map_deinit(&x.functions);
	export_map_deinit(&x.locations);
	export_map_deinit(&x.samples);
	free(x.limit);
	free(x.points);
	free(x.function.data);
	free(x.location);
	free(x.outer);
}
