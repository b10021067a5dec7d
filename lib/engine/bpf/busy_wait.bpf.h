/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that wait without giving up their core: spin locks of their own, barriers of OpenMP,
 * locks that spin for a while before they sleep. Nothing tells when such a wait begins and ends, or
 * for whom it is, but ticks meet it (busy_loop.bpf.h; polling.bpf.h): what such a sample stands for
 * was waiting (account/busy_wait.h).
 */
#ifndef SCOZ_BUSY_WAIT_BPF_H
#define SCOZ_BUSY_WAIT_BPF_H

#include "account/busy_wait.h"
#include "engine/bpf/busy_loop.bpf.h"
#include "engine/bpf/page.bpf.h"
#include "engine/bpf/polling.bpf.h"
#include "engine/bpf/related.bpf.h"

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

/* What @cpu's task spent so absorbs. */
static __always_inline void absorb_spin(struct scoz_core *c, u64 weight,
					const struct scoz_header *h, const struct scoz_global *g,
					u64 now)
{
	struct least l = { .absorbed = SCOZ_SPIN_NOBODY, .own = c->absorbed, .now = now };

	bpf_loop(h->cores, least_absorbed, &l, 0);
	scoz_spin_seen(c, weight, l.absorbed, READ_ONCE(g->delay));
}

/*
 * A tick of @weight met an involved task. Does it poll? That is a wait like others, though somebody
 * of the target may have called who waits so; a loop that spins is part of the code it is in.
 */
static __always_inline bool note_busy_wait(struct scoz_core *c, u32 cpu, u64 weight,
					   struct match *m, const struct sample_registers *r,
					   const struct scoz_header *h, const struct scoz_global *g,
					   u64 now)
{
	struct target_time *time = target_time(cpu);
	bool polling;

	if (!time || model != SCOZ_MODEL_WAIT)
		return false;
	polling = polls(m);
	if (!polling && !waits_busily(bpf_get_current_task_btf(), r)) {
		time->spins = 0;
		return false;
	}
	time->spun += weight;
	WRITE_ONCE(related_spun, now);
	if (!time->spins)
		time->spun_first += weight;
	time->spins = 1;
	absorb_spin(c, weight, h, g, now);
	return polling;
}

#endif
