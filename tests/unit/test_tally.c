// SPDX-License-Identifier: GPL-2.0-or-later
/* Chains of samples, and what they add up to before and after the tables of their binaries. */
#include "test_program.h"

#include "daemon/tally.h"

#include <pthread.h>

static struct options options;

struct fixture {
	struct program program;
	struct maps *maps;
	struct locations *locations;
	struct process_table *processes;
	struct tally *tally;
	struct chains chains;
};

static void set_up(struct fixture *f, const char *name)
{
	struct tally_options topt;

	*f = (struct fixture){ 0 };
	program_make(".", "tally.c", name, &f->program);
	assert_int_equal(maps_create(&(struct maps_options){ .perf_maps = true }, &f->maps, NULL),
			 0);
	f->locations = locations_create(&options);
	f->processes = process_table_create();
	topt = (struct tally_options){ .maps = f->maps,
				       .locations = f->locations,
				       .processes = f->processes };
	f->tally = tally_create(&topt);
	chains_init(&f->chains, 1 << 20);
	program_map(&f->program, f->maps, PID);
}

static void tear_down(struct fixture *f)
{
	tally_destroy(f->tally);
	chains_deinit(&f->chains);
	locations_destroy(f->locations);
	process_table_destroy(f->processes);
	maps_destroy(f->maps);
	free(f->program.path);
}

/* @count samples in work() of @pid. */
static void sample(struct fixture *f, int pid, uint64_t count)
{
	struct chain *c = xcalloc(1, CHAIN_SIZE(1));
	uint64_t addr = START + (f->program.offset - f->program.pgoff);

	c->count = count;
	c->pid = pid;
	c->n = 1;
	c->frame[0] = (struct chain_frame){ addr, CHAIN_NO_BINARY };
	maps_place_of(f->maps, pid, addr, &c->frame[0].binary, &c->frame[0].place);
	assert_true(chains_add(&f->chains, c));
	free(c);
}

static struct tally_sums sums_of(struct fixture *f, const char *target)
{
	_cleanup_free_ struct tally_sums *sums = NULL;
	size_t n;

	tally_locations(f->tally, &sums, &n);
	for (size_t i = 0; i < n; i++) {
		if (strstr(locations_get(f->locations, i)->target, target))
			return sums[i];
	}
	return (struct tally_sums){ 0 };
}

static uint64_t credit_of(struct fixture *f, const char *target)
{
	return sums_of(f, target).credit;
}

/* Nothing is opened or built by who counts; what the table tells comes when it is there. */
static void test_later(void **state)
{
	struct tally_counts counts;
	struct fixture f;

	(void)state;
	set_up(&f, "later");
	/* Had anybody opened the file when it was mapped, or when it was sampled, it were gone. */
	sh("mv later hidden");
	sample(&f, PID, 3);
	tally_add(f.tally, &f.chains);
	chains_clear(&f.chains);
	sh("mv hidden later");
	assert_true(tally_saw_binary(f.tally, 1));
	assert_int_equal(maps_awaited(f.maps), 1);
	tally_counts(f.tally, &counts);
	assert_int_equal(counts.untold, 3);
	assert_int_equal(credit_of(&f, "tally.c:2"), 0);

	sample(&f, PID, 2);
	tally_add(f.tally, &f.chains);
	assert_non_null(maps_binary_wait(f.maps, 1)->table);
	assert_int_equal(credit_of(&f, "tally.c:2"), 0);
	tally_retry(f.tally);
	assert_int_equal(credit_of(&f, "tally.c:2"), 5);
	tally_retry(f.tally);
	assert_int_equal(credit_of(&f, "tally.c:2"), 5);
	tally_counts(f.tally, &counts);
	assert_int_equal(counts.untold, 0);
	tear_down(&f);
}

/* A table that never comes: samples count for the binary as a whole, and that is told. */
static void test_never(void **state)
{
	_cleanup_free_ struct tally_binary *b = NULL;
	struct tally_counts counts;
	struct fixture f;
	size_t n;

	(void)state;
	set_up(&f, "never");
	sample(&f, PID, 7);
	tally_add(f.tally, &f.chains);
	tally_give_up(f.tally);
	tally_binaries(f.tally, &b, &n);
	assert_int_equal(n, 2);
	assert_int_equal(b[1].sums.total, 7);
	assert_int_equal(b[1].sums.self, 7);
	assert_int_equal(b[1].sums.credit, 7);
	assert_int_equal(b[1].untold, 7);
	tally_counts(f.tally, &counts);
	assert_int_equal(counts.untold, 7);
	assert_int_equal(counts.unnamed, 0);
	tear_down(&f);
}

