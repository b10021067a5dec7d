// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz whatif: what each function of a causal recording would bring, were it faster. */
#include <getopt.h>
#include <math.h>

#include "tools/scoz/cmds.h"
#include "tools/scoz/wrong_file.h"
#include "tools/scoz/arguments.h"
#include "tools/scoz/commands/whatif_cpus.h"
#include "tools/scoz/commands/whatif_messages.h"
#include "tools/scoz/text.h"
#include "whatif/predict.h"

#define MOST_NAME  48
#define CROWDED	   0.1
#define SPINS	   0.01
#define OUTSIDE	   0.05
#define MOST_TURNS 3
#define MOST_STEPS 8
#define NOTHING	   1.05 /* points that a disk brings at most: nobody waits for it */

struct options {
	const char *path, *point;
	double rows, next;
	struct whatif_cpus cpus;
	struct predict_options predict;
};

static void usage(FILE *out)
{
	fprintf(out,
		"Usage: scoz whatif [OPTION...] [FILE]\n\n"
		"By how much less time a unit of progress would take if a function, or a "
		"disk, were faster, from one\n"
		"recording of `scoz record --causal` (default " DEFAULT_CAUSAL
		"): the most likely value, and\n"
		"between which bounds it lies. Nothing is slowed down for it; what a "
		"recording cannot\n"
		"know makes bounds wide, and scozd measures it.\n\n"
		"  -n, --lines N         so many functions, or lines, with the most "
		"samples (default 20,\n"
		"                        at most 64)\n"
		"      --point NAME      this progress point; default the first one, or, "
		"without any,\n"
		"                        the command's run time\n"
		"  -s, --speedup PCT,... how much faster; up to 8, default 25,50,100\n"
		"      --granularity function|line\n"
		"                        default function; lines need debug information\n"
		"      --next N          the best next N (up to 8) steps, one after the other, "
		"each as much\n"
		"                        faster as the middle one of --speedup says\n"
		"      --cpus N,...      instead: what so many CPUs would bring, in all (3), or "
		"more (+1);\n"
		"                        up to 8\n"
		"  -h, --help\n\n"
		"Exit status: 0 done, 1 failed, 2 usage, 3 nothing can be concluded.\n");
}

static bool parse_speedups(const char *text, struct predict_options *o)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *save = NULL;
	double pct;

	o->n_speedups = 0;
	for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		if (o->n_speedups == PREDICT_SPEEDUPS || !parse_number(w, 0, 100, &pct))
			return false;
		o->speedups[o->n_speedups++] = pct / 100;
	}
	return o->n_speedups > 0;
}

static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "lines", required_argument, NULL, 'n' },
		{ "point", required_argument, NULL, 'p' },
		{ "speedup", required_argument, NULL, 's' },
		{ "granularity", required_argument, NULL, 'g' },
		{ "next", required_argument, NULL, 'x' },
		{ "cpus", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	bool others = false;
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "n:s:h", longs, NULL)) != -1) {
		others |= c == 'n' || c == 's' || c == 'x' || c == 'g';
		switch (c) {
		case 'n':
			if (!parse_number(optarg, 1, PREDICT_TARGETS, &o->rows))
				return bad_argument("--lines", optarg, "1 to 64 is wanted");
			break;
		case 'p':
			o->point = optarg;
			break;
		case 's':
			if (!parse_speedups(optarg, &o->predict))
				return bad_argument("--speedup", optarg,
						    "1 to 8 percentages from 0 to 100 are wanted, "
						    "with commas between them");
			break;
		case 'x':
			if (!parse_number(optarg, 1, MOST_STEPS, &o->next))
				return bad_argument("--next", optarg, "1 to 8 is wanted");
			break;
		case 'c':
			if (!whatif_parse_cpus(optarg, &o->cpus))
				return bad_argument("--cpus", optarg,
						    "1 to 8 numbers of CPUs up to 1024 are wanted, "
						    "in all (3) or more (+1), with commas between "
						    "them");
			break;
		case 'g':
			o->predict.grain =
				strcmp(optarg, "line") ? PREDICT_FUNCTIONS : PREDICT_LINES;
			if (strcmp(optarg, "line") && strcmp(optarg, "function"))
				return bad_argument("--granularity", optarg,
						    "function or line is wanted");
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
	}
	if (o->cpus.n && others) {
		fputs("scoz whatif: --cpus answers by itself, without --lines, --speedup, --next "
		      "and --granularity: leave them out, or ask twice\n",
		      stderr);
		return EXIT_USAGE;
	}
	if (more_than_one("FILE", argc, argv))
		return EXIT_USAGE;
	o->path = optind < argc ? input_file(argv[optind]) : DEFAULT_CAUSAL;
	return -1;
}

