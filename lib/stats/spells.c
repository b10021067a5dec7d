// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a program gains depends on the weather: of two tasks that take turns, the one on the slow
 * core matters more. Where each core is slow for seconds by itself, neighbouring units err
 * together, a profile sees few spells, however many units it has, and what scatters from unit to
 * unit tells too little about how far off their mean may be (sim coverage, jump=2: 60 to 80 % of
 * intervals held the truth).
 *
 * The variance of the mean is the power of the deviations at frequency 0, so to say, which is
 * looked for in the powers at the lowest frequencies: in the cosine transform of the deviations in
 * time order each coefficient is about independent of the others, with the variance
 *
 *     sigma^2 * (shared(f) + excess * lorentz(f, tau))
 *
 * The first part is independent noise of single windows, given who shares which baseline (units.c);
 * the second one lasts for about tau. Neither excess nor tau is known: a grid of both, weighted by
 * the likelihood of the coefficients of all speedups of the target together; one of them is "no
 * excess". Each of the grid's points says what the variance of the mean is, with Student's t,
 * and the estimate's distribution is their mixture.
 */
#include "stats/spells.h"

#include <math.h>

#include "stats/mixture.h"

#define MOST_WAVES 48 /* coefficients, the others are taken together */
#define N_EXCESS   5
#define N_TAU	   5
#define N_GRID	   (1 + N_EXCESS * N_TAU)
#define LEAST	   3   /* units */
#define BORROWED   4.0 /* degrees of freedom, at most, from other speedups */

/* Of the power at frequency 0, over that of independent windows. */
static const double excess[N_EXCESS] = { 1, 4, 12, 40, 120 };
#define PRIOR_NONE 0.8

struct waves {
	size_t units, n; /* n: coefficients; 0: too few units */
	double *power;	 /* squares */
	double *shared;	 /* of independent windows with variance 1 */
	double *cosine;	 /* of the frequency */
	/* Of the higher frequencies, taken together. */
	double rest, rest_df, rest_shared;
	double shared0; /* of the mean, times units */
	double alike;	/* of the degrees of freedom, where units weigh alike; else less */
	double step;	/* seconds from unit to unit */
};

/* @phi: by unit. */
static double shared_power(const struct unit_set *set, const double *phi, double *room)
{
	double sum = 0;

	for (size_t i = 0; i < set->n; i++) {
		const struct unit *u = &set->u[i];

		sum += phi[i] * phi[i];
		for (uint32_t k = 0; k < u->n_zero; k++)
			room[u->zero[k]] += phi[i] / u->n_zero;
	}
	for (size_t i = 0; i < set->n; i++) {
		const struct unit *u = &set->u[i];

		for (uint32_t k = 0; k < u->n_zero; k++) {
			sum += room[u->zero[k]] * room[u->zero[k]];
			room[u->zero[k]] = 0;
		}
	}
	return sum;
}

static void transform(const struct scatter *s, size_t n_windows, struct waves *w)
{
	size_t n = s->set->n;
	_cleanup_free_ double *phi = xmalloc(n * sizeof(*phi));
	_cleanup_free_ double *room = xcalloc(n_windows, sizeof(*room));
	double all = n, low = 0;

	w->units = n;
	w->alike = (log_ratio_units(s->set->u, n) - 1) / (n - 1);
	w->n = n - 1 < MOST_WAVES ? n - 1 : MOST_WAVES;
	w->power = xcalloc(w->n, sizeof(*w->power));
	w->shared = xcalloc(w->n, sizeof(*w->shared));
	w->cosine = xcalloc(w->n, sizeof(*w->cosine));
	w->step = (s->set->u[n - 1].start_s - s->set->u[0].start_s) / (n - 1);
	for (size_t i = 0; i < n; i++) {
		phi[i] = 1 / sqrt(n);
		w->rest += s->deviation[i] * s->deviation[i];
		all += s->set->u[i].n_zero ? 1.0 / s->set->u[i].n_zero : 0;
	}
	w->shared0 = shared_power(s->set, phi, room);
	low = w->shared0;
	for (size_t j = 0; j < w->n; j++) {
		double angle = M_PI * (j + 1) / n, turn = 2 * cos(angle), c = 0;

		w->cosine[j] = turn / 2;
		phi[0] = sqrt(2.0 / n) * cos(angle / 2);
		if (n > 1)
			phi[1] = sqrt(2.0 / n) * cos(1.5 * angle);
		for (size_t i = 2; i < n; i++)
			phi[i] = turn * phi[i - 1] - phi[i - 2];
		for (size_t i = 0; i < n; i++)
			c += phi[i] * s->deviation[i];
		w->power[j] = c * c;
		w->shared[j] = shared_power(s->set, phi, room);
		w->rest -= c * c;
		low += w->shared[j];
	}
	w->rest_df = n - 1 - w->n;
	w->rest = w->rest_df > 0 ? fmax(w->rest, 0) : 0;
	w->rest_shared = w->rest_df > 0 ? fmax(all - low, 0.1 * w->rest_df) / w->rest_df : 1;
}

/* Power at a frequency with @cosine of what has correlation @rho, over that at frequency 0. */
static double lorentz(double cosine, double rho)
{
	return (1 - rho) * (1 - rho) / (1 - 2 * rho * cosine + rho * rho);
}

/* One set at one point of the grid. */
struct fit {
	double log_likelihood, squares, df, mean; /* mean: variance, over squares / df */
	double slow;
};

