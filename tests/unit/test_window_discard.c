// SPDX-License-Identifier: GPL-2.0-or-later
/* What makes a window worthless while it is measured; what happens is played here. */
#include "daemon/window.h"

#include "daemon/flaws.h"
#include "daemon/lease.h"
#include "daemon/quotas.h"
#include "engine/backend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static uint64_t lost, lapsed_ns;
static struct engine_ledger ledger;

uint64_t __wrap_session_lost(const struct session *s);
uint64_t __wrap_lease_lapsed_ns(const struct lease *l);
void __wrap_engine_read_ledger(const struct engine *e, struct engine_ledger *ret);
void __wrap_handlers_speed(const struct handlers *h, int core, uint64_t *sum_ns, uint64_t *n);
struct cpu_quota __wrap_quotas_begin(struct session *s);
struct cpu_quota __wrap_quotas_read(struct session *s);
double __wrap_flaws_probes_ns(const struct session *s);

uint64_t __wrap_session_lost(const struct session *s)
{
	(void)s;
	return lost;
}

uint64_t __wrap_lease_lapsed_ns(const struct lease *l)
{
	(void)l;
	return lapsed_ns;
}

void __wrap_engine_read_ledger(const struct engine *e, struct engine_ledger *ret)
{
	(void)e;
	*ret = ledger;
}

void __wrap_handlers_speed(const struct handlers *h, int core, uint64_t *sum_ns, uint64_t *n)
{
	(void)h;
	(void)core;
	*sum_ns = *n = 0;
}

struct cpu_quota __wrap_quotas_begin(struct session *s)
{
	(void)s;
	return (struct cpu_quota){ 0 };
}

struct cpu_quota __wrap_quotas_read(struct session *s)
{
	(void)s;
	return (struct cpu_quota){ 0 };
}

double __wrap_flaws_probes_ns(const struct session *s)
{
	(void)s;
	return 0;
}

/* Why a window is discarded in which that many more were there; NULL: it is kept. */
static const char *why(uint64_t records, uint64_t clipped, uint64_t without_lease_ns)
{
	static const struct engine_backend backend = { 0 };
	struct engine engine = { .backend = &backend };
	struct session s = { .engine = &engine, .opt.end_to_end = true };
	struct profile_window w = { 0 };
	struct window_watch watch;

	window_watch_begin(&s, &watch);
	lost += records;
	lapsed_ns += without_lease_ns;
	ledger.ticks += 1000;
	ledger.clipped += clipped;
	window_watch_end(&s, &watch, &w);
	return window_why(&w);
}

/* Only what was lost while it lasted counts. */
static void test_disturbed(void **state)
{
	static const struct {
		uint64_t records, clipped, without_lease_ns;
		const char *why;
	} windows[] = {
		{ 0, 0, 0, NULL },   { 1, 0, 0, "lost" }, { 0, 0, 0, NULL },
		{ 0, 3, 0, NULL }, /* 0.2 % of the ticks, and one */
		{ 0, 4, 0, "lost" }, { 0, 0, 0, NULL },	  { 0, 0, NSEC_PER_SEC, "stalled" },
		{ 0, 0, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(windows); i++) {
		const char *wanted = windows[i].why ? windows[i].why : "kept";
		const char *got =
			why(windows[i].records, windows[i].clipped, windows[i].without_lease_ns);

		if (strcmp(got ? got : "kept", wanted) != 0)
			fail_msg("window %zu: %s, not %s", i, got ? got : "kept", wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_disturbed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
