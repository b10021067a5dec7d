/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces: from an address in a process to binary and place in it. A `struct maps` is the
 * set of known binaries, with their tables, and the address spaces of all processes.
 *
 * Threads: a `struct maps` may be used from several threads; lookups take a read lock or none,
 * changes (exec, mmap, fork, exit) a write lock. Neither ever waits for a file: what has to be done
 * with files (opening, looking whether they have changed, building tables) is noted and done by
 * the threads of maps_start(), or by whoever calls maps_catch_up() or maps_binary_wait().
 */
#ifndef SCOZ_MAPS_H
#define SCOZ_MAPS_H

#include "table/maptable.h"

/* Identity of the file as the kernel sees it (/proc/PID/maps, PERF_RECORD_MMAP2). */
struct file_id {
	uint32_t dev_major, dev_minor;
	uint64_t ino;
	uint64_t generation; /* of the inode number; 0: not told */
};

/* As the kernel has it in memory (dev_t). */
static inline uint64_t file_id_dev(const struct file_id *id)
{
	return (uint64_t)id->dev_major << 20 | id->dev_minor;
}

struct maps;

struct maps_options {
	struct map_options table;
	/* Only these binaries (globs on the path) get tables; NULL/0: every one, on demand. */
	const char *const *binary_scope;
	size_t n_binary_scope;
	/* Code that is made at run time has the names that its processes tell (maps_made.c). */
	bool perf_maps;
};

int maps_create(const struct maps_options *opt, struct maps **ret, struct error *err);
void maps_destroy(struct maps *m);

/*
 * Reads /proc/PID/maps of every process (processes already running), or of one: -ESRCH when there
 * is none, -EACCES when it may not be read, -ETIMEDOUT or -EAGAIN as proc_maps_read() says.
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
/* false: the process has executed or begun since. */
bool maps_exit(struct maps *m, uint64_t time, int pid);

/* The path of the code that the kernel lends to every process; there is no table for it. */
#define MAPS_VDSO "[vdso]"

/*
 * One binary as known to @m. Ids are small integers. That of a binary into which no sample fell,
 * and which nobody has asked about but for maps_regions(), is given to another once no process has
 * mapped it for a while; all others are for the life of @m.
 */
#define MAPS_KERNEL_ID 0
struct maps_binary {
	uint32_t id;
	uint64_t serial; /* never given away twice */
	bool kernel;	 /* the kernel's image, or one of its modules ("[ext4]") */
	struct file_id file;
	const char *path;	      /* as the process saw it */
	const struct maptable *table; /* NULL: not built yet, or could not be (see error) */
	const char *error;	      /* why there is no table, or NULL */
	bool outside;		      /* of --binary-scope: that is why */
	/*
	 * Code that a process makes while it runs, as it tells (maps/made_code.h); places are
	 * addresses of that process. NULL: it is a file.
	 */
	struct made_code *made;
};
/*
 * Opens the regular file at @path if it is the one that mappings of @id show. A descriptor, or a
 * negative errno (-ESTALE: it is another one).
 */
int maps_open_file(const char *path, const struct file_id *id);
/* ... as process @pid has it. */
int maps_open_file_of(int pid, const char *path, const struct file_id *id);
/*
 * Builds the table if that has not happened yet, and waits for that. Valid until maps_destroy().
 * NULL: no such id.
 */
const struct maps_binary *maps_binary_wait(struct maps *m, uint32_t id);
/* The same without waiting: NULL when it has not been built; then it is asked for. */
const struct maps_binary *maps_binary_ask(struct maps *m, uint32_t id);
/* The file, whose generation may become known while it is looked at. */
static inline struct file_id maps_file_of(const struct maps_binary *b)
{
	return (struct file_id){ b->file.dev_major, b->file.dev_minor, b->file.ino,
				 __atomic_load_n(&b->file.generation, __ATOMIC_RELAXED) };
}
/* What is known of it without its table: id, file, path and whether it is of the kernel. */
const struct maps_binary *maps_binary_unread(struct maps *m, uint32_t id);
/* A number that grows with every table that is built, or found not to be possible. */
uint64_t maps_built(struct maps *m);

/* Now and then, by one thread: tables that nobody asks leave their pages (maptable_rest()). */
void maps_rest(struct maps *m);

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
/* Whether it stands for what a process makes while it runs. */
bool maps_binary_is_made(struct maps *m, uint32_t id);
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
 * known of it, or in binaries of the kernel the address as its table has it. What lies in no file,
 * or in one that is no program, is of the code that the process has made, where that is known of
 * (maps_name_awaited()). false: unknown mapping (anonymous, gone).
 * Addresses of the kernel's half give a binary of the kernel, whatever the
 * process: without maps_open_kernel() MAPS_KERNEL_ID and the address itself. A process that has
 * exited is still known for a second. Must be fast (a binary search under a read lock): it runs for
 * every sample.
 */
