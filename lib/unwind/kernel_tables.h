/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts unwind tables and address spaces where BPF programs read them (kernel_layout.h). By one
 * thread.
 */
#ifndef SCOZ_UNWIND_KERNEL_TABLES_H
#define SCOZ_UNWIND_KERNEL_TABLES_H

#include "unwind/kernel_layout.h"
#include "unwind/unwind.h"

/* The maps of a BPF object that has such programs; they stay its own. -1: it has none. */
struct unwind_maps {
	int tables, spaces, counters, files;
};

struct kernel_tables {
	struct unwind_maps maps;
	uint32_t n;	  /* numbers given away so far, those that were given back included */
	uint32_t *unused; /* numbers that were given back */
	size_t n_unused, cap_unused;
	struct kernel_table {
		uint64_t bytes;	 /* in the kernel */
		uint32_t serial; /* which of all tables so far, from 1 on */
	} * table;		 /* by number */
	size_t cap_table;
	uint32_t last_serial;
	uint64_t bytes; /* that all tables take there */
	int *pending;	/* tables that the programs do not know yet, and their numbers */
	uint32_t *pending_number;
	size_t n_pending, cap_pending, cap_pending_number;
	struct flushes *flushes; /* that the kernel is still at; NULL: none so far */
};

/*
 * Copies a table into the kernel; @number is what mappings refer to it by. -E2BIG: the tables of
 * all files take as much as they may, or are too many; negative errno otherwise.
 */
int kernel_tables_add(struct kernel_tables *k, const struct unwind_table *t, const char *name,
		      uint32_t *number, struct error *err);
/* Takes it out, once no process refers to it: the number will be another table's. */
void kernel_tables_drop(struct kernel_tables *k, uint32_t number);
/* How many there are. */
uint32_t kernel_tables_count(const struct kernel_tables *k);
/*
 * Makes the tables added since known to the programs, to be called before a process refers to them:
 * all at once, as the kernel waits each time until no program uses what was there before, which
 * takes milliseconds, on a busy machine fifty. That is waited for by a thread, as programs know the
 * tables before it is over. A negative errno: none of them is.
 */
int kernel_tables_flush(struct kernel_tables *k);
void kernel_tables_deinit(struct kernel_tables *k); /* what is in the kernel stays there */
/* Where offsets of @t count from in a process that has @pgoff of its file at @start. */
bool kernel_tables_zero(const struct unwind_table *t, uint64_t start, uint64_t pgoff,
			uint64_t *zero);
/*
 * Processes that have this file mapped can be walked from now on, told or not. After
 * kernel_tables_flush() has made the table known; until kernel_tables_drop_file(). @generation: of
 * the inode, 0: not known.
 */
void kernel_tables_set_file(const struct kernel_tables *k, const struct unwind_file_id *id,
			    uint64_t size, uint32_t generation, uint32_t number,
			    const struct unwind_table *t);
void kernel_tables_drop_file(const struct kernel_tables *k, const struct unwind_file_id *id);
/* Replaces that of a process. */
int kernel_tables_set_space(const struct kernel_tables *k, int pid, const struct unwind_space *s);
/* Whether @theirs is of the image of @s, and has code with a table where @s has nothing. */
bool unwind_space_lacks(const struct unwind_space *s, const struct unwind_space *theirs);
/* Whether what the programs have of a process by now is such. */
bool kernel_tables_know_more(const struct kernel_tables *k, int pid, const struct unwind_space *s);
void kernel_tables_drop_space(const struct unwind_maps *maps, int pid);
/* Sums over the cores; false: the kernel does not tell. */
bool kernel_tables_counts(const struct unwind_maps *maps, struct unwind_counts *ret);

/* The blocks of a table, for those who fill something else with them (tests); to be freed. */
union unwind_block *kernel_tables_lay_out(const struct unwind_table *t, size_t *n);

/* Where the programs that walk are refused: there are none then. */
#define UNWIND_REFUSED \
	"this kernel's verifier refuses the programs that follow unwind tables (-v tells more): " \
	"call chains of what was built without frame pointers are incomplete"

#endif
