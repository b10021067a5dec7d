/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The measured distributions of latency points. */
#ifndef SCOZ_LATENCY_H
#define SCOZ_LATENCY_H

#include "tools/scoz/causal/model.h"

/* For each progress point of @p; malloc'ed. */
struct model_latency *latency_of(const struct profile *p);
/* "p50 1.2 ms, p90 ..., 4711 measured"; NULL for a progress point that is no latency. */
char *model_latency_text(const struct model *m, size_t progress);

#endif
