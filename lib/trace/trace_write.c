// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing causal recordings: records collect in a chunk, which is compressed when it is full. */
#include "files/output_file.h"
#include "trace/trace_format.h"

#include <endian.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define LEVEL 1 /* of compression: the recorder competes with what it records */

struct trace_writer {
	char *path;
	int fd;
	uint8_t *raw;
	size_t used, cap;
	uint8_t *packed;
	size_t packed_size;
	uint64_t time; /* of the last event in this chunk */
	struct error error;
};

static int write_all(struct trace_writer *w, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t n = write(w->fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_set(&w->error, n < 0 ? errno : ENOSPC,
					 "%s: cannot write: %s: what was recorded before is there; "
					 "make room, or choose another file with -o",
					 w->path, strerror(n < 0 ? errno : ENOSPC));
		at += n;
		size -= n;
	}
	return 0;
}

static int write_chunk(struct trace_writer *w)
{
	struct trace_chunk *head;
	size_t n;

	if (w->error.code || !w->used)
		return w->error.code;
	n = ZSTD_compressBound(w->used) + sizeof(*head);
	array_reserve(w->packed, w->packed_size, n);
	head = (struct trace_chunk *)w->packed;
	n = ZSTD_compress(head + 1, w->packed_size - sizeof(*head), w->raw, w->used, LEVEL);
	if (ZSTD_isError(n))
		return error_set(&w->error, EIO, "%s: compressing: %s", w->path,
				 ZSTD_getErrorName(n));
	*head = (struct trace_chunk){ htole32(n), htole32(w->used) };
	w->used = 0;
	w->time = 0;
	return write_all(w, head, sizeof(*head) + n);
}

/* ---- records ---- */

static void put_number(struct trace_writer *w, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		w->raw[w->used++] = v | 0x80;
	w->raw[w->used++] = v;
}

static void put_text(struct trace_writer *w, const char *text)
{
	size_t n = text ? strnlen(text, TRACE_TEXT_MOST) : 0;

	put_number(w, n);
	if (n)
		memcpy(w->raw + w->used, text, n);
	w->used += n;
}

/* Room for one record with so many texts. */
static bool begin(struct trace_writer *w, uint8_t type, int texts)
{
	if (w->error.code)
		return false;
	if (w->used >= TRACE_CHUNK_RAW && write_chunk(w))
		return false;
	array_reserve(w->raw, w->cap, w->used + 128 + texts * (TRACE_TEXT_MOST + 10));
	w->raw[w->used++] = type;
	return true;
}

static uint64_t or_none(uint32_t id)
{
	return id == TRACE_NONE ? 0 : (uint64_t)id + 1;
}

int trace_write_frame(struct trace_writer *w, const struct record_frame *f)
{
	if (begin(w, TRACE_REC_FRAME, 3)) {
		put_number(w, f->kind);
		put_text(w, f->symbol);
		put_text(w, f->object);
		put_text(w, f->file);
		put_number(w, f->line);
		put_number(w, f->address);
	}
	return w->error.code;
}

int trace_write_stack(struct trace_writer *w, const struct record_stack *s)
{
	if (begin(w, TRACE_REC_STACK, 0)) {
		put_number(w, s->frame);
		put_number(w, or_none(s->parent));
	}
	return w->error.code;
}

int trace_write_process(struct trace_writer *w, uint32_t id, int pid, const char *name)
{
	if (begin(w, TRACE_REC_PROCESS, 1)) {
		put_number(w, id);
		put_number(w, pid);
		put_text(w, name);
	}
	return w->error.code;
}

int trace_write_rank(struct trace_writer *w, uint32_t process, int rank, const char *from)
{
	if (begin(w, TRACE_REC_RANK, 1)) {
		put_number(w, process);
		put_number(w, rank);
		put_text(w, from);
	}
	return w->error.code;
}

int trace_write_thread(struct trace_writer *w, const struct trace_thread *t)
{
	if (begin(w, TRACE_REC_THREAD, 1)) {
		put_number(w, t->tid);
		put_number(w, t->pid);
		put_number(w, t->process);
		put_text(w, t->comm);
	}
	return w->error.code;
}

int trace_write_comm(struct trace_writer *w, uint32_t thread, const char *comm)
{
	if (begin(w, TRACE_REC_COMM, 1)) {
		put_number(w, thread);
		put_text(w, comm);
	}
	return w->error.code;
}

static bool reads_back(const char *word)
{
	for (const char *p = word; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	}
	return strlen(word) <= TRACE_TEXT_MOST;
}

int trace_write_command(struct trace_writer *w, char *const *command)
{
	for (char *const *word = command; word && *word; word++) {
		if (!reads_back(*word))
			return w->error.code;
	}
	for (; command && *command; command++) {
		if (begin(w, TRACE_REC_WORD, 1))
			put_text(w, *command);
	}
	return w->error.code;
}

