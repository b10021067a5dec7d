// SPDX-License-Identifier: GPL-2.0-or-later
/* scoz waits: who waits for whom in a causal recording, and which of these waits hold all up. */
#include <getopt.h>
#include <limits.h>

#include "tools/scoz/cmds.h"
#include "tools/scoz/commands/waits_verify.h"
#include "tools/scoz/wrong_file.h"
#include "tools/scoz/arguments.h"
#include "tools/scoz/text.h"
#include "waits/recorded.h"

#define MOST_WAITS (16u << 20) /* remembered at a time: 400 MB */
#define ROWS	   20
#define SHORT_CPU  0.2 /* of the time: so long wanting a CPU is worth a word */

struct options {
	const char *path;
	double least, enough; /* percent of the time */
	double rows;	      /* 0: as many as is usual */
	bool dot, alike, verify;
	struct verify_options proof;
};

struct view {
	struct waits_recorded r;
	struct options o;
	struct waits_graph graph; /* what may matter of r.graph */
	bool *unseen;		  /* groups with threads that were not recorded */
	bool *held;		  /* groups that progress waits for; all, where none was seen */
	bool *heavy;		  /* groups that somebody waits for much */
	double *on, *queued;	  /* of groups: shares of the time, summed over members */
	uint64_t time;
};

static void usage(FILE *out)
{
	fprintf(out, "Usage: scoz waits [OPTION...] [FILE]\n"
		     "       scoz waits --verify [OPTION...] [FILE] [-- COMMAND [ARG...]]\n\n"
		     "Who waits for whom in a recording of `scoz record --causal` "
		     "(default " DEFAULT_CAUSAL "),\n"
		     "and the knots: those who all wait for one another, and for nobody else. "
		     "Unless a wait\n"
		     "in a knot becomes shorter, none of its threads gets more done.\n\n"
		     "  -n, --lines N         so many waits in the table (default 20; with "
		     "--verify 5)\n"
		     "      --dot             the graph for Graphviz, instead of tables\n"
		     "      --least PCT       waits below this share of the time do not count "
		     "(default 1)\n"
		     "      --enough PCT      in knots, waits below this share are taken away as "
		     "long as a\n"
		     "                        knot remains (default 20)\n"
		     "      --no-merge        threads that wait alike are not taken together\n"
		     "      --verify          scozd's experiments on what was run during the "
		     "heaviest waits,\n"
		     "                        beside their weights; COMMAND is run again "
		     "(default: the\n"
		     "                        recording's; if it has none, what runs already is "
		     "looked at); for it:\n"
		     "  -p, --progress [NAME=]POINT\n"
		     "                        a unit of work is done here (default: the "
		     "recording's first one)\n"
		     "  -e, --end-to-end      progress is the run time of COMMAND\n"
		     "      --duration SEC    of all experiments (default 20 for each target)\n"
		     "      --user USER       runs COMMAND as this user\n"
		     "  -o, --output FILE     keeps their profile\n"
		     "  -h, --help\n\n"
		     "Exit status: 0 done, 1 failed, 2 usage, 3 nobody waited.\n");
}

static int percent(const char *name, const char *text, double *ret)
{
	if (parse_number(text, 0, 10000, ret))
		return -1;
	return bad_argument(name, text, "a percentage of the recording's time is wanted");
}

/* What is only for experiments, without them; what does not go together. */
static int check_verify(const struct options *o)
{
	const struct verify_options *p = &o->proof;
	const char *alone = p->progress	    ? "--progress"
			    : p->end_to_end ? "--end-to-end"
			    : p->duration_s ? "--duration"
			    : p->user	    ? "--user"
			    : p->output	    ? "--output"
			    : p->command    ? "a COMMAND"
					    : NULL;

	if (!o->verify && alone) {
		log_warn("%s is for experiments: give --verify, too", alone);
		return EXIT_USAGE;
	}
	if (o->verify && o->dot) {
		log_warn("--dot is a graph, --verify a table: give one of them");
		return EXIT_USAGE;
	}
	if (p->progress && p->end_to_end) {
		log_warn("--end-to-end is progress by itself: leave --progress out, or it");
		return EXIT_USAGE;
	}
	return -1;
}

