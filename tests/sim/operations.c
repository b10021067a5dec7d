// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What tasks do between pieces of work. Operations take no time of their own. A task whose wait
 * says nothing about the outcome (a lock, a place in a queue) tries again when it is woken: who
 * comes first, gets it.
 */
#include "machine_internal.h"

#include "base/base.h"

enum outcome {
	GO_ON,	 /* done: the next operation */
	STAY,	 /* works or spins: the core is busy */
	BLOCKED, /* the core has moved on */
};

static double jitter(const struct sim *s, struct task *t)
{
	return 1 + s->o.work_jitter * (2 * rng_uniform(&t->rng) - 1);
}

static int64_t duration(const struct sim *s, struct task *t, const struct sim_op *op, bool work)
{
	double ns = op->ns * jitter(s, t);

	if (work)
		ns *= s->slowness;
	if (op->label != SIM_REST)
		ns *= 1 - s->real;
	return ns;
}

static enum outcome wait_in(struct sim *s, int c, struct list *l)
{
	list_push(l, s->core[c].cur);
	task_block(s, c);
	return BLOCKED;
}

static enum outcome spin_in(struct task *t, struct list *l, int self)
{
	list_push(l, self);
	t->step = STEP_WAITING;
	t->granted = false;
	t->rem = FOREVER;
	return STAY;
}

static void grant(struct sim *s, int t, int from)
{
	struct task *x = &s->task[t];
	struct core *k = &s->core[x->core];
	bool running = x->state == TASK_RUNNING && !k->stop;

	if (x->state == TASK_RUNNING)
		scoz_spin_leave(&k->account, s->core[from].account.absorbed,
				scoz_lump(s->o.nominal_period ? s->o.nominal_period : s->o.period,
					  s->speedup),
				s->delay, s->now);
	if (running)
		core_update(s, x->core);
	x->granted = true;
	x->rem = 0;
	if (running)
		core_resume(s, x->core);
}

static void wake_one(struct sim *s, int c, struct list *l)
{
	if (l->n)
		task_wake(s, list_shift(l), c);
}

static void wake_all(struct sim *s, int c, struct list *l)
{
	int n = l->n; /* a woken task may be back at once, on another core */

	while (n--)
		task_wake(s, list_shift(l), c);
}

static enum outcome do_compute(struct sim *s, struct task *t, const struct sim_op *op)
{
	if (t->step == STEP_WAITING) {
		core_enters(s, t->core, SIM_REST);
		return GO_ON;
	}
	t->rem = duration(s, t, op, true);
	if (!t->rem)
		return GO_ON;
	core_enters(s, t->core, op->label);
	t->step = STEP_WAITING;
	return STAY;
}

static enum outcome do_lock(struct sim *s, int c, struct object *o)
{
	if (o->holder != NOBODY)
		return wait_in(s, c, &o->waiting);
	o->holder = s->core[c].cur;
	return GO_ON;
}

static enum outcome do_rw_lock(struct sim *s, int c, struct object *o, bool write)
{
	int self = s->core[c].cur;

	if (write) {
		if (o->holder != self && (o->holder != NOBODY || o->count))
			return wait_in(s, c, &o->waiting);
		o->holder = self;
	} else {
		if (o->holder != NOBODY || o->waiting.n)
			return wait_in(s, c, &o->waiting2);
		o->count++;
	}
	return GO_ON;
}

/* The last reader makes it the writer's that waits, as in glibc: no reader comes first. */
static void do_rw_unlock(struct sim *s, int c, struct object *o)
{
	if (o->holder == s->core[c].cur)
		o->holder = NOBODY;
	else
		o->count--;
	if (o->count)
		return;
	if (o->waiting.n) {
		o->holder = o->waiting.v[0];
		wake_one(s, c, &o->waiting);
	} else {
		wake_all(s, c, &o->waiting2);
	}
}

static enum outcome do_spin_lock(struct sim *s, int c, const struct sim_op *op, struct object *o)
{
	struct task *t = &s->task[s->core[c].cur];

	if (t->step == STEP_WAITING)
		return t->granted ? GO_ON : STAY;
	if (o->holder != NOBODY) {
		core_enters(s, c, op->label);
		if (s->o.spins && s->o.model == SCOZ_MODEL_WAIT)
			scoz_spin_enter(&s->core[c].account, s->now);
		return spin_in(t, &o->waiting, s->core[c].cur);
	}
	o->holder = s->core[c].cur;
	return GO_ON;
}

static void do_spin_unlock(struct sim *s, struct object *o, int c)
{
	o->holder = o->waiting.n ? list_shift(&o->waiting) : NOBODY;
	if (o->holder != NOBODY)
		grant(s, o->holder, c);
}

