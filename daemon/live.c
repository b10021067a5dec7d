// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/live.h"
#include "base/json_text.h"
#include "progress/labels.h"
#include "base/text_fit.h"
#include "daemon/expect.h"
#include "daemon/status.h"
#include "daemon/status_line.h"
#include "stats/describe.h"
#include "stats/trust.h"

#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define AT_ONCE_S 1.5 /* nobody wants to be told of a wait that is over by then */

/* What is known of the target that has most to offer. */
struct so_far {
	const char *name; /* NULL: nothing was learned yet */
	char *text;	  /* its number */
	enum doubt doubt; /* why there is no verdict; without a name: why there is no number */
	struct trust trust;
	double more_s; /* with TRUST_MORE, as long as windows go on as they have */
};

static struct trust trust_of(const struct session *s, const struct estimate *e)
{
	const struct estimate_point *p = estimate_point_at(e, e->best_at_pct);

	return p ? trust_of_point(p, s->opt.precision)
		 : (struct trust){ .answer = TRUST_UNKNOWN, .now_pp = INFINITY };
}

/* NULL: of an earlier run. */
static const struct trial *trial_of(const struct live *l, uint32_t id)
{
	for (size_t i = 0; i < trials_count(l->trials); i++) {
		const struct trial *t = trials_get(l->trials, i);

		if (t->told && t->id == id)
			return t;
	}
	return NULL;
}

static bool is_joint(const struct live *l, const struct estimate *e)
{
	const struct trial *t = trial_of(l, e->target);

	return t && t->joint;
}

static struct so_far best_so_far(const struct live *l)
{
	struct stats_options opt = { .bare = true };
	const struct estimate *best = NULL;
	struct so_far ret = { .name = NULL };
	struct estimates e;

	if (stats_estimate(l->windows, l->n, options_progress(&l->s->opt), &opt, &e))
		return ret;
	for (size_t i = 0; i < e.n; i++) {
		if (e.e[i].best != KNOWN_VALUE || is_joint(l, &e.e[i]))
			continue;
		if (estimate_is_withheld(&e.e[i]))
			ret.doubt = e.e[i].doubt;
		else if (!best || e.e[i].best_lo > best->best_lo)
			best = &e.e[i];
	}
	if (best && trial_of(l, best->target))
		ret.name = trial_of(l, best->target)->name;
	if (ret.name) {
		ret.doubt = estimate_is_unjudged(best) ? best->doubt : DOUBT_NONE;
		ret.text = estimate_best_text(best);
		ret.trust = trust_of(l->s, best);
		ret.more_s = ret.trust.more * (session_elapsed_s(l->s) - l->windows[0].start_s);
		trust_limit(&ret.trust, ret.more_s);
	}
	estimates_free(&e);
	return ret;
}

/* "21.3 % [14.2, 28.4] at 50 % (a clock may have a say), ±2 in 4 min" */
static char *result_text(const struct so_far *b)
{
	_cleanup_free_ char *time = NULL;
	char *text;

	if (!b->name)
		return xstrdup(b->doubt ? doubt_text(b->doubt) : "nothing learned yet");
	text = xstrdup(b->text);
	if (b->doubt)
		text_add(&text, " (%s)", doubt_text(b->doubt));
	if (b->trust.answer == TRUST_NEVER || b->trust.answer == TRUST_FAR)
		text_add(&text, ", \xc2\xb1%g out of reach", b->trust.goal_pp);
	if (b->trust.answer != TRUST_MORE)
		return text;
	time = trust_time_text(b->more_s);
	text_add(&text, ", \xc2\xb1%g in %s", b->trust.goal_pp, time);
	return text;
}

