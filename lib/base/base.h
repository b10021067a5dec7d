/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every part of scoz shares: errors that carry their story, logging, allocation that does
 * not fail, scope-based cleanup, and roots for /proc and /sys that tests can replace.
 */
#ifndef SCOZ_BASE_H
#define SCOZ_BASE_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define NSEC_PER_SEC  1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_USEC 1000ULL

/*
 * Error convention of lib/: a function that can fail returns 0 (or a count) on success and a
 * negative errno on failure, and takes a `struct error *` as its last argument when a person may
 * have to read about it. The message says what failed, on which object, why, and what to do.
 * @err may be NULL where the caller needs only the code.
 */
struct error {
	int code; /* negative errno, 0 when unset */
	char text[1024];
};

/* Sets *err (if not NULL) and returns -errnum, so that callers can `return error_set(...)`. */
int error_set(struct error *err, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts "context: " before the text that is already in *err; returns err->code. */
int error_prefix(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

enum log_level { LOG_QUIET = -1, LOG_NORMAL = 0, LOG_VERBOSE = 1, LOG_DEBUG = 2 };
extern enum log_level log_level;
/* Takes away what stands on the line where a message begins; by any thread. NULL: nothing does. */
extern void (*_Atomic log_before)(void);
/* One line on stderr, prefixed with the program's name. Thread-safe. */
void log_msg(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define log_warn(...)  log_msg(LOG_NORMAL, __VA_ARGS__)
#define log_info(...)  log_msg(LOG_VERBOSE, __VA_ARGS__)
#define log_debug(...) log_msg(LOG_DEBUG, __VA_ARGS__)

/*
 * Allocation: running out of memory ends the program with a message (exit 1). Before that, @fn is
 * called, once, in the process that asked for it, by whichever thread it is, with whatever that
 * one has locked. What it writes to @text is told in that line. It ends early where it needs
 * memory.
 */
void on_out_of_memory(void (*fn)(char *text, size_t size));
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
/* Makes the malloc'ed *@text longer; NULL is as good as empty. */
void text_add(char **text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A block of memory that was mapped, or malloc'ed. */
void block_free(void *mem, size_t size, bool mapped);
bool texts_equal(const char *const *a, size_t n_a, const char *const *b, size_t n_b);
/* The words of a command (NULL: none), with blanks between them; malloc'ed. */
char *text_join(char **argv);

/* Makes room for at least @need elements: *cap grows geometrically. */
#define array_reserve(ptr, cap, need) \
	do { \
		if ((size_t)(need) > (cap)) { \
			size_t new_cap__ = (cap) ? (cap)*2 : 16; \
			if (new_cap__ < (size_t)(need)) \
				new_cap__ = (need); \
			(ptr) = xreallocarray((ptr), new_cap__, sizeof(*(ptr))); \
			(cap) = new_cap__; \
		} \
	} while (0)

/* Scope-based cleanup. */
void cleanup_free(void *pp);
void cleanup_close(int *fd);
void cleanup_fclose(FILE **f);
#define _cleanup_free_	 __attribute__((cleanup(cleanup_free)))
#define _cleanup_close_	 __attribute__((cleanup(cleanup_close)))
#define _cleanup_fclose_ __attribute__((cleanup(cleanup_fclose)))

/* CLOCK_MONOTONIC in nanoseconds: the clock of bpf_ktime_get_ns() and of the delay page. */
uint64_t clock_now_ns(void);

/*
 * Where /proc, /sys and friends are looked up: "" by default; tests point it at a captured
 * machine. sysroot_path() returns a malloc'ed "<root><path>".
 */
extern const char *sysroot;
char *sysroot_path(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The whole of a small file as a NUL-terminated string, or NULL (errno set). */
char *read_file(const char *path, size_t *len);
char *read_fd(int fd, size_t *len);
/* Of what others may make as large as they like, no more than @most bytes. */
char *read_file_begin(const char *path, size_t most, size_t *len);
/* The same of its first line, without the newline. */
char *read_first_line(const char *path);
/*
 * A variable of the environment that says where the user keeps files. NULL for root: sudo may have
 * kept the environment of somebody else, whose files are not root's to write or to believe.
 */
const char *user_env(const char *name);
/* Can lines be taken back there, and painted? A terminal, and none that TERM calls dumb, or
 * nothing. */
bool terminal_obeys(int fd);
/* The name of a thread (malloc'ed), or NULL when there is none. */
char *task_comm(int tid);

/* Shell-style match: '*' also matches '/' (source globs such as fs/ * are written so by users). */
bool glob_match(const char *pattern, const char *text);
/* What follows @prefix at the beginning of @text, or NULL. */
const char *text_after(const char *text, const char *prefix);
/* True when @suffix equals @path, or @path ends with "/" + @suffix (path components). */
bool path_ends_with(const char *path, const char *suffix);
/*
 * Without "." and "dir/..", as far as that can be told without looking: a relative path keeps the
 * ".." that it begins with. Malloc'ed.
 */
char *path_normalized(const char *path);
/* Without these, in @path itself: what a build directory elsewhere does not change. */
const char *path_from_top(const char *path);
/* For qsort(): of an array of strings. */
int compare_strings(const void *a, const void *b);
/* What follows the last slash, in @path itself; all of it when nothing does. */
const char *path_base(const char *path);

/* CPU lists such as "0-3,8": fills a malloc'ed, sorted array of distinct CPU numbers. */
int cpulist_parse(const char *text, int **cpus, int *n, struct error *err);
char *cpulist_format(const int *cpus, int n);
bool cpulist_contains(const int *cpus, int n, int cpu);
/* The CPUs that are online. */
int cpulist_online(int **cpus, int *n, struct error *err);
/* Kept free of everybody's work (isolcpus, nohz_full). */
bool cpu_is_isolated(int cpu);

#endif
