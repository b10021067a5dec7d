// SPDX-License-Identifier: GPL-2.0-or-later
/* What is shown while a run lasts: a live line on a terminal, or JSON lines (--json). */
#include "base/names.h"
#include "daemon/session.h"
#include "stats/trust.h"

#include <jansson.h>
#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool line_shown;

void status_clear(void)
{
	if (line_shown)
		fputs("\r\033[K", stderr);
	line_shown = false;
}

static void emit(json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9));

	fprintf(stderr, "%s\n", text ? text : "{}");
	free(text);
	json_decref(object);
}

void status_event(struct session *s, const char *event, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (s->opt.json) {
		emit(json_pack("{s:s, s:f, s:s}", "event", event, "time_s", session_elapsed_s(s),
			       "text", text ? text : ""));
	} else {
		status_clear();
		log_info("%s: %s", event, text ? text : "");
	}
}

/* What is known of the target that has most to offer. */
struct so_far {
	const char *name; /* NULL: nothing was learned yet */
	char *text;	  /* its number */
	struct trust trust;
	double more_s; /* with TRUST_MORE, as long as windows go on as they have */
};

static struct trust trust_of(const struct session *s, const struct estimate *e)
{
	for (size_t i = 1; i < e->n_points; i++) {
		if (e->points[i].speedup_pct == e->best_at_pct)
			return trust_of_point(&e->points[i], s->opt.precision);
	}
	return (struct trust){ .answer = TRUST_UNKNOWN, .now_pp = INFINITY };
}

static struct so_far best_so_far(struct session *s)
{
	struct stats_options opt = { .bare = true };
	const struct estimate *best = NULL;
	struct so_far ret = { .name = NULL };
	struct estimates e;

	if (stats_estimate(s->windows, s->n_windows, points_count(s->points), &opt, &e))
		return ret;
	for (size_t i = 0; i < e.n; i++) {
		if (e.e[i].best == KNOWN_VALUE && (!best || e.e[i].best_lo > best->best_lo))
			best = &e.e[i];
	}
	for (size_t j = 0; best && j < s->n_trials; j++) {
		if (s->trials[j].named && s->trials[j].id == best->target)
			ret.name = s->trials[j].target.spec;
	}
	if (ret.name) {
		ret.text = estimate_best_text(best);
		ret.trust = trust_of(s, best);
		ret.more_s = ret.trust.more * (session_elapsed_s(s) - s->windows[0].start_s);
	}
	estimates_free(&e);
	return ret;
}

/* "21.3 % [14.2, 28.4] at 50 %, ±2 in 4 min" */
static char *result_text(const struct so_far *b)
{
	_cleanup_free_ char *time = NULL;

	if (b->trust.answer == TRUST_NEVER)
		return xasprintf("%s, \xc2\xb1%g out of reach", b->text, b->trust.goal_pp);
	if (b->trust.answer != TRUST_MORE)
		return xstrdup(b->text);
	time = trust_time_text(b->more_s);
	return xasprintf("%s, \xc2\xb1%g in %s", b->text, b->trust.goal_pp, time);
}

static void emit_window(struct session *s, const struct trial *t, const struct profile_window *w)
{
	json_t *o =
		json_pack("{s:s, s:f, s:s, s:f, s:b, s:f, s:f, s:I, s:s?}", "event", "window",
			  "time_s", session_elapsed_s(s), "target", t->target.spec, "speedup_pct",
			  w->speedup * 100, "real", w->real, "wall_s", w->wall_s, "inserted_s",
			  w->inserted_s, "hits", (json_int_t)w->hits, "discard", w->discard);
	struct so_far best = { .name = NULL };

	if (w->speedup > 0)
		best = best_so_far(s);
	if (best.name) {
		json_object_set_new(o, "best",
				    json_pack("{s:s, s:s, s:f}", "target", best.name, "text",
					      best.text, "half_width_pp", best.trust.now_pp));
		if (best.trust.answer == TRUST_MORE)
			json_object_set_new(o, "more",
					    json_pack("{s:f, s:f}", "goal_pp", best.trust.goal_pp,
						      "seconds", best.more_s));
	}
	free(best.text);
	emit(o);
}

static size_t terminal_width(void)
{
	struct winsize ws;

	return !ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) && ws.ws_col > 1 ? ws.ws_col : 80;
}

void status_window(struct session *s, const struct trial *t, const struct profile_window *w)
{
	_cleanup_free_ char *line = NULL, *shown = NULL, *result = NULL;
	struct so_far best;

	if (s->opt.json) {
		emit_window(s, t, w);
		return;
	}
	log_debug("%7.2f s  %s%s at %.0f %%: %.0f visits, inserted %.1f %%%s%s",
		  session_elapsed_s(s), t->target.spec, w->real ? " really" : "", w->speedup * 100,
		  w->n_progress ? w->progress[0].visits : 0.0, 100 * w->inserted_s / w->wall_s,
		  w->discard ? ", discarded: " : "", w->discard ? w->discard : "");
	if (log_level < LOG_NORMAL || log_level >= LOG_DEBUG || !isatty(STDERR_FILENO) ||
	    w->speedup == 0)
		return;
	best = best_so_far(s);
	result = best.name ? result_text(&best) : NULL;
	status_clear();
	line = status_line(session_elapsed_s(s), s->units, t->target.spec, w->speedup, best.name,
			   result, terminal_width() - 1);
	shown = locale_text(line);
	fputs(shown, stderr);
	fflush(stderr);
	line_shown = true;
	free(best.text);
}
