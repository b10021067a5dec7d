/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two engines share: the delay page, which both map, and the perf events of the cores.
 * An engine embeds struct engine as its first member and fills it in when it is created.
 */
#ifndef SCOZ_ENGINE_BACKEND_H
#define SCOZ_ENGINE_BACKEND_H

#include "base/shared.h"
#include "engine/engine.h"

#include <pthread.h>

/* Of one core, since the start. */
struct engine_crossed {
	uint64_t calls, agreed, differed;
};

struct engine_backend {
	const char *name;
	bool (*waits)(const struct engine *e); /* can speed up waiting; NULL: it cannot */
	/* Creates and attaches everything; on failure nothing is left behind. */
	int (*create)(const struct engine_options *opt, struct engine **ret, struct error *err);
	/* All delaying has ended already; frees the whole engine but what engine_destroy() does. */
	void (*destroy)(struct engine *e);
	int (*enable)(struct engine *e, struct error *err); /* before the events; may be NULL */
	int (*set_target)(struct engine *e, const struct scoz_part *parts, int n,
			  const struct scoz_range *ranges, size_t n_ranges, struct error *err);
	/* See engine_count_calls(), engine_see_target(), engine_sample_target(); NULL: it cannot.
	 */
	int (*add_bounds)(struct engine *e, const struct engine_bounds *bounds, bool ends,
			  struct error *err);
	void (*see_functions)(struct engine *e, bool on);
	void (*read_bounds)(const struct engine *e, int cpu, struct engine_crossed *ret);
	void (*set_record_share)(struct engine *e, uint32_t share); /* of ticks, of 2^32 */
	bool (*set_control)(struct engine *e, bool on);		    /* false, or NULL: it cannot */
	void (*publish_mapping)(struct engine *e, uint32_t binary, const struct maps_mapping *m);
	void (*withdraw_mapping)(struct engine *e, uint32_t binary, const struct maps_mapping *m);
	void (*forget_process)(struct engine *e, int pid);
	void (*forget_image)(struct engine *e, int pid); /* NULL: as forget_process */
	int (*involve)(struct engine *e, int pid);
	int (*forget_sleepers)(struct engine *e);
	/* Adds target_*, shared, busy_waited*; NULL: this engine does not measure them. */
	void (*read_target_time)(const struct engine *e, struct engine_ledger *ret);
	void (*set_rank)(struct engine *e, int pid, int rank); /* NULL: it knows none */
	int (*count_user)(struct engine *e, uid_t uid);	       /* see engine_count_user() */
	/* See engine_set_polling(); NULL: it does not. */
	int (*set_polling)(struct engine *e, uint32_t table, uint32_t role,
			   const struct scoz_poll_range *ranges, size_t n);
	/* A site of point @id, which is new if @first. */
	int (*add_site)(struct engine *e, const struct engine_point *p, int id, bool first,
			struct error *err);
	/* See engine_withdraw_site(); NULL: it cannot. */
	void (*withdraw_site)(struct engine *e);
	/* engine_ledger.others_hits; NULL: hits of all tasks count. */
	uint64_t (*others_hits)(const struct engine *e);
	/* See engine_point_others(); may be NULL. */
	int (*point_others)(const struct engine *e, int id, char (*names)[16], int max);
};

extern const struct engine_backend engine_bpf, engine_kernel;

/* What they do is the target, or part of it (engine_part). */
struct engine_tasks {
	enum engine_whose whose;
	uint64_t number;
	char comm[16];
};

struct engine {
	const struct engine_backend *backend;
	struct engine_options opt;
	int *cpus;
	int *events; /* perf event of each core */
	int cores;   /* slots of the delay page: highest possible CPU + 1 */
	int n_points;
	struct unwind_maps unwind_maps; /* by the backend; -1: none */
	bool unwind_refused;		/* the kernel does not take what would follow them */
	/* mapped by the backend */
	char *page;
	struct scoz_count *counts;
	struct scoz_latency *latencies;
	uint64_t *spans; /* SPAN_SLOT each for SCOZ_MAX_POINTS latencies; NULL: not measured */
	/* The target, for handlers that match by themselves (opt.batch). */
	pthread_rwlock_t target_lock;
	struct scoz_part part[SCOZ_MAX_PARTS];
	struct map_code code[SCOZ_MAX_PARTS]; /* in its file */
	uint32_t generation[SCOZ_MAX_PARTS];  /* of its file's inode; 0: not known */
	int n_parts;
	/* The target is these system calls: one, but for engines that know several. */
	int call[SCOZ_MAX_PARTS], n_calls;
	bool by_functions; /* and is known by those of the kernel that do its work */
	uint32_t classes;  /* the target is these, not code; 0: code */
	bool all_users;	   /* by the backend: see engine_counts_all_users() */
	bool seen;	   /* by the backend: the target is not sampled, begin and end are seen */
	uint32_t disk;	   /* ENGINE_CLASS_DISK: which */
	struct engine_peer peer;		   /* ENGINE_CLASS_PEER: which */
	struct engine_tasks tasks[SCOZ_MAX_PARTS]; /* of classes what they do */
	int n_tasks;				   /* 0: what all do */
	struct scoz_range *ranges;
};

static inline struct scoz_header *engine_header(const struct engine *e)
{
	return (struct scoz_header *)(e->page + SCOZ_SLOT_HEAD * SCOZ_SLOT_SIZE);
}

static inline struct scoz_global *engine_global(const struct engine *e)
{
	return (struct scoz_global *)(e->page + SCOZ_SLOT_GLOB * SCOZ_SLOT_SIZE);
}

static inline struct scoz_core *engine_core_slot(const struct engine *e, int cpu)
{
	return (struct scoz_core *)(e->page + (SCOZ_SLOT_CORE0 + cpu) * SCOZ_SLOT_SIZE);
}

/* For backends: fills in what does not depend on them; opens the events; writes the header. */
void engine_init(struct engine *e, const struct engine_backend *backend,
		 const struct engine_options *opt);
int engine_open_events(struct engine *e, struct error *err);
void engine_init_page(struct engine *e);

/* Maps the page of code around a probe, so that the kernel checks the probe; NULL: not possible. */
void *engine_map_code(int fd, uint64_t offset);
void engine_unmap_code(void *code);
/* What people are told when the kernel refuses a uprobe. */
const char *engine_uprobe_reason(int errnum);

#endif
