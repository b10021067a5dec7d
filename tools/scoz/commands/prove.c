// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs programs with a known answer under scozd --truth, which predicts in some windows what it
 * really brings about in others, and says how far the two are apart here and now.
 */
#include "tools/scoz/commands/prove.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "base/json_text.h"
#include "profile/profile.h"
#include "stats/stats.h"
#include "tools/scoz/cmds.h"
#include "tools/scoz/commands/scozd_child.h"

#define SPEEDUPS      "50,100"
#define GRACE_S	      45   /* for scozd to start and to end */
#define VAGUE_PP      10.0 /* half width, from which on nothing is proved */
#define WIDE_PP	      3.0  /* half width */
#define MUCH_STOLEN   0.02 /* of the time of tasks */
#define DEAR_TICK_US  20.0
#define PERIOD_LIMITS 1.0 /* expected error in points */
/*
 * Times the interval of 95 % of a difference: so far away chance puts one of four points in one run
 * of twenty; outside of the interval, in one of five.
 */
#define SURELY 1.27

struct proof_point {
	double speedup, real, real_lo, real_hi, predicted, lo, hi;
	double off; /* the error, in half widths of its interval */
};

/* Of one program. */
struct proof {
	const char *name;
	struct proof_point *points;
	size_t n;
	char *why;			     /* no points; NULL: there are */
	double tick_us, stolen, expected_pp; /* tick_us 0: not known */
	const char *verdict;
	bool wrong;
};

static void proof_free(struct proof *p)
{
	free(p->points);
	free(p->why);
}

static bool is_inside(const struct proof_point *x)
{
	return x->off <= 1;
}

static double half_toward(double value, double lo, double hi, bool up)
{
	return up ? hi - value : value - lo;
}

static void add_points(struct proof *p, const struct estimate *e)
{
	p->points = xcalloc(e->n_points, sizeof(*p->points));
	for (size_t i = 1; i < e->n_points; i++) {
		const struct estimate_point *x = &e->points[i];
		double error = x->program_speedup_pct - x->measured_pct, a, b;

		if (!x->measured_windows || !isfinite(x->ci_lo) || !isfinite(x->measured_lo))
			continue;
		a = half_toward(x->measured_pct, x->measured_lo, x->measured_hi, error > 0);
		b = half_toward(x->program_speedup_pct, x->ci_lo, x->ci_hi, error < 0);
		p->points[p->n++] = (struct proof_point){
			.speedup = x->speedup_pct,
			.real = x->measured_pct,
			.real_lo = x->measured_lo,
			.real_hi = x->measured_hi,
			.predicted = x->program_speedup_pct,
			.lo = x->ci_lo,
			.hi = x->ci_hi,
			.off = error == 0 ? 0 : fabs(error) / hypot(a, b),
		};
	}
	p->verdict = verdict_name(e->verdict);
	/* Each of the programs gains. */
	p->wrong = e->verdict == VERDICT_CONTENTION || e->verdict == VERDICT_NO_EFFECT;
}

static void take_stock(struct proof *p, const struct profile *profile)
{
	double ran = 0, stolen = 0;
	size_t n = 0;

	for (size_t i = 0; i < profile->n_windows; i++) {
		const struct profile_window *w = &profile->windows[i];

		ran += w->ran_s;
		stolen += w->stolen_s;
		p->expected_pp += w->expected_pp;
		n++;
	}
	p->expected_pp = n ? p->expected_pp / n : 0;
	p->stolen = ran > 0 ? stolen / ran : 0;
	if (profile->n_machines)
		p->tick_us = 1e6 * profile->machines[profile->n_machines - 1].tick_cost_s;
}

