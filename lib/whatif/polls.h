/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which stacks of a recording are those of threads that wait by polling in MPI. */
#ifndef SCOZ_WHATIF_POLLS_H
#define SCOZ_WHATIF_POLLS_H

#include "trace/trace.h"

enum polls { POLLS_NOT, POLLS, POLLS_TO_MEET /* all others */ };

struct polls_stacks {
	const struct record_frame *frames;
	size_t n_frames;
	const struct record_stack *stacks;
	size_t n_stacks;
};
/* By stack, enum polls; to be freed. */
uint8_t *polls_in(const struct polls_stacks *s);
uint8_t *polls_find(const struct trace *t);

static inline bool sample_polls(const uint8_t *polls, const struct trace_event *sample)
{
	return sample->stack != TRACE_NONE && polls[sample->stack] != POLLS_NOT;
}

/* Also in a loop of another kind. */
static inline bool sample_waits(const uint8_t *polls, const struct trace_event *sample)
{
	return sample->spins || sample_polls(polls, sample);
}

#endif
