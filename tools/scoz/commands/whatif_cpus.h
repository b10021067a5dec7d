/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scoz whatif --cpus: what more CPUs would bring, by a causal recording. */
#ifndef SCOZ_COMMANDS_WHATIF_CPUS_H
#define SCOZ_COMMANDS_WHATIF_CPUS_H

#include "trace/trace.h"

#define WHATIF_MOST_CPUS 8 /* that are asked for at once */

struct whatif_cpus {
	struct {
		uint32_t n;
		bool more; /* than there are, else in all */
	} asked[WHATIF_MOST_CPUS];
	size_t n;
};

bool whatif_parse_cpus(const char *text, struct whatif_cpus *ret);
/* EXIT_* */
int whatif_more_cpus(const struct trace *t, uint32_t point, const struct whatif_cpus *c);

#endif
