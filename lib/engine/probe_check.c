// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A uprobe is only checked by the kernel where it is put into a mapping of the file: with no
 * process running the program, one that the kernel cannot execute is accepted, and then silently
 * missing from every process to come. So the code is mapped here while the probe is placed.
 */
#include "engine/backend.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL_ENOTSUPP 524 /* of the kernel alone, which hands it out all the same */

void *engine_map_code(int fd, uint64_t offset)
{
	long page = sysconf(_SC_PAGESIZE);
	void *p;

	p = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, offset & ~(page - 1));
	return p == MAP_FAILED ? NULL : p;
}

void engine_unmap_code(void *code)
{
	if (code)
		munmap(code, sysconf(_SC_PAGESIZE));
}

/*
 * Since which kernel it takes CAP_SYS_ADMIN, and no longer CAP_PERFMON alone, differs: so it is
 * asked, for a probe in no file. Who may have one is told that there is none.
 */
int engine_may_probe(struct error *err)
{
	_cleanup_free_ char *type = read_file("/sys/bus/event_source/devices/uprobe/type", NULL);
	struct perf_event_attr attr = { .size = sizeof(attr), .uprobe_path = (uintptr_t) "" };
	int fd;

	if (!type)
		return 0;
	attr.type = atoi(type);
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close(fd);
	else if (errno == EACCES || errno == EPERM)
		return error_set(err, errno, "%s", engine_uprobe_reason(errno));
	return 0;
}

const char *engine_uprobe_reason(int errnum)
{
	switch (errnum) {
	case KERNEL_ENOTSUPP:
	case ENOEXEC:
		return "the kernel cannot carry this instruction out under a probe (it has a lock "
		       "or segment prefix, or is unknown to this kernel): take the one before or "
		       "behind it, or a line";
	case EOPNOTSUPP:
		return "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)";
	case EACCES:
	case EPERM:
		return "a probe in a program needs root or CAP_SYS_ADMIN (run `scoz doctor`); "
		       "system calls and tracepoints do not";
	case EINVAL:
		return "the kernel refuses a probe at this place: it is no code, or another "
		       "profiler has a probe there with another semaphore";
	default:
		return strerror(errnum);
	}
}
