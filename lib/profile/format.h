/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of profile.scoz, for its reader and writer. */
#ifndef SCOZ_PROFILE_FORMAT_H
#define SCOZ_PROFILE_FORMAT_H

#include "jsonl/format.h"
#include "profile/profile.h"

enum profile_line_kind {
	LINE_HEADER,
	LINE_PROGRESS,
	LINE_TARGET,
	LINE_FREQUENCY,
	LINE_WINDOW,
	LINE_DISCARD,
	LINE_SAMPLE,
	LINE_PROCESS,
	LINE_MACHINE,
	LINE_LATENCY,
	LINE_SOURCE,
	LINE_SEEN,
	LINE_PATH,
	LINE_REPLAY,
	LINE_EXPECTED,
	LINE_EXPECTED_NEXT,
	LINE_WAITERS,
	LINE_CHOICE,
	LINE_FOOTER,
	PROFILE_LINE_KINDS
};

union profile_line {
	struct {
		struct jsonl_header start;
		uint32_t run;
		struct profile_header h;
		struct jsonl_list arguments, binaries;
	} header;
	struct {
		struct profile_progress p;
		const char *kind;
	} progress;
	struct profile_target target;
	struct {
		uint32_t run;
		double hz;
	} frequency;
	struct {
		struct profile_window w;
		const char *discard;
		struct jsonl_list progress;
	} window;
	struct {
		uint32_t run, before_seq;
		const char *why;
	} discard;
	struct {
		uint32_t run;
		struct profile_sample s;
	} sample;
	struct {
		struct profile_process p;
		struct jsonl_list places;
	} process;
	struct {
		struct profile_machine m;
		struct jsonl_list cores;
	} machine;
	struct {
		uint32_t run;
		struct profile_latency l;
		struct jsonl_list bins;
	} latency;
	struct {
		struct profile_source s;
		struct jsonl_list lines;
	} source;
	struct profile_seen seen;
	struct {
		struct profile_path p;
		struct jsonl_list functions;
	} path;
	struct profile_replay replay;
	struct {
		struct profile_expected e;
		struct jsonl_list at;
	} expected, expected_next;
	struct {
		struct profile_waiters w;
		struct jsonl_list list;
	} waiters;
	struct profile_choice choice;
	struct {
		uint32_t run;
		struct profile_footer f;
		struct jsonl_list reasons, warnings;
	} footer;
};

extern const struct jsonl_format profile_format;

static inline const struct line_kind *profile_line_kind(enum profile_line_kind kind)
{
	return &profile_format.kinds[kind];
}

static inline const char *progress_kind_name(enum progress_kind kind)
{
	return kind == PROGRESS_LATENCY ? "latency" : "throughput";
}

/* As profile_read(), from the current offset of @fd. @ends_with_newline may be NULL. */
int profile_read_fd(int fd, const char *path, bool *ends_with_newline, struct profile **ret,
		    struct error *err);

#endif