/* Options and FILE end where COMMAND begins: getopt would mix them. */
static int split_command(int argc, char **argv, struct options *o)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		o->proof.command = argv[i + 1] ? argv + i + 1 : NULL;
		return i;
	}
	return argc;
}

static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "lines", required_argument, NULL, 'n' },
		{ "dot", no_argument, NULL, 'd' },
		{ "least", required_argument, NULL, 'l' },
		{ "enough", required_argument, NULL, 'g' },
		{ "no-merge", no_argument, NULL, 'm' },
		{ "verify", no_argument, NULL, 'v' },
		{ "progress", required_argument, NULL, 'p' },
		{ "end-to-end", no_argument, NULL, 'e' },
		{ "duration", required_argument, NULL, 'D' },
		{ "user", required_argument, NULL, 'u' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int c, r = -1;

	argc = split_command(argc, argv, o);
	optind = 0;
	while (r < 0 && (c = getopt_long(argc, argv, "n:p:eo:h", longs, NULL)) != -1) {
		switch (c) {
		case 'n':
			if (!parse_number(optarg, 1, 1e6, &o->rows))
				r = bad_argument("--lines", optarg, "a positive number is wanted");
			break;
		case 'd':
			o->dot = true;
			break;
		case 'l':
			r = percent("--least", optarg, &o->least);
			break;
		case 'g':
			r = percent("--enough", optarg, &o->enough);
			break;
		case 'm':
			o->alike = false;
			break;
		case 'v':
			o->verify = true;
			break;
		case 'p':
			o->proof.progress = optarg;
			break;
		case 'e':
			o->proof.end_to_end = true;
			break;
		case 'D':
			if (!parse_number(optarg, 1, 1e7, &o->proof.duration_s))
				r = bad_argument("--duration", optarg,
						 "a number of seconds, 1 or more, is wanted");
			break;
		case 'u':
			o->proof.user = optarg;
			break;
		case 'o':
			o->proof.output = optarg;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		default:
			return EXIT_USAGE;
		}
	}
	if (r >= 0)
		return r;
	r = check_verify(o);
	if (r >= 0)
		return r;
	if (more_than_one("FILE", argc, argv))
		return EXIT_USAGE;
	o->path = optind < argc ? input_file(argv[optind]) : DEFAULT_CAUSAL;
	return -1;
}

/* ---- what matters ---- */

/* Timers, and what the kernel does for itself, cannot be waited for less. */
static bool is_aside(const struct waits_recorded *r, uint32_t vertex)
{
	const struct trace *t = r->trace;
	const char *name;

	if (vertex < t->n_threads)
		return !strncmp(t->threads[vertex].comm, "ksoftirqd/", 10) ||
		       !strncmp(t->threads[vertex].comm, "swapper/", 8);
	if (vertex >= t->n_threads + t->n_devices)
		return true;
	name = t->devices[vertex - t->n_threads];
	return !devices_requests(r->devices, vertex - t->n_threads) &&
	       strcmp(name, "network") != 0 && strncmp(name, "irq ", 4) != 0;
}

static void sum_up(struct view *v)
{
	const struct waits_recorded *r = &v->r;
	bool *aside = xcalloc(r->n_groups, sizeof(*aside));

	v->time = r->to > r->from ? r->to - r->from : 1;
	v->unseen = xcalloc(r->n_groups, sizeof(*v->unseen));
	v->on = xcalloc(r->n_groups, sizeof(*v->on));
	v->queued = xcalloc(r->n_groups, sizeof(*v->queued));
	for (uint32_t i = 0; i < r->n_vertices; i++) {
		uint32_t g = r->group[i];

		aside[g] |= is_aside(r, i);
		if (i >= r->trace->n_threads)
			continue;
		v->unseen[g] |= !r->threads[i].seen;
		v->on[g] += (double)r->threads[i].times.on / v->time;
		v->queued[g] += (double)r->threads[i].times.queued / v->time;
	}
	for (size_t i = 0; i < r->graph.n; i++) {
		const struct waits_edge *e = &r->graph.edges[i];

		if (!aside[e->to] && !aside[e->from] && e->weight >= v->o.least / 100 * v->time)
			*waits_edge(&v->graph, e->from, e->to) = *e;
	}
	free(aside);
	v->heavy = xcalloc(r->n_groups, sizeof(*v->heavy));
	for (size_t i = 0; i < v->graph.n; i++) {
		const struct waits_edge *e = &v->graph.edges[i];

		v->heavy[e->to] |= e->weight >= v->o.enough / 100 * v->time;
	}
	v->held = xcalloc(r->n_groups, sizeof(*v->held));
	if (!waits_held_up(r, &v->graph, v->held))
		memset(v->held, true, r->n_groups * sizeof(*v->held));
}

