/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What processes that read what anybody may have written give up, each step for good. */
#ifndef SCOZ_SYMBOLIZER_SANDBOX_H
#define SCOZ_SYMBOLIZER_SANDBOX_H

#include "base/base.h"

/* No rights: no other user, no capabilities, none to be had by exec. */
void sandbox_drop_rights(void);
void sandbox_limit(uint64_t memory, uint64_t cpu_s);
/* Sanitizers map terabytes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANDBOX_LIMITS_MEMORY false
#else
#define SANDBOX_LIMITS_MEMORY true
#endif
/*
 * From now on no signals to others, no looks into them, no sockets, no programs; what is in files
 * it may read. Wants sandbox_drop_rights(). False: this kernel has no such filters.
 */
bool sandbox_be_alone(void);
/* From now on only what is open; returns the descriptor by which opens are answered, or a
 * negative errno. */
int sandbox_enter(void);

#endif
