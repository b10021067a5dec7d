// SPDX-License-Identifier: GPL-2.0-or-later
#include "map/maps_perf.h"

#include <dirent.h>
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
	id = (struct file_id){ m->maj, m->min, m->ino };
	maps_add(maps, maps_perf_time(header), m->pid, m->addr, m->len, m->pgoff, id, m->filename);
}

/* A process whose first thread ends by pthread_exit() goes on. */
static bool has_other_threads(int pid)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/task", pid);
	DIR *dir = opendir(path);
	bool others = false;
	struct dirent *d;

	if (!dir)
		return false;
	while (!others && (d = readdir(dir)))
		others = atoi(d->d_name) > 0 && atoi(d->d_name) != pid;
	closedir(dir);
	return others;
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
		if (h->size < sizeof(*t) || t->pid != t->tid || has_other_threads(t->pid))
			break;
		*pid = t->pid;
		maps_exit(m, maps_perf_time(h), t->pid);
		return MAPS_PERF_EXIT;
	default:
		break;
	}
	return MAPS_PERF_OTHER;
}