static void view_deinit(struct view *v)
{
	waits_graph_free(&v->graph);
	waits_recorded_free(&v->r);
	free(v->unseen);
	free(v->held);
	free(v->heavy);
	free(v->on);
	free(v->queued);
}

static bool is_device(const struct view *v, uint32_t group)
{
	return v->r.firsts[group] >= v->r.trace->n_threads;
}

static char *name_of(const struct view *v, uint32_t group)
{
	_cleanup_free_ char *raw = waits_group_name(&v->r, group);

	return text_shown(raw);
}

/*
 * Of a group one may be waited for more than all others together: the late one among those who
 * meet. Its number, or WAITS_NONE.
 */
static uint32_t mostly_whom(const struct view *v, const struct waits_edge *e)
{
	const struct waits_recorded *r = &v->r;
	uint64_t *work = xcalloc(r->n_vertices, sizeof(*work)), all = 0;
	uint32_t best = 0;

	for (size_t i = 0; i < r->waits.graph.n; i++) {
		const struct waits_edge *one = &r->waits.graph.edges[i];

		if (r->group[one->from] != e->from || r->group[one->to] != e->to)
			continue;
		all += one->work;
		work[one->to] += one->work;
		if (work[one->to] > work[best])
			best = one->to;
	}
	if (work[best] <= all / 2)
		best = WAITS_NONE;
	free(work);
	return best;
}

static char *name_of_whom(const struct view *v, const struct waits_edge *e)
{
	uint32_t most = v->r.members[e->to] > 2 ? mostly_whom(v, e) : WAITS_NONE;
	_cleanup_free_ char *group = name_of(v, e->to), *one = NULL, *clean = NULL;

	if (most == WAITS_NONE)
		return xstrdup(group);
	one = waits_vertex_name(&v->r, most);
	clean = text_shown(one);
	return xasprintf("%s, mostly %s", group, clean);
}

