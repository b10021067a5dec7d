/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lengths of time in bins that are a sixteenth of their value wide (exact below 16 ns): the BPF
 * programs count, the daemon reads.
 */
#ifndef SCOZ_SPAN_BINS_H
#define SCOZ_SPAN_BINS_H

#include <linux/types.h>

#define SPAN_SUB_BINS 16
#define SPAN_BINS     976 /* up to 2^64 */
/*
 * Behind them: how many threads are between begin and end now; begins of threads that were there
 * already, or that ended before the latency did, and the sum of their times, or of when the thread
 * ended; ends of threads that were not there, and the sum of their times (ns, CLOCK_MONOTONIC).
 */
#define SPAN_UNDERWAY	1018
#define SPAN_AGAIN	1019
#define SPAN_AGAIN_NS	1020
#define SPAN_UNBEGUN	1021
#define SPAN_UNBEGUN_NS 1022
#define SPAN_ELSEWHERE	1023 /* ends whose begin was not in the same thread, at 0 % */
#define SPAN_SLOT	1024 /* counters a point has */

static inline __attribute__((always_inline)) __u32 span_bin(__u64 ns)
{
	__u32 log2 = 0;
	__u64 v = ns;

	if (ns < SPAN_SUB_BINS)
		return ns;
	for (int shift = 32; shift; shift >>= 1) {
		/* All ones, if there are any bits: a branch would double the verifier's paths. */
		__u64 any = (__s64)(0 - (v >> shift)) >> 63;

		__asm__ volatile("" : "+r"(any));
		v >>= shift & any;
		log2 += shift & any;
	}
	return (log2 - 3) * SPAN_SUB_BINS + ((ns >> (log2 - 4)) & (SPAN_SUB_BINS - 1));
}

/* The shortest time that belongs to a bin; that of bin SPAN_BINS is too much for 64 bits. */
static inline __u64 span_bin_start(__u32 bin)
{
	if (bin < SPAN_SUB_BINS)
		return bin;
	if (bin >= SPAN_BINS)
		return ~(__u64)0;
	return (__u64)(SPAN_SUB_BINS + bin % SPAN_SUB_BINS) << (bin / SPAN_SUB_BINS - 1);
}

#endif
