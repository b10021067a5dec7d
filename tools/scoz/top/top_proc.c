// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/top/top_proc.h"

#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/wait_kinds.h"
#include "host/patience.h"
#include "host/process.h"
#include "run/descendants.h"

#define SILENT_NS  (100 * NSEC_PER_MSEC)
#define MAX_LOOKS  1000 /* threads that are looked at each time, about 20 us each */
#define MAX_FRAMES 32

static void seed_process(struct top_model *m, int pid)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/task", pid);
	_cleanup_free_ char *name = task_comm(pid);
	DIR *dir = opendir(path);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		_cleanup_free_ char *file = NULL, *comm = NULL;
		int tid = atoi(d->d_name);

		if (tid <= 0)
			continue;
		file = sysroot_path("/proc/%d/task/%d/comm", pid, tid);
		comm = read_first_line(file);
		if (comm)
			top_model_seed(m, pid, tid, comm);
	}
	if (dir)
		closedir(dir);
	if (name)
		top_model_name(m, pid, name);
}

void top_proc_seed(struct top_model *m, const int *pids, size_t n_pids)
{
	_cleanup_free_ char *path = sysroot_path("/proc");
	DIR *dir = n_pids ? NULL : opendir(path);
	struct descendants started;
	struct dirent *d;

	descendants_of_all(pids, n_pids, NULL, &started);
	for (size_t i = 0; i < n_pids; i++)
		seed_process(m, pids[i]);
	for (size_t i = 0; i < started.n; i++)
		seed_process(m, started.list[i].pid);
	descendants_free(&started);
	while (dir && (d = readdir(dir))) {
		int pid = atoi(d->d_name);

		if (pid > 0 && pid != getpid())
			seed_process(m, pid);
	}
	if (dir)
		closedir(dir);
}

bool top_proc_alive(int pid, int tid, void *arg)
{
	(void)arg;
	return !syscall(SYS_tgkill, pid, tid, 0) || errno != ESRCH;
}

/* "[<0>] futex_wait_queue+0x62/0x90": cut in place, at most @max names. */
static size_t split_stack(char *text, const char **names, size_t max)
{
	size_t n = 0;
	char *save;

	for (char *line = strtok_r(text, "\n", &save); line && n < max;
	     line = strtok_r(NULL, "\n", &save)) {
		char *name = strstr(line, "] ");

		if (!name)
			continue;
		name += 2;
		name[strcspn(name, "+. ")] = '\0';
		names[n++] = name;
	}
	return n;
}

static bool is_storage(const char *kind)
{
	return !strcmp(kind, "disk") || !strcmp(kind, "page cache") || !strcmp(kind, "journal");
}

enum top_class top_proc_class(const char *stack, char state, const char **kind, char *function,
			      size_t size)
{
	_cleanup_free_ char *text = xstrdup(stack);
	const char *names[MAX_FRAMES];
	enum record_class class = RECORD_OTHER;
	size_t n = split_stack(text, names, MAX_FRAMES);

	*kind = NULL;
	snprintf(function, size, "%s", n ? names[0] : "");
	if (state == 'R')
		return TOP_SCHED;
	if (state == 'T' || state == 't') {
		*kind = "stopped";
		return TOP_OTHER;
	}
	*kind = record_wait_kind(names, n, &class);
	/* Functions of some locks are not in this list, and those wait uninterruptibly. */
	if (!*kind)
		return n && state != 'D' ? TOP_OTHER : TOP_OPEN;
	if (class == RECORD_LOCK)
		return TOP_LOCK;
	return state == 'D' && is_storage(*kind) ? TOP_IO : TOP_OTHER;
}

/* What it waits in: who is asked for that may have to wait for it (host/patience.h). */
struct look {
	int pid, tid;
	char *stack;
};

static void read_stack(void *arg)
{
	struct look *l = arg;
	_cleanup_free_ char *path = sysroot_path("/proc/%d/task/%d/stack", l->pid, l->tid);

	l->stack = read_file(path, NULL);
}

static void drop_look(void *arg)
{
	struct look *l = arg;

	free(l->stack);
	free(l);
}

static void explain(struct top_model *m, const struct top_waiting *w, const char *stack)
{
	struct process_status s;
	enum top_class class;
	char function[64];
	const char *kind;

	if (!process_read_status(w->tid, &s))
		return;
	class = top_proc_class(stack ? stack : "", s.state, &kind, function, sizeof(function));
	top_model_explain(m, w->thread, class, kind, *function ? function : NULL);
}

static void explain_all(struct top_model *m, const struct top_waiting *list, size_t n)
{
	static struct patience patience = { .ns = NSEC_PER_SEC, .max_stuck = 64 };
	static int pids[MAX_LOOKS], ret[MAX_LOOKS];
	static void *looks[MAX_LOOKS];

	for (size_t i = 0; i < n; i++) {
		struct look *l = xcalloc(1, sizeof(*l));

		l->pid = pids[i] = list[i].pid;
		l->tid = list[i].tid;
		looks[i] = l;
	}
	patiently_all(&patience, pids, n, read_stack, NULL, looks, drop_look, ret);
	for (size_t i = 0; i < n; i++) {
		struct look *l = ret[i] ? NULL : looks[i];

		explain(m, &list[i], l ? l->stack : NULL);
		if (l)
			drop_look(l);
	}
}

void top_proc_explain(struct top_model *m, bool all)
{
	static struct top_waiting list[MAX_LOOKS];
	size_t n;

	do {
		n = top_model_waiting(m, SILENT_NS, list, MAX_LOOKS);
		explain_all(m, list, n);
	} while (all && n == MAX_LOOKS);
}
