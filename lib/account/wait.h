/* SPDX-License-Identifier: GPL-2.0-only OR GPL-2.0-or-later */
/*
 * Waiting as a target: pure functions over plain structs, like account.h, for engines that know
 * when a wait began, when and by what it was ended, and whether it lies in the target.
 *
 *   wait hit  A wait of length L that a device or a timer has ended: d = s * L; G += d and
 *             A(T) += d, at the switch-in at the latest, so before the task does anything and
 *             wakes anybody. L ends with the wake-up: what the task queues for afterwards it waits
 *             for a core. A wait that another task ends is no hit: what that task does meanwhile
 *             is its own, and a target of its own.
 *
 * What others insert meanwhile the task owes as before. The credit is the task's: the core under it
 * has saved nothing. If others kept the core busy all the while, the task could not have run sooner
 * for being woken sooner, and the core owes d; if the core was idle, so that it could have, it
 * absorbs d by that idling, which at the switch-in still ended at the smaller G. So what the
 * minimum of account.h ("switch-in") has cut off each of the two is kept until the hit, which may
 * come a little later: the call chain of a task is known when it runs.
 *
 *   arrival   task = a - A(c), core = (B(c) + time idle) - B(c) after the switch-in
 *   wait hit  a = A(c) + task + d, b = min(max(G, A(T) + d), B(c) + core), at least B(c)
 *             A(c) = min(a, b), alone = b - A(c)
 *
 * Where cores are shared with strangers (share.h), what these ran on it would have given way, too.
 *
 * In the ledger d is the core's own, and excused the less by what of it did not reach the core.
 *
 * A lump of many milliseconds comes late, at the end of the wait, but not too late: whoever waits
 * for this task meanwhile absorbs no more than it has waited for, and who does not owes it now.
 *
 * Devices. Requests that queue behind each other wait for each other: of n that were served one by
 * one, the last has waited n times as long as its service took. To credit each of them its whole
 * wait would insert n times too much. So where waits for a device can be the target, the device has
 * an account of its own as a core has. It serves from the issue of a request, or the end of the one
 * before if that was later, until the request ends; while it serves nobody it waits for tasks, and
 * absorbs:
 *
 *   complete  start = max(issue, last completion); served += now - start
 *             a = A(submitter at the submission) + (start - issue), v = issue - A(submitter)
 *             b = B(D) + (issue - last completion, at least 0) - (v >= last v ? late : 0)
 *             B(D) = min(b, max(G, a)), late = max(0, B(D) - a)
 *             who ends the wait (account.h, "wake") is min(a, B(D))
 *   wait hit  L = served since the last wait that this device has ended; B(D) += d as well
 *
 * late is what the last submitter owed more than the device. It holds up those who came after it
 * in virtual time (v), for which the device was still busy; but not who came before it there, and
 * only by the clock after it: a thread that sleeps by a timer may come tens of milliseconds too
 * early. (If all inherited from it, the writes of a database's background writer gave what that
 * owed to everybody who used the disk: tests/sim/writers.c, -73 points instead of -1.)
 *
 * L may be more than the task has waited, if the request was started ahead of its use: the device
 * would be faster all the same, but the task absorbs no more than it has waited; the rest it owes.
 *
 * That is exact for devices that serve one request after the other, and for those that serve many
 * at once as long as requests begin together or the device is never idle; who begins while another
 * request is half served by such a device inherits too much (docs/accuracy/waiting.md).
 *
 * Threads of the kernel. Who calls fsync() waits for the journal's thread, which waits for the disk
 * on its behalf, perhaps through others (a loop device's worker). Accounted as tasks they would owe
 * what their waiters have been credited, stop where nobody should, and keep cores busy whose debts
 * are waived meanwhile. Where waits are the target they are devices: such a thread is never
 * stopped, the core under it absorbs as if it idled (scoz_rested()), its own waits are no hits and
 * its requests no service of the device below; but it has an account as a device has, by which its
 * waiters go. It begins to serve somebody when that falls asleep. A commit ends many waits at once:
 * the first one that runs again inserts d, and who was woken before that shares it (late).
 *
 * Only one who is woken by what another task did, which a thread of the kernel hands on, inherits
 * from that task: what the thread inherited when it was set to work.
 *
 * Such threads run on the cores that their waiters have left, and push them to others. A core that
 * was busy meanwhile could not have run the waiter sooner, but an idle one could have: if that has
 * absorbed more, both change places.
 */
#ifndef SCOZ_WAIT_H
#define SCOZ_WAIT_H

#include "account/account.h"

/* What the switch-in has cut off a task and its core; valid until either's account moves. */
struct scoz_arrival {
	__s64 task;
	__s64 core;
	__s64 paid; /* what the task has absorbed, its waiting for a CPU left out */
};

