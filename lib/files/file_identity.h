/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Are two files of one name the same program? Looked at from outside: nothing of it is parsed. */
#ifndef SCOZ_FILE_IDENTITY_H
#define SCOZ_FILE_IDENTITY_H

#include "base/base.h"

/* "SIZE:" and a hash of what is in it; of large files SIZE and when they were last written. */
#define IDENTITY_HASHED (64u << 20)
/* NULL: it cannot be read. To be freed. */
char *file_identity(const char *path);

#endif
