// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz diff: what changed between two causal profiles, and what cannot be told. */
#include <getopt.h>
#include <math.h>

#include "progress/labels.h"
#include "profile/subject.h"
#include "stats/describe.h"
#include "tools/scoz/arguments.h"
#include "tools/scoz/causal/diff.h"
#include "tools/scoz/causal/ranking.h"
#include "tools/scoz/cmds.h"
#include "tools/scoz/json_values.h"
#include "tools/scoz/wrong_file.h"
#include "tools/scoz/text.h"

#define SAME_PP 3.0

static void usage(FILE *out)
{
	fprintf(out,
		"Usage: scoz diff [OPTION...] OLD NEW\n\n"
		"Compares two causal profiles: for each target in both, how much more (or less) "
		"it\n"
		"is worth in NEW, with the 95 %% interval of the difference.\n\n"
		"  --within PP  as the same counts what surely differs by less than PP percentage\n"
		"               points (default 3)\n"
		"  -o, --output FILE\n"
		"               make a page of it, with slopes from old to new (.html)\n"
		"  -j, --json   print JSON (schema scoz-diff/1)\n"
		"  --help\n\n"
		"\"Changed\" is said so rarely by mistake that among all targets compared it "
		"happens\n"
		"in one comparison of two hundred.\n\n"
		"Exit status: 0 done, 1 failed, 2 usage, 3 nothing can be told.\n");
}

static bool same_progress(const struct diff *d, const struct profile_progress *a,
			  const struct profile_progress *b)
{
	bool single = d->a->profile->n_progress == 1 && d->b->profile->n_progress == 1;

	return a->kind == b->kind && (single || !strcmp(a->name, b->name));
}

static const struct model_row *find_same(const struct diff *d, const struct model *m,
					 const struct model_row *row)
{
	for (size_t i = 0; i < m->n_rows; i++) {
		if (!strcmp(m->rows[i].target->name, row->target->name) &&
		    same_progress(d, row->progress, m->rows[i].progress))
			return &m->rows[i];
	}
	return NULL;
}

static void add_warning(struct diff *d, char *text)
{
	array_reserve(d->warnings.text, d->warnings.cap, d->warnings.n + 1);
	d->warnings.text[d->warnings.n++] = text;
}

/* What changed most first. */
static int compare_pairs(const void *pa, const void *pb)
{
	const struct pair *a = pa, *b = pb;
	double x = fabs(a->d.value), y = fabs(b->d.value);

	if (a->d.answer != b->d.answer)
		return a->d.answer < b->d.answer ? -1 : 1;
	if (isfinite(x) != isfinite(y))
		return isfinite(x) ? -1 : 1;
	if (isfinite(x) && x != y)
		return x > y ? -1 : 1;
	return strcmp(a->label, b->label);
}

static const struct profile_header *header_of(const struct model *m)
{
	return &m->profile->runs[m->profile->n_runs - 1].header;
}

static const char *yes_or_no(bool b)
{
	return b ? "with" : "without";
}

/* Why numbers of the two do not mean the same; NULL: they do. */
static char *why_apart(const struct diff *d)
{
	const struct profile_header *a = header_of(d->a), *b = header_of(d->b);

	if (strcmp(a->mode, b->mode) != 0)
		return xasprintf("OLD is of mode %s, NEW of mode %s: profile both the same way",
				 a->mode, b->mode);
	if (a->waits != b->waits)
		return xasprintf("OLD is %s --waits, NEW %s: profile both the same way",
				 yes_or_no(a->waits), yes_or_no(b->waits));
	return NULL;
}

/* What makes comparing doubtful, and what each side says of itself. */
static void gather_warnings(struct diff *d)
{
	const struct profile_header *a = header_of(d->a), *b = header_of(d->b);
	const struct model *const sides[] = { d->a, d->b };

	if (strcmp(a->model, b->model) != 0)
		add_warning(d, xasprintf("OLD is of model %s, NEW of model %s: some of what "
					 "changed may be due to that",
					 a->model, b->model));
	if (d->a->profile->n_progress == 1 && d->b->profile->n_progress == 1 &&
	    strcmp(d->a->profile->progress[0].name, d->b->profile->progress[0].name) != 0)
		add_warning(d, xasprintf("the progress point is \"%s\" in OLD and \"%s\" in NEW: "
					 "taken for the same",
					 d->a->profile->progress[0].name,
					 d->b->profile->progress[0].name));
	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		const char *which = i ? "NEW" : "OLD";

		for (size_t k = 0; k < sides[i]->warnings.n; k++)
			add_warning(d, xasprintf("%s: %s", which, sides[i]->warnings.text[k]));
		for (size_t k = 0; k < sides[i]->reasons.n; k++)
			text_list_add(&d->reasons, xasprintf("%s: nothing can be concluded: %s",
							     which, sides[i]->reasons.text[k]));
	}
}

