/* SPDX-License-Identifier: GPL-2.0-or-later */
/* About the run of a causal profile, as text: how it was made, how precise it is, what it warns of.
 */
#ifndef SCOZ_REPORT_RUN_H
#define SCOZ_REPORT_RUN_H

#include "tools/scoz/causal/model.h"

/* On stdout; sentences are broken at @width columns. */
void report_print_run(const struct model *m, size_t width);

#endif
