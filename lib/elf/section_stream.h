/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A section that is read from its beginning to its end and is too large to be held as a whole:
 * the .debug_info of a kernel has 200 MB and more. What was asked for last is in memory, with
 * some of what follows it. Compressed sections are decompressed on the way; going back in one of
 * them costs decompressing it again from its beginning.
 */
#ifndef SCOZ_ELF_SECTION_STREAM_H
#define SCOZ_ELF_SECTION_STREAM_H

#include "elf/decompress.h"
#include "elf/elf_image.h"

struct section_stream {
	uint64_t size;	     /* as if uncompressed */
	const char *trouble; /* why its bytes are not to be had, or NULL */

	/* Private. */
	const uint8_t *mem; /* the whole section, when it is in memory anyway */
	int fd;
	uint64_t file_off, file_size;
	enum elf_compression compression;
	struct decompressor d;
	uint8_t *in;
	uint64_t in_done; /* bytes of the file given to the decompressor */
	uint64_t made;	  /* bytes decompressed so far, each as often as it was */
	uint8_t *buf;
	size_t cap, n;
	uint64_t at; /* of buf[0] in the section */
};

/* Returns NULL, or why the section cannot be read. A missing one is empty. */
const char *section_stream_open(struct section_stream *s, const struct elf_image *image,
				const char *name);
/* @n bytes at @off, good until the next call; NULL when they are not to be had. */
const uint8_t *section_stream_get(struct section_stream *s, uint64_t off, size_t n);
void section_stream_close(struct section_stream *s);

/* The whole of the section there, malloc'ed. Returns NULL, or why it cannot be read. */
const char *section_read_whole(const struct elf_image *image, const struct elf_section *place,
			       uint8_t **ret);

#endif