static void conclude(struct proof *p, const char *path, double seconds,
		     const struct scozd_result *run)
{
	struct stats_options opt = { .seed = 1 };
	struct profile *profile = NULL;
	struct estimates e = { 0 };
	struct error err = {};

	if (profile_read(path, &profile, &err)) {
		_cleanup_free_ char *line = scozd_last_words(run->said);

		p->why = xasprintf("scozd ended with status %d: %s", run->status, line);
		return;
	}
	take_stock(p, profile);
	stats_estimate(profile->windows, profile->n_windows, profile->n_progress, &opt, &e);
	if (e.n)
		add_points(p, &e.e[0]);
	if (!p->n && profile->runs[0].footer.n_reasons)
		p->why = xasprintf("no prediction: %s", profile->runs[0].footer.reasons[0]);
	else if (!p->n)
		p->why = xasprintf("too few windows in %.0f s: give it more time", seconds);
	estimates_free(&e);
	profile_free(profile);
}

/* The signal that ended it, or 0. */
static int prove_one(struct proof *p, const char *self, const char *scozd, const char *dir,
		     double seconds)
{
	_cleanup_free_ char *knob = xasprintf("%s/knob", dir), *out = xasprintf("%s/profile", dir);
	_cleanup_free_ char *progress = xasprintf("progress=%s:scoz_prove_progress", self);
	_cleanup_free_ char *duration = xasprintf("%g", seconds);
	char *argv[] = {
		(char *)scozd, "-p",	      progress,	       "--target", "func:scoz_prove_target",
		"--speedup",   SPEEDUPS,      "--truth",       knob,	   "-o",
		out,	       "--duration",  duration,	       "--",	   (char *)self,
		"doctor",      PROVE_PROGRAM, (char *)p->name, knob,	   NULL
	};
	struct scozd_result run;

	scozd_run(argv, seconds + GRACE_S, &run);
	conclude(p, out, seconds, &run);
	free(run.said);
	unlink(knob);
	unlink(out);
	return run.signal;
}

/* ---- what it means ---- */

struct sum {
	size_t points, inside, far;
	double error, worst, half, tick_us, stolen, expected_pp;
	bool wrong, missing;
};

static struct sum sum_up(const struct proof *p, size_t n)
{
	struct sum s = { 0 };

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < p[i].n; k++) {
			const struct proof_point *x = &p[i].points[k];

			s.points++;
			s.inside += is_inside(x);
			s.far += x->off > SURELY;
			s.error += fabs(x->predicted - x->real);
			s.worst = fmax(s.worst, fabs(x->predicted - x->real));
			s.half = fmax(s.half, fmax(x->hi - x->lo, x->real_hi - x->real_lo) / 2);
		}
		s.tick_us = fmax(s.tick_us, p[i].tick_us);
		s.stolen = fmax(s.stolen, p[i].stolen);
		s.expected_pp = fmax(s.expected_pp, p[i].expected_pp);
		s.wrong |= p[i].wrong;
		s.missing |= !p[i].n;
	}
	s.error = s.points ? s.error / s.points : 0;
	return s;
}

static bool trusted(const struct sum *s)
{
	return s->points && s->inside == s->points && !s->wrong && !s->missing &&
	       s->half <= VAGUE_PP;
}

/* Too wide an interval, or none, or one that chance may explain, proves nothing either way. */
static bool refuted(const struct sum *s)
{
	return s->far || s->wrong;
}

