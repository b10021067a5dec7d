/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is this a hard interrupt? The preemption count tells, where it can be had: on x86 it is a
 * variable of each CPU, of one or another name, that only kernels tell of which list their data
 * (CONFIG_KALLSYMS_ALL, as distributions have it). Tracepoints do not tell of all interrupts:
 * neither of cross-calls (packets are handed to other cores by them), nor of a hypervisor's own
 * vectors.
 */
#ifndef SCOZ_HARDIRQ_BPF_H
#define SCOZ_HARDIRQ_BPF_H

#include "engine/bpf/kernel_types.bpf.h"
#include "engine/bpf/percpu.bpf.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define PREEMPT_COUNT_HARDIRQ 0xf0000

/*
 * Addresses of the count and of the offsets of all CPUs' variables; 0: the kernel does not tell.
 * (For externs here libbpf would read all of /proc/kallsyms.)
 */
const volatile __u64 preempt_count_address;
const volatile __u64 per_cpu_offset_address;

#if defined(__TARGET_ARCH_x86)
/* Where this CPU's is; 1: that is not known. */
PERCPU(u64, preempt_counts, preempt_count_at)

static __always_inline u64 find_preempt_count(void)
{
	const u64 *offsets = (const u64 *)per_cpu_offset_address;
	u64 offset = 0;

	if (!preempt_count_address || !offsets ||
	    bpf_probe_read_kernel(&offset, sizeof(offset), offsets + bpf_get_smp_processor_id()))
		return 1;
	return preempt_count_address + offset;
}

static __always_inline u32 preempt_count(void)
{
	u64 *at = preempt_count_at();
	u32 count = 0;

	if (!at)
		return 0;
	if (!*at)
		*at = find_preempt_count();
	if (*at != 1)
		bpf_probe_read_kernel(&count, sizeof(count), (const void *)*at);
	return count;
}
#elif defined(__TARGET_ARCH_arm64)
struct thread_info___count {
	u64 preempt_count;
} __attribute__((preserve_access_index));
struct task_struct___count {
	struct thread_info___count thread_info;
} __attribute__((preserve_access_index));

static __always_inline u32 preempt_count(void)
{
	struct task_struct___count *task = (void *)bpf_get_current_task_btf();

	return bpf_core_field_exists(task->thread_info.preempt_count)
		       ? BPF_CORE_READ(task, thread_info.preempt_count)
		       : 0;
}
#else
static __always_inline u32 preempt_count(void)
{
	return 0;
}
#endif

/* False where that is not known. */
static __always_inline bool in_hardirq(void)
{
	return preempt_count() & PREEMPT_COUNT_HARDIRQ;
}

#endif
