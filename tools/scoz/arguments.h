/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of options. */
#ifndef SCOZ_ARGUMENTS_H
#define SCOZ_ARGUMENTS_H

#include "base/base.h"

/* All of @text, from @min to @max. */
bool parse_number(const char *text, double min, double max, double *ret);
/* Tells what is wrong; returns EXIT_USAGE. */
int bad_argument(const char *what, const char *value, const char *wanted);

#endif
