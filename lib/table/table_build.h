/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects what a table is made of, in any order, and lays it out at the end. */
#ifndef SCOZ_TABLE_BUILD_H
#define SCOZ_TABLE_BUILD_H

#include "base/hash_index.h"
#include "table/table.h"

/* Much comes in order, or nearly so; qsort() copies it all. (It must not be given NULL, not even
 * for nothing.) */
void sort_array(void *base, size_t n, size_t size, int (*compare)(const void *, const void *));

struct strpool {
	char *buf;
	size_t n, cap, max;
	struct hash_index index; /* of offsets in buf */
};

struct row {
	uint32_t off, file, line;
};

struct sequence {
	uint32_t start, end, first, n;
};

/* A piece of code that belongs to a scope. */
struct piece {
	uint32_t start, end, scope;
};

struct raw_symbol {
	uint32_t off, size, name; /* name: as in the symbol table */
	uint8_t rank;		  /* lower is the better name for an address */
};

struct table_builder {
	uint64_t base, code_vaddr;
	struct addr_ranges text;
	size_t cap_text;
	struct table_phdr *phdr;
	size_t n_phdr, cap_phdr;

	struct strpool str;
	uint64_t demangling_left;
	struct hash_index file_ids, func_ids;
	uint32_t *file;
	size_t n_file, cap_file;
	struct table_func *func;
	size_t n_func, cap_func;

	struct row *row;
	size_t n_row, cap_row, seq_first;
	bool seq_open, seq_outside;
	struct sequence *seq;
	size_t n_seq, cap_seq;

	struct table_scope *scope;
	uint32_t *scope_root;
	size_t n_scope, cap_scope, cap_scope_root;
	struct piece *piece;
	size_t n_piece, cap_piece;
	struct table_sym *sym;
	size_t n_sym, cap_sym;
	struct raw_symbol *symbol;
	size_t n_symbol, cap_symbol;
	struct unnamed {
		uint32_t off, end;
	} * unnamed; /* functions of which no name is known */
	size_t n_unnamed, cap_unnamed;
	uint32_t flags; /* TABLE_* */

	char *warning;
	bool far_text;
};

void builder_init(struct table_builder *b);
void builder_deinit(struct table_builder *b);
/* Of a file of @file_size bytes come names: their limit grows, and that of demangling. */
void builder_expect(struct table_builder *b, uint64_t file_size);

/* Text first: everything else is checked against it. */
void builder_text(struct table_builder *b, uint64_t start, uint64_t end);
void builder_text_done(struct table_builder *b);
/* Offset of an address that lies in the text, else false. */
bool builder_offset(const struct table_builder *b, uint64_t addr, uint32_t *off);
/* End of the stretch of text that holds @off. */
uint32_t builder_text_end(const struct table_builder *b, uint32_t off);

/* The first warning stays, later ones are only counted on as the same kind of trouble. */
void builder_warn(struct table_builder *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Bytes of a name that are kept. What exceeds the limit of all names is "[unknown]". Both set
 * TABLE_NAMES_CUT.
 */
#define BUILDER_MAX_NAME 16384
uint32_t builder_string(struct table_builder *b, const char *s);
uint32_t builder_file(struct table_builder *b, const char *path);
uint32_t builder_func(struct table_builder *b, const char *name, const char *linkage);
/* By strings that it has; @linkage 0: the name. */
uint32_t builder_func_of(struct table_builder *b, uint32_t name, uint32_t linkage);

/* Line rows of one sequence, in order of address, then its end. */
void builder_row(struct table_builder *b, uint64_t addr, uint32_t file, uint32_t line, bool stmt);
void builder_sequence_end(struct table_builder *b, uint64_t addr);
void builder_sequence_drop(struct table_builder *b);

uint32_t builder_scope(struct table_builder *b, uint32_t parent, uint32_t call_file,
		       uint32_t call_line);
/* False when the range is not text (a discarded section). */
bool builder_scope_range(struct table_builder *b, uint32_t scope, uint64_t start, uint64_t end);
void builder_symbol(struct table_builder *b, const char *name, uint64_t addr, uint64_t size,
		    int rank);

/* A function without a name; counts where nothing else is known. */
void builder_unnamed(struct table_builder *b, uint64_t start, uint64_t end);

struct table_identity {
	const char *debug_path;
	uint64_t file_size, debug_fingerprint;
	int64_t file_ctime_ns;
};
struct maptable *builder_finish(struct table_builder *b, enum map_source source,
				const struct table_identity *id);

/* Cuts what comes before the kernel's source tree off the file names of a kernel image. */
void kernel_source_paths(struct table_builder *b);

/*
 * What people are shown for a symbol, malloc'ed: "foo" for foo.cold, foo.part.0 or
 * foo.constprop.1, "ns::vec<int>::push" for a mangled name (@work_left: function_shown_name()).
 */
char *symbol_display_name(const char *symbol, bool *cold, uint64_t *work_left);
/* It is shown as it is. */
bool symbol_is_name(const char *symbol);
/* Takes one of the suffixes that compilers give to copies and parts off its end; false: it has
 * none.
 */
bool symbol_strip_suffix(char *name, bool *cold);

#endif
