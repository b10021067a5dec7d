/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profiled command: started behind a gate, so that it can be marked as profiled before its
 * first instruction; over when it and everything it has left behind have ended.
 */
#ifndef SCOZ_RUN_COMMAND_H
#define SCOZ_RUN_COMMAND_H

#include "base/base.h"

struct command {
	int pid;	  /* 0: none running */
	int gate;	  /* pipe that holds it back */
	int report;	  /* exec errors come back here */
	int status;	  /* wait status of the command itself; -1 while it runs */
	int ignore;	  /* a child that is not the command's (the guardian) */
	bool foreground;  /* it was given the terminal */
	bool interrupted; /* it died of a Ctrl-C at the terminal */
};

/* @user NULL: as is. The command waits until command_release(). */
int command_spawn(struct command *c, char **argv, const char *user, struct error *err);
/* Lets it run; fails when it could not be executed (-ENOENT and the like). */
int command_release(struct command *c, char **argv, struct error *err);
/* Collects ended children; true as long as the command or an orphan of it runs. */
bool command_running(struct command *c);
/* SIGTERM to its process group, SIGKILL after @grace_s. */
void command_terminate(struct command *c, double grace_s);

#endif
