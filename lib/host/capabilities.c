// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/capabilities_internal.h"
#include "host/bpf_programs.h"
#include "host/kallsyms.h"
#include "host/kernel_types.h"
#include "host/privileges.h"
#include "host/scoz_module.h"
#include "host/scoz_syscalls.h"

#include <ctype.h>
#include <dirent.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

/* ---- real probes ---------------------------------------------------------------------------- */

static int real_load_program(void)
{
	return bpf_try_load(BPF_PROG_TYPE_PERF_EVENT, 0, 0);
}

static int try_tracing(const char *name, enum bpf_attach_type type)
{
	libbpf_print_fn_t old = libbpf_set_print(NULL);
	int id = libbpf_find_vmlinux_btf_id(name, type);
	int ret = id > 0 ? bpf_try_load(BPF_PROG_TYPE_TRACING, type, id) : id;

	libbpf_set_print(old);
	return ret;
}

static int real_trace(const char *tracepoint)
{
	return try_tracing(tracepoint, BPF_TRACE_RAW_TP);
}

static int real_follow(const char *function)
{
	return try_tracing(function, BPF_TRACE_FENTRY);
}

static int real_helper(int type, int helper)
{
	libbpf_print_fn_t old = libbpf_set_print(NULL);
	int ret = libbpf_probe_bpf_helper(type, helper, NULL);

	libbpf_set_print(old);
	return ret;
}

static int real_cpu_clock(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = NSEC_PER_SEC,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

const struct capability_probes capability_probes_real = {
	.load_program = real_load_program,
	.trace = real_trace,
	.follow = real_follow,
	.helper = real_helper,
	.cpu_clock = real_cpu_clock,
	.patched = scoz_open_probe,
	.module = scoz_module_probe,
};

/* ---- building the list ---------------------------------------------------------------------- */

struct capability *capability_add(struct capabilities *c, const char *id, bool required)
{
	array_reserve(c->list, c->cap, c->n + 1);
	c->list[c->n] = (struct capability){ .id = id, .required = required };
	return &c->list[c->n++];
}

void capability_settle(struct capability *c, enum capability_status status, char *found,
		       char *effect, char *remedy)
{
	c->status = status;
	c->found = found;
	c->effect = effect;
	c->remedy = remedy;
}

void capability_ok(struct capability *c, char *found)
{
	capability_settle(c, CAPABILITY_OK, found, NULL, NULL);
}

char *capability_text_of(const char *name)
{
	_cleanup_free_ char *path = sysroot_path("%s", name);
	char *text = read_file(path, NULL);

	for (size_t n = text ? strlen(text) : 0; n && isspace((unsigned char)text[n - 1]); n--)
		text[n - 1] = '\0';
	return text;
}

long capability_number_of(const char *name)
{
	_cleanup_free_ char *text = capability_text_of(name);

	return text && *text ? strtol(text, NULL, 10) : -1;
}

bool capability_exists(const char *name)
{
	_cleanup_free_ char *path = sysroot_path("%s", name);

	return !access(path, F_OK);
}

static void append(char **text, const char *item)
{
	text_add(text, "%s%s", *text ? ", " : "", item);
}

/* ---- what scozd needs ----------------------------------------------------------------------- */

#ifdef __aarch64__
#define OTHER_KERNEL "sudo apt-get install linux-image-arm64 && sudo reboot"
#else
#define OTHER_KERNEL "sudo apt-get install linux-image-amd64 && sudo reboot"
#endif

static bool privileged(void)
{
	return privileges_suffice(privileges_own("CapEff"));
}

/* Something was refused: for want of privileges, or in spite of them. */
static char *refusal_remedy(void)
{
	return xstrdup(privileged() ? "leave the container, or start it with docker run "
				      "--privileged --pid=host"
				    : "sudo scozd ...");
}

/* What somebody without privileges has to do. */
static char *privileges_remedy(void)
{
	_cleanup_free_ char *setcap = privileges_setcap();

	if (!setcap)
		return xstrdup("CAP_BPF and CAP_PERFMON are outside of the bounding set here, also "
			       "for root: leave the container, or start it with docker run "
			       "--privileged --pid=host");
	return xasprintf("run it as root: sudo scozd ...; or once: %s", setcap);
}

static void check_privileges(struct capabilities *c)
{
	static const struct {
		int capability;
		const char *name, *effect;
	} useful[] = {
		{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN",
		  "points at functions, lines, USDT probes and marks are refused" },
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE",
		  "other users' processes have no symbols and no marks" },
		{ CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE",
		  "limits of locked memory and open files stay as they are" },
	};
	struct capability *p = capability_add(c, "privileges", true);
	_cleanup_free_ char *vital = NULL, *missing = NULL, *effects = NULL;
	uint64_t caps = privileges_own("CapEff");
	bool admin = privileges_have(caps, CAP_SYS_ADMIN);

	if (!privileges_have(caps, CAP_BPF) && !admin)
		append(&vital, "CAP_BPF");
	if (!privileges_have(caps, CAP_PERFMON) && !admin)
		append(&vital, "CAP_PERFMON");
	for (size_t i = 0; i < ARRAY_SIZE(useful); i++) {
		if (privileges_have(caps, useful[i].capability))
			continue;
		append(&missing, useful[i].name);
		append(&effects, useful[i].effect);
	}
	if (vital)
		capability_settle(p, CAPABILITY_MISSING, xasprintf("no %s", vital),
				  xstrdup("sampling and stopping cores is refused"),
				  privileges_remedy());
	else if (missing)
		capability_settle(p, CAPABILITY_LIMITED, xasprintf("no %s", missing),
				  xstrdup(effects), geteuid() ? xstrdup("sudo scozd ...") : NULL);
	else
		capability_ok(
			p, xasprintf("root, or all capabilities that are needed; of %d scozd "
				     "keeps %d once it has begun, what reads files of others none",
				     CAP_LAST_CAP + 1, __builtin_popcountll(PRIVILEGES_OF_SCOZD)));
}

