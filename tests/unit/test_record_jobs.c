// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz report on a recording of several processes: ranks, copies, those that were not recorded. */
#include "tests/unit/test_record_fixture.h"

#include "host/process.h"
#include "record/processes.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

static char job[64];

enum { MPIRUN, RANK_1, RANK_0, SERVER, KERNEL };

static const struct record_process processes[] = {
	{ .id = MPIRUN, .pid = 100, .name = "mpirun", .rank = -1 },
	{ .id = RANK_1, .pid = 201, .name = "ring", .rank = 1, .rank_from = "PMI_RANK" },
	{ .id = RANK_0, .pid = 200, .name = "ring", .rank = 0, .rank_from = "PMI\033[2J" },
	{ .id = SERVER, .pid = 300, .name = "server", .rank = -1 },
	{ .id = KERNEL, .pid = 7, .name = "ksoftirqd/0", .rank = -1, .kernel = true },
};

/* Threads 0 to 4 have their process's number. */
#define SAMPLE(t, n, ...) \
	{ \
		.time = 1 + (t), .points = (n), .thread = (t), .stack = RECORDING_NONE, \
		.holder = RECORDING_NONE, __VA_ARGS__ \
	}

/* Each calls the next. */
enum { SOLVE, RECEIVE, PROGRESS };

static const struct record_frame calls[] = {
	[SOLVE] = { .symbol = "solve", .object = "/h/ring" },
	[RECEIVE] = { .symbol = "PMPI_Recv", .object = "/usr/lib/libmpi.so.40" },
	[PROGRESS] = { .symbol = "opal_progress", .object = "/usr/lib/libopen-pal.so.40" },
};

static void make_job(const struct record_sample *samples, size_t n, bool scozd)
{
	static const struct record_header header = { .engine = "bpf",
						     .period_ns = MS,
						     .command = "mpirun ring",
						     .scope = "command",
						     .host = "host",
						     .kernel = "6.1",
						     .started = "2025-01-01T00:00:00Z",
						     .cpus = 2 };
	const struct record_scozd profiler = { .pid = 99, .from = 0, .to = 2000000000 };
	struct recording_writer *w;
	struct error err = { 0 };

	unlink(job);
	if (recording_writer_open(job, &header, &w, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < ARRAY_SIZE(processes); i++) {
		const struct record_process *p = &processes[i];
		struct record_thread t = {
			.id = i, .tid = p->pid, .pid = p->pid, .process = i, .comm = p->name
		};

		recording_write_process(w, p);
		recording_write_thread(w, &t);
	}
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct record_stack stack = { i, i ? i - 1 : RECORDING_NONE };

		recording_write_frame(w, i, &calls[i]);
		recording_write_stack(w, i, &stack);
	}
	for (size_t i = 0; i < n; i++)
		recording_write_sample(w, &samples[i]);
	if (scozd)
		recording_write_scozd(w, &profiler);
	if (recording_writer_close(w, &usual_footer, &err))
		fail_msg("%s", err.text);
}

static const struct record_sample usual_job[] = {
	SAMPLE(MPIRUN, 400, .class = RECORD_OTHER, .kind = "poll", .waker = RECORDING_NONE),
	SAMPLE(RANK_0, 300, .waker = RECORDING_NONE),
	SAMPLE(RANK_1, 100, .waker = RECORDING_NONE),
	SAMPLE(RANK_1, 200, .class = RECORD_OTHER, .kind = "network", .waker = RANK_0),
};

static void make_usual_job(void)
{
	make_job(usual_job, ARRAY_SIZE(usual_job), false);
}

