// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading record.scoz: what its lines mean; jsonl/reader.h takes them apart. */
#include "jsonl/reader.h"
#include "record/format.h"

#include <unistd.h>

struct comm_change {
	struct record_comm_change c;
	size_t order; /* in the file */
};

struct recording_impl {
	struct recording r; /* first: recording_free() gets a pointer to it */
	struct jsonl_store store;
};

struct reader {
	struct jsonl_reader in; /* first: take_line() gets a pointer to it */
	struct recording *rec;
	union record_line l;
	size_t cap_frames, cap_stacks, cap_processes, cap_threads, cap_samples, cap_scozd;
	uint16_t *depth; /* of each stack */
	size_t cap_depth;
	struct comm_change *comms;
	size_t n_comms, cap_comms;
	bool unsorted;
};

static int bad_field(struct reader *r, const char *key, const char *what)
{
	return jsonl_bad(&r->in, key, what);
}

/* ---- kinds of lines ---- */

static int read_header(struct reader *r)
{
	const struct record_header *h = &r->l.header.h;

	if (r->rec->header.period_ns)
		return bad_field(r, "type", "\"header\" stands twice");
	if (!h->period_ns)
		return bad_field(r, "period_ns", "is not a positive integer");
	r->rec->header = *h;
	return 0;
}

static int read_frame(struct reader *r)
{
	struct recording *rec = r->rec;
	struct record_frame f = r->l.frame.f;

	if (r->l.frame.id != rec->n_frames)
		return bad_field(r, "id", "does not follow the frame before it");
	/* A kind that a later scoz added has an address in some program: like user. */
	for (size_t i = 0; i < ARRAY_SIZE(record_frame_kinds); i++) {
		if (!strcmp(r->l.frame.kind, record_frame_kinds[i]))
			f.kind = i;
	}
	array_reserve(rec->frames, r->cap_frames, rec->n_frames + 1);
	rec->frames[rec->n_frames++] = f;
	return 0;
}

static int read_stack(struct reader *r)
{
	struct recording *rec = r->rec;
	const struct record_stack *s = &r->l.stack.s;
	unsigned int depth = 1;

	if (r->l.stack.id != rec->n_stacks)
		return bad_field(r, "id", "does not follow the stack before it");
	if (s->frame >= rec->n_frames)
		return bad_field(r, "frame", "is not described by any line before it");
	if (s->parent != RECORDING_NONE) {
		if (s->parent >= rec->n_stacks)
			return bad_field(r, "parent", "is not described by any line before it");
		depth = r->depth[s->parent] + 1;
	}
	if (depth > RECORDING_MAX_DEPTH)
		return bad_field(r, "parent", "makes the call chain longer than any real one");
	array_reserve(r->depth, r->cap_depth, rec->n_stacks + 1);
	r->depth[rec->n_stacks] = depth;
	array_reserve(rec->stacks, r->cap_stacks, rec->n_stacks + 1);
	rec->stacks[rec->n_stacks++] = *s;
	return 0;
}

static int read_process(struct reader *r)
{
	const struct record_process *p = &r->l.process;
	struct recording *rec = r->rec;
	uint64_t start = p->start;

	if (p->id > rec->n_processes)
		return bad_field(r, "id", "does not follow the process before it");
	if (p->id == rec->n_processes) {
		array_reserve(rec->processes, r->cap_processes, rec->n_processes + 1);
		rec->n_processes++;
	} else if (rec->processes[p->id].pid == p->pid) { /* exec */
		start = rec->processes[p->id].start;
	} else {
		return bad_field(r, "pid", "is not that of the process with this id");
	}
	rec->processes[p->id] = *p;
	rec->processes[p->id].start = start;
	return 0;
}

static int read_scozd(struct reader *r)
{
	struct recording *rec = r->rec;

	array_reserve(rec->scozd, r->cap_scozd, rec->n_scozd + 1);
	rec->scozd[rec->n_scozd++] = r->l.scozd;
	return 0;
}

static int read_thread(struct reader *r)
{
	struct recording *rec = r->rec;

	if (r->l.thread.id != rec->n_threads)
		return bad_field(r, "id", "does not follow the thread before it");
	if (r->l.thread.process != RECORDING_NONE && r->l.thread.process >= rec->n_processes)
		return bad_field(r, "process", "is not described by any line before it");
	array_reserve(rec->threads, r->cap_threads, rec->n_threads + 1);
	rec->threads[rec->n_threads++] = r->l.thread;
	return 0;
}

