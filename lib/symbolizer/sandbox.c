// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a worker may do: compute, use the descriptors that it has, make memory, and end. To open a
 * file it must ask: the call is held until whoever has the other end has put a descriptor in its
 * place. Everything else fails (EPERM) without having been looked at.
 */
#include "host/privileges.h"
#include "symbolizer/sandbox.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534
#define X32    0x40000000

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0
#endif

static const int allowed[] = {
	SYS_read,      SYS_pread64,	   SYS_readv,	     SYS_preadv,    SYS_write,
	SYS_pwrite64,  SYS_lseek,	   SYS_fstat,	     SYS_close,	    SYS_brk,
	SYS_mmap,      SYS_munmap,	   SYS_mremap,	     SYS_mprotect,  SYS_madvise,
	SYS_ftruncate, SYS_sendmsg,	   SYS_recvmsg,	     SYS_exit,	    SYS_exit_group,
	SYS_futex,     SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_getrandom, SYS_clock_gettime,
	SYS_sysinfo,   SYS_sigaltstack,
};

/* Of fcntl(); by others one makes the kernel send signals, also to who else is user nobody. */
static const uint32_t allowed_fcntl[] = { F_GETFD,	   F_SETFD,	F_GETFL,
					  F_DUPFD_CLOEXEC, F_ADD_SEALS, F_GET_SEALS };

/* The bounding set can only be changed as long as there are capabilities. */
static void drop_bounding_set(void)
{
	for (int i = 0; i < 64; i++)
		prctl(PR_CAPBSET_DROP, i);
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	syscall(SYS_capset, &header, none);
}

void sandbox_drop_rights(void)
{
	const struct rlimit none = { 0, 0 };

	drop_bounding_set();
	if (!geteuid() && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			   setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(1);
	drop_capabilities();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		_exit(1);
	prctl(PR_SET_DUMPABLE, 0);
	setrlimit(RLIMIT_CORE, &none);
	/* Changing the user has reset it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void sandbox_limit(uint64_t memory, uint64_t cpu_s)
{
	const struct rlimit as = { memory, memory }, cpu = { cpu_s, cpu_s + 1 };

	if (SANDBOX_LIMITS_MEMORY)
		setrlimit(RLIMIT_AS, &as);
	setrlimit(RLIMIT_CPU, &cpu);
}

#define LOAD(field)  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)
#define IF(value)    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1)

/*
 * Of @call, where argument @arg is one of @value, the answer is @listed, else @other. The number is
 * loaded, and still is for what comes after.
 */
static void filter_argument(struct sock_fprog *prog, uint32_t call, int arg, const uint32_t *value,
			    size_t n, uint32_t listed, uint32_t other)
{
	struct sock_filter *f = prog->filter;

	f[prog->len++] =
		(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 2 + 2 * n);
	f[prog->len++] = (struct sock_filter)LOAD(args[arg]);
	for (size_t i = 0; i < n; i++) {
		f[prog->len++] = (struct sock_filter)IF(value[i]);
		f[prog->len++] = (struct sock_filter)ANSWER(listed);
	}
	f[prog->len++] = (struct sock_filter)ANSWER(other);
}

static void filter_fcntl(struct sock_fprog *prog)
{
	filter_argument(prog, SYS_fcntl, 1, allowed_fcntl, ARRAY_SIZE(allowed_fcntl),
			SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | EPERM);
}

/* To others, to the kernel's own gates, and to the network. */
static const int forbidden[] = {
	SYS_kill,
	SYS_tkill,
	SYS_tgkill,
	SYS_rt_sigqueueinfo,
	SYS_rt_tgsigqueueinfo,
	SYS_pidfd_open,
	SYS_pidfd_send_signal,
	SYS_pidfd_getfd,
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_sched_setaffinity,
	SYS_sched_setattr,
	SYS_sched_setparam,
	SYS_sched_setscheduler,
	SYS_setpriority,
	SYS_ioprio_set,
	SYS_migrate_pages,
	SYS_move_pages,
	SYS_socket,
	SYS_socketpair,
	SYS_execve,
	SYS_execveat,
	SYS_mount,
	SYS_unshare,
	SYS_setns,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_userfaultfd,
	SYS_io_uring_setup,
	SYS_keyctl,
	SYS_add_key,
	SYS_request_key,
	SYS_shmget,
	SYS_msgget,
	SYS_mq_open,
};

/* By these the kernel sends signals, too. */
static const uint32_t forbidden_ioctl[] = { FIOSETOWN, SIOCSPGRP, FIOASYNC };

bool sandbox_be_alone(void)
{
	struct sock_filter f[32 + 2 * (ARRAY_SIZE(forbidden_ioctl) + ARRAY_SIZE(forbidden) +
				       ARRAY_SIZE(allowed_fcntl))] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		ANSWER(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
	};
	struct sock_fprog prog = { .len = 4, .filter = f };

	/* The same calls by other numbers: x32. */
	f[prog.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1);
	f[prog.len++] = (struct sock_filter)ANSWER(SECCOMP_RET_ERRNO | EPERM);
	for (size_t i = 0; i < ARRAY_SIZE(forbidden); i++) {
		f[prog.len++] = (struct sock_filter)IF((uint32_t)forbidden[i]);
		f[prog.len++] = (struct sock_filter)ANSWER(SECCOMP_RET_ERRNO | EPERM);
	}
	filter_fcntl(&prog);
	filter_argument(&prog, SYS_ioctl, 1, forbidden_ioctl, ARRAY_SIZE(forbidden_ioctl),
			SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW);
	/* One's own limits: getrlimit() is it, too. */
	filter_argument(&prog, SYS_prlimit64, 0, (uint32_t[]){ 0 }, 1, SECCOMP_RET_ALLOW,
			SECCOMP_RET_ERRNO | EPERM);
	f[prog.len++] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

int sandbox_enter(void)
{
	struct sock_filter f[20 + 2 * (ARRAY_SIZE(allowed) + ARRAY_SIZE(allowed_fcntl))] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		ANSWER(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
	};
	struct sock_fprog prog = { .len = 4, .filter = f };
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++) {
		f[prog.len++] = (struct sock_filter)IF((uint32_t)allowed[i]);
		f[prog.len++] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
	}
	f[prog.len++] = (struct sock_filter)IF(SYS_openat);
	f[prog.len++] = (struct sock_filter)ANSWER(SECCOMP_RET_USER_NOTIF);
	filter_fcntl(&prog);
	/* glibc's fstat() */
	filter_argument(&prog, SYS_newfstatat, 3, (uint32_t[]){ AT_EMPTY_PATH }, 1,
			SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | EPERM);
	f[prog.len++] = (struct sock_filter)ANSWER(SECCOMP_RET_ERRNO | EPERM);
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
	return fd < 0 ? -errno : fd;
}
