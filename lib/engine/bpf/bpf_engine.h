/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of engine bpf share. */
#ifndef SCOZ_BPF_ENGINE_H
#define SCOZ_BPF_ENGINE_H

#include "engine/backend.h"
#include "engine/bpf/shared.h"
#include "engine/bpf/kernel_points.h"
#include "scoz.skel.h"

#include <pthread.h>

#define ENGINE_MAX_PUBLISHED 128

struct bpf_engine {
	struct engine base;
	struct scoz *skel;
	size_t page_size;
	struct bpf_target *target;
	struct scoz_range *ranges;
	size_t counts_size;
	size_t latencies_size;
	size_t spans_size;
	struct target_time *target_times; /* by CPU, live */
	size_t times_size;
	pthread_mutex_t publish_lock;
	bool without_pages; /* the kernel refuses on_pages */
	/* Under publish_lock: */
	uint32_t published[ENGINE_MAX_PUBLISHED]; /* binaries that `spaces` may hold */
	int n_published;
	bool cleared;	    /* there is nothing in it but of the target, as far as we know */
	uint32_t n_polling; /* of polling_ranges, taken */
	int sees_syscalls;  /* 1: begin and end of the target's are traced; -1: cannot be */
	int sees_peers;	    /* 1: whom packets are from is traced; -1: cannot be */
	struct kernel_points points;
	int *chain_events;			 /* of each core; NULL: none */
	struct self_interrupts *self_interrupts; /* NULL: not used */
	struct bpf_link **bounds;		 /* of the target, a function */
	size_t n_bounds, cap_bounds;
	int module;		 /* SCOZ_MODULE_*: what the programs may use; 0: nothing */
	struct bpf_link **links; /* of progress points and spin waits */
	size_t n_links, cap_links;
};

static inline struct bpf_engine *bpf_engine(struct engine *e)
{
	return (struct bpf_engine *)e;
}

/*
 * self_interrupts.c: what switched.bpf.h makes cores interrupt themselves with. NULL and @err: this
 * kernel does not allow it.
 */
struct self_interrupts *self_interrupts_open(const int *cpus, int n, struct error *err);
/* Into the map of events by CPU; 0 or a negative errno. */
int self_interrupts_publish(const struct self_interrupts *s, int map_fd);
void self_interrupts_close(struct self_interrupts *s);

/*
 * module.c: SCOZ_MODULE_* that this run uses, or 0. -ENOTSUP and @err: it wants more than there is.
 */
int bpf_choose_module(const struct engine_options *opt, struct error *err);
/* The programs that call the module, else as scoz__open(). */
struct scoz *bpf_open_for_module(void);

/* targets.c */
int bpf_set_target(struct engine *e, const struct scoz_part *parts, int n,
		   const struct scoz_range *ranges, size_t n_ranges, struct error *err);
bool bpf_set_control(struct engine *e, bool on);
void bpf_read_target_time(const struct engine *e, struct engine_ledger *ret);
int bpf_publish_mapping(struct engine *e, uint32_t binary, const struct maps_mapping *m);
void bpf_withdraw_mapping(struct engine *e, uint32_t binary, const struct maps_mapping *m);
void bpf_forget_process(struct engine *e, int pid);
void bpf_forget_image(struct engine *e, int pid);
void bpf_set_rank(struct engine *e, int pid, int rank);
int bpf_set_polling(struct engine *e, uint32_t table, uint32_t role,
		    const struct scoz_poll_range *ranges, size_t n);

/* bounds.c: probes where a target that is a function begins and ends */
int bpf_add_bounds(struct engine *e, const struct engine_bounds *bounds, bool ends,
		   struct error *err);
void bpf_see_functions(struct engine *e, bool on);
void bpf_read_bounds(const struct engine *e, int cpu, struct engine_crossed *ret);
void bpf_remove_bounds(struct bpf_engine *e);

/* points.c */
/* Destroyed with the engine. */
void bpf_keep_link(struct bpf_engine *e, struct bpf_link *link);
int bpf_add_site(struct engine *e, const struct engine_point *p, int id, bool first,
		 struct error *err);
void bpf_withdraw_site(struct engine *e);
int bpf_count_user(struct engine *e, uid_t uid);
int bpf_point_others(const struct engine *e, int id, char (*names)[16], int max);
uint64_t bpf_others_hits(const struct engine *e);

#endif
