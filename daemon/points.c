// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/points.h"
#include "daemon/marked.h"
#include "plan/pauses.h"
#include "progress/mark_search.h"
#include "progress/marks.h"
#include "progress/point_attach.h"

#include <math.h>

/* One end of a progress point. */
struct end {
	const struct point *point;
	enum engine_point_role role;
	int id;	      /* of the engine; -1: none yet (a mark nobody has shown so far) */
	int latency;  /* number of the latency that it is an end of; -1: none that is measured */
	bool probed;  /* by probes in code; */
	bool stepped; /* some of these are of the dear kind (probe_cost.h) */
};

struct one {
	const struct progress_spec *spec;
	struct end begin, end;
	struct point_reading first;
	/* Latencies: nothing was under way then, or it is not known how many were. */
	struct point_reading since;
	bool from_the_start;
	int64_t fewest; /* in flight at a reading, more than then */
	int64_t kept;	/* ... by a thread, beside the one that by_thread tells of */
	struct pauses pauses;
};

#define READ_TRIES  50	 /* until a latency's counters belong together */
#define MOST_ALONE  0.02 /* of the ends, where each has one begin in its thread */
#define ENOUGH_ENDS 20	 /* to tell by them */
#define MOST_ASTRAY 0.05 /* of those in flight, whose counters do not belong together */

struct points {
	struct engine *engine;
	struct one *list;
	size_t n;
	struct marks *marks;
	struct mark_search *search;
	struct marked *marked;
	bool members_known;
	struct error users_failed; /* code 0: not, or told */
	bool users_told, all_users_told, left_out_told;
	/* With --end-to-end: they are looked for, so that mistakes are told, and not put. */
	bool unused;
	uint64_t interrupted_ns; /* visits until then say nothing of what followed */
};

struct putting {
	struct points *points;
	struct end *end;
};

static int put_place(const struct point_place *place, void *arg, struct error *err)
{
	static const enum engine_point_kind kinds[] = { [PLACE_CODE] = ENGINE_UPROBE,
							[PLACE_TRACEPOINT] = ENGINE_TRACEPOINT,
							[PLACE_SYSCALL] = ENGINE_SYSCALL };
	const struct putting *p = arg;
	struct end *end = p->end;
	const bool mark = end->point->kind == POINT_MARK;
	const struct held_file *file = place->file;
	struct engine_point ep = {
		.kind = kinds[place->kind],
		.role = end->role,
		.fd = file ? file->fd : -1,
		.path = file ? file->path : NULL,
		.file_name = file ? file->name : NULL,
		.offset = place->offset,
		.ref_ctr = place->ref_ctr,
		.name = place->name,
		.syscall = place->syscall,
		.comm = place->comm,
		.latency = end->latency,
		.by_user = mark && p->points->members_known,
	};
	int ret;

	if (p->points->unused)
		return 0;
	ret = engine_add_point(p->points->engine, &ep, &end->id, err);
	if (ret || !file)
		return ret;
	end->probed = !mark; /* those are, but for a while */
	end->stepped |= !probe_is_acted(file->fd, ep.offset);
	return 0;
}

static void withdraw_place(const struct point_place *place, void *arg)
{
	const struct putting *p = arg;

	if (!p->points->unused && !engine_withdraw_site(p->points->engine))
		log_warn("%s: a probe was put there and stays until the end of the run",
			 place->file->name);
}

static int attach(struct points *p, struct end *end, struct error *err)
{
	struct putting putting = { p, end };
	const struct point_put put = { put_place, withdraw_place, &putting };
	int ret = point_attach(end->point, &put, err);

	if (end->point->kind == POINT_MARK && !p->unused) { /* found as executables appear */
		ret = engine_may_probe(err);
		if (!ret && !p->marks)
			ret = marks_open(NULL, &p->marks, err);
		if (!ret && !p->search) {
			p->search = mark_search_create();
			p->marked = marked_create();
		}
	}
	return ret ? error_prefix(err, "progress point %s", end->point->spec) : 0;
}

/* Marks are counted by the program: when each was reached is not known. */
static int spans_latency(const struct progress_spec *spec, size_t i)
{
	bool marks = spec->begin.kind == POINT_MARK || spec->end.kind == POINT_MARK;

	return spec->latency && !marks && i < SCOZ_MAX_POINTS ? (int)i : -1;
}

bool points_spans(const struct points *p, size_t i, uint64_t *ret)
{
	int latency = p->list[i].end.latency;

	return latency >= 0 && engine_spans(p->engine, latency, ret);
}

/* Both ends of a latency have one. */
static size_t numbers_needed(const struct options *opt)
{
	size_t n = 0;

	for (size_t i = 0; !opt->end_to_end && i < opt->n_points; i++)
		n += opt->points[i].latency ? 2 : 1;
	return n;
}

