// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/patient_reader.h"

#include "base/cond_wait.h"
#include "host/patience.h"
#include "host/process.h"

#include <unistd.h>

#define EXEC_MS 100 /* for a process that is about to execute a program */
/* Of sysctl vm.max_map_count lines each may have a path of 4 KB. */
#define MOST_MAPS (64 << 20)

/* ---- mappings ---- */

struct reading {
	int pid;
	char *text;
	int error;
	proc_maps_fn fn;
	void *arg;
};

static void read_maps_of(struct reading *r, int tid)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/maps", tid);
	size_t len = 0;

	free(r->text);
	r->text = read_file_begin(path, MOST_MAPS, &len);
	r->error = r->text ? 0 : errno;
	if (len == MOST_MAPS) {
		while (len && r->text[len - 1] != '\n') /* half a line */
			r->text[--len] = '\0';
	}
}

static void read_maps(void *arg)
{
	struct reading *r = arg;
	int living;

	read_maps_of(r, r->pid);
	if (r->text && *r->text)
		return;
	living = process_living_thread(r->pid);
	if (living != r->pid)
		read_maps_of(r, living);
}

/* At once: what is heard of it from now on is newer. */
static void tell_maps(void *arg)
{
	struct reading *r = arg;

	r->fn(r->pid, r->text, r->error, r->arg);
	free(r->text);
	r->text = NULL;
}

static void drop_reading(void *arg)
{
	struct reading *r = arg;

	free(r->text);
	free(r);
}

void proc_maps_read(const int *pids, size_t n, proc_maps_fn fn, void *arg)
{
	static struct patience patience = { .ns = NSEC_PER_SEC, .max_stuck = 64 };
	_cleanup_free_ void **readings = xcalloc(n + 1, sizeof(*readings));
	_cleanup_free_ int *ret = xcalloc(n + 1, sizeof(*ret));

	for (size_t i = 0; i < n; i++) {
		struct reading *r = xcalloc(1, sizeof(*r));

		*r = (struct reading){ .pid = pids[i], .fn = fn, .arg = arg };
		readings[i] = r;
	}
	patiently_all(&patience, pids, n, read_maps, tell_maps, readings, drop_reading, ret);
	for (size_t i = 0; i < n; i++) {
		if (!ret[i]) {
			drop_reading(readings[i]);
			continue;
		}
		if (ret[i] == -ETIMEDOUT)
			log_warn("process %d: what it has mapped cannot be read, as it keeps its "
				 "address space locked: the run goes on without the lines of what "
				 "it had mapped by now",
				 pids[i]);
		fn(pids[i], NULL, ret[i] == -EBUSY ? ETIMEDOUT : -ret[i], arg);
	}
}

/* ---- ranks ---- */

struct patient_reader {
	size_t users; /* the thread, whoever made it, and who may answer late */
	bool runs, busy, stop;
	struct rank_answer *questions, *answers;
	size_t n_questions, cap_questions, n_answers, cap_answers;
};

struct rank_reading {
	struct patient_reader *of;
	struct rank_answer rank;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* All of these are called under the lock. */

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

/* @reading as well. */
static void keep_answer(struct rank_reading *reading)
{
	struct patient_reader *r = reading->of;

	array_reserve(r->answers, r->cap_answers, r->n_answers + 1);
	r->answers[r->n_answers++] = reading->rank;
	leave(r);
	free(reading);
}

/* ---- by who reads ---- */

static void read_rank(void *arg)
{
	struct rank_reading *reading = arg;
	struct rank_answer *a = &reading->rank;

	for (int i = 0; i < EXEC_MS; i++) {
		a->rank = process_rank(a->pid, &a->from);
		if (a->rank != RANK_NOT_YET)
			return;
		usleep(1000);
	}
	a->rank = -1;
}

static void answer_late(void *arg)
{
	pthread_mutex_lock(&lock);
	keep_answer(arg);
	pthread_mutex_unlock(&lock);
}

static void read_next(struct patient_reader *r)
{
	static struct patience patience = { .ns = 300 * NSEC_PER_MSEC,
					    .max_stuck = 16,
					    .again = true };
	struct rank_reading *reading = xcalloc(1, sizeof(*reading));
	int pid, ret;

	reading->of = r;
	take_first(r->questions, &r->n_questions, &reading->rank);
	pid = reading->rank.pid;
	r->users++;
	r->busy = true;
	pthread_mutex_unlock(&lock);
	ret = patiently(&patience, pid, read_rank, reading, answer_late);
	pthread_mutex_lock(&lock);
	r->busy = false;
	if (!ret)
		keep_answer(reading);
	if (!r->n_questions)
		pthread_cond_broadcast(&changed);
}

static void *reader_main(void *arg)
{
	struct patient_reader *r = arg;

	pthread_setname_np(pthread_self(), "scoz/ranks");
	pthread_mutex_lock(&lock);
	while (!r->stop) {
		if (r->n_questions)
			read_next(r);
		else
			pthread_cond_wait(&changed, &lock);
	}
	leave(r);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* ---- by who asks ---- */

struct patient_reader *patient_reader_of_ranks(void)
{
	struct patient_reader *r = xcalloc(1, sizeof(*r));

	r->users = 1;
	return r;
}

static void start(struct patient_reader *r)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, reader_main, r))
		return;
	pthread_detach(thread);
	r->runs = true;
	r->users++;
}

void patient_reader_ask(struct patient_reader *r, int pid, uint32_t id)
{
	pthread_mutex_lock(&lock);
	array_reserve(r->questions, r->cap_questions, r->n_questions + 1);
	r->questions[r->n_questions++] = (struct rank_answer){ .pid = pid, .id = id, .rank = -1 };
	if (!r->runs)
		start(r);
	if (r->n_questions == 1)
		pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

bool patient_reader_take(struct patient_reader *r, struct rank_answer *ret)
{
	bool any;

	pthread_mutex_lock(&lock);
	any = r->n_answers;
	if (any)
		take_first(r->answers, &r->n_answers, ret);
	pthread_mutex_unlock(&lock);
	return any;
}

void patient_reader_settle(struct patient_reader *r)
{
	uint64_t end = clock_now_ns() + NSEC_PER_SEC;

	pthread_mutex_lock(&lock);
	while (r->runs && (r->n_questions || r->busy) && clock_now_ns() < end)
		cond_wait_until(&changed, &lock, end);
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
