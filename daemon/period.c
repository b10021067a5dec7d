// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/period.h"
#include "plan/period.h"

#include <math.h>

void sampling_begin(struct sampling *p, const struct options *opt)
{
	p->period_ns = opt->frequency > 0 ? NSEC_PER_SEC / opt->frequency : NSEC_PER_MSEC;
	if (p->period_ns < p->min_period_ns)
		p->period_ns = p->min_period_ns;
}

/* What a period has to do with. */
static struct period_input period_input(const struct sampling *p, const struct session *s,
					const struct happened *h)
{
	const struct engine_ledger *a = h->a, *b = h->b;
	/* Stops are no time of the program's. */
	double own = fmax(h->seconds - (b->delay - a->delay) / 1e9, h->seconds / 100);

	return (struct period_input){
		.syncs_per_s = (b->syncs - a->syncs) / own,
		.polls_per_s = (b->polls - a->polls) / own,
		.spins_per_s = (b->spins - a->spins) / own,
		.spin_ns = b->spins > a->spins ? (double)(b->spun - a->spun) / (b->spins - a->spins)
					       : 0,
		.visits_per_s = h->visits_per_s,
		.tick_cost_ns = p->tick_cost_ns,
		.runnable = (b->ran - a->ran + b->queued - a->queued) / 1e9 / own,
		.busy_cores = s->cores.n - (b->idle - a->idle) / 1e9 / h->seconds,
		.seen = h->seen,
		.waits = h->waits,
		.frequency_hz = s->opt.frequency,
		.least_ns = p->min_period_ns,
	};
}

double sampling_expected_pp(const struct sampling *p, const struct session *s,
			    const struct happened *h)
{
	struct period_input in = period_input(p, s, h);

	return period_expected_pp(&in, p->period_ns);
}

void sampling_choose(struct sampling *p, struct session *s, const struct happened *h,
		     bool provisional)
{
	struct period_input in = period_input(p, s, h);
	struct period_choice choice = period_choose(&in);
	_cleanup_free_ char *doubt = period_describe(&in, &choice), *interval = NULL;
	struct error err = {};

	p->period_ns = choice.period_ns;
	p->expected_pp = choice.error_pp;
	engine_set_nominal_period(s->engine, p->period_ns);
	handlers_set_period(s->handlers, p->period_ns);
	for (int i = 0; i < s->cores.n; i++)
		engine_set_period(s->engine, i, p->period_ns);
	if (profile_writer_frequency(s->writer, 1e9 / p->period_ns, &err))
		log_warn("%s", err.text);
	if (isfinite(choice.interval_s))
		interval = xasprintf("; the profiled tasks synchronise about every %.2f ms",
				     choice.interval_s * 1e3);
	session_event(
		s, "frequency",
		"%.0f samples a second and core, for which ticks take %.1f %% of a busy core%s: "
		"expect predictions to be off by %.1f points",
		1e9 / p->period_ns, 100 * choice.tick_share, interval ? interval : "",
		choice.error_pp);
	/* Before the first visit it is chosen for the time being. */
	if (doubt && !provisional && (h->visits_per_s > 0 || s->opt.end_to_end))
		session_warn(s, "%s", doubt);
}
