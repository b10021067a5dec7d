// SPDX-License-Identifier: GPL-2.0-or-later
/* Engine `bpf`: loading, attaching and taking down the programs. */
#include "host/bpf_programs.h"
#include "host/kallsyms.h"
#include "host/kernel_types.h"
#include "host/namespaces.h"
#include "host/process.h"
#include "host/scoz_module.h"
#include "engine/bpf/bpf_engine.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DEVICES_A_CORE 8

/*
 * The programs that follow a kernel function: loaded where that is possible. There are kernels
 * that refuse them to everybody, and one that is refused at loading would end it all.
 */
static void select_spins(struct scoz *s, const struct kernel_types *types, bool wanted)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, s->obj)
	{
		enum bpf_attach_type type = bpf_program__expected_attach_type(prog);

		if (type != BPF_TRACE_FENTRY && type != BPF_TRACE_FEXIT)
			continue;
		bpf_program__set_autoattach(prog, false);
		bpf_program__set_autoload(prog, wanted && kernel_lets_follow(types, prog));
	}
}

/*
 * Needs the function tracer; without it cores pay after a wait for a lock what the wait should
 * have absorbed. Ends first: a wait that began before is of no interest.
 */
static void attach_spins(struct bpf_engine *b)
{
	static const enum bpf_attach_type order[] = { BPF_TRACE_FEXIT, BPF_TRACE_FENTRY };
	struct bpf_program *prog;
	size_t n = 0, failed = 0;

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		bpf_object__for_each_program(prog, b->skel->obj)
		{
			struct bpf_link *link;

			if (!bpf_program__autoload(prog) || prog == b->skel->progs.on_mmap ||
			    bpf_program__expected_attach_type(prog) != order[i])
				continue;
			link = bpf_program__attach(prog);
			if (link)
				bpf_keep_link(b, link);
			failed += !link;
			n++;
		}
	}
	if (failed || !n)
		log_info("engine bpf: this kernel does not let waits for spin locks and running "
			 "owners of mutexes be followed (BPF fentry, CONFIG_FUNCTION_TRACER): "
			 "targets in the kernel under contended locks will look less worthwhile "
			 "than they are");
}

/* Who hears of what processes map: one of two, or nobody. */
static void select_mapped(struct bpf_engine *b, const struct kernel_types *types)
{
	struct scoz *s = b->skel;
	bool follows = kernel_lets_follow(types, s->progs.on_mmap);

	bpf_program__set_autoload(s->progs.on_mmap, follows);
	bpf_program__set_autoload(s->progs.on_pages,
				  !follows && !b->without_pages && kernel_tells_mappings(types));
	bpf_program__set_autoattach(s->progs.on_mmap, false);
}

static void attach_mapped(struct bpf_engine *b)
{
	struct bpf_link *link = NULL;

	if (bpf_program__autoload(b->skel->progs.on_pages))
		return;
	if (bpf_program__autoload(b->skel->progs.on_mmap))
		link = bpf_program__attach(b->skel->progs.on_mmap);
	if (link)
		bpf_keep_link(b, link);
	log_info("engine bpf: it is not known when pages of a file are mapped: %scallers without "
		 "frame pointers are seen some 20 ms after a process has "
		 "begun",
		 link ? "" : "targets in libraries and ");
}

/* How cores are interrupted at a hit elsewhere: module.bpf.h. */
static enum bpf_kicks choose_kicks(const struct engine *e)
{
	int module = ((const struct bpf_engine *)e)->module;

	if (!module || !(e->opt.flags & ~e->opt.no_flags & SCOZ_F_KICK))
		return KICK_NONE;
	return module & SCOZ_MODULE_IN_TICKS ? KICK_AT_ONCE : KICK_BY_INTERRUPT;
}

