// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/commands/record_causal.h"

#include "files/held_file.h"
#include "progress/probe_sites.h"

bool progress_list_add(struct progress_list *l, const char *text)
{
	struct progress_spec spec;
	struct error err = {};

	if (progress_spec_parse(text, &spec, &err)) {
		log_warn("--progress %s: %s", text, err.text);
		return false;
	}
	if (spec.begin.kind != POINT_FUNCTION && spec.begin.kind != POINT_LINE &&
	    spec.begin.kind != POINT_USDT) {
		log_warn("--progress %s: a place in a program is wanted: BINARY:FUNCTION, "
			 "BINARY:FILE:LINE or usdt:BINARY:PROVIDER:NAME",
			 text);
		progress_spec_free(&spec);
		return false;
	}
	array_reserve(l->v, l->cap, l->n + 1);
	l->v[l->n++] = spec;
	return true;
}

void progress_list_free(struct progress_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		progress_spec_free(&l->v[i]);
	free(l->v);
}

/* ---- the sink ---- */

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
}

static void put_thread(const struct record_thread *t, void *arg)
{
	trace_write_thread(writer_of(arg),
			   &(struct trace_thread){ t->tid, t->pid, t->process, t->comm });
}

static void put_comm(uint32_t thread, uint64_t time, const char *comm, void *arg)
{
	(void)time;
	trace_write_comm(writer_of(arg), thread, comm);
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
		trace_write_event(writer_of(arg), &e);
}

static void put_times(const struct record_thread *t, void *arg)
{
	(void)t;
	(void)arg;
}

static void put_device(const char *name, void *arg)
{
	trace_write_device(writer_of(arg), name);
}

static void put_event(const struct trace_event *e, void *arg)
{
	trace_write_event(writer_of(arg), e);
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
		.times = put_times,
		.device = put_device,
		.event = put_event,
		.arg = out,
	};
}

/* ---- progress points ---- */

static int attach_site(struct recorder *r, const struct held_file *file,
		       const struct probe_sites *sites, size_t i, uint32_t id, struct error *err)
{
	const struct recorder_point p = {
		.path = file->path,
		.name = file->name,
		.offset = sites->list[i].offset,
		.ref_ctr = sites->list[i].semaphore,
	};
	int ret = recorder_add_point(r, &p, id, err);

	return ret ? ret : probe_sites_unchanged(sites, i, file, err);
}

static int attach(struct recorder *r, const struct point *point, uint32_t id, struct error *err)
{
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT;
	_cleanup_free_ char *path = NULL;
	struct probe_sites *sites = NULL;
	int ret = binary_find(point->binary, &path, err);

	if (!ret)
		ret = held_file_open(path, &file, err);
	if (!ret)
		ret = probe_sites_find(&file, point, &sites, err);
	for (size_t i = 0; !ret && i < sites->n; i++)
		ret = attach_site(r, &file, sites, i, id, err);
	probe_sites_free(sites);
	return ret ? error_prefix(err, "progress point %s", point->spec) : 0;
}

int causal_points(struct recorder *r, const struct progress_list *l, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < l->n; i++)
		ret = attach(r, &l->v[i].begin, i, err);
	return ret;
}

void causal_write_points(struct trace_writer *w, const struct progress_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		trace_write_point(w, l->v[i].name);
}
