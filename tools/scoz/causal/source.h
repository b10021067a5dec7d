/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of source files, for a page that others may read. */
#ifndef SCOZ_SOURCE_H
#define SCOZ_SOURCE_H

#include "files/source_lines.h"

/*
 * Up to @around lines before and after the line of @location ("src/bar.c:8"). A profile may name
 * any file: only regular files below @dir are read, no links followed; of the path as many leading
 * directories are left out as it takes to find it there. False: there is none.
 */
bool source_read(const char *dir, const char *location, size_t around, struct source_lines *ret);

#endif
