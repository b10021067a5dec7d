// SPDX-License-Identifier: GPL-2.0-or-later
/* Plots: well-formed, self-contained, and deaf to what names may hold. */
#include <ctype.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/unit/test_report_fixture.h"
#include "tests/unit/test_report_tool.h"

static char dir[64], profile[128], output[128];

static const double speedups[] = { 0.1, 0.5, 1 };
static const struct fixture_target hostile[] = {
	{ { 0, "</text></svg><script>alert(1)</script>", "function", "\"onload=\"x" },
	  .gain = 0.3,
	  .bend = 0.5,
	  .noise = 0.02,
	  .units = 8,
	  .samples = 500 },
	{ { 1, "a&b \033[2J\001\x7f\xef\xbf\xbe' \xe2\x80\xae", "line", "]]>&amp;<!--" },
	  .gain = -0.2,
	  .bend = 1,
	  .noise = 0.02,
	  .units = 8,
	  .samples = 50 },
	{ { 2, "wild", "line", "" }, .bend = 1, .noise = 1.5, .units = 8, .samples = 5 },
	{ { 3, "few", "line", "" },
	  .gain = 0.1,
	  .bend = 1,
	  .noise = 0.1,
	  .units = 1,
	  .samples = 1 },
	{ { 4, "none", "line", "" }, .bend = 1, .noise = 0.001, .units = 8, .samples = 1 },
};

/*
 * Just enough of XML for what is written here: elements nest, attributes are quoted, no stray
 * "<", "&" or control character.
 */
struct xml {
	const char *p;
	const char *open[64]; /* names of the open elements */
	size_t len[64], depth;
};

static size_t xml_name(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || p[n] == '-' || p[n] == ':')
		n++;
	return n;
}

static bool xml_text_char(const char *p)
{
	static const char *const entities[] = {
		"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&#160;"
	};

	if (*p == '<' || ((unsigned char)*p < 0x20 && *p != '\n') || *p == 0x7f)
		return false;
	for (size_t i = 0; *p == '&' && i < ARRAY_SIZE(entities); i++) {
		if (!strncmp(p, entities[i], strlen(entities[i])))
			return true;
	}
	return *p != '&';
}

static bool xml_tag(struct xml *x)
{
	size_t n = xml_name(x->p + 1);

	if (x->p[1] == '/') {
		n = xml_name(x->p + 2);
		if (!x->depth-- || n != x->len[x->depth] ||
		    strncmp(x->p + 2, x->open[x->depth], n) || x->p[n + 2] != '>')
			return false;
		x->p += n + 3;
		return true;
	}
	if (!n || x->depth == ARRAY_SIZE(x->open))
		return false;
	x->open[x->depth] = x->p + 1;
	x->len[x->depth++] = n;
	for (x->p += 1 + n; *x->p == ' ';) {
		n = xml_name(++x->p);
		x->p += n;
		if (!n || *x->p++ != '=' || *x->p++ != '"')
			return false;
		for (; *x->p != '"'; x->p++) {
			if (!*x->p || !xml_text_char(x->p))
				return false;
		}
		x->p++;
	}
	if (x->p[0] == '/' && x->p[1] == '>') {
		x->depth--;
		x->p += 2;
		return true;
	}
	return *x->p++ == '>';
}

/* Returns the end of the element that begins at @p, NULL when it is not well-formed. */
static const char *xml_element(const char *p)
{
	struct xml x = { .p = p };

	do {
		if (*x.p == '<') {
			if (!xml_tag(&x))
				return NULL;
		} else if (!*x.p || !xml_text_char(x.p++)) {
			return NULL;
		}
	} while (x.depth);
	return x.p;
}

static void test_checker(void **state)
{
	(void)state;
	assert_non_null(xml_element("<a b=\"c\"><d/>&amp;</a>"));
	assert_null(xml_element("<a><b></a></b>"));
	assert_null(xml_element("<a>&</a>"));
	assert_null(xml_element("<a b=c></a>"));
	assert_null(xml_element("<a>"));
	assert_null(xml_element("<a>\033</a>"));
}

static char *name_output(const char *name)
{
	snprintf(output, sizeof(output), "%s/%s", dir, name);
	return output;
}

