/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mapping tables: from an address in a process (or in the kernel) to binary, function, line and
 * inline chain, and back from a target to address ranges (SCOZ paper, section 3.4).
 *
 *   struct maptable   one executable, library or kernel image; built on demand, shared by all
 *                     processes that map the file, cached on disk by build-id; immutable once
 *                     built, so readers need no lock
 *   struct maps       the set of known binaries and the address spaces of all processes
 *
 * Threads: a `struct maps` may be used from several threads; lookups take a read lock or none,
 * changes (exec, mmap, fork, exit) a write lock. Neither ever waits for a file: what has to be done
 * with files (opening, looking whether they have changed, building tables) is noted and done by
 * the threads of maps_start(), or by whoever calls maps_catch_up() or maps_binary().
 */
#ifndef SCOZ_MAP_H
#define SCOZ_MAP_H

#include "base/base.h"

/* A half-open range of virtual addresses as in the file's program headers (not biased). */
struct addr_range {
	uint64_t start, end;
};

struct addr_ranges {
	struct addr_range *r; /* sorted, merged, malloc'ed */
	size_t n;
};
void addr_ranges_sort_merge(struct addr_ranges *ranges);
void addr_ranges_free(struct addr_ranges *ranges);

/* One level of an inline chain. Strings belong to the table and live as long as it does. */
struct map_frame {
	const char *function; /* never NULL: "[unknown]" at worst */
	const char *file;     /* NULL without line information; path as the compiler saw it */
	uint32_t line;	      /* 0 when unknown */
};
#define MAP_MAX_INLINE 16

/*
 * Where the table's knowledge came from, for messages and `scoz targets`. MAP_UNWIND: no symbols
 * at all, but the ranges of functions, by what unwinds the stack.
 */
enum map_source { MAP_NONE, MAP_SYMTAB, MAP_DWARF, MAP_KALLSYMS, MAP_UNWIND };

struct maptable;

/* Identity of the file as the kernel sees it (/proc/PID/maps, PERF_RECORD_MMAP2). */
struct file_id {
	uint32_t dev_major, dev_minor;
	uint64_t ino;
	uint64_t generation; /* of the inode number; 0: not told */
};

struct map_options {
	const char *cache_dir;	/* NULL: no cache. Default location: maptable_default_cache_dir() */
	const char *debug_root; /* NULL: "/usr/lib/debug" */
	const char *root;	/* NULL, or a prefix ("/proc/PID/root") under which debug files
				 * are looked for first; `struct maps` sets it for containers */
	bool kernel;		/* a kernel image or a module: read in little memory, source paths
				 * from the top of the kernel's source ("fs/namei.c") */
};

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
/* The running kernel's functions from kallsyms (sysroot-relative /proc/kallsyms). */
int maptable_open_kallsyms(struct maptable **ret, struct error *err);
void maptable_free(struct maptable *t);
/* Malloc'ed. Of root it depends on nothing, of others on XDG_CACHE_HOME and HOME. */
char *maptable_default_cache_dir(void);

const char *maptable_name(const struct maptable *t); /* e.g. "/usr/bin/gzip" or "[kernel]" */
enum map_source maptable_source(const struct maptable *t);
bool maptable_is_program(const struct maptable *t);	 /* an executable, no library */
bool maptable_is_stripped(const struct maptable *t);	 /* no symbols but those for linking */
const char *maptable_build_id(const struct maptable *t); /* hex, "" when the file has none */
size_t maptable_memory(const struct maptable *t);	 /* bytes held */
/* Lowest p_vaddr of an executable PT_LOAD: with mm->start_code this gives the load bias. */
uint64_t maptable_code_vaddr(const struct maptable *t);
/* File offset -> virtual address by the PT_LOAD that holds it; false when none does. */
bool maptable_offset_to_vaddr(const struct maptable *t, uint64_t offset, uint64_t *vaddr);
bool maptable_vaddr_to_offset(const struct maptable *t, uint64_t vaddr, uint64_t *offset);
/* Warnings found while building ("debug file X does not match build-id ..."), or NULL. */
const char *maptable_warning(const struct maptable *t);

/*
 * Innermost inline first; returns the number of frames written (>= 1 when the address lies in a
 * known function, 0 otherwise). @frames[n-1] is the out-of-line function that owns the address.
 */
int maptable_lookup(const struct maptable *t, uint64_t vaddr, struct map_frame *frames, int max);

