/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Short names of targets for people, no two alike. */
#ifndef SCOZ_LABELS_H
#define SCOZ_LABELS_H

#include "base/base.h"
#include "base/joint.h"

/*
 * "func:a::Map<int>::find(int)@server" becomes "Map::find", "src/deep/bar.c:8" "bar.c:8"; where two
 * of the @n different @targets would look alike, both get back as much as tells them apart: more of
 * the path, the binary, at last everything. To be freed: each, and the array.
 */
char **labels_make(const char *const *targets, size_t n);
/*
 * Labels (taken, and replaced) of at most @width characters, still different: what stands before
 * the function or the file goes first.
 */
void labels_fit(char **labels, size_t n, size_t width, const char *ellipsis);

/*
 * The same for progress points that nobody named: "build/bin/server:request_done" becomes
 * "request_done".
 */
char **labels_of_points(const char *const *points, size_t n);

/* The binary of "func:NAME@BINARY"; NULL: none is named. */
const char *label_binary(const char *target);

#endif
