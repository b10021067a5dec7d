// SPDX-License-Identifier: GPL-2.0-or-later
/* Which call chains are those of a task that waits by polling. */
#include "daemon/polling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Innermost first: one letter a frame. */
static bool waits(const char *frames)
{
	static const char letters[] = {
		[SCOZ_POLL_OTHER] = 'o', [SCOZ_POLL_LIBRARY] = 'l', [SCOZ_POLL_ENGINE] = 'E',
		[SCOZ_POLL_CALL] = 'C',	 [SCOZ_POLL_ASK] = 'a',	    [SCOZ_POLL_YIELD] = 'y',
		[SCOZ_POLL_EVENTS] = 'v'
	};
	struct scoz_poll_chain c = {};

	for (; *frames; frames++) {
		uint32_t role = 0;

		while (letters[role] != *frames)
			role++;
		switch (scoz_poll_frame(&c, role)) {
		case SCOZ_POLL_WAITS:
			return true;
		case SCOZ_POLL_WORKS:
			return false;
		default:
			break;
		}
	}
	return false;
}

static void test_chains(void **state)
{
	static const char *const waiting[] = {
		"EllCo",   /* the engine itself */
		"lElllCo", /* a device looks */
		"avvEllC", /* Open MPI asks by libevent */
		"allElC",  /* UCX asks by a function of its own */
		"yEllC",   /* nothing has come, others may have the core */
		"ylllC",   /* MPICH yields beside its engine */
		"lEEllC",  /* one engine calls another */
	};
	static const char *const working[] = {
		"llEllC",	      /* delivers what has come */
		"oElC",		      /* copies: memcpy() */
		"olEllC",  "lvvEllC", /* a callback of libevent */
		"lllC",		      /* sends: no engine at all */
		"Co",		      /* the call itself */
		"lEllo",	      /* called by MPI_Test(), of which nothing is said */
		"lElloC",	      /* a reduction of the program's own */
		"aCo",		      /* asks, but not for an engine */
		"allllEC", "avvo",    /* another program with libevent */
		"o",	   "",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(waiting); i++) {
		if (!waits(waiting[i]))
			fail_msg("%s is taken for work", waiting[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(working); i++) {
		if (waits(working[i]))
			fail_msg("%s is taken for waiting", working[i]);
	}
}

static void test_files(void **state)
{
	enum scoz_poll_role role;

	(void)state;
	assert_true(polling_file("/usr/lib/x86_64-linux-gnu/libmpi.so.40.30.4", &role));
	assert_int_equal(role, SCOZ_POLL_LIBRARY);
	assert_true(polling_file("/usr/lib/openmpi3/mca_btl_vader.so", &role));
	assert_int_equal(role, SCOZ_POLL_LIBRARY);
	assert_true(polling_file("/usr/lib/libevent_core-2.1.so.7.0.1", &role));
	assert_int_equal(role, SCOZ_POLL_EVENTS);
	assert_true(polling_file("/usr/lib/x86_64-linux-gnu/libc.so.6", &role));
	assert_int_equal(role, SCOZ_POLL_OTHER);
	assert_false(polling_file("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", &role));
	assert_false(polling_file("/home/u/mca_tool/solver", &role));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
