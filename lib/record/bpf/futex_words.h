/* SPDX-License-Identifier: GPL-2.0-only */
/* What the words of a futex tell when the wait begins. For BPF programs and others. */
#ifndef SCOZ_RECORD_FUTEX_WORDS_H
#define SCOZ_RECORD_FUTEX_WORDS_H

#include "record/bpf/shared.h"

#define WORD_WAITERS 0x80000000u /* FUTEX_WAITERS */
#define WORD_TID     0x3fffffffu /* FUTEX_TID_MASK */
#define WORD_TIDS    (4u << 20)	 /* PID_MAX_LIMIT */
#define WORD_TAKEN   2		 /* mutexes of three states: taken, and others wait */
#define WORD_RWLOCK  3		 /* glibc's rwlocks: the same */
/* Where the owner's tid stands, in words behind the one that is waited at. */
#define WORD_MUTEX_OWNER    2 /* pthread_mutex_t: __lock, __count, __owner */
#define WORD_PHASE_WRITER   4 /* pthread_rwlock_t: __wrphase_futex to __cur_writer */
#define WORD_WRITERS_WRITER 3 /* __writers_futex to __cur_writer */

enum futex_held {
	FUTEX_NOT_HELD,
	FUTEX_HELD,
	FUTEX_HELD_BY, /* if what stands there is a thread of the process, and not by chance */
	FUTEX_TAKEN,   /* if the word is a lock: record/lock_words.h */
};

static inline int word_names_thread(__u32 tid)
{
	return tid && tid < WORD_TIDS;
}

/* @holder: of FUTEX_HELD_BY. */
static inline enum futex_held futex_held(const struct record_futex *f, __u32 *holder)
{
	__u32 op = f->op & 0x7f;

	*holder = 0;
	if (op == 6 || op == 13) /* FUTEX_LOCK_PI */
		return FUTEX_HELD;
	/* 11, FUTEX_WAIT_REQUEUE_PI, waits at a condition. */
	if (!f->known || (op != 0 && op != 9))
		return FUTEX_NOT_HELD;
	/* All bits are set where Rust's threads park. */
	if (f->value & WORD_WAITERS)
		return word_names_thread(f->value & WORD_TID) ? FUTEX_HELD : FUTEX_NOT_HELD;
	if (f->known == RECORD_FUTEX_WORDS && f->value == WORD_TAKEN)
		*holder = f->words[WORD_MUTEX_OWNER];
	else if (f->known == RECORD_FUTEX_WORDS && f->value == WORD_RWLOCK)
		*holder = f->words[WORD_PHASE_WRITER] ? f->words[WORD_PHASE_WRITER]
						      : f->words[WORD_WRITERS_WRITER];
	if (word_names_thread(*holder))
		return FUTEX_HELD_BY;
	return f->value == WORD_TAKEN || f->value == WORD_RWLOCK ? FUTEX_TAKEN : FUTEX_NOT_HELD;
}

#endif