static void test_per_rank(void **state)
{
	const char *zero, *one, *none;

	(void)state;
	make_usual_job();
	assert_int_equal(run(cmd_report, job, NULL), EXIT_DONE);
	expect("# ranks 0 to 1 of a parallel job (PMI?[2J): --per rank");
	assert_int_equal(run(cmd_report, job, "--per", "rank", NULL), EXIT_DONE);
	zero = strstr(out_text, "# Rank 0: process 200 (ring): 300 points, 30.00 % of all");
	one = strstr(out_text, "# Rank 1: process 201 (ring): 300 points, 30.00 % of all");
	none = strstr(out_text, "# No rank (mpirun): 400 points");
	assert_true(zero && one && none && zero < one && one < none);
	assert_int_equal(run(cmd_report, job, "--by=process", NULL), EXIT_DONE);
	expect("# Process 100 (mpirun)");
	expect("# Rank 1: process 201 (ring)");
	assert_int_equal(run(cmd_report, job, "--sort=process,rank", NULL), EXIT_DONE);
	expect("    40.00%  mpirun   -\n");
	expect("    30.00%  ring     1\n");
	assert_int_equal(run(cmd_report, job, "--per=nonsense", NULL), EXIT_USAGE);
}

static void test_filters(void **state)
{
	(void)state;
	make_usual_job();
	assert_int_equal(run(cmd_report, job, "--rank=1", "-s", "comm,pid", NULL), EXIT_DONE);
	expect("the filters let 300 points through");
	expect("   100.00%  ring     201\n");
	assert_int_equal(run(cmd_report, job, "--process=ring", "-s", "comm", NULL), EXIT_DONE);
	expect("the filters let 600 points through");
	assert_int_equal(run(cmd_report, job, "--process=200,mpirun", "-s", "comm", NULL),
			 EXIT_DONE);
	expect("the filters let 700 points through");
	assert_int_equal(run(cmd_report, job, "--rank=7", NULL), EXIT_NOTHING);
	assert_int_equal(run(cmd_report, job, "--rank=x", NULL), EXIT_USAGE);
	assert_int_equal(run(cmd_export, "-f", "folded", "--rank=0", "--per=rank", job, NULL),
			 EXIT_DONE);
	assert_string_equal(out_text, "rank_0;ring;[no call chain] 300\n");
}

/* Who only waits for work hides what the others do. */
static void test_idle(void **state)
{
	(void)state;
	make_usual_job();
	assert_int_equal(run(cmd_report, job, NULL), EXIT_DONE);
	expect("# 1 of 3 threads did nothing but wait for work: 40.0 % of the points are theirs");
	assert_int_equal(run(cmd_report, job, "--no-idle", NULL), EXIT_DONE);
	expect("the filters let 600 points through");
	expect_not("mpirun  ");
}

/* Who polls is on the CPU, and waits. */
static void test_polling(void **state)
{
	struct record_sample s[] = {
		SAMPLE(RANK_0, 100, .waker = RECORDING_NONE),
		SAMPLE(RANK_1, 40, .waker = RECORDING_NONE),
		SAMPLE(RANK_1, 60, .waker = RECORDING_NONE),
	};

	(void)state;
	s[0].stack = s[1].stack = SOLVE;
	s[2].stack = PROGRESS;
	make_job(s, ARRAY_SIZE(s), false);
	assert_int_equal(run(cmd_report, job, NULL), EXIT_DONE);
	expect("# 30.0 % of the points on the CPU wait for other ranks by polling in MPI");
	assert_int_equal(run(cmd_report, job, "--rank=1", NULL), EXIT_DONE);
	expect("# 60.0 % of the points on the CPU wait for other ranks by polling in MPI");
	assert_int_equal(run(cmd_report, job, "--rank=0", NULL), EXIT_DONE);
	expect_not("by polling");
}

