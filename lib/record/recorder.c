// SPDX-License-Identifier: GPL-2.0-or-later
/* One thread drives a recording, by recorder_poll(): recorder.h draws the way of a sample. */
#include "record/recorder_internal.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/fd_limit.h"
#include "host/process.h"
#include "maps/maps_perf.h"
#include "record/futex.h"
#include "run/descendants.h"
#include "symbolizer/symbolizer.h"

#define PRIORITY (-20)
/*
 * How long, and with how much that waits behind them, samples wait for tables. The rings are read
 * meanwhile.
 */
#define PATIENCE_NS   (20 * NSEC_PER_SEC)
#define LIVE_NS	      (3 * NSEC_PER_SEC)
#define MAX_WAITING   (128u << 20)
#define STOP_S	      1.0
#define LAST_NAMES_NS (5 * NSEC_PER_SEC)
/* Between two looks at all processes, which take a tenth of the time at most. */
#define REPAIR_NS NSEC_PER_SEC
#define UNSEEN_SHARE \
	1000 /* of switches that the kernel's tracepoints passed over: not worth a word */
/*
 * An event's time is read before the event is put into its ring, and a virtual CPU may stand still
 * between the two: events wait for that long for those before them.
 */
#define TRACE_LAG_NS (200 * (NSEC_PER_SEC / 1000))

struct siblings {
	struct recorder *r;
	int pid;
	bool shared; /* ids in its memory are those that we know */
};

/* Any number that stood somewhere: nothing is remembered of it. */
static bool is_sibling(uint32_t tid, void *arg)
{
	const struct siblings *s = arg;
	const struct thread *t;

	if (!s->shared || tid > INT32_MAX)
		return false;
	t = recorder_thread_known(s->r, tid);
	return t ? t->pid == s->pid : process_of_thread(tid) == s->pid;
}

/* Futexes with priority inheritance wait in the kernel's own lock. */
static bool is_futex(const struct record_event *e, const char *kind)
{
	return kind &&
	       (!strcmp(kind, RECORD_KIND_FUTEX) || (e->futex.known && !strcmp(kind, "rtmutex")));
}

/* A wait in futex(): its kind, and who has the lock. */
static const char *futex_kind(struct recorder *r, const struct record_event *e,
			      enum futex_name names, uint32_t *holder)
{
	uint32_t process = recorder_thread_slot(r, e->tid)->process;
	const struct record_futex *f = &e->futex;
	struct siblings siblings = { r, e->tgid,
				     f->known && processes_share_ids(r->processes, process) };
	struct futex_question q = {
		.futex = f,
		.tid = e->tid,
		.woken = e->woken_by == RECORD_BY_TASK && !e->unfinished,
		.is_lock_word = f->known && lock_words_wait(r->lock_words, process, f->address,
							    e->tid, f->value),
		.names = names,
		.is_thread = is_sibling,
		.arg = &siblings,
	};
	const char *kind;
	uint32_t tid;

	kind = record_futex_kind(&q, &tid);
	*holder = tid ? recorder_other_thread(r, tid, e->left) : RECORDING_NONE;
	return kind;
}

static void put_sample(struct recorder *r, struct record_sample *s)
{
	if (!s->points)
		return;
	r->counts.samples++;
	r->counts.points += s->points;
	r->sink.sample(s, r->sink.arg);
}

static enum record_class class_of(const struct record_event *e)
{
	if (e->type == RECORD_EVENT_TICK)
		return RECORD_ON;
	switch (e->why) {
	case RECORD_LEFT_QUEUED:
		return RECORD_SCHED;
	case RECORD_LEFT_IO:
		return RECORD_IO;
	case RECORD_LEFT_LOCK:
		return RECORD_LOCK;
	default:
		return RECORD_OTHER;
	}
}

/* @e: where it waits for its stack; NULL: it has it. */
static void put_or_keep(struct recorder *r, struct record_sample *s, struct unnamed_event *e)
{
	if (e && s->points)
		e->sample[e->n++] = *s;
	else if (!e)
		put_sample(r, s);
}

static void on_named(struct unnamed_event *e, bool broken, void *arg)
{
	struct recorder *r = arg;

	r->counts.broken_chains += broken;
	for (int i = 0; i < e->n; i++)
		put_sample(r, &e->sample[i]);
}

