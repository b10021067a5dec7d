/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POINT and TARGET as users write them (contract): what is parsed and written here, and nowhere
 * else; no lookup.
 * `BINARY:...`: the first ':' ends BINARY, a trailing ":digits" is a line, "\:" is a literal colon.
 */
#ifndef SCOZ_POINT_H
#define SCOZ_POINT_H

#include "base/base.h"

enum point_kind {
	POINT_FUNCTION,	  /* BINARY:FUNCTION[+OFFSET] */
	POINT_LINE,	  /* BINARY:FILE:LINE */
	POINT_USDT,	  /* usdt:BINARY:PROVIDER:NAME */
	POINT_TRACEPOINT, /* tracepoint:GROUP:NAME[:COMM] */
	POINT_SYSCALL,	  /* syscall:NAME[:COMM] */
	POINT_MARK,	  /* mark:NAME */
};

/* Strings are malloc'ed; NULL where the kind has none. */
struct point {
	enum point_kind kind;
	char *spec; /* as written */
	char *binary;
	char *function; /* FUNCTION, PROVIDER or GROUP */
	char *name;	/* NAME of a usdt, tracepoint, syscall or mark; FILE of a line */
	char *comm;	/* NULL: any command */
	uint64_t offset;
	uint32_t line;
};
int point_parse(const char *text, struct point *ret, struct error *err);
void point_free(struct point *p);
/* The text of one in a binary, with another @binary; malloc'ed. */
char *point_text_in(const struct point *p, const char *binary);

enum target_kind {
	TARGET_LINE,	 /* FILE:LINE[-LAST] */
	TARGET_FUNCTION, /* func:NAME[@BINARY] */
	TARGET_FILE,	 /* file:GLOB */
	TARGET_BINARY,	 /* bin:GLOB */
	TARGET_KERNEL,	 /* kernel:FUNCTION */
	TARGET_SYSCALL,	 /* syscall:NAME */
	TARGET_COMM,	 /* comm:NAME */
	TARGET_CGROUP,	 /* cgroup:PATH */
	TARGET_RANK,	 /* rank:N */
	TARGET_CLASS,	 /* class:on|off|io[:DEVICE|:PEER]|other|sched|lock */
};
struct target {
	enum target_kind kind;
	char *spec;
	char *name;	     /* FILE, function, glob, class, path, number of the rank */
	char *binary;	     /* of func:NAME@BINARY, else NULL */
	char *device;	     /* of class:io:DEVICE, else NULL */
	bool peer;	     /* that is a network peer: network_peer_parse() */
	uint32_t line, last; /* of several lines; of one they are equal */
};
int target_parse(const char *text, struct target *ret, struct error *err);
void target_free(struct target *t);
/* No code, but what some tasks run, whatever it is. */
static inline bool target_is_some_tasks(const struct target *t)
{
	return t->kind == TARGET_COMM || t->kind == TARGET_CGROUP || t->kind == TARGET_RANK;
}
/* No code, but what tasks do of a kind, or what some of them do. */
static inline bool target_is_tasks(const struct target *t)
{
	return t->kind == TARGET_CLASS || target_is_some_tasks(t);
}
/* What target_parse() makes of it is the same target but for its spec; malloc'ed. */
char *target_text(const struct target *t);
/* That of one without lines and devices; @binary may be NULL. */
static inline char *target_compose(enum target_kind kind, const char *name, const char *binary)
{
	return target_text(
		&(struct target){ .kind = kind, .name = (char *)name, .binary = (char *)binary });
}
/*
 * Its name, in @text, of *@n bytes (@n may be NULL), if that is a target of the kind (not of
 * lines); else NULL.
 */
const char *target_name_in(const char *text, enum target_kind kind, size_t *n);
/* "line", "function", "file", "binary", "kernel", "syscall", "comm", "cgroup", "rank", "class". */
const char *target_kind_name(enum target_kind kind);
/*
 * What targets of a kind begin with ("func:"), if @word is that but for @changed letters at most;
 * else NULL.
 */
const char *target_prefix(const char *word, unsigned int changed);

/* "[NAME=]POINT" of --progress: @name is malloc'ed (default: the point's text). */
struct progress_spec {
	char *name;
	bool latency;
	struct point begin; /* the point itself for throughput */
	struct point end;   /* latency only */
};
int progress_spec_parse(const char *text, struct progress_spec *ret, struct error *err);
int latency_spec_parse(const char *text, struct progress_spec *ret, struct error *err);
void progress_spec_free(struct progress_spec *s);

/* BINARY -> a path that exists: as given when it has a '/', else looked up in PATH. */
int binary_find(const char *binary, char **path, struct error *err);

#endif