/* What is done after a task switch: switched.bpf.h. */
static int select_switched(struct engine *e, const struct kernel_types *types, struct error *err)
{
	struct bpf_engine *b = bpf_engine(e);
	struct scoz *s = b->skel;
	bool exits = e->opt.trace_tasks && kernel_has_tracepoint(types, "sched_exit_tp") &&
		     !(e->opt.no_ways & ENGINE_SWITCH_EXIT);
	enum bpf_kicks kicks = choose_kicks(e);
	bool interrupts = e->opt.trace_tasks && (!exits || kicks == KICK_BY_INTERRUPT) &&
			  kernel_has_tracepoint(types, "irq_work_entry") &&
			  !(e->opt.no_ways & ENGINE_SELF_INTERRUPT);
	struct error why = {};
	bool by_module;

	if (interrupts && !b->self_interrupts) {
		b->self_interrupts = self_interrupts_open(e->cpus, e->opt.n_cpus, &why);
		if (!b->self_interrupts)
			log_info(
				"engine bpf: cores pay at the ends of system calls, not after task "
				"switches: %s",
				why.text);
	}
	interrupts = interrupts && b->self_interrupts;
	by_module = e->opt.trace_tasks && !exits && !interrupts && b->module;
	s->rodata->kicks = kicks;
	s->rodata->self_interrupts = interrupts	 ? SELF_INTERRUPT_EVENT
				     : by_module ? SELF_INTERRUPT_MODULE
						 : SELF_INTERRUPT_NONE;
	bpf_program__set_autoload(s->progs.on_switched, exits);
	bpf_program__set_autoload(s->progs.on_self_interrupt, interrupts);
	bpf_program__set_autoload(s->progs.on_kicked, by_module || kicks);
	bpf_program__set_autoload(s->progs.on_sys_exit,
				  e->opt.trace_tasks && !exits && !interrupts && !by_module);
	if (kicks == KICK_BY_INTERRUPT && !interrupts)
		return error_set(
			err, ENOTSUP,
			"--tune kick: this kernel lets only programs at tracepoints call "
			"the module scoz.ko, and %s",
			why.text[0] ? why.text
				    : "--tune no-self-interrupt keeps ticks from getting there");
	return 0;
}

/* Loads only what this kernel offers and this run needs. */
static int select_programs(struct engine *e, struct error *err)
{
	struct scoz *s = bpf_engine(e)->skel;
	struct kernel_types types;
	bool wait = e->opt.model == SCOZ_MODEL_WAIT;
	const struct {
		struct bpf_program *prog;
		const char *tracepoint;
		bool wanted, required;
	} programs[] = {
		{ s->progs.on_switch, "sched_switch", true, true },
		{ s->progs.on_waking, "sched_waking", true, true },
		{ s->progs.on_newtask, "task_newtask", true, true },
		{ s->progs.on_softirq_raise, "softirq_raise", true, true },
		{ s->progs.on_softirq_entry, "softirq_entry", true, true },
		{ s->progs.on_softirq_exit, "softirq_exit", true, true },
		{ s->progs.on_unmapped_area, "vm_unmapped_area", true, false },
		{ s->progs.on_ipi, "ipi_send_cpu", !wait, false },
		{ s->progs.on_wake_without_ipi, "sched_wake_idle_without_ipi", !wait, false },
		{ s->progs.on_block_insert, "block_rq_insert", wait, false },
		{ s->progs.on_block_issue, "block_rq_issue", wait, false },
		{ s->progs.on_block_merge, "block_rq_merge", wait, false },
		{ s->progs.on_block_complete, "block_rq_complete", wait, false },
		{ s->progs.on_timer_start, "hrtimer_start", wait, false },
		{ s->progs.on_tcp_segment, "tcp_probe", wait, false },
		{ s->progs.on_tcp_state, "inet_sock_set_state", wait, false },
		{ s->progs.on_data_ready, "sk_data_ready", wait, false },
		{ s->progs.on_timer_expire, "hrtimer_expire_entry", true, true },
		{ s->progs.on_timer_expired, "hrtimer_expire_exit", true, true },
		{ s->progs.on_irq_handler_entry, "irq_handler_entry", true, true },
		{ s->progs.on_irq_handler_exit, "irq_handler_exit", true, true },
	};
	int ret = kernel_types_open(&types, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		bool have = kernel_has_tracepoint(&types, programs[i].tracepoint);

		if (!have && programs[i].wanted && programs[i].required)
			ret = error_set(err, ENOENT,
					"this kernel has no tracepoint %s, which engine bpf needs; "
					"run `scoz doctor`",
					programs[i].tracepoint);
		bpf_program__set_autoload(programs[i].prog,
					  have && programs[i].wanted && e->opt.trace_tasks);
	}
	if (!ret)
		ret = select_switched(e, &types, err);
	select_spins(s, &types, wait && e->opt.trace_tasks);
	select_mapped(bpf_engine(e), &types);
	s->rodata->preempt_count_address = kernel_preempt_count();
	s->rodata->per_cpu_offset_address = kernel_addresses()->per_cpu_offset;
	kernel_types_close(&types);
	return ret;
}

