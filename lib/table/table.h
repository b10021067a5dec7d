/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside a mapping table.
 *
 * A table is one block of bytes: a header, then arrays that the header describes by offset and
 * count. Nothing in it is a pointer, so the block that the builder makes in memory is the block
 * that the cache keeps on disk and maps back.
 *
 * Addresses are 32-bit offsets from `base`, the lowest text address: text further than 4 GiB away
 * is left out (and the table's warning says so). Three sorted arrays answer a lookup:
 *
 *   rows        from here on: file and line. A row without a file ends a sequence. Of several rows
 *               at one address the last holds; the others are statements without code of their
 *               own, kept because a progress point may name them
 *   intervals   from here on: the innermost scope, or NONE. Scopes do not overlap here: an inlined
 *               call has been cut out of its caller
 *   scopes      a function or an inlined copy of one; the parent comes before its children, and
 *               a copy knows the place it was called from
 */
#ifndef SCOZ_TABLE_H
#define SCOZ_TABLE_H

#include "table/maptable.h"

#define NONE	      UINT32_MAX
#define TABLE_MAGIC   "scozmap"
#define TABLE_VERSION 9
#define TABLE_ENDIAN  0x01020304u

/* What is called NAME is what a function of this name chooses when the program starts (IFUNC). */
#define RESOLVER_SUFFIX ".resolver"

#define TABLE_PROGRAM	1u /* no library */
#define TABLE_STRIPPED	2u /* neither debug information nor a symbol table, but for linking */
#define TABLE_NAMES_CUT 4u /* names were too long, or too many */
#define TABLE_PARTIAL	8u /* files that its file refers to were missing */

#define ROW_STMT (1u << 31)
#define ROW_LINE (ROW_STMT - 1)

#define SYM_COLD  1u /* the cold part of a function, not its start */
#define SYM_SCOPE 2u /* while building: func is a scope */

struct table_phdr {
	uint64_t offset, filesz, vaddr, memsz;
	uint32_t exec, pad;
};

struct table_scope {
	uint32_t func;
	uint32_t parent;    /* NONE: out of line */
	uint32_t call_file; /* NONE: unknown */
	uint32_t call_line;
};

struct table_func {
	uint32_t name;	  /* qualified by namespace and class, no parameters */
	uint32_t linkage; /* symbol name where it differs, else 0 ("") */
};

struct table_sym {
	uint32_t func;
	uint32_t off;
	uint32_t size; /* 0: the intervals know */
	uint32_t flags;
};

enum table_array {
	TA_PHDR,     /* struct table_phdr */
	TA_TEXT,     /* struct addr_range */
	TA_ROW_OFF,  /* uint32_t */
	TA_ROW_FILE, /* uint32_t index into TA_FILE, or NONE */
	TA_ROW_LINE, /* uint32_t, with ROW_STMT */
	TA_FILE,     /* uint32_t string */
	TA_IV_OFF,   /* uint32_t */
	TA_IV_SCOPE, /* uint32_t index into TA_SCOPE, or NONE */
	TA_SCOPE,    /* struct table_scope */
	TA_FUNC,     /* struct table_func */
	TA_SYM,	     /* struct table_sym */
	TA_STR,	     /* NUL-terminated strings; the first is "" */
	TA_COUNT
};

struct table_header {
	char magic[8];
	uint32_t version, endian;
	uint64_t size;	   /* of the whole block */
	uint64_t checksum; /* of the whole block, this field taken as 0 */
	uint32_t header_size;
	uint32_t source; /* enum map_source */
	/* Which files the table was made from: a cached table is good as long as these hold. */
	uint64_t file_size;
	int64_t file_ctime_ns;
	uint64_t debug_fingerprint;
	uint32_t warning, debug_path; /* strings */
	uint32_t flags;		      /* TABLE_* */
	uint32_t zero;
	uint64_t base, code_vaddr;
	struct {
		uint64_t offset, n;
	} array[TA_COUNT];
};

struct maptable {
	char *name;
	void *mem;
	size_t size;
	bool mapped;  /* mem is a mapping, not malloc'ed */
	bool cached;  /* ... of a file of the cache, and `segments` are its phdr */
	bool wanted;  /* since maptable_rest() was called last; atomic */
	bool resting; /* of who calls that */
	struct table_phdr *segments;
	uint64_t *counted; /* what this table's size is a part of while it is there, or NULL */
	const struct table_header *h;
	const struct table_phdr *phdr;
	const struct addr_range *text;
	const uint32_t *row_off, *row_file, *row_line, *file, *iv_off, *iv_scope;
	const struct table_scope *scope;
	const struct table_func *func;
	const struct table_sym *sym;
	const char *str;
	uint32_t n_phdr, n_text, n_row, n_file, n_iv, n_scope, n_func, n_sym;
};

/*
 * Makes a table of a block; takes the block over. With @check, every index in it is looked at
 * first, and NULL comes back (the block released) when one leads outside.
 */
struct maptable *table_attach(void *mem, size_t size, bool mapped, bool check);
/* Of a block with its checksum where struct table_header has it, which is taken as 0. */
uint64_t table_checksum(const void *mem, size_t size);
extern const uint8_t table_element_size[TA_COUNT];

/* A question is asked that reads more than the segments. */
static inline void table_is_wanted(const struct maptable *t)
{
	bool *wanted = (bool *)&t->wanted; /* a hint, and no table is really const */

	if (!__atomic_load_n(wanted, __ATOMIC_RELAXED))
		__atomic_store_n(wanted, true, __ATOMIC_RELAXED);
}

/* Last index with off[i] <= x, or NONE. */
uint32_t table_search(const uint32_t *off, uint32_t n, uint32_t x);

/* 0, or an error if a function of @marked is inlined as well as called. */
int table_refuse_inlined(const struct maptable *t, const bool *marked, const char *function,
			 struct error *err);
/* The error that all of them are inlined. */
int table_only_inlined(const struct maptable *t, const bool *marked, const char *function,
		       struct error *err);

/*
 * The cache: a file for each file that tables are made of, here @fd. NULL: none is kept. @kind: of
 * the table, for the end of its name; "": the mapping table.
 */
char *cache_file_name(const struct map_options *opt, int fd, const char *kind);
/*
 * What @file holds, mapped (to be checked, and given back by munmap()); NULL: nothing of ours.
 * @copied, unless NULL: into memory of our own, since others may write to the file.
 */
void *cache_map(const char *file, size_t *size, bool *copied);
void cache_write(const char *file, const void *mem, size_t size);
struct maptable *cache_load(const char *file, int fd, uint64_t debug_fingerprint);
/* But one that is TABLE_PARTIAL: nothing would tell that what was missing has come. */
void cache_store(const char *file, const struct maptable *t);
/* Of an open /proc/kallsyms. @path is what people are shown. */
struct maptable *table_of_kallsyms(int fd, const char *path, struct error *err);

extern uint64_t cache_max_bytes; /* what the cache may take of the disk */

#endif
