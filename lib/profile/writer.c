// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing profile.scoz.
 *
 * The file is only ever appended to, one whole line with one write(2), so that a crash costs at
 * most the line being written. When the disk is full the part of the line that got through is
 * taken back with ftruncate(). If even that fails the writer stays broken: a line appended to a
 * half one would turn a file that is merely cut off into one that is damaged.
 *
 * An existing file is read completely before it is extended: target ids, run numbers and the
 * comparison of the progress points come from there.
 */
#include "base/output_file.h"
#include "profile/format.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_text.h"

#define LOCK_PATIENCE_S 2

struct profile_writer {
	char *path;
	int fd;
	bool regular;
	bool created; /* by this run, as was everything behind byte @before */
	off_t before;
	bool broken;   /* a half line could not be taken back */
	bool finished; /* nothing may follow the footer */
	pthread_mutex_t lock;
	uint32_t run;
	size_t n_progress;
	char **targets; /* names, by id */
	size_t n_targets, cap_targets;
	size_t n_samples, last_samples; /* of this run; before those written last */
};

static void put_text(json_t *o, const char *key, const char *s)
{
	json_object_set_new(o, key, json_text(s));
}

static void put_real(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, isfinite(v) ? json_real(v) : json_null());
}

static void put_int(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static void put_list(json_t *o, const char *key, const char *const *list, size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(a, json_text(list[i]));
	json_object_set_new(o, key, a);
}

static json_t *new_object(const char *type)
{
	json_t *o = json_object();

	put_text(o, "type", type);
	return o;
}

static int write_error(struct profile_writer *w, int errnum, struct error *err)
{
	if (errnum == ENOSPC || errnum == EDQUOT || errnum == EFBIG)
		return error_set(err, errnum,
				 "%s: %s: the profile is readable up to here; %s and run again",
				 w->path,
				 errnum == ENOSPC   ? "no space left on device"
				 : errnum == EDQUOT ? "disk quota exceeded"
						    : "file size limit reached",
				 errnum == EFBIG ? "raise the limit (ulimit -f)" : "free space");
	return error_set(err, errnum, "%s: cannot write: %s: the profile is readable up to here",
			 w->path, strerror(errnum));
}

static int write_unlocked(struct profile_writer *w, const char *buf, size_t len, struct error *err)
{
	struct stat st;
	size_t done = 0;

	if (w->broken)
		return error_set(err, EIO,
				 "%s: not written to any more: an earlier line could not be "
				 "written whole; the profile is readable up to there",
				 w->path);
	if (w->regular && fstat(w->fd, &st) < 0)
		return write_error(w, errno, err);
	while (done < len) {
		ssize_t n = write(w->fd, buf + done, len - done);
		int saved = errno;

		if (n > 0) {
			done += n;
			continue;
		}
		if (n < 0 && saved == EINTR)
			continue;
		if (done && w->regular && ftruncate(w->fd, st.st_size) < 0)
			w->broken = true;
		return write_error(w, n < 0 ? saved : ENOSPC, err);
	}
	return 0;
}

static int write_bytes(struct profile_writer *w, const char *buf, size_t len, bool last,
		       struct error *err)
{
	struct timespec until;
	int ret;

	/* Another thread may have been writing to a disk that hangs, for longer than anybody waits.
	 */
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LOCK_PATIENCE_S;
	ret = pthread_mutex_timedlock(&w->lock, &until);
	if (ret)
		return write_error(w, ret, err);
	ret = w->finished ? 0 : write_unlocked(w, buf, len, err);
	w->finished |= last && !ret;
	pthread_mutex_unlock(&w->lock);
	return ret;
}

/* Consumes @o. */
static int write_object(struct profile_writer *w, json_t *o, bool last, struct error *err)
{
	_cleanup_free_ char *line = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(12));
	size_t len;

	json_decref(o);
	if (!line)
		return error_set(err, ENOMEM, "%s: out of memory", w->path);
	len = strlen(line);
	line[len] = '\n';
	return write_bytes(w, line, len + 1, last, err);
}