static const char *why_bpf(int error)
{
	switch (-error) {
	case EPERM:
	case EACCES:
		return "refused: no privilege, or a container's or lockdown's rule";
	case ENOSYS:
		return "this kernel was built without CONFIG_BPF_SYSCALL";
	default:
		return strerror(-error);
	}
}

static void check_bpf(struct capabilities *c, const struct capability_probes *probes)
{
	static const struct {
		int helper;
		const char *name;
	} helpers[] = { { BPF_FUNC_loop, "bpf_loop" },
			{ BPF_FUNC_task_storage_get, "bpf_task_storage_get" },
			{ BPF_FUNC_ringbuf_output, "bpf_ringbuf_output" } };
	struct capability *p = capability_add(c, "bpf-load", true);
	_cleanup_free_ char *missing = NULL;
	int r = probes->load_program();
	long jit;

	if (r < 0) {
		capability_settle(p, CAPABILITY_MISSING,
				  xasprintf("loading a BPF program: %s", why_bpf(r)),
				  xstrdup("engine bpf cannot stop cores"),
				  r == -ENOSYS ? xstrdup(OTHER_KERNEL) : refusal_remedy());
		return;
	}
	capability_ok(p, xstrdup("BPF programs can be loaded"));

	p = capability_add(c, "bpf-helpers", true);
	for (size_t i = 0; i < ARRAY_SIZE(helpers); i++)
		if (probes->helper(BPF_PROG_TYPE_PERF_EVENT, helpers[i].helper) != 1)
			append(&missing, helpers[i].name);
	if (missing)
		capability_settle(p, CAPABILITY_MISSING, xasprintf("the kernel has no %s", missing),
				  xstrdup("engine bpf needs them (all are in Linux from 5.17 on)"),
				  xstrdup(OTHER_KERNEL));
	else
		capability_ok(p, xstrdup("bpf_loop, task storage and ring buffers are there"));

	p = capability_add(c, "bpf-jit", false);
	jit = capability_number_of("/proc/sys/net/core/bpf_jit_enable");
	if (jit)
		capability_ok(p, xstrdup("BPF programs are compiled"));
	else
		capability_settle(p, CAPABILITY_LIMITED, xstrdup("BPF programs are interpreted"),
				  xstrdup("sampling costs several times more"),
				  xstrdup("sudo sysctl -w net.core.bpf_jit_enable=1"));
}

