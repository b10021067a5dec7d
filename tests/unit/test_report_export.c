// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz export, of profiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/test_report_sample.h"

/* Targets at one line stay several, by their names; others go by their lines, as in COZ. */
static void test_coz_names(void **state)
{
#define TARGET_AT(id, name, location) \
	"{\"type\":\"target\",\"id\":" id ",\"name\":\"" name \
	"\",\"kind\":\"function\",\"location\":\"" location "\"}\n"
#define WINDOW_OF(seq, target) \
	"{\"type\":\"window\",\"run\":0,\"seq\":" seq ",\"target\":" target \
	",\"speedup\":0,\"discard\":null,\"wall_s\":1,\"progress\":[{\"visits\":9," \
	"\"virtual_s\":1}]}\n"
	(void)state;
	put_text(HEADER TARGET_AT("1", "func:sum<int>@x", "sum.h:8")
			 TARGET_AT("2", "func:sum<double>@x", "sum.h:8")
				 TARGET_AT("3", "func:alone@x", "a.c:3") WINDOW_OF("0", "1")
					 WINDOW_OF("1", "2") WINDOW_OF("2", "3") FOOTER);
	run(cmd_export, "-f", "coz", path, NULL);
	assert_non_null(strstr(out_text, "selected=func:sum<int>@x\t"));
	assert_non_null(strstr(out_text, "selected=func:sum<double>@x\t"));
	assert_non_null(strstr(out_text, "selected=a.c:3\t"));
	assert_null(strstr(out_text, "selected=sum.h:8"));
}

/* As the COZ viewer reads it: pooled durations over pooled deltas. */
static void test_export_coz(void **state)
{
	double duration[2] = { 0 }, delta[2] = { 0 };
	bool ours = false;
	int at = 0;

	(void)state;
	make(&fixture);
	assert_int_equal(run(cmd_export, "--format", "coz", "-o", other, path, NULL), EXIT_DONE);
	free(out_text);
	out_text = read_file(other, NULL);
	for (char *save, *line = strtok_r(out_text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		double speedup;
		long long ns;
		int n;

		if (sscanf(line,
			   "experiment\tselected=bar.c:20\tspeedup=%lf\tduration=%lld\tselected",
			   &speedup, &ns) == 2) {
			ours = speedup == 0 || speedup == 0.5;
			at = speedup == 0.5;
		} else if (!strncmp(line, "experiment\t", 11)) {
			ours = false;
		} else if (sscanf(line, "throughput-point\tname=iter\tdelta=%d", &n) == 1) {
			duration[at] += ours ? ns : 0;
			delta[at] += ours ? n : 0;
		} else {
			assert_true(
				!strncmp(line, "latency-point\tname=request\tarrivals=100\t", 40) ||
				!strncmp(line, "samples\tlocation=", 17) ||
				!strcmp(line, "startup\ttime=0") ||
				!strcmp(line, "runtime\ttime=61200000000"));
		}
	}
	assert_float_equal(1 - duration[1] / delta[1] / (duration[0] / delta[0]), 0.2, 0.02);
}

static void test_export_csv(void **state)
{
	size_t lines = 0;

	(void)state;
	make(&fixture);
	assert_int_equal(run(cmd_export, "-fcsv", path, NULL), EXIT_DONE);
	for (char *p = out_text; *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, 1 + 8 * 4);
	assert_int_equal(
		strncmp(out_text, "target,kind,location,samples,progress,speedup_pct,", 50), 0);
	assert_non_null(strstr(out_text, "\nfunc:work_f@bar,function,bar.c:20,61022,iter,0,0,"));
	assert_non_null(strstr(out_text, "\n\"kernel:lock,\"\"it\"\"?[31m?\",kernel,,90,iter,"));
	/* Why there is no verdict, as reports say it; and no value where they say none. */
	assert_non_null(strstr(out_text, ",windows,verdict,doubt\n"));
	assert_non_null(strstr(out_text, ",optimize,\n"));
	assert_non_null(strstr(out_text, ",undecided,few windows\n"));
	assert_int_equal(run(cmd_export, "-fjson", path, NULL), EXIT_DONE);
	json_decref(parse_report());
}

static void test_csv_of_nothing_learned(void **state)
{
	struct estimate_point p[] = { { .speedup_pct = 0, .ci_lo = INFINITY, .ci_hi = INFINITY },
				      { 25, 3.5, .ci_lo = -1, .ci_hi = 8 },
				      { 50, 40, .ci_lo = -80, .ci_hi = 90 },
				      { 100, 10, .ci_lo = -90, .ci_hi = 30 } };
	struct estimate e = { .points = p, .n_points = 4, .verdict = VERDICT_UNDECIDED };
	const struct profile_target target = { 0, "a.c:1", "line", "a.c:1" };
	const struct profile_progress progress = { .name = "iter" };
	struct model_row row = { .e = &e, .target = &target, .progress = &progress };
	struct model m = { .rows = &row, .n_rows = 1 };
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	e.doubt = DOUBT_PACED;
	out = open_memstream(&text, &size);
	assert_int_equal(export_csv(&m, out), EXIT_DONE);
	fclose(out);
	assert_non_null(strstr(text, ",iter,0,0,,,0,undecided,paced from outside\n"));
	assert_non_null(strstr(text, ",iter,25,3.5,-1,8,0,undecided,"));
	assert_non_null(strstr(text, ",iter,50,,-80,90,0,undecided,"));
	assert_non_null(strstr(text, ",iter,100,,-90,30,0,undecided,"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coz_names),
		cmocka_unit_test(test_export_coz),
		cmocka_unit_test(test_export_csv),
		cmocka_unit_test(test_csv_of_nothing_learned),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
