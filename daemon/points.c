// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/points.h"
#include "base/syscall_names.h"
#include "progress/marks.h"
#include "progress/probe_file.h"
#include "progress/usdt.h"

#include <sys/stat.h>

/* One end of a progress point. */
struct end {
	const struct point *point;
	enum engine_point_role role;
	int id;	     /* of the engine; -1: none yet (a mark nobody has shown so far) */
	int latency; /* number of the latency that it is an end of; -1: none that is measured */
};

struct one {
	const struct progress_spec *spec;
	struct end begin, end;
};

/* Executables that were searched for marks already. */
struct searched {
	dev_t dev;
	ino_t ino;
};

struct points {
	struct engine *engine;
	struct one *list;
	size_t n;
	struct marks *marks;
	struct searched *searched;
	size_t n_searched, cap_searched;
};

static int attach_at(struct points *p, struct end *end, const struct held_file *file,
		     uint64_t offset, uint64_t semaphore, struct error *err)
{
	struct engine_point ep = {
		.kind = ENGINE_UPROBE,
		.role = end->role,
		.fd = file->fd,
		.path = file->path,
		.file_name = file->name,
		.offset = offset,
		.ref_ctr = semaphore,
		.comm = end->point->comm,
		.latency = end->latency,
	};

	return engine_add_point(p->engine, &ep, &end->id, err);
}

/* Only where an instruction is shown to begin: @place->vaddr, which is at @offset in the file. */
static int attach_shown(struct points *p, struct end *end, struct probe_file *f,
			const struct held_file *file, const struct probe_place *place,
			uint64_t offset, uint64_t semaphore, struct error *err)
{
	int ret = probe_file_check(f, place, err);

	if (!ret)
		ret = attach_at(p, end, file, offset, semaphore, err);
	if (ret)
		return ret;
	ret = probe_file_unchanged(f, err);
	if (ret && !engine_withdraw_site(p->engine))
		log_warn("%s: a probe was put there and stays until the end of the run",
			 file->name);
	return ret;
}

static int attach_checked(struct points *p, struct end *end, const struct held_file *file,
			  struct probe_file *f, const struct maptable *t, struct probe_place *place,
			  struct error *err)
{
	_cleanup_free_ uint64_t *statements = NULL;
	uint64_t offset, from, to;

	if (!maptable_vaddr_to_offset(t, place->vaddr, &offset))
		return error_set(err, EINVAL, "%s: address %#llx is not in the file", file->name,
				 (unsigned long long)place->vaddr);
	if (probe_file_around(f, place->vaddr, &from, &to)) {
		maptable_statements(t, from, to, &statements, &place->n_statements);
		place->statements = statements;
	}
	return attach_shown(p, end, f, file, place, offset, 0, err);
}

/* A line may begin in several places of one function: only the first of each counts. */
static int attach_line(struct points *p, struct end *end, const struct held_file *file,
		       struct probe_file *f, const struct maptable *t, struct error *err)
{
	const struct point *point = end->point;
	_cleanup_free_ uint64_t *vaddrs = NULL;
	uint64_t last = 0, start, stop;
	size_t n;
	int ret;

	ret = maptable_line_addresses(t, point->name, point->line, &vaddrs, &n, err);
	for (size_t i = 0; !ret && i < n; i++) {
		struct probe_place place = { .vaddr = vaddrs[i] };

		/* By where it begins: copies of one function have one name. */
		if (probe_file_around(f, vaddrs[i], &start, &stop)) {
			if (i && start == last)
				continue;
			last = start;
		}
		ret = attach_checked(p, end, file, f, t, &place, err);
	}
	return ret;
}

static int attach_function(struct points *p, struct end *end, const struct held_file *file,
			   struct probe_file *f, const struct maptable *t, struct error *err)
{
	_cleanup_free_ uint64_t *vaddrs = NULL;
	size_t n;
	int ret = maptable_function_addresses(t, end->point->function, &vaddrs, &n, err);

	if (!ret && n > 1 && end->point->offset)
		return error_set(err, ENOTUNIQ,
				 "%s: the compiler made %zu copies of function \"%s\", which an "
				 "OFFSET cannot mean all: name a line (FILE:LINE)",
				 file->name, n, end->point->function);
	for (size_t i = 0; !ret && i < n; i++) {
		struct probe_place place = { .vaddr = vaddrs[i] + end->point->offset,
					     .function = end->point->function,
					     .function_vaddr = vaddrs[i] };

		ret = attach_checked(p, end, file, f, t, &place, err);
	}
	return ret;
}

/* Looked up by its path once: everything else is asked of, and done to, the file found there. */
static int find_file(const struct point *point, struct held_file *ret, struct error *err)
{
	_cleanup_free_ char *path = NULL;
	int r = binary_find(point->binary, &path, err);

	return r ? r : held_file_open(path, ret, err);
}

static int attach_code(struct points *p, struct end *end, const struct map_options *map_opt,
		       struct error *err)
{
	const struct point *point = end->point;
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT;
	/* What a cache says of a file may have been said of another one. */
	struct map_options fresh = *map_opt;
	struct probe_file *f = NULL;
	struct maptable *t = NULL;
	int ret;

