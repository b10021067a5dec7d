// SPDX-License-Identifier: GPL-2.0-or-later
#include "shrink.h"

#include "base/base.h"

#include <math.h>

static void remove_op(struct sim_task *t, int k)
{
	memmove(&t->op[k], &t->op[k + 1], (--t->n - k) * sizeof(*t->op));
}

/* Locks go with their unlocks. */
static void leave_out_op(struct sim_program *p, int task, int k)
{
	struct sim_task *t = &p->task[task];
	struct sim_op op = t->op[k];
	enum sim_op_kind end;

	remove_op(t, k);
	switch (op.kind) {
	case OP_LOCK:
		end = OP_UNLOCK;
		break;
	case OP_SPIN_LOCK:
		end = OP_SPIN_UNLOCK;
		break;
	case OP_READ_LOCK:
	case OP_WRITE_LOCK:
		end = OP_RW_UNLOCK;
		break;
	default:
		return;
	}
	for (; k < t->n; k++) {
		if (t->op[k].kind == end && t->op[k].object == op.object) {
			remove_op(t, k);
			return;
		}
	}
}

/* A task that never runs; barriers do not wait for it. */
static void leave_out_task(struct sim_program *p, int task)
{
	struct sim_task *t = &p->task[task];

	for (int k = 0; k < t->n; k++) {
		if (t->op[k].kind == OP_BARRIER || t->op[k].kind == OP_SPIN_BARRIER)
			p->object[t->op[k].object].size--;
	}
	t->dormant = true;
	t->n = 0;
}

static bool removable(enum sim_op_kind k)
{
	return k != OP_UNLOCK && k != OP_SPIN_UNLOCK && k != OP_RW_UNLOCK && k != OP_PROGRESS &&
	       k != OP_TAKE && k != OP_ANSWER;
}

static bool fails(const struct sim_program *p, const struct sim_config *c, double speedup,
		  double seconds, double limit)
{
	struct sim_result r = study(p, c, speedup, seconds);

	return !r.stuck && isfinite(r.truth) && fabs(r.predicted - r.truth) > limit;
}

struct sim_program *shrink(const struct sim_program *p, const struct sim_config *c, double speedup,
			   double seconds, double limit)
{
	struct sim_program *best = program_copy(p), *tried;
	bool smaller = true;

	while (smaller) {
		smaller = false;
		for (int i = 0; i < best->n_tasks; i++) {
			/* k == -1: the task as a whole */
			for (int k = -1; k < best->task[i].n; k++) {
				if (k < 0 ? !best->task[i].n : !removable(best->task[i].op[k].kind))
					continue;
				tried = program_copy(best);
				if (k < 0)
					leave_out_task(tried, i);
				else
					leave_out_op(tried, i, k);
				if (fails(tried, c, speedup, seconds, limit)) {
					program_free(best);
					best = tried;
					smaller = true;
					k--;
					if (k < -1)
						break;
				} else {
					program_free(tried);
				}
			}
		}
	}
	return best;
}
