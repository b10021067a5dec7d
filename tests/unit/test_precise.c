// SPDX-License-Identifier: GPL-2.0-or-later
/* A run with --precision goes on for a verdict that waits for windows, as long as there is hope. */
#include "daemon/precise.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- a run ---- */

static struct session session;
static struct awaited_verdict awaited;
static double now_s, since_s;
static bool any;
static int rounds; /* of target 7 */
static char said[1024], warned[1024];

bool windows_awaited(const struct windows *l, struct awaited_verdict *ret)
{
	(void)l;
	*ret = awaited;
	return any;
}

const struct trial *trials_get(const struct trials *l, int i)
{
	static const struct trial trial = { .name = "func:work" };

	(void)l;
	assert_int_equal(i, 7);
	return &trial;
}

void trials_go_on(struct trials *l, int i)
{
	(void)l;
	assert_int_equal(i, 7);
	rounds++;
}

double session_elapsed_s(const struct session *s)
{
	(void)s;
	return now_s;
}

void session_say(struct session *s, const char *event, const char *fmt, ...)
{
	va_list ap;

	(void)s;
	assert_string_equal(event, "verdict");
	assert_string_equal(said, ""); /* once */
	va_start(ap, fmt);
	vsnprintf(said, sizeof(said), fmt, ap);
	va_end(ap);
}

void session_warn(struct session *s, const char *fmt, ...)
{
	va_list ap;

	(void)s;
	va_start(ap, fmt);
	vsnprintf(warned, sizeof(warned), fmt, ap);
	va_end(ap);
}

static int begin(void **state)
{
	(void)state;
	session = (struct session){};
	awaited = (struct awaited_verdict){ .trial = 7, .doubt = DOUBT_CLOCK, .more_s = 120 };
	any = true;
	now_s = 40;
	since_s = 0;
	rounds = 0;
	*said = *warned = '\0';
	return 0;
}

static bool goes_on(void)
{
	return precise_goes_on(&session, NULL, NULL, &since_s);
}

/* ---- */

static void test_known(void **state)
{
	(void)state;
	any = false;
	assert_false(goes_on());
	assert_string_equal(said, "");
	assert_string_equal(warned, "");
	assert_int_equal(rounds, 0);
}

static void test_waits(void **state)
{
	(void)state;
	session.opt.duration = 300;
	for (int i = 0; i < 5; i++, now_s += 60)
		assert_true(goes_on());
	assert_int_equal(rounds, 5);
	assert_non_null(strstr(said, "no verdict on func:work yet (a clock may have a say)"));
	assert_non_null(strstr(said, "about 2 more minutes"));
	assert_non_null(strstr(said, "--duration"));
	any = false;
	assert_false(goes_on());
	assert_string_equal(warned, "");
}

static void test_too_long(void **state)
{
	(void)state;
	awaited.more_s = 2 * 86400;
	assert_false(goes_on());
	assert_string_equal(said, "");
	assert_non_null(strstr(warned, "without a verdict on func:work"));
	assert_non_null(strstr(warned, "more than a day"));
	assert_int_equal(rounds, 0);
}

static void test_nobody_knows(void **state)
{
	(void)state;
	awaited.more_s = NAN;
	assert_true(goes_on());
	assert_null(strstr(said, "about"));
	now_s = 2 * 40 + PATIENCE_S - 1;
	assert_true(goes_on());
	now_s += 2;
	assert_false(goes_on());
	assert_non_null(strstr(warned, "cannot be told"));
	assert_int_equal(rounds, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_known, begin),
		cmocka_unit_test_setup(test_waits, begin),
		cmocka_unit_test_setup(test_too_long, begin),
		cmocka_unit_test_setup(test_nobody_knows, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
