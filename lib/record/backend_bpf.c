// SPDX-License-Identifier: GPL-2.0-or-later
/* Recording on a stock kernel: BPF programs fill a ring of samples, which is drained here into the
 * queue. */
#include "host/bpf_programs.h"
#include "host/kallsyms.h"
#include "host/kernel_types.h"
#include "host/namespaces.h"
#include "engine/bpf/kernel_points.h"
#include "record/backend.h"
#include "record/trace_rings.h"
#include "record.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define JITTER_SPREAD 0.15
#define JITTER_NS     (200 * NSEC_PER_MSEC)
#define JITTER_TICKS  50 /* at least, between two changes */

struct bpf_recorder {
	struct record_backend base;
	struct record *skel;
	struct ring_buffer *ring;
	struct queue *queue; /* during drain() */
	struct cpu_events events;
	bool started, without_pages;
	uint64_t random, jitter_at;
	double deviation; /* of the rate, now */
	struct bpf_link *switch_link;
	struct causal_rings *causal; /* NULL: no causal recording */
	struct kernel_points points;
	struct bpf_link **links; /* of progress points */
	size_t n_links, cap_links;
};

static struct bpf_recorder *self(struct record_backend *b)
{
	return (struct bpf_recorder *)b;
}

/* finish_task_switch(), under whatever name the compiler gave it. */
static bool is_finish_switch(const struct kallsym *sym, void *arg)
{
	size_t len = strlen("finish_task_switch");

	if (strncmp(sym->name, "finish_task_switch", len) ||
	    (sym->name[len] && sym->name[len] != '.') || strstr(sym->name, ".cold"))
		return false;
	*(char **)arg = xstrdup(sym->name);
	return true;
}

static char *finish_switch_symbol(void)
{
	char *name = NULL;

	kallsyms_each(is_finish_switch, &name);
	return name;
}

/* The walk begins with registers that are saved in an order it knows (unwind.bpf.h). */
#if defined(__x86_64__)
#define REGISTERS_KNOWN true
#else
#define REGISTERS_KNOWN false
#endif

static int configure(struct bpf_recorder *b, bool unwind, struct error *err)
{
	struct kernel_types types;
	int ret = kernel_types_open(&types, err);
	struct record *s = b->skel;
	bool exits;

	if (ret)
		return ret;
	exits = kernel_has_tracepoint(&types, "sched_exit_tp");
	s->rodata->preempt_count_address = kernel_preempt_count();
	s->rodata->per_cpu_offset_address = kernel_addresses()->per_cpu_offset;
	bpf_program__set_autoload(s->progs.on_pages,
				  !b->without_pages && kernel_tells_mappings(&types));
	kernel_types_close(&types);
	s->rodata->unwind_by_tables = unwind;
	s->rodata->page_shift = __builtin_ctzl(sysconf(_SC_PAGESIZE));
	if (!unwind) { /* as kernels before 6.1 want it */
		bpf_map__set_map_flags(s->maps.unwind_spaces, 0);
		bpf_map__set_max_entries(s->maps.unwind_spaces, 1);
		bpf_map__set_max_entries(s->maps.unwind_tables, 1);
		bpf_map__set_max_entries(s->maps.unwind_files, 1);
	}
	s->rodata->period = b->base.opt.period_ns;
	s->rodata->self_tgid = getpid();
	s->rodata->everybody = b->base.opt.everybody;
	bpf_map__set_max_entries(s->maps.events, b->base.opt.ring_bytes);
	s->rodata->causal = b->base.opt.causal;
	if (b->base.opt.causal)
		bpf_map__set_max_entries(s->maps.trace_rings, libbpf_num_possible_cpus());
	bpf_program__set_autoload(s->progs.on_block_issue, b->base.opt.causal);
	bpf_program__set_autoload(s->progs.on_block_requeue, b->base.opt.causal);
	bpf_program__set_autoload(s->progs.on_point, b->base.opt.causal);
	bpf_program__set_autoattach(s->progs.on_point, false);
	kernel_points_prepare(s->obj, b->base.opt.causal);
	bpf_program__set_autoattach(s->progs.on_tick, false);
	bpf_program__set_autoattach(s->progs.each_task, false);
	bpf_program__set_autoattach(s->progs.on_finish_switch, false);
	bpf_program__set_autoload(s->progs.on_switched, exits);
	bpf_program__set_autoload(s->progs.on_finish_switch, !exits);
	return 0;
}

