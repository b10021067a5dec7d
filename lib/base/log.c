// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text_fit.h"

enum log_level log_level = LOG_NORMAL;
void (*_Atomic log_before)(void);

void log_msg(enum log_level level, const char *fmt, ...)
{
	_cleanup_free_ char *clean = NULL, *shown = NULL;
	void (*before)(void) = log_before;
	char line[2048];
	va_list ap;
	int n;

	if (level > log_level)
		return;
	n = snprintf(line, sizeof(line), "%s: ", program_invocation_short_name);
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - n, fmt, ap);
	va_end(ap);
	/* Names are what programs and files say they are; a terminal obeys what is written to it.
	 */
	clean = text_clean(line, "?");
	shown = locale_text(clean);
	if (before)
		before();
	fprintf(stderr, "%s\n", shown);
}