/* Waits that were ended by somebody of whom nothing was recorded. */
static void test_strangers(void **state)
{
	struct record_sample s[] = {
		SAMPLE(RANK_0, 89, .waker = RECORDING_NONE),
		SAMPLE(RANK_0, 11, .class = RECORD_OTHER, .kind = "network", .waker = SERVER),
	};

	(void)state;
	make_usual_job(); /* one recorded process wakes the other one */
	assert_int_equal(run(cmd_report, job, NULL), EXIT_DONE);
	expect_not("not recorded");
	make_job(s, 2, false); /* too few to say much */
	assert_int_equal(run(cmd_report, job, NULL), EXIT_DONE);
	expect_not("not recorded");
	s[0].points = 890;
	s[1].points = 110;
	make_job(s, 2, false);
	assert_int_equal(run(cmd_report, job, NULL), EXIT_DONE);
	expect("# warning: 11.0 % of the points are waits that server (process 300) ended, which "
	       "was "
	       "not recorded");
	expect("scoz record --pid 300");
	s[1].waker = KERNEL;
	make_job(s, 2, false);
	assert_int_equal(run(cmd_report, job, NULL), EXIT_DONE);
	expect_not("not recorded");
}

static void test_scozd(void **state)
{
	(void)state;
	make_job(usual_job, ARRAY_SIZE(usual_job), true);
	assert_int_equal(run(cmd_report, job, NULL), EXIT_DONE);
	expect("# warning: scozd (process 99) profiled this machine for 2.0 s of the recording");
}

/* ---- where ranks come from ---- */

static char root[] = "/tmp/test_record_jobs-XXXXXX";

static void write_of_5(const char *name, const char *text, size_t len)
{
	_cleanup_free_ char *path_ = xasprintf("%s/proc/5/%s", root, name);
	FILE *f = fopen(path_, "w");

	assert_non_null(f);
	fwrite(text, 1, len, f);
	fclose(f);
}
#define ENVIRONMENT(text) write_of_5("environ", text, sizeof(text) - 1)
/* From the third field to the 52nd. */
#define STAT(state, flags, env_end) \
	write_of_5("stat", STAT_TEXT(state, flags, env_end), \
		   sizeof(STAT_TEXT(state, flags, env_end)) - 1)
#define STAT_TEXT(state, flags, env_end) \
	"5 (a) b) " state " 1 5 5 0 -1 " flags " 1 2 3 4 5 6 7 8 20 0 1 0 100 1000 10 " \
	"18446744073709551615 1 2 3 4 5 0 0 0 0 0 0 0 17 1 0 0 0 0 0 6 7 8 9 10 11 " env_end \
	" 0\n"

static void test_rank(void **state)
{
	_cleanup_free_ char *proc = xasprintf("%s/proc", root), *dir = xasprintf("%s/5", proc);
	const char *variable;

	(void)state;
	mkdir(proc, 0755);
	mkdir(dir, 0755);
	sysroot = root;
	ENVIRONMENT("HOME=/\0OMPI_COMM_WORLD_RANK=12\0X=");
	assert_int_equal(process_rank(5, &variable), 12);
	assert_string_equal(variable, "OMPI_COMM_WORLD_RANK");
	/* Of several the one of the innermost launcher. */
	ENVIRONMENT("SLURM_PROCID=0\0PMI_RANK=3\0");
	assert_int_equal(process_rank(5, &variable), 3);
	assert_string_equal(variable, "PMI_RANK");
	ENVIRONMENT("MY_PMI_RANK=3\0PMI_RANK=\0PMI_RANK=x\0PMI_RANKS=4\0PMIX_RANK=-2");
	assert_int_equal(process_rank(5, &variable), -1);
	assert_null(variable);
	ENVIRONMENT("");
	assert_int_equal(process_rank(5, NULL), -1);
	assert_int_equal(process_rank(6, NULL), -1);
	/* Between the program's name and its environment; a thread of the kernel, who ends and a
	 * zombie never have one. */
	STAT("R", "4194304", "0");
	assert_int_equal(process_rank(5, &variable), RANK_NOT_YET);
	assert_null(variable);
	STAT("R", "4194304", "12");
	assert_int_equal(process_rank(5, NULL), -1);
	STAT("R", "2097152", "0");
	assert_int_equal(process_rank(5, NULL), -1);
	STAT("R", "4194308", "0");
	assert_int_equal(process_rank(5, NULL), -1);
	STAT("Z", "4194304", "0");
	assert_int_equal(process_rank(5, NULL), -1);
	sysroot = "";
}

