// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * uneven SECONDS: ranks of MPI that meet after each step; rank 1 computes three times as long as
 * the others.
 */
#include "../compute.h"

#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#define TURNS 3000000

__attribute__((noipa)) void stepped(void)
{
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	int rank, goes_on = 1;
	time_t end;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	while (goes_on) {
		compute(rank == 1 ? 3L * TURNS : TURNS);
		stepped();
		goes_on = time(NULL) < end;
		MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
