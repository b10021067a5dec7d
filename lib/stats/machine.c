// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/machine.h"

#include <math.h>

#include "stats/strangers.h"
#include "stats/units.h"

#define LEAST_UNITS 12
#define N_CAUSES    3
#define NEIGHBOUR   2 /* windows between a treated one and its baseline, at most */

enum { CAUSE_STOLEN, CAUSE_SPEED, CAUSE_OTHERS };

/* Of one window; NAN: not known. */
struct state {
	double cause[N_CAUSES]; /* share stolen, log of the time for a fixed work, others' share */
	double log_period, log_ran, log_left;
};

struct mean {
	double sum, squares;
	size_t n;
};

static void mean_add(struct mean *m, double v)
{
	if (!isfinite(v))
		return;
	m->sum += v;
	m->squares += v * v;
	m->n++;
}

static double mean_of(const struct mean *m)
{
	return m->n ? m->sum / m->n : NAN;
}

static double sd_of(const struct mean *m)
{
	return m->n > 1 ? sqrt(fmax(m->squares - m->sum * m->sum / m->n, 0) / (m->n - 1)) : NAN;
}

static double others_share(const struct profile_window *w, double core_s)
{
	if (!(w->busy_s > 0))
		return NAN;
	return strangers_ran(w) / core_s;
}

static struct state state_of(const struct profile_window *w, int cores, uint32_t progress)
{
	double core_s = w->wall_s * cores, visits = 0, virtual_s = 0;

	if (progress < w->n_progress) {
		visits = w->progress[progress].visits;
		virtual_s = w->progress[progress].virtual_s;
	}
	return (struct state){
		.cause = { w->stolen_s / core_s, w->work_ns > 0 ? log(w->work_ns) : NAN,
			   others_share(w, core_s) },
		.log_period = visits > 0 && virtual_s > 0 ? log(virtual_s / visits) : NAN,
		.log_ran = visits > 0 && w->ran_s > 0 ? log(w->ran_s / visits) : NAN,
		.log_left = log(strangers_left(w)),
	};
}

/* ---- regression ---- */

struct observation {
	double y, x[N_CAUSES];
	double speedup;
};

/* Nearest kept 0 % window of the same run and target; NULL: none. */
static const struct profile_window *baseline(const struct profile_window *const *w, size_t n,
					     size_t from, int step)
{
	for (size_t i = from + step; i < n; i += step) {
		uint32_t distance = step > 0 ? w[i]->seq - w[from]->seq : w[from]->seq - w[i]->seq;

		if (w[i]->run != w[from]->run || distance > NEIGHBOUR)
			return NULL;
		if (w[i]->speedup < 1e-9 && !w[i]->discard)
			return w[i];
	}
	return NULL;
}

static bool observe(const struct profile_window *const *w, size_t n, size_t at, int cores,
		    const struct estimate *e, struct observation *ret)
{
	struct state t = state_of(w[at], cores, e->progress);
	double ran = t.log_ran, left = t.log_left, zeros = 0;

	*ret = (struct observation){ .y = t.log_period, .speedup = w[at]->speedup };
	memcpy(ret->x, t.cause, sizeof(t.cause));
	for (int step = -1; step <= 1; step += 2)
		zeros += baseline(w, n, at, step) != NULL;
	for (int step = -1; step <= 1; step += 2) {
		const struct profile_window *zero = baseline(w, n, at, step);
		struct state z;

		if (!zero)
			continue;
		z = state_of(zero, cores, e->progress);
		ret->y -= z.log_period / zeros;
		ran -= z.log_ran / zeros;
		left -= z.log_left / zeros;
		for (int k = 0; k < N_CAUSES; k++)
			ret->x[k] -= z.cause[k] / zeros;
	}
	if (e->control.strangers.slope != 0 && isfinite(left))
		ret->y += e->control.strangers.slope * left;
	if (e->control.slope != 0 && isfinite(ran))
		ret->y -= e->control.slope * ran;
	return zeros > 0 && isfinite(ret->y);
}

