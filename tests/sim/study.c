// SPDX-License-Identifier: GPL-2.0-or-later
#include "study.h"

#include "base/base.h"
#include "plan/period.h"
#include "stats/stats.h"
#include "stats/stretch.h"

#include <math.h>

#define CONTROL_DELAY 0.25
#define WARM_UP	      0.1 /* of the run, not counted */
#define STUDY_SEEDS   3

/* They take a core for 1 to 20 ms: a tenth of one in all. */
static const struct {
	int64_t sleep, work;
} stranger[] = { { 37 * SIM_MS, SIM_MS },
		 { 113 * SIM_MS, 4 * SIM_MS },
		 { 510 * SIM_MS, 20 * SIM_MS } };

static bool parse_word(const char *word, struct sim_config *c)
{
	if (!strcmp(word, "wait"))
		c->o.model = SCOZ_MODEL_WAIT;
	else if (!strcmp(word, "core"))
		c->o.model = SCOZ_MODEL_CORE;
	else if (!strcmp(word, "exclude"))
		c->o.exclude = true;
	else if (!strcmp(word, "period=auto"))
		c->auto_period = true;
	else if (!strncmp(word, "period=", 7))
		c->o.period = atof(word + 7) * SIM_US;
	else if (!strncmp(word, "irregular=", 10))
		c->o.irregular = atof(word + 10) / 100;
	else if (!strncmp(word, "nominal=", 8))
		c->o.nominal_period = atof(word + 8) * SIM_US;
	else if (!strncmp(word, "batch=", 6))
		c->o.batch = atoi(word + 6);
	else if (!strncmp(word, "cost=", 5))
		c->o.tick_cost = atoll(word + 5);
	else if (!strncmp(word, "latency=", 8))
		c->o.wake_latency = atoll(word + 8);
	else if (!strncmp(word, "seed=", 5))
		c->o.seed = atoll(word + 5);
	else if (!strncmp(word, "steal=", 6))
		c->o.weather.stolen = atof(word + 6) / 100;
	else if (!strncmp(word, "jump=", 5))
		c->o.weather.jump = atof(word + 5);
	else if (!strncmp(word, "heartbeat=", 10))
		c->heartbeat = atof(word + 10) * SIM_MS;
	else if (!strncmp(word, "hogs=", 5))
		c->hogs = atof(word + 5) / 100;
	else if (!strcmp(word, "strangers"))
		c->strangers = true;
	else if (!strncmp(word, "common=", 7))
		c->o.weather.common = atof(word + 7) / 100;
	else if (!strncmp(word, "late=", 5))
		c->o.weather.late = atof(word + 5) / 100;
	else if (!strcmp(word, "idle-too"))
		c->o.weather.idle = true;
	else if (!strcmp(word, "foul"))
		c->o.weather.stolen = 0.3, c->o.weather.jump = 2, c->o.tick_cost = 20 * SIM_US;
	else if (!strcmp(word, "defer"))
		c->o.defer = true;
	else if (!strcmp(word, "spins"))
		c->o.spins = true;
	else if (!strcmp(word, "blind"))
		c->o.sees_spins = false;
	else if (!strcmp(word, "credit"))
		c->o.slice_credit = true;
	else if (!strcmp(word, "no-share"))
		c->o.share = false;
	else if (!strcmp(word, "no-taken"))
		c->o.taken = false;
	else if (!strcmp(word, "no-spread"))
		c->o.spread = false;
	else if (!strcmp(word, "seen"))
		c->o.seen = true;
	else if (!strcmp(word, "calibrate"))
		c->calibrate = true;
	else if (!strcmp(word, "control"))
		c->o.control = true;
	else if (!strcmp(word, "no-devices"))
		c->o.devices = false;
	else if (!strcmp(word, "no-exchange"))
		c->o.exchange = false;
	else if (!strcmp(word, "no-servers"))
		c->o.servers = false;
	else if (!strcmp(word, "no-waits"))
		c->o.waits = false;
	else if (!strncmp(word, "max-stop=", 9))
		c->o.max_stop = atof(word + 9) * SIM_US;
	else if (!strcmp(word, "free-stops"))
		c->o.charge_stops = false;
	else if (!strncmp(word, "kick=", 5))
		c->o.kick = atof(word + 5) * SIM_US;
	else if (!strncmp(word, "waive=", 6))
		c->o.waive_every = atof(word + 6);
	else if (!strcmp(word, "no-waive"))
		c->o.waive = false;
	else if (!strcmp(word, "keep-sinks"))
		c->o.keep_sinks = true;
	else if (!strcmp(word, "engine=kernel"))
		c->o.defer = c->o.slice_credit = c->o.spins = c->o.keep_sinks = true,
		c->o.charge_stops = c->o.spread = false;
	else if (strcmp(word, "engine=bpf") != 0)
		return false;
	return c->o.period > 0 && c->o.batch > 0;
}

