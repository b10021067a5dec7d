// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading profile.scoz: what its lines mean; jsonl/reader.h takes them apart. */
#include "jsonl/reader.h"
#include "profile/format.h"

#include <math.h>

#define MAX_PROGRESS 4096

struct profile_impl {
	struct profile p; /* first: profile_free() gets a pointer to it */
	struct jsonl_store store;
};

struct reader {
	struct jsonl_reader in; /* first: take_line() gets a pointer to it */
	struct profile *p;
	union profile_line l;
	size_t cap_runs, cap_progress, cap_targets, cap_windows, cap_samples, cap_latencies;
	size_t cap_machines, cap_processes, cap_sources, cap_seen, cap_paths;
	size_t cap_replays, cap_expected, cap_expected_next, cap_waiters, cap_choices;
	size_t first_sample;		/* of this run */
	size_t *kept, n_kept, cap_kept; /* windows of this run, see push_kept() */
};

static int bad_field(struct reader *r, const char *key, const char *what)
{
	return jsonl_bad(&r->in, key, what);
}

/* ---- kinds of lines ---- */

static struct profile_run *this_run(struct reader *r)
{
	return &r->p->runs[r->p->n_runs - 1];
}

static void take_binaries(struct profile_header *h, const struct jsonl_list *list)
{
	struct profile_binary *b = list->items;

	for (size_t i = 0; i < list->n; i++) {
		b[i].path = b[i].path ? b[i].path : "";
		b[i].build = b[i].build ? b[i].build : "";
	}
	h->binaries = b;
	h->n_binaries = list->n;
}

static int read_header(struct reader *r)
{
	struct profile *p = r->p;
	struct profile_run *run;

	if (r->l.header.run != p->n_runs)
		return bad_field(r, "run", "does not follow the run before it");
	array_reserve(p->runs, r->cap_runs, p->n_runs + 1);
	r->first_sample = p->n_samples;
	r->n_kept = 0;
	run = &p->runs[p->n_runs++];
	*run = (struct profile_run){ .header = r->l.header.h,
				     .footer = { .command_status = -1, .end = "" } };
	run->header.arguments = r->l.header.arguments.items;
	run->header.n_arguments = r->l.header.arguments.n;
	take_binaries(&run->header, &r->l.header.binaries);
	return 0;
}

static int read_progress(struct reader *r)
{
	struct profile_progress *g = &r->l.progress.p;
	struct profile *p = r->p;

	if (g->id != p->n_progress || g->id >= MAX_PROGRESS)
		return bad_field(r, "id", "does not follow the progress point before it");
	if (!strcmp(r->l.progress.kind, "latency"))
		g->kind = PROGRESS_LATENCY;
	else if (strcmp(r->l.progress.kind, "throughput") != 0)
		return bad_field(r, "kind", "is neither \"throughput\" nor \"latency\"");
	array_reserve(p->progress, r->cap_progress, p->n_progress + 1);
	p->progress[p->n_progress++] = *g;
	return 0;
}

static int read_target(struct reader *r)
{
	struct profile *p = r->p;

	if (r->l.target.id != p->n_targets)
		return bad_field(r, "id", "does not follow the target before it");
	array_reserve(p->targets, r->cap_targets, p->n_targets + 1);
	p->targets[p->n_targets++] = r->l.target;
	return 0;
}

static struct window_progress no_progress[MAX_PROGRESS];

