// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Marks with real uprobes: the kernel raises semaphores in running and future programs, counts
 * what does not reach the shared file, and lowers them at the end. Needs root, else skipped.
 */
#include "test_marks.d/common.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sys/syscall.h>

static int uprobe_type;

static int open_uprobe(const char *path, uint64_t offset, uint64_t ref_ctr)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = uprobe_type,
		.config = ref_ctr << 32,
		.config1 = (uint64_t)path,
		.config2 = offset,
	};

	return syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

/* For all processes: an event for each CPU and site of the marks "step" and "loop". */
struct uprobes {
	int fd[256];
	int n;
};

static void attach(struct uprobes *u, const char *path)
{
	struct error err = { 0 };
	struct mark_site *sites;
	size_t n;

	u->n = 0;
	if (find_sites(path, &sites, &n, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(sites[i].name, "step") && strcmp(sites[i].name, "loop"))
			continue;
		for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN) && u->n < 256; cpu++) {
			struct perf_event_attr attr = {
				.size = sizeof(attr),
				.type = uprobe_type,
				.config = sites[i].semaphore_offset << 32,
				.config1 = (uint64_t)path,
				.config2 = sites[i].probe_offset,
			};
			int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
					 PERF_FLAG_FD_CLOEXEC);

			if (fd < 0)
				fail_msg("uprobe of '%s' at %#llx: %m", sites[i].name,
					 (unsigned long long)sites[i].probe_offset);
			u->fd[u->n++] = fd;
		}
	}
	mark_sites_free(sites, n);
}

static uint64_t hits(const struct uprobes *u)
{
	uint64_t sum = 0, one;

	for (int i = 0; i < u->n; i++)
		if (read(u->fd[i], &one, sizeof(one)) == sizeof(one))
			sum += one;
	return sum;
}

static void detach(struct uprobes *u)
{
	while (u->n)
		close(u->fd[--u->n]);
}

struct program {
	pid_t pid;
	int in, out;
};

static struct program start(const char *path, const char *steps)
{
	int in[2], out[2];
	struct program p;

	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	p.pid = fork();
	if (!p.pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path, path, "steps", steps, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	p.in = in[1];
	p.out = out[0];
	return p;
}

/* ns for each mark */
static double step(struct program *p, double n)
{
	uint64_t t0 = clock_now_ns();
	char c = '.';

	assert_int_equal(write(p->in, &c, 1), 1);
	assert_int_equal(read(p->out, &c, 1), 1);
	return (clock_now_ns() - t0) / n;
}

static void finish(struct program *p)
{
	close(p->in);
	close(p->out);
	waitpid(p->pid, NULL, 0);
}

static uint64_t visits(struct marks *m, const char *name)
{
	struct marks_counts c;

	assert_int_equal(marks_read(m, name, &c, NULL), 0);
	return c.visits;
}

static void test_running(void **state)
{
	static const char *const flags[] = { "-O2 -fPIE -pie", "-O0 -fno-pie -no-pie" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		_cleanup_free_ char *path = build("gcc", flags[i], "uprobe");
		struct program before, after;
		struct uprobes u;
		struct marks *m;

		run("rm -rf %s", test_marks);
		assert_int_equal(marks_open(test_marks, &m, NULL), 0);
		before = start(path, "1000");
		step(&before, 1);
		assert_int_equal(visits(m, "step"), 0);

		attach(&u, path);
		step(&before, 1);
		assert_int_equal(visits(m, "step"), 1000);
		after = start(path, "1000");
		step(&after, 1);
		assert_int_equal(visits(m, "step"), 2000);
		assert_int_equal(run("%s threads 1000", path), 0);
		assert_int_equal(visits(m, "loop"), 8000);
		assert_int_equal(run("%s fork 1000", path), 0);
		assert_int_equal(visits(m, "loop"), 13000);
		assert_int_equal(hits(&u), 0);

		detach(&u);
		step(&before, 1);
		step(&after, 1);
		assert_int_equal(visits(m, "step"), 2000);

		attach(&u, path); /* and again */
		step(&before, 1);
		assert_int_equal(visits(m, "step"), 3000);
		detach(&u);
		marks_close(m);
		finish(&before);
		finish(&after);
	}
}

/* Without the file the uprobes count, and nothing is lost or counted twice. */
static void test_fallback(void **state)
{
	_cleanup_free_ char *path = build("gcc", "-O2", "fallback");
	struct program p;
	struct uprobes u;
	struct marks *m;
	uint64_t counted;

	(void)state;
	run("rm -rf %s", test_marks);
	p = start(path, "3000");
	attach(&u, path);
	step(&p, 1);
	assert_int_equal(hits(&u), 3000);
	assert_int_equal(run("%s threads 100", path), 0);
	assert_int_equal(hits(&u), 3000 + 800);

	assert_int_equal(marks_open(test_marks, &m, NULL), 0);
	step(&p, 1);
	assert_true(visits(m, "step") > 0);
	assert_int_equal(hits(&u) - 800 + visits(m, "step"), 6000);
	counted = visits(m, "step");
	marks_close(m);
	step(&p, 1);
	assert_int_equal(hits(&u) - 800 + counted, 9000);
	detach(&u);
	finish(&p);
}

/* The profiler is killed: the kernel lowers the semaphores. */
static void test_killed(void **state)
{
	_cleanup_free_ char *path = build("gcc", "-O2", "killed");
	struct program p;
	struct marks *m;
	int ready[2];
	pid_t pid;
	char c;

	(void)state;
	run("rm -rf %s", test_marks);
	assert_int_equal(marks_open(test_marks, &m, NULL), 0);
	p = start(path, "100");
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		struct uprobes u;

		attach(&u, path);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	step(&p, 1);
	assert_int_equal(visits(m, "step"), 100);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	step(&p, 1);
	assert_int_equal(visits(m, "step"), 100);
	finish(&p);
	marks_close(m);
	close(ready[0]);
	close(ready[1]);
}

/* The least of some tries, as others may have the CPU; the first one does not count. */
static double least_step(struct program *p, double n)
{
	double least = INFINITY;

	step(p, 1);
	for (int i = 0; i < 5; i++)
		least = fmin(least, step(p, n));
	return least;
}

/* Figures differ from machine to machine, their order does not. */
static void test_cost(void **state)
{
	_cleanup_free_ char *path = build("gcc", "-O2", "cost");
	struct program many = start(path, "5000000"), few = start(path, "10000");
	double idle, attached, fallback;
	struct uprobes u;
	struct marks *m;

	(void)state;
	run("rm -rf %s", test_marks);
	idle = least_step(&many, 5e6);
	attach(&u, path);
	fallback = least_step(&few, 1e4);
	assert_int_equal(marks_open(test_marks, &m, NULL), 0);
	attached = least_step(&many, 5e6);
	print_message("ns a mark: idle %.2f, counted in the file %.1f, by uprobe %.0f\n", idle,
		      attached, fallback);
	assert_true(idle < attached && attached < fallback);
	detach(&u);
	marks_close(m);
	finish(&many);
	finish(&few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_fallback),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_cost),
	};
	char *type = read_file("/sys/bus/event_source/devices/uprobe/type", NULL);
	int failed, fd;

	if (!type) {
		printf("skipped: this kernel has no uprobe events\n");
		return 77;
	}
	uprobe_type = atoi(type);
	free(type);
	fd = open_uprobe("/bin/sh", 0x1000, 0);
	if (fd < 0 && (errno == EPERM || errno == EACCES)) {
		printf("skipped: uprobes need root\n");
		return 77;
	}
	close(fd);
	setup_or_skip();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	teardown();
	return failed;
}
