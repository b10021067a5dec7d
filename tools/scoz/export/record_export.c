// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/export/record_export.h"

#include <time.h>

#include "run/launcher.h"
#include "tools/scoz/text.h"

/* ---- indexes ---- */

void export_map_init(struct export_map *m, size_t width)
{
	memset(m, 0, sizeof(*m));
	m->width = width;
	array_reserve(m->keys, m->cap, width);
}

static bool same_tuple(const void *map, uint32_t i, const void *key)
{
	const struct export_map *m = map;

	return !memcmp(m->keys + i * m->width, key, m->width * sizeof(*m->keys));
}

uint32_t export_map_add(struct export_map *m, const uint32_t *key)
{
	uint64_t h = HASH_START;
	uint32_t found;

	for (size_t i = 0; i < m->width; i++)
		h = hash_mix(h, key[i]);
	found = hash_index_find(&m->index, h, same_tuple, m, key);
	if (found != HASH_NONE)
		return found;
	array_reserve(m->keys, m->cap, (m->n + 1) * m->width);
	memcpy(m->keys + m->n * m->width, key, m->width * sizeof(*key));
	hash_index_add(&m->index, h, m->n);
	return m->n++;
}

void export_map_deinit(struct export_map *m)
{
	free(m->keys);
	hash_index_deinit(&m->index);
}

static bool same_string(const void *strings, uint32_t i, const void *text)
{
	return !strcmp(((const struct export_strings *)strings)->text[i], text);
}

uint32_t export_strings_add(struct export_strings *s, const char *text)
{
	uint64_t h = hash_text(HASH_START, text);
	uint32_t found = hash_index_find(&s->index, h, same_string, s, text);

	if (found != HASH_NONE)
		return found;
	array_reserve(s->text, s->cap, s->n + 1);
	s->text[s->n] = xstrdup(text);
	hash_index_add(&s->index, h, s->n);
	return s->n++;
}

void export_strings_deinit(struct export_strings *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->text[i]);
	free(s->text);
	hash_index_deinit(&s->index);
}

/* ---- frames ---- */

static char *view_name(const struct record_frame *f)
{
	const char *slash;

	if (*f->symbol && strcmp(f->symbol, "[unknown]"))
		return xstrdup(f->symbol);
	if (f->kind == FRAME_MISSING)
		return xstrdup("[missing frames]");
	if (!f->object || !*f->object)
		return xstrdup("[unknown]");
	if (*f->object == '[')
		return xstrdup(f->object);
	slash = strrchr(f->object, '/');
	return xasprintf("[%s]", slash && slash[1] ? slash + 1 : f->object);
}

static uint32_t view_add_frame(struct record_view *v, const struct record_frame *frame, char *name,
			       enum view_category category)
{
	array_reserve(v->frames, v->frames_cap, v->n_frames + 1);
	v->frames[v->n_frames] = (struct view_frame){ frame, name, category };
	return v->n_frames++;
}

static uint32_t view_recorded_frame(struct record_view *v, uint32_t id)
{
	static const enum view_category categories[] = {
		[FRAME_USER] = CATEGORY_USER,
		[FRAME_KERNEL] = CATEGORY_KERNEL,
		[FRAME_INLINED] = CATEGORY_INHERITED,
		[FRAME_MISSING] = CATEGORY_USER,
	};
	const struct record_frame *f = &v->r->frames[id];

	if (v->recorded[id] == RECORDING_NONE)
		v->recorded[id] = view_add_frame(v, f, view_name(f), categories[f->kind]);
	return v->recorded[id];
}

static uint32_t view_made_frame(struct record_view *v, const char *name,
				enum view_category category)
{
	size_t n = v->made.n;
	uint32_t id = export_strings_add(&v->made, name);

	if (id == n) {
		array_reserve(v->made_frame, v->made_cap, n + 1);
		v->made_frame[id] = view_add_frame(v, NULL, xstrdup(name), category);
	}
	return v->made_frame[id];
}

/* ---- call chains ---- */

static uint32_t view_add_node(struct record_view *v, uint32_t frame, uint32_t parent)
{
	return export_map_add(&v->nodes, (uint32_t[]){ frame, parent });
}

/* @nodes: of the recording's stacks, as far as known. Callers are added before callees. */
static uint32_t view_add_stack(struct record_view *v, uint32_t stack, uint32_t *nodes,
			       uint32_t **path, size_t *path_cap)
{
	uint32_t node = RECORDING_NONE;
	size_t depth = 0;

	/* A stack cannot be deeper than there are stacks: circles end there. */
	while (stack < v->r->n_stacks && depth < v->r->n_stacks) {
		if (nodes[stack] != RECORDING_NONE) {
			node = nodes[stack];
			break;
		}
		array_reserve(*path, *path_cap, depth + 1);
		(*path)[depth++] = stack;
		stack = v->r->stacks[stack].parent;
	}
	while (depth) {
		stack = (*path)[--depth];
		node = view_add_node(v, view_recorded_frame(v, v->r->stacks[stack].frame), node);
		nodes[stack] = node;
	}
	return node;
}

