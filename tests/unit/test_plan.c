// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of windows: what may follow what, and that it is the same every time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "plan/plan_internal.h"
#include "stats/resample.h"
#include "stats/stats.h"

#define MAX_WINDOWS 4000

static const double speedups[] = { 0.25, 0.5, 0.75, 1 };

struct run {
	struct plan *p;
	struct plan_window asked[MAX_WINDOWS];
	struct profile_window kept[MAX_WINDOWS];
	struct window_progress progress[MAX_WINDOWS];
	size_t n;
	uint32_t seq;
	double clock_s;
	uint64_t hits;	/* in each window, ... */
	double crowded; /* ... and share of its time */
	double waited;	/* share of the time, in the target, sped up */
	double ran_s;	/* CPU time in the next window; 0: not known */
};

#define SETTLE_S 0.1
#define WALL_S	 0.1

static double uniform(struct rng *r)
{
	return ((rng_next(r) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct rng *r)
{
	return sqrt(-2 * log(uniform(r))) * cos(2 * M_PI * uniform(r));
}

static struct plan *create(bool truth, double precision)
{
	struct plan_options opt = { .speedups = speedups,
				    .n_speedups = ARRAY_SIZE(speedups),
				    .n_progress = 1,
				    .truth = truth,
				    .precision = precision,
				    .seed = 1 };

	return plan_create(&opt);
}

/* Measures one window with the given log period. False when there was none to measure. */
static bool step(struct run *r, double log_period, enum discard discard)
{
	struct window_progress p = { .visits = 100, .virtual_s = exp(log_period) };
	struct profile_window w = { .n_progress = 1, .progress = &p, .discard = discard };
	struct plan_window a;

	if (plan_next(r->p, &a) != PLAN_MEASURE)
		return false;
	w.seq = r->seq++;
	w.target = a.target;
	w.speedup = a.speedup;
	w.real = a.real;
	w.start_s = r->clock_s + SETTLE_S;
	w.wall_s = WALL_S;
	w.hits = r->hits;
	w.waits_sped = r->waited > 0;
	w.target_waited_s = r->waited * w.wall_s;
	w.ran_s = r->ran_s;
	w.crowded_s = r->crowded * p.virtual_s;
	r->progress[r->n] = p;
	r->kept[r->n] = w;
	r->kept[r->n].progress = &r->progress[r->n];
	r->clock_s += SETTLE_S + WALL_S;
	r->asked[r->n++] = a;
	plan_record(r->p, a.target, &w);
	return true;
}

/* Until every speedup of every target is tried. */
static void widen_all(struct run *r)
{
	bool all = false;

	while (!all) {
		assert_true(step(r, 0, KEPT));
		all = plan_state(r->p, 0).open == 4;
		for (size_t i = 0; i < r->n; i++)
			all &= plan_state(r->p, r->asked[i].target).open == 4;
	}
	/* Those that were late get their share before rounds are whole. */
	for (int i = 0; i < 200; i++)
		assert_true(step(r, 0, KEPT));
	r->n = 0;
}

/* Until the next window asked for is the first of a round. */
static void to_round(struct run *r, int target)
{
	struct plan_window a;
	uint32_t before;

	plan_next(r->p, &a); /* begins one, if it must */
	before = plan_state(r->p, target).rounds;
	while (plan_state(r->p, target).rounds == before) {
		assert_true(step(r, 0, KEPT));
		plan_next(r->p, &a);
	}
	r->n = 0;
}

static void check_round(const struct plan_window *w, size_t treated, bool truth)
{
	size_t virtual[4] = { 0 }, real[4] = { 0 };

	for (size_t i = 0; i < treated; i++) {
		assert_true(w[2 * i].speedup > 0);
		assert_true(w[2 * i + 1].speedup == 0);
		assert_false(w[2 * i + 1].real);
		for (size_t k = 0; k < 4; k++) {
			if (w[2 * i].speedup == speedups[k])
				(w[2 * i].real ? real : virtual)[k]++;
		}
	}
	for (size_t k = 0; k < 4; k++) {
		assert_int_equal(virtual[k], 1);
		assert_int_equal(real[k], truth ? 1 : 0);
	}
}

static void test_rounds(void **state)
{
	static struct run r;

	(void)state;
	for (int truth = 0; truth < 2; truth++) {
		size_t treated = truth ? 8 : 4;
		bool differ = false;

		r = (struct run){ .p = create(truth, 0) };
		plan_add_target(r.p, "a", 1);
		assert_true(step(&r, 0, KEPT));
		assert_true(r.asked[0].speedup == 0);
		widen_all(&r);
		to_round(&r, 0);
		for (size_t i = 0; i < 6 * treated; i++)
			assert_true(step(&r, 0, KEPT));
		for (int round = 0; round < 3; round++) {
			check_round(&r.asked[2 * treated * round], treated, truth);
			for (size_t i = 0; i < treated; i++)
				differ |= r.asked[2 * i].speedup !=
					  r.asked[2 * treated * round + 2 * i].speedup;
		}
		assert_true(differ);
		plan_free(r.p);
	}
}

/* plan_next() only tells; what changes the plan is what was recorded. */
static void test_idempotent(void **state)
{
	struct plan *p = create(false, 0);
	struct plan_window a, b;

	(void)state;
	assert_int_equal(plan_next(p, &a), PLAN_WAIT);
	plan_add_target(p, "a", 1);
	assert_int_equal(plan_next(p, &a), PLAN_MEASURE);
	assert_int_equal(plan_next(p, &b), PLAN_MEASURE);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_int_equal(plan_state(p, 0).rounds, 1);
	plan_free(p);
}

/* Each target's sequence of speedups, as digits. */
static void write_order(const struct run *r, char order[2][MAX_WINDOWS])
{
	size_t n[2] = { 0 };

	for (size_t i = 0; i < r->n; i++)
		order[r->asked[i].target][n[r->asked[i].target]++] =
			'0' + lround(r->asked[i].speedup * 4);
	order[0][n[0]] = order[1][n[1]] = '\0';
}

/* The same seed, and other windows thrown away: the same is tried, in the same order. */
static void test_discards_shift_nothing(void **state)
{
	static char order[4][2][MAX_WINDOWS];
	static struct run r;

	(void)state;
	for (int way = 0; way < 4; way++) {
		struct rng rng = { way }, first = { 7 };

		r = (struct run){ .p = create(false, 0) };
		plan_add_target(r.p, "a", 1);
		plan_add_target(r.p, "b", 1);
		/* With as much noise: who surely has no effect gets less. */
		while (plan_state(r.p, 0).open < 4 || plan_state(r.p, 1).open < 4)
			assert_true(step(&r, 0.05 * normal(&first), KEPT));
		for (int i = 0; i < 200; i++)
			assert_true(step(&r, 0.05 * normal(&first), KEPT));
		r.n = 0;
		while (r.n < 600) {
			bool lost = way == 3 ? r.n % 3 == 0 : uniform(&rng) < 0.25 * way;

			assert_true(step(&r, 0.05 * normal(&rng), lost ? DISCARD_STEAL : KEPT));
		}
		write_order(&r, order[way]);
		plan_free(r.p);
	}
	for (int way = 1; way < 4; way++) {
		assert_string_equal(order[0][0], order[way][0]);
		assert_string_equal(order[0][1], order[way][1]);
	}
}

static const double many[] = { 0.25, 0.5, 0.75, 1, 0.1, 0.3, 0.6, 0.9 };

/* Where each of the first four speedups stands in the round. */
static void places(size_t n_speedups, uint32_t round, size_t place[4])
{
	struct plan_options opt = {
		.speedups = many, .n_speedups = n_speedups, .n_progress = 1, .seed = 3
	};
	static struct run r;

	r = (struct run){ .p = plan_create(&opt) };
	plan_add_target(r.p, "a", 1);
	while (plan_state(r.p, 0).rounds < round)
		step(&r, 0, KEPT);
	r.n = 0;
	to_round(&r, 0);
	to_round(&r, 0);
	for (size_t i = 0; i < 2 * n_speedups; i++) {
		step(&r, 0, KEPT);
		for (size_t k = 0; k < 4; k++) {
			if (r.asked[i].speedup == many[k])
				place[k] = i;
		}
	}
	plan_free(r.p);
}

/* Whatever else is tried, two speedups of a round follow each other the same way. */
static void test_order_of_a_round(void **state)
{
	size_t turned = 0;

	(void)state;
	for (uint32_t round = 60; round < 80; round++) {
		size_t few[4], all[4];

		places(4, round, few);
		places(8, round, all);
		for (size_t i = 0; i < 4; i++) {
			for (size_t k = 0; k < i; k++) {
				assert_int_equal(few[i] < few[k], all[i] < all[k]);
				turned += few[i] < few[k];
			}
		}
	}
	assert_in_range(turned, 30, 90); /* of 120: random */
}

/* After an interruption nothing is a neighbour of what was before: a 0 % window comes first. */
static void test_interrupt(void **state)
{
	static struct run r;

	(void)state;
	r = (struct run){ .p = create(false, 0) };
	plan_add_target(r.p, "a", 1);
	for (int i = 0; i < 3; i++)
		step(&r, 0, KEPT);
	plan_interrupt(r.p);
	step(&r, 0, KEPT);
	assert_true(r.asked[3].speedup == 0);
	step(&r, 0, KEPT);
	plan_interrupt(r.p);
	step(&r, 0, KEPT);
	assert_true(r.asked[5].speedup == 0);
	plan_free(r.p);
}

static size_t count(const struct run *r, int target)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->asked[i].target == target;
	return n;
}

static void test_weights(void **state)
{
	static struct run r;
	struct rng rng = { 1 };

	(void)state;
	r = (struct run){ .p = create(false, 0) };
	plan_add_target(r.p, "much", 3);
	plan_add_target(r.p, "little", 1);
	plan_add_target(r.p, "broken", 9);
	plan_add_target(r.p, "later", 9);
	plan_set_broken(r.p, 2);
	plan_set_waiting(r.p, 3, true);
	widen_all(&r);
	while (r.n < 1600)
		step(&r, 0.05 * normal(&rng), KEPT); /* too much noise for decisions */
	assert_in_range(10 * plan_state(r.p, 0).rounds, 29 * plan_state(r.p, 1).rounds,
			31 * plan_state(r.p, 1).rounds);
	assert_int_equal(count(&r, 2) + count(&r, 3), 0);
	r.n = 0;
	plan_set_waiting(r.p, 3, false);
	plan_set_broken(r.p, 0);
	while (r.n < 800)
		step(&r, normal(&rng), KEPT);
	assert_true(count(&r, 3) > 500);
	assert_int_equal(count(&r, 0), 0);
	plan_set_broken(r.p, 1);
	plan_set_broken(r.p, 3);
	assert_false(step(&r, 0, KEPT));
	plan_free(r.p);
}

/* The noise of a window of @target depends on nothing but how many of its windows there were. */
static double noise_of(const char *name, size_t number, double sigma)
{
	struct rng r = { rng_mix(name[0], number) };

	return sigma * normal(&r);
}

static size_t run_named(const char *const *names, char *order, struct run *r, double precision)
{
	size_t seen[8] = { 0 };
	struct plan_window a;

	*r = (struct run){ .p = create(false, precision) };
	for (size_t i = 0; names[i]; i++)
		plan_add_target(r->p, names[i], names[i][0] == 'c' ? 2 : 1);
	while (r->n < MAX_WINDOWS - 1 && plan_next(r->p, &a) == PLAN_MEASURE) {
		const char *name = names[a.target];
		double effect = name[0] == 'b' ? log(1 - 0.2 * a.speedup) : 0;

		order[r->n] = name[0] + (a.speedup > 0 ? (int)(a.speedup * 4) - 'a' + 'A' : 0);
		step(r, effect + noise_of(name, seen[a.target]++, 0.01), KEPT);
	}
	order[r->n] = '\0';
	plan_free(r->p);
	return r->n;
}

static void test_deterministic(void **state)
{
	static const char *const forward[] = { "a", "b", "c", "d", NULL };
	static const char *const other[] = { "c", "a", "d", "b", NULL };
	static char x[MAX_WINDOWS], y[MAX_WINDOWS], z[MAX_WINDOWS];
	static struct run r;

	(void)state;
	assert_true(run_named(forward, x, &r, 0.8) > 200);
	assert_true(r.n < MAX_WINDOWS - 1); /* it ended by itself */
	run_named(forward, y, &r, 0.8);
	assert_string_equal(x, y);
	run_named(other, z, &r, 0.8);
	assert_string_equal(x, z);
}

/* With a precision to be reached, a speedup whose windows vary more gets more of them. */
static void test_adaptive(void **state)
{
	static struct run r;
	struct rng rng = { 4 };
	size_t got[4] = { 0 }, treated = 0;
	struct plan_window a;

	(void)state;
	r = (struct run){ .p = create(false, 2) };
	plan_add_target(r.p, "a", 1);
	while (r.n < MAX_WINDOWS - 1 && plan_next(r.p, &a) == PLAN_MEASURE)
		step(&r, (a.speedup == 0.75 ? 0.08 : 0.01) * normal(&rng), KEPT);
	for (size_t i = 0; i < r.n; i++) {
		treated += r.asked[i].speedup > 0;
		for (size_t k = 0; k < 4; k++)
			got[k] += r.asked[i].speedup == speedups[k];
	}
	print_message("of %zu treated windows: %zu, %zu, %zu (8 times the noise), %zu\n", treated,
		      got[0], got[1], got[2], got[3]);
	assert_true(plan_state(r.p, 0).precise);
	assert_true(got[2] > 0.5 * treated);
	plan_free(r.p);
}

/* Windows at 100 % are always discarded: that must not keep the rest from being decided. */
static void test_hopeless(void **state)
{
	static struct run r;
	struct rng rng = { 4 };
	struct plan_window a;

	(void)state;
	r = (struct run){ .p = create(false, 1) };
	plan_add_target(r.p, "a", 1);
	while (r.n < MAX_WINDOWS - 1 && plan_next(r.p, &a) == PLAN_MEASURE)
		step(&r, 0.01 * normal(&rng), a.speedup == 1 ? DISCARD_CAPPED : KEPT);
	assert_true(r.n < 600);
	assert_true(plan_state(r.p, 0).precise);
	plan_free(r.p);
}

/* Weather that spoils four windows of five makes everything slow, but nothing hopeless. */
static void test_precision_in_bad_weather(void **state)
{
	static struct run r;
	struct rng rng = { 4 };
	struct plan_window a;
	size_t kept[4] = { 0 };

	(void)state;
	r = (struct run){ .p = create(false, 2) };
	plan_add_target(r.p, "a", 1);
	while (r.n < MAX_WINDOWS - 1 && plan_next(r.p, &a) == PLAN_MEASURE) {
		bool lost = uniform(&rng) < 0.8;

		for (size_t k = 0; k < 4; k++)
			kept[k] += a.speedup == speedups[k] && !lost;
		step(&r, 0.01 * normal(&rng), lost ? DISCARD_STEAL : KEPT);
	}
	assert_true(plan_state(r.p, 0).precise);
	for (size_t k = 0; k < 4; k++)
		assert_true(kept[k] >= 10);
	plan_free(r.p);
	/* Where nothing is kept at all, nothing is precise. */
	r = (struct run){ .p = create(false, 2) };
	plan_add_target(r.p, "a", 1);
	while (r.n < 1000)
		assert_true(step(&r, 0, DISCARD_STEAL));
	plan_free(r.p);
}

/* What ends a run is the interval that is reported, or that it cannot get any better. */
/* Who wants to know more has a round, 0 % and the speedup in turn, and is asked again. */
static void go_on(struct run *r)
{
	uint32_t rounds = plan_state(r->p, 0).rounds;
	size_t before = r->n, treated = 0;
	struct plan_window a;

	plan_begin_round(r->p, 0);
	while (plan_next(r->p, &a) == PLAN_MEASURE) {
		treated += a.speedup > 0;
		step(r, 0, KEPT);
	}
	assert_int_equal(plan_next(r->p, &a), PLAN_PRECISE);
	assert_int_equal(treated, 4);
	assert_true(r->n >= before + 8);
	assert_int_equal(plan_state(r->p, 0).rounds, rounds + 1);
	r->n = before; /* they are not looked at any more */
}

static double reported_at_the_end(double precision, double noise, double crowded, double *fixed)
{
	static const double half = 0.5;
	struct plan_options opt = { .speedups = &half,
				    .n_speedups = 1,
				    .n_progress = 1,
				    .precision = precision,
				    .seed = 3 };
	struct stats_options as_reported = { .seed = 1, .bare = true };
	struct run *r = xcalloc(1, sizeof(*r));
	struct rng rng = { 11 };
	struct estimates e;
	struct plan_window a;
	double width;

	r->p = plan_create(&opt);
	plan_add_target(r->p, "a", 1);
	while (r->n < MAX_WINDOWS - 1 && plan_next(r->p, &a) == PLAN_MEASURE) {
		/* Storms, in which everything takes twice as long, for seconds: CPU time, too. */
		double storm = r->n / 7 % 5 == 0 ? 0.7 : 0, own = noise * normal(&rng);

		r->crowded = a.speedup > 0 ? crowded : 0;
		r->ran_s = WALL_S * exp(-own);
		step(r, own + storm * uniform(&rng), KEPT);
	}
	assert_int_equal(plan_next(r->p, &a), PLAN_PRECISE);
	*fixed = plan_state(r->p, 0).fixed;
	go_on(r);
	stats_estimate(r->kept, r->n, 1, &as_reported, &e);
	width = estimate_half_width(&e.e[0]);
	estimates_free(&e);
	plan_free(r->p);
	free(r);
	return width;
}

static void test_precision_as_reported(void **state)
{
	double fixed;

	(void)state;
	assert_true(reported_at_the_end(1, 0.01, 0, &fixed) <= 1);
	assert_true(fixed == 0);
	assert_true(reported_at_the_end(2, 0.15, 0, &fixed) <= 2);
	assert_true(fixed == 0);
	/* What cannot be had is not waited for, and said. */
	assert_true(reported_at_the_end(2, 0.02, 0.1, &fixed) > 2);
	assert_true(fixed > 2);
}

/* More windows would not make the first target better known: it does not keep others from theirs.
 */
static void test_what_does_not_shrink(void **state)
{
	static struct run r;

	(void)state;
	for (int crowded = 0; crowded < 2; crowded++) {
		struct rng rng = { 5 };
		struct plan_window a;

		r = (struct run){ .p = create(false, 0) };
		plan_add_target(r.p, "a", 2);
		plan_add_target(r.p, "b", 1);
		for (int i = 0; i < 110 && plan_next(r.p, &a) == PLAN_MEASURE; i++) {
			r.crowded = crowded && a.speedup > 0 ? 0.9 : 0;
			step(&r, 0.15 * normal(&rng), KEPT);
		}
		/* Beside noise of as much it would be the first one's turn all the time. */
		assert_int_equal(plan_state(r.p, 1).open > 0, crowded);
		plan_free(r.p);
	}
}

/* ---- as many cells as the time allows ---- */

static size_t cells_open(const struct plan *p, int targets)
{
	size_t sum = 0;

	for (int i = 0; i < targets; i++)
		sum += plan_state(p, i).open;
	return sum;
}

/* A run of @seconds (0: no end is known, but it is looked at after 60) with 8 targets. */
static size_t widen(struct run *r, double seconds, double noise, double lost)
{
	struct plan_options opt = { .speedups = speedups,
				    .n_speedups = ARRAY_SIZE(speedups),
				    .n_progress = 1,
				    .seconds = seconds,
				    .seed = 1 };
	struct rng rng = { 8 };

	*r = (struct run){ .p = plan_create(&opt), .clock_s = 1, .hits = 50 };
	for (int i = 0; i < 8; i++)
		plan_add_target(r->p, (char[]){ 'a' + i, '\0' }, 8 - i);
	while (r->clock_s < (seconds > 0 ? seconds : 60))
		assert_true(
			step(r, noise * normal(&rng), uniform(&rng) < lost ? DISCARD_STEAL : KEPT));
	return cells_open(r->p, 8);
}

static void test_widening(void **state)
{
	static struct run r;
	struct plan_state first, second;
	size_t few, more, weather;

	(void)state;
	/* The hottest target comes first, the speedup nearest to a half first. */
	few = widen(&r, 24, 0.1, 0);
	first = plan_state(r.p, 0);
	second = plan_state(r.p, 1);
	assert_true(r.asked[1].target == 0 && r.asked[1].speedup == 0.5);
	assert_in_range(few, 1, 4);
	assert_true(first.open >= second.open && plan_state(r.p, 7).open == 0);
	plan_free(r.p);
	/* Ten times as long: several targets, none before hotter ones. */
	more = widen(&r, 240, 0.1, 0);
	assert_true(more >= 3 * few);
	for (int i = 1; i < 7; i++)
		assert_true(plan_state(r.p, i).open >= plan_state(r.p, i + 1).open);
	plan_free(r.p);
	/* Three windows of four are thrown away: fewer cells. */
	weather = widen(&r, 240, 0.1, 0.75);
	assert_in_range(weather, 1, more / 2);
	plan_free(r.p);
	print_message("cells of 32 tried: %zu in 24 s, %zu in 240 s, %zu with bad weather\n", few,
		      more, weather);
	/* Quiet: all of them. */
	assert_int_equal(widen(&r, 240, 0.01, 0), 32);
	plan_free(r.p);
	/* No end is known: it begins with few, and goes on. */
	few = widen(&r, 0, 0.1, 0);
	assert_in_range(few, 2, 12);
	while (r.n < MAX_WINDOWS - 1)
		step(&r, 0, KEPT);
	assert_int_equal(cells_open(r.p, 8), 32);
	plan_free(r.p);
}

/* What is asked of widening: hardly a cell that was tried is left without a useful interval. */
static void test_cells_get_known(void **state)
{
	static const double noise[] = { 0.02, 0.1, 0.3 };
	static struct run r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(noise); i++) {
		size_t open = widen(&r, 47, noise[i], 0), tried[8][4] = { { 0 } }, poor = 0;

		for (size_t k = 0; k < r.n; k++) {
			for (size_t s = 0; s < 4; s++)
				tried[r.asked[k].target][s] += r.asked[k].speedup == speedups[s];
		}
		for (int t = 0; t < 8; t++) {
			for (size_t s = 0; s < 4; s++)
				poor += tried[t][s] > 0 &&
					1.96 * noise[i] * sqrt(1.5 / tried[t][s]) > 0.06;
		}
		print_message("noise %.0f %%: %zu cells in 47 s, %zu of them wider than 6 points\n",
			      100 * noise[i], open, poor);
		assert_true(poor <= 1);
		plan_free(r.p);
	}
}

