// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/lock_words.h"

#define WORDS 4096 /* a power of two */
#define WAITS 4	   /* so many make a lock */

struct seen {
	uint64_t word;
	uint32_t process, tid, value;
	uint8_t waits;
	bool others, varies;
};

struct lock_words {
	struct seen v[WORDS];
};

struct lock_words *lock_words_create(void)
{
	return xcalloc(1, sizeof(struct lock_words));
}

void lock_words_destroy(struct lock_words *w)
{
	free(w);
}

bool lock_words_wait(struct lock_words *w, uint32_t process, uint64_t word, uint32_t tid,
		     uint32_t value)
{
	uint64_t hash = (word + process * 0x9e3779b97f4a7c15ull) * 0x9e3779b97f4a7c15ull;
	struct seen *s = &w->v[hash >> 32 & (WORDS - 1)];

	if (!s->waits || s->word != word || s->process != process)
		*s = (struct seen){ word, process, tid, value, 0, false, false };
	s->waits += s->waits < WAITS;
	s->others |= tid != s->tid;
	s->varies |= value != s->value;
	return s->waits == WAITS && s->others && !s->varies;
}
