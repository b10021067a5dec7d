// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ranking as people see it: whole reports at several widths against tests/unit/golden
 * (SCOZ_UPDATE_GOLDEN=1 writes them anew: look at the difference), short names, order, options.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "progress/labels.h"
#include "tests/unit/test_report_fixture.h"
#include "tests/unit/test_report_tool.h"
#include "tools/scoz/text.h"

static char dir[64], path[128];

static const double speedups[] = { 0.25, 0.5, 0.75, 1 };

#define T(i, name, kind, place, g, b, noisy, n, seen) \
	{ \
		{ i, name, kind, place }, .gain = g, .bend = b, .noise = noisy, .units = n, \
					  .samples = seen \
	}
static const struct fixture_target targets[] = {
	T(0, "func:std::map<std::string, Order>::operator[](std::string const&)@server", "function",
	  "src/storage/engine/index.hpp:1843", 0.45, 1, 0.02, 14, 12000),
	T(1, "func:std::map<std::string, Price>::operator[](std::string const&)@server", "function",
	  "src/storage/engine/index.hpp:1843", 0.2, 0.5, 0.02, 14, 36000),
	T(2, "func:acme::exec::HashJoin::probe(acme::RowBatch const&)@server", "function",
	  "src/exec/hash_join.cc:88", 0.3, 1, 0.02, 14, 9000),
	T(3, "src/exec/hash_join.cc:109", "line", "src/exec/hash_join.cc:109", -0.12, 1, 0.02, 14,
	  3000),
	T(4, "src/log/hash_join.cc:109", "line", "src/log/hash_join.cc:109", 0, 1, 0.004, 30,
	  90000),
	T(5, "func:main@client", "function", "client.c:7", 0, 1, 0.004, 30, 70),
	T(6, "func:main@server", "function", "server.c:7", 0.02, 1, 0.1, 6, 5000),
	T(7, "func:0x4290@gzip", "function", "", 0.1, 1, 0.02, 2, 100),
	T(8, "kernel:do_sys_poll", "kernel", "", 0, 1, 0.3, 5, 800),
};

static const struct fixture fixture = {
	.command = "./server --bench",
	.speedups = speedups,
	.n_speedups = ARRAY_SIZE(speedups),
	.targets = targets,
	.n_targets = ARRAY_SIZE(targets),
	.footer = true,
};

static char *golden_name(const char *name)
{
	return xasprintf("tests/unit/golden/%s", name);
}

/* Both without the name of the temporary file. */
static void check_golden(const char *name)
{
	_cleanup_free_ char *file = golden_name(name), *wanted = NULL;
	char *at;

	while ((at = strstr(out_text, path))) {
		memmove(at, at + strlen(path) - 1, strlen(at + strlen(path) - 1) + 1);
		*at = 'P';
	}
	if (getenv("SCOZ_UPDATE_GOLDEN")) {
		FILE *f = fopen(file, "w");

		assert_non_null(f);
		fputs(out_text, f);
		fclose(f);
	}
	wanted = read_file(file, NULL);
	if (!wanted)
		fail_msg("no %s: run from the tree's top", file);
	if (strcmp(out_text, wanted) != 0)
		fail_msg("not as in %s:\n%s", file, out_text);
}

static void report_at(const char *columns, const char *locale)
{
	setenv("COLUMNS", columns, 1);
	assert_non_null(setlocale(LC_CTYPE, locale));
	assert_int_equal(run(cmd_report, path, NULL), EXIT_DONE);
}

static size_t longest_line(void)
{
	size_t most = 0;

	for (char *line = out_text; line;) {
		char *end = strchr(line, '\n');
		_cleanup_free_ char *text = end ? xstrndup(line, end - line) : xstrdup(line);
		/* Commands and whole names are to be copied. */
		bool whole = strstr(text, "scozd --") || !strncmp(text, "func:", 5);
		size_t w = whole ? 0 : text_width(text);

		most = w > most ? w : most;
		line = end ? end + 1 : NULL;
	}
	return most;
}