static struct fit fit_one(const struct waves *w, double more, double tau_s)
{
	double rho = w->step > 0 ? exp(-w->step / tau_s) : 0, span = w->step * w->units;
	double slow = more * w->shared0, logs = 0, product = 1;
	double whole = span > 0 ? 1 - tau_s / span * -expm1(-span / tau_s) : 1;
	struct fit f = { .df = w->n + w->rest_df };

	for (size_t j = 0; j < w->n; j++) {
		double q = w->shared[j] + slow * lorentz(w->cosine[j], rho);

		f.squares += w->power[j] / q;
		product *= q;
		if (product > 1e200 || product < 1e-200 || j + 1 == w->n) {
			logs += log(product);
			product = 1;
		}
	}
	if (w->rest_df > 0) {
		double q = w->rest_shared +
			   slow * lorentz(cos(M_PI * (w->n + w->rest_df / 2) / w->units), rho);

		f.squares += w->rest / q;
		logs += w->rest_df * log(q);
	}
	f.squares = fmax(f.squares, 1e-300);
	f.log_likelihood = -logs / 2 - f.df / 2 * log(f.squares);
	f.mean = (w->shared0 + slow * whole) / w->units;
	f.slow = slow * whole / w->units / f.mean;
	return f;
}

/* Few units say little about their own scatter; those of other speedups scatter alike. */
static void borrow(struct fit *f, size_t n)
{
	double squares = 0, df = 0;

	for (size_t i = 0; i < n; i++) {
		squares += f[i].squares;
		df += f[i].df;
	}
	for (size_t i = 0; i < n; i++) {
		double others = df - f[i].df, more = fmin(BORROWED, others);

		if (!(others > 0) || !(f[i].df > 0))
			continue;
		/* In place: what is taken from the others is a mean, and theirs stay as they are.
		 */
		f[i].mean *= (f[i].squares + more * (squares - f[i].squares) / others) /
			     (f[i].df + more) / (f[i].squares / f[i].df);
		f[i].df += more;
	}
}

static double longest(const struct scatter *s, size_t n)
{
	double first = INFINITY, last = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < s[i].set->n; k++) {
			first = fmin(first, s[i].set->u[k].start_s);
			last = fmax(last, s[i].set->u[k].start_s);
		}
	}
	return last - first;
}

struct grid_point {
	double excess, tau_s, log_prior;
};

static void make_grid(const struct scatter *s, size_t n, struct grid_point *grid)
{
	double span = longest(s, n), units = 0, shortest, most;

	for (size_t i = 0; i < n; i++)
		units += s[i].set->n;
	shortest = 0.7 * span / units;
	most = fmax(span / 4, shortest);
	grid[0] = (struct grid_point){ 0, 1, log(PRIOR_NONE) };
	for (int g = 1; g < N_GRID; g++) {
		double share = (g - 1) % N_TAU / (N_TAU - 1.0);

		grid[g].excess = excess[(g - 1) / N_TAU];
		grid[g].tau_s = span > 0 ? shortest * pow(most / shortest, share) : 1;
		grid[g].log_prior = log((1 - PRIOR_NONE) / (N_GRID - 1));
	}
}

static void conclude(const struct waves *w, size_t n, const struct grid_point *grid,
		     struct log_ratio *r, double *slow)
{
	_cleanup_free_ struct fit *fit = xcalloc(n * N_GRID, sizeof(*fit));
	_cleanup_free_ struct component *c = xcalloc(N_GRID, sizeof(*c));
	double weight[N_GRID], best = -INFINITY, sum = 0;

	for (int g = 0; g < N_GRID; g++) {
		struct fit *f = &fit[g * n];

		weight[g] = grid[g].log_prior;
		for (size_t i = 0; i < n; i++) {
			if (!w[i].n)
				continue;
			f[i] = fit_one(&w[i], grid[g].excess, grid[g].tau_s);
			weight[g] += f[i].log_likelihood;
		}
		borrow(f, n);
		best = fmax(best, weight[g]);
	}
	for (int g = 0; g < N_GRID; g++)
		sum += weight[g] = exp(weight[g] - best);
	for (size_t i = 0; i < n; i++) {
		double variance = 0;

		slow[i] = 0;
		if (!w[i].n)
			continue;
		for (int g = 0; g < N_GRID; g++) {
			const struct fit *f = &fit[g * n + i];
			double v = f->mean * f->squares / (w[i].n + w[i].rest_df);

			/* What is borrowed from others stays. */
			double df = f->df - (1 - w[i].alike) * (w[i].n + w[i].rest_df);

			c[g] = (struct component){ weight[g] / sum, r[i].value, sqrt(v), df };
			slow[i] += weight[g] / sum * v * f->slow;
			variance += weight[g] / sum * v;
		}
		slow[i] = variance > 0 ? slow[i] / variance : 0;
		r[i] = mixture_summary(c, N_GRID);
	}
}

void spells_apply(const struct scatter *s, size_t n, size_t n_windows, struct log_ratio *r,
		  double *slow)
{
	_cleanup_free_ struct waves *w = xcalloc(n, sizeof(*w));
	struct grid_point grid[N_GRID];

	for (size_t i = 0; i < n; i++) {
		if (s[i].set->n >= LEAST && r[i].df > 0)
			transform(&s[i], n_windows, &w[i]);
	}
	make_grid(s, n, grid);
	conclude(w, n, grid, r, slow);
	for (size_t i = 0; i < n; i++) {
		free(w[i].power);
		free(w[i].shared);
		free(w[i].cosine);
	}
}
