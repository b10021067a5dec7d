// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Firefox Profiler's "processed profile", version 60: later ones are upgrades it makes while
 * loading. A sample there lasts until the next one of its thread, so a wait is put where it began,
 * and where nothing follows, a sample without call chain and weight ends it. Each wait is a marker,
 * too: that has an exact end, and tells who woke the thread.
 */
#include "tools/scoz/cmds.h"
#include "tools/scoz/export/record_export.h"

#define FIREFOX_VERSION 60

struct firefox {
	const struct record_view *v;
	FILE *out;
	struct export_strings strings;
	struct export_map sources, libs, functions;
	uint32_t *function;	/* of each frame of the view */
	struct export_map pids; /* of processes, and their names */
	const char **process;
};

/* ---- tables that all threads share ---- */

enum { FUNCTION_NAME, FUNCTION_LIB, FUNCTION_SOURCE, FUNCTION_KEY };

static uint32_t firefox_string(struct firefox *x, const char *s)
{
	return export_strings_add(&x->strings, s);
}

static uint32_t firefox_index(struct firefox *x, struct export_map *m, const char *s)
{
	uint32_t id;

	if (!s || !*s)
		return RECORDING_NONE;
	id = firefox_string(x, s);
	return export_map_add(m, &id);
}

static void firefox_functions(struct firefox *x)
{
	for (size_t i = 0; i < x->v->n_frames; i++) {
		const struct view_frame *f = &x->v->frames[i];
		const struct record_frame *r = f->frame;
		uint32_t key[FUNCTION_KEY] = {
			[FUNCTION_NAME] = firefox_string(x, f->name),
			[FUNCTION_LIB] = firefox_index(x, &x->libs, r ? r->object : NULL),
			[FUNCTION_SOURCE] = firefox_index(x, &x->sources, r ? r->file : NULL),
		};

		x->function[i] = export_map_add(&x->functions, key);
	}
}

/* A column of which all values are alike. */
static void firefox_same(struct firefox *x, const char *name, const char *value, size_t n)
{
	fprintf(x->out, "\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		if (i)
			putc_unlocked(',', x->out);
		fputs_unlocked(value, x->out);
	}
	fputs("],", x->out);
}

static void firefox_column(struct firefox *x, const char *name, const uint32_t *v, size_t n,
			   size_t stride, const char *none)
{
	fprintf(x->out, "\"%s\":", name);
	export_column(x->out, v, n, stride, none);
	putc(',', x->out);
}

static void firefox_length(struct firefox *x, size_t n)
{
	fprintf(x->out, "\"length\":%zu}", n);
}

static void firefox_addresses(struct firefox *x)
{
	fputs("\"address\":[", x->out);
	for (size_t i = 0; i < x->v->n_frames; i++) {
		const struct record_frame *f = x->v->frames[i].frame;

		if (i)
			putc_unlocked(',', x->out);
		/* JavaScript's numbers are exact to 2^53 only. */
		if (f && f->address && f->address < 1ULL << 53)
			export_number(x->out, f->address);
		else
			fputs_unlocked("-1", x->out);
	}
	fputs("],", x->out);
}

static void firefox_frames(struct firefox *x)
{
	size_t n = x->v->n_frames;
	_cleanup_free_ uint32_t *inlined = xcalloc(n + 1, sizeof(*inlined));
	_cleanup_free_ uint32_t *line = xcalloc(n + 1, sizeof(*line));
	_cleanup_free_ uint32_t *category = xcalloc(n + 1, sizeof(*category));
	_cleanup_free_ uint32_t *sub = xcalloc(n + 1, sizeof(*sub));

	for (size_t i = 0; i < n; i++) {
		const struct view_frame *f = &x->v->frames[i];

		inlined[i] = f->category == CATEGORY_INHERITED;
		line[i] = f->frame && f->frame->line ? f->frame->line : RECORDING_NONE;
		category[i] = inlined[i] ? RECORDING_NONE : f->category;
		sub[i] = inlined[i] ? RECORDING_NONE : 0;
	}
	fputs(",\n\"frameTable\":{", x->out);
	firefox_addresses(x);
	firefox_column(x, "inlineDepth", inlined, n, 1, "0");
	firefox_column(x, "category", category, n, 1, "null");
	firefox_column(x, "subcategory", sub, n, 1, "null");
	firefox_column(x, "func", x->function, n, 1, "null");
	firefox_column(x, "line", line, n, 1, "null");
	firefox_same(x, "column", "null", n);
	firefox_same(x, "nativeSymbol", "null", n);
	firefox_same(x, "innerWindowID", "null", n);
	firefox_length(x, n);
}