	fresh.cache_dir = NULL;
	ret = find_file(point, &file, err);
	if (!ret)
		ret = maptable_open(file.path, file.name, &fresh, &t, err);
	if (!ret)
		ret = probe_file_open(&file, &f, err);
	if (!ret)
		ret = (point->kind == POINT_LINE ? attach_line : attach_function)(p, end, &file, f,
										  t, err);
	probe_file_close(f);
	maptable_free(t);
	return ret;
}

/* A probe that a note in the file tells of. */
static int attach_note(struct points *p, struct end *end, const struct held_file *file,
		       struct probe_file *f, uint64_t offset, uint64_t semaphore, struct error *err)
{
	struct probe_place place = { .note = true };

	if (!probe_file_vaddr(f, offset, &place.vaddr))
		return error_set(err, EINVAL, "%s: file offset %#llx is not in its code",
				 file->name, (unsigned long long)offset);
	return attach_shown(p, end, f, file, &place, offset, semaphore, err);
}

static int attach_usdt(struct points *p, struct end *end, struct error *err)
{
	const struct point *point = end->point;
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT;
	_cleanup_free_ struct usdt_site *sites = NULL;
	struct probe_file *f = NULL;
	size_t n = 0;
	int ret;

	ret = find_file(point, &file, err);
	if (!ret)
		ret = usdt_find(&file, point->function, point->name, &sites, &n, err);
	if (!ret)
		ret = probe_file_open(&file, &f, err);
	for (size_t i = 0; !ret && i < n; i++)
		ret = attach_note(p, end, &file, f, sites[i].probe_offset,
				  sites[i].semaphore_offset, err);
	probe_file_close(f);
	return ret;
}

static int attach_kernel(struct points *p, struct end *end, struct error *err)
{
	struct engine_point ep = {
		.kind = end->point->kind == POINT_SYSCALL ? ENGINE_SYSCALL : ENGINE_TRACEPOINT,
		.role = end->role,
		.name = end->point->name,
		.comm = end->point->comm,
		.latency = end->latency,
		.syscall = -1,
	};

	if (ep.kind == ENGINE_SYSCALL) {
		ep.syscall = syscall_find(ep.name, err);
		if (ep.syscall < 0)
			return ep.syscall;
	}
	return engine_add_point(p->engine, &ep, &end->id, err);
}

static int attach(struct points *p, struct end *end, const struct map_options *map_opt,
		  struct error *err)
{
	int ret = 0;

	switch (end->point->kind) {
	case POINT_FUNCTION:
	case POINT_LINE:
		ret = attach_code(p, end, map_opt, err);
		break;
	case POINT_USDT:
		ret = attach_usdt(p, end, err);
		break;
	case POINT_TRACEPOINT:
	case POINT_SYSCALL:
		ret = attach_kernel(p, end, err);
		break;
	case POINT_MARK: /* found as executables appear */
		if (!p->marks)
			ret = marks_open(NULL, &p->marks, err);
		break;
	}
	return ret ? error_prefix(err, "progress point %s", end->point->spec) : 0;
}

/* Marks are counted by the program: when each was reached is not known. */
static int spans_latency(const struct progress_spec *spec, size_t i)
{
	bool marks = spec->begin.kind == POINT_MARK || spec->end.kind == POINT_MARK;

	return spec->latency && !marks && i < SCOZ_MAX_POINTS ? (int)i : -1;
}

const volatile uint64_t *points_spans(const struct points *p, size_t i)
{
	int latency = p->list[i].end.latency;

	return latency < 0 ? NULL : engine_spans(p->engine, latency);
}

int points_create(const struct options *opt, const struct map_options *map_opt, struct engine *e,
		  struct points **ret, struct error *err)
{
	struct points *p = xcalloc(1, sizeof(*p));
	int r = 0;

	p->engine = e;
	p->list = xcalloc(opt->n_points, sizeof(*p->list));
	for (size_t i = 0; !r && i < opt->n_points; i++) {
		const struct progress_spec *spec = &opt->points[i];
		struct one *one = &p->list[p->n++];

		one->spec = spec;
		one->begin =
			(struct end){ &spec->begin, spec->latency ? ENGINE_BEGIN : ENGINE_VISIT, -1,
				      spans_latency(spec, i) };
		one->end = (struct end){ &spec->end, ENGINE_END, -1, spans_latency(spec, i) };
		r = attach(p, &one->begin, map_opt, err);
		if (!r && spec->latency)
			r = attach(p, &one->end, map_opt, err);
	}
	if (r) {
		points_destroy(p);
		return r;
	}
	*ret = p;
	return 0;
}

void points_destroy(struct points *p)
{
	if (!p)
		return;
	if (p->marks)
		marks_close(p->marks);
	free(p->searched);
	free(p->list);
	free(p);
}

size_t points_count(const struct points *p)
{
	return p->n;
}

bool points_have_marks(const struct points *p)
{
	return p->marks != NULL;
}

