/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of lib/maps/ share: address spaces, what is mapped in them, and binaries. */
#ifndef SCOZ_MAPS_INTERNAL_H
#define SCOZ_MAPS_INTERNAL_H

#include "base/hash_index.h"
#include "maps/maps.h"

#include <pthread.h>

/* Where a file was seen mapped: how to get at it. */
struct sighting {
	int pid;
	uint64_t start, end;
	struct file_id id;
	const char *path;
};

/* What tells a file from what is written over it, or has its inode number after it. */
struct file_state {
	uint64_t ino, size;
	int64_t mtime_ns;
	int64_t ctime_ns; /* only when: a new name changes it as well */
};

/* A file opened by a sighting. */
struct opened {
	int fd; /* -1: could not be */
	int errnum;
	struct file_state state;
};

#define NONE_BINARY UINT32_MAX

enum build_state { UNBUILT, BUILDING, BUILT };

struct binary {
	struct maps_binary pub;
	struct sighting first;
	bool opened;	   /* or tried to: under the lock */
	char *kernel_file; /* of the kernel: its image or module; NULL: kallsyms */

	enum build_state state; /* under build_lock; BUILT may be read without (acquire) */
	bool out_of_scope;
	bool needed; /* a sample fell into it, or somebody holds on to what is told of it; atomic */

	/* Under the maps lock. */
	int fd; /* kept until the table is built, or -1 */
	bool has_identity;
	struct file_state state_then;
	uint64_t checked_ns;  /* when it was still so */
	bool checking;	      /* is among what there is to do */
	bool findable;	      /* is in by_file */
	uint64_t unmapped_ns; /* since when no process is known to map it; 0: not looked at */

	/* Belong to whoever builds, then to pub. */
	struct maptable *table;
	char *error;
};

/* @shift: address minus place, which is what maps_place_of() tells. */
struct mapping {
	uint64_t start, end, shift;
	uint64_t time; /* of the event that told it */
	uint32_t binary;
};

/* The executable mappings of a process, shared copy-on-write after a fork. */
struct space {
	size_t refs, n, cap;
	struct mapping *v; /* sorted, disjoint */
};

/* The code that an image makes, and how much is known of it. Changed under the lock, but: */
struct made {
	uint32_t binary;    /* that stands for it, or NONE_BINARY */
	uint32_t dump;	    /* its jitdump, which it has mapped, or NONE_BINARY */
	uint64_t looked_ns; /* what was written before then is known */
	uint64_t due_ns;    /* no look before */
	uint64_t pause_ns;  /* between looks, as long as there is no map */
	bool asked;	    /* for a look; atomic */
	bool told;	    /* that its files are not read, and why */
};

struct process {
	struct space *space;
	int pid;
	bool scanned;	/* from /proc, which may be newer than the events still to come */
	bool to_scan;	/* that is among what there is to do, as most of its mappings may be gone */
	size_t crowded; /* more mappings than that are not believed; 0: as many as with most */
	uint64_t born, execed, exited; /* times of the events, 0: not seen */
	/*
	 * It began with what that process had (0: it is known by itself), and when this one itself
	 * was the parent of another last: each core's events come by themselves, so what the parent
	 * did before may be heard of after the fork.
	 */
	int parent;
	uint64_t forked;
	uint64_t exited_ns; /* when we learned of the exit; 0: alive */
	uint64_t image;	    /* never given away twice; another one after an exec */
	struct made made;
};

struct maps {
	struct map_options table;
	char *cache_dir, *debug_root, **scope;
	size_t n_scope;

	/*
	 * lock guards everything up to build_lock. It is never held over a system call that can
	 * block, nor over a callback.
	 */
	pthread_rwlock_t lock;
	struct process **process;
	size_t n_process, cap_process;
	struct hash_index by_pid;
	struct gone {
		uint64_t when;
		int pid;
	} * gone; /* exited, oldest first */
	size_t gone_first, n_gone, cap_gone;
	struct binary **binary; /* by id; NULL: it is free to be given away */
	size_t n_binary, cap_binary;
	struct numbered {
		uint64_t serial;
		uint32_t id;
	} * in_order; /* by serial, those that are forgotten among them */
	size_t n_in_order, cap_in_order;
	uint32_t *free_id;
	size_t n_free, cap_free;
	size_t n_kept;	    /* of those, that could not be forgotten when that was last looked at */
	uint64_t serial;    /* of the newest one */
	uint64_t forget_ns; /* how long nobody must have mapped one that is forgotten */
	uint64_t recheck_ns;	/* from one look at a file to the next */
	uint64_t images;	/* given */
	uint64_t made_bytes;	/* that made code takes; atomic */
	uint32_t made_warnings; /* about the files that tell of it; atomic */
	uint64_t made_keep_ns;	/* how long that of images is kept which are gone */
	size_t max_made_fd;
	struct hash_index by_file; /* binaries that are files */
	size_t n_fd, max_fd;
	uint64_t swept_ns; /* when those that nobody needs were last looked for */
	uint64_t n_built;
	void (*on_mapping)(uint32_t, const struct maps_mapping *, void *);
	void *on_mapping_arg;