static __always_inline __s64 scoz_idled(const struct scoz_core *c, __u64 now)
{
	return c->idle ? (__s64)(now - c->idle_since) : 0;
}

/*
 * What @c would have absorbed by now, at most, if nobody had run there but threads of the kernel
 * since a profiled task left; @left: its account then, less the time.
 */
static __always_inline __s64 scoz_rested(const struct scoz_core *c, __s64 left, __u64 now)
{
	__s64 b = c->absorbed + scoz_idled(c, now);

	return b > left + (__s64)now ? b : left + (__s64)now;
}

/*
 * It has absorbed @rested instead, but not beyond G, or what it or @t (may be NULL) has paid
 * beforehand; before scoz_switch_in() there.
 */
static __always_inline void scoz_core_rests(struct scoz_core *c, const struct scoz_task *t,
					    __s64 rested, __s64 delay, __u64 now)
{
	__s64 idled = scoz_idled(c, now);
	__s64 most = scoz_max(t ? scoz_max(delay, t->absorbed) : delay, c->absorbed + idled);

	scoz_core_set(c, scoz_min(rested, most) - idled);
}

/*
 * scoz_switch_in() of model wait, remembering. @most: where strangers may have run on the core,
 * what it would have absorbed by idling since a profiled task ran there; else 0.
 */
static __always_inline void scoz_arrive(struct scoz_core *c, const struct scoz_task *t, __s64 most,
					__s64 delay, __u64 now, struct scoz_arrival *ret)
{
	ret->paid = t->absorbed;
	ret->task = scoz_task_arrives(c, t, now);
	ret->core = c->absorbed + scoz_idled(c, now);
	if (ret->core < most)
		ret->core = most;
	scoz_switch_in(c, t, delay, now, SCOZ_MODEL_WAIT);
	ret->task -= c->absorbed;
	ret->core -= c->absorbed + c->alone;
}

/* What making a wait of @length shorter inserts; the caller adds it to G. */
static __always_inline __s64 scoz_wait_inserts(__u64 length, __u32 speedup)
{
	return scoz_lump(length, speedup);
}

/*
 * The task that was switched in last, and has done nothing yet, has waited in the target: @d has
 * been added to G, which is @delay now. @late: what others have inserted for the same device since.
 * @limit: how much more it can have absorbed by that wait.
 */
static __always_inline void scoz_wait_hit(struct scoz_core *c, const struct scoz_arrival *arrival,
					  __s64 d, __s64 late, __s64 limit, __s64 delay)
{
	__s64 core = c->absorbed + c->alone, mine = scoz_min(d + late, limit);
	__s64 room = scoz_min(arrival->core, scoz_max(delay, arrival->paid + mine) - core);

	if (room > 0)
		core += room;
	c->own += d;
	c->excused -= d;
	c->hits++;
	scoz_core_set(c, scoz_min(c->absorbed + arrival->task + mine, core));
	c->alone = core - c->absorbed;
}

/* A device; zero-initialised is valid. */
struct scoz_device {
	__s64 absorbed;
	__u64 done;   /* when its last request was completed */
	__u64 served; /* ns, since a wait was ended by it */
	__s64 booked; /* what hits have inserted for it, all of it so far */
	/* Of its last request: by how much more its submitter owed, when it came in virtual time.
	 */
	__s64 late;
	__s64 came;
};

/*
 * A request ends that was issued at @issued by somebody who had absorbed @submitter. Returns what
 * whoever has waited for it inherits.
 */
static __always_inline __s64 scoz_device_ends(struct scoz_device *device, __s64 submitter,
					      __u64 issued, __s64 delay, __u64 now)
{
	__u64 start = issued;
	__s64 a = submitter, b = device->absorbed, late = device->late;
	__s64 came = (__s64)issued - submitter, most = scoz_max(a, delay);

	if (came >= device->came)
		b -= late;
	if (!device->done)
		b = most;
	else if (device->done > issued)
		a += device->done - issued, start = device->done;
	else
		b += issued - device->done;
	b = scoz_min(b, most);
	late = b > a ? b - a : 0;
	device->absorbed = b;
	device->late = late;
	device->came = came;
	device->done = now;
	if (now > start)
		device->served += now - start;
	return scoz_min(a, b);
}

/* Until now it was nobody's concern: it owes nothing. */
static __always_inline void scoz_device_follow(struct scoz_device *device, __s64 delay)
{
	device->absorbed = delay;
	device->late = 0;
}

/* A wait that it has ended inserts @d. */
static __always_inline void scoz_device_hit(struct scoz_device *device, __s64 d)
{
	device->absorbed += d;
	device->booked += d;
}

/* A thread of the kernel begins to work for a task that has absorbed @waker. */
static __always_inline void scoz_set_to_work(struct scoz_task *t, __s64 waker, __u64 now)
{
	t->absorbed = waker;
	t->since = now;
}

#endif
