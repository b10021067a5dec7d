// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The heaviest waits, and what to do about them. The hints are those of Ahn et al. (OSDI 2024),
 * section 3.2: much I: faster devices or asynchronous I/O; much S: fewer threads, more CPUs,
 * pinning; much L: shorter critical sections, if somebody is in one. A hint is given only for a
 * class with a real share, and names what the share consists of.
 */
#include "tools/scoz/recording/record_model.h"
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

struct waker_key {
	uint32_t wait, thread;
	const char *event;
	uint64_t holds;
};

/* Where each pair of a wait and a thread or event stands in its list. */
struct waker_index {
	struct keymap map;
	size_t *at, cap;
};

static void add_waker(struct record_wakers *w, struct waker_index *index,
		      const struct waker_key *key, uint64_t points)
{
	size_t n = index->map.n, i = keymap_add(&index->map, key);

	if (i == n) {
		array_reserve(index->at, index->cap, n + 1);
		index->at[i] = w->n;
		array_reserve(w->list, w->cap, w->n + 1);
		w->list[w->n++] = (struct record_waker){ key->thread, key->event, 0 };
	}
	w->list[index->at[i]].points += points;
}

static void add_wakers(struct record_wait *w, struct waker_index *index, size_t wait,
		       const struct record_entry *e)
{
	const struct waker_key by = { wait, e->waker, e->event, false };
	const struct waker_key holds = { wait, e->holder, NULL, true };

	add_waker(&w->wakers, index, &by, e->points);
	if (e->holder != RECORDING_NONE)
		add_waker(&w->holders, index, &holds, e->points);
}

static void sort_wakers(struct record_wakers *w)
{
	if (w->n)
		qsort(w->list, w->n, sizeof(*w->list), compare_waker);
}

void record_make_waits(struct record_model *m)
{
	struct wait_key {
		uint32_t level, stack;
		const char *kind;
	};
	struct keymap waits = { .key_size = sizeof(struct wait_key) };
	struct waker_index index = { .map.key_size = sizeof(struct waker_key) };
	size_t cap = 0;

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
		add_wakers(w, &index, at, e);
	}
	for (size_t i = 0; i < m->n_waits; i++) {
		sort_wakers(&m->waits[i].wakers);
		sort_wakers(&m->waits[i].holders);
	}
	if (m->n_waits)
		qsort(m->waits, m->n_waits, sizeof(*m->waits), compare_wait);
	keymap_deinit(&waits);
	keymap_deinit(&index.map);
	free(index.at);
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

/* What a hint is about: of class L those waits for which somebody holds what is wanted, or the
 * others. */
static bool is_about(const struct record_hint *h, const struct record_wait *w)
{
	return w->level == h->level &&
	       (h->level != LEVEL_LOCK || record_kind_is_held(w->kind) == h->held);
}

