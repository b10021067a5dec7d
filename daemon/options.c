// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/options.h"
#include "base/version.h"
#include "engine/engine.h"

#include <getopt.h>
#include <math.h>
#include <stdarg.h>

/* What main() returns for it, as the tool does. */
#define EXIT_USAGE 2

static const char usage[] =
	"Usage: scozd [OPTION...] -- COMMAND [ARG...]\n"
	"       scozd [OPTION...]\n"
	"scozd: a system-wide causal profiler.\n"
	"\n"
	"What is done, and by whom:\n"
	"  -p, --progress=[NAME=]POINT  a unit of work is done when POINT is reached\n"
	"  -l, --latency=NAME=BEGIN,END latency between two POINTs\n"
	"      --pid=PID                this process, already running, does the work\n"
	"      --cgroup=PATH            the processes of this cgroup do the work\n"
	"  -e, --end-to-end             progress is the command's run time; runs it\n"
	"                               repeatedly\n"
	"\n"
	"What may be sped up:\n"
	"      --target=TARGET          only this target (default: what is sampled most)\n"
	"      --together               all named targets at once, as one\n"
	"  -b, --binary-scope=GLOB      only these binaries can be targets\n"
	"  -s, --source-scope=GLOB      only these source files can be targets\n"
	"  -k, --kernel-scope=VMLINUX   the kernel can be a target (\"auto\" finds it)\n"
	"      --granularity=line|function\n"
	"                               default: lines where known\n"
	"      --speedup=PCT[,PCT...]   only these speedups (default: 25,50,75,100)\n"
	"      --no-next                do not try the best one together with others, which\n"
	"                               tells what is best done after it\n"
	"      --waits                  of code, speed up its waiting for devices and\n"
	"                               timers, too\n"
	"\n"
	"How long, how exactly:\n"
	"      --runs=N                 run the command N times\n"
	"      --duration=SEC           end after this time\n"
	"      --warmup=SEC             let the program settle first (default: 1)\n"
	"      --precision=PP           end when all intervals are within this many\n"
	"                               percentage points\n"
	"      --seed=N                 reproducible order of experiments\n"
	"      --truth=FILE             measure, too: FILE tells the program how much cheaper\n"
	"                               to make the target\n"
	"\n"
	"How cores are sampled and stopped:\n"
	"      --engine=auto|bpf|kernel who stops the cores\n"
	"      --model=wait|core        how delays are accounted (default: wait)\n"
	"      --frequency=HZ           samples a second and core (default: chosen)\n"
	"      --cpus=LIST              only these cores are sampled and delayed\n"
	"      --max-delay=USEC         longest stop of a core (default: 2000)\n"
	"      --max-share=PCT          largest share of stopped time (default: 90)\n"
	"      --waive=on|off           waive what all running cores owe (default: on)\n"
	"      --unwind=tables|pointers how call chains are followed (default: tables, engine\n"
	"                               bpf)\n"
	"      --no-perf-maps           code that programs make while they run stays without\n"
	"                               names, whatever they write of it\n"
	"      --batch=N                engine kernel, as published: handlers account for N\n"
	"                               samples at a time\n"
	"      --tune=[no-]WAY[,...]    engine kernel: kick, defer, credit, catch-up, exclude;\n"
	"                               engine bpf: kick (with the module), no-switch-exit,\n"
	"                               no-self-interrupt, no-spread, no-seen, no-module\n"
	"\n"
	"Output:\n"
	"  -o, --output=FILE            default: profile.scoz; a fitting one is extended\n"
	"      --user=NAME              run the command as this user\n"
	"      --no-replay              do not record the beginning of the run, from which is\n"
	"                               told what to expect of targets\n"
	"      --no-sources             leave lines of source out of the profile\n"
	"      --json                   progress as JSON lines on stderr\n"
	"  -v, --verbose                say more (twice: everything)\n"
	"  -q, --quiet                  say less\n"
	"  -h, --help\n"
	"  -V, --version\n"
	"\n"
	"POINT: BINARY:FUNCTION[+OFFSET], BINARY:FILE:LINE, usdt:BINARY:PROVIDER:NAME,\n"
	"tracepoint:GROUP:NAME[:COMM], syscall:NAME[:COMM], mark:NAME\n"
	"TARGET: FILE:LINE[-LAST], func:NAME[@BINARY], file:GLOB, bin:GLOB, kernel:FUNCTION,\n"
	"syscall:NAME, comm:NAME, cgroup:PATH, rank:N, class:KIND, class:io:DEVICE,\n"
	"class:io:ADDRESS[:PORT]\n"
	"\n"
	"Example: scozd -p ./server:request_done --duration 60\n"
	"         scoz report\n";

