// SPDX-License-Identifier: GPL-2.0-or-later
/* Call paths to the targets of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "daemon/callers.h"

static const struct maps_binary program = { .id = 1, .path = "/home/x/prog" };
static const struct maps_binary library = { .id = 2, .path = "/usr/lib/libc.so.6" };
static struct options options;

struct fixture {
	struct locations *locations;
	struct callers *callers;
	struct caller_frame chain[64];
	int n;
};

static void set_up(struct fixture *f, enum granularity grain)
{
	*f = (struct fixture){ 0 };
	options.granularity = grain;
	f->locations = locations_create(&options);
	f->callers = callers_create(f->locations);
}

static void tear_down(struct fixture *f)
{
	callers_destroy(f->callers);
	locations_destroy(f->locations);
}

/* The next frame outwards; @inlined: of the same address as the last. */
static void frame(struct fixture *f, const struct maps_binary *b, const char *function,
		  uint32_t line, uint64_t vaddr, bool inlined)
{
	uint8_t origin = b == &library ? CODE_LIBRARY : CODE_OWN;
	struct map_frame m = { function, line ? "a.c" : NULL, line };
	struct caller_frame *to = &f->chain[f->n++];

	*to = (struct caller_frame){ .chain = f->n > 1 ? to[-1].chain + !inlined : 0,
				     .binary = b->id,
				     .vaddr = vaddr };
	to->location = locations_intern(f->locations, b, &m, &origin);
	to->origin = origin;
}

static void add(struct fixture *f, uint64_t count)
{
	callers_add(f->callers, f->chain, f->n, count, false);
	f->n = 0;
}

static void watch(struct fixture *f, uint32_t id, const char *name, uint64_t start, uint64_t end)
{
	struct addr_range r = { start, end };
	struct addr_ranges ranges = { &r, 1 };
	struct engine_part part = { .binary = 1, .ranges = &ranges };

	callers_watch(f->callers, id, name, &part, 1);
}

/* "prog" is left out: "main render work", innermost last. */
static void check_path(const struct caller_path *p, uint64_t samples, const char *wanted)
{
	_cleanup_free_ char *got = xstrdup("");

	for (size_t i = p->n; i-- > 0;)
		text_add(&got, "%s%s", p->functions[i], i ? " " : "");
	assert_int_equal(p->samples, samples);
	assert_string_equal(got, wanted);
}

static void test_paths(void **state)
{
	struct caller_target t;
	struct fixture f;

	(void)state;
	set_up(&f, GRANULARITY_FUNCTION);
	frame(&f, &program, "work", 1, 100, false);
	add(&f, 1000); /* not watched yet */
	watch(&f, 7, "func:work", 100, 200);
	for (int i = 0; i < 3; i++) {
		frame(&f, &library, "memcpy", 0, 5, false);
		frame(&f, &program, "work", 1, 150, false);
		frame(&f, &program, "work", 1, 160, false); /* recursion */
		frame(&f, &program, "render", 2, 300, false);
		frame(&f, &program, "main", 3, 400, false);
		frame(&f, &library, "__libc_start_main", 0, 6, false);
		f.chain[f.n++] = (struct caller_frame){ .chain = 9,
							.origin = CODE_UNKNOWN,
							.location = LOCATION_NONE,
							.binary = UINT32_MAX };
		add(&f, 10);
	}
	frame(&f, &program, "work", 1, 199, false);
	frame(&f, &program, "preview", 2, 300, false);
	add(&f, 40);
	frame(&f, &program, "render", 2, 200, false); /* behind its end */
	add(&f, 5);
	frame(&f, &library, "work", 1, 150, false); /* another one's address */
	add(&f, 6);
	assert_true(callers_get(f.callers, 0, &t));
	assert_int_equal(t.id, 7);
	assert_int_equal(t.samples, 70);
	assert_int_equal(t.all, 81);
	assert_int_equal(t.n_paths, 2);
	check_path(&t.paths[0], 40, "func:preview@prog func:work@prog");
	check_path(&t.paths[1], 30, "func:main@prog func:render@prog func:work@prog");
	assert_false(callers_get(f.callers, 1, &t));
	tear_down(&f);
}

