/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who belongs to what is profiled, where that was said: COMMAND, --pid, --cgroup. */
#ifndef SCOZD_MEMBERS_H
#define SCOZD_MEMBERS_H

#include "daemon/options.h"

#include <sys/types.h>

/* The effective user, by which a program finds its file of marks; false: it has ended. */
bool members_user_of(int pid, uid_t *ret);

/*
 * The users whose processes are profiled now; @owner: who the command belongs to, @command: its
 * process, 0: none yet. False: nobody was named, so everybody is.
 */
bool members_users(const struct options *opt, uid_t owner, int command, uid_t **ret, size_t *n);

#endif
