/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes, threads, CPUs and classes of waits a command is about. */
#ifndef SCOZ_RECORD_FILTER_H
#define SCOZ_RECORD_FILTER_H

#include "record/recording.h"

/* What a sample shows: "[.]", "[k]", "[I]", ... */
enum record_level {
	LEVEL_USER,
	LEVEL_KERNEL,
	LEVEL_IO,
	LEVEL_LOCK,
	LEVEL_SCHED,
	LEVEL_OTHER,
	RECORD_LEVELS
};
#define RECORD_LETTERS ".kILSB"
enum record_level record_level_of(const struct record_sample *s);

/* Bits by level of a class, by name ("on", "off", "io", ...) or letters; 0: there is none such. */
unsigned int record_class_levels(const char *name);

struct number_list {
	int *v;
	int n;
	bool given;
};
/*
 * Adds @arg: numbers with commas in between, none less than @least. 0, or -EINVAL: what is wrong
 * with @option ("--pid") is printed.
 */
int number_list_add(struct number_list *l, const char *option, const char *arg, int least);

/* Nothing given: everything. The texts are the command line's. */
struct record_filter {
	const char *comms, *processes; /* with commas */
	struct number_list pids, tids, cpus, ranks;
	unsigned int levels; /* bits by level */
};

enum record_per { PER_NOTHING, PER_PROCESS, PER_RANK, PER_THREAD };

/* The options, for getopt_long() and for --help. */
enum {
	FILTER_COMM = 512,
	FILTER_PROCESS,
	FILTER_PID,
	FILTER_RANK,
	FILTER_TID,
	FILTER_CPU,
	FILTER_CLASS,
	OPTION_PER,
};
/* clang-format off */
#define RECORD_FILTER_OPTIONS \
	{ "comm", required_argument, NULL, FILTER_COMM }, \
	{ "process", required_argument, NULL, FILTER_PROCESS }, \
	{ "pid", required_argument, NULL, FILTER_PID }, \
	{ "rank", required_argument, NULL, FILTER_RANK }, \
	{ "tid", required_argument, NULL, FILTER_TID }, \
	{ "cpu", required_argument, NULL, FILTER_CPU }, \
	{ "class", required_argument, NULL, FILTER_CLASS }, \
	{ "per", required_argument, NULL, OPTION_PER }, \
	{ "by", required_argument, NULL, OPTION_PER }
/* clang-format on */
#define RECORD_FILTER_HELP \
	"  --comm NAME[,NAME...]  only threads of these names\n" \
	"  --process LIST         only processes of these names or numbers\n" \
	"  --pid PID[,PID...]     only these processes\n" \
	"  --rank RANK[,RANK...]  only these ranks of a parallel job\n" \
	"  --tid TID[,TID...]     only these threads\n" \
	"  --cpu LIST             only samples on these CPUs\n" \
	"  --class CLASS[,...]    only on, io, lock, sched, other or off (all but on), or\n" \
	"                         letters\n"

/* Each 0, or -EINVAL: the message is printed. */
int record_filter_option(struct record_filter *f, int option, const char *arg);
int record_per_option(enum record_per *per, const char *arg);

/* As far as --process, --pid and --rank go. @name: of the process. */
bool record_filter_process(const struct record_filter *f, const char *name, int pid, int rank);
bool record_filter_sample(const struct record_filter *f, const struct recording *rec,
			  const struct record_sample *s);
void record_filter_deinit(struct record_filter *f);

#endif
