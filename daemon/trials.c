// SPDX-License-Identifier: GPL-2.0-or-later
/* The targets that are tried: as named, or what is sampled most. lib/plan orders them. */
#include "daemon/session.h"
#include "daemon/targets.h"

#define MAX_CHOSEN 8 /* targets chosen from samples at a time */
#define CHOOSE_NS  NSEC_PER_SEC
#define RETRY_NS   (200 * NSEC_PER_MSEC)
#define REST_NS	   NSEC_PER_SEC
#define UNREAD_NS  (5 * NSEC_PER_SEC) /* that a target waits for files that may hold it */
#define MAX_RESTS  5		      /* of which each is twice as long as the one before */

static int find(const struct session *s, const char *spec)
{
	for (size_t i = 0; i < s->n_trials; i++) {
		if (!strcmp(s->trials[i].target.spec, spec))
			return i;
	}
	return -1;
}

static void add(struct session *s, const struct target *target, double weight)
{
	ptrdiff_t selected = s->selected ? s->selected - s->trials : -1;

	array_reserve(s->trials, s->cap_trials, s->n_trials + 1);
	s->trials[s->n_trials++] = (struct trial){ .target = *target };
	s->selected = selected < 0 ? NULL : &s->trials[selected];
	plan_add_target(s->plan, target->spec, weight);
}

static void add_named(struct session *s)
{
	/* All alike, but where time is short those come first that were named first. */
	for (size_t i = 0; i < s->opt.n_targets; i++) {
		if (find(s, s->opt.targets[i].spec) < 0)
			add(s, &s->opt.targets[i], 1 - 1e-6 * i);
	}
}

struct candidate {
	char *target;
	uint64_t samples;
};

struct candidates {
	struct candidate *c;
	size_t n, cap;
};

static void candidate_add(struct candidates *list, const char *target, uint64_t samples)
{
	array_reserve(list->c, list->cap, list->n + 1);
	list->c[list->n++] = (struct candidate){ xstrdup(target), samples };
}

static void candidates_free(struct candidates *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->c[i].target);
	free(list->c);
}

static int by_target(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return strcmp(x->target, y->target);
}

static int by_samples(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->samples != y->samples ? (x->samples < y->samples ? 1 : -1) : by_target(a, b);
}

/* Adds up what has the same name, most sampled first. */
static void candidates_sort(struct candidates *list)
{
	size_t kept = 0;

	if (!list->n)
		return;
	qsort(list->c, list->n, sizeof(*list->c), by_target);
	for (size_t i = 1; i < list->n; i++) {
		if (strcmp(list->c[kept].target, list->c[i].target)) {
			list->c[++kept] = list->c[i];
		} else {
			list->c[kept].samples += list->c[i].samples;
			free(list->c[i].target);
		}
	}
	list->n = kept + 1;
	qsort(list->c, list->n, sizeof(*list->c), by_samples);
}

/* What the samples of a run are credited to. */
struct credits {
	struct tally_sums *location;
	struct tally_binary *binary;
	size_t n_location, n_binary;
	uint64_t sum, all; /* credited to something; all samples */
};

static void credits_read(struct session *s, struct credits *ret)
{
	struct handlers_counts counts;

	handlers_samples(s->handlers, &ret->location, &ret->n_location);
	handlers_binaries(s->handlers, &ret->binary, &ret->n_binary);
	handlers_counts(s->handlers, &counts);
	ret->all = counts.samples;
	ret->sum = 0;
	for (size_t i = 0; i < ret->n_location; i++)
		ret->sum += ret->location[i].credit;
	for (size_t i = 0; i < ret->n_binary; i++)
		ret->sum += ret->binary[i].sums.credit;
}

/* Binaries for the code in them of which nothing is known. */
static void list_unknown(struct session *s, const struct credits *c, struct candidates *ret)
{
	for (size_t i = 0; i < c->n_binary; i++) {
		_cleanup_free_ char *target = NULL;

		if (!c->binary[i].sums.credit || maps_binary_is_kernel(s->maps, i))
			continue;
		target = locations_binary_target(maps_binary_path(s->maps, i));
		candidate_add(ret, target, c->binary[i].sums.credit);
	}
}

/* Lines and functions; code of which nothing is known stands for its binary. */
static void list_places(struct session *s, const struct credits *c, struct candidates *ret)
{
	for (size_t i = 0; i < c->n_location; i++) {
		if (c->location[i].credit)
			candidate_add(ret, locations_get(s->locations, i)->target,
				      c->location[i].credit);
	}
	list_unknown(s, c, ret);
}

/* The functions of lines that are too many for any of them to matter. */
static void list_functions(struct session *s, const struct credits *c, struct candidates *ret)
{
	for (size_t i = 0; i < c->n_location; i++) {
		const struct location *l = locations_get(s->locations, i);

		if (c->location[i].credit)
			candidate_add(ret, l->function ? l->function : l->target,
				      c->location[i].credit);
	}
}

/* And whole programs, where there are too many functions. */
static void list_binaries(struct session *s, const struct credits *c, struct candidates *ret)
{
	for (size_t i = 0; i < c->n_location; i++) {
		const char *path = locations_get(s->locations, i)->binary;
		_cleanup_free_ char *target = NULL;

		if (!c->location[i].credit || path[0] == '[')
			continue;
		target = locations_binary_target(path);
		candidate_add(ret, target, c->location[i].credit);
	}
	list_unknown(s, c, ret);
}