/* ---- targets that are not seen ---- */

/* What was asked for by name is tried, even if the time does not suffice for all of it. */
static void test_asked(void **state)
{
	double speedups[] = { 0.25, 0.5, 1 };
	struct plan_options opt = {
		.speedups = speedups, .n_speedups = 3, .n_progress = 1, .seconds = 1, .asked = 3
	};
	struct plan *p = plan_create(&opt);

	(void)state;
	plan_add_target(p, "a", 10);
	plan_add_target(p, "b", 1);
	assert_int_equal(plan_state(p, 0).open, 3);
	assert_int_equal(plan_state(p, 1).open, 3);
	plan_free(p);
}

static void test_unseen(void **state)
{
	static struct run r;

	(void)state;
	r = (struct run){ .p = create(false, 0) };
	plan_set_period(r.p, 250000);
	plan_add_target(r.p, "hot", 8);
	plan_add_target(r.p, "next", 1);
	while (count(&r, 0) < 4) {
		assert_false(plan_state(r.p, 0).unseen);
		assert_true(step(&r, 0, KEPT));
	}
	assert_true(plan_state(r.p, 0).unseen); /* two treated windows and no hit */
	plan_set_waiting(r.p, 0, true);
	r.hits = 50;
	for (int i = 0; i < 100; i++)
		step(&r, 0, KEPT);
	assert_true(count(&r, 1) >= 100);
	assert_false(plan_state(r.p, 1).unseen);
	plan_set_waiting(r.p, 0, false);
	r.n = 0;
	while (count(&r, 0) < 10) /* it has come to life */
		step(&r, 0, KEPT);
	assert_false(plan_state(r.p, 0).unseen);
	plan_free(r.p);

	/* Few hits, each of which is a long wait that is sped up. */
	r = (struct run){ .p = create(false, 0), .waited = 0.5 };
	plan_set_period(r.p, 250000);
	plan_add_target(r.p, "naps", 1);
	while (count(&r, 0) < 10)
		assert_true(step(&r, 0, KEPT));
	assert_false(plan_state(r.p, 0).unseen);
	plan_free(r.p);

	/* 2 samples in seconds: at most 0.1 % of the time */
	r = (struct run){ .p = create(false, 0) };
	plan_set_period(r.p, 250000);
	plan_add_target(r.p, "rare", 1);
	for (int i = 0; i < 20; i++) {
		r.hits = i == 3 || i == 7;
		step(&r, 0, KEPT);
	}
	assert_true(plan_state(r.p, 0).unseen);
	assert_int_equal(plan_state(r.p, 0).hits, 2);
	/* Others live of even less than that, in every window. */
	r.hits = 5;
	for (int i = 0; i < 200; i++)
		step(&r, 0, KEPT);
	assert_false(plan_state(r.p, 0).unseen);
	plan_free(r.p);
}

