/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of the JSON that commands write. */
#ifndef SCOZ_JSON_VALUES_H
#define SCOZ_JSON_VALUES_H

#include <jansson.h>

/* A string, whatever its bytes are. */
json_t *json_clean(const char *s);
/* Null where it is not known; nothing is 0, not -0. */
json_t *json_percent(double v);
/* Two of these; null where one of them is not known. */
json_t *json_interval(double lo, double hi);

#endif
