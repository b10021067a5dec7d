/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address spaces as perf's records tell about them (events with mmap2, comm_exec and task set). */
#ifndef SCOZ_MAPS_PERF_H
#define SCOZ_MAPS_PERF_H

#include "maps/maps.h"
#include <linux/perf_event.h>

/* What perf must append to these records (sample_id_all). */
#define MAPS_PERF_SAMPLE_ID (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/* When it happened; 0: the record does not say. Not for samples. */
uint64_t maps_perf_time(const struct perf_event_header *h);

enum maps_perf {
	MAPS_PERF_OTHER,
	MAPS_PERF_EXEC, /* the process *@pid runs another program now */
};
/* Brings @m up to date. */
enum maps_perf maps_perf_record(struct maps *m, const struct perf_event_header *h, int *pid);

#endif
