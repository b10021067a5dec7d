// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz report on recordings that are made here. */
#include "tests/unit/test_record_fixture.h"

static char dir[64];

static void test_table(void **state)
{
	(void)state;
	make_usual();
	assert_int_equal(run(cmd_report, path, NULL), EXIT_DONE);
	assert_string_equal(err_text, "");
	expect("# Overhead  Command  Shared Object  Symbol\n");
	expect("    50.00%  a.out    [kernel]       [I] io_schedule\n");
	expect("    10.10%  a.out    [kernel]       [L] futex_wait\n");
	expect("    29.90%  a.out    a.out          [.] heavy\n");
	/* One symbol, four classes, as many rows. */
	expect("     4.70%  a.out    [kernel]       [S] io_schedule\n");
	expect("     0.20%  a.out    [kernel]       [k] io_schedule\n"); /* and what was inlined */
	expect("     0.10%  b        [unknown]      [B] [no call chain]\n");
	expect("[I] waiting for I/O                  500    50.00%          2     250 ms\n");
	expect("samples: 10, which stand for 1000 points, each 1 ms of a thread; 0 records lost");
	expect_not("filters");
	assert_int_equal(sum_rows(out_text, 0), 10000);
	assert_null(strchr(out_text, '\033'));
}

/* A row is a function of the machine code, as perf's symbols are, unless asked for. */
static void test_inlined(void **state)
{
	(void)state;
	make_usual();
	assert_int_equal(run(cmd_report, path, NULL), EXIT_DONE);
	expect_not("tiny");
	assert_int_equal(run(cmd_report, path, "--inline", NULL), EXIT_DONE);
	expect("     0.10%  a.out    [kernel]       [k] tiny (inlined)\n");
	assert_int_equal(sum_rows(out_text, 0), 10000);
}

/* Thirds and sevenths are rounded so that they still add up. */
static void test_shares_add_up(void **state)
{
	struct record_sample s[7];

	(void)state;
	for (size_t i = 0; i < 7; i++)
		s[i] = (struct record_sample){ .time = i, .points = 1, .stack = i, NOBODY };
	make(s, 7, &usual_footer);
	assert_int_equal(run(cmd_report, path, NULL), EXIT_DONE);
	expect("    14.29%");
	expect("    14.28%");
	assert_int_equal(sum_rows(out_text, 0), 10000);
	make(s, 3, &usual_footer);
	assert_int_equal(run(cmd_report, path, NULL), EXIT_DONE);
	expect("    33.34%");
	assert_int_equal(sum_rows(out_text, 0), 10000);
}

static void test_command_failed(void **state)
{
	struct record_sample s = { .time = 1, .points = 1, .stack = 0, NOBODY };
	struct record_footer f = usual_footer;

	(void)state;
	f.command_status = 3 << 8;
	make(&s, 1, &f);
	assert_int_equal(run(cmd_report, path, NULL), EXIT_DONE);
	expect("warning: the command ended with status 3\n");
	f.end = "signal"; /* as it was asked to */
	make(&s, 1, &f);
	assert_int_equal(run(cmd_report, path, NULL), EXIT_DONE);
	expect_not("the command ended");
}

static void test_no_kernel(void **state)
{
	(void)state;
	make_usual();
	assert_int_equal(run(cmd_report, path, "--no-kernel", NULL), EXIT_DONE);
	expect("    50.00%  a.out    libc.so.6      [I] __libc_pread64\n");
	expect("    10.10%  a.out    libc.so.6      [L] __pthread_cond_wait\n");
	expect("     4.70%  a.out    libc.so.6      [S] __libc_pread64\n");
	/* The inlined kernel function is gone, too. */
	expect("     0.20%  a.out    libc.so.6      [k] __libc_pread64\n");
	expect_not("[kernel]");
	expect_not("tiny");
	assert_int_equal(sum_rows(out_text, 0), 10000);
}

