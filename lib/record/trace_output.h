/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recorder tells of a causal recording, into a file (trace/trace.h). */
#ifndef SCOZ_RECORD_TRACE_OUTPUT_H
#define SCOZ_RECORD_TRACE_OUTPUT_H

#include "progress/point.h"
#include "record/recorder.h"

struct causal_output {
	struct trace_writer *writer; /* NULL: none yet */
	uint64_t period_ns;
	uint64_t events; /* written so far, samples among them */
};
/* @out stays the caller's, for as long as the recorder is. */
struct recorder_sink causal_sink(struct causal_output *out);
/* Is it a place in a program? Others cannot be progress points of a recording. */
bool causal_can_have(const struct point *p);
/* Probes for @point: before the recorder starts. Errors do not name the point. */
int causal_add_point(struct recorder *r, const struct point *point, uint32_t id, struct error *err);

#endif
