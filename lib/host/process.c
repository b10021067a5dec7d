// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/process.h"

#include "host/patience.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* linux/sched.h */
#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000
/* linux/magic.h */
#define PID_FS_MAGIC 0x50494446
/* No program is started with more; a running one may say that terabytes are its environment. */
#define MOST_ENVIRONMENT (8 << 20)

/* ---- what waits for nobody ---- */

/* The value of a line; NULL: there is none. A name with a newline in it is written as \\n. */
static const char *value(const char *status, const char *line)
{
	const char *at = strstr(status, line);

	return at ? at + strlen(line) : NULL;
}

static long number(const char *status, const char *line)
{
	const char *at = value(status, line);

	return at ? strtol(at, NULL, 10) : 0;
}

/* Real, and the one that counts. */
static bool effective(const char *status, const char *line, unsigned int *id)
{
	const char *at = value(status, line);

	return at && sscanf(at, "%*u %u", id) == 1;
}

/* Innermost last. Returns how many there are. */
static int read_pids(const char *status, int *innermost)
{
	const char *at = value(status, "\nNSpid:");
	int n = 0;
	char *end;

	for (; at && (*at == '\t' || *at == ' '); at = end, n++) {
		int pid = strtol(at, &end, 10);

		if (end == at)
			break;
		*innermost = pid;
	}
	return n;
}

/* Children of kthreadd: older kernels do not tell. */
static bool is_kernel(const char *status, int pid, const struct process_status *s)
{
	if (value(status, "\nKthread:"))
		return number(status, "\nKthread:");
	return (pid == 2 || s->parent == 2) && !value(status, "\nVmSize:") &&
	       !process_has_ended(s->state);
}

bool process_read_status(int pid, struct process_status *ret)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/status", pid);
	_cleanup_free_ char *status = read_file(path, NULL);
	const char *state = status ? value(status, "\nState:\t") : NULL;
	unsigned int user, group;

	if (!status || !effective(status, "\nUid:", &user) || !effective(status, "\nGid:", &group))
		return false;
	*ret = (struct process_status){
		.state = state ? *state : 0,
		.process = number(status, "\nTgid:"),
		.parent = number(status, "\nPPid:"),
		.group = number(status, "\nNSpgid:"),
		.user = user,
		.group_id = group,
		.inner_pid = pid,
	};
	ret->shares_pids = read_pids(status, &ret->inner_pid) == 1;
	ret->kernel = is_kernel(status, pid, ret);
	return true;
}

int process_living_thread(int pid)
{
	_cleanup_free_ char *path = NULL;
	struct process_status s;
	int tid, living = pid;
	struct dirent *d;
	DIR *dir;

	if (process_read_status(pid, &s) && !process_has_ended(s.state))
		return pid;
	path = sysroot_path("/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && living == pid && (d = readdir(dir))) {
		tid = atoi(d->d_name);
		if (tid > 0 && tid != pid && process_read_status(tid, &s) &&
		    !process_has_ended(s.state))
			living = tid;
	}
	if (dir)
		closedir(dir);
	return living;
}

int process_of_thread(int tid)
{
	struct process_status s;

	return process_read_status(tid, &s) ? s.process : 0;
}

/* Since 6.9 each process has an inode of its own, which none after it has. */
uint64_t process_identity_fd(int pidfd, int pid)
{
	struct process_stat s;
	struct statfs fs;
	struct stat st;

	if (!*sysroot && !fstatfs(pidfd, &fs) && (unsigned long)fs.f_type == PID_FS_MAGIC)
		return fstat(pidfd, &st) ? 0 : st.st_ino;
	return process_read_stat(pid, &s) ? 0 : s.started;
}

uint64_t process_identity(int pid)
{
	_cleanup_close_ int fd = *sysroot ? -1 : pidfd_open(pid, 0);

	return fd < 0 && !*sysroot ? 0 : process_identity_fd(fd, pid);
}

/* ---- what may wait ---- */

/* Of what asks for a text, or a file. */
static struct patience patience = { .ns = NSEC_PER_SEC, .max_stuck = 64 };

struct asking {
	char *path, *text;
	int fd;
};

static void read_text(void *arg)
{
	struct asking *a = arg;

	a->text = read_file(a->path, NULL);
}

static void open_path(void *arg)
{
	struct asking *a = arg;

	a->fd = open(a->path, O_PATH | O_CLOEXEC);
	if (a->fd < 0)
		a->fd = -errno;
}

static void drop_asking(void *arg)
{
	struct asking *a = arg;

	if (a->fd >= 0)
		close(a->fd);
	free(a->path);
	free(a->text);
	free(a);
}

/* Of /proc/@pid/@name, by @fn; @ret: what has become of it, and is the caller's. */
static int ask(int pid, const char *name, void (*fn)(void *arg), struct asking *ret)
{
	struct asking *a = xcalloc(1, sizeof(*a));
	int error;

	*a = (struct asking){ .path = sysroot_path("/proc/%d/%s", pid, name), .fd = -1 };
	error = patiently(&patience, pid, fn, a, drop_asking);
	if (error)
		return error;
	free(a->path);
	a->path = NULL;
	*ret = *a;
	free(a);
	return 0;
}

static bool parse_stat(const char *text, struct process_stat *ret)
{
	const char *end = text ? strrchr(text, ')') : NULL; /* the name may hold anything */
	unsigned long long started, code = 0, end_code = 0, stack = 0, env_end = 0;

	/* From the third field to the 51st. */
	if (!end ||
	    sscanf(end + 1,
		   " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
		   "%*d %*d %llu %*u %*d %*u %llu %llu %llu %*u %*u %*u %*u %*u %*u %*u "
		   "%*u %*u %*d %*d %*u %*u %*u %*u %*d %*u %*u %*u %*u %*u %*u %llu",
		   &ret->state, &ret->flags, &started, &code, &end_code, &stack, &env_end) < 3)
		return false;
	ret->started = started;
	ret->start_code = code;
	ret->end_code = end_code;
	ret->start_stack = stack;
	ret->env_end = env_end;
	return true;
}

int process_read_stat(int pid, struct process_stat *ret)
{
	_cleanup_free_ char *text = NULL;
	struct asking a = {};
	int error = 0;

	if (pid == getpid())
		text = read_file("/proc/self/stat", NULL);
	else
		error = ask(pid, "stat", read_text, &a);
	text = text ? text : a.text;
	return error ? error : parse_stat(text, ret) ? 0 : -ESRCH;
}

int process_open(int pid, const char *name)
{
	struct asking a;
	int error = ask(pid, name, open_path, &a);

	return error ? error : a.fd;
}

bool process_is_executing(const struct process_stat *s)
{
	return !s->env_end && !process_has_ended(s->state) &&
	       !(s->flags & (PF_EXITING | PF_KTHREAD));
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
	if (text && !len) {
		_cleanup_free_ char *file = sysroot_path("/proc/%d/stat", pid);
		_cleanup_free_ char *stat = read_file(file, NULL);

		if (parse_stat(stat, &s) && process_is_executing(&s))
			return RANK_NOT_YET;
	}
	return rank;
}

/* ---- this program ---- */

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

/* ---- children ---- */

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
