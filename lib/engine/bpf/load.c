// SPDX-License-Identifier: GPL-2.0-or-later
/* Engine `bpf`: loading, attaching and taking down the programs. */
#include "engine/bpf/bpf_engine.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The verifier's and libbpf's words, kept for the error message. */
static char libbpf_log[8192];
static size_t libbpf_log_len;

static int keep_libbpf_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	int n;

	if (level == LIBBPF_DEBUG || !fmt)
		return 0;
	if (log_level >= LOG_DEBUG) {
		va_list copy;

		va_copy(copy, ap);
		vfprintf(stderr, fmt, copy);
		va_end(copy);
	}
	n = vsnprintf(libbpf_log + libbpf_log_len, sizeof(libbpf_log) - libbpf_log_len, fmt, ap);
	if (n > 0 && libbpf_log_len + n < sizeof(libbpf_log))
		libbpf_log_len += n;
	return n;
}

/* The last line that says something, without the newline. */
static const char *libbpf_reason(void)
{
	static char line[512];
	char *p = libbpf_log, *best = NULL;

	for (char *s = strtok(p, "\n"); s; s = strtok(NULL, "\n")) {
		if (!best || strstr(s, "failed") || strstr(s, "not "))
			best = s;
	}
	snprintf(line, sizeof(line), "%s", best ? best : "no reason given");
	libbpf_log_len = 0;
	return line;
}

static bool btf_has(const struct btf *btf, const char *tracepoint)
{
	char name[128];

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	return btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) > 0;
}

static uint64_t kernel_symbol(const char *name)
{
	_cleanup_free_ char *path = sysroot_path("/proc/kallsyms");
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	char line[512], symbol[256], type;
	unsigned long long addr;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %255s", &addr, &type, symbol) == 3 &&
		    !strcmp(symbol, name))
			return addr;
	}
	return 0;
}

/* Loads only what this kernel offers and this run needs. */
static int select_programs(struct engine *e, struct error *err)
{
	struct scoz *s = e->skel;
	struct btf *btf = btf__load_vmlinux_btf();
	bool wait = e->opt.model == SCOZ_MODEL_WAIT;
	const struct {
		struct bpf_program *prog;
		const char *tracepoint;
		bool wanted, required;
	} programs[] = {
		{ s->progs.on_switch, "sched_switch", true, true },
		{ s->progs.on_waking, "sched_waking", true, true },
		{ s->progs.on_newtask, "task_newtask", true, true },
		{ s->progs.on_softirq_raise, "softirq_raise", true, true },
		{ s->progs.on_softirq_entry, "softirq_entry", true, true },
		{ s->progs.on_softirq_exit, "softirq_exit", true, true },
		{ s->progs.on_switched, "sched_exit_tp", true, false },
		{ s->progs.on_ipi, "ipi_send_cpu", !wait, false },
		{ s->progs.on_wake_without_ipi, "sched_wake_idle_without_ipi", !wait, false },
		{ s->progs.on_block_issue, "block_rq_issue", wait, false },
		{ s->progs.on_block_complete, "block_rq_complete", wait, false },
		{ s->progs.on_timer_start, "hrtimer_start", wait, false },
		{ s->progs.on_timer_expire, "hrtimer_expire_entry", true, true },
		{ s->progs.on_timer_expired, "hrtimer_expire_exit", true, true },
		{ s->progs.on_irq_handler_entry, "irq_handler_entry", true, true },
		{ s->progs.on_irq_handler_exit, "irq_handler_exit", true, true },
	};
	int ret = 0;

	if (!btf || libbpf_get_error(btf))
		return error_set(err, ENOENT,
				 "the kernel offers no type information "
				 "(/sys/kernel/btf/vmlinux): engine bpf needs a kernel built with "
				 "CONFIG_DEBUG_INFO_BTF; run `scoz doctor`");
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		bool have = btf_has(btf, programs[i].tracepoint);

		if (!have && programs[i].wanted && programs[i].required)
			ret = error_set(err, ENOENT,
					"this kernel has no tracepoint %s, which engine bpf needs; "
					"run `scoz doctor`",
					programs[i].tracepoint);
		bpf_program__set_autoload(programs[i].prog,
					  have && programs[i].wanted && e->opt.trace_tasks);
	}
	bpf_program__set_autoload(s->progs.on_sys_exit,
				  e->opt.trace_tasks && !btf_has(btf, "sched_exit_tp"));
	btf__free(btf);
	return ret;
}

static int open_events(struct engine *e, struct error *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_period = e->opt.period_ns,
		.sample_type = ENGINE_SAMPLE_TYPE,
		.disabled = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.exclude_callchain_kernel = 0,
		.watermark = 1,
		.wakeup_watermark = 64 * 1024,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.sample_max_stack = BPF_MAX_FRAMES,
	};

	for (int i = 0; i < e->opt.n_cpus; i++) {
		int fd = syscall(SYS_perf_event_open, &attr, -1, e->cpus[i], -1,
				 PERF_FLAG_FD_CLOEXEC);

		if (fd < 0)
			return error_set(
				err, errno,
				"sampling CPU %d: perf_event_open(cpu-clock): %s; scozd "
				"needs root, or CAP_PERFMON and CAP_BPF: run `scoz doctor`",
				e->cpus[i], strerror(errno));
		e->events[i] = fd;
	}
	return 0;
}

