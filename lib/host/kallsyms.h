/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running kernel's symbols: (sysroot-relative) /proc/kallsyms. */
#ifndef SCOZ_HOST_KALLSYMS_H
#define SCOZ_HOST_KALLSYMS_H

#include "base/base.h"

struct kallsym {
	uint64_t address; /* 0: hidden from this user */
	const char *name;
	char type; /* as nm has it */
};

/* Takes a line "address type name [module]" apart; it is cut at the end of the name. */
bool kallsyms_parse(char *line, struct kallsym *ret);

/*
 * Calls @each for every symbol in the order of the file until it returns true; the name is valid
 * that long. 0 or -errno when the file cannot be read. The file is long: stop early.
 */
int kallsyms_each(bool (*each)(const struct kallsym *sym, void *arg), void *arg);

/*
 * Where the kernel has what is asked for by name; 0: it has no such thing, or does not tell. Asked
 * once, for all: of the kernel (kernel_asks.h), or else of the file.
 */
struct kernel_addresses {
	uint64_t timerfd_tmrproc, posix_timer_fn, it_real_fn, hrtimer_wakeup;
	uint64_t sched_text_start, sched_text_end;
	/* Variables, which only kernels with CONFIG_KALLSYMS_ALL tell of. */
	uint64_t per_cpu_offset, preempt_count, pcpu_hot;
};
const struct kernel_addresses *kernel_addresses(void);

#endif