/* The page of what is in @profile. To be freed. */
static char *page(void)
{
	char *text;

	assert_int_equal(run(cmd_plot, "-o", name_output("a.html"), profile, NULL), EXIT_DONE);
	text = read_file(output, NULL);
	assert_non_null(text);
	return text;
}

static void write_profile(const struct fixture *f)
{
	struct error err = { 0 };

	unlink(profile);
	if (fixture_write(profile, f, &err))
		fail_msg("%s", err.text);
}

static char *page_of(const struct fixture *f)
{
	write_profile(f);
	return page();
}

static void make(const struct fixture_target *t, size_t n)
{
	struct fixture f = { .command = "./x <b>&amp;",
			     .speedups = speedups,
			     .n_speedups = 3,
			     .targets = t,
			     .n_targets = n,
			     .latency = true,
			     .footer = true };

	write_profile(&f);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, what)); p++)
		n++;
	return n;
}

/* Nothing is loaded; a page has one script, of its own. */
static void check_self_contained(const char *text, bool page)
{
	static const char *const loads[] = { "<link",	   "<img",     "<iframe",   "<object",
					     " src=",	   "href=\"h", "url(",	    "@import",
					     "@font-face", "fetch(",   "innerHTML", "eval(" };

	assert_int_equal(count(text, "<script"), page);
	assert_int_equal(count(text, "href="), count(text, "href=\"#"));

	for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
		if (strstr(text, loads[i]))
			fail_msg("\"%s\" is in the plot", loads[i]);
	}
	assert_int_equal(count(text, "http"), count(text, "xmlns=\"http://www.w3.org/2000/svg\""));
	assert_null(strstr(text, "nan"));
	assert_null(strpbrk(text, "\033\001\x7f"));
}

static void test_svg(void **state)
{
	const char *end;
	char *text;

	(void)state;
	make(hostile, ARRAY_SIZE(hostile));
	assert_int_equal(run(cmd_plot, "-o", name_output("a.svg"), profile, NULL), EXIT_DONE);
	assert_non_null(strstr(out_text, "10 targets"));
	text = read_file(output, NULL);
	end = xml_element(text);
	assert_non_null(end);
	assert_string_equal(end, "\n");
	check_self_contained(text, false);
	assert_int_equal(count(text, "class=\"panel\""), 10);
	assert_int_equal(count(text, "<desc "), 10);
	assert_int_equal(count(text, "class=\"curve\""), 10);
	free(text);
}

static void test_html(void **state)
{
	size_t drawings = 0;
	char *text;

	(void)state;
	make(hostile, ARRAY_SIZE(hostile));
	text = page();
	check_self_contained(text, true);
	assert_true(strlen(page_js) < 20000);
	for (const char *p = text; (p = strstr(p, "<svg ")); drawings++) {
		p = xml_element(p);
		assert_non_null(p);
	}
	/* What all share; a whisker, a small curve and a large one of each. */
	assert_int_equal(drawings, 1 + 3 * 10);
	/* The page around them, too, but for what HTML leaves open: doctype and meta. */
	assert_non_null(xml_element(strstr(text, "<body>")));
	assert_non_null(strstr(text, "prefers-color-scheme:dark"));
	assert_non_null(strstr(text, "&lt;script&gt;alert(1)"));
	assert_int_equal(count(text, "role=\"img\""), 10);
	assert_int_equal(count(text, "<details class=\"row "), 10);
	assert_int_equal(count(text, "<details class=\"kind\""), 2 * 4);
	/* A row for each speedup, and one above them. */
	assert_int_equal(count(text, "<tr>"), 10 * 4);
	/* Dots: most windows of what is not too wild for the axis. */
	assert_true(count(text, "h0M") > 2 * 2 * 3 * 8 / 2);
	free(text);
}

/* The answer comes first, and all numbers are there without the script. */
static void test_ranking_in_page(void **state)
{
	const char *first, *answer, *worth, *bad, *worthless, *facts;
	char *text;

	(void)state;
	make(hostile, ARRAY_SIZE(hostile));
	text = page();
	first = strstr(text, "<main>");
	answer = strstr(first, "is worth most: if it took no time at all, it would save at least ");
	worth = strstr(first, "<summary>Worth it (<span class=\"count\">1</span>)");
	bad = strstr(first, "<summary>Harmful if faster (<span class=\"count\">1</span>)");
	worthless = strstr(first, "<summary>Surely worthless (<span class=\"count\">1</span>)");
	facts = strstr(first, "./x &lt;b&gt;&amp;amp;");
	assert_true(first && answer && worth && bad && worthless && facts);
	assert_true(answer < worth && worth < bad && bad < worthless && worthless < facts);
	free(text);
}

