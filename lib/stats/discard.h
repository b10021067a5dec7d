/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a window counts for nothing. Files have the names: other versions have others. */
#ifndef SCOZ_STATS_DISCARD_H
#define SCOZ_STATS_DISCARD_H

#include "base/base.h"

enum discard {
	KEPT,
	DISCARD_LOST,	    /* samples, or records of what is mapped where */
	DISCARD_STALLED,    /* the lease lapsed: nobody was stopped */
	DISCARD_CAPPED,	    /* cores would have stood still too long */
	DISCARD_CLOCK,	    /* a counter went backwards */
	DISCARD_FEW_VISITS, /* of no progress point */
	DISCARD_TRUTH,	    /* the file of --truth could not be written */
	DISCARD_COMMAND,    /* it failed */
	DISCARD_UNSETTLED,  /* the program had not settled when windows began */
	DISCARD_BURSTS,	    /* too short for the pauses between visits */
	DISCARD_LEDGER,	    /* the accounts of the run contradict each other */
	DISCARD_CONTROL,    /* all was stopped, to see what the program goes by (stretch.h) */
	DISCARD_TORN,	    /* a latency was just being counted (marks.h, daemon/points.h) */
	DISCARD_STEAL,	    /* by earlier versions, as is the next one */
	DISCARD_NO_HITS,
	DISCARD_OTHER, /* this version does not know it: the file has its name */
	DISCARDS
};

/* As in files; NULL: KEPT, DISCARD_OTHER. */
const char *discard_name(enum discard why);
/* NULL: KEPT. */
enum discard discard_by_name(const char *name);
/* What the user can do about it; NULL: nothing is known. */
const char *discard_remedy(enum discard why);

#endif
