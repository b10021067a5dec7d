/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of source for the profile. Debug information can name any file, so they are read by a
 * process of their own, with no more rights than those of the user who asked for the run (if that
 * is root itself, of the owner of the program): regular
 * files only, and what others may not read only if it is of the user whose program names it. One
 * that waits for a file is waited for as long as a few seconds, and then no more.
 */
#ifndef SCOZD_SOURCE_TEXT_H
#define SCOZD_SOURCE_TEXT_H

#include "files/source_lines.h"
#include "maps/maps.h"

struct sources;
/* To be called while the process has one thread. NULL: there is no such process. */
struct sources *sources_start(void);
/*
 * Around @location ("/src/bar.c:8"), which @binary names: the file that @id is, at that path.
 * *@newer: the source was changed after the program. False: there is none to be had. Lines are cut
 * where they are very long.
 */
bool sources_read(struct sources *s, const char *binary, const struct file_id *id,
		  const char *location, struct source_lines *ret, bool *newer);
void sources_stop(struct sources *s);

#endif
