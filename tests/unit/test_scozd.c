// SPDX-License-Identifier: GPL-2.0-or-later
/* What scozd does around a run: what it is called with, who ends it, and whom it ends. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/end_signals.h"
#include "daemon/flaws.h"
#include "daemon/options.h"
#include "daemon/points.h"
#include "daemon/prior.h"
#include "daemon/source_text.h"
#include "daemon/status.h"
#include "daemon/window.h"

#define WAIT_S 20

static struct options parsed(const char *first, ...)
{
	const char *argv[32] = { "scozd", first };
	struct options o;
	int argc = 2;
	va_list ap;

	va_start(ap, first);
	while ((argv[argc] = va_arg(ap, const char *)))
		argc++;
	va_end(ap);
	optind = 0;
	options_parse(argc, (char **)argv, &o);
	return o;
}

/* Options that are repeated: a second level of the same speedup would never have windows. */
static void test_each_once(void **state)
{
	struct options o;

	(void)state;
	o = parsed("-p", "mark:a", "--speedup", "0", "--speedup", "50,25,50", "--speedup", "25,75",
		   "--target", "func:f@a", "--target", "func:g@a", "--target", "func:f@a", "-p",
		   "mark:b", "-p", "mark:a", "-p", "n=mark:a", "-l", "n=mark:a,mark:b", "-l",
		   "n=mark:a,mark:b", "--pid", "7", "--pid", "8", "--pid", "7", NULL);
	assert_int_equal(o.n_speedups, 3);
	assert_float_equal(o.speedups[0], 0.5, 1e-9);
	assert_float_equal(o.speedups[1], 0.25, 1e-9);
	assert_float_equal(o.speedups[2], 0.75, 1e-9);
	assert_int_equal(o.n_targets, 2);
	assert_string_equal(o.targets[1].spec, "func:g@a");
	assert_int_equal(o.n_points, 4);
	assert_string_equal(o.points[1].name, "mark:b");
	assert_string_equal(o.points[2].name, "n");
	assert_true(o.points[3].latency);
	assert_int_equal(o.n_pids, 2);
}

/* In a child: do signals end a run that was called with SIGHUP ignored? */
static void __attribute__((noreturn)) under_nohup(void)
{
	static struct session s = { .truth = -1 };
	static struct experiment x = { .s = &s };
	static const struct guardian g = { .alive = -1, .done = -1 };
	uint64_t end = clock_now_ns() + WAIT_S * NSEC_PER_SEC;

	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN); /* as in a script's jobs in the background */
	if (ending_start(&x, &g, NULL))
		_exit(1);
	kill(getpid(), SIGHUP);
	usleep(50000);
	if (session_interrupted)
		_exit(2);
	kill(getpid(), SIGINT);
	while (!session_interrupted && clock_now_ns() < end)
		usleep(1000);
	_exit(session_interrupted ? 0 : 3);
}

static void test_ignored_signals(void **state)
{
	int pid = fork(), status;

	(void)state;
	if (!pid)
		under_nohup();
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

/* ---- numbers of processes that are others' by now ---- */

static int only_child(void)
{
	_cleanup_free_ char *path = xasprintf("/proc/self/task/%d/children", getpid());
	_cleanup_free_ char *text = read_file(path, NULL);

	return text ? atoi(text) : 0;
}

/* A stranger that got the number of our only child, which somebody has collected; 0: no way. */
static int replace_child(void)
{
	int pid = only_child(), stranger;
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = (uintptr_t)&pid,
				   .set_tid_size = 1 };

	if (!pid || geteuid())
		return 0;
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(-1, NULL, 0), pid);
	stranger = syscall(SYS_clone3, &args, sizeof(args));
	if (!stranger) {
		pause();
		_exit(0);
	}
	return stranger > 0 ? stranger : 0;
}