static int heavier(const void *pa, const void *pb, void *arg)
{
	const struct waits_edge *a = pa, *b = pb;
	const bool *held = arg;

	if (held[a->to] != held[b->to])
		return held[a->to] ? -1 : 1;
	if (a->work != b->work)
		return a->work > b->work ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/* First those for whom progress waits, too. */
static struct waits_edge *sorted_edges(const struct view *v, const struct waits_graph *g)
{
	struct waits_edge *list = xcalloc(g->n + 1, sizeof(*list));

	if (g->n)
		memcpy(list, g->edges, g->n * sizeof(*list));
	qsort_r(list, g->n, sizeof(*list), heavier, v->held);
	return list;
}

/* What most of it was waited in; NULL: a device, which is idle. */
static const char *mostly(const struct waits_edge *e)
{
	int best = -1;

	for (int k = 0; k < TRACE_WAITS; k++) {
		if (e->kinds[k] && (best < 0 || e->kinds[k] > e->kinds[best]))
			best = k;
	}
	return best < 0 ? "idle" : trace_wait_name(best);
}

/* ---- tables ---- */

static void print_edges(const struct view *v, const struct waits_edge *list, size_t n)
{
	struct table t;
	char **row;

	table_init_heads(&t, ">at work|>of time|>weight|>itself|who waits|for whom|in");
	for (size_t i = 0; i < n; i++) {
		row = table_row(&t);
		row[0] = xasprintf("%.1f %%", 100.0 * list[i].work / v->time);
		row[1] = xasprintf("%.1f %%", 100.0 * list[i].weight / v->time);
		row[2] = xasprintf("%.3f s", list[i].weight / 1e9);
		row[3] = xasprintf("%.3f s", list[i].own / 1e9);
		row[4] = name_of(v, list[i].from);
		row[5] = name_of_whom(v, &list[i]);
		row[6] = xstrdup(mostly(&list[i]));
	}
	table_print(&t);
}

/*
 * A network, an interrupt: how much it could carry and who is at its other end is not recorded. It
 * cannot be said that it is used up, nor that it is idle and waits for those who use it.
 */
static bool is_outside(const struct view *v, const struct waits_part *p)
{
	uint32_t vertex = v->r.firsts[p->vertices[0]];

	return p->n == 1 && is_device(v, p->vertices[0]) &&
	       !devices_requests(v->r.devices, vertex - v->r.trace->n_threads);
}

static void print_members(const struct view *v, const struct waits_part *p)
{
	for (size_t i = 0; i < p->n; i++) {
		uint32_t g = p->vertices[i];
		_cleanup_free_ char *name = name_of(v, g);

		if (is_outside(v, p))
			printf("  %s: what it could carry, and who is at its other end, is not "
			       "recorded\n",
			       name);
		else if (is_device(v, g))
			printf("  %s: a device\n", name);
		else if (v->unseen[g])
			printf("  %s: was not recorded, so what it did and waited for is unknown: "
			       "record with -a, or it by --pid %d\n",
			       name, v->r.trace->threads[v->r.firsts[g]].pid);
		else
			printf("  %s: on a CPU %.0f %%, wanting one %.0f %% of the time\n", name,
			       100 * v->on[g], 100 * v->queued[g]);
	}
}

/*
 * No device, and less than one CPU in all: who works all the time does not look so. Of who was not
 * recorded that is not known: if it is waited for much it may be what takes the time.
 */
static bool is_background(const struct view *v, const struct waits_part *p)
{
	double on = 0;

	if (is_outside(v, p))
		return true;
	for (size_t i = 0; i < p->n; i++) {
		if (is_device(v, p->vertices[i]))
			return false;
		if (v->unseen[p->vertices[i]] && v->heavy[p->vertices[i]])
			return false;
		on += v->on[p->vertices[i]];
	}
	/* Waiting for a CPU is working, for who counts how busy a knot is. */
	for (size_t i = 0; i < p->n; i++)
		on += v->queued[p->vertices[i]];
	return on < 0.9;
}

static size_t at_most(size_t n, size_t most)
{
	return n < most ? n : most;
}

/* What idle and background threads wait for is much, and holds up nobody. */
static void print_all(const struct view *v, size_t most)
{
	_cleanup_free_ struct waits_edge *list = sorted_edges(v, &v->graph);
	size_t n = 0, shown;

	while (n < v->graph.n && v->held[list[n].to])
		n++;
	shown = at_most(n, most);
	if (shown)
		print_edges(v, list, shown);
	if (n == v->graph.n || shown == most)
		return;
	printf("# the same for whom nobody waits that comes to a progress point, nor in the end: "
	       "waits of idle\n"
	       "# threads, and of those in the background\n");
	print_edges(v, list + n, at_most(v->graph.n - n, most - shown));
}

static void print_knot(const struct view *v, const struct waits_peel *k, size_t part)
{
	const struct waits_part *p = &k->parts.v[part];
	size_t rows = v->o.rows > 0 ? v->o.rows : ROWS;
	_cleanup_free_ struct waits_edge *list = NULL;
	struct waits_graph heavy;
	double queued = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (v->queued[p->vertices[i]] / v->r.sizes[p->vertices[i]] > queued)
			queued = v->queued[p->vertices[i]] / v->r.sizes[p->vertices[i]];
	}
	print_members(v, p);
	if (!waits_peel_refine(k, part, v->o.enough / 100 * v->time, &heavy))
		printf("  (so many that not all light ones were taken away)\n");
	list = sorted_edges(v, &heavy);
	print_edges(v, list, at_most(heavy.n, rows));
	if (heavy.n > rows)
		printf("  and %zu more (--lines)\n", heavy.n - rows);
	if (queued > SHORT_CPU)
		printf("  CPUs are short here: some of these wanted one for %.0f %% of the time. "
		       "More "
		       "of them, or a higher priority, may help.\n",
		       100 * queued);
	waits_graph_free(&heavy);
}

