/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the module of kernel-patches/module does for the programs. They are compiled twice, and only
 * those with SCOZ_MODULE, which are loaded where it is there, call it: to find its function a
 * loader reads the types of all modules, for which CAP_BPF is not enough.
 */
#ifndef SCOZ_MODULE_BPF_H
#define SCOZ_MODULE_BPF_H

#include "engine/bpf/page.bpf.h"

#ifdef SCOZ_MODULE
extern int scoz_kick(u32 cpu) __ksym;
#else
static __always_inline int scoz_kick(u32 cpu)
{
	return -1;
}
#endif

const volatile __u32 kicks; /* enum bpf_kicks */

struct kick {
	s64 delay;
	u32 self;
};

static long kick_one(u32 cpu, void *arg)
{
	struct kick *k = arg;
	struct scoz_core *c = page_core(cpu);

	if (!c)
		return 1;
	if (cpu != k->self && c->sampled && !READ_ONCE(c->idle) && !READ_ONCE(c->stopping) &&
	    !READ_ONCE(c->stop_began) && scoz_debt(k->delay, c) > 0)
		scoz_kick(cpu);
	return 0;
}

/* Who runs and owes pays now instead of at its next tick. */
static __always_inline void kick_others(const struct scoz_header *h, const struct scoz_global *g)
{
	struct kick k = { READ_ONCE(g->delay), bpf_get_smp_processor_id() };

	bpf_loop(h->cores, kick_one, &k, 0);
}

/* There has been a hit. */
static __always_inline void hit_kicks(const struct scoz_header *h, const struct scoz_global *g)
{
	struct target_time *time;

	if (kicks == KICK_AT_ONCE)
		kick_others(h, g);
	if (kicks != KICK_BY_INTERRUPT)
		return;
	time = target_time(bpf_get_smp_processor_id());
	if (time)
		time->kick = 1;
}

/* On kernels that let only programs at tracepoints call the module. */
static __always_inline void kick_if_wanted(void)
{
	struct target_time *time = target_time(bpf_get_smp_processor_id());
	struct scoz_header *h = page_header();
	struct scoz_global *g = page_global();

	if (kicks != KICK_BY_INTERRUPT || !time || !time->kick || !h || !g)
		return;
	time->kick = 0;
	kick_others(h, g);
}

#endif
