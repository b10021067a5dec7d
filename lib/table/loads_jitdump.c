// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jitdump files, as Linux's tools/perf/Documentation/jitdump-specification.txt has them: a header,
 * then records, each with its size and a time, appended as functions are made. The last one may
 * still be being written.
 *
 * Lines of source come in a record before that of their function. V8 tells their addresses as they
 * would lie in a file of ELF's, 64 bytes further on than where they are, and nothing in the file
 * tells who wrote it. So lines are taken from a file that has one within the first 64 bytes of some
 * function, which no such writer has, and else are left out.
 */
#include "table/code_loads_build.h"

#include "table/table_build.h" /* sort_array() */

#include <unistd.h>

#define MAGIC	    0x4a695444 /* "JiTD" */
#define ARCH_TIME   1	       /* times are not those of a clock that we know */
#define MAX_RECORD  (256u << 20)
#define MAX_RECORDS (1 << 20)	/* for one block */
#define MAX_READ    (64u << 20) /* of the file, for one block: code is passed over */
#define MAX_DEBUG   (4u << 20)	/* of a record of lines */
#define ELF_SHIFT   64

enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING_INFO };

struct file_header {
	uint32_t magic, version, total_size, machine, pad, pid;
	uint64_t time, flags;
};

struct record_header {
	uint32_t id, total_size;
	uint64_t time;
};

