// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recording on a kernel whose perf has blocked samples (kernel-patches/): no BPF, one cpu-clock
 * event a CPU, whose rings are drained here into the queue. Who ended a wait is not known, nor is
 * what still goes on at the end; the lengths of waits are known to a period.
 */
#include "base/hash_index.h"
#include "record/backend.h"
#include "maps/maps_perf.h"
#include "ring/perf_ring.h"

#include <dirent.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define RING_PAGES 1024

/* perf_event_attr::blocked and what its records say, for headers that do not know them yet. */
#define ATTR_BLOCKED 40
#define MISC_SCHED   (1 << 11)
#define MISC_IO	     (1 << 9)
#define MISC_LOCK    (1 << 10)
#define MISC_OTHER   (1 << 8)
#define MISC_BLOCKED (MISC_SCHED | MISC_IO | MISC_LOCK | MISC_OTHER)

#define SAMPLE_TYPE \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

struct sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t period;
	uint64_t n;
	uint64_t chain[];
};

/* What samples do not carry: a thread's name, and which of a tid's threads it is. */
struct known {
	bool wanted;
	uint64_t adopted; /* when that was said; older forks say nothing about it */
	uint64_t born;
	char comm[16];
};

struct kernel_recorder {
	struct record_backend base;
	struct cpu_events events;
	bool started;
	uint64_t lost;
	struct known *known; /* tids that have gone keep their place */
	size_t n_known, cap_known;
	struct hash_index by_tid;
	struct {
		struct record_event event;
		uint64_t chain[2 * RECORD_MAX_FRAMES];
	} out;
};

static struct kernel_recorder *self(struct record_backend *b)
{
	return (struct kernel_recorder *)b;
}

static struct known *find(struct kernel_recorder *k, int tid)
{
	uint32_t i = hash_index_find_id(&k->by_tid, tid);

	if (i == HASH_NONE) {
		_cleanup_free_ char *comm = task_comm(tid);

		i = k->n_known++;
		array_reserve(k->known, k->cap_known, k->n_known);
		k->known[i] = (struct known){ .wanted = k->base.opt.everybody };
		snprintf(k->known[i].comm, sizeof(k->known[i].comm), "%s", comm ? comm : "[gone]");
		hash_index_add_id(&k->by_tid, tid, i);
	}
	return &k->known[i];
}

static void on_fork(struct kernel_recorder *k, const struct perf_event_header *h)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, ppid, tid, ptid;
	} *f = (const void *)h;
	struct known parent, *child;

	if (h->size < sizeof(*f))
		return;
	parent = *find(k, f->ptid); /* the table may move */
	child = find(k, f->tid);
	if (maps_perf_time(h) > child->adopted)
		child->wanted = parent.wanted;
	child->born = maps_perf_time(h);
	memcpy(child->comm, parent.comm, sizeof(child->comm));
}

static void on_comm(struct kernel_recorder *k, const struct perf_event_header *h)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[];
	} *c = (const void *)h;

	if (h->size > sizeof(*c) && memchr(c->comm, '\0', h->size - sizeof(*c)))
		snprintf(find(k, c->tid)->comm, 16, "%.15s", c->comm);
}

static void split_chain(struct kernel_recorder *k, const struct sample *s)
{
	struct record_event *e = &k->out.event;
	bool kernel = false;

	for (uint64_t i = 0; i < s->n; i++) {
		if (s->chain[i] >= PERF_CONTEXT_MAX) {
			kernel = s->chain[i] == PERF_CONTEXT_KERNEL;
			continue;
		}
		if (kernel && e->n_kernel < RECORD_MAX_FRAMES)
			k->out.chain[e->n_kernel++] = s->chain[i];
		else if (!kernel && e->n_user < RECORD_MAX_FRAMES)
			k->out.chain[e->n_kernel + e->n_user++] = s->chain[i];
	}
}

static const struct record_event *on_sample(struct kernel_recorder *k, const struct sample *s)
{
	uint64_t period = k->base.opt.period_ns;
	struct record_event *e = &k->out.event;
	const struct known *t;
	uint32_t points;

	if (s->header.size < sizeof(*s) ||
	    s->n > (s->header.size - sizeof(*s)) / sizeof(uint64_t) || !s->tid ||
	    s->pid == (uint32_t)getpid())
		return NULL;
	t = find(k, s->tid);
	if (!t->wanted)
		return NULL;
	points = (s->period + period / 2) / period;
	*e = (struct record_event){
		.time = s->time,
		.born = t->born,
		.left = s->time - points * period,
		.woken = s->time,
		.tid = s->tid,
		.tgid = s->pid,
		.points_waited = points,
		.cpu = s->cpu,
		.type = s->header.misc & MISC_BLOCKED ? RECORD_EVENT_WAIT : RECORD_EVENT_TICK,
		.why = s->header.misc & MISC_SCHED  ? RECORD_LEFT_QUEUED
		       : s->header.misc & MISC_IO   ? RECORD_LEFT_IO
		       : s->header.misc & MISC_LOCK ? RECORD_LEFT_LOCK
						    : RECORD_LEFT_OTHER,
		.no_chain = s->header.misc & MISC_BLOCKED && !s->n,
	};
	if (e->why == RECORD_LEFT_QUEUED) {
		e->points_queued = points;
		e->woken = e->left;
	}
	memcpy(e->comm, t->comm, sizeof(e->comm));
	split_chain(k, s);
	return e;
}

