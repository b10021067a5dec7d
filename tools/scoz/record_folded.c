// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks, for flamegraph.pl and all that read its input: "comm;outer;inner_[k] 12". The
 * marks are those of FlameGraph's `perf script` converter: _[k] kernel, _[i] inlined; with --per
 * the first frame is "comm-PID" or "comm-PID/TID".
 */
#include "tools/scoz/record_export.h"
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

/* What a stack is counted by. */
enum { FOLDED_COMM, FOLDED_GROUP, FOLDED_NODE, FOLDED_KEY };

static char *folded_head(const struct record_view *v, const uint32_t *key, const char *comm)
{
	_cleanup_free_ char *name = folded_text(comm, true);
	const struct record_thread *t;

	if (v->o->per == PER_COMM)
		return xstrdup(name);
	if (v->o->per == PER_PROCESS)
		return xasprintf("%s-%d", name, (int32_t)key[FOLDED_GROUP]);
	t = &v->r->threads[key[FOLDED_GROUP]];
	return xasprintf("%s-%d/%d", name, t->pid, t->tid);
}

struct folded_line {
	char *text;
	uint64_t points;
};

static int folded_compare(const void *a, const void *b)
{
	return strcmp(((const struct folded_line *)a)->text, ((const struct folded_line *)b)->text);
}

static char *folded_stack(const struct record_view *v, const char *head, char *const *frames,
			  uint32_t node)
{
	size_t len = strlen(head);
	char *text, *end;

	for (uint32_t n = node; n != RECORDING_NONE; n = view_node_parent(v, n))
		len += 1 + strlen(frames[view_node_frame(v, n)]);
	text = xmalloc(len + 1);
	memcpy(text, head, strlen(head));
	end = text + len;
	*end = '\0';
	for (uint32_t n = node; n != RECORDING_NONE; n = view_node_parent(v, n)) {
		const char *frame = frames[view_node_frame(v, n)];

		end -= strlen(frame);
		memcpy(end, frame, strlen(frame));
		*--end = ';';
	}
	return text;
}

static uint32_t folded_group(const struct record_view *v, const struct record_sample *s)
{
	if (v->o->per == PER_PROCESS)
		return v->r->threads[s->thread].pid;
	return v->o->per == PER_THREAD ? s->thread : 0;
}

/* Stacks that differ only in lines or addresses read alike: they become one line. */
static void folded_print(struct folded_line *lines, size_t n, FILE *out)
{
	qsort(lines, n, sizeof(*lines), folded_compare);
	for (size_t i = 0; i < n; i++) {
		if (i + 1 < n && !strcmp(lines[i].text, lines[i + 1].text)) {
			lines[i + 1].points += lines[i].points;
			continue;
		}
		fprintf(out, "%s %llu\n", lines[i].text, (unsigned long long)lines[i].points);
	}
}

void export_folded(const struct record_view *v, FILE *out)
{
	struct export_strings comms = { 0 };
	struct export_map stacks;
	_cleanup_free_ char **frames = xcalloc(v->n_frames + 1, sizeof(*frames));
	_cleanup_free_ struct folded_line *lines = NULL;
	size_t cap = 0;

	export_map_init(&stacks, FOLDED_KEY);
	for (size_t i = 0; i < v->n_frames; i++)
		frames[i] = folded_frame(&v->frames[i]);
	for (size_t i = 0; i < v->r->n_samples; i++) {
		const struct record_sample *s = &v->r->samples[i];
		uint32_t key[FOLDED_KEY] = { [FOLDED_NODE] = v->node[i] }, id;
		size_t n = stacks.n;

		if (v->node[i] == RECORDING_NONE)
			continue;
		key[FOLDED_COMM] = export_strings_add(&comms, view_comm(v, s));
		key[FOLDED_GROUP] = folded_group(v, s);
		id = export_map_add(&stacks, key);
		array_reserve(lines, cap, n + 1);
		if (id == n)
			lines[id].points = 0;
		lines[id].points += s->points;
	}
	for (size_t i = 0; i < stacks.n; i++) {
		const uint32_t *key = &stacks.keys[i * FOLDED_KEY];
		_cleanup_free_ char *head = folded_head(v, key, comms.text[key[FOLDED_COMM]]);

		lines[i].text = folded_stack(v, head, frames, key[FOLDED_NODE]);
	}
	folded_print(lines, stacks.n, out);
	for (size_t i = 0; i < stacks.n; i++)
		free(lines[i].text);
	for (size_t i = 0; i < v->n_frames; i++)
		free(frames[i]);
	export_map_deinit(&stacks);
	export_strings_deinit(&comms);
}
