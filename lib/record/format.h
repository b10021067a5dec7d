/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reader and writer of record.scoz share, inside lib/record only. */
#ifndef SCOZ_RECORD_FORMAT_H
#define SCOZ_RECORD_FORMAT_H

#include "record/recording.h"

#define RECORDING_FORMAT "scoz-record"
/* Every recording begins so. */
#define RECORDING_START	   "{\"type\":\"header\",\"format\":\"" RECORDING_FORMAT "\""
#define RECORDING_MAX_LINE (16u << 20)
/* Frames in a call chain: bounds the time a damaged file can cost. */
#define RECORDING_MAX_DEPTH 8192

static const char *const record_frame_kinds[] = {
	[FRAME_USER] = "user",
	[FRAME_KERNEL] = "kernel",
	[FRAME_INLINED] = "inlined",
	[FRAME_MISSING] = "missing",
};

#endif
