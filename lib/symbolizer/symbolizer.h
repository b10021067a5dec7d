/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbolizer: processes without rights that read what anybody may have written. One is forked
 * early (the nursery), has given up its user and its capabilities, and forks one for each file.
 * That one can compute, read what is open, and ask for more files, which are opened for it or not;
 * it cannot open anything itself, and its memory and CPU time are limited. What it makes of the
 * file comes back as a table in memory that it can change no longer, and is checked before it is
 * used. Hostile input costs it its life: the caller gets an error that names the file.
 */
#ifndef SCOZ_SYMBOLIZER_H
#define SCOZ_SYMBOLIZER_H

#include "base/base.h"

/*
 * From now on the tables of elf/table_make.h are made so, and what probe_sites.h, unwind_table.h
 * and code_loads.h tell is read so. To be called while the process has one thread, and nothing in
 * its memory that must not be copied.
 */
int symbolizer_start(struct error *err);
/* Whoever waits for it waits no longer, now or later. By any thread. */
void symbolizer_abandon(void);
/* Ends its processes, and waits for the nursery, a second at most. */
void symbolizer_stop(void);
/* Has it not even begun with a file for a second, as if it had been stopped? */
bool symbolizer_is_stuck(void);
/* Bytes that tables take which are kept in no cache: bounded, over all files. (For tests: only
 * a bound that has run out shows from outside that one was counted wrongly.) */
uint64_t symbolizer_memory(void);

#endif
