// SPDX-License-Identifier: GPL-2.0-or-later
/* What is shown while a run lasts: a live line on a terminal, or JSON lines (--json). */
#include "base/names.h"
#include "daemon/session.h"

#include <jansson.h>
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

/* Of the target that has most to offer, as far as is known: its name, NULL without one. */
static const char *best_so_far(struct session *s, char **text)
{
	struct stats_options opt = { .bare = true };
	const struct estimate *best = NULL;
	const char *name = NULL;
	struct estimates e;

	if (stats_estimate(s->windows, s->n_windows, points_count(s->points), &opt, &e))
		return NULL;
	for (size_t i = 0; i < e.n; i++) {
		if (e.e[i].best == KNOWN_VALUE && (!best || e.e[i].best_lo > best->best_lo))
			best = &e.e[i];
	}
	for (size_t j = 0; best && j < s->n_trials; j++) {
		if (s->trials[j].named && s->trials[j].id == best->target)
			name = s->trials[j].target.spec;
	}
	*text = name ? estimate_best_text(best) : NULL;
	estimates_free(&e);
	return name;
}

static size_t terminal_width(void)
{
	struct winsize ws;

	return !ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) && ws.ws_col > 1 ? ws.ws_col : 80;
}

void status_window(struct session *s, const struct trial *t, const struct profile_window *w)
{
	_cleanup_free_ char *best = NULL, *line = NULL, *shown = NULL;
	const char *name;

	if (s->opt.json) {
		emit(json_pack("{s:s, s:f, s:s, s:f, s:b, s:f, s:f, s:I, s:s?}", "event", "window",
			       "time_s", session_elapsed_s(s), "target", t->target.spec,
			       "speedup_pct", w->speedup * 100, "real", w->real, "wall_s",
			       w->wall_s, "inserted_s", w->inserted_s, "hits", (json_int_t)w->hits,
			       "discard", w->discard));
		return;
	}
	log_debug("%7.2f s  %s%s at %.0f %%: %.0f visits, inserted %.1f %%%s%s",
		  session_elapsed_s(s), t->target.spec, w->real ? " really" : "", w->speedup * 100,
		  w->n_progress ? w->progress[0].visits : 0.0, 100 * w->inserted_s / w->wall_s,
		  w->discard ? ", discarded: " : "", w->discard ? w->discard : "");
	if (log_level < LOG_NORMAL || log_level >= LOG_DEBUG || !isatty(STDERR_FILENO) ||
	    w->speedup == 0)
		return;
	name = best_so_far(s, &best);
	status_clear();
	line = status_line(session_elapsed_s(s), s->units, t->target.spec, w->speedup, name, best,
			   terminal_width() - 1);
	shown = locale_text(line);
	fputs(shown, stderr);
	fflush(stderr);
	line_shown = true;
}
