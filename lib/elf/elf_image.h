/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An ELF file opened for reading: what the rest needs of its headers, and where its debug file is.
 */
#ifndef SCOZ_ELF_IMAGE_H
#define SCOZ_ELF_IMAGE_H

#include "elf/decompress.h"
#include "table/maptable.h"

#include <gelf.h>

struct table_builder;

struct elf_image {
	char *path; /* that it was opened by */
	char *name; /* that people know it by */
	int fd;
	Elf *elf;
	uint64_t size, dev, ino;
	uid_t owner;
	int64_t ctime_ns;
	char build_id[2 * 64 + 1]; /* hex, "" without one */
	bool has_dwarf;
	bool no_sections; /* stripped of even its section headers */
	struct elf_buffers *buffers;

	/* Kernel modules (elf_relocate.c). */
	bool relocatable;
	uint64_t *section_addr; /* by number of section */
	size_t n_section;
};

enum elf_what { ELF_PROGRAMS, ELF_PROGRAMS_AND_MODULES };

/* libelf wants to be told its version once; any thread may call this. */
void elf_image_init(void);
/* Opens the regular file at @path and checks its headers. */
int elf_image_open(const char *path, const char *name, enum elf_what what, struct elf_image **ret,
		   struct error *err);
/* The same of an open regular file, which the image owns from now on, whatever comes of it. */
int elf_image_open_fd(int fd, const char *path, const char *name, enum elf_what what,
		      struct elf_image **ret, struct error *err);
void elf_image_close(struct elf_image *image);
void cleanup_elf_image(struct elf_image **image);

/* A section's content (uncompressed) by name without the leading '.', also as .zNAME; or NULL. */
const void *elf_image_section(const struct elf_image *image, const char *name, size_t *size);

/* The same; @b hears of one that is there and cannot be read. */
const void *elf_image_load(const struct elf_image *image, const char *name, size_t *size,
			   struct table_builder *b);

/* Where a section is in the file, by the same names; false: there is none. */
struct elf_section {
	uint64_t offset, size, uncompressed;
	enum elf_compression compression;
};
bool elf_image_find_section(const struct elf_image *image, const char *name,
			    struct elf_section *ret);

/* Gives the sections of a relocatable file addresses; then applies a section's relocations. */
void elf_image_place_sections(struct elf_image *image);
bool elf_image_relocate(const struct elf_image *image, Elf_Scn *target, void *bytes, size_t size);

/* Sections with code, as they are called and where the table has them. Free the names and all. */
struct elf_code {
	char *name;
	uint64_t addr, size;
};
size_t elf_image_code_sections(const struct elf_image *image, struct elf_code **ret);

/* Hands program headers and executable sections to the builder. */
int elf_image_read_layout(const struct elf_image *image, struct table_builder *b,
			  struct error *err);
/* Functions of .symtab, or of .dynsym. Returns how many there were. */
size_t elf_image_read_symbols(const struct elf_image *image, struct table_builder *b);
bool elf_image_has_symtab(const struct elf_image *image);
/* The linker's stubs for calls into libraries become functions called "[plt]". */
void elf_image_read_stubs(const struct elf_image *image, struct table_builder *b);
/* An executable, and no library? */
bool elf_image_is_program(const struct elf_image *image);

/*
 * The places where the debug information of @image may be, best first, and a number that changes
 * when any of the files there appears, changes or vanishes.
 */
struct debug_files {
	struct debug_candidate {
		char *path;
		int fd; /* taken by who reads it */
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
struct elf_image *debug_files_open(struct debug_files *f, const struct elf_image *image,
				   struct table_builder *b);

/* Reads the DWARF of @debug (which may be the image itself) into @b; false: nothing usable. */
bool dwarf_read(const struct elf_image *debug, const struct map_options *opt,
		struct table_builder *b);

#endif