	pthread_mutex_t build_lock;
	pthread_cond_t built;

	struct chores *chores; /* maps_threads.c */
	bool perf_maps;
	struct made_maps *made_maps; /* maps_made.c */

	/* Of the kernel (maps_kernel.c): made before lookups begin, then constant. */
	struct mapping *kernel;
	size_t n_kernel;
	uint32_t kernel_symbols; /* the binary of what `kernel` does not cover */
	bool kernel_targets;
};

/* A mapping as an event or /proc tells it. */
struct seen {
	uint64_t start, end, pgoff;
	struct file_id id;
	const char *path; /* NULL: no file */
};

/* Opens what was sighted, by whichever way leads to the very same file. */
void sighting_open(const struct sighting *s, struct opened *ret);
/* A path of ours that leads to what @fd is of, however it was opened. To be freed. */
char *maps_path_of(int fd);
/* The file as it is now; false when that cannot be told. */
bool sighting_state(const struct sighting *s, struct file_state *ret);

/*
 * The id of the file behind @seen, which is new or known. Under the write lock: what has to be
 * done with files is left to maps_threads.c.
 */
uint32_t binary_find_or_add(struct maps *m, int pid, const struct seen *seen);
/* Address in the process minus vaddr; of use once the table is there. Under the lock. */
uint64_t binary_bias(const struct binary *b, const struct mapping *map);
/* The chores: opening what was first seen in a mapping, and looking whether it is still the same.
 */
void binary_open(struct maps *m, uint32_t id);
void binary_check(struct maps *m, uint32_t id, const struct sighting *s);
/* Mappings of @old that were told at @since or later are of @new. Tells of them. */
void maps_reassign(struct maps *m, uint32_t old, uint32_t new, uint64_t since);

/* What stands for the code that an image makes; takes @code over. Under the write lock. */
uint32_t binary_add_made(struct maps *m, int pid, const char *path, struct made_code *code);
/* Of the process that lives; NULL: none. Under the lock, as is what it returns. */
struct process *maps_process(const struct maps *m, int pid);
/* What processes tell of code that they make (maps_made.c). */
void made_init(struct process *p);
/* Under the lock: should there be a look at what the process tells? Then it is asked for by the
 * caller, without the lock. */
bool made_look_is_due(struct process *p);
/* Under the write lock: the process has mapped that. */
void made_mapped(struct maps *m, struct process *p, uint32_t binary, const char *path);
/* The chores, and what is done between them by a thread that makes tables. */
struct made_read;
void made_look(struct maps *m, int pid);
void made_read(struct maps *m, struct made_read *r);
void made_read_done(struct maps *m, struct made_read *r);
void made_expect(struct maps *m, int pid);
void made_read_free(struct made_read *r);
/* A warning about that may be told: there may be as many as there are processes. */
bool made_may_warn(struct maps *m);
struct made_maps *made_maps_create(void);
void made_maps_destroy(struct made_maps *l);
void chores_made(struct maps *m, int pid);
void chores_read(struct maps *m, struct made_read *r);
void chores_read_done(struct maps *m, struct made_read *r);

struct chores *chores_create(void);
void chores_destroy(struct chores *c);
/* False: too many are to be opened. */
bool chores_open(struct maps *m, uint32_t id);
/* What the process has mapped is read from /proc. */
void chores_scan(struct maps *m, int pid);
void chores_check(struct maps *m, uint32_t id, const struct sighting *s);
void chores_build(struct maps *m, uint32_t id);
/* A binary of the kernel; @file NULL: its table is made of kallsyms. */
uint32_t binary_add_kernel(struct maps *m, const char *name, const char *file);
/* The stretch of kernel code that holds @addr, or NULL. */
const struct mapping *kernel_find_stretch(const struct maps *m, uint64_t addr);
/* Whoever gets at what is told of it keeps it from being forgotten. Under the lock. */
static inline void binary_is_needed(struct binary *b)
{
	if (!__atomic_load_n(&b->needed, __ATOMIC_RELAXED))
		__atomic_store_n(&b->needed, true, __ATOMIC_RELAXED);
}
/* A file of which no table can be made. */
static inline bool binary_is_no_program(const struct binary *b)
{
	return __atomic_load_n(&b->state, __ATOMIC_ACQUIRE) == BUILT && !b->pub.table &&
	       !b->out_of_scope;
}
void binary_init(struct maps *m);
void binary_deinit(struct maps *m);

/* NULL when @filename names no file that could be an executable; strips " (deleted)". */
char *maps_file_name(const char *filename);
/* Takes over @n mappings of @pid as the whole list. */
/* Ids of the processes that are taken to live; malloc'ed. */
size_t maps_living(struct maps *m, int **pids);
void maps_replace(struct maps *m, int pid, const struct seen *seen, size_t n);
/* Of a process that has so many mappings that most may be gone: reads them again. */
void maps_scan_again(struct maps *m, int pid);
/* @told false: nobody knows what it has mapped. */
void maps_scanned_again(struct maps *m, int pid, bool told);

#endif