static int read_comm(struct reader *r)
{
	if (r->l.comm.thread >= r->rec->n_threads)
		return bad_field(r, "thread", "is not described by any line before it");
	array_reserve(r->comms, r->cap_comms, r->n_comms + 1);
	r->comms[r->n_comms] = (struct comm_change){ r->l.comm, r->n_comms };
	r->n_comms++;
	return 0;
}

static bool read_class(struct record_sample *s, const char *class)
{
	static const char letters[] = ".kILSB";
	static const enum record_class classes[] = { RECORD_ON,	  RECORD_ON,	RECORD_IO,
						     RECORD_LOCK, RECORD_SCHED, RECORD_OTHER };
	const char *at = class[0] && !class[1] ? strchr(letters, class[0]) : NULL;

	if (!at)
		return false;
	s->class = classes[at - letters];
	s->kernel = *at == 'k';
	return true;
}

static int read_sample(struct reader *r)
{
	struct recording *rec = r->rec;
	struct record_sample *s = &r->l.sample.s;

	if (s->thread >= rec->n_threads)
		return bad_field(r, "thread", "is not described by any line before it");
	if (s->stack != RECORDING_NONE && s->stack >= rec->n_stacks)
		return bad_field(r, "stack", "is not described by any line before it");
	if (s->waker != RECORDING_NONE && s->waker >= rec->n_threads)
		return bad_field(r, "waker", "is not described by any line before it");
	if (s->holder != RECORDING_NONE && s->holder >= rec->n_threads)
		return bad_field(r, "holder", "is not described by any line before it");
	if (!read_class(s, r->l.sample.class))
		return bad_field(r, "class", "is none of . k I L S B");
	if (rec->n_samples && rec->samples[rec->n_samples - 1].time > s->time)
		r->unsorted = true;
	array_reserve(rec->samples, r->cap_samples, rec->n_samples + 1);
	rec->samples[rec->n_samples++] = *s;
	return 0;
}

static int read_times(struct reader *r)
{
	const struct record_thread *from = &r->l.thread;
	struct record_thread *to;

	if (from->id >= r->rec->n_threads)
		return bad_field(r, "thread", "is not described by any line before it");
	to = &r->rec->threads[from->id];
	to->has_times = true;
	to->exited = from->exited;
	to->from = from->from;
	to->to = from->to;
	to->on = from->on;
	to->sched = from->sched;
	to->io = from->io;
	to->other = from->other;
	return 0;
}

static int read_footer(struct reader *r)
{
	r->rec->footer = r->l.footer;
	r->rec->complete = true;
	return 0;
}

static int take_line(struct jsonl_reader *in, size_t kind)
{
	static int (*const readers[RECORD_LINE_KINDS])(struct reader * r) = {
		[RECORD_LINE_HEADER] = read_header, [RECORD_LINE_SAMPLE] = read_sample,
		[RECORD_LINE_STACK] = read_stack,   [RECORD_LINE_FRAME] = read_frame,
		[RECORD_LINE_THREAD] = read_thread, [RECORD_LINE_COMM] = read_comm,
		[RECORD_LINE_TIMES] = read_times,   [RECORD_LINE_PROCESS] = read_process,
		[RECORD_LINE_SCOZD] = read_scozd,   [RECORD_LINE_FOOTER] = read_footer,
	};
	struct reader *r = (struct reader *)in;

	if (r->rec->complete)
		return bad_field(r, "type", "stands behind the footer");
	return readers[kind](r);
}

/* ---- the end ---- */

struct sample_key {
	uint64_t time;
	size_t index;
};