static bool view_in_kernel(const struct record_view *v, uint32_t node)
{
	enum view_category c = CATEGORY_INHERITED;

	for (; node != RECORDING_NONE && c == CATEGORY_INHERITED; node = view_node_parent(v, node))
		c = v->frames[view_node_frame(v, node)].category;
	return c == CATEGORY_KERNEL;
}

/* Kernel time without kernel addresses must not pass for the program's own. */
static uint32_t view_complete_chain(struct record_view *v, const struct record_sample *s,
				    uint32_t node)
{
	if (node == RECORDING_NONE)
		node = view_add_node(v, view_made_frame(v, "[no call chain]", CATEGORY_USER),
				     RECORDING_NONE);
	if (s->class == RECORD_ON && s->kernel && !view_in_kernel(v, node))
		node = view_add_node(v, view_made_frame(v, "[kernel]", CATEGORY_KERNEL), node);
	return node;
}

static uint32_t view_annotate(struct record_view *v, const struct record_sample *s, uint32_t node)
{
	static const enum view_category categories[RECORD_CLASSES] = {
		[RECORD_IO] = CATEGORY_IO,
		[RECORD_LOCK] = CATEGORY_LOCK,
		[RECORD_SCHED] = CATEGORY_SCHED,
		[RECORD_OTHER] = CATEGORY_WAIT,
	};
	char name[128];

	if (s->class == RECORD_ON)
		return node;
	snprintf(name, sizeof(name), "[%c] %s", record_class_letter(s),
		 s->kind ? s->kind : record_class_name(s->class));
	return view_add_node(v, view_made_frame(v, name, categories[s->class]), node);
}

/* ---- the view ---- */

const char *view_comm(const struct record_view *v, const struct record_sample *s)
{
	const char *comm = s->comm ? s->comm : v->r->threads[s->thread].comm;

	return comm && *comm ? comm : "[unknown]";
}

int view_rank(const struct record_view *v, const struct record_thread *t)
{
	return t->process < v->r->n_processes ? v->r->processes[t->process].rank : -1;
}

/* The command before it was executed: that is us. */
static bool view_is_launcher(const struct record_view *v, const struct record_sample *s)
{
	return *v->r->header.command && !strcmp(view_comm(v, s), LAUNCHER_NAME);
}

static bool view_wanted(const struct record_view *v, const struct record_sample *s)
{
	return s->thread < v->r->n_threads && s->points && s->class < RECORD_CLASSES &&
	       !view_is_launcher(v, s) && record_filter_sample(&v->o->filter, v->r, s);
}

static void view_add_samples(struct record_view *v)
{
	const struct recording *r = v->r;
	_cleanup_free_ uint32_t *nodes = xmalloc((r->n_stacks + 1) * sizeof(*nodes));
	_cleanup_free_ uint32_t *path = NULL;
	size_t path_cap = 0;

	memset(nodes, 0xff, (r->n_stacks + 1) * sizeof(*nodes));
	for (size_t i = 0; i < r->n_samples; i++) {
		const struct record_sample *s = &r->samples[i];
		uint32_t node;

		v->chain[i] = v->node[i] = RECORDING_NONE;
		if (!view_wanted(v, s))
			continue;
		node = view_add_stack(v, s->stack, nodes, &path, &path_cap);
		v->chain[i] = view_complete_chain(v, s, node);
		v->node[i] = view_annotate(v, s, v->chain[i]);
		v->points += s->points;
	}
}

static int view_compare_begin(const void *a, const void *b, void *arg)
{
	const struct record_sample *samples = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	uint64_t x = view_begin(&samples[i]), y = view_begin(&samples[j]);

	return x != y ? (x < y ? -1 : 1) : i < j ? -1 : i > j;
}

static void view_add_threads(struct record_view *v)
{
	const struct recording *r = v->r;
	_cleanup_free_ uint32_t *index = xmalloc((r->n_threads + 1) * sizeof(*index));
	_cleanup_free_ size_t *count = xcalloc(r->n_threads + 1, sizeof(*count));
	size_t at = 0;

	for (size_t i = 0; i < r->n_samples; i++) {
		if (v->node[i] != RECORDING_NONE)
			count[r->samples[i].thread]++;
	}
	v->threads = xcalloc(r->n_threads + 1, sizeof(*v->threads));
	for (size_t i = 0; i < r->n_threads; i++) {
		if (!count[i])
			continue;
		index[i] = v->n_threads;
		v->threads[v->n_threads++] = (struct view_thread){
			.thread = &r->threads[i],
			.samples = v->indexes + at,
		};
		at += count[i];
	}
	for (size_t i = 0; i < r->n_samples; i++) {
		const struct record_sample *s = &r->samples[i];
		struct view_thread *t;

		if (v->node[i] == RECORDING_NONE)
			continue;
		t = &v->threads[index[s->thread]];
		t->samples[t->n++] = i;
		t->points += s->points;
		t->comm = view_comm(v, s);
	}
	for (size_t i = 0; i < v->n_threads; i++)
		qsort_r(v->threads[i].samples, v->threads[i].n, sizeof(uint32_t),
			view_compare_begin, r->samples);
}

