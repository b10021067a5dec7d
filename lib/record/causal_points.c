// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/causal_points.h"

#include "engine/engine.h"
#include "files/held_file.h"
#include "progress/mark_search.h"
#include "progress/point_attach.h"

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

struct putting {
	struct recorder *recorder;
	uint32_t id;
};

static int put_place(const struct point_place *place, void *arg, struct error *err)
{
	static const enum recorder_point_kind kinds[] = { [PLACE_CODE] = RECORDER_CODE,
							  [PLACE_TRACEPOINT] = RECORDER_TRACEPOINT,
							  [PLACE_SYSCALL] = RECORDER_SYSCALL };
	const struct putting *p = arg;
	const struct held_file *file = place->file;
	const struct recorder_point rp = {
		.kind = kinds[place->kind],
		.comm = place->comm,
		.name = file ? file->name : place->name,
		.path = file ? file->path : NULL,
		.offset = place->offset,
		.ref_ctr = place->ref_ctr,
		.syscall = place->syscall,
	};

	return recorder_add_point(p->recorder, &rp, p->id, err);
}

static void withdraw_place(const struct point_place *place, void *arg)
{
	const struct putting *p = arg;

	(void)place;
	recorder_withdraw_point(p->recorder);
}

static void add_mark(struct causal_points *c, const struct point *point, uint32_t id)
{
	if (!c->search)
		c->search = mark_search_create();
	array_reserve(c->marks, c->cap, c->n + 1);
	c->marks[c->n++] = (struct mark){ point->name, id };
}

int causal_points_add(struct causal_points *c, const struct point *point, uint32_t id,
		      struct error *err)
{
	struct putting putting = { c->recorder, id };
	const struct point_put put = { put_place, withdraw_place, &putting };
	int ret =
		point->kind == POINT_MARK ? engine_may_probe(err) : point_attach(point, &put, err);

	if (!ret && point->kind == POINT_MARK)
		add_mark(c, point, id);
	return ret ? error_prefix(err, "progress point %s", point->spec) : 0;
}

bool causal_points_have_marks(const struct causal_points *c)
{
	return c->n;
}

struct found_marks {
	struct putting putting;
	const struct held_file *file;
	const struct probe_sites *sites;
};

static int attach_mark(size_t i, void *arg, struct error *err)
{
	struct found_marks *m = arg;
	const struct point_put put = { put_place, withdraw_place, &m->putting };

	return point_attach_site(m->file, m->sites, i, NULL, &put, err);
}

static void attach_found(struct causal_points *c)
{
	struct probe_sites *sites;
	struct held_file file;

	while (mark_search_take(c->search, &file, &sites)) {
		for (size_t i = 0; i < c->n; i++) {
			struct found_marks m = { { c->recorder, c->marks[i].id }, &file, sites };

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
	mark_search_add_path(c->search, path, MARK_NO_ID);
	mark_search_wait(c->search, seconds);
	attach_found(c);
}

void causal_points_poll(struct causal_points *c)
{
	for (int i = 0; i < MAPS_FILES_AT_ONCE && c->search && mark_search_takes_more(c->search);
	     i++) {
		_cleanup_free_ char *path = recorder_next_file(c->recorder, &c->searched);

		if (!path)
			break;
		mark_search_add_path(c->search, path, MARK_NO_ID);
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
