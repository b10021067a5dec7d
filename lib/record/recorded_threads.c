// SPDX-License-Identifier: GPL-2.0-or-later
/* The threads that a recorder knows: their ids, names and processes. */
#include "record/recorder_internal.h"

#include "host/process.h"

/* A waker may have ended before the wait is told that it ended. */
#define ENDED_KEPT 16384

struct thread *recorder_thread_slot(struct recorder *r, int tid)
{
	uint32_t i = hash_index_find_id(&r->by_tid, tid);

	if (i == HASH_NONE) {
		i = r->n_vacant ? r->vacant[--r->n_vacant] : r->n_known++;
		array_reserve(r->threads, r->cap_threads, r->n_known);
		r->threads[i] = (struct thread){ .tid = tid, .history = tid_history_none };
		hash_index_add_id(&r->by_tid, tid, i);
	}
	return &r->threads[i];
}

const struct thread *recorder_thread_known(const struct recorder *r, int tid)
{
	uint32_t i = hash_index_find_id(&r->by_tid, tid);

	return i != HASH_NONE && r->threads[i].history.now.id != RECORDING_NONE ? &r->threads[i]
										: NULL;
}

uint64_t recorder_since_start(const struct recorder *r, uint64_t time)
{
	return time > r->start ? time - r->start : 0;
}

static void copy_comm(char *to, const char *from)
{
	snprintf(to, 16, "%.15s", from);
}

uint32_t recorder_thread_id(struct recorder *r, int tid, int pid, uint64_t born, const char *comm,
			    uint64_t time)
{
	struct thread *t = recorder_thread_slot(r, tid);
	struct tid_history *h = &t->history;
	uint32_t who = tid_history_who(h, born, time);

	if (tid_history_is_new(h, born, time)) {
		struct record_thread made = { .tid = tid, .pid = pid, .id = r->n_threads++ };
		bool successor = h->now.id != RECORDING_NONE;
		uint32_t before = t->process;

		t->process = made.process =
			processes_get(r->processes, pid, successor && tid == pid, comm,
				      recorder_since_start(r, time));
		if (t->counted)
			processes_thread_ends(r->processes, before);
		processes_thread_begins(r->processes, t->process);
		t->counted = true;
		tid_history_begin(h, made.id, born, time);
		t->pid = pid;
		copy_comm(t->comm, comm);
		made.start = recorder_since_start(r, time);
		made.comm = t->comm;
		r->sink.thread(&made, r->sink.arg);
		return made.id;
	}
	if (born && who != h->now.id)
		return who;
	if (strncmp(t->comm, comm, 15) != 0) {
		copy_comm(t->comm, comm);
		r->sink.comm(h->now.id, recorder_since_start(r, time), t->comm, r->sink.arg);
	}
	tid_history_born(h, born);
	return h->now.id;
}

static uint32_t ask_for_thread(struct recorder *r, int tid, uint64_t time)
{
	_cleanup_free_ char *comm = task_comm(tid);
	int pid = process_of_thread(tid);

	return recorder_thread_id(r, tid, pid ? pid : tid, 0, comm ? comm : "[gone]", time);
}

uint32_t recorder_other_thread(struct recorder *r, int tid, uint64_t time)
{
	const struct tid_history *h = &recorder_thread_slot(r, tid)->history;

	if (tid_history_is_new(h, 0, time))
		return ask_for_thread(r, tid, time);
	return tid_history_who(h, 0, time);
}

uint32_t recorder_thread_that_ends(struct recorder *r, int tid, uint64_t time)
{
	const struct tid_history *h = &recorder_thread_slot(r, tid)->history;

	if (h->now.id == RECORDING_NONE)
		return ask_for_thread(r, tid, time);
	return tid_history_who(h, 0, time);
}

void recorder_thread_ended(struct recorder *r, int tid, uint32_t id, uint64_t time)
{
	struct thread *t = recorder_thread_slot(r, tid);
	struct ended_thread *oldest;
	uint32_t i;

	tid_history_ended(&t->history, id, time);
	if (t->history.now.id != id || !t->counted)
		return;
	t->counted = false;
	processes_thread_ends(r->processes, t->process);
	if (!r->ended)
		r->ended = xcalloc(ENDED_KEPT, sizeof(*r->ended));
	oldest = &r->ended[r->n_ended++ % ENDED_KEPT];
	if (r->n_ended > ENDED_KEPT) {
		i = hash_index_find_id(&r->by_tid, oldest->tid);
		if (i != HASH_NONE && r->threads[i].history.now.id == oldest->id &&
		    !r->threads[i].counted) {
			hash_index_remove_id(&r->by_tid, oldest->tid, i);
			array_reserve(r->vacant, r->cap_vacant, r->n_vacant + 1);
			r->vacant[r->n_vacant++] = i;
		}
	}
	*oldest = (struct ended_thread){ tid, id };
}
