/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From raw call chains to frames and stacks with ids. Equal functions and lines are one frame,
 * equal chains one stack; what is new is told once.
 *
 * Where user chains follow frame pointers, code without them makes callers disappear. So each such
 * call is checked: the instruction before a return address must be a call, and if it names its
 * target, that must be the function in which the next frame inwards lies, or one that has jumped
 * there: so it was where the next frame inwards has made itself a frame before it called, for then
 * its frame pointer leads to its own return address. Where all that fails, and where a chain ends
 * before the thread's first function, a FRAME_MISSING is put in.
 */
#ifndef SCOZ_RECORD_SYMBOLS_H
#define SCOZ_RECORD_SYMBOLS_H

#include "maps/maps.h"
#include "record/bpf/shared.h"
#include "record/futex.h"
#include "record/recording.h"

struct symbols;

struct symbols_sink {
	void (*frame)(uint32_t id, const struct record_frame *frame, void *arg);
	void (*stack)(uint32_t id, const struct record_stack *stack, void *arg);
	void *arg;
};

struct raw_chain {
	int pid;
	uint64_t time;		       /* CLOCK_MONOTONIC */
	const uint64_t *kernel, *user; /* innermost first */
	size_t n_kernel, n_user;
	enum record_chain how; /* the user's part was found */
	uint64_t pointed[2];   /* as the event has it */
	bool waited;	       /* taken off the CPU: the scheduler's own functions are left out */
};

struct resolved {
	uint32_t stack;	       /* RECORDING_NONE: nothing is known */
	bool broken;	       /* it has a FRAME_MISSING */
	const char *kind;      /* record_wait_kind(); may have changed @class */
	enum futex_name names; /* what its functions say about waits in futex() */
	bool pending; /* tables are missing yet: nothing else is told; to be asked again later */
	/*
	 * Not NULL: where it was lies in code that is made while the program runs, whose name is
	 * still to be read: all is told but the stack, for which symbols_settle() is asked.
	 */
	struct symbols_later *later;
};

struct symbols *symbols_create(struct maps *maps, const struct symbols_sink *sink);
void symbols_destroy(struct symbols *s);
/* Never waits for tables: those that are missing are asked for. */
struct resolved symbols_resolve(struct symbols *s, const struct raw_chain *chain,
				enum record_class *class);
/*
 * SYMBOLS_LATE: there is none so far, though what the process has written is read: it writes
 * seldom.
 * @now: without the name, if it is still not there.
 */
enum symbols_settled { SYMBOLS_SETTLED, SYMBOLS_AWAITED, SYMBOLS_LATE };
enum symbols_settled symbols_settle(struct symbols *s, struct symbols_later *later, bool now,
				    uint32_t *stack, bool *broken);
void symbols_later_free(struct symbols_later *later);
/* From now on, or no longer: without the tables that are missing. */
void symbols_hurry(struct symbols *s, bool hurry);
/* Valid until the next call; NULL: no such id. */
const struct record_frame *symbols_frame(const struct symbols *s, uint32_t id);
const struct record_stack *symbols_stack(const struct symbols *s, uint32_t id);

#endif
