// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scoz targets: what can be a target. From a profile: what was sampled, most sampled first. From a
 * running process: its binaries and what is known about each, which decides between lines,
 * functions, and nothing.
 */
#include <getopt.h>
#include <unistd.h>

#include "maps/maps.h"
#include "progress/point.h"
#include "tools/scoz/cmds.h"
#include "tools/scoz/wrong_file.h"
#include "tools/scoz/causal/model.h"
#include "tools/scoz/text.h"
#include "symbolizer/symbolizer.h"

static void usage(FILE *out)
{
	fprintf(out,
		"Usage: scoz targets [OPTION...] [FILE|PID]\n\n"
		"FILE (default " DEFAULT_PROFILE
		"): the lines, functions and binaries that were sampled,\n"
		"those with most CREDIT first: samples that count for the place when scozd "
		"chooses\n"
		"targets. SELF: those in the place itself, TOTAL: also those in what it called.\n\n"
		"PID: the binaries of a running process, and whether their lines or only their\n"
		"functions can be targets, and why. (A file with such a name: ./1234)\n\n"
		"  -n, --lines N          at most N\n"
		"  --per WHAT             a table for each process or rank\n"
		"  --process LIST         only processes of these names or numbers\n"
		"  --pid PID[,PID...]     only these processes\n"
		"  --rank RANK[,RANK...]  only these ranks of a parallel job\n"
		"  --help\n\n"
		"Exit status: 0 done, 1 failed, 2 usage, 3 no target is known.\n");
}

/* ---- from a profile ---- */

static uint64_t samples_in(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_runs; i++)
		n += p->runs[i].footer.samples_total;
	return n;
}

/* What scozd would choose comes first. */
static int compare_credit(const void *pa, const void *pb)
{
	const struct profile_sample *a = pa, *b = pb;

	if (a->credit != b->credit)
		return a->credit < b->credit ? 1 : -1;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return strcmp(a->target, b->target);
}

/* @all: what shares are of; 0: no shares. */
static void print_samples(const struct profile_sample *samples, size_t n, uint64_t all,
			  size_t limit)
{
	struct table t;
	char **cell;

	table_init_heads(&t, all ? ">TOTAL|>SHARE|>SELF|>CREDIT|TARGET|LOCATION|BINARY"
				 : ">TOTAL|>|>SELF|>CREDIT|TARGET|LOCATION|BINARY");
	for (size_t i = 0; i < n && i < limit; i++) {
		const struct profile_sample *s = &samples[i];

		cell = table_row(&t);
		cell[0] = xasprintf("%llu", (unsigned long long)s->total);
		cell[1] = all ? xasprintf("%.1f %%", 100.0 * s->total / all) : NULL;
		cell[2] = xasprintf("%llu", (unsigned long long)s->self);
		cell[3] = xasprintf("%llu", (unsigned long long)s->credit);
		cell[4] = text_shown(s->target);
		cell[5] = text_shown(s->location);
		cell[6] = text_shown(s->binary);
	}
	/* On a terminal only: elsewhere names are read by programs. */
	if (isatty(STDOUT_FILENO) && table_width(&t) > output_width()) {
		for (size_t col = 4; col < t.cols; col++)
			table_shorten(&t, col, output_width() / 4);
	}
	table_print(&t);
}

/* Of one process, rank, or all that were chosen. */
static void print_samples_in(const struct profile *p, const struct process_group *g, size_t limit)
{
	_cleanup_free_ struct profile_sample *s = xcalloc(p->n_samples, sizeof(*s));
	size_t n = 0;

	for (size_t i = 0; i < p->n_samples; i++) {
		if (!g->places[i].total)
			continue;
		s[n] = p->samples[i];
		s[n].self = g->places[i].self;
		s[n].total = g->places[i].total;
		s[n++].credit = g->places[i].credit;
	}
	qsort(s, n, sizeof(*s), compare_credit);
	print_samples(s, n, g->samples, limit);
}