bool points_leave_a_number(const struct options *opt)
{
	return numbers_needed(opt) < SCOZ_MAX_POINTS;
}

static int check_number(const struct options *opt, struct error *err)
{
	size_t n = numbers_needed(opt);

	if (n <= SCOZ_MAX_POINTS)
		return 0;
	return error_set(err, E2BIG,
			 "there are %zu progress points, both ends of a latency counted, and at "
			 "most %d are possible: leave some out",
			 n, SCOZ_MAX_POINTS);
}

int points_create(const struct options *opt, struct engine *e, struct points **ret,
		  struct error *err)
{
	int r = check_number(opt, err);
	struct points *p;

	if (r)
		return r;
	p = xcalloc(1, sizeof(*p));
	p->engine = e;
	p->unused = opt->end_to_end;
	p->members_known = options_know_members(opt);
	p->list = xcalloc(opt->n_points, sizeof(*p->list));
	for (size_t i = 0; !r && i < opt->n_points; i++) {
		const struct progress_spec *spec = &opt->points[i];
		struct one *one = &p->list[p->n++];

		one->spec = spec;
		one->begin = (struct end){ .point = &spec->begin,
					   .role = spec->latency ? ENGINE_BEGIN : ENGINE_VISIT,
					   .id = -1,
					   .latency = spans_latency(spec, i) };
		one->end = (struct end){ .point = &spec->end,
					 .role = ENGINE_END,
					 .id = -1,
					 .latency = spans_latency(spec, i) };
		/* Ends first: one without its begin is known by that, not the reverse. */
		if (spec->latency)
			r = attach(p, &one->end, err);
		if (!r)
			r = attach(p, &one->begin, err);
	}
	if (r) {
		points_destroy(p);
		return r;
	}
	if (p->unused)
		p->n = 0;
	*ret = p;
	return 0;
}

