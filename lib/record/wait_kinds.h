/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a thread waited for, told from the kernel's functions that it waited in. */
#ifndef SCOZ_RECORD_WAIT_KINDS_H
#define SCOZ_RECORD_WAIT_KINDS_H

#include "record/recording.h"

/*
 * @functions: of the kernel, innermost first, from the scheduler on. RECORD_OTHER becomes
 * RECORD_LOCK where a lock was waited for; a wait that counts as I/O stays one even under a lock
 * (specification of blocked samples, section 6). NULL: unknown.
 */
const char *record_wait_kind(const char *const *functions, size_t n, enum record_class *class);

/* The same in two steps, for those who meet the same functions again and again. */
struct wait_rules {
	uint8_t lock, wait; /* the first rule that the function fits */
};
struct wait_rules record_wait_rules(const char *function);
const char *record_wait_kind_of(const struct wait_rules *rules, size_t n, enum record_class *class);

#endif
