// SPDX-License-Identifier: GPL-2.0-or-later
/* Engine `bpf` at work: targets, speedups, mappings, progress points, the ledger. */
#include "engine/bpf/bpf_engine.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

static uint64_t kernel_dev(struct file_id id)
{
	return (uint64_t)id.dev_major << 20 | id.dev_minor;
}

/* Ticks may be reading the old target: with no speedup they stop looking, within a tick. */
static void quiesce(struct engine *e)
{
	__atomic_store_n(&engine_header(e)->speedup, 0, __ATOMIC_SEQ_CST);
	usleep(100);
}

int engine_set_target(struct engine *e, const struct engine_part *parts, int n, struct error *err)
{
	struct bpf_target t = { .n_parts = n };
	size_t total = 0;

	if (n > ENGINE_MAX_PARTS)
		return error_set(err, E2BIG,
				 "the target spans %d binaries, at most %d are possible", n,
				 ENGINE_MAX_PARTS);
	for (int i = 0; i < n; i++)
		total += parts[i].ranges->n;
	if (total > BPF_MAX_RANGES)
		return error_set(err, E2BIG,
				 "the target has %zu address ranges, at most %d are possible: "
				 "narrow it",
				 total, BPF_MAX_RANGES);
	quiesce(e);
	total = 0;
	for (int i = 0; i < n; i++) {
		const struct engine_part *p = &parts[i];

		t.part[i] = (struct target_part){
			.binary = p->binary,
			.first = total,
			.n = p->ranges->n,
			.code_vaddr = p->code_vaddr,
			.dev = kernel_dev(p->file),
			.ino = p->file.ino,
		};
		if (p->binary == MAPS_KERNEL_ID)
			t.kernel = 1;
		else
			t.user = 1;
		for (size_t j = 0; j < p->ranges->n; j++) {
			e->ranges[total].start = p->ranges->r[j].start;
			e->ranges[total].end = p->ranges->r[j].end;
			total++;
		}
	}
	memcpy(e->target, &t, sizeof(t));
	engine_header(e)->experiment++;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return 0;
}

void engine_set_speedup(struct engine *e, double speedup)
{
	uint32_t s = speedup <= 0   ? 0
		     : speedup >= 1 ? SCOZ_SPEEDUP_ONE
				    : (uint32_t)(speedup * SCOZ_SPEEDUP_ONE + 0.5);

	engine_header(e)->experiment++;
	__atomic_store_n(&engine_header(e)->speedup, s, __ATOMIC_SEQ_CST);
}

/* Binaries that `spaces` may hold: what a process that ends or execs must be cleared from. */
static void remember_published(struct engine *e, uint32_t binary)
{
	for (int i = 0; i < e->n_published; i++) {
		if (e->published[i] == binary)
			return;
	}
	if (e->n_published < ENGINE_MAX_PUBLISHED) {
		e->published[e->n_published] = binary;
		__atomic_add_fetch(&e->n_published, 1, __ATOMIC_RELEASE);
	}
}

void engine_publish_mapping(struct engine *e, uint32_t binary, const struct maps_mapping *m)
{
	struct space_key key = { .tgid = m->pid, .binary = binary };
	int fd = bpf_map__fd(e->skel->maps.spaces);
	struct space s = {};

	pthread_mutex_lock(&e->publish_lock);
	remember_published(e, binary);
	bpf_map_lookup_elem(fd, &key, &s);
	for (uint32_t i = 0; i < s.n; i++) {
		if (s.seg[i].start == m->start) {
			s.seg[i] = (struct segment){ m->start, m->end, m->bias };
			goto update;
		}
	}
	if (s.n == BPF_MAX_SEGMENTS) { /* the oldest is the least likely to be there still */
		memmove(&s.seg[0], &s.seg[1], (BPF_MAX_SEGMENTS - 1) * sizeof(s.seg[0]));
		s.n--;
	}
	s.seg[s.n++] = (struct segment){ m->start, m->end, m->bias };
update:
	bpf_map_update_elem(fd, &key, &s, BPF_ANY);
	pthread_mutex_unlock(&e->publish_lock);
}