/* False: not yet, its functions are not known. */
static bool on_sample(struct recorder *r, const struct record_event *e, const uint64_t *chain)
{
	struct raw_chain raw = {
		.pid = e->tgid,
		.time = e->time,
		.kernel = chain,
		.n_kernel = e->n_kernel,
		.user = chain + e->n_kernel,
		.n_user = e->n_user,
		.waited = e->type != RECORD_EVENT_TICK,
		.how = e->chain,
		.pointed = { e->pointed[0], e->pointed[1] },
	};
	enum record_class class = class_of(e);
	struct resolved resolved = symbols_resolve(r->symbols, &raw, &class);
	struct record_sample s = {
		.time = recorder_since_start(r, e->time),
		.cpu = e->cpu,
		.stack = resolved.stack,
		.kind = resolved.kind,
		.holder = RECORDING_NONE,
		.waker = RECORDING_NONE,
		.unfinished = e->unfinished,
	};
	struct unnamed_event *unnamed;

	if (r->unwind)
		unwinding_sampled(r->unwind, e->tgid);
	if (resolved.pending)
		return false;
	/* The name is that of the wait's end: it was so, or became so, while waiting. */
	s.thread = recorder_thread_id(r, e->tid, e->tgid, e->born, e->comm,
				      e->type == RECORD_EVENT_WAIT ? e->left : e->time);
	unnamed = resolved.later ? unnamed_add(&r->unnamed, resolved.later) : NULL;
	r->counts.broken_chains += resolved.broken;
	r->counts.without_chain += e->no_chain;
	processes_recorded(r->processes, recorder_thread_slot(r, e->tid)->process);
	if (e->type == RECORD_EVENT_TICK) {
		s.class = class;
		s.points = e->points_waited;
		s.kernel = e->n_kernel;
		s.spins = e->spins;
		put_or_keep(r, &s, unnamed);
		return true;
	}
	if (e->woken_by == RECORD_BY_TASK) {
		s.waker = recorder_other_thread(r, e->waker, e->woken); /* it may end soon */
		processes_ended(r->processes, recorder_thread_slot(r, e->waker)->process,
				e->points_waited);
	} else {
		s.event = wakers_name(r->wakers, e->woken_by, e->waker);
	}
	if (e->points_waited && e->why != RECORD_LEFT_QUEUED) {
		if (is_futex(e, s.kind))
			s.kind = futex_kind(r, e, resolved.names, &s.holder);
		s.class = class;
		s.points = e->points_waited;
		s.time = recorder_since_start(r, e->woken);
		s.duration = s.time - recorder_since_start(r, e->left);
		s.unfinished = e->unfinished && e->woken == e->time;
		put_or_keep(r, &s, unnamed);
	}
	s.class = RECORD_SCHED;
	s.kind = NULL;
	s.holder = RECORDING_NONE;
	s.points = e->points_queued;
	s.time = recorder_since_start(r, e->time);
	s.duration = s.time - recorder_since_start(r, e->woken);
	s.unfinished = e->unfinished;
	put_or_keep(r, &s, unnamed);
	return true;
}

static void on_times(struct recorder *r, const struct record_event *e, const struct record_times *t)
{
	struct record_thread thread = {
		.id = recorder_thread_id(r, e->tid, e->tgid, e->born, e->comm, e->time),
		.tid = e->tid,
		.pid = e->tgid,
		.has_times = true,
		.exited = t->exited,
		.from = recorder_since_start(r, t->since),
		.to = recorder_since_start(r, e->time),
		.on = t->on,
		.sched = t->queued,
		.io = t->io,
		.other = t->other,
	};

	processes_recorded(r->processes, recorder_thread_slot(r, e->tid)->process);
	thread.process = recorder_thread_slot(r, e->tid)->process;
	if (r->sink.times)
		r->sink.times(&thread, r->sink.arg);
	if (t->exited)
		recorder_thread_ended(r, e->tid, thread.id, e->time);
}

