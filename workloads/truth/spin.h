// SPDX-License-Identifier: GPL-2.0-or-later
/* The work of programs whose profile is known (truth.h, ../stones/stone.c), by its turns. */
#ifndef WORKLOADS_SPIN_H
#define WORKLOADS_SPIN_H

#include <stdint.h>

/* A chain of dependent operations: no compiler shortens it, no second pipe speeds it up. */
#define TRUTH_SPIN(n) \
	do { \
		uint64_t x_ = 88172645463325252ULL; \
		for (uint64_t n_ = (n); n_; n_--) { \
			x_ ^= x_ << 13; \
			x_ ^= x_ >> 7; \
			x_ ^= x_ << 17; \
			__asm__ volatile("" : "+r"(x_)); \
		} \
	} while (0)

#endif