void engine_forget_process(struct engine *e, int pid)
{
	int fd = bpf_map__fd(e->skel->maps.spaces);
	int n = __atomic_load_n(&e->n_published, __ATOMIC_ACQUIRE);

	for (int i = 0; i < n; i++) {
		struct space_key key = { .tgid = pid, .binary = e->published[i] };

		bpf_map_delete_elem(fd, &key);
	}
}

static void keep_link(struct engine *e, struct bpf_link *link)
{
	array_reserve(e->links, e->cap_links, e->n_links + 1);
	e->links[e->n_links++] = link;
}

static int attach_uprobe(struct engine *e, const struct engine_point *p, int id, struct error *err)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = id, .ref_ctr_offset = p->ref_ctr);
	struct bpf_link *link;

	link = bpf_program__attach_uprobe_opts(e->skel->progs.on_uprobe, -1, p->path, p->offset,
					       &opts);
	if (!link)
		return error_set(err, errno, "probing %s at file offset %#llx: %s", p->path,
				 (unsigned long long)p->offset, strerror(errno));
	keep_link(e, link);
	return 0;
}

static int attach_tracepoint(struct engine *e, const struct engine_point *p, int id,
			     struct error *err)
{
	struct bpf_program *prog;
	struct bpf_link *link;
	char name[32];

	if (e->n_tracepoints == BPF_TRACEPOINTS)
		return error_set(err, E2BIG, "at most %d tracepoints can be progress points",
				 BPF_TRACEPOINTS);
	snprintf(name, sizeof(name), "on_tracepoint_%d", e->n_tracepoints);
	prog = bpf_object__find_program_by_name(e->skel->obj, name);
	e->skel->data->tracepoint_point[e->n_tracepoints] = id;
	link = bpf_program__attach_raw_tracepoint(prog, p->name);
	if (!link)
		return error_set(err, errno,
				 "tracepoint %s: %s; /sys/kernel/tracing/available_events lists "
				 "what this kernel has (mount -t tracefs none /sys/kernel/tracing)",
				 p->name, errno == ENOENT ? "no such tracepoint" : strerror(errno));
	e->n_tracepoints++;
	keep_link(e, link);
	return 0;
}

static int attach_syscall(struct engine *e, const struct engine_point *p, int id, struct error *err)
{
	int fd = bpf_map__fd(e->skel->maps.syscall_points);
	struct syscall_points points = {};
	uint32_t key = p->syscall;
	struct bpf_link *link;

	bpf_map_lookup_elem(fd, &key, &points);
	if (points.n == BPF_POINTS_PER_SYSCALL)
		return error_set(err, E2BIG,
				 "at most %d progress points are possible for one system call",
				 BPF_POINTS_PER_SYSCALL);
	points.point[points.n++] = id;
	if (bpf_map_update_elem(fd, &key, &points, BPF_ANY))
		return error_set(err, errno, "system call %d: %s", p->syscall, strerror(errno));
	if (e->syscalls_attached)
		return 0;
	link = bpf_program__attach(e->skel->progs.on_syscall);
	if (!link)
		return error_set(err, errno, "following system calls: %s", strerror(errno));
	keep_link(e, link);
	e->syscalls_attached = true;
	return 0;
}

