/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is behind a wait: the code that those who are waited for ran meanwhile. Were it faster, the
 * wait would be shorter; whether anybody gained from that, experiments tell.
 */
#ifndef SCOZ_WAITS_BEHIND_H
#define SCOZ_WAITS_BEHIND_H

#include "waits/recorded.h"

#define WAITS_BEHIND_EDGES 64 /* at a time, at most */

struct waits_behind {
	uint64_t waited; /* ns of the waits, summed over all who waited; of a device: it was idle */
	double ran;	 /* ns of it that samples of those waited for stand for */
	uint64_t samples; /* so many */
	uint32_t frame;	  /* one of the function most of these are credited to; TRACE_NONE */
	double share;	  /* of `ran`; 0 to 1 */
};

/*
 * Of @edges between groups of @r (after waits_group()). Each sample is credited to one function: of
 * its chain the innermost that is the user's, else the innermost; where none is known, to the
 * binary.
 */
int waits_find_behind(const struct waits_recorded *r, const struct waits_edge *edges, size_t n,
		      struct waits_behind *ret, struct error *err);

/*
 * TARGET of the code in @f, as scozd has it; malloc'ed. NULL: it has no name there.
 */
char *waits_target_of(const struct record_frame *f);

/* ---- two orders of the same things ---- */

/* A target: what is waited for it, and what experiments say it brings, within an interval. */
struct waits_tried {
	double weight;
	bool known; /* else the experiments say nothing of it */
	double low, value, high;
	/* Out: its place by experiments, from 1, as far as it is sure: from, to. */
	size_t first, last;
};

enum waits_agreement { WAITS_UNDECIDED, WAITS_AGREE, WAITS_DISAGREE };

struct waits_orders {
	enum waits_agreement top; /* is the heaviest surely the best; is another surely better? */
	size_t better;		  /* WAITS_DISAGREE: that one, the best of these */
	/* Pairs that waits put in an order, by what experiments say of it. */
	size_t same, opposite, undecided;
};
#define WAITS_NEAR 0.9 /* a weight of that part of another, or more, is as good as equal */

void waits_compare_orders(struct waits_tried *tried, size_t n, struct waits_orders *ret);

#endif