bool config_parse(const char *text, struct sim_config *ret)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *save = NULL;

	memset(ret, 0, sizeof(*ret));
	sim_options_default(&ret->o);
	snprintf(ret->text, sizeof(ret->text), "%s", text);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (!parse_word(w, ret))
			return false;
	}
	return true;
}

struct sim_program *study_beside(const struct sim_program *program, const struct sim_config *c)
{
	struct sim_program *p = program_copy(program);

	if (c->heartbeat) {
		int t = program_task(p);

		program_op(p, t, OP_SLEEP, c->heartbeat, 0, SIM_REST);
		program_op(p, t, OP_COMPUTE, 10 * SIM_US, 0, SIM_REST);
	}
	if (c->hogs > 0)
		weather_add_hogs(p, c->hogs, c->o.weather.common);
	for (int i = 0; c->strangers && i < (int)ARRAY_SIZE(stranger); i++)
		program_add_strangers(p, 1, stranger[i].work, stranger[i].sleep);
	return p;
}

struct run {
	double unit_ns;
	double slowdown;
	struct sim_ledger ledger;
	double seconds;
};

static struct run run(const struct sim_program *p, const struct sim_options *o,
		      double virtual_speedup, double real_speedup, double seconds)
{
	struct sim *s = sim_create(p, o);
	struct run ret = { .unit_ns = INFINITY, .slowdown = 1, .seconds = seconds };
	struct sim_progress a, b;
	struct sim_ledger first;

	sim_set_speedup(s, virtual_speedup, real_speedup);
	sim_run(s, WARM_UP * seconds * SIM_S);
	sim_read_progress(s, &a);
	sim_read_ledger(s, &first);
	sim_run(s, (1 + WARM_UP) * seconds * SIM_S);
	sim_read_progress(s, &b);
	sim_read_ledger(s, &ret.ledger);
	ret.ledger.syncs -= first.syncs;
	ret.ledger.spins -= first.spins;
	ret.ledger.spun -= first.spun;
	ret.ledger.idle -= first.idle;
	if (b.visits > a.visits) {
		/* as lib/stats/units.c does */
		double lost = CROWDED_SHARE * (ret.ledger.crowded - first.crowded) / p->cores;

		ret.unit_ns = (b.last_virtual - a.last_virtual - lost) / (b.visits - a.visits);
		ret.slowdown =
			(double)(b.last_time - a.last_time) / (b.last_virtual - a.last_virtual);
	}
	sim_free(s);
	return ret;
}

double study_unit_ns(const struct sim_program *p, const struct sim_options *o,
		     double virtual_speedup, double real_speedup, double seconds)
{
	return run(p, o, virtual_speedup, real_speedup, seconds).unit_ns;
}

