/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCOZ_BASE_VERSION_H
#define SCOZ_BASE_VERSION_H

#include <stdio.h>

/* The one place: packages, pkg-config and man pages have it from here (or are checked). */
#define PROGRAM_VERSION "0.1"

/* "scoz 0.1 (build-id 1234...)": which build of it is this? */
void version_print(FILE *out, const char *program);

#endif
