/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which targets are worth trying, by what samples are credited to (maps/credit.h). */
#ifndef SCOZD_CHOOSE_H
#define SCOZD_CHOOSE_H

#include "daemon/finds.h"
#include "daemon/session.h"
#include "daemon/targets.h"

struct choice {
	struct chosen_target target;
	uint64_t samples;
	/* Of several lines: the one with most of these, so many; it is what is expected of them. */
	char *line;
	uint64_t most;
};
struct choices {
	struct choice *list; /* most sampled first */
	size_t n, cap;
	bool waits_first; /* what is profiled waits for disks longer than it runs */
};

/*
 * Lines and functions, or what is larger where none of these matters; a few at most. And waiting
 * for block devices, unless code was asked for by its binary or its source. Of a kernel without
 * lines, system calls beside its functions. Lines that are one find (finds.h) are one target; @kept
 * are those that have been tried.
 */
void choose_targets(struct session *s, const struct find_span *kept, size_t n_kept,
		    struct choices *ret);
/*
 * Of all (most sampled first) leaves those that are worth trying by their samples, of which @sum
 * are credited to something, of @all, and some more of which something is surely expected.
 */
void choices_keep_worth(struct choices *c, uint64_t sum, uint64_t all,
			const struct expectations *e);
/*
 * Adds class:io if tasks waited for block devices long enough, @io_waited ns: to no sample, but as
 * if such had been taken of it as of the @ran ns that they ran. Many may wait at a time: it counts
 * for no more than all that ran.
 */
void choices_add_waits(struct choices *c, uint64_t io_waited, uint64_t ran, uint64_t sum,
		       uint64_t all);
/*
 * Adds the most frequent of these system calls, each by the samples in all that it runs: of
 * functions of the kernel that enter a call, with @samples in them and what they call.
 */
struct entered {
	const char *function;
	uint64_t samples;
};
void choices_add_calls(struct choices *c, const struct entered *e, size_t n, uint64_t sum,
		       uint64_t all);
/* What each is expected to bring, beside its samples. */
double choices_weight(const struct choices *c, size_t i, const struct expectations *e);
void choices_free(struct choices *c);
void chosen_target_free(struct chosen_target *t);

#endif
