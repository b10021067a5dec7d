/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks of programs that include <scoz.h>: where they are in a binary, and how often they were
 * reached. include/scoz.h tells how the program's side works and owns the shared layout.
 *
 * How a profiler counts the marks called NAME:
 *   1. marks_open(), before any uprobe is attached, so that programs find their file.
 *   2. For every executable mapping that appears: marks_find_sites(); for each site whose name
 *      matches, a uprobe at @probe_offset with ref_ctr_offset = @semaphore_offset. The kernel
 *      then raises the semaphore in every process that maps the file, and lowers it when the
 *      event is closed, however the profiler dies.
 *   3. marks_refresh() about once a second: files for users whose processes have appeared since.
 *   4. Visits of NAME = marks_read() + hits of those uprobes. A mark is counted by one or the
 *      other, never by both: the uprobe fires only where the file cannot be reached.
 *   5. Differences of two reads count; the absolute values include earlier runs. A value that
 *      went backwards means that the file's owner has tampered with it: discard that window.
 *   6. Close the uprobes, then marks_close().
 */
#ifndef SCOZ_MARKS_H
#define SCOZ_MARKS_H

#include "files/held_file.h"

#include <sys/types.h>

enum mark_kind { MARK_PROGRESS, MARK_BEGIN, MARK_END };

struct mark_site {
	char *name;
	enum mark_kind kind;
	uint64_t probe_offset;	   /* in the file */
	uint64_t semaphore_offset; /* in the file: the uprobe's ref_ctr_offset */
};
/*
 * All marks in the ELF file @file: 0 with *n = 0 when it has none. Errors name the file:
 * not an ELF file (-ENOEXEC), cannot be read, notes that are damaged (-EINVAL).
 */
int marks_find_sites(const struct held_file *file, struct mark_site **ret, size_t *n,
		     struct error *err);
void mark_sites_free(struct mark_site *sites, size_t n);

/* Does "mark:PATTERN" mean the mark @name? Equal, or the end of a path ("main.c:12"). */
bool mark_name_matches(const char *pattern, const char *name);

/*
 * The shared counters: a directory with one file for each user, because whoever may write to a
 * file may also truncate it, which kills every process that has mapped it. @dir NULL: the
 * default. Contents are never trusted. Not thread-safe: one caller at a time for each handle.
 */
struct marks;
int marks_open(const char *dir, struct marks **ret, struct error *err);
/*
 * There are MARKS_MOST_FILES at most, each of which takes a descriptor: users who count come first,
 * and of these those who have been named.
 */
#define MARKS_MOST_FILES 256
int marks_refresh(struct marks *m, struct error *err);
/* Users who count and have got none: probes count their marks, where there are some. */
size_t marks_left_out(const struct marks *m);
/*
 * Only what these users' programs count is read from now on: any user can write anything to their
 * file. A user who is named later than marks_open() counts from then on; nobody is taken out again.
 * Before the first call everybody counts.
 */
void marks_only_users(struct marks *m, const uid_t *uids, size_t n);
bool marks_user_counts(const struct marks *m, uid_t uid);
/*
 * Programs execute the probes instead, so that uprobes see each visit, and who makes it, until the
 * pause is over; of both kinds all are counted. A program that has met a pause may go on with its
 * probes for its next 4096 visits.
 */
void marks_pause(struct marks *m, bool paused);
/*
 * A profiler that was killed has left programs counting in files that nobody reads: they execute
 * probes again. Not while another one profiles. marks_open() does it as well.
 */
void marks_silence(const char *dir);
/* Tells programs to count no longer and leaves the files in place. */
void marks_close(struct marks *m);

/* Sums wrap at 2^64: only differences are meaningful, and they are exact. */
struct marks_counts {
	uint64_t visits;       /* SCOZ_PROGRESS, SCOZ_PROGRESS_NAMED */
	uint64_t begins, ends; /* SCOZ_BEGIN, SCOZ_END */
	uint64_t sum_begin_ns; /* CLOCK_MONOTONIC at each begin, summed */
	uint64_t sum_end_ns;
	/* Updates that were underway: begins and ends may lack what the sums have. As many for ever
	 * where a program was killed in the middle of one. */
	uint64_t underway;
};
/*
 * Sums over all users' files and all names that match. A name nobody has used yet reads as 0. What
 * one user's file holds delays neither the others' counts nor this call beyond some milliseconds.
 */
int marks_read(struct marks *m, const char *pattern, struct marks_counts *ret, struct error *err);

/*
 * Little's law: the integral over [t0, t1] of the number of units between BEGIN and END, in
 * units * ns, where @in_flight is that number at t0. Divided by the ends it is their mean
 * latency, by t1 - t0 the mean number in flight.
 */
static inline uint64_t marks_area(const struct marks_counts *c0, uint64_t t0,
				  const struct marks_counts *c1, uint64_t t1, uint64_t in_flight)
{
	return in_flight * (t1 - t0) + (c1->begins - c0->begins) * t1 -
	       (c1->sum_begin_ns - c0->sum_begin_ns) - (c1->ends - c0->ends) * t1 +
	       (c1->sum_end_ns - c0->sum_end_ns);
}

#endif