/* What a speedup does to all its windows is not noise. */
static void take_means_off(struct observation *o, size_t n)
{
	_cleanup_free_ struct observation *mean = xcalloc(n, sizeof(*mean));

	for (size_t i = 0; i < n; i++) {
		size_t same = 0;

		for (size_t j = 0; j < n; j++) {
			if (fabs(o[j].speedup - o[i].speedup) > 1e-6)
				continue;
			same++;
			mean[i].y += o[j].y;
			for (int k = 0; k < N_CAUSES; k++)
				mean[i].x[k] += o[j].x[k];
		}
		mean[i].y /= same;
		for (int k = 0; k < N_CAUSES; k++)
			mean[i].x[k] /= same;
	}
	for (size_t i = 0; i < n; i++) {
		o[i].y -= mean[i].y;
		for (int k = 0; k < N_CAUSES; k++)
			o[i].x[k] -= mean[i].x[k];
	}
}

/*
 * Takes the causes off one after the other, each made orthogonal to those before it. Returns how
 * many there are; *@explained: share of the squares of y.
 */
static int regress(struct observation *o, size_t n, double *explained)
{
	double all = 0, left = 0;
	int causes = 0;

	for (size_t i = 0; i < n; i++)
		all += o[i].y * o[i].y;
	for (int k = 0; k < N_CAUSES; k++) {
		double xx = 0, xy = 0, before = 0;

		for (size_t i = 0; i < n; i++) {
			xx += o[i].x[k] * o[i].x[k];
			xy += o[i].x[k] * o[i].y;
			before += fabs(o[i].x[k]);
		}
		if (!isfinite(xx) || !(xx > 1e-12 * n) || !(before > 0))
			continue;
		causes++;
		for (size_t i = 0; i < n; i++)
			o[i].y -= xy / xx * o[i].x[k];
		for (int j = k + 1; j < N_CAUSES; j++) {
			double xj = 0;

			for (size_t i = 0; i < n; i++)
				xj += o[i].x[k] * o[i].x[j];
			for (size_t i = 0; i < n; i++)
				o[i].x[j] -= xj / xx * o[i].x[k];
		}
	}
	for (size_t i = 0; i < n; i++)
		left += o[i].y * o[i].y;
	*explained = all > 0 ? 1 - left / all : 0;
	return causes;
}

static void find_explained(const struct profile_window *windows, size_t n_windows, int cores,
			   const struct estimate *e, struct machine_effect *ret)
{
	_cleanup_free_ const struct profile_window **w = xcalloc(n_windows, sizeof(*w));
	_cleanup_free_ struct observation *o = xcalloc(n_windows, sizeof(*o));
	size_t n = 0, units = 0, free_units, speedups = e->n_points - 1;
	double r2;
	int causes;

	for (size_t i = 0; i < n_windows; i++) {
		if (windows[i].target == e->target)
			w[n++] = &windows[i];
	}
	qsort(w, n, sizeof(*w), compare_order);
	for (size_t i = 0; i < n; i++) {
		if (window_is_treated(w[i]) && !w[i]->discard &&
		    observe(w, n, i, cores, e, &o[units]))
			units++;
	}
	ret->units = units;
	if (units < LEAST_UNITS + speedups)
		return;
	take_means_off(o, units);
	causes = regress(o, units, &r2);
	/* By chance alone each cause explains one part in so many. */
	free_units = units - speedups;
	ret->explained = ret->of_width = 0;
	if (!causes || free_units <= (size_t)causes + 1)
		return;
	r2 = 1 - (1 - r2) * free_units / (free_units - causes);
	if (r2 < 2 * sqrt(2.0 * causes) / free_units)
		return;
	ret->explained = r2;
	ret->of_width = 1 - sqrt(1 - r2);
}