enum {
	OPT_TARGET = 256,
	OPT_TOGETHER,
	OPT_SPEEDUP,
	OPT_GRANULARITY,
	OPT_RUNS,
	OPT_WAITS,
	OPT_DURATION,
	OPT_WARMUP,
	OPT_PRECISION,
	OPT_ENGINE,
	OPT_MODEL,
	OPT_FREQUENCY,
	OPT_CPUS,
	OPT_MAX_DELAY,
	OPT_MAX_SHARE,
	OPT_SEED,
	OPT_TRUTH,
	OPT_JSON,
	OPT_USER,
	OPT_PID,
	OPT_CGROUP,
	OPT_WAIVE,
	OPT_BATCH,
	OPT_TUNE,
	OPT_UNWIND,
	OPT_NO_SOURCES,
	OPT_NO_REPLAY,
	OPT_NO_PERF_MAPS,
	OPT_NO_NEXT,
};

static const struct option longs[] = {
	{ "progress", required_argument, NULL, 'p' },
	{ "latency", required_argument, NULL, 'l' },
	{ "pid", required_argument, NULL, OPT_PID },
	{ "cgroup", required_argument, NULL, OPT_CGROUP },
	{ "end-to-end", no_argument, NULL, 'e' },
	{ "target", required_argument, NULL, OPT_TARGET },
	{ "together", no_argument, NULL, OPT_TOGETHER },
	{ "binary-scope", required_argument, NULL, 'b' },
	{ "source-scope", required_argument, NULL, 's' },
	{ "kernel-scope", required_argument, NULL, 'k' },
	{ "granularity", required_argument, NULL, OPT_GRANULARITY },
	{ "speedup", required_argument, NULL, OPT_SPEEDUP },
	{ "waits", no_argument, NULL, OPT_WAITS },
	{ "runs", required_argument, NULL, OPT_RUNS },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	{ "precision", required_argument, NULL, OPT_PRECISION },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "truth", required_argument, NULL, OPT_TRUTH },
	{ "engine", required_argument, NULL, OPT_ENGINE },
	{ "model", required_argument, NULL, OPT_MODEL },
	{ "frequency", required_argument, NULL, OPT_FREQUENCY },
	{ "cpus", required_argument, NULL, OPT_CPUS },
	{ "max-delay", required_argument, NULL, OPT_MAX_DELAY },
	{ "max-share", required_argument, NULL, OPT_MAX_SHARE },
	{ "waive", required_argument, NULL, OPT_WAIVE },
	{ "unwind", required_argument, NULL, OPT_UNWIND },
	{ "batch", required_argument, NULL, OPT_BATCH },
	{ "tune", required_argument, NULL, OPT_TUNE },
	{ "output", required_argument, NULL, 'o' },
	{ "user", required_argument, NULL, OPT_USER },
	{ "no-sources", no_argument, NULL, OPT_NO_SOURCES },
	{ "no-replay", no_argument, NULL, OPT_NO_REPLAY },
	{ "no-perf-maps", no_argument, NULL, OPT_NO_PERF_MAPS },
	{ "no-next", no_argument, NULL, OPT_NO_NEXT },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "verbose", no_argument, NULL, 'v' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{},
};

static void __attribute__((noreturn)) ask_for_help(void)
{
	fprintf(stderr, "Try `scozd --help' for more information.\n");
	exit(EXIT_USAGE);
}

static void __attribute__((noreturn, format(printf, 1, 2))) wrong(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	ask_for_help();
}

static double number(const char *text, const char *what, double lo, double hi)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= lo && v <= hi))
		wrong("%s: \"%s\" is not a number from %.10g to %.10g", what, text, lo, hi);
	return v;
}

static double whole(const char *text, const char *what, double lo, double hi)
{
	double v = number(text, what, lo, hi);

	if (v != floor(v))
		wrong("%s: \"%s\" is not a whole number", what, text);
	return v;
}

static void append(const char ***list, size_t *n, size_t *cap, const char *arg)
{
	array_reserve(*list, *cap, *n + 1);
	(*list)[(*n)++] = arg;
}

