/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where handlers count samples: call chains and how often each was sampled, before anything has a
 * name (then daemon/tally.h). A chain says of every frame in which binary it lies and where, which
 * needs no knowledge of the binary. Not thread-safe.
 */
#ifndef SCOZD_CHAINS_H
#define SCOZD_CHAINS_H

#include "base/hash_index.h"

#define CHAIN_MAX_FRAMES 512
#define CHAIN_NO_BINARY	 UINT32_MAX

struct chain_frame {
	uint64_t place;	 /* as maps_place_of() tells it; without a binary, the address */
	uint32_t binary; /* or CHAIN_NO_BINARY */
};

/* Frames lie innermost first. */
struct chain {
	uint64_t count;
	int pid;
	uint32_t process; /* whose samples they are (daemon/process_table.h), once that is known */
	uint16_t n;
	bool kernel; /* taken in the kernel, whose frames are not here */
	bool spins;  /* in a loop that waits, as far as it is known */
	struct chain_frame frame[];
};
#define CHAIN_SIZE(n) (sizeof(struct chain) + (n) * sizeof(struct chain_frame))

struct chains {
	char *bytes;
	size_t used, cap, max;
	struct hash_index index; /* of where a chain begins in `bytes`, in words */
};

/* @max: bytes that the chains may take. */
void chains_init(struct chains *c, size_t max);
void chains_deinit(struct chains *c);
/* Adds @chain->count samples; false: there is no room for another chain. */
bool chains_add(struct chains *c, const struct chain *chain);
/* The chain after @last, or the first one; NULL: there is none. */
struct chain *chains_next(const struct chains *c, const struct chain *last);
/* Makes it empty, and keeps the memory. */
void chains_clear(struct chains *c);

#endif