static void check_optional_tracepoints(struct capabilities *c, const struct kernel_types *types)
{
	static const struct {
		const char *name, *effect;
		const char *other, *other_effect; /* what does instead, if it is there */
	} optional[] = {
		{ .name = "sched_exit_tp",
		  .effect = "cores pay debts at ticks and at the ends of system calls only, waits "
			    "cannot be sped up, and a blocked sample's user stack is taken later",
		  .other = "irq_work_entry",
		  .other_effect = "cores that owe interrupt themselves after a task switch, which "
				  "costs more, and a blocked sample's user stack is taken later" },
		{ .name = "ipi_send_cpu",
		  .effect = "--model core cannot see who woke an idle core" },
		{ .name = "cpu_idle", .effect = "--model core cannot see when a core idles" },
		{ .name = "sched_wake_idle_without_ipi",
		  .effect = "--model core misses wake-ups of polling cores" },
		{ .name = "block_rq_issue",
		  .effect = "time of block devices is credited when they are waited for, not when "
			    "they were given work" },
		{ .name = "block_rq_complete", .effect = "the same" },
		{ .name = "hrtimer_start",
		  .effect = "timers count from the wait for them, not from their start" },
	};
	_cleanup_free_ char *missing = NULL, *effects = NULL;
	struct capability *p = capability_add(c, "tracepoints-optional", false);

	for (size_t i = 0; i < ARRAY_SIZE(optional); i++) {
		if (kernel_has_tracepoint(types, optional[i].name))
			continue;
		append(&missing, optional[i].name);
		if (!effects)
			effects = xstrdup(
				optional[i].other && kernel_has_tracepoint(types, optional[i].other)
					? optional[i].other_effect
					: optional[i].effect);
	}
	if (missing)
		capability_settle(p, CAPABILITY_LIMITED, xasprintf("the kernel has no %s", missing),
				  xstrdup(effects), NULL);
	else
		capability_ok(p, xstrdup("all optional ones are there"));
}

static void check_spin_waits(struct capabilities *c, const struct capability_probes *probes)
{
	struct capability *p = capability_add(c, "spin-waits", false);
	int r;

	if (scoz_open_allowed(probes->patched())) {
		capability_ok(p,
			      xstrdup("the kernel's patches tell waits for spin locks from work"));
		return;
	}
	r = probes->follow("mutex_spin_on_owner");
	if (r < 0)
		capability_settle(
			p, CAPABILITY_LIMITED,
			xasprintf("following a kernel function with BPF (fentry): %s", why_bpf(r)),
			xstrdup("targets in the kernel under contended locks look less worthwhile "
				"than they are"),
			r == -EPERM || r == -EACCES
				? refusal_remedy()
				: xstrdup("a kernel with CONFIG_FUNCTION_TRACER, or the patched "
					  "kernel"));
	else
		capability_ok(p, xstrdup("waits for spin locks can be told from work"));
}