int engine_add_point(struct engine *e, const struct engine_point *p, int *id, struct error *err)
{
	struct progress_config config = {};
	uint32_t key;

	if (*id < 0) {
		if (e->n_points == BPF_MAX_POINTS)
			return error_set(err, E2BIG, "at most %d progress points are possible",
					 BPF_MAX_POINTS);
		*id = e->n_points++;
		if (p->comm)
			snprintf(config.comm, sizeof(config.comm), "%s", p->comm);
		key = *id;
		if (bpf_map_update_elem(bpf_map__fd(e->skel->maps.progress_configs), &key, &config,
					BPF_ANY))
			return error_set(err, errno, "progress point %d: %s", *id, strerror(errno));
	}
	switch (p->kind) {
	case ENGINE_UPROBE:
		return attach_uprobe(e, p, *id, err);
	case ENGINE_TRACEPOINT:
		return attach_tracepoint(e, p, *id, err);
	case ENGINE_SYSCALL:
		return attach_syscall(e, p, *id, err);
	}
	return -EINVAL;
}

void engine_read_point(const struct engine *e, int id, struct engine_count *ret)
{
	*ret = (struct engine_count){};
	for (int cpu = 0; cpu < e->cores; cpu++) {
		const volatile struct progress_count *p =
			&e->progress[(size_t)cpu * BPF_MAX_POINTS + id];
		uint64_t time = p->last_time;

		ret->visits += p->visits;
		ret->sum_time += p->sum_time;
		if (time > ret->last_time) {
			ret->last_time = time;
			ret->last_virtual = p->last_virtual;
		}
	}
}

int64_t engine_delay(const struct engine *e)
{
	return __atomic_load_n(&engine_global(e)->delay, __ATOMIC_RELAXED);
}

const volatile struct scoz_core *engine_core(const struct engine *e, int i)
{
	return engine_core_slot(e, e->cpus[i]);
}

void engine_read_ledger(const struct engine *e, struct engine_ledger *ret)
{
	const volatile struct scoz_global *g = engine_global(e);
	uint64_t now = clock_now_ns();

	*ret = (struct engine_ledger){ .delay = g->delay, .waived = g->waived, .hits = g->hits };
	for (int i = 0; i < e->opt.n_cpus; i++) {
		const volatile struct scoz_core *c = engine_core(e, i);

		ret->own += c->own;
		ret->stopped += c->stopped;
		ret->asked += c->asked;
		ret->excused += c->excused;
		ret->overhead += c->overhead;
		ret->owed += ret->delay - c->absorbed;
		ret->ticks += c->ticks;
		ret->stops += c->stops;
		ret->capped += c->capped;
		ret->clipped += c->clipped;
		ret->no_task += c->no_task;
		ret->idle += c->in_idle;
		if (c->idle && c->idle_since < now)
			ret->idle += now - c->idle_since;
		ret->syncs += c->syncs;
		ret->external_waited += c->external_waited;
		ret->external_waits += c->external_waits;
		ret->crowded += c->crowded;
		ret->absolute_waits += c->absolute_waits;
		ret->queued += c->queued;
		ret->unawaited += c->unawaited;
	}
}

void engine_set_cost(struct engine *e, double tick_ns, double background)
{
	engine_header(e)->background = background * 65536;
	engine_header(e)->tick_cost = tick_ns;
}

void engine_renew_lease(struct engine *e)
{
	__atomic_store_n(&engine_header(e)->lease_until, clock_now_ns() + ENGINE_LEASE_NS,
			 __ATOMIC_RELAXED);
}

uint64_t engine_latency_quantile(const struct engine *e, double q, bool paid, uint64_t *n)
{
	uint64_t total = 0, seen = 0;

	for (int bin = 0; bin < BPF_LATENCY_BINS; bin++)
		for (int c = 0; c < e->cores; c++)
			total += paid ? e->latencies[c].paid[bin] : e->latencies[c].begun[bin];
	if (n)
		*n = total;
	if (!total)
		return 0;
	for (int bin = 0; bin < BPF_LATENCY_BINS; bin++) {
		for (int c = 0; c < e->cores; c++)
			seen += paid ? e->latencies[c].paid[bin] : e->latencies[c].begun[bin];
		if (seen >= q * total)
			return (bin + 1) * BPF_LATENCY_BIN;
	}
	return BPF_LATENCY_BINS * BPF_LATENCY_BIN;
}