static void test_children(void **state)
{
	json_t *o;

	(void)state;
	make_usual();
	o = report_of("--children", NULL);
	assert_int_equal(points_of(o, "io_schedule", "I", "children_pct"), 50);
	assert_int_equal(points_of(o, "main", "I", "children_points"), 500);
	assert_int_equal(points_of(o, "main", "I", "points"), 0);
	assert_int_equal(points_of(o, "main", "L", "children_points"), 101);
	/* Users of kernel code are not in the kernel. */
	assert_int_equal(points_of(o, "main", ".", "children_points"), 52);
	assert_int_equal(points_of(o, "main", "k", "children_points"), -1);
	assert_int_equal(points_of(o, "io_schedule", "k", "children_points"), 2);
	/* A function that calls itself counts once. */
	assert_int_equal(points_of(o, "heavy", ".", "children_points"), 299);
	assert_int_equal(points_of(o, "heavy", ".", "points"), 299);
	assert_int_equal(points_of(o, "_start", ".", "children_points"), 351);
	json_decref(o);
	assert_int_equal(run(cmd_report, path, "--children", NULL), EXIT_DONE);
	expect("# Children      Self  Command");
	expect("    50.00%    50.00%  a.out    [kernel]       [I] io_schedule\n");
	expect("    50.00%     0.00%  a.out    a.out          [I] main\n");
	assert_int_equal(sum_rows(out_text, 1), 10000);
	assert_int_equal(run(cmd_report, path, "--children", "--no-children", NULL), EXIT_DONE);
	expect("# Overhead");
}

static void test_call_graph(void **state)
{
	(void)state;
	make_usual();
	assert_int_equal(run(cmd_report, path, "-g", NULL), EXIT_DONE);
	expect("    50.00%  a.out    [kernel]       [I] io_schedule\n"
	       "            |\n"
	       "             --50.00%--__libc_pread64\n"
	       "                       main\n"
	       "                       _start\n\n");
	expect("            |\n"
	       "            |--20.00%--_start\n"
	       "            |\n"
	       "             --9.90%--heavy\n"
	       "                      _start\n");
}

static void test_sort(void **state)
{
	(void)state;
	make_usual();
	assert_int_equal(run(cmd_report, path, "--sort", "class", NULL), EXIT_DONE);
	expect("    50.00%  io\n");
	expect("    35.10%  on\n"); /* [.] and [k] */
	assert_int_equal(sum_rows(out_text, 0), 10000);
	assert_int_equal(run(cmd_report, path, "-s", "kind,waker,pid", NULL), EXIT_DONE);
	expect("    40.00%  disk   nvme0n1    100\n");
	expect("    10.10%  futex  a.out:101  100\n");
	assert_int_equal(run(cmd_report, path, "--sort=tid,cpu,file", NULL), EXIT_DONE);
	expect("    20.00%  101  0    a.c\n");
	expect("     9.90%  101  1    a.c\n");
	assert_int_equal(run(cmd_report, path, "--sort=srcline", NULL), EXIT_DONE);
	expect("    29.90%  a.c:30\n");
	/* One library whatever the symbol. */
	assert_int_equal(run(cmd_report, path, "--sort=dso", NULL), EXIT_DONE);
	expect("    65.00%  [kernel]\n");
	assert_int_equal(sum_rows(out_text, 0), 10000);
	assert_int_equal(run(cmd_report, path, "--inline", "--percent-limit", "5", NULL),
			 EXIT_DONE);
	expect("# 4 rows below the limit are not shown: 5.00 % together");
	expect_not("tiny");
}

