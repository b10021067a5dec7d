/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCOZ_REPORT_TARGET_H
#define SCOZ_REPORT_TARGET_H

#include "tools/scoz/causal/model.h"

/* The target @wanted itself, or those that have it in their names. Returns an exit code. */
int report_print_targets(const struct model *m, const char *wanted, size_t width);

#endif
