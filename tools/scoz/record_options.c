// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of scoz report that only recordings have. */
#include "tools/scoz/record_model.h"

#include <math.h>

const char *const record_sort_names[RECORD_SORTS] = {
	[SORT_COMM] = "comm", [SORT_DSO] = "dso",	  [SORT_SYM] = "sym",
	[SORT_PID] = "pid",   [SORT_TID] = "tid",	  [SORT_CLASS] = "class",
	[SORT_KIND] = "kind", [SORT_CPU] = "cpu",	  [SORT_WAKER] = "waker",
	[SORT_FILE] = "file", [SORT_SRCLINE] = "srcline", [SORT_PROCESS] = "process",
	[SORT_RANK] = "rank",
};

void record_options_init(struct record_options *o)
{
	*o = (struct record_options){ .sort = { SORT_COMM, SORT_DSO, SORT_SYM },
				      .n_sort = 3,
				      .levels = (1u << RECORD_LEVELS) - 1 };
}

void record_options_deinit(struct record_options *o)
{
	free(o->comms);
	free(o->processes);
	free(o->ranks.v);
	free(o->pids.v);
	free(o->tids.v);
	free(o->cpus.v);
}

/* The next item of a list with commas, cut out of *@p; NULL: no more. */
static char *next_item(char **p)
{
	return *p ? strsep(p, ",") : NULL;
}

static int option_sort(struct record_options *o, const char *arg)
{
	_cleanup_free_ char *copy = xstrdup(arg);
	char *p = copy, *item;

	o->n_sort = 0;
	while ((item = next_item(&p))) {
		size_t k = 0;

		if (!strcmp(item, "symbol"))
			item = "sym";
		while (k < RECORD_SORTS && strcmp(item, record_sort_names[k]))
			k++;
		if (k == RECORD_SORTS) {
			log_warn("--sort %s: no key \"%s\": there are comm, dso, sym, pid, "
				 "tid, class, kind, cpu, waker, file, srcline, process and rank",
				 arg, item);
			return -EINVAL;
		}
		for (size_t i = 0; i < o->n_sort; i++) {
			if (o->sort[i] == k) {
				log_warn("--sort %s: \"%s\" stands twice", arg, item);
				return -EINVAL;
			}
		}
		o->sort[o->n_sort++] = k;
	}
	return 0;
}

static int option_numbers(struct number_list *l, const char *option, const char *arg)
{
	_cleanup_free_ char *copy = xstrdup(arg);
	char *p = copy, *item;
	size_t cap = l->n;

	l->given = true;
	while ((item = next_item(&p))) {
		char *end;
		long v;

		errno = 0;
		v = strtol(item, &end, 10);
		if (*item < '0' || *item > '9' || *end || errno || v > INT32_MAX) {
			log_warn("%s %s: \"%s\" is not a number", option, arg, item);
			return -EINVAL;
		}
		array_reserve(l->v, cap, (size_t)l->n + 1);
		l->v[l->n++] = v;
	}
	return 0;
}

static int option_cpus(struct number_list *l, const char *arg)
{
	struct error err = { 0 };

	free(l->v);
	*l = (struct number_list){ .given = true };
	if (cpulist_parse(arg, &l->v, &l->n, &err) < 0) {
		log_warn("--cpu %s: %s", arg, err.text);
		return -EINVAL;
	}
	return 0;
}

static unsigned int class_levels(const char *name)
{
	static const struct {
		const char *name;
		unsigned int levels;
	} names[] = {
		{ "on", 1u << LEVEL_USER | 1u << LEVEL_KERNEL },
		{ "off",
		  1u << LEVEL_IO | 1u << LEVEL_LOCK | 1u << LEVEL_SCHED | 1u << LEVEL_OTHER },
		{ "io", 1u << LEVEL_IO },
		{ "lock", 1u << LEVEL_LOCK },
		{ "sched", 1u << LEVEL_SCHED },
		{ "other", 1u << LEVEL_OTHER },
	};
	unsigned int levels = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(name, names[i].name))
			return names[i].levels;
	}
	for (; *name; name++) {
		const char *at = strchr(RECORD_LETTERS, *name);

		if (!at)
			return 0;
		levels |= 1u << (at - RECORD_LETTERS);
	}
	return levels;
}

