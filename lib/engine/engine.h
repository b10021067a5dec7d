/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An engine samples cores, accounts hits and stops cores for their debt. It knows addresses and
 * processes, not lines or experiments. Two engines, one behaviour: the same tests run against
 * both, and a difference in predictions is a bug in one of them.
 *
 * Threads: one thread drives an engine (targets, speedups, points); engine_set_period() may be
 * called by the handler thread of that core, engine_renew_lease(), engine_publish_mapping() and
 * the reading functions by any thread.
 */
#ifndef SCOZ_ENGINE_H
#define SCOZ_ENGINE_H

#include "account/polling.h"
#include "base/base.h"
#include "maps/maps.h"
#include "unwind/kernel_tables.h"
#include <linux/scoz.h>

struct engine;

struct engine_options {
	const char *name; /* "auto", "bpf", "kernel" */
	const int *cpus;  /* CPU numbers to sample and delay */
	int n_cpus;
	enum scoz_model model;
	uint64_t period_ns;
	uint64_t max_stop_ns; /* longest uninterrupted stop */
	uint32_t max_share;   /* percent of time a core may be stopped */
	double record_hz;     /* samples a second and core that go to the rings, at most */
	bool waive;	      /* waive common debt */
	/*
	 * It is known who belongs to what is profiled: tasks that were not involved are strangers.
	 * Only hits of involved tasks count, and of kernel threads at work for them; in model wait,
	 * the rules of account/share.h. Engine bpf.
	 */
	bool members_known;
	bool all_involved; /* every task owes for external waits, not only involved ones */
	/*
	 * Tasks that only sleep and look owe as all others (account/sink.h): for programs that
	 * count their progress by themselves, so that nobody sees who makes it.
	 */
	bool keep_sinks;
	bool measure_latency; /* keep hit-to-paid histograms */
	bool waits;	      /* waits in the target are hits, of classes always */
	bool classes;	      /* some target is one: -ENOTSUP where they cannot be */
	bool unwind;	      /* by tables, where the kernel can (engine_unwind_maps()) */
	/*
	 * What its forks do is as little a visit of a progress point as what this process does, as
	 * long as they execute nothing. Engine bpf.
	 */
	bool own_forks;
	bool trace_tasks; /* false: sampling only (benchmarks) */
	/*
	 * SCOZ_F_*: ways of engine kernel, besides its usual ones; SCOZ_F_KICK also of engine bpf,
	 * with the module.
	 */
	uint32_t flags;
	uint32_t no_flags; /* and without these */
	uint32_t no_ways;  /* ENGINE_*: ways of engine bpf that it is to do without */
	/*
	 * Engine kernel: 0 or, as the SCOZ paper has it, the number of samples after which a
	 * core's handler wakes up, matches them, accounts for them and stops its core: see
	 * engine_matches(), engine_account_batch().
	 */
	int batch;
};

/* Where cores stop after a task switch (bpf/switched.bpf.h), the better way first. */
#define ENGINE_SWITCH_EXIT    (1U << 0) /* at the tracepoint sched_exit_tp */
#define ENGINE_SELF_INTERRUPT (1U << 1) /* in an interrupt that the core sends to itself */
#define ENGINE_SPREAD	      (1U << 2) /* hits are spread over what tasks run (account/spread.h) */
#define ENGINE_SEEN	      (1U << 4) /* begin and end of some targets are seen (the same) */
#define ENGINE_MODULE	      (1U << 3) /* the module of kernel-patches/module is used, if loaded */

/*
 * Which one it will be; @allowed: engine kernel can be had. "auto" takes engine bpf all the same
 * for what that one alone can do, and says so, unless ways of engine kernel are asked for.
 */
bool engine_takes_kernel(const struct engine_options *opt, bool allowed);
/* Creates and attaches everything; sampling begins with engine_start(). */
int engine_create(const struct engine_options *opt, struct engine **ret, struct error *err);
int engine_start(struct engine *e, struct error *err);
/* Ends all delaying at once, then takes everything down. */
void engine_destroy(struct engine *e);
const char *engine_name(const struct engine *e);

/*
 * The per-core perf event whose ring carries samples (TID, TIME, CPU, callchain), and MMAP2,
 * COMM, FORK, EXIT records; to be mapped before engine_start(). @i indexes options.cpus.
 */
int engine_event_fd(const struct engine *e, int i);
#define ENGINE_SAMPLE_TYPE \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_CALLCHAIN)
/* Changes one core's sampling period a little (jitter), or all nominally (frequency). */
int engine_set_period(struct engine *e, int i, uint64_t period_ns);
void engine_set_nominal_period(struct engine *e, uint64_t period_ns);