static int map_array(struct bpf_map *map, size_t entry, size_t entries, void **ret, size_t *size)
{
	long page = sysconf(_SC_PAGESIZE);
	void *p;

	*size = (entry * entries + page - 1) / page * page;
	p = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (p == MAP_FAILED)
		return -errno;
	*ret = p;
	return 0;
}

static int map_arrays(struct engine *e, struct error *err)
{
	struct bpf_engine *b = bpf_engine(e);
	struct scoz *s = b->skel;
	size_t size;
	int ret;

	ret = map_array(s->maps.delay_page, SCOZ_SLOT_SIZE, SCOZ_SLOT_CORE0 + e->cores,
			(void **)&e->page, &b->page_size);
	if (!ret)
		ret = map_array(s->maps.target_map, sizeof(struct bpf_target), 1,
				(void **)&b->target, &size);
	if (!ret)
		ret = map_array(s->maps.ranges, sizeof(struct scoz_range), SCOZ_MAX_RANGES,
				(void **)&b->ranges, &size);
	if (!ret)
		ret = map_array(s->maps.progress, sizeof(struct scoz_count),
				(size_t)SCOZ_MAX_POINTS * e->cores, (void **)&e->counts,
				&b->counts_size);
	if (!ret)
		ret = map_array(s->maps.latencies, sizeof(struct scoz_latency), e->cores,
				(void **)&e->latencies, &b->latencies_size);
	if (!ret)
		ret = map_array(s->maps.target_times, sizeof(struct target_time), e->cores,
				(void **)&b->target_times, &b->times_size);
	if (!ret)
		ret = map_array(s->maps.span_bins, sizeof(*e->spans),
				(size_t)SCOZ_MAX_POINTS * SPAN_SLOT, (void **)&e->spans,
				&b->spans_size);
	if (ret)
		return error_set(err, -ret, "mapping the delay page: %s", strerror(-ret));
	return 0;
}

/* Runs the task iterator: gives every task an account, involves those of @tgid. */
static int visit_tasks(struct engine *e, int tgid)
{
	bpf_engine(e)->skel->data->involve_tgid = tgid;
	return bpf_run_iterator(bpf_engine(e)->skel->progs.each_task);
}

static int forget_sleepers(struct engine *e)
{
	return visit_tasks(e, -1);
}

static void set_record_share(struct engine *e, uint32_t share)
{
	__atomic_store_n(&bpf_engine(e)->skel->data->record_share, share, __ATOMIC_RELAXED);
}

/*
 * Before the task does anything, and where its call chain is still that of the wait: the next end
 * of a system call may be another's, or of another call.
 */
static bool knows_waits(const struct engine *e)
{
	const struct scoz *s = ((const struct bpf_engine *)e)->skel;

	return bpf_program__autoload(s->progs.on_switched) ||
	       s->rodata->self_interrupts != SELF_INTERRUPT_NONE;
}

/* The image of this process, of which those are that it forks. */
static void tell_image(struct scoz *s)
{
	struct process_stat self;

	if (process_read_stat(getpid(), &self))
		return;
	s->rodata->self_code = self.start_code;
	s->rodata->self_code_end = self.end_code;
	s->rodata->self_stack = self.start_stack;
}

