// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/rerun.h"

#define SLICE	   3000000	 /* ns that a CPU is had for while others want it */
#define SLICES	   100000	 /* in all of a recording, at most: of a long one they are longer */
#define SLICES_ALL (16 * SLICES) /* of all threads */
#define SHORTER	   1000000	 /* who has had so much less of it takes it at once */
#define WORKER	   0.01		 /* of the time that a thread runs: all depends on such */
#define ANSWERS	   0.02 /* of the times that it may have needed one: it is known to wait for them */
#define AT_LAST	   0.95 /* of the time: who did something after that would have gone on */

enum state { ABSENT, READY, RUNNING, WAITING, MEETING, OVER };

struct thread {
	enum state state;
	size_t at;	/* its next step */
	uint64_t left;	/* of a run */
	uint64_t had;	/* of CPUs, as the scheduler counts it */
	uint64_t since; /* it runs */
	uint32_t cpu;
	uint32_t turn;	   /* tells apart what is said about it */
	uint32_t meeters;  /* who waits for it to come to a step of its, the first one */
	uint32_t next;	   /* the one after this */
	size_t meets_step; /* of the one that it waits for */
	bool *given;	   /* by step: that wait is over already */
};

struct entry {
	uint64_t key, order;
	uint32_t thread, turn;
};

struct heap {
	struct entry *v;
	size_t n, cap;
};

struct machine {
	const struct work *w;
	const struct rerun_rules *rules;
	struct rerun *out;
	struct thread *threads;
	uint32_t *cpus; /* who runs there; TRACE_NONE */
	uint32_t n_cpus, n_idle;
	struct heap ready, events; /* by what they have had; by time */
	uint64_t now, order, least, slice;
	size_t cap_visits;
	bool over;
};

static bool before(const struct entry *a, const struct entry *b)
{
	return a->key != b->key ? a->key < b->key : a->order < b->order;
}

