// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/trials.h"

#include <math.h>

#include "progress/labels.h"
#include "daemon/boundaries.h"
#include "daemon/published.h"
#include "daemon/target_check.h"

#define CHOOSE_NS  NSEC_PER_SEC
#define RETRY_NS   (200 * NSEC_PER_MSEC)
#define MOST_NS	   (2 * NSEC_PER_SEC) /* from one look for code that does not run to the next */
#define REST_NS	   NSEC_PER_SEC
#define MISSING_S  30		      /* of the run, until it is said that it does not run */
#define UNREAD_NS  (5 * NSEC_PER_SEC) /* that a target waits for files that may hold it */
#define CODE_FIRST 0.99
#define MAX_RESTS  5 /* of which each is twice as long as the one before */

struct entry {
	struct trial trial;
	const struct target *named; /* NULL: it was chosen */
	size_t n_named;		    /* more than one: they are sped up together */
	char *own_name;		    /* of these */
	struct chosen_target chosen;
	int part[2];		      /* of what is tried together, for the next step */
	struct resolved_target *code; /* of what was chosen, as long as that is the same */
	uint64_t not_before_ns;	      /* its binary has not been seen: try again then */
	uint64_t unread_since_ns;     /* it waits for files that are being read; 0: it does not */
	uint32_t round;		      /* for which it was made the engine's target */
	int watched;		      /* in how many binaries its callers are looked for */
	bool missed;		      /* that has been said */
	uint64_t pause_ns;	      /* until it was looked for last, in vain */
	uint32_t rests;		      /* how often it was left alone, for want of samples */
	struct boundaries *bounds;    /* NULL: it can only be sampled, or was not chosen yet */
	bool hands_on;		      /* that has been said */
};

struct trials {
	struct session *s;
	struct plan *plan;
	struct entry *list;
	size_t n, cap;
	int selected;	      /* the engine's target, -1: none */
	unsigned int repairs; /* of the session's when it was selected: mappings were published */
	uint64_t chosen_ns;   /* when samples were last looked at for targets */
	struct published published;
	bool told_full;
};

static int find(const struct trials *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++) {
		if (!strcmp(l->list[i].trial.name, name))
			return i;
	}
	return -1;
}

static struct entry *add(struct trials *l, const char *name, double weight)
{
	struct entry *e;

	array_reserve(l->list, l->cap, l->n + 1);
	e = &l->list[l->n++];
	*e = (struct entry){ .trial = { .name = name } };
	plan_add_target(l->plan, name, weight);
	return e;
}

static void add_together(struct trials *l)
{
	const struct options *o = &l->s->opt;
	char *name = xstrdup(o->targets[0].spec);
	struct entry *e;

	for (size_t i = 1; i < o->n_targets; i++)
		text_add(&name, TARGETS_TOGETHER "%s", o->targets[i].spec);
	e = add(l, name, 1);
	e->named = o->targets;
	e->n_named = o->n_targets;
	e->own_name = name;
}

static void add_named(struct trials *l)
{
	const struct options *o = &l->s->opt;

	if (o->together) {
		add_together(l);
		return;
	}
	/* All alike, but where time is short those come first that were named first. */
	for (size_t i = 0; i < o->n_targets; i++) {
		struct entry *e;

		if (find(l, o->targets[i].spec) >= 0)
			continue;
		e = add(l, o->targets[i].spec, 1 - 1e-6 * i);
		e->named = &o->targets[i];
		e->n_named = 1;
		if (!target_goes_together(&o->targets[i]))
			plan_set_single(l->plan, l->n - 1);
	}
}

static void forget_code(struct entry *e)
{
	if (e->code)
		resolved_target_free(e->code);
	free(e->code);
	e->code = NULL;
}

/*
 * Waits take long to be known, and as long as the first target is not known no other is tried: so
 * the code with the most samples comes first, or the waits where there is more of these.
 */
static void order_waits_and_code(const struct choices *c, double *weights)
{
	double most = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->list[i].target.kind != TARGET_CLASS)
			most = fmax(most, weights[i]);
	for (size_t i = 0; i < c->n && most > 0; i++) {
		if (c->list[i].target.kind != TARGET_CLASS)
			continue;
		weights[i] = c->waits_first ? fmax(weights[i], most / CODE_FIRST)
					    : fmin(weights[i], CODE_FIRST * most);
	}
}

