// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/trace_output.h"

static struct trace_writer *writer_of(void *arg)
{
	return ((struct causal_output *)arg)->writer;
}

static void put_frame(uint32_t id, const struct record_frame *f, void *arg)
{
	(void)id;
	trace_write_frame(writer_of(arg), f);
}

static void put_stack(uint32_t id, const struct record_stack *s, void *arg)
{
	(void)id;
	trace_write_stack(writer_of(arg), s);
}

static void put_process(const struct record_process *p, void *arg)
{
	trace_write_process(writer_of(arg), p->id, p->pid, p->name);
	if (p->rank >= 0)
		trace_write_rank(writer_of(arg), p->id, p->rank, p->rank_from);
}

static void put_thread(const struct record_thread *t, void *arg)
{
	((struct causal_output *)arg)->threads++;
	trace_write_thread(writer_of(arg),
			   &(struct trace_thread){ t->tid, t->pid, t->process, t->comm });
}

static void put_comm(uint32_t thread, uint64_t time, const char *comm, void *arg)
{
	(void)time;
	trace_write_comm(writer_of(arg), thread, comm);
}

static void put_event(const struct trace_event *e, void *arg)
{
	((struct causal_output *)arg)->events++;
	((struct causal_output *)arg)->visits += e->type == TRACE_PROGRESS;
	trace_write_event(writer_of(arg), e);
}

/* Waits are told exactly by events: only what ran is of use. */
static void put_sample(const struct record_sample *s, void *arg)
{
	struct trace_event e = {
		.type = TRACE_SAMPLE,
		.time = s->time,
		.thread = s->thread,
		.cpu = s->cpu,
		.stack = s->stack,
		.spins = s->spins,
		.weight = s->points * ((struct causal_output *)arg)->period_ns,
	};

	if (s->class == RECORD_ON)
		put_event(&e, arg);
}

static void put_device(const char *name, void *arg)
{
	trace_write_device(writer_of(arg), name);
}

struct recorder_sink causal_sink(struct causal_output *out)
{
	return (struct recorder_sink){
		.frame = put_frame,
		.stack = put_stack,
		.process = put_process,
		.thread = put_thread,
		.comm = put_comm,
		.sample = put_sample,
		.device = put_device,
		.event = put_event,
		.arg = out,
	};
}
