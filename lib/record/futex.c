// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/futex.h"

#include <fnmatch.h>
#include <linux/futex.h>

#include "record/bpf/futex_words.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

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
	if (f->value == WORD_TAKEN && is_other_thread(q, f->words[WORD_MUTEX_OWNER]))
		return f->words[WORD_MUTEX_OWNER];
	if (f->value == WORD_RWLOCK && is_other_thread(q, f->words[WORD_PHASE_WRITER]))
		return f->words[WORD_PHASE_WRITER];
	if (f->value == WORD_RWLOCK && is_other_thread(q, f->words[WORD_WRITERS_WRITER]))
		return f->words[WORD_WRITERS_WRITER];
	return 0;
}

/* May the word be a lock that is taken, by the value that was waited at alone? */
static bool is_ambiguous(uint32_t value)
{
	return value == WORD_TAKEN || value == WORD_RWLOCK;
}

/* Does the word go the way of a lock, from taken to free (or to taken by the next one)? */
static bool was_released(const struct futex_question *q)
{
	const struct record_futex *f = q->futex;

	if (!q->woken || !f->has_after)
		return false;
	if (is_ambiguous(f->value))
		return f->after <= f->value;
	/* FUTEX_WAITERS alone: musl's semaphores. */
	return f->value & FUTEX_WAITERS && f->value & ~FUTEX_WAITERS &&
	       (!f->after || f->after & FUTEX_WAITERS);
}

const char *record_futex_kind(const struct futex_question *q, uint32_t *holder)
{
	const struct record_futex *f = q->futex;
	int op = f->op & FUTEX_CMD_MASK;
	bool waits = op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET, released = false;
	bool lock = op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2;

	*holder = 0;
	if (f->known && (waits || lock)) {
		*holder = find_holder(q, op);
		released = waits && q->names != FUTEX_NAME_WAIT && was_released(q);
		lock |= *holder || (released && (!is_ambiguous(f->value) || q->is_lock_word));
	}
	if ((f->known && lock) || q->names == FUTEX_NAME_LOCK)
		return RECORD_KIND_FUTEX_LOCK;
	if (released || !f->known)
		return q->names == FUTEX_NAME_WAIT ? RECORD_KIND_FUTEX_WAIT : RECORD_KIND_FUTEX;
	return RECORD_KIND_FUTEX_WAIT;
}
