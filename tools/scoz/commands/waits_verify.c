// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long somebody was waited for is the most that can be gained. What is gained, experiments
 * tell: scozd speeds up what was run meanwhile, and both orders are shown side by side.
 */
#include "tools/scoz/commands/waits_verify.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/output_file.h"
#include "progress/point.h"
#include "stats/describe.h"
#include "tools/scoz/causal/model.h"
#include "tools/scoz/cmds.h"
#include "tools/scoz/commands/scozd_child.h"
#include "tools/scoz/text.h"
#include "waits/behind.h"

#define SPEEDUP	      50 /* percent */
#define TARGET_S      20 /* of experiments, a target */
#define GRACE_S	      60 /* for scozd to start and to end */
#define RAN_LEAST     0.02
#define SAMPLES_LEAST 5
#define HEAVY	      0.2 /* of the time: a wait of which it is worth saying that it brings nothing */
#define MOST_NAME     32
#define MOST_TARGET   52

/* A wait, and what stands for it. */
struct row {
	const struct waits_edge *edge;
	struct waits_behind behind;
	size_t others;	 /* who wait for the same, but less */
	size_t target;	 /* number of it, or NO_TARGET */
	const char *why; /* there is none; NULL: there is */
};
#define NO_TARGET SIZE_MAX

struct verify {
	const struct waits_recorded *r;
	const struct verify_options *o;
	double time;
	struct row *rows;
	size_t n_rows;
	char **targets;
	struct waits_tried *tried; /* by target */
	const struct model_row **found;
	size_t n_targets;
	char *point;
	char **command; /* NULL: what runs already */
	double duration_s;
	int ended_by; /* a signal, or 0 */
};

/* ---- what is tried ---- */

static const char *no_code_of_device(const struct waits_recorded *r, uint32_t device)
{
	if (!strcmp(r->trace->devices[device], "network"))
		return "another machine, beyond the network";
	return "an interrupt, and no code of a program";
}

static bool is_seen(const struct waits_recorded *r, uint32_t group)
{
	for (size_t v = 0; v < r->trace->n_threads; v++) {
		if (r->group[v] == group && r->threads[v].seen)
			return true;
	}
	return false;
}

/* TARGET to be freed; or NULL, and @why. */
static char *target_of(const struct waits_recorded *r, const struct row *row, const char **why)
{
	const struct waits_behind *b = &row->behind;
	uint32_t to = r->firsts[row->edge->to], threads = r->trace->n_threads;
	char *target = NULL;

	if (to >= threads && devices_requests(r->devices, to - threads))
		return xstrdup("class:io");
	if (to >= threads)
		*why = no_code_of_device(r, to - threads);
	else if (!is_seen(r, row->edge->to))
		*why = "it was not recorded: record with -a";
	else if (b->ran < RAN_LEAST * b->waited)
		*why = "it did not run meanwhile: see whom it waits for";
	else if (b->samples < SAMPLES_LEAST)
		*why = "too few samples of it: record for longer";
	else if (b->frame == TRACE_NONE || !(target = waits_target_of(&r->trace->frames[b->frame])))
		*why = "its code has no name";
	return target;
}

/* Its number, NO_TARGET: it is new, and there is no room; takes @target. */
static size_t target_number(struct verify *v, char *target)
{
	size_t i = 0;

	while (i < v->n_targets && strcmp(v->targets[i], target) != 0)
		i++;
	if (i == v->n_targets && v->n_rows < v->o->lines) {
		v->targets[v->n_targets++] = target;
		return i;
	}
	free(target);
	return i < v->n_targets ? i : NO_TARGET;
}

/* Many may wait for the same: one row. NULL: there is none yet. */
static struct row *row_like(struct verify *v, const struct row *row)
{
	for (size_t i = 0; i < v->n_rows; i++) {
		struct row *r = &v->rows[i];

		if (r->edge->to == row->edge->to && r->target == row->target && r->why == row->why)
			return r;
	}
	return NULL;
}

static int find_targets(struct verify *v, const struct waits_edge *edges, size_t n,
			struct error *err)
{
	struct waits_behind *behind = xcalloc(n + 1, sizeof(*behind));
	int r = waits_find_behind(v->r, edges, n, behind, err);