static int configure(struct engine *e, bool unwind, struct error *err)
{
	const struct kernel_addresses *kernel = kernel_addresses();
	struct scoz *s = bpf_engine(e)->skel;
	static bool said; /* of several tries */
	struct timespec tick;

	s->rodata->model = e->opt.model;
	s->rodata->self_tgid = getpid();
	if (e->opt.own_forks)
		tell_image(s);
	s->rodata->all_involved = e->opt.all_involved;
	s->rodata->filter_sinks = !e->opt.keep_sinks;
	s->rodata->members_known = e->opt.members_known;
	s->rodata->spare_strangers = e->opt.members_known && e->opt.model == SCOZ_MODEL_WAIT;
	s->rodata->spread_hits =
		e->opt.model == SCOZ_MODEL_WAIT && !(e->opt.no_ways & ENGINE_SPREAD);
	s->rodata->unwind_by_tables = unwind;
	s->rodata->page_shift = __builtin_ctzl(sysconf(_SC_PAGESIZE));
	s->rodata->measure_latency = e->opt.measure_latency;
	s->rodata->timerfd_function = kernel->timerfd_tmrproc;
	s->rodata->posix_timer_function = kernel->posix_timer_fn;
	s->rodata->itimer_function = kernel->it_real_fn;
	s->rodata->sleep_function = kernel->hrtimer_wakeup;
	if (!said && (!kernel->timerfd_tmrproc || !kernel->posix_timer_fn || !kernel->it_real_fn ||
		      !kernel->hrtimer_wakeup)) {
		log_warn("engine bpf: the kernel does not tell where its functions are "
			 "(kernel.kptr_restrict, CAP_SYSLOG): timers that programs set are not "
			 "told from others, so what goes by a clock may be predicted to get "
			 "faster, without a warning");
		said = true;
	}
	s->rodata->clock_nanosleep_number = SYS_clock_nanosleep;
	/* The coarse clock moves with the scheduler's tick. */
	if (!clock_getres(CLOCK_MONOTONIC_COARSE, &tick) && !tick.tv_sec && tick.tv_nsec)
		s->rodata->tick_ns = tick.tv_nsec;
	kernel_points_prepare(s->obj, true);
	bpf_program__set_autoattach(s->progs.on_tick, false);
	bpf_program__set_autoattach(s->progs.on_uprobe, false);
	bpf_program__set_autoattach(s->progs.on_function_begin, false);
	bpf_program__set_autoattach(s->progs.on_function_end, false);
	bpf_program__set_autoattach(s->progs.on_target_begin, false);
	bpf_program__set_autoattach(s->progs.on_target_end, false);
	bpf_program__set_autoattach(s->progs.on_tcp_segment, false);
	bpf_program__set_autoattach(s->progs.on_tcp_state, false);
	bpf_program__set_autoattach(s->progs.on_data_ready, false);
	bpf_program__set_autoattach(s->progs.each_task, false);
	bpf_map__set_max_entries(s->maps.delay_page, SCOZ_SLOT_CORE0 + e->cores);
	bpf_map__set_max_entries(s->maps.progress, SCOZ_MAX_POINTS * e->cores);
	bpf_map__set_max_entries(s->maps.latencies, e->cores);
	bpf_map__set_max_entries(s->maps.core_uses, e->cores);
	bpf_map__set_max_entries(s->maps.chain_events, e->cores);
	bpf_map__set_max_entries(s->maps.interrupt_events, e->cores);
	bpf_map__set_max_entries(s->maps.target_times, e->cores);
	/* Threads of the kernel that end waits are among them: some for each core. */
	bpf_map__set_max_entries(s->maps.devices,
				 bpf_map__max_entries(s->maps.devices) + DEVICES_A_CORE * e->cores);
	return select_programs(e, err);
}

static void destroy(struct engine *e)
{
	struct bpf_engine *b = bpf_engine(e);

	for (int i = 0; b->chain_events && i < e->opt.n_cpus; i++) {
		if (b->chain_events[i] >= 0)
			close(b->chain_events[i]);
	}
	free(b->chain_events);
	self_interrupts_close(b->self_interrupts);
	for (size_t i = 0; i < b->n_links; i++)
		bpf_link__destroy(b->links[i]);
	free(b->links);
	bpf_remove_bounds(b);
	free(b->bounds);
	if (b->skel)
		scoz__destroy(b->skel);
	if (e->page)
		munmap(e->page, b->page_size);
	if (b->target)
		munmap(b->target, sysconf(_SC_PAGESIZE));
	if (b->ranges)
		munmap(b->ranges, SCOZ_MAX_RANGES * sizeof(*b->ranges));
	if (e->counts)
		munmap(e->counts, b->counts_size);
	if (e->latencies)
		munmap(e->latencies, b->latencies_size);
	if (b->target_times)
		munmap(b->target_times, b->times_size);
	if (e->spans)
		munmap(e->spans, b->spans_size);
	pthread_mutex_destroy(&b->publish_lock);
}

