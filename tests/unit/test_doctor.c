// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz doctor on machines made of files. */
#include "tools/scoz/arguments.c"
#include "tools/scoz/commands/doctor.c"

/* Running programs is tests/system/test-doctor-prove's: nothing here asks for it. */
int prove(double seconds, bool json)
{
	fprintf(stderr, "--prove=%g%s was not asked for\n", seconds, json ? " --json" : "");
	abort();
}

void prove_nothing(const struct capabilities *c)
{
	printf("nothing of %zu\n", c->n);
}

int prove_program(int argc, char **argv)
{
	fprintf(stderr, "no program to prove with was asked for: %d, %p\n", argc, (void *)argv);
	abort();
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <bpf/btf.h>
#include <linux/bpf.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/scoz-doctor-XXXXXX";

static void put(const char *name, const char *text)
{
	_cleanup_free_ char *path = xasprintf("%s%s", root, name);
	FILE *f;

	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void drop(const char *name)
{
	_cleanup_free_ char *command = xasprintf("rm -rf '%s%s'", root, name);

	assert_int_equal(system(command), 0);
}

/* Type information that knows these tracepoints, the blank-separated @without left out. */
static void put_btf(const char *without)
{
	static const char *const names[] = {
		"sched_switch",
		"sched_waking",
		"task_newtask",
		"softirq_raise",
		"softirq_entry",
		"softirq_exit",
		"irq_handler_entry",
		"irq_handler_exit",
		"hrtimer_expire_entry",
		"sched_exit_tp",
		"ipi_send_cpu",
		"cpu_idle",
		"block_rq_issue",
		"block_rq_complete",
		"hrtimer_start",
		"hrtimer_expire_exit",
		"sched_wake_idle_without_ipi",
		"irq_work_entry",
		"mm_filemap_map_pages",
	};
	_cleanup_free_ char *path = xasprintf("%s/sys/kernel/btf/vmlinux", root);
	struct btf *btf = btf__new_empty();
	const void *raw;
	uint32_t size;
	FILE *f;

	put("/sys/kernel/btf/vmlinux", "");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *type = xasprintf("btf_trace_%s", names[i]);

		if (!strstr(without, names[i]))
			assert_true(btf__add_typedef(btf, type, 0) > 0);
	}
	if (!strstr(without, "bpf_iter_task_vma_new")) {
		int prototype = btf__add_func_proto(btf, 0);

		assert_true(btf__add_func(btf, "bpf_iter_task_vma_new", BTF_FUNC_STATIC,
					  prototype) > 0);
	}
	raw = btf__raw_data(btf, &size);
	f = fopen(path, "w");
	assert_int_equal(fwrite(raw, 1, size, f), size);
	fclose(f);
	btf__free(btf);
}

static int bpf_result, trace_result, follow_result, clock_result, clock_bad_cpu;
static bool has_loop;

static int fake_load(void)
{
	return bpf_result;
}

static int fake_trace(const char *tracepoint)
{
	assert_string_equal(tracepoint, "sched_switch");
	return trace_result;
}

static int fake_follow(const char *function)
{
	assert_true(!strcmp(function, "mutex_spin_on_owner") ||
		    !strcmp(function, "perf_event_mmap"));
	return follow_result;
}

static int fake_helper(int type, int helper)
{
	(void)type;
	return helper != BPF_FUNC_loop || has_loop;
}

static int fake_clock(int cpu)
{
	return clock_bad_cpu < 0 || cpu == clock_bad_cpu ? clock_result : 0;
}

static int patched_result = -ENOSYS;

static int fake_patched(void)
{
	return patched_result;
}

static int module_result = -ENOENT;

static int fake_module(void)
{
	return module_result;
}

static const struct capability_probes fakes = { fake_load,  fake_trace,	  fake_follow, fake_helper,
						fake_clock, fake_patched, fake_module };

/* A server on which all is well. */
static int good_machine(void **state)
{
	(void)state;
	drop("");
	mkdir(root, 0755);
	put("/proc/self/status", "Name:\tscoz\nCapInh:\t0\nCapEff:\t000001ffffffffff\n");
	put("/proc/1/comm", "systemd\n");
	put("/proc/stat", "cpu  1000 0 500 90000 100 0 10 2 0 0\ncpu0 1 2 3\n");
	put("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme sse\nbugs\t: spectre\n");
	put("/proc/mounts", "none /sys/kernel/tracing tracefs rw 0 0\n");
	put("/proc/kallsyms", "ffffffff81000000 T _stext\nffffffff81000010 T f\n");
	put("/proc/sys/kernel/osrelease", "6.12.9-test\n");
	put("/proc/sys/kernel/perf_event_paranoid", "2\n");
	put("/proc/sys/kernel/perf_event_max_sample_rate", "1000000\n");
	put("/proc/sys/kernel/kptr_restrict", "1\n");
	put("/proc/sys/net/core/bpf_jit_enable", "1\n");
	put("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
	put("/sys/bus/event_source/devices/uprobe/type", "9\n");
	put("/sys/devices/system/cpu/online", "0-3\n");
	put("/sys/devices/system/cpu/isolated", "\n");
	put("/sys/devices/system/cpu/nohz_full", "(null)\n");
	put("/sys/devices/system/cpu/smt/active", "0\n");
	put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
	put("/usr/lib/debug/boot/vmlinux-6.12.9-test", "");
	put("/dev/shm/x", "");
	put_btf("");
	bpf_result = trace_result = follow_result = clock_result = 0;
	clock_bad_cpu = -1;
	has_loop = true;
	return 0;
}

static struct capabilities probe(void)
{
	struct capabilities c;

	capabilities_probe(&fakes, &c);
	return c;
}

static const struct capability *find(const struct capabilities *c, const char *id)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->list[i].id, id))
			return &c->list[i];
	fail_msg("there is no check '%s'", id);
	return NULL;
}