static enum outcome do_barrier(struct sim *s, int c, struct object *o)
{
	struct task *t = &s->task[s->core[c].cur];

	if (t->step == STEP_WAITING)
		return GO_ON;
	if (o->count + 1 < o->size) {
		o->count++;
		t->step = STEP_WAITING;
		return wait_in(s, c, &o->waiting);
	}
	o->count = 0;
	wake_all(s, c, &o->waiting);
	return GO_ON;
}

static enum outcome do_spin_barrier(struct sim *s, int c, struct object *o)
{
	struct task *t = &s->task[s->core[c].cur];
	int n = o->waiting.n;

	if (t->step == STEP_WAITING)
		return t->granted ? GO_ON : STAY;
	if (o->count + 1 < o->size) {
		o->count++;
		return spin_in(t, &o->waiting, s->core[c].cur);
	}
	o->count = 0;
	while (n--)
		grant(s, list_shift(&o->waiting), c);
	return GO_ON;
}

static enum outcome do_queue(struct sim *s, int c, struct object *o, bool send)
{
	if (send ? o->count >= o->size : !o->count)
		return wait_in(s, c, send ? &o->waiting : &o->waiting2);
	o->count += send ? 1 : -1;
	wake_one(s, c, send ? &o->waiting2 : &o->waiting);
	return GO_ON;
}

static enum outcome do_sleep(struct sim *s, int c, const struct sim_op *op)
{
	int self = s->core[c].cur;
	struct task *t = &s->task[self];
	int64_t until;

	if (t->step == STEP_WAITING)
		return GO_ON;
	if (op->kind == OP_SLEEP_UNTIL) {
		until = t->next_period ? t->next_period + op->ns : s->now + op->ns;
		t->next_period = until;
	} else {
		until = s->now + duration(s, t, op, false);
	}
	if (until <= s->now)
		return GO_ON;
	t->step = STEP_WAITING;
	event_add(&s->events, until, EV_TIMER, self, 0);
	task_block(s, c);
	return BLOCKED;
}

static enum outcome do_burst(struct sim *s, int c, const struct sim_op *op)
{
	int self = s->core[c].cur;
	struct task *t = &s->task[self];
	int64_t begin, length;

	if (t->step == STEP_BEGIN) {
		if (!t->next_period)
			t->rng = rng_seed(s->o.seed, 60000 + op->object);
		begin = t->next_period + weather_pause(&t->rng, op->ns);
		length = weather_length(&t->rng);
		t->next_period = begin + length;
		t->step = STEP_WAITING;
		if (begin > s->now) {
			event_add(&s->events, begin, EV_TIMER, self, 0);
			task_block(s, c);
			return BLOCKED;
		}
	}
	t->rem = t->step == STEP_WAITING ? t->next_period - s->now : 0;
	t->step = STEP_DONE;
	if (t->rem > 0)
		return STAY;
	t->rem = 0;
	return GO_ON;
}

static enum outcome do_await(struct sim *s, int c)
{
	struct task *t = &s->task[s->core[c].cur];

	if (t->fired || !t->armed) {
		t->armed = t->fired = false;
		return GO_ON;
	}
	t->step = STEP_WAITING;
	task_block(s, c);
	return BLOCKED;
}

static void serve(struct sim *s, int object, int t)
{
	s->object[object].count++;
	event_add(&s->events, s->now + s->task[t].service, EV_DEVICE, object, t);
}

static enum outcome do_io(struct sim *s, int c, const struct sim_op *op)
{
	int self = s->core[c].cur;
	struct task *t = &s->task[self];
	struct object *o = &s->object[op->object];

	if (t->step == STEP_WAITING)
		return GO_ON;
	t->step = STEP_WAITING;
	t->service = duration(s, t, op, false);
	core_release(s, c, false);
	t->submitted = s->core[c].account.absorbed;
	t->issued = s->now;
	trace_asks(s, self, c, op->object);
	if (o->count < o->size)
		serve(s, op->object, self);
	else
		list_push(&o->waiting, self);
	task_block(s, c);
	return BLOCKED;
}

static enum outcome do_request(struct sim *s, int c, struct object *o)
{
	struct task *t = &s->task[s->core[c].cur];
	int server = o->holder;

	if (t->step == STEP_WAITING)
		return GO_ON;
	t->step = STEP_WAITING;
	list_push(&o->waiting, s->core[c].cur);
	o->holder = NOBODY;
	if (server != NOBODY)
		task_wake(s, server, c);
	task_block(s, c);
	return BLOCKED;
}

