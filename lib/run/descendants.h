/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes that descend from one, whatever session or process group they went to. */
#ifndef SCOZ_RUN_DESCENDANTS_H
#define SCOZ_RUN_DESCENDANTS_H

#include "base/base.h"

struct descendant {
	int pid, parent, group;
	char state;	   /* as in /proc/PID/status */
	uint64_t identity; /* process_identity() */
};

struct descendants {
	struct descendant *list; /* by pid */
	size_t n;
};

/*
 * All of these @roots' that live now, but neither zombies nor those in @except (NULL: none) and
 * what descends from them. All processes are looked at once. Orphans are found when this process is
 * a subreaper. Free with descendants_free().
 */
void descendants_of_all(const int *roots, size_t n_roots, const struct descendants *except,
			struct descendants *ret);
/* ... of this process. */
void descendants_find(const struct descendants *except, struct descendants *ret);
/*
 * Has this process a child that is not in @except? Looks at its children only, so that it can be
 * asked often; 0 may be wrong where others end just then. -ENOENT: this kernel lists no children.
 */
int descendants_any_child(const struct descendants *except);
void descendants_free(struct descendants *d);

#define PROCESSES_LISTS 4 /* where some are made all the time there is always one that is new */

/* Processes that take() was called for, each once; begins with the others 0. Free pids. */
struct processes_taken {
	int (*take)(int pid, void *arg, struct error *err);
	void *arg;
	int *pids;
	size_t n, cap;
};
/* @taken: a struct processes_taken. Whoever has ended (-ESRCH) is no error. */
int processes_take(int pid, void *taken, struct error *err);
/*
 * @root, which must be there, and what descends from it, by several lists: what one had started
 * after a list was made, and before it was taken, is in the next one. take() sees to what is
 * started after it.
 */
int processes_take_tree(struct processes_taken *t, int root, struct error *err);
/* ... of several, by as many lists. */
int processes_take_trees(struct processes_taken *t, const int *roots, size_t n, struct error *err);

/* Sends @sig to that very process, never to another that got its number. 0 or -errno. */
int descendant_signal(const struct descendant *d, int sig);

#endif
