// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading causal recordings, which anybody may have written: nothing in them is believed. */
#include "files/file_open.h"
#include "trace/trace_format.h"

#include <endian.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/*
 * What is kept in memory is bounded by a multiple of the file's size: a small file with many
 * threads was made to fill the memory. Texts and samples that are recorded pack to a tenth at best.
 */
#define KEPT_MOST  64
#define KEPT_LEAST (24u << 20)
/* And so is what is read of events, each of which takes time: they pack to a half or a third. */
#define EVENTS_MOST  24
#define EVENTS_LEAST (4u << 20)

/* A chunk's records; once anything is not as it should be, all further ones are 0. */
struct cursor {
	const uint8_t *at, *end;
	bool bad;
	uint64_t time;
};

struct file {
	const char *path;
	FILE *f;
	uint8_t *packed, *raw;
	size_t cap_packed, cap_raw;
	uint64_t number; /* of the chunk, from 1 */
	uint64_t size;	 /* bytes of all chunks until now */
};

struct loading {
	struct trace *t;
	size_t cap_frames, cap_stacks, cap_processes, cap_threads, cap_devices, cap_requests,
		cap_points, cap_samples, cap_words;
	bool has_header, unsampled;
	uint64_t kept, most;	      /* bytes that records take which are kept */
	uint64_t events, most_events; /* bytes of events, unpacked */
	uint16_t *depths;	      /* by stack */
	size_t cap_depths;
};

static const char *const wait_names[TRACE_WAITS] = {
	[TRACE_WAIT_OTHER] = "other", [TRACE_WAIT_LOCK] = "futex lock",
	[TRACE_WAIT_FUTEX] = "futex", [TRACE_WAIT_READ] = "read",
	[TRACE_WAIT_WRITE] = "write", [TRACE_WAIT_POLL] = "poll",
	[TRACE_WAIT_CHILD] = "child", [TRACE_WAIT_SLEEP] = "sleep",
	[TRACE_WAIT_IO] = "disk",     [TRACE_WAIT_KERNEL] = "kernel work",
};

const char *trace_wait_name(enum trace_wait wait)
{
	return wait < TRACE_WAITS ? wait_names[wait] : "other";
}

