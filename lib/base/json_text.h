/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCOZ_JSON_TEXT_H
#define SCOZ_JSON_TEXT_H

#include <jansson.h>

/* Paths and command lines are bytes; JSON is UTF-8: what does not fit becomes U+FFFD. NULL: "". */
json_t *json_text(const char *s);

#endif