/* With threads that do what there is to do, all comes by itself; and they end. */
static void test_threads(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, "threads");
	assert_int_equal(maps_start(f.maps, NULL), 0);
	sample(&f, PID, 4);
	tally_add(f.tally, &f.chains);
	while (maps_awaited(f.maps))
		usleep(1000);
	tally_retry(f.tally);
	assert_int_equal(credit_of(&f, "tally.c:2"), 4);
	assert_true(maps_stop(f.maps, 60));
	tear_down(&f);
}

/* Each process has its own. */
static void test_processes(void **state)
{
	_cleanup_free_ struct place_entry *places = NULL;
	struct fixture f;
	uint64_t left_out, sum = 0;
	size_t n;

	(void)state;
	set_up(&f, "processes");
	program_map(&f.program, f.maps, PID + 1);
	sample(&f, PID, 4);
	sample(&f, PID + 1, 1);
	sample(&f, PID, 1);
	assert_int_equal(f.chains.index.n, 2);
	assert_non_null(maps_binary_wait(f.maps, 1)->table);
	tally_add(f.tally, &f.chains);
	assert_int_equal(credit_of(&f, "tally.c:2"), 6);
	places = tally_places(f.tally, &n, &left_out);
	assert_int_equal(n, 4); /* the line and the binary, of each */
	for (size_t i = 0; i < n; i++)
		sum += places[i].counts.credit;
	assert_int_equal(sum, 6);
	tear_down(&f);
}

/* A target's samples, and how they came there, count from when it is one. */
static void test_watched(void **state)
{
	struct caller_target t;
	struct fixture f;

	(void)state;
	set_up(&f, "watched");
	assert_non_null(maps_binary_wait(f.maps, 1)->table);
	sample(&f, PID, 3);
	tally_add(f.tally, &f.chains);
	chains_clear(&f.chains);
	assert_false(tally_callers(f.tally, 0, &t));
	struct addr_range r = { f.program.vaddr, f.program.vaddr + 1 };
	struct addr_ranges ranges = { &r, 1 };
	struct engine_part part = { .binary = 1, .ranges = &ranges };
	tally_watch(f.tally, 2, "func:work", &part, 1);
	sample(&f, PID, 5);
	tally_add(f.tally, &f.chains);
	assert_true(tally_callers(f.tally, 0, &t));
	assert_int_equal(t.id, 2);
	assert_int_equal(t.samples, 5);
	assert_int_equal(t.all, 5);
	assert_int_equal(t.n_paths, 1);
	assert_string_equal(t.paths[0].functions[0], "func:work@watched");
	tear_down(&f);
}

static void test_chains(void **state)
{
	struct chain *c = xcalloc(1, CHAIN_SIZE(3));
	struct chains list;
	uint64_t sum = 0;
	size_t n = 0;

	(void)state;
	chains_init(&list, 64 << 10);
	assert_null(chains_next(&list, NULL));
	c->count = 1;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 500; i++) {
			c->pid = i % 5;
			c->n = i % 4;
			for (int k = 0; k < c->n; k++)
				c->frame[k] = (struct chain_frame){ i % 100, k };
			assert_true(chains_add(&list, c));
		}
	}
	for (struct chain *i = NULL; (i = chains_next(&list, i)); n++)
		sum += i->count;
	assert_int_equal(n, list.index.n);
	assert_int_equal(sum, 1500);
	/* Bounded: what is known is still counted, what is new is not. */
	c->n = 3;
	c->pid = 77;
	for (c->frame[0].place = 0; chains_add(&list, c); c->frame[0].place++)
		assert_true(c->frame[0].place < 10000);
	c->frame[0].place = 0;
	assert_true(chains_add(&list, c));
	assert_true(list.used <= 64 << 10);
	chains_clear(&list);
	assert_null(chains_next(&list, NULL));
	assert_true(chains_add(&list, c));
	assert_int_equal(list.index.n, 1);
	chains_deinit(&list);
	free(c);
}

