/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of the commands that record: scoz record and scoz top. */
#ifndef SCOZ_RECORDING_ARGS_H
#define SCOZ_RECORDING_ARGS_H

#include "base/base.h"

/* --period, --frequency, --engine: -1 when understood, else an exit status. */
int parse_period(const char *value, uint64_t *period_ns);
int parse_frequency(const char *value, uint64_t *period_ns);
int parse_engine(const char *value, const char **engine);

#endif
