/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reader and writer of profile.scoz share, inside lib/profile only. */
#ifndef SCOZ_PROFILE_FORMAT_H
#define SCOZ_PROFILE_FORMAT_H

#include "profile/profile.h"

#define PROFILE_FORMAT "scoz-profile"
/* Every header line begins so: a half one at the end of a file can be told from garbage. */
#define PROFILE_HEADER_START "{\"type\":\"header\",\"format\":\"" PROFILE_FORMAT "\""
#define PROFILE_MAX_LINE     (16u << 20)

/* As profile_read(), from the current offset of @fd. @ends_with_newline may be NULL. */
int profile_read_fd(int fd, const char *path, bool *ends_with_newline, struct profile **ret,
		    struct error *err);

/* What a file holds is not to be trusted with a terminal: no control characters in messages. */
void profile_error_clean(struct error *err);

static inline const char *progress_kind_name(enum progress_kind kind)
{
	return kind == PROGRESS_LATENCY ? "latency" : "throughput";
}

#endif
