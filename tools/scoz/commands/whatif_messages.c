// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/commands/whatif_messages.h"

#include "whatif/strangers.h"

void whatif_warn(const struct trace *t)
{
	const char *unfinished = trace_unfinished(t);

	if (t->footer.lost)
		log_warn("%s: %llu events were lost: this may be wrong; record with a larger "
			 "--ring-size",
			 t->path, (unsigned long long)t->footer.lost);
	if (unfinished)
		log_warn("%s: %s", t->path, unfinished);
}

void whatif_nothing(const struct trace *t, bool by_run_time, uint64_t visits, double strangers)
{
	if (by_run_time && !strcmp(t->header.scope, "all"))
		log_warn("%s: neither a progress point is in it, nor which of all threads is the "
			 "command's: record with --progress, or without -a",
			 t->path);
	else if (by_run_time)
		log_warn("%s: neither a progress point nor the end of a command is in it: record "
			 "with "
			 "--progress",
			 t->path);
	else if (strangers > STRANGERS_MOST)
		log_warn("%s: %.0f %% of the visits of the progress point are by who was not "
			 "recorded (other programs, the kernel, interrupts): record these, too, "
			 "with --pid or -a, or name whose visits count (syscall:NAME:COMM)",
			 t->path, 100 * strangers);
	else
		log_warn("%s: the progress point was reached %llu times, which is too few: record "
			 "for "
			 "longer",
			 t->path, (unsigned long long)visits);
}