static void golden(void **state)
{
	static const char *const widths[] = { "80", "120", "200" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		_cleanup_free_ char *name = xasprintf("report-%s.txt", widths[i]);

		report_at(widths[i], "C.UTF-8");
		assert_true(longest_line() <= (size_t)atoi(widths[i]));
		check_golden(name);
	}
	report_at("80", "C");
	for (const char *p = out_text; *p; p++)
		assert_true(*p == '\n' || (*p >= ' ' && *p <= '~'));
	check_golden("report-80-ascii.txt");
}

static void any_width(void **state)
{
	(void)state;
	for (int w = 50; w <= 220; w += 7) {
		_cleanup_free_ char *columns = xasprintf("%d", w);

		report_at(columns, "C.UTF-8");
		if (longest_line() > (size_t)w)
			fail_msg("%zu columns wide at %d:\n%s", longest_line(), w, out_text);
		run(cmd_report, path, "operator", NULL);
		if (longest_line() > (size_t)w)
			fail_msg("details %zu columns wide at %d:\n%s", longest_line(), w,
				 out_text);
	}
}

/* Where it stands; it must be there. */
static size_t at(const char *text)
{
	const char *p = strstr(out_text, text);

	if (!p)
		fail_msg("\"%s\" is not in:\n%s", text, out_text);
	return p - out_text;
}

static void order(void **state)
{
	(void)state;
	report_at("200", "C");
	/* By the lower bound, not by samples. */
	assert_true(at("\nWorth it (3)") < at("  map<std::string, Order>::operator[]"));
	assert_true(at("  map<std::string, Order>::operator[]") < at("  HashJoin::probe"));
	assert_true(at("  HashJoin::probe") < at("  map<std::string, Price>::operator[]"));
	assert_true(at("\nHarmful if faster (1)") < at("  exec/hash_join.cc:109"));
	assert_true(at("\nSurely worthless (2)") < at("  log/hash_join.cc:109"));
	assert_true(at("\nSurely worthless (2)") < at("  main@client"));
	assert_true(at("\nUnclear (3)") < at("  main@server"));
	assert_true(at("\nUnclear (3)") < at("  0x4290@gzip"));
	/* One sentence at the top and at the end. */
	assert_int_equal(at("map<std::string, Order>::operator[] is worth most: "), 0);
	at(". 9 targets tried: 3 worth it, ");
	assert_true(at("3 worth it, 1 harmful if faster, 2 surely") < at("\nWorth it"));
	assert_string_equal(strrchr(out_text, '\n'), "\n");
	assert_non_null(strstr(strstr(out_text, "Warnings"), "operator[] is worth most: "));
}

/* What may be much, and is not sure, comes after what surely is something. */
static void bound_not_estimate(void **state)
{
	struct estimate lucky = { .verdict = VERDICT_OPTIMIZE,
				  .best = KNOWN_VALUE,
				  .best_pct = 30,
				  .best_lo = 2,
				  .best_hi = 58 };
	struct estimate sure = { .verdict = VERDICT_OPTIMIZE,
				 .best = KNOWN_VALUE,
				 .best_pct = 20,
				 .best_lo = 15,
				 .best_hi = 25 };
	const struct model_row a = { .e = &lucky }, b = { .e = &sure };

	(void)state;
	assert_true(rank_key(&b, SORT_BOUND) > rank_key(&a, SORT_BOUND));
	assert_true(rank_key(&b, SORT_ESTIMATE) < rank_key(&a, SORT_ESTIMATE));
	/* So with harm. */
	lucky = (struct estimate){ .verdict = VERDICT_CONTENTION,
				   .best = KNOWN_VALUE,
				   .best_pct = -30,
				   .best_lo = -58,
				   .best_hi = -2 };
	sure = lucky;
	sure.best_pct = -20;
	sure.best_hi = -15;
	assert_true(rank_key(&b, SORT_BOUND) > rank_key(&a, SORT_BOUND));
}

