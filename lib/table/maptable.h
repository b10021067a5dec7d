/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mapping tables: from an address in a file (or in the kernel) to function, line and inline chain,
 * and back from a target to address ranges (SCOZ paper, section 3.4). One table is one executable,
 * library or kernel image; built on demand, shared by all processes that map the file, cached on
 * disk; immutable once built, so readers need no lock. What makes one of a file: elf/table_make.h.
 */
#ifndef SCOZ_TABLE_MAPTABLE_H
#define SCOZ_TABLE_MAPTABLE_H

#include "base/base.h"

/* A half-open range of virtual addresses as in the file's program headers (not biased). */
struct addr_range {
	uint64_t start, end;
};

struct addr_ranges {
	struct addr_range *r; /* sorted, merged, malloc'ed */
	size_t n;
};
void addr_ranges_sort_merge(struct addr_ranges *ranges);
void addr_ranges_free(struct addr_ranges *ranges);

/* One level of an inline chain. Strings belong to the table and live as long as it does. */
struct map_frame {
	const char *function; /* never NULL: "[unknown]" at worst */
	const char *file;     /* NULL without line information; path as the compiler saw it */
	uint32_t line;	      /* 0 when unknown */
};
#define MAP_MAX_INLINE 16

/*
 * Where the table's knowledge came from, for messages and `scoz targets`. MAP_UNWIND: no symbols
 * at all, but the ranges of functions, by what unwinds the stack.
 */
enum map_source { MAP_NONE, MAP_SYMTAB, MAP_DWARF, MAP_KALLSYMS, MAP_UNWIND };

struct maptable;

struct map_options {
	const char *cache_dir;	/* NULL: no cache. Default location: maptable_default_cache_dir() */
	const char *debug_root; /* NULL: "/usr/lib/debug" */
	const char *root;	/* NULL, or a prefix ("/proc/PID/root") under which debug files
				 * are looked for first; `struct maps` sets it for containers */
	const char *path;	/* of the file itself, absolute: debug files may be beside it. NULL:
				 * what the kernel says */
	bool kernel;		/* a kernel image or a module: read in little memory, source paths
				 * from the top of the kernel's source ("fs/namei.c") */
	bool kallsyms;		/* no ELF file, but what /proc/kallsyms tells */
};

void maptable_free(struct maptable *t);
/* Malloc'ed. Of root it depends on nothing, of others on XDG_CACHE_HOME and HOME. */
char *maptable_default_cache_dir(void);

const char *maptable_name(const struct maptable *t); /* e.g. "/usr/bin/gzip" or "[kernel]" */
enum map_source maptable_source(const struct maptable *t);
bool maptable_is_program(const struct maptable *t);  /* an executable, no library */
bool maptable_is_stripped(const struct maptable *t); /* no symbols but those for linking */
/*
 * To be called now and then, by one thread: a table in a file that was asked nothing since the last
 * call is mapped on, but its pages are left to the page cache until it is asked again.
 */
void maptable_rest(struct maptable *t);
/* Lowest p_vaddr of an executable PT_LOAD: with mm->start_code this gives the load bias. */
uint64_t maptable_code_vaddr(const struct maptable *t);
/* File offset -> virtual address by the PT_LOAD that holds it; false when none does. */
bool maptable_offset_to_vaddr(const struct maptable *t, uint64_t offset, uint64_t *vaddr);
bool maptable_vaddr_to_offset(const struct maptable *t, uint64_t vaddr, uint64_t *offset);
/* What of the file is code, in the order of its program headers. */
#define MAP_STRETCHES 4
struct map_stretch {
	uint64_t offset, size, vaddr;
};
struct map_code {
	struct map_stretch stretch[MAP_STRETCHES];
	int n;
};
void maptable_code(const struct maptable *t, struct map_code *ret);
/* Warnings found while building ("debug file X does not match build-id ..."), or NULL. */
const char *maptable_warning(const struct maptable *t);

/*
 * Innermost inline first; returns the number of frames written (>= 1 when the address lies in a
 * known function, 0 otherwise). @frames[n-1] is the out-of-line function that owns the address.
 */
int maptable_lookup(const struct maptable *t, uint64_t vaddr, struct map_frame *frames, int max);

/* Start of the first function of that name (exact, or demangled without parameters). */
int maptable_function_address(const struct maptable *t, const char *function, uint64_t *vaddr,
			      struct error *err);
/*
 * The same, for who must know exactly: where the function begins, and all copies of it that the
 * compiler made (constprop, or of an inline function in a header). -ENOTUNIQ when the name is that
 * of several functions (overloads, static ones): the text lists them as they can be written; or
 * when it is inlined as well: then the text has a line that is in all copies.
 */
int maptable_function_addresses(const struct maptable *t, const char *function, uint64_t **vaddrs,
				size_t *n, struct error *err);
/*
 * Which function's code an address is, inlined or not: a number for each copy. @file and @line: of
 * the address; what is called there and inlined is the caller's.
 */
uint32_t maptable_instance(const struct maptable *t, uint64_t vaddr, const char *file,
			   uint32_t line);
/* Functions with a name near to @function, for a message (base/similar.h). */
struct similar;
void maptable_near_functions(const struct maptable *t, struct similar *similar);
/* The functions that @function stands for, where they are several, as they can be written; or NULL.
 */
char *maptable_function_overloads(const struct maptable *t, const char *function);
/* Every address where the line table begins a statement of FILE:LINE (file matched by its end). */
int maptable_line_addresses(const struct maptable *t, const char *file, uint32_t line,
			    uint64_t **vaddrs, size_t *n, struct error *err);

/* Where the line table begins statements, of whatever line, from @start to before @end; sorted. */
void maptable_statements(const struct maptable *t, uint64_t start, uint64_t end, uint64_t **vaddrs,
			 size_t *n);

/*
 * Ranges of a target. Inlined copies count. @function may be an address, "0x3a50": then it is the
 * function that this lies in. -ENOENT (with an error text) when there is none.
 */
int maptable_function_ranges(const struct maptable *t, const char *function,
			     struct addr_ranges *ret, struct error *err);
/* Of all functions whose name matches. */
int maptable_functions_ranges(const struct maptable *t, const char *glob, struct addr_ranges *ret,
			      struct error *err);
/* Of all lines from @first to @last. */
int maptable_lines_ranges(const struct maptable *t, const char *file, uint32_t first, uint32_t last,
			  struct addr_ranges *ret, struct error *err);
int maptable_file_ranges(const struct maptable *t, const char *glob, struct addr_ranges *ret,
			 struct error *err);
int maptable_all_ranges(const struct maptable *t, struct addr_ranges *ret, struct error *err);

#endif
