// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --end-to-end: the unit of work is one whole run of the command. Each run is a window with one
 * speedup; runs are ordered as windows are (0 %, s1, 0 %, s2, ...). The first run only finds out
 * what is sampled, so that there are targets, and at which frequency.
 */
#include "daemon/lease.h"
#include "daemon/session.h"

#include <unistd.h>

#define ROUNDS_BY_DEFAULT 5

static int run_command(struct session *s, struct error *err)
{
	int ret = command_spawn(&s->command, s->opt.command, s->opt.user, err);

	if (!ret) {
		if (engine_involve(s->engine, s->command.pid, err))
			log_warn("%s", err->text);
		ret = command_release(&s->command, s->opt.command, err);
	}
	return ret;
}

/* One run of the command; its wall time. -EINTR when it was cut short. */
static int timed_run(struct session *s, double *wall_s, struct error *err)
{
	uint64_t start = clock_now_ns();
	int ret = run_command(s, err);

	if (ret)
		return ret;
	while (command_running(&s->command)) {
		if (session_over(s)) {
			command_terminate(&s->command, 2);
			return -EINTR;
		}
		usleep(1000);
	}
	*wall_s = (clock_now_ns() - start) / 1e9;
	if (s->command.interrupted)
		session_interrupted = 1;
	s->command_status = s->command.status;
	return 0;
}

static int run_window(struct session *s, struct trial *t, double speedup, struct error *err)
{
	struct profile_window w = { .speedup = speedup, .n_progress = 1 };
	struct engine_ledger before, after;
	uint64_t start = clock_now_ns();
	int ret;

	ret = trial_select(s, t, err);
	if (ret)
		return ret;
	engine_set_speedup(s->engine, speedup);
	engine_read_ledger(s->engine, &before);
	ret = timed_run(s, &w.wall_s, err);
	engine_read_ledger(s->engine, &after);
	engine_set_speedup(s->engine, 0);
	if (ret)
		return ret;
	w.start_s = (start - s->start_ns) / 1e9;
	w.inserted_s = (after.delay - before.delay) / 1e9;
	w.hits = after.hits - before.hits;
	w.progress = xcalloc(1, sizeof(*w.progress));
	w.progress[0].visits = 1;
	w.progress[0].virtual_s = w.wall_s - w.inserted_s;
	if (s->command.status != 0)
		w.discard = "command failed";
	return window_record(s, t, &w);
}

int end_to_end_run(struct session *s, struct error *err)
{
	int runs = s->opt.runs, ret;
	struct engine_ledger a, b;
	double wall_s = 0;

	engine_read_ledger(s->engine, &a);
	ret = timed_run(s, &wall_s, err);
	engine_read_ledger(s->engine, &b);
	if (ret)
		return ret == -EINTR ? 0 : ret;
	experiment_choose_period(s, &a, &b, wall_s);
	ret = lease_start(s->engine, &s->lease, err);
	for (int done = 0, round = 0; !ret && !session_over(s); round++) {
		struct trial *t = trials_next(s);
		size_t n = s->opt.n_speedups;

		if (!t) {
			session_reason(s, "no target was sampled while the command ran (%.2f s)",
				       wall_s);
			break;
		}
		if (!runs &&
		    round == ROUNDS_BY_DEFAULT * (s->opt.n_targets ? (int)s->n_trials : 1) &&
		    s->opt.duration <= 0)
			break;
		for (size_t i = 0; !ret && i < 2 * n + 1; i++) {
			ret = run_window(s, t, i % 2 ? s->opt.speedups[i / 2] : 0, err);
			if (++done == runs)
				return ret == -EINTR ? 0 : ret;
		}
		if (ret == -ENOENT || ret == -E2BIG || ret == -ENOTSUP || ret == -EACCES) {
			session_reason(s, "%s", err->text);
			t->broken = true;
			ret = 0;
		}
		t->rounds++;
	}
	return ret == -EINTR ? 0 : ret;
}
