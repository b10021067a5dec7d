/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a worker asked for before it told which debug files there are, and what it got. It computes,
 * and sees nothing else: as long as the same questions have the same answers it would tell the
 * same. So it need not be started, which costs more than to have a table from the cache.
 *
 * Noted beside the table, by who answers; what workers say is not.
 */
#ifndef SCOZ_SYMBOLIZER_ASKED_H
#define SCOZ_SYMBOLIZER_ASKED_H

#include "base/base.h"

#include <sys/stat.h>

struct asked {
	char **answer; /* a line each */
	size_t n, cap;
	bool lost; /* something cannot be noted */
};

/* @fd: a descriptor, whose file @st tells of, or a negative errno. */
void asked_note(struct asked *a, const char *path, int fd, const struct stat *st);
/* @work: what the worker was told, hashed. @fingerprint: what it told. */
void asked_keep(const struct asked *a, const char *cache, uint64_t work, uint64_t fingerprint);
/* Asks again, by file_open_partner(). False: a worker is needed. */
bool asked_before(const char *cache, uint64_t work, const char *root, uid_t owner,
		  uint64_t *fingerprint);
void asked_free(struct asked *a);

#endif