bool maps_place_of(struct maps *m, int pid, uint64_t addr, uint32_t *binary_id, uint64_t *place);
/* A place as the binary's table has it; where there is none, the place itself. */
uint64_t maps_vaddr(const struct maps_binary *b, uint64_t place);
/* What is there, as maptable_lookup() tells it; 0: nothing is known, or there is no table (yet). */
int maps_names_at(const struct maps_binary *b, uint64_t place, struct map_frame *frames, int max);
/*
 * An address in no file that is a program, at which @pid was seen at @time: may it be known soon
 * what lies there? What the process tells is looked at for it, soon. Zero at first, @image is that
 * of the process as it is at the first call; @binary: the code that it makes, UINT32_MAX: none is
 * known of; @late: what it tells may come much later, as it is written to a jitdump by and by.
 * @wanted: true when all is known that was written before then; 0: before @time. Costs others a
 * look.
 */
struct maps_made_place {
	int pid;
	uint64_t address, time, image, wanted;
	uint32_t binary;
	bool late;
};
bool maps_name_awaited(struct maps *m, struct maps_made_place *at);
/*
 * Code in no file was seen of a process that @m does not know yet, as its events are still to be
 * read: what it tells is opened now, for it may have gone by then. As a chore.
 */
void maps_expect_names(struct maps *m, int pid);

/*
 * What lies at an address that maps_place_of() does not know, as the process has it now: a file
 * (its events are still to come), or memory alone. Reads /proc.
 */
enum maps_code { MAPS_CODE_GONE, MAPS_CODE_FILE, MAPS_CODE_MEMORY };
enum maps_code maps_code_at(int pid, uint64_t addr);
/* The same as a chore: @fn is called with the answer by the thread that has it, or never. */
void maps_ask_code(struct maps *m, int pid, uint64_t addr, uint64_t count,
		   void (*fn)(enum maps_code code, uint64_t count, void *arg), void *arg);

/* What a process has mapped of files to be executed, in order. */
struct maps_region {
	uint64_t start, end, pgoff;
	uint64_t serial; /* of the binary, whose id may be another one's by the time it is used */
	uint32_t binary;
	struct file_id file;
};
/* Returns how many; *@ret is malloc'ed. */
size_t maps_regions(struct maps *m, int pid, struct maps_region **ret);
/* Also of one that has ended a moment ago. */
size_t maps_last_regions(struct maps *m, int pid, struct maps_region **ret);
/*
 * Opens the file of a region; -1: it cannot be had any more. Waits for files. @path is malloc'ed;
 * NULL: nothing is known of it any more.
 */
int maps_open_region(struct maps *m, int pid, const struct maps_region *r, char **path);
/*
 * The file that was first seen mapped after the one that *@serial (0: before all) stands for, which
 * becomes its own: a malloc'ed path, NULL when there is none. @id (may be NULL): its id, as long as
 * that binary has that serial.
 */
char *maps_next_file(struct maps *m, uint64_t *serial, uint32_t *id);
/* So many of them at a time, and then something else: somebody may map new ones faster. */
#define MAPS_FILES_AT_ONCE 4096

/*
 * Executable mappings of one binary in all processes, for publishing target ranges. Code that a
 * process makes may be anywhere: from 0 to UINT64_MAX, with a bias of 0.
 */
struct maps_mapping {
	int pid;
	uint64_t start, end; /* addresses in the process */
	uint64_t bias;	     /* address in the process = vaddr + bias, once it has a table */
};
/* Calls @fn for every executable mapping of @binary_id; stops when it returns non-zero. */
int maps_for_each_mapping(struct maps *m, uint32_t binary_id,
			  int (*fn)(const struct maps_mapping *, void *), void *arg);
/* The same in one process. */
int maps_for_each_mapping_of(struct maps *m, int pid, uint32_t binary_id,
			     int (*fn)(const struct maps_mapping *, void *), void *arg);
/* Is it still there, as it was told? */
bool maps_has_mapping(struct maps *m, uint32_t binary_id, const struct maps_mapping *map);
/*
 * The first thread of a process has ended; whether others go on is looked up by a chore, while they
 * do again each second. Then the process exits as by maps_exit(), and whoever asked by
 * maps_on_exit() is told.
 */
void maps_leader_ended(struct maps *m, uint64_t time, int pid);
void maps_on_exit(struct maps *m, void (*fn)(int pid, void *arg), void *arg);
/* Told about every new executable mapping of a known binary (called without locks held). */
void maps_on_mapping(struct maps *m,
		     void (*fn)(uint32_t binary_id, const struct maps_mapping *, void *),
		     void *arg);

#endif
