// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The heaviest waits, and what to do about them. The hints are those of Ahn et al. (OSDI 2024),
 * section 3.2: much I: faster devices or asynchronous I/O; much S: fewer threads, more CPUs,
 * pinning; much L: shorter critical sections. A hint is given only for a class with a real share,
 * and names what the share consists of.
 */
#include "tools/scoz/record_model.h"
#include "tools/scoz/text.h"

#define HINT_PERCENT 10
#define HINT_POINTS  50 /* fewer say little: the true share may be half or twice as large */

/* ---- waits ---- */

static int compare_waker(const void *pa, const void *pb)
{
	const struct record_waker *a = pa, *b = pb;

	if (a->points != b->points)
		return a->points < b->points ? 1 : -1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return strcmp(a->event ? a->event : "", b->event ? b->event : "");
}

static int compare_wait(const void *pa, const void *pb)
{
	const struct record_wait *a = pa, *b = pb;

	if (a->level != b->level)
		return a->level < b->level ? -1 : 1;
	if (a->points != b->points)
		return a->points < b->points ? 1 : -1;
	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	return strcmp(a->kind ? a->kind : "", b->kind ? b->kind : "");
}

/* Each pair of a wait and a waker comes once: @e tells them apart. */
static void add_waker(struct record_wait *w, struct keymap *map, size_t wait,
		      const struct record_entry *e, size_t **index, size_t *cap)
{
	struct {
		uint32_t wait, thread;
		const char *event;
	} key = { wait, e->waker, e->event };
	size_t n = map->n, at = keymap_add(map, &key);

	if (at == n) {
		array_reserve(*index, *cap, n + 1);
		(*index)[at] = w->n_wakers;
		array_reserve(w->wakers, w->cap_wakers, w->n_wakers + 1);
		w->wakers[w->n_wakers++] = (struct record_waker){ e->waker, e->event, 0 };
	}
	w->wakers[(*index)[at]].points += e->points;
}

void record_make_waits(struct record_model *m)
{
	struct wait_key {
		uint32_t level, stack;
		const char *kind;
	};
	struct keymap waits = { .key_size = sizeof(struct wait_key) };
	struct keymap wakers = { .key_size = 2 * sizeof(uint32_t) + sizeof(char *) };
	_cleanup_free_ size_t *index = NULL;
	size_t cap = 0, cap_index = 0;

	for (size_t i = 0; i < m->n_entries; i++) {
		const struct record_entry *e = &m->entries[i];
		struct wait_key key = { e->level, record_model_leaf(m, e->stack), e->kind };
		struct record_wait *w;
		size_t at;

		if (e->level <= LEVEL_KERNEL || !e->points)
			continue;
		at = keymap_add(&waits, &key);
		if (at == m->n_waits) {
			array_reserve(m->waits, cap, at + 1);
			m->n_waits++;
			m->waits[at] = (struct record_wait){ .level = e->level,
							     .stack = key.stack,
							     .kind = e->kind };
		}
		w = &m->waits[at];
		w->points += e->points;
		w->samples += e->samples;
		w->duration += e->duration;
		add_waker(w, &wakers, at, e, &index, &cap_index);
	}
	for (size_t i = 0; i < m->n_waits; i++)
		qsort(m->waits[i].wakers, m->waits[i].n_wakers, sizeof(struct record_waker),
		      compare_waker);
	if (m->n_waits)
		qsort(m->waits, m->n_waits, sizeof(*m->waits), compare_wait);
	keymap_deinit(&waits);
	keymap_deinit(&wakers);
}

char *record_waker_name(const struct record_model *m, uint32_t thread, const char *event)
{
	_cleanup_free_ char *comm = NULL;

	if (event)
		return text_clean(event, "?");
	if (thread == RECORDING_NONE)
		return xstrdup("-");
	comm = text_clean(m->comms[thread], "?");
	return xasprintf("%s:%d", comm, m->rec->threads[thread].tid);
}

