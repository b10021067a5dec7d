/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples by process and place. The table grows to a limit; then what belongs to processes that
 * have become part of a group is put together, and if that makes no room, no new place is begun.
 * Belongs to one thread.
 */
#ifndef SCOZD_PROCESS_PLACES_H
#define SCOZD_PROCESS_PLACES_H

#include "daemon/process_table.h"

struct place_counts {
	uint64_t self, total, credit;
};
#define PLACE_BINARY (1u << 31)
enum place_count { PLACE_SELF, PLACE_TOTAL, PLACE_CREDIT };

struct place_entry {
	uint32_t process, place;
	struct place_counts counts;
};

struct places;
struct places *places_create(struct process_table *p);
void places_destroy(struct places *t);
void places_count(struct places *t, uint32_t process, uint32_t place, enum place_count what,
		  uint64_t samples);
/* What was not told apart, because there were too many places in too many processes. */
uint64_t places_left_out(const struct places *t);
/* Adds all of @t to *@list of *@n, which stays sorted by process and place. */
void places_add(const struct places *t, struct place_entry **list, size_t *n);

#endif
