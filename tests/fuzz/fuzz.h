/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the fuzzers: what libFuzzer calls, inputs as files, and what looks at results. */
#ifndef SCOZ_FUZZ_H
#define SCOZ_FUZZ_H

#include "base/base.h"

#include <libelf.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);

/* A file in memory that holds the input, the same for all inputs: no two at a time. */
struct fuzz_file {
	int fd;
	char path[32]; /* opens it */
};
const struct fuzz_file *fuzz_file(const void *data, size_t size);

/* A stream that takes everything and keeps nothing. */
FILE *fuzz_sink(void);

/*
 * A file with nothing but the @n bytes of unwind tables at @frames, as a section of that name, or
 * (NULL) where PT_GNU_EH_FRAME is. NULL: libelf does not want it. The same memory for all.
 */
#define FUZZ_MAX_FRAMES (64 << 10)
Elf *fuzz_frames(const uint8_t *frames, size_t n, const char *section);

/* Asks a table everything that can be asked of one. */
struct maptable;
void fuzz_use_table(const struct maptable *t);

/*
 * Custom mutators. Of ELF files: inside of one section, so that what leads to it stays. Of files of
 * lines: lines are moved, doubled, dropped, or one is changed.
 */
size_t fuzz_mutate_elf(uint8_t *data, size_t size, size_t max, unsigned int seed);
size_t fuzz_mutate_lines(uint8_t *data, size_t size, size_t max, unsigned int seed);

#endif
