// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading profile.scoz.
 *
 * What may be wrong with an honest file: it ends in the middle of a line (crash, full disk, power
 * loss that left NUL bytes), and it may have been extended after that, so that the half line is
 * followed by the header of the next run. A run of unreadable lines is therefore forgiven exactly
 * where a header or the end of the file follows, and counted. Everything else is damage, and
 * reading on would mean to guess: an error with the line number.
 *
 * All strings and arrays of a profile live in one arena.
 */
#include "base/lines.h"
#include "profile/format.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARENA_BLOCK  (64u << 10)
#define MAX_PROGRESS 4096

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(16) char data[];
};

struct profile_impl {
	struct profile p; /* first: profile_free() gets a pointer to it */
	struct arena_block *arena;
};

struct reader {
	struct profile *p;
	struct profile_impl *impl;
	size_t line;	 /* number of the line being read */
	size_t bad_line; /* first of the unreadable lines before it, 0: none */
	size_t bad_count;
	char bad_why[JSON_ERROR_TEXT_LENGTH];
	size_t cap_runs, cap_progress, cap_targets, cap_windows, cap_samples, cap_latencies;
	size_t cap_machines, cap_processes, first_sample; /* of this run */
	size_t *kept, n_kept, cap_kept;			  /* windows of this run, see push_kept() */
	struct error *err;
};

static void *arena_alloc(struct profile_impl *impl, size_t size)
{
	struct arena_block *b = impl->arena;
	void *p;

	size = (size + 15) & ~(size_t)15;
	if (!b || b->size - b->used < size) {
		size_t room = size > ARENA_BLOCK ? size : ARENA_BLOCK;

		b = xmalloc(sizeof(*b) + room);
		b->next = impl->arena;
		b->used = 0;
		b->size = room;
		impl->arena = b;
	}
	p = b->data + b->used;
	b->used += size;
	return memset(p, 0, size);
}

static const char *arena_string(struct profile_impl *impl, const char *s)
{
	size_t n = strlen(s) + 1;

	return n == 1 ? "" : memcpy(arena_alloc(impl, n), s, n);
}

/* ---- fields: each returns 0 or sets the error ---- */

static int bad_field(struct reader *r, const char *key, const char *what)
{
	return error_set(r->err, EINVAL,
			 "%s, line %zu: \"%s\" %s: the file is damaged; cut it off before that "
			 "line and try again",
			 r->p->path, r->line, key, what);
}

static int get_text(struct reader *r, const json_t *o, const char *key, const char **ret)
{
	const json_t *v = json_object_get(o, key);

	*ret = "";
	if (!v)
		return 0;
	if (!json_is_string(v))
		return bad_field(r, key, "is not a string");
	*ret = arena_string(r->impl, json_string_value(v));
	return 0;
}

/* Absent and null are 0: kinds and keys are only ever added, and JSON knows no infinity. */
static int get_real(struct reader *r, const json_t *o, const char *key, double *ret)
{
	const json_t *v = json_object_get(o, key);

	*ret = 0;
	if (!v || json_is_null(v))
		return 0;
	if (!json_is_number(v))
		return bad_field(r, key, "is not a number");
	*ret = json_number_value(v);
	return 0;
}

static int get_u64(struct reader *r, const json_t *o, const char *key, uint64_t *ret)
{
	const json_t *v = json_object_get(o, key);

	*ret = 0;
	if (!v)
		return 0;
	if (!json_is_integer(v))
		return bad_field(r, key, "is not an integer");
	*ret = (uint64_t)json_integer_value(v);
	return 0;
}

static int get_index(struct reader *r, const json_t *o, const char *key, uint32_t *ret)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > UINT32_MAX)
		return bad_field(r, key, "is not a small integer");
	*ret = json_integer_value(v);
	return 0;
}

static int get_flag(struct reader *r, const json_t *o, const char *key, bool *ret)
{
	const json_t *v = json_object_get(o, key);

	*ret = json_is_true(v);
	return v && !json_is_boolean(v) ? bad_field(r, key, "is neither true nor false") : 0;
}

