// SPDX-License-Identifier: GPL-2.0-or-later
/* The live line, at every width. */
#include "daemon/status.c"
#include "daemon/status_line.c"

#include <fcntl.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#define RESULT	"21.3 % [19.2, 23.4] at 50 %"
#define NOTHING "nothing learned yet"
#define TRYING	"func:std::vector<int, std::allocator<int> >::push_back(int const&)@server"
#define BEST	"func:std::vector<long, std::allocator<long> >::push_back(long const&)@server"

static void expect(size_t cols, const char *best, const char *golden)
{
	_cleanup_free_ char *line =
		status_line(123.4, 57, TRYING, 0.5, best, best ? RESULT : NOTHING, cols);

	assert_string_equal(line, golden);
}

static void never_wraps(void **state)
{
	(void)state;
	for (size_t cols = 1; cols < 250; cols++) {
		_cleanup_free_ char *line = status_line(123.4, 57, TRYING, 0.5, BEST, RESULT, cols);

		if (text_width(line) > cols)
			fail_msg("%zu columns: %s", cols, line);
	}
}

static void looks(void **state)
{
	(void)state;
	setlocale(LC_CTYPE, "C");
	expect(250, BEST, "123 s, 57 windows, trying " TRYING " at 50 %; best: " BEST " " RESULT);
	expect(132, BEST,
	       "123 s, 57 windows, trying func:st~int, std::alloc~@server at 50 %; best: "
	       "func:st~long, std::allo~@server " RESULT);
	expect(79, BEST,
	       "123 s, 57 windows, trying func:std::vector<~>::p~ack(int const&)@server at 50 %");
	expect(49, BEST, "123 s, 57 windows, trying func:st~@server at 50 %");
	expect(79, NULL,
	       "123 s, 57 windows, trying func:std::ve~st&)@server at 50 %; nothing learned yet");
	expect(49, NULL, "123 s, 57 windows, trying func:st~@server at 50 %");
}

/* The one being tried and the best one must not look the same. */
static void names_stay_apart(void **state)
{
	(void)state;
	for (size_t cols = 100; cols < 250; cols++) {
		_cleanup_free_ char *line = status_line(123.4, 57, TRYING, 0.5, BEST, RESULT, cols);
		const char *a = strstr(line, "trying ") + strlen("trying ");
		const char *b = strstr(line, "best: ") + strlen("best: ");
		size_t n = strstr(a, " at 50 %") - a;

		assert_non_null(strstr(line, "best: "));
		if (!strncmp(a, b, n) && b[n] == ' ')
			fail_msg("%zu columns: %s", cols, line);
	}
}

/* A message begins on a line of its own; one that is not shown leaves the line as it is. */
static void messages(void **state)
{
	FILE *terminal = stderr;
	char *text = NULL;
	size_t size;

	(void)state;
	log_warn("before there is a line");
	stderr = open_memstream(&text, &size);
	status_show("live");
	log_info("not asked for");
	status_show("live");
	log_warn("said");
	log_warn("again");
	status_show("live");
	status_clear();
	fclose(stderr);
	stderr = terminal;
	assert_non_null(strstr(text, "live\r\033[K"));
	assert_string_equal(strstr(text, ": said\n"), strchr(text, ':'));
	assert_int_equal(strncmp(text, "live\r\033[K", 8), 0);
	assert_non_null(strstr(text, ": again\nlive\r\033[K"));
	assert_null(strstr(text, "not asked"));
	free(text);
}

/* A terminal that cannot take a line back gets none. */
static void dumb_terminals(void **state)
{
	static const struct {
		const char *term;
		bool obeys;
	} cases[] = { { "xterm-256color", true }, { "dumb", false }, { "", false } };
	_cleanup_close_ int master = posix_openpt(O_RDWR | O_NOCTTY), slave = -1, other = -1;

	(void)state;
	assert_int_equal(grantpt(master) || unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	other = open("/dev/null", O_WRONLY);
	assert_true(slave >= 0 && other >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		setenv("TERM", cases[i].term, 1);
		assert_int_equal(terminal_obeys(slave), cases[i].obeys);
		assert_false(terminal_obeys(other));
	}
	unsetenv("TERM");
	assert_false(terminal_obeys(slave));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(never_wraps),	    cmocka_unit_test(looks),
		cmocka_unit_test(names_stay_apart), cmocka_unit_test(messages),
		cmocka_unit_test(dumb_terminals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
