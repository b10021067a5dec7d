/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Was the tick in a loop of a program that waits? Such a loop tells the processor so by an
 * instruction made for it, which takes many times as long as the rest of the loop, and a sample's
 * address is right behind it in 96 to 99 of 100 cases (pthread_spin_lock(), libgomp). Loops without
 * that instruction are taken for work, but for those that polling.bpf.h knows.
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
#endif
#define CODE_BEHIND 8 /* bytes before where it was interrupted */

static __always_inline bool waits_busily(const struct sample_registers *r)
{
	u32 code[(CODE_BYTES + 3) / 4] = {};

	return of_program(r) &&
	       !bpf_probe_read_user(code, CODE_BYTES, (const void *)(r->ip - CODE_BEHIND)) &&
	       waits_in((const u8 *)code);
}

#endif