/* Whether the CPUs are there is found out later, and is another kind of error. */
static void check_cpus(const char *arg)
{
	_cleanup_free_ int *cpus = NULL;
	struct error err = {};
	int n;

	if (cpulist_parse(arg, &cpus, &n, &err))
		wrong("--cpus: %s", err.text);
}

/* Each once: the option may be repeated. */
static void add_speedup(struct options *o, double v)
{
	for (size_t i = 0; i < o->n_speedups; i++) {
		if (fabs(o->speedups[i] - v) < 1e-6)
			return;
	}
	array_reserve(o->speedups, o->cap_speedups, o->n_speedups + 1);
	o->speedups[o->n_speedups++] = v;
}

static void add_pid(struct options *o, int pid)
{
	for (size_t i = 0; i < o->n_pids; i++) {
		if (o->pids[i] == pid)
			return;
	}
	array_reserve(o->pids, o->cap_pids, o->n_pids + 1);
	o->pids[o->n_pids++] = pid;
}

static void add_target(struct options *o, const char *arg)
{
	struct error err = {};
	struct target t;

	if (target_parse(arg, &t, &err))
		wrong("--target: %s", err.text);
	for (size_t i = 0; i < o->n_targets; i++) {
		if (!strcmp(o->targets[i].spec, t.spec)) {
			target_free(&t);
			return;
		}
	}
	array_reserve(o->targets, o->cap_targets, o->n_targets + 1);
	o->targets[o->n_targets++] = t;
}

static bool is_same_point(const struct progress_spec *a, const struct progress_spec *b)
{
	return a->latency == b->latency && !strcmp(a->name, b->name) &&
	       !strcmp(a->begin.spec, b->begin.spec) &&
	       (!a->latency || !strcmp(a->end.spec, b->end.spec));
}

