// SPDX-License-Identifier: GPL-2.0-or-later
/* The perf events by which cores interrupt themselves: switched.bpf.h tells what for. */
#include "engine/bpf/bpf_engine.h"

#include <bpf/bpf.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct self_interrupts {
	int n;
	size_t size; /* of a buffer */
	struct self_interrupt {
		int cpu, fd;
		void *buffer;
	} core[];
};

static void close_one(const struct self_interrupts *s, struct self_interrupt *i)
{
	if (i->buffer != MAP_FAILED)
		munmap(i->buffer, s->size);
	if (i->fd >= 0)
		close(i->fd);
}

void self_interrupts_close(struct self_interrupts *s)
{
	for (int i = 0; s && i < s->n; i++)
		close_one(s, &s->core[i]);
	free(s);
}

/* A buffer that its reader may not write to overwrites itself: it is never full. */
static int open_one(const struct self_interrupts *s, struct self_interrupt *i)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.size = sizeof(attr),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW,
		.wakeup_events = 1,
	};

	i->buffer = MAP_FAILED;
	i->fd = syscall(SYS_perf_event_open, &attr, -1, i->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (i->fd < 0)
		return -errno;
	i->buffer = mmap(NULL, s->size, PROT_READ, MAP_SHARED, i->fd, 0);
	return i->buffer == MAP_FAILED ? -errno : 0;
}

struct self_interrupts *self_interrupts_open(const int *cpus, int n, struct error *err)
{
	struct self_interrupts *s = xcalloc(1, sizeof(*s) + n * sizeof(s->core[0]));

	s->size = 2 * sysconf(_SC_PAGESIZE);
	for (; s->n < n; s->n++) {
		struct self_interrupt *i = &s->core[s->n];
		int r;

		i->cpu = cpus[s->n];
		r = open_one(s, i);
		if (!r)
			continue;
		close_one(s, i);
		self_interrupts_close(s);
		error_set(err, -r, "an event by which CPU %d interrupts itself: %s", i->cpu,
			  strerror(-r));
		return NULL;
	}
	return s;
}

int self_interrupts_publish(const struct self_interrupts *s, int map_fd)
{
	for (int i = 0; i < s->n; i++) {
		if (bpf_map_update_elem(map_fd, &s->core[i].cpu, &s->core[i].fd, BPF_ANY))
			return -errno;
	}
	return 0;
}