static void test_filters(void **state)
{
	(void)state;
	make_usual();
	assert_true(selected_points("--comm", "a.out") == 999);
	assert_true(selected_points("--comm", "early,b") == 1); /* renamed before it ran */
	assert_true(selected_points("--pid", "100") == 999);
	assert_true(selected_points("--tid", "101,200") == 300);
	assert_true(selected_points("--cpu", "1") == 200);
	assert_true(selected_points("--class", "I") == 500);
	assert_true(selected_points("--class", "ILSB") == 649);
	assert_true(selected_points("--class", "off") == 649);
	assert_true(selected_points("--class", "on") == 351);
	assert_true(selected_points("--class", "k,sched") == 49);
	assert_int_equal(run(cmd_report, path, "--class=lock", NULL), EXIT_DONE);
	expect("the filters let 101 points through");
	expect("   100.00%  a.out    [kernel]       [L] futex_wait\n");
	assert_int_equal(run(cmd_report, path, "--comm", "a.ou", NULL), EXIT_NOTHING);
	assert_non_null(strstr(err_text, "the filters leave none of 10 samples"));
	assert_int_equal(run(cmd_report, path, "--comm", "a.outside", NULL), EXIT_NOTHING);
	assert_int_equal(run(cmd_report, path, "--comm", ",", NULL), EXIT_NOTHING);
}

static void test_per(void **state)
{
	const char *first, *second, *third;
	json_t *o;

	(void)state;
	make_usual();
	assert_int_equal(run(cmd_report, path, "--per", "thread", "--no-hints", NULL), EXIT_DONE);
	first = strstr(out_text, "# Thread 100 of process 100 (a.out): 700 points, 70.00 % of all");
	second = strstr(out_text, "# Thread 101 of process 100 (a.out): 299 points, 29.90 %");
	third = strstr(out_text, "# Thread 200 of process 200 (b): 1 points");
	assert_true(first && second && third && first < second && second < third);
	expect("# sampled: on CPU 7.43 %, I/O 71.43 %, scheduling 6.71 %, locks 14.43 %, other "
	       "0.00 %");
	expect("# exact, locks among other: on CPU 10.00 %, I/O 70.00 %, scheduling 5.00 %, other "
	       "15.00 %");
	assert_int_equal(sum_rows(third, 0), 10000);
	assert_int_equal(sum_rows(second, 0), 20000);
	assert_int_equal(sum_rows(out_text, 0), 30000);

	assert_int_equal(run(cmd_report, path, "--per=process", NULL), EXIT_DONE);
	expect("# Process 100 (a.out): 999 points, 99.90 % of all");
	assert_int_equal(sum_rows(out_text, 0), 20000);
	o = report_of("--per", "process");
	assert_int_equal(json_array_size(list_at(o, "rows")), 0);
	assert_int_equal(json_array_size(list_at(o, "groups")), 2);
	json_decref(o);
}

static void test_json(void **state)
{
	static const char *const order[] = { "schema",	"recording",	  "engine",  "period_s",
					     "command", "command_status", "scope",   "host",
					     "kernel",	"started",	  "cpus",    "complete",
					     "end",	"duration_s",	  "samples", "classes",
					     "threads", "sort",		  "rows",    "groups",
					     "waits",	"hints",	  "reasons", "warnings",
					     "notes" };
	const json_t *v, *t;
	const char *key;
	size_t i = 0;
	json_t *o;
	double share = 0;

	(void)state;
	make_usual();
	o = report_of(NULL, NULL);
	json_object_foreach (o, key, v)
		assert_string_equal(key, order[i++]);
	assert_int_equal(i, ARRAY_SIZE(order));
	assert_string_equal(text_at(o, "schema"), "scoz-record-report/1");
	assert_true(number_at(o, "duration_s") == 1 && number_at(o, "period_s") == 0.001);
	assert_true(json_is_true(json_object_get(o, "complete")));
	v = json_object_get(o, "samples");
	assert_true(number_at(v, "total") == 10 && number_at(v, "points") == 1000);
	assert_true(number_at(v, "without_chain") == 1 && number_at(v, "lost") == 0);
	json_array_foreach (list_at(o, "classes"), i, v)
		share += number_at(v, "share_pct");
	assert_float_equal(share, 100, 1e-9);
	assert_int_equal(json_array_size(list_at(o, "rows")), 7);
	t = json_array_get(list_at(o, "threads"), 0);
	assert_int_equal(number_at(t, "tid"), 100);
	assert_float_equal(number_at(json_object_get(t, "exact"), "io_s"), 0.7, 1e-9);
	assert_float_equal(number_at(json_object_get(t, "sampled_pct"), "io"), 500 / 7.0, 1e-6);
	t = json_array_get(list_at(o, "threads"), 1);
	assert_string_equal(text_at(t, "comm"), "a.out"); /* its last name */
	assert_true(json_is_null(json_object_get(t, "exact")));
	json_decref(o);
}