	for (size_t i = 0; !r && i < n; i++) {
		struct row row = { &edges[i], behind[i], 0, NO_TARGET, NULL }, *like;
		char *target = target_of(v->r, &row, &row.why);

		if (target)
			row.target = target_number(v, target);
		if (target && row.target == NO_TARGET)
			continue;
		like = row_like(v, &row);
		if (like)
			like->others++;
		else if (v->n_rows < v->o->lines)
			v->rows[v->n_rows++] = row;
		if (row.target != NO_TARGET && edges[i].work > v->tried[row.target].weight)
			v->tried[row.target].weight = edges[i].work;
	}
	free(behind);
	return r;
}

/* What it tells to execute is what we, or who asked us as root, let be executed. */
static bool is_own(const struct trace *t)
{
	uid_t uid = geteuid();
	gid_t gid;

	if (t->mode & (S_IWGRP | S_IWOTH))
		return false;
	return t->owner == uid || (invoking_user(&uid, &gid) && t->owner == uid);
}

/* A probe goes where it says: not where others say. */
static const char *recorded_point(const struct trace *t)
{
	if (!t->n_points)
		log_warn("--verify: no progress point: give one with -p POINT, or, for a "
			 "command's run time, --end-to-end");
	else if (!is_own(t))
		log_warn("--verify: the recording's progress point is not taken from a file that "
			 "others may have written: give it with -p %s",
			 t->points[0]);
	return t->n_points && is_own(t) ? t->points[0] : NULL;
}

/* The recording tells a point by its name, which is the point unless it was given another. */
static bool find_point(struct verify *v)
{
	const char *text;
	struct progress_spec spec;
	struct error err = {};

	if (v->o->end_to_end)
		return true;
	text = v->o->progress ? v->o->progress : recorded_point(v->r->trace);
	if (!text)
		return false;
	if (progress_spec_parse(text, &spec, &err)) {
		if (v->o->progress)
			log_warn("--progress %s: %s", text, err.text);
		else
			log_warn("--verify: the recording calls its progress point \"%s\", and "
				 "not where it is: give it with -p %s=POINT",
				 text, text);
		return false;
	}
	progress_spec_free(&spec);
	v->point = xstrdup(text);
	return true;
}

static void say_command(char *const *command)
{
	_cleanup_free_ char *words = text_join((char **)command);
	_cleanup_free_ char *shown = text_shown(words);

	log_warn("experiments run what the recording was made of: %s", shown);
}

static bool find_command(struct verify *v)
{
	const struct trace *t = v->r->trace;
	const struct trace_header *h = &t->header;

	v->command = v->o->command;
	if (v->command)
		return true;
	if (t->command && t->complete && is_own(t)) {
		v->command = t->command;
		say_command(v->command);
		return true;
	}
	if (v->o->end_to_end) {
		log_warn("--end-to-end: the run time of which command? Give it after --");
		return false;
	}
	if (!text_after(h->scope, "command"))
		return true;
	log_warn("--verify: the recording is of a command, which experiments have to run again%s: "
		 "give it after --, as in: scoz waits --verify %s -- %s",
		 t->command ? " (it is not taken from a file that others may have written)" : "",
		 t->path, h->command);
	return false;
}

/* ---- experiments ---- */

struct arguments {
	char **v;
	size_t n, cap;
};

static void add(struct arguments *a, const char *text)
{
	array_reserve(a->v, a->cap, a->n + 2);
	a->v[a->n++] = xstrdup(text);
	a->v[a->n] = NULL;
}

static void add_two(struct arguments *a, const char *option, const char *value)
{
	add(a, option);
	add(a, value);
}

static void make_arguments(const struct verify *v, const char *scozd, const char *profile,
			   struct arguments *a)
{
	_cleanup_free_ char *duration = xasprintf("%g", v->duration_s);
	_cleanup_free_ char *speedup = xasprintf("%d", SPEEDUP);