struct load_record {
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

struct move_record {
	uint32_t pid, tid;
	uint64_t vma, from, to, size, index;
};

struct debug_record {
	uint64_t address, n;
};

struct debug_entry {
	uint64_t address;
	uint32_t line, discriminator;
};

struct dump {
	struct loads_builder *b;
	int fd;
	bool clock; /* times are of CLOCK_MONOTONIC */
	uint64_t read;
	char *body; /* of a record, what is looked at */
	size_t cap_body;
	/* Lines for the next function, of b->line from first_line on. */
	uint64_t debug_for;
	bool debug, exact, between; /* exact: no shift */
	bool told;		    /* by the last record */
	uint32_t first_line;
};

/* Returns how many bytes there are, up to @n. */
static ssize_t read_at(struct dump *d, uint64_t at, void *to, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(d->fd, (char *)to + done, n - done, at + done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		done += got;
	}
	d->read += done;
	return done;
}

/* What is of no function has no lines. */
static void drop_lines(struct dump *d)
{
	if (d->debug)
		d->b->n_line = d->first_line;
	d->debug = false;
}

static int compare_lines(const void *pa, const void *pb)
{
	const struct code_load_line *a = pa, *b = pb;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The lines that were told before, of a function of @size bytes. */
static void take_lines(struct dump *d, struct code_load *load)
{
	struct loads_builder *b = d->b;
	uint32_t n = b->n_line - d->first_line, kept = 0;
	struct code_load_line *v;

	if (!n || !d->debug || d->debug_for != load->start) {
		drop_lines(d);
		load->line = b->n_line;
		return;
	}
	v = b->line + d->first_line;
	for (uint32_t i = 0; i < n; i++) {
		if (v[i].offset < load->size)
			v[kept++] = v[i];
	}
	sort_array(v, kept, sizeof(*v), compare_lines);
	b->n_line = d->first_line + kept;
	load->line = d->first_line;
	load->n_lines = kept;
	d->debug = false;
}

static uint64_t time_of(const struct dump *d, const struct record_header *r)
{
	return d->clock ? r->time : 0;
}

static void on_load(struct dump *d, const struct record_header *r, const char *body, size_t n)
{
	struct load_record l;
	struct code_load load = { .time = time_of(d, r) };
	const char *name = body + sizeof(l);

	if (n <= sizeof(l))
		return;
	memcpy(&l, body, sizeof(l));
	if (l.size > UINT32_MAX)
		return;
	load.start = l.address;
	load.size = l.size;
	take_lines(d, &load);
	load.name = loads_text(d->b, name, n - sizeof(l));
	if (!loads_add(d->b, &load))
		d->b->n_line = load.line;
}

static void on_move(struct dump *d, const struct record_header *r, const char *body, size_t n)
{
	struct move_record m;

	drop_lines(d);
	if (n < sizeof(m))
		return;
	memcpy(&m, body, sizeof(m));
	if (m.size > UINT32_MAX || m.from >> 63)
		return;
	loads_add(d->b, &(struct code_load){ .start = m.to,
					     .size = m.size,
					     .from = m.from,
					     .time = time_of(d, r),
					     .name = CODE_LOADS_MOVED,
					     .line = d->b->n_line });
}

static void on_debug(struct dump *d, const char *body, size_t n)
{
	struct loads_builder *b = d->b;
	struct debug_record r;
	const char *at = body + sizeof(r), *end = body + n;
	uint32_t file = 0;
	bool named = false;

	drop_lines(d);
	if (n < sizeof(r))
		return;
	memcpy(&r, body, sizeof(r));
	d->debug = d->told = true;
	d->between = false;
	d->debug_for = r.address;
	d->first_line = b->n_line;
	for (uint64_t i = 0; i < r.n && !loads_full(b); i++) {
		struct debug_entry e;
		const char *name = at + sizeof(e), *stop;

		if ((size_t)(end - at) <= sizeof(e))
			break;
		memcpy(&e, at, sizeof(e));
		stop = memchr(name, '\0', end - name);
		if (!stop)
			break;
		/* One byte of 255: the same file as before. */
		if (!named || stop - name != 1 || (unsigned char)*name != 0xff)
			file = loads_text(b, name, stop - name);
		named = true;
		at = stop + 1;
		if (e.address < r.address || e.address - r.address > UINT32_MAX)
			continue;
		d->exact |= e.address - r.address < ELF_SHIFT;
		array_reserve(b->line, b->cap_line, b->n_line + 1);
		b->line[b->n_line++] = (struct code_load_line){ .offset = e.address - r.address,
								.line = e.line,
								.file = file };
	}
}

/* How much of a record is looked at: what is behind it is code. */
static size_t wanted(const struct record_header *r)
{
	size_t n = r->total_size - sizeof(*r), most;

	switch (r->id) {
	case CODE_LOAD:
		most = sizeof(struct load_record) + LOADS_MAX_NAME + 1;
		break;
	case CODE_MOVE:
		most = sizeof(struct move_record);
		break;
	case CODE_DEBUG_INFO:
		most = MAX_DEBUG;
		break;
	default:
		most = 0;
	}
	return n < most ? n : most;
}

static void on_record(struct dump *d, const struct record_header *r, const char *body, size_t n)
{
	if (r->id == CODE_LOAD)
		on_load(d, r, body, n);
	else if (r->id == CODE_MOVE)
		on_move(d, r, body, n);
	else if (r->id == CODE_DEBUG_INFO)
		on_debug(d, body, n);
	else if (r->id == CODE_UNWINDING_INFO && !d->between)
		d->between = true; /* of the same function */
	else
		drop_lines(d);
}

/* 1: there is none yet. */
static int read_header(struct dump *d, uint64_t *first)
{
	struct file_header h;
	ssize_t n = read_at(d, 0, &h, sizeof(h));

	if (n < (ssize_t)sizeof(h))
		return n < 0 ? n : 1;
	if (h.magic != MAGIC || !h.version || h.total_size < sizeof(h) ||
	    h.total_size > MAX_RECORD) {
		d->b->foreign = true;
		return 1;
	}
	d->clock = !(h.flags & ARCH_TIME);
	*first = h.total_size;
	return 0;
}

/* 1: it is not (all) there yet, or cannot be read. */
static int read_record(struct dump *d, uint64_t at, uint64_t size, uint64_t *end)
{
	struct record_header r;
	ssize_t n = read_at(d, at, &r, sizeof(r));

	if (n < (ssize_t)sizeof(r))
		return n < 0 ? n : 1;
	if (r.total_size < sizeof(r) || r.total_size > MAX_RECORD) {
		d->b->foreign = true;
		return 1;
	}
	if (at + r.total_size > size)
		return 1;
	array_reserve(d->body, d->cap_body, wanted(&r) + 1);
	n = read_at(d, at + sizeof(r), d->body, wanted(&r));
	if (n < (ssize_t)wanted(&r))
		return n < 0 ? n : 1;
	on_record(d, &r, d->body, n);
	*end = at + r.total_size;
	return 0;
}

static void without_lines(struct loads_builder *b)
{
	for (size_t i = 0; i < b->n_load; i++)
		b->load[i].line = b->load[i].n_lines = 0;
	b->n_line = 0;
}

static bool has_room(const struct dump *d)
{
	return !loads_full(d->b) && d->read < MAX_READ;
}

int loads_of_jitdump(struct loads_builder *b, int fd, uint64_t from)
{
	struct dump d = { .b = b, .fd = fd };
	off_t size = lseek(fd, 0, SEEK_END);
	uint64_t at = from, first = 0, end = from;
	int r = size < 0 ? -errno : read_header(&d, &first);

	if (at < first)
		at = first;
	/* A function and its lines are of one block. */
	for (int i = 0; !r && i < MAX_RECORDS && (d.debug || has_room(&d)); i++) {
		bool room = has_room(&d);

		d.told = false;
		r = read_record(&d, at, size, &end);
		if (r)
			break;
		/* What was told before these lines is over; were it not, no next block would begin
		 * further on. */
		if (!d.debug || d.told)
			b->next = d.debug ? at : end;
		at = end;
		if (d.told && !room)
			break;
	}
	free(d.body);
	b->more = !r;
	drop_lines(&d);
	if (!d.exact)
		without_lines(b);
	return r < 0 ? r : 0;
}
