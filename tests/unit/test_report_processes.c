// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes and ranks of one program, told apart in reports and lists of targets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "record/format.h"
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/test_report_tool.h"

static char path[64];

/* Targets of other names than the places in which samples were counted. */
static const struct fixture_target named_otherwise[] = {
	{ { 0, "func:work", "function", "" }, .gain = 0.4, .bend = 1, .noise = 0.01, .units = 12 },
	{ { 1, "func:wor", "function", "" }, .gain = 0.1, .bend = 1, .noise = 0.01, .units = 12 },
	{ { 2, "func:work@bar + func:rest@bar", "together", "" },
	  .gain = 0.5,
	  .bend = 1,
	  .noise = 0.01,
	  .units = 12 },
};
#define PLACES \
	"{\"type\":\"sample\",\"run\":0,\"target\":\"func:work@bar\",\"location\":\"bar.c:20\"," \
	"\"binary\":\"/usr/bin/bar\",\"self\":890,\"total\":1000}\n" \
	"{\"type\":\"sample\",\"run\":0,\"target\":\"func:rest@bar\",\"location\":\"bar.c:90\"," \
	"\"binary\":\"/usr/bin/bar\",\"self\":390,\"total\":400}\n"

/* Two ranks that work differently, what one of them has started, and many that are one line. */
#define PROCESSES \
	"{\"type\":\"process\",\"run\":0,\"pid\":41,\"name\":\"bar\",\"rank\":0,\"rank_from\":" \
	"\"PMI_RANK\",\"samples\":1000,\"places\":[[0,800,900,900],[1,90,100,100]]}\n" \
	"{\"type\":\"process\",\"run\":0,\"pid\":42,\"name\":\"bar\",\"rank\":1,\"rank_from\":" \
	"\"PMI_RANK\",\"samples\":400,\"places\":[[0,90,100,100],[1,300,300,300]]}\n" \
	"{\"type\":\"process\",\"run\":0,\"pid\":43,\"name\":\"sh\",\"rank\":1,\"rank_from\":" \
	"\"PMI_RANK\",\"samples\":60,\"places\":[]}\n" \
	"{\"type\":\"process\",\"run\":0,\"members\":5000,\"name\":\"cc1\",\"samples\":700," \
	"\"places\":[[1,100,100,0]]}\n"
#define FOOTER \
	"{\"type\":\"footer\",\"run\":0,\"duration_s\":60,\"samples_total\":2160," \
	"\"command_status\":0,\"end\":\"done\"}\n"

static void make_of(const struct fixture_target *t, size_t n, const char *more)
{
	struct fixture f = { .command = "mpirun -np 2 ./bar",
			     .speedups = fixture_speedups,
			     .n_speedups = 2,
			     .targets = t,
			     .n_targets = n,
			     .latency = true };
	struct error err = { 0 };
	FILE *file;

	unlink(path);
	assert_int_equal(fixture_write(path, &f, &err), 0);
	file = fopen(path, "a");
	assert_non_null(file);
	fprintf(file, "%s%s", more, FOOTER);
	fclose(file);
}

static void make(const char *more)
{
	make_of(fixture_two, 2, more);
}

static void expect(const char *text)
{
	if (!strstr(out_text, text))
		fail_msg("\"%s\" is not in:\n%s", text, out_text);
}

static void expect_not(const char *text)
{
	if (strstr(out_text, text))
		fail_msg("\"%s\" is in:\n%s", text, out_text);
}

static void differences(void **state)
{
	(void)state;
	make(PROCESSES);
	assert_int_equal(run(cmd_report, path, NULL), 0);
	expect("func:work@bar: 90 % of the samples of process 41 (bar), rank 0, but 25 % of those "
	       "of process 42 (bar), rank 1; --per process tells them apart");
	expect("func:rest@bar: 75 % of the samples of process 42 (bar), rank 1, but 10 %");
	/* Nothing to tell apart. */
	make("");
	assert_int_equal(run(cmd_report, path, NULL), 0);
	expect_not("Notes");
}

static void per_process_and_rank(void **state)
{
	(void)state;
	make(PROCESSES);
	assert_int_equal(run(cmd_report, "--per", "process", path, NULL), 0);
	expect("# process 41 (bar), rank 0: 1000 samples\n"
	       " SHARE  SAMPLES  SELF  TARGET         LOCATION\n"
	       "90.0 %      900   800  func:work@bar  bar.c:20\n"
	       "10.0 %      100    90  func:rest@bar  bar.c:90\n");
	expect("# 5000 processes cc1: 700 samples\n");
	expect_not("Notes");
	assert_int_equal(run(cmd_report, "--per", "rank", path, NULL), 0);
	expect("# rank 1: process 42 (bar) and 1 more: 460 samples\n");
	expect("# no rank: 5000 processes: 700 samples\n");
	assert_true(strstr(out_text, "# rank 0") < strstr(out_text, "# rank 1"));
	assert_true(strstr(out_text, "# rank 1") < strstr(out_text, "# no rank"));
	assert_int_equal(run(cmd_targets, "--per", "rank", path, NULL), 0);
	expect("# rank 0: process 41 (bar): 1000 samples\n"
	       "TOTAL   SHARE  SELF  CREDIT  TARGET         LOCATION  BINARY\n"
	       "  900  90.0 %   800     900  func:work@bar  bar.c:20  /usr/bin/bar\n");
	assert_int_equal(run(cmd_targets, "--per", "thread", path, NULL), 2);
	assert_int_equal(run(cmd_report, "--per", "thread", path, NULL), 2);
}