static int set_window_progress(struct reader *r, struct profile_window *w)
{
	const struct jsonl_list *list = &r->l.window.progress;

	if (list->n && list->n != r->p->n_progress)
		return bad_field(r, "progress",
				 "has not as many entries as there are progress points");
	w->n_progress = r->p->n_progress;
	/* What is not in the file takes no room either. */
	w->progress = list->n ? list->items : no_progress;
	for (size_t i = 0; i < list->n; i++) {
		if (w->progress[i].visits < 0 || w->progress[i].inflight < 0)
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

/* Why it counts for nothing, as the file has it; NULL: it counts. */
static void set_discard(struct profile_window *w, const char *why)
{
	w->discard = discard_by_name(why);
	w->discard_other = w->discard == DISCARD_OTHER ? why : NULL;
}

static int read_window(struct reader *r)
{
	struct profile_window *w = &r->l.window.w;
	struct profile *p = r->p;
	int ret;

	if (w->run != p->n_runs - 1)
		return bad_field(r, "run", "is not the run it stands in");
	if (w->target >= p->n_targets)
		return bad_field(r, "target", "is not described by any line before it");
	if (!(w->speedup >= 0 && w->speedup <= 1))
		return bad_field(r, "speedup", "is not between 0 and 1");
	set_discard(w, r->l.window.discard);
	w->cores = p->runs[w->run].header.cpus;
	ret = set_window_progress(r, w);
	if (ret)
		return ret;
	array_reserve(p->windows, r->cap_windows, p->n_windows + 1);
	p->windows[p->n_windows++] = *w;
	if (!w->discard)
		push_kept(r, p->n_windows - 1);
	return 0;
}

static int read_discard(struct reader *r)
{
	struct profile *p = r->p;

	if (r->l.discard.run != p->n_runs - 1)
		return bad_field(r, "run", "is not the run it stands in");
	while (r->n_kept && p->windows[r->kept[0]].seq < r->l.discard.before_seq)
		set_discard(&p->windows[pop_kept(r)], r->l.discard.why);
	return 0;
}

static int read_sample(struct reader *r)
{
	struct profile *p = r->p;

	array_reserve(p->samples, r->cap_samples, p->n_samples + 1);
	p->samples[p->n_samples++] = r->l.sample.s;
	return 0;
}

static int read_machine(struct reader *r)
{
	struct profile_machine *m = &r->l.machine.m;
	struct profile *p = r->p;

	m->run = p->n_runs - 1;
	m->cores = r->l.machine.cores.items;
	m->n_cores = r->l.machine.cores.n;
	array_reserve(p->machines, r->cap_machines, p->n_machines + 1);
	p->machines[p->n_machines++] = *m;
	return 0;
}

static int read_process(struct reader *r)
{
	struct profile_process *q = &r->l.process.p;
	struct profile *p = r->p;

	q->run = p->n_runs - 1;
	q->members = q->pid ? 1 : q->members;
	q->rank = q->rank < 0 ? -1 : q->rank;
	q->places = r->l.process.places.items;
	q->n_places = r->l.process.places.n;
	for (size_t i = 0; i < q->n_places; i++) {
		if (q->places[i].sample >= p->n_samples - r->first_sample)
			return bad_field(r, "places", "names a sample that is in no line before");
		q->places[i].sample += r->first_sample;
	}
	array_reserve(p->processes, r->cap_processes, p->n_processes + 1);
	p->processes[p->n_processes++] = *q;
	return 0;
}

static int read_latency(struct reader *r)
{
	struct profile_latency *l = &r->l.latency.l;
	struct profile *p = r->p;

	if (l->progress >= p->n_progress)
		return bad_field(r, "progress", "is not described by any line before it");
	l->bins = r->l.latency.bins.items;
	l->n_bins = r->l.latency.bins.n;
	for (size_t i = 0; i < l->n_bins; i++) {
		if (!(l->bins[i].from_s >= 0 && l->bins[i].from_s <= l->bins[i].to_s))
			return bad_field(r, "bins", "holds a bin that ends before it begins");
	}
	array_reserve(p->latencies, r->cap_latencies, p->n_latencies + 1);
	p->latencies[p->n_latencies++] = *l;
	return 0;
}

static int read_source(struct reader *r)
{
	struct profile_source *s = &r->l.source.s;
	struct profile *p = r->p;

	if (s->target >= p->n_targets)
		return bad_field(r, "target", "is not described by any line before it");
	s->run = p->n_runs - 1;
	s->lines = r->l.source.lines.items;
	s->n_lines = r->l.source.lines.n;
	array_reserve(p->sources, r->cap_sources, p->n_sources + 1);
	p->sources[p->n_sources++] = *s;
	return 0;
}

static int read_seen(struct reader *r)
{
	struct profile *p = r->p;

	if (r->l.seen.target >= p->n_targets)
		return bad_field(r, "target", "is not described by any line before it");
	if (r->l.seen.samples > r->l.seen.all)
		return bad_field(r, "samples", "are more than all");
	if (r->l.seen.polled > r->l.seen.samples)
		return bad_field(r, "polled", "is more than samples");
	array_reserve(p->seen, r->cap_seen, p->n_seen + 1);
	p->seen[p->n_seen] = r->l.seen;
	p->seen[p->n_seen++].run = p->n_runs - 1;
	return 0;
}

static int read_path(struct reader *r)
{
	struct profile_path *path = &r->l.path.p;
	struct profile *p = r->p;

	if (path->target >= p->n_targets)
		return bad_field(r, "target", "is not described by any line before it");
	path->run = p->n_runs - 1;
	path->functions = r->l.path.functions.items;
	path->n_functions = r->l.path.functions.n;
	array_reserve(p->paths, r->cap_paths, p->n_paths + 1);
	p->paths[p->n_paths++] = *path;
	return 0;
}

static int read_replay(struct reader *r)
{
	struct profile *p = r->p;

	r->l.replay.run = p->n_runs - 1;
	array_reserve(p->replays, r->cap_replays, p->n_replays + 1);
	p->replays[p->n_replays++] = r->l.replay;
	return 0;
}

/* Puts @line behind the @n of @to. */
static int take_expected(struct reader *r, const struct profile_expected *line,
			 struct profile_expected **to, size_t *n, size_t *cap)
{
	struct profile_expected *e;
	double before = 0;

	if (line->progress >= r->p->n_progress)
		return bad_field(r, "progress", "is not described by any line before it");
	array_reserve(*to, *cap, *n + 1);
	e = &(*to)[*n];
	*e = *line;
	e->run = r->p->n_runs - 1;
	e->at = r->l.expected.at.items;
	e->n_at = r->l.expected.at.n;
	for (size_t i = 0; i < e->n_at; i++) {
		const struct profile_expectation *x = &e->at[i];

		if (!(x->speedup > before && x->speedup <= 1))
			return bad_field(r, "at", "holds speedups that do not grow from 0 to 1");
		if (!(x->low <= x->high) || !isfinite(x->pct))
			return bad_field(r, "at", "holds bounds in the wrong order");
		before = x->speedup;
	}
	++*n;
	return 0;
}

static int read_expected(struct reader *r)
{
	return take_expected(r, &r->l.expected.e, &r->p->expected, &r->p->n_expected,
			     &r->cap_expected);
}

static int read_expected_next(struct reader *r)
{
	return take_expected(r, &r->l.expected_next.e, &r->p->expected_next, &r->p->n_expected_next,
			     &r->cap_expected_next);
}

static int read_waiters(struct reader *r)
{
	struct profile_waiters *w = &r->l.waiters.w;
	struct profile *p = r->p;

	w->run = p->n_runs - 1;
	w->list = r->l.waiters.list.items;
	w->n = r->l.waiters.list.n;
	for (size_t i = 0; i < w->n; i++) {
		struct profile_waiter *x = &w->list[i];

		if (!(x->share >= 0))
			return bad_field(r, "list", "holds a share below 0");
		x->name = x->name ? x->name : "";
		x->wait = x->wait ? x->wait : "";
	}
	array_reserve(p->waiters, r->cap_waiters, p->n_waiters + 1);
	p->waiters[p->n_waiters++] = *w;
	return 0;
}

static int read_choice(struct reader *r)
{
	struct profile *p = r->p;

	r->l.choice.run = p->n_runs - 1;
	array_reserve(p->choices, r->cap_choices, p->n_choices + 1);
	p->choices[p->n_choices++] = r->l.choice;
	return 0;
}

static int read_frequency(struct reader *r)
{
	struct profile_header *h = &this_run(r)->header;

	h->frequency_hz = r->l.frequency.hz;
	h->period_s = h->frequency_hz > 0 ? 1 / h->frequency_hz : 0;
	return 0;
}

static int read_footer(struct reader *r)
{
	struct profile_run *run = this_run(r);
	struct profile_footer *f = &r->l.footer.f;

	if (run->complete)
		return bad_field(r, "type", "\"footer\" stands twice in one run");
	f->reasons = r->l.footer.reasons.items;
	f->n_reasons = r->l.footer.reasons.n;
	f->warnings = r->l.footer.warnings.items;
	f->n_warnings = r->l.footer.warnings.n;
	run->footer = *f;
	run->complete = true;
	return 0;
}

static int take_line(struct jsonl_reader *in, size_t kind)
{
	static int (*const readers[PROFILE_LINE_KINDS])(struct reader * r) = {
		[LINE_HEADER] = read_header,	 [LINE_PROGRESS] = read_progress,
		[LINE_TARGET] = read_target,	 [LINE_FREQUENCY] = read_frequency,
		[LINE_WINDOW] = read_window,	 [LINE_DISCARD] = read_discard,
		[LINE_SAMPLE] = read_sample,	 [LINE_PROCESS] = read_process,
		[LINE_MACHINE] = read_machine,	 [LINE_LATENCY] = read_latency,
		[LINE_SOURCE] = read_source,	 [LINE_SEEN] = read_seen,
		[LINE_PATH] = read_path,	 [LINE_REPLAY] = read_replay,
		[LINE_EXPECTED] = read_expected, [LINE_EXPECTED_NEXT] = read_expected_next,
		[LINE_WAITERS] = read_waiters,	 [LINE_CHOICE] = read_choice,
		[LINE_FOOTER] = read_footer,
	};

	return readers[kind]((struct reader *)in);
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
			s[out].s.polled += s[i].s.polled;
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

	p->truncated = r->in.cut_off || !this_run(r)->complete;
	p->skipped_lines = r->in.skipped;
	p->unknown_lines = r->in.unknown;
	for (size_t i = 0; i < p->n_windows; i++) {
		if (p->windows[i].n_progress != p->n_progress)
			return error_set(r->in.err, EINVAL,
					 "%s: a progress point is described after the first "
					 "window: the file is damaged",
					 p->path);
	}
	merge_samples(p);
	return 0;
}

int profile_read_fd(int fd, const char *path, bool *ends_with_newline, struct profile **ret,
		    struct error *err)
{
	struct profile_impl *impl = xcalloc(1, sizeof(*impl));
	struct reader r = { .in = { .format = &profile_format,
				    .path = path,
				    .store = &impl->store,
				    .line = &r.l,
				    .take = take_line,
				    .err = err },
			    .p = &impl->p };
	int res;

	impl->p.path = xstrdup(path);
	res = jsonl_read(&r.in, fd);
	if (ends_with_newline)
		*ends_with_newline = r.in.ends_with_newline;
	if (!res)
		res = finish(&r);
	free(r.kept);
	if (res) {
		profile_free(&impl->p);
		return res;
	}
	*ret = &impl->p;
	return 0;
}

int profile_read(const char *path, struct profile **ret, struct error *err)
{
	_cleanup_close_ int fd = jsonl_open(&profile_format, path, err);

	return fd < 0 ? fd : profile_read_fd(fd, path, NULL, ret, err);
}

bool profile_is(const char *path)
{
	return jsonl_is(&profile_format, path);
}

void profile_free(struct profile *p)
{
	struct profile_impl *impl = (struct profile_impl *)p;

	if (!p)
		return;
	jsonl_store_deinit(&impl->store);
	free(p->runs);
	free(p->progress);
	free(p->targets);
	free(p->windows);
	free(p->samples);
	free(p->processes);
	free(p->machines);
	free(p->sources);
	free(p->seen);
	free(p->paths);
	free(p->replays);
	free(p->expected);
	free(p->expected_next);
	free(p->waiters);
	free(p->choices);
	free(p->latencies);
	free(p->path);
	free(impl);
}
