// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/arguments.h"

#include "tools/scoz/cmds.h"

bool parse_number(const char *text, double min, double max, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	return end != text && !*end && *ret >= min && *ret <= max;
}

int bad_argument(const char *what, const char *value, const char *wanted)
{
	log_warn("%s %s: %s", what, value, wanted);
	return EXIT_USAGE;
}
