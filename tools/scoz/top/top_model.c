// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/top/top_model.h"
#include "tools/scoz/top/top_store.h"

#include "record/futex.h"

#define DEFAULT_MAX_ENTRIES 200000

/* ---- functions ---- */

struct function_key {
	const char *symbol, *object;
};

static bool same_function(const void *item, const void *key)
{
	const struct top_function *f = item;
	const struct function_key *k = key;

	return !strcmp(f->symbol, k->symbol) && !strcmp(f->object, k->object);
}

static uint32_t function_id(struct top_model *m, const char *symbol, const char *object, bool copy)
{
	const struct function_key key = { symbol, object };
	uint64_t hash = hash_chosen(hash_chosen(HASH_START, symbol), object);
	uint32_t index = pool_find(&m->functions, hash, same_function, &key);
	struct top_function *f;

	if (index != POOL_NONE)
		return index;
	index = pool_add(&m->functions, hash);
	f = pool_item(&m->functions, index);
	if (copy)
		f->own = xstrdup(symbol);
	f->symbol = copy ? f->own : symbol;
	f->object = object;
	return index;
}

static uint32_t function_of_frame(struct top_model *m, uint32_t id)
{
	const struct record_frame *f;
	size_t old = m->cap_function_of;

	array_reserve(m->function_of, m->cap_function_of, (size_t)id + 1);
	if (m->cap_function_of > old)
		memset(m->function_of + old, 0,
		       (m->cap_function_of - old) * sizeof(*m->function_of));
	if (m->function_of[id])
		return m->function_of[id] - 1;
	f = m->opt.frame(id, m->opt.arg);
	if (!f)
		return FUNCTION_UNKNOWN;
	m->function_of[id] = function_id(m, f->symbol, f->object ? f->object : "", false) + 1;
	return m->function_of[id] - 1;
}

