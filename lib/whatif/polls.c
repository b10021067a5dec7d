// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/polls.h"

#include "maps/maps.h"
#include "maps/mpi_names.h"

/* Code of the kernel's. */
static bool is_in_kernel(const struct record_frame *f)
{
	return f->object[0] == '[' && strcmp(f->object, MAPS_VDSO) != 0;
}

/* MPICH has an engine of its own without a name: what calls that of the library it uses. */
static void find_engines(const struct polls_stacks *s, uint8_t *roles)
{
	for (size_t i = 0; i < s->n_stacks; i++) {
		uint32_t parent = s->stacks[i].parent, above;

		if (parent == TRACE_NONE || roles[s->stacks[i].frame] != SCOZ_POLL_ENGINE)
			continue;
		above = s->stacks[parent].frame;
		if (roles[above] == SCOZ_POLL_LIBRARY &&
		    mpi_file(s->frames[above].object) == MPI_FILE_MPICH)
			roles[above] = SCOZ_POLL_ENGINE;
	}
}

static enum polls polls_at(const struct polls_stacks *s, uint32_t stack, const uint8_t *roles)
{
	struct scoz_poll_chain chain = {};

	for (uint32_t at = stack; at != TRACE_NONE; at = s->stacks[at].parent) {
		uint32_t f = s->stacks[at].frame;

		if (is_in_kernel(&s->frames[f]))
			continue;
		switch (scoz_poll_frame(&chain, roles[f])) {
		case SCOZ_POLL_WAITS:
			return mpi_call_meets(s->frames[f].symbol) ? POLLS_TO_MEET : POLLS;
		case SCOZ_POLL_WORKS:
			return POLLS_NOT;
		default:
			break;
		}
	}
	return POLLS_NOT;
}

uint8_t *polls_in(const struct polls_stacks *s)
{
	uint8_t *polls = xcalloc(s->n_stacks + 1, sizeof(*polls));
	_cleanup_free_ uint8_t *roles = xcalloc(s->n_frames + 1, sizeof(*roles));
	bool mpi = false;

	for (size_t i = 0; i < s->n_frames; i++) {
		const struct record_frame *f = &s->frames[i];

		roles[i] = f->kind == FRAME_MISSING ? SCOZ_POLL_OTHER
						    : mpi_role(mpi_file(f->object), f->symbol);
		mpi |= roles[i] == SCOZ_POLL_CALL;
	}
	if (mpi)
		find_engines(s, roles);
	for (size_t i = 0; mpi && i < s->n_stacks; i++)
		polls[i] = polls_at(s, i, roles);
	return polls;
}

uint8_t *polls_find(const struct trace *t)
{
	return polls_in(&(struct polls_stacks){ t->frames, t->n_frames, t->stacks, t->n_stacks });
}
