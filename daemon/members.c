// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/members.h"
#include "host/cgroup.h"
#include "host/process.h"
#include "run/descendants.h"

struct users {
	uid_t *list;
	size_t n, cap;
};

static void add(struct users *u, uid_t uid)
{
	for (size_t i = 0; i < u->n; i++) {
		if (u->list[i] == uid)
			return;
	}
	array_reserve(u->list, u->cap, u->n + 1);
	u->list[u->n++] = uid;
}

bool members_user_of(int pid, uid_t *ret)
{
	struct process_status s;

	if (!process_read_status(pid, &s))
		return false;
	*ret = s.user;
	return true;
}

static int add_process(int pid, void *arg, struct error *err)
{
	uid_t uid;

	(void)err;
	if (members_user_of(pid, &uid))
		add(arg, uid);
	return 0;
}

static void add_with_descendants(struct users *u, const int *pids, size_t n)
{
	struct descendants d;

	for (size_t i = 0; i < n; i++)
		add_process(pids[i], u, NULL);
	descendants_of_all(pids, n, NULL, &d);
	for (size_t i = 0; i < d.n; i++)
		add_process(d.list[i].pid, u, NULL);
	descendants_free(&d);
}

bool members_users(const struct options *opt, uid_t owner, int command, uid_t **ret, size_t *n)
{
	_cleanup_free_ int *pids = xcalloc(opt->n_pids + 1, sizeof(*pids));
	struct users u = { 0 };
	size_t n_pids = 0;

	if (!options_know_members(opt))
		return false;
	if (opt->command)
		add(&u, owner);
	if (command)
		pids[n_pids++] = command;
	for (size_t i = 0; i < opt->n_pids; i++)
		pids[n_pids++] = opt->pids[i];
	add_with_descendants(&u, pids, n_pids);
	for (size_t i = 0; i < opt->n_cgroups; i++)
		cgroup_each_process(opt->cgroups[i], add_process, &u, NULL);
	*ret = u.list;
	*n = u.n;
	return true;
}
