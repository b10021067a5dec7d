/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which ranks of parallel jobs processes are: process_rank() reads their environments, which are
 * the memory of somebody else, who may hold its lock for ever. So threads of its own ask; where one
 * waits too long for an answer, another one asks the rest. Nobody waits for either.
 */
#ifndef SCOZ_RANK_ASKER_H
#define SCOZ_RANK_ASKER_H

#include "base/base.h"

struct rank_answer {
	int pid;
	uint32_t id; /* as it was asked */
	int rank;    /* -1: it is none */
	const char *from;
};

struct rank_asker;
struct rank_asker *rank_asker_create(void);
/* A thread that hangs is waited for a second, and keeps what it needs. */
void rank_asker_destroy(struct rank_asker *a);
/* @id is the caller's, and comes back with the answer. */
void rank_asker_ask(struct rank_asker *a, int pid, uint32_t id);
/* The next answer; false: there is none so far. */
bool rank_asker_take(struct rank_asker *a, struct rank_answer *ret);
/* Waits for those that were asked, a second at most. */
void rank_asker_settle(struct rank_asker *a);

#endif