/* Probes, and expects of @id this status and, unless NULL, this text in what it says. */
static void expect(const char *id, enum capability_status status, bool can_run, const char *text)
{
	struct capabilities c = probe();
	const struct capability *p = find(&c, id);
	_cleanup_free_ char *all =
		xasprintf("%s: %s -> %s", p->found, p->effect ?: "", p->remedy ?: "");

	if (p->status != status || c.can_run != can_run || (text && !strstr(all, text)))
		fail_msg("%s: [%s] can run: %d, %s (wanted: %s)", id,
			 capability_status_name(p->status), c.can_run, all, text ?: "");
	if (status != CAPABILITY_OK)
		assert_non_null(p->effect);
	capabilities_free(&c);
}

static void test_good(void **state)
{
	struct capabilities c = probe();

	(void)state;
	for (size_t i = 0; i < c.n; i++)
		if (c.list[i].status != CAPABILITY_OK || c.list[i].remedy)
			fail_msg("%s: %s", c.list[i].id, c.list[i].found);
	assert_true(c.can_run);
	assert_true(c.n >= 20);
	capabilities_free(&c);
}

static void test_privileges(void **state)
{
	(void)state;
	put("/proc/self/status",
	    "Name:\tscoz\nCapEff:\t0000000000000000\nCapBnd:\t000001fffeffffff\n");
	expect("privileges", CAPABILITY_MISSING, false,
	       "setcap cap_bpf,cap_perfmon,cap_sys_admin,cap_sys_ptrace,cap_ipc_lock");
	expect("perf-paranoid", CAPABILITY_LIMITED, false, "sudo scozd");
	put("/proc/self/status", "Name:\tscoz\nCapEff:\t000000c000000000\n");
	expect("privileges", CAPABILITY_LIMITED, true, "CAP_SYS_PTRACE, CAP_SYS_RESOURCE");
	put("/proc/self/status", "Name:\tscoz\nCapEff:\t0000000001280000\n"); /* sys_admin */
	expect("privileges", CAPABILITY_OK, true, "scozd keeps 12 once");
	put("/proc/self/status", "Name:\tscoz\nCapEff:\t0\nCapBnd:\t00000000a80425fb\n");
	expect("privileges", CAPABILITY_MISSING, false, "outside of the bounding set");
	drop("/proc/self/status");
	expect("privileges", CAPABILITY_MISSING, false, "CAP_BPF, CAP_PERFMON");
}

