/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program's own code, read to check call chains: what was called before a return address? */
#ifndef SCOZ_RECORD_CALL_CHECK_H
#define SCOZ_RECORD_CALL_CHECK_H

#include "maps/maps.h"

enum code_call {
	CODE_UNKNOWN,  /* the file or this architecture cannot be read */
	CODE_NO_CALL,  /* there is no call: not a return address */
	CODE_DIRECT,   /* of a fixed address */
	CODE_INDIRECT, /* through a register or memory */
};

/* Decodes the call that ends at the end of @bytes (@n of them, at address @end - @n). Pure. */
enum code_call code_decode_call(const uint8_t *bytes, size_t n, uint64_t end, uint64_t *target);

struct code;
struct code *code_create(void);
void code_destroy(struct code *c);
/* @vaddr: a return address in @b, which process @pid maps. */
enum code_call code_call_before(struct code *c, const struct maps_binary *b, int pid,
				uint64_t vaddr, uint64_t *target);
/* Where in @bytes the last frame that keeps a frame pointer is made; @n: nowhere. Pure. */
size_t code_find_frame(const uint8_t *bytes, size_t n);
/* The same of the code before @vaddr, a return address as above: @begins; false: none is near. */
bool code_frame_before(struct code *c, const struct maps_binary *b, int pid, uint64_t vaddr,
		       uint64_t *begins);
/* Does a jump through a table (a PLT entry) stand at @vaddr of a binary that was asked about? */
bool code_is_stub(struct code *c, uint32_t binary, uint64_t vaddr);

#endif
