// SPDX-License-Identifier: GPL-2.0-or-later
/* Whose code a frame is, and which frame a sample is credited to. */
#include "maps/credit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct maps_binary own = { .path = "/home/u/app" };
static const struct maps_binary library = { .path = "/usr/lib/x86_64-linux-gnu/libc.so.6" };
static const struct maps_binary kernel = { .kernel = true, .path = "[kernel]" };

static void test_sources(void **state)
{
	static const char *const system[] = {
		"/usr/include/c++/12/bits/stl_algo.h",
		"/rustc/90b35a6239c3d8bdabc530a6a0816f7ff89a0aaf/library/core/src/iter/range.rs",
		"/home/u/.rustup/toolchains/stable/lib/rustlib/src/rust/library/alloc/src/vec/"
		"mod.rs",
		"/home/u/.cargo/registry/src/index.crates.io-6f17d22bba15001f/serde-1.0.1/src/"
		"lib.rs",
		"/rust/deps/hashbrown-0.16.1/src/raw/mod.rs",
		"/usr/local/go/src/runtime/mgc.go",
		"/home/u/go/pkg/mod/github.com/x/y@v1.2.3/z.go",
		"misc/../sysdeps/unix/syscall-template.S",
		"./csu/../sysdeps/nptl/libc_start_call_main.h",
		"../../../../src/libstdc++-v3/src/c++11/string-inst.cc",
		"/build/glibc-AbCdEf/glibc-2.36/malloc/malloc.c",
		"/opt/gcc-13/include/c++/13.2.0/vector",
		"/usr/src/debug/bash-5.2/eval.c",
		"<built-in>",
	};
	static const char *const users[] = {
		"/home/u/app/src/main.rs", "src/main.c", "main.c", "/usr/src/app/server.c",
		"/srv/build/generated.c",  "/root/x.go",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(system); i++) {
		if (!source_is_system(system[i]))
			fail_msg("%s", system[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(users); i++) {
		if (source_is_system(users[i]))
			fail_msg("%s", users[i]);
	}
	assert_true(binary_is_system("/usr/bin/gzip"));
	assert_true(binary_is_system("/lib64/ld-linux-x86-64.so.2"));
	assert_false(binary_is_system("/usr/local/bin/app"));
	assert_false(binary_is_system("/tmp/app"));
}

static enum code_origin one(const struct maps_binary *b, const char *function, const char *file)
{
	struct map_frame f = { function, file, file ? 7 : 0 };
	uint8_t origin;

	code_origins(b, &f, 1, &origin);
	return origin;
}

static void test_frames(void **state)
{
	static const struct map_frame inlined[] = {
		{ "arch_local_irq_restore", "arch/x86/include/asm/irqflags.h", 7 },
		{ "_raw_spin_unlock_irqrestore", "kernel/locking/spinlock.c", 194 },
	};
	uint8_t origin[2];

	(void)state;
	assert_int_equal(one(&own, "work", "/home/u/app.c"), CODE_OWN);
	assert_int_equal(one(&own, "work", "app.c"), CODE_OWN);
	assert_int_equal(one(&own, "std::sort<int*>", "/usr/include/c++/12/bits/stl_algo.h"),
			 CODE_LIBRARY);
	assert_int_equal(one(&own, "work", NULL), CODE_OWN_BINARY);
	assert_int_equal(one(&own, "0x1234", NULL), CODE_OWN_BINARY);
	assert_int_equal(one(&own, "_ZSt4sortIPiEvT_S1_", NULL), CODE_LIBRARY);
	assert_int_equal(one(&own, "core::fmt::write", NULL), CODE_LIBRARY);
	assert_int_equal(one(&own, "<u8 as core::fmt::Debug>::fmt", NULL), CODE_LIBRARY);
	assert_int_equal(one(&own, "<app::T as core::fmt::Debug>::fmt", NULL), CODE_OWN_BINARY);
	assert_int_equal(one(&own, "<u8 as app::Worth>::of", NULL), CODE_OWN_BINARY);
	assert_int_equal(one(&own, "_RNvNtCs1_4core3fmt5write", NULL), CODE_LIBRARY);
	assert_int_equal(one(&own, "runtime.mallocgc", NULL), CODE_LIBRARY);
	assert_int_equal(one(&own, "[unknown]", NULL), CODE_UNKNOWN);
	assert_int_equal(one(&own, "[plt]", NULL), CODE_PASSING);
	assert_int_equal(one(&own, "_start", NULL), CODE_PASSING);
	/* Who waits in a loop is not who gives the CPU up for it. */
	assert_int_equal(one(&library, "sched_yield", NULL), CODE_PASSING);
	/* Distributions make paths relative: no source of the user's. */
	assert_int_equal(one(&library, "__libc_start_call_main",
			     "csu/../sysdeps/nptl/libc_start_call_main.h"),
			 CODE_LIBRARY);
	assert_int_equal(one(&library, "malloc", "malloc/malloc.c"), CODE_LIBRARY);
	assert_int_equal(one(&library, "mine", "/home/u/lib.c"), CODE_OWN);

	assert_int_equal(one(&kernel, "chacha_permute", NULL), CODE_OWN);
	assert_int_equal(one(&kernel, "finish_task_switch", NULL), CODE_PASSING);
	assert_int_equal(one(&kernel, "_raw_spin_unlock_irqrestore", NULL), CODE_PASSING);
	code_origins(&kernel, inlined, 2, origin);
	assert_int_equal(origin[0], CODE_PASSING);
	assert_int_equal(origin[1], CODE_PASSING);
}

#define credit(...) \
	code_credit((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void test_credit(void **state)
{
	(void)state;
	assert_int_equal(code_credit(NULL, 0), -1);
	assert_int_equal(credit(CODE_OWN, CODE_OWN), 0);
	/* A library in the middle: the user's line that called it. */
	assert_int_equal(credit(CODE_LIBRARY, CODE_LIBRARY, CODE_OWN, CODE_OWN), 2);
	assert_int_equal(credit(CODE_LIBRARY, CODE_OWN_BINARY, CODE_LIBRARY), 1);
	assert_int_equal(credit(CODE_LIBRARY, CODE_PROGRAM, CODE_PROGRAM), 1);
	assert_int_equal(credit(CODE_LIBRARY, CODE_LIBRARY), 0);
	/* Where it ran is not known: nobody stands for it. */
	assert_int_equal(credit(CODE_UNKNOWN, CODE_LIBRARY), 0);
	assert_int_equal(credit(CODE_UNKNOWN, CODE_OWN), 0);
	assert_int_equal(credit(CODE_PASSING, CODE_UNKNOWN, CODE_OWN), 1);
	/* Nor does anything beyond code that is not known. */
	assert_int_equal(credit(CODE_LIBRARY, CODE_UNKNOWN, CODE_OWN), 0);
	assert_int_equal(credit(CODE_PASSING, CODE_OWN), 1);
	assert_int_equal(credit(CODE_PASSING, CODE_OUTSIDE), -1);
	/* Out of scope, it is as if it were not there. */
	assert_int_equal(credit(CODE_OUTSIDE, CODE_OUTSIDE, CODE_OWN), 2);
}

static void test_enough_samples(void **state)
{
	(void)state;
	/* Two samples are no target, not even when there are no others. */
	assert_false(code_worth_trying(2, 2, 2));
	assert_false(code_worth_trying(19, 19, 19));
	assert_true(code_worth_trying(20, 20, 20));
	assert_true(code_worth_trying(20, 1000, 1000));
	assert_false(code_worth_trying(20, 1001, 1001));
	/* Most ran where nothing can be credited. */
	assert_false(code_worth_trying(40, 100, 10000));
	assert_true(code_worth_trying(50, 100, 10000));
	assert_false(code_can_tell(999));
	assert_true(code_can_tell(1000));
}

static void test_profiler(void **state)
{
	(void)state;
	assert_true(function_is_of_bpf("bpf_trace_run2"));
	assert_true(function_is_of_bpf("bpf_prog_6deef7357e7b4530_on_tick"));
	assert_true(function_is_of_bpf("bpf_trampoline_6442508712"));
	assert_false(function_is_of_bpf("bpf_check"));
	assert_false(function_is_of_bpf("sk_filter_trim_cap"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources),	 cmocka_unit_test(test_frames),
		cmocka_unit_test(test_credit),	 cmocka_unit_test(test_enough_samples),
		cmocka_unit_test(test_profiler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
