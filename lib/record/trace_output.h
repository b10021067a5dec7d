/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recorder tells of a causal recording, into a file (trace/trace.h). */
#ifndef SCOZ_RECORD_TRACE_OUTPUT_H
#define SCOZ_RECORD_TRACE_OUTPUT_H

#include "record/recorder.h"

struct causal_output {
	struct trace_writer *writer; /* NULL: none yet */
	uint64_t period_ns;
	uint64_t events; /* written so far, samples among them */
	uint64_t visits; /* of progress points, among them */
	size_t threads;
};
/* @out stays the caller's, for as long as the recorder is. */
struct recorder_sink causal_sink(struct causal_output *out);

#endif