static void emit_window(const struct live *l, const struct trial *t, const struct profile_window *w)
{
	json_t *o = json_pack("{s:s, s:f, s:o, s:f, s:b, s:f, s:f, s:I, s:s?}", "event", "window",
			      "time_s", session_elapsed_s(l->s), "target", json_text(t->name),
			      "speedup_pct", w->speedup * 100, "real", w->real, "wall_s", w->wall_s,
			      "inserted_s", w->inserted_s, "hits", (json_int_t)w->hits, "discard",
			      window_why(w));
	struct so_far best = { .name = NULL };

	if (w->speedup > 0)
		best = best_so_far(l);
	if (best.name) {
		json_object_set_new(o, "best",
				    json_pack("{s:o, s:s, s:f, s:s?}", "target",
					      json_text(best.name), "text", best.text,
					      "half_width_pp", best.trust.now_pp, "doubt",
					      best.doubt ? doubt_text(best.doubt) : NULL));
		if (best.trust.answer == TRUST_MORE)
			json_object_set_new(o, "more",
					    json_pack("{s:f, s:f}", "goal_pp", best.trust.goal_pp,
						      "seconds", best.more_s));
	}
	free(best.text);
	status_json(o);
}

static size_t terminal_width(void)
{
	struct winsize ws;

	return !ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) && ws.ws_col > 1 ? ws.ws_col : 80;
}

static bool has_line(void)
{
	return log_level >= LOG_NORMAL && log_level < LOG_DEBUG && terminal_obeys(STDERR_FILENO);
}

static void show(const char *line)
{
	_cleanup_free_ char *clean = text_clean(line, "?"), *shown = locale_text(clean);

	status_show(shown);
}

void live_waits(const struct session *s, const char *for_what)
{
	double elapsed_s = session_elapsed_s(s);
	_cleanup_free_ char *line = NULL;

	if (s->opt.json || !has_line() || elapsed_s < AT_ONCE_S)
		return;
	line = text_cut(xasprintf("%.0f s, %s", elapsed_s, for_what), terminal_width() - 1,
			locale_ellipsis());
	show(line);
}

void live_window(const struct live *l)
{
	_cleanup_free_ char *line = NULL, *result = NULL;
	const struct profile_window *w = &l->windows[l->n - 1];
	const struct trial *t = trials_get(l->trials, l->target);
	double elapsed_s = session_elapsed_s(l->s);
	struct so_far best;

	if (l->s->opt.json) {
		emit_window(l, t, w);
		return;
	}
	log_debug("%7.2f s  %s%s at %.0f %%: %.0f visits, inserted %.1f %%%s%s", elapsed_s, t->name,
		  w->real ? " really" : "", w->speedup * 100,
		  w->n_progress ? w->progress[0].visits : 0.0, 100 * w->inserted_s / w->wall_s,
		  w->discard ? ", discarded: " : "", w->discard ? window_why(w) : "");
	if (!has_line() || w->speedup == 0)
		return;
	best = best_so_far(l);
	result = result_text(&best);
	line = status_line(elapsed_s, l->units, t->name, w->speedup, best.name, result,
			   terminal_width() - 1);
	show(line);
	free(best.text);
}

/* Everything that was measured, as reports have it; to be freed with beside_deinit(). */
static struct beside beside_of(const struct live *l, const struct estimates *e)
{
	_cleanup_free_ const char **names = xcalloc(e->n + 1, sizeof(*names));
	_cleanup_free_ char **labels = NULL;
	struct beside b = { .rows = xcalloc(e->n + 1, sizeof(*b.rows)) };

	for (size_t i = 0; i < e->n; i++) {
		const struct trial *t = trial_of(l, e->e[i].target);

		if (!t)
			continue;
		names[b.n_rows] = t->name;
		b.rows[b.n_rows++] = (struct beside_row){
			.e = &e->e[i], .target = t->name, .kind = t->kind, .joint = t->joint
		};
	}
	labels = labels_make(names, b.n_rows);
	for (size_t i = 0; i < b.n_rows; i++)
		b.rows[i].label = labels[i];
	expect_beside(l->s, &b);
	return b;
}

static void beside_deinit(struct beside *b)
{
	for (size_t i = 0; i < b->n_rows; i++)
		free((char *)b->rows[i].label);
	free(b->rows);
	free((void *)b->expected);
	free((void *)b->next);
}

static char *next_of(const struct beside *b, uint32_t progress)
{
	struct steps s;
	char *text;

	steps_find(b, progress, &s);
	text = steps_text(b, &s);
	steps_deinit(&s);
	return text;
}

