// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks, for flamegraph.pl and all that read its input: "comm;outer;inner_[k] 12". The
 * marks are those of FlameGraph's `perf script` converter: _[k] kernel, _[i] inlined; with --per
 * the first frame is "comm-PID" or "comm-PID/TID", or the first two are "rank_N;comm".
 */
#include "tools/scoz/export/record_export.h"
#include "tools/scoz/text.h"

/* One frame: neither a semicolon nor the end of a line, and with @spaces no spaces either. */
static char *folded_text(const char *s, bool spaces)
{
	char *text = text_clean(s, "?");

	for (char *p = text; *p; p++) {
		if (*p == ';')
			*p = ':';
		else if (*p == ' ' && spaces)
			*p = '_';
	}
	return text;
}

static char *folded_frame(const struct view_frame *f)
{
	_cleanup_free_ char *name = folded_text(f->name, false);
	const char *mark = f->category == CATEGORY_KERNEL      ? "_[k]"
			   : f->category == CATEGORY_INHERITED ? "_[i]"
							       : "";

	return xasprintf("%s%s", name, mark);
}

static char *folded_head(const struct record_view *v, const struct record_sample *s)
{
	_cleanup_free_ char *name = folded_text(view_comm(v, s), true);
	const struct record_thread *t = &v->r->threads[s->thread];

	if (v->o->per == PER_NOTHING)
		return xstrdup(name);
	if (v->o->per == PER_PROCESS)
		return xasprintf("%s-%d", name, t->pid);
	if (v->o->per == PER_RANK)
		return view_rank(v, t) < 0 ? xstrdup(name)
					   : xasprintf("rank_%d;%s", view_rank(v, t), name);
	return xasprintf("%s-%d/%d", name, t->pid, t->tid);
}

struct folded {
	const struct record_view *v;
	struct export_strings texts; /* of frames and heads */
	/* Stacks that differ only in lines or addresses read alike: they are one. */
	struct export_map nodes; /* (text, caller's node or RECORDING_NONE) */
	uint32_t *node;		 /* of each node of the view */
	struct export_map lines; /* (head's text, node) */
	uint64_t *points;	 /* of each line */
	size_t points_cap;
	uint32_t *path;
	size_t path_cap;
};

static void folded_nodes(struct folded *x)
{
	const struct record_view *v = x->v;
	_cleanup_free_ uint32_t *text = xcalloc(v->n_frames + 1, sizeof(*text));

	for (size_t i = 0; i < v->n_frames; i++) {
		_cleanup_free_ char *s = folded_frame(&v->frames[i]);

		text[i] = export_strings_add(&x->texts, s);
	}
	for (size_t i = 0; i < v->nodes.n; i++) {
		uint32_t parent = view_node_parent(v, i);
		uint32_t key[] = { text[view_node_frame(v, i)],
				   parent == RECORDING_NONE ? parent : x->node[parent] };

		x->node[i] = export_map_add(&x->nodes, key);
	}
}

/* The name of a thread seldom changes: @heads has the last one of each. */
static uint32_t folded_head_text(struct folded *x, const struct record_sample *s, uint32_t *heads,
				 const char **comms)
{
	const char *comm = view_comm(x->v, s);

	if (!comms[s->thread] || strcmp(comm, comms[s->thread])) {
		_cleanup_free_ char *head = folded_head(x->v, s);

		heads[s->thread] = export_strings_add(&x->texts, head);
		comms[s->thread] = comm;
	}
	return heads[s->thread];
}

static void folded_count(struct folded *x)
{
	const struct recording *r = x->v->r;
	_cleanup_free_ uint32_t *heads = xcalloc(r->n_threads + 1, sizeof(*heads));
	_cleanup_free_ const char **comms = xcalloc(r->n_threads + 1, sizeof(*comms));

	for (size_t i = 0; i < r->n_samples; i++) {
		const struct record_sample *s = &r->samples[i];
		size_t n = x->lines.n;
		uint32_t key[2], id;

		if (x->v->node[i] == RECORDING_NONE)
			continue;
		key[0] = folded_head_text(x, s, heads, comms);
		key[1] = x->node[x->v->node[i]];
		id = export_map_add(&x->lines, key);
		array_reserve(x->points, x->points_cap, n + 1);
		if (id == n)
			x->points[id] = 0;
		x->points[id] += s->points;
	}
}

static void folded_line(struct folded *x, size_t line, FILE *out)
{
	const uint32_t *key = &x->lines.keys[2 * line];
	size_t depth = 0;

	for (uint32_t n = key[1]; n != RECORDING_NONE; n = x->nodes.keys[2 * n + 1]) {
		array_reserve(x->path, x->path_cap, depth + 1);
		x->path[depth++] = x->nodes.keys[2 * n];
	}
	fputs_unlocked(x->texts.text[key[0]], out);
	while (depth) {
		putc_unlocked(';', out);
		fputs_unlocked(x->texts.text[x->path[--depth]], out);
	}
	putc_unlocked(' ', out);
	export_number(out, x->points[line]);
	putc_unlocked('\n', out);
}

static int folded_compare(const void *a, const void *b, void *arg)
{
	const uint64_t *points = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (points[i] != points[j])
		return points[i] > points[j] ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Most points first. */
static void folded_print(struct folded *x, FILE *out)
{
	_cleanup_free_ uint32_t *order = xcalloc(x->lines.n + 1, sizeof(*order));

	for (size_t i = 0; i < x->lines.n; i++)
		order[i] = i;
	qsort_r(order, x->lines.n, sizeof(*order), folded_compare, x->points);
	for (size_t i = 0; i < x->lines.n; i++)
		folded_line(x, order[i], out);
}

void export_folded(const struct record_view *v, FILE *out)
{
	struct folded x = { .v = v };

	export_map_init(&x.nodes, 2);
	export_map_init(&x.lines, 2);
	x.node = xcalloc(v->nodes.n + 1, sizeof(*x.node));
	folded_nodes(&x);
	folded_count(&x);
	folded_print(&x, out);
	export_strings_deinit(&x.texts);
	export_map_deinit(&x.nodes);
	export_map_deinit(&x.lines);
	free(x.node);
	free(x.points);
	free(x.path);
}
