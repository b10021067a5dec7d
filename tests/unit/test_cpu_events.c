// SPDX-License-Identifier: GPL-2.0-or-later
/* Events on CPUs that come and go, on a made-up machine. */
#include "record/cpu_events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/eventfd.h>
#include <unistd.h>

static char root[] = "/tmp/scoz-test-cpus.XXXXXX";
static int opened[8];
static int refused = -1;

static int open_event(struct cpu_event *e, void *arg, struct error *err)
{
	assert_ptr_equal(arg, opened);
	if (e->cpu == refused)
		return error_set(err, EMFILE, "no");
	opened[e->cpu]++;
	e->fd = eventfd(0, EFD_CLOEXEC);
	return 0;
}

static void set(const char *file, const char *list)
{
	_cleanup_free_ char *path = xasprintf("%s/sys/devices/system/cpu/%s", root, file);
	_cleanup_fclose_ FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f, "%s\n", list);
}

static void look(struct cpu_events *events)
{
	events->looked = 0;
	cpu_events_follow(events);
}

/* @cpus: a string of digits, in any order; '-' behind one whose event could not be opened. */
static void assert_events(const struct cpu_events *events, const char *cpus)
{
	size_t n = 0;

	for (const char *c = cpus; *c; c++) {
		bool found = false;

		if (*c == '-')
			continue;
		for (size_t i = 0; i < events->n; i++)
			found |= events->list[i].cpu == *c - '0' &&
				 (events->list[i].fd < 0) == (c[1] == '-');
		if (!found)
			fail_msg("no CPU %c as in %s", *c, cpus);
		n++;
	}
	assert_int_equal(events->n, n);
}

/* Opens what is @online. */
static struct cpu_events start(const char *online, const int *wanted, int n, bool newcomers)
{
	struct cpu_events events = { .wanted = wanted,
				     .n_wanted = n,
				     .newcomers = newcomers,
				     .open = open_event,
				     .arg = opened };
	struct error err;

	memset(opened, 0, sizeof(opened));
	set("online", online);
	assert_int_equal(cpu_events_open(&events, &err), refused < 0 ? 0 : -EMFILE);
	return events;
}

static void test_all(void **state)
{
	struct cpu_events events = start("0-1,3", NULL, 0, false);

	(void)state;
	assert_events(&events, "013");
	set("online", "0,2-3");
	cpu_events_follow(&events); /* too early to look */
	assert_events(&events, "013");
	look(&events);
	assert_events(&events, "023");
	set("online", "0-3");
	look(&events);
	assert_events(&events, "0123");
	assert_int_equal(opened[0], 1);
	assert_int_equal(opened[1], 2);
	set("online", "");
	look(&events); /* nonsense */
	assert_events(&events, "0123");
	cpu_events_close(&events);
}

static void test_wanted(void **state)
{
	static const int wanted[] = { 1, 2 };
	struct cpu_events events = start("0-1", wanted, 2, false);

	(void)state;
	assert_events(&events, "1");
	set("online", "0,2-3");
	look(&events);
	assert_events(&events, "2");
	cpu_events_close(&events);
}

static void test_newcomers(void **state)
{
	static const int wanted[] = { 0, 1 };
	struct cpu_events events = start("0-2", wanted, 2, true);

	(void)state;
	set("isolated", "4");
	set("nohz_full", "(null)");
	assert_events(&events, "01");
	set("online", "0-5");
	look(&events);
	assert_events(&events, "01235");
	cpu_events_close(&events);
}

static void test_refused(void **state)
{
	struct cpu_events events;

	(void)state;
	refused = 1;
	events = start("0-1", NULL, 0, false);
	cpu_events_close(&events);

	refused = -1;
	events = start("0", NULL, 0, false);
	refused = 1;
	log_level = LOG_QUIET;
	set("online", "0-1");
	look(&events);
	assert_events(&events, "01-");
	refused = -1;
	look(&events); /* not again and again */
	assert_events(&events, "01-");
	set("online", "0");
	look(&events);
	set("online", "0-1");
	look(&events);
	assert_events(&events, "01");
	cpu_events_close(&events);
}

static int setup(void **state)
{
	_cleanup_free_ char *command = NULL;

	(void)state;
	assert_non_null(mkdtemp(root));
	sysroot = root;
	command = xasprintf("mkdir -p %s/sys/devices/system/cpu", root);
	return system(command);
}

static int teardown(void **state)
{
	_cleanup_free_ char *command = xasprintf("rm -r %s", root);

	(void)state;
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_wanted),
		cmocka_unit_test(test_newcomers),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