static uint64_t get_number(struct cursor *c)
{
	uint64_t v = 0;

	for (int shift = 0; shift < 64 && c->at < c->end; shift += 7) {
		uint8_t b = *c->at++;

		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

static uint64_t get_below(struct cursor *c, uint64_t limit)
{
	uint64_t v = get_number(c);

	if (v >= limit) {
		c->bad = true;
		return 0;
	}
	return v;
}

/* Of @n; TRACE_NONE where there is none. */
static uint32_t get_id(struct cursor *c, size_t n)
{
	uint64_t v = get_below(c, (uint64_t)n + 1);

	return v ? v - 1 : TRACE_NONE;
}

static const char *get_text(struct cursor *c)
{
	uint64_t n = get_below(c, TRACE_TEXT_MOST + 1);
	char *text;

	if (c->bad || n > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		return NULL;
	}
	text = xstrndup((const char *)c->at, n);
	c->at += n;
	/* They are printed. */
	for (char *p = text; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
	return text;
}

static void get_event(struct cursor *c, const struct trace *t, struct trace_event *e)
{
	uint64_t passed = get_number(c);

	c->time += passed >> 1 ^ -(passed & 1);
	e->time = c->time;
	if (e->time > INT64_MAX / 4)
		c->bad = true;
	e->thread = get_id(c, t->n_threads);
	e->cpu = get_below(c, TRACE_CPUS_MOST);
	e->other = e->stack = TRACE_NONE;
	if (e->thread == TRACE_NONE && e->type != TRACE_COMPLETE && e->type != TRACE_ISSUE &&
	    e->type != TRACE_PROGRESS)
		c->bad = true;
	switch (e->type) {
	case TRACE_LEAVE:
	case TRACE_FOLLOW:
		e->why = get_below(c, TRACE_BLOCKED + 1);
		e->wait = get_below(c, TRACE_WAITS);
		break;
	case TRACE_WAKE:
		e->by = get_below(c, TRACE_BYS);
		e->other = get_id(c, e->by == TRACE_BY_THREAD ? t->n_threads : t->n_devices);
		if (e->other == TRACE_NONE && e->by != TRACE_BY_NOBODY && e->by != TRACE_BY_TIMER)
			c->bad = true;
		break;
	case TRACE_FORK:
		e->other = get_id(c, t->n_threads);
		break;
	case TRACE_PROGRESS:
		e->other = get_id(c, t->n_points);
		if (e->other == TRACE_NONE)
			c->bad = true;
		break;
	case TRACE_SPIN:
		e->type = TRACE_SAMPLE;
		e->spins = true;
		/* fallthrough */
	case TRACE_SAMPLE:
		e->stack = get_id(c, t->n_stacks);
		e->weight = get_below(c, 1ULL << 40);
		break;
	case TRACE_ISSUE:
	case TRACE_COMPLETE:
		e->other = get_id(c, t->n_devices);
		e->stack = get_below(c, 1ULL << 32);
		break;
	}
}

static void replace(const char **old, const char *text)
{
	free((char *)*old);
	*old = text;
}

static void get_header(struct cursor *c, struct loading *l)
{
	struct trace_header *h = &l->t->header;

	if (l->has_header) {
		c->bad = true;
		return;
	}
	l->has_header = true;
	h->period_ns = get_below(c, 1ULL << 40);
	h->cpus = get_below(c, TRACE_CPUS_MOST + 1);
	h->command = get_text(c);
	h->scope = get_text(c);
	h->host = get_text(c);
	h->kernel = get_text(c);
	h->started = get_text(c);
}

static void get_frame(struct cursor *c, struct loading *l)
{
	struct trace *t = l->t;
	struct record_frame *f;

	array_reserve(t->frames, l->cap_frames, t->n_frames + 1);
	f = &t->frames[t->n_frames++];
	*f = (struct record_frame){ .kind = get_below(c, FRAME_MISSING + 1) };
	f->symbol = get_text(c);
	f->object = get_text(c);
	f->file = get_text(c);
	if (f->file && !*f->file) {
		free((char *)f->file);
		f->file = NULL;
	}
	f->line = get_below(c, 1ULL << 32);
	f->address = get_number(c);
}

static void get_stack(struct cursor *c, struct loading *l)
{
	struct trace *t = l->t;
	uint32_t parent;

	array_reserve(t->stacks, l->cap_stacks, t->n_stacks + 1);
	array_reserve(l->depths, l->cap_depths, t->n_stacks + 1);
	t->stacks[t->n_stacks].frame = get_below(c, t->n_frames);
	t->stacks[t->n_stacks].parent = parent = get_id(c, t->n_stacks);
	l->depths[t->n_stacks] = parent == TRACE_NONE ? 1 : l->depths[parent] + 1;
	c->bad |= l->depths[t->n_stacks] > TRACE_STACK_MOST;
	t->n_stacks++;
}

static void get_process(struct cursor *c, struct loading *l)
{
	struct trace *t = l->t;
	uint64_t id = get_below(c, t->n_processes + 1);

	if (id == t->n_processes && !c->bad) {
		array_reserve(t->processes, l->cap_processes, t->n_processes + 1);
		t->processes[t->n_processes++] = (struct trace_process){ .rank = -1 };
	}
	if (c->bad)
		return;
	t->processes[id].pid = get_below(c, (uint64_t)INT32_MAX + 1);
	replace(&t->processes[id].name, get_text(c));
}

static void get_rank(struct cursor *c, struct loading *l)
{
	uint64_t id = get_below(c, l->t->n_processes);

	if (c->bad)
		return;
	l->t->processes[id].rank = get_below(c, INT32_MAX);
	replace(&l->t->processes[id].rank_from, get_text(c));
}

static void get_thread(struct cursor *c, struct loading *l)
{
	struct trace *t = l->t;
	struct trace_thread *thread;

	if (t->n_threads == TRACE_THREADS_MOST) {
		c->bad = true;
		return;
	}
	array_reserve(t->threads, l->cap_threads, t->n_threads + 1);
	thread = &t->threads[t->n_threads++];
	*thread = (struct trace_thread){ .tid = get_below(c, INT32_MAX) };
	thread->pid = get_below(c, INT32_MAX);
	thread->process = get_below(c, t->n_processes);
	thread->comm = get_text(c);
}

static void get_comm(struct cursor *c, struct loading *l)
{
	uint64_t id = get_below(c, l->t->n_threads);

	if (!c->bad)
		replace(&l->t->threads[id].comm, get_text(c));
}

static void get_device(struct cursor *c, struct loading *l)
{
	struct trace *t = l->t;

	if (t->n_devices == TRACE_DEVICES_MOST) {
		c->bad = true;
		return;
	}
	array_reserve(t->requests, l->cap_requests, t->n_devices + 1);
	t->requests[t->n_devices] = 0;
	array_reserve(t->devices, l->cap_devices, t->n_devices + 1);
	t->devices[t->n_devices++] = get_text(c);
}

static void get_footer(struct cursor *c, struct loading *l)
{
	struct trace_footer *f = &l->t->footer;

	if (l->t->complete) {
		c->bad = true;
		return;
	}
	l->t->complete = true;
	f->duration = get_below(c, INT64_MAX / 4);
	f->lost = get_number(c);
	f->command_status = (int32_t)get_below(c, 1ULL << 32);
	f->end = get_text(c);
}

static void load_record(struct cursor *c, uint8_t type, struct loading *l)
{
	struct trace *t = l->t;

	switch (type) {
	case TRACE_REC_HEADER:
		get_header(c, l);
		break;
	case TRACE_REC_FRAME:
		get_frame(c, l);
		break;
	case TRACE_REC_STACK:
		get_stack(c, l);
		break;
	case TRACE_REC_PROCESS:
		get_process(c, l);
		break;
	case TRACE_REC_RANK:
		get_rank(c, l);
		break;
	case TRACE_REC_THREAD:
		get_thread(c, l);
		break;
	case TRACE_REC_COMM:
		get_comm(c, l);
		break;
	case TRACE_REC_DEVICE:
		get_device(c, l);
		break;
	case TRACE_REC_POINT:
		array_reserve(t->points, l->cap_points, t->n_points + 1);
		t->points[t->n_points++] = get_text(c);
		break;
	case TRACE_REC_FOOTER:
		get_footer(c, l);
		break;
	case TRACE_REC_WORD:
		array_reserve(t->command, l->cap_words, t->n_words + 2);
		t->command[t->n_words++] = (char *)get_text(c);
		t->command[t->n_words] = NULL;
		break;
	default:
		c->bad = true;
	}
}

/* What is kept of a record, by us and by those who ask, is more than it takes in the file. */
static size_t kept_of(uint8_t type)
{
	switch (type) {
	case TRACE_REC_THREAD:
		return 512;
	case TRACE_REC_FRAME:
	case TRACE_REC_PROCESS:
		return 256;
	case TRACE_REC_STACK:
	case TRACE_REC_POINT:
	case TRACE_REC_WORD:
		return 48;
	default:
		return 0;
	}
}

static void load_chunk(struct cursor *c, struct loading *l)
{
	struct trace *t = l->t;

	while (!c->bad && c->at < c->end && l->kept <= l->most && l->events <= l->most_events) {
		const uint8_t *start = c->at;
		struct trace_event e = { .type = *c->at++ };

		if (e.type >= TRACE_TYPES) {
			load_record(c, e.type, l);
			l->kept += c->at - start + kept_of(e.type);
			continue;
		}
		get_event(c, t, &e);
		if (c->bad)
			return;
		l->events += c->at - start;
		if (e.time > t->end)
			t->end = e.time;
		if (e.type == TRACE_COMPLETE && e.other != TRACE_NONE)
			t->requests[e.other]++;
		t->n_events += e.type != TRACE_SAMPLE;
		if (e.type != TRACE_SAMPLE || l->unsampled)
			continue;
		array_reserve(t->samples, l->cap_samples, t->n_samples + 1);
		t->samples[t->n_samples++] = e;
		l->kept += sizeof(e);
	}
}

/* What the first pass has taken in. */
static void skip_record(struct cursor *c, uint8_t type)
{
	static const char *const fields[] = {
		[TRACE_REC_HEADER - TRACE_REC_HEADER] = "nnttttt",
		[TRACE_REC_FRAME - TRACE_REC_HEADER] = "ntttnn",
		[TRACE_REC_STACK - TRACE_REC_HEADER] = "nn",
		[TRACE_REC_PROCESS - TRACE_REC_HEADER] = "nnt",
		[TRACE_REC_THREAD - TRACE_REC_HEADER] = "nnnt",
		[TRACE_REC_COMM - TRACE_REC_HEADER] = "nt",
		[TRACE_REC_DEVICE - TRACE_REC_HEADER] = "t",
		[TRACE_REC_POINT - TRACE_REC_HEADER] = "t",
		[TRACE_REC_FOOTER - TRACE_REC_HEADER] = "nnnt",
		[TRACE_REC_WORD - TRACE_REC_HEADER] = "t",
		[TRACE_REC_RANK - TRACE_REC_HEADER] = "nnt",
	};

	if (type < TRACE_REC_HEADER || type > TRACE_REC_RANK) {
		c->bad = true;
		return;
	}
	for (const char *f = fields[type - TRACE_REC_HEADER]; *f && !c->bad; f++) {
		uint64_t v = get_number(c);

		if (*f == 't' && v > (uint64_t)(c->end - c->at))
			c->bad = true;
		else if (*f == 't')
			c->at += v;
	}
}

/* ---- files ---- */

static int damaged(const struct file *f, const char *why, struct error *err)
{
	return error_set(err, EINVAL, "%s: damaged: chunk %llu: %s; record again", f->path,
			 (unsigned long long)f->number, why);
}

static int open_file(const char *path, struct file *f, struct error *err)
{
	char line[32], *end;
	int fd = file_open_told(path, path, err);
	unsigned long version;

	*f = (struct file){ .path = path };
	if (fd == -ENOENT)
		return error_set(err, ENOENT,
				 "%s: no such file: record one with scoz record --causal -o %s -- "
				 "COMMAND, or name another",
				 path, path);
	if (fd < 0)
		return fd;
	f->f = fdopen(fd, "r");
	if (!f->f) {
		close(fd);
		return error_set(err, ENOMEM, "%s: %s", path, strerror(ENOMEM));
	}
	if (!fgets(line, sizeof(line), f->f) || strncmp(line, TRACE_START, strlen(TRACE_START)))
		return error_set(err, ENODATA,
				 "%s: not a causal recording: `scoz record --causal` makes them",
				 path);
	version = strtoul(line + strlen(TRACE_START), &end, 10);
	if (end == line + strlen(TRACE_START) || *end != '\n' || !version)
		return error_set(err, EINVAL, "%s: damaged: its first line", path);
	if (version > TRACE_VERSION)
		return error_set(err, ENOTSUP,
				 "%s: written by a later scoz (version %lu of the format, this one "
				 "reads up to %d): read it with that one",
				 path, version, TRACE_VERSION);
	return 0;
}

static void close_file(struct file *f)
{
	if (f->f)
		fclose(f->f);
	free(f->packed);
	free(f->raw);
}

/* 1: @c is the next chunk; 0: there is none; *@truncated: it was cut off. */
static int next_chunk(struct file *f, struct cursor *c, bool *truncated, struct error *err)
{
	struct trace_chunk head;
	size_t n = fread(&head, 1, sizeof(head), f->f), got;

	f->number++;
	if (!n)
		return 0;
	head.packed = le32toh(head.packed);
	head.raw = le32toh(head.raw);
	if (n == sizeof(head) &&
	    (head.raw > TRACE_CHUNK_MOST || head.packed > ZSTD_compressBound(TRACE_CHUNK_MOST)))
		return damaged(f, "no such size is written", err);
	if (n == sizeof(head)) {
		array_reserve(f->packed, f->cap_packed, head.packed + 1);
		array_reserve(f->raw, f->cap_raw, head.raw + 1);
	}
	if (n < sizeof(head) || fread(f->packed, 1, head.packed, f->f) != head.packed) {
		*truncated = true;
		return 0;
	}
	f->size += head.packed;
	got = ZSTD_decompress(f->raw, head.raw, f->packed, head.packed);
	if (ZSTD_isError(got) || got != head.raw)
		return damaged(f, "it cannot be decompressed", err);
	*c = (struct cursor){ .at = f->raw, .end = f->raw + got };
	return 1;
}

static int by_time(const void *pa, const void *pb)
{
	const struct trace_event *a = pa, *b = pb;

	return (a->time > b->time) - (a->time < b->time);
}

static void whose(const struct file *f, struct trace *t)
{
	struct stat st;

	t->owner = -1;
	if (fstat(fileno(f->f), &st))
		return;
	t->size = st.st_size;
	t->owner = st.st_uid;
	t->mode = st.st_mode;
}

static int load(const char *path, bool unsampled, struct trace **ret, struct error *err)
{
	struct loading l = { .t = xcalloc(1, sizeof(*l.t)), .unsampled = unsampled };
	struct trace *t = l.t;
	struct cursor c;
	struct file f;
	int r;

	t->path = xstrdup(path);
	r = open_file(path, &f, err);
	if (!r) {
		while ((r = next_chunk(&f, &c, &t->truncated, err)) > 0) {
			bool dense;

			t->chunks++;
			l.most = KEPT_MOST * f.size + KEPT_LEAST;
			l.most_events = EVENTS_MOST * f.size + EVENTS_LEAST;
			load_chunk(&c, &l);
			dense = l.kept > l.most || l.events > l.most_events;
			if (c.bad || dense) {
				r = damaged(&f,
					    dense ? "packed more densely than any that is written"
						  : "a record that nobody writes",
					    err);
				break;
			}
		}
		whose(&f, t);
		if (!r && !l.has_header)
			r = error_set(err, EINVAL, "%s: empty: nothing was recorded", path);
	}
	close_file(&f);
	free(l.depths);
	if (r) {
		trace_free(t);
		return r;
	}
	if (t->n_samples)
		qsort(t->samples, t->n_samples, sizeof(*t->samples), by_time);
	*ret = t;
	return 0;
}

int trace_open(const char *path, struct trace **ret, struct error *err)
{
	return load(path, false, ret, err);
}

int trace_open_unsampled(const char *path, struct trace **ret, struct error *err)
{
	return load(path, true, ret, err);
}

const char *trace_unfinished(const struct trace *t)
{
	struct stat st;

	if (t->complete && !t->truncated)
		return NULL;
	if (!stat(t->path, &st) && (uint64_t)st.st_size > t->size)
		return "it is still being recorded: this is what has come so far";
	return "it was cut off: this is what came before";
}

bool trace_is(const char *path)
{
	struct file f;
	bool is = !open_file(path, &f, NULL);

	close_file(&f);
	return is;
}

void trace_free(struct trace *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_frames; i++) {
		free((char *)t->frames[i].symbol);
		free((char *)t->frames[i].object);
		free((char *)t->frames[i].file);
	}
	for (size_t i = 0; i < t->n_processes; i++) {
		free((char *)t->processes[i].name);
		free((char *)t->processes[i].rank_from);
	}
	for (size_t i = 0; i < t->n_threads; i++)
		free((char *)t->threads[i].comm);
	for (size_t i = 0; i < t->n_devices; i++)
		free((char *)t->devices[i]);
	for (size_t i = 0; i < t->n_points; i++)
		free((char *)t->points[i]);
	for (size_t i = 0; i < t->n_words; i++)
		free(t->command[i]);
	free(t->command);
	free((char *)t->header.command);
	free((char *)t->header.scope);
	free((char *)t->header.host);
	free((char *)t->header.kernel);
	free((char *)t->header.started);
	free((char *)t->footer.end);
	free(t->frames);
	free(t->stacks);
	free(t->processes);
	free(t->threads);
	free(t->devices);
	free(t->requests);
	free(t->points);
	free(t->samples);
	free(t->path);
	free(t);
}

struct each {
	const struct trace *t;
	size_t sample;
	uint64_t last;
	int (*fn)(const struct trace_event *e, void *arg);
	void *arg;
};

static int give_samples(struct each *x, uint64_t before)
{
	int r = 0;

	while (!r && x->sample < x->t->n_samples && x->t->samples[x->sample].time < before)
		r = x->fn(&x->t->samples[x->sample++], x->arg);
	return r;
}

static int give_chunk(struct each *x, struct cursor *c)
{
	int r = 0;

	while (!r && !c->bad && c->at < c->end) {
		struct trace_event e = { .type = *c->at++ };

		if (e.type >= TRACE_TYPES) {
			skip_record(c, e.type);
			continue;
		}
		get_event(c, x->t, &e);
		if (c->bad || e.type == TRACE_SAMPLE)
			continue;
		/* CPUs' clocks may differ by a little. */
		if (e.time < x->last)
			e.time = x->last;
		x->last = e.time;
		r = give_samples(x, e.time);
		if (!r)
			r = x->fn(&e, x->arg);
	}
	return r;
}

int trace_each(const struct trace *t, int (*fn)(const struct trace_event *e, void *arg), void *arg,
	       struct error *err)
{
	struct each x = { .t = t, .fn = fn, .arg = arg };
	bool truncated;
	struct cursor c;
	struct file f;
	int r = open_file(t->path, &f, err);

	while (!r && f.number < t->chunks) {
		r = next_chunk(&f, &c, &truncated, err);
		if (r < 0)
			break;
		c.bad |= !r;
		r = r ? give_chunk(&x, &c) : 0;
		if (!r && c.bad)
			r = damaged(&f, "it has changed while it was read", err);
	}
	close_file(&f);
	return r ? r : give_samples(&x, UINT64_MAX);
}
