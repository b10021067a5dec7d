// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/flaws.h"

#include <math.h>

#define LEAST_S	     1	   /* of the run, before something is told */
#define SHARE_PP     40.0  /* points for the whole of it, as of probes at calls (boundaries.h) */
#define ELSEWHERE_PP 100.0 /* likewise: a prediction may be anything then */
#define NOTHING_PP   200.0 /* no interval is narrow enough for anything */

static double probes_share(double probes_s, double wall_s, double ran_s)
{
	return probes_s > 0 ? fmin(probes_s / fmax(wall_s, ran_s), 1) : 0;
}

static double in_points(double share, double whole_pp)
{
	return share > FLAWS_MOST ? NOTHING_PP : share * whole_pp;
}

double flaws_probes_pp(double probes_s, double wall_s, double ran_s)
{
	return in_points(probes_share(probes_s, wall_s, ran_s), SHARE_PP);
}

static double elsewhere_share(const struct engine_ledger *l)
{
	return l->elsewhere ? l->elsewhere / ((double)l->elsewhere + l->ran) : 0;
}

double flaws_elsewhere_pp(const struct engine_ledger *l)
{
	return in_points(elsewhere_share(l), ELSEWHERE_PP);
}

double flaws_probes_ns(const struct session *s)
{
	double sum = 0;

	for (size_t i = 0; i < points_count(s->points); i++)
		sum += points_probes_ns(s->points, i, &s->probe_cost);
	return sum;
}

void flaws_look(struct session *s)
{
	double sum = 0;

	if (s->probe_cost_known || !points_leave_a_number(&s->opt))
		return;
	for (size_t i = 0; i < points_count(s->points); i++)
		sum += points_probes_ns(s->points, i, &PROBE_COST_DEAR);
	if (sum / 1e9 < FLAWS_TOLD * session_elapsed_s(s))
		return;
	s->probe_cost_known = true;
	probe_cost_measure(s->engine, &s->probe_cost);
}

double flaws_probes_share(const struct session *s, const struct engine_ledger *l)
{
	return probes_share(flaws_probes_ns(s) / 1e9, session_elapsed_s(s), l->ran / 1e9);
}

static const char *consequence(double share)
{
	return share > FLAWS_MOST ? "nothing can be concluded from the run"
				  : "intervals are wider by that";
}

static void tell_of_probes(struct session *s, const struct engine_ledger *l)
{
	double share = flaws_probes_share(s, l), most = 0;
	struct point_reading r;
	size_t dearest = 0;

	if (share < FLAWS_TOLD)
		return;
	for (size_t i = 0; i < points_count(s->points); i++) {
		double ns = points_probes_ns(s->points, i, &s->probe_cost);

		dearest = ns > most ? i : dearest;
		most = fmax(most, ns);
	}
	points_read(s->points, dearest, &r);
	r.visits -= points_first(s->points, dearest)->visits;
	s->probes_told = true;
	session_warn(
		s,
		"%s is reached %.0f times a second, and each visit costs the program %.1f "
		"\xc2\xb5s, as it is a probe: %.0f %% of the time of a CPU, by which it is slowed; "
		"%s. Cheaper are a mark in the program (SCOZ_PROGRESS of scoz.h), a function that "
		"is called once for many of these, or a tracepoint",
		s->opt.points[dearest].name, r.visits / session_elapsed_s(s),
		most / fmax(r.visits, 1) / 1e3, fmin(most / 1e7 / session_elapsed_s(s), 100),
		consequence(share));
}

static void tell_of_elsewhere(struct session *s, const struct engine_ledger *l)
{
	double share = elsewhere_share(l);

	if (share < FLAWS_TOLD)
		return;
	s->elsewhere_told = true;
	session_warn(s,
		     "%.0f %% of what profiled tasks ran was on CPUs that are not sampled, mostly "
		     "CPU %d: nobody is stopped there, so predictions are wrong; %s. Leave --cpus "
		     "out, or name all CPUs that they may run on (isolated ones are not sampled "
		     "without that)",
		     100 * share, l->elsewhere_most, consequence(share));
}

void flaws_tell(struct session *s, const struct engine_ledger *l)
{
	if (session_elapsed_s(s) < LEAST_S)
		return;
	if (!s->probes_told)
		tell_of_probes(s, l);
	if (!s->elsewhere_told)
		tell_of_elsewhere(s, l);
}
