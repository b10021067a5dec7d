// SPDX-License-Identifier: GPL-2.0-or-later
/* What both engines do alike: the delay page, targets and points, the ledger. */
#include "engine/backend.h"
#include "host/scoz_syscalls.h"
#include "engine/ledger.h"
#include "engine/span_bins.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

void engine_init(struct engine *e, const struct engine_backend *backend,
		 const struct engine_options *opt)
{
	e->backend = backend;
	e->opt = *opt;
	pthread_rwlock_init(&e->target_lock, NULL);
	e->cpus = xcalloc(opt->n_cpus, sizeof(*e->cpus));
	memcpy(e->cpus, opt->cpus, opt->n_cpus * sizeof(*e->cpus));
	e->events = xcalloc(opt->n_cpus, sizeof(*e->events));
	for (int i = 0; i < opt->n_cpus; i++)
		e->events[i] = -1;
	e->unwind_maps = (struct unwind_maps){ -1, -1, -1, -1 };
}

static void set_record_share(struct engine *e)
{
	double share = e->opt.record_hz * engine_header(e)->period / NSEC_PER_SEC;

	e->backend->set_record_share(e, share >= 1 ? UINT32_MAX : share * UINT32_MAX);
}

void engine_init_page(struct engine *e)
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
		.flags = e->opt.flags,
		.latency = e->opt.measure_latency,
	};
	for (int i = 0; i < e->opt.n_cpus; i++)
		engine_core_slot(e, e->cpus[i])->sampled = 1;
	set_record_share(e);
}

bool engine_knows_classes(const struct engine *e)
{
	return e->backend->waits && e->backend->waits(e) && e->opt.model == SCOZ_MODEL_WAIT;
}

static int refuse_classes(const struct engine *e, struct error *err)
{
	return error_set(err, ENOTSUP,
			 "engine %s cannot speed up classes here, only code: use --engine bpf and "
			 "--model wait, on a kernel that has the tracepoint sched_exit_tp (6.15 "
			 "and later) or irq_work_entry (x86)",
			 engine_name(e));
}

bool engine_takes_kernel(const struct engine_options *opt, bool allowed)
{
	bool ways = (opt->flags | opt->no_flags) & ~SCOZ_F_KICK || opt->batch;
	const char *what = opt->classes ? "targets that are no code"
			   : opt->waits ? "--waits"
					: NULL;

	if (strcmp(opt->name, "auto"))
		return !strcmp(opt->name, "kernel");
	if (!allowed || !what || ways || opt->model != SCOZ_MODEL_WAIT)
		return allowed;
	log_info("engine bpf, for %s: engine kernel, which this kernel has, speeds up code only",
		 what);
	return false;
}

int engine_create(const struct engine_options *opt, struct engine **ret, struct error *err)
{
	bool allowed = !strcmp(opt->name, "auto") && scoz_open_allowed(scoz_open_probe());
	bool kernel = engine_takes_kernel(opt, allowed);
	int r;

	if (!kernel && ((opt->flags | opt->no_flags) & ~SCOZ_F_KICK || opt->batch))
		return error_set(err, ENOTSUP,
				 "--%s needs engine kernel, that is a kernel with the scoz patches "
				 "(docs/kernel.md); engine bpf has no such way",
				 opt->batch ? "batch" : "tune");
	if (kernel && opt->no_ways)
		return error_set(
			err, ENOTSUP,
			"--tune: no-switch-exit, no-self-interrupt, no-spread and no-module are "
			"for "
			"--engine bpf: engine kernel always stops cores right after the task "
			"switch");
	r = (kernel ? &engine_kernel : &engine_bpf)->create(opt, ret, err);
	if (!r && opt->classes && !engine_knows_classes(*ret)) {
		r = refuse_classes(*ret, err);
		engine_destroy(*ret);
		*ret = NULL;
	}
	return r;
}

int engine_start(struct engine *e, struct error *err)
{
	int ret = e->backend->enable ? e->backend->enable(e, err) : 0;

	for (int i = 0; !ret && i < e->opt.n_cpus; i++) {
		if (ioctl(e->events[i], PERF_EVENT_IOC_ENABLE, 0))
			ret = error_set(err, errno, "sampling CPU %d: %s", e->cpus[i],
					strerror(errno));
	}
	return ret;
}

