// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/scoz_module.h"
#include "base/base.h"
#include "host/bpf_programs.h"
#include "host/kernel_types.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#define NAME "scoz"

static bool exists(const char *path)
{
	_cleanup_free_ char *at = sysroot_path("%s", path);

	return !access(at, F_OK);
}

/* The descriptor of what the kernel knows of the module's types, or -errno. */
static int open_types(void)
{
	uint32_t id = 0;

	while (!bpf_btf_get_next_id(id, &id)) {
		char name[64] = "";
		struct bpf_btf_info info = { .name = (uintptr_t)name, .name_len = sizeof(name) };
		uint32_t size = sizeof(info);
		int fd = bpf_btf_get_fd_by_id(id);

		if (fd < 0 && errno == ENOENT) /* just unloaded */
			continue;
		if (fd < 0)
			return -errno;
		if (!bpf_obj_get_info_by_fd(fd, &info, &size) && info.kernel_btf &&
		    !strcmp(name, NAME))
			return fd;
		close(fd);
	}
	return -errno;
}

static int try_function(const struct btf *kernel, const struct btf *types, int fd)
{
	int sched = btf__find_by_name_kind(kernel, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
	int id = btf__find_by_name_kind(types, "scoz_kick", BTF_KIND_FUNC), ret;

	if (id <= 0 ||
	    !kernel_has_tracepoint(&(struct kernel_types){ .btf = types }, "scoz_kicked"))
		return -ENODATA;
	ret = bpf_try_call(BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, sched, fd, id);
	if (ret)
		return ret;
	ret = SCOZ_MODULE_AT_TRACEPOINTS;
	if (!bpf_try_call(BPF_PROG_TYPE_PERF_EVENT, 0, 0, fd, id))
		ret |= SCOZ_MODULE_IN_TICKS;
	return ret;
}

int scoz_module_probe(void)
{
	struct btf *kernel, *types;
	int ret;

	if (!exists("/sys/kernel/btf/" NAME))
		return exists("/sys/module/" NAME) ? -ENODATA : -ENOENT;
	kernel = btf__load_vmlinux_btf();
	types = kernel ? btf__load_module_btf(NAME, kernel) : NULL;
	if (types) {
		_cleanup_close_ int fd = open_types();

		ret = fd < 0 ? fd : try_function(kernel, types, fd);
	} else {
		ret = -ENODATA;
	}
	btf__free(types);
	btf__free(kernel);
	return ret;
}

const char *scoz_module_state(int probed)
{
	switch (probed) {
	case -ENOENT:
		return "is not loaded";
	case -ENODATA:
		return "is loaded without its types: CONFIG_DEBUG_INFO_BTF_MODULES and pahole are "
		       "needed when it is built";
	case -EPERM:
	case -EACCES:
		return "is for those with CAP_SYS_ADMIN";
	}
	return probed < 0 ? strerror(-probed) : "is loaded";
}