	add(a, scozd);
	add_two(a, "-o", profile);
	if (v->point)
		add_two(a, "-p", v->point);
	else
		add(a, "--end-to-end");
	for (size_t i = 0; i < v->n_targets; i++)
		add_two(a, "--target", v->targets[i]);
	add_two(a, "--speedup", speedup);
	add_two(a, "--duration", duration);
	add(a, "--no-replay");
	add(a, "--no-next"); /* their order is asked for */
	if (v->o->user)
		add_two(a, "--user", v->o->user);
	if (v->command && v->point)
		add_two(a, "--runs", "1000000"); /* until the time is over */
	if (v->command)
		add(a, "--");
	for (char **word = v->command; word && *word; word++)
		add(a, *word);
}

static void free_arguments(struct arguments *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->v[i]);
	free(a->v);
}

/* A profile is at @path, or an exit code says that there is none. */
static int experiment(struct verify *v, const char *path)
{
	_cleanup_free_ char *self = own_path(), *scozd = self ? scozd_path(self) : xstrdup("scozd");
	_cleanup_free_ char *words = NULL;
	struct scozd_result run;
	struct arguments a = {};

	log_warn("experiments: %zu target%s, %.0f s", v->n_targets, v->n_targets == 1 ? "" : "s",
		 v->duration_s);
	make_arguments(v, scozd, path, &a);
	scozd_run(a.v, v->duration_s + GRACE_S, &run);
	free_arguments(&a);
	words = scozd_last_words(run.said);
	free(run.said);
	v->ended_by = run.signal;
	if (run.status == EXIT_DONE || run.status == EXIT_NOTHING)
		return EXIT_DONE;
	if (run.signal)
		log_warn("ended by a signal before experiments could say anything");
	else
		log_warn("scozd has failed: %s", words);
	return run.status == EXIT_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

static bool is_known(const struct model_row *row, const struct estimate_point *p)
{
	return p && isfinite(p->ci_lo) && isfinite(p->ci_hi) && !estimate_is_withheld(row->e) &&
	       estimate_point_knowledge(p) == KNOWN_VALUE;
}

static void take_results(struct verify *v, const struct model *m)
{
	for (size_t i = 0; i < m->n_rows; i++) {
		const struct model_row *row = &m->rows[i];
		const struct estimate_point *p = model_point(row, SPEEDUP);

		for (size_t k = 0; k < v->n_targets; k++) {
			struct waits_tried *t = &v->tried[k];

			if (row->e->progress || strcmp(v->targets[k], row->target->name) != 0)
				continue;
			v->found[k] = row;
			t->known = is_known(row, p);
			if (t->known) {
				t->low = p->ci_lo;
				t->value = p->program_speedup_pct;
				t->high = p->ci_hi;
			}
		}
	}
}

/* ---- both orders ---- */

static char *place_text(const struct waits_tried *t)
{
	if (!t->known)
		return xstrdup("-");
	return t->first == t->last ? xasprintf("%zu", t->first)
				   : xasprintf("%zu-%zu", t->first, t->last);
}

static char *gain_text(const struct model_row *row)
{
	const struct estimate_point *p = row ? model_point(row, SPEEDUP) : NULL;

	return p && !estimate_is_withheld(row->e) ? estimate_point_text(p) : xstrdup("-");
}

static char *verdict_text(const struct model_row *row)
{
	if (!row)
		return xstrdup("not measured");
	if (row->e->verdict != VERDICT_UNDECIDED || row->e->doubt == DOUBT_NONE)
		return xstrdup(verdict_name(row->e->verdict));
	return xasprintf("undecided: %s", doubt_text(row->e->doubt));
}

static char *what_text(const struct verify *v, const struct row *row)
{
	if (row->target == NO_TARGET)
		return xasprintf("none: %s", row->why);
	return text_shown(v->targets[row->target]);
}

static char *part_text(const struct row *row)
{
	if (row->target == NO_TARGET || row->behind.frame == TRACE_NONE || !row->behind.ran)
		return xstrdup("-");
	return xasprintf("%.0f %%", 100 * row->behind.share);
}

static char *who_text(const struct verify *v, const struct row *row)
{
	_cleanup_free_ char *raw = waits_group_name(v->r, row->edge->from);
	_cleanup_free_ char *all = row->others ? xasprintf("%s, %zu more", raw, row->others) : NULL;

	return text_shown(all ? all : raw);
}

static char *group_text(const struct verify *v, uint32_t group)
{
	_cleanup_free_ char *raw = waits_group_name(v->r, group);

	return text_shown(raw);
}

static void print_table(const struct verify *v)
{
	struct table t;
	char **cell;

	table_init_heads(&t, ">waits|>at work|>experiments|saves|verdict|>of what runs|target|"
			     "who waits|for whom");
	for (size_t i = 0; i < v->n_rows; i++) {
		const struct row *row = &v->rows[i];
		const struct model_row *found =
			row->target == NO_TARGET ? NULL : v->found[row->target];

		cell = table_row(&t);
		cell[0] = xasprintf("%zu", i + 1);
		cell[1] = xasprintf("%.1f %%", 100 * row->edge->work / v->time);
		cell[2] = row->target == NO_TARGET ? xstrdup("-")
						   : place_text(&v->tried[row->target]);
		cell[3] = gain_text(found);
		cell[4] = row->target == NO_TARGET ? xstrdup("-") : verdict_text(found);
		cell[5] = part_text(row);
		cell[6] = what_text(v, row);
		cell[7] = who_text(v, row);
		cell[8] = group_text(v, row->edge->to);
	}
	table_shorten(&t, 6, MOST_TARGET);
	table_shorten(&t, 7, MOST_NAME);
	table_shorten(&t, 8, MOST_NAME);
	table_print(&t);
}

static size_t heaviest_of(const struct verify *v)
{
	size_t best = 0;

	for (size_t i = 1; i < v->n_targets; i++) {
		if (v->tried[i].weight > v->tried[best].weight)
			best = i;
	}
	return best;
}

static void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL, *shown = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	shown = text_shown(text);
	printf("# ");
	text_put_wrapped(shown, 2, output_width());
}