/* Lines that have been tried, alone or together, go on being tried so. */
static struct find_span *tried_lines(const struct trials *l, size_t *n)
{
	struct find_span *ret = xcalloc(l->n + 1, sizeof(*ret));

	*n = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct entry *e = &l->list[i];

		if (!e->trial.joint && e->chosen.kind == TARGET_LINE &&
		    find_span_parse(e->trial.name, &ret[*n]))
			(*n)++;
	}
	return ret;
}

void trials_choices(const struct trials *l, struct choices *ret)
{
	size_t n;
	_cleanup_free_ struct find_span *tried = tried_lines(l, &n);

	choose_targets(l->s, tried, n, ret);
}

/* Trials that go on get a new weight, and what has since been seen of them. */
static void refresh_trials(struct trials *l)
{
	_cleanup_free_ double *weights = NULL;
	struct choices c;

	trials_choices(l, &c);
	weights = xcalloc(c.n + 1, sizeof(*weights));
	for (size_t i = 0; i < c.n; i++) /* before their names are taken */
		weights[i] = choices_weight(&c, i, l->s->expected);
	order_waits_and_code(&c, weights);
	for (size_t i = 0; i < c.n; i++) {
		struct chosen_target *new = &c.list[i].target, old;
		int at = find(l, new->name);
		double weight = weights[i];
		struct entry *e;

		if (at < 0) {
			e = add(l, new->name, weight);
			if (new->kind == TARGET_CLASS || new->kind == TARGET_SYSCALL)
				plan_set_single(l->plan, l->n - 1);
			e->chosen = *new;
			*new = (struct chosen_target){};
			continue;
		}
		e = &l->list[at];
		plan_set_weight(l->plan, at, weight);
		if (new->n_sites == e->chosen.n_sites)
			continue; /* they only ever become more */
		old = e->chosen;
		e->chosen.sites = new->sites;
		e->chosen.n_sites = new->n_sites;
		new->sites = old.sites;
		forget_code(e);
	}
	choices_free(&c);
}

/* By the replay of the beginning: likely and certain first. */
static double worth_of_both(int first, int second, void *arg)
{
	const struct trials *l = arg;
	const struct profile_expectation *x = expectations_of_both(
		l->s->expected, l->list[first].trial.name, l->list[second].trial.name);

	return x ? profile_expectation_worth(x) : NAN;
}

/* What is best done after the best: the plan says with what that is to be tried. */
static void add_joint(struct trials *l)
{
	int second, first = plan_wants_joint(l->plan, worth_of_both, l, &second);
	struct entry *e;
	char *name;

	if (first < 0)
		return;
	name = xasprintf("%s + %s", l->list[first].trial.name, l->list[second].trial.name);
	array_reserve(l->list, l->cap, l->n + 1);
	e = &l->list[l->n++];
	*e = (struct entry){ .own_name = name, .part = { first, second } };
	e->trial.name = e->own_name;
	e->trial.joint = true;
	plan_add_joint(l->plan, name, first, second);
	log_info("%s: what comes after the best one is tried", name);
}

struct trials *trials_create(struct session *s, uint32_t max_windows)
{
	const struct options *o = &s->opt;
	/* Who names targets and speedups wants to see these; who names targets, all of them. */
	bool all = o->n_targets && !o->default_speedups;
	struct plan_options opt = {
		.asked = all		? o->n_speedups
			 : o->n_targets ? 1
					: 0,
		.speedups = o->speedups,
		.n_speedups = o->n_speedups,
		.n_progress = options_progress(o),
		.truth = s->truth >= 0,
		.precision = o->precision,
		.seconds = o->duration,
		.windows = max_windows,
		.seed = o->seed,
		.next = o->next && !o->together,
	};
	struct trials *l = xcalloc(1, sizeof(*l));

	l->s = s;
	l->published = (struct published){ .engine = s->engine, .maps = s->maps };
	l->selected = -1;
	l->plan = plan_create(&opt);
	return l;
}

void trials_destroy(struct trials *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++) {
		boundaries_free(l->list[i].bounds);
		forget_code(&l->list[i]);
		chosen_target_free(&l->list[i].chosen);
		free(l->list[i].trial.location);
		free(l->list[i].own_name);
	}
	plan_free(l->plan);
	free(l->list);
	free(l);
}

size_t trials_count(const struct trials *l)
{
	return l->n;
}

