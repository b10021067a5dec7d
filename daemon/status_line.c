// SPDX-License-Identifier: GPL-2.0-or-later
/* One line, however narrow the terminal: a line that wraps cannot be taken back. */
#include "base/text_fit.h"
#include "daemon/status_line.h"

#define LEAST_NAME 8

static char *compose(double elapsed_s, uint32_t windows, const char *trying, double speedup,
		     const char *best, const char *result)
{
	if (!best)
		return xasprintf("%.0f s, %u windows, trying %s at %.0f %%%s", elapsed_s, windows,
				 trying, speedup * 100, result);
	return xasprintf("%.0f s, %u windows, trying %s at %.0f %%; best: %s %s", elapsed_s,
			 windows, trying, speedup * 100, best, result);
}

/* Names give way first, then the best so far, then the end of the line. */
char *status_line(double elapsed_s, uint32_t windows, const char *trying, double speedup,
		  const char *best, const char *result, size_t cols)
{
	_cleanup_free_ char *instead = xasprintf("; %s", result);
	const char *second = best, *rest = best ? "" : instead;

	for (;; second = NULL) {
		_cleanup_free_ char *bare = compose(elapsed_s, windows, "", speedup,
						    second ? "" : NULL, second ? result : rest);
		char *names[] = { xstrdup(trying), second ? xstrdup(second) : NULL }, *line;
		size_t n = second ? 2 : 1, used = text_width(bare);
		size_t each = used < cols ? (cols - used) / n : 0;

		if (n == 2 && each < LEAST_NAME) {
			free(names[0]);
			free(names[1]);
			continue;
		}
		if (*rest && each < 2 * LEAST_NAME) {
			rest = "";
			free(names[0]);
			continue;
		}
		names_shorten(names, n, each, locale_ellipsis());
		line = compose(elapsed_s, windows, names[0], speedup, names[1],
			       second ? result : rest);
		free(names[0]);
		free(names[1]);
		return text_cut(line, cols, locale_ellipsis());
	}
}
