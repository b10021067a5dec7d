// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/subject.h"

#include "base/base.h"

#include <string.h>

static void add_chosen(char **text, const char *argument)
{
	static const char *const kinds[] = { "pid", "cgroup" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t n = strlen(kinds[i]);

		if (!strncmp(argument, "--", 2) && !strncmp(argument + 2, kinds[i], n) &&
		    argument[n + 2] == '=')
			text_add(text, "%s%s %s", *text ? ", " : "", kinds[i], argument + n + 3);
	}
}

char *profile_subject(const struct profile_header *h)
{
	char *text = NULL;

	if (*h->command)
		return xstrdup(h->command);
	for (size_t i = 0; i < h->n_arguments; i++)
		add_chosen(&text, h->arguments[i]);
	return text ? text : xstrdup("the whole system");
}