/* What is needed to know a process before the records of its beginning have been read. */
static void check_brief_processes(struct capabilities *c, const struct capability_probes *probes,
				  const struct kernel_types *types)
{
	struct capability *p = capability_add(c, "brief-processes", false);
	int r = probes->follow("perf_event_mmap");

	if (r >= 0)
		capability_ok(
			p, xstrdup("libraries are known as soon as one has begun, callers without "
				   "frame pointers some 20 ms later"));
	else if (kernel_tells_mappings(types))
		capability_ok(p,
			      xstrdup("libraries and callers are known as soon as one has begun"));
	else
		capability_settle(
			p, CAPABILITY_LIMITED,
			xstrdup("the kernel does not tell when pages of a file are mapped"),
			xstrdup("in processes that are over in some 20 ms, targets in libraries "
				"and "
				"callers without frame pointers are missed"),
			xstrdup("Linux 6.9 or newer"));
}

static void check_btf(struct capabilities *c, const struct capability_probes *probes)
{
	static const char *const needed[] = {
		"sched_switch",	       "sched_waking",	   "task_newtask",
		"softirq_raise",       "softirq_entry",	   "softirq_exit",
		"irq_handler_entry",   "irq_handler_exit", "hrtimer_expire_entry",
		"hrtimer_expire_exit",
	};
	_cleanup_free_ char *path = sysroot_path("/sys/kernel/btf/vmlinux"), *missing = NULL;
	struct capability *p = capability_add(c, "btf", true);
	libbpf_print_fn_t old = libbpf_set_print(NULL);
	struct btf *btf = btf__parse_raw(path);
	const struct kernel_types types = { .btf = btf };
	int r;

	libbpf_set_print(old);
	if (!btf || libbpf_get_error(btf)) {
		capability_settle(
			p, CAPABILITY_MISSING, xasprintf("%s cannot be read", path),
			xstrdup("engine bpf needs a kernel built with CONFIG_DEBUG_INFO_BTF"),
			xstrdup(OTHER_KERNEL));
		return;
	}
	capability_ok(p, xasprintf("%u types in %s", btf__type_cnt(btf), path));

	p = capability_add(c, "tracepoints", true);
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (!kernel_has_tracepoint(&types, needed[i]))
			append(&missing, needed[i]);
	r = missing ? 0 : probes->trace("sched_switch");
	if (missing)
		capability_settle(p, CAPABILITY_MISSING, xasprintf("the kernel has no %s", missing),
				  xstrdup("engine bpf cannot account for waiting tasks"),
				  xstrdup(OTHER_KERNEL));
	else if (r < 0)
		capability_settle(p, CAPABILITY_MISSING,
				  xasprintf("tracing sched_switch with BPF: %s", why_bpf(r)),
				  xstrdup("engine bpf cannot account for waiting tasks"),
				  refusal_remedy());
	else
		capability_ok(p, xstrdup("BPF can trace the scheduler, interrupts and timers"));
	check_optional_tracepoints(c, &types);
	check_spin_waits(c, probes);
	check_brief_processes(c, probes, &types);
	btf__free(btf);
}

void capability_online_cpus(int **cpus, int *n)
{
	_cleanup_free_ char *text = capability_text_of("/sys/devices/system/cpu/online");

	*cpus = NULL;
	*n = 0;
	if (!text || cpulist_parse(text, cpus, n, NULL) < 0)
		*n = 0;
}

static void check_sample_rate(struct capability *c)
{
	static const char name[] = "/proc/sys/kernel/perf_event_max_sample_rate";
	_cleanup_free_ char *path = sysroot_path("%s", name);
	long rate = capability_number_of(name);

	if (rate < 0 || rate >= CAPABILITY_SAMPLE_RATE)
		capability_ok(c, xasprintf("at most %ld samples a second and core", rate));
	else if (!access(path, W_OK))
		capability_ok(c, xasprintf("at most %ld samples a second and core, which scozd "
					   "raises for the time of a run",
					   rate));
	else
		capability_settle(c, CAPABILITY_LIMITED,
				  xasprintf("at most %ld samples a second and core", rate),
				  xstrdup("cores that idle are sampled less often"),
				  xasprintf("sudo sysctl -w kernel.perf_event_max_sample_rate=%d",
					    CAPABILITY_SAMPLE_RATE));
}

