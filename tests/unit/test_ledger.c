// SPDX-License-Identifier: GPL-2.0-or-later
/* What is said of ledgers that can be, and of those that cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/ledger.h"

#define MS ((int64_t)NSEC_PER_MSEC)

static const struct ledger_sums sums = {
	.delay = 300 * MS,
	.waived = 100 * MS,
	.own = 400 * MS,
	.elapsed_ns = 20000 * MS,
};

static struct scoz_core good(void)
{
	return (struct scoz_core){
		.own = 150 * MS,
		.stopped = 200 * MS,
		.excused = -60 * MS,
		.overhead = 10 * MS,
		.absorbed = 300 * MS,
	};
}

static void refused(struct scoz_core c, const char *why)
{
	struct error err = {};

	assert_int_equal(ledger_check_core(&c, 3, &sums, &err), -EBADE);
	assert_non_null(strstr(err.text, why));
	assert_non_null(strstr(err.text, "CPU 3"));
	assert_non_null(strstr(err.text, "nothing is concluded"));
}

static void test_one_core(void **state)
{
	struct scoz_core c = good();
	struct error err = {};

	(void)state;
	assert_int_equal(ledger_check_core(&c, 3, &sums, &err), 0);
	c.excused += MS;
	refused(c, "the parts");
	/* as it was found: 1.5 billion seconds unpaid */
	c = good();
	c.excused += 1537745562LL * 1000 * MS;
	c.absorbed += 1537745562LL * 1000 * MS;
	refused(c, "owes -1537745562");
	c = good();
	c.excused -= 77000 * MS;
	c.absorbed -= 77000 * MS;
	refused(c, "owes 77.000 s, but 0.400 s were inserted");
	c = good();
	c.stopped += 20000 * MS;
	c.excused -= 20000 * MS;
	refused(c, "was stopped for 20.200 of 20.000 s");
	c = good();
	c.own += 500 * MS;
	c.excused -= 500 * MS;
	refused(c, "saved 0.650 s");
}

/* Clocks of two cores differ: what is out by less than 50 ms is no defect. */
static void test_slack(void **state)
{
	/* What is stopped, saved; what is excused, which says what is owed. */
	static const struct {
		int64_t stopped, own, absorbed;
		const char *why;
	} cases[] = {
		{ 20049, 150, 300, NULL },
		{ 20051, 150, 300, "was stopped for" },
		{ -1, 150, 300, "was stopped for -0.001" },
		{ 200, 449, 300, NULL },
		{ 200, 451, 300, "saved 0.451 s" },
		{ 200, -1, 300, "saved -0.001 s" },
		{ 200, 150, 300 - 1800, NULL },
		{ 200, 150, 300 - 1801, "owes 1.801 s" },
		{ 200, 150, 300 + 20049, NULL },
		{ 200, 150, 300 + 20051, "owes -20.051 s" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct scoz_core c = { .own = cases[i].own * MS,
				       .stopped = cases[i].stopped * MS,
				       .absorbed = cases[i].absorbed * MS };
		struct error err = {};

		c.excused = c.absorbed - c.own - c.stopped;
		if (cases[i].why)
			refused(c, cases[i].why);
		else
			assert_int_equal(ledger_check_core(&c, 3, &sums, &err), 0);
	}
}

static void test_the_machine(void **state)
{
	struct ledger_sums odd = sums;
	struct error err = {};

	(void)state;
	assert_int_equal(ledger_check_sums(&sums, 400 * MS, 2, &err), 0);
	assert_int_equal(ledger_check_sums(&sums, 2 * 4 * 400 * MS, 2, &err), 0);
	assert_int_equal(ledger_check_sums(&sums, 2 * (4 * 400 + 50) * MS, 2, &err), 0);
	assert_int_equal(ledger_check_sums(&sums, 2 * (4 * 400 + 50) * MS + 1, 2, &err), -EBADE);
	odd.own -= 1;
	assert_int_equal(ledger_check_sums(&odd, 400 * MS, 2, &err), -EBADE);
	assert_non_null(strstr(err.text, "hits saved"));
	/* a few hits that cause thirty times their worth of stopping */
	odd = (struct ledger_sums){ .delay = 140 * MS, .own = 140 * MS, .elapsed_ns = 20000 * MS };
	assert_int_equal(ledger_check_sums(&odd, 4600 * MS, 2, &err), -EBADE);
	assert_non_null(strstr(err.text, "stood still for 4.6 s"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_core),
		cmocka_unit_test(test_slack),
		cmocka_unit_test(test_the_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