static enum outcome do_take(struct sim *s, int c, struct object *o)
{
	if (!o->waiting.n) {
		o->holder = s->core[c].cur;
		task_block(s, c);
		return BLOCKED;
	}
	while (o->waiting.n)
		list_push(&o->waiting2, list_shift(&o->waiting));
	return GO_ON;
}

static int free_task(struct sim *s)
{
	for (int i = s->program->n_tasks; i < s->n_tasks; i++) {
		if (s->task[i].exited && s->task[i].parent == NOBODY)
			return i;
	}
	array_reserve(s->task, s->cap_tasks, (size_t)s->n_tasks + 1);
	memset(&s->task[s->n_tasks], 0, sizeof(*s->task));
	return s->n_tasks++;
}

/* Children of one place in the program get equal work in all runs: comparisons are paired. */
static void do_spawn(struct sim *s, int c, int which)
{
	int self = s->core[c].cur, t = free_task(s);
	struct list children = s->task[t].children;
	uint32_t version = s->task[t].version;

	s->task[t] = (struct task){ .spec = &s->program->task[which],
				    .parent = self,
				    .children = children,
				    .version = version + 1,
				    .rng = rng_uniform(&s->task[self].rng) * 0x1p63 };
	list_push(&s->task[self].children, t);
	task_start(s, t, c,
		   s->program->task[which].pinned >= 0 ? s->program->task[which].pinned : NOBODY);
}

static enum outcome do_join(struct sim *s, int c)
{
	struct task *t = &s->task[s->core[c].cur];

	if (!s->task[t->children.v[0]].exited) {
		t->step = STEP_WAITING;
		task_block(s, c);
		return BLOCKED;
	}
	s->task[list_shift(&t->children)].parent = NOBODY;
	return GO_ON;
}

static void do_exit(struct sim *s, int c)
{
	struct task *t = &s->task[s->core[c].cur];
	struct task *parent = &s->task[t->parent];

	t->exited = true;
	if (parent->state == TASK_BLOCKED && parent->spec->op[parent->pc].kind == OP_JOIN &&
	    parent->children.v[0] == s->core[c].cur)
		task_wake(s, t->parent, c);
	task_exit(s, c);
}

static void do_progress(struct sim *s, int c)
{
	s->progress.visits++;
	trace_progress(s, c);
	scoz_sink_counts(&s->task[s->core[c].cur].sink);
	s->progress.last_time = s->now;
	s->progress.last_virtual = s->now - s->core[c].account.absorbed - core_unreleased(s, c);
}

static void do_answer(struct sim *s, int c, struct object *o);

static enum outcome step(struct sim *s, int c)
{
	struct task *t = &s->task[s->core[c].cur];
	const struct sim_op *op = &t->spec->op[t->pc];
	struct object *o = op->object >= 0 && op->kind != OP_BURST ? &s->object[op->object] : NULL;

	switch (op->kind) {
	case OP_COMPUTE:
		return do_compute(s, t, op);
	case OP_LOCK:
		return do_lock(s, c, o);
	case OP_UNLOCK:
		o->holder = NOBODY;
		wake_one(s, c, &o->waiting);
		return GO_ON;
	case OP_HAND_OVER:
		return t->step == STEP_WAITING || o->waiting.n ? do_compute(s, t, op) : GO_ON;
	case OP_READ_LOCK:
	case OP_WRITE_LOCK:
		return do_rw_lock(s, c, o, op->kind == OP_WRITE_LOCK);
	case OP_RW_UNLOCK:
		do_rw_unlock(s, c, o);
		return GO_ON;
	case OP_SPIN_LOCK:
		return do_spin_lock(s, c, op, o);
	case OP_SPIN_UNLOCK:
		do_spin_unlock(s, o, c);
		return GO_ON;
	case OP_BARRIER:
		return do_barrier(s, c, o);
	case OP_SPIN_BARRIER:
		return do_spin_barrier(s, c, o);
	case OP_SEND:
	case OP_RECEIVE:
		return do_queue(s, c, o, op->kind == OP_SEND);
	case OP_SLEEP:
	case OP_SLEEP_UNTIL:
		return do_sleep(s, c, op);
	case OP_ARM:
		t->armed = true;
		t->fired = false;
		core_release(s, c, false);
		t->armed_account = s->core[c].account.absorbed;
		t->issued = s->now;
		event_add(&s->events, s->now + duration(s, t, op, false), EV_TIMER, s->core[c].cur,
			  1);
		return GO_ON;
	case OP_AWAIT:
		return do_await(s, c);
	case OP_BURST:
		return do_burst(s, c, op);
	case OP_IO:
		return do_io(s, c, op);
	case OP_SPAWN:
		do_spawn(s, c, op->object);
		return GO_ON;
	case OP_JOIN:
		return do_join(s, c);
	case OP_REQUEST:
		return do_request(s, c, o);
	case OP_TAKE:
		return do_take(s, c, o);
	case OP_ANSWER:
		do_answer(s, c, o);
		return GO_ON;
	case OP_PROGRESS:
		do_progress(s, c);
		return GO_ON;
	}
	return GO_ON;
}

