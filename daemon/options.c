// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/options.h"
#include "base/version.h"

#include <argp.h>
#include <math.h>

static void print_version(FILE *out, struct argp_state *state)
{
	(void)state;
	version_print(out, "scozd");
}
void (*argp_program_version_hook)(FILE *, struct argp_state *) = print_version;

static const char doc[] =
	"scozd: a system-wide causal profiler.\v"
	"POINT: BINARY:FUNCTION[+OFFSET], BINARY:FILE:LINE, usdt:BINARY:PROVIDER:NAME,\n"
	"tracepoint:GROUP:NAME[:COMM], syscall:NAME[:COMM], mark:NAME\n"
	"TARGET: FILE:LINE, func:NAME[@BINARY], file:GLOB, bin:GLOB, kernel:FUNCTION, "
	"syscall:NAME\n"
	"\n"
	"Example: scozd -p ./server:request_done --duration 60\n"
	"         scoz report";

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
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "What is done, and by whom:", 1 },
	{ "progress", 'p', "[NAME=]POINT", 0, "a unit of work is done when POINT is reached", 1 },
	{ "latency", 'l', "NAME=BEGIN,END", 0, "latency between two POINTs", 1 },
	{ "pid", OPT_PID, "PID", 0, "this process, already running, does the work", 1 },
	{ "cgroup", OPT_CGROUP, "PATH", 0, "the processes of this cgroup do the work", 1 },
	{ "end-to-end", 'e', NULL, 0, "progress is the command's run time; runs it repeatedly", 1 },
	{ NULL, 0, NULL, 0, "What may be sped up:", 2 },
	{ "target", OPT_TARGET, "TARGET", 0, "only this target (default: what is sampled most)",
	  2 },
	{ "together", OPT_TOGETHER, NULL, 0, "all named targets at once, as one", 2 },
	{ "binary-scope", 'b', "GLOB", 0, "only these binaries can be targets", 2 },
	{ "source-scope", 's', "GLOB", 0, "only these source files can be targets", 2 },
	{ "kernel-scope", 'k', "VMLINUX", 0, "the kernel can be a target (\"auto\" finds it)", 2 },
	{ "granularity", OPT_GRANULARITY, "line|function", 0, "default: lines where known", 2 },
	{ "speedup", OPT_SPEEDUP, "PCT[,PCT...]", 0, "only these speedups (default: 25,50,75,100)",
	  2 },
	{ "waits", OPT_WAITS, NULL, 0, "of code, speed up its waiting for devices and timers, too",
	  2 },
	{ NULL, 0, NULL, 0, "How long, how exactly:", 3 },
	{ "runs", OPT_RUNS, "N", 0, "run the command N times", 3 },
	{ "duration", OPT_DURATION, "SEC", 0, "end after this time", 3 },
	{ "warmup", OPT_WARMUP, "SEC", 0, "let the program settle first (default: 1)", 3 },
	{ "precision", OPT_PRECISION, "PP", 0,
	  "end when all intervals are within this many percentage points", 3 },
	{ "seed", OPT_SEED, "N", 0, "reproducible order of experiments", 3 },
	{ "truth", OPT_TRUTH, "FILE", 0,
	  "measure, too: FILE tells the program how much cheaper to make the target", 3 },
	{ NULL, 0, NULL, 0, "How cores are sampled and stopped:", 4 },
	{ "engine", OPT_ENGINE, "auto|bpf|kernel", 0, "who stops the cores", 4 },
	{ "model", OPT_MODEL, "wait|core", 0, "how delays are accounted (default: wait)", 4 },
	{ "frequency", OPT_FREQUENCY, "HZ", 0, "samples a second and core (default: chosen)", 4 },
	{ "cpus", OPT_CPUS, "LIST", 0, "only these cores are sampled and delayed", 4 },
	{ "max-delay", OPT_MAX_DELAY, "USEC", 0, "longest stop of a core (default: 2000)", 4 },
	{ "max-share", OPT_MAX_SHARE, "PCT", 0, "largest share of stopped time (default: 90)", 4 },
	{ "waive", OPT_WAIVE, "on|off", 0, "waive what all running cores owe (default: on)", 4 },
	{ "unwind", OPT_UNWIND, "tables|pointers", 0,
	  "how call chains are followed (default: tables, engine bpf)", 4 },
	{ "batch", OPT_BATCH, "N", 0,
	  "engine kernel, as published: handlers account for N samples at a time", 4 },
	{ "tune", OPT_TUNE, "[no-]WAY[,...]", 0,
	  "engine kernel: kick, defer, credit, catch-up, exclude", 4 },
	{ NULL, 0, NULL, 0, "Output:", 5 },
	{ "output", 'o', "FILE", 0, "default: profile.scoz; a fitting one is extended", 5 },
	{ "user", OPT_USER, "NAME", 0, "run the command as this user", 5 },
	{ "json", OPT_JSON, NULL, 0, "progress as JSON lines on stderr", 5 },
	{ "verbose", 'v', NULL, 0, "say more (twice: everything)", 5 },
	{ "quiet", 'q', NULL, 0, "say less", 5 },
	{ NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1 }, /* as everywhere; argp has -? */
	{}
};

