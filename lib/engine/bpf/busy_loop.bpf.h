/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Was the tick in a loop of a program that waits? Such a loop tells the processor so by an
 * instruction made for it, which takes many times as long as the rest of the loop, and a sample's
 * address is right behind it in 96 to 99 of 100 cases (pthread_spin_lock(), libgomp). Or it calls
 * sched_yield(): then most samples are in the kernel, and others right behind the call. Loops with
 * neither are taken for work, but for those that polling.bpf.h knows.
 */
#ifndef SCOZ_BUSY_LOOP_BPF_H
#define SCOZ_BUSY_LOOP_BPF_H

/* What a perf event program is handed begins with the registers, by the architecture's ABI. */
#if defined(__TARGET_ARCH_x86)
struct sample_registers {
	u64 others[16];
	u64 ip, cs;
};
#define of_program(r) ((r)->cs & 3)

/* PAUSE, two bytes long. */
#define CODE_BYTES 10
static __always_inline bool waits_in(const u8 *code)
{
	for (int i = 0; i < CODE_BYTES - 1; i++) {
		if (code[i] == 0xf3 && code[i + 1] == 0x90)
			return true;
	}
	return false;
}

/* mov $24, %eax; syscall */
#define YIELD_CALL 24
static __always_inline bool has_yielded(const u8 *code)
{
	return code[1] == 0xb8 && code[2] == YIELD_CALL && !code[3] && !code[4] && !code[5] &&
	       code[6] == 0x0f && code[7] == 0x05;
}
#else
struct sample_registers {
	u64 regs[31];
	u64 sp, ip, pstate;
};
#define of_program(r) (!((r)->pstate & 0xf))

/* YIELD, WFE, ISB. */
#define CODE_BYTES    12
static __always_inline bool waits_in(const u8 *code)
{
	for (int i = 0; i < CODE_BYTES / 4; i++) {
		u32 instruction = ((const u32 *)code)[i];

		if (instruction == 0xd503203f || instruction == 0xd503205f ||
		    instruction == 0xd5033fdf)
			return true;
	}
	return false;
}

/* mov x8, #124; svc #0 */
#define YIELD_CALL    124
static __always_inline bool has_yielded(const u8 *code)
{
	return ((const u32 *)code)[0] == 0xd2800f88 && ((const u32 *)code)[1] == 0xd4000001;
}
#endif
#define CODE_BEHIND 8 /* bytes before where it was interrupted */

static __always_inline bool yields(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	return !(task->flags & PF_KTHREAD) && regs && syscall_number(regs) == YIELD_CALL &&
	       syscall_is_native(task, regs);
}

static __always_inline bool waits_busily(struct task_struct *task, const struct sample_registers *r)
{
	u32 code[(CODE_BYTES + 3) / 4] = {};

	if (!of_program(r))
		return yields(task);
	if (bpf_probe_read_user(code, CODE_BYTES, (const void *)(r->ip - CODE_BEHIND)))
		return false;
	return waits_in((const u8 *)code) || has_yielded((const u8 *)code);
}

#endif
