// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/polls.h"

#include "base/hash_index.h"
#include "maps/mpi_names.h"
#include "whatif/candidates.h"

/* A role: inlined, and no function with a role of its own. It is part of who calls it. */
#define PART_OF_CALLER UINT8_MAX
#define OF_KERNEL      (UINT8_MAX - 1) /* it tells nothing: who called it does */

static uint8_t role_of(const struct record_frame *f)
{
	enum scoz_poll_role role;
	enum mpi_file kind;

	if (frame_is_in_kernel(f))
		return OF_KERNEL;
	if (f->kind == FRAME_MISSING)
		return SCOZ_POLL_OTHER;
	kind = mpi_file(f->object);
	role = mpi_role(kind, f->symbol);
	return f->kind == FRAME_INLINED && role == mpi_file_role(kind) ? PART_OF_CALLER : role;
}

static bool is_of_mpich(const struct record_frame *f)
{
	return mpi_file(f->object) == MPI_FILE_MPICH;
}

static uint64_t function_hash(const struct record_frame *f)
{
	return hash_chosen(hash_chosen(HASH_START, f->symbol), f->object);
}

static bool same_function(const void *frames, uint32_t number, const void *key)
{
	const struct record_frame *a = (const struct record_frame *)frames + number, *b = key;

	return !strcmp(a->symbol, b->symbol) && !strcmp(a->object, b->object);
}

/*
 * MPICH has an engine of its own without a name: what calls that of the library it uses. Who calls
 * MPICH's is none.
 */
static void find_engines(const struct polls_stacks *s, uint8_t *roles)
{
	struct hash_index engines = {};

	for (size_t i = 0; i < s->n_stacks; i++) {
		uint32_t at = s->stacks[i].parent, frame = s->stacks[i].frame;

		if (roles[frame] != SCOZ_POLL_ENGINE || is_of_mpich(&s->frames[frame]))
			continue;
		while (at != TRACE_NONE && roles[s->stacks[at].frame] == PART_OF_CALLER)
			at = s->stacks[at].parent;
		if (at == TRACE_NONE)
			continue;
		frame = s->stacks[at].frame;
		if (roles[frame] == SCOZ_POLL_LIBRARY && is_of_mpich(&s->frames[frame]) &&
		    frame_is_function(&s->frames[frame])) {
			uint64_t hash = function_hash(&s->frames[frame]);

			roles[frame] = SCOZ_POLL_ENGINE;
			if (hash_index_find(&engines, hash, same_function, s->frames,
					    &s->frames[frame]) == HASH_NONE)
				hash_index_add(&engines, hash, frame);
		}
	}
	/* All of their lines. */
	for (size_t i = 0; engines.n && i < s->n_frames; i++) {
		const struct record_frame *f = &s->frames[i];

		if (roles[i] == SCOZ_POLL_LIBRARY && is_of_mpich(f) &&
		    hash_index_find(&engines, function_hash(f), same_function, s->frames, f) !=
			    HASH_NONE)
			roles[i] = SCOZ_POLL_ENGINE;
	}
	hash_index_deinit(&engines);
}

static enum polls polls_at(const struct polls_stacks *s, uint32_t stack, const uint8_t *roles)
{
	struct scoz_poll_chain chain = {};

	for (uint32_t at = stack; at != TRACE_NONE; at = s->stacks[at].parent) {
		uint32_t f = s->stacks[at].frame;

		if (roles[f] == OF_KERNEL || roles[f] == PART_OF_CALLER)
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
		roles[i] = role_of(&s->frames[i]);
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
