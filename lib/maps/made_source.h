/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file in which a process tells of code that it makes: how far it has been read. */
#ifndef SCOZ_MAPS_MADE_SOURCE_H
#define SCOZ_MAPS_MADE_SOURCE_H

#include "base/base.h"

#include <sys/stat.h>

struct made_source {
	int fd; /* held: the process may end before the last of it is read; -1: none */
	dev_t dev;
	ino_t ino;
	int64_t mtime_ns;
	uint64_t seen; /* its size when it was read last */
	uint64_t next; /* what has been read of it ends there */
	char end[64];  /* the last bytes of what was there then */
	size_t n_end;
	char *path;
	uint32_t failures; /* since a piece could be read */
	bool more;	   /* than one piece takes */
	bool over;	   /* it cannot be read on */
};

void made_source_free(struct made_source *s);
/* What @st tells of is about to be read. */
void made_source_note(struct made_source *s, const struct stat *st);
/* Written anew: not what has been read so far. */
bool made_source_is_another(const struct made_source *s, const struct stat *st);

#endif