static int get_list(struct reader *r, const json_t *o, const char *key, const char *const **ret,
		    size_t *n)
{
	const json_t *a = json_object_get(o, key);
	const char **list;

	*ret = NULL;
	*n = 0;
	if (!a)
		return 0;
	if (!json_is_array(a))
		return bad_field(r, key, "is not a list");
	list = arena_alloc(r->impl, json_array_size(a) * sizeof(*list));
	for (size_t i = 0; i < json_array_size(a); i++) {
		const char *s = json_string_value(json_array_get(a, i));

		if (!s)
			return bad_field(r, key, "holds something else than strings");
		list[i] = arena_string(r->impl, s);
	}
	*ret = list;
	*n = json_array_size(a);
	return 0;
}

/* ---- kinds of lines ---- */

static struct profile_run *this_run(struct reader *r)
{
	return &r->p->runs[r->p->n_runs - 1];
}

static int read_header(struct reader *r, const json_t *o)
{
	const json_t *version = json_object_get(o, "version");
	struct profile *p = r->p;
	struct profile_run *run;
	struct profile_header *h;
	uint64_t cpus = 0;
	uint32_t number;

	if (!json_is_integer(version) || json_integer_value(version) < 1)
		return bad_field(r, "version", "is not a positive integer");
	if (json_integer_value(version) > PROFILE_VERSION)
		return error_set(r->err, ENOTSUP,
				 "%s was written by a newer scoz (format version %lld, this one "
				 "reads up to %d): update scoz",
				 p->path, (long long)json_integer_value(version), PROFILE_VERSION);
	if (get_index(r, o, "run", &number))
		return -EINVAL;
	if (number != p->n_runs)
		return bad_field(r, "run", "does not follow the run before it");
	array_reserve(p->runs, r->cap_runs, p->n_runs + 1);
	r->first_sample = p->n_samples;
	r->n_kept = 0;
	run = &p->runs[p->n_runs++];
	memset(run, 0, sizeof(*run));
	h = &run->header;
	run->footer.command_status = -1;
	run->footer.end = "";
	if (get_text(r, o, "engine", &h->engine) || get_text(r, o, "model", &h->model) ||
	    get_text(r, o, "mode", &h->mode) || get_real(r, o, "frequency_hz", &h->frequency_hz) ||
	    get_real(r, o, "period_s", &h->period_s) || get_u64(r, o, "seed", &h->seed) ||
	    get_u64(r, o, "cpus", &cpus) || get_text(r, o, "command", &h->command) ||
	    get_list(r, o, "arguments", &h->arguments, &h->n_arguments) ||
	    get_text(r, o, "host", &h->host) || get_text(r, o, "kernel", &h->kernel) ||
	    get_text(r, o, "started", &h->started))
		return -EINVAL;
	h->cpus = cpus > INT32_MAX ? INT32_MAX : cpus;
	return 0;
}

static int read_progress(struct reader *r, const json_t *o)
{
	struct profile_progress g = { 0 };
	struct profile *p = r->p;
	const char *kind;

	if (get_index(r, o, "id", &g.id) || get_text(r, o, "name", &g.name) ||
	    get_text(r, o, "kind", &kind) || get_text(r, o, "spec", &g.spec))
		return -EINVAL;
	if (g.id != p->n_progress || g.id >= MAX_PROGRESS)
		return bad_field(r, "id", "does not follow the progress point before it");
	if (!strcmp(kind, "latency"))
		g.kind = PROGRESS_LATENCY;
	else if (strcmp(kind, "throughput") != 0)
		return bad_field(r, "kind", "is neither \"throughput\" nor \"latency\"");
	array_reserve(p->progress, r->cap_progress, p->n_progress + 1);
	p->progress[p->n_progress++] = g;
	return 0;
}

static int read_target(struct reader *r, const json_t *o)
{
	struct profile_target t = { 0 };
	struct profile *p = r->p;

	if (get_index(r, o, "id", &t.id) || get_text(r, o, "name", &t.name) ||
	    get_text(r, o, "kind", &t.kind) || get_text(r, o, "location", &t.location))
		return -EINVAL;
	if (t.id != p->n_targets)
		return bad_field(r, "id", "does not follow the target before it");
	array_reserve(p->targets, r->cap_targets, p->n_targets + 1);
	p->targets[p->n_targets++] = t;
	return 0;
}

