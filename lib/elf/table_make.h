/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an ELF file with its symbols and debug information to a mapping table: here, or, once the
 * symbolizer has set who else does it (maptable_set_maker()), in a process without rights.
 */
#ifndef SCOZ_ELF_TABLE_MAKE_H
#define SCOZ_ELF_TABLE_MAKE_H

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
int maptable_make(const char *path, const char *name, const struct map_options *opt,
		  struct maptable **ret, struct error *err);
/* The same of an open regular file, which stays the caller's. */
int maptable_make_fd(int fd, const char *name, const struct map_options *opt, struct maptable **ret,
		     struct error *err);
/* The running kernel's functions from kallsyms (sysroot-relative /proc/kallsyms). */
int maptable_make_kallsyms(struct maptable **ret, struct error *err);
/* Says of a file that is no ELF file what it is (a script, mostly): -ENOEXEC. */
int maptable_not_elf(int fd, const char *name, struct error *err);

/*
 * To make a table, in two steps: the first finds the debug files and tells what a cached table must
 * have been made of (@fingerprint); it takes @fd over.
 */
struct table_work;
int table_work_begin(int fd, const char *name, const struct map_options *opt,
		     struct table_work **ret, uint64_t *fingerprint, struct error *err);
struct maptable *table_work_build(struct table_work *w, const struct map_options *opt,
				  struct error *err);

/* Where the kernel says that @fd is, malloc'ed; "": nowhere. */
char *table_file_path(int fd);

/*
 * Who makes tables instead of this very process (symbolizer/symbolizer.h): of the open file @fd,
 * which stays the caller's. @cache: where the table is kept, or NULL.
 */
typedef int (*table_maker_fn)(int fd, const char *name, const struct map_options *opt,
			      const char *cache, struct maptable **ret, struct error *err);
void maptable_set_maker(table_maker_fn fn);

#endif
