/* SPDX-License-Identifier: GPL-2.0-only OR GPL-2.0-or-later */
/*
 * Programs that spin while they wait: pure functions over plain structs, like account.h, for
 * engines that see it by samples.
 *
 *   spin seen  Nothing tells when such a wait begins and ends. Where a tick finds a task at it (by
 *              the instruction that such loops have, or by polling.h), what its sample stands for
 *              was spent so: as account.h's "acquire", A(c) = min(A(E), A(c) + weight). E, for whom
 *              it waits, is not known, so it is whoever has absorbed least of the cores at work: to
 *              absorb too much would take away what others wait for (sim errors -m spin). It may
 *              be more than G: for what a host has added to E's stop ("paid beforehand") the
 *              others have spun, too.
 */
#ifndef SCOZ_BUSY_WAIT_H
#define SCOZ_BUSY_WAIT_H

#include "account/account.h"

/* In the number of words of a chain that engine bpf has walked: the sample met such a loop. */
#define SCOZ_WORDS_SPIN (1u << 31)

/* No core is at work. */
#define SCOZ_SPIN_NOBODY (1LL << 62)

/*
 * A tick of @weight found the running task spinning in its program; @ender: what the core at work
 * that has absorbed least has absorbed; SCOZ_SPIN_NOBODY: there is none.
 */
static __always_inline void scoz_spin_seen(struct scoz_core *c, __u64 weight, __s64 ender,
					   __s64 delay)
{
	__s64 amount = scoz_min((ender < SCOZ_SPIN_NOBODY ? ender : delay) - c->absorbed, weight);

	if (amount <= 0)
		return;
	scoz_core_absorbs(c, amount, delay);
	scoz_core_set(c, c->absorbed + amount);
}

#endif
