// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the machine did to precision; how long until a prediction is precise, and the command that
 * gets there: scozd's own command line of the last run, with all the time for one target at one
 * speedup. It extends the profile, so that what is there counts.
 */
#include "tools/scoz/causal/model.h"

#include <math.h>

#include "progress/labels.h"
#include "tools/scoz/text.h"

#define LEAST_S	  10.0 /* of a run: to begin takes time, too */
#define UNKNOWN_S 30.0

/* Options that the command has otherwise, or that have nothing to do with precision. */
static const char *const replaced[] = { "--target=",	"--speedup=", "--duration=", "--runs=",
					"--precision=", "--output=",  "--truth=",    "--json",
					"--verbose",	"--quiet" };

static bool is_replaced(const char *argument)
{
	for (size_t i = 0; i < ARRAY_SIZE(replaced); i++) {
		size_t n = strlen(replaced[i]);

		if (!strncmp(argument, replaced[i], n) &&
		    (replaced[i][n - 1] == '=' || !argument[n]))
			return true;
	}
	return false;
}

static void add_word(char **line, const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "-_=+:,./@%";
	char *quoted, *out;

	if (*word && strspn(word, safe) == strlen(word)) {
		text_add(line, "%s%s", **line ? " " : "", word);
		return;
	}
	out = quoted = xmalloc(4 * strlen(word) + 3);
	*out++ = '\'';
	for (; *word; word++) {
		if (*word == '\'')
			out = stpcpy(out, "'\\''");
		else
			*out++ = *word;
	}
	strcpy(out, "'");
	text_add(line, "%s%s", **line ? " " : "", quoted);
	free(quoted);
}

static void add_option(char **line, const char *name, const char *value)
{
	_cleanup_free_ char *word = xasprintf("--%s=%s", name, value);

	add_word(line, word);
}

static double round_up(double seconds)
{
	double step = seconds < 60 ? 5 : seconds < 600 ? 10 : 60;

	return ceil(seconds / step) * step;
}

/* How often the last run ran its command, and for how long each time. */
static uint64_t runs_of_command(const struct profile_run *run)
{
	for (size_t i = 0; i < run->header.n_arguments; i++) {
		const char *argument = run->header.arguments[i];

		if (!strcmp(argument, "--"))
			break;
		if (!strncmp(argument, "--runs=", 7))
			return strtoull(argument + 7, NULL, 10) ?: 1;
	}
	return 1;
}

/* Before the first window. */
static double warm_up(const struct profile *p)
{
	for (size_t i = 0; i < p->n_windows; i++) {
		if (p->windows[i].run == p->n_runs - 1)
			return p->windows[i].start_s;
	}
	return 0;
}

static void add_length(char **line, const struct model *m, const struct model_row *row)
{
	const struct profile *p = m->profile;
	const struct profile_run *run = &p->runs[p->n_runs - 1];
	const struct model_trust *t = &row->trust;
	double seconds = fmax(t->more_s + warm_up(p), LEAST_S);
	_cleanup_free_ char *text = NULL;
	const char *name = "runs";

	if (!strcmp(run->header.mode, "end-to-end")) {
		const struct estimate_point *e = model_point(row, t->speedup_pct);
		double windows = e && t->t.answer == TRUST_MORE ? 2 * t->t.more * e->windows : 10;

		text = xasprintf("%.0f", ceil(windows) + 1);
	} else if (*run->header.command && !strcmp(run->footer.end, "done") &&
		   run->footer.duration_s > 0) {
		/* The command ends by itself: it takes more of them. */
		double each = run->footer.duration_s / runs_of_command(run);

		text = xasprintf("%.0f", ceil(seconds / each));
	} else {
		name = "duration";
		text = xasprintf("%.0f", round_up(seconds));
	}
	add_option(line, name, text);
}

/* Several together are named one by one. */
static void add_targets(char **line, const struct profile_target *t, bool together)
{
	const char *name = t->name, *end;

	if (strcmp(t->kind, "together") != 0) {
		add_option(line, "target", name);
		return;
	}
	for (; (end = strstr(name, TARGETS_TOGETHER)); name = end + strlen(TARGETS_TOGETHER)) {
		_cleanup_free_ char *part = xstrndup(name, end - name);

		add_option(line, "target", part);
	}
	add_option(line, "target", name);
	if (!together)
		add_word(line, "--together");
}

static char *command_for(const struct model *m, const struct model_row *row)
{
	const struct profile *p = m->profile;
	const struct profile_header *h = &p->runs[p->n_runs - 1].header;
	_cleanup_free_ char *speedup = xasprintf("%g", row->trust.speedup_pct);
	char *line = xstrdup("");
	bool together = false;
	size_t i = 0;

	if (!h->n_arguments) {
		free(line);
		return NULL;
	}
	for (; i < h->n_arguments && strcmp(h->arguments[i], "--") != 0; i++) {
		if (!is_replaced(h->arguments[i]))
			add_word(&line, h->arguments[i]);
		together |= !strcmp(h->arguments[i], "--together");
	}
	add_targets(&line, row->target, together);
	add_option(&line, "speedup", speedup);
	add_length(&line, m, row);
	add_option(&line, "output", p->path);
	for (; i < h->n_arguments; i++)
		add_word(&line, h->arguments[i]);
	return line;
}

