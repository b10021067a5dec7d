// SPDX-License-Identifier: GPL-2.0-or-later
/* What scoz doctor --prove concludes: a wrong machine is refuted, chance is not. */
#include "tools/scoz/commands/prove.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "stats/resample.h"

const char *const prove_names[] = { "turns", "barrier", NULL };

char *own_path(void)
{
	return NULL;
}

char *scozd_path(const char *self)
{
	return xstrdup(self);
}

char *scozd_last_words(const char *said)
{
	return xstrdup(said);
}

void scozd_run(char **argv, double limit_s, struct scozd_result *ret)
{
	(void)argv;
	(void)limit_s;
	*ret = (struct scozd_result){ .status = 1 };
}

#define POINTS 2
static struct proof_point point[2][POINTS];
static struct proof proof[2];

/* Two programs of two points each, with these errors in half widths of their intervals. */
static struct sum with(const double off[2 * POINTS], double half)
{
	for (int i = 0; i < 2; i++) {
		proof[i] =
			(struct proof){ .name = prove_names[i], .points = point[i], .n = POINTS };
		for (int k = 0; k < POINTS; k++)
			point[i][k] = (struct proof_point){ .speedup = 50 * (k + 1),
							    .lo = -half,
							    .hi = half,
							    .off = off[POINTS * i + k] };
	}
	return sum_up(proof, 2);
}

static void test_answers(void **state)
{
	struct sum s = with((double[]){ 0.1, 0.9, 1, 0 }, 2);

	(void)state;
	assert_true(trusted(&s) && !refuted(&s));
	/* Of four intervals one is a bit off: that proves nothing. */
	s = with((double[]){ 0.1, 1.1, 0.9, 0 }, 2);
	assert_false(trusted(&s) || refuted(&s));
	s = with((double[]){ 0.1, 1.5, 0.9, 0 }, 2);
	assert_true(!trusted(&s) && refuted(&s));
	/* So do intervals that hold everything. */
	s = with((double[]){ 0.1, 0.1, 0.1, 0 }, VAGUE_PP + 1);
	assert_false(trusted(&s) || refuted(&s));
	proof[1].n = 0;
	s = sum_up(proof, 2);
	assert_false(trusted(&s) || refuted(&s));
	proof[0].wrong = true;
	s = sum_up(proof, 2);
	assert_true(refuted(&s));
}

/* Everything that is advised has words, and nothing is left to be freed. */
static void test_advice(void **state)
{
	struct sum s = with((double[]){ 0.1, 1.1, 0.9, 0 }, 2);
	size_t n;
	char **a = advice(&s, &n);

	(void)state;
	assert_int_equal(n, 1);
	assert_non_null(strstr(a[0], "1 of 4 intervals"));
	free(a[0]);
	free(a);
	s = (struct sum){ .points = 4,
			  .inside = 3,
			  .far = 1,
			  .wrong = true,
			  .missing = true,
			  .stolen = 1,
			  .tick_us = 100,
			  .expected_pp = 10,
			  .half = 100 };
	a = advice(&s, &n);
	assert_int_equal(n, 7);
	for (size_t i = 0; i < n; i++)
		free(a[i]);
	free(a);
}

static json_t *json_of_nothing(const struct capabilities *c)
{
	char path[] = "/tmp/test_prove-XXXXXX";
	int saved = dup(STDOUT_FILENO), file = mkstemp(path);
	_cleanup_free_ char *text = NULL;

	fflush(stdout);
	dup2(file, STDOUT_FILENO);
	close(file);
	prove_nothing(c);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	text = read_file(path, NULL);
	unlink(path);
	return json_loads(text, 0, NULL);
}

/* Where scozd cannot run: nothing is proved, and what is missing is the advice. */
static void test_nothing(void **state)
{
	struct capability list[] = {
		{ "kernel", CAPABILITY_OK, true, "6.12", NULL, NULL },
		{ "privileges", CAPABILITY_MISSING, true, "CAP_BPF is missing", "it cannot",
		  "run it as root" },
		{ "perf-paranoid", CAPABILITY_LIMITED, true, "3", "it may not", "sysctl" },
		{ "module", CAPABILITY_MISSING, false, "none", "less", "modprobe" },
		{ "odd", CAPABILITY_MISSING, true, "\xff", "it cannot", NULL },
	};
	const struct capabilities c = { .list = list, .n = ARRAY_SIZE(list) };
	json_t *o = json_of_nothing(&c), *a;

	(void)state;
	assert_non_null(o);
	assert_string_equal(json_string_value(json_object_get(o, "schema")), "scoz-doctor-prove/1");
	assert_true(json_is_false(json_object_get(o, "can_run")));
	assert_true(json_is_false(json_object_get(o, "proved")));
	assert_true(json_is_null(json_object_get(o, "mean_abs_error")));
	assert_true(json_is_null(json_object_get(o, "stolen_pct")));
	assert_true(json_is_array(json_object_get(o, "programs")));
	assert_int_equal(json_array_size(json_object_get(o, "programs")), 0);
	a = json_object_get(o, "advice");
	assert_int_equal(json_array_size(a), 2);
	assert_string_equal(json_string_value(json_array_get(a, 0)),
			    "privileges: CAP_BPF is missing: run it as root");
	assert_string_equal(json_string_value(json_array_get(a, 1)), "odd: \xef\xbf\xbd");
	json_decref(o);
}

static double gauss(struct rng *r)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (rng_next(r) >> 40) / 16777216.0;
	return sum;
}

/* On a machine on which all is well, with intervals that are what they say. */
static void test_chance(void **state)
{
	const int runs = 20000;
	int all = 0, wrong = 0;
	struct rng r = { 1 };

	(void)state;
	for (int i = 0; i < runs; i++) {
		double off[2 * POINTS];
		struct sum s;

		for (int k = 0; k < 2 * POINTS; k++)
			off[k] = fabs(gauss(&r)) / 1.96;
		s = with(off, 2);
		all += trusted(&s);
		wrong += refuted(&s);
	}
	assert_true(wrong > 0.03 * runs && wrong < 0.06 * runs);
	assert_true(all > 0.78 * runs && all < 0.85 * runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