/* In the middle first, then furthest from those that are known; of two the higher one. */
static void test_order_of_speedups(void **state)
{
	static const double by_quarters[] = { 0.25, 0.5, 0.75, 1 }, few[] = { 0.2, 0.4, 0.6 };
	static const size_t quarters[] = { 1, 3, 2, 0 }, three[] = { 2, 1, 0 };
	size_t *ladder = ladder_create(by_quarters, ARRAY_SIZE(by_quarters));

	(void)state;
	assert_memory_equal(ladder, quarters, sizeof(quarters));
	free(ladder);
	ladder = ladder_create(few, ARRAY_SIZE(few));
	assert_memory_equal(ladder, three, sizeof(three));
	free(ladder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_of_speedups),
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_idempotent),
		cmocka_unit_test(test_discards_shift_nothing),
		cmocka_unit_test(test_order_of_a_round),
		cmocka_unit_test(test_interrupt),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_deterministic),
		cmocka_unit_test(test_adaptive),
		cmocka_unit_test(test_hopeless),
		cmocka_unit_test(test_precision_in_bad_weather),
		cmocka_unit_test(test_precision_as_reported),
		cmocka_unit_test(test_what_does_not_shrink),
		cmocka_unit_test(test_widening),
		cmocka_unit_test(test_cells_get_known),
		cmocka_unit_test(test_asked),
		cmocka_unit_test(test_unseen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