static const struct record_wait *heaviest(const struct record_model *m, const struct record_hint *h)
{
	for (size_t i = 0; i < m->n_waits; i++) {
		if (is_about(h, &m->waits[i]))
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

/* The event or thread that ended most of these waits, or held what was waited for; its share. */
static char *main_thread(const struct record_model *m, const struct record_hint *h, bool holder,
			 double *percent)
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
		const struct record_wakers *list = holder ? &w->holders : &w->wakers;

		for (size_t k = 0; is_about(h, w) && k < list->n; k++) {
			const struct record_waker *by = &list->list[k];
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
	*percent = record_percent(points[best_at], h->points);
	return record_waker_name(m, best->thread, best->event);
}

static char *describe_wait(const struct record_model *m, const struct record_hint *h)
{
	const struct record_wait *w = h->wait;
	_cleanup_free_ char *where = place(m, w), *kind = w->kind ? text_clean(w->kind, "?") : NULL;

	return xasprintf("%.1f %% of it in %s%s%s%s", record_percent(w->points, h->points), where,
			 kind ? " (" : "", kind ? kind : "", kind ? ")" : "");
}

static char *main_thread_text(const struct record_model *m, const struct record_hint *h,
			      bool holder)
{
	double percent;
	_cleanup_free_ char *name = main_thread(m, h, holder, &percent);

	return name ? xasprintf(", %.0f %% %s by %s", percent, holder ? "held" : "ended", name)
		    : xstrdup("");
}

/* No device, nor a thread of the kernel that waits for one in its place. */
static bool is_answer(const struct record_model *m, const struct record_waker *by)
{
	if (by->event)
		return !strcmp(by->event, "network") || !strcmp(by->event, "timer");
	return by->thread != RECORDING_NONE && strncmp(m->comms[by->thread], "iou-wrk-", 8) != 0;
}

/*
 * To the kernel all that waits for io_uring waits for I/O, if anything was asked for: also a server
 * for its clients.
 */
static uint64_t answers_awaited(const struct record_model *m)
{
	uint64_t points = 0;

	for (size_t i = 0; i < m->n_waits; i++) {
		const struct record_wait *w = &m->waits[i];

		if (w->level != LEVEL_IO || !w->kind || strcmp(w->kind, "io_uring") != 0)
			continue;
		for (size_t k = 0; k < w->wakers.n; k++) {
			if (is_answer(m, &w->wakers.list[k]))
				points += w->wakers.list[k].points;
		}
	}
	return points;
}

static char *io_hint(const struct record_model *m, const struct record_hint *h, const char *what)
{
	_cleanup_free_ char *by = main_thread_text(m, h, false);
	uint64_t answers = answers_awaited(m);

	if (2 * answers > h->points)
		return xasprintf("%.1f %% of the time counts as waiting for I/O, but %.0f %% of it "
				 "is for what io_uring was asked for and no device answers: %s%s. "
				 "Who waits there for clients or others is no problem; if the "
				 "work is late, look at what those that wake it do.",
				 record_percent(h->points, m->points),
				 record_percent(answers, h->points), what, by);
	return xasprintf("%.1f %% of the time is waiting for I/O: %s%s. A faster device, reading "
			 "ahead, a larger cache or asynchronous I/O there would shorten it.",
			 record_percent(h->points, m->points), what, by);
}

static char *lock_hint(const struct record_model *m, const struct record_hint *h, const char *what)
{
	_cleanup_free_ char *holder = main_thread_text(m, h, true);
	_cleanup_free_ char *by = main_thread_text(m, h, false);
	double share = record_percent(h->points, m->points);

	if (!h->held)
		return xasprintf("%.1f %% of the time is threads that wait until another one has "
				 "something for them: %s%s. Nobody holds a lock there. Idle "
				 "workers are no problem; if the work is late, look at what those "
				 "that wake them do.",
				 share, what, by);
	return xasprintf("%.1f %% of the time is waiting for locks: %s%s%s. Do less while the lock "
			 "is held, or split it into several.",
			 share, what, holder, by);
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

static char *sched_hint(const struct record_model *m, const struct record_hint *h, const char *what)
{
	double percent;
	_cleanup_free_ char *comm = text_clean(main_comm(m, &percent), "?");
	size_t n = 0;

	for (size_t i = 0; i < m->rec->n_threads; i++) {
		const uint64_t *p = m->by_thread[i];

		n += p[LEVEL_USER] + p[LEVEL_KERNEL] + p[LEVEL_SCHED] > 0;
	}
	return xasprintf(
		"%.1f %% of the time is waiting for a CPU (%zu thread%s ran or wanted to, "
		"on %u CPUs): %.0f %% of it by %s, %s. %s would shorten it.",
		record_percent(h->points, m->points), n, n == 1 ? "" : "s", m->rec->header.cpus,
		percent, comm, what,
		n > m->rec->header.cpus
			? "Fewer threads, more CPUs, or pinning threads to CPUs"
			: "So few do not keep each other waiting, unless they are pinned to "
			  "the same CPUs: others on these CPUs do, or a CPU quota. An idle "
			  "machine");
}

static uint64_t points_about(const struct record_model *m, const struct record_hint *h)
{
	if (h->level != LEVEL_LOCK)
		return m->levels[h->level];
	return h->held ? m->held.points : m->levels[LEVEL_LOCK] - m->held.points;
}

struct record_hint *record_make_hints(const struct record_model *m, size_t *n)
{
	static const struct record_hint about[] = { { .level = LEVEL_IO },
						    { .level = LEVEL_LOCK, .held = true },
						    { .level = LEVEL_SCHED },
						    { .level = LEVEL_LOCK } };
	struct record_hint *hints = xcalloc(ARRAY_SIZE(about), sizeof(*hints));

	*n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(about); i++) {
		struct record_hint *h = &hints[*n];
		_cleanup_free_ char *what = NULL;

		*h = about[i];
		h->points = points_about(m, h);
		h->wait = heaviest(m, h);
		if (!h->wait || h->points < HINT_POINTS ||
		    record_percent(h->points, m->points) < HINT_PERCENT)
			continue;
		what = describe_wait(m, h);
		h->text = h->level == LEVEL_IO	   ? io_hint(m, h, what)
			  : h->level == LEVEL_LOCK ? lock_hint(m, h, what)
						   : sched_hint(m, h, what);
		(*n)++;
	}
	return hints;
}
