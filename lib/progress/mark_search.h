/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking for marks in executables, by a thread of its own: file systems, and who reads files for
 * us, may take long, or never answer, and the main thread waits for nobody.
 */
#ifndef SCOZ_MARK_SEARCH_H
#define SCOZ_MARK_SEARCH_H

#include "progress/probe_sites.h"

struct mark_search;

struct mark_search *mark_search_create(void);
/*
 * Whoever reads for us must have been given up by now (symbolizer_abandon()). A thread that hangs
 * in a file keeps what it needs.
 */
void mark_search_destroy(struct mark_search *s);
/*
 * The file that @path leads to, by then, is to be looked through, unless it was asked for already:
 * to open it may take long, too. @id comes back with what it was.
 */
#define MARK_NO_ID UINT32_MAX
void mark_search_add_path(struct mark_search *s, const char *path, uint32_t id);
struct mark_file {
	uint32_t id;
	dev_t dev;
	ino_t ino; /* 0: there is none */
};
/* The next one that was opened since; false: none so far. */
bool mark_search_opened(struct mark_search *s, struct mark_file *ret);
/* The next file that has marks; false: none so far. Both are the caller's. */
bool mark_search_take(struct mark_search *s, struct held_file *file, struct probe_sites **ret);
/*
 * Why a file could not be looked through, if that happened: once for each kind of reason. That it
 * is no program is none.
 */
bool mark_search_failed(struct mark_search *s, struct error *why);
/* The same of a file that could not even be opened. */
void mark_search_add_failure(struct mark_search *s, const struct error *why);
/*
 * Puts probes by @put at the places of the marks in @sites that are of @kind and called @name. A
 * program can hold any number of them, of which each takes time and a descriptor: no more than
 * MARK_PLACES of one file. What cannot be had is told once for each file.
 */
#define MARK_PLACES 512
void mark_search_put(const struct probe_sites *sites, enum mark_kind kind, const char *name,
		     const struct held_file *file,
		     int (*put)(size_t i, void *arg, struct error *err), void *arg);
/* Those that nobody has looked through, or has taken: are they few enough for another one? */
bool mark_search_takes_more(struct mark_search *s);
/* Until all files have been looked through, but no longer than @seconds. */
void mark_search_wait(struct mark_search *s, int seconds);

#endif
