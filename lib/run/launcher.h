/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What forks the command. The profiler gives up the rights that it does not use itself, but a
 * command must get those that it was called with: by exec root would regain them, and a program
 * that gains rights is not dumpable. So a process is forked while the profiler has them all, its
 * own resource limits and no descriptors, and makes the command when it is told to, as the
 * profiler's own child (CLONE_PARENT): who waits for it, signals it and gives it the terminal sees
 * no difference.
 */
#ifndef SCOZ_RUN_LAUNCHER_H
#define SCOZ_RUN_LAUNCHER_H

#include "base/base.h"

#include <sys/types.h>

/* What the command is called before it is executed. */
#define LAUNCHER_NAME "scozd-launch"

struct launcher {
	int socket;
	int process; /* pidfd of it: its number may be that of another one by now */
	const char *user;
	uid_t uid; /* who the command belongs to */
	gid_t gid;
	char **argv; /* of a kernel without local sockets: there is no such process then */
};

#define LAUNCHER_INIT ((struct launcher){ .socket = -1, .process = -1 })

/*
 * Before there are other threads, and before limits are raised or rights given up. @argv and @user
 * (NULL: as is; else it gets a session of its own, and no terminal to read from: whoever shares a
 * controlling terminal can type into it, TIOCSTI) are the launcher's to read until it is stopped.
 */
int launcher_start(struct launcher *l, char **argv, const char *user, struct error *err);
/*
 * The pid of a child of the caller that executes the command as soon as a byte can be read from
 * @gate, and ends when that is closed; if it cannot, it writes errno to @report.
 */
int launcher_fork(struct launcher *l, int gate, int report, struct error *err);
/* True: the command gets the rights of now, whatever the caller gives up afterwards. */
static inline bool launcher_runs(const struct launcher *l)
{
	return l->socket >= 0;
}
/* Commands that it has started go on. */
void launcher_stop(struct launcher *l);

#endif