/* An interval that goes on beyond the axis says so, at either end. */
static void arrows(void **state)
{
	const struct scale s = { .lo = -10, .hi = 30, .width = 20 };
	FILE *terminal = stdout;
	char *text = NULL;
	size_t size;

	(void)state;
	setlocale(LC_CTYPE, "C");
	for (int within = 0; within < 2; within++) {
		stdout = open_memstream(&text, &size);
		print_interval(&s, within ? -10 : -11, 10, within ? 30 : 31, SECTION_UNCLEAR);
		fclose(stdout);
		stdout = terminal;
		assert_int_equal(!strchr(text, '<'), within);
		assert_int_equal(!strchr(text, '>'), within);
		free(text);
	}
	/* Nor does the value give way to it, unless that is beyond the axis, too. */
	for (double v = -11; v <= 31; v += 0.5) {
		stdout = open_memstream(&text, &size);
		print_interval(&s, -12, v, 32, SECTION_UNCLEAR);
		fclose(stdout);
		stdout = terminal;
		assert_int_equal(text[0], '<');
		assert_int_equal(text[19], '>');
		assert_int_equal(strchr(text, 'o') != NULL, v >= s.lo && v <= s.hi);
		free(text);
	}
}

static void warned_once(void **state)
{
	struct text_list l = { .n = 0 };

	(void)state;
	for (int i = 0; i < 15; i++)
		text_list_add(&l, xstrdup("few windows"));
	text_list_add(&l, xstrdup("another"));
	assert_int_equal(l.n, 2);
	text_list_free(&l);
}

/* Warnings that were measured again say the same with other numbers. */
static void alike(void **state)
{
	static const char begin[] = "the program or the machine changed its speed";
	_cleanup_free_ char *a = xasprintf("%s: a by 3.5 %% after 10 s", begin);
	_cleanup_free_ char *b = xasprintf("%s: a by 12 %% after 1.25 s", begin);
	_cleanup_free_ char *c = xasprintf("%s: c by 3.5 %% after 10 s", begin);

	(void)state;
	assert_true(text_alike(a, a));
	assert_true(text_alike(a, b));
	assert_false(text_alike(a, c));
	assert_false(text_alike(a, begin));
	assert_false(text_alike("7 of 9", "7 of "));
	assert_false(text_alike("work", "work2"));
	assert_true(text_alike("it took 3.", "it took 41."));
}

static void options(void **state)
{
	(void)state;
	setenv("COLUMNS", "160", 1);
	setlocale(LC_CTYPE, "C");
	assert_int_equal(run(cmd_report, "--limit", "1", path, NULL), EXIT_DONE);
	at("2 more: --limit 0 shows all");
	assert_null(strstr(out_text, "\n  HashJoin::probe"));
	assert_int_equal(run(cmd_report, "--sort", "samples", path, NULL), EXIT_DONE);
	assert_true(at("\n  map<std::string, Price>::operator[]") < at("\n  HashJoin::probe"));
	assert_int_equal(at("map<std::string, Order>::operator[] is worth most: "), 0);
	assert_int_equal(run(cmd_report, "--filter", "hashjoin", path, NULL), EXIT_DONE);
	at("\n  HashJoin::probe");
	at("(8 other targets do not match --filter)");
	assert_null(strstr(out_text, "\n  main@client"));
	assert_int_equal(run(cmd_report, "--filter", "*main@*", path, NULL), EXIT_DONE);
	at("(7 other targets do not match --filter)");
	assert_int_equal(run(cmd_report, "--color", "always", path, NULL), EXIT_DONE);
	at("\033[94m");
	assert_int_equal(run(cmd_report, "--color", "auto", path, NULL), EXIT_DONE);
	assert_null(strchr(out_text, '\033'));
	assert_int_equal(run(cmd_report, "--color", "pink", path, NULL), EXIT_USAGE);
	assert_int_equal(run(cmd_report, "--limit", "x", path, NULL), EXIT_USAGE);
	assert_int_equal(run(cmd_report, "--sort", "nonsense", path, NULL), EXIT_USAGE);
}