/* The walk begins with registers that are saved in an order it knows (unwind.bpf.h). */
#if defined(__x86_64__)
#define REGISTERS_KNOWN true
#else
#define REGISTERS_KNOWN false
#endif

/*
 * Kernels before 6.1 refuse programs on perf events a hash that is not allocated beforehand, also
 * in code that never runs.
 */
static void do_without_unwinding(struct scoz *s)
{
	bpf_map__set_map_flags(s->maps.unwind_spaces, 0);
	bpf_map__set_max_entries(s->maps.unwind_spaces, 1);
	bpf_map__set_max_entries(s->maps.unwind_tables, 1);
	bpf_map__set_max_entries(s->maps.unwind_files, 1);
}

static int load_programs(struct engine *e, bool unwind, struct error *err)
{
	struct bpf_engine *b = bpf_engine(e);
	int r;

	b->skel = b->module ? bpf_open_for_module() : scoz__open();
	if (!b->skel)
		return error_set(err, EINVAL, "engine bpf: %s", bpf_log_reason());
	r = configure(e, unwind, err);
	if (r)
		return r;
	if (!unwind)
		do_without_unwinding(b->skel);
	r = bpf_may_load(err);
	if (r) { /* nor without a part of it */
		scoz__destroy(b->skel);
		b->skel = NULL;
		return r;
	}
	r = scoz__load(b->skel);
	if (r)
		return bpf_not_loaded(r, err);
	if (unwind)
		e->unwind_maps = (struct unwind_maps){
			bpf_map__fd(b->skel->maps.unwind_tables),
			bpf_map__fd(b->skel->maps.unwind_spaces),
			bpf_map__fd(b->skel->maps.unwind_counters),
			bpf_map__fd(b->skel->maps.unwind_files),
		};
	return 0;
}

/* What was refused as @err says, without a part of it. */
static int load_again(struct engine *e, bool unwind, const char *without, struct error *err)
{
	log_info("%s", err->text);
	log_info("engine bpf: without %s", without);
	scoz__destroy(bpf_engine(e)->skel);
	return load_programs(e, unwind, err);
}

static int load(struct engine *e, struct error *err)
{
	struct bpf_engine *b = bpf_engine(e);
	bool unwind = e->opt.unwind && REGISTERS_KNOWN;
	int r = engine_open_events(e, err);

	if (r)
		return r;
	b->module = bpf_choose_module(&e->opt, err);
	if (b->module < 0)
		return b->module;
	r = load_programs(e, unwind, err);
	if (r && b->module && b->skel && !(e->opt.flags & SCOZ_F_KICK)) {
		b->module = 0;
		r = load_again(e, unwind, "the module scoz.ko", err);
	}
	/* Some verifiers follow its loops for ever. */
	if (r && b->skel && bpf_program__autoload(b->skel->progs.on_pages)) {
		b->without_pages = true;
		r = load_again(e, unwind, "the program that hears of pages", err);
	}
	/* The walk is what a verifier finds hardest. */
	if (r && unwind && b->skel) {
		e->unwind_refused = true;
		r = load_again(e, false, "unwind tables", err);
	}
	if (r)
		return r;
	if (!b->skel->data) /* libbpf goes on when it cannot map it */
		return error_set(err, ENOMEM, "engine bpf: mapping the data of the programs: %s",
				 strerror(ENOMEM));
	b->points = (struct kernel_points){ .obj = b->skel->obj,
					    .tracepoint_point = b->skel->data->tracepoint_point };
	if (b->self_interrupts) {
		r = self_interrupts_publish(b->self_interrupts,
					    bpf_map__fd(b->skel->maps.interrupt_events));
		if (r)
			return error_set(err, -r, "engine bpf: events of cores: %s", strerror(-r));
	}
	r = map_arrays(e, err);
	if (r)
		return r;
	engine_init_page(e);
	return 0;
}

/* The samples of that core come with the chains that perf makes. */
static void do_without_chains(struct bpf_engine *b, int i, uint32_t cpu)
{
	log_info("engine bpf: samples of CPU %u show chains by frame pointers only: %s", cpu,
		 strerror(errno));
	bpf_map_delete_elem(bpf_map__fd(b->skel->maps.chain_events), &cpu);
	if (b->chain_events[i] >= 0)
		close(b->chain_events[i]);
	b->chain_events[i] = -1;
}