/* Start of the first function of that name (exact, or demangled without parameters). */
int maptable_function_address(const struct maptable *t, const char *function, uint64_t *vaddr,
			      struct error *err);
/*
 * The same, for who must know exactly: where the function begins, and all copies of it that the
 * compiler made (constprop, or of an inline function in a header). -ENOTUNIQ when the name is that
 * of several functions (overloads, static ones): the text lists them as they can be written.
 */
int maptable_function_addresses(const struct maptable *t, const char *function, uint64_t **vaddrs,
				size_t *n, struct error *err);
/* Functions with a name near to @function, for a message (base/similar.h). */
struct similar;
void maptable_near_functions(const struct maptable *t, struct similar *similar);
/* The functions that @function stands for, where they are several, as they can be written; or NULL.
 */
char *maptable_function_overloads(const struct maptable *t, const char *function);
/* Every address where the line table begins a statement of FILE:LINE (file matched by its end). */
int maptable_line_addresses(const struct maptable *t, const char *file, uint32_t line,
			    uint64_t **vaddrs, size_t *n, struct error *err);

/* Where the line table begins statements, of whatever line, from @start to before @end; sorted. */
void maptable_statements(const struct maptable *t, uint64_t start, uint64_t end, uint64_t **vaddrs,
			 size_t *n);

/*
 * Ranges of a target. Inlined copies count. @function may be an address, "0x3a50": then it is the
 * function that this lies in. -ENOENT (with an error text) when there is none.
 */
int maptable_function_ranges(const struct maptable *t, const char *function,
			     struct addr_ranges *ret, struct error *err);
int maptable_line_ranges(const struct maptable *t, const char *file, uint32_t line,
			 struct addr_ranges *ret, struct error *err);
int maptable_file_ranges(const struct maptable *t, const char *glob, struct addr_ranges *ret,
			 struct error *err);
int maptable_all_ranges(const struct maptable *t, struct addr_ranges *ret, struct error *err);

/* ------------------------------------------------------------------------------------------ */

struct maps;

struct maps_options {
	struct map_options table;
	/* Only these binaries (globs on the path) get tables; NULL/0: every one, on demand. */
	const char *const *binary_scope;
	size_t n_binary_scope;
};

int maps_create(const struct maps_options *opt, struct maps **ret, struct error *err);
void maps_destroy(struct maps *m);

/*
 * Reads /proc/PID/maps of every process (processes already running), or of one: -ESRCH when there
 * is none, -EACCES when it may not be read.
 */
int maps_scan_all(struct maps *m, struct error *err);
int maps_scan_process(struct maps *m, int pid);
/*
 * After events were lost: what /proc tells now replaces what is known, processes that it does not
 * tell of have exited. @fn (may be NULL) hears of every process that was known.
 */
int maps_rescan(struct maps *m, void (*fn)(int pid, void *arg), void *arg, struct error *err);

/*
 * Events of the perf rings. Those of one core come in order; between cores they do not: a child's
 * exec may be read before the fork that made it. So every event carries the time at which it
 * happened (CLOCK_MONOTONIC ns; 0: now), and an older one never undoes what a newer one told.
 * @filename as in PERF_RECORD_MMAP2 (in the mount namespace of the process: containers resolve
 * through /proc/PID/root or map_files).
 */
void maps_add(struct maps *m, uint64_t time, int pid, uint64_t start, uint64_t len, uint64_t pgoff,
	      struct file_id id, const char *filename);
void maps_fork(struct maps *m, uint64_t time, int parent_pid, int child_pid);
/* Drops all mappings of the old image. */
void maps_exec(struct maps *m, uint64_t time, int pid);
void maps_exit(struct maps *m, uint64_t time, int pid);

/* The path of the code that the kernel lends to every process; there is no table for it. */
#define MAPS_VDSO "[vdso]"

/* One binary as known to @m; ids are small integers, stable for the life of @m. */
#define MAPS_KERNEL_ID 0
struct maps_binary {
	uint32_t id;
	bool kernel; /* the kernel's image, or one of its modules ("[ext4]") */
	struct file_id file;
	const char *path;	      /* as the process saw it */
	const struct maptable *table; /* NULL: not built yet, or could not be (see error) */
	const char *error;	      /* why there is no table, or NULL */
	bool outside;		      /* of --binary-scope: that is why */
};
/* Opens the regular file at @path if it is the one that mappings of @id show; -1: it is not. */
int maps_open_file(const char *path, const struct file_id *id);
/*
 * Builds the table if that has not happened yet, and waits for that. Valid until maps_destroy().
 * NULL: no such id.
 */
