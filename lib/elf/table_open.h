/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From an ELF file with its symbols and debug information to a mapping table. */
#ifndef SCOZ_ELF_TABLE_OPEN_H
#define SCOZ_ELF_TABLE_OPEN_H

#include "table/maptable.h"

/*
 * Builds the table of the ELF file at @path (a path that can be opened now, for instance
 * /proc/PID/root/... or /proc/PID/map_files/...); @name is what people are shown.
 * Debug information: in the file, by build-id or .gnu_debuglink under @debug_root, split into
 * .gnu_debugaltlink (dwz) files, compressed or not, DWARF 2 to 5; without any: .symtab, .dynsym.
 * A function that only .eh_frame knows is called by its address, "0x3a50"; stubs of the linker are
 * called "[plt]".
 * A malformed or truncated file gives an error that names the file, never a crash.
 */
int maptable_open(const char *path, const char *name, const struct map_options *opt,
		  struct maptable **ret, struct error *err);
/* The same of an open regular file, which stays the caller's. */
int maptable_open_fd(int fd, const char *name, const struct map_options *opt, struct maptable **ret,
		     struct error *err);
/* Says of a file that is no ELF file what it is (a script, mostly): -ENOEXEC. */
int maptable_not_elf(int fd, const char *name, struct error *err);

#endif