/* ---- hints ---- */

static const struct record_wait *heaviest(const struct record_model *m, enum record_level level)
{
	for (size_t i = 0; i < m->n_waits; i++) {
		if (m->waits[i].level == level)
			return &m->waits[i];
	}
	return NULL;
}

/* Where it waits: the innermost function outside the kernel, and who called into its library. */
static char *place(const struct record_model *m, const struct record_wait *w)
{
	const struct recording *rec = m->rec;
	const struct record_frame *first = NULL, *caller = NULL;
	_cleanup_free_ char *a = NULL, *b = NULL;

	for (uint32_t n = w->stack; n != RECORDING_NONE && !caller; n = rec->stacks[n].parent) {
		const struct record_frame *f = &rec->frames[rec->stacks[n].frame];

		if (f->kind == FRAME_MISSING || m->kernel_node[n] || f->symbol[0] == '[')
			continue;
		if (!first)
			first = f;
		else if (strcmp(f->object, first->object) != 0)
			caller = f;
	}
	if (!first)
		first = record_model_frame(m, w->stack, w->stack);
	a = text_clean(first->symbol, "?");
	b = caller ? text_clean(caller->symbol, "?") : NULL;
	return xasprintf("%s%s%s", a, b ? " called by " : "", b ? b : "");
}

/* Is the thread out of work rather than kept from it? Then there is no critical section. */
static bool waits_for_work(const struct record_model *m, const struct record_wait *w)
{
	static const char *const names[] = { "cond_wait",    "cond_timedwait",	"cond_clockwait",
					     "barrier_wait", "sem_wait",	"sem_timedwait",
					     "pthread_join", "thread_timedjoin" };
	const struct recording *rec = m->rec;

	for (uint32_t n = w->stack; n != RECORDING_NONE; n = rec->stacks[n].parent) {
		const char *symbol = rec->frames[rec->stacks[n].frame].symbol;

		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			if (strstr(symbol, names[i]))
				return true;
		}
	}
	return false;
}

/* The event or thread that ended most of the waits of @level, and its share of them. */
static char *main_waker(const struct record_model *m, enum record_level level, double *percent)
{
	struct {
		uint64_t thread;
		const char *event;
	} key;
	struct keymap map = { .key_size = sizeof(key) };
	_cleanup_free_ uint64_t *points = NULL;
	const struct record_waker *best = NULL;
	size_t cap = 0, best_at = 0;

	for (size_t i = 0; i < m->n_waits; i++) {
		const struct record_wait *w = &m->waits[i];

		for (size_t k = 0; w->level == level && k < w->n_wakers; k++) {
			const struct record_waker *by = &w->wakers[k];
			size_t n = map.n, at;

			if (by->thread == RECORDING_NONE && !by->event)
				continue;
			key.thread = by->thread;
			key.event = by->event;
			at = keymap_add(&map, &key);
			array_reserve(points, cap, map.n);
			points[at] = (at == n ? 0 : points[at]) + by->points;
			if (!best || points[at] > points[best_at]) {
				best = by;
				best_at = at;
			}
		}
	}
	keymap_deinit(&map);
	if (!best)
		return NULL;
	*percent = record_percent(points[best_at], m->levels[level]);
	return record_waker_name(m, best->thread, best->event);
}

static char *describe_wait(const struct record_model *m, const struct record_wait *w)
{
	_cleanup_free_ char *where = place(m, w), *kind = w->kind ? text_clean(w->kind, "?") : NULL;

	return xasprintf("%.1f %% of it in %s%s%s%s",
			 record_percent(w->points, m->levels[w->level]), where, kind ? " (" : "",
			 kind ? kind : "", kind ? ")" : "");
}

