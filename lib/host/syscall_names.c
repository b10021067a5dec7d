// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/syscall_names.h"

#include "base/similar.h"
#include "syscalls.h" /* generated */

int syscall_number(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(syscall_table); i++) {
		if (!strcmp(syscall_table[i].name, name))
			return syscall_table[i].number;
	}
	return -1;
}

int syscall_find(const char *name, struct error *err)
{
	_cleanup_free_ char *hint = NULL;
	int number = syscall_number(name);
	struct similar similar;

	if (number >= 0)
		return number;
	similar_init(&similar, name);
	for (size_t i = 0; i < ARRAY_SIZE(syscall_table); i++)
		similar_add(&similar, syscall_table[i].name);
	hint = similar_text(&similar);
	return error_set(err, ENOENT, "there is no system call \"%s\"%s (see `man 2 syscalls`)",
			 name, hint);
}

static bool is_one_of(int number, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (number >= 0 && syscall_number(names[i]) == number)
			return true;
	}
	return false;
}

bool syscall_forks(int number)
{
	static const char *const names[] = { "clone", "clone3", "fork", "vfork" };

	return is_one_of(number, names, ARRAY_SIZE(names));
}

bool syscall_ends(int number)
{
	static const char *const names[] = { "exit", "exit_group" };

	return is_one_of(number, names, ARRAY_SIZE(names));
}

const char *syscall_entered_by(const char *function)
{
	static const char *const prefixes[] = { "__x64_sys_", "__arm64_sys_", "__se_sys_",
						"__do_sys_",  "ksys_",	      "__sys_" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (!strncmp(function, prefixes[i], n) && syscall_number(function + n) >= 0)
			return function + n;
	}
	return NULL;
}

char *syscall_function(const char *name, size_t i)
{
	static const struct {
		const char *before, *after;
	} patterns[] = {
		{ "__x64_sys_", "" },	{ "__arm64_sys_", "" },	   { "__se_sys_", "" },
		{ "__do_sys_", "" },	{ "ksys_", "" },	   { "__sys_", "" },
		{ "___sys_", "" },	{ "do_sys_", "" },	   { "kernel_", "" },
		{ "do_", "" },		{ "__do_", "" },	   { "__x64_sys_new", "" },
		{ "__do_sys_new", "" }, { "__arm64_sys_new", "" },
	};
	/* What has another name inside the kernel. */
	static const struct {
		const char *name, *function;
	} others[] = {
		{ "mmap", "ksys_mmap_pgoff" },
		{ "munmap", "__vm_munmap" },
		{ "mprotect", "do_mprotect_pkey" },
		{ "open", "do_sys_openat2" },
		{ "openat", "do_sys_openat2" },
		{ "openat2", "do_sys_openat2" },
		{ "fork", "kernel_clone" },
		{ "vfork", "kernel_clone" },
		{ "clone3", "kernel_clone" },
		{ "exit_group", "do_group_exit" },
		{ "accept", "__sys_accept4" },
		{ "send", "__sys_sendto" },
		{ "recv", "__sys_recvfrom" },
		{ "sendfile", "__x64_sys_sendfile64" },
		{ "sendfile", "do_sendfile" },
		{ "umount2", "__x64_sys_umount" },
		{ "newfstatat", "vfs_fstatat" },
		{ "fsync", "do_fsync" },
		{ "pselect6", "do_pselect" },
		{ "readlink", "do_readlinkat" },
		{ "rename", "do_renameat2" },
		{ "renameat", "do_renameat2" },
		{ "renameat2", "do_renameat2" },
		{ "mkdir", "do_mkdirat" },
		{ "unlink", "do_unlinkat" },
		{ "rmdir", "do_rmdir" },
		{ "link", "do_linkat" },
		{ "epoll_pwait", "do_epoll_wait" },
		{ "epoll_wait", "do_epoll_wait" },
		{ "pipe", "do_pipe2" },
		{ "statfs", "user_statfs" },
		{ "faccessat2", "do_faccessat" },
		{ "access", "do_faccessat" },
		{ "ftruncate", "do_ftruncate" },
	};

	if (i < ARRAY_SIZE(patterns))
		return xasprintf("%s%s%s", patterns[i].before, name, patterns[i].after);
	i -= ARRAY_SIZE(patterns);
	for (size_t k = 0; k < ARRAY_SIZE(others); k++) {
		if (!strcmp(others[k].name, name) && !i--)
			return xstrdup(others[k].function);
	}
	return NULL;
}
