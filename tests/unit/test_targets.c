// SPDX-License-Identifier: GPL-2.0-or-later
/* Targets chosen from samples are the code that was sampled, whatever else bears their names. */
#include "test_program.h"

#include "daemon/targets.h"

#include <dlfcn.h>
#include <sys/sysmacros.h>

static struct options options;

struct fixture {
	struct maps *maps;
	struct locations *locations;
	uint64_t work[3]; /* by binary: where work() begins */
};

/* Programs with the same name and code; what it may stand for as a pattern is something else. */
static void set_up(struct fixture *f)
{
	*f = (struct fixture){ .locations = locations_create(&options) };
	assert_int_equal(maps_create(&(struct maps_options){ .perf_maps = true }, &f->maps, NULL),
			 0);
	for (int i = 1; i <= 2; i++) {
		const char directory[] = { '0' + i, '\0' };
		struct program p;

		program_make(directory, "prog.c", "prog[1]", &p);
		f->work[i] = p.vaddr;
		program_map(&p, f->maps, PID + i);
		assert_non_null(maps_binary_wait(f->maps, i)->table);
		free(p.path);
	}
}

static void tear_down(struct fixture *f)
{
	locations_destroy(f->locations);
	maps_destroy(f->maps);
	sh("rm -r 1 2");
}

/* What a sample in work() of @binary is credited to. */
static uint32_t sampled(struct fixture *f, uint32_t binary)
{
	const struct maps_binary *b = maps_binary_wait(f->maps, binary);
	struct map_frame frames[MAP_MAX_INLINE];
	uint8_t origin = CODE_OWN;

	assert_true(maptable_lookup(b->table, f->work[binary], frames, MAP_MAX_INLINE) > 0);
	return locations_intern(f->locations, b, &frames[0], &origin);
}

static void resolve(struct fixture *f, uint32_t location, struct resolved_target *ret)
{
	const struct location *l = locations_get(f->locations, location);
	struct chosen_target c = { .name = l->target, .kind = l->kind };
	struct error err = {};

	c.n_sites = locations_sites(f->locations, location, &c.sites);
	assert_int_equal(target_resolve_chosen(&c, f->maps, NULL, true, ret, &err), 0);
	free(c.sites);
}

static void assert_part(const struct fixture *f, const struct engine_part *p, uint32_t binary)
{
	assert_int_equal(p->binary, binary);
	assert_int_equal(p->ranges->r[0].start, f->work[binary]);
}

/* A line of two programs is where it was sampled; and when it is sampled in the other, there, too.
 */
static void test_line(void **state)
{
	struct resolved_target r;
	struct fixture f;
	uint32_t id;

	(void)state;
	options.granularity = GRANULARITY_AUTO;
	set_up(&f);
	id = sampled(&f, 2);
	assert_int_equal(sampled(&f, 2), id);
	assert_true(locations_get(f.locations, id)->kind == TARGET_LINE);
	resolve(&f, id, &r);
	assert_string_equal(r.kind, "line");
	assert_non_null(strstr(r.location, "/prog.c:2"));
	assert_int_equal(r.n, 1);
	assert_part(&f, &r.parts[0], 2);
	resolved_target_free(&r);

	assert_int_equal(sampled(&f, 1), id);
	resolve(&f, id, &r);
	assert_int_equal(r.n, 2);
	assert_part(&f, &r.parts[0], 2);
	assert_part(&f, &r.parts[1], 1);
	resolved_target_free(&r);
	tear_down(&f);
}

static void test_function(void **state)
{
	struct resolved_target r;
	struct fixture f;
	uint32_t id;

	(void)state;
	options.granularity = GRANULARITY_FUNCTION;
	set_up(&f);
	id = sampled(&f, 1);
	assert_string_equal(locations_get(f.locations, id)->target, "func:work@prog[1]");
	resolve(&f, id, &r);
	assert_string_equal(r.kind, "function");
	assert_int_equal(r.n, 1);
	assert_part(&f, &r.parts[0], 1);
	resolved_target_free(&r);
	tear_down(&f);
}

