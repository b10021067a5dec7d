// SPDX-License-Identifier: GPL-2.0-or-later
#include "maps/maps_perf.h"

#include <sys/mman.h>

/* All records but samples end with TID, TIME and CPU. */
uint64_t maps_perf_time(const struct perf_event_header *h)
{
	const struct {
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
	} * id;

	if (h->size < sizeof(*h) + sizeof(*id))
		return 0;
	id = (const void *)((const char *)h + h->size - sizeof(*id));
	return id->time;
}

static void on_mmap(struct maps *maps, const struct perf_event_header *header)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		uint32_t maj, min;
		uint64_t ino, ino_generation;
		uint32_t prot, flags;
		char filename[];
	} *m = (const void *)header;
	struct file_id id;

	if (header->size <= sizeof(*m) || !(m->prot & PROT_EXEC) ||
	    header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		return;
	if (!memchr(m->filename, '\0', header->size - sizeof(*m)))
		return;
	id = (struct file_id){ m->maj, m->min, m->ino, m->ino_generation };
	maps_add(maps, maps_perf_time(header), m->pid, m->addr, m->len, m->pgoff, id, m->filename);
}

enum maps_perf maps_perf_record(struct maps *m, const struct perf_event_header *h, int *pid)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, ppid, tid, ptid;
	} *t = (const void *)h;

	switch (h->type) {
	case PERF_RECORD_MMAP2:
		on_mmap(m, h);
		break;
	case PERF_RECORD_COMM: /* pid, tid, name */
		if (!(h->misc & PERF_RECORD_MISC_COMM_EXEC) ||
		    h->size < sizeof(*h) + 2 * sizeof(uint32_t))
			break;
		*pid = t->pid;
		maps_exec(m, maps_perf_time(h), t->pid);
		return MAPS_PERF_EXEC;
	case PERF_RECORD_FORK:
		if (h->size >= sizeof(*t) && t->pid != t->ppid)
			maps_fork(m, maps_perf_time(h), t->ppid, t->pid);
		break;
	case PERF_RECORD_EXIT:
		if (h->size < sizeof(*t) || t->pid != t->tid)
			break;
		*pid = t->pid;
		maps_leader_ended(m, maps_perf_time(h), t->pid);
		break;
	default:
		break;
	}
	return MAPS_PERF_OTHER;
}
