/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of the commands that record: scoz record and scoz top. */
#ifndef SCOZ_RECORDING_ARGS_H
#define SCOZ_RECORDING_ARGS_H

#include "base/base.h"

bool parse_number(const char *text, double min, double max, double *ret);
/* Tells what is wrong; returns EXIT_USAGE. */
int bad_argument(const char *what, const char *value, const char *wanted);
/* --period, --frequency, --engine: -1 when understood, else an exit status. */
int parse_period(const char *value, uint64_t *period_ns);
int parse_frequency(const char *value, uint64_t *period_ns);
int parse_engine(const char *value, const char **engine);

#endif
