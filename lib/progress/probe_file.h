/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * May a probe be put at this address of that file? Only where an instruction is shown to begin by
 * what the file itself says (symbols, unwind tables, notes: they cannot be of another build) and
 * by line information that was checked to belong to it. Everything else is refused: what a
 * profiled program computes must not change.
 */
#ifndef SCOZ_PROBE_FILE_H
#define SCOZ_PROBE_FILE_H

#include "files/held_file.h"

struct probe_file;

/* Reads the functions of the ELF file @file, which must stay open. */
int probe_file_open(const struct held_file *file, struct probe_file **ret, struct error *err);
void probe_file_close(struct probe_file *f);

struct probe_place {
	uint64_t vaddr;
	/* How people know it: an offset in a function. NULL: by its address. */
	const char *function;
	uint64_t function_vaddr;
	/* A note of the file says that there is a probe, that is a nop. */
	bool note;
	/* Where the line table begins statements, sorted, as far as known around the place. */
	const uint64_t *statements;
	size_t n_statements;
};
/*
 * -ENOTSUP when there is no instruction, or none can be shown to be there: the text says which
 * instructions are next to it. -EINVAL: the file contradicts itself or its line information.
 */
int probe_file_check(struct probe_file *f, const struct probe_place *place, struct error *err);
/* The code that the last probe_file_check() looked at, and where in the file that is; f's own. */
const uint8_t *probe_file_checked(const struct probe_file *f, uint64_t *offset, uint64_t *size);
/*
 * The code of the function, or of that part of one that lies apart, which begins at @vaddr; no more
 * than up to @limit. @code's bytes are malloc'ed; *@offset: where in the file they are. -ENOTSUP:
 * none is known to begin there.
 */
struct code;
int probe_file_function(const struct probe_file *f, uint64_t vaddr, uint64_t limit,
			struct code *code, uint64_t *offset, struct error *err);
/* Is it a library's function, which the file calls? */
bool probe_file_imports(const struct probe_file *f, const char *function);
/* The address that is at @offset in the file; false: none, or it is no code. */
bool probe_file_vaddr(const struct probe_file *f, uint64_t offset, uint64_t *vaddr);
/*
 * The function that holds @vaddr, or else what lies between the functions around it: the place
 * whose statements probe_file_check() can use. false: it is not in the code.
 */
bool probe_file_around(const struct probe_file *f, uint64_t vaddr, uint64_t *start, uint64_t *end);

#endif