static void check_alive(int pid)
{
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_buried(void **state)
{
	const struct options o = { .replay = true, .warmup = 1, .end_to_end = true };
	struct sources *s = sources_start();
	struct prior *p;
	int stranger;

	(void)state;
	stranger = replace_child();
	sources_stop(s);
	if (!stranger)
		skip();
	check_alive(stranger);
	p = prior_start(&o);
	assert_non_null(p);
	stranger = replace_child();
	prior_stop(p);
	assert_int_not_equal(stranger, 0);
	check_alive(stranger);
}

/* ---- targets that do not run yet ---- */

static enum plan_answer next_of(struct trials *l, int *target)
{
	struct plan_window what;
	enum plan_answer answer = trials_next(l, &what);

	*target = what.target;
	return answer;
}

static void test_postponed(void **state)
{
	struct session s = { .truth = -1, .start_ns = clock_now_ns() };
	uint64_t end = clock_now_ns() + WAIT_S * NSEC_PER_SEC;
	struct trials *l;
	int target;

	(void)state;
	s.opt = parsed("-q", "-p", "mark:a", "--target", "func:f@a", NULL);
	l = trials_create(&s, 0);
	for (int i = 0; i < 3; i++) {
		if (i)
			s.start_ns = clock_now_ns() - 100 * i * NSEC_PER_SEC;
		while (next_of(l, &target) != PLAN_MEASURE) {
			assert_true(clock_now_ns() < end);
			usleep(10000);
		}
		assert_int_equal(target, 0);
		assert_true(trials_postpone(l, target, "target func:f@a: it has not run"));
		assert_int_equal(next_of(l, &target), PLAN_WAIT);
		assert_false(trials_get(l, 0)->broken || trials_are_over(l));
		assert_int_equal(s.n_warnings, i > 0); /* once, after a while */
	}
	trials_destroy(l);
}

/* ---- windows ---- */

static void record(struct windows *l, int n, enum discard why)
{
	for (int i = 0; i < n; i++) {
		struct profile_window w = { .speedup = 0.5 * (i % 2),
					    .wall_s = 0.5,
					    .n_progress = 1,
					    .progress = xcalloc(1, sizeof(*w.progress)),
					    .discard = why };

		assert_int_equal(windows_record(l, 0, &w, false), 0);
	}
}

/* A run with one target that has been begun. */
struct begun {
	struct session s;
	struct sampling sampling;
	struct trials *trials;
	struct windows *windows;
	char path[32];
};

static struct begun *begin(const char *how, const char *name)
{
	const struct profile_progress point = { .name = "a", .spec = "mark:a" };
	const struct profile_header header = { .engine = "bpf", .model = "wait", .command = "" };
	const struct profile_target code = { .name = name, .kind = "function", .location = "" };
	struct begun *b = xcalloc(1, sizeof(*b));
	uint32_t id;
	int target, fd;

	strcpy(b->path, "/tmp/test_scozd-XXXXXX");
	fd = mkstemp(b->path);
	assert_true(fd >= 0);
	close(fd);
	unlink(b->path);
	b->s = (struct session){ .truth = -1,
				 .start_ns = clock_now_ns(),
				 .opt = parsed(how, "-p", "mark:a", "--target", name, NULL) };
	assert_int_equal(profile_writer_open(b->path, &header, &point, 1, &b->s.writer, NULL), 0);
	assert_int_equal(profile_writer_target(b->s.writer, &code, &id, NULL), 0);
	b->trials = trials_create(&b->s, 0);
	assert_int_equal(next_of(b->trials, &target), PLAN_MEASURE);
	b->windows = windows_create(&b->s, b->trials, &b->sampling);
	return b;
}

static void end(struct begun *b)
{
	windows_destroy(b->windows);
	trials_destroy(b->trials);
	profile_writer_close(b->s.writer);
	unlink(b->path);
	free(b);
}

/* What was discarded with all others has had its consequence. */
static void test_often_empty(void **state)
{
	struct begun *b = begin("-q", "func:f@a");
	struct windows *l = b->windows;

	(void)state;
	record(l, 20, DISCARD_FEW_VISITS);
	assert_true(windows_often_empty(l));
	windows_discard_all(l, DISCARD_BURSTS);
	assert_false(windows_often_empty(l));
	record(l, 20, KEPT);
	record(l, 2, DISCARD_FEW_VISITS);
	assert_false(windows_often_empty(l));
	record(l, 10, DISCARD_FEW_VISITS);
	assert_true(windows_often_empty(l));
	end(b);
}

/* Names are bytes: whoever reads JSON lines gets each event all the same. */
static void test_json_of_any_name(void **state)
{
	_cleanup_fclose_ FILE *told = tmpfile();
	struct begun *b = begin("--json", "func:caf\xe9@a");
	int saved = dup(STDERR_FILENO), n = 0;
	char line[1024];

	(void)state;
	dup2(fileno(told), STDERR_FILENO);
	status_event(true, 0, "warning", "of caf\xe9");
	record(b->windows, 2, KEPT);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(told);
	for (; fgets(line, sizeof(line), told); n++) {
		json_t *o = json_loads(line, 0, NULL);

		assert_non_null(strstr(line, "{\"event\":"));
		assert_non_null(strstr(line, "caf\xef\xbf\xbd"));
		json_decref(o);
		assert_non_null(o);
	}
	assert_int_equal(n, 3);
	end(b);
}

/* ---- progress points ---- */

/* Marks, too, though the engine would not be asked for their numbers before they are found. */
static void test_number_of_points(void **state)
{
	struct progress_spec specs[SCOZ_MAX_POINTS / 2 + 1] = { 0 };
	struct options o = { .points = specs, .n_points = ARRAY_SIZE(specs) };
	struct points *p = NULL;
	struct error err = {};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		specs[i].latency = true;
		specs[i].begin.kind = specs[i].end.kind = POINT_MARK;
	}
	assert_int_equal(points_create(&o, NULL, &p, &err), -E2BIG);
	assert_non_null(strstr(err.text, "there are 34 progress points"));
	o.n_points--;
	assert_false(points_leave_a_number(&o));
	specs[0].latency = false;
	assert_true(points_leave_a_number(&o));
}

