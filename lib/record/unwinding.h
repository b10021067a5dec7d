/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has unwind tables made for what is recorded (it unwinds no sample), by what is mapped now,
 * however long samples before it wait for names: a thread reads what perf tells of mappings as it
 * comes, since until the tables of a program that has just begun are there, its call chains go by
 * frame pointers.
 */
#ifndef SCOZ_RECORD_UNWINDING_H
#define SCOZ_RECORD_UNWINDING_H

#include "base/base.h"

#include <linux/perf_event.h>

struct unwinding;
struct unwind_maps;

/* Listens from now on. @everybody: processes that run already may be recorded, too. */
int unwinding_create(const struct unwind_maps *to, bool everybody, const char *cache_dir,
		     struct unwinding **ret, struct error *err);
int unwinding_start(struct unwinding *u, struct error *err);
/* It is recorded, as will be all that it starts; @will_exec: it is us yet, until it execs. */
void unwinding_add(struct unwinding *u, int pid, bool will_exec);
void unwinding_sampled(struct unwinding *u, int pid);
/*
 * What the recorder reads of mappings, for where there was no memory for rings of our own: NULL
 * where there was.
 */
void (*unwinding_reader(const struct unwinding *u))(const struct perf_event_header *h, void *arg);
/* Does it run code there that is in no file, as far as is known now? */
bool unwinding_in_no_file(const struct unwinding *u, int pid, uint64_t address);
/* Records that the recorder read of mappings were lost. */
void unwinding_repair(struct unwinding *u);
void unwinding_log(struct unwinding *u);
/* False: a thread hangs in a file, all must be left to it. */
bool unwinding_destroy(struct unwinding *u, double seconds);

#endif
