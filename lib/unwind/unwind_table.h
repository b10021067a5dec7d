/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside an unwind table.
 *
 * A table is one block of bytes: a header, the rules, and for each row where it begins and which
 * rule holds from there on. Nothing in it is a pointer. Programs have thousands of times more
 * rows than different rules, so a row takes six bytes: an offset from `base` and the number of a
 * rule. Rows are sorted; one whose rule is that of the row before it is left out, and so is the
 * gap between two functions when nothing but padding fits there. The segments of the file that hold
 * code are there, too: they tell file addresses from what a process has mapped.
 */
#ifndef SCOZ_UNWIND_TABLE_H
#define SCOZ_UNWIND_TABLE_H

#include "base/base.h"

#define UNWIND_MAGIC	    "scozunw"
#define UNWIND_VERSION	    4
#define UNWIND_ENDIAN	    0x01020304u
#define UNWIND_MAX_RULES    65535
#define UNWIND_MAX_SEGMENTS 8

/* How the canonical frame address (CFA: what the stack pointer was before the call) is found. */
enum unwind_cfa {
	UNWIND_NOTHING, /* no entry for this code */
	UNWIND_END,	/* the outermost function: nobody called it */
	UNWIND_STRANGE, /* an entry that cannot be expressed here */
	UNWIND_REG,	/* register + offset */
	UNWIND_DEREF,	/* what is stored at register + offset, + add */
	UNWIND_PLT,	/* register + offset, + 8 when (PC & 15) >= add: stubs of lazy binding */
	UNWIND_CFA_KINDS
};

/* Where the caller's value of a register is. */
enum unwind_place {
	UNWIND_SAME,   /* still in it */
	UNWIND_LOST,   /* nowhere that is known */
	UNWIND_AT_CFA, /* stored at CFA + offset */
	UNWIND_AT_REG, /* stored at another register + offset */
	UNWIND_IN_REG, /* in another register */
	UNWIND_FROM_CFA /* it is CFA + offset */,
	UNWIND_PLACES
};

/*
 * Registers that are followed from frame to frame: the return address, the frame pointer, and of
 * x86-64 rbx, by which the dynamic linker's trampolines find their frames.
 */
enum unwind_followed { UNWIND_RA, UNWIND_FP, UNWIND_BX, UNWIND_FOLLOWED };

struct unwind_rule {
	uint8_t cfa;	   /* enum unwind_cfa */
	uint8_t cfa_reg;   /* numbers of registers are DWARF's */
	uint8_t signal;	   /* the frame below was interrupted: its PC is no return address */
	uint8_t ra_signed; /* arm64: pointer authentication */
	int32_t cfa_off, cfa_add;
	struct {
		uint8_t place; /* enum unwind_place */
		uint8_t reg, pad[2];
		int32_t off;
	} at[UNWIND_FOLLOWED];
};

/* What of a file is mapped to be executed. */
struct unwind_segment {
	uint64_t offset, size, vaddr;
};

struct unwind_header {
	char magic[8];
	uint32_t version, endian;
	uint64_t size;	   /* of the whole block */
	uint64_t checksum; /* of the whole block, this field taken as 0; 0: not kept anywhere */
	/* The file it was made of: one kept on disk is good as long as these hold. */
	uint64_t file_size;
	int64_t file_ctime_ns;
	uint64_t base; /* file address that offsets count from */
	uint32_t machine;
	uint32_t n_row, n_rule;
	uint32_t n_entry;   /* of the section, that were read */
	uint32_t n_strange; /* of them, that could not be expressed from some place on */
	uint32_t n_left;    /* left out: overlapping others, or too far from `base` */
	uint32_t n_segment, pad;
	struct unwind_segment segment[UNWIND_MAX_SEGMENTS];
	/* struct unwind_rule rules[n_rule]; uint32_t off[n_row]; uint16_t rule[n_row] */
};

struct unwind_table {
	void *mem;
	size_t size;
	bool mapped; /* mem is a mapping, not malloc'ed */
	const struct unwind_header *h;
	const struct unwind_rule *rules;
	const uint32_t *off;
	const uint16_t *rule;
};

/*
 * Takes the block over, which was malloc'ed or @mapped; NULL, and the block released, when anything
 * in it is wrong.
 */
struct unwind_table *unwind_table_attach(void *mem, size_t size, bool mapped);
/*
 * An address of the file as one in a process minus the other, where @pgoff of the file is mapped at
 * @start; false: no code of the file is.
 */
bool unwind_table_bias(const struct unwind_table *t, uint64_t start, uint64_t pgoff,
		       uint64_t *bias);
/* Was it made of this file, as it is now, and is it whole? */
bool unwind_table_is_of(const struct unwind_table *t, int fd);
/* The rule that holds at the file address @pc. */
const struct unwind_rule *unwind_table_find(const struct unwind_table *t, uint64_t pc);

#endif