/* The hook after the switch; without any, waits have the kernel's call chain only. */
static void attach_switch(struct bpf_recorder *b)
{
	_cleanup_free_ char *symbol = NULL;

	if (!bpf_program__autoload(b->skel->progs.on_finish_switch))
		return;
	symbol = finish_switch_symbol();
	if (symbol)
		b->switch_link =
			bpf_program__attach_kprobe(b->skel->progs.on_finish_switch, false, symbol);
	if (!b->switch_link) {
		log_warn("this kernel has no place after a task switch that can be probed (%s): "
			 "waits have no call chains of programs",
			 symbol ? symbol : "no finish_task_switch in /proc/kallsyms");
		b->skel->bss->chain_at_switch = 1;
	}
}

/*
 * Changes the events' periods a little now and then: ticks at a fixed distance meet a program that
 * is in step with them always at the same place. What one change adds to the rate the next one
 * takes away; and each begins a period anew, which costs half a tick on average.
 */
static void jitter(struct bpf_recorder *b)
{
	double rate = 1e9 / b->base.opt.period_ns;
	uint64_t interval = b->base.opt.period_ns * JITTER_TICKS, now = clock_now_ns(), period;

	if (interval < JITTER_NS)
		interval = JITTER_NS;
	if (now < b->jitter_at)
		return;
	b->jitter_at = now + interval;
	if (b->deviation > 0) {
		b->deviation = -b->deviation;
	} else {
		b->random ^= b->random << 13;
		b->random ^= b->random >> 7;
		b->random ^= b->random << 17;
		b->deviation = JITTER_SPREAD * ((b->random >> 11) + 1) * 0x1p-53;
	}
	period = 1e9 / (rate * (1 + b->deviation) + 0.5e9 / interval);
	for (size_t i = 0; i < b->events.n; i++)
		ioctl(b->events.list[i].fd, PERF_EVENT_IOC_PERIOD, &period);
}

static int enable(struct bpf_recorder *b, const struct cpu_event *e, struct error *err)
{
	if (!ioctl(e->fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(b->skel->progs.on_tick)) &&
	    !ioctl(e->fd, PERF_EVENT_IOC_ENABLE, 0))
		return 0;
	return error_set(err, errno, "engine bpf: sampling CPU %d: %s", e->cpu, strerror(errno));
}

static int open_event(struct cpu_event *e, void *arg, struct error *err)
{
	struct perf_event_attr attr = { .exclude_idle = 1 };
	struct bpf_recorder *b = arg;
	int r = record_open_event(&b->base.opt, &attr, e, err);

	if (!r && b->started) {
		r = enable(b, e, err);
		if (r)
			close(e->fd);
	}
	return r;
}

static int on_event(void *ctx, void *data, size_t size)
{
	struct bpf_recorder *b = ctx;
	const struct record_event *e = data;

	if (size >= sizeof(*e))
		queue_put(b->queue, QUEUE_SAMPLE, e->time, data, size);
	return 0;
}

static int visit_tasks(struct bpf_recorder *b)
{
	return bpf_run_iterator(b->skel->progs.each_task);
}

static void destroy(struct record_backend *base)
{
	struct bpf_recorder *b = self(base);

	cpu_events_close(&b->events);
	bpf_link__destroy(b->switch_link);
	for (size_t i = 0; i < b->n_links; i++)
		bpf_link__destroy(b->links[i]);
	free(b->links);
	causal_rings_close(b->causal);
	ring_buffer__free(b->ring);
	if (b->skel)
		record__destroy(b->skel);
	free(b);
}

