// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/text.h"
#include "tools/scoz/top/top_view.h"

/* 80 columns, and with the line of keys below 24 rows: what a terminal has at least. */
const char *const top_help[] = {
	"CPU%      time on a CPU, in percent of one, as in top (more than 100 if several",
	"          threads run); USR% and SYS%: of that in the program and in the kernel",
	"S I L B W what threads do off the CPU, in percent of the time of all threads of",
	"          the row (by function: of one thread's time):",
	"  S%      wants a CPU: preempted, or woken and not yet running",
	"  I%      waits for I/O",
	"  L%      waits for a lock, or until another thread has something to do",
	"  B%      waits for anything else: sleeps, polls, pipes, the network, ...",
	"  W%      waits, and why is told only when it has ended",
	"The bar   shares of the row's time: u k on a CPU, S, I, L, . for B, blank for W",
	"TOP WAIT  class, kind, function <- who ended it; ... it goes on. Of S, I and",
	"          locks that somebody held, unless there is hardly any",
	"Activity  CPU, S, I and locks that somebody held (not futex wait: most often",
	"          that is an idle worker's condition variable)",
	"",
	"p t f     processes, threads, functions     c         time of one class, or all",
	"Enter     functions of a process or thread; a function's call chain; Esc back",
	"< > s     sort by the column before, behind; r reverses",
	"i         hides what shows no activity",
	"u         functions of the program instead of the innermost ones",
	"space     freezes; afterwards the window begins anew",
	"Up Down PgUp PgDn Home End                  move the cursor",
	"h ?       this help                         q Ctrl-C  quits",
	NULL,
};

/* @s is valid UTF-8. */
static char *ascii(const char *s)
{
	char *out = xmalloc(strlen(s) + 1), *to = out;

	for (; *s; s++) {
		if ((*s & 0xc0) != 0x80)
			*to++ = *s & 0x80 ? '?' : *s;
	}
	*to = '\0';
	return out;
}

static char *clean(const char *s, bool utf8)
{
	char *text = text_clean(s, "?"), *plain;

	if (utf8)
		return text;
	plain = ascii(text);
	free(text);
	return plain;
}

char *top_cut(const char *s, size_t cols, bool utf8)
{
	return text_cut(clean(s, utf8), cols, utf8 ? ELLIPSIS : "~");
}

char *top_fit(const char *s, size_t cols, bool right, bool utf8)
{
	_cleanup_free_ char *text = top_cut(s, cols, utf8);
	int pad = cols - text_width(text);

	return right ? xasprintf("%*s%s", pad, "", text) : xasprintf("%s%*s", text, pad, "");
}