static void test_top_waits(void **state)
{
	const json_t *w;
	json_t *o;

	(void)state;
	make_usual();
	assert_int_equal(run(cmd_report, path, "--top-waits", NULL), EXIT_DONE);
	expect("    50.00%  500 ms in 2 waits of 250 ms on average; disk; woken by nvme0n1 80 %, "
	       "vda "
	       "20 %\n"
	       "              io_schedule ([kernel])\n"
	       "              __libc_pread64 (libc.so.6)\n"
	       "              main (a.c:10)\n"
	       "              _start (a.out)\n");
	expect("101 ms in 1 waits of 101 ms on average; futex; woken by a.out:101 100 %\n");
	expect("47 ms in 1 waits of 50 ms on average\n");
	expect("poll; woken by unknown 100 %\n              [no call chain]\n");
	expect_not("Overhead");
	o = report_of("--top-waits=3", NULL);
	assert_int_equal(json_array_size(list_at(o, "waits")), 4);
	w = json_array_get(list_at(o, "waits"), 0);
	assert_string_equal(text_at(w, "class"), "io");
	assert_string_equal(text_at(w, "kind"), "disk");
	assert_true(number_at(w, "points") == 500 && number_at(w, "waits") == 2);
	assert_float_equal(number_at(w, "time_s"), 0.5, 1e-9);
	assert_float_equal(number_at(w, "mean_s"), 0.25, 1e-9);
	assert_int_equal(json_array_size(list_at(w, "stack")), 4);
	assert_string_equal(text_at(json_array_get(list_at(w, "woken_by"), 0), "event"), "nvme0n1");
	w = json_array_get(list_at(o, "waits"), 1);
	assert_int_equal(number_at(json_array_get(list_at(w, "woken_by"), 0), "tid"), 101);
	json_decref(o);
}

static void test_top_waits_order(void **state)
{
	struct record_sample s[] = {
		{ .time = 1, .points = 1, .stack = S_LOCK, .class = RECORD_LOCK, NOBODY },
		{ .time = 2, .points = 3, .stack = S_FUTEX, .class = RECORD_LOCK, NOBODY },
		{ .time = 3, .points = 2, .stack = S_LIGHT, .class = RECORD_LOCK, NOBODY },
		{ .time = 4, .points = 1, .stack = S_IO, .class = RECORD_IO, NOBODY },
	};
	json_t *o;

	(void)state;
	make(s, ARRAY_SIZE(s), &usual_footer);
	assert_int_equal(run(cmd_report, path, "--top-waits=2", NULL), EXIT_DONE);
	assert_true(strstr(out_text, " io_schedule") < strstr(out_text, " futex_wait"));
	assert_true(strstr(out_text, " futex_wait") < strstr(out_text, " light"));
	expect(" light");
	expect_not("__lll_lock_wait");
	o = report_of("--top-waits=1", NULL);
	assert_int_equal(json_array_size(list_at(o, "waits")), 2);
	json_decref(o);
}

/* @points of a class besides 900 points on a CPU: is there a hint? */
static bool hint_of(enum record_class class, const char *kind, uint32_t stack, uint32_t points,
		    uint32_t on)
{
	struct record_sample s[] = {
		{ .time = 1, .points = on, .stack = S_HEAVY, NOBODY },
		{ .time = 2,
		  .points = points,
		  .duration = points * (uint64_t)MS,
		  .stack = stack,
		  .class = class,
		  .kind = kind,
		  .waker = 1,
		  .holder =
			  class == RECORD_LOCK && record_kind_is_held(kind) ? 2 : RECORDING_NONE },
	};

	make(s, 2, &usual_footer);
	assert_int_equal(run(cmd_report, path, NULL), EXIT_DONE);
	return strstr(out_text, "# What to do");
}

