/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCOZ_BPF_ENGINE_H
#define SCOZ_BPF_ENGINE_H

#include "engine/engine.h"
#include "engine/bpf/shared.h"
#include "scoz.skel.h"

#include <pthread.h>

#define ENGINE_MAX_PUBLISHED 1024

struct engine {
	struct scoz *skel;
	struct engine_options opt;
	int *cpus;
	int *events; /* perf event of each core */
	int cores;   /* slots of the delay page: highest possible CPU + 1 */
	char *page;  /* the delay page */
	size_t page_size;
	struct bpf_target *target;
	struct target_range *ranges;
	struct progress_count *progress;
	size_t progress_size;
	struct latency_histogram *latencies;
	size_t latencies_size;
	pthread_mutex_t publish_lock;
	uint32_t published[ENGINE_MAX_PUBLISHED]; /* binaries, append-only */
	int n_published;
	int n_points;
	int n_tracepoints;
	bool syscalls_attached;
	struct bpf_link **links; /* of progress points */
	size_t n_links, cap_links;
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

#endif