void engine_destroy(struct engine *e)
{
	if (!e)
		return;
	if (e->page) {
		engine_set_speedup(e, 0);
		__atomic_store_n(&engine_header(e)->lease_until, 0, __ATOMIC_SEQ_CST);
	}
	for (int i = 0; i < e->opt.n_cpus; i++) {
		if (e->events[i] >= 0)
			close(e->events[i]);
	}
	e->backend->destroy(e);
	pthread_rwlock_destroy(&e->target_lock);
	free(e->ranges);
	free(e->cpus);
	free(e->events);
	free(e);
}

const char *engine_name(const struct engine *e)
{
	return e->backend->name;
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

/* ---- targets ---- */

static size_t collect(const struct engine_part *from, int n, struct scoz_part *parts,
		      struct scoz_range *ranges)
{
	size_t total = 0;

	for (int i = 0; i < n; i++) {
		parts[i] = (struct scoz_part){
			.binary = from[i].binary,
			.first = total,
			.n = from[i].ranges->n,
			.code_vaddr = from[i].code_vaddr,
			.dev = file_id_dev(&from[i].file),
			.ino = from[i].file.ino,
		};
		for (size_t j = 0; j < from[i].ranges->n; j++)
			ranges[total++] = (struct scoz_range){ from[i].ranges->r[j].start,
							       from[i].ranges->r[j].end };
	}
	return total;
}

int engine_set_target(struct engine *e, const struct engine_part *parts, int n, struct error *err)
{
	struct scoz_range *ranges, *old;
	size_t total = 0;
	int ret;

	if (n > SCOZ_MAX_PARTS)
		return error_set(err, E2BIG,
				 "the target spans %d binaries, at most %d are possible", n,
				 SCOZ_MAX_PARTS);
	for (int i = 0; i < n; i++) {
		if (parts[i].classes && !engine_knows_classes(e))
			return refuse_classes(e, err);
		total += parts[i].ranges->n;
	}
	if (total > SCOZ_MAX_RANGES)
		return error_set(err, E2BIG,
				 "the target has %zu address ranges, at most %d are possible: "
				 "narrow it (what header files hold is inlined everywhere: name "
				 "one of them, or a directory of few)",
				 total, SCOZ_MAX_RANGES);
	/* Ticks may be reading the old target: with no speedup they insert nothing. */
	__atomic_store_n(&engine_header(e)->speedup, 0, __ATOMIC_SEQ_CST);
	ranges = xcalloc(total + 1, sizeof(*ranges));
	pthread_rwlock_wrlock(&e->target_lock);
	collect(parts, n, e->part, ranges);
	e->n_parts = n;
	e->by_functions = false;
	e->classes = 0;
	e->seen = false;
	e->n_calls = 0;
	e->n_tasks = 0;
	e->disk = 0;
	e->peer = (struct engine_peer){};
	for (int i = 0; i < n; i++) {
		e->code[i] = parts[i].code;
		e->generation[i] = parts[i].file.generation;
		e->classes |= parts[i].classes;
		e->disk |= parts[i].disk;
		if (parts[i].classes & ENGINE_CLASS_PEER)
			e->peer = parts[i].peer;
		if (parts[i].whose != ENGINE_ALL) {
			struct engine_tasks *tasks = &e->tasks[e->n_tasks++];

			*tasks = (struct engine_tasks){ parts[i].whose, parts[i].number, "" };
			if (parts[i].comm)
				snprintf(tasks->comm, sizeof(tasks->comm), "%s", parts[i].comm);
		}
		if (parts[i].by_syscall)
			e->call[e->n_calls++] = parts[i].syscall;
	}
	old = e->ranges;
	e->ranges = ranges;
	pthread_rwlock_unlock(&e->target_lock);
	free(old);
	ret = e->backend->set_target(e, e->part, n, ranges, total, err);
	__atomic_add_fetch(&engine_header(e)->experiment, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return ret;
}

void engine_set_rank(struct engine *e, int pid, int rank)
{
	if (e->backend->set_rank)
		e->backend->set_rank(e, pid, rank);
}

int engine_count_user(struct engine *e, uid_t uid)
{
	return e->backend->count_user(e, uid);
}

bool engine_counts_all_users(const struct engine *e)
{
	return e->all_users;
}

bool engine_speeds_waits(const struct engine *e)
{
	return engine_knows_classes(e) &&
	       (e->classes ? (e->classes & ~ENGINE_CLASS_ON) != 0 : e->opt.waits);
}

enum engine_seen engine_can_see(const struct engine *e, uint32_t classes, bool calls)
{
	if (!engine_knows_classes(e) || e->opt.no_ways & (ENGINE_SPREAD | ENGINE_SEEN))
		return ENGINE_SAMPLED;
	if (classes)
		return classes & ENGINE_CLASS_ON ? ENGINE_SEEN_TASKS : ENGINE_SEEN_WAITS;
	return calls ? ENGINE_SEEN_CALLS : ENGINE_SAMPLED;
}

int engine_cpus(const struct engine *e)
{
	return e->opt.n_cpus;
}

bool engine_can_see_functions(const struct engine *e)
{
	return e->backend->add_bounds && e->opt.model == SCOZ_MODEL_WAIT &&
	       !(e->opt.no_ways & (ENGINE_SPREAD | ENGINE_SEEN));
}

static int add_bounds(struct engine *e, const struct engine_bounds *bounds, size_t n, bool ends,
		      struct error *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < n; i++)
		r = e->backend->add_bounds(e, &bounds[i], ends, err);
	if (r)
		engine_sample_target(e);
	return r;
}

int engine_count_calls(struct engine *e, const struct engine_bounds *bounds, size_t n,
		       struct error *err)
{
	return add_bounds(e, bounds, n, false, err);
}

int engine_see_target(struct engine *e, const struct engine_bounds *bounds, size_t n,
		      struct error *err)
{
	int r = add_bounds(e, bounds, n, true, err);

	if (!r) {
		e->backend->see_functions(e, true);
		e->seen = true;
	}
	return r;
}

void engine_sample_target(struct engine *e)
{
	if (e->backend->see_functions)
		e->backend->see_functions(e, false);
	e->seen = false;
}

static struct engine_crossed crossed(const struct engine *e, int i)
{
	struct engine_crossed ret = {};

	e->backend->read_bounds(e, e->cpus[i], &ret);
	return ret;
}

uint64_t engine_target_calls(const struct engine *e, int i)
{
	return crossed(e, i).calls;
}

void engine_target_doubts(const struct engine *e, uint64_t *agreed, uint64_t *differed)
{
	*agreed = *differed = 0;
	for (int i = 0; i < e->opt.n_cpus; i++) {
		struct engine_crossed x = crossed(e, i);

		*agreed += x.agreed;
		*differed += x.differed;
	}
}

bool engine_sees_hits(const struct engine *e)
{
	return e->seen;
}

bool engine_target_by_functions(const struct engine *e)
{
	return e->by_functions;
}

bool engine_set_control(struct engine *e, bool on)
{
	return e->backend->set_control && e->backend->set_control(e, on);
}

void engine_set_speedup(struct engine *e, double speedup)
{
	uint32_t s = speedup <= 0   ? 0
		     : speedup >= 1 ? SCOZ_SPEEDUP_ONE
				    : (uint32_t)(speedup * SCOZ_SPEEDUP_ONE + 0.5);

	__atomic_add_fetch(&engine_header(e)->experiment, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&engine_header(e)->speedup, s, __ATOMIC_SEQ_CST);
}

static bool in_part(const struct scoz_range *range, uint32_t n, uint64_t vaddr)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (vaddr < range[mid].start)
			hi = mid;
		else if (vaddr >= range[mid].end)
			lo = mid + 1;
		else
			return true;
	}
	return false;
}

