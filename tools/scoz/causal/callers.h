/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By which calls a target is reached, over all runs of a profile. */
#ifndef SCOZ_CAUSAL_CALLERS_H
#define SCOZ_CAUSAL_CALLERS_H

#include "tools/scoz/causal/model.h"

struct call_path {
	double share_pct;	      /* of the target's samples while they were counted */
	const char *const *functions; /* the profile's: TARGET notation, innermost first */
	size_t n;
};
/* Commonest first; none where nothing but the target itself is known. To be freed: @ret. */
size_t call_paths(const struct profile *p, uint32_t target, struct call_path **ret);
/* "main → render → draw", short names; @arrow goes between. */
char *call_path_text(const struct call_path *path, const char *arrow);

#endif