void points_destroy(struct points *p)
{
	if (!p)
		return;
	mark_search_destroy(p->search);
	marked_destroy(p->marked);
	if (p->marks)
		marks_close(p->marks);
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

static double probes_of_end(const struct points *p, const struct end *end,
			    const struct probe_cost *cost)
{
	struct engine_count count;

	if (!end->probed || end->id < 0)
		return 0;
	engine_read_point(p->engine, end->id, &count);
	return count.visits * (end->stepped ? cost->stepped_ns : cost->acted_ns);
}

double points_probes_ns(const struct points *p, size_t i, const struct probe_cost *cost)
{
	return probes_of_end(p, &p->list[i].begin, cost) + probes_of_end(p, &p->list[i].end, cost);
}

void points_refresh(struct points *p)
{
	struct error err = {};

	if (p->marks && marks_refresh(p->marks, &err))
		log_debug("%s", err.text);
}

void points_pause_marks(struct points *p, bool paused)
{
	if (p->marks)
		marks_pause(p->marks, paused);
}

void points_only_users(struct points *p, const uid_t *uids, size_t n)
{
	if (!p->marks)
		return;
	marks_only_users(p->marks, uids, n);
	for (size_t i = 0; i < n; i++) {
		int ret = engine_count_user(p->engine, uids[i]);

		if (ret && !p->users_told) {
			p->users_told = true;
			error_set(&p->users_failed, -ret,
				  "marks of user %u, and of further ones, are not counted where "
				  "probes count them, but for processes that are profiled: %s",
				  (unsigned int)uids[i],
				  ret == -E2BIG ? "there are too many users" : strerror(-ret));
		}
	}
}

bool points_miscount_users(struct points *p, struct error *why)
{
	*why = p->users_failed;
	p->users_failed.code = 0;
	if (!why->code && engine_counts_all_users(p->engine) && !p->all_users_told) {
		p->all_users_told = true;
		error_set(why, ENOTSUP,
			  "marks that probes count are counted of all users, whoever is profiled: "
			  "this kernel carries older scoz patches (docs/kernel.md)");
	}
	return why->code;
}

bool points_leave_users_out(struct points *p, struct error *why)
{
	size_t n = p->marks ? marks_left_out(p->marks) : 0;

	if (!n || p->left_out_told)
		return false;
	p->left_out_told = true;
	error_set(why, E2BIG,
		  "marks of %zu user%s are counted by probes, which slows their programs down: %d "
		  "users at most can have files of counters",
		  n, n == 1 ? "" : "s", MARKS_MOST_FILES);
	return true;
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

struct found_marks {
	struct putting putting;
	const struct held_file *file;
	const struct probe_sites *sites;
};

static int attach_mark(size_t i, void *arg, struct error *err)
{
	struct found_marks *m = arg;
	const struct point_put put = { put_place, withdraw_place, &m->putting };
	int ret = point_attach_site(m->file, m->sites, i, NULL, &put, err);

	if (!ret)
		marked_note_file(m->putting.points->marked, m->file->fd);
	return ret;
}

static void attach_marks(struct points *p, struct end *end, const struct held_file *file,
			 const struct probe_sites *sites)
{
	struct found_marks m = { { p, end }, file, sites };

	if (end->point && end->point->kind == POINT_MARK)
		mark_search_put(sites, wanted_kind(end), end->point->name, file, attach_mark, &m);
}

void points_add_binary(struct points *p, const char *path, uint32_t id)
{
	if (p->marks)
		mark_search_add_path(p->search, path, id == MAPS_KERNEL_ID ? MARK_NO_ID : id);
}

void points_take_marked(struct points *p, struct maps *maps, const struct marked_take *t,
			bool again)
{
	if (p->marks)
		marked_look(p->marked, maps, p->marks, t, again);
}

bool points_unsearched(struct points *p, struct error *why)
{
	return p->marks && mark_search_failed(p->search, why);
}

bool points_take_more(struct points *p)
{
	return !p->marks || mark_search_takes_more(p->search);
}

static bool attach_next(struct points *p)
{
	struct probe_sites *sites;
	struct held_file file;

	if (!mark_search_take(p->search, &file, &sites))
		return false;
	for (size_t i = 0; i < p->n; i++) {
		attach_marks(p, &p->list[i].begin, &file, sites);
		if (p->list[i].spec->latency)
			attach_marks(p, &p->list[i].end, &file, sites);
	}
	probe_sites_free(sites);
	held_file_close(&file);
	return true;
}

void points_attach_found(struct points *p, int wait_s)
{
	struct mark_file opened;
	bool any;

	if (!p->marks)
		return;
	mark_search_wait(p->search, wait_s);
	while (mark_search_opened(p->search, &opened))
		marked_note_binary(p->marked, opened.id, opened.dev, opened.ino);
	any = attach_next(p);
	while (wait_s && attach_next(p))
		;
	if (any)
		points_refresh(p);
}

static void read_end(struct points *p, const struct end *end, struct engine_count *count,
		     uint64_t *visits, uint64_t *sum, uint64_t *underway)
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
	*underway += m.underway;
}

void points_read(struct points *p, size_t i, struct point_reading *ret)
{
	const struct one *one = &p->list[i];
	struct engine_count count;
	uint64_t sum = 0;

	*ret = (struct point_reading){};
	if (one->spec->latency) {
		read_end(p, &one->begin, &count, &ret->begins, &ret->sum_begin, &ret->underway);
		read_end(p, &one->end, &count, &ret->visits, &ret->sum_end, &ret->underway);
		ret->by_thread = one->end.latency >= 0 &&
				 engine_underway(p->engine, one->end.latency, &ret->threads);
	} else {
		read_end(p, &one->begin, &count, &ret->visits, &sum, &ret->underway);
	}
	ret->latest_virtual = count.last_time > p->interrupted_ns ? count.last_virtual : 0;
	ret->time = clock_now_ns();
	ret->clock = ret->by_thread ? ret->time - engine_delay(p->engine) : ret->time;
}

static int64_t begun_since(const struct point_reading *r, const struct point_reading *since)
{
	return (int64_t)(r->begins - since->begins) - (int64_t)(r->visits - since->visits);
}

/*
 * A client that keeps some requests under way begins one whenever one has ended: in its thread they
 * look like one after the other, but for those with which it began. The fewest count: begins that
 * are never ended add up.
 */
static void note_kept(struct one *one, const struct point_reading *r)
{
	int64_t n = (int64_t)(r->threads.again - one->since.threads.again) -
		    (int64_t)(r->threads.unbegun - one->since.threads.unbegun);

	if (one->from_the_start && r->visits - one->since.visits >= ENOUGH_ENDS && n < one->kept)
		one->kept = n > 0 ? n : 0;
}

static bool nothing_between(const struct point_reading *a, const struct point_reading *b)
{
	return a->begins == b->begins && a->visits == b->visits && a->sum_begin == b->sum_begin &&
	       a->sum_end == b->sum_end && !memcmp(&a->threads, &b->threads, sizeof(a->threads));
}

void points_read_edge(struct points *p, size_t i, struct point_reading *ret)
{
	struct one *one = &p->list[i];
	struct point_reading before;
	int64_t begun;
	int tries = 0;

	points_read(p, i, ret);
	if (!one->spec->latency)
		return;
	do {
		before = *ret;
		points_read(p, i, ret);
	} while (!nothing_between(&before, ret) && ++tries < READ_TRIES);
	begun = begun_since(ret, &one->since);
	if (begun < one->fewest)
		one->fewest = begun;
	note_kept(one, ret);
}

static void count_from_here(struct points *p, size_t i)
{
	struct one *one = &p->list[i];

	points_read_edge(p, i, &one->since);
	one->fewest = 0;
	one->kept = INT64_MAX;
}

void points_begin(struct points *p)
{
	for (size_t i = 0; i < p->n; i++) {
		count_from_here(p, i);
		p->list[i].first = p->list[i].since;
	}
}

void points_command_begins(struct points *p)
{
	for (size_t i = 0; i < p->n; i++) {
		count_from_here(p, i);
		p->list[i].from_the_start = true;
	}
}

void points_interrupt(struct points *p)
{
	p->interrupted_ns = clock_now_ns();
	for (size_t i = 0; i < p->n; i++) {
		struct point_reading r;

		points_read(p, i, &r);
		pauses_interrupt(&p->list[i].pauses, r.time / 1e9, r.visits);
	}
}

void points_look(struct points *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct point_reading r;

		points_read(p, i, &r);
		pauses_see(&p->list[i].pauses, r.time / 1e9, r.visits);
	}
}

