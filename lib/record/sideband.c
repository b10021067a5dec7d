// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/sideband.h"
#include "map/maps_perf.h"

#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MANY_CPUS 64
#define LOOK_NS	  NSEC_PER_SEC

static int open_cpu(struct sideband *s, int cpu, size_t pages, struct error *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.sample_type = MAPS_PERF_SAMPLE_ID,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = 1 << 20, /* it is polled */
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	struct sideband_cpu c = { .cpu = cpu };
	int r;

	c.fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (c.fd < 0)
		return error_set(err, errno,
				 "perf_event_open(dummy) on CPU %d: %s; recording needs root, or "
				 "CAP_PERFMON and CAP_BPF: run `scoz doctor`",
				 cpu, strerror(errno));
	r = ring_map(&c.ring, c.fd, pages, err);
	if (r) {
		close(c.fd);
		return r;
	}
	array_reserve(s->cpus, s->cap, s->n + 1);
	s->cpus[s->n++] = c;
	return 0;
}

static bool listened_to(const struct sideband *s, int cpu)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->cpus[i].cpu == cpu)
			return true;
	}
	return false;
}

static int open_online(struct sideband *s, struct error *err)
{
	_cleanup_free_ int *cpus = NULL;
	int n = 0, r = cpulist_online(&cpus, &n, err);

	for (int i = 0; !r && i < n; i++) {
		if (!listened_to(s, cpus[i]))
			r = open_cpu(s, cpus[i], n > MANY_CPUS ? 32 : 256, err);
	}
	return r;
}

int sideband_open(struct sideband *s, struct error *err)
{
	*s = (struct sideband){ .looked = clock_now_ns() };
	return open_online(s, err);
}

static void close_cpu(struct sideband_cpu *c)
{
	ring_unmap(&c->ring);
	close(c->fd);
}

/* The event of a CPU that went offline has hung up, and does not come back with it. */
static void follow_hotplug(struct sideband *s)
{
	for (size_t i = 0; i < s->n;) {
		struct pollfd p = { .fd = s->cpus[i].fd };

		if (poll(&p, 1, 0) == 1 && p.revents & POLLHUP) {
			close_cpu(&s->cpus[i]);
			s->cpus[i] = s->cpus[--s->n];
		} else {
			i++;
		}
	}
	open_online(s, NULL);
}

void sideband_drain(struct sideband *s, struct queue *q)
{
	const struct perf_event_header *h;
	uint64_t now = clock_now_ns();

	for (size_t i = 0; i < s->n; i++) {
		struct ring *ring = &s->cpus[i].ring;

		while ((h = ring_next(ring))) {
			if (h->type == PERF_RECORD_LOST)
				s->lost += ((const uint64_t *)(h + 1))[1];
			else
				queue_put(q, QUEUE_PERF, maps_perf_time(h), h, h->size);
		}
		ring_release(ring);
	}
	if (now - s->looked > LOOK_NS) {
		s->looked = now;
		follow_hotplug(s);
	}
}

void sideband_close(struct sideband *s)
{
	for (size_t i = 0; i < s->n; i++)
		close_cpu(&s->cpus[i]);
	free(s->cpus);
	*s = (struct sideband){};
}