static void test_bpf(void **state)
{
	(void)state;
	bpf_result = -EPERM;
	expect("bpf-load", CAPABILITY_MISSING, false, "container");
	put("/proc/self/status", "Name:\tscoz\nCapEff:\t0000000000000000\n");
	expect("bpf-load", CAPABILITY_MISSING, false, "sudo scozd");
	bpf_result = -ENOSYS;
	expect("bpf-load", CAPABILITY_MISSING, false, "CONFIG_BPF_SYSCALL");
	good_machine(NULL);
	has_loop = false;
	expect("bpf-helpers", CAPABILITY_MISSING, false, "no bpf_loop:");
	has_loop = true;
	put("/proc/sys/net/core/bpf_jit_enable", "0\n");
	expect("bpf-jit", CAPABILITY_LIMITED, true, "sysctl -w net.core.bpf_jit_enable=1");
}

static void test_tracepoints(void **state)
{
	(void)state;
	put_btf("sched_waking softirq_raise");
	expect("tracepoints", CAPABILITY_MISSING, false, "no sched_waking, softirq_raise");
	put_btf("ipi_send_cpu sched_exit_tp");
	expect("tracepoints-optional", CAPABILITY_LIMITED, true, "no sched_exit_tp, ipi_send_cpu");
	expect("tracepoints-optional", CAPABILITY_LIMITED, true,
	       "interrupt themselves after a task switch");
	put_btf("sched_exit_tp irq_work_entry");
	expect("tracepoints-optional", CAPABILITY_LIMITED, true, "waits cannot be sped up");
	trace_result = -EACCES;
	expect("tracepoints", CAPABILITY_MISSING, false, "refused");
	follow_result = -EPERM;
	expect("spin-waits", CAPABILITY_LIMITED, false, "contended locks");
	trace_result = 0;
	/* What was refused another kernel may refuse as well. */
	expect("spin-waits", CAPABILITY_LIMITED, true, "leave the container");
	follow_result = -ENOENT;
	expect("spin-waits", CAPABILITY_LIMITED, true, "CONFIG_FUNCTION_TRACER");
	put_btf("mm_filemap_map_pages");
	expect("brief-processes", CAPABILITY_LIMITED, true, "targets in libraries and callers");
	put_btf("bpf_iter_task_vma_new");
	expect("brief-processes", CAPABILITY_LIMITED, true, "Linux 6.9");
	put_btf("");
	expect("brief-processes", CAPABILITY_OK, true, NULL);
	follow_result = 0;
	put_btf("mm_filemap_map_pages");
	expect("brief-processes", CAPABILITY_OK, true, NULL);
	put("/sys/kernel/btf/vmlinux", "garbage");
	expect("btf", CAPABILITY_MISSING, false, "CONFIG_DEBUG_INFO_BTF");
	drop("/sys/kernel/btf");
	expect("btf", CAPABILITY_MISSING, false, "CONFIG_DEBUG_INFO_BTF");
}

static void test_perf(void **state)
{
	_cleanup_free_ char *rate =
		xasprintf("%s/proc/sys/kernel/perf_event_max_sample_rate", root);

	(void)state;
	clock_result = -EACCES;
	expect("perf-cpu-clock", CAPABILITY_MISSING, false, "4 of 4 CPUs: Permission denied");
	clock_bad_cpu = 2;
	expect("perf-cpu-clock", CAPABILITY_LIMITED, true, "1 of 4 CPUs");
	put("/proc/sys/kernel/perf_event_max_sample_rate", "1000\n");
	chmod(rate, 0444);
	if (access(rate, W_OK)) /* not root: who cannot raise it is told by how much */
		expect("perf-sample-rate", CAPABILITY_LIMITED, true, "max_sample_rate=1000000");
	else
		expect("perf-sample-rate", CAPABILITY_OK, true, "which scozd raises");
	drop("/sys/devices/system/cpu/online");
	expect("perf-cpu-clock", CAPABILITY_MISSING, false, NULL);
	drop("/sys/bus");
	expect("uprobes", CAPABILITY_MISSING, false, "CONFIG_UPROBE_EVENTS");
}

