/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles with known answers, for the tests of report, plot and export. */
#ifndef TEST_REPORT_FIXTURE_H
#define TEST_REPORT_FIXTURE_H

#include <math.h>

#include "profile/profile.h"
#include "stats/resample.h"

struct fixture_target {
	struct profile_target t;
	double gain;  /* program speedup at 100 % */
	double bend;  /* the curve is flat from this line speedup on */
	double noise; /* of each window */
	double shift; /* log: the whole program is that much slower meanwhile */
	int units;    /* windows at each speedup */
	uint64_t samples;
	double sleeps; /* until points in time, for each visit */
	double waits;  /* in the target, of the time */
};

struct fixture {
	const char *command;
	const double *speedups;
	size_t n_speedups;
	const struct fixture_target *targets;
	size_t n_targets;
	bool latency; /* a second progress point */
	bool truth;   /* of each treated window a real one, too */
	bool footer;
	const char *const *arguments; /* scozd's, or NULL */
	size_t n_arguments;
	const struct profile_binary *binaries;
	size_t n_binaries;
	const char *mode;  /* NULL: windows */
	const char *model; /* NULL: wait */
	const char *name;  /* of the progress point; NULL: iter */
	bool waits;
	const char *const *source; /* lines, the first is the first of the file; NULL: none */
	size_t n_source;
	const char *end; /* NULL: done */
	/* Of each target: a quarter of the samples by the last of these alone; NULL: not known. */
	const char *const *callers;
	size_t n_callers;
	const struct profile_expected *expected;
	size_t n_expected;
	const struct profile_waiters *waiters;
	size_t n_waiters;
	const char *through; /* waits for disks, NULL: nobody */
	const struct profile_choice *choices;
	size_t n_choices;
};

/* Two functions, of which one is worth much. */
static const double fixture_speedups[] = { 0.5, 1 };
static const struct fixture_target fixture_two[] = {
	{ { 0, "func:work@bar", "function", "bar.c:20" },
	  .gain = 0.4,
	  .bend = 1,
	  .noise = 0.01,
	  .units = 12,
	  .samples = 1000 },
	{ { 1, "func:rest@bar", "function", "bar.c:90" },
	  .gain = 0.1,
	  .bend = 1,
	  .noise = 0.01,
	  .units = 12,
	  .samples = 500 },
};

