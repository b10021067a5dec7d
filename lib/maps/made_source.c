// SPDX-License-Identifier: GPL-2.0-or-later
#include "maps/made_source.h"

#include <unistd.h>

void made_source_free(struct made_source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->path);
}

static int64_t mtime_of(const struct stat *st)
{
	return st->st_mtim.tv_sec * (int64_t)NSEC_PER_SEC + st->st_mtim.tv_nsec;
}

/* The last bytes up to where the file ended when it was read last. */
static size_t read_end(const struct made_source *s, char *to)
{
	size_t n = s->seen < sizeof(s->end) ? s->seen : sizeof(s->end);
	ssize_t got = pread(s->fd, to, n, s->seen - n);

	return got > 0 ? got : 0;
}

bool made_source_is_another(const struct made_source *s, const struct stat *st)
{
	char end[sizeof(s->end)];

	if (s->dev != st->st_dev || s->ino != st->st_ino || (uint64_t)st->st_size < s->next)
		return true;
	if (mtime_of(st) == s->mtime_ns)
		return false;
	return (uint64_t)st->st_size == s->seen || read_end(s, end) != s->n_end ||
	       memcmp(end, s->end, s->n_end) != 0;
}

void made_source_note(struct made_source *s, const struct stat *st)
{
	s->dev = st->st_dev;
	s->ino = st->st_ino;
	s->mtime_ns = mtime_of(st);
	s->seen = st->st_size;
	s->n_end = read_end(s, s->end);
}
