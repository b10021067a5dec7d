// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine/bpf/kernel_points.h"

#include "host/syscall_names.h"
#include "host/tracepoints.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

static struct bpf_program *tracepoint_program(struct bpf_object *obj, int i)
{
	char name[32];

	snprintf(name, sizeof(name), "on_tracepoint_%d", i);
	return bpf_object__find_program_by_name(obj, name);
}

static struct bpf_program *syscall_program(struct bpf_object *obj)
{
	return bpf_object__find_program_by_name(obj, "on_syscall");
}

static void prepare(struct bpf_program *prog, bool wanted)
{
	bpf_program__set_autoload(prog, wanted);
	bpf_program__set_autoattach(prog, false);
}

void kernel_points_prepare(struct bpf_object *obj, bool wanted)
{
	prepare(syscall_program(obj), wanted);
	for (int i = 0; i < POINTS_TRACEPOINTS; i++)
		prepare(tracepoint_program(obj, i), wanted);
}

int kernel_points_add_tracepoint(struct kernel_points *k, const char *name, uint32_t point,
				 struct bpf_link **ret, struct error *err)
{
	if (k->n_tracepoints == POINTS_TRACEPOINTS)
		return error_set(err, E2BIG, "at most %d tracepoints can be progress points",
				 POINTS_TRACEPOINTS);
	k->tracepoint_point[k->n_tracepoints] = point;
	*ret = bpf_program__attach_raw_tracepoint(tracepoint_program(k->obj, k->n_tracepoints),
						  name);
	if (!*ret && errno == ENOENT && tracepoint_syscall(name))
		return error_set(err, ENOENT,
				 "tracepoint %s is none of the kernel's own, but made of system "
				 "calls: write syscall:%s",
				 name, tracepoint_syscall(name));
	if (!*ret) {
		int code = errno;
		_cleanup_free_ char *why = tracepoint_why(name, code);

		return error_set(err, code,
				 "tracepoint %s: %s; /sys/kernel/tracing/available_events lists "
				 "what this kernel has (mount -t tracefs none /sys/kernel/tracing)",
				 name, why);
	}
	k->n_tracepoints++;
	return 0;
}

int kernel_points_add_syscall(struct kernel_points *k, uint32_t number, uint32_t point,
			      struct bpf_link **ret, struct error *err)
{
	int fd = bpf_object__find_map_fd_by_name(k->obj, "syscall_points");
	struct syscall_points points = {};

	*ret = NULL;
	bpf_map_lookup_elem(fd, &number, &points);
	if (points.n == POINTS_PER_SYSCALL)
		return error_set(err, E2BIG,
				 "at most %d progress points are possible for one system call",
				 POINTS_PER_SYSCALL);
	points.forks = syscall_forks(number);
	points.point[points.n++] = point;
	if (bpf_map_update_elem(fd, &number, &points, BPF_ANY))
		return error_set(err, errno, "system call %u: %s", number, strerror(errno));
	if (k->syscalls)
		return 0;
	*ret = bpf_program__attach(syscall_program(k->obj));
	if (!*ret)
		return error_set(err, errno, "following system calls: %s", strerror(errno));
	k->syscalls = true;
	return 0;
}