void record_view_init(struct record_view *v, const struct recording *r,
		      const struct export_options *o)
{
	memset(v, 0, sizeof(*v));
	v->r = r;
	v->o = o;
	export_map_init(&v->nodes, 2);
	v->chain = xcalloc(r->n_samples + 1, sizeof(*v->chain));
	v->node = xcalloc(r->n_samples + 1, sizeof(*v->node));
	v->indexes = xcalloc(r->n_samples + 1, sizeof(*v->indexes));
	v->recorded = xmalloc((r->n_frames + 1) * sizeof(*v->recorded));
	memset(v->recorded, 0xff, (r->n_frames + 1) * sizeof(*v->recorded));
	view_add_samples(v);
	view_add_threads(v);
}

void record_view_deinit(struct record_view *v)
{
	for (size_t i = 0; i < v->n_frames; i++)
		free(v->frames[i].name);
	free(v->frames);
	export_map_deinit(&v->nodes);
	export_strings_deinit(&v->made);
	free(v->made_frame);
	free(v->recorded);
	free(v->chain);
	free(v->node);
	free(v->indexes);
	free(v->threads);
}

const char *view_frame_file(const struct view_frame *f)
{
	if (!f->frame)
		return NULL;
	if (f->frame->file && *f->frame->file)
		return f->frame->file;
	return f->frame->object && *f->frame->object ? f->frame->object : NULL;
}

uint64_t view_begin(const struct record_sample *s)
{
	return s->class == RECORD_ON ? s->time
				     : s->time - (s->duration < s->time ? s->duration : s->time);
}

uint64_t view_end(const struct record_view *v, const struct record_sample *s)
{
	return s->class == RECORD_ON ? s->time + s->points * v->r->header.period_ns : s->time;
}

int64_t view_started(const struct record_view *v)
{
	struct tm tm = { 0 };
	time_t t;

	if (!v->r->header.started || !strptime(v->r->header.started, "%Y-%m-%dT%H:%M:%S", &tm))
		return 0;
	t = timegm(&tm);
	return t > 0 ? t : 0;
}

char *view_thread_name(const struct record_view *v, const struct view_thread *t)
{
	int rank = view_rank(v, t->thread);
	_cleanup_free_ char *before = rank < 0 ? xstrdup("") : xasprintf("rank %d: ", rank);

	if (t->thread->tid == t->thread->pid)
		return xasprintf("%s%s %d", before, t->comm, t->thread->tid);
	return xasprintf("%s%s %d (process %d)", before, t->comm, t->thread->tid, t->thread->pid);
}

char *view_waker(const struct record_view *v, const struct record_sample *s)
{
	const struct record_thread *t;

	if (s->class == RECORD_ON)
		return NULL;
	if (s->waker >= v->r->n_threads)
		return s->event ? xstrdup(s->event) : NULL;
	t = &v->r->threads[s->waker];
	return xasprintf("%s %d", t->comm ? t->comm : "", t->tid);
}

/* ---- JSON ---- */

void export_number(FILE *out, uint64_t n)
{
	char digits[20], *p = digits + sizeof(digits);

	do
		*--p = '0' + n % 10;
	while (n /= 10);
	fwrite_unlocked(p, 1, digits + sizeof(digits) - p, out);
}

void export_text(FILE *out, const char *s)
{
	_cleanup_free_ char *clean = text_clean(s, "\xef\xbf\xbd");

	putc_unlocked('"', out);
	for (const char *p = clean; *p; p++) {
		if (*p == '"' || *p == '\\')
			putc_unlocked('\\', out);
		putc_unlocked(*p, out);
	}
	putc_unlocked('"', out);
}

void export_column(FILE *out, const uint32_t *v, size_t n, size_t stride, const char *none)
{
	putc_unlocked('[', out);
	for (size_t i = 0; i < n; i++) {
		if (i)
			putc_unlocked(',', out);
		if (v[i * stride] == RECORDING_NONE)
			fputs_unlocked(none, out);
		else
			export_number(out, v[i * stride]);
	}
	putc_unlocked(']', out);
}

void export_ms(FILE *out, uint64_t ns)
{
	unsigned int rest = ns % NSEC_PER_MSEC;
	char digits[8];
	size_t n;

	export_number(out, ns / NSEC_PER_MSEC);
	if (!rest)
		return;
	n = snprintf(digits, sizeof(digits), ".%06u", rest);
	while (digits[n - 1] == '0')
		n--;
	fwrite_unlocked(digits, 1, n, out);
}