static int map_array(struct bpf_map *map, size_t entry, size_t entries, void **ret, size_t *size)
{
	long page = sysconf(_SC_PAGESIZE);
	void *p;

	*size = (entry * entries + page - 1) / page * page;
	p = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (p == MAP_FAILED)
		return -errno;
	*ret = p;
	return 0;
}

static int map_arrays(struct engine *e, struct error *err)
{
	struct scoz *s = e->skel;
	size_t size;
	int ret;

	ret = map_array(s->maps.delay_page, SCOZ_SLOT_SIZE, SCOZ_SLOT_CORE0 + e->cores,
			(void **)&e->page, &e->page_size);
	if (!ret)
		ret = map_array(s->maps.target_map, sizeof(struct bpf_target), 1,
				(void **)&e->target, &size);
	if (!ret)
		ret = map_array(s->maps.ranges, sizeof(struct target_range), BPF_MAX_RANGES,
				(void **)&e->ranges, &size);
	if (!ret)
		ret = map_array(s->maps.progress, sizeof(struct progress_count),
				(size_t)BPF_MAX_POINTS * e->cores, (void **)&e->progress,
				&e->progress_size);
	if (!ret)
		ret = map_array(s->maps.latencies, sizeof(struct latency_histogram), e->cores,
				(void **)&e->latencies, &e->latencies_size);
	if (ret)
		return error_set(err, -ret, "mapping the delay page: %s", strerror(-ret));
	return 0;
}

static void init_page(struct engine *e)
{
	struct scoz_header *h = engine_header(e);

	*h = (struct scoz_header){
		.magic = SCOZ_MAGIC,
		.version = SCOZ_VERSION,
		.slot_size = SCOZ_SLOT_SIZE,
		.cores = e->cores,
		.model = e->opt.model,
		/* The leaky bucket's burst adds up to one percent of 100 ms. */
		.max_share = e->opt.max_share > 1 ? e->opt.max_share - 1 : 1,
		.max_stop = e->opt.max_stop_ns,
		.period = e->opt.period_ns,
		.waive = e->opt.waive,
	};
	for (int i = 0; i < e->opt.n_cpus; i++)
		engine_core_slot(e, e->cpus[i])->sampled = 1;
}

/* Runs the task iterator: gives every task an account, involves those of @tgid. */
static int visit_tasks(struct engine *e, int tgid)
{
	_cleanup_close_ int fd = -1;
	struct bpf_link *link;
	char buf[64];

	e->skel->data->involve_tgid = tgid;
	link = bpf_program__attach_iter(e->skel->progs.each_task, NULL);
	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	while (fd >= 0 && read(fd, buf, sizeof(buf)) > 0)
		;
	bpf_link__destroy(link);
	return fd < 0 ? -EIO : 0;
}

int engine_involve(struct engine *e, int pid, struct error *err)
{
	int ret = visit_tasks(e, pid);

	if (ret)
		return error_set(err, -ret, "marking process %d as profiled: %s", pid,
				 strerror(-ret));
	return 0;
}

void engine_forget_sleepers(struct engine *e)
{
	int ret = e->opt.trace_tasks ? visit_tasks(e, -1) : 0;

	if (ret)
		log_debug("looking at all tasks: %s", strerror(-ret));
}

static int configure(struct engine *e, struct error *err)
{
	struct scoz *s = e->skel;

	s->rodata->model = e->opt.model;
	s->rodata->self_tgid = getpid();
	s->rodata->all_involved = e->opt.all_involved;
	s->rodata->measure_latency = e->opt.measure_latency;
	s->rodata->timerfd_function = kernel_symbol("timerfd_tmrproc");
	s->rodata->posix_timer_function = kernel_symbol("posix_timer_fn");
	s->rodata->itimer_function = kernel_symbol("it_real_fn");
	s->rodata->sleep_function = kernel_symbol("hrtimer_wakeup");
	s->rodata->clock_nanosleep_number = SYS_clock_nanosleep;
	for (int i = 0; i < BPF_TRACEPOINTS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "on_tracepoint_%d", i);
		bpf_program__set_autoattach(bpf_object__find_program_by_name(s->obj, name), false);
	}
	bpf_program__set_autoattach(s->progs.on_tick, false);
	bpf_program__set_autoattach(s->progs.on_uprobe, false);
	bpf_program__set_autoattach(s->progs.on_syscall, false);
	bpf_program__set_autoattach(s->progs.each_task, false);
	bpf_map__set_max_entries(s->maps.delay_page, SCOZ_SLOT_CORE0 + e->cores);
	bpf_map__set_max_entries(s->maps.progress, BPF_MAX_POINTS * e->cores);
	bpf_map__set_max_entries(s->maps.latencies, e->cores);
	return select_programs(e, err);
}