static void firefox_function_table(struct firefox *x)
{
	const uint32_t *keys = x->functions.keys;
	size_t n = x->functions.n;

	fputs(",\n\"funcTable\":{", x->out);
	firefox_column(x, "name", keys + FUNCTION_NAME, n, FUNCTION_KEY, "0");
	firefox_column(x, "resource", keys + FUNCTION_LIB, n, FUNCTION_KEY, "-1");
	firefox_column(x, "source", keys + FUNCTION_SOURCE, n, FUNCTION_KEY, "null");
	firefox_same(x, "isJS", "false", n);
	firefox_same(x, "relevantForJS", "false", n);
	firefox_same(x, "lineNumber", "null", n);
	firefox_same(x, "columnNumber", "null", n);
	firefox_length(x, n);
}

static void firefox_binaries(struct firefox *x)
{
	fputs(",\n\"libs\":[", x->out);
	for (size_t i = 0; i < x->libs.n; i++) {
		const char *path = x->strings.text[x->libs.keys[i]], *slash = strrchr(path, '/');
		const char *name = slash && slash[1] ? slash + 1 : path;

		fputs(i ? ",\n{\"arch\":\"\",\"name\":" : "\n{\"arch\":\"\",\"name\":", x->out);
		export_text(x->out, name);
		fputs(",\"path\":", x->out);
		export_text(x->out, path);
		fputs(",\"debugName\":", x->out);
		export_text(x->out, name);
		fputs(",\"debugPath\":", x->out);
		export_text(x->out, path);
		fputs(",\"breakpadId\":\"\",\"codeId\":null}", x->out);
	}
	putc(']', x->out);
}

static void firefox_resources(struct firefox *x)
{
	size_t n = x->libs.n;
	_cleanup_free_ uint32_t *lib = xcalloc(n + 1, sizeof(*lib));

	for (size_t i = 0; i < n; i++)
		lib[i] = i;
	fputs(",\n\"resourceTable\":{", x->out);
	firefox_column(x, "lib", lib, n, 1, "null");
	firefox_column(x, "name", x->libs.keys, n, 1, "0");
	firefox_same(x, "host", "null", n);
	firefox_same(x, "type", "1", n); /* a library */
	firefox_length(x, n);
}

/* Last, since all others add strings. */
static void firefox_shared(struct firefox *x)
{
	fputs(",\n\"shared\":{\"stackTable\":{", x->out);
	firefox_column(x, "frame", x->v->nodes.keys, x->v->nodes.n, 2, "null");
	firefox_column(x, "prefix", x->v->nodes.keys + 1, x->v->nodes.n, 2, "null");
	firefox_length(x, x->v->nodes.n);
	firefox_frames(x);
	firefox_function_table(x);
	firefox_resources(x);
	fputs(",\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
	      "\"functionSize\":[],\"length\":0}",
	      x->out);
	fputs(",\n\"sources\":{", x->out);
	firefox_same(x, "uuid", "null", x->sources.n);
	firefox_column(x, "filename", x->sources.keys, x->sources.n, 1, "0");
	firefox_length(x, x->sources.n);
	fputs(",\n\"stringArray\":[", x->out);
	for (size_t i = 0; i < x->strings.n; i++) {
		fputs(i ? ",\n" : "\n", x->out);
		export_text(x->out, x->strings.text[i]);
	}
	fputs("]}", x->out);
}

/* ---- threads ---- */

struct firefox_samples {
	uint32_t *stack;
	uint64_t *time, *weight; /* ns */
	size_t n, cap, time_cap, weight_cap;
};

static void firefox_add(struct firefox_samples *s, uint32_t stack, uint64_t time, uint64_t weight)
{
	array_reserve(s->stack, s->cap, s->n + 1);
	array_reserve(s->time, s->time_cap, s->n + 1);
	array_reserve(s->weight, s->weight_cap, s->n + 1);
	s->stack[s->n] = stack;
	s->time[s->n] = time;
	s->weight[s->n++] = weight;
}

