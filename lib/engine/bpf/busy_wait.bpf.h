/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that wait without giving up their core: spin locks of their own, barriers of OpenMP,
 * locks that spin for a while before they sleep. Nothing tells when such a wait begins and ends, or
 * for whom it is, but ticks meet it: a loop that waits tells the processor so by an instruction
 * made for it, which takes many times as long as the rest of the loop, and a sample's address is
 * right behind it in 96 to 99 of 100 cases (pthread_spin_lock(), libgomp). What such a sample
 * stands for was waiting (account/busy_wait.h). Loops without that instruction are taken for
 * work.
 */
#ifndef SCOZ_BUSY_WAIT_BPF_H
#define SCOZ_BUSY_WAIT_BPF_H

#include "account/busy_wait.h"
#include "engine/bpf/page.bpf.h"

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

struct least {
	s64 absorbed;
	s64 own; /* less than that changes nothing */
	u64 now;
};

/* Of the cores at work, which those that wait may wait for. */
static long least_absorbed(u32 cpu, void *arg)
{
	struct least *l = arg;
	struct scoz_core *c = page_core(cpu);
	struct target_time *time = target_time(cpu);
	s64 absorbed;
	u64 began;

	if (!c || !time)
		return 1;
	if (!c->sampled || READ_ONCE(c->idle) || !READ_ONCE(c->last_tick) || READ_ONCE(time->spins))
		return 0;
	absorbed = READ_ONCE(c->absorbed);
	began = READ_ONCE(c->stop_began);
	if (began && l->now > began)
		absorbed += l->now - began;
	if (absorbed < l->absorbed)
		l->absorbed = absorbed;
	return l->absorbed <= l->own;
}

/* A tick of @weight met an involved task. */
static __always_inline void note_busy_wait(struct scoz_core *c, u32 cpu, u64 weight,
					   const struct sample_registers *r,
					   const struct scoz_header *h, const struct scoz_global *g,
					   u64 now)
{
	struct target_time *time = target_time(cpu);
	struct least l = { .absorbed = READ_ONCE(g->delay), .own = c->absorbed, .now = now };
	s64 delay = l.absorbed;

	if (!time || model != SCOZ_MODEL_WAIT)
		return;
	if (!waits_busily(r)) {
		time->spins = 0;
		return;
	}
	time->spun += weight;
	if (!time->spins)
		time->spun_first += weight;
	time->spins = 1;
	if (scoz_debt(delay, c) <= 0)
		return;
	bpf_loop(h->cores, least_absorbed, &l, 0);
	scoz_spin_seen(c, weight, l.absorbed, delay);
}

#endif
