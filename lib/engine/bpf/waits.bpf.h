/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waiting in the target for devices, timers or the kernel: time that no sample sees. It is
 * measured, so that reports can tell how much of the target it is, and with bpf_target.waits it is
 * a hit (account/wait.h), booked before the task does anything. What the task queues for afterwards
 * is no part of it, nor is a wait that another task of a program ends: what that task does
 * meanwhile is its own, and a target of its own. What an idle core takes to run it (the interrupt,
 * leaving a sleep state: tens of microseconds in a virtual machine) is part of waiting there, and
 * of code that waits; but no device is slow for it, so it is none of a class, unless the device
 * takes no time at all: then nobody falls asleep. What it queues for behind strangers who came
 * while it waited is part of it, too (share.h).
 *
 * Whether the target is in the call chain is looked at when the task runs again, still inside of
 * what it waited in. That costs about a microsecond, so of waits shorter than LOOK_NS only some are
 * looked at, the more likely the longer they were, and then stand for LOOK_NS, as does what task
 * and core could absorb by them: the sum is right on average, and no single wait can spoil it.
 * Classes need no call chain, nor do targets whose begin and end are seen: their waits count as
 * they were. (Lumps come late for the device, and for whoever it serves next.) But ends of
 * functions may be missed: there, long waits are looked at all the same.
 */
#ifndef SCOZ_WAITS_BPF_H
#define SCOZ_WAITS_BPF_H

#include "engine/bpf/match.bpf.h"
#include "engine/bpf/tick.bpf.h"

#define LOOK_NS 200000ULL
/* An idle core that takes longer, ns, was taken away by a host: that is no part of the wait. */
#define LONGEST_WAKE_UP LOOK_NS
/* The longest wait that is counted in full, ns: who sleeps longer has no part in the work. */
#define LONG_WAIT 1000000000LL

/*
 * The wait of @t, which has begun at account.since, is over; its account has moved to what it is
 * now. @most: what it would be if all of the wait had been absorbed. @classes: BPF_CLASS_*.
 * @device: key of what has an account (devices) and has ended the wait, 0: none.
 */
static __always_inline void note_wait(struct task_state *t, u32 classes, u64 device, u64 length,
				      s64 most)
{
	struct device_state *d;

	t->waited = length;
	t->wait_limit = most - t->account.absorbed;
	t->wait_served = 0;
	t->wait_device = 0;
	t->wait_classes = classes;
	if (!device)
		return;
	d = bpf_map_lookup_elem(&devices, &device);
	if (!d)
		return;
	t->wait_device = device;
	t->wait_served = d->device.served;
	t->wait_booked = d->device.booked;
	d->device.served = 0;
}

static __always_inline bool in_iowait(const struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, in_iowait);
}

/* It is seen that it has not left the target since it fell asleep. */
static __always_inline bool sleeps_inside(const struct bpf_target *target,
					  const struct task_state *t)
{
	return target->seen && t->spread.inside && t->spread.target == target->number;
}

/*
 * @next is switched in on a core (@time): may its last wait, which is over, be in the target?
 * @wake_up: what the idle core has taken since then; @behind: strangers who came while it waited,
 * ns.
 */
static __always_inline bool target_wait_ends(struct target_time *time, struct task_struct *next,
					     struct task_state *t, bool involved, u64 wake_up,
					     u64 behind)
{
	struct bpf_target *target = current_target();
	u64 length = scoz_min(t->waited, LONG_WAIT), beyond = t->waited - length, ahead;
	struct scoz_header *h = page_header();
	bool inside;

	wake_up = scoz_min(wake_up, LONGEST_WAKE_UP);
	behind = scoz_min(behind, LONG_WAIT);
	t->waited = 0;
	if (!target)
		return false;
	time->look = 0;
	time->wakes = 0;
	time->beyond = beyond;
	if (!length || !involved)
		return false;
	if (t->wait_classes & BPF_CLASS_IO && !(next->flags & PF_KTHREAD))
		time->io += length;
	time->in_class = 0;
	time->known = 0;
	time->length = length;
	time->limit = t->wait_limit;
	time->device = t->wait_device;
	time->booked = t->wait_booked;
	time->serves = t->wait_device ? scoz_min(t->wait_served, LONG_WAIT) : length;
	if (target->classes) {
		if (!(target->classes & t->wait_classes))
			return false;
		time->in_class = time->known = 1;
		wake_up = h && h->speedup >> SCOZ_SPEEDUP_SHIFT ? wake_up : 0;
		time->limit += wake_up + behind;
		time->serves += wake_up + behind;
		time->wakes = wake_up + behind;
	} else {
		/*
		 * A request is under way before its task falls asleep. What the task did until then
		 * is the target, too, as far as that is seen, else probably, but for a request that
		 * was started long ahead.
		 */
		inside = sleeps_inside(target, t);
		ahead = inside ? scoz_spread_inside_for(&t->spread, target->number,
							t->account.since - length)
			       : length;
		time->serves = scoz_min(time->serves, length + ahead);
		if (time->limit < (s64)time->serves)
			time->limit = time->serves;
		wake_up += behind;
		length += wake_up;
		time->length = length;
		time->limit += wake_up;
		time->serves += wake_up;
		time->wakes = wake_up;
		time->known = inside && (target->seen != BPF_SEEN_FUNCTION || length < LOOK_NS);
		if (!time->known && length < LOOK_NS) {
			if (bpf_get_prandom_u32() % LOOK_NS >= length)
				return false;
			time->limit = time->limit * LOOK_NS / length;
			time->serves = time->serves * LOOK_NS / length;
			time->wakes = time->wakes * LOOK_NS / length;
			length = LOOK_NS;
		}
	}
	time->look_pid = next->pid;
	time->look = length;
	return true;
}

