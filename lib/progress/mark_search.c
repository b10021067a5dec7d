// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/mark_search.h"

#include "base/cond_wait.h"

#include <sys/stat.h>

struct searched {
	struct held_file file;
	struct probe_sites *sites;
};

struct queue {
	struct searched *list;
	size_t first, n, cap;
};

/* A file that was asked for. */
struct seen {
	dev_t dev;
	ino_t ino;
};

struct mark_search {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more, idle;
	struct queue asked, found;
	struct error failed; /* not told so far */
	int told[8];	     /* codes that were */
	size_t n_told;
	bool busy, stop, runs;
	struct seen *seen; /* the caller's: no lock */
	size_t n_seen, cap_seen;
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

static void look_through(struct mark_search *s, struct searched *now)
{
	struct error err = {};

	if (probe_sites_find(&now->file, NULL, &now->sites, &err))
		mark_search_add_failure(s, &err);
}

static void *search(void *arg)
{
	struct mark_search *s = arg;
	struct searched now;

	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		s->busy = take(&s->asked, &now);
		if (!s->busy) {
			pthread_cond_broadcast(&s->idle);
			pthread_cond_wait(&s->more, &s->lock);
			continue;
		}
		pthread_mutex_unlock(&s->lock);
		look_through(s, &now);
		pthread_mutex_lock(&s->lock);
		if (now.sites && now.sites->n)
			put(&s->found, &now);
		else
			let_go(&now);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

struct mark_search *mark_search_create(void)
{
	struct mark_search *s = xcalloc(1, sizeof(*s));

	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	pthread_cond_init(&s->idle, NULL);
	s->runs = !pthread_create(&s->thread, NULL, search, s);
	if (s->runs)
		pthread_setname_np(s->thread, "marks");
	else
		log_warn("no thread looks for marks: %s", strerror(EAGAIN));
	return s;
}

void mark_search_destroy(struct mark_search *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_broadcast(&s->more);
	pthread_mutex_unlock(&s->lock);
	if (s->runs)
		pthread_join(s->thread, NULL);
	free_queue(&s->asked);
	free_queue(&s->found);
	free(s->seen);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->more);
	pthread_cond_destroy(&s->idle);
	free(s);
}

void mark_search_add(struct mark_search *s, const struct held_file *file)
{
	const struct searched what = { .file = *file };

	pthread_mutex_lock(&s->lock);
	put(&s->asked, &what);
	pthread_cond_broadcast(&s->more);
	pthread_mutex_unlock(&s->lock);
}

static bool already_seen(struct mark_search *s, const struct held_file *file)
{
	struct stat st;

	if (fstat(file->fd, &st))
		return true;
	for (size_t i = 0; i < s->n_seen; i++) {
		if (s->seen[i].dev == st.st_dev && s->seen[i].ino == st.st_ino)
			return true;
	}
	array_reserve(s->seen, s->cap_seen, s->n_seen + 1);
	s->seen[s->n_seen++] = (struct seen){ st.st_dev, st.st_ino };
	return false;
}

void mark_search_add_path(struct mark_search *s, const char *path)
{
	struct held_file file;
	struct error err = {};

	if (held_file_open(path, &file, &err)) {
		if (err.code == -EMFILE || err.code == -ENFILE || err.code == -ENOMEM)
			mark_search_add_failure(s, &err);
		return;
	}
	if (already_seen(s, &file))
		held_file_close(&file);
	else
		mark_search_add(s, &file);
}

bool mark_search_take(struct mark_search *s, struct held_file *file, struct probe_sites **ret)
{
	struct searched found;
	bool any;

	pthread_mutex_lock(&s->lock);
	any = take(&s->found, &found);
	pthread_mutex_unlock(&s->lock);
	if (any) {
		*file = found.file;
		*ret = found.sites;
	}
	return any;
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

size_t mark_search_waiting(struct mark_search *s)
{
	size_t n;

	pthread_mutex_lock(&s->lock);
	n = s->asked.n - s->asked.first + s->found.n - s->found.first;
	pthread_mutex_unlock(&s->lock);
	return n;
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
