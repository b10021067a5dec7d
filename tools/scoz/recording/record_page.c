// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A recording as one page that needs nothing else: where the threads' time went by class, a flame
 * graph of all of it, the heaviest waits with who ended them, the busiest functions. All of it is
 * HTML; flame.js zooms and finds. Its size is bounded, whatever was recorded.
 */
#include "page.h"
#include "tools/scoz/cmds.h"
#include "tools/scoz/export/record_export.h"
#include "tools/scoz/wrong_file.h"
#include "tools/scoz/recording/record_model.h"
#include "tools/scoz/text.h"

#define LINE	    18	 /* pixels */
#define MOST_FRAMES 3000 /* those that take least time are left out, then */
#define MOST_DEPTH  120
#define THINNEST    0.02 /* percent: nobody sees it */
#define WITH_NAME   1.0	 /* percent: wide enough for some of a name */
#define MOST_NAME   400
#define MOST_ROWS   20
#define STACK_LINES 16

/* ---- frames that are drawn: the view's, of one name and caller, as one ---- */

struct block {
	uint32_t name, parent; /* parent: RECORDING_NONE: none */
	enum view_category category;
	const char *file;
	uint64_t points, self;
	uint64_t at; /* points to the left of it */
	unsigned int depth;
	bool drawn;
};

struct flame {
	const struct record_model *m;
	struct record_view v;
	struct export_strings names;
	struct export_map map; /* (name, category, parent) */
	struct block *blocks;
	size_t cap;
	uint64_t points;
	size_t left_out;
	bool deeper; /* some chains go on below what is drawn */
};

static uint32_t add_block(struct flame *f, const char *name, enum view_category category,
			  uint32_t parent, const char *file)
{
	uint32_t text = export_strings_add(&f->names, name);
	uint32_t key[] = { text, category, parent };
	size_t n = f->map.n;
	uint32_t id = export_map_add(&f->map, key);

	if (id < n)
		return id;
	array_reserve(f->blocks, f->cap, n + 1);
	f->blocks[id] = (struct block){
		.name = text,
		.parent = parent,
		.category = category,
		.file = file,
		.depth = parent == RECORDING_NONE ? 0 : f->blocks[parent].depth + 1,
	};
	return id;
}

/* The block of a call chain below @root; too deep ones end early. */
static uint32_t add_chain(struct flame *f, uint32_t root, uint32_t node)
{
	uint32_t path[MOST_DEPTH];
	size_t depth = 0, skip = 0;

	for (uint32_t n = node; n != RECORDING_NONE; n = view_node_parent(&f->v, n))
		depth++;
	if (depth > MOST_DEPTH) {
		skip = depth - MOST_DEPTH;
		f->deeper = true;
	}
	depth = 0;
	for (uint32_t n = node; n != RECORDING_NONE; n = view_node_parent(&f->v, n)) {
		if (skip)
			skip--;
		else
			path[depth++] = n;
	}
	while (depth) {
		const struct view_frame *frame =
			&f->v.frames[view_node_frame(&f->v, path[--depth])];

		root = add_block(f, frame->name, frame->category, root, view_frame_file(frame));
	}
	return root;
}

static void count_samples(struct flame *f)
{
	const struct recording *r = f->m->rec;

	for (size_t i = 0; i < r->n_samples; i++) {
		const struct record_sample *s = &r->samples[i];
		uint32_t b;

		if (f->v.node[i] == RECORDING_NONE ||
		    (f->m->options->no_idle && f->m->idle[s->thread]))
			continue;
		b = add_block(f, view_comm(&f->v, s), CATEGORY_INHERITED, RECORDING_NONE, NULL);
		b = add_chain(f, b, f->v.node[i]);
		f->blocks[b].self += s->points;
		f->points += s->points;
		for (; b != RECORDING_NONE; b = f->blocks[b].parent)
			f->blocks[b].points += s->points;
	}
}

