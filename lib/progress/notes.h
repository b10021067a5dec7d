/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The notes of one name in an ELF file, with every length checked. Private to lib/progress. */
#ifndef SCOZ_NOTES_H
#define SCOZ_NOTES_H

#include "files/held_file.h"

struct elf_notes {
	const struct held_file *file;
	const char *section; /* e.g. ".note.stapsdt" */
	const char *owner;   /* notes of other owners are passed over */
	uint32_t type;	     /* as are those of other types */
};

struct elf_file; /* the file the note is in */

struct elf_note {
	const struct elf_file *file;
	const unsigned char *desc;
	size_t len;
	uint64_t vaddr; /* of @desc; 0 where the section is not loaded */
	size_t wordsize;
};

/*
 * Calls @fn for each; a non-zero return ends the walk and is returned. An error set by @fn is
 * given the file's name.
 */
int elf_notes_walk(const struct elf_notes *want,
		   int (*fn)(const struct elf_note *note, void *arg, struct error *err), void *arg,
		   struct error *err);
/* Address -> file offset, by the segment that holds it. @executable: it must be code. */
bool elf_file_offset(const struct elf_file *f, uint64_t vaddr, bool executable, uint64_t *offset);
/* Copies the string at @vaddr, or the last @size - 1 characters of it; false: there is none. */
bool elf_file_string(const struct elf_file *f, uint64_t vaddr, char *buf, size_t size);
/* Address of the named section, 0 when there is none. */
uint64_t elf_file_section(const struct elf_file *f, const char *name);
/* Reads @size (4 or 8) bytes; the caller has checked the length. */
uint64_t elf_note_word(const unsigned char *p, size_t size);

#endif
