/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a binary lies in one process, as the BPF programs and their loader both note it down.
 * Whoever hears of code that is mapped puts it in for its own binary, and withdraws what others
 * had there: a library that was closed is gone once something else lies in its place.
 */
#ifndef SCOZ_BPF_SPACE_H
#define SCOZ_BPF_SPACE_H

#include "account/account.h"

#define BPF_MAX_SEGMENTS 6 /* executable mappings of one binary in one process */

struct space_key {
	__u32 tgid, binary;
};

struct segment {
	__u64 start, end, bias; /* address = vaddr + bias; end 0: there is none */
	/* mm->start_stack of the image that has mapped it: another one, after exec, has another.
	 * 0: it is not known, and holds until it is forgotten. */
	__u64 image;
};

struct space {
	__u32 look; /* something was mapped since the programs last looked */
	__u32 pad;
	struct segment seg[BPF_MAX_SEGMENTS];
};

static __always_inline __u32 segment_holds(const struct segment *g, __u64 image)
{
	return g->end && (!g->image || g->image == image);
}

static __always_inline void space_add(struct space *s, const struct segment *new)
{
	for (__u32 i = 0; i < BPF_MAX_SEGMENTS; i++) {
		if (!s->seg[i].end) {
			s->seg[i] = *new;
			return;
		}
	}
	s->seg[0] = *new;
}

/* It stands for code that the process makes while it runs, wherever it likes. */
static __always_inline __u32 segment_is_anywhere(const struct segment *g)
{
	return !g->start && g->end == ~0ULL;
}

/* Something else is mapped from @start to @end. */
static __always_inline void space_withdraw(struct space *s, __u64 start, __u64 end)
{
	struct segment behind = { 0 };

	for (__u32 i = 0; i < BPF_MAX_SEGMENTS; i++) {
		struct segment *g = &s->seg[i];

		if (g->end <= start || g->start >= end || segment_is_anywhere(g))
			continue;
		if (g->start < start && g->end > end) {
			behind = *g;
			behind.start = end;
		}
		if (g->start < start)
			g->end = start;
		else if (g->end > end)
			g->start = end;
		else
			g->end = 0;
	}
	if (behind.end)
		space_add(s, &behind);
}

/* What is there already stays the image's that is known to have mapped it. */
static __always_inline void space_put(struct space *s, const struct segment *new)
{
	for (__u32 i = 0; i < BPF_MAX_SEGMENTS; i++) {
		struct segment *g = &s->seg[i];

		if (g->start == new->start && g->end == new->end && g->bias == new->bias) {
			if (new->image)
				g->image = new->image;
			return;
		}
	}
	space_withdraw(s, new->start, new->end);
	space_add(s, new);
}

#endif