static void test_restrictions(void **state)
{
	(void)state;
	put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	expect("lockdown", CAPABILITY_OK, true, "integrity");
	put("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	expect("lockdown", CAPABILITY_MISSING, false, "mokutil");
	drop("/sys/kernel/security");
	expect("lockdown", CAPABILITY_OK, true, NULL);
	put("/proc/kallsyms", "0000000000000000 T _stext\n0000000000000000 T f\n");
	expect("kernel-symbols", CAPABILITY_LIMITED, true, "sudo scozd");
	put("/proc/sys/kernel/kptr_restrict", "2\n");
	expect("kernel-symbols", CAPABILITY_LIMITED, true, "kernel.kptr_restrict=1");
	drop("/proc/kallsyms");
	expect("kernel-symbols", CAPABILITY_LIMITED, true, "cannot be read");
	put("/proc/77/comm", "scozd\n");
	put("/proc/78/comm", "scozd\n");
	expect("other-scozd", CAPABILITY_MISSING, false, "sudo kill");
	drop("/proc/77");
	drop("/proc/78");
	expect("other-scozd", CAPABILITY_OK, true, NULL);
}

static void test_machine(void **state)
{
	(void)state;
	put("/sys/devices/system/cpu/smt/active", "1\n");
	expect("smt", CAPABILITY_LIMITED, true, "smt/control");
	put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
	expect("cpu-frequency", CAPABILITY_LIMITED, true, "'powersave' on 1 of 4");
	put("/sys/devices/system/cpu/isolated", "2-3\n");
	put("/sys/devices/system/cpu/nohz_full", "3\n");
	expect("isolated-cpus", CAPABILITY_LIMITED, true, "isolated: 2-3; nohz_full: 3");
	put("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor sse\nbugs\t: x\n");
	put("/sys/class/dmi/id/sys_vendor", "Cloud Inc.\n");
	expect("virtual-machine", CAPABILITY_LIMITED, true, "Cloud Inc.");
	put("/proc/stat", "cpu  1000 0 500 90000 100 0 10 200 0 0\n");
	expect("steal-time", CAPABILITY_LIMITED, true, "11.7 %");
	expect("steal-time", CAPABILITY_LIMITED, true, "intervals are wider by what that may do");
	put("/proc/stat", "cpu  1000\n");
	expect("steal-time", CAPABILITY_LIMITED, true, NULL);
	put("/sys/devices/system/cpu/online", "0\n");
	expect("cores", CAPABILITY_LIMITED, true, "one CPU");
	put("/proc/mounts", "proc /proc proc rw 0 0\n");
	expect("tracefs", CAPABILITY_LIMITED, true,
	       "groups are not checked -> sudo mount -t tracefs");
	drop("/usr");
	expect("kernel-debug-info", CAPABILITY_LIMITED, true, "linux-image-6.12.9-test-dbg");
	put("/dev/shm/scoz-marks", "");
	expect("marks", CAPABILITY_LIMITED, true, "rm -r");
	drop("/dev");
	expect("marks", CAPABILITY_LIMITED, true, "/dev/shm");
	expect("patched-kernel", CAPABILITY_OK, true, "engine bpf");
	patched_result = 0; /* without BPF it does as well */
	expect("patched-kernel", CAPABILITY_OK, true, "engine kernel");
	patched_result = 1; /* by the node */
	expect("patched-kernel", CAPABILITY_OK, true,
	       "engine kernel stops the cores (through /dev/scoz");
	patched_result = -EPERM; /* they are there, but not for us */
	expect("patched-kernel", CAPABILITY_OK, true, "CAP_SYS_ADMIN");
	patched_result = 0;
	drop("/sys/kernel/btf/vmlinux");
	expect("btf", CAPABILITY_MISSING, true, NULL);
	patched_result = -ENOSYS;
	expect("btf", CAPABILITY_MISSING, false, NULL);
}

/* Nothing at all is there: every check answers. */
static void test_empty(void **state)
{
	struct capabilities c;

	(void)state;
	drop("");
	c = probe();
	assert_false(c.can_run);
	for (size_t i = 0; i < c.n; i++)
		assert_non_null(c.list[i].found);
	capabilities_free(&c);
}

static char *output_of(void (*print)(const struct capabilities *c), const struct capabilities *c)
{
	_cleanup_free_ char *path = xasprintf("%s-output", root);
	int saved = dup(1);
	char *text;

	fflush(stdout);
	assert_non_null(freopen(path, "w", stdout));
	print(c);
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
	text = read_file(path, NULL);
	unlink(path);
	return text;
}

static void test_output(void **state)
{
	_cleanup_free_ char *text = NULL, *json = NULL;
	struct capabilities c;
	json_error_t error;
	json_t *parsed, *check;
	size_t i;

	(void)state;
	put("/sys/class/dmi/id/sys_vendor", "QEMU \xff\xfe\n");
	put("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	c = probe();
	text = output_of(print_text, &c);
	assert_non_null(strstr(text, "[ok]      btf "));
	assert_non_null(strstr(text, "[missing] lockdown "));
	assert_non_null(strstr(text, " -> boot with lockdown=integrity"));
	assert_non_null(strstr(text, "scozd cannot run here"));
	json = output_of(print_json, &c);
	parsed = json_loads(json, 0, &error);
	assert_non_null(parsed);
	assert_string_equal(json_string_value(json_object_get(parsed, "schema")), "scoz-doctor/1");
	assert_true(json_is_false(json_object_get(parsed, "can_run")));
	assert_int_equal(json_array_size(json_object_get(parsed, "checks")), c.n);
	json_array_foreach (json_object_get(parsed, "checks"), i, check) {
		assert_string_equal(json_string_value(json_object_get(check, "id")), c.list[i].id);
		assert_true(json_is_string(json_object_get(check, "found")));
		assert_true(json_is_boolean(json_object_get(check, "required")));
	}
	json_decref(parsed);
	capabilities_free(&c);
}

static void examine_json(const struct capabilities *c)
{
	assert_int_equal(examine(c, PROVE_SECONDS, true), EXIT_FAILED);
}

static void examine_text(const struct capabilities *c)
{
	assert_int_equal(examine(c, PROVE_SECONDS, false), EXIT_FAILED);
}

/* Who asks for a proof in JSON gets one object of that kind, whatever the machine can do. */
static void test_nothing_to_prove(void **state)
{
	_cleanup_free_ char *text = NULL, *json = NULL, *wanted = NULL;
	struct capabilities c;

	(void)state;
	drop("/proc/self/status");
	c = probe();
	assert_false(c.can_run);
	json = output_of(examine_json, &c);
	wanted = xasprintf("nothing of %zu\n", c.n);
	assert_string_equal(json, wanted);
	text = output_of(examine_text, &c);
	assert_non_null(strstr(text, "[missing] privileges "));
	assert_non_null(strstr(text, "scozd cannot run here"));
	capabilities_free(&c);
}

static void test_arguments(void **state)
{
	char *help[] = { "doctor", "--help", NULL }, *bad[] = { "doctor", "--nonsense", NULL };
	char *more[] = { "doctor", "x", NULL };

	(void)state;
	assert_int_equal(cmd_doctor(2, help), 0);
	assert_int_equal(cmd_doctor(2, bad), 2);
	assert_int_equal(cmd_doctor(2, more), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_good, good_machine),
		cmocka_unit_test_setup(test_privileges, good_machine),
		cmocka_unit_test_setup(test_bpf, good_machine),
		cmocka_unit_test_setup(test_tracepoints, good_machine),
		cmocka_unit_test_setup(test_perf, good_machine),
		cmocka_unit_test_setup(test_restrictions, good_machine),
		cmocka_unit_test_setup(test_machine, good_machine),
		cmocka_unit_test_setup(test_output, good_machine),
		cmocka_unit_test_setup(test_nothing_to_prove, good_machine),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_arguments),
	};
	int failed;

	if (!mkdtemp(root))
		return 1;
	sysroot = root;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	drop("");
	return failed;
}
