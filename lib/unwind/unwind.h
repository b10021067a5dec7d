/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains of code without frame pointers, by the tables that compilers leave in every program
 * for exceptions (.eh_frame): unwind_table_build() makes compact tables of them, unwind_stack()
 * walks a stack by such tables. unwind.c tells how.
 */
#ifndef SCOZ_UNWIND_H
#define SCOZ_UNWIND_H

#include "base/base.h"

#include <libelf.h>

struct unwind_table;

/*
 * The table of an open ELF file that errors call @name: of .eh_frame, or where there is none of
 * .debug_frame. @ret: free with unwind_table_free(). -ENODATA: the file has neither; -ENOTSUP: it
 * is for a machine that is not known here; -EINVAL: what is there cannot be read. The table takes
 * at most 24 times the size of the section (of what compilers make, once); making it, twice as
 * much on top.
 */
int unwind_table_build(Elf *elf, const char *name, struct unwind_table **ret, struct error *err);
void unwind_table_free(struct unwind_table *t);

/*
 * The same of an open file, made by a process without rights where there is one
 * (symbolizer/symbolizer.h), or taken from the cache in @cache_dir (NULL: none is kept). The file
 * stays the caller's. Waits until the table is there.
 */
int unwind_table_open(int fd, const char *name, const char *cache_dir, struct unwind_table **ret,
		      struct error *err);
/* Who makes them instead of this very process; @cache: the file where it is kept, or NULL. */
typedef int (*unwind_builder_fn)(int fd, const char *name, const char *cache,
				 struct unwind_table **ret, struct error *err);
void unwind_table_build_by(unwind_builder_fn fn);
/* By this very process; takes @fd over. */
int unwind_table_read(int fd, const char *name, struct unwind_table **ret, struct error *err);
/* The one of @fd that is kept in @cache; NULL: none, or it is of an older state of the file. */
struct unwind_table *unwind_table_cached(const char *cache, int fd);
void unwind_table_keep(const char *cache, const struct unwind_table *t);

/*
 * A copy of the code that the kernel lends to every process, which lies in memory only and is the
 * same for all 64-bit ones; -1: there is none. To be closed.
 */
int unwind_open_vdso(void);

struct unwind_table_size {
	size_t bytes;
	uint32_t rows, rules;
	uint32_t entries;  /* of the section */
	uint32_t strange;  /* of them, that are not understood from some place on */
	uint32_t left_out; /* of them, that overlap others or lie too far away */
};
struct unwind_table_size unwind_table_size(const struct unwind_table *t);

#define UNWIND_REGISTERS 32
/* Of a thread, by their DWARF numbers; those of @known are. */
struct unwind_registers {
	uint64_t pc;
	uint64_t r[UNWIND_REGISTERS];
	uint32_t known; /* bits */
};

/* What is unwound. */
struct unwind_source {
	uint32_t machine; /* EM_X86_64 or EM_AARCH64 */
	void *arg;
	/* Reads @n bytes at @address; false: not all of them are there. */
	bool (*read)(void *arg, uint64_t address, void *dst, size_t n);
	/*
	 * The table of the code at @pc, and @pc as an address of its file; *@t NULL: it has none.
	 * false: there is no code.
	 */
	bool (*find)(void *arg, uint64_t pc, const struct unwind_table **t, uint64_t *address);
};

enum unwind_why {
	UNWIND_COMPLETE, /* the outermost function */
	UNWIND_FULL,	 /* there was no room for more */
	UNWIND_NO_CODE,	 /* what should be the last frame's return address is no code */
	UNWIND_NO_RULE,	 /* no rule for the last frame, and nothing like a frame pointer */
	UNWIND_NO_VALUE, /* its rule needs a register that is not known */
	UNWIND_NO_STACK, /* its stack cannot be read, or does not end above itself */
};

struct unwind_frame {
	uint64_t pc;
	bool exact;	 /* it was interrupted there; otherwise the call is before it */
	bool by_pointer; /* found by a frame pointer */
};

/* Fills @frames, the innermost first, by the registers @at. Returns how many, at least one. */
size_t unwind_stack(const struct unwind_source *source, const struct unwind_registers *at,
		    struct unwind_frame *frames, size_t max, enum unwind_why *why);

#endif
