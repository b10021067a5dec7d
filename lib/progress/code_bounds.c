// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/code_bounds.h"

#define MAX_BOUNDS 64 /* probes that one target may take */

static struct code_bounds_piece *piece_of(struct code_bounds_piece *pieces, size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++) {
		if (addr >= pieces[i].flow.code.start && addr < pieces[i].flow.code.end)
			return &pieces[i];
	}
	return NULL;
}

/* Ways from piece @from into others; true: some of that was not known. */
static bool follow_jumps(struct code_bounds_piece *pieces, size_t n, size_t from)
{
	const struct code_flow *f = &pieces[from].flow;
	bool more = false;

	for (uint64_t addr = f->code.start; addr < f->code.end; addr++) {
		struct code_bounds_piece *to;
		enum code_step step;
		uint64_t target;

		step = code_flow_step(f, addr, &target);
		if (step != CODE_JUMPS && step != CODE_MAY_JUMP)
			continue;
		to = piece_of(pieces, n, target);
		if (!to || to == &pieces[from])
			continue;
		if (target == to->flow.code.start && !to->continued)
			more = to->continued = true;
		if (!code_flow_begins(&to->flow, target)) {
			code_flow_enter(&to->flow, target);
			more = true;
		}
	}
	return more;
}

/* NULL: all of its ways out can be told. */
static const char *look(struct code_bounds_piece *pieces, size_t n, const struct code_flow *f,
			code_bound_fn bound, void *arg, size_t *count)
{
	for (uint64_t addr = f->code.start; addr < f->code.end; addr++) {
		uint64_t target = 0;
		enum code_step step = code_flow_step(f, addr, &target);
		bool outside = !piece_of(pieces, n, target);

		if (step == CODE_JUMPS_ANYWHERE)
			return "it jumps where it computes (a jump table)";
		if (step == CODE_MAY_JUMP && outside)
			return "a condition decides whether it goes on in another function";
		if ((step == CODE_JUMPS || step == CODE_MAY_JUMP) && !outside &&
		    piece_of(pieces, n, target)->flow.code.start == target &&
		    !piece_of(pieces, n, target)->continued)
			return "it jumps back to where it begins";
		if (step != CODE_RETURNS && !(step == CODE_JUMPS && outside))
			continue;
		if (++*count > MAX_BOUNDS)
			return "it returns in too many places";
		if (bound)
			bound(addr, step == CODE_RETURNS ? PROBE_EXIT : PROBE_HANDS_ON, arg);
	}
	return NULL;
}

static const char *look_at_all(struct code_bounds_piece *pieces, size_t n, code_bound_fn bound,
			       void *arg)
{
	size_t count = 0, entries = 0;

	for (size_t i = 0; i < n; i++) {
		const char *why;

		if (pieces[i].flow.conflict)
			return "its code contradicts what is said of it";
		why = look(pieces, n, &pieces[i].flow, bound, arg, &count);
		if (why)
			return why;
		if (pieces[i].continued)
			continue;
		entries++;
		if (bound)
			bound(pieces[i].flow.code.start, PROBE_ENTRY, arg);
	}
	if (!entries || !count)
		return "it is not seen to return";
	return count + entries > MAX_BOUNDS ? "it consists of too many pieces" : NULL;
}

int code_bounds_find(struct code_bounds_piece *pieces, size_t n, code_bound_fn bound, void *arg,
		     const char **why)
{
	bool more = true;

	for (size_t i = 0; i < n; i++)
		code_flow_enter(&pieces[i].flow, pieces[i].flow.code.start);
	while (more) {
		more = false;
		for (size_t i = 0; i < n; i++)
			more |= follow_jumps(pieces, n, i);
	}
	*why = look_at_all(pieces, n, NULL, NULL);
	if (*why)
		return -ENOTSUP;
	look_at_all(pieces, n, bound, arg);
	return 0;
}
