// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/end_to_end.h"
#include "daemon/expect.h"
#include "daemon/lease.h"
#include "daemon/precise.h"
#include "daemon/quotas.h"
#include "daemon/target_check.h"
#include "stats/stretch.h"

#include <math.h>
#include <unistd.h>

#define MAX_LOOKS	20 /* runs without a target, at most */
#define RUNS_BY_DEFAULT 5  /* of the command at each speedup */

uint32_t end_to_end_max_windows(const struct options *o)
{
	if (!o->end_to_end || o->runs)
		return o->end_to_end ? o->runs : 0;
	if (o->duration > 0 || o->precision > 0)
		return 0;
	return RUNS_BY_DEFAULT * 2 * o->n_speedups * (o->n_targets ? o->n_targets : 1) + 1;
}

static int run_command(struct session *s, struct error *err)
{
	int ret = command_spawn(&s->command, &s->launcher, err);

	if (!ret) {
		if (engine_involve(s->engine, s->command.pid, err))
			log_warn("%s", err->text);
		expect_begin(s, s->command.pid);
		ret = command_release(&s->command, s->opt.command, err);
	}
	if (!ret)
		session_expect_chains(s, s->command.pid);
	return ret;
}

/* One run of the command, for @target, or none (-1); its wall time. -EINTR when it was cut short.
 */
static int timed_run(struct experiment *x, int target, double *wall_s, struct error *err)
{
	struct session *s = x->s;
	uint64_t start = clock_now_ns();
	int ret = run_command(s, err);

	if (ret)
		return ret;
	while (command_running(&s->command)) {
		if (session_over(s)) {
			engine_set_speedup(s->engine, 0); /* it may take its time */
			command_terminate(&s->command, 2, &session_at_once);
			return -EINTR;
		}
		session_look(s);
		quotas_look(s);
		if (target >= 0)
			trials_look(x->trials, target);
		usleep(1000);
	}
	*wall_s = (clock_now_ns() - start) / 1e9;
	if (s->command.interrupted)
		session_interrupted = true;
	s->command_status = s->command.status;
	return 0;
}

static void count_run(struct session *s, struct profile_window *w, double wall_s)
{
	w->wall_s = wall_s;
	w->n_progress = 1;
	w->progress = xcalloc(1, sizeof(*w->progress));
	w->progress[0].visits = 1;
	w->progress[0].virtual_s = w->wall_s - w->inserted_s;
	if (s->command.status != 0)
		w->discard = DISCARD_COMMAND; /* whatever else there was */
}

static int run_window(struct experiment *x, const struct plan_window *what, struct error *err)
{
	struct profile_window w = { .speedup = what->speedup, .real = what->real };
	struct session *s = x->s;
	struct window_watch watch;
	double wall_s = 0;
	int ret;
	bool set;

	while ((ret = trials_select(x->trials, what->target, err)) == -EAGAIN) {
		if (!session_sleep(s, 0.1))
			return -EINTR;
	}
	if (ret)
		return ret;
	set = window_set_speedup(s, what);
	window_watch_begin(s, &watch);
	ret = timed_run(x, what->target, &wall_s, err);
	window_watch_end(s, &watch, &w);
	window_set_speedup(s, &(struct plan_window){ 0 });
	if (ret)
		return ret;
	w.expected_pp =
		sampling_expected_pp(&x->sampling, s,
				     &(struct happened){ &watch.before, &watch.after, wall_s, 0,
							 window_seen(&w), window_waits(&w) });
	w.expected_pp += window_flaws_pp(s, &watch, &w);
	count_run(s, &w, wall_s);
	if (!trials_trust(x->trials, what->target))
		window_discard(&w, DISCARD_LOST);
	if (!set)
		window_discard(&w, DISCARD_TRUTH);
	ret = windows_record(x->windows, what->target, &w, false);
	trials_rest(x->trials, what->target);
	return ret;
}

static int run_control(struct experiment *x, int target, struct error *err)
{
	struct profile_window w = { .speedup = 0 };
	struct session *s = x->s;
	struct window_watch watch;
	double wall_s = 0;
	int ret;

	if (!windows_stop_all(x->windows))
		return 0;
	window_watch_begin(s, &watch);
	ret = timed_run(x, -1, &wall_s, err);
	window_watch_end(s, &watch, &w);
	windows_go_on(x->windows);
	if (ret)
		return ret;
	count_run(s, &w, wall_s);
	return windows_record_control(x->windows, target, &w);
}