static char *io_hint(const struct record_model *m, const char *what)
{
	double percent;
	_cleanup_free_ char *waker = main_waker(m, LEVEL_IO, &percent);
	_cleanup_free_ char *device =
		waker ? xasprintf(", %.0f %% ended by %s", percent, waker) : xstrdup("");

	return xasprintf("%.1f %% of the time is waiting for I/O: %s%s. A faster device, reading "
			 "ahead, a larger cache or asynchronous I/O there would shorten it.",
			 record_percent(m->levels[LEVEL_IO], m->points), what, device);
}

static char *lock_hint(const struct record_model *m, const struct record_wait *w, const char *what)
{
	double percent;
	_cleanup_free_ char *waker = main_waker(m, LEVEL_LOCK, &percent);
	_cleanup_free_ char *by =
		waker ? xasprintf(", %.0f %% ended by %s", percent, waker) : xstrdup("");

	if (waits_for_work(m, w))
		return xasprintf("%.1f %% of the time is waiting for other threads: %s%s. This is "
				 "no lock that is held too long: what they wait for must come "
				 "sooner, so look at what those that wake them do.",
				 record_percent(m->levels[LEVEL_LOCK], m->points), what, by);
	return xasprintf(
		"%.1f %% of the time is waiting for locks: %s%s. Do less while the lock is "
		"held, or split it into several.",
		record_percent(m->levels[LEVEL_LOCK], m->points), what, by);
}

/* The name of the threads that waited most for a CPU, and their share. */
static const char *main_comm(const struct record_model *m, double *percent)
{
	struct keymap map = { .key_size = sizeof(uint64_t) };
	_cleanup_free_ uint64_t *points = NULL;
	const char *best = "";
	uint64_t most = 0;
	size_t cap = 0;

	for (size_t i = 0; i < m->n_entries; i++) {
		const struct record_entry *e = &m->entries[i];
		uint64_t key = (uintptr_t)e->comm;
		size_t n = map.n, at;

		if (e->level != LEVEL_SCHED)
			continue;
		at = keymap_add(&map, &key);
		array_reserve(points, cap, map.n);
		points[at] = (at == n ? 0 : points[at]) + e->points;
		if (points[at] > most) {
			most = points[at];
			best = e->comm;
		}
	}
	keymap_deinit(&map);
	*percent = record_percent(most, m->levels[LEVEL_SCHED]);
	return best;
}

static char *sched_hint(const struct record_model *m, const char *what)
{
	double percent;
	_cleanup_free_ char *comm = text_clean(main_comm(m, &percent), "?");
	size_t n = 0;

	for (size_t i = 0; i < m->rec->n_threads; i++) {
		const uint64_t *p = m->by_thread[i];

		n += p[LEVEL_USER] + p[LEVEL_KERNEL] + p[LEVEL_SCHED] > 0;
	}
	return xasprintf("%.1f %% of the time is waiting for a CPU (%zu threads ran or wanted to, "
			 "on %u CPUs): %.0f %% of it by %s, %s. Fewer threads, more CPUs, or "
			 "pinning threads to CPUs would shorten it.",
			 record_percent(m->levels[LEVEL_SCHED], m->points), n, m->rec->header.cpus,
			 percent, comm, what);
}

struct record_hint *record_make_hints(const struct record_model *m, size_t *n)
{
	static const enum record_level levels[] = { LEVEL_IO, LEVEL_LOCK, LEVEL_SCHED };
	struct record_hint *hints = xcalloc(ARRAY_SIZE(levels), sizeof(*hints));

	*n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		enum record_level level = levels[i];
		const struct record_wait *w = heaviest(m, level);
		_cleanup_free_ char *what = w ? describe_wait(m, w) : NULL;
		struct record_hint *h = &hints[*n];

		if (!w || m->levels[level] < HINT_POINTS ||
		    record_percent(m->levels[level], m->points) < HINT_PERCENT)
			continue;
		h->level = level;
		h->wait = w;
		h->text = level == LEVEL_IO	? io_hint(m, what)
			  : level == LEVEL_LOCK ? lock_hint(m, w, what)
						: sched_hint(m, what);
		(*n)++;
	}
	return hints;
}
