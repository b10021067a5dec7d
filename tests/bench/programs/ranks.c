// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ranks SECONDS CHEAPER: an MPI job. Each rank computes (hot()), does something else, and meets the
 * others. CHEAPER: percent of hot() that are left out. Rank 0 prints "iterations per second".
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t sink;

__attribute__((noipa)) static void spin(long n)
{
	uint64_t x = 1;

	for (; n > 0; n--) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		__asm__ volatile("" : "+r"(x));
	}
	sink = x;
}

__attribute__((noipa)) void hot(long n)
{
	uint64_t x = 1;

	for (; n > 0; n--) {
		x = x * 6364136223846793005ULL + 1442695040888963409ULL;
		__asm__ volatile("" : "+r"(x));
	}
	sink = x;
}

__attribute__((noipa)) void met(void)
{
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 10, in = 1, out, begin;
	int cheaper = argc > 2 ? atoi(argv[2]) : 0, rank, go = 1;
	long n = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	begin = MPI_Wtime();
	while (go) {
		hot(2000000L * (100 - cheaper) / 100);
		spin(800000);
		MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (!rank)
			met();
		n++;
		go = MPI_Wtime() - begin < seconds;
		MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	if (!rank)
		printf("%.6f\n", n / (MPI_Wtime() - begin));
	MPI_Finalize();
	return 0;
}