/* Those of OLD, then those of NEW: what is called the same in both is the same. To be freed. */
static char **labels_of_both(const struct diff *d)
{
	size_t n = 0;
	_cleanup_free_ const char **names =
		xcalloc(d->a->n_rows + d->b->n_rows + 1, sizeof(*names));

	for (size_t i = 0; i < d->a->n_rows; i++)
		names[n++] = d->a->rows[i].target->name;
	for (size_t i = 0; i < d->b->n_rows; i++)
		names[n++] = d->b->rows[i].target->name;
	return labels_make(names, n);
}

static char *whole_label(const struct model *m, const struct model_row *row, const char *label)
{
	return m->profile->n_progress > 1 ? xasprintf("%s (%s)", label, row->progress->name)
					  : xstrdup(label);
}

/* Numbers that are withheld say nothing about a change either. */
static void find_points(struct pair *p)
{
	p->at_pct = difference_at(p->a->e, p->b->e);
	if (!isfinite(p->at_pct))
		return;
	if (!estimate_is_withheld(p->a->e))
		p->pa = model_point(p->a, p->at_pct);
	if (!estimate_is_withheld(p->b->e))
		p->pb = model_point(p->b, p->at_pct);
}

static void make_pairs(struct diff *d, double same_pp)
{
	_cleanup_free_ char **labels = labels_of_both(d);
	size_t compared = 0;

	d->pairs = xcalloc(d->a->n_rows ? d->a->n_rows : 1, sizeof(*d->pairs));
	for (size_t i = 0; i < d->a->n_rows; i++) {
		const struct model_row *a = &d->a->rows[i], *b = find_same(d, d->b, a);
		struct pair *p = &d->pairs[d->n];

		if (!b) {
			text_list_add(&d->only_a, whole_label(d->a, a, labels[i]));
			continue;
		}
		p->a = a;
		p->b = b;
		p->label = whole_label(d->a, a, labels[i]);
		find_points(p);
		compared += isfinite(p->at_pct);
		d->n++;
	}
	for (size_t i = 0; i < d->b->n_rows; i++) {
		const struct model_row *b = &d->b->rows[i];

		if (!find_same(d, d->a, b))
			text_list_add(&d->only_b, whole_label(d->b, b, labels[d->a->n_rows + i]));
	}
	for (size_t i = 0; i < d->a->n_rows + d->b->n_rows; i++)
		free(labels[i]);
	for (size_t i = 0; i < d->n; i++) {
		struct pair *p = &d->pairs[i];

		p->d = difference_of(d->apart ? NULL : p->pa, p->pb, compared, same_pp);
		d->count[p->d.answer]++;
	}
	qsort(d->pairs, d->n, sizeof(*d->pairs), compare_pairs);
}

/* ---- text ---- */

static char *change_text(const struct difference *d)
{
	if (!isfinite(d->value))
		return locale_text("\xe2\x80\x94");
	return xasprintf("%+.1f [%+.1f, %+.1f]", d->value, d->lo, d->hi);
}

static void print_prose(const char *text, size_t indent)
{
	_cleanup_free_ char *shown = text_shown(text);

	text_put_wrapped(shown, indent, prose_width());
}

static void print_file(const char *which, const struct model *m)
{
	const struct profile_header *h = header_of(m);
	_cleanup_free_ char *subject = profile_subject(h);
	char *text = xasprintf("%s: %s, %.0f s", m->profile->path, subject, m->duration_s);

	for (size_t i = 0; i < m->profile->n_progress; i++)
		text_add(&text, ", \"%s\" %.4g/s", m->profile->progress[i].name,
			 m->progress[i].rate_per_s);
	printf("%s  ", which);
	print_prose(text, 5);
	free(text);
}

