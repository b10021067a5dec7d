/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that compilers tell of code that they make at run time, and what somebody calls it who
 * wants to have it faster: V8's say how well a function is compiled, and where it begins
 * ("JS:*heavy /srv/app.js:2:15"), the JVM's what it returns and takes ("int Main.heavy(int)",
 * "LMain;::heavy"), CPython's in which file it is ("py::heavy:/srv/app.py"). Pure.
 */
#ifndef SCOZ_MAPS_MADE_NAME_H
#define SCOZ_MAPS_MADE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define MADE_NAME_MAX 256

/* The function alone: "heavy", "Main.heavy", "LMain;::heavy"; the name itself where it is of no
 * such kind. Cut to @size. */
void made_name_function(const char *told, char *ret, size_t size);
/* As it was told, but for how well it is compiled: "heavy /srv/app.js:2:15". Part of @told. */
const char *made_name_plain(const char *told);
/*
 * Is that the function that is called @wanted: as it was told, however well it is compiled; by its
 * function alone; by the last part of that?
 */
bool made_name_is(const char *told, const char *wanted);

#endif