static struct window_progress no_progress[MAX_PROGRESS];

static int read_window_progress(struct reader *r, const json_t *o, struct profile_window *w)
{
	const json_t *a = json_object_get(o, "progress");
	size_t n = json_array_size(a);

	if (!json_is_array(a))
		return bad_field(r, "progress", "is not a list");
	if (n && n != r->p->n_progress)
		return bad_field(r, "progress",
				 "has not as many entries as there are progress points");
	w->n_progress = r->p->n_progress;
	/* What is not in the file takes no room either. */
	w->progress = n ? arena_alloc(r->impl, n * sizeof(*w->progress)) : no_progress;
	for (size_t i = 0; i < n; i++) {
		const json_t *e = json_array_get(a, i);
		struct window_progress *wp = &w->progress[i];

		if (!json_is_object(e))
			return bad_field(r, "progress", "holds something else than objects");
		if (get_real(r, e, "visits", &wp->visits) ||
		    get_real(r, e, "virtual_s", &wp->virtual_s) ||
		    get_real(r, e, "inflight", &wp->inflight))
			return -EINVAL;
		if (wp->visits < 0 || wp->inflight < 0)
			return bad_field(r, "progress", "holds a negative count");
	}
	return 0;
}

/*
 * The windows of this run that no line has discarded yet: a heap by seq, so that a discard touches
 * only those that it discards, however many such lines there are.
 */
static bool less(const struct reader *r, size_t i, size_t k)
{
	return r->p->windows[r->kept[i]].seq < r->p->windows[r->kept[k]].seq;
}

static void swap_kept(struct reader *r, size_t i, size_t k)
{
	size_t saved = r->kept[i];

	r->kept[i] = r->kept[k];
	r->kept[k] = saved;
}

static void push_kept(struct reader *r, size_t window)
{
	size_t i = r->n_kept;

	array_reserve(r->kept, r->cap_kept, r->n_kept + 1);
	r->kept[r->n_kept++] = window;
	for (; i && less(r, i, (i - 1) / 2); i = (i - 1) / 2)
		swap_kept(r, i, (i - 1) / 2);
}

static size_t pop_kept(struct reader *r)
{
	size_t first = r->kept[0], i = 0;

	r->kept[0] = r->kept[--r->n_kept];
	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < r->n_kept && less(r, child + 1, child))
			child++;
		if (child >= r->n_kept || !less(r, child, i))
			return first;
		swap_kept(r, i, child);
		i = child;
	}
}

static int read_window(struct reader *r, const json_t *o)
{
	const json_t *discard = json_object_get(o, "discard");
	struct profile_window w = { 0 };
	struct profile *p = r->p;

	if (get_index(r, o, "run", &w.run) || get_index(r, o, "seq", &w.seq) ||
	    get_index(r, o, "target", &w.target) || get_real(r, o, "speedup", &w.speedup) ||
	    get_real(r, o, "start_s", &w.start_s) || get_real(r, o, "wall_s", &w.wall_s) ||
	    get_real(r, o, "inserted_s", &w.inserted_s) ||
	    get_real(r, o, "external_s", &w.external_s) ||
	    get_real(r, o, "crowded_s", &w.crowded_s) || get_real(r, o, "shared_s", &w.shared_s) ||
	    get_real(r, o, "ran_s", &w.ran_s) || get_real(r, o, "stolen_s", &w.stolen_s) ||
	    get_real(r, o, "syncs", &w.syncs) || get_real(r, o, "busy_s", &w.busy_s) ||
	    get_real(r, o, "stopped_s", &w.stopped_s) || get_real(r, o, "ticks", &w.ticks) ||
	    get_real(r, o, "work_ns", &w.work_ns) ||
	    get_real(r, o, "target_ran_s", &w.target_ran_s) ||
	    get_real(r, o, "target_waited_s", &w.target_waited_s) ||
	    get_real(r, o, "expected_pp", &w.expected_pp) ||
	    get_real(r, o, "absolute_waits", &w.absolute_waits) ||
	    get_real(r, o, "external_waits", &w.external_waits) || get_u64(r, o, "hits", &w.hits) ||
	    get_u64(r, o, "others_hits", &w.others_hits) || get_flag(r, o, "real", &w.real))
		return -EINVAL;
	if (w.run != p->n_runs - 1)
		return bad_field(r, "run", "is not the run it stands in");
	if (w.target >= p->n_targets)
		return bad_field(r, "target", "is not described by any line before it");
	if (!(w.speedup >= 0 && w.speedup <= 1))
		return bad_field(r, "speedup", "is not between 0 and 1");
	if (discard && !json_is_null(discard) && get_text(r, o, "discard", &w.discard))
		return -EINVAL;
	if (read_window_progress(r, o, &w))
		return -EINVAL;
	array_reserve(p->windows, r->cap_windows, p->n_windows + 1);
	p->windows[p->n_windows++] = w;
	if (!w.discard)
		push_kept(r, p->n_windows - 1);
	return 0;
}