static char *headline(const struct diff *d)
{
	const struct pair *p = d->n ? &d->pairs[0] : NULL;
	_cleanup_free_ char *unit = p ? ranking_unit(d->b, p->b->progress) : NULL;
	char *text;

	if (d->apart)
		return xasprintf("Nothing can be compared: %s.", d->apart);
	if (!p)
		return xstrdup("No target is in both profiles: nothing can be told.");
	if (p->d.answer != DIFFERENCE_CHANGED)
		text = xstrdup(p->d.answer == DIFFERENCE_SAME
				       ? "No target surely changed"
				       : "What changed cannot be told: profile longer");
	else {
		_cleanup_free_ char *less = less_time_text(p->at_pct);

		text = xasprintf("%s changed most: if it took %s, it would have saved %.1f %% of "
				 "%s, and would now save %.1f %%",
				 p->label, less, p->pa->program_speedup_pct, unit,
				 p->pb->program_speedup_pct);
	}
	text_add(&text, "; %zu changed, %zu the same, %zu cannot be told.",
		 d->count[DIFFERENCE_CHANGED], d->count[DIFFERENCE_SAME],
		 d->count[DIFFERENCE_UNKNOWN]);
	return text;
}

static char *point_text(const struct estimate_point *p)
{
	return p ? estimate_point_text(p) : locale_text("\xe2\x80\x94");
}

static void fill_row(const struct pair *p, struct table *t)
{
	char **cell = table_row(t);

	cell[0] = text_shown(p->label);
	cell[4] = change_text(&p->d);
	if (!isfinite(p->at_pct))
		return;
	cell[1] = xasprintf("%g %%", p->at_pct);
	cell[2] = point_text(p->pa);
	cell[3] = point_text(p->pb);
}

static void print_pairs(const struct diff *d)
{
	_cleanup_free_ size_t *widths = NULL;
	size_t width = output_width();
	struct table t;

	table_init_heads(&t, "TARGET|>AT|>OLD|>NEW|>DIFFERENCE [95 %]");
	for (size_t i = 0; i < d->n; i++)
		fill_row(&d->pairs[i], &t);
	if (table_width(&t) > width) {
		size_t more = table_width(&t) - width, most = 0;

		for (size_t i = 1; i < t.rows; i++) {
			size_t w = text_width(t.cell[i * t.cols]);

			most = w > most ? w : most;
		}
		table_shorten(&t, 0, most > more + 8 ? most - more : 8);
	}
	widths = table_widths(&t);
	table_print_row(&t, widths, 0);
	for (size_t i = 0; i < d->n; i++) {
		enum difference_answer answer = d->pairs[i].d.answer;

		if (!i || d->pairs[i - 1].d.answer != answer)
			printf("%s (%zu)\n", diff_title(answer), d->count[answer]);
		table_print_row(&t, widths, i + 1);
	}
	table_deinit(&t);
}

static void print_only(const char *which, const struct text_list *l)
{
	if (!l->n)
		return;
	printf("Only in %s (%zu):", which, l->n);
	for (size_t i = 0; i < l->n && i < 6; i++) {
		_cleanup_free_ char *label = text_shown(l->text[i]);

		printf("%s %s", i ? "," : "", label);
	}
	printf("%s\n", l->n > 6 ? ", ..." : "");
}

static void print_diff(const struct diff *d)
{
	_cleanup_free_ char *text = headline(d);

	print_prose(text, 0);
	putchar('\n');
	print_file("OLD", d->a);
	print_file("NEW", d->b);
	putchar('\n');
	if (d->n) {
		print_prose("% of the time per unit saved if the target took AT % less time; "
			    "difference "
			    "in percentage points",
			    0);
		print_pairs(d);
	}
	print_only("OLD", &d->only_a);
	print_only("NEW", &d->only_b);
	for (size_t i = 0; i < d->warnings.n; i++) {
		printf("%s  ", i ? "" : "Warnings\n");
		print_prose(d->warnings.text[i], 4);
	}
}

/* ---- JSON ---- */

static json_t *side_json(const struct estimate_point *p)
{
	if (!p)
		return json_null();
	return json_pack("{s:o, s:o, s:i}", "program_speedup_pct",
			 json_percent(p->program_speedup_pct), "ci95",
			 json_interval(p->ci_lo, p->ci_hi), "windows", (int)p->windows);
}

/* What @m has and @other has not. */
static json_t *only_json(const struct diff *d, const struct model *m, const struct model *other)
{
	json_t *a = json_array();

	for (size_t i = 0; i < m->n_rows; i++) {
		const struct model_row *row = &m->rows[i];

		if (!find_same(d, other, row))
			json_array_append_new(
				a, json_pack("{s:o, s:o}", "target", json_clean(row->target->name),
					     "progress", json_clean(row->progress->name)));
	}
	return a;
}

static json_t *list_json(const struct text_list *l)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(a, json_clean(l->text[i]));
	return a;
}

