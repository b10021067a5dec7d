/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One target, with all that was measured of it. */
#ifndef SCOZ_REPORT_TARGET_H
#define SCOZ_REPORT_TARGET_H

#include "tools/scoz/causal/ranking.h"

/* Those that are asked for. Returns an exit code. */
int report_print_targets(const struct model *m, const struct ranking_choice *c, size_t width);
/* There is none: says so, and returns an exit code. */
int report_no_target(const struct model *m, const char *wanted);

#endif