static void details(void **state)
{
	(void)state;
	setenv("COLUMNS", "100", 1);
	setlocale(LC_CTYPE, "C");
	assert_int_equal(run(cmd_report, path, "HashJoin::probe", NULL), EXIT_DONE);
	assert_int_equal(at("func:acme::exec::HashJoin::probe(acme::RowBatch const&)@server\n"), 0);
	at("\n  optimize: ");
	at("\n     75 %  |");
	assert_null(strstr(out_text, "Order"));
	/* By a part of the name or place, also before the file. */
	assert_int_equal(run(cmd_report, "hash_join.cc:109", path, NULL), EXIT_DONE);
	at("src/exec/hash_join.cc:109\n");
	at("src/log/hash_join.cc:109\n");
	assert_int_equal(run(cmd_report, "nothing_like_it", path, NULL), EXIT_FAILED);
	assert_non_null(strstr(err_text, "nothing_like_it: no such file, and no target of "));
}

/* Fifteen times the same is said once. */
static void warnings(void **state)
{
	size_t n = 0;

	(void)state;
	report_at("200", "C");
	for (const char *p = out_text; (p = strstr(p, "few windows")); p++)
		n++;
	assert_true(n >= 1 && n <= 2);
}

static void check_labels(const char *const *names, size_t n, const char *const *wanted)
{
	char **labels = labels_make(names, n);

	for (size_t i = 0; i < n; i++) {
		assert_string_equal(labels[i], wanted[i]);
		free(labels[i]);
	}
	free(labels);
}

static void labels(void **state)
{
	static const char *const names[] = {
		"func:work@bar",
		"func:a::b::Map<int, std::less<int> >::find(int) const@server",
		"func:a::b::operator<<(std::ostream&, A const&)@server",
		"func:a::Foo::operator()(int)@server",
		"func:a::Foo::run()::{lambda(int)#1}::operator()(int) const@server",
		"func:(anonymous namespace)::helper(int)@server",
		"func:<alloc::vec::Vec<T> as core::ops::Drop>::drop@rusty",
		"func:0x4290@gzip",
		"func:same@one",
		"func:same@two",
		"src/deep/bar.c:8",
		"src/a/foo.c:1",
		"src/b/foo.c:1",
		"kernel:do_sys_poll",
		"bin:/usr/bin/true",
		"func:odd<name@x",
		"func:work@bar + func:a::B::other(int)@bar",
	};
	static const char *const wanted[] = {
		"work",
		"Map::find",
		"b::operator<<",
		"Foo::operator()",
		"run::{lambda#1}::operator()",
		"(anonymous namespace)::helper",
		"Vec::drop",
		"0x4290@gzip",
		"same@one",
		"same@two",
		"bar.c:8",
		"a/foo.c:1",
		"b/foo.c:1",
		"kernel:do_sys_poll",
		"bin:/usr/bin/true",
		"odd<name",
		"work + B::other",
	};
	static const char *const overloads[] = { "func:f(int)@b", "func:f(long)@b",
						 "func:f(int)@b" };
	static const char *const apart[] = { "f(int)@b", "f(long)@b", "f(int)@b" };

	(void)state;
	check_labels(names, ARRAY_SIZE(names), wanted);
	check_labels(overloads, ARRAY_SIZE(overloads), apart);
}

/* What a file can hold, though no compiler makes it: neither ages nor the stack. */
static void foul_labels(void **state)
{
	const size_t n = 600000;
	char *parts = xmalloc(9 * n + 2), *open = xmalloc(n + 6);
	const char *names[2] = { parts, open };
	char **labels;
	clock_t start = clock();

	(void)state;
	for (size_t i = 0; i < n; i++)
		memcpy(parts + 9 * i, "func:a + ", 9);
	strcpy(parts + 9 * n, "a");
	memset(open, '(', n + 5);
	memset(open + n / 2, '<', n / 2);
	memcpy(open, "func:", 5);
	open[n + 5] = '\0';
	check_labels(names, 2, names);
	labels = labels_make(names, 2);
	labels_fit(labels, 2, 16, "~");
	for (int i = 0; i < 2; i++) {
		assert_true(text_width(labels[i]) <= 16);
		free(labels[i]);
	}
	free(labels);
	/* Just short enough to be looked at. */
	parts[9 * 1700 + 1] = open[16000] = '\0';
	memset(open + 8000, '<', 8000);
	labels = labels_make(names, 2);
	assert_int_equal(strlen(labels[0]), 4 * 1700 + 1);
	assert_string_equal(labels[1], open + 5);
	for (int i = 0; i < 2; i++)
		free(labels[i]);
	free(labels);
	free(parts);
	free(open);
	/* Half a second here; it took minutes. */
	assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
}

