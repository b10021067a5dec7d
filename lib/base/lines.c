// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/lines.h"

#include <unistd.h>

#define READ_SIZE (1u << 20)

int lines_read(const struct lines *l, int fd, bool *ends_with_newline, struct error *err)
{
	_cleanup_free_ char *buf = NULL;
	size_t cap = 0, have = 0, scanned = 0, n_lines = 0;

	for (;;) {
		size_t start = 0;
		ssize_t n;
		char *nl;

		array_reserve(buf, cap, have + READ_SIZE);
		n = read(fd, buf + have, cap - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, errno, "%s: cannot read: %s", l->path,
					 strerror(errno));
		if (n == 0)
			break;
		have += n;
		while ((nl = memchr(buf + scanned, '\n', have - scanned))) {
			int ret = l->line(buf + start, nl - buf - start, l->arg);

			n_lines++;
			if (ret)
				return ret;
			start = scanned = nl - buf + 1;
		}
		scanned = have - start;
		memmove(buf, buf + start, scanned);
		have = scanned;
		if (have > l->longest)
			return error_set(err, EINVAL,
					 "%s, line %zu: longer than %zu MiB: not a scoz %s, or a "
					 "damaged one",
					 l->path, n_lines + 1, l->longest >> 20, l->kind);
	}
	if (ends_with_newline)
		*ends_with_newline = have == 0;
	return have ? l->line(buf, have, l->arg) : 0;
}
