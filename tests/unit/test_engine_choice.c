// SPDX-License-Identifier: GPL-2.0-or-later
/* Which engine --engine auto takes, by what is asked for. */
#include "engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct engine_options usual = { .name = "auto", .model = SCOZ_MODEL_WAIT };

static void test_patched_kernel_is_taken(void **state)
{
	(void)state;
	assert_true(engine_takes_kernel(&usual, true));
	assert_false(engine_takes_kernel(&usual, false));
}

static void test_what_only_bpf_does(void **state)
{
	struct engine_options classes = usual, waits = usual;

	(void)state;
	classes.classes = true;
	assert_false(engine_takes_kernel(&classes, true));
	waits.waits = true;
	assert_false(engine_takes_kernel(&waits, true));
}

/* Where engine bpf could not do it either, nothing is gained by taking it. */
static void test_what_only_kernel_does(void **state)
{
	struct engine_options opt = usual;

	(void)state;
	opt.waits = true;
	opt.model = SCOZ_MODEL_CORE;
	assert_true(engine_takes_kernel(&opt, true));
	opt.model = SCOZ_MODEL_WAIT;
	opt.batch = 10;
	assert_true(engine_takes_kernel(&opt, true));
	opt.batch = 0;
	opt.no_flags = SCOZ_F_DEFER;
	assert_true(engine_takes_kernel(&opt, true));
	opt.no_flags = 0;
	opt.flags = SCOZ_F_KICK; /* both have it */
	assert_false(engine_takes_kernel(&opt, true));
}

static void test_who_is_named_is_taken(void **state)
{
	struct engine_options opt = usual;

	(void)state;
	opt.waits = true;
	opt.name = "kernel";
	assert_true(engine_takes_kernel(&opt, false));
	opt.waits = false;
	opt.name = "bpf";
	assert_false(engine_takes_kernel(&opt, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patched_kernel_is_taken),
		cmocka_unit_test(test_what_only_bpf_does),
		cmocka_unit_test(test_what_only_kernel_does),
		cmocka_unit_test(test_who_is_named_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