/* Where the environment lies, and how long it is, is said by the process. */
static void test_endless_environment(void **state)
{
	static const char rank[] = "PMI_RANK=3";
	_cleanup_free_ char *path = xasprintf("%s/proc/5/environ", root);
	int fd;

	(void)state;
	sysroot = root;
	ENVIRONMENT("SLURM_PROCID=7\0");
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, rank, sizeof(rank), 64 << 20), sizeof(rank));
	assert_int_equal(process_rank(5, NULL), 7);
	assert_int_equal(ftruncate(fd, 1LL << 40), 0);
	assert_int_equal(process_rank(5, NULL), 7);
	assert_int_equal(ftruncate(fd, 0), 0);
	close(fd);
	sysroot = "";
}

static void keep_rank(const struct record_process *p, void *arg)
{
	*(int *)arg = p->rank;
}

/* An environment that does not come, of a process that wants it so: nobody waits for it. */
static void test_held_rank(void **state)
{
	_cleanup_free_ char *path_ = xasprintf("%s/proc/5/environ", root);
	uint64_t end = clock_now_ns() + 60 * NSEC_PER_SEC;
	int rank = 77, fd;
	struct processes *p;

	(void)state;
	sysroot = root;
	unlink(path_);
	assert_int_equal(mkfifo(path_, 0600), 0);
	alarm(60);
	p = processes_create(keep_rank, &rank);
	processes_get(p, 5, false, "held", 0);
	assert_int_equal(rank, -1);
	processes_settle(p);
	assert_int_equal(rank, -1);
	fd = open(path_, O_WRONLY);
	assert_int_equal(write(fd, "PMI_RANK=3", 11), 11);
	close(fd);
	while (rank < 0 && clock_now_ns() < end) {
		usleep(1000);
		processes_poll(p);
	}
	alarm(0);
	assert_int_equal(rank, 3);
	processes_destroy(p);
	sysroot = "";
}

static void *gives_environment(void *arg)
{
	usleep(20000);
	ENVIRONMENT("PMI_RANK=4");
	return arg;
}

/* Asked while it executes its program: its rank is that of the program. */
static void test_rank_of_executing(void **state)
{
	_cleanup_free_ char *path_ = xasprintf("%s/proc/5/environ", root);
	int rank = 77;
	struct processes *p;
	pthread_t thread;

	(void)state;
	sysroot = root;
	unlink(path_);
	/* Whoever takes longer than 0.1 s, as he may on a busy machine, is not waited for. */
	for (int tries = 0; tries < 20 && rank != 4; tries++) {
		ENVIRONMENT("");
		STAT("R", "4194304", "0");
		p = processes_create(keep_rank, &rank);
		processes_get(p, 5, false, "executes", 0);
		assert_int_equal(pthread_create(&thread, NULL, gives_environment, NULL), 0);
		processes_settle(p);
		pthread_join(thread, NULL);
		processes_destroy(p);
	}
	assert_int_equal(rank, 4);
	sysroot = "";
}

static int set_up(void **state)
{
	(void)state;
	snprintf(job, sizeof(job), "/tmp/test_record_jobs-%d.scoz", getpid());
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	_cleanup_free_ char *file = xasprintf("%s/proc/5/environ", root);
	_cleanup_free_ char *stat = xasprintf("%s/proc/5/stat", root);
	_cleanup_free_ char *dir = xasprintf("%s/proc/5", root), *proc = xasprintf("%s/proc", root);

	(void)state;
	unlink(job);
	unlink(file);
	unlink(stat);
	rmdir(dir);
	rmdir(proc);
	return rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_per_rank),  cmocka_unit_test(test_filters),
		cmocka_unit_test(test_idle),	  cmocka_unit_test(test_polling),
		cmocka_unit_test(test_strangers), cmocka_unit_test(test_scozd),
		cmocka_unit_test(test_rank),	  cmocka_unit_test(test_endless_environment),
		cmocka_unit_test(test_held_rank), cmocka_unit_test(test_rank_of_executing),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
