/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sampling points of a thread: one in each period of its time, wherever it is then. Where in the
 * period is decided by a hash, so that programs in step with the clock are not always met at the
 * same place; the number of points in an interval of n whole periods is n or n +- 1, and on average
 * its length (stratified sampling). Compiled into the BPF programs and the tests.
 */
#ifndef SCOZ_SAMPLING_POINTS_H
#define SCOZ_SAMPLING_POINTS_H

#include <linux/types.h>

static inline __u64 points_hash(__u64 x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

/* Where in the period with that number it lies. */
static inline __u64 points_place(__u64 cell, __u32 tid, __u64 period)
{
	return (points_hash(cell ^ (__u64)tid << 40) >> 32) * period >> 32;
}

/* How many points of thread @tid lie before @time; differences count. @period < 2^32. */
static inline __u64 points_before(__u64 time, __u32 tid, __u64 period)
{
	__u64 cell = time / period, at = time - cell * period;

	return cell + (at > points_place(cell, tid, period));
}

/* The first point that is not before @time. */
static inline __u64 points_next(__u64 time, __u32 tid, __u64 period)
{
	__u64 cell = time / period, point = cell * period + points_place(cell, tid, period);

	return point >= time ? point : (cell + 1) * period + points_place(cell + 1, tid, period);
}

#endif
