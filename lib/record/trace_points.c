// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/trace_points.h"

#include "files/held_file.h"
#include "host/syscall_names.h"
#include "progress/mark_search.h"
#include "progress/probe_sites.h"

#define MOST_WAITING 32 /* files that are open, to be looked through for marks */

struct mark {
	const char *name;
	uint32_t id;
};

struct causal_points {
	struct recorder *recorder;
	struct mark_search *search; /* NULL: no marks */
	uint64_t searched;	    /* files that have been mapped, by recorder_next_file() */
	struct mark *marks;
	size_t n, cap;
};

struct causal_points *causal_points_create(struct recorder *r)
{
	struct causal_points *c = xcalloc(1, sizeof(*c));

	c->recorder = r;
	return c;
}

static int attach_site(struct causal_points *c, const struct held_file *file,
		       const struct probe_sites *sites, size_t i, uint32_t id, struct error *err)
{
	const struct probe_site *site = &sites->list[i];
	const struct recorder_point p = {
		.kind = RECORDER_CODE,
		.path = file->path,
		.name = file->name,
		.offset = site->offset,
		.ref_ctr = site->semaphore,
	};
	int ret = site->refused ? error_set(err, site->refused, "%s", site->why)
				: recorder_add_point(c->recorder, &p, id, err);

	if (ret)
		return ret;
	ret = probe_sites_unchanged(sites, i, file, err);
	if (ret)
		recorder_withdraw_point(c->recorder);
	return ret;
}

static int add_code(struct causal_points *c, const struct point *point, uint32_t id,
		    struct error *err)
{
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT;
	struct probe_sites *sites = NULL;
	int ret = probe_sites_of_point(point, &file, &sites, err);

	for (size_t i = 0; !ret && i < sites->n; i++)
		ret = attach_site(c, &file, sites, i, id, err);
	probe_sites_free(sites);
	return ret;
}

static int add_kernel(struct causal_points *c, const struct point *point, uint32_t id,
		      struct error *err)
{
	struct recorder_point p = {
		.kind = point->kind == POINT_SYSCALL ? RECORDER_SYSCALL : RECORDER_TRACEPOINT,
		.comm = point->comm,
		.name = point->name,
	};

	if (p.kind == RECORDER_SYSCALL) {
		p.syscall = syscall_find(p.name, err);
		if (p.syscall < 0)
			return p.syscall;
	}
	return recorder_add_point(c->recorder, &p, id, err);
}

static int add_mark(struct causal_points *c, const struct point *point, uint32_t id)
{
	if (!c->search)
		c->search = mark_search_create();
	array_reserve(c->marks, c->cap, c->n + 1);
	c->marks[c->n++] = (struct mark){ point->name, id };
	return 0;
}

int causal_points_add(struct causal_points *c, const struct point *point, uint32_t id,
		      struct error *err)
{
	int ret = 0;

	switch (point->kind) {
	case POINT_FUNCTION:
	case POINT_LINE:
	case POINT_USDT:
		ret = add_code(c, point, id, err);
		break;
	case POINT_TRACEPOINT:
	case POINT_SYSCALL:
		ret = add_kernel(c, point, id, err);
		break;
	case POINT_MARK:
		ret = add_mark(c, point, id);
		break;
	}
	return ret ? error_prefix(err, "progress point %s", point->spec) : 0;
}

bool causal_points_have_marks(const struct causal_points *c)
{
	return c->n;
}

struct found_marks {
	struct causal_points *points;
	uint32_t id;
	const struct held_file *file;
	const struct probe_sites *sites;
};

static int attach_mark(size_t i, void *arg, struct error *err)
{
	struct found_marks *m = arg;

	return attach_site(m->points, m->file, m->sites, i, m->id, err);
}

static void attach_found(struct causal_points *c)
{
	struct probe_sites *sites;
	struct held_file file;

	while (mark_search_take(c->search, &file, &sites)) {
		for (size_t i = 0; i < c->n; i++) {
			struct found_marks m = { c, c->marks[i].id, &file, sites };

			mark_search_put(sites, MARK_PROGRESS, c->marks[i].name, &file, attach_mark,
					&m);
		}
		probe_sites_free(sites);
		held_file_close(&file);
	}
}

void causal_points_search(struct causal_points *c, const char *path, int seconds)
{
	if (!c->search)
		return;
	mark_search_add_path(c->search, path);
	mark_search_wait(c->search, seconds);
	attach_found(c);
}

void causal_points_poll(struct causal_points *c)
{
	while (c->search && mark_search_waiting(c->search) < MOST_WAITING) {
		_cleanup_free_ char *path = recorder_next_file(c->recorder, &c->searched);

		if (!path)
			break;
		mark_search_add_path(c->search, path);
	}
	if (c->search)
		attach_found(c);
}

void causal_points_destroy(struct causal_points *c)
{
	if (!c)
		return;
	mark_search_destroy(c->search);
	free(c->marks);
	free(c);
}