static void firefox_ms_column(struct firefox *x, const char *name, const uint64_t *v, size_t n)
{
	fprintf(x->out, "\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		if (i)
			putc_unlocked(',', x->out);
		export_ms(x->out, v[i]);
	}
	fputs("],", x->out);
}

static void firefox_samples(struct firefox *x, const struct view_thread *t)
{
	uint64_t period = x->v->r->header.period_ns, end = 0;
	struct firefox_samples s = { 0 };

	for (size_t i = 0; i < t->n; i++) {
		const struct record_sample *sample = &x->v->r->samples[t->samples[i]];
		uint64_t begin = view_begin(sample);

		if (i && begin > end + 2 * period)
			firefox_add(&s, RECORDING_NONE, end, 0);
		firefox_add(&s, x->v->node[t->samples[i]], begin, sample->points * period);
		end = view_end(x->v, sample) > end ? view_end(x->v, sample) : end;
	}
	firefox_add(&s, RECORDING_NONE, end, 0);
	fputs(",\n\"samples\":{\"weightType\":\"tracing-ms\",", x->out);
	firefox_column(x, "stack", s.stack, s.n, 1, "null");
	firefox_ms_column(x, "time", s.time, s.n);
	firefox_ms_column(x, "weight", s.weight, s.n);
	firefox_length(x, s.n);
	free(s.stack);
	free(s.time);
	free(s.weight);
}

static void firefox_marker_data(struct firefox *x, const struct record_sample *s)
{
	_cleanup_free_ char *waker = view_waker(x->v, s);

	fputs_unlocked("{\"type\":\"wait\",\"points\":", x->out);
	export_number(x->out, s->points);
	if (waker) {
		fputs_unlocked(",\"waker\":", x->out);
		export_number(x->out, firefox_string(x, waker));
	}
	fputs_unlocked(s->unfinished ? ",\"unfinished\":\"yes\"}" : "}", x->out);
}

static void firefox_markers(struct firefox *x, const struct view_thread *t)
{
	const struct record_view *v = x->v;
	_cleanup_free_ uint32_t *name = xcalloc(t->n, sizeof(*name));
	_cleanup_free_ uint32_t *category = xcalloc(t->n, sizeof(*category));
	_cleanup_free_ uint64_t *begin = xcalloc(t->n, sizeof(*begin));
	_cleanup_free_ uint64_t *end = xcalloc(t->n, sizeof(*end));
	size_t n = 0;

	fputs(",\n\"markers\":{\"data\":[", x->out);
	for (size_t i = 0; i < t->n; i++) {
		const struct record_sample *s = &v->r->samples[t->samples[i]];
		const struct view_frame *f = &v->frames[view_node_frame(v, v->node[t->samples[i]])];

		if (s->class == RECORD_ON)
			continue;
		if (n)
			putc_unlocked(',', x->out);
		firefox_marker_data(x, s);
		name[n] = firefox_string(x, f->name);
		category[n] = f->category;
		begin[n] = view_begin(s);
		end[n++] = view_end(v, s);
	}
	fputs("],", x->out);
	firefox_column(x, "name", name, n, 1, "0");
	firefox_ms_column(x, "startTime", begin, n);
	firefox_ms_column(x, "endTime", end, n);
	firefox_column(x, "category", category, n, 1, "0");
	firefox_same(x, "phase", "1", n); /* an interval */
	firefox_length(x, n);
}

/* A process is called as its main thread was last. */
static void firefox_processes(struct firefox *x)
{
	size_t cap = 0;

	for (size_t i = 0; i < x->v->n_threads; i++) {
		const struct view_thread *t = &x->v->threads[i];
		uint32_t pid = t->thread->pid;
		size_t n = x->pids.n;
		uint32_t id = export_map_add(&x->pids, &pid);

		array_reserve(x->process, cap, n + 1);
		if (id == n || t->thread->tid == t->thread->pid)
			x->process[id] = t->comm;
	}
}