/* To be freed, as the array. */
static char **advice(const struct sum *s, size_t *n)
{
	char **a = xcalloc(8, sizeof(*a));

	*n = 0;
	if (s->missing)
		a[(*n)++] = xstrdup("a program gave no answer: see above");
	if (s->far)
		a[(*n)++] =
			xstrdup("an interval is further from the truth than chance puts one in "
				"most runs (in one of twenty it does): run it again, and trust no "
				"prediction if it comes back");
	else if (s->inside < s->points)
		a[(*n)++] = xasprintf("%zu of %zu intervals do not hold the truth, but nearly: by "
				      "chance one does not in one run of five: run it again, for "
				      "longer",
				      s->points - s->inside, s->points);
	if (s->wrong)
		a[(*n)++] = xstrdup("a verdict is wrong: each of the programs gains; run it again, "
				    "and trust no verdict if it comes back");
	if (s->stolen > MUCH_STOLEN)
		a[(*n)++] =
			xasprintf("the host takes %.0f %% of the time of tasks, which costs up "
				  "to %.0f points at 100 %% that no longer run mends: use a "
				  "quieter host, or cores of your own",
				  100 * s->stolen,
				  100 * (STEAL_DOUBT + STEAL_LOW) * fmin(s->stolen, STEAL_MOST));
	if (s->tick_us > DEAR_TICK_US)
		a[(*n)++] = xasprintf("a tick costs %.0f us: programs that synchronise more often "
				      "than every few ms are predicted less well than these; heed "
				      "scozd's warning",
				      s->tick_us);
	if (s->expected_pp > PERIOD_LIMITS)
		a[(*n)++] = xasprintf("the sampling period alone is expected to cost %.1f points",
				      s->expected_pp);
	if (s->half > VAGUE_PP)
		a[(*n)++] =
			xasprintf("intervals are too wide (+-%.0f) to tell right from wrong: more "
				  "time (--prove=SECONDS), or less going on beside",
				  s->half);
	else if (s->half > WIDE_PP)
		a[(*n)++] =
			xstrdup("intervals are wide: run longer (scozd --precision POINTS), and "
				"stop what else keeps the cores busy");
	return a;
}

static void print_text(const struct proof *p, size_t n, double seconds)
{
	struct sum s = sum_up(p, n);
	size_t n_advice;
	char **a = advice(&s, &n_advice);

	printf("%-10s %9s  %-24s %-24s %7s\n", "program", "target by", "really gained", "predicted",
	       "error");
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < p[i].n; k++) {
			const struct proof_point *x = &p[i].points[k];

			printf("%-10s %7.0f %%  %5.1f [%5.1f, %5.1f] %%   %5.1f [%5.1f, %5.1f] %%  "
			       " "
			       "%+6.1f  %s\n",
			       p[i].name, x->speedup, x->real, x->real_lo, x->real_hi, x->predicted,
			       x->lo, x->hi, x->predicted - x->real,
			       is_inside(x)	 ? ""
			       : x->off > SURELY ? "far outside"
						 : "outside");
		}
		if (p[i].why)
			printf("%-10s %s\n", p[i].name, p[i].why);
	}
	if (s.points) {
		printf("\nmean error %.1f points, worst %.1f; widest interval +-%.1f after %.0f s "
		       "a "
		       "program\n",
		       s.error, s.worst, s.half, seconds / n);
		if (s.tick_us > 0)
			printf("a sampling tick costs %.0f us; ", s.tick_us);
		printf("the host takes %.1f %% of the time of tasks\n", 100 * s.stolen);
	}
	printf("\n%s\n", trusted(&s)   ? "Predictions hold here, within their intervals."
			 : refuted(&s) ? "Predictions do not hold here:"
				       : "Predictions are not proved here:");
	for (size_t i = 0; i < n_advice; i++) {
		printf("  - %s\n", a[i]);
		free(a[i]);
	}
	free(a);
}

static json_t *interval(double lo, double hi)
{
	return json_pack("[f,f]", lo, hi);
}

