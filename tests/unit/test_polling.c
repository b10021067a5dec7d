// SPDX-License-Identifier: GPL-2.0-or-later
/* Which call chains are those of a task that waits by polling. */
#include "daemon/polling.h"

#include "test_map_util.h"

#include <sys/sysmacros.h>

/* Innermost first: one letter a frame. */
static bool waits(const char *frames)
{
	static const char letters[] = {
		[SCOZ_POLL_OTHER] = 'o',  [SCOZ_POLL_LIBRARY] = 'l', [SCOZ_POLL_ENGINE] = 'E',
		[SCOZ_POLL_CALL] = 'C',	  [SCOZ_POLL_ASK] = 'a',     [SCOZ_POLL_YIELD] = 'y',
		[SCOZ_POLL_EVENTS] = 'v', [SCOZ_POLL_OWN] = 'p',
	};
	struct scoz_poll_chain c = {};

	for (; *frames; frames++) {
		uint32_t role = 0;

		while (letters[role] != *frames)
			role++;
		switch (scoz_poll_frame(&c, role)) {
		case SCOZ_POLL_WAITS:
			return true;
		case SCOZ_POLL_WORKS:
			return false;
		default:
			break;
		}
	}
	return false;
}

static void test_chains(void **state)
{
	static const char *const waiting[] = {
		"EllCo",   /* the engine itself */
		"lElllCo", /* a device looks */
		"avvEllC", /* Open MPI asks by libevent */
		"allElC",  /* UCX asks by a function of its own */
		"yEllC",   /* nothing has come, others may have the core */
		"ylllC",   /* MPICH yields beside its engine */
		"lEEllC",  /* one engine calls another */
		"pEllC",   /* the engine's own library asks for events */
		"ppEllC",  /* ... or reads the clock */
		"avvpEllC",
	};
	static const char *const working[] = {
		"llEllC",	     /* delivers what has come */
		"pllEllC", "plEllC", /* ... unpacks it by what the engine's library has for that */
		"lpEllC",  "pppEllC", "vvpEllo", "oElC", /* copies: memcpy() */
		"olEllC",  "lvvEllC",			 /* a callback of libevent */
		"lllC",					 /* sends: no engine at all */
		"Co",					 /* the call itself */
		"lEllo",	   /* called by MPI_Test(), of which nothing is said */
		"lElloC",	   /* a reduction of the program's own */
		"aCo",		   /* asks, but not for an engine */
		"allllEC", "avvo", /* another program with libevent */
		"o",	   "",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(waiting); i++) {
		if (!waits(waiting[i]))
			fail_msg("%s is taken for work", waiting[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(working); i++) {
		if (waits(working[i]))
			fail_msg("%s is taken for waiting", working[i]);
	}
}

static void test_files(void **state)
{
	enum scoz_poll_role role;

	(void)state;
	assert_true(polling_file("/usr/lib/x86_64-linux-gnu/libmpi.so.40.30.4", &role));
	assert_int_equal(role, SCOZ_POLL_LIBRARY);
	assert_true(polling_file("/usr/lib/openmpi3/mca_btl_vader.so", &role));
	assert_int_equal(role, SCOZ_POLL_LIBRARY);
	assert_true(polling_file("/usr/lib/libevent_core-2.1.so.7.0.1", &role));
	assert_int_equal(role, SCOZ_POLL_EVENTS);
	assert_true(polling_file("/usr/lib/x86_64-linux-gnu/libc.so.6", &role));
	assert_int_equal(role, SCOZ_POLL_OTHER);
	assert_true(polling_file("/usr/lib/x86_64-linux-gnu/libopen-pal.so.40.30.2", &role));
	assert_int_equal(role, SCOZ_POLL_OWN);
	assert_false(polling_file("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", &role));
	assert_false(polling_file("/home/u/mca_tool/solver", &role));
}

/* ---- sampled chains of files that are there ---- */

#define PID 10

static struct {
	const char *name, *functions[5];
	uint32_t id;
	uint64_t place[5], base;
	bool known; /* its unwind table is in the kernel */
} libraries[] = {
	{ .name = "libmpi.so.40",
	  .functions = { "PMPI_Recv", "PMPI_Test", "opal_progress", "MPI_Barrier" } },
	{ .name = "mca_btl_vader.so", .functions = { "look", "deliver" } },
	{ .name = "libc.so.6", .functions = { "sched_yield", "memcpy" } },
	{ .name = "solver", .functions = { "solve" } },
};

uint32_t __wrap_unwind_follow_table(struct unwind_follow *f, uint32_t binary, uint64_t *base);
int __wrap_engine_set_polling(struct engine *e, uint32_t table, uint32_t role,
			      const struct scoz_poll_range *ranges, size_t n);

static int told;

uint32_t __wrap_unwind_follow_table(struct unwind_follow *f, uint32_t binary, uint64_t *base)
{
	(void)f;
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		if (libraries[i].id == binary && libraries[i].known) {
			*base = libraries[i].base;
			return i + 1;
		}
	}
	return 0;
}

int __wrap_engine_set_polling(struct engine *e, uint32_t table, uint32_t role,
			      const struct scoz_poll_range *ranges, size_t n)
{
	(void)e, (void)table, (void)role, (void)ranges, (void)n;
	told++;
	return 0;
}

static void make_library(struct maps *maps, size_t number)
{
	_cleanup_free_ char *source = in_scratch("library.c"),
			    *path = in_scratch("%s", libraries[number].name);
	struct map_options opt = {};
	struct maptable *t;
	struct stat st;
	FILE *f = fopen(source, "w");

	assert_non_null(f);
	fprintf(f, "volatile int sink;\n");
	for (int i = 0; libraries[number].functions[i]; i++)
		fprintf(f, "int %s(int x) { sink = x + %d; return sink; }\n",
			libraries[number].functions[i], i);
	fclose(f);
	sh("gcc -shared -fPIC -fno-builtin -O1 -g library.c -o %s", libraries[number].name);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(maptable_make(path, path, &opt, &t, NULL), 0);
	libraries[number].base = 16;
	libraries[number].known = true;
	for (int i = 0; libraries[number].functions[i]; i++) {
		uint64_t start = 0x100000000 * (number + 1), vaddr, offset, pgoff;

		assert_int_equal(
			maptable_function_address(t, libraries[number].functions[i], &vaddr, NULL),
			0);
		assert_true(maptable_vaddr_to_offset(t, vaddr, &offset));
		pgoff = offset & ~0xfffULL;
		maps_add(maps, 0, PID, start, 0x1000, pgoff,
			 (struct file_id){ .dev_major = major(st.st_dev),
					   .dev_minor = minor(st.st_dev),
					   .ino = st.st_ino },
			 path);
		assert_true(maps_place_of(maps, PID, start + offset - pgoff, &libraries[number].id,
					  &libraries[number].place[i]));
	}
	maptable_free(t);
	assert_non_null(maps_binary_wait(maps, libraries[number].id)->table);
}

static struct chain_frame frame_of(const char *function)
{
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		for (int k = 0; libraries[i].functions[k]; k++) {
			if (!strcmp(libraries[i].functions[k], function))
				return (struct chain_frame){ libraries[i].place[k],
							     libraries[i].id };
		}
	}
	if (!strcmp(function, "[kernel]"))
		return (struct chain_frame){ 0xffffffff81000000, MAPS_KERNEL_ID };
	assert_string_equal(function, "[nowhere]");
	return (struct chain_frame){ 0x1234, CHAIN_NO_BINARY };
}

