// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/probe_cost.h"

#include "host/process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BATCHES 11
#define CALLS	20 /* each */

/* One instruction and back. */
__asm__(".pushsection .text\n"
	".type probed_acted, %function\n"
	"probed_acted: nop\n"
	"ret\n"
	".type probed_stepped, %function\n"
	"probed_stepped:\n"
#ifdef __x86_64__
	"movl %edi, %eax\n"
#else
	"mov w0, w1\n"
#endif
	"ret\n"
	".popsection\n");
void probed_acted(void);
void probed_stepped(void);

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void time_calls(void (*fn)(void), double *ns)
{
	for (int i = 0; i < BATCHES; i++) {
		uint64_t began = clock_now_ns();

		for (int k = 0; k < CALLS; k++)
			fn();
		ns[i] = (double)(clock_now_ns() - began) / CALLS;
	}
}

/*
 * The engine does not look at the profiler itself. As in calibrate.c, a child of a process with
 * threads takes no locks: what it calls may be preloaded by others, so it calls nothing but the
 * clock.
 */
static double time_in_child(void (*fn)(void))
{
	double *child_ns, ns;
	size_t size = BATCHES * sizeof(*child_ns);
	pid_t pid;

	child_ns = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (child_ns == MAP_FAILED)
		return 0;
	pid = _Fork();
	if (!pid) {
		time_calls(fn, child_ns);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	qsort(child_ns, BATCHES, sizeof(*child_ns), by_value);
	ns = child_ns[BATCHES / 4]; /* others may have the core now and then */
	munmap(child_ns, size);
	return ns;
}

static double measure(struct engine *e, int fd, void (*fn)(void), int *id)
{
	struct engine_point p = {
		.kind = ENGINE_UPROBE,
		.fd = fd,
		.path = "/proc/self/exe",
		.file_name = "scozd",
		.latency = -1,
	};
	struct error err = {};
	double ns;

	if (!process_own_offset(fn, &p.offset))
		return 0;
	if (engine_add_point(e, &p, id, &err)) {
		log_debug("what a probe costs: %s", err.text);
		return 0;
	}
	ns = time_in_child(fn);
	engine_withdraw_site(e);
	return ns;
}

void probe_cost_measure(struct engine *e, struct probe_cost *ret)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int id = -1;
	double acted = fd < 0 ? 0 : measure(e, fd, probed_acted, &id);
	double stepped = fd < 0 ? 0 : measure(e, fd, probed_stepped, &id);

	ret->acted_ns = acted > 0 ? acted : ret->acted_ns;
	ret->stepped_ns = stepped > 0 ? stepped : ret->stepped_ns;
	log_info("a visit of a progress point that is a probe costs %.1f µs here, or %.1f µs where "
		 "the CPU steps through its instruction",
		 ret->acted_ns / 1e3, ret->stepped_ns / 1e3);
}

#ifdef __x86_64__
bool probe_is_acted(int fd, uint64_t offset)
{
	uint8_t b[2] = { 0 };

	if (pread(fd, b, sizeof(b), offset) != sizeof(b))
		return false;
	if ((b[0] & 0xf0) == 0x40) /* REX */
		return (b[1] & 0xf8) == 0x50;
	/* push, jcc, nop, call, jmp, jcc again */
	return (b[0] & 0xf8) == 0x50 || (b[0] & 0xf0) == 0x70 || b[0] == 0x90 || b[0] == 0xe8 ||
	       b[0] == 0xe9 || b[0] == 0xeb || (b[0] == 0x0f && (b[1] & 0xf0) == 0x80);
}
#else
bool probe_is_acted(int fd, uint64_t offset)
{
	(void)fd;
	(void)offset;
	return false;
}
#endif
