// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/descendants.h"
#include "host/process.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <unistd.h>

static bool read_process(int pid, struct descendant *ret)
{
	struct process_status s;

	if (!process_read_status(pid, &s))
		return false;
	*ret = (struct descendant){
		.pid = pid, .state = s.state, .parent = s.parent, .group = s.group
	};
	return true;
}

static int by_pid(const void *a, const void *b)
{
	const struct descendant *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void read_all(struct descendants *all)
{
	_cleanup_free_ char *path = sysroot_path("/proc");
	DIR *dir = opendir(path);
	struct dirent *entry;
	size_t cap = 0;

	*all = (struct descendants){};
	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		array_reserve(all->list, cap, all->n + 1);
		all->n += read_process(atoi(entry->d_name), &all->list[all->n]);
	}
	if (dir)
		closedir(dir);
	if (all->n)
		qsort(all->list, all->n, sizeof(*all->list), by_pid);
}

static const struct descendant *find(const struct descendants *d, int pid)
{
	const struct descendant key = { .pid = pid };

	return d->n ? bsearch(&key, d->list, d->n, sizeof(key), by_pid) : NULL;
}

static bool excepted(const struct descendants *except, int pid)
{
	const struct descendant *e = except ? find(except, pid) : NULL;

	/* Who could not be told from others is spared. */
	return e && (!e->identity || e->identity == process_identity(pid));
}

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct roots {
	int *list; /* sorted */
	size_t n;
};

static bool is_root(const struct roots *r, int pid)
{
	return bsearch(&pid, r->list, r->n, sizeof(pid), by_number);
}

/* The way up from @p leads to a root, and meets nobody who is excepted. */
static bool descends(const struct descendants *all, const struct roots *roots,
		     const struct descendants *except, const struct descendant *p)
{
	size_t steps = 0; /* lines of descent that were read while they changed may form a ring */

	for (; p && steps < all->n && !excepted(except, p->pid); steps++) {
		if (is_root(roots, p->parent))
			return true;
		p = find(all, p->parent);
	}
	return false;
}

/* As @pid is now, who may be another one by now; false: he lives no more, or is none of them. */
static bool identify(const struct descendants *all, const struct roots *roots,
		     const struct descendants *except, int pid, struct descendant *ret)
{
	uint64_t before = process_identity(pid);

	if (!read_process(pid, ret) || process_identity(pid) != before)
		return false;
	ret->identity = before;
	return !process_has_ended(ret->state) && descends(all, roots, except, ret);
}

void descendants_of_all(const int *roots, size_t n_roots, const struct descendants *except,
			struct descendants *ret)
{
	_cleanup_free_ int *sorted = xcalloc(n_roots + 1, sizeof(*sorted));
	const struct roots r = { sorted, n_roots };
	struct descendants all;
	size_t cap = 0;

	*ret = (struct descendants){};
	if (!n_roots)
		return;
	memcpy(sorted, roots, n_roots * sizeof(*sorted));
	qsort(sorted, n_roots, sizeof(*sorted), by_number);
	read_all(&all);
	for (size_t i = 0; i < all.n; i++) {
		const struct descendant *p = &all.list[i];

		if (process_has_ended(p->state) || !descends(&all, &r, except, p))
			continue;
		array_reserve(ret->list, cap, ret->n + 1);
		ret->n += identify(&all, &r, except, p->pid, &ret->list[ret->n]);
	}
	descendants_free(&all);
}

void descendants_find(const struct descendants *except, struct descendants *ret)
{
	int root = getpid();

	descendants_of_all(&root, 1, except, ret);
}

static bool any_child_of(const char *thread, const struct descendants *except, bool *listed)
{
	_cleanup_free_ char *path = sysroot_path("/proc/self/task/%s/children", thread);
	_cleanup_free_ char *text = read_file(path, NULL);

	*listed |= text != NULL;
	for (char *at = text, *end; at; at = end) {
		int pid = strtol(at, &end, 10);

		if (end == at)
			break;
		if (!excepted(except, pid))
			return true;
	}
	return false;
}

int descendants_any_child(const struct descendants *except)
{
	_cleanup_free_ char *path = sysroot_path("/proc/self/task");
	DIR *dir = opendir(path);
	bool any = false, listed = false;
	struct dirent *entry;

	while (dir && !any && (entry = readdir(dir)))
		any = entry->d_name[0] != '.' && any_child_of(entry->d_name, except, &listed);
	if (dir)
		closedir(dir);
	return any ? 1 : listed ? 0 : -ENOENT;
}

void descendants_free(struct descendants *d)
{
	free(d->list);
	*d = (struct descendants){};
}

static bool is_taken(const struct processes_taken *t, int pid)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->pids[i] == pid)
			return true;
	}
	return false;
}

static int take(struct processes_taken *t, int pid, struct error *err)
{
	int ret = t->take(pid, t->arg, err);

	if (!ret) {
		array_reserve(t->pids, t->cap, t->n + 1);
		t->pids[t->n++] = pid;
	}
	return ret;
}

int processes_take(int pid, void *taken, struct error *err)
{
	int ret = is_taken(taken, pid) ? 0 : take(taken, pid, err);

	return ret == -ESRCH ? 0 : ret;
}

int processes_take_tree(struct processes_taken *t, int root, struct error *err)
{
	return processes_take_trees(t, &root, 1, err);
}

int processes_take_trees(struct processes_taken *t, const int *roots, size_t n, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		ret = is_taken(t, roots[i]) ? 0 : take(t, roots[i], err);
	for (size_t before = 0, lists = 0; !ret && t->n > before && lists < PROCESSES_LISTS;
	     lists++) {
		struct descendants d;

		before = t->n;
		descendants_of_all(roots, n, NULL, &d);
		for (size_t i = 0; i < d.n && !ret; i++)
			ret = processes_take(d.list[i].pid, t, err);
		descendants_free(&d);
	}
	return ret;
}

int descendant_signal(const struct descendant *d, int sig)
{
	_cleanup_close_ int fd = pidfd_open(d->pid, 0);

	if (fd < 0)
		return -errno;
	/* The descriptor is of whoever has the number now. */
	if (!d->identity || process_identity_fd(fd, d->pid) != d->identity)
		return -ESRCH;
	return pidfd_send_signal(fd, sig, NULL, 0) ? -errno : 0;
}
