// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz-report/1: keys are only ever added. docs/file-format.md describes it. */
#include <math.h>

#include "tools/scoz/cmds.h"
#include "stats/describe.h"
#include "tools/scoz/causal/callers.h"
#include "tools/scoz/causal/model.h"
#include "tools/scoz/causal/mpi_view.h"
#include "tools/scoz/causal/ranking.h"
#include "tools/scoz/causal/report_target.h"
#include "tools/scoz/causal/expected.h"
#include "tools/scoz/causal/next.h"
#include "tools/scoz/causal/waiters.h"
#include "tools/scoz/json_values.h"
#include "tools/scoz/text.h"

static void put(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static json_t *number(double v)
{
	if (!isfinite(v))
		return json_null();
	if (v == rint(v) && fabs(v) < 1e15)
		return json_integer((json_int_t)v);
	return json_real(v);
}

static json_t *list(const struct text_list *l)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(a, json_clean(l->text[i]));
	return a;
}

static json_t *windows_json(const struct model *m)
{
	json_t *o = json_object(), *d = json_object();

	for (size_t i = 0; i < m->n_discards; i++)
		put(d, m->discards[i].name, json_integer(m->discards[i].n));
	put(o, "kept", json_integer(m->kept));
	put(o, "discarded", d);
	return o;
}

static json_t *samples_json(const struct model *m)
{
	json_t *o = json_object();

	put(o, "total", json_integer(m->samples_total));
	put(o, "lost", json_integer(m->samples_lost));
	put(o, "unnamed", json_integer(m->samples_unnamed));
	return o;
}

/* null for what is no latency. */
static json_t *latency_json(const struct model *m, size_t i)
{
	const struct model_latency *l = &m->latency[i];
	json_t *o;

	if (m->profile->progress[i].kind != PROGRESS_LATENCY)
		return json_null();
	o = json_object();
	put(o, "count", json_integer((json_int_t)l->measured));
	put(o, "elsewhere", json_integer((json_int_t)l->elsewhere));
	put(o, "p50_s", number(l->why ? NAN : l->p50_s));
	put(o, "p90_s", number(l->why ? NAN : l->p90_s));
	put(o, "p99_s", number(l->why ? NAN : l->p99_s));
	put(o, "max_s", number(l->why ? NAN : l->max_s));
	put(o, "why", l->why ? json_clean(l->why) : json_null());
	return o;
}

static json_t *stretch_json(const struct stretch *s)
{
	json_t *o;

	if (!s->windows)
		return json_null();
	o = json_object();
	put(o, "windows", json_integer(s->windows));
	put(o, "longer_pct", json_percent(100 * s->part));
	put(o, "ci95", json_interval(100 * s->lo, 100 * s->hi));
	put(o, "waits_shorter_pct", json_percent(100 * s->shorter));
	put(o, "waits_shorter_ci95", json_interval(100 * s->shorter_lo, 100 * s->shorter_hi));
	put(o, "clock", json_boolean(stretch_by_clock(s)));
	put(o, "enough", json_boolean(!stretch_is_unjudged(s)));
	return o;
}