static void targets_of_other_names(void **state)
{
	const json_t *list;
	json_t *o;

	(void)state;
	setenv("LC_ALL", "C", 1);
	make_of(named_otherwise, 3, PLACES PROCESSES);
	assert_int_equal(run(cmd_report, "--limit", "0", path, NULL), 0);
	expect("func:work: 90 % of the samples of process 41 (bar), rank 0, but 25 % of those");
	assert_int_equal(run(cmd_report, "--per", "process", path, NULL), 0);
	expect("# process 41 (bar), rank 0: 1000 samples\n"
	       " SHARE  SAMPLES  SELF  TARGET                         LOCATION\n"
	       "     -        -     -  func:work@bar + func:rest@bar\n"
	       "90.0 %      900   800  func:work\n"
	       "     -        -     -  func:wor\n");
	assert_int_equal(run(cmd_report, "--rank", "1", path, "func:work", NULL), 0);
	expect("  100 samples (4.6 %)");
	assert_int_equal(run(cmd_report, "--rank", "1", path, "func:wor", NULL), 0);
	expect("in which processes its samples were is not known");
	assert_int_equal(run(cmd_report, "--json", "--rank", "0", path, NULL), 0);
	o = json_loads(out_text, 0, NULL);
	list = json_object_get(json_array_get(json_object_get(o, "processes"), 0), "targets");
	assert_int_equal(json_array_size(list), 3);
	for (size_t i = 0; i < 3; i++) {
		const json_t *t = json_array_get(list, i);
		const char *name = json_string_value(json_object_get(t, "target"));

		if (!strcmp(name, "func:work"))
			assert_int_equal(json_integer_value(json_object_get(t, "samples")), 900);
		else
			assert_true(json_is_null(json_object_get(t, "samples")) &&
				    json_is_null(json_object_get(t, "self")));
	}
	json_decref(o);
}

static void filters(void **state)
{
	(void)state;
	make(PROCESSES);
	assert_int_equal(run(cmd_report, "--rank", "1", path, NULL), 0);
	expect("chosen    460 samples of 2 processes; predictions are about the whole program");
	expect("\n  work              ");
	expect("  4.6  "); /* 100 of 2160 samples */
	assert_int_equal(run(cmd_targets, "--process", "bar", path, NULL), 0);
	expect(" 1000  71.4 %   890    1000  func:work@bar");
	assert_int_equal(run(cmd_targets, "--process", "42", path, NULL), 0);
	expect("  100  25.0 %    90     100  func:work@bar");
	assert_int_equal(run(cmd_targets, "--pid", "41", path, NULL), 0);
	expect("  900  90.0 %   800     900  func:work@bar");
	assert_int_equal(run(cmd_report, "--rank", "7", path, NULL), 3);
	assert_non_null(strstr(err_text,
			       "samples of no such process are in it: there are bar (41), "
			       "bar (42), sh (43), cc1; ranks 0 to 1"));
	make("");
	assert_int_equal(run(cmd_targets, "--per", "process", path, NULL), 3);
	assert_non_null(strstr(err_text, "does not tell processes apart"));
}

static void json(void **state)
{
	json_error_t why;
	const json_t *list, *q;
	json_t *o;

	(void)state;
	make(PROCESSES);
	assert_int_equal(run(cmd_report, "--json", path, NULL), 0);
	o = json_loads(out_text, 0, &why);
	list = json_object_get(o, "processes");
	assert_int_equal(json_array_size(list), 4);
	q = json_array_get(list, 1);
	assert_int_equal(json_integer_value(json_object_get(q, "pid")), 42);
	assert_int_equal(json_integer_value(json_object_get(q, "rank")), 1);
	q = json_object_get(q, "targets");
	assert_int_equal(json_array_size(q), 2); /* not by progress point */
	assert_int_equal(json_array_size(json_object_get(o, "notes")), 2);
	assert_true(json_is_null(json_object_get(o, "chosen_samples")));
	json_decref(o);
	assert_int_equal(run(cmd_report, "--json", "--rank", "0", path, NULL), 0);
	o = json_loads(out_text, 0, &why);
	assert_int_equal(json_array_size(json_object_get(o, "processes")), 1);
	assert_int_equal(json_integer_value(json_object_get(o, "chosen_samples")), 1000);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences),
		cmocka_unit_test(per_process_and_rank),
		cmocka_unit_test(targets_of_other_names),
		cmocka_unit_test(filters),
		cmocka_unit_test(json),
	};
	int ret;

	snprintf(path, sizeof(path), "/tmp/test_report_processes-%d.scoz", getpid());
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	free(out_text);
	free(err_text);
	return ret;
}
