// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/labels.h"
#include "progress/point.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_point(const char *text, enum point_kind kind, const char *binary,
			const char *function, const char *name, const char *comm, uint64_t offset,
			uint32_t line)
{
	struct error err = { 0 };
	struct point p;

	if (point_parse(text, &p, &err))
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(p.kind, kind);
	assert_string_equal(p.spec, text);
#define SAME(field) \
	do { \
		if (!field != !p.field || (field && strcmp(field, p.field))) \
			fail_msg("%s: " #field " is '%s', not '%s'", text, p.field, field); \
	} while (0)
	SAME(binary);
	SAME(function);
	SAME(name);
	SAME(comm);
	assert_int_equal(p.offset, offset);
	assert_int_equal(p.line, line);
	point_free(&p);
	point_free(&p);
}

static void check_bad(const char *text, const char *word)
{
	struct error err = { 0 };
	struct point p;

	if (!point_parse(text, &p, &err)) {
		point_free(&p);
		fail_msg("'%s' was accepted", text);
	}
	assert_int_equal(err.code, -EINVAL);
	if (!strstr(err.text, word) || !strstr(err.text, text))
		fail_msg("'%s' gives: %s (wanted: %s)", text, err.text, word);
	assert_null(p.spec);
	assert_int_equal(point_parse(text, &p, NULL), -EINVAL);
}

static void test_functions(void **state)
{
	(void)state;
	check_point("prog:main", POINT_FUNCTION, "prog", "main", NULL, NULL, 0, 0);
	check_point("/usr/bin/x:f+16", POINT_FUNCTION, "/usr/bin/x", "f", NULL, NULL, 16, 0);
	check_point("./x:f+0x1F", POINT_FUNCTION, "./x", "f", NULL, NULL, 31, 0);
	check_point("prog:ns::cls::f", POINT_FUNCTION, "prog", "ns::cls::f", NULL, NULL, 0, 0);
	check_point("prog:ns::f(int, char)+8", POINT_FUNCTION, "prog", "ns::f(int, char)", NULL,
		    NULL, 8, 0);
	check_point("p:a<b::c>::operator+", POINT_FUNCTION, "p", "a<b::c>::operator+", NULL, NULL,
		    0, 0);
	check_point("p:operator++", POINT_FUNCTION, "p", "operator++", NULL, NULL, 0, 0);
	check_point("p:operator+=", POINT_FUNCTION, "p", "operator+=", NULL, NULL, 0, 0);
	check_point("p:operator+++4", POINT_FUNCTION, "p", "operator++", NULL, NULL, 4, 0);
	check_point("p:operator==", POINT_FUNCTION, "p", "operator==", NULL, NULL, 0, 0);
	/* whole signatures, as tools print them */
	check_point("p:a::f(int, char const*)", POINT_FUNCTION, "p", "a::f(int, char const*)", NULL,
		    NULL, 0, 0);
	check_point("p:a::f(b::c<int, d> const&) const+0x10", POINT_FUNCTION, "p",
		    "a::f(b::c<int, d> const&) const", NULL, NULL, 16, 0);
	check_point("p:a::K::operator+(int)", POINT_FUNCTION, "p", "a::K::operator+(int)", NULL,
		    NULL, 0, 0);
	check_point("p:a::K::operator++(int)", POINT_FUNCTION, "p", "a::K::operator++(int)", NULL,
		    NULL, 0, 0);
	check_point("p:ru::Thing<T>::iter_done", POINT_FUNCTION, "p", "ru::Thing<T>::iter_done",
		    NULL, NULL, 0, 0);
	check_point("p:<ru::Thing<u8> as ru::Step>::step", POINT_FUNCTION, "p",
		    "<ru::Thing<u8> as ru::Step>::step", NULL, NULL, 0, 0);
	check_point("a\\:b:f", POINT_FUNCTION, "a:b", "f", NULL, NULL, 0, 0);
	check_point("p:we\\:ird", POINT_FUNCTION, "p", "we:ird", NULL, NULL, 0, 0);
	check_point("p:~Foo", POINT_FUNCTION, "p", "~Foo", NULL, NULL, 0, 0);
	check_point("marks:f", POINT_FUNCTION, "marks", "f", NULL, NULL, 0, 0);
	check_point("./mark:f", POINT_FUNCTION, "./mark", "f", NULL, NULL, 0, 0);
	check_bad("prog", "no ':'");
	check_bad(":f", "BINARY is empty");
	check_bad("prog:", "nothing follows BINARY");
	check_bad("prog:+4", "no FUNCTION");
	check_bad("prog:f+", "offset '' is not a number");
	check_bad("prog:f+0x", "not a number");
	check_bad("prog:f+12a", "not a number");
	check_bad("prog:f+g", "not a number");
	check_bad("prog:f+99999999999999999999", "too large");
	check_bad("main.c:12", "needs its binary");
	check_bad("prog\\:f", "no ':'");
}

static void test_lines(void **state)
{
	(void)state;
	check_point("prog:main.c:12", POINT_LINE, "prog", NULL, "main.c", NULL, 0, 12);
	check_point("prog:src/a+b.c:1", POINT_LINE, "prog", NULL, "src/a+b.c", NULL, 0, 1);
	check_point("p:../b/../c.c:3", POINT_LINE, "p", NULL, "c.c", NULL, 0, 3);
	check_point("p:c\\:d.c:3", POINT_LINE, "p", NULL, "c:d.c", NULL, 0, 3);
	check_point("p:/a:b/c.c:3", POINT_LINE, "p", NULL, "/a:b/c.c", NULL, 0, 3);
	check_point("p:f.c:4294967295", POINT_LINE, "p", NULL, "f.c", NULL, 0, UINT32_MAX);
	check_bad("p:f.c:0", "counted from 1");
	check_bad("p:f.c:4294967296", "too large");
	check_bad("p:f.c:99999999999999999999999", "too large");
	check_bad("p:f.c:12a", "not a line number");
	check_bad("p:f.c:", "not a line number");
	check_bad("p::12", "FILE is empty");
	check_bad("p:ns::12", "neither a function nor FILE:LINE");
}

static void test_others(void **state)
{
	(void)state;
	check_point("usdt:/usr/bin/mysqld:mysql:query__done", POINT_USDT, "/usr/bin/mysqld",
		    "mysql", "query__done", NULL, 0, 0);
	check_point("usdt:a\\:b:p:n", POINT_USDT, "a:b", "p", "n", NULL, 0, 0);
	check_point("tracepoint:block:block_rq_complete", POINT_TRACEPOINT, NULL, "block",
		    "block_rq_complete", NULL, 0, 0);
	check_point("tracepoint:block:x:kworker/0:1", POINT_TRACEPOINT, NULL, "block", "x",
		    "kworker/0:1", 0, 0);
	check_point("syscall:fsync", POINT_SYSCALL, NULL, NULL, "fsync", NULL, 0, 0);
	check_point("syscall:fsync:mysqld", POINT_SYSCALL, NULL, NULL, "fsync", "mysqld", 0, 0);
	check_point("mark:x", POINT_MARK, NULL, NULL, "x", NULL, 0, 0);
	check_point("mark:src/a.c:12", POINT_MARK, NULL, NULL, "src/a.c:12", NULL, 0, 0);
	check_point("mark:a=b c", POINT_MARK, NULL, NULL, "a=b c", NULL, 0, 0);
	check_bad("usdt:prog", "PROVIDER is missing");
	check_bad("usdt:prog:p", "NAME is missing");
	check_bad("usdt:prog:p:", "NAME is empty");
	check_bad("usdt::p:n", "BINARY is empty");
	check_bad("usdt:b::n", "PROVIDER is empty");
	check_bad("usdt:b:p:n:x", "follows NAME");
	check_bad("tracepoint:block", "NAME is missing");
	check_bad("tracepoint::x", "GROUP");
	check_bad("tracepoint:a:b c", "NAME 'b c'");
	check_bad("tracepoint:a:b:", "COMM is empty");
	check_bad("tracepoint:a:b:a_very_long_command", "a_very_long_com'");
	check_bad("syscall:", "system call's name");
	check_bad("syscall:a-b", "system call's name");
	check_bad("syscall:fsync:", "COMM is empty");
	check_bad("mark:", "NAME is empty");
	check_bad("", "empty");
}

static void check_target(const char *text, enum target_kind kind, const char *name,
			 const char *binary, uint32_t line)
{
	_cleanup_free_ char *written = NULL;
	struct error err = { 0 };
	struct target t, again;

	if (target_parse(text, &t, &err))
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(t.kind, kind);
	assert_string_equal(t.spec, text);
	assert_string_equal(t.name, name);
	assert_int_equal(!binary, !t.binary);
	if (binary)
		assert_string_equal(t.binary, binary);
	assert_int_equal(t.line, line);
	written = target_text(&t);
	if (target_parse(written, &again, &err))
		fail_msg("%s, written as %s: %s", text, written, err.text);
	assert_int_equal(again.kind, kind);
	assert_string_equal(again.name, name);
	assert_string_equal(again.binary ? again.binary : "", binary ? binary : "");
	assert_int_equal(again.line, line);
	target_free(&again);
	target_free(&t);
}

/* Texts of targets are made, and cut, by the same rules. */
static void test_target_texts(void **state)
{
	_cleanup_free_ char *of_binary = target_compose(TARGET_FUNCTION, "a::f<int>", "foo@1.2");
	_cleanup_free_ char *of_any = target_compose(TARGET_FUNCTION, "f", NULL);
	_cleanup_free_ char *kernel = target_compose(TARGET_KERNEL, "copy_page", NULL);
	const char *name;
	size_t n = 0;

	(void)state;
	assert_string_equal(of_binary, "func:a::f<int>@foo@1.2");
	assert_string_equal(of_any, "func:f");
	assert_string_equal(kernel, "kernel:copy_page");
	name = target_name_in(of_binary, TARGET_FUNCTION, &n);
	assert_ptr_equal(name, of_binary + strlen("func:"));
	assert_int_equal(n, strlen("a::f<int>"));
	assert_string_equal(label_binary(of_binary), "foo@1.2");
	name = target_name_in(kernel, TARGET_KERNEL, &n);
	assert_string_equal(name, "copy_page");
	assert_int_equal(n, strlen(name));
	assert_null(target_name_in(kernel, TARGET_FUNCTION, &n));
	assert_null(label_binary(kernel));
	assert_null(label_binary(of_any));
}

/* "did you mean": the same point in another file. */
static void test_in_another_binary(void **state)
{
	static const struct {
		const char *text, *binary, *meant;
	} all[] = {
		{ "prog:f+16", "./prog", "./prog:f+16" },
		{ "p:a.c:12", "/x/p", "/x/p:a.c:12" },
		{ "usdt:usdt:usdt:u", "./usdt", "usdt:./usdt:usdt:u" },
		{ "a\\:b:ns::f", "./a:b", "./a\\:b:ns::f" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		_cleanup_free_ char *meant = NULL;
		struct point p;

		assert_int_equal(point_parse(all[i].text, &p, NULL), 0);
		meant = point_text_in(&p, all[i].binary);
		assert_string_equal(meant, all[i].meant);
		point_free(&p);
	}
}

static void check_bad_target(const char *text, const char *word)
{
	struct error err = { 0 };
	struct target t;

	if (!target_parse(text, &t, &err))
		fail_msg("'%s' was accepted", text);
	if (!strstr(err.text, word) || !strstr(err.text, text))
		fail_msg("'%s' gives: %s (wanted: %s)", text, err.text, word);
	assert_null(t.spec);
}

static void check_device(const char *text, const char *device, bool peer)
{
	_cleanup_free_ char *again = NULL;
	struct error err = { 0 };
	struct target t;

	assert_int_equal(target_parse(text, &t, &err), 0);
	assert_int_equal(t.kind, TARGET_CLASS);
	assert_string_equal(t.name, "io");
	assert_int_equal(!t.device, !device);
	if (device)
		assert_string_equal(t.device, device);
	assert_int_equal(t.peer, peer);
	again = target_text(&t);
	assert_string_equal(again, text);
	target_free(&t);
}

static void check_lines(const char *text, const char *file, uint32_t first, uint32_t last)
{
	_cleanup_free_ char *again = NULL, *shortest = xasprintf("%s:%u", file, first);
	struct target t;

	assert_int_equal(target_parse(text, &t, NULL), 0);
	assert_int_equal(t.kind, TARGET_LINE);
	assert_string_equal(t.name, file);
	assert_int_equal(t.line, first);
	assert_int_equal(t.last, last);
	again = target_text(&t);
	assert_string_equal(again, first == last ? shortest : text);
	target_free(&t);
}

static void test_targets(void **state)
{
	(void)state;
	check_target("func\\:x.c:7", TARGET_LINE, "func:x.c", NULL, 7);
	check_target("a.c:7", TARGET_LINE, "a.c", NULL, 7);
	check_target("src/x/a.cc:70", TARGET_LINE, "src/x/a.cc", NULL, 70);
	/* As tools say it that run in a build directory; tables do not. */
	check_target("../src/a.c:7", TARGET_LINE, "src/a.c", NULL, 7);
	check_target("./a.c:7", TARGET_LINE, "a.c", NULL, 7);
	check_target("build/../src/a.c:7", TARGET_LINE, "src/a.c", NULL, 7);
	check_target("..:7", TARGET_LINE, "..", NULL, 7);
	check_target("./class:7", TARGET_LINE, "class", NULL, 7);
	check_target("../func:7", TARGET_LINE, "func", NULL, 7);
	check_lines("a-1.c:684-687", "a-1.c", 684, 687);
	check_lines("a.c:7", "a.c", 7, 7);
	check_lines("a.c:7-7", "a.c", 7, 7);
	check_target("func:work", TARGET_FUNCTION, "work", NULL, 0);
	check_target("func:a::b<c>@/x/y@2", TARGET_FUNCTION, "a::b<c>", "/x/y@2", 0);
	check_target("file:*/fs/*.c", TARGET_FILE, "*/fs/*.c", NULL, 0);
	check_target("bin:*/gzip", TARGET_BINARY, "*/gzip", NULL, 0);
	check_target("kernel:copy_page.constprop.0", TARGET_KERNEL, "copy_page.constprop.0", NULL,
		     0);
	check_target("syscall:fsync", TARGET_SYSCALL, "fsync", NULL, 0);
	check_target("kernel:ext4_*", TARGET_KERNEL, "ext4_*", NULL, 0);
	check_target("cgroup:a/b.service", TARGET_CGROUP, "a/b.service", NULL, 0);
	check_target("rank:12", TARGET_RANK, "12", NULL, 0);
	check_target("comm:kworker/0:1", TARGET_COMM, "kworker/0:1", NULL, 0);
	check_target("class:io", TARGET_CLASS, "io", NULL, 0);
	check_target("class:sched", TARGET_CLASS, "sched", NULL, 0);
	check_target("class:other", TARGET_CLASS, "other", NULL, 0);
	check_target("class:on", TARGET_CLASS, "on", NULL, 0);
	check_target("class:off", TARGET_CLASS, "off", NULL, 0);
	check_target("class:lock", TARGET_CLASS, "lock", NULL, 0);
	check_device("class:io:vda", "vda", false);
	check_device("class:io:cciss!c0d0", "cciss!c0d0", false);
	check_device("class:io", NULL, false);
	check_device("class:io:10.0.0.1", "10.0.0.1", true);
	check_device("class:io:[fe80::1]:5432", "[fe80::1]:5432", true);
	check_bad_target("class:io:10.0.0.1:http", "with a number, not a name");
	check_bad_target("class:io:[fe80::1]5432", "is no network peer");
	check_bad_target("class:other:10.0.0.1", "only class:io has");
	check_bad_target("", "empty");
	check_bad_target("work", "did you mean 'func:work'");
	check_bad_target("a.c", "did you mean 'file:a.c'");
	check_bad_target("a.c:x", "not a line number");
	check_bad_target("a.c:work", "did you mean 'func:work'?");
	check_bad_target("./prog:work", "did you mean 'func:work@prog'?");
	check_bad_target("lib/libx.so.1:work", "did you mean 'func:work@libx.so.1'?");
	check_bad_target("fucn:work", "did you mean 'func:work'?");
	check_bad_target("syscalls:read", "did you mean 'syscall:read'?");
	check_bad_target("./prog:a b", "no kind of target; a target is");
	check_bad_target("a.c:0", "counted from 1");
	check_bad_target("a.c:7-", "not a line number");
	check_bad_target("a.c:-7", "not a line number");
	check_bad_target("a.c:7-9-11", "not a line number");
	check_bad_target("a.c:9-7", "from the smaller to the larger: 7-9");
	check_bad_target("a.c:7-99999999999", "too large");
	check_bad_target(":3", "FILE is empty");
	check_bad_target("ns::3", "one ':'");
	check_bad_target("func:", "NAME is empty");
	check_bad_target("func:@b", "NAME is empty");
	check_bad_target("func:a@", "BINARY is empty");
	check_bad_target("file:", "GLOB is empty");
	check_bad_target("bin:", "GLOB is empty");
	check_bad_target("kernel:12", "not a kernel function");
	check_bad_target("kernel:a b", "not a kernel function");
	check_bad_target("syscall:", "system call's name");
	check_bad_target("comm:", "NAME is empty");
	check_bad_target("cgroup:", "PATH is empty");
	check_bad_target("rank:", "is no rank");
	check_bad_target("rank:-1", "is no rank");
	check_bad_target("rank:1234567890", "is no rank");
	check_bad_target("comm:a-process-of-a-long-name", "write comm:a-process-of-a-");
	check_bad_target("class:cpu", "no class 'cpu'");
	check_bad_target("class:cpu:vda", "no class 'cpu'");
	check_bad_target("class:other:vda", "class:other has no devices");
	check_bad_target("class:io:", "no block device's name");
	check_bad_target("class:io:..", "no block device's name");
	check_bad_target("class:io:a/b", "no block device's name");
	check_bad_target("class:io:/dev/", "no block device's name");
	check_bad_target("class:io:/dev/vda", "write class:io:vda,");
}

static void test_progress_specs(void **state)
{
	struct error err = { 0 };
	struct progress_spec s;

	(void)state;
	assert_int_equal(progress_spec_parse("iter=prog:work", &s, &err), 0);
	assert_string_equal(s.name, "iter");
	assert_string_equal(s.begin.binary, "prog");
	assert_false(s.latency);
	progress_spec_free(&s);

	assert_int_equal(progress_spec_parse("prog:operator==", &s, &err), 0);
	assert_string_equal(s.name, "prog:operator==");
	assert_string_equal(s.begin.function, "operator==");
	progress_spec_free(&s);

	assert_int_equal(progress_spec_parse("/a=b/prog:f", &s, &err), 0);
	assert_string_equal(s.begin.binary, "/a=b/prog");
	progress_spec_free(&s);

	assert_int_equal(progress_spec_parse("a=b=c:f", &s, &err), 0);
	assert_string_equal(s.name, "a");
	assert_string_equal(s.begin.binary, "b=c");
	progress_spec_free(&s);

	assert_int_equal(progress_spec_parse("=prog:f", &s, &err), -EINVAL);
	assert_non_null(strstr(err.text, "NAME is empty"));
	assert_int_equal(progress_spec_parse("n=", &s, &err), -EINVAL);
	assert_int_equal(progress_spec_parse("n=prog", &s, &err), -EINVAL);
	assert_null(s.name);
	progress_spec_free(&s);
}

static void check_latency(const char *text, const char *begin, const char *end)
{
	struct error err = { 0 };
	struct progress_spec s;

	if (latency_spec_parse(text, &s, &err))
		fail_msg("%s: %s", text, err.text);
	assert_true(s.latency);
	assert_string_equal(s.name, "r");
	assert_string_equal(s.begin.spec, begin);
	assert_string_equal(s.end.spec, end);
	progress_spec_free(&s);
}

static void check_bad_latency(const char *text, const char *word)
{
	struct error err = { 0 };
	struct progress_spec s;

	assert_int_equal(latency_spec_parse(text, &s, &err), -EINVAL);
	if (!strstr(err.text, word))
		fail_msg("'%s' gives: %s (wanted: %s)", text, err.text, word);
	progress_spec_free(&s);
}

static void test_latency_specs(void **state)
{
	(void)state;
	check_latency("r=p:f,p:g", "p:f", "p:g");
	check_latency("r=mark:x,mark:x", "mark:x", "mark:x");
	check_latency("r=mark:a\\,b,mark:c", "mark:a,b", "mark:c");
	check_latency("r=p:f<int, long>(a, b),p:g", "p:f<int, long>(a, b)", "p:g");
	check_latency("r=p:f\\,g,p:h", "p:f,g", "p:h");
	check_latency("r=p:a->b,p:c", "p:a->b", "p:c");
	check_bad_latency("p:f,p:g", "no NAME");
	check_bad_latency("=p:f,p:g", "no NAME");
	check_bad_latency("r=p:f", "no ','");
	check_bad_latency("r=p:f,", "END");
	check_bad_latency("r=,p:f", "BEGIN");
	check_bad_latency("r=p:f,q", "END");
	check_bad_latency("r=p:f,p:g,p:h", "END");
	check_bad_latency("r=p:f,g,p:h", "not clear");
}

static void test_binary_find(void **state)
{
	char dir[] = "/tmp/scoz-test-XXXXXX";
	_cleanup_free_ char *prog = NULL, *path = NULL, *path_typo = NULL,
			    *old = xstrdup(getenv("PATH") ?: "");
	struct error err = { 0 };
	char *found;

	(void)state;
	assert_non_null(mkdtemp(dir));
	prog = xasprintf("%s/scoz-prog", dir);
	fclose(fopen(prog, "w"));
	path = xasprintf("/nonexistent::%s", dir);
	setenv("PATH", path, 1);
	assert_int_equal(binary_find("scoz-prog", &found, &err), -ENOENT); /* not executable */
	assert_non_null(strstr(err.text, "not in PATH"));
	chmod(prog, 0755);
	assert_int_equal(binary_find("scoz-prog", &found, &err), 0);
	assert_string_equal(found, prog);
	free(found);
	setenv("PATH", "/nonexistent", 1);
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(binary_find("scoz-prog", &found, &err), -ENOENT);
	assert_non_null(strstr(err.text, "did you mean ./scoz-prog?"));
	setenv("PATH", path, 1);
	assert_int_equal(binary_find(prog, &found, &err), 0);
	free(found);
	assert_int_equal(binary_find(dir, &found, &err), -EISDIR);
	path_typo = xasprintf("%s/scoz-porg", dir);
	assert_int_equal(binary_find(path_typo, &found, &err), -ENOENT);
	assert_non_null(strstr(err.text, "the nearest name is scoz-prog"));
	assert_int_equal(binary_find("./scoz-porg", &found, &err), -ENOENT);
	assert_non_null(strstr(err.text, "the nearest name is scoz-prog"));
	assert_int_equal(binary_find("./func", &found, &err), -ENOENT);
	assert_null(strstr(err.text, "nearest"));
	assert_int_equal(binary_find("func", &found, &err), -ENOENT);
	assert_non_null(strstr(err.text, "begins a target"));
	assert_int_equal(binary_find("kernel", &found, &err), -ENOENT);
	assert_non_null(strstr(err.text, "functions of the kernel are targets"));
	assert_int_equal(binary_find("syscalls", &found, &err), -ENOENT);
	assert_non_null(strstr(err.text, "did you mean syscall:NAME?"));
	assert_int_equal(binary_find("/nonexistent/x", &found, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x"));
	assert_int_equal(binary_find("/dev/null", &found, &err), -EINVAL);
	assert_int_equal(binary_find("", &found, &err), -EINVAL);
	assert_int_equal(binary_find("libx.so.1", &found, &err), -ENOENT);
	assert_non_null(strstr(err.text, "ldd"));
	unlink(prog);
	rmdir(dir);
	setenv("PATH", old, 1);
}

/* Whatever is thrown at the parsers, they answer. */
static void test_random(void **state)
{
	static const char alphabet[] = "ab:\\+,=@<>()0x1./ \xff*";
	static const char *const heads[] = { "",	 "usdt:", "mark:",  "tracepoint:",
					     "syscall:", "func:", "class:", "r=" };
	unsigned int seed = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct error err = { 0 };
		struct progress_spec s;
		struct target t;
		char text[40];
		int n, len;

		n = snprintf(text, sizeof(text), "%s", heads[rand_r(&seed) % ARRAY_SIZE(heads)]);
		for (len = rand_r(&seed) % 20; len > 0; len--)
			text[n++] = alphabet[rand_r(&seed) % (sizeof(alphabet) - 1)];
		text[n] = '\0';
		if (progress_spec_parse(text, &s, &err))
			assert_true(err.text[0] != '\0');
		progress_spec_free(&s);
		if (latency_spec_parse(text, &s, &err))
			assert_true(err.text[0] != '\0');
		progress_spec_free(&s);
		if (!target_parse(text, &t, &err))
			target_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),      cmocka_unit_test(test_lines),
		cmocka_unit_test(test_others),	       cmocka_unit_test(test_targets),
		cmocka_unit_test(test_target_texts),   cmocka_unit_test(test_in_another_binary),
		cmocka_unit_test(test_progress_specs), cmocka_unit_test(test_latency_specs),
		cmocka_unit_test(test_binary_find),    cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
