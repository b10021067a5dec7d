/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs that make code while they run tell of it: functions, in the order in which they
 * were made, as a reader without rights makes a block of a perf map (/tmp/perf-PID.map: lines
 * "START SIZE NAME", numbers hexadecimal) or of a jitdump (jit-PID.dump: records with times,
 * and lines of source). Both grow, so a block is of what has come since the last one. What lies
 * where at which time is found by maps/made_code.h.
 */
#ifndef SCOZ_TABLE_CODE_LOADS_H
#define SCOZ_TABLE_CODE_LOADS_H

#include "base/base.h"

#define CODE_LOADS_MAGIC "SCOZLOAD"
#define CODE_LOADS_MOVED UINT32_MAX /* as its name: that of what was at `from` */
/* A line of a perf map that is longer will never end. */
#define CODE_LOADS_LINE (64 << 10)

enum code_loads_kind { CODE_LOADS_PERF_MAP, CODE_LOADS_JITDUMP };

struct code_load {
	uint64_t start, time;	/* time: CLOCK_MONOTONIC, ns; 0: not told */
	uint64_t from;		/* of what was moved: where it was */
	uint32_t size;		/* not 0; start and all of it are the user's half */
	uint32_t name;		/* in `text` */
	uint32_t line, n_lines; /* the first of them, and how many */
};

/* From that offset in the function on; sorted. */
struct code_load_line {
	uint32_t offset, line, file; /* file: in `text` */
};

struct code_loads_header {
	char magic[8];
	uint64_t size;
	uint64_t next; /* where in the file the next block begins */
	uint32_t n_load, n_line, n_text;
	uint32_t foreign; /* the file cannot be read on: it is of no kind that is known */
	uint32_t more;	  /* there may be more at `next` already */
};

struct code_loads {
	void *mem;
	size_t size;
	bool mapped;
	const struct code_loads_header *h;
	const struct code_load *load;
	const struct code_load_line *line;
	const char *text;
};

/* Takes @mem over; @mapped: by mmap(). NULL: it is not what it should be, and is freed. */
struct code_loads *code_loads_attach(void *mem, size_t size, bool mapped);
void code_loads_free(struct code_loads *l);

/*
 * Of an open file, from byte @from on, by this very process; what is left at header.next is the
 * beginning of what is still being written, or more than one block takes. NULL: an error.
 */
struct code_loads *code_loads_read(int fd, const char *name, enum code_loads_kind kind,
				   uint64_t from, struct error *err);
/* The same, by a process without rights where there is one. @fd stays the caller's. */
typedef struct code_loads *(*code_loads_reader_fn)(int fd, const char *name,
						   enum code_loads_kind kind, uint64_t from,
						   struct error *err);
struct code_loads *code_loads_open(int fd, const char *name, enum code_loads_kind kind,
				   uint64_t from, struct error *err);
void code_loads_read_by(code_loads_reader_fn fn);

#endif
