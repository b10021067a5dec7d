/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a recorder's records come from. */
#ifndef SCOZ_RECORD_BACKEND_H
#define SCOZ_RECORD_BACKEND_H

#include "record/bpf/shared.h"
#include "record/cpu_events.h"
#include "record/queue.h"
#include "record/recorder.h"
#include "unwind/kernel_tables.h"

#include <linux/perf_event.h>

struct record_backend {
	const struct record_backend_ops *ops;
	struct recorder_options opt;
	struct unwind_maps unwind_maps; /* tables -1: chains go by frame pointers */
};

struct record_backend_ops {
	const char *name;
	int (*create)(const struct recorder_options *opt, struct record_backend **ret,
		      struct error *err);
	int (*add_process)(struct record_backend *b, int pid, struct error *err);
	int (*start)(struct record_backend *b, struct error *err);
	/* Puts all samples that are there into @q: QUEUE_SAMPLE as struct record_event, or
	 * QUEUE_PERF as perf wrote them. */
	void (*drain)(struct record_backend *b, struct queue *q);
	/*
	 * May be NULL. Every record of perf passes here in the order of time; a sample comes back
	 * with its addresses behind it, valid until the next call.
	 */
	const struct record_event *(*perf_record)(struct record_backend *b,
						  const struct perf_event_header *h);
	/* May be NULL: no causal recordings. The same, of what the scheduler did (QUEUE_TRACE). */
	void (*drain_trace)(struct record_backend *b, struct queue *q);
	/* May be NULL. The progress point @id is at @offset of the file. */
	int (*add_point)(struct record_backend *b, const struct recorder_point *p, uint32_t id,
			 struct error *err);
	/* As add_point. Its latest place. */
	void (*withdraw_point)(struct record_backend *b);
	/* No samples any more; records of what is under way. */
	void (*finish)(struct record_backend *b);
	uint64_t (*lost)(struct record_backend *b);
	void (*destroy)(struct record_backend *b);
};

extern const struct record_backend_ops record_bpf, record_kernel;

/*
 * Shared by backends: for all CPUs that are sampled; @open is for cpu_events. And the clock event
 * of one of them, not yet enabled.
 */
struct cpu_events record_events(const struct recorder_options *opt,
				int (*open)(struct cpu_event *e, void *arg, struct error *err),
				void *arg);
int record_open_event(const struct recorder_options *opt, struct perf_event_attr *attr,
		      struct cpu_event *e, struct error *err);

/*
 * The flags of perf_event_attr by number, for those that headers do not know. Flags that upstream
 * has not given out may come to mean anything: is this one for any event, even one that never
 * fires?
 */
void record_set_flag(struct perf_event_attr *attr, int flag);
bool record_flag_is_for_any_event(int flag);

#endif
