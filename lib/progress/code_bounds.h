/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where control comes into some code and leaves it, so that probes there tell when a task is in it.
 * Private to lib/progress.
 */
#ifndef SCOZ_CODE_BOUNDS_H
#define SCOZ_CODE_BOUNDS_H

#include "progress/instructions.h"
#include "progress/probe_sites.h"

/* One piece of the code: a function, or a part of one that lies elsewhere. */
struct code_bounds_piece {
	struct code_flow flow;
	bool continued; /* it is jumped to from another piece: control does not come in there */
};

typedef void (*code_bound_fn)(uint64_t addr, enum probe_bound bound, void *arg);

/*
 * Each piece begins where a function does, or a part of one; its flow is initialised. Calls @bound
 * for each place: what stands first in a piece (entry), and each instruction behind which control
 * is outside: returns (exit), and jumps to other functions (hands on). -ENOTSUP: not all of that
 * can be told (@why, which a sentence goes on with), and nothing was called.
 */
int code_bounds_find(struct code_bounds_piece *pieces, size_t n, code_bound_fn bound, void *arg,
		     const char **why);

#endif