static void print_taken_away(const struct view *v, const struct waits_peel *k, size_t part)
{
	const struct waits_part *p = &k->parts.v[part];

	printf("\n# %s, %s; the rest is looked at without it\n",
	       is_outside(v, p)		   ? "outside"
	       : v->unseen[p->vertices[0]] ? "waited for little"
					   : "in the background",
	       is_outside(v, p)		     ? "not known"
	       : waits_peel_is_knot(k, part) ? "a knot"
					     : "a sink");
	print_members(v, p);
}

static int by_number(const void *pa, const void *pb)
{
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;

	return (a > b) - (a < b);
}

/*
 * Those in the background, and then what waits for none but these: a round for all that can go at a
 * time. Chains may be as long as there are threads, so that only what is new is looked at.
 */
static void print_background(const struct view *v, struct waits_peel *k)
{
	size_t *now = xcalloc(k->parts.n + 1, sizeof(*now)), n = 0;
	size_t *next = xcalloc(k->parts.n + 1, sizeof(*next)), n_next;

	for (size_t i = 0; i < k->parts.n; i++) {
		if (!k->out[i])
			now[n++] = i;
	}
	for (; n; n = n_next) {
		size_t *done = now;

		for (size_t i = 0; i < n; i++) {
			k->gone[now[i]] = is_background(v, &k->parts.v[now[i]]);
			if (k->gone[now[i]])
				print_taken_away(v, k, now[i]);
		}
		n_next = 0;
		for (size_t i = 0; i < n; i++) {
			if (k->gone[now[i]])
				waits_peel_take(k, now[i], next, &n_next);
		}
		qsort(next, n_next, sizeof(*next), by_number);
		now = next;
		next = done;
	}
	free(now);
	free(next);
}

static void print_knots(struct view *v)
{
	bool outside = false, any = false;
	struct waits_peel k;

	waits_peel_find(&v->graph, v->r.n_groups, &k);
	for (size_t i = 0; i < k.parts.n; i++)
		outside |= is_outside(v, &k.parts.v[i]);
	print_background(v, &k);
	for (size_t i = 0; i < k.parts.n; i++) {
		any |= !k.gone[i];
		if (k.gone[i] || k.out[i])
			continue;
		printf("\n# %s\n", waits_peel_is_knot(&k, i)
					   ? "knot: these wait for one another, and for "
					     "nobody else"
					   : "sink: others wait for it, and it waits "
					     "for nobody: what it does takes the time");
		if (waits_peel_is_knot(&k, i))
			print_knot(v, &k, i);
		else
			print_members(v, &k.parts.v[i]);
	}
	if (!any && outside)
		printf("\n# no knot: nothing else that works much is waited for\n");
	else if (!any)
		printf("\n# no knot: nothing that works much is waited for\n");
	waits_peel_free(&k);
}

static void print_ranks(const struct trace *t)
{
	int least = INT_MAX, most = -1;
	_cleanup_free_ char *shown = NULL;
	const char *from = NULL;

	for (size_t i = 0; i < t->n_processes; i++) {
		int rank = t->processes[i].rank;

		if (rank < 0)
			continue;
		from = t->processes[i].rank_from;
		least = rank < least ? rank : least;
		most = rank > most ? rank : most;
	}
	if (!from)
		return;
	shown = text_shown(*from ? from : "?");
	printf("# ranks %d to %d of a parallel job (%s)\n", least, most, shown);
}

static void print_tables(struct view *v)
{
	const struct trace *t = v->r.trace;
	_cleanup_free_ char *name = text_shown(t->path);
	size_t seen = 0;

	for (size_t i = 0; i < t->n_threads; i++)
		seen += v->r.threads[i].seen;
	printf("# %s: %.1f s, %zu threads, %zu events\n", name, v->time / 1e9, seen, t->n_events);
	print_ranks(t);
	printf("# how long the first waited for the second (itself, and with those who waited for "
	       "it meanwhile);\n"
	       "# at work: of that, while the second did not wait for others\n");
	print_all(v, v->o.rows > 0 ? v->o.rows : ROWS);
	if (v->r.unwoken)
		printf("# %llu waits ended without a waking that was seen: they count for nobody\n",
		       (unsigned long long)v->r.unwoken);
	print_knots(v);
}

