// SPDX-License-Identifier: GPL-2.0-or-later
/* Nobody is stopped while something is done that may wait for others. The engine is played here. */
#define main scozd_main
#include "daemon/main.c"
#undef main

#include "daemon/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static double speedup;	     /* that is in force */
static char done[512];	     /* in that order */
static unsigned int stopped; /* so often something was done meanwhile that may wait */

static void note(const char *what, bool may_wait)
{
	size_t n = strlen(done);

	snprintf(done + n, sizeof(done) - n, "%s%s", n ? ", " : "", what);
	stopped += may_wait && speedup > 0;
}

void __wrap_engine_set_speedup(struct engine *e, double to);
bool __wrap_truth_set(int fd, int percent);
void __wrap_lease_beat(struct lease *l);
void __wrap_lease_stop(struct lease *l);
void __wrap_handlers_stop(struct handlers *h);
bool __wrap_session_sleep(struct session *s, double seconds);
bool __wrap_trials_trust(struct trials *l, int i);
void __wrap_engine_read_ledger(struct engine *e, struct engine_ledger *ret);
void __wrap_engine_forget_sleepers(struct engine *e);
void __wrap_flaws_tell(struct session *s, const struct engine_ledger *l);
void __wrap_quotas_look(struct session *s);
void __wrap_expect_begin(struct session *s, int pid);
void __wrap_expect_conclude(struct session *s);
void __wrap_points_interrupt(struct points *p);
int __wrap_experiment_run(struct experiment *x, struct error *err);
void __wrap_command_terminate(struct command *c, double grace_s, const atomic_bool *at_once);

void __wrap_engine_set_speedup(struct engine *e, double to)
{
	(void)e;
	speedup = to;
	note(to > 0 ? "on" : "off", false);
}

bool __wrap_truth_set(int fd, int percent)
{
	(void)fd;
	(void)percent;
	note("truth", true);
	return true;
}

void __wrap_lease_beat(struct lease *l)
{
	(void)l;
}

void __wrap_lease_stop(struct lease *l)
{
	(void)l;
	note("lease", true);
}

void __wrap_handlers_stop(struct handlers *h)
{
	(void)h;
	note("handlers", true);
}

/* The window: a signal ends it. */
bool __wrap_session_sleep(struct session *s, double seconds)
{
	(void)s;
	(void)seconds;
	note("window", false);
	return false;
}

bool __wrap_trials_trust(struct trials *l, int i)
{
	(void)l;
	(void)i;
	note("looked at", true);
	return true;
}

void __wrap_engine_read_ledger(struct engine *e, struct engine_ledger *ret)
{
	(void)e;
	*ret = (struct engine_ledger){ 0 };
}

void __wrap_engine_forget_sleepers(struct engine *e)
{
	(void)e;
}

void __wrap_flaws_tell(struct session *s, const struct engine_ledger *l)
{
	(void)s;
	(void)l;
	note("told", true);
}

void __wrap_quotas_look(struct session *s)
{
	(void)s;
	note("quotas", true);
}

void __wrap_expect_begin(struct session *s, int pid)
{
	(void)s;
	(void)pid;
}

void __wrap_expect_conclude(struct session *s)
{
	(void)s;
	note("expectation", true);
}

void __wrap_points_interrupt(struct points *p)
{
	(void)p;
}

/* Ended by a signal, in a window. */
int __wrap_experiment_run(struct experiment *x, struct error *err)
{
	(void)err;
	engine_set_speedup(x->s->engine, 0.5);
	return -EINTR;
}

void __wrap_command_terminate(struct command *c, double grace_s, const atomic_bool *at_once)
{
	(void)c;
	(void)grace_s;
	(void)at_once;
	note("terminated", true);
}

static int setup(void **state)
{
	(void)state;
	speedup = 0;
	stopped = 0;
	done[0] = '\0';
	return 0;
}

/* A write to --truth before a window, profile and terminal after it. */
static void test_window(void **state)
{
	struct plan_window what = { .speedup = 0.5 }, real = { .speedup = 0.5, .real = true };
	struct window_length length = { .settle_s = 1, .length_s = 1, .hold = 1 };
	struct session s = { .truth = -1 };
	struct windows *l = windows_create(&s, NULL, NULL);
	struct profile_window w;

	(void)state;
	assert_int_equal(windows_hold(l, &what, &length, &w), -EINTR);
	assert_string_equal(done, "quotas, off, truth, on, window, off, looked at, told");
	speedup = 0.5; /* of the window before */
	assert_true(window_set_speedup(&s, &real));
	assert_int_equal(speedup, 0);
	assert_int_equal(stopped, 0);
	windows_destroy(l);
}

static void test_end_of_run(void **state)
{
	struct session s = { .command.pid = 1 };
	struct experiment x = { .s = &s };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(run_once(&x, &err), -EINTR);
	assert_string_equal(done, "on, off, expectation, terminated");
	assert_int_equal(stopped, 0);
}

static void test_taken_down(void **state)
{
	struct session s = { .engine = (void *)&s, .handlers = (void *)&s, .truth = -1 };

	(void)state;
	speedup = 0.5;
	take_down(&s);
	assert_string_equal(done, "off, truth, lease, handlers");
	assert_int_equal(stopped, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_window, setup),
		cmocka_unit_test_setup(test_end_of_run, setup),
		cmocka_unit_test_setup(test_taken_down, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
