// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing profile.scoz: one whole line with one write(2), so that a crash costs at most the line
 * being written.
 *
 * An existing file is read completely before it is extended: target ids, run numbers and the
 * comparison of the progress points come from there.
 */
#include "jsonl/reader.h"
#include "jsonl/writer.h"
#include "profile/builds.h"
#include "profile/format.h"
#include "progress/point.h"

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json_text.h"

#define LOCK_PATIENCE_S 2
#define LOCK_RETRY_US	1000

struct profile_writer {
	struct jsonl_file file;
	bool finished; /* nothing may follow the footer */
	bool learned;  /* there is more than what the run was to be */
	pthread_mutex_t lock;
	uint32_t run;
	size_t n_progress;
	char **targets; /* names, by id */
	size_t n_targets, cap_targets;
	size_t n_samples, last_samples; /* of this run; before those written last */
};

/*
 * Another thread may have been writing to a disk that hangs, for longer than anybody waits. Whoever
 * sets the date does not change for how long.
 */
static bool lock(struct profile_writer *w)
{
	uint64_t end = clock_now_ns() + LOCK_PATIENCE_S * NSEC_PER_SEC;
	bool locked;

	while (!(locked = !pthread_mutex_trylock(&w->lock)) && clock_now_ns() < end)
		usleep(LOCK_RETRY_US);
	return locked;
}

static int write_bytes(struct profile_writer *w, const char *buf, size_t len, bool last,
		       struct error *err)
{
	int ret;

	if (!lock(w))
		return jsonl_file_error(&w->file, ETIMEDOUT, err);
	ret = w->finished ? 0 : jsonl_file_write(&w->file, buf, len, err);
	w->finished |= last && !ret;
	pthread_mutex_unlock(&w->lock);
	return ret;
}

static int write_line(struct profile_writer *w, enum profile_line_kind kind,
		      const union profile_line *line, struct error *err)
{
	struct jsonl_text text = { 0 };
	int ret;

	jsonl_put(&text, profile_line_kind(kind), line);
	ret = write_bytes(w, text.buf, text.len, kind == LINE_FOOTER, err);
	free(text.buf);
	return ret;
}

static struct jsonl_list list_of(const void *items, size_t n)
{
	return (struct jsonl_list){ (void *)items, n };
}

/* ---- opening ---- */

static void add_target(struct profile_writer *w, const char *name)
{
	array_reserve(w->targets, w->cap_targets, w->n_targets + 1);
	w->targets[w->n_targets++] = xstrdup(name);
}

static int refuse(const char *path, struct error *err, const char *what, const char *old,
		  const char *new)
{
	return error_set(err, EEXIST,
			 "%s cannot be extended by this run: its %s is \"%s\", now it is \"%s\": "
			 "choose another file with -o, or remove it",
			 path, what, old, new);
}

