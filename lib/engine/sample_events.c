// SPDX-License-Identifier: GPL-2.0-or-later
/* The cpu-clock event of each core, which samples are taken by. */
#include "engine/backend.h"
#include "ring/perf_ring.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

int engine_open_events(struct engine *e, struct error *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_period = e->opt.period_ns,
		.sample_type = ENGINE_SAMPLE_TYPE,
		.disabled = 1,
		.wakeup_watermark = 64 * 1024,
		.sample_max_stack = SCOZ_MAX_FRAMES,
	};

	ring_tell_mappings(&attr);
	if (e->opt.batch) {
		attr.watermark = 0;
		attr.wakeup_events = e->opt.batch;
	}
	for (int i = 0; i < e->opt.n_cpus; i++) {
		int fd = syscall(SYS_perf_event_open, &attr, -1, e->cpus[i], -1,
				 PERF_FLAG_FD_CLOEXEC);

		if (fd < 0)
			return error_set(
				err, errno,
				"sampling CPU %d: perf_event_open(cpu-clock): %s; scozd "
				"needs root, or CAP_PERFMON and CAP_BPF: run `scoz doctor`",
				e->cpus[i], strerror(errno));
		e->events[i] = fd;
	}
	return 0;
}