/* False: there is none of that name. */
static bool find_point(const struct trace *t, const char *name, uint32_t *ret)
{
	*ret = TRACE_NONE;
	for (size_t i = 0; name && i < t->n_points; i++) {
		if (!strcmp(t->points[i], name))
			*ret = i;
	}
	if (!name || *ret != TRACE_NONE)
		return true;
	log_warn("--point %s: the recording has no such progress point%s%s", name,
		 t->n_points ? ": it has " : ": record with --progress",
		 t->n_points ? t->points[0] : "");
	return false;
}

/* "parse (server)", "server.c:17 (parse)", "class:io (all disks)". */
static char *name_of(const struct predict_target *x)
{
	_cleanup_free_ char *symbol = text_shown(x->symbol);
	_cleanup_free_ char *where = text_shown(path_base(x->line ? x->file : x->object));

	if (x->devices)
		return xasprintf("%s (%s)", symbol,
				 strcmp(x->symbol, PREDICT_ALL_DEVICES) ? "a disk" : "disks");
	return x->line ? xasprintf("%s:%u (%s)", where, x->line, symbol)
		       : xasprintf("%s (%s)", symbol, where);
}

static int best_first(const void *pa, const void *pb)
{
	const struct predict_target *a = pa, *b = pb;
	double x = a->worth, y = b->worth;

	if (x != y)
		return x > y ? -1 : 1;
	return strcmp(a->symbol, b->symbol);
}

static void print_table(const struct predict_options *o, struct predict *p)
{
	int n = o->n_speedups;
	struct table t;
	char **row;

	qsort(p->targets, p->n_targets, sizeof(*p->targets), best_first);
	table_init(&t, 2 + n);
	for (int i = 0; i < 1 + n; i++)
		t.right[i] = true;
	row = table_row(&t);
	row[0] = xstrdup("of CPU");
	for (int s = 0; s < n; s++)
		row[1 + s] = xasprintf("%.0f %% faster", 100 * o->speedups[s]);
	row[1 + n] = xstrdup(o->grain == PREDICT_LINES ? "line" : "function");
	for (size_t i = 0; i < p->n_targets; i++) {
		const struct predict_target *x = &p->targets[i];

		if (x->devices && x->at[n - 1].high <= NOTHING)
			continue;
		row = table_row(&t);
		row[0] = xasprintf(x->devices ? "busy %.1f %%" : "%.1f %%", 100 * x->share);
		for (int s = 0; s < n; s++)
			row[1 + s] = xasprintf("%.1f [%.1f, %.1f]", x->at[s].middle + 0.0,
					       x->at[s].low, x->at[s].high);
		row[1 + n] = name_of(x);
	}
	table_shorten(&t, 1 + n, MOST_NAME);
	table_print(&t);
}

/* What is only known to be run by one thread after the other. */
static void print_turns(const struct predict *p)
{
	int n = 0;

	for (size_t i = 0; i < p->n_candidates; i++) {
		_cleanup_free_ char *name = name_of(&p->targets[i]);

		if (!p->targets[i].by_turns || n++ >= MOST_TURNS)
			continue;
		printf("# %s is run by one thread after the other though nobody waits, as under "
		       "a lock that is free:\n"
		       "# where threads would come to it more often, bounds allow for that\n",
		       name);
	}
}

