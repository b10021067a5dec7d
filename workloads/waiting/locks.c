// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads that wait for locks of all sorts, each held for 8 ms by the other one of a pair, and
 * threads that wait for work: at a condition, a semaphore, a barrier, a latch of two that is made
 * again and again, parked as Rust's are. By its name each thread says what it does: "lock ..."
 * waits for nothing but its lock (and sleeps while it has it), "wait ..." for nothing that anybody
 * holds.
 */
#include "waiting.h"

#include <semaphore.h>

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, inherit, robust,
		       queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static atomic_uint word;
static sem_t semaphore;
static atomic_bool stop; /* never: exit() ends them */

static void set_name(const char *name)
{
	prctl(PR_SET_NAME, name);
}

#define LOCKER(name, lock, unlock) \
	static void *name(void *arg) \
	{ \
		set_name(arg); \
		while (!stop) { \
			lock; \
			raw_sleep(8 * MS); \
			unlock; \
			raw_sleep(MS / 5); \
		} \
		return NULL; \
	}

LOCKER(take_plain, pthread_mutex_lock(&plain), pthread_mutex_unlock(&plain))
LOCKER(take_inherit, pthread_mutex_lock(&inherit), pthread_mutex_unlock(&inherit))
LOCKER(take_robust, pthread_mutex_lock(&robust), pthread_mutex_unlock(&robust))
LOCKER(take_write, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))
LOCKER(take_read, pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock))
LOCKER(take_word, lock_word(&word), unlock_word(&word))

static void *wait_condition(void *arg)
{
	set_name(arg);
	pthread_mutex_lock(&queue);
	while (!stop)
		pthread_cond_wait(&work, &queue);
	return NULL;
}

static void *wait_timeout(void *arg)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;

	set_name(arg);
	pthread_mutex_lock(&own);
	while (!stop) {
		uint64_t until = clock_ns(CLOCK_REALTIME) + 10 * MS;
		struct timespec ts = { (time_t)(until / SEC), (long)(until % SEC) };

		pthread_cond_timedwait(&never, &own, &ts);
	}
	return NULL;
}

static void *wait_semaphore(void *arg)
{
	set_name(arg);
	while (!stop)
		sem_wait(&semaphore);
	return NULL;
}

static void *wait_barrier(void *arg)
{
	set_name(arg);
	while (!stop)
		pthread_barrier_wait(&barrier);
	return NULL;
}

static atomic_uint *_Atomic latch, *_Atomic parked;

/* At a word of its own, as musl's conditions have theirs, until it is @done. */
static void wait_at(atomic_uint *_Atomic *where, unsigned int value, unsigned int done)
{
	static _Thread_local atomic_uint own;

	own = value;
	*where = &own;
	while (own != done)
		futex_wait(&own, value);
}

static void *wait_latch(void *arg)
{
	set_name(arg);
	while (!stop)
		wait_at(&latch, 2, 0);
	return NULL;
}

static void *wait_parked(void *arg)
{
	set_name(arg);
	while (!stop)
		wait_at(&parked, -1, 1);
	return NULL;
}

static void let_go(atomic_uint *_Atomic *where, unsigned int done)
{
	atomic_uint *word = atomic_exchange(where, NULL);

	if (!word)
		return;
	*word = done;
	futex_wake(word, 1);
}

static const struct {
	void *(*fn)(void *arg);
	const char *name;
} jobs[] = {
	{ take_plain, "lock plain" },	      { take_plain, "lock plain" },
	{ take_inherit, "lock inherit" },     { take_inherit, "lock inherit" },
	{ take_robust, "lock robust" },	      { take_robust, "lock robust" },
	{ take_write, "lock write" },	      { take_write, "lock write" },
	{ take_read, "lock read" },	      { take_word, "lock word" },
	{ take_word, "lock word" },	      { wait_condition, "wait condition" },
	{ wait_condition, "wait condition" }, { wait_timeout, "wait timeout" },
	{ wait_semaphore, "wait semaphore" }, { wait_barrier, "wait barrier" },
	{ wait_latch, "wait latch" },	      { wait_parked, "wait parked" },
};

static void init_mutexes(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inherit, &attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_NONE);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attr);
	pthread_mutexattr_destroy(&attr);
}

int main(int argc, char **argv)
{
	uint64_t end = now_ns() + (uint64_t)((argc > 1 ? number(argv[1], 0.1, 1e6) : 3) * SEC);
	pthread_t threads[sizeof(jobs) / sizeof(*jobs)];

	program = "locks";
	init_mutexes();
	sem_init(&semaphore, 0, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++)
		start_thread(&threads[i], jobs[i].fn, (void *)jobs[i].name, 0);
	while (now_ns() < end) {
		raw_sleep(10 * MS);
		pthread_cond_signal(&work);
		sem_post(&semaphore);
		pthread_barrier_wait(&barrier);
		let_go(&latch, 0);
		let_go(&parked, 1);
	}
	/* Whoever waits still is no better than who has been let go. */
	exit(0);
}