/*
 * Where tables are put by which user stacks are unwound; NULL: this engine, or what this kernel
 * lets it do, knows frame pointers only. Valid as long as the engine.
 */
const struct unwind_maps *engine_unwind_maps(const struct engine *e);
/* Does it follow them elsewhere, and this kernel refuses the programs that do? */
bool engine_unwind_refused(const struct engine *e);

/*
 * What the code of a file is to those who poll (account/polling.h), by the number of the file's
 * unwind table: @role, but for @ranges. May be called again with more. -ENOTSUP: this engine does
 * not see polling; -ENOSPC.
 */
int engine_set_polling(struct engine *e, uint32_t table, uint32_t role,
		       const struct scoz_poll_range *ranges, size_t n);

/* ---- targets ---- */
enum engine_whose { ENGINE_ALL, ENGINE_COMM, ENGINE_CGROUP, ENGINE_RANK };
struct engine_part {
	uint32_t binary; /* id in maps; MAPS_KERNEL_ID: the kernel */
	struct file_id file;
	uint64_t code_vaddr;		  /* of the file: maptable_code_vaddr() */
	struct map_code code;		  /* of the file */
	const struct addr_ranges *ranges; /* kernel: absolute addresses */
	/*
	 * The kernel's part: whatever runs in this system call, by the number that the task has
	 * called, wherever in the kernel it is. Where that can't be told (a kernel with older
	 * patches, options.batch), it is @ranges.
	 */
	bool by_syscall;
	int syscall; /* with several parts, all of them are system calls */
	/*
	 * Not code but all that involved tasks do of these kinds (ENGINE_CLASS_*); the only part,
	 * but where each is of some tasks (@whose).
	 */
	uint32_t classes;
	/* Of these only what some tasks do. */
	enum engine_whose whose;
	const char *comm; /* ENGINE_COMM: threads of this name, or of a process of this name */
	uint64_t number;  /* ENGINE_CGROUP: cgroup_id(), and those below; ENGINE_RANK: the rank */
	uint32_t disk;	  /* ENGINE_CLASS_DISK: block_disk_find(); 0: one that is not there */
	/* ENGINE_CLASS_PEER: */
	struct engine_peer {
		uint8_t address[16]; /* as struct network_peer has it */
		uint16_t port;	     /* 0: any */
	} peer;
};
#define ENGINE_CLASS_ON	   (1U << 0) /* running */
#define ENGINE_CLASS_IO	   (1U << 1) /* waiting for block devices */
#define ENGINE_CLASS_OTHER (1U << 2) /* waiting for other devices and timers */
#define ENGINE_CLASS_DISK  (1U << 3) /* waiting for one block device, with all that is on it */
#define ENGINE_CLASS_PEER  (1U << 4) /* waiting for one network peer, on another machine */
/*
 * Replaces the target; nothing is inserted until engine_set_speedup(). -E2BIG: too many ranges;
 * -ENOTSUP: this engine knows no classes, or cannot tell block devices or network peers apart.
 */
int engine_set_target(struct engine *e, const struct engine_part *parts, int n, struct error *err);
/* Process @pid is that rank of a parallel job; -1: of none any more. By any thread. */
void engine_set_rank(struct engine *e, int pid, int rank);
/*
 * The target is a system call, and this engine or kernel knows it by its functions only: samples
 * are missed.
 */
bool engine_target_by_functions(const struct engine *e);
/* Classes can be targets. */
bool engine_knows_classes(const struct engine *e);
/* Waiting in the target is sped up as well; false: it is measured at most. */
bool engine_speeds_waits(const struct engine *e);
/* Begin and end of the target are seen: no hit is a sample (account/spread.h). */
bool engine_sees_hits(const struct engine *e);

/*
 * Where a target that is functions of one program begins and ends: offsets in the file, which were
 * shown to be instructions. @path leads to the file.
 */
struct engine_bounds {
	const char *path;
	const uint64_t *entries, *exits;
	size_t n_entries, n_exits;
};
/* Probes only where it begins, which count calls. Undone by engine_set_target(). */
int engine_count_calls(struct engine *e, const struct engine_bounds *bounds, size_t n,
		       struct error *err);
/* Then where it ends, too: from now on it is not sampled. */
int engine_see_target(struct engine *e, const struct engine_bounds *bounds, size_t n,
		      struct error *err);
/* It is sampled again. */
void engine_sample_target(struct engine *e);
/* Calls so far, on the @i-th of engine_options.cpus. */
uint64_t engine_target_calls(const struct engine *e, int i);
/* Samples so far that agree with what such probes say, and that differ. */
void engine_target_doubts(const struct engine *e, uint64_t *agreed, uint64_t *differed);
/* How many engine_options.cpus there are. */
int engine_cpus(const struct engine *e);
/* Whether functions can be seen at all. */
bool engine_can_see_functions(const struct engine *e);
/*
 * How that can be with this engine, of a target that is @classes, or @calls: system calls. Nothing
 * but this tells which targets are seen; that the kernel can be asked is known later.
 */
