/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc tells of threads that the recorder has not heard of yet, or not for long. */
#ifndef SCOZ_TOP_PROC_H
#define SCOZ_TOP_PROC_H

#include "tools/scoz/top/top_model.h"

/*
 * All threads of @pids and what they have started, or of all processes but this one if there are
 * none.
 */
void top_proc_seed(struct top_model *m, const int *pids, size_t n_pids);
bool top_proc_alive(int pid, int tid, void *arg);
/*
 * Looks at threads whose wait goes on, and tells the model what they wait for; at a thousand at
 * most, unless at @all.
 */
void top_proc_explain(struct top_model *m, bool all);

/*
 * Class and kind from the text of /proc/PID/stack and the state in /proc/PID/status; @function: the
 * innermost one. TOP_OPEN: it cannot be told.
 */
enum top_class top_proc_class(const char *stack, char state, const char **kind, char *function,
			      size_t size);

#endif