void operations_run(struct sim *s, int c)
{
	struct core *k = &s->core[c];

	for (;;) {
		int self = k->cur;
		struct task *t = &s->task[self];
		enum outcome outcome;

		if (t->pc >= t->spec->n) {
			if (t->spec->dormant) {
				do_exit(s, c);
				return;
			}
			t->pc = 0;
		}
		outcome = step(s, c);
		t = &s->task[self]; /* spawning may have moved it */
		if (outcome == BLOCKED)
			return;
		if (outcome == STAY) {
			if (!(k->resched && schedule_preempt(s, c)))
				core_resume(s, c);
			return;
		}
		t->step = STEP_BEGIN;
		t->rem = 0;
		t->pc++;
	}
}

/*
 * A device, a timer or a thread of the kernel has ended the wait of @t, which took it @length; now
 * it would have absorbed @most if it had absorbed all of it. Is it the target?
 */
static void wait_ended(struct sim *s, int t, struct scoz_device *device, uint64_t length,
		       int64_t most)
{
	struct task *x = &s->task[t];

	x->waited_in_target = s->o.waits && s->o.model == SCOZ_MODEL_WAIT && !is_apart(s, x) &&
			      x->spec->op[x->pc].label == SIM_TARGET;
	x->wait_hit = x->waited_in_target ? scoz_wait_inserts(length, s->speedup) : 0;
	x->wait_limit = most - x->account.absorbed;
	x->wait_device = device;
	if (device)
		x->wait_booked = device->booked;
}

/* By a device or a timer; @ender: what it is to inherit, NULL: not known. */
static void end_wait(struct sim *s, int t, struct scoz_device *device, uint64_t length,
		     const int64_t *ender)
{
	const struct task *x = &s->task[t];
	int64_t most = x->account.absorbed + s->now - x->account.since;

	if (ender)
		task_wake_submitted(s, t, *ender);
	else
		task_wake(s, t, OUTSIDE);
	wait_ended(s, t, device, length, most);
}

/* By a thread of the kernel on core @c, whose account is @device; NULL: it has none. */
static void end_request(struct sim *s, int t, int c, struct scoz_device *device)
{
	struct task *x = &s->task[t];
	int64_t most = x->account.absorbed + s->now - x->account.since;
	uint64_t length = s->now - x->account.since;
	int64_t ender;

	if (is_server(s, x)) { /* it has asked on behalf of others */
		task_wake(s, t, c);
		return;
	}
	if (device) {
		ender = scoz_device_ends(device, x->account.absorbed, x->account.since, s->delay,
					 s->now);
		length = device->served;
		device->served = 0;
		task_wake_served(s, t, c, ender);
	} else {
		task_wake(s, t, c);
	}
	wait_ended(s, t, device, length, most);
}

static void do_answer(struct sim *s, int c, struct object *o)
{
	while (o->waiting2.n)
		end_request(s, list_shift(&o->waiting2), c, s->servers ? &o->device : NULL);
}

void operations_timer(struct sim *s, int t, bool armed)
{
	struct task *x = &s->task[t];

	if (!armed) {
		end_wait(s, t, NULL, s->now - x->account.since, NULL);
		return;
	}
	x->fired = true;
	if (x->state == TASK_BLOCKED && x->spec->op[x->pc].kind == OP_AWAIT)
		end_wait(s, t, NULL, s->now - x->issued, &x->armed_account);
}

void operations_device(struct sim *s, int object, int t)
{
	struct object *o = &s->object[object];
	struct task *x = &s->task[t];
	uint64_t served;
	int64_t ender;

	trace_done(s, t, object);
	o->count--;
	if (o->waiting.n)
		serve(s, object, list_shift(&o->waiting));
	if (!s->devices || is_server(s, x)) {
		end_wait(s, t, NULL, s->now - x->account.since, &x->submitted);
		return;
	}
	ender = scoz_device_ends(&o->device, x->submitted, x->issued, s->delay, s->now);
	served = o->device.served;
	o->device.served = 0;
	end_wait(s, t, &o->device, served, &ender);
}
