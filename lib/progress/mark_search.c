// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/mark_search.h"

#include "base/cond_wait.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

struct searched {
	char *path;
	uint32_t id;
	struct held_file file;
	struct probe_sites *sites;
};

struct queue {
	struct searched *list;
	size_t first, n, cap;
};

#define MOST_WAITING 32 /* files */
#define STUCK_NS     NSEC_PER_SEC
#define MOST_SEEN    16384 /* files: an older one is looked through again */

/* A file that was asked for, as it was then. */
struct seen {
	dev_t dev;
	ino_t ino;
	int generation;
	off_t size;
	struct timespec changed;
};

struct mark_search {
	pthread_mutex_t lock;
	pthread_cond_t more, idle; /* idle: or ended */
	struct queue asked, found;
	struct mark_file *opened; /* what was asked for by a path with an id */
	size_t n_opened, cap_opened;
	struct error failed; /* not told so far */
	int told[8];	     /* codes that were */
	size_t n_told;
	bool busy, stop, runs;
	struct seen *marked; /* that have marks: these have probes, which stay */
	size_t n_marked, cap_marked;
	/* The thread's: no lock. */
	struct seen *seen; /* the last ones that were asked for, in a ring */
	size_t n_seen;
};

static void put(struct queue *q, const struct searched *what)
{
	array_reserve(q->list, q->cap, q->n + 1);
	q->list[q->n++] = *what;
}

static bool take(struct queue *q, struct searched *ret)
{
	if (q->first == q->n)
		return false;
	*ret = q->list[q->first++];
	if (q->first == q->n)
		q->first = q->n = 0;
	return true;
}

static void let_go(struct searched *s)
{
	free(s->path);
	held_file_close(&s->file);
	probe_sites_free(s->sites);
}

static void free_queue(struct queue *q)
{
	struct searched s;

	while (take(q, &s))
		let_go(&s);
	free(q->list);
}

static bool was_told(const struct mark_search *s, int code)
{
	for (size_t i = 0; i < s->n_told; i++) {
		if (s->told[i] == code)
			return true;
	}
	return s->n_told == ARRAY_SIZE(s->told);
}

void mark_search_add_failure(struct mark_search *s, const struct error *why)
{
	log_debug("%s", why->text);
	if (why->code == -ENOEXEC || why->code == -EINTR) /* no program; the run is over */
		return;
	pthread_mutex_lock(&s->lock);
	if (!s->failed.code && !was_told(s, why->code)) {
		s->failed = *why;
		s->told[s->n_told++] = why->code;
	}
	pthread_mutex_unlock(&s->lock);
}

bool mark_search_failed(struct mark_search *s, struct error *why)
{
	pthread_mutex_lock(&s->lock);
	*why = s->failed;
	s->failed.code = 0;
	pthread_mutex_unlock(&s->lock);
	return why->code;
}

static bool describe(const struct held_file *file, struct seen *ret)
{
	long generation = 0; /* not every file system tells */
	struct stat st;

	if (fstat(file->fd, &st))
		return false;
	if (ioctl(file->fd, FS_IOC_GETVERSION, &generation))
		generation = 0;
	*ret = (struct seen){ st.st_dev, st.st_ino, (int)generation, st.st_size, st.st_ctim };
	return true;
}

static bool same_file(const struct seen *a, const struct seen *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->generation == b->generation;
}

/* Under the lock. */
static bool is_marked(const struct mark_search *s, const struct seen *now)
{
	for (size_t i = 0; i < s->n_marked; i++) {
		if (same_file(&s->marked[i], now))
			return true;
	}
	return false;
}

/*
 * The number of a file that was deleted is soon another's, and a file that is written over may have
 * marks then. Not so where there are probes: the file they are in is kept, and they count as they
 * are.
 */
static bool already_seen(struct mark_search *s, const struct held_file *file)
{
	struct seen now;
	bool marked;

	if (!describe(file, &now))
		return true;
	pthread_mutex_lock(&s->lock);
	marked = is_marked(s, &now);
	pthread_mutex_unlock(&s->lock);
	if (marked)
		return true;
	for (size_t i = 0; i < s->n_seen && i < MOST_SEEN; i++) {
		const struct seen *old = &s->seen[i];

		if (same_file(old, &now) && old->size == now.size &&
		    old->changed.tv_sec == now.changed.tv_sec &&
		    old->changed.tv_nsec == now.changed.tv_nsec)
			return true;
	}
	if (!s->seen)
		s->seen = xcalloc(MOST_SEEN, sizeof(*s->seen));
	s->seen[s->n_seen++ % MOST_SEEN] = now;
	return false;
}

static void tell_opened(struct mark_search *s, const struct searched *now)
{
	struct mark_file f = { .id = now->id };
	struct stat st;

	if (now->id == MARK_NO_ID)
		return;
	if (now->file.fd >= 0 && !fstat(now->file.fd, &st)) {
		f.dev = st.st_dev;
		f.ino = st.st_ino;
	}
	pthread_mutex_lock(&s->lock);
	array_reserve(s->opened, s->cap_opened, s->n_opened + 1);
	s->opened[s->n_opened++] = f;
	pthread_mutex_unlock(&s->lock);
}

/* False: there is nothing to be looked through. */
static bool open_asked(struct mark_search *s, struct searched *now)
{
	struct error err = {};

	if (held_file_open(now->path, &now->file, &err) &&
	    (err.code == -EMFILE || err.code == -ENFILE || err.code == -ENOMEM))
		mark_search_add_failure(s, &err);
	tell_opened(s, now);
	return now->file.fd >= 0 && !already_seen(s, &now->file);
}

