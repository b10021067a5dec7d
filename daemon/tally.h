/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sampled chains add up to: samples by place (line or function), by binary, and what could not
 * be named. A chain is looked at when the tables of all its binaries are there; until then it is
 * kept as it is, and the tables are asked for. Nothing here waits for a file or for a table.
 * Thread-safe.
 */
#ifndef SCOZD_TALLY_H
#define SCOZD_TALLY_H

#include "daemon/callers.h"
#include "daemon/chains.h"
#include "daemon/locations.h"
#include "daemon/process_places.h"
#include "daemon/polling.h"
#include "maps/maps.h"

struct tally_options {
	struct maps *maps;
	struct locations *locations;
	struct process_table *processes;
	struct polling *polling; /* learns from the chains, and tells which of them wait; or NULL */
	bool source_scope;	 /* there is one: code without lines is outside of it */
	bool scoped;		 /* so, or to certain binaries */
};

struct tally_counts {
	uint64_t unnamed;      /* ran in a function of which no name is known */
	uint64_t no_file;      /* of these: in no file, but made at run time */
	uint64_t in_kernel;    /* in the kernel, for nobody but system libraries */
	uint64_t without_line; /* where lines were asked for */
	uint64_t untold;       /* of binaries whose tables are not there, or never were in time */
	uint64_t no_room;      /* of these: not even kept until then */
};

/*
 * Samples with it innermost (self), anywhere in the chain (total), and credited to it: each sample
 * to one place at most (maps/credit.h), and to none if it is one of polling (daemon/polling.h),
 * which is what targets are chosen by.
 */
struct tally_sums {
	uint64_t self, total, credit, polled; /* polled: of total, it waited by polling */
	/*
	 * Of a location: by which other one most of its credit was called, or LOCATION_NONE, and by
	 * how much more than by all others; where no caller has half of it that is nearly nothing.
	 */
	uint32_t caller;
	uint64_t margin;
};
struct tally_binary {
	struct tally_sums sums; /* credit: to code of it of which nothing is known */
	uint64_t unnamed;	/* of self: in functions without a name */
	uint64_t untold;	/* of total: its table was not there */
};

struct tally;
struct tally *tally_create(const struct tally_options *opt);
void tally_destroy(struct tally *t);

/* Notes in each chain whose it is. */
void tally_add(struct tally *t, struct chains *chains);
/* Looks again at what was kept, if there are new tables. */
void tally_retry(struct tally *t);
/* Whatever is still kept counts as code of which nothing is known. */
void tally_give_up(struct tally *t);

void tally_counts(struct tally *t, struct tally_counts *ret);
/* By location id and by binary id; malloc'ed. */
void tally_locations(struct tally *t, struct tally_sums **ret, size_t *n);
/* The kernel's are there, but not for use as targets. */
void tally_binaries(struct tally *t, struct tally_binary **ret, size_t *n);
/* By process and place, as handlers_places() has it. */
struct place_entry *tally_places(struct tally *t, size_t *n, uint64_t *left_out);
/* From now on by which calls this target of the profile is reached, too, as callers_watch(). */
void tally_watch(struct tally *t, uint32_t id, const char *name, const struct engine_part *parts,
		 int n);
/* As callers_get(). */
bool tally_callers(struct tally *t, size_t i, struct caller_target *ret);
/* Has any sample fallen into this binary? */
bool tally_saw_binary(struct tally *t, uint32_t binary);

#endif
