// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/recording/record_filter.h"

#define LEVELS_ON  (1u << LEVEL_USER | 1u << LEVEL_KERNEL)
#define LEVELS_OFF (1u << LEVEL_IO | 1u << LEVEL_LOCK | 1u << LEVEL_SCHED | 1u << LEVEL_OTHER)

enum record_level record_level_of(const struct record_sample *s)
{
	switch (s->class) {
	case RECORD_ON:
		return s->kernel ? LEVEL_KERNEL : LEVEL_USER;
	case RECORD_IO:
		return LEVEL_IO;
	case RECORD_LOCK:
		return LEVEL_LOCK;
	case RECORD_SCHED:
		return LEVEL_SCHED;
	default:
		return LEVEL_OTHER;
	}
}

/* ---- options ---- */

int number_list_add(struct number_list *l, const char *option, const char *arg, int least)
{
	_cleanup_free_ char *copy = xstrdup(arg);
	char *p = copy, *item;
	size_t cap = l->n;

	l->given = true;
	while ((item = strsep(&p, ","))) {
		char *end;
		long v;

		errno = 0;
		v = strtol(item, &end, 10);
		if (*item < '0' || *item > '9' || *end || errno || v < least || v > INT32_MAX) {
			log_warn("%s %s: \"%s\" is not a number%s", option, arg, item,
				 least ? " from 1 on" : "");
			return -EINVAL;
		}
		array_reserve(l->v, cap, (size_t)l->n + 1);
		l->v[l->n++] = v;
	}
	return 0;
}

static int set_cpus(struct number_list *l, const char *arg)
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

unsigned int record_class_levels(const char *name)
{
	static const struct {
		const char *name;
		unsigned int levels;
	} names[] = {
		{ "on", LEVELS_ON },
		{ "off", LEVELS_OFF },
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

static int set_classes(unsigned int *ret, const char *arg)
{
	_cleanup_free_ char *copy = xstrdup(arg);
	char *p = copy, *item;

	*ret = 0;
	while ((item = strsep(&p, ","))) {
		unsigned int levels = record_class_levels(item);

		if (!levels) {
			log_warn("--class %s: no class \"%s\": there are on (. and k), io "
				 "(I), lock (L), sched (S), other (B), and off for the last four",
				 arg, item);
			return -EINVAL;
		}
		*ret |= levels;
	}
	return 0;
}

int record_filter_option(struct record_filter *f, int option, const char *arg)
{
	switch (option) {
	case FILTER_COMM:
		f->comms = arg;
		return 0;
	case FILTER_PROCESS:
		f->processes = arg;
		return 0;
	case FILTER_PID:
		return number_list_add(&f->pids, "--pid", arg, 0);
	case FILTER_RANK:
		return number_list_add(&f->ranks, "--rank", arg, 0);
	case FILTER_TID:
		return number_list_add(&f->tids, "--tid", arg, 0);
	case FILTER_CPU:
		return set_cpus(&f->cpus, arg);
	default:
		return set_classes(&f->levels, arg);
	}
}

int record_per_option(enum record_per *per, const char *arg)
{
	static const char *const names[] = {
		[PER_PROCESS] = "process", [PER_RANK] = "rank", [PER_THREAD] = "thread"
	};

	for (size_t i = PER_PROCESS; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(arg, names[i])) {
			*per = i;
			return 0;
		}
	}
	log_warn("--per %s is not known: give process, rank or thread", arg);
	return -EINVAL;
}

void record_filter_deinit(struct record_filter *f)
{
	free(f->pids.v);
	free(f->tids.v);
	free(f->cpus.v);
	free(f->ranks.v);
}

/* ---- samples ---- */

static bool in_numbers(const struct number_list *l, int64_t v)
{
	for (int i = 0; i < l->n; i++) {
		if (l->v[i] == v)
			return true;
	}
	return !l->given;
}

/* @list: names with commas in between; NULL: all. */
static bool in_names(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		if (!strncmp(p, name, len) && (!p[len] || p[len] == ','))
			return true;
	}
	return !list;
}

/* By name or by number. */
static bool in_processes(const char *list, const char *name, int pid)
{
	char number[16];

	if (!list || in_names(list, name))
		return true;
	snprintf(number, sizeof(number), "%d", pid);
	return in_names(list, number);
}

bool record_filter_process(const struct record_filter *f, const char *name, int pid, int rank)
{
	return in_numbers(&f->pids, pid) && in_numbers(&f->ranks, rank) &&
	       in_processes(f->processes, name, pid);
}

bool record_filter_sample(const struct record_filter *f, const struct recording *rec,
			  const struct record_sample *s)
{
	const struct record_thread *t = &rec->threads[s->thread];
	const struct record_process *p =
		t->process < rec->n_processes ? &rec->processes[t->process] : NULL;
	const char *comm = s->comm ? s->comm : t->comm;

	return (!f->levels || f->levels >> record_level_of(s) & 1) &&
	       record_filter_process(f, p ? p->name : "", t->pid, p ? p->rank : -1) &&
	       in_numbers(&f->tids, t->tid) && in_numbers(&f->cpus, s->cpu) &&
	       in_names(f->comms, comm && *comm ? comm : "[unknown]");
}
