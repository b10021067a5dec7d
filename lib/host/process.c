// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/process.h"

#include <dirent.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* linux/sched.h */
#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000
/* No program is started with more; a running one may say that terabytes are its environment. */
#define MOST_ENVIRONMENT (8 << 20)

bool process_is_executing(const struct process_stat *s)
{
	return !s->env_end && !process_has_ended(s) && !(s->flags & (PF_EXITING | PF_KTHREAD));
}

int process_rank(int pid, const char **variable)
{
	/* Launchers within launchers: the one that started the ranks says most. */
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
					     "MV2_COMM_WORLD_RANK", "SLURM_PROCID" };
	_cleanup_free_ char *path = sysroot_path("/proc/%d/environ", pid);
	size_t len = 0, best = ARRAY_SIZE(names);
	_cleanup_free_ char *text = read_file_begin(path, MOST_ENVIRONMENT, &len);
	struct process_stat s;
	int rank = -1;

	for (const char *p = text; p && p < text + len; p += strlen(p) + 1) {
		for (size_t i = 0; *p && i < best; i++) {
			size_t n = strlen(names[i]);
			char *end;
			long v;

			if (strncmp(p, names[i], n) || p[n] != '=' || p[n + 1] < '0' ||
			    p[n + 1] > '9')
				continue;
			v = strtol(p + n + 1, &end, 10);
			if (*end || v > INT32_MAX)
				continue;
			rank = v;
			best = i;
		}
	}
	if (variable)
		*variable = rank >= 0 ? names[best] : NULL;
	if (text && !len && process_read_stat(pid, &s) && process_is_executing(&s))
		return RANK_NOT_YET;
	return rank;
}

bool process_read_stat(int pid, struct process_stat *ret)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/stat", pid);
	_cleanup_free_ char *text = read_file(path, NULL);
	const char *end = text ? strrchr(text, ')') : NULL; /* the name may hold anything */
	unsigned long long started, code = 0, end_code = 0, stack = 0, env_end = 0;

	/* From the third field to the 51st. */
	if (!end ||
	    sscanf(end + 1,
		   " %c %d %d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
		   "%*d %llu %*u %*d %*u %llu %llu %llu %*u %*u %*u %*u %*u %*u %*u %*u %*u "
		   "%*d %*d %*u %*u %*u %*u %*d %*u %*u %*u %*u %*u %*u %llu",
		   &ret->state, &ret->parent, &ret->group, &ret->flags, &started, &code, &end_code,
		   &stack, &env_end) < 5)
		return false;
	ret->started = started;
	ret->start_code = code;
	ret->end_code = end_code;
	ret->start_stack = stack;
	ret->env_end = env_end;
	return true;
}

int process_living_thread(int pid)
{
	_cleanup_free_ char *path = NULL;
	struct process_stat s;
	int tid, living = pid;
	struct dirent *d;
	DIR *dir;

	if (process_read_stat(pid, &s) && !process_has_ended(&s))
		return pid;
	path = sysroot_path("/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && living == pid && (d = readdir(dir))) {
		tid = atoi(d->d_name);
		if (tid > 0 && tid != pid && process_read_stat(tid, &s) && !process_has_ended(&s))
			living = tid;
	}
	if (dir)
		closedir(dir);
	return living;
}

const char *process_own_image(void)
{
	static char path[PATH_MAX];

	if (!*path && readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return "";
	return path;
}

struct own_code {
	uint64_t at;
	uint64_t *offset;
};

static int find_offset(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct own_code *code = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && code->at >= start && code->at < start + p->p_memsz) {
			*code->offset = code->at - start + p->p_offset;
			return 1;
		}
	}
	return 0;
}

bool process_own_offset(const void *code, uint64_t *offset)
{
	return dl_iterate_phdr(find_offset, &(struct own_code){ (uintptr_t)code, offset });
}

bool process_is_kernel(int pid)
{
	struct process_stat s;

	return process_read_stat(pid, &s) && s.flags & PF_KTHREAD;
}

bool process_shares_pids(int pid)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/ns/pid", pid);
	_cleanup_free_ char *own = sysroot_path("/proc/self/ns/pid");
	char a[64], b[64];
	ssize_t na = readlink(path, a, sizeof(a)), nb = readlink(own, b, sizeof(b));

	return na > 0 && na == nb && !memcmp(a, b, na);
}

int process_of_thread(int tid)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/status", tid);
	_cleanup_free_ char *status = read_file(path, NULL);
	const char *tgid = status ? strstr(status, "\nTgid:") : NULL;

	return tgid ? atoi(tgid + 6) : 0;
}

void process_end(int pidfd, bool patient)
{
	pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
	waitid(P_PIDFD, pidfd, NULL, WEXITED | (patient ? 0 : WNOHANG));
	close(pidfd);
}

char *process_status_text(int status)
{
	if (status <= 0)
		return NULL;
	if (WIFSIGNALED(status))
		return xasprintf("was ended by signal %d (%s)", WTERMSIG(status),
				 strsignal(WTERMSIG(status)));
	return xasprintf("ended with status %d", WEXITSTATUS(status));
}