static void push(struct heap *h, struct entry e)
{
	size_t i = h->n++;

	array_reserve(h->v, h->cap, h->n);
	while (i && before(&e, &h->v[(i - 1) / 2])) {
		h->v[i] = h->v[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->v[i] = e;
}

static struct entry pop(struct heap *h)
{
	struct entry top = h->v[0], last = h->v[--h->n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && before(&h->v[child + 1], &h->v[child]))
			child++;
		if (!before(&h->v[child], &last))
			break;
		h->v[i] = h->v[child];
		i = child;
	}
	if (h->n)
		h->v[i] = last;
	return top;
}

static void at(struct machine *m, uint32_t thread, uint64_t time)
{
	push(&m->events, (struct entry){ time, m->order++, thread, m->threads[thread].turn });
}

static void leave_cpu(struct machine *m, uint32_t thread)
{
	struct thread *t = &m->threads[thread];

	t->turn++;
	m->cpus[t->cpu] = TRACE_NONE;
	m->n_idle++;
}

/* Its CPU time so far; a step that is done is behind it. */
static void count(struct machine *m, struct thread *t)
{
	uint64_t ran = m->now - t->since;

	t->had += ran;
	t->since = m->now;
	if (!t->left)
		return;
	t->left -= ran < t->left ? ran : t->left;
	if (!t->left)
		t->at++;
}

static void enqueue(struct machine *m, uint32_t thread)
{
	struct thread *t = &m->threads[thread];

	t->state = READY;
	t->turn++;
	push(&m->ready,
	     (struct entry){ m->rules->in_turn ? m->order : t->had, m->order, thread, t->turn });
	m->order++;
}

/* The CPU of the one that has had most, if that is more than @t has. */
static void preempt_for(struct machine *m, const struct thread *t)
{
	uint32_t worst = TRACE_NONE;
	uint64_t most = t->had + SHORTER, had;

	for (uint32_t c = 0; c < m->n_cpus; c++) {
		const struct thread *o = &m->threads[m->cpus[c]];

		had = o->had + m->now - o->since;
		if (had > most) {
			most = had;
			worst = m->cpus[c];
		}
	}
	if (worst == TRACE_NONE)
		return;
	count(m, &m->threads[worst]);
	leave_cpu(m, worst);
	enqueue(m, worst);
}

/* It wants a CPU, after a wait. */
static void wants_cpu(struct machine *m, uint32_t thread)
{
	struct thread *t = &m->threads[thread];
	uint64_t least = m->least > m->slice ? m->least - m->slice : 0;

	if (t->had < least)
		t->had = least;
	enqueue(m, thread);
	if (!m->n_idle && !m->rules->in_turn)
		preempt_for(m, t);
}

static void release_meeters(struct machine *m, uint32_t thread)
{
	struct thread *t = &m->threads[thread];
	uint32_t *link = &t->meeters;

	while (*link != TRACE_NONE) {
		uint32_t other = *link;
		struct thread *o = &m->threads[other];

		if (o->meets_step > t->at && t->state != OVER) {
			link = &o->next;
			continue;
		}
		*link = o->next;
		o->next = TRACE_NONE;
		wants_cpu(m, other);
	}
}

static void meet(struct machine *m, uint32_t thread, uint32_t other, size_t step)
{
	struct thread *t = &m->threads[thread], *o = &m->threads[other];

	leave_cpu(m, thread);
	t->state = MEETING;
	t->meets_step = step;
	t->next = o->meeters;
	o->meeters = thread;
}

static void give(struct machine *m, uint32_t thread, size_t step)
{
	struct thread *t = &m->threads[thread];

	t->given[step] = true;
	if (t->state != WAITING || t->at != step)
		return;
	t->at++;
	wants_cpu(m, thread);
}

static bool meets(const struct machine *m, uint8_t wait)
{
	if (wait == TRACE_WAIT_LOCK || m->rules->meets == RERUN_NOBODY)
		return false;
	return m->rules->meets == RERUN_ALL || wait == TRACE_WAIT_FUTEX ||
	       wait == TRACE_WAIT_WRITE || wait == TRACE_WAIT_READ;
}

static bool is_yet_to_come(const struct machine *m, const struct work_step *s)
{
	const struct thread *o = &m->threads[s->other];

	return meets(m, s->wait) && !s->apart && o->state != OVER && o->at < s->step;
}

/* Of those that it wakes in one breath, one who has not come yet; NULL: all have. */
static const struct work_step *late_one(const struct machine *m, uint32_t thread)
{
	const struct work_thread *w = &m->w->threads[thread];
	const struct work_step *s = &w->steps[m->threads[thread].at], *end = w->steps + w->n;
	uint32_t more = s->more;

	if (is_yet_to_come(m, s))
		return s;
	for (s++; more && s < end; s++) {
		if (s->kind != WORK_WAKE)
			continue;
		more--;
		if (is_yet_to_come(m, s))
			return s;
	}
	return NULL;
}

static bool needs_answers(const struct machine *m, const struct work_thread *w)
{
	if (m->rules->in_step)
		return true;
	return m->rules->meets != RERUN_NOBODY && w->answers >= ANSWERS * w->afters;
}

static bool would_go_on(const struct machine *m, uint32_t thread)
{
	const struct work_thread *w = &m->w->threads[thread];

	return w->ran >= WORKER * m->w->end && w->last >= AT_LAST * m->w->end;
}

/* There is no more of it in the recording. */
static void runs_out(struct machine *m, uint32_t thread)
{
	leave_cpu(m, thread);
	m->threads[thread].state = OVER;
	if (!m->over && would_go_on(m, thread)) {
		m->over = true;
		m->out->end = m->now;
	}
	release_meeters(m, thread);
}

static void begin_wait(struct machine *m, uint32_t thread, const struct work_step *s)
{
	struct thread *t = &m->threads[thread];
	uint64_t until = m->now + s->ns;

	leave_cpu(m, thread);
	t->state = WAITING;
	if (s->by_thread) {
		if (s->wait == TRACE_WAIT_LOCK && !m->rules->locks_in_turn &&
		    s->overtakes < UINT64_MAX)
			at(m, thread, m->now + s->overtakes);
		return;
	}
	if (m->rules->clock && s->wait != TRACE_WAIT_IO && s->wait != TRACE_WAIT_OTHER)
		until = s->at > m->now ? s->at : m->now;
	at(m, thread, until);
}

static void visit(struct machine *m)
{
	struct rerun *out = m->out;

	array_reserve(out->visits, m->cap_visits, out->n_visits + 1);
	out->visits[out->n_visits++] = m->now;
}

static void start(struct machine *m, uint32_t thread)
{
	if (m->threads[thread].state == ABSENT)
		wants_cpu(m, thread);
}

/* The one that has just got a CPU, or has run as long as it was to: on to where it runs, or waits.
 */
static void go_on(struct machine *m, uint32_t thread)
{
	const struct work_thread *w = &m->w->threads[thread];
	struct thread *t = &m->threads[thread];

	for (; t->at < w->n; t->at++) {
		const struct work_step *s = &w->steps[t->at], *late;

		switch (s->kind) {
		case WORK_RUN:
			if (!t->left)
				t->left = s->ns;
			t->turn++;
			at(m, thread,
			   m->now + (t->left < m->slice || m->rules->in_turn ? t->left : m->slice));
			return;
		case WORK_WAIT:
			release_meeters(m, thread);
			if (t->state != RUNNING)
				return;
			if (s->open) {
				runs_out(m, thread);
				return;
			}
			if (!t->given[t->at] &&
			    !(m->rules->no_locks && s->by_thread && s->wait == TRACE_WAIT_LOCK)) {
				begin_wait(m, thread, s);
				return;
			}
			break;
		case WORK_WAKE:
			late = late_one(m, thread);
			if (late) {
				meet(m, thread, late->other, late->step);
				return;
			}
			give(m, s->other, s->step);
			break;
		case WORK_FORK:
			start(m, s->other);
			break;
		case WORK_JOIN:
			if (m->threads[s->other].state != OVER) {
				meet(m, thread, s->other, SIZE_MAX);
				return;
			}
			break;
		case WORK_AFTER:
			if (needs_answers(m, w) && m->threads[s->other].state != OVER &&
			    m->threads[s->other].at < s->step) {
				meet(m, thread, s->other, s->step);
				return;
			}
			break;
		case WORK_VISIT:
			visit(m);
			break;
		case WORK_END:
			if (thread == m->w->root)
				m->out->root_end = m->now;
			leave_cpu(m, thread);
			t->state = OVER;
			release_meeters(m, thread);
			return;
		}
		if (t->state != RUNNING) { /* one that it has woken has taken its CPU */
			t->at++;
			return;
		}
	}
	runs_out(m, thread);
}

static uint32_t idle_cpu(const struct machine *m)
{
	uint32_t c = 0;

	while (m->cpus[c] != TRACE_NONE)
		c++;
	return c;
}

static void give_cpus(struct machine *m)
{
	while (m->n_idle && m->ready.n) {
		struct entry e = pop(&m->ready);
		struct thread *t = &m->threads[e.thread];

		if (t->state != READY || t->turn != e.turn)
			continue;
		t->state = RUNNING;
		t->cpu = idle_cpu(m);
		t->since = m->now;
		m->cpus[t->cpu] = e.thread;
		m->n_idle--;
		if (t->had > m->least)
			m->least = t->had;
		go_on(m, e.thread);
	}
}

/* Nobody is queued: what those who run have had at least is what one has to have. */
static void follow_least(struct machine *m)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t c = 0; c < m->n_cpus; c++) {
		const struct thread *t = &m->threads[m->cpus[c]];

		if (m->cpus[c] != TRACE_NONE && t->had + m->now - t->since < least)
			least = t->had + m->now - t->since;
	}
	if (least < UINT64_MAX && least > m->least)
		m->least = least;
}