static void set_record_share(struct engine *e)
{
	double share = e->opt.record_hz * engine_header(e)->period / NSEC_PER_SEC;

	e->skel->data->record_share = share >= 1 ? UINT32_MAX : share * UINT32_MAX;
}

int engine_create(const struct engine_options *opt, struct engine **ret, struct error *err)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct engine *e;
	int r;

	if (!strcmp(opt->name, "kernel"))
		return error_set(err, ENOTSUP,
				 "--engine kernel: this kernel does not carry the scoz patches; "
				 "use --engine bpf, which needs none");
	e = xcalloc(1, sizeof(*e));
	e->opt = *opt;
	pthread_mutex_init(&e->publish_lock, NULL);
	e->cpus = xcalloc(opt->n_cpus, sizeof(*e->cpus));
	memcpy(e->cpus, opt->cpus, opt->n_cpus * sizeof(*e->cpus));
	e->events = xcalloc(opt->n_cpus, sizeof(*e->events));
	for (int i = 0; i < opt->n_cpus; i++)
		e->events[i] = -1;
	libbpf_set_print(keep_libbpf_log);
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	e->cores = libbpf_num_possible_cpus();
	r = open_events(e, err);
	if (r)
		goto fail;
	e->skel = scoz__open();
	if (!e->skel) {
		r = error_set(err, EINVAL, "engine bpf: %s", libbpf_reason());
		goto fail;
	}
	r = configure(e, err);
	if (r)
		goto fail;
	r = scoz__load(e->skel);
	if (r) {
		r = error_set(err, -r, "engine bpf: the kernel refuses the programs: %s; %s",
			      libbpf_reason(), "run `scoz doctor` to see what is missing");
		goto fail;
	}
	r = map_arrays(e, err);
	if (r)
		goto fail;
	init_page(e);
	set_record_share(e);
	r = visit_tasks(e, -1);
	if (!r)
		r = scoz__attach(e->skel);
	if (!r) /* again: tasks born before task_newtask was attached */
		r = visit_tasks(e, -1);
	if (r) {
		r = error_set(err, -r, "engine bpf: attaching the programs: %s", libbpf_reason());
		goto fail;
	}
	for (int i = 0; i < opt->n_cpus; i++) {
		if (ioctl(e->events[i], PERF_EVENT_IOC_SET_BPF,
			  bpf_program__fd(e->skel->progs.on_tick))) {
			r = error_set(err, errno, "engine bpf: sampling CPU %d: %s", e->cpus[i],
				      strerror(errno));
			goto fail;
		}
	}
	*ret = e;
	return 0;
fail:
	engine_destroy(e);
	return r;
}

int engine_start(struct engine *e, struct error *err)
{
	for (int i = 0; i < e->opt.n_cpus; i++) {
		if (ioctl(e->events[i], PERF_EVENT_IOC_ENABLE, 0))
			return error_set(err, errno, "sampling CPU %d: %s", e->cpus[i],
					 strerror(errno));
	}
	return 0;
}

void engine_destroy(struct engine *e)
{
	if (!e)
		return;
	if (e->page) {
		engine_set_speedup(e, 0);
		__atomic_store_n(&engine_header(e)->lease_until, 0, __ATOMIC_SEQ_CST);
	}
	for (size_t i = 0; i < e->n_links; i++)
		bpf_link__destroy(e->links[i]);
	free(e->links);
	for (int i = 0; i < e->opt.n_cpus; i++) {
		if (e->events[i] >= 0)
			close(e->events[i]);
	}
	if (e->skel)
		scoz__destroy(e->skel);
	if (e->page)
		munmap(e->page, e->page_size);
	if (e->target)
		munmap(e->target, sysconf(_SC_PAGESIZE));
	if (e->ranges)
		munmap(e->ranges, BPF_MAX_RANGES * sizeof(*e->ranges));
	if (e->progress)
		munmap(e->progress, e->progress_size);
	if (e->latencies)
		munmap(e->latencies, e->latencies_size);
	free(e->cpus);
	free(e->events);
	free(e);
}

const char *engine_name(const struct engine *e)
{
	(void)e;
	return "bpf";
}

int engine_event_fd(const struct engine *e, int i)
{
	return e->events[i];
}

int engine_set_period(struct engine *e, int i, uint64_t period_ns)
{
	return ioctl(e->events[i], PERF_EVENT_IOC_PERIOD, &period_ns) ? -errno : 0;
}

void engine_set_nominal_period(struct engine *e, uint64_t period_ns)
{
	e->opt.period_ns = period_ns;
	__atomic_store_n(&engine_header(e)->period, period_ns, __ATOMIC_RELAXED);
	set_record_share(e);
}
