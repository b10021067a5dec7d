// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing record.scoz. Lines are collected and written by the megabyte, since there may be
 * hundreds of thousands a second; so they are put together by hand. The buffer holds whole lines
 * only. When a write fails, what got through is taken back to the end of a line: the file stays
 * readable, and nothing is added to it any more.
 */
#include "record/format.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_text.h"
#include "base/output_file.h"

#define BUFFER (1u << 20)

struct recording_writer {
	char *path;
	int fd;
	bool regular;
	char *buf;
	size_t len, cap;
	uint32_t n_frames, n_stacks, n_processes, n_threads;
	struct error error; /* the first one */
};

/* ---- parts of a line ---- */

static void put_bytes(struct recording_writer *w, const char *s, size_t len)
{
	array_reserve(w->buf, w->cap, w->len + len);
	memcpy(w->buf + w->len, s, len);
	w->len += len;
}

static void put(struct recording_writer *w, const char *s)
{
	put_bytes(w, s, strlen(s));
}

static void put_number(struct recording_writer *w, const char *before, uint64_t v)
{
	char digits[20], *p = digits + sizeof(digits);

	put(w, before);
	do
		*--p = '0' + v % 10;
	while (v /= 10);
	put_bytes(w, p, digits + sizeof(digits) - p);
}

static void put_signed(struct recording_writer *w, const char *before, int64_t v)
{
	put(w, before);
	put_number(w, v < 0 ? "-" : "", v < 0 ? -(uint64_t)v : (uint64_t)v);
}

static void put_id(struct recording_writer *w, const char *before, uint32_t id)
{
	put_signed(w, before, id == RECORDING_NONE ? -1 : (int64_t)id);
}

static bool is_plain(const char *s)
{
	for (; *s; s++) {
		if (*s < ' ' || *s > '~' || *s == '"' || *s == '\\')
			return false;
	}
	return true;
}

static void put_text(struct recording_writer *w, const char *before, const char *s)
{
	_cleanup_free_ char *escaped = NULL;
	json_t *j;

	put(w, before);
	if (!s || is_plain(s)) {
		put(w, "\"");
		put(w, s ? s : "");
		put(w, "\"");
		return;
	}
	j = json_text(s);
	escaped = json_dumps(j, JSON_ENCODE_ANY);
	json_decref(j);
	put(w, escaped ? escaped : "\"\"");
}

/* ---- the file ---- */

static int write_error(struct recording_writer *w, int errnum)
{
	if (errnum == ENOSPC || errnum == EDQUOT || errnum == EFBIG)
		return error_set(&w->error, errnum,
				 "%s: %s: the recording is readable up to here; %s and run again",
				 w->path,
				 errnum == ENOSPC   ? "no space left on device"
				 : errnum == EDQUOT ? "disk quota exceeded"
						    : "file size limit reached",
				 errnum == EFBIG ? "raise the limit (ulimit -f)" : "free space");
	return error_set(&w->error, errnum,
			 "%s: cannot write: %s: the recording is readable up to here", w->path,
			 strerror(errnum));
}

/* Of @done bytes that were written, the last line may be half. */
static void take_back_half_line(struct recording_writer *w, size_t done)
{
	const char *nl = memrchr(w->buf, '\n', done);
	size_t whole = nl ? (size_t)(nl - w->buf) + 1 : 0;
	off_t end = w->regular ? lseek(w->fd, 0, SEEK_END) : -1;

	/* The reader forgives a half last line if that fails: nothing follows it. */
	if (end >= (off_t)(done - whole) && ftruncate(w->fd, end - (off_t)(done - whole)) < 0)
		log_debug("%s: %s", w->path, strerror(errno));
}

static int write_out(struct recording_writer *w)
{
	size_t done = 0;

	while (done < w->len) {
		ssize_t n = write(w->fd, w->buf + done, w->len - done);
		int saved = errno;

		if (n > 0) {
			done += n;
			continue;
		}
		if (n < 0 && saved == EINTR)
			continue;
		take_back_half_line(w, done);
		return write_error(w, n < 0 ? saved : ENOSPC);
	}
	w->len = 0;
	return 0;
}

static int end_line(struct recording_writer *w)
{
	put(w, "}\n");
	return w->len < BUFFER ? 0 : write_out(w);
}

static int bad_call(struct recording_writer *w, const char *what)
{
	return error_set(&w->error, EINVAL, "%s: %s (a bug in scoz): the recording ends here",
			 w->path, what);
}

/* ---- opening and closing ---- */

/* Somebody's data must not be lost for a mistyped -o. */
static bool is_replaceable(int fd, off_t size)
{
	char start[sizeof(RECORDING_START)];
	ssize_t n = pread(fd, start, sizeof(RECORDING_START) - 1, 0);

	return size == 0 || (n > 0 && !memcmp(start, RECORDING_START, n));
}

