// SPDX-License-Identifier: GPL-2.0-or-later
/* Progress points in functions that are inlined: each copy counts, or the point is refused. */
#include "test_map_util.h"

#include "progress/probe_sites.h"

static const char source[] = "volatile int units, sink;\n"
			     "void done(void)\n"
			     "{\n"
			     "	units = units + 1; /* @unit */\n"
			     "}\n"
			     "static inline __attribute__((always_inline)) int twice(int x)\n"
			     "{\n"
			     "	return x + sink;\n"
			     "}\n"
			     "__attribute__((noinline)) void alone(int x)\n"
			     "{\n"
			     "	sink = twice(x) + twice(2 * x); /* @alone */\n"
			     "}\n"
			     "extern void slow(void);\n"
			     "int main(int argc, char **argv)\n"
			     "{\n"
			     "	(void)argv;\n"
			     "	if (argc > 2) {\n"
			     "		alone(argc);\n"
			     "		done();\n"
			     "		return sink;\n"
			     "	}\n"
			     "	slow();\n"
			     "	alone(argc);\n"
			     "	sink = 3;\n"
			     "	done();\n"
			     "	return units;\n"
			     "}\n";

static int make(void **state)
{
	_cleanup_free_ char *c = in_scratch("inlined.c"), *other = in_scratch("slow.c");

	(void)state;
	write_file(c, source, strlen(source));
	write_file(other, "void done(void); void slow(void) { done(); }\n", 45);
	sh("gcc -O2 -g inlined.c slow.c -o inlined");
	return 0;
}

/* How many probes @what of the program has; an error's text in @err. */
static int probes(const char *what, struct error *err)
{
	_cleanup_free_ char *spec = xasprintf("%s/inlined:%s", scratch, what);
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT;
	struct probe_sites *sites = NULL;
	struct point point;
	int n;

	assert_int_equal(point_parse(spec, &point, err), 0);
	n = probe_sites_of_point(&point, &file, &sites, err);
	if (!n)
		n = sites->n;
	probe_sites_free(sites);
	point_free(&point);
	return n;
}

static int line_probes(const char *mark)
{
	_cleanup_free_ char *what = xasprintf("inlined.c:%u", line_of(source, mark));
	struct error err;
	int n = probes(what, &err);

	if (n < 0)
		fail_msg("%s", err.text);
	return n;
}

static void lines(void **state)
{
	(void)state;
	/* Twice in main(), and out of line. */
	assert_int_equal(line_probes("unit"), 3);
	/* What is inlined in that very line is no visit of its own. */
	assert_int_equal(line_probes("alone"), 1);
}

static void functions(void **state)
{
	_cleanup_free_ char *line = xasprintf("inlined.c:%u", line_of(source, "unit"));
	struct error err;

	(void)state;
	assert_int_equal(probes("alone", &err), 1);
	assert_int_equal(probes("done", &err), -ENOTUNIQ);
	assert_non_null(strstr(err.text, "\"done\" is inlined in 2 places as well"));
	assert_non_null(strstr(err.text, line));
	assert_int_equal(probes("done+4", &err), -ENOTUNIQ);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(functions),
	};

	return cmocka_run_group_tests(tests, make, NULL);
}

int main(void)
{
	return run_in_scratch(run, true);
}
