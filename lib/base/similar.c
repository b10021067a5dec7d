// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A name is near when few letters differ, or when one contains the other whole ("sendmsg" in
 * "__sys_sendmsg"): the second counts a little farther than any spelling mistake.
 */
#include "base/similar.h"

#define CONTAINED 100 /* farther than all spelling mistakes */

void similar_init(struct similar *s, const char *wanted)
{
	*s = (struct similar){ .n = 0 };
	snprintf(s->wanted, sizeof(s->wanted), "%s", wanted);
}

static unsigned int smaller(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

unsigned int edit_distance(const char *a, const char *b, unsigned int limit)
{
	unsigned int row[3][SIMILAR_LONG + 1];
	size_t na = strnlen(a, SIMILAR_LONG), nb = strnlen(b, SIMILAR_LONG);

	if (na > nb + limit || nb > na + limit)
		return limit + 1;
	for (size_t j = 0; j <= nb; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		unsigned int *now = row[i % 3], *last = row[(i - 1) % 3],
			     *before = row[(i + 1) % 3];
		unsigned int least = now[0] = i;

		for (size_t j = 1; j <= nb; j++) {
			now[j] = smaller(last[j - 1] + (a[i - 1] != b[j - 1]),
					 smaller(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = smaller(now[j], before[j - 2] + 1);
			least = smaller(least, now[j]);
		}
		if (least > limit)
			return limit + 1;
	}
	return smaller(row[na % 3][nb], limit + 1);
}

static unsigned int distance(const char *wanted, const char *name)
{
	/* A third of the letters may be wrong, one of the shortest. */
	size_t n = strlen(wanted);
	unsigned int limit = n < 3 ? 1 : n / 3, d = edit_distance(wanted, name, limit);
	size_t other = strlen(name);

	if (d <= limit)
		return d;
	if (n >= 3 && strstr(name, wanted))
		return CONTAINED + smaller(other - n, 1000);
	if (other >= 4 && strstr(wanted, name))
		return CONTAINED + smaller(n - other, 1000);
	return UINT32_MAX;
}

void similar_add(struct similar *s, const char *name)
{
	unsigned int d = distance(s->wanted, name);
	size_t at;

	if (d == UINT32_MAX || (s->n == SIMILAR_NAMES && d >= s->best[s->n - 1].distance))
		return;
	for (size_t i = 0; i < s->n; i++) {
		if (!strncmp(s->best[i].name, name, SIMILAR_LONG))
			return;
	}
	if (s->n < SIMILAR_NAMES)
		s->n++;
	for (at = s->n - 1; at && s->best[at - 1].distance > d; at--)
		s->best[at] = s->best[at - 1];
	s->best[at].distance = d;
	snprintf(s->best[at].name, sizeof(s->best[at].name), "%s", name);
}

char *similar_text(const struct similar *s)
{
	char *text = xstrdup("");

	for (size_t i = 0; i < s->n; i++) {
		const char *before =
			!i ? (s->n > 1 ? "; the nearest names are " : "; the nearest name is ")
			: i + 1 < s->n ? ", "
				       : " and ";

		text_add(&text, "%s%s", before, s->best[i].name);
	}
	return text;
}