static __always_inline void profiled_leaves(struct target_time *time, const struct scoz_core *c,
					    u64 now)
{
	time->left = c->absorbed - (s64)now;
}

/* The profiler runs in nobody's time: the core has not rested meanwhile. */
static __always_inline void self_leaves(struct target_time *time, const struct scoz_core *c,
					u64 now)
{
	time->left -= now - c->ran_at;
}

/* What core @c (@time) would have absorbed by now if nobody had run there that owes. */
static __always_inline s64 rested(const struct scoz_core *c, const struct target_time *time,
				  u64 now)
{
	s64 place = READ_ONCE(time->place);

	return place ? place + (s64)now : scoz_rested(c, time->left, now);
}

struct rest_search {
	u64 now;
	s64 wanted, most;
	u32 self, best;
};

static long search_rested(u32 cpu, void *arg)
{
	struct rest_search *s = arg;
	struct scoz_core *c = page_core(cpu);
	struct target_time *time = target_time(cpu);
	s64 b;

	if (!c || !time)
		return 1;
	if (cpu == s->self || !c->sampled || !(READ_ONCE(c->idle) || READ_ONCE(time->server)))
		return 0;
	b = rested(c, time, s->now);
	if (b > s->most) {
		s->most = b;
		s->best = cpu;
	}
	return s->most >= s->wanted;
}

/*
 * A profiled task, @t, comes to @cpu, where sinks, strangers and threads of the kernel may have run
 * since another one left. @wanted: what it could use; 0: no wait of the target is over, or the task
 * cannot run elsewhere.
 */
static __always_inline void rest(struct scoz_core *c, struct target_time *time, u32 cpu,
				 const struct task_state *t, s64 wanted, s64 delay, u64 now)
{
	struct scoz_header *h = page_header();
	struct target_time *other;
	struct rest_search s = { .now = now, .wanted = wanted, .self = cpu };
	s64 mine;

	if (!h)
		return;
	mine = s.most = rested(c, time, now);
	s.best = cpu;
	if (wanted > 0 && wanted > mine)
		bpf_loop(h->cores, search_rested, &s, 0);
	WRITE_ONCE(time->place, 0);
	time->left = s.most - (s64)now;
	scoz_core_rests(c, &t->account, s.most, delay, now);
	if (s.best == cpu)
		return;
	other = target_time(s.best);
	if (other)
		WRITE_ONCE(other->place, mine - (s64)now ?: 1);
}

/* scoz_switch_in() of a task that target_wait_ends() has something to say about. */
static __always_inline void arrive(struct scoz_core *c, struct target_time *time,
				   const struct task_state *t, s64 delay, u64 now)
{
	struct scoz_arrival a;

	scoz_arrive(c, &t->account, spare_strangers || waits_are_hits() ? time->left + (s64)now : 0,
		    delay, now, &a);
	time->task = a.task;
	time->core = a.core;
	time->paid = a.paid;
	if (time->look > time->length) /* one for several */
		time->core = scoz_min(a.core, LONG_WAIT) * time->look / time->length;
	/* While the request was under way and its task still awake, the core was that task's. */
	if (!time->in_class && time->serves > time->look)
		time->core += time->serves - time->look;
}

static __always_inline void account_wait(struct target_time *time, u32 cpu, struct scoz_core *c,
					 u32 speedup, u64 now)
{
	struct scoz_header *h = page_header();
	struct scoz_global *g = page_global();
	struct scoz_arrival a = { time->task, time->core, time->paid };
	u64 key = time->device;
	struct device_state *device = bpf_map_lookup_elem(&devices, &key);
	s64 d, late = 0;

	if (!h || !g)
		return;
	if (!had_lease(h, now)) {
		c->clipped++; /* this window says too little */
		return;
	}
	if (device) {
		if (now > device->target_until)
			scoz_device_follow(&device->device, READ_ONCE(g->delay));
		device->target_until = now + DEVICE_FORGOTTEN;
		late = device->device.booked - time->booked;
		if (late < 0) /* it had been forgotten meanwhile, and began anew */
			late = 0;
		if (time->look > time->length) /* one for several */
			late = scoz_min(late, LONG_WAIT) * time->look / time->length;
	}
	d = scoz_wait_inserts(time->serves, speedup);
	scoz_wait_hit(c, &a, d, late, time->limit, READ_ONCE(g->delay) + d);
	if (device) /* which is not busy while somebody wakes up */
		scoz_device_hit(&device->device,
				scoz_wait_inserts(time->serves - time->wakes, speedup));
	account_hit(d, now);
	c->due = scoz_debt(READ_ONCE(g->delay), c) > 0;
}

/*
 * By the task itself, in the system call or fault that it waited in. Ticks that fall into it leave
 * the account alone, and go to the next one, as with stops.
 */
static __always_inline void look_at_wait(void *ctx)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct target_time *time = target_time(cpu);
	struct scoz_core *c = page_core(cpu);
	struct scoz_header *h = page_header();
	struct task_struct *task;
	u64 length;

	if (!time || !time->look || !c || !h)
		return;
	account_hold(c);
	length = time->look;
	time->look = 0;
	task = bpf_get_current_task_btf();
	if (length && (u32)task->pid == time->look_pid &&
	    (time->known || matches_target(ctx, task))) {
		time->waited += length;
		time->left_out += time->beyond;
		if (waits_are_hits() && h->speedup && c->sampled && !control)
			account_wait(time, cpu, c, h->speedup, bpf_ktime_get_ns());
	}
	account_let_go(c);
}

#endif