const struct trial *trials_get(const struct trials *l, int i)
{
	return &l->list[i].trial;
}

struct plan_state trials_state(const struct trials *l, int i)
{
	return plan_state(l->plan, i);
}

void trials_set_period(struct trials *l, uint64_t period_ns)
{
	plan_set_period(l->plan, period_ns);
}

void trials_interrupt(struct trials *l)
{
	plan_interrupt(l->plan);
	l->selected = -1;
}

bool trials_are_over(const struct trials *l)
{
	for (size_t i = 0; i < l->n; i++) {
		if (!l->list[i].trial.broken && !l->list[i].trial.joint)
			return false;
	}
	return l->n && l->s->opt.n_targets;
}

enum plan_answer trials_next(struct trials *l, struct plan_window *ret)
{
	bool named = l->s->opt.n_targets;
	uint64_t now = clock_now_ns();

	if (named && !l->n) {
		add_named(l);
	} else if (!named && (!l->n || now - l->chosen_ns > CHOOSE_NS)) {
		l->chosen_ns = now;
		refresh_trials(l);
	}
	for (size_t i = 0; i < l->n; i++) {
		if (l->list[i].not_before_ns && l->list[i].not_before_ns <= now) {
			l->list[i].not_before_ns = 0;
			plan_set_waiting(l->plan, i, false);
		}
	}
	add_joint(l);
	return plan_next(l->plan, ret);
}

static void let_wait(struct trials *l, int i, uint64_t ns)
{
	l->list[i].not_before_ns = clock_now_ns() + ns;
	plan_set_waiting(l->plan, i, true);
}

void trials_retry(struct trials *l, int i)
{
	let_wait(l, i, RETRY_NS);
}

bool trials_postpone(struct trials *l, int i, const char *why)
{
	struct entry *e = &l->list[i];
	bool late = session_elapsed_s(l->s) >= MISSING_S;

	if (late && !e->named)
		return false;
	if (late && !e->missed && !e->trial.joint)
		session_warn(l->s, "%s; it is looked for as long as the run lasts", why);
	e->missed |= late;
	e->pause_ns = e->pause_ns ? e->pause_ns + e->pause_ns / 8 : RETRY_NS;
	e->pause_ns = e->pause_ns < MOST_NS ? e->pause_ns : MOST_NS;
	let_wait(l, i, e->pause_ns);
	return true;
}

void trials_rest(struct trials *l, int i)
{
	struct plan_state state = plan_state(l->plan, i);
	struct entry *e = &l->list[i];
	uint32_t doublings = e->rests < MAX_RESTS ? e->rests : MAX_RESTS;

	if (!state.unseen)
		return;
	if (!e->rests++)
		session_warn(
			l->s,
			"%s is not tried for now, and now and then later: %llu samples of it in "
			"%.1f s of windows; as long as it is seen so seldom, nothing is learned of "
			"it",
			e->trial.name, (unsigned long long)state.hits, state.watched_s);
	let_wait(l, i, REST_NS << doublings);
}

void trials_break(struct trials *l, int i, const char *why)
{
	/* Its parts are tried all the same. */
	if (l->list[i].trial.joint)
		log_info("%s: %s", l->list[i].trial.name, why);
	else
		session_reason(l->s, "%s", why);
	l->list[i].trial.broken = true;
	plan_set_broken(l->plan, i);
}

bool trials_are_seen(const struct trials *l)
{
	bool all = l->s->opt.n_targets > 0 && l->n > 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct entry *e = &l->list[i];

		all = all && (e->trial.joint || (e->bounds && boundaries_are_put(e->bounds)));
	}
	return all || targets_seen(&l->s->opt, l->s->engine) > 0;
}

bool trials_may_be_seen(const struct trials *l)
{
	const struct options *o = &l->s->opt;

	if (!engine_can_see_functions(l->s->engine))
		return false;
	for (size_t i = 0; i < l->n; i++) {
		const struct entry *e = &l->list[i];
		bool looked_for =
			e->bounds || e->code || !e->named || e->named->kind != TARGET_FUNCTION;

		if (!looked_for || (e->bounds && !boundaries_are_known(e->bounds)))
			return true;
	}
	return !l->n && o->n_targets && o->targets[0].kind == TARGET_FUNCTION;
}