static int print_groups(const struct profile *p, const struct record_options *o, size_t limit)
{
	struct error err = { 0 };
	struct process_view v;

	if (process_view_create(p, o, &v, &err)) {
		log_warn("%s", err.text);
		return EXIT_NOTHING;
	}
	for (size_t i = 0; o->per != PER_NOTHING && i < v.n; i++) {
		_cleanup_free_ char *name = process_group_name(&v.groups[i], o->per);
		_cleanup_free_ char *shown = text_shown(name);

		printf("%s# %s: %llu samples\n", i ? "\n" : "", shown,
		       (unsigned long long)v.groups[i].samples);
		print_samples_in(p, &v.groups[i], limit);
	}
	if (o->per == PER_NOTHING)
		print_samples_in(p, &v.all, limit);
	process_view_deinit(&v);
	return EXIT_DONE;
}

static int targets_of_profile(const char *path, const struct record_options *o, size_t limit)
{
	struct error err = { 0 };
	struct profile *p;
	int ret = EXIT_DONE;

	if (profile_read(path, &p, &err))
		return cannot_read(path, FILE_PROFILE, &err);
	if (p->n_samples && (o->per != PER_NOTHING || process_view_filters(o))) {
		ret = print_groups(p, o, limit);
	} else if (p->n_samples) {
		qsort(p->samples, p->n_samples, sizeof(*p->samples), compare_credit);
		print_samples(p->samples, p->n_samples, samples_in(p), limit);
	} else if (samples_in(p)) {
		log_warn("%s: none of its %llu samples lies in a file that can be a target: code "
			 "made at run time cannot, the kernel only with -k, and --binary-scope and "
			 "--source-scope may exclude the rest",
			 path, (unsigned long long)samples_in(p));
		ret = EXIT_NOTHING;
	} else {
		log_warn("%s: no samples are in it%s: record one with scozd while the program runs",
			 path, p->truncated ? " (it is cut off: they are written at the end)" : "");
		ret = EXIT_NOTHING;
	}
	profile_free(p);
	return ret;
}

/* ---- from a process ---- */

static void describe(const struct maps_binary *b, char **can, char **why)
{
	enum map_source source = b->table ? maptable_source(b->table) : MAP_NONE;
	const char *warning = b->table ? maptable_warning(b->table) : NULL;

	switch (source) {
	case MAP_DWARF:
		*can = xstrdup("lines");
		*why = xstrdup(warning ? warning : "has debug information");
		break;
	case MAP_UNWIND:
		*can = xstrdup("functions by address");
		*why = xasprintf("stripped (func:0x...@%s, or bin:%s): build with -g and do not "
				 "strip, or install its -dbgsym package",
				 path_base(b->path), path_base(b->path));
		break;
	case MAP_SYMTAB:
	case MAP_KALLSYMS:
		*can = xstrdup("functions");
		if (maptable_is_stripped(b->table)) {
			*why = xstrdup("stripped: only exported functions have names, others go by "
				       "address; build with -g and do not strip, or install its "
				       "-dbgsym package");
			break;
		}
		*why = xasprintf("no debug information%s%s: build with -g, or install its -dbgsym "
				 "package",
				 warning ? ": " : "", warning ? warning : "");
		break;
	default:
		*can = b->table ? target_compose(TARGET_BINARY, path_base(b->path), NULL)
				: xstrdup("nothing");
		*why = xasprintf("%s: build with -g, or install its -dbgsym package",
				 b->error  ? b->error
				 : warning ? warning
					   : "neither symbols nor debug information");
	}
}

static int found_mapping(const struct maps_mapping *mapping, void *arg)
{
	(void)mapping;
	*(bool *)arg = true;
	return 1;
}

static bool has_mapping(struct maps *m, uint32_t id)
{
	bool found = false;

	maps_for_each_mapping(m, id, found_mapping, &found);
	return found;
}

/* Files are read beside each other: all are asked for before one is waited for. */
static void ask_for_all(struct maps *m, size_t limit)
{
	for (uint32_t id = 0, n = 0; id < maps_binary_count(m) && n < limit; id++) {
		if (id == MAPS_KERNEL_ID || !has_mapping(m, id))
			continue;
		maps_binary_ask(m, id);
		n++;
	}
}

