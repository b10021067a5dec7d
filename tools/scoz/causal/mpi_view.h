/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the ranks of an MPI job spend their CPU time: in which calls of MPI, and how unequal what
 * they do outside of them is. By samples; ranks that poll while they wait have theirs in the call.
 */
#ifndef SCOZ_MPI_VIEW_H
#define SCOZ_MPI_VIEW_H

#include "profile/profile.h"

struct mpi_call {
	const char *name; /* "MPI_Recv"; the profile's, of so many bytes */
	int length;
	uint64_t samples;
};

/* Of one rank, all that it has started included. */
struct mpi_rank {
	int rank;
	uint64_t samples, in_mpi;
	uint64_t polled;	/* of these: it waited */
	struct mpi_call *calls; /* most samples first */
	size_t n_calls;
};

struct mpi_view {
	struct mpi_rank *ranks; /* in their order; none: no job, or no calls of MPI by name */
	size_t n;
};

void mpi_view_create(const struct profile *p, struct mpi_view *ret);
void mpi_view_deinit(struct mpi_view *v);
/* The same of one process. */
void mpi_of_process(const struct profile *p, const struct profile_process *q, struct mpi_rank *ret);
void mpi_rank_deinit(struct mpi_rank *r);
/*
 * By how many percent the rank that computes longest does so longer than they do on average: what
 * others wait for at the most. -1: too few samples. @longest: which one that is.
 */
double mpi_imbalance_pct(const struct mpi_view *v, const struct mpi_rank **longest);
/* A table of the ranks, where there are any. */
void mpi_view_print(const struct profile *p);

#endif
