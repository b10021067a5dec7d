/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions and call chains, as recordings of both kinds hold them. */
#ifndef SCOZ_TRACE_FRAMES_H
#define SCOZ_TRACE_FRAMES_H

#include "base/base.h"

enum record_frame_kind {
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_INLINED, /* an inlined call, in the next frame outwards that is not inlined */
	FRAME_MISSING, /* here the call chain is broken: callers are missing */
};

/* A function, or a line in one. Equal frames have equal ids. Strings are owned by the recording. */
struct record_frame {
	const char *symbol; /* "[unknown]" at worst */
	const char *object; /* path of the binary, "[kernel]", "[ext4]"; "" unknown */
	const char *file;   /* source file, NULL unknown */
	uint32_t line;	    /* 0 unknown */
	uint64_t address;   /* in the file's program headers, 0 unknown */
	enum record_frame_kind kind;
};

/* A call chain, as a node in the tree of all: the innermost frame, and the chain of its caller. */
struct record_stack {
	uint32_t frame;
	uint32_t parent; /* stack id, RECORDING_NONE (all ones): outermost */
};

#endif