static int load_programs(struct bpf_recorder *b, bool unwind, struct error *err)
{
	int r;

	b->skel = record__open();
	if (!b->skel)
		return error_set(err, EINVAL, "engine bpf: %s", bpf_log_reason());
	r = configure(b, unwind, err);
	if (r)
		return r;
	r = bpf_may_load(err);
	if (r) { /* nor without a part of it */
		record__destroy(b->skel);
		b->skel = NULL;
		return r;
	}
	r = record__load(b->skel);
	if (r)
		return bpf_not_loaded(r, err);
	if (unwind)
		b->base.unwind_maps = (struct unwind_maps){
			bpf_map__fd(b->skel->maps.unwind_tables),
			bpf_map__fd(b->skel->maps.unwind_spaces),
			bpf_map__fd(b->skel->maps.unwind_counters),
			bpf_map__fd(b->skel->maps.unwind_files),
		};
	return 0;
}

static int load(struct bpf_recorder *b, struct error *err)
{
	bool unwind = REGISTERS_KNOWN && !b->base.opt.pointers;
	int r = cpu_events_open(&b->events, err);

	if (r)
		return r;
	r = load_programs(b, unwind, err);
	if (r && b->skel && bpf_program__autoload(b->skel->progs.on_pages)) {
		log_info("%s", err->text);
		log_info("engine bpf: without the program that hears of pages");
		record__destroy(b->skel);
		b->without_pages = true;
		r = load_programs(b, unwind, err);
	}
	if (r && unwind && b->skel) {
		log_info("%s", err->text);
		log_warn(UNWIND_REFUSED);
		record__destroy(b->skel);
		r = load_programs(b, false, err);
	}
	if (r)
		return r;
	if (!b->skel->data || !b->skel->bss) /* libbpf goes on when it cannot map them */
		return error_set(err, ENOMEM, "engine bpf: mapping the data of the programs: %s",
				 strerror(ENOMEM));
	b->points = (struct kernel_points){ .obj = b->skel->obj,
					    .tracepoint_point = b->skel->data->tracepoint_point };
	b->ring = ring_buffer__new(bpf_map__fd(b->skel->maps.events), on_event, b, NULL);
	if (!b->ring)
		return error_set(err, errno, "engine bpf: mapping a ring of %zu bytes: %s",
				 b->base.opt.ring_bytes, strerror(errno));
	if (b->base.opt.causal)
		return causal_rings_open(bpf_map__fd(b->skel->maps.trace_rings),
					 causal_ring_bytes(b->base.opt.ring_bytes), &b->causal,
					 err);
	return 0;
}

static int create(const struct recorder_options *opt, struct record_backend **ret,
		  struct error *err)
{
	struct rlimit old, unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct bpf_recorder *b;
	int r = namespaces_check("engine bpf", err);

	if (r)
		return r;
	b = xcalloc(1, sizeof(*b));
	b->base.ops = &record_bpf;
	b->base.opt = *opt;
	b->base.unwind_maps = (struct unwind_maps){ -1, -1, -1, -1 };
	b->random = clock_now_ns() | 1;
	b->events = record_events(opt, open_event, b);
	bpf_keep_log();
	/* The command is not to inherit it. */
	getrlimit(RLIMIT_MEMLOCK, &old);
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	r = load(b, err);
	setrlimit(RLIMIT_MEMLOCK, &old);
	if (r) {
		destroy(&b->base);
		return r;
	}
	*ret = &b->base;
	return 0;
}

static int add_process(struct record_backend *base, int pid, struct error *err)
{
	struct bpf_recorder *b = self(base);
	int r;

	b->skel->data->adopt_tgid = pid;
	r = visit_tasks(b);
	b->skel->data->adopt_tgid = -1;
	if (r)
		return error_set(err, -r, "engine bpf: looking at process %d: %s", pid,
				 strerror(-r));
	return 0;
}

