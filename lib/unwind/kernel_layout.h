/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind tables and address spaces as BPF programs read them (engine/bpf/unwind.bpf.h) and
 * kernel_tables.h writes them.
 *
 * A table is an array map of its own, in blocks. Its rows are the leaves of a tree without
 * pointers, which all have the same depth: block 0 is the root, an index of up to 512 blocks, which
 * are leaves of 512 rows, or indices of leaves. Children lie behind each other. So a search reads
 * two or three blocks, and compares nine times in each. What is left over of a block ends with
 * offsets that are larger than any.
 */
#ifndef SCOZ_UNWIND_KERNEL_LAYOUT_H
#define SCOZ_UNWIND_KERNEL_LAYOUT_H

#include <linux/types.h>

#define UNWIND_FANOUT	   512
#define UNWIND_BLOCK_RULES 64
#define UNWIND_NO_OFFSET   0xffffffffu
#define UNWIND_MAX_TABLES  4096 /* 0 stands for none */

/* Kinds and places are those of unwind_table.h; registers are DWARF's numbers. */
struct unwind_kernel_rule {
	__u8 cfa, cfa_reg, signal, pad;
	__u8 place[3], reg[3]; /* by enum unwind_followed */
	__u8 pad2[2];
	__s32 cfa_off, cfa_add;
	__s32 off[3];
};

union unwind_block {
	struct {
		__u32 off[UNWIND_FANOUT];
		union {
			__u16 rule[UNWIND_FANOUT]; /* of a leaf */
			struct {		   /* of the root */
				__u32 deep;	   /* its children are indices */
				__u32 leaves;	   /* the first leaf's number */
				__u32 rules;	   /* and that of the first block of rules */
			} root;
		};
	};
	struct unwind_kernel_rule rules[UNWIND_BLOCK_RULES];
};

/* Of a process, by its tgid: all that is mapped of files to be executed, sorted. */
#define UNWIND_MAX_MAPPINGS 255
#define UNWIND_NOWHERE	    (~0ULL >> 1)
#define UNWIND_MAX_SPACES   4096

struct unwind_mapping {
	__u64 start, end;
	__u64 zero;   /* where in the process the table's offsets count from */
	__u32 table;  /* 0: none */
	__u32 serial; /* of the table: numbers are used again */
};

/* unwind_space.n_maps: code has been mapped that it lacks */
#define UNWIND_MAPS_GROWN ((__u32)-1)

struct unwind_space {
	/* The image that it is of: another one, after exec, begins elsewhere. */
	__u64 start_code, start_stack;
	__u32 n;
	/* Of one that the programs have made themselves (engine/bpf/learned.bpf.h): */
	__u32 n_maps;	/* of the process, then; 0: it is none */
	__u64 again_ns; /* not before this time, if it has more by then */
	__u64 rest_ns;
	__u32 n_vmas, n_tables; /* while it is made */
	struct unwind_mapping
		map[UNWIND_MAX_MAPPINGS + 1]; /* unused ones begin at UNWIND_NOWHERE */
};

/* A file, as the kernel numbers it, and where offsets of its table count from. */
#define UNWIND_FILE_STRETCHES 4

struct unwind_file_id {
	__u64 dev, ino; /* dev: major << 20 | minor */
};

struct unwind_file {
	__u32 table, serial;
	/* Numbers are given to new files again, and programs are written over: it is not that file
	 * then. */
	__u64 size;
	__u32 generation; /* 0: not known */
	__u32 unused;
	/* What is mapped from offset @first to @end begins there, less its offset, and plus @zero.
	 */
	struct {
		__u64 first, end, zero;
	} stretch[UNWIND_FILE_STRETCHES];
};

/* How walks ended; by unwind.h's enum unwind_why, and then: */
#define UNWIND_KERNEL_WHYS 8

struct unwind_counts {
	__u64 ended[UNWIND_KERNEL_WHYS];
	__u64 frames, by_pointer; /* frames in all; of them, found by frame pointers */
	__u64 unknown;		  /* no walks: the process has no tables */
	__u64 walked_ns;
};

#endif