static int option_class(struct record_options *o, const char *arg)
{
	_cleanup_free_ char *copy = xstrdup(arg);
	char *p = copy, *item;

	o->levels = 0;
	while ((item = next_item(&p))) {
		unsigned int levels = class_levels(item);

		if (!levels) {
			log_warn("--class %s: no class \"%s\": there are on (. and k), io "
				 "(I), lock (L), sched (S), other (B), and off for the last four",
				 arg, item);
			return -EINVAL;
		}
		o->levels |= levels;
	}
	return 0;
}

static int option_per(struct record_options *o, const char *arg)
{
	if (!strcmp(arg, "process")) {
		o->per = PER_PROCESS;
	} else if (!strcmp(arg, "rank")) {
		o->per = PER_RANK;
	} else if (!strcmp(arg, "thread")) {
		o->per = PER_THREAD;
	} else {
		log_warn("--per %s is not known: give process, rank or thread", arg);
		return -EINVAL;
	}
	return 0;
}

static int option_percent(struct record_options *o, const char *arg)
{
	char *end;

	o->percent_limit = strtod(arg, &end);
	if (end == arg || *end || !(o->percent_limit >= 0 && o->percent_limit <= 100)) {
		log_warn("--percent-limit %s is not a number from 0 to 100", arg);
		return -EINVAL;
	}
	return 0;
}

static int option_top_waits(struct record_options *o, const char *arg)
{
	char *end;
	long v = 10;

	if (arg) {
		errno = 0;
		v = strtol(arg, &end, 10);
		if (end == arg || *end || errno || v < 1 || v > INT32_MAX) {
			log_warn("--top-waits=%s is not a positive number", arg);
			return -EINVAL;
		}
	}
	o->top_waits = v;
	return 0;
}

int record_option(struct record_options *o, int option, const char *arg)
{
	static const char *const names[] = {
		"--sort",     "--children", "--no-children",   "--call-graph", "--no-kernel",
		"--inline",   "--comm",	    "--pid",	       "--tid",	       "--cpu",
		"--class",    "--per",	    "--percent-limit", "--top-waits",  "--hints",
		"--no-hints", "--process",  "--rank",	       "--no-idle",
	};

	/* Processes and ranks are told apart in profiles, too. */
	if (!o->only && option != REPORT_PROCESS && option != REPORT_PID && option != REPORT_RANK &&
	    (option != REPORT_PER || !strcmp(arg, "thread")))
		o->only = names[option - REPORT_SORT];
	switch (option) {
	case REPORT_SORT:
		return option_sort(o, arg);
	case REPORT_CHILDREN:
	case REPORT_NO_CHILDREN:
		o->children = option == REPORT_CHILDREN;
		return 0;
	case REPORT_GRAPH:
		o->graph = true;
		return 0;
	case REPORT_NO_KERNEL:
		o->no_kernel = true;
		return 0;
	case REPORT_INLINE:
		o->inlined = true;
		return 0;
	case REPORT_COMM:
		free(o->comms);
		o->comms = xstrdup(arg);
		return 0;
	case REPORT_PROCESS:
		free(o->processes);
		o->processes = xstrdup(arg);
		return 0;
	case REPORT_RANK:
		return option_numbers(&o->ranks, "--rank", arg);
	case REPORT_NO_IDLE:
		o->no_idle = true;
		return 0;
	case REPORT_PID:
		return option_numbers(&o->pids, "--pid", arg);
	case REPORT_TID:
		return option_numbers(&o->tids, "--tid", arg);
	case REPORT_CPU:
		return option_cpus(&o->cpus, arg);
	case REPORT_CLASS:
		return option_class(o, arg);
	case REPORT_PER:
		return option_per(o, arg);
	case REPORT_PERCENT_LIMIT:
		return option_percent(o, arg);
	case REPORT_TOP_WAITS:
		return option_top_waits(o, arg);
	default:
		o->no_hints = option == REPORT_NO_HINTS;
		return 0;
	}
}
