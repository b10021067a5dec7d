// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/privileges.h"

#include <sys/syscall.h>
#include <unistd.h>

static uint64_t read_set(const char *status, const char *set)
{
	_cleanup_free_ char *key = xasprintf("\n%s:", set);
	const char *line = status ? strstr(status, key) : NULL;

	return line ? strtoull(line + strlen(key), NULL, 16) : 0;
}

uint64_t privileges_own(const char *set)
{
	_cleanup_free_ char *path = sysroot_path("/proc/self/status");
	_cleanup_free_ char *status = read_file(path, NULL);

	return read_set(status, set);
}

bool privileges_have(uint64_t caps, int capability)
{
	return caps >> capability & 1;
}

bool privileges_suffice(uint64_t caps)
{
	return privileges_have(caps, CAP_SYS_ADMIN) ||
	       (privileges_have(caps, CAP_BPF) && privileges_have(caps, CAP_PERFMON));
}

void privileges_raise(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (!geteuid() || syscall(SYS_capget, &header, data))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(data); i++)
		data[i].effective = data[i].permitted;
	if (syscall(SYS_capset, &header, data))
		log_info("capset: %s", strerror(errno));
}

void privileges_keep(uint64_t caps)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data))
		return;
	/* For kernels before it, and who was not given it, this stands for CAP_BPF. */
	if (privileges_have(caps, CAP_BPF) && !(data[1].permitted & 1u << (CAP_BPF - 32)))
		caps |= PRIVILEGE(CAP_SYS_ADMIN);
	for (size_t i = 0; i < ARRAY_SIZE(data); i++) {
		data[i].permitted &= caps >> (32 * i);
		data[i].effective &= data[i].permitted;
	}
	if (syscall(SYS_capset, &header, data))
		log_info("capset: %s", strerror(errno));
}

void privileges_keep_users(void)
{
	if (geteuid())
		privileges_keep(privileges_own("CapAmb"));
}

char *privileges_setcap(void)
{
	static const struct {
		int capability;
		const char *name;
	} wanted[] = {
		{ CAP_BPF, "cap_bpf" },
		{ CAP_PERFMON, "cap_perfmon" },
		{ CAP_SYS_ADMIN, "cap_sys_admin" }, /* for uprobes */
		{ CAP_SYS_PTRACE, "cap_sys_ptrace" },
		{ CAP_SYS_RESOURCE, "cap_sys_resource" },
		{ CAP_IPC_LOCK, "cap_ipc_lock" },
		{ CAP_SYS_NICE, "cap_sys_nice" }, /* for the thread of the lease */
		{ CAP_SYSLOG, "cap_syslog" },	  /* for /proc/kallsyms */
	};
	uint64_t bounding = privileges_own("CapBnd");
	char *list = NULL, *line;

	if (!privileges_suffice(bounding) || !privileges_have(bounding, CAP_BPF) ||
	    !privileges_have(bounding, CAP_PERFMON))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (privileges_have(bounding, wanted[i].capability))
			text_add(&list, "%s%s", list ? "," : "", wanted[i].name);
	}
	/* Root finds scozd: sbin is not in everybody's path. */
	line = xasprintf("sudo sh -c 'setcap %s=p \"$(command -v scozd)\" %s=p \"$(command -v "
			 "scoz)\"'",
			 list, list);
	free(list);
	return line;
}

/* Whoever makes a user namespace has all capabilities in it, and a map that is not ours. */
static bool in_our_user_namespace(int pid)
{
	_cleanup_free_ char *our_path = sysroot_path("/proc/self/uid_map");
	_cleanup_free_ char *path = sysroot_path("/proc/%d/uid_map", pid);
	_cleanup_free_ char *ours = read_file(our_path, NULL), *theirs = read_file(path, NULL);

	return (!ours && !theirs) || (ours && theirs && !strcmp(ours, theirs));
}

bool privileges_of_profiler(int pid, uint32_t uid)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/status", pid);
	_cleanup_free_ char *status = read_file(path, NULL);
	const char *line = status ? strstr(status, "\nUid:") : NULL;
	unsigned int effective;

	return line && sscanf(line, "\nUid: %*u %u", &effective) == 1 && effective == uid &&
	       privileges_suffice(read_set(status, "CapEff")) && in_our_user_namespace(pid);
}
