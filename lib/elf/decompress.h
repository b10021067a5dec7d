/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The methods by which sections are compressed behind one interface: a stream, fed and drained. */
#ifndef SCOZ_ELF_DECOMPRESS_H
#define SCOZ_ELF_DECOMPRESS_H

#include "base/base.h"

#include <zlib.h>
#include <zstd.h>

enum elf_compression { ELF_PLAIN, ELF_ZLIB, ELF_ZSTD, ELF_OTHER };

struct decompressor {
	/* What to take from and where to put it; a step moves both on. */
	const uint8_t *in;
	size_t n_in;
	uint8_t *out;
	size_t n_out;

	/* Private. */
	const struct decompress_method *method;
	bool damaged;
	union {
		z_stream zlib;
		ZSTD_DStream *zstd;
	};
};

/* False: unknown method, or no memory. */
bool decompress_begin(struct decompressor *d, enum elf_compression how);
/*
 * False: the data are damaged. A step that neither takes nor makes anything needs more input or
 * room; when it has both, the data are at their end. Without input it makes what it still holds.
 */
bool decompress_step(struct decompressor *d);
void decompress_end(struct decompressor *d);

#endif
