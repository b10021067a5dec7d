/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What trace_write.c and trace_read.c agree upon. */
#ifndef SCOZ_TRACE_FORMAT_H
#define SCOZ_TRACE_FORMAT_H

#include "trace/trace.h"

#define TRACE_START "scoz-causal "
/* A chunk: these two (little endian), and the compressed bytes. */
struct trace_chunk {
	uint32_t packed, raw;
};
#define TRACE_CHUNK_RAW	 (256u << 10) /* it is written when it holds so much */
#define TRACE_CHUNK_MOST (1u << 20)   /* no reader takes more */
#define TRACE_TEXT_MOST	 4096u

/* The first byte of a record; enum trace_type below these. */
enum trace_record {
	TRACE_REC_HEADER = 64,
	TRACE_REC_FRAME,
	TRACE_REC_STACK,
	TRACE_REC_PROCESS,
	TRACE_REC_THREAD,
	TRACE_REC_COMM,
	TRACE_REC_DEVICE,
	TRACE_REC_POINT,
	TRACE_REC_FOOTER,
	TRACE_REC_WORD,
	TRACE_REC_RANK,
};

#endif
