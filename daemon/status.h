/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is shown while a run lasts: a live line on a terminal, or JSON lines (--json). */
#ifndef SCOZD_STATUS_H
#define SCOZD_STATUS_H

#include "base/base.h"

#include <jansson.h>

/* Replaces the live line; messages take it away first. */
void status_show(const char *line);
void status_clear(void);
/* One line of JSON; takes @object. */
void status_json(json_t *object);
/* Something has happened, @time_s after the start. */
void status_event(bool json, double time_s, const char *event, const char *text);

#endif
