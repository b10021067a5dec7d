// SPDX-License-Identifier: GPL-2.0-or-later
#include "whatif/answers.h"

struct thread {
	uint32_t asked; /* who was woken from outside for what it does; TRACE_NONE: nobody */
	bool answered;
	double *row; /* by lane; NULL: none so far */
};

struct answers {
	size_t n_lanes, n_threads, n_rows;
	struct thread *threads;
};

struct answers *answers_create(size_t n_lanes, size_t threads)
{
	struct answers *a = xcalloc(1, sizeof(*a));

	a->n_lanes = n_lanes;
	a->n_threads = threads;
	a->threads = xcalloc(threads + 1, sizeof(*a->threads));
	for (size_t i = 0; i < threads; i++)
		a->threads[i].asked = TRACE_NONE;
	return a;
}

void answers_free(struct answers *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n_threads; i++)
		free(a->threads[i].row);
	free(a->threads);
	free(a);
}

size_t answers_rows(const struct answers *a)
{
	return a->n_rows;
}

const double *answers_asked(struct answers *a, uint32_t thread)
{
	struct thread *t = &a->threads[thread];
	bool answered = t->answered;

	t->asked = thread;
	t->answered = false;
	return answered ? t->row : NULL;
}

void answers_handed(struct answers *a, uint32_t from, uint32_t to)
{
	struct thread *t = &a->threads[to];

	/* Who tells it that something is done asks nothing of it. */
	if (t->asked != to)
		t->asked = from < a->n_threads ? a->threads[from].asked : TRACE_NONE;
}

void answers_alone(struct answers *a, uint32_t thread)
{
	a->threads[thread].asked = TRACE_NONE;
}

void answers_given(struct answers *a, uint32_t thread, const double *earlier)
{
	uint32_t asked = a->threads[thread].asked;
	struct thread *t;

	if (asked == TRACE_NONE || asked == thread)
		return;
	t = &a->threads[asked];
	if (!t->row) {
		t->row = xcalloc(a->n_lanes + 1, sizeof(*t->row));
		a->n_rows++;
	}
	memcpy(t->row, earlier, a->n_lanes * sizeof(*t->row));
	t->answered = true;
}

void answers_ended(struct answers *a, uint32_t thread)
{
	struct thread *t = &a->threads[thread];

	a->n_rows -= !!t->row;
	free(t->row);
	*t = (struct thread){ .asked = TRACE_NONE };
}
