// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/patient_reader.h"

#include "base/cond_wait.h"
#include "host/process.h"

#include <unistd.h>

/* Who computes, or has no CPU, is not waited for in vain; but not for ever. */
#define PATIENCES 10
#define EXEC_MS	  100 /* for a process that is about to execute a program */
/* Of sysctl vm.max_map_count lines each may have a path of 4 KB. */
#define MOST_MAPS (64 << 20)

struct reading {
	struct rank_answer rank; /* of maps, only the pid */
	char *text;
	int error;
};

struct kind {
	const char *name;     /* of its threads */
	uint64_t patience_ns; /* with one process */
	size_t max_stuck;
	void (*read)(struct reading *what);
	struct worker *stuck; /* those that were given up, and hang */
};

/* A thread. */
struct worker {
	struct patient_reader *of;
	int tid, pid;
	uint64_t began;	 /* to read; 0: it does not */
	uint64_t worked; /* by then */
	bool busy;	 /* so is who tells what was read */
	struct worker *next;
};

struct patient_reader {
	struct kind *kind;
	struct worker *worker; /* NULL: none, or it was given up */
	size_t users;	       /* threads, and whoever made it */
	bool stop;
	struct rank_answer *questions, *answers;
	size_t n_questions, cap_questions, n_answers, cap_answers;
	proc_maps_fn fn; /* NULL: answers are kept */
	void *arg;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* All of these are called under the lock. */

/* Nanoseconds in which it had a CPU or wanted one; 0: this kernel does not tell. */
static uint64_t worked(const struct worker *w)
{
	_cleanup_free_ char *path = xasprintf("/proc/self/task/%d/schedstat", w->tid);
	_cleanup_free_ char *text = read_file(path, NULL);
	unsigned long long ran, queued;

	return text && sscanf(text, "%llu %llu", &ran, &queued) == 2 ? ran + queued : 0;
}

/* Until it has been waiting for too long, at the earliest; 0: it has. */
static uint64_t patience_left(const struct kind *k, const struct worker *w)
{
	uint64_t took = w->began ? clock_now_ns() - w->began : 0, at_work, waited;

	if (took < k->patience_ns)
		return k->patience_ns - took;
	at_work = worked(w) - w->worked;
	waited = at_work < took ? took - at_work : 0;
	if (waited >= k->patience_ns || took >= PATIENCES * k->patience_ns)
		return 0;
	return k->patience_ns - waited;
}

/* @pid 0: how many do. */
static size_t hangs(const struct kind *k, int pid)
{
	size_t n = 0;

	for (const struct worker *w = k->stuck; w; w = w->next)
		n += !pid || w->pid == pid;
	return n;
}

static void take_first(struct rank_answer *list, size_t *n, struct rank_answer *ret)
{
	*ret = list[0];
	memmove(list, list + 1, --*n * sizeof(*list));
}

static void leave(struct patient_reader *r)
{
	if (--r->users)
		return;
	free(r->questions);
	free(r->answers);
	free(r);
}

static void tell(struct patient_reader *r, int pid, char *text, int error)
{
	pthread_mutex_unlock(&lock);
	r->fn(pid, text, error, r->arg);
	pthread_mutex_lock(&lock);
}

static void read_next(struct patient_reader *r, struct worker *w)
{
	struct reading what = { .error = ETIMEDOUT };

	w->busy = true;
	take_first(r->questions, &r->n_questions, &what.rank);
	w->pid = what.rank.pid;
	if (!r->fn || !hangs(r->kind, w->pid)) {
		w->began = clock_now_ns();
		w->worked = worked(w);
		pthread_mutex_unlock(&lock);
		r->kind->read(&what);
		pthread_mutex_lock(&lock);
		w->began = 0;
	}
	if (!r->fn) {
		array_reserve(r->answers, r->cap_answers, r->n_answers + 1);
		r->answers[r->n_answers++] = what.rank;
	} else if (r->worker == w) { /* else what it is for may be gone */
		tell(r, w->pid, what.text, what.error);
	}
	free(what.text);
	w->busy = false;
	if (!r->n_questions)
		pthread_cond_broadcast(&changed);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg, **at;
	struct patient_reader *r = w->of;

	pthread_setname_np(pthread_self(), r->kind->name);
	pthread_mutex_lock(&lock);
	w->tid = gettid();
	while (r->worker == w && !r->stop) {
		if (r->n_questions)
			read_next(r, w);
		else
			pthread_cond_wait(&changed, &lock);
	}
	at = r->worker == w ? &r->worker : &r->kind->stuck;
	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	free(w);
	leave(r);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void start(struct patient_reader *r)
{
	struct worker *w = xcalloc(1, sizeof(*w));
	pthread_t thread;

	w->of = r;
	if (hangs(r->kind, 0) >= r->kind->max_stuck ||
	    pthread_create(&thread, NULL, worker_main, w)) {
		free(w);
		return;
	}
	pthread_detach(thread);
	r->worker = w;
	r->users++;
}

/* Somebody reads, and has not waited too long. */
static void see_to_it(struct patient_reader *r)
{
	struct worker *w = r->worker;

	if (w && !patience_left(r->kind, w)) {
		int pid = w->pid;

		r->worker = NULL;
		w->next = r->kind->stuck;
		r->kind->stuck = w;
		if (r->fn) {
			log_warn("process %d: what it has mapped cannot be read, as it keeps its "
				 "address space locked: the run goes on without the lines of what "
				 "it had mapped by now",
				 pid);
			tell(r, pid, NULL, ETIMEDOUT);
		}
	}
	if (!r->worker && r->n_questions)
		start(r);
}

/* Until all was read, or given up, or nobody can read on; or it is @end. */
static void settle(struct patient_reader *r, uint64_t end)
{
	for (;;) {
		uint64_t now, until;

		see_to_it(r);
		now = clock_now_ns();
		if (!r->worker || (!r->n_questions && !r->worker->busy) || now >= end)
			return;
		until = now + patience_left(r->kind, r->worker);
		cond_wait_until(&changed, &lock, until < end ? until : end);
	}
}

static struct patient_reader *create(struct kind *kind, proc_maps_fn fn, void *arg)
{
	struct patient_reader *r = xcalloc(1, sizeof(*r));

	r->kind = kind;
	r->users = 1;
	r->fn = fn;
	r->arg = arg;
	return r;
}

/* ---- what others call ---- */

void patient_reader_ask(struct patient_reader *r, int pid, uint32_t id)
{
	pthread_mutex_lock(&lock);
	array_reserve(r->questions, r->cap_questions, r->n_questions + 1);
	r->questions[r->n_questions++] = (struct rank_answer){ .pid = pid, .id = id };
	see_to_it(r);
	if (r->n_questions == 1)
		pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

bool patient_reader_take(struct patient_reader *r, struct rank_answer *ret)
{
	bool any;

	pthread_mutex_lock(&lock);
	see_to_it(r);
	any = r->n_answers;
	if (any)
		take_first(r->answers, &r->n_answers, ret);
	pthread_mutex_unlock(&lock);
	return any;
}

void patient_reader_settle(struct patient_reader *r)
{
	pthread_mutex_lock(&lock);
	settle(r, clock_now_ns() + NSEC_PER_SEC);
	pthread_mutex_unlock(&lock);
}

void patient_reader_destroy(struct patient_reader *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&lock);
	r->stop = true;
	pthread_cond_broadcast(&changed);
	leave(r);
	pthread_mutex_unlock(&lock);
}

static void read_rank(struct reading *what)
{
	for (int i = 0; i < EXEC_MS; i++) {
		what->rank.rank = process_rank(what->rank.pid, &what->rank.from);
		if (what->rank.rank != RANK_NOT_YET)
			return;
		usleep(1000);
	}
	what->rank.rank = -1;
}

struct patient_reader *patient_reader_of_ranks(void)
{
	static struct kind ranks = { .name = "scoz/ranks",
				     .patience_ns = 300 * NSEC_PER_MSEC,
				     .max_stuck = 16,
				     .read = read_rank };

	return create(&ranks, NULL, NULL);
}

static void read_maps(struct reading *what)
{
	_cleanup_free_ char *path =
		sysroot_path("/proc/%d/maps", process_living_thread(what->rank.pid));
	size_t len = 0;

	what->text = read_file_begin(path, MOST_MAPS, &len);
	what->error = what->text ? 0 : errno;
	if (len == MOST_MAPS) {
		while (len && what->text[len - 1] != '\n') /* half a line */
			what->text[--len] = '\0';
	}
}

void proc_maps_read(const int *pids, size_t n, proc_maps_fn fn, void *arg)
{
	static struct kind maps = {
		.name = "scoz/maps", .patience_ns = NSEC_PER_SEC, .max_stuck = 64, .read = read_maps
	};
	struct patient_reader *r = create(&maps, fn, arg);

	for (size_t i = 0; i < n; i++)
		patient_reader_ask(r, pids[i], 0);
	pthread_mutex_lock(&lock);
	settle(r, UINT64_MAX);
	pthread_mutex_unlock(&lock);
	for (size_t i = 0; i < r->n_questions; i++)
		fn(r->questions[i].pid, NULL, EAGAIN, arg);
	patient_reader_destroy(r);
}
