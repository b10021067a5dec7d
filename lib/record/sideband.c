// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/sideband.h"
#include "maps/maps_perf.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MANY_CPUS 64

static int open_cpu(struct cpu_event *e, void *arg, struct error *err)
{
	const struct sideband *s = arg;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.sample_type = MAPS_PERF_SAMPLE_ID,
		.wakeup_watermark = s->prompt ? 1 : 1 << 20,
	};
	int r;

	ring_tell_mappings(&attr);
	e->fd = syscall(SYS_perf_event_open, &attr, -1, e->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (e->fd < 0)
		return error_set(err, errno,
				 "perf_event_open(dummy) on CPU %d: %s; recording needs root, or "
				 "CAP_PERFMON and CAP_BPF: run `scoz doctor`",
				 e->cpu, strerror(errno));
	r = ring_map(&e->ring, e->fd, s->pages, err);
	if (r)
		close(e->fd);
	return r;
}

int sideband_open(struct sideband *s, bool prompt, struct error *err)
{
	*s = (struct sideband){
		.events = { .open = open_cpu, .arg = s },
		.pages = prompt || sysconf(_SC_NPROCESSORS_ONLN) > MANY_CPUS ? 32 : 256,
		.prompt = prompt,
	};
	return cpu_events_open(&s->events, err);
}

void sideband_drain(struct sideband *s, struct queue *q,
		    void (*seen)(const struct perf_event_header *h, void *arg), void *arg)
{
	const struct perf_event_header *h;

	for (size_t i = 0; i < s->events.n; i++) {
		struct ring *ring = &s->events.list[i].ring;

		if (!ring->header)
			continue;
		while ((h = ring_next(ring))) {
			if (h->type == PERF_RECORD_LOST) {
				s->lost += ((const uint64_t *)(h + 1))[1];
			} else {
				if (q)
					queue_put(q, QUEUE_PERF, maps_perf_time(h), h, h->size);
				if (seen)
					seen(h, arg);
			}
		}
		ring_release(ring);
	}
	cpu_events_follow(&s->events);
}

void sideband_close(struct sideband *s)
{
	cpu_events_close(&s->events);
}
