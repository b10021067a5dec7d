// SPDX-License-Identifier: GPL-2.0-or-later
/* What both kinds of backends need. */
#include "record/backend.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct cpu_events record_events(const struct recorder_options *opt,
				int (*open)(struct cpu_event *e, void *arg, struct error *err),
				void *arg)
{
	return (struct cpu_events){
		.wanted = opt->cpus,
		.n_wanted = opt->n_cpus,
		.newcomers = opt->new_cpus,
		.open = open,
		.arg = arg,
	};
}

int record_open_event(const struct recorder_options *opt, struct perf_event_attr *attr,
		      struct cpu_event *e, struct error *err)
{
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_CPU_CLOCK;
	attr->sample_period = opt->period_ns;
	attr->disabled = 1;
	attr->watermark = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	e->fd = syscall(SYS_perf_event_open, attr, -1, e->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (e->fd < 0)
		return error_set(err, errno,
				 "sampling CPU %d: perf_event_open(cpu-clock): %s; recording needs "
				 "root, or CAP_PERFMON and CAP_BPF: run `scoz doctor`",
				 e->cpu, strerror(errno));
	return 0;
}

void record_set_flag(struct perf_event_attr *attr, int flag)
{
	size_t word = offsetof(struct perf_event_attr, read_format) / 8 + 1;

	((__u64 *)attr)[word] |= 1ULL << flag;
}

bool record_flag_is_for_any_event(int flag)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
	};
	int fd;

	record_set_flag(&attr, flag);
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}
