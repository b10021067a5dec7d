// SPDX-License-Identifier: GPL-2.0-or-later
#include "maps/made_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define TIERS "*^~+'`" /* V8's marks, from optimised to interpreted */

/* After the kind ("JS:", "LazyCompile:", "RegExp:") and the tier; NULL: it is not V8's. */
static const char *after_tier(const char *name)
{
	const char *p = name;

	while (isalpha((unsigned char)*p))
		p++;
	if (p == name || *p++ != ':')
		return NULL;
	if (*p == ':') /* a scope of C++'s, or Python's */
		return NULL;
	return *p && strchr(TIERS, *p) ? p + 1 : p;
}

static void copy(char *ret, size_t size, const char *from, size_t n)
{
	snprintf(ret, size, "%.*s", (int)n, from);
}

void made_name_function(const char *told, char *ret, size_t size)
{
	const char *v8 = after_tier(told), *open = strchr(told, '('), *begin;

	if (!strncmp(told, "py::", 4)) {
		copy(ret, size, told + 4, strcspn(told + 4, ":"));
	} else if (v8) {
		copy(ret, size, v8, strcspn(v8, " "));
	} else if (open && open != told) {
		for (begin = open; begin > told && begin[-1] != ' '; begin--)
			;
		copy(ret, size, begin, open - begin);
	} else {
		copy(ret, size, told, strlen(told));
	}
}

const char *made_name_plain(const char *told)
{
	const char *v8 = after_tier(told);

	return v8 && *v8 && *v8 != ' ' ? v8 : told;
}

static bool ends_in(const char *function, const char *wanted)
{
	size_t n = strlen(function), w = strlen(wanted);

	return n > w && w && !strcmp(function + n - w, wanted) &&
	       (function[n - w - 1] == '.' || function[n - w - 1] == ':');
}

bool made_name_is(const char *told, const char *wanted)
{
	const char *plain = made_name_plain(wanted);
	char function[MADE_NAME_MAX];

	if (!strstr(told, plain)) /* nearly all: a program tells hundreds of thousands */
		return false;
	if (!strcmp(made_name_plain(told), plain))
		return true;
	made_name_function(told, function, sizeof(function));
	return !strcmp(function, wanted) || ends_in(function, wanted);
}