/* What the slider has of the row of @target at @speedup. */
static void find_point(const char *text, const char *target, double speedup, double v[6])
{
	_cleanup_free_ char *name = xasprintf("title=\"%s\"", target);
	const char *row = strstr(text, name), *p = NULL;

	assert_non_null(row);
	for (const char *at = text; (at = strstr(at, "data-p=\"")) && at < row; at++)
		p = at + strlen("data-p=\"");
	assert_non_null(p);
	for (; p; p = strpbrk(p, ";\"") ? strpbrk(p, ";\"") + 1 : NULL) {
		if (sscanf(p, "%lf,%lf,%lf,%lf,%lf,%lf", &v[0], &v[1], &v[2], &v[3], &v[4],
			   &v[5]) == 6 &&
		    v[0] == speedup)
			return;
	}
	fail_msg("%s has no point at %g %%", target, speedup);
}

/* What the slider calls sure is what verdicts call so, and its "at least" that of the headline. */
static void test_slider_is_no_surer(void **state)
{
	static const struct fixture_target targets[] = {
		{ { 0, "good", "line", "" },
		  .gain = 0.3,
		  .bend = 1,
		  .noise = 0.02,
		  .units = 8,
		  .samples = 500 },
		{ { 1, "lucky", "line", "" },
		  .gain = 0.07,
		  .bend = 1,
		  .noise = 0.02,
		  .units = 8,
		  .samples = 50 },
		{ { 2, "few", "line", "" },
		  .gain = 0.3,
		  .bend = 1,
		  .noise = 0.002,
		  .units = 4,
		  .samples = 400 },
	};
	double v[6], least = 0;
	const char *headline;
	char *text;

	(void)state;
	make(targets, ARRAY_SIZE(targets));
	text = page();
	headline = strstr(text, "would save at least ");
	assert_non_null(headline);
	assert_int_equal(sscanf(headline, "would save at least %lf", &least), 1);
	find_point(text, "good", 100, v);
	assert_float_equal(v[4], least, 0.06);
	assert_true(v[4] < v[2]);
	assert_true(v[5] == 1);
	/* 95 % intervals of the other exclude 0 at some speedup; that alone makes nothing sure. */
	find_point(text, "lucky", 50, v);
	assert_true(v[2] > 0 && v[5] == 0);
	/* Of fewer than five units nothing is concluded. */
	find_point(text, "few", 100, v);
	assert_true(v[2] > 10 && v[5] == 0);
	free(text);
}

#define NOTE "int secret;\n"

static size_t secrets(const char *below)
{
	char *text;
	size_t n;

	assert_int_equal(
		run(cmd_plot, "--source", below, "-o", name_output("a.html"), profile, NULL),
		EXIT_DONE);
	text = read_file(output, NULL);
	n = count(text, "int secret;");
	free(text);
	return n;
}

