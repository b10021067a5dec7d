/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which futexes are locks of three states (0: free, 1: taken, 2: others wait), of which nobody
 * knows who has them: Rust's, Go's, Drepper's. The word alone does not tell: a latch of two, musl's
 * conditions and who joins thread 2 wait at a 2 as well. But at a lock everybody does, always, and
 * several threads do so again and again; a latch counts down, and only one waits at his own
 * condition.
 *
 * As many words are remembered as there is room for, the last ones.
 */
#ifndef SCOZ_RECORD_LOCK_WORDS_H
#define SCOZ_RECORD_LOCK_WORDS_H

#include "base/base.h"

struct lock_words;
struct lock_words *lock_words_create(void);
void lock_words_destroy(struct lock_words *w);
/* @tid waits at @word while its value is @value: does that word look like a lock by now? */
bool lock_words_wait(struct lock_words *w, uint32_t process, uint64_t word, uint32_t tid,
		     uint32_t value);

#endif