static struct stretch stretch_so_far(const struct experiment *x)
{
	size_t n;
	const struct profile_window *w = windows_all(x->windows, &n);

	return stretch_estimate(w, n, 0);
}

/* What ends the runs, work or a clock? Asked early, and seldomer as long as it is not clear. */
static int look_for_clock(struct experiment *x, uint32_t done, uint32_t *next, int target,
			  struct error *err)
{
	struct stretch s = stretch_so_far(x);
	_cleanup_free_ char *shorter = NULL;
	int ret;

	if (done < *next || !stretch_is_open(&s, STRETCH_MOSTLY))
		return 0;
	*next = 2 * *next + 2;
	ret = run_control(x, target, err);
	s = stretch_so_far(x);
	shorter = stretch_shorter_text(&s);
	if (!ret && isfinite(s.lo))
		session_event(x->s, "control",
			      "of what everything was stopped for in %zu runs, they took longer by "
			      "%.0f %% [%.0f, %.0f]%s%s",
			      s.windows, 100 * s.part, 100 * s.lo, 100 * s.hi,
			      shorter ? ", and their " : "", shorter ? shorter : "");
	return ret;
}

#define COUNT_INSTEAD \
	"Count what the program gets done instead: a progress point (-p), without --end-to-end"

static void warn_of_clock(struct experiment *x)
{
	struct stretch s = stretch_so_far(x);
	_cleanup_free_ char *shorter = stretch_shorter_text(&s);

	if (stretch_takes_less(&s))
		session_warn(
			x->s,
			"a clock ends the runs of the command, not their work: when everything "
			"was stopped for a while, they took longer by %.0f %% of that only; "
			"nothing can be concluded from how long they take. " COUNT_INSTEAD,
			100 * s.part);
	else if (stretch_by_clock(&s))
		session_warn(
			x->s,
			"a clock may have a say in how long the runs of the command take: when "
			"everything was stopped for a while, their %s, and what seems to be saved "
			"may be waited for then. " COUNT_INSTEAD,
			shorter);
}

int end_to_end_run(struct experiment *x, struct error *err)
{
	struct session *s = x->s;
	uint32_t most = end_to_end_max_windows(&s->opt);
	struct engine_ledger a, b;
	double wall_s = 0;
	uint32_t next_control = 1;
	int ret;

	engine_read_ledger(s->engine, &a);
	ret = timed_run(x, -1, &wall_s, err);
	engine_read_ledger(s->engine, &b);
	expect_end(s);
	if (ret)
		return ret == -EINTR ? 0 : ret;
	experiment_choose_period(x, &(struct happened){ &a, &b, wall_s, 0,
							targets_seen(&s->opt, s->engine),
							targets_wait(&s->opt, s->engine) });
	ret = lease_start(s->engine, &s->cores, &s->lease, err);
	for (uint32_t done = 0, looked = 1; !ret && !session_over(s); done++) {
		struct plan_window what;
		enum plan_answer answer;

		if (!session_repair(s, err))
			log_warn("%s", err->text);
		if (!session_await_chains(s))
			break;
		answer = trials_next(x->trials, &what);

		/* A short run has too few samples to choose a target by, or to find one. */
		if (answer == PLAN_WAIT && !trials_are_over(x->trials) && looked++ < MAX_LOOKS) {
			done--;
			ret = timed_run(x, -1, &wall_s, err);
			continue;
		}
		if (answer == PLAN_PRECISE &&
		    precise_goes_on(s, x->trials, x->windows, &x->precise_s))
			answer = trials_next(x->trials, &what);
		if (answer == PLAN_PRECISE)
			s->end = END_PRECISION;
		if (answer != PLAN_MEASURE || (most && done == most))
			break;
		ret = run_window(x, &what, err);
		if (ret == -ENOENT && looked < MAX_LOOKS &&
		    trials_postpone(x->trials, what.target, err->text)) {
			log_debug("%s", err->text);
			done--;
			ret = 0;
			continue;
		}
		if (ret == -ENOENT || ret == -E2BIG || ret == -ENOTSUP || ret == -EACCES) {
			trials_break(x->trials, what.target, err->text);
			ret = 0;
		} else if (!ret && !session_over(s)) {
			ret = look_for_clock(x, done + 1, &next_control, what.target, err);
		}
	}
	warn_of_clock(x);
	return ret == -EINTR ? 0 : ret;
}