static bool hint_at(enum record_class class, uint32_t stack, uint32_t points, uint32_t on)
{
	return hint_of(class, "futex lock", stack, points, on);
}

static void test_hints(void **state)
{
	(void)state;
	make_usual();
	assert_int_equal(run(cmd_report, path, NULL), EXIT_DONE);
	setenv("COLUMNS", "1000", 1);
	assert_int_equal(run(cmd_report, path, NULL), EXIT_DONE);
	expect("# [I] 50.0 % of the time is waiting for I/O: 100.0 % of it in __libc_pread64 "
	       "called "
	       "by main (disk), 80 % ended by nvme0n1. A faster device");
	expect("# [L] 10.1 % of the time is threads that wait until another one has something for "
	       "them: 100.0 % of it in __pthread_cond_wait called by main (futex), 100 % ended by "
	       "a.out:101. Nobody holds a lock there.");
	expect("--target class:io");
	expect_not("# [S] 4.7");
	assert_int_equal(run(cmd_report, path, "--no-hints", NULL), EXIT_DONE);
	expect_not("What to do");
	assert_true(hint_at(RECORD_LOCK, S_LOCK, 100, 900));
	expect("# [L] 10.0 % of the time is waiting for locks: 100.0 % of it in __lll_lock_wait "
	       "called by main (futex lock), 100 % held by b:200, 100 % ended by early:101.");
	expect("# [L] waiting for a lock ");
	expect_not("waiting for other threads");
	/* An idle pool: the same function of the kernel, but nobody has what it waits for. */
	assert_true(hint_of(RECORD_LOCK, "futex wait", S_COND, 800, 200));
	expect("# [L] waiting for other threads        800    80.00%");
	expect("# [L] 80.0 % of the time is threads that wait until another one has something for");
	expect_not("lock is held");
	expect_not("waiting for a lock");
	assert_true(hint_at(RECORD_SCHED, S_LIGHT, 100, 900));
	expect("# [S] 10.0 % of the time is waiting for a CPU (1 thread ran or wanted to, on 2 "
	       "CPUs)");
	/* Fewer threads than one are none. */
	expect("others on these CPUs do, or a CPU quota");
	expect_not("Fewer threads");
	fixture_cpus = 0;
	assert_true(hint_at(RECORD_SCHED, S_LIGHT, 100, 900));
	expect("Fewer threads, more CPUs, or pinning");
	expect_not("CPU quota");
	fixture_cpus = 2;
	assert_true(hint_at(RECORD_IO, S_IO, 100, 900));
	expect("A faster device");
	/* Who waits for io_uring may wait for a client. */
	assert_true(hint_of(RECORD_IO, "io_uring", S_IO, 100, 900));
	expect("# [I] 10.0 % of the time counts as waiting for I/O, but 100 % of it is for what "
	       "io_uring was asked for and no device answers: ");
	expect("100 % ended by early:101");
	expect_not("A faster device");
	/* A small share, few points, or a class for which the paper knows nothing. */
	assert_false(hint_at(RECORD_LOCK, S_LOCK, 99, 900));
	assert_false(hint_at(RECORD_SCHED, S_LIGHT, 49, 1));
	assert_false(hint_at(RECORD_IO, S_IO, 99, 900));
	assert_false(hint_at(RECORD_OTHER, S_IO, 900, 1));
	unsetenv("COLUMNS");
}