static bool on_record(enum queue_kind kind, const void *record, size_t size, void *arg)
{
	const struct perf_event_header *header = record;
	const struct record_event *e = record;
	struct recorder *r = arg;
	int pid;

	if (kind == QUEUE_PERF && header->type == PERF_RECORD_LOST) {
		maps_rescan(r->maps, NULL, NULL, NULL);
		return true;
	}
	if (kind == QUEUE_PERF) {
		if (maps_perf_record(r->maps, record, &pid) == MAPS_PERF_EXEC)
			processes_exec(r->processes, pid);
		e = r->backend->ops->perf_record ? r->backend->ops->perf_record(r->backend, record)
						 : NULL;
		return !e || on_sample(r, e, (const void *)(e + 1));
	}
	if (e->type == RECORD_EVENT_TIMES && size >= sizeof(*e) + sizeof(struct record_times))
		on_times(r, e, (const void *)(e + 1));
	else if (e->type != RECORD_EVENT_TIMES &&
		 size >= sizeof(*e) + (e->n_kernel + e->n_user) * sizeof(uint64_t))
		return on_sample(r, e, (const void *)(e + 1));
	return true;
}

static void on_frame(uint32_t id, const struct record_frame *frame, void *arg)
{
	struct recorder *r = arg;

	r->sink.frame(id, frame, r->sink.arg);
}

static void on_process(const struct record_process *process, void *arg)
{
	struct recorder *r = arg;

	r->sink.process(process, r->sink.arg);
}

static void on_stack(uint32_t id, const struct record_stack *stack, void *arg)
{
	struct recorder *r = arg;

	r->sink.stack(id, stack, r->sink.arg);
}

/*
 * Without a preference the engine that knows who ended a wait, and what lasts until the end; where
 * there is no BPF, the other one. The first error is the one to tell.
 */
static int create_backend(struct recorder *r, const struct recorder_options *opt, struct error *err)
{
	int rc = -EINVAL;

	if (opt->causal && !strcmp(opt->engine, "kernel"))
		return error_set(
			err, ENOTSUP,
			"engine kernel does not tell who woke whom: causal recordings want "
			"engine bpf");
	if (opt->causal)
		return record_bpf.create(opt, &r->backend, err);
	if (strcmp(opt->engine, "kernel"))
		rc = record_bpf.create(opt, &r->backend, err);
	if (rc && strcmp(opt->engine, "bpf") &&
	    !record_kernel.create(opt, &r->backend, strcmp(opt->engine, "auto") ? err : NULL))
		rc = 0;
	return rc;
}

int recorder_create(const struct recorder_options *opt, const struct recorder_sink *sink,
		    struct recorder **ret, struct error *err)
{
	_cleanup_free_ char *cache = maptable_default_cache_dir();
	struct maps_options maps = { .table.cache_dir = cache, .perf_maps = opt->perf_maps };
	struct recorder *r = xcalloc(1, sizeof(*r));
	const struct symbols_sink symbols = { on_frame, on_stack, r };
	int rc;

	r->sink = *sink;
	r->causal = opt->causal;
	r->unnamed.impatient = opt->live;
	r->patience = opt->live ? LIVE_NS : PATIENCE_NS;
	r->period = opt->period_ns;
	fd_limit_raise(); /* the command has been forked, with the one that there was */
	rc = maps_create(&maps, &r->maps, err);
	if (!rc) /* it takes a while, and will be asked for */
		maps_binary_ask(r->maps, MAPS_KERNEL_ID);
	/* Listen first: what comes up while /proc is read must not be missed. */
	if (!rc)
		rc = sideband_open(&r->sideband, false, err);
	if (!rc && opt->everybody)
		rc = maps_scan_all(r->maps, err);
	if (!rc)
		rc = create_backend(r, opt, err);
	if (!rc && r->backend->unwind_maps.tables >= 0)
		rc = unwinding_create(&r->backend->unwind_maps, opt->everybody, cache, &r->unwind,
				      err);
	if (rc) {
		recorder_destroy(r);
		return rc;
	}
	r->symbols = symbols_create(r->maps, &symbols);
	r->wakers = wakers_create();
	r->processes = processes_create(on_process, r);
	r->lock_words = lock_words_create();
	*ret = r;
	return 0;
}

const char *recorder_engine(const struct recorder *r)
{
	return r->backend->ops->name;
}

static bool is_own_image(int pid)
{
	_cleanup_close_ int exe = process_open(pid, "exe");
	struct stat own, other;

	return exe >= 0 && !stat("/proc/self/exe", &own) && !fstat(exe, &other) &&
	       own.st_ino == other.st_ino && own.st_dev == other.st_dev;
}