/* Heaviest first, callers before what they call. */
static int by_points(const void *a, const void *b, void *arg)
{
	const struct flame *f = arg;
	const struct block *x = &f->blocks[*(const uint32_t *)a];
	const struct block *y = &f->blocks[*(const uint32_t *)b];

	if (x->points != y->points)
		return x->points > y->points ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return strcmp(f->names.text[x->name], f->names.text[y->name]);
}

/* Places them, of one caller the heaviest first. Returns how many are drawn: those in @order. */
static size_t lay_out(struct flame *f, uint32_t *order)
{
	size_t n = f->map.n, drawn = 0;
	_cleanup_free_ uint64_t *used = xcalloc(n + 1, sizeof(*used)); /* by caller; [n]: of none */

	for (size_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_points, f);
	for (size_t i = 0; i < n; i++) {
		struct block *b = &f->blocks[order[i]];
		const struct block *caller =
			b->parent == RECORDING_NONE ? NULL : &f->blocks[b->parent];
		uint64_t *before = &used[caller ? b->parent : n];

		b->at = (caller ? caller->at : 0) + *before;
		*before += b->points;
		b->drawn = (!caller || caller->drawn) && drawn < MOST_FRAMES &&
			   record_percent(b->points, f->points) >= THINNEST;
		if (b->drawn)
			order[drawn++] = order[i];
	}
	f->left_out = n - drawn;
	return drawn;
}

static char *cut(const char *s)
{
	return strlen(s) <= MOST_NAME ? xstrdup(s) : xasprintf("%.*s...", MOST_NAME, s);
}

static void write_block(const struct flame *f, const struct block *b, FILE *out)
{
	double left = record_percent(b->at, f->points),
	       width = record_percent(b->points, f->points);
	_cleanup_free_ char *name = cut(f->names.text[b->name]);
	enum view_category c = b->category;

	/* Inlined calls are of their callers' colour. */
	for (const struct block *o = b; c == CATEGORY_INHERITED && o->parent != RECORDING_NONE;) {
		o = &f->blocks[o->parent];
		c = o->category;
	}
	/* .c0 to .c6 in flame.css: threads, user, kernel, I, L, S, B. */
	fprintf(out, "<div class=\"c%d\" style=\"left:%.3f%%;width:%.3f%%;top:%upx\" title=\"",
		(int)c, left, width, b->depth * LINE);
	text_xml(out, name);
	fprintf(out, "&#10;%.1f %% of the time", width);
	if (b->self && b->self < b->points)
		fprintf(out, ", %.1f %% itself", record_percent(b->self, f->points));
	if (b->file) {
		fputs("&#10;", out);
		text_xml(out, b->file);
	}
	fputs("\">", out);
	if (width > WITH_NAME)
		text_xml(out, name);
	fputs("</div>\n", out);
}

static void write_flame(struct flame *f, FILE *out)
{
	_cleanup_free_ uint32_t *order = xcalloc(f->map.n + 1, sizeof(*order));
	size_t n = lay_out(f, order);
	unsigned int deepest = 0;

	for (size_t i = 0; i < n; i++)
		deepest = f->blocks[order[i]].depth > deepest ? f->blocks[order[i]].depth : deepest;
	fprintf(out,
		"<h2>Who spent it: each block a function, below it what it called; as wide as its "
		"time</h2>\n<div class=\"controls\" id=\"controls\"><input "
		"type=\"search\" id=\"find\" placeholder=\"find names ( / )\" aria-label=\"find "
		"names\"/> <output id=\"found\"></output> <button type=\"button\" id=\"whole\" "
		"hidden=\"hidden\">all of it</button></div>\n<div id=\"flame\" role=\"img\" "
		"aria-label=\"flame graph; the tables below have the same\" "
		"style=\"height:%upx\">\n",
		(deepest + 1) * LINE);
	for (size_t i = 0; i < n; i++)
		write_block(f, &f->blocks[order[i]], out);
	fputs("</div>\n", out);
	if (f->left_out || f->deeper)
		fprintf(out,
			"<p class=\"sub\">%zu blocks too thin to be seen are left out%s.</p>\n",
			f->left_out, f->deeper ? ", and call chains end after 120 calls" : "");
}

/* ---- the classes ---- */

