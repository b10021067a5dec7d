// SPDX-License-Identifier: GPL-2.0-or-later
#include "program.h"

#include "base/base.h"

struct sim_program *program_create(const char *name, int cores)
{
	struct sim_program *p = xcalloc(1, sizeof(*p));

	snprintf(p->name, sizeof(p->name), "%s", name);
	p->cores = cores;
	return p;
}

void program_free(struct sim_program *p)
{
	for (int i = 0; i < p->n_tasks; i++)
		free(p->task[i].op);
	free(p->task);
	free(p->object);
	free(p);
}

struct sim_program *program_copy(const struct sim_program *p)
{
	struct sim_program *q = program_create(p->name, p->cores);

	q->unmendable = p->unmendable;
	for (int i = 0; i < p->n_objects; i++)
		program_object(q, p->object[i].size);
	for (int i = 0; i < p->n_tasks; i++) {
		program_task(q);
		q->task[i].dormant = p->task[i].dormant;
		q->task[i].pinned = p->task[i].pinned;
		q->task[i].urgent = p->task[i].urgent;
		q->task[i].stranger = p->task[i].stranger;
		q->task[i].kernel = p->task[i].kernel;
		for (int k = 0; k < p->task[i].n; k++) {
			const struct sim_op *op = &p->task[i].op[k];

			program_op(q, i, op->kind, op->ns, op->object, op->label);
		}
	}
	return q;
}

int program_task(struct sim_program *p)
{
	p->task = xreallocarray(p->task, p->n_tasks + 1, sizeof(*p->task));
	p->task[p->n_tasks] = (struct sim_task){ .pinned = -1 };
	return p->n_tasks++;
}

int program_object(struct sim_program *p, int size)
{
	p->object = xreallocarray(p->object, p->n_objects + 1, sizeof(*p->object));
	p->object[p->n_objects].size = size;
	return p->n_objects++;
}

void program_op(struct sim_program *p, int task, enum sim_op_kind kind, int64_t ns, int object,
		enum sim_label label)
{
	struct sim_task *t = &p->task[task];

	t->op = xreallocarray(t->op, t->n + 1, sizeof(*t->op));
	t->op[t->n++] = (struct sim_op){ kind, ns, object, label };
}

void program_add_strangers(struct sim_program *p, int n, int64_t run, int64_t sleep)
{
	for (int i = 0; i < n; i++) {
		int t = program_task(p);

		p->task[t].stranger = true;
		program_op(p, t, OP_COMPUTE, run, -1, SIM_REST);
		if (sleep)
			program_op(p, t, OP_SLEEP, sleep, -1, SIM_REST);
	}
}

void program_target_waits(struct sim_program *p)
{
	for (int i = 0; i < p->n_tasks; i++) {
		for (int k = 0; k < p->task[i].n; k++) {
			struct sim_op *op = &p->task[i].op[k];

			if (op->kind == OP_SLEEP || op->kind == OP_IO)
				op->label = SIM_TARGET;
		}
	}
}

void program_target_calls(struct sim_program *p)
{
	for (int i = 0; i < p->n_tasks; i++) {
		for (int k = 0; k + 1 < p->task[i].n; k++) {
			struct sim_op *op = &p->task[i].op[k];

			if (op->kind == OP_SPIN_LOCK)
				op->label = op[1].label;
		}
	}
}

void program_target_requests(struct sim_program *p)
{
	for (int i = 0; i < p->n_tasks; i++) {
		for (int k = 0; k < p->task[i].n; k++) {
			struct sim_op *op = &p->task[i].op[k];

			op->label = op->kind == OP_IO ? SIM_TARGET : SIM_REST;
		}
	}
}

void program_commit_requests(struct sim_program *p)
{
	int journal = -1, disk = -1, n = 0, t;
	int64_t ns = 0;

	for (int i = 0; i < p->n_tasks; i++) {
		for (int k = 0; k < p->task[i].n; k++) {
			struct sim_op *op = &p->task[i].op[k];

			if (op->kind != OP_IO)
				continue;
			if (journal < 0)
				journal = program_object(p, 1), disk = program_object(p, 1);
			ns += op->ns;
			n++;
			*op = (struct sim_op){ OP_REQUEST, 0, journal, SIM_TARGET };
		}
	}
	if (!n)
		return;
	t = program_task(p);
	p->task[t].kernel = true;
	program_op(p, t, OP_TAKE, 0, journal, SIM_REST);
	program_op(p, t, OP_COMPUTE, ns / n / 50, -1, SIM_SERVED);
	program_op(p, t, OP_IO, ns / n, disk, SIM_SERVED);
	program_op(p, t, OP_ANSWER, 0, journal, SIM_REST);
}

void program_print(const struct sim_program *p)
{
	static const char *const names[] = {
		[OP_COMPUTE] = "compute",
		[OP_LOCK] = "lock",
		[OP_UNLOCK] = "unlock",
		[OP_HAND_OVER] = "hand-over",
		[OP_READ_LOCK] = "read-lock",
		[OP_WRITE_LOCK] = "write-lock",
		[OP_RW_UNLOCK] = "rw-unlock",
		[OP_SPIN_LOCK] = "spin-lock",
		[OP_SPIN_UNLOCK] = "spin-unlock",
		[OP_BARRIER] = "barrier",
		[OP_SPIN_BARRIER] = "spin-barrier",
		[OP_SEND] = "send",
		[OP_RECEIVE] = "receive",
		[OP_SLEEP] = "sleep",
		[OP_SLEEP_UNTIL] = "sleep-until",
		[OP_ARM] = "arm",
		[OP_AWAIT] = "await",
		[OP_IO] = "io",
		[OP_SPAWN] = "spawn",
		[OP_JOIN] = "join",
		[OP_BURST] = "burst",
		[OP_REQUEST] = "request",
		[OP_TAKE] = "take",
		[OP_ANSWER] = "answer",
		[OP_PROGRESS] = "progress",
	};

	printf("program \"%s\": %d tasks on %d cores\n", p->name, p->n_tasks, p->cores);
	for (int i = 0; i < p->n_tasks; i++) {
		const struct sim_task *t = &p->task[i];

		printf("  task %d%s:", i,
		       t->dormant  ? " (when spawned)"
		       : t->kernel ? " (kernel)"
				   : "");
		for (int k = 0; k < t->n; k++) {
			const struct sim_op *op = &t->op[k];

			printf("%s %s", k ? "," : "", names[op->kind]);
			if (op->object >= 0)
				printf(" %d", op->object);
			if (op->ns)
				printf(" %.3f ms", op->ns / 1e6);
			if (op->label == SIM_TARGET)
				printf(" TARGET");
			if (op->label == SIM_SERVED)
				printf(" for the target");
		}
		printf("\n");
	}
	for (int i = 0; i < p->n_objects; i++) {
		if (p->object[i].size > 1)
			printf("  object %d: size %d\n", i, p->object[i].size);
	}
}