static void firefox_thread(struct firefox *x, const struct view_thread *t)
{
	const struct record_thread *r = t->thread;
	uint32_t pid = r->pid;

	fputs("{\"processType\":\"default\",\"processName\":", x->out);
	export_text(x->out, x->process[export_map_add(&x->pids, &pid)]);
	fputs(",\"name\":", x->out);
	export_text(x->out, t->comm);
	fprintf(x->out, ",\"isMainThread\":%s,\"pid\":\"%d\",\"tid\":%d",
		r->tid == r->pid ? "true" : "false", r->pid, r->tid);
	fputs(",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":", x->out);
	export_ms(x->out, r->start);
	fputs(",\"unregisterTime\":", x->out);
	if (r->has_times && r->exited)
		export_ms(x->out, r->to);
	else
		fputs("null", x->out);
	fputs(",\"pausedRanges\":[],\"showMarkersInTimeline\":true", x->out);
	firefox_samples(x, t);
	firefox_markers(x, t);
	putc('}', x->out);
}

/* ---- the whole ---- */

/* As enum view_category; the first one, of what is nowhere else, must be grey. */
static const char firefox_categories[] =
	"[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"I/O wait\",\"color\":\"green\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Lock wait\",\"color\":\"red\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Scheduling\",\"color\":\"purple\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Other wait\",\"color\":\"lightblue\",\"subcategories\":[\"Other\"]}]";

static const char firefox_schema[] =
	"[{\"name\":\"wait\",\"tableLabel\":\"{marker.data.waker}\","
	"\"display\":[\"marker-chart\",\"marker-table\"],\"fields\":["
	"{\"key\":\"waker\",\"label\":\"Woken by\",\"format\":\"unique-string\"},"
	"{\"key\":\"points\",\"label\":\"Sampling points\",\"format\":\"integer\"},"
	"{\"key\":\"unfinished\",\"label\":\"Went on at the end\",\"format\":\"string\"}]}]";

static void firefox_meta(struct firefox *x)
{
	const struct record_header *h = &x->v->r->header;
	_cleanup_free_ char *system = xasprintf("Linux %s", h->kernel ? h->kernel : "");
	uint64_t duration = x->v->r->footer.duration;

	fprintf(x->out,
		"{\"meta\":{\"version\":31,\"preprocessedProfileVersion\":%d,\"processType\":0,"
		"\"stackwalk\":1,\"importedFrom\":\"scoz " PROGRAM_VERSION "\",\"product\":",
		FIREFOX_VERSION);
	export_text(x->out, record_subject(h));
	fprintf(x->out, ",\"startTime\":%lld,\"interval\":", (long long)view_started(x->v) * 1000);
	export_ms(x->out, h->period_ns);
	if (duration) {
		fputs(",\"profilingStartTime\":0,\"profilingEndTime\":", x->out);
		export_ms(x->out, duration);
	}
	fprintf(x->out, ",\"logicalCPUs\":%u,\"platform\":\"X11\",\"oscpu\":", h->cpus);
	export_text(x->out, system);
	fputs(",\"device\":", x->out);
	export_text(x->out, h->host ? h->host : "");
	fputs(",\"debug\":false,\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
	      "\"sourceCodeIsNotOnSearchfox\":true,\"sampleUnits\":{\"time\":\"ms\","
	      "\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n\"categories\":",
	      x->out);
	fprintf(x->out, "%s,\n\"markerSchema\":%s}", firefox_categories, firefox_schema);
}

void export_firefox(const struct record_view *v, FILE *out)
{
	struct firefox x = { .v = v, .out = out };

	export_map_init(&x.sources, 1);
	export_map_init(&x.libs, 1);
	export_map_init(&x.pids, 1);
	export_map_init(&x.functions, FUNCTION_KEY);
	x.function = xcalloc(v->n_frames + 1, sizeof(*x.function));
	firefox_functions(&x);
	firefox_processes(&x);
	firefox_meta(&x);
	firefox_binaries(&x);
	fputs(",\n\"threads\":[", out);
	for (size_t i = 0; i < v->n_threads; i++) {
		fputs(i ? ",\n" : "\n", out);
		firefox_thread(&x, &v->threads[i]);
	}
	putc(']', out);
	firefox_shared(&x);
	fputs("}\n", out);
	export_strings_deinit(&x.strings);
	export_map_deinit(&x.sources);
	export_map_deinit(&x.libs);
	export_map_deinit(&x.functions);
	export_map_deinit(&x.pids);
	free(x.process);
	free(x.function);
}