/* Behind "--"; NULL: none was run. */
static const char *program_of(const struct profile_header *h)
{
	for (size_t i = 0; i + 1 < h->n_arguments; i++) {
		if (!strcmp(h->arguments[i], "--"))
			return h->arguments[i + 1];
	}
	return NULL;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Is the work that of any program, whatever it is? Else points name the program, or who runs it. */
static bool is_anybodys(const char *spec)
{
	struct error err = {};
	struct point p;
	bool ret;

	if (!strcmp(spec, "end-to-end"))
		return true;
	if (point_parse(spec, &p, &err))
		return false;
	ret = (p.kind == POINT_SYSCALL || p.kind == POINT_TRACEPOINT) && !p.comm;
	point_free(&p);
	return ret;
}

/* Units of work of two programs are two things. */
static int check_command(const struct profile *p, const struct profile_header *h,
			 const struct profile_progress *progress, size_t n, struct error *err)
{
	const struct profile_header *old = &p->runs[0].header;
	const char *then = program_of(old), *now = program_of(h);

	for (size_t i = 0; i < n && then && now; i++) {
		if (is_anybodys(progress[i].spec) && strcmp(file_name(then), file_name(now)) != 0)
			return refuse(p->path, err, "program", then, now);
	}
	if (strcmp(old->command, h->command) != 0)
		log_warn("%s is extended, though it is of %s, and this run of %s: where these do "
			 "other work, choose another file with -o",
			 p->path, *old->command ? old->command : "no command",
			 *h->command ? h->command : "no command");
	return 0;
}

/* Who measures what was changed wants a file of its own, who only has it compiled again does not.
 */
static void check_builds(const struct profile *p, const struct profile_header *h)
{
	for (size_t i = 0; i < h->n_binaries; i++) {
		_cleanup_free_ char *runs = NULL;
		size_t others = profile_other_builds(p, &h->binaries[i], &runs);

		if (others)
			log_warn("%s is extended, though %s in it %s of another build of %s: to "
				 "measure this one alone, choose another file with -o",
				 p->path, runs, others > 1 ? "are" : "is", h->binaries[i].path);
	}
}

/*
 * Sets *n_known to the number of progress points the file already describes. A file that was cut
 * off among these lines (so it has no windows) may lack some.
 */
static int check_fits(const struct profile *p, const struct profile_header *h,
		      const struct profile_progress *progress, size_t n, size_t *n_known,
		      struct error *err)
{
	const struct profile_header *old = &p->runs[0].header;
	int ret;

	if (strcmp(old->engine, h->engine))
		return refuse(p->path, err, "engine", old->engine, h->engine);
	if (strcmp(old->model, h->model))
		return refuse(p->path, err, "model", old->model, h->model);
	if (strcmp(old->mode, h->mode))
		return refuse(p->path, err, "mode", old->mode, h->mode);
	if (old->waits != h->waits)
		return refuse(p->path, err, "--waits", old->waits ? "on" : "off",
			      h->waits ? "on" : "off");
	if (p->n_progress > n || (p->n_progress < n && p->n_windows))
		return error_set(err, EEXIST,
				 "%s cannot be extended by this run: it has %zu progress points, "
				 "now there are %zu: choose another file with -o, or remove it",
				 p->path, p->n_progress, n);
	for (size_t i = 0; i < p->n_progress; i++) {
		const struct profile_progress *a = &p->progress[i], *b = &progress[i];
		const char *what = "progress point";

		if (strcmp(a->name, b->name))
			return refuse(p->path, err, what, a->name, b->name);
		if (strcmp(a->spec, b->spec))
			return refuse(p->path, err, what, a->spec, b->spec);
		if (a->kind != b->kind)
			return refuse(p->path, err, a->name, progress_kind_name(a->kind),
				      progress_kind_name(b->kind));
	}
	*n_known = p->n_progress;
	ret = check_command(p, h, progress, n, err);
	if (!ret)
		check_builds(p, h);
	return ret;
}

/* What is in the file already; @h and @progress must go with it. */
static int adopt_existing(struct profile_writer *w, const struct profile_header *h,
			  const struct profile_progress *progress, size_t n, size_t *n_known,
			  struct error *err)
{
	bool newline = true;
	struct profile *p;
	int ret;

	ret = profile_read_fd(w->file.fd, w->file.path, &newline, &p, err);
	if (ret && ret != -ENODATA) {
		error_prefix(err, "%s exists and cannot be extended: choose another file with -o",
			     w->file.path);
		if (err)
			err->code = -EEXIST;
		return -EEXIST;
	}
	if (!ret) {
		ret = check_fits(p, h, progress, n, n_known, err);
		w->run = p->n_runs;
		for (size_t i = 0; i < p->n_targets; i++)
			add_target(w, p->targets[i].name);
		profile_free(p);
		if (ret)
			return ret;
	} else if (err) {
		err->code = 0;
		err->text[0] = '\0';
	}
	return newline ? 0 : write_bytes(w, "\n", 1, false, err);
}

static int write_header(struct profile_writer *w, const struct profile_header *h, struct error *err)
{
	const union profile_line l = {
		.header = { .start = { profile_format.name, profile_format.version },
			    .run = w->run,
			    .h = *h,
			    .arguments = list_of(h->arguments, h->n_arguments),
			    .binaries = list_of(h->binaries, h->n_binaries) }
	};

	return write_line(w, LINE_HEADER, &l, err);
}

static int write_progress(struct profile_writer *w, const struct profile_progress *p, uint32_t id,
			  struct error *err)
{
	union profile_line l = { .progress = { *p, progress_kind_name(p->kind) } };

	l.progress.p.id = id;
	return write_line(w, LINE_PROGRESS, &l, err);
}

int profile_writer_open(const char *path, const struct profile_header *h,
			const struct profile_progress *progress, size_t n_progress,
			struct profile_writer **ret, struct error *err)
{
	struct profile_writer *w = xcalloc(1, sizeof(*w));
	size_t known = 0;
	int r;

	pthread_mutex_init(&w->lock, NULL);
	w->n_progress = n_progress;
	r = jsonl_file_open(&w->file, &profile_format, path, err);
	if (!r && w->file.regular)
		r = adopt_existing(w, h, progress, n_progress, &known, err);
	if (!r)
		r = write_header(w, h, err);
	for (size_t i = known; !r && i < n_progress; i++)
		r = write_progress(w, &progress[i], i, err);
	if (r) {
		jsonl_error_clean(err);
		if (r != -EBUSY)
			profile_writer_abandon(w);
		profile_writer_close(w);
		return r;
	}
	*ret = w;
	return 0;
}

uint32_t profile_writer_run(const struct profile_writer *w)
{
	return w->run;
}

static bool is_there(const struct jsonl_file *f)
{
	struct stat ours, there;

	return !fstat(f->fd, &ours) && !stat(f->path, &there) && ours.st_dev == there.st_dev &&
	       ours.st_ino == there.st_ino;
}

void profile_writer_abandon(struct profile_writer *w)
{
	struct jsonl_file *f = &w->file;
	struct stat st;

	if (w->learned || f->fd < 0 || !f->regular || fstat(f->fd, &st) < 0)
		return;
	if (st.st_size > f->before && ftruncate(f->fd, f->before) < 0)
		log_warn("%s: what this run has written cannot be taken back: %s", f->path,
			 strerror(errno));
	if (f->created && !f->before && is_there(f))
		unlink(f->path);
}

void profile_writer_close(struct profile_writer *w)
{
	if (!w)
		return;
	jsonl_file_close(&w->file);
	for (size_t i = 0; i < w->n_targets; i++)
		free(w->targets[i]);
	free(w->targets);
	free(w);
}

/* ---- lines ---- */

int profile_writer_target(struct profile_writer *w, const struct profile_target *t, uint32_t *id,
			  struct error *err)
{
	union profile_line l = { .target = *t };
	json_t *name = json_text(t->name);
	int r;

	/* Compared as written: the file may hold a repaired spelling of a non-UTF-8 name. */
	l.target.name = json_string_value(name);
	for (l.target.id = 0; l.target.id < w->n_targets; l.target.id++) {
		if (!strcmp(w->targets[l.target.id], l.target.name))
			break;
	}
	r = l.target.id < w->n_targets ? 0 : write_line(w, LINE_TARGET, &l, err);
	if (!r)
		*id = l.target.id;
	if (!r && *id == w->n_targets)
		add_target(w, l.target.name);
	json_decref(name);
	return r;
}

int profile_writer_window(struct profile_writer *w, const struct profile_window *win,
			  struct error *err)
{
	union profile_line l = { .window = { *win, window_why(win),
					     list_of(win->progress, win->n_progress) } };

	if (win->target >= w->n_targets || win->n_progress > w->n_progress)
		return error_set(err, EINVAL, "%s: window of an unknown target or progress point",
				 w->file.path);
	l.window.w.run = w->run;
	w->learned = true;
	return write_line(w, LINE_WINDOW, &l, err);
}

int profile_writer_discard(struct profile_writer *w, uint32_t seq, enum discard why,
			   struct error *err)
{
	const union profile_line l = { .discard = { w->run, seq, discard_name(why) } };

	return write_line(w, LINE_DISCARD, &l, err);
}

int profile_writer_latency(struct profile_writer *w, const struct profile_latency *lat,
			   struct error *err)
{
	const union profile_line l = { .latency = { w->run, *lat,
						    list_of(lat->bins, lat->n_bins) } };

	return write_line(w, LINE_LATENCY, &l, err);
}

int profile_writer_source(struct profile_writer *w, const struct profile_source *s,
			  struct error *err)
{
	union profile_line l = { .source = { *s, list_of(s->lines, s->n_lines) } };

	l.source.s.run = w->run;
	return write_line(w, LINE_SOURCE, &l, err);
}

int profile_writer_seen(struct profile_writer *w, const struct profile_seen *s, struct error *err)
{
	union profile_line l = { .seen = *s };

	l.seen.run = w->run;
	return write_line(w, LINE_SEEN, &l, err);
}

int profile_writer_path(struct profile_writer *w, const struct profile_path *p, struct error *err)
{
	union profile_line l = { .path = { *p, list_of(p->functions, p->n_functions) } };

	l.path.p.run = w->run;
	return write_line(w, LINE_PATH, &l, err);
}

int profile_writer_replay(struct profile_writer *w, const struct profile_replay *r,
			  struct error *err)
{
	union profile_line l = { .replay = *r };

	l.replay.run = w->run;
	return write_line(w, LINE_REPLAY, &l, err);
}

int profile_writer_expected(struct profile_writer *w, const struct profile_expected *e,
			    struct error *err)
{
	bool next = e->after && *e->after;
	union profile_line l = { .expected = { *e, list_of(e->at, e->n_at) } };

	if (e->progress >= w->n_progress)
		return error_set(err, EINVAL, "%s: expected of an unknown progress point",
				 w->file.path);
	l.expected.e.run = w->run;
	w->learned = true;
	return write_line(w, next ? LINE_EXPECTED_NEXT : LINE_EXPECTED, &l, err);
}

int profile_writer_waiters(struct profile_writer *w, const struct profile_waiters *p,
			   struct error *err)
{
	union profile_line l = { .waiters = { *p, list_of(p->list, p->n) } };

	l.waiters.w.run = w->run;
	return write_line(w, LINE_WAITERS, &l, err);
}

int profile_writer_choice(struct profile_writer *w, const struct profile_choice *c,
			  struct error *err)
{
	union profile_line l = { .choice = *c };

	l.choice.run = w->run;
	return write_line(w, LINE_CHOICE, &l, err);
}

int profile_writer_samples(struct profile_writer *w, const struct profile_sample *s, size_t n,
			   struct error *err)
{
	int r = 0;

	w->last_samples = w->n_samples;
	w->n_samples += n;
	for (size_t i = 0; i < n && !r; i++)
		r = write_line(w, LINE_SAMPLE, &(union profile_line){ .sample = { w->run, s[i] } },
			       err);
	return r;
}

int profile_writer_machine(struct profile_writer *w, const struct profile_machine *m,
			   struct error *err)
{
	union profile_line l = { .machine = { *m, list_of(m->cores, m->n_cores) } };

	l.machine.m.run = w->run;
	return write_line(w, LINE_MACHINE, &l, err);
}

int profile_writer_process(struct profile_writer *w, const struct profile_process *p,
			   struct error *err)
{
	_cleanup_free_ struct profile_place *places = xcalloc(p->n_places, sizeof(*places));
	union profile_line l = { .process = { *p, list_of(places, p->n_places) } };

	for (size_t i = 0; i < p->n_places; i++) {
		places[i] = p->places[i];
		places[i].sample += w->last_samples;
	}
	l.process.p.run = w->run;
	if (p->pid)
		l.process.p.members = 0;
	if (p->rank < 0)
		l.process.p.rank_from = NULL;
	return write_line(w, LINE_PROCESS, &l, err);
}

int profile_writer_frequency(struct profile_writer *w, double hz, struct error *err)
{
	const union profile_line l = { .frequency = { w->run, hz } };

	return write_line(w, LINE_FREQUENCY, &l, err);
}

int profile_writer_finish(struct profile_writer *w, const struct profile_footer *f,
			  struct error *err)
{
	const union profile_line l = { .footer = { w->run, *f, list_of(f->reasons, f->n_reasons),
						   list_of(f->warnings, f->n_warnings) } };
	int r = write_line(w, LINE_FOOTER, &l, err);

	return r ? r : jsonl_file_sync(&w->file, err);
}
