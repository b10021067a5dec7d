/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of record.scoz, for its reader and writer. */
#ifndef SCOZ_RECORD_FORMAT_H
#define SCOZ_RECORD_FORMAT_H

#include "jsonl/format.h"
#include "record/recording.h"

/* Frames in a call chain: bounds the time a damaged file can cost. */
#define RECORDING_MAX_DEPTH 8192

static const char *const record_frame_kinds[] = {
	[FRAME_USER] = "user",
	[FRAME_KERNEL] = "kernel",
	[FRAME_INLINED] = "inlined",
	[FRAME_MISSING] = "missing",
};

enum record_line_kind {
	RECORD_LINE_HEADER,
	RECORD_LINE_SAMPLE,
	RECORD_LINE_STACK,
	RECORD_LINE_FRAME,
	RECORD_LINE_THREAD,
	RECORD_LINE_COMM,
	RECORD_LINE_TIMES,
	RECORD_LINE_PROCESS,
	RECORD_LINE_SCOZD,
	RECORD_LINE_FOOTER,
	RECORD_LINE_KINDS
};

struct record_comm_change {
	uint32_t thread;
	uint64_t time;
	const char *comm;
};

union record_line {
	struct {
		struct jsonl_header start;
		struct record_header h;
	} header;
	struct {
		struct record_frame f;
		uint32_t id;
		const char *kind;
	} frame;
	struct {
		struct record_stack s;
		uint32_t id;
	} stack;
	struct record_process process;
	struct record_thread thread;
	struct record_scozd scozd;
	struct record_comm_change comm;
	struct {
		struct record_sample s;
		const char *class;
	} sample;
	struct record_footer footer;
};

extern const struct jsonl_format record_format;

static inline const struct line_kind *record_line_kind(enum record_line_kind kind)
{
	return &record_format.kinds[kind];
}

#endif