static const int level_colour[RECORD_LEVELS] = {
	CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_IO, CATEGORY_LOCK, CATEGORY_SCHED, CATEGORY_WAIT,
};

static void write_levels(const struct record_model *m, FILE *out)
{
	fputs("<div class=\"bar\" aria-hidden=\"true\">", out);
	for (size_t i = 0; i < RECORD_LEVELS; i++) {
		if (m->levels[i])
			fprintf(out, "<i class=\"c%d\" style=\"width:%.3f%%\"></i>",
				level_colour[i], record_percent(m->levels[i], m->points));
	}
	fputs("</div>\n<p>", out);
	for (size_t i = 0; i < RECORD_LEVELS; i++) {
		if (m->levels[i])
			fprintf(out, "<span class=\"tag c%d\">%s %.1f %%</span> ", level_colour[i],
				record_level_names[i], record_percent(m->levels[i], m->points));
	}
	fputs("</p>\n", out);
}

/* ---- tables ---- */

static const struct record_wait *heaviest_wait(const struct record_model *m, size_t nth)
{
	_cleanup_free_ bool *taken = xcalloc(m->n_waits + 1, sizeof(*taken));
	const struct record_wait *best = NULL;

	for (size_t k = 0; k <= nth; k++) {
		best = NULL;
		for (size_t i = 0; i < m->n_waits; i++) {
			if (!taken[i] && (!best || m->waits[i].points > best->points))
				best = &m->waits[i];
		}
		if (!best)
			return NULL;
		taken[best - m->waits] = true;
	}
	return best;
}

/* "disk in pread64": the program's innermost function, where the chain has one. */
static char *wait_text(const struct record_model *m, const struct record_wait *w)
{
	const struct record_frame *f = record_model_frame(m, w->stack, w->stack);
	_cleanup_free_ char *symbol = NULL;
	_cleanup_free_ char *kind =
		text_clean(w->kind ? w->kind : record_level_names[w->level], "?");

	for (uint32_t n = w->stack; n != RECORDING_NONE; n = m->rec->stacks[n].parent) {
		const struct record_frame *at = record_model_frame(m, n, n);

		if (at->kind == FRAME_USER) {
			f = at;
			break;
		}
	}
	symbol = text_clean(f->symbol, "?");
	return xasprintf("%s in %s", kind, symbol);
}

static char *ns_text(double ns)
{
	return ns >= 1e9   ? xasprintf("%.3g s", ns / 1e9)
	       : ns >= 1e6 ? xasprintf("%.3g ms", ns / 1e6)
			   : xasprintf("%.3g us", ns / 1e3);
}

static void write_by(const struct record_model *m, const struct record_wait *w,
		     const struct record_wakers *list, const char *before, FILE *out)
{
	for (size_t i = 0; i < list->n && i < 3; i++) {
		const struct record_waker *by = &list->list[i];
		_cleanup_free_ char *name = record_waker_name(m, by->thread, by->event);

		fputs(i ? ", " : before, out);
		text_xml(out, by->event || by->thread != RECORDING_NONE ? name : "unknown");
		fprintf(out, " %.0f %%", record_percent(by->points, w->points));
	}
	if (list->n > 3)
		fprintf(out, ", %zu more", list->n - 3);
}

