// SPDX-License-Identifier: GPL-2.0-or-later
/* The targets that are tried: as named, or what is sampled most. lib/plan orders them. */
#include "daemon/session.h"
#include "daemon/targets.h"

#define MAX_CHOSEN 8	/* targets chosen from samples at a time */
#define MIN_SHARE  0.02 /* of the samples in scope */
#define CHOOSE_NS  NSEC_PER_SEC
#define RETRY_NS   (200 * NSEC_PER_MSEC)

static int find(const struct session *s, const char *spec)
{
	for (size_t i = 0; i < s->n_trials; i++) {
		if (!strcmp(s->trials[i].target.spec, spec))
			return i;
	}
	return -1;
}

static void add(struct session *s, const struct target *target, uint64_t weight)
{
	ptrdiff_t selected = s->selected ? s->selected - s->trials : -1;

	array_reserve(s->trials, s->cap_trials, s->n_trials + 1);
	s->trials[s->n_trials++] = (struct trial){ .target = *target };
	s->selected = selected < 0 ? NULL : &s->trials[selected];
	plan_add_target(s->plan, target->spec, weight);
}

static void add_named(struct session *s)
{
	for (size_t i = 0; i < s->opt.n_targets; i++) {
		if (find(s, s->opt.targets[i].spec) < 0)
			add(s, &s->opt.targets[i], 1);
	}
}

/* Takes what is sampled most; experiments that run already go on with a new weight. */
static void choose(struct session *s)
{
	_cleanup_free_ uint64_t *self = NULL, *total = NULL;
	uint64_t sum = 0;
	size_t n;

	handlers_samples(s->handlers, &self, &total, &n);
	for (size_t i = 0; i < n; i++)
		sum += self[i];
	for (int k = 0; k < MAX_CHOSEN; k++) {
		struct error err = {};
		struct target target;
		const char *spec;
		size_t best = 0;

		for (size_t i = 1; i < n; i++) {
			if (self[i] > self[best])
				best = i;
		}
		if (!n || !self[best] || self[best] < sum * MIN_SHARE)
			return;
		spec = locations_get(s->locations, best)->target;
		if (find(s, spec) >= 0)
			plan_set_weight(s->plan, find(s, spec), self[best]);
		else if (!target_parse(spec, &target, &err))
			add(s, &target, self[best]);
		else
			log_debug("%s", err.text);
		self[best] = 0;
	}
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
	return profile_writer_target(s->writer, &p, &t->id, err);
}

int trial_select(struct session *s, struct trial *t, struct error *err)
{
	uint32_t round = plan_state(s->plan, t - s->trials).rounds;
	struct resolved_target r;
	int ret;

	if (s->selected == t && t->round == round)
		return 0;
	s->selected = NULL;
	ret = target_resolve(&t->target, s->maps, s->handlers, &r, err);
	if (ret)
		return ret;
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
	if (!ret)
		ret = name_trial(s, t, &r, err);
	resolved_target_free(&r);
	if (!ret) {
		s->selected = t;
		t->round = round;
	}
	return ret;
}