/* Consumes @o. */
static int write_line(struct profile_writer *w, json_t *o, struct error *err)
{
	return write_object(w, o, false, err);
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

/*
 * Sets *n_known to the number of progress points the file already describes. A file that was cut
 * off among these lines (so it has no windows) may lack some.
 */
static int check_fits(const struct profile *p, const struct profile_header *h,
		      const struct profile_progress *progress, size_t n, size_t *n_known,
		      struct error *err)
{
	const struct profile_header *old = &p->runs[0].header;

	if (strcmp(old->engine, h->engine))
		return refuse(p->path, err, "engine", old->engine, h->engine);
	if (strcmp(old->model, h->model))
		return refuse(p->path, err, "model", old->model, h->model);
	if (strcmp(old->mode, h->mode))
		return refuse(p->path, err, "mode", old->mode, h->mode);
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
	return 0;
}

/* What is in the file already; @h and @progress must go with it. */
static int adopt_existing(struct profile_writer *w, const struct profile_header *h,
			  const struct profile_progress *progress, size_t n, size_t *n_known,
			  struct error *err)
{
	bool newline = true;
	struct profile *p;
	int ret;

	ret = profile_read_fd(w->fd, w->path, &newline, &p, err);
	if (ret && ret != -ENODATA) {
		error_prefix(err, "%s exists and cannot be extended: choose another file with -o",
			     w->path);
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
	json_t *o = new_object("header");

	put_text(o, "format", PROFILE_FORMAT);
	put_int(o, "version", PROFILE_VERSION);
	put_int(o, "run", w->run);
	put_text(o, "engine", h->engine);
	put_text(o, "model", h->model);
	put_text(o, "mode", h->mode);
	put_real(o, "frequency_hz", h->frequency_hz);
	put_real(o, "period_s", h->period_s);
	put_int(o, "seed", h->seed);
	put_int(o, "cpus", h->cpus);
	put_text(o, "command", h->command);
	put_list(o, "arguments", h->arguments, h->n_arguments);
	put_text(o, "host", h->host);
	put_text(o, "kernel", h->kernel);
	put_text(o, "started", h->started);
	return write_line(w, o, err);
}

static int write_progress(struct profile_writer *w, const struct profile_progress *p, uint32_t id,
			  struct error *err)
{
	json_t *o = new_object("progress");

	put_int(o, "id", id);
	put_text(o, "name", p->name);
	put_text(o, "kind", progress_kind_name(p->kind));
	put_text(o, "spec", p->spec);
	return write_line(w, o, err);
}

static int open_file(struct profile_writer *w, struct error *err)
{
	struct stat st;

	/* O_NONBLOCK: a FIFO is refused below instead of waited for. */
	const int flags = O_RDWR | O_APPEND | O_NONBLOCK;

	w->fd = output_file_open(w->path, flags, OUTPUT_PRIVATE, &w->created, err);
	if (w->fd < 0)
		return w->fd;
	if (fstat(w->fd, &st) < 0)
		return write_error(w, errno, err);
	w->regular = S_ISREG(st.st_mode);
	w->before = st.st_size;
	if (!w->regular && !S_ISCHR(st.st_mode))
		return error_set(err, EINVAL, "%s: not a regular file: choose another file with -o",
				 w->path);
	if (w->regular && flock(w->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return error_set(err, EBUSY,
				 "%s: another run is writing to it: wait for it to end, or choose "
				 "another file with -o",
				 w->path);
	return 0;
}

int profile_writer_open(const char *path, const struct profile_header *h,
			const struct profile_progress *progress, size_t n_progress,
			struct profile_writer **ret, struct error *err)
{
	struct profile_writer *w = xcalloc(1, sizeof(*w));
	size_t known = 0;
	int r;

	w->path = xstrdup(path);
	pthread_mutex_init(&w->lock, NULL);
	w->n_progress = n_progress;
	r = open_file(w, err);
	if (!r && w->regular)
		r = adopt_existing(w, h, progress, n_progress, &known, err);
	if (!r)
		r = write_header(w, h, err);
	for (size_t i = known; !r && i < n_progress; i++)
		r = write_progress(w, &progress[i], i, err);
	if (r) {
		profile_error_clean(err);
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

static bool is_there(const struct profile_writer *w)
{
	struct stat ours, there;

	return !fstat(w->fd, &ours) && !stat(w->path, &there) && ours.st_dev == there.st_dev &&
	       ours.st_ino == there.st_ino;
}

void profile_writer_abandon(struct profile_writer *w)
{
	struct stat st;

	if (w->fd < 0 || !w->regular || fstat(w->fd, &st) < 0)
		return;
	if (st.st_size > w->before && ftruncate(w->fd, w->before) < 0)
		log_warn("%s: what this run has written cannot be taken back: %s", w->path,
			 strerror(errno));
	if (w->created && !w->before && is_there(w))
		unlink(w->path);
}

void profile_writer_close(struct profile_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	for (size_t i = 0; i < w->n_targets; i++)
		free(w->targets[i]);
	free(w->targets);
	free(w->path);
	free(w);
}

/* ---- lines ---- */

int profile_writer_target(struct profile_writer *w, const struct profile_target *t, uint32_t *id,
			  struct error *err)
{
	json_t *name = json_text(t->name);
	json_t *o;
	int r;

	/* Compared as written: the file may hold a repaired spelling of a non-UTF-8 name. */
	for (size_t i = 0; i < w->n_targets; i++) {
		if (!strcmp(w->targets[i], json_string_value(name))) {
			*id = i;
			json_decref(name);
			return 0;
		}
	}
	o = new_object("target");
	put_int(o, "id", w->n_targets);
	json_object_set(o, "name", name);
	put_text(o, "kind", t->kind);
	put_text(o, "location", t->location);
	r = write_line(w, o, err);
	if (!r) {
		*id = w->n_targets;
		add_target(w, json_string_value(name));
	}
	json_decref(name);
	return r;
}

int profile_writer_window(struct profile_writer *w, const struct profile_window *win,
			  struct error *err)
{
	json_t *o, *a;

	if (win->target >= w->n_targets || win->n_progress > w->n_progress)
		return error_set(err, EINVAL, "%s: window of an unknown target or progress point",
				 w->path);
	o = new_object("window");
	put_int(o, "run", w->run);
	put_int(o, "seq", win->seq);
	put_int(o, "target", win->target);
	put_real(o, "speedup", win->speedup);
	if (win->real)
		json_object_set_new(o, "real", json_true());
	put_real(o, "start_s", win->start_s);
	put_real(o, "wall_s", win->wall_s);
	put_real(o, "inserted_s", win->inserted_s);
	put_real(o, "external_s", win->external_s);
	put_real(o, "crowded_s", win->crowded_s);
	put_real(o, "shared_s", win->shared_s);
	put_real(o, "absolute_waits", win->absolute_waits);
	put_real(o, "external_waits", win->external_waits);
	put_real(o, "ran_s", win->ran_s);
	put_real(o, "stolen_s", win->stolen_s);
	put_real(o, "target_ran_s", win->target_ran_s);
	put_real(o, "target_waited_s", win->target_waited_s);
	put_real(o, "busy_s", win->busy_s);
	put_real(o, "stopped_s", win->stopped_s);
	put_real(o, "ticks", win->ticks);
	put_real(o, "work_ns", win->work_ns);
	put_real(o, "syncs", win->syncs);
	put_real(o, "expected_pp", win->expected_pp);
	put_int(o, "hits", win->hits);
	if (win->others_hits)
		put_int(o, "others_hits", win->others_hits);
	json_object_set_new(o, "discard", win->discard ? json_text(win->discard) : json_null());
	a = json_array();
	for (uint32_t i = 0; i < win->n_progress; i++) {
		json_t *p = json_object();

		put_real(p, "visits", win->progress[i].visits);
		put_real(p, "virtual_s", win->progress[i].virtual_s);
		put_real(p, "inflight", win->progress[i].inflight);
		json_array_append_new(a, p);
	}
	json_object_set_new(o, "progress", a);
	return write_line(w, o, err);
}

int profile_writer_discard(struct profile_writer *w, uint32_t seq, const char *discard,
			   struct error *err)
{
	json_t *o = new_object("discard");

	put_int(o, "run", w->run);
	put_int(o, "before_seq", seq);
	json_object_set_new(o, "why", json_text(discard));
	return write_line(w, o, err);
}

int profile_writer_latency(struct profile_writer *w, const struct profile_latency *l,
			   struct error *err)
{
	json_t *o = new_object("latency"), *bins = json_array();

	put_int(o, "run", w->run);
	put_int(o, "progress", l->progress);
	put_int(o, "measured", l->measured);
	put_int(o, "elsewhere", l->elsewhere);
	put_text(o, "why", l->why);
	for (size_t i = 0; i < l->n_bins; i++) {
		json_t *bin = json_array();

		json_array_append_new(bin, json_real(l->bins[i].from_s));
		json_array_append_new(bin, json_real(l->bins[i].to_s));
		json_array_append_new(bin, json_integer((json_int_t)l->bins[i].count));
		json_array_append_new(bins, bin);
	}
	json_object_set_new(o, "bins", bins);
	return write_line(w, o, err);
}

int profile_writer_samples(struct profile_writer *w, const struct profile_sample *s, size_t n,
			   struct error *err)
{
	w->last_samples = w->n_samples;
	w->n_samples += n;
	for (size_t i = 0; i < n; i++) {
		json_t *o = new_object("sample");
		int r;

		put_int(o, "run", w->run);
		put_text(o, "target", s[i].target);
		put_text(o, "location", s[i].location);
		put_text(o, "binary", s[i].binary);
		put_int(o, "self", s[i].self);
		put_int(o, "total", s[i].total);
		if (s[i].credit)
			put_int(o, "credit", s[i].credit);
		if (s[i].unnamed)
			put_int(o, "unnamed", s[i].unnamed);
		r = write_line(w, o, err);
		if (r)
			return r;
	}
	return 0;
}

int profile_writer_machine(struct profile_writer *w, const struct profile_machine *m,
			   struct error *err)
{
	json_t *o = new_object("machine"), *cores = json_array();

	put_int(o, "run", w->run);
	put_real(o, "tick_cost_s", m->tick_cost_s);
	put_int(o, "ticks", m->ticks);
	for (size_t i = 0; i < m->n_cores; i++) {
		json_t *core = json_object();

		put_int(core, "cpu", m->cores[i].cpu);
		put_real(core, "stolen_s", m->cores[i].stolen_s);
		put_real(core, "busy_s", m->cores[i].busy_s);
		put_real(core, "stopped_s", m->cores[i].stopped_s);
		put_real(core, "work_ns", m->cores[i].work_ns);
		json_array_append_new(cores, core);
	}
	json_object_set_new(o, "cores", cores);
	return write_line(w, o, err);
}

int profile_writer_process(struct profile_writer *w, const struct profile_process *p,
			   struct error *err)
{
	json_t *o = new_object("process"), *places = json_array();

	put_int(o, "run", w->run);
	if (p->pid)
		put_int(o, "pid", p->pid);
	else
		put_int(o, "members", p->members);
	put_text(o, "name", p->name);
	if (p->rank >= 0) {
		put_int(o, "rank", p->rank);
		put_text(o, "rank_from", p->rank_from);
	}
	put_int(o, "samples", p->samples);
	if (p->left_out)
		put_int(o, "left_out", p->left_out);
	for (size_t i = 0; i < p->n_places; i++) {
		const struct profile_place *at = &p->places[i];
		json_t *a = json_array();

		json_array_append_new(a, json_integer(w->last_samples + at->sample));
		json_array_append_new(a, json_integer((json_int_t)at->self));
		json_array_append_new(a, json_integer((json_int_t)at->total));
		json_array_append_new(a, json_integer((json_int_t)at->credit));
		json_array_append_new(places, a);
	}
	json_object_set_new(o, "places", places);
	return write_line(w, o, err);
}

int profile_writer_frequency(struct profile_writer *w, double hz, struct error *err)
{
	json_t *o = new_object("frequency");

	put_int(o, "run", w->run);
	put_real(o, "hz", hz);
	return write_line(w, o, err);
}

int profile_writer_finish(struct profile_writer *w, const struct profile_footer *f,
			  struct error *err)
{
	json_t *o = new_object("footer");
	int r;

	put_int(o, "run", w->run);
	put_real(o, "duration_s", f->duration_s);
	put_int(o, "samples_total", f->samples_total);
	put_int(o, "samples_lost", f->samples_lost);
	put_int(o, "samples_unnamed", f->samples_unnamed);
	put_real(o, "inserted_s", f->inserted_s);
	put_real(o, "stopped_s", f->stopped_s);
	put_real(o, "own_s", f->own_s);
	put_real(o, "excused_s", f->excused_s);
	put_real(o, "overhead_s", f->overhead_s);
	put_real(o, "waived_s", f->waived_s);
	put_real(o, "owed_s", f->owed_s);
	put_int(o, "command_status", f->command_status);
	put_text(o, "end", f->end);
	put_list(o, "reasons", f->reasons, f->n_reasons);
	put_list(o, "warnings", f->warnings, f->n_warnings);
	r = write_object(w, o, true, err);
	if (r)
		return r;
	/* Some file systems report a full disk only now. */
	if (w->regular && fdatasync(w->fd) < 0 && errno != EINVAL && errno != EROFS)
		return write_error(w, errno, err);
	return 0;
}