/* What only passes on what the program asked for. */
static bool is_c_library(const char *object)
{
	static const char *const names[] = { "libc.so",	 "libc-",   "libpthread",
					     "ld-linux", "ld-musl", "[vdso]" };
	const char *slash = object ? strrchr(object, '/') : NULL;
	const char *base = slash ? slash + 1 : object ? object : "";

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strncmp(base, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

/*
 * The innermost function, and the innermost one of the program: outside the C library, if it was
 * called from there. FUNCTION_UNKNOWN: there is none.
 */
static void functions_of_stack(struct top_model *m, uint32_t stack, uint32_t *leaf, uint32_t *user)
{
	uint32_t innermost = RECORDING_NONE, inlined = RECORDING_NONE;
	const struct record_stack *s;

	*leaf = *user = FUNCTION_UNKNOWN;
	for (; stack != RECORDING_NONE; stack = s->parent) {
		const struct record_frame *f;

		s = m->opt.stack(stack, m->opt.arg);
		f = s ? m->opt.frame(s->frame, m->opt.arg) : NULL;
		if (!f)
			break;
		if (f->kind == FRAME_MISSING)
			continue;
		if (innermost == RECORDING_NONE)
			innermost = s->frame;
		if (inlined == RECORDING_NONE)
			inlined = s->frame;
		if (f->kind == FRAME_USER) {
			bool library = is_c_library(f->object);

			if (!library || *user == FUNCTION_UNKNOWN)
				*user = function_of_frame(m, inlined);
			if (!library)
				break;
		}
		if (f->kind != FRAME_INLINED)
			inlined = RECORDING_NONE;
	}
	if (innermost != RECORDING_NONE)
		*leaf = function_of_frame(m, innermost);
}

/* ---- processes and threads ---- */

static bool same_pid(const void *item, const void *key)
{
	return ((const struct top_process *)item)->pid == *(const int *)key;
}

static bool same_tid(const void *item, const void *key)
{
	const struct top_thread *t = item;

	return t->tid == *(const int *)key && !t->ended;
}

static bool same_id(const void *item, const void *key)
{
	return ((const struct top_id *)item)->id == *(const uint32_t *)key;
}

static void copy_comm(char *to, const char *from)
{
	snprintf(to, 16, "%s", from ? from : "");
}

static uint32_t process_index(struct top_model *m, int pid)
{
	uint32_t index = pool_find(&m->processes, (uint32_t)pid, same_pid, &pid);

	if (index == POOL_NONE) {
		index = pool_add(&m->processes, (uint32_t)pid);
		((struct top_process *)pool_item(&m->processes, index))->pid = pid;
	}
	return index;
}

static void set_comm(struct top_model *m, struct top_thread *t, const char *comm)
{
	struct top_process *p = pool_item(&m->processes, t->process);

	copy_comm(t->comm, comm);
	if (t->tid == t->pid || !*p->comm)
		copy_comm(p->comm, comm);
	p->named |= t->tid == t->pid;
}

static uint32_t add_thread(struct top_model *m, int pid, int tid, const char *comm, uint64_t start)
{
	uint32_t index = pool_add(&m->threads, (uint32_t)tid);
	struct top_thread *t = pool_item(&m->threads, index);

	t->id = RECORDING_NONE;
	t->tid = tid;
	t->pid = pid;
	t->start = t->heard = start;
	t->class = TOP_OPEN;
	t->process = process_index(m, pid);
	((struct top_process *)pool_item(&m->processes, t->process))->n_threads++;
	set_comm(m, t, comm);
	return index;
}

static struct top_thread *find_thread(const struct top_model *m, uint32_t id)
{
	uint32_t index = pool_find(&m->ids, id, same_id, &id);
	const struct top_id *i = pool_item(&m->ids, index);

	return i ? pool_item(&m->threads, i->thread) : NULL;
}

static uint32_t thread_index(const struct top_model *m, const struct top_thread *t)
{
	return ((const char *)t - m->threads.items) / m->threads.item_size;
}

static void end_thread(struct top_thread *t, uint64_t when)
{
	t->ended = true;
	t->end = when > t->start ? when : t->start;
}

static void drop_thread(struct top_model *m, uint32_t index)
{
	struct top_thread *t = pool_item(&m->threads, index);
	struct top_process *p = pool_item(&m->processes, t->process);

	if (t->id != RECORDING_NONE)
		pool_remove(&m->ids, pool_find(&m->ids, t->id, same_id, &t->id));
	if (!--p->n_threads)
		pool_remove(&m->processes, t->process);
	pool_remove(&m->threads, index);
}

void top_model_seed(struct top_model *m, int pid, int tid, const char *comm)
{
	struct top_thread *t;

	if (pool_find(&m->threads, (uint32_t)tid, same_tid, &tid) != POOL_NONE)
		return;
	t = pool_item(&m->threads, add_thread(m, pid, tid, comm, m->now));
	t->told = true;
}

void top_model_name(struct top_model *m, int pid, const char *comm)
{
	struct top_process *p =
		pool_item(&m->processes, pool_find(&m->processes, (uint32_t)pid, same_pid, &pid));

	if (p && !p->named)
		copy_comm(p->comm, comm);
}

/* ---- what the recorder tells ---- */

static void on_frame(uint32_t id, const struct record_frame *frame, void *arg)
{
	(void)id;
	(void)frame;
	(void)arg;
}

static void on_stack(uint32_t id, const struct record_stack *stack, void *arg)
{
	struct top_model *m = arg;

	(void)id;
	(void)stack;
	m->n_stacks++;
}

static void on_process(const struct record_process *told, void *arg)
{
	(void)told; /* the names of threads are enough */
	(void)arg;
}

static void on_thread(const struct record_thread *told, void *arg)
{
	struct top_model *m = arg;
	int tid = told->tid;
	uint32_t index = pool_find(&m->threads, (uint32_t)tid, same_tid, &tid);
	struct top_thread *t = pool_item(&m->threads, index);
	struct top_id *id;

	if (t && (t->id != RECORDING_NONE || t->pid != told->pid)) {
		end_thread(t, told->start);
		t = NULL;
	}
	if (!t) {
		index = add_thread(m, told->pid, tid, told->comm, told->start);
		t = pool_item(&m->threads, index);
	}
	t->id = told->id;
	set_comm(m, t, told->comm);
	id = pool_item(&m->ids, pool_add(&m->ids, told->id));
	id->id = told->id;
	id->thread = index;
}

static void on_comm(uint32_t thread, uint64_t time, const char *comm, void *arg)
{
	struct top_thread *t = find_thread(arg, thread);

	(void)time;
	if (t)
		set_comm(arg, t, comm);
}

static void on_times(const struct record_thread *told, void *arg)
{
	struct top_model *m = arg;
	struct top_thread *t = find_thread(m, told->id);

	if (!t || !told->exited)
		return;
	end_thread(t, told->to);
	if (m->frozen && !t->n_entries)
		drop_thread(m, thread_index(m, t));
}

enum top_class top_class_of(enum record_level level)
{
	static const enum top_class classes[] = {
		[LEVEL_USER] = TOP_USER, [LEVEL_KERNEL] = TOP_KERNEL, [LEVEL_IO] = TOP_IO,
		[LEVEL_LOCK] = TOP_LOCK, [LEVEL_SCHED] = TOP_SCHED,   [LEVEL_OTHER] = TOP_OTHER,
	};

	return classes[level];
}

static bool same_key(const void *item, const void *key)
{
	const struct top_entry_key *a = &((const struct top_entry *)item)->key, *b = key;

	return a->thread == b->thread && a->leaf == b->leaf && a->user == b->user &&
	       a->class == b->class && a->idle == b->idle && a->kind == b->kind &&
	       a->event == b->event && a->waker == b->waker;
}

static uint64_t hash_key(const struct top_entry_key *k)
{
	uint64_t h = hash_mix(k->thread, (uint64_t)k->leaf << 32 | k->user);

	h = hash_mix(h, (uint64_t)k->waker << 32 | k->class << 1 | k->idle);
	return hash_mix(hash_mix(h, (uintptr_t)k->kind), (uintptr_t)k->event);
}

static void name_waker(const struct top_model *m, struct top_entry *e)
{
	const struct top_thread *t = find_thread(m, e->key.waker);

	if (e->key.event)
		snprintf(e->waker, sizeof(e->waker), "%s", e->key.event);
	else if (t)
		snprintf(e->waker, sizeof(e->waker), "%s:%d", t->comm, t->tid);
}

static struct top_entry *find_entry(struct top_model *m, struct top_entry_key *key)
{
	uint32_t index = pool_find(&m->entries, hash_key(key), same_key, key);
	struct top_entry *e;

	if (index != POOL_NONE)
		return pool_item(&m->entries, index);
	if (m->entries.index.n >= m->opt.max_entries && key->leaf != FUNCTION_REST) {
		*key = (struct top_entry_key){ .thread = key->thread,
					       .leaf = FUNCTION_REST,
					       .user = FUNCTION_REST,
					       .class = key->class,
					       .idle = key->idle,
					       .waker = RECORDING_NONE };
		return find_entry(m, key);
	}
	e = pool_item(&m->entries, pool_add(&m->entries, hash_key(key)));
	e->key = *key;
	e->stack = RECORDING_NONE;
	e->newest = top_oldest_slice(m);
	name_waker(m, e);
	((struct top_thread *)pool_item(&m->threads, key->thread))->n_entries++;
	return e;
}

static uint64_t *slice_of(struct top_entry *e, uint64_t slice)
{
	if (slice > e->newest) {
		uint64_t n = slice - e->newest;

		for (uint64_t i = 1; i <= n && i <= TOP_SLICES; i++)
			e->ns[(e->newest + i) % TOP_SLICES] = 0;
		e->newest = slice;
	}
	return slice + TOP_SLICES > e->newest ? &e->ns[slice % TOP_SLICES] : NULL;
}

/* @amount, evenly over [from, to]; what lies before the window is left out. */
static void spread(struct top_model *m, struct top_entry *e, uint64_t from, uint64_t to,
		   uint64_t amount)
{
	uint64_t first = from / m->slice_ns, last = to / m->slice_ns, oldest = top_oldest_slice(m);
	double rate = (double)amount / (double)(to - from);

	for (uint64_t i = first > oldest ? first : oldest; i <= last; i++) {
		uint64_t begin = i == first ? from : i * m->slice_ns;
		uint64_t end = i == last ? to : (i + 1) * m->slice_ns;
		uint64_t *slice = slice_of(e, i);

		if (slice)
			*slice +=
				(uint64_t)((end - from) * rate) - (uint64_t)((begin - from) * rate);
	}
}

static void vote(struct top_entry *e, const struct record_sample *s)
{
	if (e->stack == s->stack) {
		e->votes += s->points;
	} else if (e->votes >= s->points) {
		e->votes -= s->points;
	} else {
		e->stack = s->stack;
		e->votes = s->points - e->votes;
	}
}

/*
 * Nobody holds what the thread waits for. Where that cannot be told: locks are waited for until
 * somebody releases them; conditions for long, or until a timeout.
 */
static bool is_idle(const struct record_sample *s, uint64_t length)
{
	if (record_kind_is_held(s->kind))
		return false;
	return (s->kind && !strcmp(s->kind, RECORD_KIND_FUTEX_WAIT)) || length >= TOP_IDLE_NS ||
	       (s->event && !strcmp(s->event, "timer"));
}

static void on_sample(const struct record_sample *s, void *arg)
{
	struct top_model *m = arg;
	struct top_thread *t = find_thread(m, s->thread);
	uint64_t amount = s->points * m->opt.period_ns, length = s->duration, from;
	struct top_entry_key key = { .waker = RECORDING_NONE };
	struct top_entry *e;

	if (!t || !amount || m->frozen)
		return;
	if (s->class == RECORD_ON || !length)
		length = amount;
	from = s->time > length ? s->time - length : 0;
	if (s->time <= from || s->time <= m->begin)
		return;
	if (from < m->begin) {
		amount = (double)amount * (s->time - m->begin) / (s->time - from);
		from = m->begin;
	}
	if (s->time > m->now)
		m->now = s->time;
	if (!t->told || from < t->start)
		t->start = from;
	t->told = true;
	if (s->time > t->heard)
		t->heard = s->time;
	t->looked_at = false;
	t->class = TOP_OPEN;
	key.thread = thread_index(m, t);
	key.class = top_class_of(record_level_of(s));
	key.idle = key.class == TOP_LOCK && is_idle(s, length);
	if (key.class > TOP_SCHED) {
		key.kind = s->kind;
		key.event = s->event;
		key.waker = s->event ? RECORDING_NONE : s->waker;
	}
	functions_of_stack(m, s->stack, &key.leaf, &key.user);
	e = find_entry(m, &key);
	vote(e, s);
	spread(m, e, from, s->time, amount);
}

struct recorder_sink top_model_sink(struct top_model *m)
{
	return (struct recorder_sink){
		.frame = on_frame,
		.stack = on_stack,
		.process = on_process,
		.thread = on_thread,
		.comm = on_comm,
		.sample = on_sample,
		.times = on_times,
		.arg = m,
	};
}

/* ---- time goes on ---- */

static void drop_entries(struct top_model *m, uint64_t oldest)
{
	for (uint32_t i = 0; i < m->entries.n; i++) {
		struct top_entry *e = pool_item(&m->entries, i);

		if (!e || e->newest >= oldest)
			continue;
		((struct top_thread *)pool_item(&m->threads, e->key.thread))->n_entries--;
		pool_remove(&m->entries, i);
	}
}

static void drop_threads(struct top_model *m)
{
	bool ask = m->opt.alive && m->now - m->asked_alive >= m->opt.window_ns;
	uint64_t oldest = top_oldest_slice(m);

	if (ask)
		m->asked_alive = m->now;
	for (uint32_t i = 0; i < m->threads.n; i++) {
		struct top_thread *t = pool_item(&m->threads, i);

		if (!t)
			continue;
		/* Records of its end may have been lost. */
		if (ask && !t->ended && t->heard / m->slice_ns < oldest &&
		    !m->opt.alive(t->pid, t->tid, m->opt.arg))
			end_thread(t, t->heard);
		if (t->ended && !t->n_entries && t->end / m->slice_ns < oldest)
			drop_thread(m, i);
	}
}

void top_model_advance(struct top_model *m, uint64_t now)
{
	if (m->frozen)
		return;
	if (now > m->now)
		m->now = now;
	drop_entries(m, top_oldest_slice(m));
	drop_threads(m);
}

void top_model_begin(struct top_model *m, uint64_t now)
{
	m->begin = now;
	if (now > m->now)
		m->now = now;
	drop_entries(m, UINT64_MAX);
	for (uint32_t i = 0; i < m->threads.n; i++) {
		struct top_thread *t = pool_item(&m->threads, i);

		if (t && t->start < now)
			t->start = t->heard = now;
	}
}

void top_model_freeze(struct top_model *m, bool frozen, uint64_t now)
{
	if (m->frozen && !frozen)
		top_model_begin(m, now);
	m->frozen = frozen;
}

size_t top_model_waiting(struct top_model *m, uint64_t min_ns, struct top_waiting *ret, size_t max)
{
	size_t n = 0;

	for (uint32_t i = 0; i < m->threads.n && n < max; i++) {
		struct top_thread *t = pool_item(&m->threads, i);

		if (!t || !t->told || t->ended || t->looked_at || m->now - t->heard < min_ns)
			continue;
		t->looked_at = true;
		ret[n++] = (struct top_waiting){ t->pid, t->tid, i };
	}
	return n;
}

void top_model_explain(struct top_model *m, uint32_t thread, enum top_class class, const char *kind,
		       const char *function)
{
	struct top_thread *t = pool_item(&m->threads, thread);

	if (!t)
		return;
	t->class = class;
	t->kind = kind;
	t->function = function ? function_id(m, function, "[kernel]", true) : FUNCTION_WAITING;
}

struct top_model_size top_model_size(const struct top_model *m)
{
	return (struct top_model_size){ m->threads.index.n, m->processes.index.n,
					m->entries.index.n, m->n_stacks };
}

/* ---- */

uint64_t top_entry_time(const struct top_model *m, const struct top_entry *e)
{
	uint64_t sum = 0, first = top_oldest_slice(m);

	if (e->newest + 1 > TOP_SLICES && e->newest + 1 - TOP_SLICES > first)
		first = e->newest + 1 - TOP_SLICES;
	for (uint64_t i = first; i <= e->newest; i++)
		sum += e->ns[i % TOP_SLICES];
	return sum;
}

uint64_t top_thread_span(const struct top_model *m, const struct top_thread *t)
{
	uint64_t from = top_window_start(m), to = t->ended ? t->end : m->now;

	if (t->start > from)
		from = t->start;
	return to > from ? to - from : 0;
}

struct top_model *top_model_create(const struct top_model_options *options)
{
	struct top_model *m = xcalloc(1, sizeof(*m));

	m->opt = *options;
	if (!m->opt.max_entries)
		m->opt.max_entries = DEFAULT_MAX_ENTRIES;
	m->slice_ns = options->window_ns / (TOP_SLICES - 1);
	pool_init(&m->processes, sizeof(struct top_process));
	pool_init(&m->threads, sizeof(struct top_thread));
	pool_init(&m->ids, sizeof(struct top_id));
	pool_init(&m->functions, sizeof(struct top_function));
	pool_init(&m->entries, sizeof(struct top_entry));
	function_id(m, "[unknown]", "", false);
	function_id(m, "[rest]", "", false);
	function_id(m, "[still waiting]", "", false);
	return m;
}

void top_model_destroy(struct top_model *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->functions.n; i++)
		free(((struct top_function *)pool_item(&m->functions, i))->own);
	pool_deinit(&m->processes);
	pool_deinit(&m->threads);
	pool_deinit(&m->ids);
	pool_deinit(&m->functions);
	pool_deinit(&m->entries);
	free(m->function_of);
	free(m);
}
