// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz-record-report/1: keys are only ever added. docs/file-format.md describes it. */
#include "tools/scoz/recording/record_model.h"

#include "base/json_text.h"
#include "tools/scoz/cmds.h"

#define TOP_WAITS  10
#define MAX_FRAMES 256 /* of a wait */

static void add(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static void add_text_or_null(json_t *o, const char *key, const char *s)
{
	add(o, key, s ? json_text(s) : json_null());
}

static void add_count(json_t *o, const char *key, uint64_t v)
{
	add(o, key, json_integer((json_int_t)v));
}

static void add_seconds(json_t *o, const char *key, uint64_t ns)
{
	add(o, key, json_real((double)ns / 1e9));
}

static void add_share(json_t *o, const char *key, uint64_t part, uint64_t whole)
{
	add(o, key, json_real(record_percent(part, whole)));
}

static const char *level_class(enum record_level level)
{
	return record_class_name(level <= LEVEL_KERNEL ? RECORD_ON
						       : (enum record_class)(level - 1));
}

static json_t *level_letter(enum record_level level)
{
	return json_stringn(&RECORD_LETTERS[level], 1);
}

/* ---- totals ---- */

static json_t *totals_json(const struct record_model *m)
{
	const struct recording *rec = m->rec;
	json_t *o = json_object();

	add_count(o, "total", rec->n_samples);
	add_count(o, "points_total", record_points(rec));
	add_count(o, "selected", m->samples);
	add_count(o, "points", m->points);
	add_count(o, "lost", rec->footer.lost);
	add_count(o, "broken_chains", m->broken);
	add_count(o, "without_chain", m->chainless);
	add_count(o, "unfinished_waits", m->unfinished);
	add_count(o, "skipped_lines", rec->skipped_lines);
	add_count(o, "unknown_lines", rec->unknown_lines);
	return o;
}

static json_t *classes_json(const struct record_model *m)
{
	json_t *a = json_array();

	for (size_t i = 0; i < RECORD_LEVELS; i++) {
		json_t *o = json_object();

		add(o, "level", level_letter(i));
		add(o, "class", json_text(level_class(i)));
		add_count(o, "points", m->levels[i]);
		add_share(o, "share_pct", m->levels[i], m->points);
		add_count(o, "samples", m->level_samples[i]);
		add_seconds(o, "duration_s", m->level_ns[i]);
		if (i == LEVEL_LOCK) {
			add_count(o, "held_points", m->held.points);
			add_share(o, "held_share_pct", m->held.points, m->points);
		}
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *exact_json(const struct record_thread *t)
{
	json_t *o;

	if (!t->has_times)
		return json_null();
	o = json_object();
	add_seconds(o, "from_s", t->from);
	add_seconds(o, "to_s", t->to);
	add_seconds(o, "on_s", t->on);
	add_seconds(o, "sched_s", t->sched);
	add_seconds(o, "io_s", t->io);
	add_seconds(o, "other_s", t->other);
	return o;
}

static json_t *rank_json(const struct record_process *p)
{
	return p->rank < 0 ? json_null() : json_integer(p->rank);
}

static void add_process(json_t *o, const struct record_process *p)
{
	add(o, "process", json_text(p->name));
	add(o, "rank", rank_json(p));
}

static json_t *threads_json(const struct record_model *m)
{
	json_t *a = json_array();

	for (size_t i = 0; i < m->rec->n_threads; i++) {
		const struct record_thread *t = &m->rec->threads[i];
		const uint64_t *p = m->by_thread[i];
		json_t *o, *shares;
		uint64_t points = 0;

		for (size_t k = 0; k < RECORD_LEVELS; k++)
			points += p[k];
		if (!points && (!t->has_times || m->samples != m->rec->n_samples))
			continue;
		o = json_object();
		shares = json_object();
		add(o, "tid", json_integer(t->tid));
		add(o, "pid", json_integer(t->pid));
		add(o, "comm", json_text(m->comms[i]));
		add_process(o, record_process_of(m, i));
		add(o, "idle", json_boolean(m->idle[i]));
		add_seconds(o, "start_s", t->start);
		add(o, "exited", json_boolean(t->exited));
		add(o, "exact", exact_json(t));
		add_count(o, "points", points);
		add_share(shares, "on", p[LEVEL_USER] + p[LEVEL_KERNEL], points);
		add_share(shares, "io", p[LEVEL_IO], points);
		add_share(shares, "lock", p[LEVEL_LOCK], points);
		add_share(shares, "sched", p[LEVEL_SCHED], points);
		add_share(shares, "other", p[LEVEL_OTHER], points);
		add(o, "sampled_pct", shares);
		json_array_append_new(a, o);
	}
	return a;
}

/* ---- rows ---- */

static void add_key(const struct record_model *m, json_t *o, const struct record_row *row,
		    enum record_sort by)
{
	const struct record_entry *e = row->entry;
	const struct record_frame *f = row->frame;
	const struct record_thread *t = &m->rec->threads[e->thread];

	switch (by) {
	case SORT_COMM:
		add(o, "comm", json_text(e->comm));
		break;
	case SORT_DSO:
		add(o, "object", json_text(f->object));
		break;
	case SORT_SYM:
		add(o, "symbol", json_text(f->symbol));
		add(o, "level", level_letter(row->level));
		break;
	case SORT_PID:
		add(o, "pid", json_integer(t->pid));
		break;
	case SORT_TID:
		add(o, "tid", json_integer(t->tid));
		break;
	case SORT_CLASS:
		add(o, "class", json_text(level_class(row->level)));
		break;
	case SORT_KIND:
		add_text_or_null(o, "kind", e->kind);
		break;
	case SORT_CPU:
		add_count(o, "cpu", e->cpu);
		break;
	case SORT_WAKER: {
		_cleanup_free_ char *name = record_waker_name(m, e->waker, e->event);

		add(o, "waker", json_text(name));
		break;
	}
	case SORT_PROCESS:
		add(o, "process", json_text(record_process_of(m, e->thread)->name));
		break;
	case SORT_RANK:
		add(o, "rank", rank_json(record_process_of(m, e->thread)));
		break;
	case SORT_SRCLINE:
		add_count(o, "line", f->line);
		/* fall through */
	default:
		add_text_or_null(o, "file", f->file);
	}
}

static json_t *rows_json(const struct record_model *m, const struct record_group *g)
{
	const struct record_options *opt = m->options;
	json_t *a = json_array();

	for (size_t i = 0; i < g->n_rows; i++) {
		const struct record_row *row = &g->rows[i];
		uint64_t points = opt->children ? row->total : row->self;
		json_t *o;

		if (record_percent(points, g->points) < opt->percent_limit)
			continue;
		o = json_object();
		add_count(o, "points", row->self);
		add_share(o, "overhead_pct", row->self, g->points);
		if (opt->children) {
			add_count(o, "children_points", row->total);
			add_share(o, "children_pct", row->total, g->points);
		}
		for (size_t k = 0; k < opt->n_sort; k++)
			add_key(m, o, row, opt->sort[k]);
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *groups_json(const struct record_model *m)
{
	json_t *a = json_array();

	for (size_t i = 0; i < m->n_groups; i++) {
		const struct record_group *g = &m->groups[i];
		const struct record_thread *t = &m->rec->threads[g->heaviest->thread];
		json_t *o = json_object();

		add(o, "pid", json_integer(t->pid));
		add(o, "tid", m->options->per == PER_THREAD ? json_integer(t->tid) : json_null());
		add(o, "comm", json_text(g->heaviest->comm));
		add_process(o, record_process_of(m, g->heaviest->thread));
		add_count(o, "points", g->points);
		add_share(o, "share_pct", g->points, m->points);
		add(o, "rows", rows_json(m, g));
		json_array_append_new(a, o);
	}
	return a;
}

/* ---- waits ---- */

static json_t *stack_json(const struct record_model *m, uint32_t node)
{
	json_t *a = json_array();

	for (size_t n = 0; node != RECORDING_NONE && n < MAX_FRAMES;
	     n++, node = m->rec->stacks[node].parent) {
		const struct record_frame *f = &m->rec->frames[m->rec->stacks[node].frame];
		json_t *o = json_object();

		add(o, "symbol", json_text(f->symbol));
		add(o, "object", json_text(f->object));
		if (f->file) {
			add(o, "file", json_text(f->file));
			add_count(o, "line", f->line);
		}
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *wakers_json(const struct record_model *m, const struct record_wakers *w)
{
	json_t *a = json_array();

	for (size_t i = 0; i < w->n; i++) {
		const struct record_waker *by = &w->list[i];
		json_t *o = json_object();

		add_text_or_null(o, "event", by->event);
		if (by->thread != RECORDING_NONE) {
			const struct record_thread *t = &m->rec->threads[by->thread];

			add(o, "tid", json_integer(t->tid));
			add(o, "pid", json_integer(t->pid));
			add(o, "comm", json_text(m->comms[by->thread]));
		}
		add_count(o, "points", by->points);
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *waits_json(const struct record_model *m)
{
	size_t limit = m->options->top_waits ? m->options->top_waits : TOP_WAITS, of_level = 0;
	json_t *a = json_array();

	for (size_t i = 0; i < m->n_waits; i++) {
		const struct record_wait *w = &m->waits[i];
		json_t *o;

		of_level = i && m->waits[i - 1].level == w->level ? of_level + 1 : 0;
		if (of_level >= limit)
			continue;
		o = json_object();
		add(o, "level", level_letter(w->level));
		add(o, "class", json_text(level_class(w->level)));
		add_text_or_null(o, "kind", w->kind);
		add_count(o, "points", w->points);
		add_share(o, "share_pct", w->points, m->points);
		add(o, "time_s",
		    json_real((double)w->points * (double)m->rec->header.period_ns / 1e9));
		add_count(o, "waits", w->samples);
		add_seconds(o, "duration_s", w->duration);
		add(o, "mean_s", json_real((double)w->duration / (double)w->samples / 1e9));
		add(o, "woken_by", wakers_json(m, &w->wakers));
		add(o, "held_by", wakers_json(m, &w->holders));
		add(o, "stack", stack_json(m, w->stack));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *hints_json(const struct record_model *m)
{
	json_t *a = json_array();
	size_t n;
	struct record_hint *hints = record_make_hints(m, &n);

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object();

		add(o, "level", level_letter(hints[i].level));
		add_share(o, "share_pct", hints[i].points, m->points);
		add_text_or_null(o, "kind", hints[i].wait->kind);
		add(o, "stack", stack_json(m, hints[i].wait->stack));
		add(o, "text", json_text(hints[i].text));
		json_array_append_new(a, o);
		free(hints[i].text);
	}
	free(hints);
	return a;
}

/* Frees @texts. */
static json_t *texts_json(char **texts, size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++) {
		json_array_append_new(a, json_text(texts[i]));
		free(texts[i]);
	}
	free(texts);
	return a;
}

/* ------------------------------------------------------------------------------------------ */

static json_t *report_json(const struct record_model *m)
{
	const struct recording *rec = m->rec;
	const struct record_header *h = &rec->header;
	const struct record_options *opt = m->options;
	_cleanup_free_ char *reason = record_reason(m);
	json_t *o = json_object(), *sort = json_array(), *reasons = json_array();
	bool groups = opt->per != PER_NOTHING;
	char **texts;
	size_t n;

	for (size_t i = 0; i < opt->n_sort; i++)
		json_array_append_new(sort, json_string(record_sort_names[opt->sort[i]]));
	if (reason)
		json_array_append_new(reasons, json_text(reason));
	add(o, "schema", json_string("scoz-record-report/1"));
	add(o, "recording", json_text(rec->path));
	add(o, "engine", json_text(h->engine));
	add_seconds(o, "period_s", h->period_ns);
	add(o, "command", json_text(h->command));
	add(o, "command_status",
	    rec->footer.command_status == -1 ? json_null()
					     : json_integer(rec->footer.command_status));
	add(o, "scope", json_text(h->scope));
	add(o, "host", json_text(h->host));
	add(o, "kernel", json_text(h->kernel));
	add(o, "started", json_text(h->started));
	add_count(o, "cpus", h->cpus);
	add(o, "complete", json_boolean(rec->complete));
	add(o, "end", rec->complete ? json_text(rec->footer.end) : json_null());
	if (rec->complete)
		add_seconds(o, "duration_s", rec->footer.duration);
	else
		add(o, "duration_s", json_null());
	add(o, "samples", totals_json(m));
	add(o, "classes", classes_json(m));
	add(o, "threads", threads_json(m));
	add(o, "sort", sort);
	add(o, "rows", m->n_groups && !groups ? rows_json(m, &m->groups[0]) : json_array());
	add(o, "groups", groups ? groups_json(m) : json_array());
	add(o, "waits", waits_json(m));
	add(o, "hints", opt->no_hints ? json_array() : hints_json(m));
	add(o, "reasons", reasons);
	texts = record_warnings(m, &n);
	add(o, "warnings", texts_json(texts, n));
	texts = record_notes(m, &n);
	add(o, "notes", texts_json(texts, n));
	return o;
}

int record_write_json(const struct record_model *m, FILE *out)
{
	json_t *o = report_json(m);
	int ret = json_dumpf(o, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9));

	json_decref(o);
	fputc('\n', out);
	if (ret && !ferror(out)) {
		log_warn("%s: out of memory", m->rec->path);
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}
