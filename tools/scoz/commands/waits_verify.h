/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scoz waits --verify: what experiments say of the heaviest waits. */
#ifndef SCOZ_WAITS_VERIFY_H
#define SCOZ_WAITS_VERIFY_H

#include "waits/recorded.h"

#define VERIFY_LINES 5 /* waits, unless told otherwise */

struct verify_options {
	const char *progress; /* [NAME=]POINT; NULL: the recording's first one */
	bool end_to_end;
	double duration_s; /* 0: by the number of targets */
	const char *user, *output;
	char **command; /* NULL: what runs already */
	size_t lines;
};

/* @edges: between groups of @r, the heaviest first. Returns an exit code. */
int waits_verify(const struct waits_recorded *r, const struct waits_edge *edges, size_t n,
		 const struct verify_options *o);

#endif
