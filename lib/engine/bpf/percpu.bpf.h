/* SPDX-License-Identifier: GPL-2.0-only */
/* One of each CPU. */
#ifndef SCOZ_PERCPU_BPF_H
#define SCOZ_PERCPU_BPF_H

#include "engine/bpf/kernel_types.bpf.h"
#include <bpf/bpf_helpers.h>

/* The map @MAP of one @TYPE a CPU, and @FUNCTION() that finds this CPU's. */
#define PERCPU(TYPE, MAP, FUNCTION) \
	struct { \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); \
		__uint(max_entries, 1); \
		__type(key, u32); \
		__type(value, TYPE); \
	} MAP SEC(".maps"); \
	static __always_inline TYPE *FUNCTION(void) \
	{ \
		u32 key = 0; \
		return bpf_map_lookup_elem(&MAP, &key); \
	}

#endif
