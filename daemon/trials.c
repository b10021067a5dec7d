// SPDX-License-Identifier: GPL-2.0-or-later
/* Which targets are tried, and in which order. */
#include "daemon/session.h"
#include "daemon/targets.h"

#define MAX_CHOSEN 8	/* targets chosen from samples at a time */
#define MIN_SHARE  0.02 /* of the samples in scope */

static void add_named(struct session *s)
{
	for (size_t i = 0; i < s->opt.n_targets; i++) {
		array_reserve(s->trials, s->cap_trials, s->n_trials + 1);
		s->trials[s->n_trials++] =
			(struct trial){ .target = s->opt.targets[i], .weight = 1 };
	}
}

static struct trial *find(struct session *s, const char *spec)
{
	for (size_t i = 0; i < s->n_trials; i++) {
		if (!strcmp(s->trials[i].target.spec, spec))
			return &s->trials[i];
	}
	return NULL;
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
		struct trial *t;
		size_t best = 0;

		for (size_t i = 1; i < n; i++) {
			if (self[i] > self[best])
				best = i;
		}
		if (!n || !self[best] || self[best] < sum * MIN_SHARE)
			return;
		t = find(s, locations_get(s->locations, best)->target);
		if (t) {
			t->weight = self[best];
		} else if (!target_parse(locations_get(s->locations, best)->target, &target,
					 &err)) {
			array_reserve(s->trials, s->cap_trials, s->n_trials + 1);
			s->trials[s->n_trials++] =
				(struct trial){ .target = target, .weight = self[best] };
		} else {
			log_debug("%s", err.text);
		}
		self[best] = 0;
	}
}

/* In proportion to the samples, like COZ, but without leaving it to chance. */
bool trials_pending(const struct session *s)
{
	for (size_t i = 0; i < s->n_trials; i++) {
		if (!s->trials[i].broken)
			return true;
	}
	return !s->opt.n_targets;
}

struct trial *trials_next(struct session *s)
{
	struct trial *best = NULL;

	if (s->opt.n_targets) {
		if (!s->n_trials)
			add_named(s);
	} else {
		choose(s);
	}
	for (size_t i = 0; i < s->n_trials; i++) {
		struct trial *t = &s->trials[i];

		if (t->broken || t->not_before_ns > clock_now_ns())
			continue;
		if (!best ||
		    (double)t->weight / (t->rounds + 1) > (double)best->weight / (best->rounds + 1))
			best = t;
	}
	return best;
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
	struct resolved_target r;
	int ret;

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
	return ret;
}