static int read_discard(struct reader *r, const json_t *o)
{
	struct profile *p = r->p;
	uint32_t run, before;
	const char *why;

	if (get_index(r, o, "run", &run) || get_index(r, o, "before_seq", &before) ||
	    get_text(r, o, "why", &why))
		return -EINVAL;
	if (run != p->n_runs - 1)
		return bad_field(r, "run", "is not the run it stands in");
	while (r->n_kept && p->windows[r->kept[0]].seq < before)
		p->windows[pop_kept(r)].discard = why;
	return 0;
}

static int read_sample(struct reader *r, const json_t *o)
{
	struct profile_sample s = { 0 };
	struct profile *p = r->p;

	if (get_text(r, o, "target", &s.target) || get_text(r, o, "location", &s.location) ||
	    get_text(r, o, "binary", &s.binary) || get_u64(r, o, "self", &s.self) ||
	    get_u64(r, o, "total", &s.total) || get_u64(r, o, "credit", &s.credit) ||
	    get_u64(r, o, "unnamed", &s.unnamed))
		return -EINVAL;
	array_reserve(p->samples, r->cap_samples, p->n_samples + 1);
	p->samples[p->n_samples++] = s;
	return 0;
}

static int read_machine(struct reader *r, const json_t *o)
{
	const json_t *list = json_object_get(o, "cores");
	struct profile *p = r->p;
	struct profile_machine m = { .run = p->n_runs - 1 };

	if (get_real(r, o, "tick_cost_s", &m.tick_cost_s) || get_u64(r, o, "ticks", &m.ticks))
		return -EINVAL;
	m.n_cores = json_array_size(list);
	m.cores = arena_alloc(r->impl, m.n_cores * sizeof(*m.cores));
	for (size_t i = 0; i < m.n_cores; i++) {
		const json_t *core = json_array_get(list, i);
		uint32_t cpu;

		if (get_index(r, core, "cpu", &cpu) ||
		    get_real(r, core, "stolen_s", &m.cores[i].stolen_s) ||
		    get_real(r, core, "busy_s", &m.cores[i].busy_s) ||
		    get_real(r, core, "stopped_s", &m.cores[i].stopped_s) ||
		    get_real(r, core, "work_ns", &m.cores[i].work_ns))
			return -EINVAL;
		m.cores[i].cpu = cpu;
	}
	array_reserve(p->machines, r->cap_machines, p->n_machines + 1);
	p->machines[p->n_machines++] = m;
	return 0;
}

static int read_places(struct reader *r, const json_t *list, struct profile_process *q)
{
	q->n_places = json_array_size(list);
	q->places = arena_alloc(r->impl, q->n_places * sizeof(*q->places));
	for (size_t i = 0; i < q->n_places; i++) {
		const json_t *at = json_array_get(list, i);
		uint64_t v[4];

		for (size_t k = 0; k < ARRAY_SIZE(v); k++) {
			const json_t *number = json_array_get(at, k);

			if (!json_is_integer(number) || json_integer_value(number) < 0)
				return bad_field(r, "places",
						 "holds something else than [sample, self, total, "
						 "credit]");
			v[k] = json_integer_value(number);
		}
		if (v[0] >= r->p->n_samples - r->first_sample)
			return bad_field(r, "places", "names a sample that is in no line before");
		q->places[i] = (struct profile_place){ r->first_sample + v[0], v[1], v[2], v[3] };
	}
	return 0;
}

