// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/recording/recording_args.h"

#include "tools/scoz/arguments.h"

#define MIN_PERIOD_NS 100000

int parse_period(const char *value, uint64_t *period_ns)
{
	double v;

	if (!parse_number(value, MIN_PERIOD_NS, 1e9, &v))
		return bad_argument("--period", value,
				    "a number of nanoseconds from 100000 to 1000000000 is wanted");
	*period_ns = v;
	return -1;
}

int parse_frequency(const char *value, uint64_t *period_ns)
{
	double v;

	if (!parse_number(value, 1, 1e9 / MIN_PERIOD_NS, &v))
		return bad_argument("--frequency", value,
				    "a number of samples a second from 1 to 10000 is wanted");
	*period_ns = 1e9 / v;
	return -1;
}

int parse_engine(const char *value, const char **engine)
{
	if (strcmp(value, "auto") && strcmp(value, "bpf") && strcmp(value, "kernel"))
		return bad_argument("--engine", value, "auto, bpf and kernel are known");
	*engine = value;
	return -1;
}
