/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that one process makes while it runs, as it tells (table/code_loads.h): what lay at an
 * address at a time. What was told last counts, as memory is used again; where times are told, what
 * was there when the address was seen.
 *
 * Each page of 4096 bytes has a list of what lies in it, in the order in which it was told; few
 * functions are large, and have a list of their own. A list that grows is cleared of what can be
 * seen no more. So a lookup looks at a page's few functions, however often more was told.
 *
 * Any thread may look up while another one adds.
 */
#ifndef SCOZ_MAPS_MADE_CODE_H
#define SCOZ_MAPS_MADE_CODE_H

#include "base/similar.h"
#include "table/code_loads.h"
#include "table/maptable.h"

struct made_code;

/* Names that were found stay as long as these, whatever becomes of the code. */
struct made_names;
struct made_names *made_names_create(void);
void made_names_destroy(struct made_names *names);

struct made_code *made_code_create(struct made_names *names);
void made_code_destroy(struct made_code *c);
/*
 * Adds what was told. False: that would be more than @most bytes, and the rest is left out. @now is
 * CLOCK_MONOTONIC: what was there long before then is not looked up any more.
 */
bool made_code_add(struct made_code *c, const struct code_loads *l, uint64_t most, uint64_t now);
/* Nothing is known any more. */
void made_code_clear(struct made_code *c);
/* Bytes that it takes. */
uint64_t made_code_memory(const struct made_code *c);
/* Another one after each change. */
uint32_t made_code_version(const struct made_code *c);

struct made_function {
	const char *name, *file; /* file: NULL: not told */
	uint32_t line;
	uint64_t since, until; /* at other times it is another one, or none, whatever was found */
};
/* @time 0: whatever was told last. False: nothing is known. */
bool made_code_find(struct made_code *c, uint64_t address, uint64_t time,
		    struct made_function *ret);
/*
 * Where the functions of that name are now (made_name_is(); NULL: all functions); to be freed.
 * -ENOENT: nowhere; -E2BIG: so many of one name lie among so many others that it would take too
 * long.
 */
int made_code_ranges(struct made_code *c, const char *name, struct addr_ranges *ret);
/* Considers the names that were told (made_name_function()). */
void made_code_near(struct made_code *c, struct similar *similar);

#endif