bool engine_matches(struct engine *e, uint32_t binary, uint64_t vaddr)
{
	bool matches = false;

	pthread_rwlock_rdlock(&e->target_lock);
	for (int i = 0; i < e->n_parts && !matches; i++)
		matches = e->part[i].binary == binary &&
			  in_part(e->ranges + e->part[i].first, e->part[i].n, vaddr);
	pthread_rwlock_unlock(&e->target_lock);
	return matches;
}

const struct unwind_maps *engine_unwind_maps(const struct engine *e)
{
	return e->unwind_maps.tables >= 0 ? &e->unwind_maps : NULL;
}

bool engine_unwind_refused(const struct engine *e)
{
	return e->unwind_refused;
}

int engine_set_polling(struct engine *e, uint32_t table, uint32_t role,
		       const struct scoz_poll_range *ranges, size_t n)
{
	return e->backend->set_polling ? e->backend->set_polling(e, table, role, ranges, n)
				       : -ENOTSUP;
}

int engine_publish_mapping(struct engine *e, uint32_t binary, const struct maps_mapping *m)
{
	return e->backend->publish_mapping(e, binary, m);
}

void engine_withdraw_mapping(struct engine *e, uint32_t binary, const struct maps_mapping *m)
{
	e->backend->withdraw_mapping(e, binary, m);
}