/* The point to act on; where nothing is known of any, that of which most is known. */
static const struct estimate_point *point_of(const struct estimate *e)
{
	const struct estimate_point *best = NULL;

	for (size_t i = 1; i < e->n_points; i++) {
		const struct estimate_point *p = &e->points[i];

		if (e->best != KNOWN_NOTHING && p->speedup_pct == e->best_at_pct)
			return p;
		if (!best || p->ci_hi - p->ci_lo < best->ci_hi - best->ci_lo)
			best = p;
	}
	return best;
}

static double goal_of(const struct profile *p)
{
	const struct profile_header *h = &p->runs[p->n_runs - 1].header;

	for (size_t i = 0; i < h->n_arguments && strcmp(h->arguments[i], "--") != 0; i++) {
		if (!strncmp(h->arguments[i], "--precision=", 12))
			return strtod(h->arguments[i] + 12, NULL);
	}
	return 0;
}

/* There is no better number to wait for. */
static bool is_final(const struct trust *t)
{
	return t->answer == TRUST_REACHED || t->answer == TRUST_NEVER;
}

void model_find_trust(struct model *m)
{
	for (size_t i = 0; i < m->n_rows; i++) {
		struct model_row *row = &m->rows[i];
		const struct estimate_point *p = point_of(row->e);
		double goal = goal_of(m->profile);

		if (!p)
			continue;
		/* What was asked for once it is there is the next finer one. */
		if (goal > 0 && (p->ci_hi - p->ci_lo) / 2 <= goal)
			goal = 0;
		row->trust.t = trust_of_point(p, goal);
		row->trust.speedup_pct = p->speedup_pct;
		row->trust.more_s = row->trust.t.answer == TRUST_MORE
					    ? row->trust.t.more * p->spent_s
					    : UNKNOWN_S;
		trust_limit(&row->trust.t, row->trust.more_s);
		trust_withhold(&row->trust.t, row->e);
		row->trust.for_verdict = row->e->time_tells && is_final(&row->trust.t);
		if (row->trust.for_verdict) /* as much again, if nothing better is known */
			row->trust.more_s = isnan(row->e->more_s) ? fmax(UNKNOWN_S, p->spent_s)
								  : row->e->more_s;
		if (row->trust.t.answer == TRUST_MORE || row->trust.t.answer == TRUST_UNKNOWN ||
		    row->trust.for_verdict)
			row->trust.command = command_for(m, row);
	}
}

const struct model_row *model_trust_row(const struct model *m)
{
	for (uint32_t i = 0; i < m->profile->n_progress; i++) {
		const struct beside_row *named = beside_pick(&m->beside, i, answer_named);
		const struct model_row *row = named ? &m->rows[named - m->beside.rows] : NULL;

		if (row && (row->trust.command || row->e->verdict == VERDICT_UNDECIDED))
			return row;
	}
	for (size_t i = 0; i < m->n_rows; i++) {
		if (m->rows[i].trust.command)
			return &m->rows[i];
	}
	return m->n_rows ? &m->rows[0] : NULL;
}

char *model_precision_text(const struct model_row *row)
{
	char *text = trust_text(&row->trust.t, row->trust.more_s);

	if (row->trust.for_verdict)
		text_add(&text, "; a verdict takes more windows");
	return text;
}

char *model_trust_text(const struct model_row *row)
{
	_cleanup_free_ char *text = model_precision_text(row);

	return xasprintf("%s at %g %%: %s%s", row->target->name, row->trust.speedup_pct, text,
			 row->trust.command ? ":" : "");
}

void model_find_machine(struct model *m)
{
	const struct profile *p = m->profile;
	const struct model_row *row = model_trust_row(m);

	if (p->n_machines)
		m->tick_cost_s = p->machines[p->n_machines - 1].tick_cost_s;
	machine_effect(p->windows, p->n_windows, p->runs[p->n_runs - 1].header.cpus, m->tick_cost_s,
		       row ? row->e : NULL, &m->machine);
	if (row && isfinite(m->machine.of_width) && isfinite(row->trust.t.now_pp)) {
		double now = row->trust.t.now_pp, fixed = row->trust.t.fixed_pp;
		double noise = sqrt(fmax(now * now - fixed * fixed, 0));

		noise *= 1 - m->machine.of_width;
		m->machine.of_width = now > 0 ? 1 - hypot(noise, fixed) / now : 0;
	}
}

char *model_machine_text(const struct model *m)
{
	_cleanup_free_ char *state = machine_effect_text(&m->machine);
	_cleanup_free_ char *verdict = machine_effect_verdict(&m->machine);

	if (!state || !m->n_rows)
		return state ? xstrdup(state) : NULL;
	return xasprintf("%s: %s", state, verdict);
}
