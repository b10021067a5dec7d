/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making the list of capabilities. */
#ifndef SCOZ_CAPABILITIES_INTERNAL_H
#define SCOZ_CAPABILITIES_INTERNAL_H

#include "host/capabilities.h"

struct capability *capability_add(struct capabilities *c, const char *id, bool required);
/* @found, @effect and @remedy are malloc'ed; @effect and @remedy may be NULL. */
void capability_settle(struct capability *c, enum capability_status status, char *found,
		       char *effect, char *remedy);
void capability_ok(struct capability *c, char *found);

/* The file's text without the newline at its end, or NULL. */
char *capability_text_of(const char *name);
/* -1 when there is no such file. */
long capability_number_of(const char *name);
bool capability_exists(const char *name);
void capability_online_cpus(int **cpus, int *n);

/* Its cores, and what it is that they run on: nothing of it keeps scozd from running. */
void capabilities_of_machine(struct capabilities *c);

#endif
