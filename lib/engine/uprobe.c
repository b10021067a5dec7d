// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A uprobe is only checked by the kernel where it is put into a mapping of the file: with no
 * process running the program, one that the kernel cannot execute is accepted, and then silently
 * missing from every process to come. So the code is mapped here while the probe is placed.
 */
#include "engine/backend.h"

#include <sys/mman.h>
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
		       "marks, system calls and tracepoints do not";
	case EINVAL:
		return "the kernel refuses a probe at this place: it is no code, or another "
		       "profiler has a probe there with another semaphore";
	default:
		return strerror(errnum);
	}
}