static int add_one(int pid, void *arg, struct error *err)
{
	struct recorder *r = arg;
	int rc = maps_scan_process(r->maps, pid);

	/* Who keeps others waiting is recorded, without what it had mapped (proc_maps_read()). */
	if (rc && rc != -ETIMEDOUT && rc != -EAGAIN)
		return error_set(err, -rc, "process %d: %s", pid,
				 rc == -ESRCH ? "there is no such process" : strerror(-rc));
	if (r->unwind)
		unwinding_add(r->unwind, pid, is_own_image(pid));
	return r->backend->ops->add_process(r->backend, pid, err);
}

/* What is started from now on by those that were taken is followed by itself. */
int recorder_add_process(struct recorder *r, int pid, struct error *err)
{
	struct processes_taken t = { .take = add_one, .arg = r };
	int rc = processes_take_tree(&t, pid, err), n = t.n;

	free(t.pids);
	return rc ? rc : n;
}

char *recorder_next_file(const struct recorder *r, uint64_t *serial)
{
	return maps_next_file(r->maps, serial, NULL);
}

int recorder_add_point(struct recorder *r, const struct recorder_point *p, uint32_t id,
		       struct error *err)
{
	return r->backend->ops->add_point(r->backend, p, id, err);
}

void recorder_withdraw_point(struct recorder *r)
{
	r->backend->ops->withdraw_point(r->backend);
}

int recorder_start(struct recorder *r, struct error *err)
{
	int rc = maps_start(r->maps, err);

	r->threads_run = true;
	if (!rc && r->unwind)
		rc = unwinding_start(r->unwind, err);
	if (rc)
		return rc;
	/*
	 * Among a hundred runnable threads a hundredth of a CPU would not be enough, and records be
	 * lost. The command has been started before.
	 */
	if (setpriority(PRIO_PROCESS, 0, PRIORITY))
		log_debug("the recorder's priority: %s", strerror(errno));
	r->start = clock_now_ns();
	return r->backend->ops->start(r->backend, err);
}

static void set_hurry(struct recorder *r, bool hurry)
{
	r->hurry = hurry;
	r->built = maps_built(r->maps);
	symbols_hurry(r->symbols, hurry);
}

/* Returns whether all have been taken. */
static bool take_records(struct recorder *r, uint64_t horizon)
{
	uint64_t now = clock_now_ns();

	if (r->hurry && maps_built(r->maps) != r->built)
		set_hurry(r, false);
	if (queue_take(&r->queue, horizon, on_record, r)) {
		r->stalled = 0;
		r->complete = horizon;
		return true;
	}
	r->complete = r->queue.entries[0].time;
	r->stalled = r->stalled ? r->stalled : now;
	if (now - r->stalled > r->patience || r->queue.used > MAX_WAITING || symbolizer_is_stuck())
		set_hurry(r, true);
	return false;
}

/*
 * Records of who maps what were lost: what /proc tells now replaces what is known, for samples in
 * their turn.
 */
static void repair(struct recorder *r)
{
	const struct perf_event_header lost = { .type = PERF_RECORD_LOST, .size = sizeof(lost) };
	uint64_t now = clock_now_ns();

	if (r->sideband.lost == r->repaired || now - r->repaired_ns < REPAIR_NS + 10 * r->repair_ns)
		return;
	r->repaired = r->sideband.lost;
	queue_put(&r->queue, QUEUE_PERF, now, &lost, sizeof(lost));
	if (r->unwind)
		unwinding_repair(r->unwind);
	r->repaired_ns = clock_now_ns();
	r->repair_ns = r->repaired_ns - now;
	r->repairs++;
}

static void drain(struct recorder *r)
{
	size_t first = r->queue.n;

	r->backend->ops->drain(r->backend, &r->queue);
	if (r->stalled && r->unwind)
		ahead_look(&r->ahead, &r->queue, first, r->unwind, r->maps);
}