static void check_perf(struct capabilities *c, const struct capability_probes *probes)
{
	struct capability *p = capability_add(c, "perf-cpu-clock", true);
	_cleanup_free_ char *refused = NULL;
	_cleanup_free_ int *cpus = NULL;
	int n, failed = 0, error = 0;
	long paranoid;

	capability_online_cpus(&cpus, &n);
	for (int i = 0; i < n; i++) {
		int r = probes->cpu_clock(cpus[i]);

		if (r < 0) {
			failed++;
			error = r;
		}
	}
	if (failed)
		refused = xasprintf("on %d of %d CPUs: %s", failed, n, strerror(-error));
	paranoid = capability_number_of("/proc/sys/kernel/perf_event_paranoid");
	if (failed == n || !n)
		capability_settle(
			p, CAPABILITY_MISSING,
			xasprintf("cpu-clock events fail %s", refused ? refused : "everywhere"),
			xstrdup("no core can be sampled"),
			paranoid < 0 ? xstrdup(OTHER_KERNEL) : refusal_remedy());
	else if (failed)
		capability_settle(p, CAPABILITY_LIMITED,
				  xasprintf("cpu-clock events fail %s", refused),
				  xstrdup("these cores are neither sampled nor delayed"), NULL);
	else
		capability_ok(p, xasprintf("cpu-clock events work on all %d CPUs", n));

	p = capability_add(c, "perf-paranoid", false);
	if (paranoid > 0 && !privileged())
		capability_settle(p, CAPABILITY_LIMITED,
				  xasprintf("kernel.perf_event_paranoid is %ld", paranoid),
				  xstrdup("only root may sample all processes"),
				  xstrdup("sudo scozd ..."));
	else
		capability_ok(p, xasprintf("kernel.perf_event_paranoid is %ld", paranoid));

	p = capability_add(c, "perf-sample-rate", false);
	check_sample_rate(p);
}

static void check_uprobes(struct capabilities *c)
{
	struct capability *p = capability_add(c, "uprobes", false);

	if (capability_exists("/sys/bus/event_source/devices/uprobe/type"))
		capability_ok(
			p,
			xstrdup("functions, lines, USDT probes and marks can be progress points"));
	else
		capability_settle(p, CAPABILITY_MISSING, xstrdup("the kernel has no uprobe events"),
				  xstrdup("only tracepoint: and syscall: can be progress points"),
				  xstrdup("use a kernel with CONFIG_UPROBE_EVENTS"));
}

static void check_lockdown(struct capabilities *c)
{
	_cleanup_free_ char *text = capability_text_of("/sys/kernel/security/lockdown");
	struct capability *p = capability_add(c, "lockdown", true);

	if (text && strstr(text, "[confidentiality]"))
		capability_settle(
			p, CAPABILITY_MISSING, xstrdup("kernel lockdown: confidentiality"),
			xstrdup("BPF may not read the kernel, perf may not sample it"),
			xstrdup("boot with lockdown=integrity or lockdown=none on the kernel's "
				"command line (with Secure Boot: sudo mokutil "
				"--disable-validation && sudo reboot)"));
	else
		capability_ok(p,
			      xasprintf("kernel lockdown: %s", text && strstr(text, "[integrity]")
								       ? "integrity (no obstacle)"
							       : text ? "none"
								      : "not in this kernel"));
}

static void check_other_scozd(struct capabilities *c)
{
	struct capability *p = capability_add(c, "other-scozd", true);
	_cleanup_free_ char *proc = sysroot_path("/proc"), *pids = NULL;
	DIR *dir = opendir(proc);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		_cleanup_free_ char *comm = NULL;

		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		comm = task_comm(atoi(d->d_name));
		if (comm && !strcmp(comm, "scozd"))
			append(&pids, d->d_name);
	}
	if (dir)
		closedir(dir);
	if (!pids) {
		capability_ok(p, xstrdup("no other scozd is running"));
		return;
	}
	for (char *s = pids; *s; s++)
		if (*s == ',')
			*s = ' ';
	capability_settle(p, CAPABILITY_MISSING, xasprintf("scozd is running (process %s)", pids),
			  xstrdup("two profilers would delay each other's experiments"),
			  xasprintf("wait for it, or end it: sudo kill %s", pids));
}