enum engine_seen {
	ENGINE_SAMPLED,
	ENGINE_SEEN_TASKS,
	ENGINE_SEEN_CALLS,
	ENGINE_SEEN_FUNCTION,
	ENGINE_SEEN_WAITS, /* nothing but: each is a hit of its length */
};
enum engine_seen engine_can_see(const struct engine *e, uint32_t classes, bool calls);
/* 0 to 1. Takes effect at once. */
void engine_set_speedup(struct engine *e, double speedup);

/*
 * From now on, or no longer, whatever profiled tasks run inserts delay, as if it were the target,
 * but saves none: everybody is stopped for it. Before engine_set_speedup(). False: this engine
 * cannot.
 */
bool engine_set_control(struct engine *e, bool on);

/* ---- accounting by the handlers (engine_options.batch) ---- */
/* Is this address part of the target? Any thread. */
bool engine_matches(struct engine *e, uint32_t binary, uint64_t vaddr);
/* By core @i's handler, which runs there: accounts for its hits, then stops it for its debt. */
void engine_account_batch(struct engine *e, int i, uint64_t hits);

/* Where a binary lies in a process (needed for libraries; executables find themselves). */
void engine_publish_mapping(struct engine *e, uint32_t binary, const struct maps_mapping *m);
/* @binary has been mapped there: what others had there is gone. */
void engine_withdraw_mapping(struct engine *e, uint32_t binary, const struct maps_mapping *m);
void engine_forget_process(struct engine *e, int pid);
void engine_forget_image(struct engine *e,
			 int pid); /* at exec; the next one may have begun long ago */
/* This process's waits for devices and timers leave a debt (docs/accounting.md 3a). */
int engine_involve(struct engine *e, int pid, struct error *err);
/* To be called now and then: who sleeps long no longer keeps common debt from being waived. */
void engine_forget_sleepers(struct engine *e);

/* ---- progress ---- */
enum engine_point_kind { ENGINE_UPROBE, ENGINE_TRACEPOINT, ENGINE_SYSCALL };
enum engine_point_role { ENGINE_VISIT, ENGINE_BEGIN, ENGINE_END };
struct engine_point {
	enum engine_point_kind kind;
	enum engine_point_role role;
	/*
	 * uprobe: the file, by the descriptor that its code was read through (kept open during the
	 * call), a path that leads to that descriptor's file, and its name for messages.
	 */
	int fd;
	const char *path, *file_name;
	uint64_t offset;  /* uprobe: file offset */
	uint64_t ref_ctr; /* uprobe: file offset of the semaphore, 0 none */
	const char *name; /* tracepoint */
	int syscall;	  /* system call number */
	const char *comm; /* name of the task, or of its process; NULL: any */
	int latency;	  /* of a begin and its end: one number below SCOZ_MAX_POINTS; -1: none */
	bool by_user;	  /* counts what is done by who is involved, and by engine_count_user() */
};
/* With that effective user, from now on; 0 or -errno (-E2BIG: there are too many). */
int engine_count_user(struct engine *e, uid_t uid);
/* Points by_user count what all do: this kernel carries older patches, which cannot tell. */
bool engine_counts_all_users(const struct engine *e);
/* Programs may be probed: without that no mark counts, however its visits are counted then. */
int engine_may_probe(struct error *err);
/* A further site of an existing point when *id >= 0, else a new one. */
int engine_add_point(struct engine *e, const struct engine_point *p, int *id, struct error *err);
/* Takes the uprobe back that was added last; false: this engine keeps it until its end. */
bool engine_withdraw_site(struct engine *e);
struct engine_count {
	uint64_t visits;
	uint64_t last_virtual; /* virtual time (now - A) of the latest visit, ns */
	uint64_t last_time;
	/*
	 * Of all visits (Little's law); differences are meaningful. Virtual time where
	 * engine_underway() tells of the latency that this is an end of.
	 */
	uint64_t sum_time;
};
void engine_read_point(const struct engine *e, int id, struct engine_count *ret);
/*
 * How long latency @latency took where both ends ran in one thread and no speedup was in force at
 * its begin, in virtual time: SPAN_SLOT counters (span_bins.h). False: this engine does not measure
 * that.
 */
bool engine_spans(const struct engine *e, int latency, uint64_t *ret);
/* Of a latency whose ends run in one thread, each thread by itself (span_bins.h). */
struct engine_underway {
	uint64_t underway; /* threads between begin and end now */
	/* What begins and ends that have no other end were counted, and the sums of their times. */
	uint64_t again, again_ns;
	uint64_t unbegun, unbegun_ns;
};
/* False: this engine does not tell; *@ret is zero then. */
bool engine_underway(const struct engine *e, int latency, struct engine_underway *ret);

