/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCOZ_COND_WAIT_H
#define SCOZ_COND_WAIT_H

#include "base/base.h"

#include <pthread.h>
#include <time.h>

/* Until @end of clock_now_ns(): false when that has come. */
static inline bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t end)
{
	const struct timespec until = { end / NSEC_PER_SEC, end % NSEC_PER_SEC };

	return !pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, &until);
}

#endif
