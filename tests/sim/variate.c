// SPDX-License-Identifier: GPL-2.0-or-later
#include "variate.h"

#include "replay.h"

#include <math.h>

#define SETTLE_S 0.1
#define WARM_S	 0.5

/* Logarithms, for a unit of work. */
struct measured {
	double time, cpu, replay;
};

struct recorded {
	struct trace_event *v;
	size_t n, cap;
	bool on;
};

static void keep(const struct trace_event *e, void *arg)
{
	struct recorded *r = arg;

	if (!r->on)
		return;
	array_reserve(r->v, r->cap, r->n + 1);
	r->v[r->n++] = *e;
}

static void run_for(struct sim *s, double seconds)
{
	sim_run(s, sim_now(s) + llround(seconds * SIM_S));
}

/* @treated: with the virtual speedup; of either the replay tells of a speedup as large. */
static struct measured measure(struct sim *s, struct recorded *r, const struct sim_program *p,
			       double speedup, bool treated, double window_s)
{
	struct sim_progress a, b;
	struct sim_ledger before, after;
	uint64_t visits;
	struct measured ret;

	sim_set_speedup(s, treated ? speedup : 0, 0);
	run_for(s, SETTLE_S);
	r->n = 0;
	r->on = true;
	sim_read_progress(s, &a);
	sim_read_ledger(s, &before);
	run_for(s, window_s);
	sim_read_progress(s, &b);
	sim_read_ledger(s, &after);
	r->on = false;
	visits = b.visits - a.visits;
	ret.time = log((b.last_virtual - a.last_virtual) / (double)visits);
	ret.cpu = log((after.ran - before.ran) / (double)visits);
	ret.replay = log(1 - replay_gain_of(r->v, r->n, p, speedup) / 100);
	return ret;
}

static double mean(const double *x, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += x[i];
	return sum / n;
}

static double product(const double *x, const double *y, int n)
{
	double mx = mean(x, n), my = mean(y, n), sum = 0;

	for (int i = 0; i < n; i++)
		sum += (x[i] - mx) * (y[i] - my);
	return sum;
}

/* Share of @y's variance that @x explains, less what any noise would. */
static double explained(const double *y, const double *x, int n)
{
	double xx = product(x, x, n), yy = product(y, y, n), xy = product(x, y, n);
	double r2 = xx > 0 && yy > 0 ? xy * xy / xx / yy : 0;

	return fmax(1 - (1 - r2) * (n - 1) / (n - 2), 0);
}

/* Takes off of @y what @x explains. */
static void take_off(double *y, const double *x, int n)
{
	double xx = product(x, x, n), slope = xx > 0 ? product(x, y, n) / xx : 0, mx = mean(x, n);

	for (int i = 0; i < n; i++)
		y[i] -= slope * (x[i] - mx);
}

static double difference(double a, double before, double after)
{
	return a - (before + after) / 2;
}

static void conclude(double *time, double *cpu, double *replay, int n, struct sim_variate *ret)
{
	ret->pairs = n;
	ret->noise = 100 * sqrt(product(time, time, n) / (n - 1));
	ret->shift = 100 * mean(replay, n);
	ret->shift_se = 100 * sqrt(product(replay, replay, n) / (n - 1) / n);
	ret->cpu = explained(time, cpu, n);
	ret->alone = explained(time, replay, n);
	take_off(time, cpu, n);
	take_off(replay, cpu, n);
	ret->replay = explained(time, replay, n);
}

void variate_study(const struct sim_program *program, const struct sim_config *c, double speedup,
		   double seconds, double window_s, struct sim_variate *ret)
{
	struct sim_program *p = study_beside(program, c);
	int n = seconds / 2 / (window_s + SETTLE_S), kept = 0;
	double *time = xcalloc(n + 1, sizeof(*time)), *cpu = xcalloc(n + 1, sizeof(*cpu)),
	       *replay = xcalloc(n + 1, sizeof(*replay));
	struct recorded r = {};
	struct sim_options o = c->o;
	struct measured last, x, next;
	struct sim *s;

	o.trace = keep;
	o.trace_arg = &r;
	s = sim_create(p, &o);
	run_for(s, WARM_S);
	last = measure(s, &r, p, speedup, false, window_s);
	for (int i = 0; i < n; i++) {
		x = measure(s, &r, p, speedup, true, window_s);
		next = measure(s, &r, p, speedup, false, window_s);
		time[kept] = difference(x.time, last.time, next.time);
		cpu[kept] = difference(x.cpu, last.cpu, next.cpu);
		replay[kept] = difference(x.replay, last.replay, next.replay);
		kept += isfinite(time[kept]) && isfinite(cpu[kept]) && isfinite(replay[kept]);
		last = next;
	}
	*ret = (struct sim_variate){ .pairs = kept };
	if (kept > 3)
		conclude(time, cpu, replay, kept, ret);
	sim_free(s);
	free(r.v);
	free(time);
	free(cpu);
	free(replay);
	program_free(p);
}