static void print_top(const struct verify *v, const struct waits_orders *o)
{
	const char *heaviest = v->targets[heaviest_of(v)];

	if (v->n_targets < 2)
		say("one target alone: there is no order to compare");
	else if (!(o->same + o->opposite + o->undecided))
		say("all are waited for about as much: there is no order to compare");
	else if (o->top == WAITS_AGREE)
		say("both agree: what is waited for most (%s) brings most: its interval lies above "
		    "those of the others",
		    heaviest);
	else if (o->top == WAITS_DISAGREE)
		say("they disagree: %s brings more than %s, which is waited for most: its interval "
		    "lies above",
		    v->targets[o->better], heaviest);
	else
		say("undecided: whether what is waited for most (%s) brings most lies within the "
		    "intervals: more time (--duration) makes them narrower",
		    heaviest);
	if (o->same + o->opposite + o->undecided > 1)
		say("of %zu pairs that differ in how long they are waited for experiments surely "
		    "have %zu in the same "
		    "order and %zu in the other one; %zu they cannot tell",
		    o->same + o->opposite + o->undecided, o->same, o->opposite, o->undecided);
}

/* What a difference between how long and how much usually means. */
static void print_meaning(const struct verify *v, size_t i)
{
	const struct waits_tried *t = &v->tried[i];
	const struct model_row *row = v->found[i];
	double waited = 100 * t->weight / v->time;

	if (!row || !t->known)
		return;
	if (row->e->verdict == VERDICT_NO_EFFECT && t->weight >= HEAVY * v->time)
		say("%s is waited for during %.0f %% of the time and brings next to nothing: "
		    "usually who waits there waits for something to do (look at the wait in the "
		    "other direction), or somebody else takes as long meanwhile",
		    v->targets[i], waited);
	else if (row->e->verdict == VERDICT_CONTENTION)
		say("%s: all gets slower when it is faster: usually more threads then want what "
		    "comes next, a lock, a cache or a device",
		    v->targets[i]);
	else if (row->e->verdict == VERDICT_OPTIMIZE && t->low > waited)
		say("%s brings more than it is waited for: usually it also runs where nobody "
		    "sleeps meanwhile, or those who wait for it spin",
		    v->targets[i]);
}

/* Of those that say the same with other numbers the last. */
static void print_warnings(const struct text_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		bool again = false;

		for (size_t k = i + 1; k < l->n; k++)
			again |= text_alike(l->text[i], l->text[k]);
		if (!again)
			say("scozd: %s", l->text[i]);
	}
}

