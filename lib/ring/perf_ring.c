// SPDX-License-Identifier: GPL-2.0-or-later
#include "ring/perf_ring.h"

#include "account/busy_wait.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAX_RECORD 65536 /* perf_event_header.size has 16 bits */

void ring_tell_mappings(struct perf_event_attr *attr)
{
	attr->mmap = attr->mmap2 = 1;
	attr->comm = attr->comm_exec = 1;
	attr->task = 1;
	attr->sample_id_all = 1;
	attr->watermark = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

int ring_map(struct ring *r, int fd, size_t pages, struct error *err)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *p;

	*r = (struct ring){ .size = pages * page, .mapped = (pages + 1) * page };
	p = mmap(NULL, r->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return error_set(err, errno,
				 "mapping a ring of %zu KiB for samples: %s; raise "
				 "kernel.perf_event_mlock_kb or run as root",
				 r->mapped / 1024, strerror(errno));
	r->header = p;
	r->data = (char *)p + page;
	r->buf = xmalloc(MAX_RECORD);
	return 0;
}

void ring_unmap(struct ring *r)
{
	if (r->header)
		munmap(r->header, r->mapped);
	free(r->buf);
	*r = (struct ring){};
}

const struct perf_event_header *ring_next(struct ring *r)
{
	uint64_t head = __atomic_load_n(&r->header->data_head, __ATOMIC_ACQUIRE);
	size_t at = r->position & (r->size - 1);
	const struct perf_event_header *h = (void *)(r->data + at);
	size_t size;

	if (head - r->position < sizeof(*h))
		return NULL;
	size = h->size; /* records are 8-byte aligned: the header itself never wraps */
	if (size < sizeof(*h) || size > head - r->position || size % 8) {
		r->position = head; /* not a record: nothing behind it can be trusted */
		return NULL;
	}
	r->position += size;
	if (at + size <= r->size)
		return h;
	memcpy(r->buf, r->data + at, r->size - at);
	memcpy(r->buf + r->size - at, r->data, size - (r->size - at));
	return (void *)r->buf;
}

size_t ring_waiting(const struct ring *r)
{
	return __atomic_load_n(&r->header->data_head, __ATOMIC_ACQUIRE) - r->position;
}

void ring_release(struct ring *r)
{
	__atomic_store_n(&r->header->data_tail, r->position, __ATOMIC_RELEASE);
}

/* Raw data: its size, and what engine/bpf/tick.bpf.h sends: how many words, and these. */
static void decode_user(const char *raw, const char *end, struct ring_sample *ret)
{
	const struct {
		uint32_t size, words;
		uint64_t word[];
	} *r = (const void *)raw;
	size_t room = end - raw;
	uint32_t words;

	if (room < sizeof(*r) || r->size < sizeof(r->words) || r->size > room - sizeof(r->size))
		return;
	words = r->words & ~SCOZ_WORDS_SPIN;
	if (words > (r->size - sizeof(r->words)) / sizeof(r->word[0]))
		return;
	ret->user = r->word;
	ret->n_user = words;
	ret->spins = r->words & SCOZ_WORDS_SPIN;
}

bool ring_decode_sample(const struct perf_event_header *h, struct ring_sample *ret)
{
	const struct {
		struct perf_event_header header;
		uint64_t ip;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t n;
		uint64_t chain[];
	} *s = (const void *)h;

	if (h->type != PERF_RECORD_SAMPLE || h->size < sizeof(*s) ||
	    s->n > (h->size - sizeof(*s)) / sizeof(uint64_t))
		return false;
	*ret = (struct ring_sample){
		.ip = s->ip,
		.pid = s->pid,
		.tid = s->tid,
		.time = s->time,
		.cpu = s->cpu,
		.chain = s->chain,
		.n_chain = s->n,
	};
	decode_user((const char *)&s->chain[s->n], (const char *)h + h->size, ret);
	return true;
}