static int start(struct record_backend *base, struct error *err)
{
	struct bpf_recorder *b = self(base);
	int r = record__attach(b->skel);

	if (r)
		return error_set(err, -r, "engine bpf: attaching the programs: %s",
				 bpf_log_reason());
	attach_switch(b);
	b->started = true;
	for (size_t i = 0; !r && i < b->events.n; i++)
		r = enable(b, &b->events.list[i], err);
	if (!r && base->opt.everybody)
		r = add_process(base, 0, err);
	b->skel->bss->started = 1;
	return r;
}

static void drain(struct record_backend *base, struct queue *q)
{
	struct bpf_recorder *b = self(base);

	jitter(b);
	if (b->started)
		cpu_events_follow(&b->events);
	b->queue = q;
	ring_buffer__consume(b->ring);
}

static void drain_trace(struct record_backend *base, struct queue *q)
{
	causal_rings_drain(self(base)->causal, q);
}

static int attach_code(struct bpf_recorder *b, const struct recorder_point *p, uint32_t id,
		       struct bpf_link **ret, struct error *err)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = id, .ref_ctr_offset = p->ref_ctr);

	*ret = bpf_program__attach_uprobe_opts(b->skel->progs.on_point, -1, p->path, p->offset,
					       &opts);
	if (!*ret)
		return error_set(err, errno, "probing %s at file offset %#llx: %s", p->name,
				 (unsigned long long)p->offset, strerror(errno));
	return 0;
}

static int add_point(struct record_backend *base, const struct recorder_point *p, uint32_t id,
		     struct error *err)
{
	struct bpf_recorder *b = self(base);
	struct record_point config = {};
	struct bpf_link *link = NULL;
	int ret = 0;

	if (p->comm) {
		snprintf(config.comm, sizeof(config.comm), "%s", p->comm);
		if (bpf_map_update_elem(bpf_map__fd(b->skel->maps.record_points), &id, &config,
					BPF_ANY))
			return error_set(err, errno,
					 "at most %d progress points can be those of one COMM",
					 RECORD_MAX_POINTS);
	}
	switch (p->kind) {
	case RECORDER_CODE:
		ret = attach_code(b, p, id, &link, err);
		break;
	case RECORDER_SYSCALL:
		ret = kernel_points_add_syscall(&b->points, p->syscall, id, &link, err);
		break;
	case RECORDER_TRACEPOINT:
		ret = kernel_points_add_tracepoint(&b->points, p->name, id, &link, err);
		break;
	}
	if (ret || !link)
		return ret;
	array_reserve(b->links, b->cap_links, b->n_links + 1);
	b->links[b->n_links++] = link;
	return 0;
}

static void withdraw_point(struct record_backend *base)
{
	struct bpf_recorder *b = self(base);

	bpf_link__destroy(b->links[--b->n_links]);
}

static void finish(struct record_backend *base)
{
	struct bpf_recorder *b = self(base);

	b->started = false;
	for (size_t i = 0; i < b->events.n; i++)
		ioctl(b->events.list[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	b->skel->bss->finished = clock_now_ns();
	if (visit_tasks(b))
		log_warn("threads that still wait could not be looked at: %s", strerror(errno));
	record__detach(b->skel);
}

static uint64_t lost(struct record_backend *base)
{
	struct bpf_recorder *b = self(base);
	int n = libbpf_num_possible_cpus();
	uint64_t sum = 0, *values = xcalloc(n, sizeof(*values));
	uint32_t key = 0;

	if (!bpf_map_lookup_elem(bpf_map__fd(b->skel->maps.lost), &key, values)) {
		for (int i = 0; i < n; i++)
			sum += values[i];
	}
	free(values);
	return sum;
}

const struct record_backend_ops record_bpf = {
	.name = "bpf",
	.create = create,
	.add_process = add_process,
	.start = start,
	.drain = drain,
	.drain_trace = drain_trace,
	.add_point = add_point,
	.withdraw_point = withdraw_point,
	.finish = finish,
	.lost = lost,
	.destroy = destroy,
};
