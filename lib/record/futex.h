/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is a wait in futex() one for a lock, or does the thread wait until there is something to do? To
 * the kernel both look alike; but who waits for a lock waits for somebody who holds it. So a wait
 * counts as one for a lock only where a holder is known, or where the word says so:
 *
 *   1. the operation is one of priority inheritance: the word holds the owner's tid;
 *   2. the word that was waited at has FUTEX_WAITERS set beside a thread's tid (robust mutexes);
 *   3. it is what glibc's mutexes (2) or rwlocks (3) have there, and a thread of the process stands
 *      where those keep their owner;
 *   4. it has FUTEX_WAITERS set beside something else (musl, libgomp), or is one at which threads
 *      have waited as they do at a lock (2, as in Drepper's "Futexes are tricky", which glibc, Rust
 *      and Go follow; 3: glibc's rwlocks; record/lock_words.h); a thread (no timer) ended the wait,
 *      in no function that is known to wait for something else; and then the word is that of a
 *      free or again taken lock, and not a counter that has been counted on;
 *   5. a function in which it waited is known to wait for locks.
 *
 * Condition variables, queues, barriers, semaphores, joins fit none of these: nobody has what the
 * thread wants, until it is made.
 */
#ifndef SCOZ_RECORD_FUTEX_H
#define SCOZ_RECORD_FUTEX_H

#include "base/base.h"
#include "record/bpf/shared.h"

/* Kinds of waits of class L. */
#define RECORD_KIND_FUTEX      "futex"	    /* which of the two cannot be told */
#define RECORD_KIND_FUTEX_LOCK "futex lock" /* held by somebody */
#define RECORD_KIND_FUTEX_WAIT "futex wait" /* for what another thread is to do */

/* What a function's name says about waits in it. */
enum futex_name { FUTEX_NAME_SILENT, FUTEX_NAME_LOCK, FUTEX_NAME_WAIT };
enum futex_name record_futex_name(const char *function);

struct futex_question {
	const struct record_futex *futex;
	uint32_t tid;	       /* who waits */
	bool woken;	       /* by a thread; else it timed out, or waits on */
	bool is_lock_word;     /* record/lock_words.h */
	enum futex_name names; /* of the functions it waited in, the innermost that says anything */
	/* Is this a thread of the same process? */
	bool (*is_thread)(uint32_t tid, void *arg);
	void *arg;
};

/* One of the kinds above. @holder: its tid, 0: not known. */
const char *record_futex_kind(const struct futex_question *q, uint32_t *holder);

#endif