/* A profile can name any file: only regular ones below the directory are read. */
static void test_source(void **state)
{
	_cleanup_free_ char *file = xasprintf("%s/a.c", dir), *link = xasprintf("%s/l.c", dir);
	_cleanup_free_ char *sub = xasprintf("%s/sub", dir), *fifo = xasprintf("%s/f.c", dir);
	_cleanup_free_ char *absolute = xasprintf("%s:1", file);
	struct fixture_target t[] = { hostile[0], hostile[1] };
	FILE *f = fopen(file, "w");

	(void)state;
	fputs(NOTE, f);
	fclose(f);
	assert_int_equal(symlink(file, link), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	mkdir(sub, 0700);
	t[0].t.location = "/elsewhere/src/a.c:1";
	t[1].t.location = "";
	make(t, 2);
	assert_int_equal(secrets(dir), 2); /* of two progress points */
	assert_int_equal(secrets(sub), 0);
	assert_int_equal(run(cmd_plot, "-o", name_output("a.html"), profile, NULL), EXIT_DONE);
	t[0].t.location = "sub/../a.c:1";
	t[1].t.location = "l.c:1";
	make(t, 2);
	assert_int_equal(secrets(sub), 0);
	t[0].t.location = "../a.c:1";
	make(t, 2);
	assert_int_equal(secrets(sub), 0);
	t[0].t.location = absolute;
	make(t, 2);
	assert_int_equal(secrets(sub), 0);
	t[0].t.location = "f.c:1"; /* must not wait for a writer */
	t[1].t.location = "a.c:7"; /* it has one line */
	make(t, 2);
	assert_int_equal(secrets(dir), 0);
	unlink(file);
	unlink(link);
	unlink(fifo);
	rmdir(sub);
}

/* What scozd has put into the profile: shown unless it is not wanted, whatever is in it. */
static void test_source_in_profile(void **state)
{
	static const char *const lines[] = { "int first;", "</div><script>x & y\x01\xff",
					     "\tlast();" };
	struct fixture_target t[] = { hostile[1], hostile[1] };
	struct fixture f = { .command = "./server",
			     .speedups = speedups,
			     .n_speedups = 3,
			     .targets = t,
			     .n_targets = 2,
			     .source = lines,
			     .n_source = 3,
			     .footer = true };
	char *html;

	(void)state;
	t[0].t = (struct profile_target){ 0, "a.c:2", "line", "a.c:2" };
	t[0].samples = 48022; /* half of them there: 10 % */
	t[1].t = (struct profile_target){ 1, "a.c:3", "line", "a.c:3" };
	html = page_of(&f);
	assert_non_null(strstr(html, "int first;"));
	assert_non_null(strstr(html, "lines may have moved"));
	assert_null(strstr(html, "<script>x"));
	assert_non_null(strstr(html, "&lt;/div&gt;&lt;script&gt;x &amp; y"));
	assert_non_null(strstr(html, "<i>     2  10.0 %</i>  <b>"));
	/* The other line's own value stands in the margin of this one. */
	assert_int_equal(count(html, "\xe2\x97\x80"), 2);
	assert_int_equal(count(html, "<i>\xc2\xb7 "), 2);
	free(html);
	assert_int_equal(run(cmd_plot, "-o", output, "--no-source", profile, NULL), EXIT_DONE);
	html = read_file(output, NULL);
	assert_null(strstr(html, "int first;"));
	free(html);
	assert_int_equal(run(cmd_plot, "-o", output, "--source", dir, profile, NULL), EXIT_DONE);
	html = read_file(output, NULL);
	assert_null(strstr(html, "int first;"));
	free(html);
}

/* Columns stay what they are in the file. */
static void test_tabs(void **state)
{
	static const char *const lines[] = { "\tone(); \t/* a */", "    \tone();\t\t/* b */",
					     "x\xc3\xa9\tend" };
	struct fixture_target t[] = { hostile[1] };
	struct fixture f = { .command = "./server",
			     .speedups = speedups,
			     .n_speedups = 3,
			     .targets = t,
			     .n_targets = 1,
			     .source = lines,
			     .n_source = 3,
			     .footer = true };
	char *html;

	(void)state;
	t[0].t = (struct profile_target){ 0, "a.c:2", "line", "a.c:2" };
	html = page_of(&f);
	assert_non_null(strstr(html, "</i>          one();  /* a */\n"));
	assert_non_null(strstr(html, "<b>        one();          /* b */"));
	assert_non_null(strstr(html, "</i>  x\xc3\xa9      end\n"));
	free(html);
}

/* By which calls a target is reached: in the page, in the terminal, in JSON. */
static void test_callers(void **state)
{
	static const char *const callers[] = { "func:ns::work<int>(int)@bar", "func:render@bar",
					       "func:main@bar" };
	struct fixture_target t[] = { hostile[1] };
	struct fixture f = { .command = "./server",
			     .speedups = speedups,
			     .n_speedups = 3,
			     .targets = t,
			     .n_targets = 1,
			     .callers = callers,
			     .n_callers = 3,
			     .footer = true };
	char *text;

	(void)state;
	t[0].t = (struct profile_target){ 0, "func:ns::work<int>(int)", "function", "a.c:2" };
	t[0].samples = 0; /* among lines there is no such place */
	text = page_of(&f);
	assert_non_null(strstr(text, "<td>50 %</td><td>main \xe2\x86\x92 render \xe2\x86\x92 "
				     "ns::work</td>"));
	assert_non_null(strstr(text, "<td>25 %</td><td>ns::work</td>"));
	assert_non_null(strstr(text, "<span class=\"seen\">40.0</span>"));
	free(text);
	assert_int_equal(run(cmd_report, profile, "work", NULL), EXIT_DONE);
	assert_non_null(strstr(out_text, "  400 samples (40 %)\n  reached by:\n"
					 "     50 %  main -> render -> ns::work\n"
					 "     25 %  ns::work\n     25 %  other ways\n"));
	assert_int_equal(run(cmd_report, "--json", profile, NULL), EXIT_DONE);
	assert_non_null(strstr(out_text, "\"func:render@bar\""));
}

/* Who waits for a target: the last run that says counts; names are of anybody's choice. */
static void test_waiters(void **state)
{
	struct profile_waiter old[] = { { "nobody", 1, 0.5, 100, "futex" } };
	struct profile_waiter now[] = { { "\033<b>x", 1, 0.614, 1842, "read" },
					{ "cc1", 3, 1.5, 4500, "child" } };
	struct profile_waiters waiters[] = {
		{ .target = "func:ns::work<int>(int)", .seconds = 3, .list = old, .n = 1 },
		{ .target = "func:ns::work<int>(int)", .seconds = 3, .list = now, .n = 2 },
	};
	struct fixture_target t[] = { hostile[1] };
	struct fixture f = { .command = "./server",
			     .speedups = speedups,
			     .n_speedups = 3,
			     .targets = t,
			     .n_targets = 1,
			     .waiters = waiters,
			     .n_waiters = 2,
			     .footer = true };
	char *text;

	(void)state;
	t[0].t = (struct profile_target){ 0, "func:ns::work<int>(int)", "function", "a.c:2" };
	text = page_of(&f);
	assert_non_null(strstr(text, "of 3.0 s</th><th scope=\"col\">waited for by</th>"));
	assert_non_null(strstr(text, "<td>61 %</td><td>"));
	assert_non_null(strstr(text, "&lt;b&gt;x, in read</td>"));
	assert_non_null(strstr(text, "<td>150 %</td><td>cc1 (3 threads), in child</td>"));
	assert_null(strstr(text, "nobody"));
	free(text);
	assert_int_equal(run(cmd_report, profile, "work", NULL), EXIT_DONE);
	assert_non_null(strstr(out_text, "  waited for by (% of the first 3.0 s):\n     61 %  "));
	assert_non_null(strstr(out_text, "<b>x, in read\n    150 %  cc1 (3 threads), in child\n"));
	assert_null(strchr(out_text, '\033'));
	assert_int_equal(run(cmd_report, "--json", profile, NULL), EXIT_DONE);
	assert_non_null(strstr(out_text, "\"share_pct\": 61.4"));
	/* It was looked for, and nobody was seen: that is told, too; not to know is not. */
	f.waiters = &(struct profile_waiters){ .target = t[0].t.name, .seconds = 2 };
	for (f.n_waiters = 0; f.n_waiters < 2; f.n_waiters++) {
		bool known = f.n_waiters;

		write_profile(&f);
		assert_int_equal(run(cmd_report, profile, "work", NULL), EXIT_DONE);
		assert_int_equal(!!strstr(out_text, "nobody is known to wait for it (first 2.0 s)"),
				 known);
		assert_int_equal(run(cmd_report, "--json", profile, NULL), EXIT_DONE);
		assert_int_equal(!!strstr(out_text, "\"waiters\": []"), known);
		assert_int_equal(!!strstr(out_text, "\"waiters\": null"), !known);
	}
}

static size_t count_of(const char *what)
{
	char *text;
	size_t n;

	text = page();
	n = count(text, what);
	free(text);
	return n;
}

/* The largest page that is promised: 200 targets, 10,000 windows. */
static void test_page_size(void **state)
{
	static struct fixture_target many[200];
	const char *lines[17];
	struct stat st;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		many[i] = hostile[4];
		many[i].noise = 0.02;
		many[i].t.id = i;
		many[i].t.name = xasprintf("func:acme::storage::ShardedIndex<acme::Backend%zu>"
					   "::find(std::string const&) const@libacme.so.14",
					   i);
		many[i].t.location = "src/engine/exec/operators/sharded_index.cc:1843";
		many[i].units = 8;
	}
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		lines[i] = "\t\treturn table->find(hash(key), [&](auto &entry) { return entry == "
			   "key; });";
	struct fixture f = { .command = "./server --bench",
			     .source = lines,
			     .n_source = ARRAY_SIZE(lines),
			     .speedups = speedups,
			     .n_speedups = 3,
			     .targets = many,
			     .n_targets = ARRAY_SIZE(many),
			     .footer = true };

	write_profile(&f);
	assert_int_equal(run(cmd_plot, "-o", name_output("a.html"), profile, NULL), EXIT_DONE);
	assert_int_equal(stat(output, &st), 0);
	assert_true(st.st_size > 200000 && st.st_size < 1000000);
	assert_int_equal(count_of("Left out, so that the page stays small"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		free((char *)many[i].t.name);
}

/* However much there is in a profile, the page is one that opens: the least missed goes first. */
static void test_page_bound(void **state)
{
	static const double all[] = { 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1 };
	static const char *const arguments[] = { "--progress=./server:request_done", "--",
						 "./server", "--bench" };
	static struct fixture_target many[200];
	struct fixture f = { .command = "./server --bench",
			     .arguments = arguments,
			     .n_arguments = ARRAY_SIZE(arguments),
			     .speedups = all,
			     .n_speedups = ARRAY_SIZE(all),
			     .targets = many,
			     .n_targets = ARRAY_SIZE(many),
			     .footer = true };
	struct stat st;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		many[i] = hostile[0];
		many[i].t.id = i;
		many[i].t.name = xasprintf("func:acme::storage::ShardedIndex<acme::Backend%zu>"
					   "::find(std::string const&) const@libacme.so.14",
					   i);
		many[i].units = 8;
	}
	write_profile(&f);
	assert_int_equal(run(cmd_plot, "-o", name_output("a.html"), profile, NULL), EXIT_DONE);
	assert_int_equal(stat(output, &st), 0);
	print_message("a page of 200 targets with 12 speedups each: %ld bytes\n", (long)st.st_size);
	assert_true(st.st_size < 1000000);
	assert_int_equal(count_of("Left out, so that the page stays small"), 1);
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		free((char *)many[i].t.name);
}

/* One panel, many panels; coordinates stay within the drawing. */
static void test_sizes(void **state)
{
	static struct fixture_target many[70];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		many[i] = hostile[i % ARRAY_SIZE(hostile)];
		many[i].t.name = xasprintf("%s%zu", many[i].t.name, i);
		many[i].units = 3;
	}
	for (size_t n = 1; n <= ARRAY_SIZE(many); n += 23) {
		double x1, y1, x2, y2;
		size_t lines = 0;
		char *text;

		make(many, n);
		assert_int_equal(run(cmd_plot, "-o", name_output("n.svg"), profile, NULL),
				 EXIT_DONE);
		text = read_file(output, NULL);
		assert_non_null(xml_element(text));
		assert_int_equal(count(text, "class=\"panel\""), 2 * n < 60 ? 2 * n : 60);
		for (const char *p = text; (p = strstr(p, "<line ")); p++) {
			const char *at = strstr(p, "x1=");

			assert_int_equal(sscanf(at, "x1=\"%lf\" y1=\"%lf\" x2=\"%lf\" y2=\"%lf\"",
						&x1, &y1, &x2, &y2),
					 4);
			assert_true(x1 >= 0 && x2 <= PLOT_WIDTH && x1 <= x2);
			assert_true(y1 >= 0 && y1 <= PLOT_HEIGHT && y2 >= 0 && y2 <= PLOT_HEIGHT);
			lines++;
		}
		assert_true(lines > 10);
		free(text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		free((char *)many[i].t.name);
}

static void put_script(const char *name, const char *text)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
	chmod(path, 0755);
}

static void test_png(void **state)
{
	_cleanup_free_ char *saved = xstrdup(getenv("PATH"));
	char *text;

	(void)state;
	make(hostile, 2);
	setenv("PATH", dir, 1);
	assert_int_equal(run(cmd_plot, "-o", name_output("a.png"), profile, NULL), EXIT_FAILED);
	assert_non_null(strstr(err_text, "librsvg2-bin"));

	/* -z 2 -o OUT IN */
	put_script("rsvg-convert",
		   "#!/bin/sh\nwhile read -r l; do echo \"$l\"; done <\"$5\" >\"$4\"\n");
	assert_int_equal(run(cmd_plot, "-o", name_output("a.png"), profile, NULL), EXIT_DONE);
	text = read_file(output, NULL);
	assert_non_null(text);
	assert_int_equal(strncmp(text, "<svg ", 5), 0);
	free(text);

	put_script("rsvg-convert", "#!/bin/sh\nexit 1\n");
	assert_int_equal(run(cmd_plot, "-o", name_output("a.png"), profile, NULL), EXIT_FAILED);
	assert_non_null(strstr(err_text, "rsvg-convert could not write it"));
	setenv("PATH", saved, 1);
}

static void test_unwritable(void **state)
{
	struct rlimit old, small;
	int ret;

	(void)state;
	make(hostile, 2);
	assert_int_equal(run(cmd_plot, "-o", "/no/such/dir/a.html", profile, NULL), EXIT_FAILED);
	assert_non_null(strstr(err_text, "/no/such/dir/a.html"));
	/* A disk that is full soon. */
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){ 100, old.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	ret = run(cmd_plot, "-o", name_output("full.html"), profile, NULL);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(ret, EXIT_FAILED);
	name_output("full.html");
	ret = run(cmd_plot, "-o", output, profile, NULL);
	assert_int_equal(ret, EXIT_DONE);
}

/* Latencies can shrink by more than the target's time; page.js needs to know, too. */
static void test_latency_has_no_limit(void **state)
{
	const struct fixture f = { .command = "./bar",
				   .speedups = speedups,
				   .n_speedups = 3,
				   .targets = hostile,
				   .n_targets = 1,
				   .latency = true,
				   .footer = true };

	(void)state;
	write_profile(&f);
	assert_int_equal(count_of("data-latency=\"0\""), 1);
	assert_int_equal(count_of("data-latency=\"1\""), 1);
	assert_int_equal(count_of("<use href=\"#frame\"/>"), 2);
	assert_int_equal(count_of("<use href=\"#diagonal\"/>"), 1);
	assert_int_equal(count_of("class=\"limit\" x1"), 1);
}

/* The script keeps what the page says of rows that it knows no value of, and ranks by it. */
static void test_bounds_in_page(void **state)
{
	struct fixture_target t = hostile[2];
	struct fixture f = { .command = "./bar",
			     .speedups = &speedups[2],
			     .n_speedups = 1,
			     .targets = &t,
			     .n_targets = 1 };
	_cleanup_free_ char *high = NULL;
	struct error err = { 0 };
	struct model *m;

	(void)state;
	t.gain = 0.07 - 0.6;
	t.noise = 0.6;
	/* Only a few windows make an interval that wide. */
	for (t.units = 3; !high && t.units < 9; t.units++) {
		write_profile(&f);
		assert_int_equal(model_load(profile, &m, &err), 0);
		if (m->n_rows && m->rows[0].e->best == KNOWN_BOUND)
			high = xasprintf(" data-best=\"\" data-high=\"%g\"", m->rows[0].e->best_hi);
		model_free(m);
	}
	assert_non_null(high);
	assert_true(count_of(high) > 0);
	assert_true(count_of("<b>at most ") > 0);
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/test_report_plot-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(profile, sizeof(profile), "%s/profile.scoz", dir);
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = { "a.svg",	  "a.html",	  "a.png",	 "n.svg",
					     "full.html", "rsvg-convert", "profile.scoz" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(name_output(names[i]));
	rmdir(dir);
	free(out_text);
	free(err_text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_checker),
		cmocka_unit_test(test_svg),
		cmocka_unit_test(test_latency_has_no_limit),
		cmocka_unit_test(test_bounds_in_page),
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_ranking_in_page),
		cmocka_unit_test(test_slider_is_no_surer),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_source_in_profile),
		cmocka_unit_test(test_tabs),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_waiters),
		cmocka_unit_test(test_page_size),
		cmocka_unit_test(test_page_bound),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_png),
		cmocka_unit_test(test_unwritable),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