/* What was inlined into the target is no part of the way to it; a line is told by its function. */
static void test_inlined(void **state)
{
	struct caller_target t;
	struct fixture f;

	(void)state;
	set_up(&f, GRANULARITY_AUTO);
	watch(&f, 0, "func:work@prog", 100, 200);
	watch(&f, 1, "a.c:12", 150, 160);
	frame(&f, &program, "helper", 50, 155, false);
	frame(&f, &program, "work", 12, 155, true);
	frame(&f, &program, "render", 20, 155, true);
	frame(&f, &program, "main", 30, 300, false);
	add(&f, 4);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(callers_get(f.callers, i, &t));
		assert_int_equal(t.samples, 4);
		assert_int_equal(t.n_paths, 1);
		check_path(&t.paths[0], 4, "func:main@prog func:render@prog func:work@prog");
	}
	tear_down(&f);
}

/* The kernel lies elsewhere than its table says: what is of it is known by its name. */
static void test_kernel(void **state)
{
	static const struct maps_binary kernel = { .id = MAPS_KERNEL_ID,
						   .path = "[kernel]",
						   .kernel = true };
	struct addr_range r = { 0xffffffff9a000100, 0xffffffff9a000200 };
	struct addr_ranges ranges = { &r, 1 };
	struct engine_part part = { .binary = MAPS_KERNEL_ID, .ranges = &ranges };
	struct caller_target t;
	struct fixture f;

	(void)state;
	set_up(&f, GRANULARITY_FUNCTION);
	callers_watch(f.callers, 3, "kernel:vfs_write", &part, 1);
	frame(&f, &kernel, "copy", 0, 0xffffffff81000300, false);
	frame(&f, &kernel, "vfs_write", 0, 0xffffffff81000150, false);
	frame(&f, &kernel, "do_syscall_64", 0, 0xffffffff81000400, false);
	frame(&f, &library, "write", 0, 5, false);
	frame(&f, &program, "main", 1, 100, false);
	add(&f, 10);
	frame(&f, &program, "vfs_write", 1, 100, false);
	add(&f, 1);
	assert_true(callers_get(f.callers, 0, &t));
	assert_int_equal(t.samples, 10);
	assert_int_equal(t.all, 11);
	assert_int_equal(t.n_paths, 1);
	check_path(&t.paths[0], 10,
		   "func:main@prog func:write@libc.so.6 kernel:do_syscall_64 kernel:vfs_write");
	tear_down(&f);
}

/* However many ways there are, and however deep. */
static void test_bounded(void **state)
{
	struct caller_target t;
	struct fixture f;

	(void)state;
	set_up(&f, GRANULARITY_FUNCTION);
	watch(&f, 0, "func:work", 100, 200);
	for (int i = 0; i < 1000; i++) {
		frame(&f, &program, "work", 1, 100, false);
		for (int k = 0; k < 60; k++) {
			_cleanup_free_ char *name = xasprintf("f%d_%d", i, k);

			frame(&f, &program, name, 1, 300, false);
		}
		add(&f, 1);
	}
	assert_true(callers_get(f.callers, 0, &t));
	assert_int_equal(t.samples, 1000);
	assert_int_equal(t.n_paths, CALLERS_SHOWN);
	assert_true(t.paths[0].n <= 12);
	/* It is in another place now: nothing of the old one counts, and what was counted stays. */
	watch(&f, 0, "func:work", 500, 600);
	frame(&f, &program, "work", 1, 100, false);
	add(&f, 1);
	frame(&f, &program, "work", 1, 500, false);
	add(&f, 1);
	assert_true(callers_get(f.callers, 0, &t));
	assert_int_equal(t.samples, 1001);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