/* In the order of time. */
static const struct record_event *perf_record(struct record_backend *base,
					      const struct perf_event_header *h)
{
	struct kernel_recorder *k = self(base);

	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		return on_sample(k, (const void *)h);
	case PERF_RECORD_FORK:
		on_fork(k, h);
		break;
	case PERF_RECORD_COMM:
		on_comm(k, h);
		break;
	default:
		break;
	}
	return NULL;
}

static void destroy(struct record_backend *base)
{
	struct kernel_recorder *k = self(base);

	cpu_events_close(&k->events);
	free(k->known);
	hash_index_deinit(&k->by_tid);
	free(k);
}

static size_t ring_pages(const struct recorder_options *opt)
{
	size_t bytes = opt->ring_bytes / opt->n_cpus, pages = 8;

	while (pages < RING_PAGES && pages * sysconf(_SC_PAGESIZE) < bytes)
		pages *= 2;
	return pages;
}

static int enable(const struct cpu_event *e, struct error *err)
{
	if (!ioctl(e->fd, PERF_EVENT_IOC_ENABLE, 0))
		return 0;
	return error_set(err, errno, "engine kernel: sampling CPU %d: %s", e->cpu, strerror(errno));
}

static int no_blocked_samples(struct error *err)
{
	return error_set(err, EINVAL,
			 "engine kernel: this kernel's perf has no blocked samples: use "
			 "--engine bpf, or a kernel with the patches (docs/kernel.md)");
}

static int open_event(struct cpu_event *e, void *arg, struct error *err)
{
	struct kernel_recorder *k = arg;
	struct perf_event_attr attr = {
		.sample_type = SAMPLE_TYPE,
		.exclude_idle = 1,
		.wakeup_watermark = 1 << 20, /* it is polled */
	};
	int r;

	record_set_flag(&attr, ATTR_BLOCKED);
	r = record_open_event(&k->base.opt, &attr, e, err);
	if (r == -EINVAL)
		return no_blocked_samples(err);
	if (r)
		return r;
	r = ring_map(&e->ring, e->fd, ring_pages(&k->base.opt), err);
	if (!r && k->started)
		r = enable(e, err);
	if (r) {
		ring_unmap(&e->ring);
		close(e->fd);
	}
	return r;
}

static int create(const struct recorder_options *opt, struct record_backend **ret,
		  struct error *err)
{
	struct kernel_recorder *k = xcalloc(1, sizeof(*k));
	int r;

	/* Blocked samples are refused for what is no clock: to this kernel the flag means something
	 * else. */
	if (record_flag_is_for_any_event(ATTR_BLOCKED)) {
		free(k);
		return no_blocked_samples(err);
	}
	k->base.ops = &record_kernel;
	k->base.opt = *opt;
	k->base.unwind_maps = (struct unwind_maps){ -1, -1, -1, -1 };
	k->events = record_events(opt, open_event, k);
	r = cpu_events_open(&k->events, err);
	if (r) {
		destroy(&k->base);
		return r;
	}
	*ret = &k->base;
	return 0;
}

static int add_process(struct record_backend *base, int pid, struct error *err)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/task", pid);
	DIR *dir = opendir(path);
	struct dirent *d;

	if (!dir)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	while ((d = readdir(dir))) {
		struct known *t;

		if (atoi(d->d_name) <= 0)
			continue;
		t = find(self(base), atoi(d->d_name));
		t->wanted = true;
		t->adopted = clock_now_ns();
	}
	closedir(dir);
	return 0;
}

static int start(struct record_backend *base, struct error *err)
{
	struct kernel_recorder *k = self(base);
	int r = 0;

	k->started = true;
	for (size_t i = 0; !r && i < k->events.n; i++)
		r = enable(&k->events.list[i], err);
	return r;
}

static void drain(struct record_backend *base, struct queue *q)
{
	struct kernel_recorder *k = self(base);
	const struct perf_event_header *h;

	for (size_t i = 0; i < k->events.n; i++) {
		struct ring *ring = &k->events.list[i].ring;

		if (!ring->header)
			continue;
		while ((h = ring_next(ring))) {
			uint64_t time = 0;

			if (h->type ==
			    PERF_RECORD_LOST) { /* samples, of whose mappings is another */
				k->lost += ((const uint64_t *)(h + 1))[1];
				continue;
			}
			if (h->type == PERF_RECORD_SAMPLE && h->size >= sizeof(struct sample))
				time = ((const struct sample *)h)->time;
			queue_put(q, QUEUE_PERF, time, h, h->size);
		}
		ring_release(ring);
	}
	if (k->started)
		cpu_events_follow(&k->events);
}

static void finish(struct record_backend *base)
{
	struct kernel_recorder *k = self(base);

	k->started = false;
	for (size_t i = 0; i < k->events.n; i++)
		ioctl(k->events.list[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

static uint64_t lost(struct record_backend *base)
{
	return self(base)->lost;
}

const struct record_backend_ops record_kernel = {
	.name = "kernel",
	.create = create,
	.add_process = add_process,
	.start = start,
	.drain = drain,
	.perf_record = perf_record,
	.finish = finish,
	.lost = lost,
	.destroy = destroy,
};
