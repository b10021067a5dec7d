// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the BPF programs of a causal profiler cannot do on an unpatched kernel: interrupt a core
 * right now, and stop one as a function of the kernel does. The programs keep all rules, of who
 * owes what and who is to be stopped; here is only how.
 *
 * scoz_kick() interrupts a core, where the tracepoint scoz_kicked tells the programs so. A core
 * that interrupts itself is interrupted as soon as its interrupts are on.
 *
 * scoz_stop() keeps a core busy, within limits that no caller can move.
 *
 * irq_work_queue_on() is not for modules; cross-calls are, and come to the same.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "scoz.h"

#define CREATE_TRACE_POINTS
#include "scoz_trace.h"

struct kick {
	atomic_t underway;
	call_single_data_t call; /* from other CPUs */
	struct irq_work self;	 /* from this one */
};

static DEFINE_PER_CPU(struct kick, kicks);

/*
 * Each ns that a CPU runs allows 19 ns of stops, of which LUMP can be saved up: of any 100 ms it
 * stops 96 at most.
 */
#define LUMP		(20 * NSEC_PER_MSEC)
#define LONGEST		(10 * NSEC_PER_MSEC)
#define LONGEST_IRQSOFF min_t(u64, 2 * NSEC_PER_MSEC, TICK_NSEC / 2)
#define PIECE		100UL /* ns between two looks */

struct budget {
	bool stopping;
	u64 saved; /* ns of stops, at the time @at */
	u64 at;
};

static DEFINE_PER_CPU(struct budget, budgets) = { .saved = LUMP };

static void arrived(struct kick *k)
{
	/* A kick that comes from here on interrupts once more. */
	atomic_set_release(&k->underway, 0);
	trace_scoz_kicked(smp_processor_id());
}

static void called(void *kick)
{
	arrived(kick);
}

static void called_self(struct irq_work *work)
{
	arrived(container_of(work, struct kick, self));
}

static u64 budget_now(const struct budget *b, u64 now)
{
	u64 ran = min_t(u64, now - b->at, LUMP);

	return min_t(u64, b->saved + ran * 19, LUMP);
}

static u64 stop(u64 ns)
{
	u64 start = ktime_get_mono_fast_ns(), now = start;
	/* Somebody wants the CPU already, and the caller knows whether it is to wait. */
	bool wanted = need_resched();

	while (now - start < ns && (wanted || !need_resched())) {
		ndelay(PIECE);
		now = ktime_get_mono_fast_ns();
	}
	return now - start;
}

/* Since 6.3; before, such functions need nothing as long as nobody here calls them. */
#ifndef __bpf_kfunc
#define __bpf_kfunc
#endif

/**
 * scoz_kick - interrupt a CPU, where the tracepoint scoz_kicked follows
 * @cpu: the CPU; this one is interrupted as soon as interrupts are on
 *
 * At most one interrupt is under way to each CPU.
 *
 * Return: 0; -EBUSY if one is under way; -ENXIO if there is no such CPU, or it is offline;
 * -EOPNOTSUPP in an NMI.
 */
__bpf_kfunc int scoz_kick(u32 cpu)
{
	struct kick *k;
	int ret = 0;

	if (in_nmi())
		return -EOPNOTSUPP;
	if (cpu >= nr_cpu_ids || !cpu_online(cpu))
		return -ENXIO;
	k = per_cpu_ptr(&kicks, cpu);
	if (atomic_cmpxchg(&k->underway, 0, 1))
		return -EBUSY;
	preempt_disable();
	if (cpu == smp_processor_id())
		irq_work_queue(&k->self);
	else
		ret = smp_call_function_single_async(cpu, &k->call);
	if (ret)
		atomic_set_release(&k->underway, 0);
	preempt_enable();
	return ret;
}

/**
 * scoz_stop - keep this CPU busy
 * @ns: how long at most
 *
 * At most 10 ms; with interrupts off 2 ms and half a tick of the scheduler; all stops together 95
 * of 100 ns. Ends as soon as the CPU is to be given to another task, unless that was so before.
 *
 * Return: the nanoseconds it took.
 */
__bpf_kfunc u64 scoz_stop(u64 ns)
{
	struct budget *b;
	u64 now, left;

	if (in_nmi())
		return 0;
	preempt_disable();
	b = this_cpu_ptr(&budgets);
	if (READ_ONCE(b->stopping)) {
		preempt_enable();
		return 0;
	}
	WRITE_ONCE(b->stopping, true);
	barrier(); /* against interrupts of this CPU */
	now = ktime_get_mono_fast_ns();
	left = budget_now(b, now);
	ns = min3(ns, left, irqs_disabled() ? LONGEST_IRQSOFF : (u64)LONGEST);
	ns = stop(ns);
	b->saved = left > ns ? left - ns : 0;
	b->at = now + ns;
	barrier();
	WRITE_ONCE(b->stopping, false);
	preempt_enable();
	return ns;
}

/* Kernels from 6.9 on want sets of such functions to be marked. */
#ifndef BTF_KFUNCS_START
#define BTF_KFUNCS_START BTF_SET8_START
#define BTF_KFUNCS_END	 BTF_SET8_END
#endif

BTF_KFUNCS_START(scoz_functions)
BTF_ID_FLAGS(func, scoz_kick)
BTF_ID_FLAGS(func, scoz_stop)
BTF_KFUNCS_END(scoz_functions)

static const struct btf_kfunc_id_set scoz_set = {
	.owner = THIS_MODULE,
	.set = &scoz_functions,
};

static int __init scoz_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kick *k = per_cpu_ptr(&kicks, cpu);

		INIT_CSD(&k->call, called, k);
		k->self = IRQ_WORK_INIT_HARD(called_self);
	}
	/* Programs that perf events run count as such where the kernel lets them call anything. */
	return register_btf_kfunc_id_set(BPF_PROG_TYPE_TRACING, &scoz_set);
}

/* Programs hold the module, so nobody calls any more; interrupts may still be under way. */
static void __exit scoz_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kick *k = per_cpu_ptr(&kicks, cpu);

		irq_work_sync(&k->self);
		while (atomic_read_acquire(&k->underway))
			cpu_relax();
	}
	synchronize_rcu();
}

module_init(scoz_init);
module_exit(scoz_exit);

MODULE_DESCRIPTION("Interrupts and stops cores for the BPF programs of the scoz profiler");
MODULE_LICENSE("GPL");