static int put_name(struct trace_writer *w, enum trace_record type, const char *name)
{
	if (begin(w, type, 1))
		put_text(w, name);
	return w->error.code;
}

int trace_write_device(struct trace_writer *w, const char *name)
{
	return put_name(w, TRACE_REC_DEVICE, name);
}

int trace_write_point(struct trace_writer *w, const char *name)
{
	return put_name(w, TRACE_REC_POINT, name);
}

int trace_write_event(struct trace_writer *w, const struct trace_event *e)
{
	uint8_t kind = e->type == TRACE_SAMPLE && e->spins ? TRACE_SPIN : e->type;
	int64_t passed;

	if (!begin(w, kind, 0))
		return w->error.code;
	passed = e->time - w->time;
	w->time = e->time;
	put_number(w, (uint64_t)passed << 1 ^ passed >> 63);
	put_number(w, or_none(e->thread));
	put_number(w, e->cpu);
	switch (kind) {
	case TRACE_LEAVE:
	case TRACE_FOLLOW:
		put_number(w, e->why);
		put_number(w, e->wait);
		break;
	case TRACE_WAKE:
		put_number(w, e->by);
		put_number(w, or_none(e->other));
		break;
	case TRACE_FORK:
	case TRACE_PROGRESS:
		put_number(w, or_none(e->other));
		break;
	case TRACE_SAMPLE:
	case TRACE_SPIN:
		put_number(w, or_none(e->stack));
		put_number(w, e->weight);
		break;
	case TRACE_ISSUE:
	case TRACE_COMPLETE:
		put_number(w, or_none(e->other));
		put_number(w, e->stack);
		break;
	}
	return 0;
}

/* ---- opening and closing ---- */

static int make_empty(struct trace_writer *w, struct error *err)
{
	struct stat st;

	if (fstat(w->fd, &st))
		return error_set(err, errno, "%s: %s", w->path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return 0;
	if (flock(w->fd, LOCK_EX | LOCK_NB))
		return error_set(err, EBUSY,
				 "%s: another recording is being written there; name another file "
				 "with -o",
				 w->path);
	if (st.st_size) {
		char start[sizeof(TRACE_START) - 1];

		if (pread(w->fd, start, sizeof(start), 0) != (ssize_t)sizeof(start) ||
		    memcmp(start, TRACE_START, sizeof(start)) != 0)
			return error_set(err, EEXIST,
					 "%s exists and is not a causal recording: it is not "
					 "replaced; remove it, or name another file with -o",
					 w->path);
	}
	if (ftruncate(w->fd, 0))
		return error_set(err, errno, "%s: cannot empty it: %s: choose another file with -o",
				 w->path, strerror(errno));
	return 0;
}

static void destroy(struct trace_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	free(w->path);
	free(w->raw);
	free(w->packed);
	free(w);
}

int trace_writer_open(const char *path, const struct trace_header *h, struct trace_writer **ret,
		      struct error *err)
{
	struct trace_writer *w = xcalloc(1, sizeof(*w));
	char line[32];
	int r;

	w->path = xstrdup(path);
	w->fd = output_file_open(path, O_RDWR | O_CLOEXEC, OUTPUT_PRIVATE, NULL, err);
	r = w->fd < 0 ? w->fd : make_empty(w, err);
	if (!r) {
		snprintf(line, sizeof(line), TRACE_START "%d\n", TRACE_VERSION);
		r = write_all(w, line, strlen(line));
		if (r && err)
			*err = w->error;
	}
	if (r) {
		destroy(w);
		return r;
	}
	if (begin(w, TRACE_REC_HEADER, 5)) {
		put_number(w, h->period_ns);
		put_number(w, h->cpus);
		put_text(w, h->command);
		put_text(w, h->scope);
		put_text(w, h->host);
		put_text(w, h->kernel);
		put_text(w, h->started);
	}
	*ret = w;
	return 0;
}

int trace_writer_flush(struct trace_writer *w, struct error *err)
{
	write_chunk(w);
	if (w->error.code && err)
		*err = w->error;
	return w->error.code;
}

int trace_writer_close(struct trace_writer *w, const struct trace_footer *f, struct error *err)
{
	int r;

	if (!w)
		return 0;
	if (f && begin(w, TRACE_REC_FOOTER, 1)) {
		put_number(w, f->duration);
		put_number(w, f->lost);
		put_number(w, (uint32_t)f->command_status);
		put_text(w, f->end);
	}
	r = trace_writer_flush(w, err);
	/* Some file systems tell only then that they are full; pipes and devices have no such call.
	 */
	if (!r && fsync(w->fd) && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
		r = error_set(err, errno, "%s: cannot write: %s", w->path, strerror(errno));
	destroy(w);
	return r;
}
