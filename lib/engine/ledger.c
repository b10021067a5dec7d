// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine/ledger.h"

#include "account/account.h"

/* Clocks of two cores differ, and a stop overshoots, by less than this. */
#define SLACK_NS (50 * (int64_t)NSEC_PER_MSEC)

static int wrong(struct error *err, const char *what)
{
	return error_set(err, EBADE,
			 "the ledger of inserted delay cannot be: %s; nothing is concluded from "
			 "this run. This is a defect of scoz: please report it, with the profile",
			 what);
}

int ledger_check_core(const struct scoz_core *c, int cpu, const struct ledger_sums *sums,
		      struct error *err)
{
	int64_t inserted = sums->delay + sums->waived, owed = scoz_debt(sums->delay, c);
	char what[160] = "";

	if (c->absorbed != c->own + c->stopped + c->excused + c->overhead)
		snprintf(what, sizeof(what),
			 "CPU %d absorbed %.3f s, but the parts of it are %.3f s", cpu,
			 c->absorbed / 1e9, (c->own + c->stopped + c->excused + c->overhead) / 1e9);
	else if (c->stopped < 0 || c->stopped > (int64_t)sums->elapsed_ns + SLACK_NS)
		snprintf(what, sizeof(what), "CPU %d was stopped for %.3f of %.3f s", cpu,
			 c->stopped / 1e9, sums->elapsed_ns / 1e9);
	else if (c->own < 0 || c->own > inserted + SLACK_NS)
		snprintf(what, sizeof(what), "CPU %d saved %.3f s, but %.3f s were inserted", cpu,
			 c->own / 1e9, inserted / 1e9);
	else if (owed > SCOZ_TIMES_PAID * (inserted + SLACK_NS) ||
		 owed < -(int64_t)sums->elapsed_ns - SLACK_NS)
		snprintf(what, sizeof(what), "CPU %d owes %.3f s, but %.3f s were inserted", cpu,
			 owed / 1e9, inserted / 1e9);
	return what[0] ? wrong(err, what) : 0;
}

int ledger_check_sums(const struct ledger_sums *sums, int64_t stopped, int cores, struct error *err)
{
	int64_t inserted = sums->delay + sums->waived;
	char what[160];

	if (inserted != sums->own) {
		snprintf(what, sizeof(what), "hits saved %.6f s, but %.6f s were inserted",
			 sums->own / 1e9, inserted / 1e9);
		return wrong(err, what);
	}
	if (stopped <= SCOZ_TIMES_PAID * inserted * cores + SLACK_NS * cores)
		return 0;
	return error_set(
		err, EBADE,
		"%.1f s were inserted, but %d CPUs stood still for %.1f s for it: many tasks that "
		"wait for devices or timers brought their debts to the same CPUs, or an account "
		"went "
		"wrong; nothing is concluded from this run. Profile with fewer such tasks, on more "
		"CPUs, or with engine kernel, which holds tasks back (docs/kernel.md)",
		inserted / 1e9, cores, stopped / 1e9);
}
