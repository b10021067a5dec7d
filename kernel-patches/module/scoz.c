// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the BPF programs of a causal profiler cannot do on an unpatched kernel: interrupt a core
 * right now. The programs keep all rules, of who owes what and who is to be stopped, and stop.
 *
 * scoz_kick() interrupts a core, where the tracepoint scoz_kicked tells the programs so. A core
 * that interrupts itself is interrupted as soon as its interrupts are on.
 *
 * irq_work_queue_on() is not for modules; cross-calls are, and come to the same.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/hardirq.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include "scoz.h"

#define CREATE_TRACE_POINTS
#include "scoz_trace.h"

struct kick {
	atomic_t underway;
	call_single_data_t call; /* from other CPUs */
	struct irq_work self;	 /* from this one */
};

static DEFINE_PER_CPU(struct kick, kicks);

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

/* Kernels from 6.9 on want sets of such functions to be marked. */
#ifndef BTF_KFUNCS_START
#define BTF_KFUNCS_START BTF_SET8_START
#define BTF_KFUNCS_END	 BTF_SET8_END
#endif

BTF_KFUNCS_START(scoz_functions)
BTF_ID_FLAGS(func, scoz_kick)
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

MODULE_DESCRIPTION("Interrupts cores for the BPF programs of the scoz profiler");
MODULE_LICENSE("GPL");
