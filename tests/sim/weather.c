// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The weather of a shared machine: hosts that take cores away in bursts, and cores whose speed
 * jumps for a while; sometimes all of them at once. A host has nothing to take from an idle core,
 * but may be late when that has something to do again.
 */
#include "machine_internal.h"

#include "base/base.h"

#include <math.h>

static int64_t log_uniform(uint64_t *rng, int64_t least, int64_t most)
{
	return least * pow((double)most / least, rng_uniform(rng));
}

/* Mean of what log_uniform() gives. */
static double log_uniform_mean(double least, double most)
{
	return (most - least) / log(most / least);
}

double core_pace(const struct sim *s, int c)
{
	return s->core[c].burst_end ? 0 : s->core[c].pace;
}

static bool works(const struct core *k)
{
	return k->cur != NOBODY && !k->stop;
}

/* @end: until when the host has the core; 0: it is given back. */
static void set_burst(struct sim *s, int c, int64_t end)
{
	struct core *k = &s->core[c];

	if (works(k))
		core_update(s, c);
	k->burst_end = end;
	if (works(k))
		core_resume(s, c);
}

static void burst_begin(struct sim *s, int c, int64_t length)
{
	if (s->core[c].burst_end ||
	    (s->core[c].cur == NOBODY && !s->core[c].late && !s->o.weather.idle))
		return;
	set_burst(s, c, s->now + length);
	s->stolen += length;
	event_add(&s->events, s->now + length, EV_BURST, c, true);
}

int64_t weather_length(uint64_t *rng)
{
	return log_uniform(rng, WEATHER_BURST_MIN, WEATHER_BURST_MAX);
}

int64_t weather_pause(uint64_t *rng, double mean)
{
	return -mean * log(rng_uniform(rng) + 1e-12);
}

static double mean_pause(double share)
{
	return log_uniform_mean(WEATHER_BURST_MIN, WEATHER_BURST_MAX) * (1 - share) / share;
}

bool weather_late(struct sim *s, int c)
{
	struct core *k = &s->core[c];

	if (k->burst_end)
		return true;
	k->late = !k->late && s->o.weather.late > 0 &&
		  rng_uniform(&k->weather_rng) < s->o.weather.late;
	if (k->late)
		burst_begin(s, c, weather_length(&k->weather_rng));
	return k->late;
}

static void next_burst(struct sim *s, int c)
{
	struct core *k = &s->core[c];
	int64_t pause = weather_pause(&k->weather_rng, mean_pause(s->o.weather.stolen));

	event_add(&s->events, s->now + pause, EV_BURST, c, 0);
}

void weather_burst(struct sim *s, int c, bool over)
{
	struct core *k = &s->core[c];
	bool common;
	int64_t length;

	if (over) {
		set_burst(s, c, 0);
		return;
	}
	length = weather_length(&k->weather_rng);
	common = rng_uniform(&k->weather_rng) < s->o.weather.common;
	/* What is common comes from the first core. */
	for (int i = 0; common && c == 0 && i < s->n_cores; i++)
		burst_begin(s, i, length);
	if (!common)
		burst_begin(s, c, length);
	next_burst(s, c);
}

static void set_pace(struct sim *s, int c, double pace)
{
	struct core *k = &s->core[c];

	if (works(k))
		core_update(s, c);
	k->pace = pace;
	if (works(k))
		core_resume(s, c);
}

void weather_spell(struct sim *s, int c)
{
	struct core *k = &s->core[c];
	double pace = k->pace < 1 ? 1 : 1 / s->o.weather.jump;
	bool all = rng_uniform(&k->weather_rng) < s->o.weather.common;

	for (int i = 0; i < s->n_cores; i++) {
		if (all || i == c)
			set_pace(s, i, pace);
	}
	event_add(&s->events,
		  s->now + log_uniform(&k->weather_rng, WEATHER_SPELL_MIN, WEATHER_SPELL_MAX),
		  EV_SPELL, c, 0);
}

void weather_begin(struct sim *s)
{
	for (int c = 0; c < s->n_cores; c++) {
		if (s->o.weather.stolen > 0)
			next_burst(s, c);
		if (s->o.weather.jump > 1)
			weather_spell(s, c);
	}
}

static void add_hog(struct sim_program *p, int core, int stream, double share)
{
	int t = program_task(p);

	p->task[t].stranger = p->task[t].urgent = true;
	p->task[t].pinned = core;
	program_op(p, t, OP_BURST, mean_pause(share), stream, SIM_REST);
}

void weather_add_hogs(struct sim_program *p, double share, double common)
{
	for (int c = 0; c < p->cores; c++) {
		if (common < 1)
			add_hog(p, c, c + 1, share * (1 - common));
		if (common > 0)
			add_hog(p, c, 0, share * common);
	}
}