static void print(const struct trace *t, const struct predict_options *o, struct predict *p)
{
	_cleanup_free_ char *name = text_shown(t->path);
	_cleanup_free_ char *looks = p->looks ? text_shown(p->looks) : NULL;

	printf("# %s: %.1f s, %zu events, %zu samples\n", name, t->end / 1e9, t->n_events,
	       t->n_samples);
	if (p->by_run_time)
		printf("# by how many percent the command would end sooner, and between which "
		       "bounds\n");
	else
		printf("# by how many percent less time a unit of progress would take (%llu of "
		       "them), "
		       "and between which bounds\n",
		       (unsigned long long)p->visits);
	print_turns(p);
	print_table(o, p);
	if (p->crowded > CROWDED)
		printf("# threads wanted a CPU that others had for %.0f %% of the time that they "
		       "could "
		       "run: there the bounds are a guess\n",
		       100 * p->crowded);
	if (p->outside > OUTSIDE)
		printf("# %.0f %% of what threads waited for came from who is not recorded "
		       "(clients, a network):\n"
		       "# sooner, most likely, if answers come sooner; the lower bound is for what "
		       "comes by the clock\n",
		       100 * p->outside);
	if (p->looks)
		printf("# thread %s looks now and then, and sleeps in between: for whom is only "
		       "known within the bounds\n",
		       looks);
	if (p->spun > SPINS)
		printf("# threads spun for %.0f %% of the time that they ran (waited without "
		       "giving "
		       "up the CPU):\n"
		       "# what that depends on is only known within the bounds\n",
		       100 * p->spun);
	printf("# loops that wait without PAUSE, caches and devices at their limits are not seen: "
	       "scozd measures\n");
}

static int conclude(const struct trace *t, const struct predict_options *o, struct predict *p)
{
	whatif_warn(t);
	if (!p->n_targets) {
		log_warn("%s: it has no samples of %s", t->path,
			 o->grain == PREDICT_LINES ? "lines: the programs have no debug "
						     "information, or record for longer"
						   : "functions: record for longer");
		return EXIT_NOTHING;
	}
	if (p->concluded) {
		print(t, o, p);
		return EXIT_DONE;
	}
	whatif_nothing(t, p->by_run_time, p->visits, p->strangers);
	return EXIT_NOTHING;
}

/* A caller has all that it calls: steps are functions that run themselves. */
static int print_steps(const struct trace *t, const struct options *o)
{
	struct predict_options each = o->predict;
	struct predict_step steps[MOST_STEPS];
	struct error err = {};
	size_t n;

	each.most_targets = PREDICT_TARGETS;
	if (each.grain == PREDICT_FUNCTIONS)
		each.grain = PREDICT_OWN;
	if (predict_steps(t, &each, o->next, steps, &n, &err)) {
		log_warn("%s", err.text);
		return EXIT_FAILED;
	}
	printf("# the best next steps, one after the other, each %.0f %% faster: what all up to "
	       "it bring\n",
	       100 * each.speedups[each.n_speedups / 2]);
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *name = name_of(&steps[i].target);

		printf("%zu. %5.1f [%.1f, %.1f]  %s%s\n", i + 1, steps[i].all.middle,
		       steps[i].all.low, steps[i].all.high, i ? "and " : "", name);
	}
	if (n < o->next)
		printf("# nothing else is expected to bring half a point more\n");
	return EXIT_DONE;
}

int cmd_whatif(int argc, char **argv)
{
	struct options o = { .rows = 20, .predict = predict_usual };
	struct error err = {};
	struct predict p;
	struct trace *t;
	int ret = parse_options(argc, argv, &o);

	if (ret >= 0)
		return ret;
	o.predict.most_targets = o.rows;
	o.predict.devices = true;
	if (trace_open(o.path, &t, &err))
		return cannot_read(o.path, FILE_CAUSAL, &err);
	if (!find_point(t, o.point, &o.predict.point)) {
		ret = EXIT_FAILED;
	} else if (o.cpus.n) {
		ret = whatif_more_cpus(t, o.predict.point, &o.cpus);
	} else if (predict(t, &o.predict, &p, &err)) {
		log_warn("%s", err.text);
		ret = EXIT_FAILED;
	} else {
		ret = conclude(t, &o.predict, &p);
		predict_free(&p);
		if (!ret && o.next > 0)
			ret = print_steps(t, &o);
	}
	trace_free(t);
	return ret;
}