static int open_file(struct recording_writer *w, struct error *err)
{
	struct stat st;

	/* O_NONBLOCK: a FIFO is refused below instead of waited for. */
	w->fd = output_file_open(w->path, O_RDWR | O_APPEND | O_NONBLOCK, OUTPUT_PRIVATE, NULL,
				 err);
	if (w->fd < 0)
		return w->fd;
	if (fstat(w->fd, &st) < 0)
		return error_set(err, errno,
				 "%s: cannot open for writing: %s: choose another file with -o",
				 w->path, strerror(errno));
	w->regular = S_ISREG(st.st_mode);
	if (!w->regular && !S_ISCHR(st.st_mode))
		return error_set(err, EINVAL, "%s: not a regular file: choose another file with -o",
				 w->path);
	if (!w->regular)
		return 0;
	if (flock(w->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return error_set(err, EBUSY,
				 "%s: another run is writing to it: wait for it to end, or choose "
				 "another file with -o",
				 w->path);
	if (!is_replaceable(w->fd, st.st_size))
		return error_set(
			err, EEXIST,
			"%s exists and is not a recording: choose another file with -o, or "
			"remove it",
			w->path);
	if (ftruncate(w->fd, 0) < 0)
		return error_set(err, errno, "%s: cannot empty it: %s: choose another file with -o",
				 w->path, strerror(errno));
	return 0;
}

static void destroy(struct recording_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	free(w->buf);
	free(w->path);
	free(w);
}

int recording_writer_open(const char *path, const struct record_header *h,
			  struct recording_writer **ret, struct error *err)
{
	struct recording_writer *w = xcalloc(1, sizeof(*w));
	int r;

	w->path = xstrdup(path);
	r = open_file(w, err);
	if (r) {
		destroy(w);
		return r;
	}
	put_number(w, RECORDING_START ",\"version\":", RECORDING_VERSION);
	put_text(w, ",\"engine\":", h->engine);
	put_number(w, ",\"period_ns\":", h->period_ns);
	put_text(w, ",\"command\":", h->command);
	put_text(w, ",\"scope\":", h->scope);
	put_text(w, ",\"host\":", h->host);
	put_text(w, ",\"kernel\":", h->kernel);
	put_text(w, ",\"started\":", h->started);
	put_number(w, ",\"cpus\":", h->cpus);
	end_line(w);
	r = recording_writer_flush(w, err);
	if (r) {
		destroy(w);
		return r;
	}
	*ret = w;
	return 0;
}

int recording_writer_flush(struct recording_writer *w, struct error *err)
{
	if (!w->error.code)
		write_out(w);
	if (w->error.code && err)
		*err = w->error;
	return w->error.code;
}

static void put_footer(struct recording_writer *w, const struct record_footer *f)
{
	put_number(w, "{\"type\":\"footer\",\"duration_ns\":", f->duration);
	put_number(w, ",\"samples\":", f->samples);
	put_number(w, ",\"points\":", f->points);
	put_number(w, ",\"lost\":", f->lost);
	put_number(w, ",\"broken_chains\":", f->broken_chains);
	put_number(w, ",\"without_chain\":", f->without_chain);
	put_signed(w, ",\"command_status\":", f->command_status);
	put_text(w, ",\"end\":", f->end);
	end_line(w);
}

int recording_writer_close(struct recording_writer *w, const struct record_footer *f,
			   struct error *err)
{
	int ret;

	if (!w)
		return 0;
	if (f && !w->error.code)
		put_footer(w, f);
	ret = recording_writer_flush(w, err);
	/* Some file systems report a full disk only now. */
	if (!ret && w->regular && fdatasync(w->fd) < 0 && errno != EINVAL && errno != EROFS) {
		ret = write_error(w, errno);
		if (err)
			*err = w->error;
	}
	destroy(w);
	return ret;
}

/* ---- lines ---- */

int recording_write_frame(struct recording_writer *w, uint32_t id, const struct record_frame *f)
{
	if (w->error.code)
		return w->error.code;
	if (id != w->n_frames || f->kind >= ARRAY_SIZE(record_frame_kinds))
		return bad_call(w, "a frame out of order");
	w->n_frames++;
	put_number(w, "{\"type\":\"frame\",\"id\":", id);
	put_text(w, ",\"symbol\":", f->symbol);
	put_text(w, ",\"object\":", f->object);
	put_text(w, ",\"kind\":", record_frame_kinds[f->kind]);
	if (f->file)
		put_text(w, ",\"file\":", f->file);
	if (f->line)
		put_number(w, ",\"line\":", f->line);
	/* JSON's integers are signed in most readers; addresses of files do not reach 2^63. */
	if (f->address && f->address <= INT64_MAX)
		put_number(w, ",\"address\":", f->address);
	return end_line(w);
}

int recording_write_stack(struct recording_writer *w, uint32_t id, const struct record_stack *s)
{
	if (w->error.code)
		return w->error.code;
	if (id != w->n_stacks || s->frame >= w->n_frames ||
	    (s->parent != RECORDING_NONE && s->parent >= id))
		return bad_call(w, "a stack out of order");
	w->n_stacks++;
	put_number(w, "{\"type\":\"stack\",\"id\":", id);
	put_id(w, ",\"parent\":", s->parent);
	put_number(w, ",\"frame\":", s->frame);
	return end_line(w);
}

int recording_write_process(struct recording_writer *w, const struct record_process *p)
{
	if (w->error.code)
		return w->error.code;
	if (p->id > w->n_processes)
		return bad_call(w, "a process out of order");
	w->n_processes += p->id == w->n_processes;
	put_number(w, "{\"type\":\"process\",\"id\":", p->id);
	put_signed(w, ",\"pid\":", p->pid);
	put_number(w, ",\"t\":", p->start);
	put_text(w, ",\"name\":", p->name);
	if (p->rank >= 0)
		put_signed(w, ",\"rank\":", p->rank);
	if (p->rank >= 0 && p->rank_from)
		put_text(w, ",\"rank_from\":", p->rank_from);
	if (p->kernel)
		put(w, ",\"kernel\":true");
	return end_line(w);
}

int recording_write_thread(struct recording_writer *w, const struct record_thread *t)
{
	if (w->error.code)
		return w->error.code;
	if (t->id != w->n_threads)
		return bad_call(w, "a thread out of order");
	if (t->process != RECORDING_NONE && t->process >= w->n_processes)
		return bad_call(w, "a thread of an unknown process");
	w->n_threads++;
	put_number(w, "{\"type\":\"thread\",\"id\":", t->id);
	put_signed(w, ",\"tid\":", t->tid);
	put_signed(w, ",\"pid\":", t->pid);
	if (t->process != RECORDING_NONE)
		put_number(w, ",\"process\":", t->process);
	put_number(w, ",\"t\":", t->start);
	put_text(w, ",\"comm\":", t->comm);
	return end_line(w);
}

int recording_write_comm(struct recording_writer *w, uint32_t thread, uint64_t time,
			 const char *comm)
{
	if (w->error.code)
		return w->error.code;
	if (thread >= w->n_threads)
		return bad_call(w, "the name of an unknown thread");
	put_number(w, "{\"type\":\"comm\",\"thread\":", thread);
	put_number(w, ",\"t\":", time);
	put_text(w, ",\"comm\":", comm);
	return end_line(w);
}

int recording_write_sample(struct recording_writer *w, const struct record_sample *s)
{
	if (w->error.code)
		return w->error.code;
	if (s->thread >= w->n_threads || (s->stack != RECORDING_NONE && s->stack >= w->n_stacks) ||
	    (s->waker != RECORDING_NONE && s->waker >= w->n_threads) ||
	    (s->holder != RECORDING_NONE && s->holder >= w->n_threads))
		return bad_call(w, "a sample with an unknown thread or stack");
	put_number(w, "{\"type\":\"sample\",\"t\":", s->time);
	put_number(w, ",\"thread\":", s->thread);
	put_number(w, ",\"cpu\":", s->cpu);
	put(w, ",\"class\":\"");
	put_bytes(w, &(char){ record_class_letter(s) }, 1);
	put(w, "\"");
	if (s->points != 1)
		put_number(w, ",\"n\":", s->points);
	if (s->duration)
		put_number(w, ",\"d\":", s->duration);
	if (s->stack != RECORDING_NONE)
		put_number(w, ",\"stack\":", s->stack);
	if (s->kind)
		put_text(w, ",\"kind\":", s->kind);
	if (s->holder != RECORDING_NONE)
		put_number(w, ",\"holder\":", s->holder);
	if (s->waker != RECORDING_NONE)
		put_number(w, ",\"waker\":", s->waker);
	if (s->event)
		put_text(w, ",\"event\":", s->event);
	if (s->unfinished)
		put(w, ",\"unfinished\":true");
	return end_line(w);
}

int recording_write_times(struct recording_writer *w, const struct record_thread *t)
{
	if (w->error.code)
		return w->error.code;
	if (t->id >= w->n_threads)
		return bad_call(w, "the times of an unknown thread");
	put_number(w, "{\"type\":\"times\",\"thread\":", t->id);
	put_number(w, ",\"from\":", t->from);
	put_number(w, ",\"to\":", t->to);
	put_number(w, ",\"on\":", t->on);
	put_number(w, ",\"sched\":", t->sched);
	put_number(w, ",\"io\":", t->io);
	put_number(w, ",\"other\":", t->other);
	if (t->exited)
		put(w, ",\"exited\":true");
	return end_line(w);
}

int recording_write_scozd(struct recording_writer *w, const struct record_scozd *s)
{
	if (w->error.code)
		return w->error.code;
	put_signed(w, "{\"type\":\"scozd\",\"pid\":", s->pid);
	put_number(w, ",\"from\":", s->from);
	put_number(w, ",\"to\":", s->to);
	return end_line(w);
}