static int print_json(const struct diff *d)
{
	static const char *const answers[] = { "changed", "same", "unknown" };
	json_t *o = json_object(), *targets = json_array();
	char *text;

	for (size_t i = 0; i < d->n; i++) {
		const struct pair *p = &d->pairs[i];

		json_array_append_new(targets,
				      json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o}",
						"target", json_clean(p->a->target->name),
						"progress", json_clean(p->a->progress->name),
						"answer", answers[p->d.answer], "speedup_pct",
						json_percent(p->at_pct), "old", side_json(p->pa),
						"new", side_json(p->pb), "difference_pp",
						json_percent(p->d.value), "ci95",
						json_interval(p->d.lo, p->d.hi)));
	}
	json_object_set_new(o, "schema", json_string("scoz-diff/1"));
	json_object_set_new(o, "old", json_clean(d->a->profile->path));
	json_object_set_new(o, "new", json_clean(d->b->profile->path));
	json_object_set_new(o, "targets", targets);
	json_object_set_new(o, "only_old", only_json(d, d->a, d->b));
	json_object_set_new(o, "only_new", only_json(d, d->b, d->a));
	json_object_set_new(o, "apart", d->apart ? json_clean(d->apart) : json_null());
	json_object_set_new(o, "reasons", list_json(&d->reasons));
	json_object_set_new(o, "warnings", list_json(&d->warnings));
	text = json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	json_decref(o);
	printf("%s\n", text ? text : "{}");
	free(text);
	return 0;
}

/* ------------------------------------------------------------------------------------------ */

static int make_page(const struct diff *d, const char *path)
{
	_cleanup_free_ char *text = headline(d);
	FILE *out = output_open(path);

	if (!out)
		return EXIT_FAILED;
	diff_write_html(d, text, out);
	return output_close(out, path);
}

static int show(const struct diff *d, bool json, const char *page)
{
	bool told = d->count[DIFFERENCE_CHANGED] + d->count[DIFFERENCE_SAME] > 0;
	int ret = page ? make_page(d, page) : EXIT_DONE;

	if (json)
		print_json(d);
	else if (!page)
		print_diff(d);
	fflush(stdout);
	if (!d->a->n_rows)
		model_print_reasons(d->a);
	if (!d->b->n_rows)
		model_print_reasons(d->b);
	return ret ? ret : told ? EXIT_DONE : EXIT_NOTHING;
}

static int diff_models(struct model *a, struct model *b, double same_pp, bool json,
		       const char *page)
{
	struct diff d = { .a = a, .b = b };
	int ret;

	d.apart = why_apart(&d);
	gather_warnings(&d);
	make_pairs(&d, same_pp);
	ret = show(&d, json, page);
	for (size_t i = 0; i < d.n; i++)
		free(d.pairs[i].label);
	free(d.pairs);
	text_list_free(&d.only_a);
	text_list_free(&d.only_b);
	text_list_free(&d.reasons);
	text_list_free(&d.warnings);
	free(d.apart);
	return ret;
}

static int diff_files(const char *old, const char *new, double same_pp, bool json, const char *page)
{
	struct error err = { 0 };
	struct model *a, *b;
	int ret;

	if (model_load(old, &a, &err))
		return cannot_read(old, FILE_PROFILE, &err);
	if (model_load(new, &b, &err)) {
		model_free(a);
		return cannot_read(new, FILE_PROFILE, &err);
	}
	ret = diff_models(a, b, same_pp, json, page);
	model_free(a);
	model_free(b);
	return ret;
}

int cmd_diff(int argc, char **argv)
{
	static const struct option options[] = {
		{ "within", required_argument, NULL, 'w' },
		{ "output", required_argument, NULL, 'o' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	double same_pp = SAME_PP;
	const char *page = NULL;
	bool json = false;
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "o:jh", options, NULL)) != -1) {
		switch (c) {
		case 'w':
			if (!parse_number(optarg, 0, 100, &same_pp) || !(same_pp > 0)) {
				log_warn("--within: %s is not a number of percentage points",
					 optarg);
				return EXIT_USAGE;
			}
			break;
		case 'o':
			page = optarg;
			break;
		case 'j':
			json = true;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
	}
	if (argc - optind != 2) {
		log_warn("two profiles are compared: scoz diff OLD NEW");
		return EXIT_USAGE;
	}
	if (page && !output_is_page(page)) {
		log_warn("%s: a page is what can be made: let the name end in .html", page);
		return EXIT_USAGE;
	}
	return diff_files(input_file(argv[optind]), input_file(argv[optind + 1]), same_pp, json,
			  page);
}
