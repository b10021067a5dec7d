// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Engine `kernel`: a kernel with the scoz patches does the sampling, accounting and stopping; this
 * opens its session, hands the perf events over and tells it what the target is. The session ends
 * when its descriptor closes, however this process dies.
 */
#include "account/account.h"
#include "engine/kernel/kernel_engine.h"

#include "host/namespaces.h"
#include "host/scoz_syscalls.h"

#include <linux/audit.h>
#include <linux/scoz_target.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * In the wait model tasks are held back and stops are not charged to them
 * (docs/accuracy/simulator.md says what that brings); in the core model it is as published.
 */
static uint32_t choose_flags(const struct engine_options *opt, uint64_t features)
{
	uint32_t usual = opt->model == SCOZ_MODEL_WAIT ? SCOZ_F_DEFER | SCOZ_F_CREDIT
						       : SCOZ_F_CATCH_UP | SCOZ_F_EXCLUDE;

	usual &= features;
	if (opt->batch)
		return ((usual & ~SCOZ_F_DEFER) | opt->flags | SCOZ_F_HANDLER) & ~opt->no_flags;
	return (usual | opt->flags) & ~opt->no_flags;
}

static int open_session(struct kernel_engine *k, struct error *err)
{
	struct scoz_open_args args = { .version = SCOZ_VERSION };
	struct engine *e = &k->base;

	k->fd = scoz_open(&args, &k->by_node);
	switch (k->fd) {
	case -ENOSYS:
		return error_set(err, ENOTSUP,
				 "--engine kernel: this kernel does not carry the scoz patches "
				 "(docs/kernel.md tells how to build one that does); use --engine "
				 "bpf, which needs none");
	case -EPERM:
		return error_set(err, EPERM,
				 "opening the kernel's scoz session: %s; engine kernel needs "
				 "root, or CAP_SYS_ADMIN, outside of containers; engine bpf does "
				 "with CAP_BPF and CAP_PERFMON",
				 strerror(EPERM));
	case -EINVAL:
		return error_set(err, ENOTSUP,
				 "the kernel's scoz patches are of another version (the delay page "
				 "of this scozd is version %d): use those that came with this "
				 "scozd, or --engine bpf",
				 SCOZ_VERSION);
	case -EBUSY:
		return error_set(err, EBUSY,
				 "opening the kernel's scoz session: another profiler has it; "
				 "only one can stop the cores of a machine");
	}
	if (k->fd < 0)
		return error_set(err, -k->fd, "opening the kernel's scoz session: %s",
				 strerror(-k->fd));
	if (args.slot_size != SCOZ_SLOT_SIZE)
		return error_set(err, ENOTSUP,
				 "the kernel's scoz patches are of another version (delay page "
				 "slots of %u bytes, %d expected): use those that came with this "
				 "scozd",
				 args.slot_size, SCOZ_SLOT_SIZE);
	e->opt.flags = choose_flags(&e->opt, args.features);
	if (e->opt.flags & ~args.features)
		return error_set(err, ENOTSUP,
				 "--tune: this kernel's scoz patches do not offer all of that "
				 "(asked for %#x, offered %#llx)",
				 e->opt.flags, (unsigned long long)args.features);
	e->cores = args.cores;
	k->length = args.length;
	k->features = args.features;
	e->page = mmap(NULL, args.length, PROT_READ | PROT_WRITE, MAP_SHARED, k->fd, 0);
	if (e->page == MAP_FAILED) {
		e->page = NULL;
		return error_set(err, errno, "mapping the delay page: %s", strerror(errno));
	}
	e->counts = (struct scoz_count *)(e->page + args.counts);
	e->latencies = (struct scoz_latency *)(e->page + args.latencies);
	return 0;
}

static int attach_events(struct kernel_engine *k, struct error *err)
{
	struct engine *e = &k->base;
	int ret = engine_open_events(e, err);

	for (int i = 0; !ret && i < e->opt.n_cpus; i++) {
		struct scoz_event tick = { .fd = e->events[i], .role = SCOZ_EVENT_TICK };

		if (e->opt.trace_tasks && ioctl(k->fd, SCOZ_IOC_EVENT, &tick))
			ret = error_set(err, errno, "engine kernel: sampling CPU %d: %s",
					e->cpus[i], strerror(errno));
	}
	return ret;
}

static int create(const struct engine_options *opt, struct engine **ret, struct error *err)
{
	int r = namespaces_check("engine kernel", err);
	struct kernel_engine *k;
	struct engine *e;

	if (r)
		return r;
	k = xcalloc(1, sizeof(*k));
	e = &k->base;
	engine_init(e, &engine_kernel, opt);
	k->fd = -1;
	told_init(&k->told);
	r = open_session(k, err);
	if (!r) {
		engine_init_page(e);
		r = attach_events(k, err);
	}
	if (r) {
		engine_destroy(e);
		return r;
	}
	*ret = e;
	return 0;
}

static int enable(struct engine *e, struct error *err)
{
	if (!e->opt.trace_tasks || !ioctl(kernel_engine(e)->fd, SCOZ_IOC_ENABLE))
		return 0;
	return error_set(err, errno, "engine kernel: starting the session: %s", strerror(errno));
}

static void destroy(struct engine *e)
{
	struct kernel_engine *k = kernel_engine(e);

	for (size_t i = 0; i < k->n_sites; i++)
		close(k->sites[i]);
	free(k->sites);
	told_deinit(&k->told);
	if (e->page)
		munmap(e->page, k->length);
	if (k->fd >= 0)
		close(k->fd);
}