static bool already_searched(struct points *p, const struct held_file *file)
{
	struct stat st;

	if (fstat(file->fd, &st))
		return true;
	for (size_t i = 0; i < p->n_searched; i++) {
		if (p->searched[i].dev == st.st_dev && p->searched[i].ino == st.st_ino)
			return true;
	}
	array_reserve(p->searched, p->cap_searched, p->n_searched + 1);
	p->searched[p->n_searched++] = (struct searched){ st.st_dev, st.st_ino };
	return false;
}

void points_refresh(struct points *p)
{
	struct error err = {};

	if (p->marks && marks_refresh(p->marks, &err))
		log_debug("%s", err.text);
}

void points_only_users(struct points *p, const uid_t *uids, size_t n)
{
	if (p->marks)
		marks_only_users(p->marks, uids, n);
}

static enum mark_kind wanted_kind(const struct end *end)
{
	switch (end->role) {
	case ENGINE_BEGIN:
		return MARK_BEGIN;
	case ENGINE_END:
		return MARK_END;
	default:
		return MARK_PROGRESS;
	}
}

static void attach_marks(struct points *p, struct end *end, const struct held_file *file,
			 struct probe_file *f, const struct mark_site *sites, size_t n)
{
	struct error err = {};

	if (!end->point || end->point->kind != POINT_MARK)
		return;
	for (size_t i = 0; i < n; i++) {
		if (sites[i].kind != wanted_kind(end) ||
		    !mark_name_matches(end->point->name, sites[i].name))
			continue;
		if (attach_note(p, end, file, f, sites[i].probe_offset, sites[i].semaphore_offset,
				&err))
			log_warn("mark:%s: %s", end->point->name, err.text);
	}
}

void points_add_binary(struct points *p, const char *path)
{
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT;
	struct probe_file *f = NULL;
	struct mark_site *sites;
	struct error err = {};
	size_t n;

	if (!p->marks || held_file_open(path, &file, NULL) || already_searched(p, &file))
		return;
	if (marks_find_sites(&file, &sites, &n, &err)) {
		log_debug("%s", err.text);
		return;
	}
	if (n && probe_file_open(&file, &f, &err))
		log_warn("%s", err.text);
	for (size_t i = 0; f && i < p->n; i++) {
		attach_marks(p, &p->list[i].begin, &file, f, sites, n);
		if (p->list[i].spec->latency)
			attach_marks(p, &p->list[i].end, &file, f, sites, n);
	}
	probe_file_close(f);
	mark_sites_free(sites, n);
	points_refresh(p);
}

static void read_end(struct points *p, const struct end *end, struct engine_count *count,
		     uint64_t *visits, uint64_t *sum)
{
	struct marks_counts m;

	*count = (struct engine_count){};
	if (end->id >= 0)
		engine_read_point(p->engine, end->id, count);
	*visits += count->visits;
	*sum += count->sum_time;
	if (end->point->kind != POINT_MARK)
		return;
	/* Most visits of a mark are counted by the program itself: no virtual time is known. */
	count->last_virtual = 0;
	if (marks_read(p->marks, end->point->name, &m, NULL))
		return;
	*visits += end->role == ENGINE_BEGIN ? m.begins
		   : end->role == ENGINE_END ? m.ends
					     : m.visits;
	*sum += end->role == ENGINE_BEGIN ? m.sum_begin_ns : m.sum_end_ns;
}

void points_read(struct points *p, size_t i, struct point_reading *ret)
{
	const struct one *one = &p->list[i];
	struct engine_count count;
	uint64_t sum = 0;

	*ret = (struct point_reading){};
	if (one->spec->latency) {
		read_end(p, &one->begin, &count, &ret->begins, &ret->sum_begin);
		read_end(p, &one->end, &count, &ret->visits, &ret->sum_end);
	} else {
		read_end(p, &one->begin, &count, &ret->visits, &sum);
	}
	ret->latest_virtual = count.last_virtual;
	ret->time = clock_now_ns();
}

char *points_others(const struct points *p, size_t i)
{
	const struct end *end = &p->list[i].begin;
	char names[8][16], *text = xstrdup("");
	int n = end->id < 0 || !end->point->comm
			? 0
			: engine_point_others(p->engine, end->id, names, ARRAY_SIZE(names));

	for (int k = 0; k < n; k++) {
		char *longer = xasprintf("%s%s%.16s", text, k ? ", " : "", names[k]);

		free(text);
		text = longer;
	}
	return text;
}

double points_inflight(const struct point_reading *base, const struct point_reading *a,
		       const struct point_reading *b)
{
	const struct marks_counts c0 = { .begins = a->begins,
					 .ends = a->visits,
					 .sum_begin_ns = a->sum_begin,
					 .sum_end_ns = a->sum_end };
	const struct marks_counts c1 = { .begins = b->begins,
					 .ends = b->visits,
					 .sum_begin_ns = b->sum_begin,
					 .sum_end_ns = b->sum_end };
	int64_t at_a = (int64_t)(a->begins - base->begins) - (int64_t)(a->visits - base->visits);
	int64_t area;

	if (b->time <= a->time)
		return 0;
	area = marks_area(&c0, a->time, &c1, b->time, at_a > 0 ? at_a : 0);
	return area > 0 ? (double)area / (b->time - a->time) : 0;
}