void machine_effect(const struct profile_window *w, size_t n, int cores, double tick_cost_s,
		    const struct estimate *e, struct machine_effect *ret)
{
	struct mean stolen = { 0 }, speed = { 0 }, others = { 0 }, visit_cpu = { 0 };
	double core_s = 0, stopped = 0, ticks = 0, busy = 0;

	for (size_t i = 0; i < n; i++) {
		struct state s;

		if (w[i].discard || !(w[i].wall_s > 0) || cores < 1)
			continue;
		s = state_of(&w[i], cores, e ? e->progress : 0);
		mean_add(&stolen, s.cause[CAUSE_STOLEN]);
		mean_add(&speed, s.cause[CAUSE_SPEED]);
		mean_add(&others, s.cause[CAUSE_OTHERS]);
		if (w[i].speedup < 1e-9)
			mean_add(&visit_cpu, s.log_ran);
		core_s += w[i].wall_s * cores;
		stopped += w[i].stopped_s;
		ticks += w[i].ticks;
		busy += w[i].busy_s;
	}
	*ret = (struct machine_effect){
		.stolen = mean_of(&stolen),
		.stolen_sd = sd_of(&stolen),
		.speed_sd = sd_of(&speed),
		.visit_cpu_sd = sd_of(&visit_cpu),
		.others = mean_of(&others),
		.others_sd = sd_of(&others),
		.stopped = busy > 0 ? stopped / core_s : NAN,
		.ticks = busy > 0 && tick_cost_s > 0 ? ticks * tick_cost_s / busy : NAN,
		.explained = NAN,
		.of_width = NAN,
		.taken_off = e ? e->control.strangers.explained : 0,
	};
	if (e)
		find_explained(w, n, cores, e, ret);
}

/* ---- in words ---- */

static void add(char **text, char *part)
{
	text_add(text, "%s%s", **text ? ", " : "", part);
	free(part);
}

static char *share_text(const char *what, double share, double sd)
{
	if (isfinite(sd) && sd >= 0.005)
		return xasprintf("%s %.0f %% (\xc2\xb1%.0f between windows)", what, 100 * share,
				 100 * sd);
	return xasprintf("%s %.0f %%", what, 100 * share);
}

char *machine_effect_text(const struct machine_effect *m)
{
	char *text = xstrdup("");

	if (!isfinite(m->stopped)) { /* by an older scozd */
		free(text);
		return NULL;
	}
	add(&text, share_text("the host took", m->stolen, m->stolen_sd));
	if (isfinite(m->speed_sd))
		add(&text, xasprintf("speed varied by \xc2\xb1%.0f %%", 100 * m->speed_sd));
	if (isfinite(m->visit_cpu_sd))
		add(&text,
		    xasprintf("CPU time per visit by \xc2\xb1%.0f %%", 100 * m->visit_cpu_sd));
	if (isfinite(m->others))
		add(&text, share_text("other programs", m->others, m->others_sd));
	add(&text, xasprintf("held still to measure %.0f %%", 100 * m->stopped));
	if (isfinite(m->ticks))
		add(&text, xasprintf("sampling %.0f %% of busy time", 100 * m->ticks));
	return text;
}

static char *left_text(const struct machine_effect *m, const char *what)
{
	if (!isfinite(m->explained))
		return xasprintf("too few windows to tell what %s did to the precision", what);
	if (!(m->explained > 0))
		return xasprintf("no interval is noticeably wider for %s",
				 m->taken_off > 0 ? what : "it");
	return xasprintf("%s makes about %.0f %% of the interval's width",
			 m->taken_off > 0 ? what : "it", fmax(100 * m->of_width, 1));
}

char *machine_effect_verdict(const struct machine_effect *m)
{
	_cleanup_free_ char *left = left_text(m, m->taken_off > 0 ? "the rest" : "that");

	if (!(m->taken_off > 0))
		return xstrdup(left);
	return xasprintf("what other programs took, %.0f %% of the noise, is taken off; %s",
			 100 * m->taken_off, left);
}
