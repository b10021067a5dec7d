// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing record.scoz. Lines are collected and written by the megabyte. */
#include "jsonl/writer.h"
#include "record/format.h"

#include <unistd.h>

#define BUFFER (1u << 20)

struct recording_writer {
	struct jsonl_file file;
	struct jsonl_text text; /* not yet written */
	uint32_t n_frames, n_stacks, n_processes, n_threads;
	struct error error; /* the first one: nothing is written behind it */
};

static int write_out(struct recording_writer *w)
{
	int ret = jsonl_file_write(&w->file, w->text.buf, w->text.len, &w->error);

	w->text.len = 0;
	return ret;
}

static int put_line(struct recording_writer *w, enum record_line_kind kind,
		    const union record_line *line)
{
	if (w->error.code)
		return w->error.code;
	jsonl_put(&w->text, record_line_kind(kind), line);
	return w->text.len < BUFFER ? 0 : write_out(w);
}

/* The first error remains; what came before it is written. */
static int bad_call(struct recording_writer *w, const char *what)
{
	if (w->error.code || write_out(w))
		return w->error.code;
	return error_set(&w->error, EINVAL, "%s: %s (a bug in scoz): the recording ends here",
			 w->file.path, what);
}

/* ---- opening and closing ---- */

/* Somebody's data must not be lost for a mistyped -o. */
static bool is_replaceable(int fd, off_t size)
{
	char wanted[64], start[64];
	ssize_t len = snprintf(wanted, sizeof(wanted), JSONL_START("%s"), record_format.name);
	ssize_t n = pread(fd, start, len, 0);

	return size == 0 || (n > 0 && !memcmp(start, wanted, n));
}

static int make_empty(struct jsonl_file *f, struct error *err)
{
	if (!f->regular)
		return 0;
	if (!is_replaceable(f->fd, f->before))
		return error_set(
			err, EEXIST,
			"%s exists and is not a recording: choose another file with -o, or "
			"remove it",
			f->path);
	if (ftruncate(f->fd, 0) < 0)
		return error_set(err, errno, "%s: cannot empty it: %s: choose another file with -o",
				 f->path, strerror(errno));
	return 0;
}

static void destroy(struct recording_writer *w)
{
	jsonl_file_close(&w->file);
	free(w->text.buf);
	free(w);
}

int recording_writer_open(const char *path, const struct record_header *h,
			  struct recording_writer **ret, struct error *err)
{
	const union record_line l = { .header = { { record_format.name, record_format.version },
						  *h } };
	struct recording_writer *w = xcalloc(1, sizeof(*w));
	int r = jsonl_file_open(&w->file, &record_format, path, err);

	if (!r)
		r = make_empty(&w->file, err);
	if (!r) {
		put_line(w, RECORD_LINE_HEADER, &l);
		r = recording_writer_flush(w, err);
	}
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

int recording_writer_close(struct recording_writer *w, const struct record_footer *f,
			   struct error *err)
{
	int ret;

	if (!w)
		return 0;
	if (f)
		put_line(w, RECORD_LINE_FOOTER, &(union record_line){ .footer = *f });
	ret = recording_writer_flush(w, err);
	if (!ret)
		ret = jsonl_file_sync(&w->file, err);
	destroy(w);
	return ret;
}

/* ---- lines ---- */

int recording_write_frame(struct recording_writer *w, uint32_t id, const struct record_frame *f)
{
	union record_line l = { .frame = { .f = *f, .id = id } };

	if (id != w->n_frames || f->kind >= ARRAY_SIZE(record_frame_kinds))
		return bad_call(w, "a frame out of order");
	w->n_frames++;
	l.frame.kind = record_frame_kinds[f->kind];
	/* JSON's integers are signed in most readers; addresses of files do not reach 2^63. */
	if (f->address > INT64_MAX)
		l.frame.f.address = 0;
	return put_line(w, RECORD_LINE_FRAME, &l);
}

int recording_write_stack(struct recording_writer *w, uint32_t id, const struct record_stack *s)
{
	if (id != w->n_stacks || s->frame >= w->n_frames ||
	    (s->parent != RECORDING_NONE && s->parent >= id))
		return bad_call(w, "a stack out of order");
	w->n_stacks++;
	return put_line(w, RECORD_LINE_STACK, &(union record_line){ .stack = { *s, id } });
}

int recording_write_process(struct recording_writer *w, const struct record_process *p)
{
	union record_line l = { .process = *p };

	if (p->id > w->n_processes)
		return bad_call(w, "a process out of order");
	w->n_processes += p->id == w->n_processes;
	if (p->rank < 0) {
		l.process.rank = -1;
		l.process.rank_from = NULL;
	}
	return put_line(w, RECORD_LINE_PROCESS, &l);
}

int recording_write_thread(struct recording_writer *w, const struct record_thread *t)
{
	if (t->id != w->n_threads)
		return bad_call(w, "a thread out of order");
	if (t->process != RECORDING_NONE && t->process >= w->n_processes)
		return bad_call(w, "a thread of an unknown process");
	w->n_threads++;
	return put_line(w, RECORD_LINE_THREAD, &(union record_line){ .thread = *t });
}

int recording_write_comm(struct recording_writer *w, uint32_t thread, uint64_t time,
			 const char *comm)
{
	if (thread >= w->n_threads)
		return bad_call(w, "the name of an unknown thread");
	return put_line(w, RECORD_LINE_COMM,
			&(union record_line){ .comm = { thread, time, comm } });
}

int recording_write_sample(struct recording_writer *w, const struct record_sample *s)
{
	const char class[2] = { record_class_letter(s) };

	if (s->thread >= w->n_threads || (s->stack != RECORDING_NONE && s->stack >= w->n_stacks) ||
	    (s->waker != RECORDING_NONE && s->waker >= w->n_threads) ||
	    (s->holder != RECORDING_NONE && s->holder >= w->n_threads))
		return bad_call(w, "a sample with an unknown thread or stack");
	return put_line(w, RECORD_LINE_SAMPLE, &(union record_line){ .sample = { *s, class } });
}

int recording_write_times(struct recording_writer *w, const struct record_thread *t)
{
	if (t->id >= w->n_threads)
		return bad_call(w, "the times of an unknown thread");
	return put_line(w, RECORD_LINE_TIMES, &(union record_line){ .thread = *t });
}

int recording_write_scozd(struct recording_writer *w, const struct record_scozd *s)
{
	return put_line(w, RECORD_LINE_SCOZD, &(union record_line){ .scozd = *s });
}