static int print_binaries(struct maps *m, int pid, size_t limit)
{
	struct table t;
	char **cell;

	table_init_heads(&t, "BINARY|TARGETS|WHY");
	ask_for_all(m, limit);
	for (uint32_t id = 0; id < maps_binary_count(m); id++) {
		const struct maps_binary *b;
		char *can, *why;

		if (id == MAPS_KERNEL_ID || !has_mapping(m, id) || t.rows > limit)
			continue;
		b = maps_binary_wait(m, id);
		if (!b || !strcmp(b->path, MAPS_VDSO))
			continue;
		describe(b, &can, &why);
		cell = table_row(&t);
		cell[0] = text_shown(b->path ? b->path : "?");
		cell[1] = can;
		cell[2] = text_shown(why);
		free(why);
	}
	if (t.rows == 1) {
		log_warn("process %d maps no executable file: kernel threads and processes that "
			 "are ending have none",
			 pid);
		table_deinit(&t);
		return EXIT_NOTHING;
	}
	table_print(&t);
	return EXIT_DONE;
}

static int targets_of_process(int pid, size_t limit)
{
	_cleanup_free_ char *dir = sysroot_path("/proc/%d", pid);
	struct maps_options opt = { 0 };
	struct error err = { 0 };
	struct maps *m;
	int ret;

	if (access(dir, F_OK) < 0) {
		log_warn("process %d: no such process: is it still running?", pid);
		return EXIT_FAILED;
	}
	if (symbolizer_start(&err) || maps_create(&opt, &m, &err)) {
		log_warn("%s", err.text);
		return EXIT_FAILED;
	}
	if (maps_start(m, &err)) {
		log_warn("%s", err.text);
		ret = EXIT_FAILED;
	} else {
		ret = maps_scan_process(m, pid);
		if (ret)
			log_warn("process %d: cannot read its mappings: %s%s", pid,
				 ret == -ESRCH ? "it has ended" : strerror(-ret),
				 ret == -EACCES || ret == -EPERM ? ": run as its user or as root"
								 : "");
		ret = ret ? EXIT_FAILED : print_binaries(m, pid, limit);
	}
	if (maps_stop(m, 5))
		maps_destroy(m);
	return ret;
}

/* ------------------------------------------------------------------------------------------ */

static bool parse_count(const char *s, long *ret)
{
	char *end;

	errno = 0;
	*ret = strtol(s, &end, 10);
	return *s >= '0' && *s <= '9' && !*end && !errno && *ret > 0 && *ret <= INT32_MAX;
}

static int only_of_profiles(const char *pid)
{
	log_warn("--per, --process, --pid and --rank choose from a profile, and %s is a running "
		 "process: give a FILE (./%s, if it is called so), or the PID alone",
		 pid, pid);
	return EXIT_USAGE;
}

static int targets_options(int argc, char **argv, struct record_options *o, long *limit)
{
	static const struct option options[] = {
		{ "lines", required_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ "per", required_argument, NULL, OPTION_PER },
		{ "process", required_argument, NULL, FILTER_PROCESS },
		{ "pid", required_argument, NULL, FILTER_PID },
		{ "rank", required_argument, NULL, FILTER_RANK },
		{ 0 },
	};
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "n:h", options, NULL)) != -1) {
		switch (c) {
		case 'n':
			if (!parse_count(optarg, limit)) {
				log_warn("-n %s is not a positive number", optarg);
				return EXIT_USAGE;
			}
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		case '?':
			return EXIT_USAGE;
		default:
			if (record_option(o, c, optarg))
				return EXIT_USAGE;
		}
	}
	if (o->per == PER_THREAD) {
		log_warn("--per thread: a profile tells processes and ranks apart, not threads");
		return EXIT_USAGE;
	}
	if (more_than_one("FILE or PID", argc, argv))
		return EXIT_USAGE;
	return -1;
}

int cmd_targets(int argc, char **argv)
{
	struct record_options o;
	long limit = INT32_MAX, pid;
	const char *what;
	int ret;

	record_options_init(&o);
	ret = targets_options(argc, argv, &o, &limit);
	if (ret < 0) {
		what = optind < argc ? input_file(argv[optind]) : DEFAULT_PROFILE;
		if (!parse_count(what, &pid))
			ret = targets_of_profile(what, &o, limit);
		else if (o.per == PER_NOTHING && !process_view_filters(&o))
			ret = targets_of_process(pid, limit);
		else
			ret = only_of_profiles(what);
	}
	record_filter_deinit(&o.filter);
	return ret;
}
