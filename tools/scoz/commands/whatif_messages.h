/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scoz whatif: what is wrong with the recording, and why nothing can be concluded from it. */
#ifndef SCOZ_WHATIF_MESSAGES_H
#define SCOZ_WHATIF_MESSAGES_H

#include "trace/trace.h"

void whatif_warn(const struct trace *t);
void whatif_nothing(const struct trace *t, bool by_run_time, uint64_t visits, double strangers);

#endif
