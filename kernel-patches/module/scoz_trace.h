/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM scoz

#if !defined(_TRACE_SCOZ_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_SCOZ_H

#include <linux/tracepoint.h>

/* clang-format off */

/* On the CPU that scoz_kick() has interrupted, in that interrupt. */
TRACE_EVENT(scoz_kicked,

	TP_PROTO(unsigned int cpu),

	TP_ARGS(cpu),

	TP_STRUCT__entry(__field(unsigned int, cpu)),

	TP_fast_assign(__entry->cpu = cpu;),

	TP_printk("cpu=%u", __entry->cpu)
);

/* clang-format on */

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE scoz_trace
#include <trace/define_trace.h>