static void write_wait(const struct record_model *m, const struct record_wait *w, FILE *out)
{
	_cleanup_free_ char *text = wait_text(m, w), *shown = cut(text);
	_cleanup_free_ char *time = ns_text((double)w->points * (double)m->rec->header.period_ns);
	_cleanup_free_ char *mean = ns_text((double)w->duration / (double)w->samples);
	uint32_t node = w->stack;

	fprintf(out,
		"<tr><td class=\"n\">%.1f %%</td><td><span class=\"tag c%d\">%c</span></td><td>"
		"<details><summary>",
		record_percent(w->points, m->points), level_colour[w->level],
		RECORD_LETTERS[w->level]);
	text_xml(out, shown);
	fputs("</summary><pre>", out);
	for (size_t i = 0; i < STACK_LINES && node != RECORDING_NONE; i++) {
		const struct record_frame *f = record_model_frame(m, node, node);
		_cleanup_free_ char *symbol = cut(f->symbol);

		text_xml(out, symbol);
		if (f->object && *f->object) {
			fputs("  ", out);
			text_xml(out, path_base(f->object));
		}
		fputc('\n', out);
		node = m->rec->stacks[node].parent;
	}
	fprintf(out,
		"%s</pre></details></td><td class=\"n\">%s</td><td class=\"n wide\">%llu</td><td "
		"class=\"n wide\">%s</td><td>",
		node == RECORDING_NONE ? "" : "...\n", time, (unsigned long long)w->samples, mean);
	if (w->level != LEVEL_SCHED) {
		write_by(m, w, &w->holders, "held by ", out);
		write_by(m, w, &w->wakers, w->holders.n ? "; woken by " : "woken by ", out);
	}
	fputs("</td></tr>\n", out);
}

static void write_waits(const struct record_model *m, FILE *out)
{
	if (!m->n_waits)
		return;
	fputs("<h2>The heaviest waits</h2>\n<table class=\"waits\"><thead><tr><th class=\"n\">of "
	      "the time</th><th>class</th><th>wait</th><th class=\"n\">time</th><th class=\"n "
	      "wide\">waits</th><th class=\"n wide\">mean</th><th>who</th></tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < MOST_ROWS; i++) {
		const struct record_wait *w = heaviest_wait(m, i);

		if (!w)
			break;
		write_wait(m, w, out);
	}
	fputs("</tbody></table>\n", out);
}

static const struct record_row *busiest(const struct record_model *m)
{
	for (size_t i = 0; m->n_groups && i < m->groups[0].n_rows; i++) {
		if (m->groups[0].rows[i].level <= LEVEL_KERNEL && m->groups[0].rows[i].self)
			return &m->groups[0].rows[i];
	}
	return NULL;
}

static void write_functions(const struct record_model *m, FILE *out)
{
	size_t n = 0;

	if (!busiest(m))
		return;
	fputs("<h2>The busiest functions</h2>\n<table class=\"waits\"><thead><tr><th "
	      "class=\"n\">of the time</th><th>class</th><th>function</th><th>program</th><th "
	      "class=\"wide\">binary</th></tr></thead><tbody>\n",
	      out);
	for (size_t i = 0; i < m->groups[0].n_rows && n < MOST_ROWS; i++) {
		const struct record_row *row = &m->groups[0].rows[i];
		_cleanup_free_ char *symbol = cut(row->frame->symbol);

		if (row->level > LEVEL_KERNEL || !row->self)
			continue;
		fprintf(out,
			"<tr><td class=\"n\">%.1f %%</td><td><span class=\"tag c%d\">%s</span></td>"
			"<td><code>",
			record_percent(row->self, m->points), level_colour[row->level],
			row->level == LEVEL_USER ? "user" : "kernel");
		text_xml(out, symbol);
		fputs("</code></td><td>", out);
		text_xml(out, row->entry->comm);
		fputs("</td><td class=\"wide\">", out);
		text_xml(out, row->frame->object && *row->frame->object
				      ? path_base(row->frame->object)
				      : "");
		fputs("</td></tr>\n", out);
		n++;
	}
	fputs("</tbody></table>\n", out);
}

/* ---- the page ---- */

static void write_headline(const struct record_model *m, FILE *out)
{
	double on = record_percent(m->levels[LEVEL_USER] + m->levels[LEVEL_KERNEL], m->points);
	const struct record_wait *w = heaviest_wait(m, 0);
	const struct record_row *b = busiest(m);

	fprintf(out, "<h1 class=\"headline\">Of the threads' time %.0f %% was spent on a CPU", on);
	if (b) {
		_cleanup_free_ char *symbol = cut(b->frame->symbol);

		fputs(", the most in <code>", out);
		text_xml(out, symbol);
		fprintf(out, "</code> (%.0f %% of all)", record_percent(b->self, m->points));
	}
	fprintf(out, "; %.0f %% in waiting", 100 - on);
	if (w) {
		_cleanup_free_ char *text = wait_text(m, w), *shown = cut(text);

		fputs(", the most for <code>", out);
		text_xml(out, shown);
		fprintf(out, "</code> (%.0f %% of all)", record_percent(w->points, m->points));
	}
	fputs(".</h1>\n<p class=\"sub\">This says where time goes, not what it is worth to be "
	      "faster there: <code>scozd</code> tells that.</p>\n",
	      out);
}