/* ---- what makes predictions wrong ---- */

static void test_flaws(void **state)
{
	struct engine_ledger l = { .ran = 1000 };

	(void)state;
	assert_float_equal(flaws_probes_pp(0, 1, 1), 0, 0);
	assert_float_equal(flaws_probes_pp(0.1, 1, 0.5), 4, 1e-9); /* of a CPU */
	assert_float_equal(flaws_probes_pp(0.1, 1, 4), 1, 1e-9);   /* of four */
	assert_true(flaws_probes_pp(0.9, 1, 1) > 100);
	assert_float_equal(flaws_elsewhere_pp(&l), 0, 0);
	l.elsewhere = 111;
	assert_float_equal(flaws_elsewhere_pp(&l), 10, 0.1);
	l.elsewhere = 1000;
	assert_true(flaws_elsewhere_pp(&l) > 100);
}

#ifdef __x86_64__
static bool acted(const char *bytes, size_t n)
{
	FILE *f = tmpfile();
	bool ret;

	assert_non_null(f);
	assert_int_equal(pwrite(fileno(f), bytes, n, 100), n);
	ret = probe_is_acted(fileno(f), 100);
	fclose(f);
	return ret;
}

static void test_probes(void **state)
{
	(void)state;
	assert_true(acted("\x55\x48\x89\xe5", 4)); /* push %rbp */
	assert_true(acted("\x41\x57", 2));	   /* push %r15 */
	assert_true(acted("\x90\x90", 2));
	assert_true(acted("\xe8\0\0\0\0", 5));
	assert_true(acted("\x0f\x84\0\0\0\0", 6));  /* je */
	assert_false(acted("\x48\x89\xe5", 3));	    /* mov %rsp, %rbp */
	assert_false(acted("\x48\x83\xec\x08", 4)); /* sub $8, %rsp */
	assert_false(acted("\xc3", 1));
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_once),   cmocka_unit_test(test_ignored_signals),
		cmocka_unit_test(test_buried),	    cmocka_unit_test(test_postponed),
		cmocka_unit_test(test_often_empty), cmocka_unit_test(test_json_of_any_name),
		cmocka_unit_test(test_flaws),	    cmocka_unit_test(test_number_of_points),
#ifdef __x86_64__
		cmocka_unit_test(test_probes),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
