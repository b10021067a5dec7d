// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading record.scoz: what its lines mean; fields.c takes them apart.
 *
 * An honest file may end in the middle of a line (crash, full disk, NUL bytes after a loss of
 * power): unreadable lines are forgiven at the end and counted. Elsewhere they are damage.
 */
#include "base/lines.h"
#include "record/fields.h"
#include "record/format.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct comm_change {
	uint32_t thread;
	uint64_t time;
	size_t order; /* in the file */
	const char *comm;
};

struct recording_impl {
	struct recording r;   /* first: recording_free() gets a pointer to it */
	struct fields fields; /* owns the strings */
};

/* One line, before it is checked. */
union line {
	struct {
		struct record_header h;
		const char *format;
		uint64_t version;
	} header;
	struct {
		struct record_frame f;
		uint32_t id;
		const char *kind;
	} frame;
	struct {
		struct record_stack s;
		uint32_t id;
	} stack;
	struct record_process process;
	struct record_thread thread;
	struct record_scozd scozd;
	struct comm_change comm;
	struct {
		struct record_sample s;
		const char *class;
	} sample;
	struct record_footer footer;
};

struct reader {
	struct recording *rec;
	struct recording_impl *impl;
	struct error *err;
	size_t line;	 /* number of the line being read */
	size_t bad_line; /* first of the unreadable lines before it, 0: none */
	size_t bad_count;
	size_t cap_frames, cap_stacks, cap_processes, cap_threads, cap_samples, cap_scozd;
	uint16_t *depth; /* of each stack */
	size_t cap_depth;
	struct comm_change *comms;
	size_t n_comms, cap_comms;
	bool started, unsorted;
	union line l;
};

#define FIELD(key, type, member) \
	{ \
		key, FIELD_##type, offsetof(union line, member) \
	}

static const struct field header_fields[] = {
	FIELD("format", TEXT, header.format),
	FIELD("version", U64, header.version),
	FIELD("engine", TEXT, header.h.engine),
	FIELD("period_ns", U64, header.h.period_ns),
	FIELD("command", TEXT, header.h.command),
	FIELD("scope", TEXT, header.h.scope),
	FIELD("host", TEXT, header.h.host),
	FIELD("kernel", TEXT, header.h.kernel),
	FIELD("started", TEXT, header.h.started),
	FIELD("cpus", U32, header.h.cpus),
	{ 0 },
};
static const struct field frame_fields[] = {
	FIELD("id", ID, frame.id),
	FIELD("symbol", TEXT, frame.f.symbol),
	FIELD("object", TEXT, frame.f.object),
	FIELD("file", TEXT, frame.f.file),
	FIELD("line", U32, frame.f.line),
	FIELD("address", U64, frame.f.address),
	FIELD("kind", TEXT, frame.kind),
	{ 0 },
};
static const struct field stack_fields[] = {
	FIELD("id", ID, stack.id),
	FIELD("parent", ID, stack.s.parent),
	FIELD("frame", ID, stack.s.frame),
	{ 0 },
};
static const struct field process_fields[] = {
	FIELD("id", ID, process.id),	       FIELD("pid", I32, process.pid),
	FIELD("t", U64, process.start),	       FIELD("name", TEXT, process.name),
	FIELD("rank", I32, process.rank),      FIELD("rank_from", TEXT, process.rank_from),
	FIELD("kernel", FLAG, process.kernel), { 0 },
};
static const struct field thread_fields[] = {
	FIELD("id", ID, thread.id),
	FIELD("tid", I32, thread.tid),
	FIELD("pid", I32, thread.pid),
	FIELD("process", ID, thread.process),
	FIELD("t", U64, thread.start),
	FIELD("comm", TEXT, thread.comm),
	{ 0 },
};
static const struct field scozd_fields[] = {
	FIELD("pid", I32, scozd.pid),
	FIELD("from", U64, scozd.from),
	FIELD("to", U64, scozd.to),
	{ 0 },
};
static const struct field comm_fields[] = {
	FIELD("thread", ID, comm.thread),
	FIELD("t", U64, comm.time),
	FIELD("comm", TEXT, comm.comm),
	{ 0 },
};
static const struct field sample_fields[] = {
	FIELD("t", U64, sample.s.time),
	FIELD("thread", ID, sample.s.thread),
	FIELD("cpu", U32, sample.s.cpu),
	FIELD("class", TEXT, sample.class),
	FIELD("n", U32, sample.s.points),
	FIELD("d", U64, sample.s.duration),
	FIELD("stack", ID, sample.s.stack),
	FIELD("kind", TEXT, sample.s.kind),
	FIELD("holder", ID, sample.s.holder),
	FIELD("waker", ID, sample.s.waker),
	FIELD("event", TEXT, sample.s.event),
	FIELD("unfinished", FLAG, sample.s.unfinished),
	{ 0 },
};
static const struct field times_fields[] = {
	FIELD("thread", ID, thread.id),
	FIELD("from", U64, thread.from),
	FIELD("to", U64, thread.to),
	FIELD("on", U64, thread.on),
	FIELD("sched", U64, thread.sched),
	FIELD("io", U64, thread.io),
	FIELD("other", U64, thread.other),
	FIELD("exited", FLAG, thread.exited),
	{ 0 },
};
static const struct field footer_fields[] = {
	FIELD("duration_ns", U64, footer.duration),
	FIELD("samples", U64, footer.samples),
	FIELD("points", U64, footer.points),
	FIELD("lost", U64, footer.lost),
	FIELD("broken_chains", U64, footer.broken_chains),
	FIELD("without_chain", U64, footer.without_chain),
	FIELD("command_status", I32, footer.command_status),
	FIELD("end", TEXT, footer.end),
	{ 0 },
};