static int read_process(struct reader *r, const json_t *o)
{
	const json_t *rank = json_object_get(o, "rank");
	struct profile *p = r->p;
	struct profile_process q = { .run = p->n_runs - 1, .rank = -1 };
	uint64_t pid;

	if (get_u64(r, o, "pid", &pid) || get_u64(r, o, "members", &q.members) ||
	    get_text(r, o, "name", &q.name) || get_text(r, o, "rank_from", &q.rank_from) ||
	    get_u64(r, o, "samples", &q.samples) || get_u64(r, o, "left_out", &q.left_out))
		return -EINVAL;
	if (pid > INT32_MAX)
		return bad_field(r, "pid", "is not the number of a process");
	q.pid = pid;
	q.members = pid ? 1 : q.members;
	if (json_is_integer(rank) && json_integer_value(rank) >= 0 &&
	    json_integer_value(rank) <= INT32_MAX)
		q.rank = json_integer_value(rank);
	if (read_places(r, json_object_get(o, "places"), &q))
		return -EINVAL;
	array_reserve(p->processes, r->cap_processes, p->n_processes + 1);
	p->processes[p->n_processes++] = q;
	return 0;
}

static int read_latency(struct reader *r, const json_t *o)
{
	const json_t *bins = json_object_get(o, "bins");
	struct profile_latency l = { 0 };
	struct profile *p = r->p;

	if (get_index(r, o, "progress", &l.progress) || get_u64(r, o, "measured", &l.measured) ||
	    get_u64(r, o, "elsewhere", &l.elsewhere) || get_text(r, o, "why", &l.why))
		return -EINVAL;
	if (l.progress >= p->n_progress)
		return bad_field(r, "progress", "is not described by any line before it");
	l.n_bins = json_array_size(bins);
	l.bins = arena_alloc(r->impl, l.n_bins * sizeof(*l.bins));
	for (size_t i = 0; i < l.n_bins; i++) {
		const json_t *bin = json_array_get(bins, i), *count = json_array_get(bin, 2);

		if (json_array_size(bin) != 3 || !json_is_integer(count) ||
		    json_integer_value(count) < 0)
			return bad_field(r, "bins", "holds something else than [from, to, count]");
		l.bins[i].from_s = json_number_value(json_array_get(bin, 0));
		l.bins[i].to_s = json_number_value(json_array_get(bin, 1));
		l.bins[i].count = json_integer_value(count);
		if (!(l.bins[i].from_s >= 0 && l.bins[i].from_s <= l.bins[i].to_s))
			return bad_field(r, "bins", "holds a bin that ends before it begins");
	}
	array_reserve(p->latencies, r->cap_latencies, p->n_latencies + 1);
	p->latencies[p->n_latencies++] = l;
	return 0;
}

static int read_frequency(struct reader *r, const json_t *o)
{
	struct profile_header *h = &this_run(r)->header;

	if (get_real(r, o, "hz", &h->frequency_hz))
		return -EINVAL;
	h->period_s = h->frequency_hz > 0 ? 1 / h->frequency_hz : 0;
	return 0;
}

static int read_footer(struct reader *r, const json_t *o)
{
	struct profile_run *run = this_run(r);
	struct profile_footer *f = &run->footer;
	const json_t *status = json_object_get(o, "command_status");

	if (run->complete)
		return bad_field(r, "type", "\"footer\" stands twice in one run");
	if (get_real(r, o, "duration_s", &f->duration_s) ||
	    get_u64(r, o, "samples_total", &f->samples_total) ||
	    get_u64(r, o, "samples_lost", &f->samples_lost) ||
	    get_u64(r, o, "samples_unnamed", &f->samples_unnamed) ||
	    get_real(r, o, "inserted_s", &f->inserted_s) ||
	    get_real(r, o, "stopped_s", &f->stopped_s) || get_real(r, o, "own_s", &f->own_s) ||
	    get_real(r, o, "excused_s", &f->excused_s) ||
	    get_real(r, o, "overhead_s", &f->overhead_s) ||
	    get_real(r, o, "waived_s", &f->waived_s) || get_real(r, o, "owed_s", &f->owed_s) ||
	    get_text(r, o, "end", &f->end) ||
	    get_list(r, o, "reasons", &f->reasons, &f->n_reasons) ||
	    get_list(r, o, "warnings", &f->warnings, &f->n_warnings))
		return -EINVAL;
	f->command_status = json_is_integer(status) ? (int)json_integer_value(status) : -1;
	run->complete = true;
	return 0;
}