/* Experiments that run already go on with a new weight. Returns how many are worth trying. */
static int take(struct session *s, const struct credits *c, struct candidates *list)
{
	int taken = 0;

	candidates_sort(list);
	for (size_t i = 0; i < list->n && taken < MAX_CHOSEN; i++, taken++) {
		const struct candidate *k = &list->c[i];
		struct error err = {};
		struct target target;

		if (!code_worth_trying(k->samples, c->sum, c->all))
			break;
		if (find(s, k->target) >= 0)
			plan_set_weight(s->plan, find(s, k->target), k->samples);
		else if (!target_parse(k->target, &target, &err))
			add(s, &target, k->samples);
		else
			log_debug("%s", err.text);
	}
	candidates_free(list);
	*list = (struct candidates){};
	return taken;
}

/* Takes what most samples are credited to: places, or what is larger where no place matters. */
static void choose(struct session *s)
{
	struct candidates list = {};
	struct credits c;

	credits_read(s, &c);
	list_places(s, &c, &list);
	/* With fewer samples in all a place may yet turn out to have its share. */
	if (!take(s, &c, &list) && code_can_tell(c.sum)) {
		list_functions(s, &c, &list);
		if (!take(s, &c, &list)) {
			list_binaries(s, &c, &list);
			take(s, &c, &list);
		}
	}
	free(c.location);
	free(c.binary);
}

bool trials_pending(const struct session *s)
{
	for (size_t i = 0; i < s->n_trials; i++) {
		if (!s->trials[i].broken)
			return true;
	}
	return !s->opt.n_targets;
}

enum plan_answer trials_next(struct session *s, struct plan_window *ret)
{
	uint64_t now = clock_now_ns();

	if (s->opt.n_targets && !s->n_trials) {
		add_named(s);
	} else if (!s->opt.n_targets && (!s->n_trials || now - s->chosen_ns > CHOOSE_NS)) {
		s->chosen_ns = now;
		choose(s);
	}
	for (size_t i = 0; i < s->n_trials; i++) {
		struct trial *t = &s->trials[i];

		if (t->not_before_ns && t->not_before_ns <= now) {
			t->not_before_ns = 0;
			plan_set_waiting(s->plan, i, false);
		}
	}
	return plan_next(s->plan, ret);
}

void trial_postpone(struct session *s, struct trial *t)
{
	t->not_before_ns = clock_now_ns() + RETRY_NS;
	plan_set_waiting(s->plan, t - s->trials, true);
}

void trial_rest(struct session *s, struct trial *t)
{
	struct plan_state state = plan_state(s->plan, t - s->trials);
	uint32_t doublings = t->rests < MAX_RESTS ? t->rests : MAX_RESTS;

	if (!state.unseen)
		return;
	if (!t->rests++)
		session_warn(
			s,
			"%s is not tried for now, and now and then later: %llu samples of it in "
			"%.1f s of windows; as long as it runs so seldom, it cannot matter",
			t->target.spec, (unsigned long long)state.hits, state.watched_s);
	t->not_before_ns = clock_now_ns() + (REST_NS << doublings);
	plan_set_waiting(s->plan, t - s->trials, true);
}

void trial_break(struct session *s, struct trial *t, const char *why)
{
	session_reason(s, "%s", why);
	t->broken = true;
	plan_set_broken(s->plan, t - s->trials);
}

static int publish(const struct maps_mapping *m, void *arg)
{
	struct session *s = ((void **)arg)[0];

	engine_publish_mapping(s->engine, *(uint32_t *)((void **)arg)[1], m);
	return 0;
}

static int name_trial(struct session *s, struct trial *t, const struct resolved_target *r,
		      struct error *err)
{
	struct profile_target p = { .name = t->target.spec,
				    .kind = r->kind,
				    .location = r->location };

	if (t->named)
		return 0;
	t->named = true;
	if (r->overloads)
		log_warn("target %s stands for all of: %s; write one of them to try it alone",
			 t->target.spec, r->overloads);
	return profile_writer_target(s->writer, &p, &t->id, err);
}

/* For files that are still being read; but new ones may go on appearing. */
static bool may_wait(struct trial *t)
{
	uint64_t now = clock_now_ns();

	if (!t->unread_since_ns)
		t->unread_since_ns = now;
	return now - t->unread_since_ns < UNREAD_NS;
}

int trial_select(struct session *s, struct trial *t, struct error *err)
{
	uint32_t round = plan_state(s->plan, t - s->trials).rounds;
	struct resolved_target r;
	int ret;

	if (s->selected == t && t->round == round)
		return 0;
	s->selected = NULL;
	ret = target_resolve(&t->target, s->maps, s->handlers, may_wait(t), &r, err);
	if (ret)
		return ret;
	t->unread_since_ns = 0;
	ret = engine_set_target(s->engine, r.parts, r.n, err);
	s->n_published = 0;
	for (int i = 0; !ret && i < r.n; i++) {
		uint32_t binary = r.parts[i].binary;

		if (binary == MAPS_KERNEL_ID)
			continue;
		s->published[s->n_published] = binary;
		__atomic_add_fetch(&s->n_published, 1, __ATOMIC_RELEASE);
		maps_for_each_mapping(s->maps, binary, publish, (void *[]){ s, &binary });
	}
	if (!ret && !t->named && engine_target_by_functions(s->engine))
		session_warn(s,
			     "target %s is known by the functions of the kernel that do its work, "
			     "and samples may be missed: %s",
			     t->target.spec,
			     s->opt.batch
				     ? "with --batch there is no other way"
				     : "this kernel carries older scoz patches (docs/kernel.md)");
	if (!ret)
		ret = name_trial(s, t, &r, err);
	resolved_target_free(&r);
	if (!ret) {
		s->selected = t;
		t->round = round;
	}
	return ret;
}
