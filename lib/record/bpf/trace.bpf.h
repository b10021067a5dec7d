/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `scoz record --causal`: every switch, waking, birth and end of the threads that are followed,
 * requests to block devices and visits of progress points (points.bpf.h), each as a small record in
 * the ring of its CPU. Compiled away otherwise.
 */
#ifndef SCOZ_RECORD_TRACE_BPF_H
#define SCOZ_RECORD_TRACE_BPF_H

#include "record/bpf/futex_words.h"
#include "record/bpf/state.bpf.h"

const volatile __u32 causal;

struct trace_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} trace_ring SEC(".maps");

/* One for each CPU, put there by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
	__array(values, struct trace_ring);
} trace_rings SEC(".maps") = { .values = { (void *)&trace_ring } };

static __always_inline void trace_put(void *record, u64 size)
{
	u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&trace_rings, &cpu);

	if (!ring || bpf_ringbuf_output(ring, record, size, BPF_RB_NO_WAKEUP))
		count_lost();
}

static __always_inline void trace_event(u8 type, u8 why, u64 now, u32 tid, u32 other, u32 detail)
{
	struct record_trace e = {
		.time = now,
		.tid = tid,
		.other = other,
		.detail = detail,
		.type = type,
		.why = why,
	};

	if (!causal)
		return;
	e.cpu = bpf_get_smp_processor_id();
	trace_put(&e, sizeof(e));
}

struct task_struct___files {
	struct files_struct *files;
} __attribute__((preserve_access_index));
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} __attribute__((preserve_access_index));
struct files_struct {
	struct fdtable *fdt;
} __attribute__((preserve_access_index));
struct inode___mode {
	unsigned short i_mode;
} __attribute__((preserve_access_index));

/* S_IFMT of the file that the call's first argument names, without its zeros. */
static __always_inline u32 kind_of_file(struct task_struct *task, u64 fd)
{
	struct task_struct___files *t = (void *)task;
	struct files_struct *files = BPF_CORE_READ(t, files);
	struct fdtable *table = files ? BPF_CORE_READ(files, fdt) : NULL;
	struct file **list = table ? BPF_CORE_READ(table, fd) : NULL, *file = NULL;
	struct inode___mode *inode;

	if (!list || fd >= BPF_CORE_READ(table, max_fds) ||
	    bpf_probe_read_kernel(&file, sizeof(file), list + fd) || !file)
		return 0;
	inode = (void *)BPF_CORE_READ(file, f_inode);
	return inode ? BPF_CORE_READ(inode, i_mode) >> 12 : 0;
}

/* What is known of a futex that @t waits at; @other: who has it, or else which word it is. */
static __always_inline u32 trace_futex(const struct thread_state *t, u32 *other)
{
	switch (futex_held(&t->futex, other)) {
	case FUTEX_HELD:
	case FUTEX_HELD_BY:
		return RECORD_TRACE_HELD;
	case FUTEX_TAKEN:
		*other = t->futex.address >> 2;
		return RECORD_TRACE_TAKEN;
	default:
		*other = t->futex.known ? t->futex.address >> 2 : 0;
		return 0;
	}
}

/* What @task, which leaves its CPU to wait, does so in: struct record_trace, detail. */
static __always_inline u32 trace_wait(struct task_struct *task, const struct thread_state *t,
				      u32 *other)
{
	struct pt_regs *regs;
	u32 number, detail;

	*other = 0;
	if (!task->mm || task->flags & PF_KERNELS)
		return RECORD_TRACE_KERNEL;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	number = syscall_number(regs);
	if (number > RECORD_TRACE_NUMBER || !syscall_is_native(task, regs))
		return 0;
	detail = number | RECORD_TRACE_SYSCALL;
	if (t->why != RECORD_LEFT_OTHER)
		return detail;
	if (number == SYSCALL_FUTEX)
		return detail | trace_futex(t, other);
	return detail | kind_of_file(task, syscall_argument_0(regs)) << RECORD_TRACE_FILE;
}

static __always_inline void trace_leaves(struct task_struct *task, const struct thread_state *t,
					 u64 now)
{
	u32 other = 0, detail = 0;

	if (!causal)
		return;
	if (t->why != RECORD_LEFT_QUEUED)
		detail = trace_wait(task, t, &other);
	trace_event(RECORD_TRACE_LEAVE, t->why, now, t->tid, other, detail);
}

/* It is followed from now on: @why is as in RECORD_TRACE_LEAVE, or it runs. */
static __always_inline void trace_names(struct task_struct *task, u8 type, u8 why, u64 now,
					u32 parent)
{
	struct record_trace_name e = {
		.event = {
			.time = now,
			.tid = task->pid,
			.other = parent,
			.detail = task->tgid,
			.type = type,
			.why = why,
		},
		.born = task->start_time,
	};

	if (!causal)
		return;
	e.event.cpu = bpf_get_smp_processor_id();
	bpf_probe_read_kernel_str(e.comm, sizeof(e.comm), task->comm);
	trace_put(&e, sizeof(e));
}

#endif
