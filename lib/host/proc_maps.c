// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/proc_maps.h"

#include "base/cond_wait.h"

#define PATIENCE_NS NSEC_PER_SEC /* with one process */
#define MAX_STUCK   64

struct reading {
	pthread_cond_t changed;
	const int *pids;
	size_t next, n;
	proc_maps_fn fn;
	void *arg;
};

struct reader {
	struct reading *of; /* NULL: it was given up */
	int pid;
	uint64_t since; /* when it began to read; 0: it does not */
	bool ended;
	struct reader *next; /* of those that were given up, and hang */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct reader *stuck;
static size_t n_stuck;

/* All of these are called under the lock. */

static bool is_stuck(int pid)
{
	for (const struct reader *s = stuck; s; s = s->next) {
		if (s->pid == pid)
			return true;
	}
	return false;
}

static void give_up(struct reader *s)
{
	s->of = NULL;
	s->next = stuck;
	stuck = s;
	n_stuck++;
}

static void forget(struct reader *s)
{
	struct reader **at = &stuck;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	n_stuck--;
	free(s);
}

/* What it reads for may be gone once it has been given up. */
static void read_next(struct reader *s)
{
	struct reading *of = s->of;
	_cleanup_free_ char *path = NULL, *text = NULL;
	int error = ETIMEDOUT;

	s->pid = of->pids[of->next];
	if (!is_stuck(s->pid)) {
		s->since = clock_now_ns();
		pthread_mutex_unlock(&lock);
		path = sysroot_path("/proc/%d/maps", s->pid);
		text = read_file(path, NULL);
		error = text ? 0 : errno;
		pthread_mutex_lock(&lock);
		if (!s->of)
			return;
		s->since = 0;
	}
	of->next++;
	pthread_mutex_unlock(&lock);
	of->fn(s->pid, text, error, of->arg);
	pthread_mutex_lock(&lock);
}

static void *reader_main(void *arg)
{
	struct reader *s = arg;

	pthread_mutex_lock(&lock);
	while (s->of && s->of->next < s->of->n)
		read_next(s);
	if (s->of) {
		s->ended = true;
		pthread_cond_signal(&s->of->changed);
	} else {
		forget(s);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* False: it has hung for too long. */
static bool watch(struct reader *s)
{
	while (!s->ended) {
		uint64_t now = clock_now_ns(), end = (s->since ? s->since : now) + PATIENCE_NS;

		if (now >= end)
			return false;
		cond_wait_until(&s->of->changed, &lock, end);
	}
	return true;
}

static struct reader *start(struct reading *r)
{
	struct reader *s = xcalloc(1, sizeof(*s));
	pthread_t thread;

	s->of = r;
	if (n_stuck < MAX_STUCK && !pthread_create(&thread, NULL, reader_main, s)) {
		pthread_detach(thread);
		return s;
	}
	free(s);
	return NULL;
}

void proc_maps_read(const int *pids, size_t n, proc_maps_fn fn, void *arg)
{
	struct reading r = { .pids = pids, .n = n, .fn = fn, .arg = arg };

	pthread_cond_init(&r.changed, NULL);
	pthread_mutex_lock(&lock);
	while (r.next < n) {
		struct reader *s = start(&r);
		int pid;

		if (s && watch(s)) {
			free(s);
			continue;
		}
		pid = pids[r.next++];
		if (s) {
			give_up(s);
			log_warn("process %d: what it has mapped cannot be read, as it keeps its "
				 "address space locked: the run goes on without the lines of what "
				 "it had mapped by now",
				 pid);
		}
		pthread_mutex_unlock(&lock);
		fn(pid, NULL, s ? ETIMEDOUT : EAGAIN, arg);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	pthread_cond_destroy(&r.changed);
}