static const struct {
	const char *type;
	int (*read)(struct reader *r, const json_t *o);
} kinds[] = {
	{ "header", read_header },	 { "progress", read_progress }, { "target", read_target },
	{ "frequency", read_frequency }, { "window", read_window },	{ "sample", read_sample },
	{ "footer", read_footer },	 { "discard", read_discard },	{ "latency", read_latency },
	{ "process", read_process },	 { "machine", read_machine },
};

/* ---- lines ---- */

static int not_a_profile(struct reader *r)
{
	return error_set(r->err, EINVAL,
			 "%s is not a scoz profile: its first line is not a header; profiles are "
			 "written by scozd -o FILE",
			 r->p->path);
}

static int damaged(struct reader *r)
{
	return error_set(r->err, EINVAL,
			 "%s, line %zu: not a JSON object (%s): the file is damaged; cut it off "
			 "before that line and try again",
			 r->p->path, r->bad_line, r->bad_why);
}

static bool is_half_header(const char *line, size_t len)
{
	size_t n = strlen(PROFILE_HEADER_START);

	return memcmp(line, PROFILE_HEADER_START, len < n ? len : n) == 0;
}

static int unreadable_line(struct reader *r, const char *line, size_t len, const char *why)
{
	if (!r->p->n_runs && !is_half_header(line, len))
		return not_a_profile(r);
	if (!r->bad_line) {
		r->bad_line = r->line;
		snprintf(r->bad_why, sizeof(r->bad_why), "%s", why);
	}
	r->bad_count++;
	return 0;
}

static int known_line(struct reader *r, const char *type, const json_t *o)
{
	bool header = !strcmp(type, "header");

	if (!r->p->n_runs) {
		const char *format = json_string_value(json_object_get(o, "format"));

		if (!header || !format || strcmp(format, PROFILE_FORMAT) != 0)
			return not_a_profile(r);
	}
	if (r->bad_line) {
		if (!header)
			return damaged(r);
		r->p->skipped_lines += r->bad_count;
		r->bad_line = r->bad_count = 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(type, kinds[i].type))
			return kinds[i].read(r, o);
	}
	r->p->unknown_lines++;
	return 0;
}

static int read_line(const char *line, size_t len, void *arg)
{
	struct reader *r = arg;
	const char *type;
	json_error_t why;
	json_t *o;
	int ret;

	r->line++;
	o = json_loadb(line, len, 0, &why);
	if (!o)
		return unreadable_line(r, line, len, why.text);
	type = json_string_value(json_object_get(o, "type"));
	if (type)
		ret = known_line(r, type, o);
	else
		ret = unreadable_line(r, line, len, "no \"type\"");
	json_decref(o);
	return ret;
}

/* ---- the end ---- */

static int compare_identity(const struct profile_sample *a, const struct profile_sample *b)
{
	int c = strcmp(a->target, b->target);

	c = c ? c : strcmp(a->binary, b->binary);
	return c ? c : strcmp(a->location, b->location);
}

/* A sample, and where it stood. */
struct read_sample {
	struct profile_sample s;
	size_t at;
};

static int by_identity(const void *pa, const void *pb)
{
	const struct read_sample *a = pa, *b = pb;

	return compare_identity(&a->s, &b->s);
}

static int by_count(const void *pa, const void *pb)
{
	const struct profile_sample *a = &((const struct read_sample *)pa)->s;
	const struct profile_sample *b = &((const struct read_sample *)pb)->s;

	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	return compare_identity(a, b);
}