static int bad_field(struct reader *r, const char *key, const char *what)
{
	return error_set(r->err, EINVAL,
			 "%s, line %zu: \"%s\" %s: the file is damaged; cut it off before that "
			 "line and try again",
			 r->rec->path, r->line, key, what);
}

/* ---- kinds of lines: defaults, and what becomes of them ---- */

static int read_header(struct reader *r)
{
	const struct record_header *h = &r->l.header.h;

	if (r->started)
		return bad_field(r, "type", "\"header\" stands twice");
	if (r->l.header.version < 1)
		return bad_field(r, "version", "is not a positive integer");
	if (r->l.header.version > RECORDING_VERSION)
		return error_set(r->err, ENOTSUP,
				 "%s was written by a newer scoz (format version %llu, this one "
				 "reads up to %d): update scoz",
				 r->rec->path, (unsigned long long)r->l.header.version,
				 RECORDING_VERSION);
	if (!h->period_ns)
		return bad_field(r, "period_ns", "is not a positive integer");
	r->rec->header = *h;
	r->started = true;
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
	r->l.comm.order = r->n_comms;
	r->comms[r->n_comms++] = r->l.comm;
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

static const union line header_defaults = { .header.h = {
						    .engine = "",
						    .command = "",
						    .scope = "",
						    .host = "",
						    .kernel = "",
						    .started = "",
					    },
					    .header.format = "" };
static const union line frame_defaults = {
	.frame = { .f.symbol = "[unknown]", .f.object = "", .id = RECORDING_NONE, .kind = "" }
};
static const union line stack_defaults = { .stack = { .s = { RECORDING_NONE, RECORDING_NONE },
						      .id = RECORDING_NONE } };
static const union line process_defaults = {
	.process = { .id = RECORDING_NONE, .name = "", .rank = -1 }
};
static const union line thread_defaults = {
	.thread = { .id = RECORDING_NONE, .process = RECORDING_NONE, .comm = "" }
};
static const union line scozd_defaults;
static const union line comm_defaults = { .comm = { .thread = RECORDING_NONE, .comm = "" } };
static const union line sample_defaults = { .sample = { .s = { .points = 1,
							       .thread = RECORDING_NONE,
							       .stack = RECORDING_NONE,
							       .holder = RECORDING_NONE,
							       .waker = RECORDING_NONE },
							.class = "" } };
static const union line footer_defaults = { .footer = { .command_status = -1, .end = "" } };

static const struct line_kind kinds[] = {
	{ "sample", sample_fields, &sample_defaults },
	{ "stack", stack_fields, &stack_defaults },
	{ "frame", frame_fields, &frame_defaults },
	{ "thread", thread_fields, &thread_defaults },
	{ "comm", comm_fields, &comm_defaults },
	{ "times", times_fields, &thread_defaults },
	{ "process", process_fields, &process_defaults },
	{ "scozd", scozd_fields, &scozd_defaults },
	{ "header", header_fields, &header_defaults },
	{ "footer", footer_fields, &footer_defaults },
};
/* In the same order. */
static int (*const readers[])(struct reader *r) = {
	read_sample, read_stack,   read_frame, read_thread, read_comm,
	read_times,  read_process, read_scozd, read_header, read_footer,
};
static_assert(ARRAY_SIZE(kinds) == ARRAY_SIZE(readers), "one for each kind");

/* ---- lines ---- */

static int not_a_recording(struct reader *r)
{
	return error_set(r->err, EINVAL,
			 "%s is not a scoz recording: its first line is not a header; recordings "
			 "are written by scoz record -o FILE",
			 r->rec->path);
}

static int damaged(struct reader *r)
{
	return error_set(r->err, EINVAL,
			 "%s, line %zu: not a JSON object with a \"type\": the file is damaged; "
			 "cut it off before that line and try again",
			 r->rec->path, r->bad_line);
}

static int unreadable_line(struct reader *r, const char *line, size_t len)
{
	size_t n = strlen(RECORDING_START);

	if (!r->started && memcmp(line, RECORDING_START, len < n ? len : n) != 0)
		return not_a_recording(r);
	if (!r->bad_line)
		r->bad_line = r->line;
	r->bad_count++;
	return 0;
}

static int read_line(const char *line, size_t len, void *arg)
{
	struct reader *r = arg;
	struct fields *f = &r->impl->fields;
	const struct line_kind *kind;
	int ret;

	r->line++;
	ret = fields_read(f, line, len, &kind);
	if (ret == FIELDS_UNREADABLE)
		return unreadable_line(r, line, len);
	if (!r->started && !(kind && !strcmp(kind->type, "header") &&
			     !strcmp(r->l.header.format, RECORDING_FORMAT)))
		return not_a_recording(r);
	if (ret)
		return bad_field(r, f->bad_key, f->bad_what);
	if (r->bad_line)
		return damaged(r);
	if (!kind) {
		r->rec->unknown_lines++;
		return 0;
	}
	if (r->rec->complete)
		return bad_field(r, "type", "stands behind the footer");
	return readers[kind - kinds](r);
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

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
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
		while (i < r->n_comms && r->comms[i].thread < t)
			i++;
		next[t] = i;
	}
	for (i = 0; i < rec->n_samples; i++) {
		struct record_sample *s = &rec->samples[i];
		size_t *n = &next[s->thread];

		while (*n < r->n_comms && r->comms[*n].thread == s->thread &&
		       r->comms[*n].time <= s->time)
			now[s->thread] = r->comms[(*n)++].comm;
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

static int finish(struct reader *r)
{
	struct recording *rec = r->rec;

	if (!r->line)
		return error_set(r->err, ENODATA, "%s is empty: nothing was recorded in it",
				 rec->path);
	if (!r->started)
		return error_set(r->err, ENODATA,
				 "%s is cut off within its first line: nothing was recorded in it",
				 rec->path);
	rec->skipped_lines = r->bad_count;
	if (!rec->complete)
		rec->footer = footer_defaults.footer;
	if (r->unsorted)
		sort_samples(rec);
	fill_comms(r);
	fill_processes(r);
	return 0;
}

int recording_read(const char *path, struct recording **ret, struct error *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct recording_impl *impl;
	struct reader r = { .err = err };
	const struct lines lines = { path, "recording", RECORDING_MAX_LINE, read_line, &r };
	struct stat st;
	int res;

	if (fd < 0 && errno == ENOENT)
		return error_set(err, ENOENT,
				 "%s: no such file: record one with scoz record -o %s -- COMMAND, "
				 "or name another",
				 path, path);
	if (fd < 0)
		return error_set(err, errno, "%s: cannot open: %s", path, strerror(errno));
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return error_set(err, EISDIR, "%s is a directory: name a recording in it", path);
	impl = xcalloc(1, sizeof(*impl));
	impl->r.path = xstrdup(path);
	r.impl = impl;
	r.rec = &impl->r;
	impl->fields.kinds = kinds;
	impl->fields.n_kinds = ARRAY_SIZE(kinds);
	impl->fields.line = &r.l;
	impl->fields.line_size = sizeof(r.l);
	res = lines_read(&lines, fd, NULL, err);
	if (!res)
		res = finish(&r);
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
	fields_deinit(&impl->fields);
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
	/* A FIFO would lose what is read here, and might never begin. */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char start[sizeof(RECORDING_START) - 1];
	size_t n = strlen(RECORDING_START);

	return fd >= 0 && pread(fd, start, n, 0) == (ssize_t)n &&
	       !memcmp(start, RECORDING_START, n);
}
