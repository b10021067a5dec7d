/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where instructions begin. A probe replaces the first byte of an instruction (the first word on
 * arm64); anywhere else it changes what the program computes. Private to lib/progress.
 *
 * Decoding in a straight line runs into data and comes out of it at any byte. So control is
 * followed: from an address that is known to be an entry, through calls that return and both ways
 * at conditional branches. What is reached so is code, and where two ways disagree about the
 * instructions, one of the entries was none.
 */
#ifndef SCOZ_INSTRUCTIONS_H
#define SCOZ_INSTRUCTIONS_H

#include "base/base.h"

/* Some code, usually a function. */
struct code {
	uint16_t machine;     /* e_machine of the file */
	const uint8_t *bytes; /* those from @start to @end; borrowed */
	uint64_t start, end;  /* addresses */
};

/* x86 and arm64. */
bool code_machine_known(uint16_t machine);
/* Bytes of the instruction at @addr; 0: there is none. */
unsigned int code_length(const struct code *c, uint64_t addr);
bool code_is_nop(const struct code *c, uint64_t addr);
/*
 * Why the kernel will have no probe on the instruction at @addr; NULL: it may. It says so where the
 * code is mapped when the probe is made, and passes over it in silence in what maps it later.
 */
const char *code_no_probe(const struct code *c, uint64_t addr);

struct code_flow {
	struct code code;
	uint8_t *state; /* of each byte */
	bool conflict;	/* two instructions overlap: some entry was none */
	uint64_t conflict_at;
};
void code_flow_init(struct code_flow *f, const struct code *c);
void code_flow_deinit(struct code_flow *f);
/* Follows control from @entry; passed over when outside of the code. */
void code_flow_enter(struct code_flow *f, uint64_t entry);
/* Does an instruction that was reached begin there (and does no other one cover it)? */
bool code_flow_begins(const struct code_flow *f, uint64_t addr);
enum code_step {
	CODE_GOES_ON, /* or nothing was reached there */
	CODE_RETURNS,
	CODE_JUMPS,	     /* to *@target */
	CODE_MAY_JUMP,	     /* there, or goes on */
	CODE_JUMPS_ANYWHERE, /* where it computes: by a table, or to a function it was given */
};
/* Of the instruction that was reached at @addr. */
enum code_step code_flow_step(const struct code_flow *f, uint64_t addr, uint64_t *target);
/* The next such instruction before or after @addr; false: none. */
bool code_flow_before(const struct code_flow *f, uint64_t addr, uint64_t *ret);
bool code_flow_after(const struct code_flow *f, uint64_t addr, uint64_t *ret);

#endif