/* ---- Graphviz ---- */

static void print_quoted(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

static void print_dot(struct view *v)
{
	_cleanup_free_ struct waits_edge *list = sorted_edges(v, &v->graph);
	bool *shown = xcalloc(v->r.n_groups, sizeof(*shown));
	struct waits_parts parts;
	uint64_t most = 1;

	waits_parts(&v->graph, v->r.n_groups, 0, &parts);
	for (size_t i = 0; i < v->graph.n; i++)
		most = list[i].weight > most ? list[i].weight : most;
	printf("digraph waits {\n\tnode [fontname=\"sans-serif\"];\n\tedge "
	       "[fontname=\"sans-serif\"];"
	       "\n");
	for (size_t i = 0; i < v->graph.n; i++)
		shown[list[i].from] = shown[list[i].to] = true;
	for (uint32_t g = 0; g < v->r.n_groups; g++) {
		_cleanup_free_ char *raw = NULL, *name = NULL;

		if (!shown[g])
			continue;
		raw = waits_group_name(&v->r, g);
		name = text_clean(raw, "?"); /* in UTF-8, as Graphviz reads it */
		printf("\tn%u [label=", g);
		print_quoted(name);
		printf(", shape=%s%s];\n", is_device(v, g) ? "box" : "ellipse",
		       parts.of[g] != WAITS_NONE && parts.v[parts.of[g]].kind != WAITS_PASS
			       ? ", penwidth=3"
			       : "");
	}
	for (size_t i = 0; i < v->graph.n; i++)
		printf("\tn%u -> n%u [label=\"%.0f %% %s\", style=%s, penwidth=%.1f];\n",
		       list[i].from, list[i].to, 100.0 * list[i].weight / v->time, mostly(&list[i]),
		       list[i].weight >= v->o.enough / 100 * v->time ? "solid" : "dashed",
		       1 + 3.0 * list[i].weight / most);
	printf("}\n");
	waits_parts_free(&parts);
	free(shown);
}

static int verify(struct view *v)
{
	_cleanup_free_ struct waits_edge *list = sorted_edges(v, &v->graph);

	v->o.proof.lines = v->o.rows > 0 ? v->o.rows : VERIFY_LINES;
	return waits_verify(&v->r, list, v->graph.n, &v->o.proof);
}

static void warn(const struct view *v)
{
	const struct trace *t = v->r.trace;
	const char *unfinished = trace_unfinished(t);

	if (t->footer.lost)
		log_warn("%s: %llu events were lost: waits may be missing; record with a larger "
			 "--ring-size",
			 t->path, (unsigned long long)t->footer.lost);
	if (unfinished)
		log_warn("%s: %s", t->path, unfinished);
	if (v->r.waits.dropped || v->r.waits.unfollowed)
		log_warn("%s: too many waits at a time to remember all: some chains were not "
			 "followed "
			 "to their end",
			 t->path);
}

int cmd_waits(int argc, char **argv)
{
	struct view v = { .o = { .least = 1, .enough = 20, .alike = true } };
	struct error err = {};
	struct trace *t;
	int ret = parse_options(argc, argv, &v.o);

	if (ret >= 0)
		return ret;
	if ((v.o.verify ? trace_open : trace_open_unsampled)(v.o.path, &t, &err))
		return cannot_read(v.o.path, FILE_CAUSAL, &err);
	if (waits_read(t, MOST_WAITS, &v.r, &err)) {
		log_warn("%s", err.text);
		trace_free(t);
		return EXIT_FAILED;
	}
	waits_group(&v.r, v.o.alike);
	sum_up(&v);
	warn(&v);
	ret = v.graph.n ? EXIT_DONE : EXIT_NOTHING;
	if (!v.graph.n)
		log_warn("%s: nobody waited for anybody for %.3g %% of the %.1f s: --least shows "
			 "less",
			 v.o.path, v.o.least, v.time / 1e9);
	else if (v.o.verify)
		ret = verify(&v);
	else if (v.o.dot)
		print_dot(&v);
	else
		print_tables(&v);
	view_deinit(&v);
	trace_free(t);
	return ret;
}