void engine_forget_process(struct engine *e, int pid)
{
	e->backend->forget_process(e, pid);
}

void engine_forget_image(struct engine *e, int pid)
{
	if (e->backend->forget_image)
		e->backend->forget_image(e, pid);
	else
		e->backend->forget_process(e, pid);
}

int engine_involve(struct engine *e, int pid, struct error *err)
{
	int ret = e->backend->involve(e, pid);

	if (ret)
		return error_set(err, -ret, "marking process %d as profiled: %s", pid,
				 strerror(-ret));
	return 0;
}

void engine_forget_sleepers(struct engine *e)
{
	int ret = e->opt.trace_tasks ? e->backend->forget_sleepers(e) : 0;

	if (ret)
		log_debug("looking at all tasks: %s", strerror(-ret));
}

/* ---- progress ---- */

int engine_add_point(struct engine *e, const struct engine_point *p, int *id, struct error *err)
{
	bool first = *id < 0;
	void *code;
	int ret;

	if (first) {
		if (e->n_points == SCOZ_MAX_POINTS)
			return error_set(err, E2BIG, "at most %d progress points are possible",
					 SCOZ_MAX_POINTS);
		*id = e->n_points++;
	}
	code = p->kind == ENGINE_UPROBE ? engine_map_code(p->fd, p->offset) : NULL;
	ret = e->backend->add_site(e, p, *id, first, err);
	engine_unmap_code(code);
	return ret;
}

bool engine_withdraw_site(struct engine *e)
{
	if (e->backend->withdraw_site)
		e->backend->withdraw_site(e);
	return e->backend->withdraw_site;
}

int engine_point_others(const struct engine *e, int id, char (*names)[16], int max)
{
	return e->backend->point_others ? e->backend->point_others(e, id, names, max) : 0;
}

void engine_read_point(const struct engine *e, int id, struct engine_count *ret)
{
	*ret = (struct engine_count){};
	for (int cpu = 0; cpu < e->cores; cpu++) {
		struct scoz_count c = SHARED_COPY(&e->counts[(size_t)cpu * SCOZ_MAX_POINTS + id]);

		ret->visits += c.visits;
		ret->sum_time += c.sum_time;
		if (c.last_time > ret->last_time) {
			ret->last_time = c.last_time;
			ret->last_virtual = c.last_virtual;
		}
	}
}

bool engine_spans(const struct engine *e, int latency, uint64_t *ret)
{
	if (e->spans)
		shared_read(ret, &e->spans[(size_t)latency * SPAN_SLOT], SPAN_SLOT);
	return e->spans;
}

bool engine_underway(const struct engine *e, int latency, struct engine_underway *ret)
{
	uint64_t n[SPAN_UNBEGUN_NS + 1 - SPAN_UNDERWAY];

	*ret = (struct engine_underway){};
	if (!e->spans)
		return false;
	shared_read(n, &e->spans[(size_t)latency * SPAN_SLOT + SPAN_UNDERWAY], ARRAY_SIZE(n));
	ret->underway = n[0];
	ret->again = n[SPAN_AGAIN - SPAN_UNDERWAY];
	ret->again_ns = n[SPAN_AGAIN_NS - SPAN_UNDERWAY];
	ret->unbegun = n[SPAN_UNBEGUN - SPAN_UNDERWAY];
	ret->unbegun_ns = n[SPAN_UNBEGUN_NS - SPAN_UNDERWAY];
	return true;
}

/* ---- the ledger ---- */

int64_t engine_delay(const struct engine *e)
{
	return __atomic_load_n(&engine_global(e)->delay, __ATOMIC_RELAXED);
}

struct scoz_core engine_core(const struct engine *e, int i)
{
	return SHARED_COPY(engine_core_slot(e, e->cpus[i]));
}

/* By switches: those tell of all CPUs. */
static void read_elsewhere(const struct engine *e, struct engine_ledger *ret)
{
	uint64_t most = 0;

	for (int cpu = 0; cpu < e->cores; cpu++) {
		struct scoz_core c = SHARED_COPY(engine_core_slot(e, cpu));

		if (c.sampled)
			continue;
		ret->elsewhere += c.ran;
		if (c.ran > most) {
			most = c.ran;
			ret->elsewhere_most = cpu;
		}
	}
}