void recorder_poll(struct recorder *r)
{
	uint64_t horizon = clock_now_ns();

	drain(r);
	sideband_drain(&r->sideband, &r->queue, unwinding_reader(r->unwind), r->unwind);
	if (r->causal) {
		r->backend->ops->drain_trace(r->backend, &r->trace);
		queue_take(&r->trace, horizon - TRACE_LAG_NS, recorder_on_trace, r);
	}
	take_records(r, horizon);
	unnamed_settle(&r->unnamed, r->symbols, false, on_named, r);
	repair(r);
	processes_poll(r->processes);
}

/* What the last samples wait for is read soon, or never will be. */
static void settle_all(struct recorder *r)
{
	uint64_t end = clock_now_ns() + LAST_NAMES_NS;

	unnamed_try_now(&r->unnamed);
	unnamed_settle(&r->unnamed, r->symbols, false, on_named, r);
	unnamed_try_now(&r->unnamed);
	while (unnamed_settle(&r->unnamed, r->symbols, false, on_named, r) && clock_now_ns() < end)
		usleep(5000);
	unnamed_settle(&r->unnamed, r->symbols, true, on_named, r);
}

void recorder_finish(struct recorder *r)
{
	size_t unread;

	recorder_poll(r);
	r->backend->ops->finish(r->backend);
	r->stop = clock_now_ns();
	r->backend->ops->drain(r->backend, &r->queue);
	sideband_drain(&r->sideband, &r->queue, unwinding_reader(r->unwind), r->unwind);
	if (r->causal) {
		r->backend->ops->drain_trace(r->backend, &r->trace);
		queue_take(&r->trace, UINT64_MAX, recorder_on_trace, r);
	}
	r->stalled = 0;
	while (!take_records(r, UINT64_MAX))
		usleep(r->hurry ? 0 : 10000);
	settle_all(r);
	processes_settle(r->processes);
	if (r->unwind)
		unwinding_log(r->unwind);
	if (r->unseen > r->switches / UNSEEN_SHARE + 10)
		log_warn("the kernel passed over %zu of %zu switches of threads: what is said of "
			 "waits may be wrong by as much",
			 r->unseen, r->switches);
	if (r->late)
		log_warn("%zu events were recorded more than %d ms after they had happened (the "
			 "machine stood still?): they are out of order, and what is said of those "
			 "moments may be wrong",
			 r->late, (int)(TRACE_LAG_NS / 1000000));
	if (r->repairs)
		log_info("records of who maps what were lost: all processes were looked at again "
			 "%u times",
			 r->repairs);
	unread = maps_awaited(r->maps);
	if (unread)
		log_warn("%zu binaries had not been read when the recording ended: their functions "
			 "are missing",
			 unread);
}

uint64_t recorder_time(const struct recorder *r)
{
	return (r->stop ? r->stop : clock_now_ns()) - r->start;
}

uint64_t recorder_complete(const struct recorder *r)
{
	return r->complete > r->start ? r->complete - r->start : 0;
}

void recorder_counts(const struct recorder *r, struct recorder_counts *ret)
{
	*ret = r->counts;
	ret->lost = r->backend->ops->lost(r->backend) + r->sideband.lost;
}

const struct record_process *recorder_stranger(const struct recorder *r, uint64_t *points)
{
	return processes_stranger(r->processes, points);
}

void recorder_destroy(struct recorder *r)
{
	bool stopped;

	if (!r)
		return;
	stopped = !r->threads_run || maps_stop(r->maps, STOP_S);
	stopped &= unwinding_destroy(r->unwind, STOP_S);
	if (!stopped) /* a thread hangs in a file: all that it uses must stay */
		return;
	if (r->backend)
		r->backend->ops->destroy(r->backend);
	sideband_close(&r->sideband);
	symbols_destroy(r->symbols);
	wakers_destroy(r->wakers);
	processes_destroy(r->processes);
	lock_words_destroy(r->lock_words);
	unnamed_free(&r->unnamed);
	ahead_free(&r->ahead);
	queue_free(&r->queue);
	queue_free(&r->trace);
	free(r->devices);
	maps_destroy(r->maps);
	free(r->threads);
	free(r->vacant);
	free(r->ended);
	hash_index_deinit(&r->by_tid);
	free(r);
}

const struct record_frame *recorder_frame(const struct recorder *r, uint32_t id)
{
	return symbols_frame(r->symbols, id);
}

const struct record_stack *recorder_stack(const struct recorder *r, uint32_t id)
{
	return symbols_stack(r->symbols, id);
}