/* A function of the C library and of the user's bears one name: the user's is what is shown. */
static void test_of_system(void **state)
{
	static const char text[] = "void qsort(void) {}\nint main(void) { qsort(); return 0; }\n";
	struct location_site sites[2] = { { .function = "qsort" }, { .function = "qsort" } };
	const struct chosen_target c = {
		.name = "func:qsort", .kind = TARGET_FUNCTION, .sites = sites, .n_sites = 2
	};
	_cleanup_free_ char *source = in_scratch("own.c"), *own = in_scratch("own");
	struct resolved_target r;
	struct error err = {};
	struct maps *maps;
	Dl_info libc;

	(void)state;
	assert_true(dladdr((void *)qsort, &libc));
	write_file(source, text, strlen(text));
	sh("gcc -w -O0 -fno-builtin -g own.c -o own");
	assert_int_equal(maps_create(NULL, &maps, NULL), 0);
	for (int i = 0; i < 2; i++) {
		_cleanup_free_ char *path = realpath(i ? own : libc.dli_fname, NULL);
		uint64_t start = 0x100000000 * (i + 1), place;
		struct stat st;

		assert_int_equal(stat(path, &st), 0);
		maps_add(maps, 0, PID, start, 0x1000, 0,
			 (struct file_id){ .dev_major = major(st.st_dev),
					   .dev_minor = minor(st.st_dev),
					   .ino = st.st_ino },
			 path);
		assert_true(maps_place_of(maps, PID, start, &sites[i].binary, &place));
		assert_non_null(maps_binary_wait(maps, sites[i].binary)->table);
	}
	assert_int_equal(target_resolve_chosen(&c, maps, NULL, true, &r, &err), 0);
	assert_int_equal(r.n, 2);
	assert_non_null(strstr(r.location, "own.c:1"));
	assert_int_equal(r.parts[r.described].binary, sites[1].binary);
	resolved_target_free(&r);
	maps_destroy(maps);
}

/* Together: what lies in one binary is one part of it. */
static void test_together(void **state)
{
	struct resolved_target r, line;
	struct error err = {};
	struct fixture f;

	(void)state;
	options.granularity = GRANULARITY_FUNCTION;
	set_up(&f);
	resolve(&f, sampled(&f, 1), &r);
	resolve(&f, sampled(&f, 2), &line);
	assert_int_equal(resolved_target_join(&r, &line, "a + b", &err), 0);
	assert_int_equal(line.n, 0);
	assert_string_equal(r.kind, "together");
	assert_int_equal(r.n, 2);
	assert_part(&f, &r.parts[0], 1);
	assert_part(&f, &r.parts[1], 2);
	assert_ptr_equal(r.parts[1].ranges, &r.ranges[1]);
	resolve(&f, sampled(&f, 2), &line);
	line.ranges[0].r[0].start += 1 << 20;
	line.ranges[0].r[0].end += 1 << 20;
	assert_int_equal(resolved_target_join(&r, &line, "a + b", &err), 0);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.ranges[0].n, 2);
	assert_int_equal(r.ranges[1].n, 1);
	resolved_target_free(&r);

	resolve(&f, sampled(&f, 1), &r);
	for (r.n = 0; r.n < SCOZ_MAX_PARTS; r.n++)
		r.parts[r.n] = (struct engine_part){ .binary = 100 + r.n };
	resolve(&f, sampled(&f, 2), &line);
	assert_int_equal(resolved_target_join(&r, &line, "a + b", &err), -E2BIG);
	assert_non_null(strstr(err.text, "a + b"));
	resolved_target_free(&r);
	tear_down(&f);
}

/* Its name means another file to who parses it: "prog1". */
static void test_binary(void **state)
{
	struct location_site site = { .binary = 2 };
	struct chosen_target c = { "bin:prog[1]", TARGET_BINARY, &site, 1, 1 };
	struct resolved_target r;
	struct error err = {};
	struct fixture f;

	(void)state;
	set_up(&f);
	assert_int_equal(target_resolve_chosen(&c, f.maps, NULL, true, &r, &err), 0);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.parts[0].binary, 2);
	assert_in_range(f.work[2], r.parts[0].ranges->r[0].start,
			r.parts[0].ranges->r[r.parts[0].ranges->n - 1].end);
	resolved_target_free(&r);
	tear_down(&f);
}

/* A file of which there is no table yet is waited for, if that is wanted, and only asked for. */
static void test_unread(void **state)
{
	_cleanup_free_ char *path = in_scratch("unread");
	struct location_site site = { .binary = 1 };
	struct chosen_target c = { "bin:unread", TARGET_BINARY, &site, 1, 1 };
	struct resolved_target r;
	struct error err = {};
	struct maps *maps;

	(void)state;
	assert_int_equal(maps_create(&(struct maps_options){ .perf_maps = true }, &maps, NULL), 0);
	maps_add(maps, 0, PID, START, 0x1000, 0, (struct file_id){ .ino = 1 }, path);
	assert_int_equal(target_resolve_chosen(&c, maps, NULL, true, &r, &err), -EAGAIN);
	assert_non_null(strstr(err.text, "is still being read"));
	assert_int_equal(maps_awaited(maps), 1);
	assert_int_equal(target_resolve_chosen(&c, maps, NULL, false, &r, &err), -ENOENT);
	maps_binary_wait(maps, 1);
	assert_int_equal(target_resolve_chosen(&c, maps, NULL, true, &r, &err), -ENOENT);
	assert_non_null(strstr(err.text, "bin:unread"));
	maps_destroy(maps);
}