/* ---- what makes profiles better ------------------------------------------------------------- */

struct visible {
	int seen;
	bool any;
};

/* The first ones may really be at 0: those of per-CPU variables. */
static bool look(const struct kallsym *sym, void *arg)
{
	struct visible *v = arg;

	v->any |= sym->address != 0;
	return v->any || ++v->seen == 100;
}

static void check_kallsyms(struct capabilities *c)
{
	_cleanup_free_ char *path = sysroot_path("/proc/kallsyms");
	struct capability *p = capability_add(c, "kernel-symbols", false);
	long restricted = capability_number_of("/proc/sys/kernel/kptr_restrict");
	struct visible v = {};
	int r = kallsyms_each(look, &v);

	if (v.any)
		capability_ok(
			p,
			xasprintf("kernel functions have addresses (kernel.kptr_restrict is %ld)",
				  restricted));
	else
		capability_settle(
			p, CAPABILITY_LIMITED,
			xasprintf("%s %s", path, r ? "cannot be read" : "hides the addresses"),
			xstrdup("kernel functions have no names in profiles and cannot be targets"),
			xstrdup(restricted == 2 ? "sudo sysctl -w kernel.kptr_restrict=1"
						: "sudo scozd ..."));
}

static void check_debug_info(struct capabilities *c)
{
	struct capability *p = capability_add(c, "kernel-debug-info", false);
	_cleanup_free_ char *release = capability_text_of("/proc/sys/kernel/osrelease");
	const char *r = release ? release : "unknown";
	_cleanup_free_ char *image = xasprintf("/usr/lib/debug/boot/vmlinux-%s", r);
	_cleanup_free_ char *other = xasprintf("/usr/lib/debug/lib/modules/%s/vmlinux", r);
	_cleanup_free_ char *built = xasprintf("/lib/modules/%s/build/vmlinux", r);

	if (capability_exists(image) || capability_exists(other) || capability_exists(built))
		capability_ok(p, xasprintf("the kernel's debug information is installed (%s)", r));
	else
		capability_settle(
			p, CAPABILITY_LIMITED, xasprintf("none for kernel %s", r),
			xstrdup("targets in the kernel are functions, not lines"),
			xasprintf("sudo apt-get install linux-image-%s-dbg (where the distribution "
				  "has it); programs: their -dbgsym packages, or build with -g",
				  r));
}

static void check_tracefs(struct capabilities *c, const struct capability_probes *probes)
{
	struct capability *p = capability_add(c, "tracefs", false);
	_cleanup_free_ char *mounts = capability_text_of("/proc/mounts");

	if (mounts && strstr(mounts, " tracefs "))
		capability_ok(p, xstrdup("mounted (to look up the names of tracepoints)"));
	else
		capability_settle(p, CAPABILITY_LIMITED, xstrdup("not mounted"),
				  xstrdup(scoz_open_allowed(probes->patched())
						  ? "system calls and tracepoints cannot be "
						    "progress points"
						  : "names of tracepoint groups are not checked"),
				  xstrdup("sudo mount -t tracefs none /sys/kernel/tracing"));
}

