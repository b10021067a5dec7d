/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommands of scoz: one file each, the same signature as main(). */
#ifndef SCOZ_CMDS_H
#define SCOZ_CMDS_H

#include "base/base.h"
#include "base/version.h"

#include <unistd.h>

#define DEFAULT_PROFILE	  "profile.scoz"
#define DEFAULT_RECORDING "record.scoz"
#define DEFAULT_CAUSAL	  "causal.scoz"

enum exit_code { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NOTHING = 3 };

/* Beyond the options there is one @what at most; says so and returns true where there are more. */
static inline bool more_than_one(const char *what, int argc, char **argv)
{
	if (argc - optind <= 1)
		return false;
	log_warn("one %s at most, but there is also %s", what, argv[optind + 1]);
	return true;
}

int cmd_record(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_targets(int argc, char **argv);
int cmd_waits(int argc, char **argv);
int cmd_whatif(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

#endif