static void test_losses(void **state)
{
	struct record_sample s[] = {
		{ .time = 1, .points = 1, .stack = S_LIGHT_BROKEN, NOBODY },
		{ .time = 2,
		  .points = 5,
		  .stack = RECORDING_NONE,
		  .class = RECORD_OTHER,
		  .unfinished = true,
		  NOBODY },
	};
	struct record_footer f = usual_footer;

	(void)state;
	f.lost = 7;
	make(s, 2, &f);
	assert_int_equal(run(cmd_report, path, NULL), EXIT_DONE);
	expect("; 7 records lost");
	expect("# warning: 7 records (77.78 %) were lost");
	expect("# warning: 1 samples (50.00 %) have broken call chains");
	expect("# warning: 1 samples (50.00 %) have no call chain");
	expect("# warning: 1 of 1 waits went on when the recording ended");
	make(s, 1, NULL);
	assert_int_equal(run(cmd_report, path, NULL), EXIT_DONE);
	expect("# warning: the recording was cut off");
	expect_not("unfinished");
	make_usual();
	assert_int_equal(run(cmd_report, path, "--tid=100", NULL), EXIT_DONE);
	expect_not("warning");
}

static void test_nothing(void **state)
{
	struct record_footer f = usual_footer;
	json_error_t why;
	json_t *o;

	(void)state;
	make(usual, 0, &f);
	assert_int_equal(run(cmd_report, path, NULL), EXIT_NOTHING);
	assert_non_null(strstr(err_text, "no samples: within 1.000 s"));
	assert_int_equal(run(cmd_report, "--json", path, NULL), EXIT_NOTHING);
	o = json_loads(out_text, 0, &why);
	assert_int_equal(json_array_size(list_at(o, "reasons")), 1);
	assert_int_equal(json_array_size(list_at(o, "rows")), 0);
	json_decref(o);
	f.lost = 3;
	make(usual, 0, &f);
	assert_int_equal(run(cmd_report, path, NULL), EXIT_NOTHING);
	assert_non_null(strstr(err_text, "all 3 records were lost"));
	make(usual, 0, NULL);
	assert_int_equal(run(cmd_report, path, "--top-waits", "--per=thread", NULL), EXIT_NOTHING);
	assert_non_null(strstr(err_text, "cut off before the first one"));
}

static void test_terminal(void **state)
{
	struct record_sample s[] = {
		{ .time = 1,
		  .points = 5,
		  .stack = S_EVIL,
		  .class = RECORD_IO,
		  .kind = "\033[1m\xc3\xa9",
		  .event = "\033[2m",
		  NOBODY },
		{ .time = 2, .points = 5, .stack = S_BELOW_EVIL, NOBODY },
	};

	(void)state;
	make(s, 2, &usual_footer);
	assert_int_equal(run(cmd_report, path, "-s", "comm,dso,sym,kind,waker", "-g", NULL),
			 EXIT_DONE);
	expect("--e?[31mvil?\n");
	expect("[I] e?[31mvil?");
	expect("./a.out?[2J");
	assert_null(strchr(out_text, '\033'));
	/* What this locale does not have. */
	expect("?[1m?  ");
	assert_null(strchr(out_text, '\xc3'));
	assert_int_equal(run(cmd_report, path, "--top-waits", NULL), EXIT_DONE);
	assert_null(strchr(out_text, '\xc3'));
	assert_null(strchr(out_text, '\033'));
	assert_null(strchr(out_text, '\a'));
}

static void test_usage(void **state)
{
	static const char *const bad[][2] = {
		{ "--sort", "comm,nonsense" },
		{ "--sort", "comm,comm" },
		{ "--sort", "" },
		{ "--pid", "x" },
		{ "--tid", "1,,2" },
		{ "--cpu", "a-b" },
		{ "--class", "Q" },
		{ "--class", "" },
		{ "--per", "cpu" },
		{ "--percent-limit", "101" },
		{ "--percent-limit", "x" },
	};

	(void)state;
	make_usual();
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(run(cmd_report, path, bad[i][0], bad[i][1], NULL), EXIT_USAGE);
		assert_true(*err_text);
	}
	assert_int_equal(run(cmd_report, path, "--top-waits=0", NULL), EXIT_USAGE);
	assert_int_equal(run(cmd_report, path, path, NULL), EXIT_USAGE);
	assert_int_equal(run(cmd_report, "/dev/null", "-g", NULL), EXIT_USAGE);
	assert_non_null(strstr(err_text, "--call-graph is for recordings"));
	assert_int_equal(run(cmd_report, "--help", NULL), EXIT_DONE);
	expect("--top-waits");
}