static void parse_speedups(struct options *o, const char *arg)
{
	_cleanup_free_ char *copy = xstrdup(arg);
	char *save = NULL;

	for (char *s = strtok_r(copy, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		double v = number(s, "--speedup", 0, 100) / 100;

		if (v == 0)
			continue;
		add_speedup(o, v);
	}
	o->default_speedups = false;
}

static void parse_tune(struct options *o, const char *arg)
{
	static const struct {
		const char *name;
		uint32_t flag, way; /* of engine kernel, of engine bpf */
	} ways[] = {
		{ "kick", SCOZ_F_KICK, 0 },
		{ "defer", SCOZ_F_DEFER, 0 },
		{ "credit", SCOZ_F_CREDIT, 0 },
		{ "catch-up", SCOZ_F_CATCH_UP, 0 },
		{ "exclude", SCOZ_F_EXCLUDE, 0 },
		{ "switch-exit", 0, ENGINE_SWITCH_EXIT },
		{ "self-interrupt", 0, ENGINE_SELF_INTERRUPT },
		{ "spread", 0, ENGINE_SPREAD },
		{ "seen", 0, ENGINE_SEEN },
		{ "module", 0, ENGINE_MODULE },
	};
	_cleanup_free_ char *copy = xstrdup(arg);
	char *save = NULL;

	for (char *s = strtok_r(copy, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		bool off = !strncmp(s, "no-", 3);
		size_t i = 0;

		while (i < ARRAY_SIZE(ways) && strcmp(s + (off ? 3 : 0), ways[i].name))
			i++;
		if (i == ARRAY_SIZE(ways) || (ways[i].way && !off))
			wrong("--tune: \"%s\" is none of kick, defer, credit, catch-up, "
			      "exclude, nor one of these after no-, nor no-switch-exit, "
			      "no-self-interrupt, no-spread, no-seen or no-module",
			      s);
		*(off ? &o->tune_off : &o->tune_on) |= ways[i].flag;
		o->bpf_off |= ways[i].way;
	}
}

static void keep_argument(struct options *o, int key, const char *arg)
{
	const struct option *l = longs;

	while (l->val != key)
		l++;
	append(&o->arguments, &o->n_arguments, &o->cap_arguments,
	       arg ? xasprintf("--%s=%s", l->name, arg) : xasprintf("--%s", l->name));
}

static void keep_command(struct options *o)
{
	append(&o->arguments, &o->n_arguments, &o->cap_arguments, "--");
	for (char **arg = o->command; *arg; arg++)
		append(&o->arguments, &o->n_arguments, &o->cap_arguments, *arg);
}

/* What "-p frame_done" may have meant. @command: NULL, or what is run. */
static char *point_meant(const char *arg, const char *command)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_$.";
	const char *equals = strchr(arg, '='), *name = equals ? equals + 1 : arg;

	if (!*name || name[strspn(name, letters)])
		return xstrdup("");
	return xasprintf("; did you mean %s:%s%s, or mark:%s?", command ? command : "BINARY", name,
			 command ? "" : " with the program that it is a function of", name);
}

/* In what follows the options, where that can be seen. */
static const char *find_command(char *const *rest)
{
	while (*rest && strcmp(*rest, "--") != 0)
		rest++;
	return *rest ? rest[1] : NULL;
}

static void take_point(struct options *o, int key, const char *arg, char *const *rest)
{
	_cleanup_free_ char *meant = NULL;
	struct progress_spec *new;
	struct error err = {};

	array_reserve(o->points, o->cap_points, o->n_points + 1);
	new = &o->points[o->n_points];
	if ((key == 'p' ? progress_spec_parse : latency_spec_parse)(arg, new, &err)) {
		meant = key == 'p' ? point_meant(arg, find_command(rest)) : xstrdup("");
		wrong("%s: %s%s", key == 'p' ? "--progress" : "--latency", err.text, meant);
	}
	for (size_t i = 0; i < o->n_points; i++) {
		if (is_same_point(&o->points[i], new)) {
			progress_spec_free(new);
			return;
		}
	}
	o->n_points++;
}

/* "-p prog:f -- ./prog": what is run is not in PATH. */
static void check_binary(const struct options *o, const struct point *p)
{
	_cleanup_free_ char *path = NULL, *meant = NULL;
	const char *slash = o->command ? strrchr(o->command[0], '/') : NULL;

	if (!slash || !p->binary || strcmp(p->binary, slash + 1) != 0 ||
	    !binary_find(p->binary, &path, NULL))
		return;
	meant = point_text_in(p, o->command[0]);
	wrong("progress point %s: binary '%s' is not in PATH: did you mean %s?", p->spec, p->binary,
	      meant);
}

static void take(struct options *o, int key, const char *arg, char *const *rest)
{
	switch (key) {
	case 'p':
	case 'l':
		take_point(o, key, arg, rest);
		break;
	case OPT_TARGET:
		add_target(o, arg);
		break;
	case OPT_TOGETHER:
		o->together = true;
		break;
	case OPT_PID:
		add_pid(o, whole(arg, "--pid", 1, 1 << 22));
		break;
	case OPT_CGROUP:
		append(&o->cgroups, &o->n_cgroups, &o->cap_cgroups, arg);
		break;
	case 'b':
		append(&o->binary_scope, &o->n_binary_scope, &o->cap_binary_scope, arg);
		break;
	case 's':
		append(&o->source_scope, &o->n_source_scope, &o->cap_source_scope, arg);
		break;
	case 'k':
		append(&o->kernel_scope, &o->n_kernel_scope, &o->cap_kernel_scope, arg);
		break;
	case 'e':
		o->end_to_end = true;
		break;
	case OPT_GRANULARITY:
		if (!strcmp(arg, "line"))
			o->granularity = GRANULARITY_LINE;
		else if (!strcmp(arg, "function"))
			o->granularity = GRANULARITY_FUNCTION;
		else
			wrong("--granularity: \"%s\" is neither line nor function", arg);
		break;
	case OPT_SPEEDUP:
		parse_speedups(o, arg);
		break;
	case OPT_WAITS:
		o->waits = true;
		break;
	case OPT_RUNS:
		o->runs = whole(arg, "--runs", 1, 1000000);
		break;
	case OPT_DURATION:
		o->duration = number(arg, "--duration", 0.1, 1e7);
		break;
	case OPT_WARMUP:
		o->warmup = number(arg, "--warmup", 0, 1e5);
		break;
	case OPT_PRECISION:
		o->precision = number(arg, "--precision", 0.01, 100);
		break;
	case OPT_ENGINE:
		if (strcmp(arg, "auto") && strcmp(arg, "bpf") && strcmp(arg, "kernel"))
			wrong("--engine: \"%s\" is none of auto, bpf, kernel", arg);
		o->engine = arg;
		break;
	case OPT_MODEL:
		if (!strcmp(arg, "wait"))
			o->model = SCOZ_MODEL_WAIT;
		else if (!strcmp(arg, "core"))
			o->model = SCOZ_MODEL_CORE;
		else
			wrong("--model: \"%s\" is neither wait nor core", arg);
		break;
	case OPT_FREQUENCY:
		o->frequency = number(arg, "--frequency", 10, 20000);
		break;
	case OPT_CPUS:
		check_cpus(arg);
		o->cpus = arg;
		break;
	case OPT_MAX_DELAY:
		o->max_delay_us = number(arg, "--max-delay", 10, 2000);
		break;
	case OPT_MAX_SHARE:
		o->max_share = whole(arg, "--max-share", 1, 90);
		break;
	case OPT_WAIVE:
		if (strcmp(arg, "on") && strcmp(arg, "off"))
			wrong("--waive: \"%s\" is neither on nor off", arg);
		o->waive = !strcmp(arg, "on");
		break;
	case OPT_UNWIND:
		if (strcmp(arg, "tables") && strcmp(arg, "pointers"))
			wrong("--unwind: \"%s\" is neither tables nor pointers", arg);
		o->unwind = !strcmp(arg, "tables");
		break;
	case OPT_BATCH:
		o->batch = whole(arg, "--batch", 1, 1000);
		break;
	case OPT_TUNE:
		parse_tune(o, arg);
		break;
	case OPT_SEED:
		o->seed = whole(arg, "--seed", 0, 9e15);
		break;
	case OPT_TRUTH:
		o->truth = arg;
		break;
	case OPT_NO_SOURCES:
		o->no_sources = true;
		break;
	case OPT_NO_PERF_MAPS:
		o->no_perf_maps = true;
		break;
	case OPT_NO_REPLAY:
		o->replay = false;
		break;
	case OPT_NO_NEXT:
		o->next = false;
		break;
	case 'o':
		o->output = arg;
		break;
	case OPT_USER:
		o->user = arg;
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case 'v':
		log_level++;
		break;
	case 'q':
		log_level = LOG_QUIET;
		break;
	}
}

/* What options want of one another and of the command. */
static void check(const struct options *o)
{
	if (o->end_to_end && !o->command)
		wrong("--end-to-end needs a COMMAND to run: scozd -e -- COMMAND");
	if (o->together && o->n_targets < 2)
		wrong("--together needs two targets or more: --target A --target B --together");
	if (!o->default_speedups && !o->n_speedups)
		wrong("--speedup: 0 is always measured: name one above 0, too");
	if (o->runs && !o->command)
		wrong("--runs needs a COMMAND to run");
	if (o->user && !o->command)
		wrong("--user needs a COMMAND to run");
	for (size_t i = 0; i < o->n_points; i++) {
		check_binary(o, &o->points[i].begin);
		check_binary(o, &o->points[i].end);
	}
	if (!o->n_points && !o->end_to_end)
		wrong("no progress point: say with -p when a unit of work is done, or use "
		      "--end-to-end");
}

void options_parse(int argc, char **argv, struct options *ret)
{
	static const double default_speedups[] = { 0.25, 0.5, 0.75, 1 };
	int key;

	*ret = (struct options){
		.warmup = 1,
		.engine = "auto",
		.default_speedups = true,
		.max_delay_us = 2000,
		.max_share = 90,
		.output = "profile.scoz",
		.seed = 1,
		.waive = true,
		.unwind = true,
		.replay = true,
		.next = true,
	};
	append(&ret->arguments, &ret->n_arguments, &ret->cap_arguments, argv[0]);
	argv[0] = program_invocation_short_name; /* getopt's messages begin as all others */
	while ((key = getopt_long(argc, argv, "+p:l:eb:s:k:o:vqhV", longs, NULL)) != -1) {
		switch (key) {
		case 'h':
			fputs(usage, stdout);
			exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
		case 'V':
			version_print(stdout, "scozd");
			exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
		case '?':
			ask_for_help();
		default:
			keep_argument(ret, key, optarg);
			take(ret, key, optarg, argv + optind);
		}
	}
	if (optind < argc) {
		ret->command = argv + optind;
		keep_command(ret);
	}
	check(ret);
	for (size_t i = 0; ret->default_speedups && i < ARRAY_SIZE(default_speedups); i++)
		add_speedup(ret, default_speedups[i]);
}

const char *model_name(enum scoz_model model)
{
	return model == SCOZ_MODEL_WAIT ? "wait" : "core";
}

char *target_file(const struct target *t, const struct options *opt)
{
	char *path;

	/* The command is what is meant, where it has that name; else what runs by that name. */
	if (opt->command && path_ends_with(opt->command[0], t->binary) &&
	    !binary_find(opt->command[0], &path, NULL))
		return path;
	return binary_find(t->binary, &path, NULL) ? NULL : path;
}