static json_t *progress_json(const struct model *m)
{
	json_t *a = json_array();

	for (size_t i = 0; i < m->profile->n_progress; i++) {
		const struct profile_progress *p = &m->profile->progress[i];
		json_t *o = json_object();

		put(o, "name", json_clean(p->name));
		put(o, "visits", number(m->progress[i].visits));
		put(o, "rate_per_s", number(m->progress[i].rate_per_s));
		put(o, "kind", json_clean(p->kind == PROGRESS_LATENCY ? "latency" : "throughput"));
		put(o, "spec", json_clean(p->spec));
		put(o, "latency", latency_json(m, i));
		put(o, "control", stretch_json(&m->progress[i].stretch));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *measured_json(const struct estimate_point *p)
{
	json_t *o = json_object();

	put(o, "program_speedup_pct", json_percent(p->measured_pct));
	put(o, "ci95", json_interval(p->measured_lo, p->measured_hi));
	put(o, "windows", json_integer(p->measured_windows));
	return o;
}

/* By its own windows, without the rest of the curve. */
static json_t *alone_json(const struct estimate_point *p)
{
	json_t *o = json_object();

	put(o, "program_speedup_pct", json_percent(p->alone_pct));
	put(o, "ci95", json_interval(p->alone_lo, p->alone_hi));
	return o;
}

static json_t *point_json(const struct estimate_point *p)
{
	json_t *o = json_object();

	put(o, "speedup_pct", number(p->speedup_pct));
	put(o, "program_speedup_pct", json_percent(p->program_speedup_pct));
	put(o, "ci95", json_interval(p->ci_lo, p->ci_hi));
	put(o, "windows", json_integer(p->windows));
	if (p->measured_windows)
		put(o, "measured", measured_json(p));
	put(o, "alone", alone_json(p));
	return o;
}

static json_t *trust_json(const struct model_row *row)
{
	static const char *const answers[] = {
		[TRUST_REACHED] = "reached", [TRUST_MORE] = "more",
		[TRUST_NEVER] = "never",     [TRUST_FAR] = "far",
		[TRUST_UNKNOWN] = "unknown", [TRUST_WITHHELD] = "withheld",
	};
	const struct model_trust *t = &row->trust;
	json_t *o = json_object();

	put(o, "speedup_pct", number(t->speedup_pct));
	put(o, "half_width_pp", json_percent(t->t.now_pp));
	put(o, "fixed_pp", json_percent(t->t.fixed_pp));
	put(o, "fixed_cause", t->t.fixed_cause ? json_clean(t->t.fixed_cause) : json_null());
	put(o, "goal_pp", t->t.goal_pp > 0 ? number(t->t.goal_pp) : json_null());
	put(o, "answer", json_clean(answers[t->t.answer]));
	put(o, "more_s", number(t->t.answer == TRUST_MORE ? t->more_s : NAN));
	put(o, "command", t->command ? json_clean(t->command) : json_null());
	put(o, "for_verdict", json_boolean(t->for_verdict));
	return o;
}

static json_t *callers_json(const struct model *m, const struct model_row *row)
{
	_cleanup_free_ struct call_path *paths = NULL;
	size_t n = call_paths(m->profile, row->e->target, &paths);
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object(), *functions = json_array();

		for (size_t k = 0; k < paths[i].n; k++)
			json_array_append_new(functions, json_clean(paths[i].functions[k]));
		put(o, "share_pct", json_percent(paths[i].share_pct));
		put(o, "functions", functions);
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *row_json(const struct model *m, const struct model_row *row)
{
	static const char *const known[] = {
		[KNOWN_NOTHING] = "nothing",
		[KNOWN_BOUND] = "at most",
		[KNOWN_VALUE] = "value",
	};
	const struct estimate *e = row->e;
	json_t *o = json_object(), *points = json_array();

	for (size_t i = 0; i < e->n_points; i++)
		json_array_append_new(points, point_json(&e->points[i]));
	put(o, "target", json_clean(row->target->name));
	put(o, "kind", json_clean(row->target->kind));
	put(o, "location", json_clean(row->target->location));
	put(o, "samples", m->chosen && !row->of ? json_null() : json_integer(row->samples));
	put(o, "samples_pct", json_percent(ranking_share(row)));
	put(o, "callers", callers_json(m, row));
	put(o, "waiters", waiters_json(m->profile, row->target->name));
	put(o, "hits", json_integer(e->samples));
	put(o, "progress", json_clean(row->progress->name));
	put(o, "points", points);
	put(o, "best_pct", json_percent(e->best == KNOWN_VALUE ? e->best_pct : NAN));
	put(o, "best_at_pct", number(e->best_at_pct));
	put(o, "best_ci95", json_interval(e->best_lo, e->best_hi));
	put(o, "best_known", json_clean(known[e->best]));
	put(o, "precision_s", number(e->precision_s));
	put(o, "target_runs", number(e->target_runs));
	put(o, "target_waits", number(e->target_waits));
	put(o, "waits_sped", json_boolean(e->waits_sped));
	put(o, "verdict", json_clean(verdict_name(e->verdict)));
	put(o, "doubt", e->doubt != DOUBT_NONE ? json_clean(doubt_text(e->doubt)) : json_null());
	put(o, "warning", e->warning ? json_clean(e->warning) : json_null());
	put(o, "trust", trust_json(row));
	put(o, "replay", expected_row_json(m, row));
	return o;
}

/* Null: it is no rank, or in no call of MPI. */
static json_t *mpi_json(const struct profile *p, const struct profile_process *q)
{
	json_t *o, *calls;
	struct mpi_rank r;

	mpi_of_process(p, q, &r);
	if (q->rank < 0 || !r.n_calls) {
		mpi_rank_deinit(&r);
		return json_null();
	}
	o = json_object();
	calls = json_array();
	put(o, "samples", json_integer((json_int_t)r.in_mpi));
	put(o, "polled", json_integer((json_int_t)r.polled));
	for (size_t i = 0; i < r.n_calls; i++) {
		json_t *c = json_object();
		_cleanup_free_ char *name = xasprintf("%.*s", r.calls[i].length, r.calls[i].name);

		put(c, "call", json_clean(name));
		put(c, "samples", json_integer((json_int_t)r.calls[i].samples));
		json_array_append_new(calls, c);
	}
	put(o, "calls", calls);
	mpi_rank_deinit(&r);
	return o;
}

static json_t *process_json(const struct model *m, const struct profile_process *q)
{
	const struct profile *p = m->profile;
	json_t *o = json_object(), *targets = json_array();
	struct process_group g = { .places = xcalloc(p->n_samples, sizeof(*g.places)) };

	for (size_t i = 0; i < q->n_places; i++)
		g.places[q->places[i].sample] = q->places[i];
	put(o, "run", json_integer(q->run));
	put(o, "pid", q->pid ? json_integer(q->pid) : json_null());
	put(o, "members", json_integer((json_int_t)q->members));
	put(o, "name", json_clean(q->name));
	put(o, "rank", q->rank >= 0 ? json_integer(q->rank) : json_null());
	put(o, "rank_from", q->rank >= 0 ? json_clean(q->rank_from) : json_null());
	put(o, "samples", json_integer((json_int_t)q->samples));
	for (size_t i = 0; i < m->n_rows; i++) {
		const char *name = m->rows[i].target->name;
		struct profile_place sum;
		bool known;
		json_t *t;

		if (!model_row_is_first(m, i))
			continue;
		known = model_samples_in(p, &g, name, &sum);
		t = json_object();
		put(t, "target", json_clean(name));
		put(t, "samples", known ? json_integer((json_int_t)sum.total) : json_null());
		put(t, "self", known ? json_integer((json_int_t)sum.self) : json_null());
		json_array_append_new(targets, t);
	}
	put(o, "targets", targets);
	put(o, "mpi", mpi_json(p, q));
	free(g.places);
	return o;
}

/* All of them, or those that were chosen. */
static json_t *processes_json(const struct model *m)
{
	json_t *a = json_array();

	for (size_t i = 0; i < m->profile->n_processes; i++) {
		const struct profile_process *q = &m->profile->processes[i];

		if (!m->options ||
		    record_filter_process(&m->options->filter, q->name, q->pid, q->rank))
			json_array_append_new(a, process_json(m, q));
	}
	return a;
}

static json_t *machine_json(const struct model *m)
{
	const struct profile *p = m->profile;
	const struct machine_effect *e = &m->machine;
	const struct model_row *row = model_trust_row(m);
	_cleanup_free_ char *words = model_machine_text(m);
	json_t *o = json_object(), *cores = json_array();

	if (!words) {
		json_decref(o);
		json_decref(cores);
		return json_null();
	}
	put(o, "text", json_clean(words));
	put(o, "stolen_pct", json_percent(100 * e->stolen));
	put(o, "stolen_sd_pct", json_percent(100 * e->stolen_sd));
	put(o, "speed_sd_pct", json_percent(100 * e->speed_sd));
	put(o, "visit_cpu_sd_pct", json_percent(100 * e->visit_cpu_sd));
	put(o, "others_pct", json_percent(100 * e->others));
	put(o, "others_sd_pct", json_percent(100 * e->others_sd));
	put(o, "stopped_pct", json_percent(100 * e->stopped));
	put(o, "ticks_pct", json_percent(100 * e->ticks));
	put(o, "tick_cost_s", number(m->tick_cost_s > 0 ? m->tick_cost_s : NAN));
	put(o, "target", row ? json_clean(row->target->name) : json_null());
	put(o, "explained_pct", json_percent(100 * e->explained));
	put(o, "of_width_pct", json_percent(100 * e->of_width));
	put(o, "taken_off_pct", json_percent(100 * e->taken_off));
	for (size_t i = 0; p->n_machines && i < p->machines[p->n_machines - 1].n_cores; i++) {
		const struct profile_core *c = &p->machines[p->n_machines - 1].cores[i];
		json_t *core = json_object();

		put(core, "cpu", json_integer(c->cpu));
		put(core, "stolen_s", number(c->stolen_s));
		put(core, "busy_s", number(c->busy_s));
		put(core, "stopped_s", number(c->stopped_s));
		put(core, "work_ns", number(c->work_ns));
		json_array_append_new(cores, core);
	}
	put(o, "cores", cores);
	return o;
}

/* Of the last run. */
static json_t *choices_json(const struct profile *p)
{
	json_t *all = json_array();

	for (size_t i = 0; i < p->n_choices; i++) {
		if (p->choices[i].run + 1 == p->n_runs)
			json_array_append_new(all,
					      json_pack("{s:o,s:I}", "target",
							json_clean(p->choices[i].target), "samples",
							(json_int_t)p->choices[i].samples));
	}
	return all;
}

static json_t *model_json(const struct model *m, const struct model_row *const *rows, size_t n)
{
	const struct profile *p = m->profile;
	const struct profile_run *last = &p->runs[p->n_runs - 1];
	const struct profile_header *h = &last->header;
	json_t *o = json_object(), *targets = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(targets, row_json(m, rows[i]));
	put(o, "schema", json_clean("scoz-report/1"));
	put(o, "profile", json_clean(p->path));
	put(o, "engine", json_clean(h->engine));
	put(o, "model", json_clean(h->model));
	put(o, "mode", json_clean(h->mode));
	put(o, "frequency_hz", number(h->frequency_hz));
	put(o, "seed", json_integer((json_int_t)h->seed));
	put(o, "command", json_clean(h->command));
	put(o, "command_status",
	    last->footer.command_status == -1 ? json_null()
					      : json_integer(last->footer.command_status));
	put(o, "host", json_clean(h->host));
	put(o, "kernel", json_clean(h->kernel));
	put(o, "runs", json_integer(p->n_runs));
	put(o, "complete", json_boolean(!p->truncated));
	put(o, "duration_s", number(m->duration_s));
	put(o, "inserted_delay_s", number(m->inserted_s));
	put(o, "owed_delay_s", number(m->owed_s));
	put(o, "windows", windows_json(m));
	put(o, "samples", samples_json(m));
	put(o, "progress", progress_json(m));
	put(o, "targets", targets);
	put(o, "reasons", list(&m->reasons));
	put(o, "warnings", list(&m->warnings));
	put(o, "notes", list(&m->notes));
	put(o, "machine", machine_json(m));
	put(o, "processes", processes_json(m));
	put(o, "chosen_samples",
	    m->chosen ? json_integer((json_int_t)m->view.all.samples) : json_null());
	put(o, "choices", choices_json(p));
	put(o, "replay", expected_json(m));
	put(o, "next", next_json(m));
	return o;
}

int model_write_json(const struct model *m, const struct ranking_choice *c, FILE *out)
{
	_cleanup_free_ const struct model_row **rows = NULL;
	_cleanup_free_ char *s = NULL;
	json_t *o;
	size_t n;

	rows = ranking_choose(m, c, &n);
	if (c->target && m->n_rows && !n)
		return report_no_target(m, c->target);
	o = model_json(m, rows, n);
	s = json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	json_decref(o);
	if (!s) {
		log_warn("%s: out of memory", m->profile->path);
		return EXIT_FAILED;
	}
	fprintf(out, "%s\n", s);
	return m->n_rows ? EXIT_DONE : EXIT_NOTHING;
}
