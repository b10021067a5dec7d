// SPDX-License-Identifier: GPL-2.0-or-later
/* What the kernel answers is what its files tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "host/bpf_programs.h"
#include "host/kallsyms.h"
#include "host/kernel_asks.h"
#include "host/kernel_types.h"
#include "host/process.h"

#include "../syscall_onward.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct kernel_asks *asks;

/* Not there where it cannot be: no rights, an old kernel. */
static bool can_be_asked(void)
{
	libbpf_print_fn_t old = libbpf_set_print(NULL);
	int r = libbpf_probe_bpf_helper(BPF_PROG_TYPE_SYSCALL, BPF_FUNC_kallsyms_lookup_name, NULL);

	libbpf_set_print(old);
	return r == 1 && !bpf_try_load(BPF_PROG_TYPE_PERF_EVENT, 0, 0);
}

static int open_asks(void **state)
{
	(void)state;
	asks = kernel_asks_open();
	return !asks && can_be_asked();
}

static int close_asks(void **state)
{
	(void)state;
	kernel_asks_close(asks);
	return 0;
}

static void require_asks(void)
{
	if (asks)
		return;
	print_message("skipped: the kernel lets nobody ask it, or not us: root?\n");
	skip();
}

/* As they are read. */
static struct btf *require_types(void)
{
	struct btf *btf;

	require_asks();
	btf = btf__load_vmlinux_btf();
	if (!btf) {
		print_message("skipped: this kernel has no type information\n");
		skip();
	}
	return btf;
}

static const char *const functions[] = { "schedule", "hrtimer_wakeup", "__sched_text_start",
					 "no_such_function" };

static bool note(const struct kallsym *sym, void *arg)
{
	uint64_t *found = arg;

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		if (!found[i] && !strcmp(sym->name, functions[i]))
			found[i] = sym->address;
	}
	return false;
}

static void addresses(void **state)
{
	uint64_t found[ARRAY_SIZE(functions)] = { 0 };
	char long_name[500] = { 0 };

	(void)state;
	require_asks();
	assert_int_equal(kallsyms_each(note, found), 0);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		assert_int_equal(kernel_asks_address(asks, functions[i]), found[i]);
	/* What was asked before leaves nothing. */
	assert_int_equal(kernel_asks_address(asks, "sched"), 0);
	memset(long_name, 'a', sizeof(long_name) - 1);
	assert_int_equal(kernel_asks_address(asks, long_name), 0);
	assert_int_equal(kernel_addresses()->hrtimer_wakeup, found[1]);
	assert_int_equal(kernel_addresses()->sched_text_start, found[2]);
}

static void types(void **state)
{
	static const struct {
		const char *name;
		int kind;
	} of[] = {
		{ "btf_trace_sched_switch", BTF_KIND_TYPEDEF },
		{ "task_struct", BTF_KIND_STRUCT },
		{ "schedule", BTF_KIND_FUNC },
	};
	struct btf *btf = require_types();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		int id = btf__find_by_name_kind(btf, of[i].name, of[i].kind);

		assert_true(id > 0);
		assert_int_equal(kernel_asks_type(asks, of[i].name, of[i].kind), id);
	}
	assert_int_equal(kernel_asks_type(asks, "schedule", BTF_KIND_STRUCT), -ENOENT);
	assert_int_equal(kernel_asks_type(asks, "btf_trace_no_such_thing", BTF_KIND_TYPEDEF),
			 -ENOENT);
	btf__free(btf);
}

/* Asked and read, it is the same. */
static void sources(void **state)
{
	static const char *const tracepoints[] = { "sched_switch", "sched_exit_tp", "hrtimer_start",
						   "no_such_tracepoint" };
	struct btf *btf = require_types();
	const struct kernel_types read = { .btf = btf };
	struct kernel_types t;
	struct error err = {};

	(void)state;
	assert_int_equal(kernel_types_open(&t, &err), 0);
	assert_non_null(t.asks);
	for (size_t i = 0; i < ARRAY_SIZE(tracepoints); i++)
		assert_int_equal(kernel_has_tracepoint(&t, tracepoints[i]),
				 kernel_has_tracepoint(&read, tracepoints[i]));
	assert_true(kernel_has_tracepoint(&t, "sched_switch"));
	assert_int_equal(kernel_tells_mappings(&t), kernel_tells_mappings(&read));
	kernel_types_close(&t);
	btf__free(btf);
}

/* ---- a call that fails as libbpf looks what the kernel can do ---- */

static int failing; /* the call of bpf(2) that does, counted from 1; 0: none */

/* Stands before that of libc. */
long syscall(long number, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, number);
	syscall_arguments(ap, a);
	va_end(ap);
	if (number == SYS_bpf && failing && !--failing) {
		errno = ENOMEM;
		return -1;
	}
	return syscall_onward(number, a);
}

/* In a program of its own: libbpf looks once. */
static int tell_misled(int n)
{
	failing = n;
	kernel_asks_close(kernel_asks_open());
	return failing ? 2 : kernel_asks_misled();
}

static void misled(void **state)
{
	int n_misled = 0, status = 0;

	(void)state;
	require_asks();
	assert_false(kernel_asks_misled());
	for (int n = 1; n < 100 && WEXITSTATUS(status) != 2; n++) {
		_cleanup_free_ char *self = xasprintf("%s misled %d", process_own_image(), n);

		status = system(self);
		assert_true(WIFEXITED(status));
		n_misled += WEXITSTATUS(status) == 1;
	}
	assert_int_equal(WEXITSTATUS(status), 2);
	assert_true(n_misled > 0);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "misled"))
		return tell_misled(atoi(argv[2]));

	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(types),
		cmocka_unit_test(sources),
		cmocka_unit_test(misled),
	};

	return cmocka_run_group_tests(tests, open_asks, close_asks);
}