/* With the patches nothing needs BPF any more. */
static void check_engine(struct capabilities *c, const struct capability_probes *probes)
{
	static const char *const bpf_only[] = { "btf", "tracepoints", "bpf-load", "bpf-helpers" };
	struct capability *p = capability_add(c, "patched-kernel", false);

	if (probes->patched() == -ENOSYS) {
		capability_ok(p, xstrdup("a stock kernel: engine bpf stops the cores"));
		return;
	}
	if (!scoz_open_allowed(probes->patched())) {
		capability_ok(
			p, xstrdup("it carries the scoz patches, which need root or CAP_SYS_ADMIN "
				   "outside of containers: engine bpf stops the cores"));
		return;
	}
	capability_ok(p, xasprintf("it carries the scoz patches: engine kernel stops the cores%s",
				   probes->patched() == SCOZ_BY_NODE
					   ? " (through /dev/scoz: there are no system calls)"
					   : ""));
	for (size_t i = 0; i < c->n; i++)
		for (size_t j = 0; j < ARRAY_SIZE(bpf_only); j++)
			if (!strcmp(c->list[i].id, bpf_only[j]))
				c->list[i].required = false;
}

static void check_module(struct capabilities *c, const struct capability_probes *probes)
{
	struct capability *p = capability_add(c, "module", false);
	int r = probes->module();

	if (scoz_open_allowed(probes->patched()))
		capability_ok(p, xstrdup("the patched kernel needs none"));
	else if (r > 0 && r & SCOZ_MODULE_IN_TICKS)
		capability_ok(
			p,
			xstrdup("scoz.ko is loaded: --tune kick makes cores pay at once after hits "
				"elsewhere"));
	else if (r > 0)
		capability_ok(
			p, xstrdup("scoz.ko is loaded: --tune kick makes cores pay soon after hits "
				   "elsewhere"));
	else if (r == -ENOENT)
		capability_ok(
			p,
			xstrdup("scoz.ko is not loaded; with it --tune kick makes cores pay at "
				"once "
				"after hits elsewhere, not at their next tick (docs/kernel.md)"));
	else
		capability_settle(p, CAPABILITY_LIMITED,
				  xasprintf("scoz.ko %s", scoz_module_state(r)),
				  xstrdup("scozd does without"), NULL);
}

static void check_marks(struct capabilities *c)
{
	struct capability *p = capability_add(c, "marks", false);
	_cleanup_free_ char *dir = sysroot_path("/dev/shm/scoz-marks");
	struct stat st;

	if (!capability_exists("/dev/shm"))
		capability_settle(
			p, CAPABILITY_LIMITED, xstrdup("there is no /dev/shm"),
			xstrdup("marks of <scoz.h> cost a uprobe each"),
			xstrdup("sudo mkdir /dev/shm && sudo mount -t tmpfs -o mode=1777 none "
				"/dev/shm"));
	else if (!lstat(dir, &st) && (!S_ISDIR(st.st_mode) || st.st_uid || st.st_mode & 022))
		capability_settle(p, CAPABILITY_LIMITED,
				  xasprintf("%s is not root's directory", dir),
				  xstrdup("marks of <scoz.h> cannot be counted"),
				  xasprintf("sudo rm -r %s", dir));
	else
		capability_ok(p, xstrdup("marks of <scoz.h> can be counted in memory"));
}

void capabilities_probe(const struct capability_probes *probes, struct capabilities *ret)
{
	*ret = (struct capabilities){ .can_run = true };
	check_privileges(ret);
	check_lockdown(ret);
	check_btf(ret, probes);
	check_bpf(ret, probes);
	check_perf(ret, probes);
	check_other_scozd(ret);
	check_engine(ret, probes);
	check_module(ret, probes);
	check_uprobes(ret);
	check_marks(ret);
	check_kallsyms(ret);
	check_debug_info(ret);
	check_tracefs(ret, probes);
	capabilities_of_machine(ret);
	for (size_t i = 0; i < ret->n; i++)
		if (ret->list[i].required && ret->list[i].status == CAPABILITY_MISSING)
			ret->can_run = false;
}

void capabilities_free(struct capabilities *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->list[i].found);
		free(c->list[i].effect);
		free(c->list[i].remedy);
	}
	free(c->list);
	*c = (struct capabilities){ 0 };
}

const char *capability_status_name(enum capability_status status)
{
	static const char *const names[] = { "ok", "limited", "missing" };

	return names[status];
}
