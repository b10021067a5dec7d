// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/futex.h"

#include <fnmatch.h>
#include <linux/futex.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

/* Of mutexes of three states, and of glibc's rwlocks. */
#define TAKEN_AND_WAITED 2
#define RWLOCK_WAITED	 3
/* Where the owner's tid stands, in words behind the one that is waited at. */
#define MUTEX_OWNER	     2 /* pthread_mutex_t: __lock, __count, __owner */
#define RWLOCK_PHASE_WRITER  4 /* pthread_rwlock_t: __wrphase_futex to __cur_writer */
#define RWLOCK_WRITER_WRITER 3 /* __writers_futex to __cur_writer */

static bool fits(const char *function, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!fnmatch(patterns[i], function, 0))
			return true;
	}
	return false;
}

enum futex_name record_futex_name(const char *function)
{
	static const char *const locks[] = {
		"*lll_lock_wait*",
		"*pthread_mutex_lock*",
		"*pthread_mutex_timedlock*",
		"*pthread_mutex_clock*",
		"*pthread_mutex_cond_lock",
		"*pthread_rwlock_*lock*",
		"*mutex_lock_slow*",
		"*Mutex*lock_contended*",
		"*RwLock*_contended*",
		"*RawMutex*lock_slow*",
		"*RawRwLock*lock*_slow*",
		"*absl*Mutex*Lock*",
		"runtime.lock",
		"runtime.lock2",
		"__kmp_acquire_*lock*",
		"*cxa_guard_acquire*",
	};
	static const char *const waits[] = {
		"*cond_wait*",	  "*cond_timedwait*",  "*cond_clockwait*",    "*Condvar*wait*",
		"*sem_wait*",	  "*sem_timedwait*",   "*sem_clockwait*",     "*new_sem_wait*",
		"*barrier*wait*", "*pthread_join*",    "*thread_timedjoin*",  "*thread_clockjoin*",
		"*clockjoin_ex",  "runtime.notesleep", "runtime.notetsleep*", "*Parker*park*",
	};

	if (fits(function, locks, ARRAY_SIZE(locks)))
		return FUTEX_NAME_LOCK;
	return fits(function, waits, ARRAY_SIZE(waits)) ? FUTEX_NAME_WAIT : FUTEX_NAME_SILENT;
}

static bool is_other_thread(const struct futex_question *q, uint32_t tid)
{
	return tid && tid != q->tid && q->is_thread(tid, q->arg);
}

/* Whose tid stands in the words: that of the holder. 0: nobody's. */
static uint32_t find_holder(const struct futex_question *q, int op)
{
	const struct record_futex *f = q->futex;
	uint32_t in_word = f->words[0] & FUTEX_TID_MASK;

	if (op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2)
		return is_other_thread(q, in_word) ? in_word : 0;
	if (f->value & FUTEX_WAITERS && f->words[0] == f->value && is_other_thread(q, in_word))
		return in_word;
	if (f->known < RECORD_FUTEX_WORDS)
		return 0;
	if (f->value == TAKEN_AND_WAITED && is_other_thread(q, f->words[MUTEX_OWNER]))
		return f->words[MUTEX_OWNER];
	if (f->value == RWLOCK_WAITED && is_other_thread(q, f->words[RWLOCK_PHASE_WRITER]))
		return f->words[RWLOCK_PHASE_WRITER];
	if (f->value == RWLOCK_WAITED && is_other_thread(q, f->words[RWLOCK_WRITER_WRITER]))
		return f->words[RWLOCK_WRITER_WRITER];
	return 0;
}

/* Does the word go the way of a lock, from taken to free (or to taken by the next one)? */
static bool was_released(const struct futex_question *q)
{
	const struct record_futex *f = q->futex;

	if (!q->woken || !f->has_after)
		return false;
	if (f->value == TAKEN_AND_WAITED || f->value == RWLOCK_WAITED)
		return f->after <= f->value;
	return f->value & FUTEX_WAITERS && (!f->after || f->after & FUTEX_WAITERS);
}

const char *record_futex_kind(const struct futex_question *q, uint32_t *holder)
{
	const struct record_futex *f = q->futex;
	int op = f->op & FUTEX_CMD_MASK;
	bool waits = op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET;
	bool lock = op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2;

	*holder = 0;
	if (f->known && (waits || lock)) {
		*holder = find_holder(q, op);
		lock |= *holder || was_released(q);
	}
	if ((f->known && lock) || q->names == FUTEX_NAME_LOCK)
		return RECORD_KIND_FUTEX_LOCK;
	return f->known || q->names == FUTEX_NAME_WAIT ? RECORD_KIND_FUTEX_WAIT : RECORD_KIND_FUTEX;
}
