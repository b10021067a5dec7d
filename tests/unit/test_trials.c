// SPDX-License-Identifier: GPL-2.0-or-later
/* The engine's target, while more is seen of what was chosen. */
#include "daemon/trials.h"

#include "daemon/boundaries.h"
#include "daemon/choose.h"
#include "engine/backend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <unistd.h>

static size_t sites;	/* of the target that samples are credited to */
static size_t resolved; /* how many of them the engine's target has */

void __wrap_choose_targets(struct session *s, const struct find_span *kept, size_t n_kept,
			   struct choices *ret);
int __wrap_target_resolve_chosen(const struct chosen_target *c, struct maps *maps,
				 struct handlers *handlers, bool patient,
				 struct resolved_target *ret, struct error *err);
int __wrap_engine_set_target(struct engine *e, const struct engine_part *parts, int n,
			     struct error *err);
struct boundaries *__wrap_boundaries_find(const struct resolved_target *r, struct maps *maps,
					  const struct engine *e);
int __wrap_profile_writer_target(struct profile_writer *w, const struct profile_target *t,
				 uint32_t *id, struct error *err);

void __wrap_choose_targets(struct session *s, const struct find_span *kept, size_t n_kept,
			   struct choices *ret)
{
	(void)s;
	(void)kept;
	(void)n_kept;
	*ret = (struct choices){ .list = xcalloc(1, sizeof(*ret->list)), .n = 1 };
	ret->list[0] = (struct choice){
		.target = { .name = xstrdup("func:work@program"),
			    .kind = TARGET_FUNCTION,
			    .sites = xcalloc(sites, sizeof(*ret->list[0].target.sites)),
			    .n_sites = sites },
		.samples = 100
	};
}

int __wrap_target_resolve_chosen(const struct chosen_target *c, struct maps *maps,
				 struct handlers *handlers, bool patient,
				 struct resolved_target *ret, struct error *err)
{
	(void)maps;
	(void)handlers;
	(void)patient;
	(void)err;
	resolved = c->n_sites;
	*ret = (struct resolved_target){ .kind = "class" };
	return 0;
}

int __wrap_engine_set_target(struct engine *e, const struct engine_part *parts, int n,
			     struct error *err)
{
	(void)e;
	(void)parts;
	(void)n;
	(void)err;
	return 0;
}

struct boundaries *__wrap_boundaries_find(const struct resolved_target *r, struct maps *maps,
					  const struct engine *e)
{
	(void)maps;
	(void)e;
	assert_non_null(r);
	return NULL;
}

int __wrap_profile_writer_target(struct profile_writer *w, const struct profile_target *t,
				 uint32_t *id, struct error *err)
{
	(void)w;
	(void)t;
	(void)err;
	*id = 0;
	return 0;
}

/* It is found in another binary in the middle of its windows: the engine is to know that, too. */
static void test_more_sites(void **state)
{
	static double speedups[] = { 0.5 };
	struct engine engine = { 0 };
	struct session s = { .engine = &engine };
	struct plan_window what;
	struct trials *l;

	(void)state;
	s.opt.speedups = speedups;
	s.opt.n_speedups = 1;
	s.opt.default_speedups = true;
	s.truth = -1;
	s.start_ns = clock_now_ns();
	l = trials_create(&s, 0);
	sites = 1;
	trials_next(l, &what);
	assert_int_equal(trials_count(l), 1);
	assert_int_equal(trials_select(l, 0, NULL), 0);
	assert_int_equal(resolved, 1);
	sites = 2;
	for (resolved = 0; !resolved; usleep(50000)) { /* it is looked for each second */
		trials_next(l, &what);
		assert_int_equal(trials_select(l, 0, NULL), 0);
	}
	assert_int_equal(resolved, 2);
	trials_destroy(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_more_sites) };

	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