bool trials_trust(struct trials *l, int i)
{
	struct entry *e = &l->list[i];

	return !e->bounds || (l->s->opt.end_to_end ? boundaries_check_run : boundaries_check)(
				     e->bounds, l->s->engine, e->trial.name);
}

void trials_look(struct trials *l, int i)
{
	struct entry *e = &l->list[i];

	if (e->bounds)
		boundaries_look(e->bounds, l->s->engine, e->trial.name);
}

void trials_record(struct trials *l, int i, const struct profile_window *w, bool more)
{
	l->list[i].trial.hits += w->hits;
	l->list[i].trial.others_hits += w->others_hits;
	if (more)
		plan_record_more(l->plan, i, w);
	else
		plan_record(l->plan, i, w);
}

void trials_forget(struct trials *l)
{
	plan_forget(l->plan);
}

bool trials_can_go_on(const struct trials *l, int i)
{
	return !l->list[i].trial.broken && !l->list[i].not_before_ns;
}

void trials_go_on(struct trials *l, int i)
{
	plan_begin_round(l->plan, i);
}

/* ---- the engine's target ---- */

void trials_on_mapping(struct trials *l, uint32_t binary, const struct maps_mapping *m)
{
	published_on_mapping(&l->published, binary, m);
}

/* To the profile, and to the user (of a joint's parts, once) what is to be known before its first
 * window. */
static int tell(struct session *s, struct trial *t, const struct resolved_target *r,
		struct error *err)
{
	struct profile_target p = { .name = t->name, .kind = r->kind, .location = r->location };

	if (engine_target_by_functions(s->engine))
		session_warn(s,
			     "target %s is known by the functions of the kernel that do its work, "
			     "and samples may be missed: %s",
			     t->name,
			     s->opt.batch
				     ? "with --batch there is no other way"
				     : "this kernel carries older scoz patches (docs/kernel.md)");
	if (r->overloads && !t->joint)
		log_warn("target %s stands for all of: %s; write one of them to try it alone",
			 t->name, r->overloads);
	t->told = true;
	t->kind = r->kind;
	if (r->location[0] && r->n) {
		t->location = xstrdup(r->location);
		t->binary = maps_binary_path(s->maps, r->parts[r->described].binary);
		t->file = r->parts[r->described].file;
	}
	return profile_writer_target(s->writer, &p, &t->id, err);
}

/* For files that are still being read; but new ones may go on appearing. */
static bool may_wait(struct entry *e)
{
	uint64_t now = clock_now_ns();

	if (!e->unread_since_ns)
		e->unread_since_ns = now;
	return now - e->unread_since_ns < UNREAD_NS;
}

/* Where one of several is nowhere, all are. */
static int resolve_named(const struct trials *l, const struct entry *e, bool patient,
			 struct resolved_target *code, struct error *err)
{
	struct session *s = l->s;
	int ret = target_resolve(e->named, s->maps, s->handlers, patient, code, err);

	for (size_t i = 1; i < e->n_named && !ret; i++) {
		struct resolved_target next;

		ret = target_resolve(&e->named[i], s->maps, s->handlers, patient, &next, err);
		if (!ret)
			ret = resolved_target_join(code, &next, e->trial.name, err);
		if (ret)
			resolved_target_free(code);
	}
	return ret;
}

/* Whose callers can be told: code in one place each, and the kernel's where it is looked at. */
static void watch(struct session *s, const struct trial *t, const struct resolved_target *r)
{
	if (!strcmp(r->kind, "function") || !strcmp(r->kind, "line") ||
	    (!strcmp(r->kind, "kernel") && s->opt.n_kernel_scope))
		handlers_watch(s->handlers, t->id, t->name, r->parts, r->n);
}

static int resolve_one(const struct trials *l, const struct entry *e, bool patient,
		       struct resolved_target *code, struct error *err)
{
	return e->named ? resolve_named(l, e, patient, code, err)
			: target_resolve_chosen(&e->chosen, l->s->maps, l->s->handlers, patient,
						code, err);
}

static int resolve_joint(const struct trials *l, const struct entry *e, bool patient,
			 struct resolved_target *code, struct error *err)
{
	struct resolved_target second;
	int ret = resolve_one(l, &l->list[e->part[0]], patient, code, err);

	if (ret)
		return ret;
	ret = resolve_one(l, &l->list[e->part[1]], patient, &second, err);
	if (!ret)
		ret = resolved_target_join(code, &second, e->trial.name, err);
	if (ret)
		resolved_target_free(code);
	return ret;
}

