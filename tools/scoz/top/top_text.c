// SPDX-License-Identifier: GPL-2.0-or-later
#include <wchar.h>

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
static wchar_t next_character(const char **s)
{
	const unsigned char *p = (const unsigned char *)*s;
	size_t len = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	wchar_t c = len == 1 ? *p : *p & (0x7f >> len);

	for (size_t i = 1; i < len; i++)
		c = c << 6 | (p[i] & 0x3f);
	*s += len;
	return c;
}

static size_t columns(wchar_t c)
{
	int w = wcwidth(c);

	return w < 0 ? 1 : w;
}

static size_t width(const char *s)
{
	size_t n = 0;

	while (*s)
		n += columns(next_character(&s));
	return n;
}

static char *ascii(const char *s)
{
	char *out = xmalloc(strlen(s) + 1), *to = out;

	while (*s) {
		wchar_t c = next_character(&s);

		*to++ = c < 0x80 ? c : '?';
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
	char *text = clean(s, utf8);
	const char *p = text, *ellipsis = utf8 ? "\xe2\x80\xa6" : "~";
	size_t n = 0, cut;
	char *ret;

	if (width(text) <= cols)
		return text;
	for (cut = 0; cols && n + 1 <= cols; cut = p - text) {
		size_t w;

		p = text + cut;
		w = columns(next_character(&p));
		if (n + w > cols - 1)
			break;
		n += w;
	}
	ret = cols ? xasprintf("%.*s%s", (int)cut, text, ellipsis) : xstrdup("");
	free(text);
	return ret;
}

char *top_fit(const char *s, size_t cols, bool right, bool utf8)
{
	_cleanup_free_ char *text = top_cut(s, cols, utf8);
	int pad = cols - width(text);

	return right ? xasprintf("%*s%s", pad, "", text) : xasprintf("%s%*s", text, pad, "");
}
