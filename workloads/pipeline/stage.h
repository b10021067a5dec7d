// SPDX-License-Identifier: GPL-2.0-or-later
/* What the stages of the pipeline share: lines in and out through 64 KiB buffers, and figures. */
#ifndef WORKLOADS_PIPELINE_STAGE_H
#define WORKLOADS_PIPELINE_STAGE_H

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define STAGE_BUF      65536
#define STAGE_MAX_LINE 4096

/* Kept apart from its callers by the compiler, so that a profiler can tell it. */
#if defined(__has_attribute)
#if __has_attribute(noipa)
#define STAGE_FN static __attribute__((noinline, noipa))
#endif
#endif
#ifndef STAGE_FN
#define STAGE_FN static __attribute__((noinline))
#endif

static const char *stage_name;
static uint64_t stage_start_ns;

struct stage_in {
	int fd;
	bool eof;
	size_t pos, end;
	char buf[STAGE_BUF + STAGE_MAX_LINE];
};

struct stage_out {
	int fd;
	size_t len;
	char buf[STAGE_BUF];
};

static inline uint64_t stage_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static inline void __attribute__((noreturn, format(printf, 1, 2))) stage_die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", stage_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static inline void stage_init(char **argv)
{
	const char *slash = strrchr(argv[0], '/');

	stage_name = slash ? slash + 1 : argv[0];
	stage_start_ns = stage_now();
}

static inline double stage_number(const char *opt, const char *text, double min, double max)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= min && v <= max)) {
		fprintf(stderr, "%s: --%s: '%s' is not a number from %g to %g\n", stage_name, opt,
			text, min, max);
		exit(2);
	}
	return v;
}

/* False at the end of the input. Whatever comes after the last line feed is dropped. */
static inline bool stage_fill(struct stage_in *in)
{
	ssize_t n;

	memmove(in->buf, in->buf + in->pos, in->end - in->pos);
	in->end -= in->pos;
	in->pos = 0;
	if (in->end >= STAGE_MAX_LINE)
		stage_die("a line is longer than %d bytes", STAGE_MAX_LINE);
	do
		n = read(in->fd, in->buf + in->end, STAGE_BUF);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		stage_die("cannot read: %s", strerror(errno));
	in->eof = !n;
	in->end += (size_t)n;
	return n > 0;
}

/* The next line, without its line feed; NULL at the end. Valid until the next call. */
static inline char *stage_line(struct stage_in *in, size_t *ret_len)
{
	for (;;) {
		char *line = in->buf + in->pos;
		char *lf = memchr(line, '\n', in->end - in->pos);

		if (lf) {
			*ret_len = (size_t)(lf - line);
			*lf = '\0';
			in->pos += *ret_len + 1;
			return line;
		}
		if (!stage_fill(in))
			return NULL;
	}
}

static inline void stage_flush(struct stage_out *out)
{
	size_t done = 0;

	while (done < out->len) {
		ssize_t n = write(out->fd, out->buf + done, out->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			stage_die("cannot write: %s", strerror(errno));
		done += (size_t)n;
	}
	out->len = 0;
}

/* Room for a line; commit what was used with out->len. */
static inline char *stage_room(struct stage_out *out)
{
	if (out->len + STAGE_MAX_LINE > sizeof(out->buf))
		stage_flush(out);
	return out->buf + out->len;
}

static inline char *stage_put(char *p, const char *s, size_t len)
{
	memcpy(p, s, len);
	return p + len;
}

static inline char *stage_put_number(char *p, uint64_t v)
{
	char digits[20];
	int n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		*p++ = digits[--n];
	return p;
}

static inline void stage_report_usage(void)
{
	struct rusage ru;
	double wall = (double)(stage_now() - stage_start_ns) / 1e9, user, sys;

	getrusage(RUSAGE_SELF, &ru);
	user = (double)ru.ru_utime.tv_sec + (double)ru.ru_utime.tv_usec / 1e6;
	sys = (double)ru.ru_stime.tv_sec + (double)ru.ru_stime.tv_usec / 1e6;
	fprintf(stderr, "%s: %.2f s, user %.2f s, system %.2f s: %.1f %% of a core\n", stage_name,
		wall, user, sys, 100 * (user + sys) / wall);
}

/*
 * How much faster is a function with its other algorithm? Blocks of lines are processed with
 * either in turn; the answer is the median over pairs of neighbouring blocks.
 */
#define TRIAL_BLOCK	256
#define TRIAL_MAX_PAIRS 20000

struct stage_trial {
	bool fast; /* which algorithm to use for the next line */
	uint64_t clock_ns, lines, block_start, spent[2];
	double total;
	int pairs;
	double speedup[TRIAL_MAX_PAIRS], share[TRIAL_MAX_PAIRS];
};

static inline void stage_trial_init(struct stage_trial *t)
{
	t->clock_ns = UINT64_MAX;
	for (int i = 0; i < 1000; i++) {
		uint64_t ns = stage_now();

		ns = stage_now() - ns;
		if (ns < t->clock_ns)
			t->clock_ns = ns;
	}
	t->block_start = stage_now();
}

/* A line is done, of which the function took took_ns. False: enough. */
static inline bool stage_trial_line(struct stage_trial *t, uint64_t took_ns)
{
	uint64_t now;

	t->spent[t->fast] += took_ns > t->clock_ns ? took_ns - t->clock_ns : 0;
	if (++t->lines % TRIAL_BLOCK)
		return true;
	now = stage_now();
	if (t->fast) {
		t->speedup[t->pairs] = 100 * (1 - (double)t->spent[1] / (double)t->spent[0]);
		t->share[t->pairs++] = 100 * (double)t->spent[0] / t->total;
		t->spent[0] = t->spent[1] = 0;
	} else {
		t->total = (double)(now - t->block_start) - 2.0 * TRIAL_BLOCK * (double)t->clock_ns;
	}
	t->block_start = now;
	t->fast = !t->fast;
	return t->pairs < TRIAL_MAX_PAIRS;
}

static inline int stage_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline int stage_trial_report(struct stage_trial *t, const char *function)
{
	size_t n = (size_t)t->pairs;

	if (!n)
		stage_die("too little input to calibrate: %d lines or more", 2 * TRIAL_BLOCK);
	qsort(t->speedup, n, sizeof(*t->speedup), stage_compare);
	qsort(t->share, n, sizeof(*t->share), stage_compare);
	printf("{\"function\": \"%s\", \"speedup_pct\": %.2f, \"p05\": %.2f, \"p95\": %.2f, "
	       "\"share_pct\": %.1f, \"pairs\": %zu}\n",
	       function, t->speedup[n / 2], t->speedup[n / 20], t->speedup[n - 1 - n / 20],
	       t->share[n / 2], n);
	return fflush(stdout) ? 1 : 0;
}

#endif