/* 1: it can only be known by its functions. */
static int set_syscall(struct engine *e, struct error *err)
{
	struct scoz_syscall call = { .arch = KERNEL_NATIVE_ARCH, .number = e->call[0] };

	if (e->opt.batch) /* a call chain does not tell the number */
		return 1;
	if (!ioctl(kernel_engine(e)->fd, SCOZ_IOC_SYSCALL, &call))
		return 0;
	if (errno == ENOTTY || errno == EOPNOTSUPP) /* patches from before, another architecture */
		return 1;
	return error_set(err, errno, "engine kernel: setting system call %d as target: %s",
			 e->call[0], strerror(errno));
}

static int set_target(struct engine *e, const struct scoz_part *parts, int n,
		      const struct scoz_range *ranges, size_t n_ranges, struct error *err)
{
	struct scoz_target t = {
		.n_parts = n,
		.n_ranges = n_ranges,
		.parts = (uintptr_t)parts,
		.ranges = (uintptr_t)ranges,
	};

	for (int i = 0; i < n; i++) {
		if (parts[i].binary != MAPS_KERNEL_ID && !parts[i].ino)
			return error_set(err, ENOTSUP,
					 "engine kernel knows code by the file in which it lies, "
					 "and this one is made while the program runs: use "
					 "--engine bpf");
	}
	if (e->n_calls) {
		int ret = set_syscall(e, err);

		if (ret <= 0)
			return ret;
		e->by_functions = true;
		if (!n_ranges)
			return error_set(err, ENOENT,
					 "engine kernel knows a system call by its functions %s, "
					 "and this one has none of its own name: use --engine bpf, "
					 "or kernel:FUNCTION",
					 e->opt.batch ? "with --batch" : "on this kernel");
	}
	if (!ioctl(kernel_engine(e)->fd, SCOZ_IOC_TARGET, &t))
		return 0;
	return error_set(err, errno, "engine kernel: setting a target of %zu address ranges: %s",
			 n_ranges, strerror(errno));
}

static bool set_control(struct engine *e, bool on)
{
	/* Handlers that match by themselves know nothing of it, nor do patches from before. */
	if (e->opt.batch || !(kernel_engine(e)->features & SCOZ_F_CONTROL))
		return false;
	__atomic_store_n(&engine_header(e)->flags, e->opt.flags | (on ? SCOZ_F_CONTROL : 0),
			 __ATOMIC_RELAXED);
	return true;
}

static void set_record_share(struct engine *e, uint32_t share)
{
	/* Handlers that match by themselves need every sample. */
	__atomic_store_n(&engine_header(e)->record_share, e->opt.batch ? UINT32_MAX : share,
			 __ATOMIC_RELAXED);
}

static int tell_mapping(const struct scoz_mapping *m, void *arg)
{
	if (!ioctl(kernel_engine(arg)->fd, SCOZ_IOC_MAP, m))
		return 0;
	log_debug("telling the kernel where process %u maps a binary: %s", m->tgid,
		  strerror(errno));
	return -errno;
}

static int publish_mapping(struct engine *e, uint32_t binary, const struct maps_mapping *m)
{
	const struct scoz_mapping mapping = { m->pid, binary, m->start, m->end, m->bias };
	int r = told_put(&kernel_engine(e)->told, &mapping, tell_mapping, e);

	return r == -ENOSPC ? -E2BIG : r;
}

static void withdraw_mapping(struct engine *e, uint32_t binary, const struct maps_mapping *m)
{
	told_withdraw(&kernel_engine(e)->told, m->pid, binary, m->start, m->end, tell_mapping, e);
}

static void forget_process(struct engine *e, int pid)
{
	uint32_t tgid = pid;

	told_forget(&kernel_engine(e)->told, pid);
	ioctl(kernel_engine(e)->fd, SCOZ_IOC_FORGET, &tgid);
}

static int involve(struct engine *e, int pid)
{
	uint32_t tgid = pid;

	return ioctl(kernel_engine(e)->fd, SCOZ_IOC_INVOLVE, &tgid) ? -errno : 0;
}

static int forget_sleepers(struct engine *e)
{
	return ioctl(kernel_engine(e)->fd, SCOZ_IOC_SWEEP) ? -errno : 0;
}

/* The SCOZ paper's way: local and global delay in the shared page, then the system call. */
void engine_account_batch(struct engine *e, int i, uint64_t hits)
{
	struct scoz_core *c = engine_core_slot(e, e->cpus[i]);
	struct scoz_header *h = engine_header(e);
	struct scoz_global *g = engine_global(e);
	int64_t d = scoz_lump(h->period, h->speedup);

	if (hits && clock_now_ns() < h->lease_until) {
		__atomic_add_fetch(&c->absorbed, d * hits, __ATOMIC_RELAXED);
		__atomic_add_fetch(&c->own, d * hits, __ATOMIC_RELAXED);
		__atomic_add_fetch(&c->hits, hits, __ATOMIC_RELAXED);
		__atomic_add_fetch(&g->delay, d * hits, __ATOMIC_RELAXED);
		__atomic_add_fetch(&g->hits, hits, __ATOMIC_RELAXED);
	}
	scoz_delay(kernel_engine(e)->fd, kernel_engine(e)->by_node);
}

const struct engine_backend engine_kernel = {
	.name = "kernel",
	.create = create,
	.destroy = destroy,
	.enable = enable,
	.set_target = set_target,
	.set_record_share = set_record_share,
	.set_control = set_control,
	.publish_mapping = publish_mapping,
	.withdraw_mapping = withdraw_mapping,
	.forget_process = forget_process,
	.involve = involve,
	.forget_sleepers = forget_sleepers,
	.add_site = kernel_add_site,
	.count_user = kernel_count_user,
};