static int compare_key(const void *pa, const void *pb)
{
	const struct sample_key *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static void sort_samples(struct recording *rec)
{
	struct sample_key *keys = xcalloc(rec->n_samples, sizeof(*keys));
	struct record_sample *sorted = xcalloc(rec->n_samples, sizeof(*sorted));

	for (size_t i = 0; i < rec->n_samples; i++)
		keys[i] = (struct sample_key){ rec->samples[i].time, i };
	qsort(keys, rec->n_samples, sizeof(*keys), compare_key);
	for (size_t i = 0; i < rec->n_samples; i++)
		sorted[i] = rec->samples[keys[i].index];
	free(keys);
	free(rec->samples);
	rec->samples = sorted;
}

static int compare_comm(const void *pa, const void *pb)
{
	const struct comm_change *a = pa, *b = pb;

	if (a->c.thread != b->c.thread)
		return a->c.thread < b->c.thread ? -1 : 1;
	if (a->c.time != b->c.time)
		return a->c.time < b->c.time ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* The samples are sorted by time: each thread's changes pass by once. */
static void fill_comms(struct reader *r)
{
	struct recording *rec = r->rec;
	const char **now = xcalloc(rec->n_threads, sizeof(*now));
	size_t *next = xcalloc(rec->n_threads, sizeof(*next)), i = 0;

	if (r->n_comms)
		qsort(r->comms, r->n_comms, sizeof(*r->comms), compare_comm);
	for (size_t t = 0; t < rec->n_threads; t++) {
		now[t] = rec->threads[t].comm;
		while (i < r->n_comms && r->comms[i].c.thread < t)
			i++;
		next[t] = i;
	}
	for (i = 0; i < rec->n_samples; i++) {
		struct record_sample *s = &rec->samples[i];
		size_t *n = &next[s->thread];

		while (*n < r->n_comms && r->comms[*n].c.thread == s->thread &&
		       r->comms[*n].c.time <= s->time)
			now[s->thread] = r->comms[(*n)++].c.comm;
		s->comm = now[s->thread];
	}
	free(now);
	free(next);
}

/* The process with @pid, made of its threads when no line describes it. */
static uint32_t process_of(struct reader *r, const struct record_thread *t)
{
	struct recording *rec = r->rec;
	struct record_process *p;

	for (size_t i = rec->n_processes; i-- > 0;) {
		p = &rec->processes[i];
		if (p->pid == t->pid)
			return i;
	}
	array_reserve(rec->processes, r->cap_processes, rec->n_processes + 1);
	p = &rec->processes[rec->n_processes++];
	*p = (struct record_process){ .id = p - rec->processes,
				      .pid = t->pid,
				      .start = t->start,
				      .name = t->comm,
				      .rank = -1 };
	return p->id;
}

static void fill_processes(struct reader *r)
{
	for (size_t i = 0; i < r->rec->n_threads; i++) {
		struct record_thread *t = &r->rec->threads[i];

		if (t->process == RECORDING_NONE)
			t->process = process_of(r, t);
	}
}

static void finish(struct reader *r)
{
	struct recording *rec = r->rec;

	rec->skipped_lines = r->in.skipped;
	rec->unknown_lines = r->in.unknown;
	if (!rec->complete)
		rec->footer = (struct record_footer){ .command_status = -1, .end = "" };
	if (r->unsorted)
		sort_samples(rec);
	fill_comms(r);
	fill_processes(r);
}

int recording_read(const char *path, struct recording **ret, struct error *err)
{
	_cleanup_close_ int fd = jsonl_open(&record_format, path, err);
	struct recording_impl *impl;
	struct reader r = { .in = { .format = &record_format,
				    .path = path,
				    .line = &r.l,
				    .take = take_line,
				    .err = err } };
	int res;

	if (fd < 0)
		return fd;
	impl = xcalloc(1, sizeof(*impl));
	impl->r.path = xstrdup(path);
	r.in.store = &impl->store;
	r.rec = &impl->r;
	res = jsonl_read(&r.in, fd);
	if (!res)
		finish(&r);
	free(r.depth);
	free(r.comms);
	if (res) {
		recording_free(&impl->r);
		return res;
	}
	*ret = &impl->r;
	return 0;
}

void recording_free(struct recording *rec)
{
	struct recording_impl *impl = (struct recording_impl *)rec;

	if (!rec)
		return;
	jsonl_store_deinit(&impl->store);
	free(rec->frames);
	free(rec->stacks);
	free(rec->processes);
	free(rec->scozd);
	free(rec->threads);
	free(rec->samples);
	free(rec->path);
	free(impl);
}

bool recording_is(const char *path)
{
	return jsonl_is(&record_format, path);
}
