// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/rank_asker.h"

#include "base/cond_wait.h"
#include "host/process.h"

#define PATIENCE_NS (300 * NSEC_PER_MSEC) /* for one answer; then another thread asks the rest */
#define MAX_STUCK   16

struct rank_asker {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	bool runs, stop;
	uint64_t asked_ns;	 /* when it asked what it has no answer to so far; 0: it has */
	unsigned int generation; /* of the thread; earlier ones hang in somebody's memory: */
	size_t n_stuck;
	struct rank_answer *questions, *answers;
	size_t n_questions, cap_questions, n_answers, cap_answers;
};

static void take_first(struct rank_answer *list, size_t *n, struct rank_answer *ret)
{
	*ret = list[0];
	memmove(list, list + 1, --*n * sizeof(*list));
}

static void *asker_main(void *arg)
{
	struct rank_asker *a = arg;
	unsigned int self;

	pthread_setname_np(pthread_self(), "ranks");
	pthread_mutex_lock(&a->lock);
	self = a->generation;
	while (!a->stop && self == a->generation) {
		struct rank_answer q;

		if (!a->n_questions) {
			pthread_cond_wait(&a->changed, &a->lock);
			continue;
		}
		take_first(a->questions, &a->n_questions, &q);
		a->asked_ns = clock_now_ns();
		pthread_mutex_unlock(&a->lock);
		q.rank = process_rank(q.pid, &q.from);
		pthread_mutex_lock(&a->lock);
		array_reserve(a->answers, a->cap_answers, a->n_answers + 1);
		a->answers[a->n_answers++] = q;
		if (self == a->generation)
			a->asked_ns = 0;
		pthread_cond_broadcast(&a->changed);
	}
	if (self == a->generation)
		a->runs = false;
	else
		a->n_stuck--;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* Under the lock: somebody asks, and has not waited too long. */
static void see_to_it(struct rank_asker *a)
{
	if (a->asked_ns && clock_now_ns() - a->asked_ns >= PATIENCE_NS && a->n_stuck < MAX_STUCK) {
		pthread_detach(a->thread);
		a->n_stuck++;
		a->generation++;
		a->asked_ns = 0;
		a->runs = false;
	}
	if (!a->runs && a->n_questions)
		a->runs = !pthread_create(&a->thread, NULL, asker_main, a);
}

static bool is_awaited(const struct rank_asker *a)
{
	return a->stop ? a->runs : a->n_questions || a->asked_ns;
}

/* Under the lock, a second at most: until all is answered, or when it is to stop, it has. */
static void await(struct rank_asker *a)
{
	uint64_t end = clock_now_ns() + NSEC_PER_SEC;

	while (is_awaited(a) && clock_now_ns() < end) {
		cond_wait_until(&a->changed, &a->lock, clock_now_ns() + PATIENCE_NS / 10);
		if (!a->stop)
			see_to_it(a);
	}
}

void rank_asker_ask(struct rank_asker *a, int pid, uint32_t id)
{
	pthread_mutex_lock(&a->lock);
	array_reserve(a->questions, a->cap_questions, a->n_questions + 1);
	a->questions[a->n_questions++] = (struct rank_answer){ .pid = pid, .id = id };
	see_to_it(a);
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
}

bool rank_asker_take(struct rank_asker *a, struct rank_answer *ret)
{
	bool any;

	pthread_mutex_lock(&a->lock);
	see_to_it(a);
	any = a->n_answers;
	if (any)
		take_first(a->answers, &a->n_answers, ret);
	pthread_mutex_unlock(&a->lock);
	return any;
}

void rank_asker_settle(struct rank_asker *a)
{
	pthread_mutex_lock(&a->lock);
	await(a);
	pthread_mutex_unlock(&a->lock);
}

struct rank_asker *rank_asker_create(void)
{
	struct rank_asker *a = xcalloc(1, sizeof(*a));

	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	return a;
}

void rank_asker_destroy(struct rank_asker *a)
{
	bool ran, stuck;

	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	ran = a->runs;
	a->stop = true;
	pthread_cond_broadcast(&a->changed);
	await(a);
	stuck = a->runs || a->n_stuck;
	if (a->runs)
		pthread_detach(a->thread);
	pthread_mutex_unlock(&a->lock);
	if (stuck)
		return; /* it is left to the thread */
	if (ran)
		pthread_join(a->thread, NULL);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	free(a->questions);
	free(a->answers);
	free(a);
}