/* @n 0: none was run. @words: of advice; they are freed. */
static void print_json(const struct proof *p, size_t n, double seconds, char **words,
		       size_t n_words)
{
	struct sum s = sum_up(p, n);
	json_t *root = json_object(), *programs = json_array(), *todo = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object(), *points = json_array();

		for (size_t k = 0; k < p[i].n; k++) {
			const struct proof_point *x = &p[i].points[k];

			json_array_append_new(
				points, json_pack("{s:f,s:f,s:o,s:f,s:o,s:b}", "speedup_pct",
						  x->speedup, "real_pct", x->real, "real_ci95",
						  interval(x->real_lo, x->real_hi), "predicted_pct",
						  x->predicted, "predicted_ci95",
						  interval(x->lo, x->hi), "inside", is_inside(x)));
		}
		json_object_set_new(o, "name", json_string(p[i].name));
		json_object_set_new(o, "points", points);
		json_object_set_new(o, "verdict",
				    p[i].verdict ? json_string(p[i].verdict) : json_null());
		json_object_set_new(o, "failure", p[i].why ? json_string(p[i].why) : json_null());
		json_array_append_new(programs, o);
	}
	for (size_t i = 0; i < n_words; i++) {
		json_array_append_new(todo, json_text(words[i]));
		free(words[i]);
	}
	free(words);
	json_object_set_new(root, "schema", json_string("scoz-doctor-prove/1"));
	json_object_set_new(root, "can_run", json_boolean(n > 0));
	json_object_set_new(root, "proved", json_boolean(trusted(&s)));
	json_object_set_new(root, "seconds", json_real(seconds));
	json_object_set_new(root, "mean_abs_error", s.points ? json_real(s.error) : json_null());
	json_object_set_new(root, "worst_abs_error", s.points ? json_real(s.worst) : json_null());
	json_object_set_new(root, "widest_half_width", s.points ? json_real(s.half) : json_null());
	json_object_set_new(root, "tick_us", s.tick_us > 0 ? json_real(s.tick_us) : json_null());
	json_object_set_new(root, "stolen_pct", n ? json_real(100 * s.stolen) : json_null());
	json_object_set_new(root, "expected_pp", n ? json_real(s.expected_pp) : json_null());
	json_object_set_new(root, "programs", programs);
	json_object_set_new(root, "advice", todo);
	json_dumpf(root, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(root);
}

void prove_nothing(const struct capabilities *c)
{
	char **missing = xcalloc(c->n + 1, sizeof(*missing));
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct capability *p = &c->list[i];

		if (p->required && p->status == CAPABILITY_MISSING)
			missing[n++] = xasprintf("%s: %s%s%s", p->id, p->found,
						 p->remedy ? ": " : "", p->remedy ? p->remedy : "");
	}
	print_json(NULL, 0, 0, missing, n);
}

static void print_proofs(const struct proof *p, size_t n, double seconds)
{
	struct sum s = sum_up(p, n);
	size_t n_advice;
	char **a = advice(&s, &n_advice);

	print_json(p, n, seconds, a, n_advice);
}

int prove(double seconds, bool json)
{
	struct proof p[4] = { 0 };
	_cleanup_free_ char *self = own_path(), *scozd = NULL;
	const char *tmp = getenv("TMPDIR");
	_cleanup_free_ char *dir = xasprintf("%s/scoz-prove-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	struct sum s;
	size_t n = 0;
	int ended_by = 0;

	if (!self) {
		log_warn("doctor --prove: cannot find the program itself: mount /proc");
		return EXIT_FAILED;
	}
	if (!mkdtemp(dir)) {
		log_warn("doctor --prove: cannot make the directory %s: %s: set TMPDIR", dir,
			 strerror(errno));
		return EXIT_FAILED;
	}
	scozd = scozd_path(self);
	while (prove_names[n])
		n++;
	for (size_t i = 0; i < n && !ended_by; i++) {
		p[i].name = prove_names[i];
		if (!json)
			log_warn("%s: predicted and really measured, for %.0f s", p[i].name,
				 seconds / n);
		ended_by = prove_one(&p[i], self, scozd, dir, seconds / n);
	}
	rmdir(dir);
	if (ended_by) {
		for (size_t i = 0; i < n; i++)
			proof_free(&p[i]);
		raise(ended_by);
		return EXIT_FAILED;
	}
	if (json)
		print_proofs(p, n, seconds);
	else
		print_text(p, n, seconds);
	s = sum_up(p, n);
	for (size_t i = 0; i < n; i++)
		proof_free(&p[i]);
	return trusted(&s) ? EXIT_DONE : refuted(&s) ? EXIT_FAILED : EXIT_NOTHING;
}
