// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * speedscope's own format: a profile for each thread, with a list of call chains (outermost
 * first) and one of weights. Frames are functions: speedscope draws equal frames as one block, and
 * a function's lines would be blocks of their own.
 */
#include "tools/scoz/cmds.h"
#include "tools/scoz/export/record_export.h"

struct speedscope {
	const struct record_view *v;
	FILE *out;
	uint32_t *function; /* of each frame of the view */
	uint32_t *path;	    /* a call chain, innermost first */
	size_t path_cap;
};

struct speedscope_function {
	uint32_t frame; /* that speaks for it */
	uint32_t line;	/* the lowest that was seen, 0 unknown */
};

static size_t speedscope_functions(struct speedscope *x, struct speedscope_function **ret)
{
	struct export_strings names = { 0 };
	struct export_map map;
	struct speedscope_function *functions = NULL;
	size_t cap = 0;

	export_map_init(&map, 3);
	for (size_t i = 0; i < x->v->n_frames; i++) {
		const struct view_frame *f = &x->v->frames[i];
		const char *file = view_frame_file(f);
		uint32_t line = f->frame && f->frame->file ? f->frame->line : 0;
		uint32_t key[] = { export_strings_add(&names, f->name),
				   export_strings_add(&names, file ? file : ""), f->category };
		size_t n = map.n;
		uint32_t id = export_map_add(&map, key);

		array_reserve(functions, cap, n + 1);
		if (id == n)
			functions[id] = (struct speedscope_function){ i, line };
		else if (line && (!functions[id].line || line < functions[id].line))
			functions[id].line = line;
		x->function[i] = id;
	}
	*ret = functions;
	cap = map.n;
	export_map_deinit(&map);
	export_strings_deinit(&names);
	return cap;
}

static void speedscope_shared(struct speedscope *x)
{
	_cleanup_free_ struct speedscope_function *functions = NULL;
	size_t n = speedscope_functions(x, &functions);

	fputs("\"shared\":{\"frames\":[", x->out);
	for (size_t i = 0; i < n; i++) {
		const struct view_frame *f = &x->v->frames[functions[i].frame];
		const char *file = view_frame_file(f);

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", x->out);
		export_text(x->out, f->name);
		if (file) {
			fputs(",\"file\":", x->out);
			export_text(x->out, file);
		}
		if (functions[i].line) {
			fputs(",\"line\":", x->out);
			export_number(x->out, functions[i].line);
		}
		putc('}', x->out);
	}
	fputs("]}", x->out);
}

static void speedscope_chain(struct speedscope *x, uint32_t node)
{
	size_t depth = 0;

	for (; node != RECORDING_NONE; node = view_node_parent(x->v, node)) {
		array_reserve(x->path, x->path_cap, depth + 1);
		x->path[depth++] = x->function[view_node_frame(x->v, node)];
	}
	putc_unlocked('[', x->out);
	while (depth) {
		export_number(x->out, x->path[--depth]);
		if (depth)
			putc_unlocked(',', x->out);
	}
	putc_unlocked(']', x->out);
}

/* Samples in sequence with one call chain are one: nothing is lost, and the file stays small. */
static void speedscope_samples(struct speedscope *x, const struct view_thread *t)
{
	_cleanup_free_ uint64_t *weights = xcalloc(t->n, sizeof(*weights));
	uint32_t last = RECORDING_NONE;
	size_t n = 0;

	fputs("\"samples\":[", x->out);
	for (size_t i = 0; i < t->n; i++) {
		uint32_t node = x->v->node[t->samples[i]];

		if (node != last) {
			fputs(n ? ",\n" : "\n", x->out);
			speedscope_chain(x, node);
			n++;
		}
		last = node;
		weights[n - 1] += x->v->r->samples[t->samples[i]].points;
	}
	fputs("],\n\"weights\":[", x->out);
	for (size_t i = 0; i < n; i++) {
		if (i)
			putc_unlocked(',', x->out);
		export_number(x->out, weights[i] * x->v->r->header.period_ns);
	}
	putc(']', x->out);
}

static void speedscope_thread(struct speedscope *x, const struct view_thread *t)
{
	_cleanup_free_ char *name = view_thread_name(x->v, t);

	fputs("{\"type\":\"sampled\",\"name\":", x->out);
	export_text(x->out, name);
	fputs(",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":", x->out);
	export_number(x->out, t->points * x->v->r->header.period_ns);
	fputs(",\n", x->out);
	speedscope_samples(x, t);
	putc('}', x->out);
}

void export_speedscope(const struct record_view *v, FILE *out)
{
	struct speedscope x = { .v = v, .out = out };
	const struct record_header *h = &v->r->header;
	size_t active = 0;

	x.function = xcalloc(v->n_frames + 1, sizeof(*x.function));
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"name\":",
	      out);
	export_text(out, record_subject(h));
	fputs(",\"exporter\":\"scoz " PROGRAM_VERSION "\",\n", out);
	speedscope_shared(&x);
	fputs(",\n\"profiles\":[", out);
	for (size_t i = 0; i < v->n_threads; i++) {
		fputs(i ? ",\n" : "\n", out);
		speedscope_thread(&x, &v->threads[i]);
		if (v->threads[i].points > v->threads[active].points)
			active = i;
	}
	fputs("]", out);
	if (v->n_threads) {
		fputs(",\n\"activeProfileIndex\":", out);
		export_number(out, active);
	}
	fputs("}\n", out);
	free(x.function);
	free(x.path);
}
