/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who had a tid when. What is sampled and what the scheduler did come in two queues, each in the
 * order of time, of which one lags: it may tell of a thread whose end, or whose successor, the
 * other has told already. Most records tell when their thread was born, which the kernel gives no
 * two threads of one tid; but a thread that executes a program, without being the leader of its
 * process, takes over the leader's tid and birth once that has ended.
 *
 * Pure; times are those of records, ns.
 */
#ifndef SCOZ_RECORD_THREAD_IDENTITY_H
#define SCOZ_RECORD_THREAD_IDENTITY_H

#include "base/base.h"

struct identity {
	uint32_t id;   /* RECORDING_NONE: nobody */
	uint64_t born; /* 0: not known */
	uint64_t met;  /* when it did what told of it first */
	uint64_t end;  /* 0: it has not ended */
};

/* Who has a tid, as far as is known, and who had it before. */
struct tid_history {
	struct identity now, before;
};

extern const struct tid_history tid_history_none;

/* @born: by the record; 0: it does not tell. Is somebody meant who is not known yet? */
bool tid_history_is_new(const struct tid_history *h, uint64_t born, uint64_t time);
/* Whoever is meant, if that is not somebody new. */
uint32_t tid_history_who(const struct tid_history *h, uint64_t born, uint64_t time);
/* It is @id's from now on, who did something at @time. */
void tid_history_begin(struct tid_history *h, uint32_t id, uint64_t born, uint64_t time);
/* Its birth, where that was not known. */
void tid_history_born(struct tid_history *h, uint64_t born);
/*
 * @id has ended: both queues tell. False: it had before, and has only given its tid away since, or
 * whoever had the tid before did.
 */
bool tid_history_ended(struct tid_history *h, uint32_t id, uint64_t time);

#endif
