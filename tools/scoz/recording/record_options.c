// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of scoz report that only recordings have. */
#include "tools/scoz/recording/record_model.h"

#include <math.h>

#include "tools/scoz/arguments.h"
#include "tools/scoz/causal/ranking.h"

const char *const record_sort_names[RECORD_SORTS] = {
	[SORT_COMM] = "comm", [SORT_DSO] = "dso",	  [SORT_SYM] = "sym",
	[SORT_PID] = "pid",   [SORT_TID] = "tid",	  [SORT_CLASS] = "class",
	[SORT_KIND] = "kind", [SORT_CPU] = "cpu",	  [SORT_WAKER] = "waker",
	[SORT_FILE] = "file", [SORT_SRCLINE] = "srcline", [SORT_PROCESS] = "process",
	[SORT_RANK] = "rank",
};

void record_options_init(struct record_options *o)
{
	*o = (struct record_options){ .sort = { SORT_COMM, SORT_DSO, SORT_SYM }, .n_sort = 3 };
}

static int option_sort(struct record_options *o, const char *arg)
{
	_cleanup_free_ char *copy = xstrdup(arg);
	char *p = copy, *item;

	o->n_sort = 0;
	while ((item = strsep(&p, ","))) {
		size_t k = 0;

		if (!strcmp(item, "symbol"))
			item = "sym";
		while (k < RECORD_SORTS && strcmp(item, record_sort_names[k]))
			k++;
		if (k == RECORD_SORTS) {
			log_warn("--sort %s: \"%s\" is not known: of recordings there "
				 "are " RECORD_SORT_WORDS
				 ", of causal profiles " RANKING_SORT_WORDS,
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

static int option_percent(struct record_options *o, const char *arg)
{
	if (!parse_number(arg, 0, 100, &o->percent_limit)) {
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
	case REPORT_NO_IDLE:
		o->no_idle = true;
		return 0;
	case REPORT_PERCENT_LIMIT:
		return option_percent(o, arg);
	case REPORT_TOP_WAITS:
		return option_top_waits(o, arg);
	case REPORT_HINTS:
	case REPORT_NO_HINTS:
		o->no_hints = option == REPORT_NO_HINTS;
		return 0;
	case OPTION_PER:
		return record_per_option(&o->per, arg);
	default:
		return record_filter_option(&o->filter, option, arg);
	}
}