static int resolve(const struct trials *l, struct entry *e, bool patient, struct error *err)
{
	struct resolved_target *code;
	int ret;

	if (e->code)
		return 0;
	code = xcalloc(1, sizeof(*code));
	ret = e->trial.joint ? resolve_joint(l, e, patient, code, err)
			     : resolve_one(l, e, patient, code, err);
	if (ret)
		free(code);
	else
		e->code = code;
	return ret;
}

/* The engine's target is @e. */
static void see(const struct trials *l, struct entry *e)
{
	if (e->bounds && boundaries_are_sought(e->bounds))
		return;
	if (e->bounds && !boundaries_are_of(e->bounds, e->code)) {
		engine_sample_target(l->s->engine);
		boundaries_free(e->bounds);
		e->bounds = NULL;
	}
	if (!e->bounds)
		e->bounds = boundaries_find(e->code, l->s->maps, l->s->engine);
	if (e->bounds && e->named && !e->hands_on && boundaries_hand_on(e->bounds)) {
		e->hands_on = true;
		session_warn(l->s,
			     "%s always ends by jumping to another function, which returns for it "
			     "(a tail call): what that one does is no part of it, and may be all "
			     "that is done: name that one (`objdump -d` shows it)",
			     e->trial.name);
	}
	if (e->bounds && !engine_sees_hits(l->s->engine))
		boundaries_put(e->bounds, l->s->engine, l->s->opt.end_to_end, e->trial.name);
}

/* Code that a process makes lies elsewhere by now. */
static bool has_moved(const struct trials *l, struct entry *e)
{
	struct resolved_target now;
	struct error err;
	bool same;

	if (!resolved_target_is_old(e->code, l->s->maps))
		return false;
	if ((e->trial.joint ? resolve_joint : resolve_one)(l, e, false, &now, &err))
		return true;
	same = resolved_target_same(e->code, &now);
	if (same)
		e->code->made = now.made;
	resolved_target_free(&now);
	return !same;
}

/* Once: the others will be so, too. */
static void warn_of_full(struct trials *l, const struct entry *e)
{
	if (!l->published.full || l->told_full)
		return;
	l->told_full = true;
	session_warn(l->s,
		     "target %s lies in files that more processes have mapped than engine %s has "
		     "room for: in those that came last it is not seen, and it will look less "
		     "worthwhile than it is, as may others; profile on a machine that runs less",
		     e->trial.name, engine_name(l->s->engine));
}

int trials_select(struct trials *l, int i, struct error *err)
{
	uint32_t round = plan_state(l->plan, i).rounds;
	struct entry *e = &l->list[i];
	int ret;

	/* Processes have come since. */
	if (l->selected >= 0)
		warn_of_full(l, &l->list[l->selected]);
	/* Without code it has been seen elsewhere, too, since it was selected. */
	if (l->selected == i && e->code && e->round == round && l->repairs == l->s->repairs &&
	    !has_moved(l, e)) {
		see(l, e);
		return 0;
	}
	l->selected = -1;
	/* What was named may since have appeared in other binaries, too. */
	if (e->named || e->trial.joint || (e->code && e->code->made))
		forget_code(e);
	ret = resolve(l, e, may_wait(e), err);
	if (ret != -EAGAIN) /* no file is being read that may hold it */
		e->unread_since_ns = 0;
	if (ret)
		return ret;
	ret = engine_set_target(l->s->engine, e->code->parts, e->code->n, err);
	published_clear(&l->published);
	for (int part = 0; !ret && part < e->code->n; part++) {
		if (e->code->parts[part].binary != MAPS_KERNEL_ID)
			published_add(&l->published, e->code->parts[part].binary);
	}
	warn_of_full(l, e);
	if (!ret && !e->trial.told)
		ret = tell(l->s, &e->trial, e->code, err);
	if (!ret && e->watched != e->code->n) {
		watch(l->s, &e->trial, e->code);
		e->watched = e->code->n;
	}
	if (!ret) {
		see(l, e);
		l->selected = i;
		l->repairs = l->s->repairs;
		e->round = round;
	}
	return ret;
}

int trials_find(const struct trials *l, int i, struct error *err)
{
	return resolve(l, &l->list[i], false, err);
}
