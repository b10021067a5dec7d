/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sees to it that the BPF programs that unwind stacks have the unwind tables of what is sampled:
 * a thread that makes them (unwind_table_open()), and keeps what they are mapped to in each process
 * that it was told to follow.
 *
 * A process is told to the programs when the tables of all its files are there, or cannot be, and
 * told again whenever it has mapped more: until then they go by what they have, or by frame
 * pointers. Any thread may tell; none waits.
 */
#ifndef SCOZ_UNWIND_FOLLOW_H
#define SCOZ_UNWIND_FOLLOW_H

#include "maps/maps.h"
#include "unwind/kernel_tables.h"

struct unwind_follow;

/* @maps and what @to refers to must outlive it. @cache_dir: see unwind_table_open(). */
int unwind_follow_start(struct maps *maps, const struct unwind_maps *to, const char *cache_dir,
			struct unwind_follow **ret, struct error *err);
/* Waits @seconds for the thread; false: it is stuck in a file, and all must be left to it. */
bool unwind_follow_stop(struct unwind_follow *f, double seconds);

/* It was sampled: from now on it is followed. */
void unwind_follow_sampled(struct unwind_follow *f, int pid);
/* It is what the run is about, as will be all that it starts: its tables are made first. */
void unwind_follow_involved(struct unwind_follow *f, int pid);
/*
 * Are tables still to be made for somebody who is followed, or who is involved? For those, so
 * far, call chains go by frame pointers.
 */
bool unwind_follow_busy(struct unwind_follow *f, bool involved_only);
/* It has something new mapped. */
void unwind_follow_mapped(struct unwind_follow *f, int pid);
/* A child of one that is followed is followed. */
void unwind_follow_forked(struct unwind_follow *f, int parent, int child);
/* It is another program now. */
void unwind_follow_execed(struct unwind_follow *f, int pid);
void unwind_follow_exited(struct unwind_follow *f, int pid);

/*
 * The number by which the programs know a binary's table (kernel_layout.h), 0: they do not. @base:
 * the address of the file that its offsets count from. The number stays that table's: to be asked
 * of few binaries, and such as stay known to the struct maps (maps_binary_unread()).
 */
uint32_t unwind_follow_table(struct unwind_follow *f, uint32_t binary, uint64_t *base);
/* Of the chains that were walked, the share that ended in code of files with tables that have none
 * for it. */
double unwind_follow_cut(struct unwind_follow *f);
/* At the end: how many chains were walked so, and how they ended (log_info()). */
void unwind_follow_log(struct unwind_follow *f);

#endif