int64_t study_period(const struct sim_program *p, const struct sim_config *c, bool *coarse)
{
	struct sim_options o = c->o;
	struct period_choice period;
	struct run r;

	o.period = SIM_MS; /* as scozd starts */
	r = run(p, &o, 0, 0, 1);
	period = period_choose(&(struct period_input){
		.syncs_per_s = r.ledger.syncs,
		.spins_per_s = r.ledger.spins,
		.spin_ns = r.ledger.spins ? (double)r.ledger.spun / r.ledger.spins : 0,
		.visits_per_s = isfinite(r.unit_ns) ? SIM_S / r.unit_ns : 0,
		.tick_cost_ns = c->o.tick_cost,
		.busy_cores = p->cores - r.ledger.idle / 1e9,
	});
	*coarse = period.coarse;
	return period.period_ns;
}

static int compare_unit(const void *a, const void *b)
{
	double x = ((const struct run *)a)->unit_ns, y = ((const struct run *)b)->unit_ns;

	return (x > y) - (x < y);
}

/*
 * The run that is the median of some seeds. A program that can fall into step with itself in more
 * than one way has no speed of its own; a single run would compare one way with another.
 */
static struct run typical(const struct sim_program *p, const struct sim_options *o,
			  double virtual_speedup, double real_speedup, double seconds)
{
	struct run r[STUDY_SEEDS];
	struct sim_options mine = *o;

	for (int i = 0; i < STUDY_SEEDS; i++) {
		mine.seed = o->seed + 1000 * i;
		r[i] = run(p, &mine, virtual_speedup, real_speedup, seconds / STUDY_SEEDS);
	}
	qsort(r, STUDY_SEEDS, sizeof(*r), compare_unit);
	return r[STUDY_SEEDS / 2];
}

/*
 * In points, what a prediction would be wrong by if effects added up (stats/stretch.h): reports
 * take only the half of it that is less than nothing for a value. 0: nothing is surely wrong.
 */
static double calibration(const struct sim_program *p, const struct sim_options *o,
			  const struct run *base, const struct run *treated, double seconds)
{
	struct sim_options mine = *o;
	struct stretch s = { .windows = 9 };
	struct run control;
	double ratio;

	mine.control = true;
	control = typical(p, &mine, CONTROL_DELAY / p->cores, 0, seconds);
	if (!(control.slowdown > 1) || !isfinite(control.unit_ns))
		return 0;
	ratio = control.unit_ns / base->unit_ns;
	s.part = s.lo = s.hi = 1 - (1 - ratio) / (ratio * (control.slowdown - 1));
	if (!stretch_by_clock(&s) && !stretch_costs_more(&s))
		return 0;
	return 100 * (s.part - 1) * (treated->slowdown - 1) * treated->unit_ns / base->unit_ns;
}

struct sim_result study(const struct sim_program *program, const struct sim_config *c,
			double speedup, double seconds)
{
	struct sim_program *p = study_beside(program, c);
	struct sim_result ret = { .period = c->o.period };
	struct sim_options o = c->o;
	struct run base, treated;
	double before, after;

	if (c->auto_period)
		ret.period = o.period = study_period(p, c, &ret.coarse);
	base = typical(p, &o, 0, 0, seconds);
	treated = typical(p, &o, speedup, 0, seconds);
	o.batch = 1;
	o.tick_cost = 0; /* what is true of the program when nobody looks */
	before = typical(p, &o, 0, 0, seconds).unit_ns;
	/* Nothing is faster where all is a hit: what is predicted is what is wrong. */
	after = c->o.control ? before : typical(p, &o, 0, speedup, seconds).unit_ns;
	ret.truth = 100 * (1 - after / before);
	ret.predicted = 100 * (1 - treated.unit_ns / base.unit_ns);
	if (c->calibrate) {
		o = c->o;
		o.period = ret.period;
		ret.predicted += calibration(p, &o, &base, &treated, seconds);
	}
	ret.slowdown = treated.slowdown;
	ret.ledger = treated.ledger;
	ret.seconds = treated.seconds;
	ret.stuck = !isfinite(base.unit_ns) || !isfinite(treated.unit_ns) || !isfinite(before) ||
		    !isfinite(after);
	program_free(p);
	return ret;
}
