// SPDX-License-Identifier: GPL-2.0-or-later
/* Where ranks spend their time: calls of MPI by name, and who computes longest. */
#include "tools/scoz/causal/mpi_view.c"
#include "tools/scoz/text.c"
#include "tools/scoz/wrong_file.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LIBRARY "/usr/lib/x86_64-linux-gnu/libmpi.so.40.30.4"

static struct profile_sample samples[] = {
	{ .target = "func:PMPI_Allreduce@libmpi.so.40.30.4", .binary = LIBRARY },
	{ .target = "func:MPI_Recv@libmpi.so.40.30.4", .binary = LIBRARY },
	{ .target = "func:PMPI_Recv@libmpi.so.40.30.4", .binary = LIBRARY },
	{ .target = "func:ompi_request_default_wait@libmpi.so.40.30.4", .binary = LIBRARY },
	{ .target = "func:MPI_ALLREDUCE@libmpi_mpifh.so.40.30.0",
	  .binary = "/usr/lib/libmpi_mpifh.so.40.30.0" },
	{ .target = "func:MPI_Recv@solver", .binary = "/home/u/solver" },
	{ .target = "solver.c:10", .binary = "/home/u/solver" },
};

static struct profile_place first[] = {
	{ .sample = 6, .total = 950 }, { .sample = 0, .total = 30 }, { .sample = 1, .total = 10 },
	{ .sample = 2, .total = 10 },  { .sample = 3, .total = 40 }, { .sample = 4, .total = 30 },
};
static struct profile_place second[] = {
	{ .sample = 6, .total = 300 },
	{ .sample = 5, .total = 50 },
	{ .sample = 0, .total = 600 },
	{ .sample = 1, .total = 50 },
};
static struct profile_place helper[] = { { .sample = 6, .total = 50 } };

static struct profile_process processes[] = {
	{ .pid = 1, .name = "mpirun", .rank = -1, .samples = 20 },
	{ .pid = 3,
	  .name = "solver",
	  .rank = 1,
	  .samples = 950,
	  .polled = 600,
	  .places = second,
	  .n_places = 4 },
	{ .pid = 2,
	  .name = "solver",
	  .rank = 0,
	  .samples = 1000,
	  .polled = 60,
	  .places = first,
	  .n_places = 6 },
	{ .pid = 4, .name = "sh", .rank = 1, .samples = 50, .places = helper, .n_places = 1 },
};

static void test_ranks(void **state)
{
	struct profile p = { .samples = samples,
			     .n_samples = ARRAY_SIZE(samples),
			     .processes = processes,
			     .n_processes = ARRAY_SIZE(processes) };
	const struct mpi_rank *longest;
	struct mpi_view v;

	(void)state;
	mpi_view_create(&p, &v);
	assert_int_equal(v.n, 2);
	assert_int_equal(v.ranks[0].rank, 0);
	assert_int_equal(v.ranks[0].samples, 1000);
	assert_int_equal(v.ranks[0].in_mpi, 50);
	assert_int_equal(v.ranks[0].polled, 50); /* no more than all */
	assert_int_equal(v.ranks[0].n_calls, 2);
	assert_memory_equal(v.ranks[0].calls[0].name, "MPI_Allreduce@", 14);
	assert_int_equal(v.ranks[0].calls[0].length, strlen("MPI_Allreduce"));
	assert_int_equal(v.ranks[0].calls[1].samples, 20); /* two names of one call */
	assert_int_equal(v.ranks[1].samples, 1000);
	assert_int_equal(v.ranks[1].in_mpi, 650);
	assert_int_equal(v.ranks[1].polled, 600);
	/* 950 and 350, on average 650. */
	assert_float_equal(mpi_imbalance_pct(&v, &longest), 46.15, 0.01);
	assert_int_equal(longest->rank, 0);
	mpi_view_deinit(&v);
}

static void test_no_job(void **state)
{
	struct profile p = { .samples = samples,
			     .n_samples = ARRAY_SIZE(samples),
			     .processes = processes,
			     .n_processes = 1 };
	struct profile_process threads = { .pid = 9, .name = "solver", .rank = 0, .samples = 500 };
	struct mpi_view v;

	(void)state;
	mpi_view_create(&p, &v);
	assert_int_equal(v.n, 0);
	p.processes = &threads; /* a rank of something else */
	mpi_view_create(&p, &v);
	assert_int_equal(v.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_no_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