static inline double fixture_uniform(struct rng *r)
{
	return ((rng_next(r) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double fixture_normal(struct rng *r)
{
	return sqrt(-2 * log(fixture_uniform(r))) * cos(2 * M_PI * fixture_uniform(r));
}

static inline int fixture_window(struct profile_writer *w, const struct fixture *f,
				 const struct fixture_target *t, uint32_t id, double speedup,
				 bool real, uint32_t *seq, struct rng *rng, struct error *err)
{
	double saved = t->gain * fmin(speedup, t->bend);
	double period = 1.25e-3 * (1 - saved) * exp(t->shift + t->noise * fixture_normal(rng));
	struct window_progress p[2] = {
		{ .visits = floor(0.15 / period), .virtual_s = floor(0.15 / period) * period },
		{ .visits = 100, .virtual_s = 0.15, .inflight = 4 * period / 1.25e-3 },
	};
	struct profile_window win = {
		.seq = *seq,
		.target = id,
		.speedup = speedup,
		.real = real,
		.start_s = 0.25 * *seq,
		.wall_s = 0.15 * (1 + 0.2 * speedup),
		.inserted_s = real ? 0 : 0.03 * speedup,
		.hits = 1 + t->samples / 400,
		.absolute_waits = t->sleeps * floor(0.15 / period),
		.target_waited_s = t->waits * 0.15,
		.n_progress = f->latency ? 2 : 1,
		.progress = p,
	};

	if (*seq % 37 == 36)
		win.discard = *seq % 2 ? DISCARD_STEAL : DISCARD_FEW_VISITS;
	(*seq)++;
	return profile_writer_window(w, &win, err);
}

static inline int fixture_callers(struct profile_writer *w, const struct fixture *f, uint32_t id,
				  struct error *err)
{
	struct profile_seen seen = { .target = id, .samples = 400, .all = 1000 };
	struct profile_path path = {
		.target = id, .samples = 100, .functions = f->callers, .n_functions = 1
	};
	int r = profile_writer_seen(w, &seen, err);

	if (!r)
		r = profile_writer_path(w, &path, err);
	path.samples = 200;
	path.n_functions = f->n_callers;
	return r ? r : profile_writer_path(w, &path, err);
}

static inline int fixture_write(const char *path, const struct fixture *f, struct error *err)
{
	struct profile_header h = { .engine = "bpf",
				    .model = f->model ? f->model : "wait",
				    .waits = f->waits,
				    .mode = f->mode ? f->mode : "windows",
				    .arguments = f->arguments,
				    .n_arguments = f->n_arguments,
				    .binaries = f->binaries,
				    .n_binaries = f->n_binaries,
				    .frequency_hz = 4000,
				    .period_s = 1.0 / 4000,
				    .seed = 1,
				    .cpus = 8,
				    .command = f->command,
				    .host = "testhost",
				    .kernel = "6.1.0-18-amd64",
				    .started = "2025-01-01T12:00:00Z" };
	struct profile_progress progress[] = {
		{ 0, f->name ? f->name : "iter", PROGRESS_THROUGHPUT, "./bar:iterate" },
		{ 1, "request", PROGRESS_LATENCY, "request=./bar:begin,./bar:end" },
	};
	struct profile_footer footer = { .duration_s = 61.2,
					 .samples_total = 240113,
					 .inserted_s = 4.2,
					 .owed_s = 0.02,
					 .command_status = 0,
					 .end = f->end ? f->end : "done" };
	struct rng rng = { 7 };
	struct profile_writer *w;
	uint32_t seq = 0;
	int r;

	r = profile_writer_open(path, &h, progress, f->latency ? 2 : 1, &w, err);
	if (r)
		return r;
	for (size_t i = 0; !r && i < f->n_targets; i++) {
		const struct fixture_target *t = &f->targets[i];
		struct profile_sample s = { .target = t->t.name,
					    .location = t->t.location,
					    .binary = "/usr/bin/bar",
					    .self = t->samples / 2,
					    .total = t->samples };
		uint32_t id;

		r = profile_writer_target(w, &t->t, &id, err);
		for (int u = 0; !r && u < t->units; u++) {
			for (size_t k = 0; !r && k < f->n_speedups; k++) {
				r = fixture_window(w, f, t, id, 0, false, &seq, &rng, err);
				if (!r)
					r = fixture_window(w, f, t, id, f->speedups[k], false, &seq,
							   &rng, err);
				if (!r && f->truth)
					r = fixture_window(w, f, t, id, 0, false, &seq, &rng, err);
				if (!r && f->truth)
					r = fixture_window(w, f, t, id, f->speedups[k], true, &seq,
							   &rng, err);
			}
		}
		if (!r)
			r = fixture_window(w, f, t, id, 0, false, &seq, &rng, err);
		if (!r && t->samples)
			r = profile_writer_samples(w, &s, 1, err);
		if (!r && f->callers)
			r = fixture_callers(w, f, id, err);
		if (!r && f->source) {
			struct profile_source lines = { .target = id,
							.first = 1,
							.lines = f->source,
							.n_lines = f->n_source,
							.newer = true };

			r = profile_writer_source(w, &lines, err);
		}
	}
	if (!r && f->n_expected)
		r = profile_writer_replay(
			w,
			&(struct profile_replay){ .seconds = 3,
						  .events = 12345,
						  .samples = 3000,
						  .why = "",
						  .disk_waits = 1.7,
						  .through_share = 0.93,
						  .through = f->through ? f->through : "" },
			err);
	for (size_t i = 0; !r && i < f->n_expected; i++)
		r = profile_writer_expected(w, &f->expected[i], err);
	for (size_t i = 0; !r && i < f->n_waiters; i++)
		r = profile_writer_waiters(w, &f->waiters[i], err);
	for (size_t i = 0; !r && i < f->n_choices; i++)
		r = profile_writer_choice(w, &f->choices[i], err);
	if (!r && f->footer)
		r = profile_writer_finish(w, &footer, err);
	profile_writer_close(w);
	return r;
}

#endif