static void look_through(struct mark_search *s, struct searched *now)
{
	struct error err = {};

	if (probe_sites_find(&now->file, NULL, &now->sites, &err))
		mark_search_add_failure(s, &err);
}

/* Without the lock: closing a file may wait for its file system, too. */
static void look_at(struct mark_search *s, struct searched *now)
{
	bool wanted = open_asked(s, now);

	pthread_mutex_lock(&s->lock);
	wanted &= !s->stop;
	pthread_mutex_unlock(&s->lock);
	if (wanted)
		look_through(s, now);
	if (!now->sites || !now->sites->n) {
		let_go(now);
		return;
	}
	pthread_mutex_lock(&s->lock);
	put(&s->found, now);
	pthread_mutex_unlock(&s->lock);
}

static void *search(void *arg)
{
	struct mark_search *s = arg;
	struct searched now;

	pthread_setname_np(pthread_self(), "scoz/marks");
	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		s->busy = take(&s->asked, &now);
		if (!s->busy) {
			pthread_cond_broadcast(&s->idle);
			pthread_cond_wait(&s->more, &s->lock);
			continue;
		}
		pthread_mutex_unlock(&s->lock);
		look_at(s, &now);
		pthread_mutex_lock(&s->lock);
	}
	s->runs = false;
	pthread_cond_broadcast(&s->idle);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

struct mark_search *mark_search_create(void)
{
	struct mark_search *s = xcalloc(1, sizeof(*s));
	pthread_t thread;

	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	pthread_cond_init(&s->idle, NULL);
	s->runs = true;
	if (!pthread_create(&thread, NULL, search, s)) {
		pthread_detach(thread);
	} else {
		s->runs = false;
		log_warn("no thread looks for marks: %s", strerror(EAGAIN));
	}
	return s;
}

/* False: it hangs in a file. */
static bool end_thread(struct mark_search *s)
{
	uint64_t end = clock_now_ns() + STUCK_NS;
	bool ended;

	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_broadcast(&s->more);
	while (s->runs && cond_wait_until(&s->idle, &s->lock, end))
		;
	ended = !s->runs;
	pthread_mutex_unlock(&s->lock);
	return ended;
}

void mark_search_destroy(struct mark_search *s)
{
	if (!s || !end_thread(s))
		return;
	free_queue(&s->asked);
	free_queue(&s->found);
	free(s->opened);
	free(s->seen);
	free(s->marked);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->more);
	pthread_cond_destroy(&s->idle);
	free(s);
}

void mark_search_add_path(struct mark_search *s, const char *path, uint32_t id)
{
	const struct searched what = { .path = xstrdup(path), .id = id, .file = HELD_FILE_INIT };

	pthread_mutex_lock(&s->lock);
	put(&s->asked, &what);
	pthread_cond_broadcast(&s->more);
	pthread_mutex_unlock(&s->lock);
}

bool mark_search_opened(struct mark_search *s, struct mark_file *ret)
{
	bool any;

	pthread_mutex_lock(&s->lock);
	any = s->n_opened;
	if (any) {
		*ret = s->opened[0];
		memmove(s->opened, s->opened + 1, --s->n_opened * sizeof(*s->opened));
	}
	pthread_mutex_unlock(&s->lock);
	return any;
}

/* Under the lock: of one that was asked for twice, before it was taken, the first. */
static bool is_first(struct mark_search *s, const struct searched *found)
{
	struct seen now;

	if (!describe(&found->file, &now))
		return true;
	if (is_marked(s, &now))
		return false;
	array_reserve(s->marked, s->cap_marked, s->n_marked + 1);
	s->marked[s->n_marked++] = now;
	return true;
}

bool mark_search_take(struct mark_search *s, struct held_file *file, struct probe_sites **ret)
{
	bool any, first;
	struct searched found;

	do {
		pthread_mutex_lock(&s->lock);
		any = take(&s->found, &found);
		first = any && is_first(s, &found);
		pthread_mutex_unlock(&s->lock);
		if (any && !first)
			let_go(&found);
	} while (any && !first);
	if (!any)
		return false;
	free(found.path);
	*file = found.file;
	*ret = found.sites;
	return true;
}

void mark_search_put(const struct probe_sites *sites, enum mark_kind kind, const char *name,
		     const struct held_file *file,
		     int (*put)(size_t i, void *arg, struct error *err), void *arg)
{
	bool told = false;
	int n = 0;

	for (size_t i = 0; i < sites->n; i++) {
		struct error err = {};

		if (sites->list[i].kind != kind || !mark_name_matches(name, sites->list[i].name))
			continue;
		if (n++ == MARK_PLACES) {
			log_warn("mark:%s: %s has it in more than %d places: the others get no "
				 "probes, and count where the program counts by itself",
				 name, file->name, MARK_PLACES);
			return;
		}
		if (put(i, arg, &err)) {
			log_msg(told ? LOG_DEBUG : LOG_NORMAL, "mark:%s: %s", name, err.text);
			told = true;
		}
	}
}

bool mark_search_takes_more(struct mark_search *s)
{
	size_t n;

	pthread_mutex_lock(&s->lock);
	n = s->asked.n - s->asked.first + s->found.n - s->found.first;
	pthread_mutex_unlock(&s->lock);
	return n < MOST_WAITING;
}

void mark_search_wait(struct mark_search *s, int seconds)
{
	uint64_t end = clock_now_ns() + seconds * NSEC_PER_SEC;

	pthread_mutex_lock(&s->lock);
	while (s->runs && (s->busy || s->asked.first != s->asked.n)) {
		if (!cond_wait_until(&s->idle, &s->lock, end))
			break;
	}
	pthread_mutex_unlock(&s->lock);
}