static void copy_to(const char *name)
{
	_cleanup_free_ char *data = NULL;
	size_t len;
	FILE *f = fopen(name, "w");

	data = read_file(path, &len);
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

static void set_age(const char *name, time_t seconds)
{
	struct timespec t[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };

	assert_int_equal(utimensat(AT_FDCWD, name, t, 0), 0);
}

/* Without FILE: what is there, and the newer of two. */
static void test_default_file(void **state)
{
	char *old = getcwd(NULL, 0);
	FILE *f;

	(void)state;
	make_usual();
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(run(cmd_report, NULL), EXIT_FAILED);
	assert_non_null(strstr(err_text, "profile.scoz: no such file"));
	assert_int_equal(run(cmd_report, "-g", NULL), EXIT_FAILED);
	assert_non_null(strstr(err_text, "record.scoz: no such file: record one with scoz record"));
	copy_to("record.scoz");
	assert_int_equal(run(cmd_report, NULL), EXIT_DONE);
	expect("# record.scoz: ");
	assert_string_equal(err_text, "");
	f = fopen("profile.scoz", "w");
	fputs("{\"type\":\"header\",\"format\":\"scoz-profile\",\"version\":1,\"run\":0}\n", f);
	fclose(f);
	set_age("record.scoz", 1000);
	set_age("profile.scoz", 2000);
	assert_int_equal(run(cmd_report, NULL), EXIT_NOTHING);
	expect("profile.scoz: ");
	assert_non_null(strstr(err_text, "profile.scoz, which is newer than record.scoz"));
	assert_int_equal(run(cmd_report, "-g", NULL), EXIT_DONE); /* cannot be the profile */
	set_age("record.scoz", 3000);
	assert_int_equal(run(cmd_report, NULL), EXIT_DONE);
	expect("# record.scoz: ");
	assert_non_null(strstr(err_text, "record.scoz, which is newer than profile.scoz"));
	unlink("record.scoz");
	unlink("profile.scoz");
	assert_int_equal(chdir(old), 0);
	free(old);
}

/* Chains as deep as the reader allows, and thousands of entries. */
static void test_deep(void **state)
{
	const struct record_header h = { .period_ns = 1, .engine = "bpf" };
	struct recording_writer *w;

	(void)state;
	unlink(path);
	assert_int_equal(recording_writer_open(path, &h, &w, NULL), 0);
	for (uint32_t i = 0; i < 8192; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		recording_write_frame(w, i,
				      &(struct record_frame){ .symbol = name, .object = "x" });
		recording_write_stack(w, i, &(struct record_stack){ i, i - 1 });
	}
	recording_write_thread(w, &threads[0]);
	for (uint32_t i = 0; i < 8192; i += 512)
		recording_write_sample(w,
				       &(struct record_sample){ .points = 1, .stack = i, NOBODY });
	assert_int_equal(recording_writer_close(w, NULL, NULL), 0);
	assert_int_equal(run(cmd_report, path, "-g", NULL), EXIT_DONE);
	expect("f4096");
	assert_int_equal(run(cmd_report, path, "--children", NULL), EXIT_DONE);
	expect("f7679");
}

static int setup(void **state)
{
	(void)state;
	strcpy(path, "/tmp/test_record_report-XXXXXX");
	strcpy(dir, "/tmp/test_record_report-XXXXXX");
	close(mkstemp(path));
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	rmdir(dir);
	free(out_text);
	free(err_text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_shares_add_up),
		cmocka_unit_test(test_command_failed),
		cmocka_unit_test(test_no_kernel),
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_call_graph),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_per),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_top_waits),
		cmocka_unit_test(test_top_waits_order),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_default_file),
		cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
