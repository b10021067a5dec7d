/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the replay of the beginning (prior.h) makes expect: waited for, told, put into the profile.
 */
#ifndef SCOZD_EXPECT_H
#define SCOZD_EXPECT_H

#include "daemon/session.h"
#include "profile/beside.h"

/*
 * Progress is being made: records until there is enough, and waits for the replay, some seconds at
 * most. Once; false when the run is over.
 */
bool expect_record(struct session *s);
/* From now on, @pid, 0: what the options name; marks are not counted by programs meanwhile. */
void expect_begin(struct session *s, int pid);
/* It is enough, or the command has ended and may be run again: marks are counted by programs. */
void expect_conclude(struct session *s);
/* As session_sleep(), with expect_poll(): a recording may end early. */
bool expect_sleep(struct session *s, double seconds);
/* As the profile has it, of this run alone; arrays to be freed. */
void expect_beside(const struct session *s, struct beside *b);
/* Takes what has come since. Between windows. */
void expect_poll(struct session *s);
/* The run, or what of it can be recorded, is over: what was recorded is replayed now. */
void expect_end(struct session *s);

#endif