static int count_whole(const struct maps_mapping *m, void *arg)
{
	*(int *)arg += m->pid == PID && !m->start && m->end == UINT64_MAX && !m->bias;
	return 0;
}

static void expect_made(const struct resolved_target *r, uint32_t binary, const char *ranges)
{
	_cleanup_free_ char *text = xstrdup("");

	assert_int_equal(r->n, 1);
	assert_int_equal(r->parts[0].binary, binary);
	assert_int_equal(r->parts[0].file.ino, 0);
	for (size_t i = 0; i < r->ranges[0].n; i++)
		text_add(&text, "%llx-%llx ", (unsigned long long)r->ranges[0].r[i].start,
			 (unsigned long long)r->ranges[0].r[i].end);
	assert_string_equal(text, ranges);
}

/* What is made while the program runs is where the program has told last. */
static void test_made(void **state)
{
	const struct cores none = { .n = 0 };
	struct handlers_options opt = { .cores = &none };
	struct location_site site = { .function = "JS:*hot a.js:1:1" };
	struct chosen_target chosen = { "func:hot a.js:1:1", TARGET_FUNCTION, &site, 1, 1 };
	static const char *const specs[] = { "func:hot", "func:hot@perf-10.map",
					     "func:hot a.js:1:1", "bin:perf-10.map" };
	struct resolved_target r, later;
	struct handlers *handlers;
	struct error err = {};
	struct target t;
	uint64_t place;
	int whole = 0;

	(void)state;
	assert_int_equal(maps_create(&(struct maps_options){ .perf_maps = true }, &opt.maps, NULL),
			 0);
	opt.locations = locations_create(&options);
	opt.processes = process_table_create();
	assert_int_equal(handlers_start(&opt, &handlers, NULL), 0);
	program_makes(PID, "1000 10 JS:~hot a.js:1:1\n");
	maps_add(opt.maps, 0, PID, 0x1000, 0x1000, 0, (struct file_id){ .ino = 0 }, "//anon");
	assert_false(maps_place_of(opt.maps, PID, 0x1000, &site.binary, &place));
	program_is_asked(opt.maps, PID);
	assert_true(maps_place_of(opt.maps, PID, 0x1000, &site.binary, &place));
	assert_non_null(maps_binary_wait(opt.maps, site.binary)->made);
	assert_int_equal(maps_for_each_mapping(opt.maps, site.binary, count_whole, &whole), 0);
	assert_int_equal(whole, 1);
	assert_int_equal(target_resolve_chosen(&chosen, opt.maps, NULL, true, &r, &err), 0);
	expect_made(&r, site.binary, "1000-1010 ");
	assert_false(resolved_target_is_old(&r, opt.maps));
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		assert_int_equal(target_parse(specs[i], &t, &err), 0);
		assert_int_equal(target_resolve(&t, opt.maps, handlers, true, &later, &err), 0);
		expect_made(&later, site.binary, "1000-1010 ");
		assert_true(resolved_target_same(&r, &later));
		resolved_target_free(&later);
		target_free(&t);
	}
	program_makes(PID, "1000 10 JS:~hot a.js:1:1\n1800 20 JS:*hot a.js:1:1\n");
	program_is_asked(opt.maps, PID);
	assert_true(resolved_target_is_old(&r, opt.maps));
	assert_int_equal(target_resolve_chosen(&chosen, opt.maps, NULL, true, &later, &err), 0);
	expect_made(&later, site.binary, "1000-1010 1800-1820 ");
	assert_false(resolved_target_same(&r, &later));
	assert_false(resolved_target_is_old(&later, opt.maps));
	resolved_target_free(&later);
	resolved_target_free(&r);
	assert_int_equal(target_parse("func:cold", &t, &err), 0);
	assert_int_equal(target_resolve(&t, opt.maps, handlers, true, &r, &err), -ENOENT);
	target_free(&t);
	assert_int_equal(target_parse("a.js:1", &t, &err), 0);
	assert_int_equal(target_resolve(&t, opt.maps, handlers, true, &r, &err), -ENOENT);
	target_free(&t);
	handlers_destroy(handlers);
	process_table_destroy(opt.processes);
	locations_destroy(opt.locations);
	maps_destroy(opt.maps);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),	  cmocka_unit_test(test_function),
		cmocka_unit_test(test_of_system), cmocka_unit_test(test_together),
		cmocka_unit_test(test_binary),	  cmocka_unit_test(test_unread),
		cmocka_unit_test(test_made),
	};

	sysroot = scratch;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return run_in_scratch(run, true);
}