const struct maps_binary *maps_binary(struct maps *m, uint32_t id);
/* The same without waiting: NULL when it has not been built; then it is asked for. */
const struct maps_binary *maps_binary_known(struct maps *m, uint32_t id);
/* What is known of it without its table: id, file, path and whether it is of the kernel. */
const struct maps_binary *maps_binary_unread(struct maps *m, uint32_t id);
/* A number that grows with every table that is built, or found not to be possible. */
uint64_t maps_built(struct maps *m);

/*
 * Threads that do what has to be done with files: one that opens and looks, others that build
 * tables. maps_stop() waits for them no longer than @seconds; false: they are stuck in a file, and
 * @m must be left to them.
 */
int maps_start(struct maps *m, struct error *err);
bool maps_stop(struct maps *m, double seconds);
/* Without these threads: does, now, all but building. */
void maps_catch_up(struct maps *m);
/* Tables that were asked for and are not there yet. */
size_t maps_awaited(struct maps *m);
uint32_t maps_binary_count(struct maps *m);
/* Whether it is of the kernel, without building anything. */
bool maps_binary_is_kernel(struct maps *m, uint32_t id);
/* The path alone, without building anything; NULL: no such id. */
const char *maps_binary_path(struct maps *m, uint32_t id);

/*
 * Lines of the kernel and its modules, from files with debug information that have the build-ids
 * of what is running; to be called once, before anything is looked up. @images: the kernel's image
 * (or "auto": it is looked for where distributions put it) and, if they are in no usual place,
 * modules. A file that does not belong to the running kernel is an error; that "auto" finds
 * nothing is not, it is logged, and functions come from kallsyms.
 */
int maps_open_kernel(struct maps *m, const char *const *images, size_t n, struct error *err);
/* Has that been called? */
bool maps_kernel_targets(const struct maps *m);
/* From a kernel binary's table to addresses in the running kernel, in place. */
void maps_kernel_ranges(const struct maps *m, uint32_t binary, struct addr_ranges *ranges);

/*
 * Address in a process -> binary and place in it: the offset in the file, for which nothing need be
 * known of it, or in binaries of the kernel the address as its table has it. false: unknown mapping
 * (anonymous, JIT, gone). Addresses of the kernel's half give a binary of the kernel, whatever the
 * process: without maps_open_kernel() MAPS_KERNEL_ID and the address itself. A process that has
 * exited is still known for a second. Must be fast (a binary search under a read lock): it runs for
 * every sample.
 */
bool maps_resolve(struct maps *m, int pid, uint64_t addr, uint32_t *binary_id, uint64_t *place);
/* A place as the binary's table has it; where there is none, the place itself. */
uint64_t maps_vaddr(const struct maps_binary *b, uint64_t place);

/*
 * What lies at an address that maps_resolve() does not know, as the process has it now: a file
 * (its events are still to come), or memory alone. Reads /proc.
 */
enum maps_code { MAPS_CODE_GONE, MAPS_CODE_FILE, MAPS_CODE_MEMORY };
enum maps_code maps_code_at(int pid, uint64_t addr);
/* The same as a chore: @fn is called with the answer by the thread that has it, or never. */
void maps_ask_code(struct maps *m, int pid, uint64_t addr, uint64_t count,
		   void (*fn)(enum maps_code code, uint64_t count, void *arg), void *arg);

/* Executable mappings of one binary in all processes, for publishing target ranges. */
struct maps_mapping {
	int pid;
	uint64_t start, end; /* addresses in the process */
	uint64_t bias;	     /* address in the process = vaddr + bias, once it has a table */
};
/* Calls @fn for every executable mapping of @binary_id; stops when it returns non-zero. */
int maps_for_each_mapping(struct maps *m, uint32_t binary_id,
			  int (*fn)(const struct maps_mapping *, void *), void *arg);
/*
 * The first thread of a process has ended; whether others go on is looked up by a chore. Then the
 * process exits as by maps_exit(), and whoever asked by maps_on_exit() is told.
 */
void maps_leader_ended(struct maps *m, uint64_t time, int pid);
void maps_on_exit(struct maps *m, void (*fn)(int pid, void *arg), void *arg);
/* Told about every new executable mapping of a known binary (called without locks held). */
void maps_on_mapping(struct maps *m,
		     void (*fn)(uint32_t binary_id, const struct maps_mapping *, void *),
		     void *arg);

#endif
