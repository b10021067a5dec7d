// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Progress points of engine `kernel`: the session puts probes at instructions, and counts perf
 * events on tracepoints, one for each CPU, that are handed over to it. No BPF is needed.
 */
#include "engine/kernel/kernel_engine.h"
#include "host/syscall_names.h"
#include "host/tracepoints.h"

#include <linux/perf_event.h>
#include <linux/scoz_target.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int read_number(const char *path, const char *format, int *ret)
{
	_cleanup_free_ char *at = sysroot_path("%s", path);
	_cleanup_fclose_ FILE *f = fopen(at, "re");

	if (!f)
		return -errno;
	return fscanf(f, format, ret) == 1 ? 0 : -EINVAL;
}

/* Programs of 32 bits have other numbers of system calls, which patches from before do not tell. */
static int keep_site(struct kernel_engine *k, int fd, const struct engine_point *p, int id)
{
	struct scoz_event event = { .fd = fd, .role = SCOZ_EVENT_POINT, .point = id };

	array_reserve(k->sites, k->cap_sites, k->n_sites + 1);
	k->sites[k->n_sites++] = fd;
	if (p->comm)
		snprintf(event.comm, sizeof(event.comm), "%s", p->comm);
	if (p->kind == ENGINE_SYSCALL)
		event.arch = KERNEL_NATIVE_ARCH;
	if (!ioctl(k->fd, SCOZ_IOC_EVENT, &event))
		return 0;
	if (!event.arch || errno != EINVAL)
		return -errno;
	event.arch = 0;
	return ioctl(k->fd, SCOZ_IOC_EVENT, &event) ? -errno : 0;
}

/* On every CPU that is online: visits count wherever they happen. 0 or -errno. */
static int open_site(struct kernel_engine *k, struct perf_event_attr *attr,
		     const struct engine_point *p, const char *filter, int id)
{
	int opened = 0;

	attr->size = sizeof(*attr);
	attr->sample_period = 1;
	for (int cpu = 0; cpu < k->base.cores; cpu++) {
		int fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC), ret;

		if (fd < 0 && errno == ENODEV) /* offline */
			continue;
		if (fd < 0)
			return -errno;
		ret = keep_site(k, fd, p, id);
		if (ret)
			return ret;
		if (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter))
			return -errno;
		opened++;
	}
	return opened ? 0 : -ENODEV;
}

static int put_probe(struct kernel_engine *k, struct scoz_probe *probe, bool by_user)
{
	if (by_user && !k->base.all_users) {
		probe->point |= SCOZ_PROBE_BY_USER;
		if (!ioctl(k->fd, SCOZ_IOC_PROBE, probe))
			return 0;
		if (errno != EINVAL)
			return -errno;
		probe->point &= ~SCOZ_PROBE_BY_USER;
	}
	if (ioctl(k->fd, SCOZ_IOC_PROBE, probe))
		return -errno;
	k->base.all_users |= by_user; /* patches from before that do not know such points */
	return 0;
}

/* Patches from before: there is nobody to be named to them. */
int kernel_count_user(struct engine *e, uid_t uid)
{
	uint32_t user = uid;

	return !ioctl(kernel_engine(e)->fd, SCOZ_IOC_USER, &user) || errno == ENOTTY ? 0 : -errno;
}

static int add_uprobe(struct kernel_engine *k, const struct engine_point *p, int id,
		      struct error *err)
{
	struct scoz_probe probe = {
		.fd = p->fd, .point = id, .offset = p->offset, .ref_ctr = p->ref_ctr
	};
	int ret;

	if (p->comm)
		snprintf(probe.comm, sizeof(probe.comm), "%s", p->comm);
	ret = put_probe(k, &probe, p->by_user);
	if (!ret)
		return 0;
	return error_set(err, -ret, "probing %s at file offset %#llx: %s", p->file_name,
			 (unsigned long long)p->offset, engine_uprobe_reason(-ret));
}

/* Of all groups that have a tracepoint of this name, the first. */
static int tracepoint_id(const char *name, int *ret)
{
	const char *roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	_cleanup_free_ char *events = NULL;
	char line[256], path[512], *colon;
	FILE *f = NULL;
	int r = -ENOENT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(roots) && !f; i++) {
		snprintf(path, sizeof(path), "%s/available_events", roots[i]);
		free(events);
		events = sysroot_path("%s", path);
		f = fopen(events, "re");
	}
	if (!f)
		return -ENOTDIR;
	while (r && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		colon = strchr(line, ':');
		if (!colon || strcmp(colon + 1, name))
			continue;
		*colon = '/';
		snprintf(path, sizeof(path), "%s/events/%s/id", roots[i - 1], line);
		r = read_number(path, "%d", ret);
	}
	fclose(f);
	return r;
}

static int add_tracepoint(struct kernel_engine *k, const struct engine_point *p, const char *name,
			  const char *filter, int id, struct error *err)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT };
	int number = 0, ret = tracepoint_id(name, &number);

	if (ret == -ENOTDIR)
		return error_set(err, ENOENT,
				 "tracepoint %s: tracefs is not mounted; "
				 "mount -t tracefs none /sys/kernel/tracing",
				 name);
	attr.config = number;
	if (!ret)
		ret = open_site(k, &attr, p, filter, id);
	if (ret) {
		_cleanup_free_ char *why = tracepoint_why(name, -ret);

		return error_set(err, -ret,
				 "tracepoint %s: %s; /sys/kernel/tracing/available_events lists "
				 "what this kernel has",
				 name, why);
	}
	return 0;
}

int kernel_add_site(struct engine *e, const struct engine_point *p, int id, bool first,
		    struct error *err)
{
	struct kernel_engine *k = kernel_engine(e);
	char filter[96];

	(void)first;
	switch (p->kind) {
	case ENGINE_UPROBE:
		return add_uprobe(k, p, id, err);
	case ENGINE_TRACEPOINT:
		return add_tracepoint(k, p, p->name, NULL, id, err);
	case ENGINE_SYSCALL:
		/* Not those that are called again after a signal: -ERESTARTSYS and so on. */
		snprintf(filter, sizeof(filter),
			 "id == %d && ret != -512 && ret != -513 && ret != -514%s", p->syscall,
			 syscall_forks(p->syscall) ? " && ret != 0" : "");
		return add_tracepoint(k, p, "sys_exit", filter, id, err);
	}
	return -EINVAL;
}