/* @functions: innermost first. */
static bool sampled_waits(struct polling *p, const char *functions)
{
	_cleanup_free_ struct chain *c = xcalloc(1, CHAIN_SIZE(8));
	_cleanup_free_ char *copy = xstrdup(functions);
	char *rest = copy, *word;

	while ((word = strsep(&rest, " ")))
		c->frame[c->n++] = frame_of(word);
	return polling_waits(p, c);
}

static void test_sampled(void **state)
{
	static const char waiting[] = "look opal_progress PMPI_Recv solve";
	static const char *const also[] = {
		"[kernel] [kernel] sched_yield opal_progress PMPI_Recv solve",
		"opal_progress opal_progress PMPI_Recv [nowhere]",
		"look opal_progress MPI_Barrier solve", /* which is no alias here */
	};
	static const char *const working[] = {
		"memcpy deliver opal_progress PMPI_Recv solve",
		"deliver look opal_progress PMPI_Recv solve",
		"look opal_progress PMPI_Test solve",
		"[nowhere] opal_progress PMPI_Recv solve",
		"look opal_progress",
		"solve",
		"[kernel]",
	};
	struct polling *p;
	struct maps *maps;

	(void)state;
	assert_int_equal(maps_create(NULL, &maps, NULL), 0);
	p = polling_create(maps, NULL, NULL);
	/* Without a library of MPI, libc does not matter. */
	for (size_t i = 2; i < ARRAY_SIZE(libraries); i++)
		make_library(maps, i);
	polling_look(p);
	assert_false(sampled_waits(p, "sched_yield solve"));
	assert_int_equal(told, 0);
	for (size_t i = 0; i < 2; i++)
		make_library(maps, i);
	/* Of a file whose table the engine does not have yet, nothing is known. */
	libraries[1].known = false;
	polling_look(p);
	assert_int_equal(told, 2);
	assert_false(sampled_waits(p, waiting));
	libraries[1].known = true;
	polling_look(p);
	assert_int_equal(told, 3);
	assert_true(sampled_waits(p, waiting));
	for (size_t i = 0; i < ARRAY_SIZE(also); i++) {
		if (!sampled_waits(p, also[i]))
			fail_msg("%s is taken for work", also[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(working); i++) {
		if (sampled_waits(p, working[i]))
			fail_msg("%s is taken for waiting", working[i]);
	}
	polling_destroy(p);
	maps_destroy(maps);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_sampled),
	};

	sysroot = scratch;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return run_in_scratch(run, true);
}