/* Points that nobody named are called by what is reached; two that would be alike are not. */
static void labels_of_progress_points(void **state)
{
	static const char *const names[][2] = {
		{ "build/workloads/pipeline/aggregate:batch_done", "batch_done" },
		{ "./server:src/main.c:120", "main.c:120" },
		{ "./server:ns::Map<int>::find", "ns::Map<int>::find" },
		{ "/usr/bin/a:done", "a:done" },
		{ "./b:done", "b:done" },
		{ "./x/c:same", "./x/c:same" },
		{ "./y/c:same", "./y/c:same" },
		{ "usdt:/usr/bin/db:provider:query", "usdt:db:provider:query" },
		{ "syscall:fsync:postgres", "syscall:fsync:postgres" },
		{ "frames", "frames" },
		{ "./bin:", "bin:" },
		{ "", "" },
	};
	const char *points[ARRAY_SIZE(names)];
	char **labels;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		points[i] = names[i][0];
	labels = labels_of_points(points, ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_string_equal(labels[i], names[i][1]);
		free(labels[i]);
	}
	free(labels);
}

/* Twenty functions of one template, in the narrowest column: the function stays, none are alike. */
static void narrow_labels(void **state)
{
	const char *names[20];
	char **labels;

	(void)state;
	for (int i = 0; i < 20; i++)
		names[i] =
			xasprintf("func:very::long::name_space::Type%d::operator[](int)@server", i);
	labels = labels_make(names, 20);
	labels_fit(labels, 20, 16, "~");
	for (int i = 0; i < 20; i++) {
		assert_true(strlen(labels[i]) <= 16);
		assert_non_null(strstr(labels[i], "[]"));
		for (int j = 0; j < i; j++)
			assert_string_not_equal(labels[i], labels[j]);
	}
	for (int i = 0; i < 20; i++) {
		free(labels[i]);
		free((char *)names[i]);
	}
	free(labels);
}

/* ---- other profiles than the one above ---- */

static void report_of(const struct fixture_target *t, size_t n, bool latency, const char *option)
{
	_cleanup_free_ char *other = xasprintf("%s/other.scoz", dir);
	struct fixture f = fixture;
	struct error err = { 0 };

	f.targets = t;
	f.n_targets = n;
	f.latency = latency;
	unlink(other);
	assert_int_equal(fixture_write(other, &f, &err), 0);
	setenv("COLUMNS", "100", 1);
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	assert_int_equal(run(cmd_report, other, option, NULL), EXIT_DONE);
	unlink(other);
}

static size_t times(const char *text)
{
	size_t n = 0;

	for (const char *p = out_text; (p = strstr(p, text)); p++)
		n++;
	return n;
}

/* Numbers that time will not make better are no advice, and the reason is said where they stand. */
static void withheld(void **state)
{
	struct fixture_target t[] = { targets[0], targets[1] };

	(void)state;
	t[0].sleeps = t[1].sleeps = 1;
	report_of(t, 1, false, NULL);
	assert_int_equal(at("What would save some of the time per \"iter\" cannot be told: paced "),
			 0);
	assert_int_equal(times("may save most"), 0);
	assert_int_equal(times("    not sure: paced from outside\n"), 1);
	assert_int_equal(times("█"), 0);
	/* No precision is promised, whatever it takes. */
	at("\nPrecision (percentage points, 95 %)\n  func:std::map<std::string, "
	   "Order>::operator[]");
	assert_int_equal(times("more time makes no advice of it\n"), 1);
	assert_int_equal(times(" now"), 0);
	/* One warning stays one. */
	at("\nWarnings\n  map::operator[]: paced from outside: for each");
	assert_int_equal(times("  map::operator[]: "), 1);
	t[1].sleeps = 0;
	report_of(t, 2, false, NULL);
	assert_int_equal(at("map<std::string, Price>::operator[] is worth most"), 0);
	/* What waits is not sped up. */
	t[0] = targets[7]; /* few windows */
	t[0].units = 14;
	t[0].gain = 0.02;
	t[0].waits = 0.9;
	t[0].noise = 0.05;
	report_of(t, 1, false, NULL);
	assert_int_equal(at("What would save some of the time per \"iter\" cannot be told: targets "
			    "wait"),
			 0);
	/* It is not known yet: that is no reason to keep quiet about it. */
	t[0].waits = 0;
	report_of(t, 1, false, NULL);
	assert_int_equal(at("Nothing is surely worth it yet; what may save most is "), 0);
	assert_int_equal(times("] %"), 0); /* 1.6 % [-9.1, 12.3] */
	/* It may save something, or surely does not seem to: the estimate alone says neither. */
	t[0].gain = -0.005;
	report_of(t, 1, false, NULL);
	assert_int_equal(at("Nothing is surely worth it yet; what may save most is 0x4290@gzip, up "
			    "to "),
			 0);
	t[0].gain = -0.03;
	report_of(t, 1, false, NULL);
	assert_int_equal(at("Nothing is surely worth it yet; nothing that was tried seems to save "
			    "anything: 0x4290@gzip, if "),
			 0);
	assert_int_equal(times("may save most"), 0);
}