static double number(const char *text, const char *what, double lo, double hi,
		     struct argp_state *state)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= lo && v <= hi))
		argp_error(state, "%s: \"%s\" is not a number from %g to %g", what, text, lo, hi);
	return v;
}

static void append(const char ***list, size_t *n, size_t *cap, const char *arg)
{
	array_reserve(*list, *cap, *n + 1);
	(*list)[(*n)++] = arg;
}

/* Whether the CPUs are there is found out later, and is another kind of error. */
static void check_cpus(const char *arg, struct argp_state *state)
{
	_cleanup_free_ int *cpus = NULL;
	struct error err = {};
	int n;

	if (cpulist_parse(arg, &cpus, &n, &err))
		argp_error(state, "--cpus: %s", err.text);
}

static void parse_speedups(struct options *o, const char *arg, struct argp_state *state)
{
	_cleanup_free_ char *copy = xstrdup(arg);
	char *save = NULL;

	for (char *s = strtok_r(copy, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		double v = number(s, "--speedup", 0, 100, state) / 100;

		if (v == 0)
			continue;
		array_reserve(o->speedups, o->cap_speedups, o->n_speedups + 1);
		o->speedups[o->n_speedups++] = v;
	}
	if (!o->n_speedups)
		argp_error(state, "--speedup: \"%s\" names no speedup above 0", arg);
}

static void parse_tune(struct options *o, const char *arg, struct argp_state *state)
{
	static const struct {
		const char *name;
		uint32_t flag;
	} ways[] = {
		{ "kick", SCOZ_F_KICK },       { "defer", SCOZ_F_DEFER },
		{ "credit", SCOZ_F_CREDIT },   { "catch-up", SCOZ_F_CATCH_UP },
		{ "exclude", SCOZ_F_EXCLUDE },
	};
	_cleanup_free_ char *copy = xstrdup(arg);
	char *save = NULL;

	for (char *s = strtok_r(copy, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		bool off = !strncmp(s, "no-", 3);
		uint32_t flag = 0;

		for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
			if (!strcmp(s + (off ? 3 : 0), ways[i].name))
				flag = ways[i].flag;
		}
		if (!flag)
			argp_error(state,
				   "--tune: \"%s\" is none of kick, defer, credit, catch-up, "
				   "exclude, nor one of these after no-",
				   s);
		*(off ? &o->tune_off : &o->tune_on) |= flag;
	}
}

static void keep_argument(struct options *o, int key, const char *arg)
{
	const struct argp_option *a = argp_options;

	while (a->key != key)
		a++;
	append(&o->arguments, &o->n_arguments, &o->cap_arguments,
	       arg ? xasprintf("--%s=%s", a->name, arg) : xasprintf("--%s", a->name));
}

static void keep_command(struct options *o)
{
	append(&o->arguments, &o->n_arguments, &o->cap_arguments, "--");
	for (char **arg = o->command; *arg; arg++)
		append(&o->arguments, &o->n_arguments, &o->cap_arguments, *arg);
}

static bool is_option(int key)
{
	for (const struct argp_option *a = argp_options; a->name || a->group || a->key; a++) {
		if (a->name && a->key == key)
			return true;
	}
	return false;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	struct error err = {};

	if (is_option(key))
		keep_argument(o, key, arg);
	switch (key) {
	case 'p':
	case 'l':
		array_reserve(o->points, o->cap_points, o->n_points + 1);
		if ((key == 'p' ? progress_spec_parse
				: latency_spec_parse)(arg, &o->points[o->n_points], &err))
			argp_error(state, "%s: %s", key == 'p' ? "--progress" : "--latency",
				   err.text);
		o->n_points++;
		break;
	case OPT_TARGET:
		array_reserve(o->targets, o->cap_targets, o->n_targets + 1);
		if (target_parse(arg, &o->targets[o->n_targets], &err))
			argp_error(state, "--target: %s", err.text);
		o->n_targets++;
		break;
	case OPT_TOGETHER:
		o->together = true;
		break;
	case OPT_PID:
		array_reserve(o->pids, o->cap_pids, o->n_pids + 1);
		o->pids[o->n_pids++] = number(arg, "--pid", 1, 1 << 22, state);
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
			argp_error(state, "--granularity: \"%s\" is neither line nor function",
				   arg);
		break;
	case OPT_SPEEDUP:
		parse_speedups(o, arg, state);
		break;
	case OPT_WAITS:
		o->waits = true;
		break;
	case OPT_RUNS:
		o->runs = number(arg, "--runs", 1, 1000000, state);
		break;
	case OPT_DURATION:
		o->duration = number(arg, "--duration", 0.1, 1e7, state);
		break;
	case OPT_WARMUP:
		o->warmup = number(arg, "--warmup", 0, 1e5, state);
		break;
	case OPT_PRECISION:
		o->precision = number(arg, "--precision", 0.01, 100, state);
		break;
	case OPT_ENGINE:
		if (strcmp(arg, "auto") && strcmp(arg, "bpf") && strcmp(arg, "kernel"))
			argp_error(state, "--engine: \"%s\" is none of auto, bpf, kernel", arg);
		o->engine = arg;
		break;
	case OPT_MODEL:
		if (!strcmp(arg, "wait"))
			o->model = SCOZ_MODEL_WAIT;
		else if (!strcmp(arg, "core"))
			o->model = SCOZ_MODEL_CORE;
		else
			argp_error(state, "--model: \"%s\" is neither wait nor core", arg);
		break;
	case OPT_FREQUENCY:
		o->frequency = number(arg, "--frequency", 10, 20000, state);
		break;
	case OPT_CPUS:
		check_cpus(arg, state);
		o->cpus = arg;
		break;
	case OPT_MAX_DELAY:
		o->max_delay_us = number(arg, "--max-delay", 10, 2000, state);
		break;
	case OPT_MAX_SHARE:
		o->max_share = number(arg, "--max-share", 1, 90, state);
		break;
	case OPT_WAIVE:
		if (strcmp(arg, "on") && strcmp(arg, "off"))
			argp_error(state, "--waive: \"%s\" is neither on nor off", arg);
		o->waive = !strcmp(arg, "on");
		break;
	case OPT_UNWIND:
		if (strcmp(arg, "tables") && strcmp(arg, "pointers"))
			argp_error(state, "--unwind: \"%s\" is neither tables nor pointers", arg);
		o->unwind = !strcmp(arg, "tables");
		break;
	case OPT_BATCH:
		o->batch = number(arg, "--batch", 1, 1000, state);
		break;
	case OPT_TUNE:
		parse_tune(o, arg, state);
		break;
	case OPT_SEED:
		o->seed = number(arg, "--seed", 0, 9e15, state);
		break;
	case OPT_TRUTH:
		o->truth = arg;
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
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		break;
	case ARGP_KEY_ARGS:
		o->command = state->argv + state->next;
		keep_command(o);
		break;
	case ARGP_KEY_END:
		if (o->end_to_end && !o->command)
			argp_error(state, "--end-to-end needs a COMMAND to run: scozd -e -- "
					  "COMMAND");
		if (o->together && o->n_targets < 2)
			argp_error(state, "--together needs two targets or more: --target A "
					  "--target B --together");
		if (o->runs && !o->command)
			argp_error(state, "--runs needs a COMMAND to run");
		if (o->user && !o->command)
			argp_error(state, "--user needs a COMMAND to run");
		if (!o->n_points && !o->end_to_end)
			argp_error(state, "no progress point: say with -p when a unit of work is "
					  "done, or use --end-to-end");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void options_parse(int argc, char **argv, struct options *ret)
{
	static const double default_speedups[] = { 0.25, 0.5, 0.75, 1 };
	const struct argp argp = {
		.options = argp_options,
		.parser = parse,
		.args_doc = "-- COMMAND [ARG...]",
		.doc = doc,
	};

	*ret = (struct options){
		.warmup = 1,
		.engine = "auto",
		.max_delay_us = 2000,
		.max_share = 90,
		.output = "profile.scoz",
		.seed = 1,
		.waive = true,
		.unwind = true,
	};
	argp_err_exit_status = 2;
	append(&ret->arguments, &ret->n_arguments, &ret->cap_arguments, argv[0]);
	argv[0] = program_invocation_short_name; /* getopt's messages begin as all others */
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, ret);
	if (!ret->n_speedups) {
		ret->default_speedups = true;
		for (size_t i = 0; i < ARRAY_SIZE(default_speedups); i++) {
			array_reserve(ret->speedups, ret->cap_speedups, ret->n_speedups + 1);
			ret->speedups[ret->n_speedups++] = default_speedups[i];
		}
	}
}

const char *model_name(enum scoz_model model)
{
	return model == SCOZ_MODEL_WAIT ? "wait" : "core";
}
