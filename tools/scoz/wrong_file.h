/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scoz has three kinds of files, which are easily given to the wrong command. */
#ifndef SCOZ_WRONG_FILE_H
#define SCOZ_WRONG_FILE_H

#include "base/base.h"

enum file_kind { FILE_PROFILE, FILE_RECORDING, FILE_CAUSAL };

/* The file that an argument names: of "-" standard input. */
const char *input_file(const char *argument);
/* What the file at @path begins like: "a causal profile", say; NULL: it is none of these. */
const char *scoz_file(const char *path);
/*
 * @path could not be read as a file of the kind @wanted, for the reason @err: says so, or, when it
 * is one of another kind, that it is, and which commands read it. Returns the exit code.
 */
int cannot_read(const char *path, enum file_kind wanted, const struct error *err);

#endif
