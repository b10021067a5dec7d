/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An ELF file opened for reading: what the rest needs of its headers, and where its debug file is.
 */
#ifndef SCOZ_MAP_ELF_IMAGE_H
#define SCOZ_MAP_ELF_IMAGE_H

#include "map/map.h"

#include <gelf.h>

struct table_builder;

struct elf_image {
	char *path; /* that it was opened by */
	char *name; /* that people know it by */
	int fd;
	Elf *elf;
	uint64_t size, dev, ino;
	int64_t mtime_ns;
	char build_id[2 * 64 + 1]; /* hex, "" without one */
	bool has_dwarf;
	bool no_sections; /* stripped of even its section headers */
};

/* libelf wants to be told its version once; any thread may call this. */
void elf_image_init(void);
/* Opens the regular file at @path and checks its headers. */
int elf_image_open(const char *path, const char *name, struct elf_image **ret, struct error *err);
void elf_image_close(struct elf_image *image);
void cleanup_elf_image(struct elf_image **image);

/* A section's content (uncompressed) by name without the leading '.', also as .zNAME; or NULL. */
const void *elf_image_section(const struct elf_image *image, const char *name, size_t *size);

/* Hands program headers and executable sections to the builder. */
int elf_image_read_layout(const struct elf_image *image, struct table_builder *b,
			  struct error *err);
/* Functions of .symtab, or of .dynsym. Returns how many there were. */
size_t elf_image_read_symbols(const struct elf_image *image, struct table_builder *b);

/*
 * The places where the debug information of @image may be, best first, and a number that changes
 * when any of the files there appears, changes or vanishes.
 */
struct debug_files {
	struct debug_candidate {
		char *path;
		bool by_build_id;
	} * c;
	size_t n, cap;
	uint64_t fingerprint;
	uint32_t crc; /* that .gnu_debuglink demands */
};
void debug_files_find(const struct elf_image *image, const struct map_options *opt,
		      struct debug_files *ret);
void debug_files_free(struct debug_files *f);
/* Opens the first one that belongs to @image; NULL when none does. Warnings go to @b. */
struct elf_image *debug_files_open(const struct debug_files *f, const struct elf_image *image,
				   struct table_builder *b);

/* Reads the DWARF of @debug (which may be the image itself) into @b; false: nothing usable. */
bool dwarf_read(const struct elf_image *debug, const struct map_options *opt,
		struct table_builder *b);

#endif