static bool sample_made(struct fixture *f, uint64_t addr, uint64_t count)
{
	struct chain *c = xcalloc(1, CHAIN_SIZE(1));
	bool found;

	c->count = count;
	c->pid = PID;
	c->n = 1;
	c->frame[0] = (struct chain_frame){ addr, CHAIN_NO_BINARY };
	found = maps_place_of(f->maps, PID, addr, &c->frame[0].binary, &c->frame[0].place);
	if (found)
		assert_non_null(maps_binary_wait(f->maps, c->frame[0].binary)->made);
	assert_true(chains_add(&f->chains, c));
	free(c);
	return found;
}

/* Code that is made while the program runs has names, and all of it is one binary. */
static void test_made(void **state)
{
	_cleanup_free_ struct tally_binary *b = NULL;
	uint64_t total = 0;
	struct tally_counts counts;
	struct fixture f;
	size_t n, seen = 0;

	(void)state;
	set_up(&f, "maker");
	program_makes(PID, "1000 10 first\n");
	/* To count where something ran makes it be asked what the process tells. */
	assert_false(sample_made(&f, 0x1004, 1));
	tally_add(f.tally, &f.chains);
	chains_clear(&f.chains);
	maps_catch_up(f.maps);
	assert_true(sample_made(&f, 0x1004, 2));
	assert_true(sample_made(&f, 0x2004, 7));
	tally_add(f.tally, &f.chains);
	chains_clear(&f.chains);
	program_makes(PID, "1000 10 first\n2000 10 second\n");
	program_is_asked(f.maps, PID);
	/* What was unknown there before is known now. */
	assert_true(sample_made(&f, 0x2004, 3));
	assert_true(sample_made(&f, 0x1008, 4));
	assert_true(sample_made(&f, 0x3000, 5));
	tally_add(f.tally, &f.chains);
	assert_int_equal(sums_of(&f, "func:first").self, 6);
	assert_int_equal(sums_of(&f, "func:second").total, 3);
	assert_int_equal(credit_of(&f, "func:second"), 3); /* and can be chosen */
	tally_binaries(f.tally, &b, &n);
	for (size_t i = 0; i < n; i++) {
		seen += b[i].sums.total > 0;
		total += b[i].sums.total;
		assert_int_equal(b[i].sums.credit, 0);
		assert_true(!b[i].sums.total || maps_binary_is_made(f.maps, i));
	}
	assert_int_equal(seen, 1);
	assert_int_equal(total, 21);
	tally_counts(f.tally, &counts);
	assert_int_equal(counts.unnamed - counts.no_file, 12);
	tear_down(&f);
}

/* @count samples in work() that @vaddr + 1 returns to. */
static void sample_called(struct fixture *f, uint64_t vaddr, uint64_t count)
{
	struct chain *c = xcalloc(1, CHAIN_SIZE(2));
	uint64_t work = START + (f->program.offset - f->program.pgoff);

	c->count = count;
	c->pid = PID;
	c->n = 2;
	for (int i = 0; i < 2; i++)
		maps_place_of(f->maps, PID, i ? work + vaddr - f->program.vaddr : work,
			      &c->frame[i].binary, &c->frame[i].place);
	assert_true(chains_add(&f->chains, c));
	free(c);
}

/* By which line a line was called for most of its samples, and by how much more than by others. */
static void test_caller(void **state)
{
	struct addr_ranges main;
	struct tally_sums sums;
	struct fixture f;

	(void)state;
	set_up(&f, "caller");
	assert_int_equal(maptable_lines_ranges(maps_binary_wait(f.maps, 1)->table, "tally.c", 3, 3,
					       &main, NULL),
			 0);
	sample(&f, PID, 3); /* by nobody */
	sample_called(&f, main.r[0].start, 10);
	tally_add(f.tally, &f.chains);
	sums = sums_of(&f, "tally.c:2");
	assert_int_equal(sums.credit, 13);
	assert_string_equal(strrchr(locations_get(f.locations, sums.caller)->target, ':'), ":3");
	assert_int_equal(sums.margin, 7);
	chains_clear(&f.chains);
	sample(&f, PID, 20);
	tally_add(f.tally, &f.chains);
	sums = sums_of(&f, "tally.c:2");
	assert_int_equal(sums.caller, LOCATION_NONE);
	assert_int_equal(sums.margin, 13);
	addr_ranges_free(&main);
	tear_down(&f);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_caller),	cmocka_unit_test(test_chains),
		cmocka_unit_test(test_later),	cmocka_unit_test(test_never),
		cmocka_unit_test(test_threads), cmocka_unit_test(test_processes),
		cmocka_unit_test(test_watched), cmocka_unit_test(test_made),
	};

	sysroot = scratch;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return run_in_scratch(run, true);
}