/* NULL: nothing is known about that progress point. */
static char *conclusion_of(const struct live *l, const struct beside *b, uint32_t progress,
			   const char *point)
{
	_cleanup_free_ struct answer_row *rows = xcalloc(b->n_rows + 1, sizeof(*rows));
	const struct beside_row *first = beside_pick(b, progress, answer_first);
	_cleanup_free_ char *unit = NULL, *next = NULL;
	char *text = NULL;
	size_t n = 0;

	for (size_t i = 0; i < b->n_rows; i++) {
		if (b->rows[i].e->progress == progress && !b->rows[i].joint)
			rows[n++] = (struct answer_row){ b->rows[i].e, b->rows[i].label };
	}
	unit = l->s->opt.end_to_end
		       ? xstrdup("the run time")
		       : xasprintf("%s \"%s\"",
				   l->s->opt.points[progress].latency ? "the latency of"
								      : "the time per",
				   point);
	if (n)
		text = answer_text(rows, n, unit, first ? beside_untried(b, first) : NULL);
	next = next_of(b, progress);
	if (text && next)
		text_add(&text, ". %s", next);
	return text;
}

/* By target, for the question how many of them were met. */
static struct stats_sampled *all_sampled(const struct live *l, size_t *n)
{
	struct stats_sampled *sampled;
	struct caller_target t;

	*n = 0;
	for (size_t i = 0; handlers_callers(l->s->handlers, i, &t); i++)
		*n = t.id >= *n ? t.id + 1 : *n;
	sampled = xcalloc(*n + 1, sizeof(*sampled));
	for (size_t i = 0; handlers_callers(l->s->handlers, i, &t); i++)
		sampled[t.id] = (struct stats_sampled){ t.samples, t.polled, t.all };
	return sampled;
}

/* To the last detail, as reports estimate. */
static int estimate_all(const struct live *l, struct estimates *e)
{
	size_t n_sampled;
	_cleanup_free_ struct stats_sampled *sampled = all_sampled(l, &n_sampled);
	struct stats_options opt = { .seed = l->s->opt.seed,
				     .sampled = sampled,
				     .n_sampled = n_sampled };

	return stats_estimate(l->windows, l->n, options_progress(&l->s->opt), &opt, e);
}

char *live_conclusion(const struct live *l)
{
	size_t n = options_progress(&l->s->opt);
	_cleanup_free_ const char **names = xcalloc(n, sizeof(*names));
	_cleanup_free_ char **points = NULL;
	struct estimates e;
	struct beside b;
	char *text = NULL;

	if (estimate_all(l, &e))
		return NULL;
	b = beside_of(l, &e);
	for (size_t i = 0; i < n; i++)
		names[i] = l->s->opt.end_to_end ? "end-to-end" : l->s->opt.points[i].name;
	points = labels_of_points(names, n);
	for (uint32_t i = 0; i < n; i++) {
		_cleanup_free_ char *line = conclusion_of(l, &b, i, points[i]);

		if (line && n > 1)
			text_add(&text, "%s%s: %s", text ? "\n" : "", points[i], line);
		else if (line)
			text_add(&text, "%s", line);
	}
	for (size_t i = 0; i < n; i++)
		free(points[i]);
	beside_deinit(&b);
	estimates_free(&e);
	return text;
}

/* The number of the trial of @e that can be measured now; -1: it cannot. */
static int trial_that_goes_on(const struct live *l, const struct estimate *e)
{
	for (size_t i = 0; i < trials_count(l->trials); i++) {
		const struct trial *t = trials_get(l->trials, i);

		if (t->told && !t->joint && t->id == e->target)
			return trials_can_go_on(l->trials, i) ? (int)i : -1;
	}
	return -1;
}

bool live_awaited(const struct live *l, struct awaited_verdict *ret)
{
	struct estimates e;

	*ret = (struct awaited_verdict){ .trial = -1 };
	if (estimate_all(l, &e))
		return false;
	for (size_t i = 0; i < e.n; i++) {
		int trial = estimate_is_unjudged(&e.e[i]) ? trial_that_goes_on(l, &e.e[i]) : -1;

		if (trial < 0 ||
		    (ret->trial >= 0 && trials_state(l->trials, trial).rounds >=
						trials_state(l->trials, ret->trial).rounds))
			continue;
		*ret = (struct awaited_verdict){ trial, e.e[i].doubt, e.e[i].more_s };
	}
	estimates_free(&e);
	return ret->trial >= 0;
}
