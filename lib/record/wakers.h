/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of what ends waits: block devices, interrupts, softirqs. */
#ifndef SCOZ_RECORD_WAKERS_H
#define SCOZ_RECORD_WAKERS_H

#include "base/base.h"
#include "record/bpf/shared.h"

struct wakers;
struct wakers *wakers_create(void);
void wakers_destroy(struct wakers *w);
/* Lives as long as @w; NULL: a thread, or nobody. */
const char *wakers_name(struct wakers *w, enum record_woken_by by, uint32_t number);

#endif
