// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/trace_rings.h"

#include "host/syscall_names.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *name;
	enum trace_wait wait;
} calls[] = {
	{ "futex", TRACE_WAIT_FUTEX },	     { "futex_wait", TRACE_WAIT_FUTEX },
	{ "futex_waitv", TRACE_WAIT_FUTEX }, { "read", TRACE_WAIT_READ },
	{ "readv", TRACE_WAIT_READ },	     { "recvfrom", TRACE_WAIT_READ },
	{ "recvmsg", TRACE_WAIT_READ },	     { "accept", TRACE_WAIT_READ },
	{ "accept4", TRACE_WAIT_READ },	     { "write", TRACE_WAIT_WRITE },
	{ "writev", TRACE_WAIT_WRITE },	     { "sendto", TRACE_WAIT_WRITE },
	{ "sendmsg", TRACE_WAIT_WRITE },     { "poll", TRACE_WAIT_POLL },
	{ "ppoll", TRACE_WAIT_POLL },	     { "select", TRACE_WAIT_POLL },
	{ "pselect6", TRACE_WAIT_POLL },     { "epoll_wait", TRACE_WAIT_POLL },
	{ "epoll_pwait", TRACE_WAIT_POLL },  { "epoll_pwait2", TRACE_WAIT_POLL },
	{ "wait4", TRACE_WAIT_CHILD },	     { "waitid", TRACE_WAIT_CHILD },
	{ "nanosleep", TRACE_WAIT_SLEEP },   { "clock_nanosleep", TRACE_WAIT_SLEEP },
};

static enum trace_wait wait_of_call(int number)
{
	static int numbers[ARRAY_SIZE(calls)];
	static bool known;

	for (size_t i = 0; !known && i < ARRAY_SIZE(calls); i++)
		numbers[i] = syscall_number(calls[i].name);
	known = true;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (numbers[i] == number)
			return calls[i].wait;
	}
	return TRACE_WAIT_OTHER;
}

enum trace_wait causal_wait(enum record_left why, uint32_t detail)
{
	uint32_t file = detail >> RECORD_TRACE_FILE << 12;
	enum trace_wait wait;

	if (why == RECORD_LEFT_QUEUED)
		return TRACE_WAIT_OTHER;
	if (why == RECORD_LEFT_IO)
		return TRACE_WAIT_IO;
	if (detail & RECORD_TRACE_KERNEL)
		return TRACE_WAIT_KERNEL;
	if (!(detail & RECORD_TRACE_SYSCALL))
		return TRACE_WAIT_OTHER;
	if (detail & RECORD_TRACE_HELD)
		return TRACE_WAIT_LOCK;
	wait = wait_of_call(detail & RECORD_TRACE_NUMBER);
	/* Of files that are neither, one waits for a device, or for what else their system does. */
	if ((wait == TRACE_WAIT_READ || wait == TRACE_WAIT_WRITE) && file != S_IFIFO &&
	    file != S_IFSOCK)
		return TRACE_WAIT_OTHER;
	return wait;
}

/* Of all CPUs that are possible: many machines could have more than they do. */
#define RINGS_MOST  (256ull << 20)
#define RINGS_LEAST (64u << 10)

struct causal_rings {
	struct ring_buffer *ring;
	struct queue *queue; /* during drain */
	int *fds;
	int n;
};

static int on_record(void *ctx, void *data, size_t size)
{
	struct causal_rings *r = ctx;
	const struct record_trace *e = data;

	if (size >= sizeof(*e))
		queue_put(r->queue, QUEUE_TRACE, e->time, data, size);
	return 0;
}

static int add_ring(struct causal_rings *r, int rings, size_t bytes)
{
	uint32_t cpu = r->n;
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "trace_ring", 0, 0, bytes, NULL);

	if (fd < 0)
		return -errno;
	r->fds[r->n++] = fd;
	if (bpf_map_update_elem(rings, &cpu, &fd, BPF_ANY))
		return -errno;
	if (r->ring)
		return ring_buffer__add(r->ring, fd, on_record, r);
	r->ring = ring_buffer__new(fd, on_record, r, NULL);
	return r->ring ? 0 : -errno;
}

int causal_rings_open(int rings, size_t bytes, struct causal_rings **ret, struct error *err)
{
	struct causal_rings *r = xcalloc(1, sizeof(*r));
	int n = libbpf_num_possible_cpus(), rc = 0;

	while (bytes > RINGS_LEAST && bytes * n > RINGS_MOST)
		bytes /= 2;
	r->fds = xcalloc(n, sizeof(*r->fds));
	while (!rc && r->n < n)
		rc = add_ring(r, rings, bytes);
	if (rc) {
		error_set(err, -rc,
			  "engine bpf: a ring of %zu bytes for each of %d CPUs: %s: give a "
			  "smaller --ring-size",
			  bytes, n, strerror(-rc));
		causal_rings_close(r);
		return rc;
	}
	*ret = r;
	return 0;
}

void causal_rings_drain(struct causal_rings *r, struct queue *q)
{
	r->queue = q;
	ring_buffer__consume(r->ring);
}

void causal_rings_close(struct causal_rings *r)
{
	if (!r)
		return;
	ring_buffer__free(r->ring);
	for (int i = 0; i < r->n; i++)
		close(r->fds[i]);
	free(r->fds);
	free(r);
}