/*
 * Names of tasks that reached point @id but are not the ones whose visits count
 * (engine_point.comm); returns how many were found, at most @max.
 */
int engine_point_others(const struct engine *e, int id, char (*names)[16], int max);

/* ---- the ledger ---- */
struct engine_ledger {
	int64_t delay; /* G */
	int64_t waived;
	uint64_t hits;
	uint64_t others_hits; /* samples of the target that did not count: strangers' */
	/* sums over the sampled cores */
	int64_t own, stopped, asked, excused, overhead, owed;
	uint64_t ticks, stops, capped, clipped, no_task;
	uint64_t idle;		  /* ns */
	uint64_t ran;		  /* ns in which involved tasks ran, stops left out; to a tick */
	uint64_t elsewhere;	  /* ... on CPUs that are not sampled, where nobody is stopped; */
	int elsewhere_most;	  /* on which of these they ran longest */
	uint64_t syncs;		  /* wake-ups of involved tasks by tasks */
	uint64_t spins;		  /* waits for locks that kept the core */
	uint64_t spun;		  /* ns they lasted */
	uint64_t external_waited; /* ns involved tasks waited for devices and timers */
	uint64_t external_waits;  /* how many */
	uint64_t crowded;	  /* ns paid for one task while others wanted the core */
	uint64_t absolute_waits;  /* sleeps of involved tasks until a point in time */
	uint64_t queued;	  /* ns involved tasks waited for a core */
	uint64_t unawaited;	  /* timers that fired before anybody waited for them */
	uint64_t deferred;	  /* returns to user space held back (engine kernel) */
	uint64_t kicks;		  /* interrupts because of hits elsewhere, with kick */
	/*
	 * ns that involved tasks ran in the target, by samples, and that they waited in it for
	 * devices, timers and the kernel, of all targets so far; 0: not measured (engine kernel).
	 */
	uint64_t target_ran, target_waited;
	/*
	 * Of the first, what tasks ran that had long neither woken others nor been woken by them,
	 * nor reached a progress point.
	 */
	uint64_t target_alone;
	uint64_t related; /* ns that involved tasks ran which have to do with a point */
	uint64_t target_waited_beyond; /* ns by which such waits were longer than what counts */
	/* ns that involved tasks waited for block devices; 0 where no class can be a target */
	uint64_t io_waited;
	/* ns that idle cores took to run involved tasks that others woke; 0 with engine kernel */
	uint64_t woken;
	/*
	 * Timers that woke involved tasks which had slept, looked, and slept again without anybody
	 * noticing, and ns of the latter sleeps; 0 with engine kernel.
	 */
	uint64_t polls, polled;
	uint64_t shared; /* ns inserted for what strangers ran (account/share.h) */
	uint64_t urgent; /* ns that real-time strangers ran; 0: or not known */
	/*
	 * ns that involved tasks spun in their programs, by samples, and the part of samples that
	 * found their core at work a period before; 0 in both with engine kernel, too.
	 */
	uint64_t busy_waited, busy_waited_first;
	uint64_t target_calls; /* of functions whose calls are seen, or counted */
	uint64_t unpaid;       /* ns that tasks owed as they fell asleep, beyond the longest stop */
};
void engine_read_ledger(const struct engine *e, struct engine_ledger *ret);
/*
 * Can the ledger be? Of a run that took @elapsed_ns, some 10 ms after its speedup became 0 for
 * good. -EBADE: it cannot, or cores paid the same inserted time again and again; then nothing may
 * be concluded from the run, and @err says so.
 */
int engine_check_ledger(const struct engine *e, uint64_t elapsed_ns, struct error *err);
/* One core's slot of the delay page, as it is now. */
struct scoz_core engine_core(const struct engine *e, int i);
int64_t engine_delay(const struct engine *e);

/* What looking costs: ns a tick, and the share of time (0 to 1) other interrupts take. */
void engine_set_cost(struct engine *e, double tick_ns, double background);

/* To be called every 2 ms; without it all delaying ends 8 ms later. */
#define ENGINE_LEASE_RENEW_NS (2 * NSEC_PER_MSEC)
#define ENGINE_LEASE_NS	      (8 * NSEC_PER_MSEC)
void engine_renew_lease(struct engine *e);

/* Quantile of the time from a hit until a running core began to pay (@paid false) or had paid;
 * in ns, with measure_latency. 0 when there were no hits. */
uint64_t engine_latency_quantile(const struct engine *e, double q, bool paid, uint64_t *n);

#endif