/* It has run as far as it was to; or its wait, which no other thread ends, is over. */
static void happens(struct machine *m, const struct entry *e)
{
	struct thread *t = &m->threads[e->thread];

	if (t->state == ABSENT) {
		wants_cpu(m, e->thread);
		return;
	}
	if (t->turn != e->turn)
		return;
	if (t->state == WAITING) { /* as long as it took, or first at a lock */
		t->given[t->at++] = true;
		wants_cpu(m, e->thread);
		return;
	}
	count(m, t);
	if (t->left && m->ready.n) {
		leave_cpu(m, e->thread);
		enqueue(m, e->thread);
	} else {
		follow_least(m);
		go_on(m, e->thread);
	}
}

void rerun(const struct work *w, uint32_t cpus, const struct rerun_rules *rules, struct rerun *ret)
{
	struct machine m = { .w = w, .rules = rules, .out = ret, .n_cpus = cpus, .n_idle = cpus };

	m.slice = w->end / SLICES > SLICE ? w->end / SLICES : SLICE;
	m.slice = w->ran / SLICES_ALL > m.slice ? w->ran / SLICES_ALL : m.slice;
	*ret = (struct rerun){};
	m.threads = xcalloc(w->n_threads + 1, sizeof(*m.threads));
	m.cpus = xcalloc(cpus, sizeof(*m.cpus));
	for (uint32_t c = 0; c < cpus; c++)
		m.cpus[c] = TRACE_NONE;
	for (uint32_t i = 0; i < w->n_threads; i++) {
		m.threads[i].meeters = m.threads[i].next = TRACE_NONE;
		m.threads[i].given = xcalloc(w->threads[i].n + 1, sizeof(bool));
		if (w->threads[i].known && !w->threads[i].forked)
			at(&m, i, w->threads[i].starts);
	}
	while (m.events.n && !m.over) {
		struct entry e = pop(&m.events);

		m.now = e.key;
		happens(&m, &e);
		give_cpus(&m);
	}
	if (!m.over)
		ret->end = m.now;
	for (size_t i = 0; i < w->n_threads; i++)
		free(m.threads[i].given);
	free(m.threads);
	free(m.cpus);
	free(m.ready.v);
	free(m.events.v);
}

void rerun_free(struct rerun *r)
{
	free(r->visits);
	*r = (struct rerun){};
}
