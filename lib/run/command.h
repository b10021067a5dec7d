/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profiled command: started behind a gate, so that it can be marked as profiled before its
 * first instruction; over when it and everything it has left behind have ended.
 */
#ifndef SCOZ_RUN_COMMAND_H
#define SCOZ_RUN_COMMAND_H

#include "run/descendants.h"
#include "run/launcher.h"

#include <stdatomic.h>

struct command_others;

struct command {
	int pid;		       /* 0: none running */
	int gate;		       /* pipe that holds it back */
	int report;		       /* exec errors come back here */
	int status;		       /* wait status of the command itself; -1 while it runs */
	bool foreground;	       /* it has been given the terminal */
	bool terminal;		       /* it had it at first */
	bool interrupted;	       /* it died of a Ctrl-C at the terminal */
	struct command_others *others; /* descended from us before the command was started */
	uint64_t looked_ns;	       /* at all processes, for what it has left behind */
};

/* The command waits until command_release(). @launcher: what forks it (run/launcher.h). */
int command_spawn(struct command *c, struct launcher *launcher, struct error *err);
/* Lets it run; fails when it could not be executed (-ENOENT and the like). */
int command_release(struct command *c, char **argv, struct error *err);
/* Collects ended children; true as long as the command or an orphan of it runs. */
bool command_running(struct command *c);
/*
 * Ends the command and everything that descends from it, also what has left its process group or
 * session: SIGTERM, and SIGKILL to what is left after @grace_s, or as soon as *@at_once (NULL:
 * never) is set.
 */
void command_terminate(struct command *c, double grace_s, const atomic_bool *at_once);
/*
 * The same (with @grace_s 0 by SIGKILL alone), but collects nothing: another thread may be in any
 * of the above. Where there is no memory its process group gets SIGTERM, and no more.
 */
void command_kill(const struct command *c, double grace_s);

#endif