static void write_facts(const struct record_model *m, FILE *out)
{
	const struct record_header *h = &m->rec->header;

	fputs("<p class=\"sub facts\"><code>", out);
	text_xml(out, record_subject(h));
	fputs("</code> \xc2\xb7 ", out);
	if (m->rec->complete)
		fprintf(out, "%.1f s \xc2\xb7 ", (double)m->rec->footer.duration / 1e9);
	fprintf(out, "%zu samples for %llu points of %.3g ms, %llu lost \xc2\xb7 ",
		m->rec->n_samples, (unsigned long long)record_points(m->rec),
		(double)h->period_ns / 1e6, (unsigned long long)m->rec->footer.lost);
	text_xml(out, h->host ? h->host : "?");
	fputs(", Linux ", out);
	text_xml(out, h->kernel ? h->kernel : "?");
	fprintf(out, ", %u CPU%s \xc2\xb7 ", h->cpus, h->cpus == 1 ? "" : "s");
	text_xml(out, h->started ? h->started : "?");
	fputs("</p>\n", out);
}

static void write_texts(const char *title, char **texts, size_t n, FILE *out)
{
	if (n)
		fprintf(out, "<h2>%s</h2>\n<ul class=\"notes\">\n", title);
	for (size_t i = 0; i < n; i++) {
		fputs("<li>", out);
		text_xml(out, texts[i]);
		fputs("</li>\n", out);
		free(texts[i]);
	}
	if (n)
		fputs("</ul>\n", out);
	free(texts);
}

static void write_content(const struct record_model *m, FILE *out)
{
	struct export_options o = { .filter = m->options->filter };
	struct flame f = { .m = m };

	write_headline(m, out);
	write_levels(m, out);
	record_view_init(&f.v, m->rec, &o);
	export_map_init(&f.map, 3);
	count_samples(&f);
	write_flame(&f, out);
	export_map_deinit(&f.map);
	export_strings_deinit(&f.names);
	free(f.blocks);
	record_view_deinit(&f.v);
	write_waits(m, out);
	write_functions(m, out);
}

static void write_page(const struct record_model *m, FILE *out)
{
	_cleanup_free_ char *reason = record_reason(m);
	char **texts;
	size_t n;

	page_begin(out);
	fputs("Recording: ", out);
	text_xml(out, m->rec->path);
	fprintf(out, "</title>\n<style>\n%s%s</style>\n<script>\n%s%s</script>\n", page_css,
		flame_css, paint_once_js, flame_js);
	fputs("</head>\n<body>\n<main>\n", out);
	if (reason) {
		fputs("<h1 class=\"headline\">", out);
		text_xml(out, reason);
		fputs("</h1>\n", out);
	} else {
		write_content(m, out);
	}
	write_facts(m, out);
	texts = record_warnings(m, &n);
	write_texts("Warnings", texts, n, out);
	texts = record_notes(m, &n);
	write_texts("Notes", texts, n, out);
	fputs("</main>\n</body>\n</html>\n", out);
}

int record_plot(const char *path, const struct record_options *options, const char *output)
{
	struct error err = { 0 };
	struct record_model *m;
	struct recording *rec;
	FILE *out;
	int ret;

	if (recording_read(path, &rec, &err))
		return cannot_read(path, FILE_RECORDING, &err);
	m = record_model_create(rec, options);
	out = output_open(output);
	if (out)
		write_page(m, out);
	ret = out ? output_close(out, output) : EXIT_FAILED;
	if (!ret && strcmp(output, "-"))
		printf("%s: %zu samples\n", output, rec->n_samples);
	ret = record_conclude(m, ret);
	record_model_free(m);
	recording_free(rec);
	return ret;
}
