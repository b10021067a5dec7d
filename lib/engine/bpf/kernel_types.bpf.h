/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few kernel types the programs look into. CO-RE relocates every access, so only names and
 * kinds matter here; building needs neither kernel headers nor BTF of the build machine.
 */
#ifndef SCOZ_KERNEL_TYPES_BPF_H
#define SCOZ_KERNEL_TYPES_BPF_H

#include <linux/types.h>
#include <linux/bpf.h>

struct bpf_perf_event_data;

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
#ifndef __cplusplus
typedef _Bool bool;
#define true 1
#define false 0
#endif

#define READ_ONCE(x)	 (*(volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile typeof(x) *)&(x) = (v))

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block {
	u32 s_dev;
};

struct inode {
	unsigned long i_ino;
	u32 i_generation;
	long long i_size;
	struct super_block *i_sb;
};

struct file {
	struct inode *f_inode;
};

struct mm_struct {
	unsigned long start_code, end_code;
	unsigned long start_stack;
	int map_count;
	struct file *exe_file;
};

struct address_space {
	struct inode *host;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

struct vm_unmapped_area_info {
	unsigned long length;
};

struct cfs_rq___runnable {
	unsigned int h_nr_runnable;
	unsigned int h_nr_queued;
	unsigned int h_nr_running;
};

struct rt_rq {
	unsigned int rt_nr_running;
	int rt_queued;
};

struct dl_rq {
	unsigned int dl_nr_running;
};

struct sched_dl_entity {
	u64 deadline;
};

struct rq {
	unsigned int nr_running;
	struct cfs_rq___runnable cfs;
	struct rt_rq rt;
	struct dl_rq dl;
	struct sched_dl_entity fair_server;
};

struct scx_rq {
	u32 nr_running;
};

struct rq___extensible {
	struct scx_rq scx;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
};

struct thread_info {
	u32 status;
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

struct kernfs_node {
	u64 id;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp; /* of version 2 */
};

typedef struct {
	u32 val;
} kuid_t;

struct cred {
	kuid_t euid;
};

struct task_struct {
	struct thread_info thread_info;
	struct sched_entity se;
	unsigned int __state;
	unsigned int flags;
	int pid;
	int tgid;
	int prio;
	int on_cpu;
	int exit_state;
	int nr_cpus_allowed;
	unsigned int in_iowait : 1;
	struct mm_struct *mm;
	u64 start_time;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct css_set *cgroups;
	const struct cred *cred;
	char comm[16];
};

struct in6_addr {
	union {
		u32 u6_addr32[4];
	} in6_u;
};

struct sock_common {
	u32 skc_daddr;
	u16 skc_dport;
	u16 skc_family;
	volatile unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
};

struct sock {
	struct sock_common __sk_common;
};

struct block_device {
	u32 bd_dev;
};

struct bio {
	struct block_device *bi_bdev;
};

struct gendisk {
	int major;
	int first_minor;
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	unsigned int __data_len;
	struct bio *bio;
	struct block_device *part;
};

struct rb_node {
	unsigned long __rb_parent_color;
	struct rb_node *rb_right;
	struct rb_node *rb_left;
};

struct timerqueue_node {
	struct rb_node node;
	s64 expires;
};

struct rb_root_cached {
	struct rb_node *rb_leftmost;
};

struct timerqueue_head {
	struct rb_root_cached rb_root;
};

struct hrtimer_clock_base;

struct hrtimer {
	struct timerqueue_node node;
	void *function;
	struct hrtimer_clock_base *base;
};

struct hrtimer_sleeper {
	struct hrtimer timer;
	struct task_struct *task;
};

struct hrtimer_cpu_base;

struct hrtimer_clock_base {
	struct hrtimer_cpu_base *cpu_base;
	struct timerqueue_head active;
	s64 offset;
};

struct hrtimer_cpu_base {
	struct hrtimer_clock_base clock_base[8];
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long bp, ip, sp, cs;
	unsigned long orig_ax, di, si, dx;
};
#define syscall_number(regs) ((u32)BPF_CORE_READ(regs, orig_ax))
#define user_ip(regs)	     BPF_CORE_READ(regs, ip)
#define TS_COMPAT	     0x0002
/*
 * A 64-bit program called (the second is Xen's), and not by the entry for 32-bit programs, which
 * it may use, too: those have other numbers.
 */
#define syscall_is_native(task, regs) \
	({ \
		u16 __cs = BPF_CORE_READ(regs, cs); \
		(__cs == 0x33 || __cs == 0xe033) && !((task)->thread_info.status & TS_COMPAT); \
	})
#define syscall_argument_0(regs) BPF_CORE_READ(regs, di)
#define syscall_argument_1(regs) BPF_CORE_READ(regs, si)
#define syscall_argument_2(regs) BPF_CORE_READ(regs, dx)
#define SYSCALL_FUTEX		 202
#else
struct pt_regs {
	u64 regs[31];
	u64 sp, pc, pstate;
	u64 orig_x0;
	int syscallno;
};
#define syscall_number(regs)	      ((u32)BPF_CORE_READ(regs, syscallno))
#define user_ip(regs)		      BPF_CORE_READ(regs, pc)
/* A 64-bit program called; threads of the kernel have the mode of the kernel there. */
#define syscall_is_native(task, regs) (!(BPF_CORE_READ(regs, pstate) & 0x1f))
#define syscall_argument_0(regs)      BPF_CORE_READ(regs, orig_x0)
#define syscall_argument_1(regs)      BPF_CORE_READ(regs, regs[1])
#define syscall_argument_2(regs)      BPF_CORE_READ(regs, regs[2])
#define SYSCALL_FUTEX		      98
#endif

#pragma clang attribute pop

#define PF_EXITING     0x00000004
#define PF_IO_WORKER   0x00000010
#define PF_USER_WORKER 0x00004000 /* since 6.4; nothing before */
#define PF_KTHREAD     0x00200000
#define TASK_DEAD      0x00000080
#define TASK_WAKING    0x00000200

/* Those that are no programs; what the kernel has cloned from one keeps a copy of its registers. */
#define PF_KERNELS (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)

/* Priorities below are real-time and deadline tasks: never stopped. */
#define MAX_RT_PRIO 100

#endif