/* A machine that was busy otherwise is named where there is no answer, and nowhere else. */
static void excuse(void **state)
{
	_cleanup_free_ char *other = xasprintf("%s/other.scoz", dir), *text = NULL;
	struct fixture_target t[] = { targets[7], targets[1] };
	struct fixture f = fixture;
	struct error err = { 0 };
	struct ranking r;
	struct model *m;

	(void)state;
	f.targets = t;
	for (f.n_targets = 1; f.n_targets <= 2; f.n_targets++) {
		unlink(other);
		assert_int_equal(fixture_write(other, &f, &err), 0);
		assert_int_equal(model_load(other, &m, &err), 0);
		m->machine.others = 0.76;
		ranking_init(&r, m, 0, SORT_BOUND, NULL);
		text = ranking_excuse(&r);
		if (f.n_targets == 1)
			assert_ptr_equal(strstr(text, "Other programs took 76 % of the "), text);
		else
			assert_null(text);
		m->machine.others = 0.1;
		assert_null(ranking_excuse(&r));
		m->machine.others = NAN;
		assert_null(ranking_excuse(&r));
		ranking_deinit(&r);
		model_free(m);
		free(text);
		text = NULL;
	}
	unlink(other);
}

static void most_harmful_first(void **state)
{
	struct fixture_target t[] = { targets[3], targets[4] };

	(void)state;
	t[1].gain = -0.4;
	t[1].noise = 0.02;
	t[1].samples = 5;
	report_of(t, 2, false, "--sort=estimate");
	at("Harmful if faster (2)");
	assert_true(at("\n  log/hash_join.cc:109") < at("hash_join.cc:109      1.2 "));
}

/* The last lines are about all progress points. */
static void every_progress_point(void **state)
{
	(void)state;
	report_of(targets, 3, true, NULL);
	at("\n\niter: map<std::string, Order>::operator[] is worth most: ");
	at("\nrequest: map<std::string, Order>::operator[] is worth most: ");
	assert_true(at("\niter: ") < at("\nrequest: "));
}

static int setup(void **state)
{
	struct error err = { 0 };

	(void)state;
	strcpy(dir, "/tmp/test_ranking-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/profile.scoz", dir);
	return fixture_write(path, &fixture, &err);
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
		cmocka_unit_test(golden),
		cmocka_unit_test(any_width),
		cmocka_unit_test(order),
		cmocka_unit_test(bound_not_estimate),
		cmocka_unit_test(arrows),
		cmocka_unit_test(warned_once),
		cmocka_unit_test(alike),
		cmocka_unit_test(options),
		cmocka_unit_test(details),
		cmocka_unit_test(warnings),
		cmocka_unit_test(labels),
		cmocka_unit_test(labels_of_progress_points),
		cmocka_unit_test(narrow_labels),
		cmocka_unit_test(foul_labels),
		cmocka_unit_test(withheld),
		cmocka_unit_test(excuse),
		cmocka_unit_test(most_harmful_first),
		cmocka_unit_test(every_progress_point),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