double points_pause_s(const struct points *p, size_t i)
{
	return pauses_length_s(&p->list[i].pauses);
}

double points_longest_pause_s(const struct points *p, size_t i)
{
	return pauses_longest_s(&p->list[i].pauses);
}

const struct point_reading *points_first(const struct points *p, size_t i)
{
	return &p->list[i].first;
}

char *points_others(const struct points *p, size_t i)
{
	const struct end *end = &p->list[i].begin;
	char names[8][16], *text = xstrdup("");
	int n = end->id < 0 || !end->point->comm
			? 0
			: engine_point_others(p->engine, end->id, names, ARRAY_SIZE(names));

	for (int k = 0; k < n; k++)
		text_add(&text, "%s%.16s", k ? ", " : "", names[k]);
	return text;
}

/*
 * Hardly an end whose thread had not begun, nor a begin of one that had: they belong together by
 * thread. Threads that were there when the probes came have no begin; where a thread has several
 * under way (an event loop) only their number is known.
 */
static bool in_one_thread(const struct point_reading *first, const struct point_reading *a,
			  const struct point_reading *b)
{
	const struct point_reading *from = b->visits - a->visits >= ENOUGH_ENDS ? a : first;
	uint64_t unbegun = b->threads.unbegun - from->threads.unbegun;
	uint64_t again = b->threads.again - from->threads.again;

	return b->by_thread && unbegun + again <= MOST_ALONE * (b->visits - from->visits);
}

static struct marks_counts counts_of(const struct point_reading *r, bool by_thread)
{
	const struct engine_underway none = {}, *t = by_thread ? &r->threads : &none;

	return (struct marks_counts){ .begins = r->begins - t->again,
				      .ends = r->visits - t->unbegun,
				      .sum_begin_ns = r->sum_begin - t->again_ns,
				      .sum_end_ns = r->sum_end - t->unbegun_ns };
}

double points_inflight(const struct points *p, size_t i, const struct point_reading *a,
		       const struct point_reading *b)
{
	const struct one *one = &p->list[i];
	bool by_thread = in_one_thread(&one->first, a, b);
	const struct marks_counts c0 = counts_of(a, by_thread), c1 = counts_of(b, by_thread);
	int64_t at_a = by_thread ? (int64_t)a->threads.underway
				 : begun_since(a, &one->since) - one->fewest;
	int64_t astray;
	double area, most;

	if (a->underway != b->underway)
		return -1;
	if (b->clock <= a->clock)
		return 0;
	at_a = at_a > 0 ? at_a : 0;
	if (by_thread && one->kept != INT64_MAX)
		at_a += one->kept;
	/* What a probe had counted and not yet noted by thread, or the reverse. */
	astray = (int64_t)(c1.begins - c0.begins) - (int64_t)(c1.ends - c0.ends) -
		 (int64_t)(b->threads.underway - a->threads.underway);
	if (by_thread && llabs(astray) > MOST_ASTRAY * at_a)
		return -1;
	area = (int64_t)marks_area(&c0, a->clock, &c1, b->clock, at_a);
	/* Between the number of a visit and its time the sum lacks as much as the clock shows. */
	most = (double)(at_a + (b->begins - a->begins) + 1) * (b->clock - a->clock);
	if (fabs(area) > most)
		return -1;
	return area > 0 ? area / (b->clock - a->clock) : 0;
}