/* Sums what several runs saw of one place; most sampled first. Places follow their samples. */
static void merge_samples(struct profile *p)
{
	size_t n = p->n_samples, out = 0;
	_cleanup_free_ struct read_sample *s = xcalloc(n, sizeof(*s));
	_cleanup_free_ size_t *merged = xcalloc(n, sizeof(*merged)); /* by where it stood */
	_cleanup_free_ size_t *final = xcalloc(n, sizeof(*final));   /* by merged */

	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		s[i] = (struct read_sample){ p->samples[i], i };
	qsort(s, n, sizeof(*s), by_identity);
	for (size_t i = 0; i < n; i++) {
		size_t at = s[i].at;

		if (i && !by_identity(&s[out], &s[i])) {
			s[out].s.self += s[i].s.self;
			s[out].s.total += s[i].s.total;
			s[out].s.credit += s[i].s.credit;
			s[out].s.unnamed += s[i].s.unnamed;
		} else {
			out += i > 0;
			s[out] = (struct read_sample){ s[i].s, out };
		}
		merged[at] = out;
	}
	p->n_samples = out + 1;
	qsort(s, p->n_samples, sizeof(*s), by_count);
	for (size_t i = 0; i < p->n_samples; i++) {
		p->samples[i] = s[i].s;
		final[s[i].at] = i;
	}
	for (size_t i = 0; i < p->n_processes; i++) {
		for (size_t k = 0; k < p->processes[i].n_places; k++) {
			struct profile_place *at = &p->processes[i].places[k];

			at->sample = final[merged[at->sample]];
		}
	}
}

/* Progress points may be described after the first windows only in a damaged file. */
static int finish(struct reader *r)
{
	struct profile *p = r->p;

	if (!r->line)
		return error_set(r->err, ENODATA, "%s is empty: nothing was recorded in it",
				 p->path);
	if (!p->n_runs)
		return error_set(r->err, ENODATA,
				 "%s is cut off within its first line: nothing was recorded in it",
				 p->path);
	p->truncated = r->bad_line || !this_run(r)->complete;
	p->skipped_lines += r->bad_count;
	for (size_t i = 0; i < p->n_windows; i++) {
		if (p->windows[i].n_progress != p->n_progress)
			return error_set(r->err, EINVAL,
					 "%s: a progress point is described after the first "
					 "window: the file is damaged",
					 p->path);
	}
	merge_samples(p);
	return 0;
}

void profile_error_clean(struct error *err)
{
	for (unsigned char *p = err ? (unsigned char *)err->text : NULL; p && *p; p++) {
		bool c1 = *p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;

		if (*p < 0x20 || *p == 0x7f || c1)
			*p = '?';
		if (c1)
			p[1] = '?';
	}
}

int profile_read_fd(int fd, const char *path, bool *ends_with_newline, struct profile **ret,
		    struct error *err)
{
	struct profile_impl *impl = xcalloc(1, sizeof(*impl));
	struct reader r = { .p = &impl->p, .impl = impl, .err = err };
	const struct lines lines = { path, "profile", PROFILE_MAX_LINE, read_line, &r };
	struct stat st;
	int res;

	impl->p.path = xstrdup(path);
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		res = error_set(err, EISDIR, "%s is a directory: name a profile in it", path);
	else
		res = lines_read(&lines, fd, ends_with_newline, err);
	if (!res)
		res = finish(&r);
	free(r.kept);
	if (res) {
		profile_error_clean(err);
		profile_free(&impl->p);
		return res;
	}
	*ret = &impl->p;
	return 0;
}

int profile_read(const char *path, struct profile **ret, struct error *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return error_set(err, ENOENT,
				 "%s: no such file: record one with scozd -o %s -- COMMAND, or "
				 "name another",
				 path, path);
	if (fd < 0)
		return error_set(err, errno, "%s: cannot open: %s", path, strerror(errno));
	return profile_read_fd(fd, path, NULL, ret, err);
}

void profile_free(struct profile *p)
{
	struct profile_impl *impl = (struct profile_impl *)p;

	if (!p)
		return;
	while (impl->arena) {
		struct arena_block *next = impl->arena->next;

		free(impl->arena);
		impl->arena = next;
	}
	free(p->runs);
	free(p->progress);
	free(p->targets);
	free(p->windows);
	free(p->samples);
	free(p->processes);
	free(p->machines);
	free(p->latencies);
	free(p->path);
	free(impl);
}