static void print_all(const struct verify *v, const struct model *m)
{
	struct waits_orders orders;

	waits_compare_orders(v->tried, v->n_targets, &orders);
	say("%s: %.1f s; who waits for whom, by how long that one was at work meanwhile",
	    v->r->trace->path, v->time / 1e9);
	say("saves: how many percent less time %s takes were the target %d %% faster, by "
	    "experiments (%.0f s)",
	    v->point ? "a unit of progress" : "the command", SPEEDUP, m ? m->duration_s : 0);
	print_table(v);
	if (!m)
		return;
	print_top(v, &orders);
	for (size_t i = 0; i < v->n_targets; i++)
		print_meaning(v, i);
	for (size_t i = 0; i < v->n_targets; i++) {
		if (!strcmp(v->targets[i], "class:io"))
			say("class:io is all waiting for block devices, whichever it is");
	}
	print_warnings(&m->warnings);
	if (v->o->output)
		say("scoz report %s has the experiments", v->o->output);
}

static int conclude(struct verify *v, const char *path)
{
	struct model *m = NULL;
	struct error err = {};
	bool known = false;

	if (model_load(path, &m, &err)) {
		log_warn("the experiments' profile cannot be read: %s", err.text);
		return EXIT_FAILED;
	}
	take_results(v, m);
	print_all(v, m);
	for (size_t i = 0; i < v->n_targets; i++)
		known |= v->tried[i].known;
	for (size_t i = 0; i < m->reasons.n; i++)
		log_warn("experiments: nothing can be concluded: %s", m->reasons.text[i]);
	if (v->ended_by)
		log_warn("ended by a signal: this is what experiments said until then");
	model_free(m);
	return known ? EXIT_DONE : EXIT_NOTHING;
}

/* In a directory of its own, of which nothing is left; or where the user wants it. */
static int try_and_conclude(struct verify *v)
{
	const char *tmp = getenv("TMPDIR");
	_cleanup_free_ char *dir = xasprintf("%s/scoz-verify-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	_cleanup_free_ char *path = NULL;
	int ret;

	if (v->o->output) {
		ret = experiment(v, v->o->output);
		return ret == EXIT_DONE ? conclude(v, v->o->output) : ret;
	}
	if (!mkdtemp(dir)) {
		log_warn("--verify: cannot make the directory %s: %s: set TMPDIR, or name a "
			 "profile with -o",
			 dir, strerror(errno));
		return EXIT_FAILED;
	}
	path = xasprintf("%s/profile.scoz", dir);
	ret = experiment(v, path);
	if (ret == EXIT_DONE)
		ret = conclude(v, path);
	unlink(path);
	rmdir(dir);
	return ret;
}

int waits_verify(const struct waits_recorded *r, const struct waits_edge *edges, size_t n,
		 const struct verify_options *o)
{
	struct verify v = { .r = r, .o = o };
	struct error err = {};
	int ret = EXIT_USAGE;

	v.time = r->to > r->from ? r->to - r->from : 1;
	if (!find_command(&v) || !find_point(&v))
		return EXIT_USAGE;
	v.rows = xcalloc(o->lines, sizeof(*v.rows));
	v.targets = xcalloc(o->lines, sizeof(*v.targets));
	v.tried = xcalloc(o->lines, sizeof(*v.tried));
	v.found = xcalloc(o->lines, sizeof(*v.found));
	if (find_targets(&v, edges, n < WAITS_BEHIND_EDGES ? n : WAITS_BEHIND_EDGES, &err)) {
		log_warn("%s", err.text);
		ret = EXIT_FAILED;
	} else if (!v.n_targets) {
		print_all(&v, NULL);
		log_warn("--verify: no code stands for any of these waits, so there is nothing to "
			 "speed up; --lines takes more of them");
		ret = EXIT_NOTHING;
	} else {
		v.duration_s = o->duration_s > 0 ? o->duration_s : TARGET_S * v.n_targets;
		ret = try_and_conclude(&v);
	}
	for (size_t i = 0; i < v.n_targets; i++)
		free(v.targets[i]);
	free(v.rows);
	free(v.targets);
	free(v.tried);
	free(v.found);
	free(v.point);
	return ret;
}