static void read_ledger_once(const struct engine *e, struct engine_ledger *ret)
{
	struct scoz_global g = SHARED_COPY(engine_global(e));
	uint64_t now = clock_now_ns();

	*ret = (struct engine_ledger){ .delay = g.delay, .waived = g.waived, .hits = g.hits };
	if (e->backend->others_hits)
		ret->others_hits = e->backend->others_hits(e);
	for (int i = 0; i < e->opt.n_cpus; i++) {
		struct scoz_core c = engine_core(e, i);

		ret->own += c.own;
		ret->stopped += c.stopped;
		ret->asked += c.asked;
		ret->excused += c.excused;
		ret->overhead += c.overhead;
		ret->owed += ret->delay - c.absorbed;
		ret->ticks += c.ticks;
		ret->stops += c.stops;
		ret->capped += c.capped;
		ret->clipped += c.clipped;
		ret->no_task += c.no_task;
		ret->ran += c.ran;
		ret->idle += c.in_idle;
		if (c.idle && c.idle_since < now)
			ret->idle += now - c.idle_since;
		ret->syncs += c.syncs;
		ret->spins += c.spins;
		ret->spun += c.spun;
		ret->external_waited += c.external_waited;
		ret->external_waits += c.external_waits;
		ret->crowded += c.crowded;
		ret->absolute_waits += c.absolute_waits;
		ret->queued += c.queued;
		ret->unawaited += c.unawaited;
		ret->deferred += c.deferred;
		ret->kicks += c.kicks;
	}
	read_elsewhere(e, ret);
	if (e->backend->read_target_time)
		e->backend->read_target_time(e, ret);
}

#define LEDGER_READS 4

/* Of one moment, as far as can be had: while it is read more may be inserted. */
void engine_read_ledger(const struct engine *e, struct engine_ledger *ret)
{
	for (int i = 0; i < LEDGER_READS; i++) {
		read_ledger_once(e, ret);
		if (ret->delay == engine_delay(e))
			return;
	}
}

#define LEDGER_LOOKS   20 /* a core may be in the middle of a switch */
#define LEDGER_LOOK_US 1000

static int check_ledger_once(const struct engine *e, uint64_t elapsed_ns, struct error *err)
{
	struct scoz_global g = SHARED_COPY(engine_global(e));
	struct ledger_sums sums = { .delay = g.delay,
				    .waived = g.waived,
				    .elapsed_ns = elapsed_ns };
	int64_t stopped = 0;

	for (int cpu = 0; cpu < e->cores; cpu++) {
		struct scoz_core c = SHARED_COPY(engine_core_slot(e, cpu));

		sums.own += c.own;
		stopped += c.stopped;
	}
	for (int i = 0; i < e->opt.n_cpus; i++) {
		struct scoz_core c = engine_core(e, i);
		int ret = ledger_check_core(&c, e->cpus[i], &sums, err);

		if (ret)
			return ret;
	}
	return ledger_check_sums(&sums, stopped, e->opt.n_cpus, err);
}

int engine_check_ledger(const struct engine *e, uint64_t elapsed_ns, struct error *err)
{
	int ret = 0;

	for (int i = 0; i < LEDGER_LOOKS; i++) {
		ret = check_ledger_once(e, elapsed_ns, err);
		if (!ret)
			break;
		usleep(LEDGER_LOOK_US);
	}
	return ret;
}

void engine_set_cost(struct engine *e, double tick_ns, double background)
{
	engine_header(e)->background = background * 65536;
	engine_header(e)->tick_cost = tick_ns;
}

void engine_renew_lease(struct engine *e)
{
	__atomic_store_n(&engine_header(e)->lease_until, clock_now_ns() + ENGINE_LEASE_NS,
			 __ATOMIC_RELAXED);
}

uint64_t engine_latency_quantile(const struct engine *e, double q, bool paid, uint64_t *n)
{
	uint64_t total = 0, seen = 0;

	for (int bin = 0; bin < SCOZ_LATENCY_BINS; bin++)
		for (int c = 0; c < e->cores; c++)
			total += paid ? e->latencies[c].paid[bin] : e->latencies[c].begun[bin];
	if (n)
		*n = total;
	if (!total)
		return 0;
	for (int bin = 0; bin < SCOZ_LATENCY_BINS; bin++) {
		for (int c = 0; c < e->cores; c++)
			seen += paid ? e->latencies[c].paid[bin] : e->latencies[c].begun[bin];
		if (seen >= q * total)
			return (bin + 1) * SCOZ_LATENCY_BIN;
	}
	return SCOZ_LATENCY_BINS * SCOZ_LATENCY_BIN;
}
