/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What must hold of every ledger, whatever was profiled; pure, so that it can be tested. */
#ifndef SCOZ_ENGINE_LEDGER_H
#define SCOZ_ENGINE_LEDGER_H

#include "base/base.h"
#include <linux/scoz.h>

struct ledger_sums {
	int64_t delay, waived; /* of the whole machine */
	int64_t own;	       /* of all its cores */
	uint64_t elapsed_ns;
};

/* 0, or -EBADE and what is wrong with core @cpu. */
int ledger_check_core(const struct scoz_core *c, int cpu, const struct ledger_sums *sums,
		      struct error *err);
/* The same of the machine, whose @cores were stopped for @stopped in all. */
int ledger_check_sums(const struct ledger_sums *sums, int64_t stopped, int cores,
		      struct error *err);

#endif