/*
 * What programs send along with a chain that they have walked comes as another event's sample, to
 * the ring of the core's own event, which is mapped by now, in order with all that is there.
 */
static bool open_chain_event(struct engine *e, int i)
{
	struct bpf_engine *b = bpf_engine(e);
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.size = sizeof(attr),
		.sample_period = 1,
		.sample_type = ENGINE_SAMPLE_TYPE | PERF_SAMPLE_RAW,
		.exclude_callchain_user = 1,
		.sample_max_stack = SCOZ_MAX_FRAMES,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	uint32_t cpu = e->cpus[i];
	int fd = syscall(SYS_perf_event_open, &attr, -1, e->cpus[i], -1, PERF_FLAG_FD_CLOEXEC);

	b->chain_events[i] = fd;
	return fd >= 0 && !ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, e->events[i]) &&
	       !bpf_map_update_elem(bpf_map__fd(b->skel->maps.chain_events), &cpu, &fd, BPF_ANY);
}

/* Without them chains go by frame pointers. */
static int enable(struct engine *e, struct error *err)
{
	struct bpf_engine *b = bpf_engine(e);

	(void)err;
	if (!engine_unwind_maps(e))
		return 0;
	b->chain_events = xcalloc(e->opt.n_cpus, sizeof(*b->chain_events));
	for (int i = 0; i < e->opt.n_cpus; i++) {
		if (!open_chain_event(e, i))
			do_without_chains(b, i, e->cpus[i]);
	}
	return 0;
}

static int attach(struct engine *e, struct error *err)
{
	struct bpf_engine *b = bpf_engine(e);
	int r = visit_tasks(e, -1);

	if (!r)
		r = scoz__attach(b->skel);
	if (!r) /* again: tasks born before task_newtask was attached */
		r = visit_tasks(e, -1);
	if (r)
		return error_set(err, -r, "engine bpf: attaching the programs: %s",
				 r == -EMFILE ? strerror(EMFILE) : bpf_log_reason());
	if (e->opt.model == SCOZ_MODEL_WAIT && e->opt.trace_tasks)
		attach_spins(b);
	attach_mapped(b);
	for (int i = 0; i < e->opt.n_cpus; i++) {
		if (ioctl(e->events[i], PERF_EVENT_IOC_SET_BPF,
			  bpf_program__fd(b->skel->progs.on_tick)))
			return error_set(err, errno, "engine bpf: sampling CPU %d: %s", e->cpus[i],
					 strerror(errno));
	}
	return 0;
}

static int create(const struct engine_options *opt, struct engine **ret, struct error *err)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct bpf_engine *b = xcalloc(1, sizeof(*b));
	struct engine *e = &b->base;
	int r;

	r = namespaces_check("engine bpf", err);
	if (r) {
		free(b);
		return r;
	}
	engine_init(e, &engine_bpf, opt);
	pthread_mutex_init(&b->publish_lock, NULL);
	bpf_keep_log();
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	e->cores = libbpf_num_possible_cpus();
	r = load(e, err);
	if (!r)
		r = attach(e, err);
	if (r) {
		engine_destroy(e);
		return r;
	}
	*ret = e;
	return 0;
}

const struct engine_backend engine_bpf = {
	.name = "bpf",
	.waits = knows_waits,
	.create = create,
	.destroy = destroy,
	.enable = enable,
	.set_target = bpf_set_target,
	.add_bounds = bpf_add_bounds,
	.see_functions = bpf_see_functions,
	.read_bounds = bpf_read_bounds,
	.set_record_share = set_record_share,
	.set_control = bpf_set_control,
	.publish_mapping = bpf_publish_mapping,
	.withdraw_mapping = bpf_withdraw_mapping,
	.forget_process = bpf_forget_process,
	.forget_image = bpf_forget_image,
	.involve = visit_tasks,
	.forget_sleepers = forget_sleepers,
	.read_target_time = bpf_read_target_time,
	.set_rank = bpf_set_rank,
	.count_user = bpf_count_user,
	.set_polling = bpf_set_polling,
	.add_site = bpf_add_site,
	.others_hits = bpf_others_hits,
	.withdraw_site = bpf_withdraw_site,
	.point_others = bpf_point_others,
};
