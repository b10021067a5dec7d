/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that a profiler with privileges writes: what it saw of all processes is for the user who
 * asked, and a link that somebody has put in its way must not lead it into another file.
 */
#ifndef SCOZ_OUTPUT_FILE_H
#define SCOZ_OUTPUT_FILE_H

#include "base/base.h"

#include <sys/types.h>

/* Whoever asked root for the run, by sudo(8): its SUDO_UID and SUDO_GID. False: nobody else. */
bool invoking_user(uid_t *uid, gid_t *gid);

enum output_kind {
	OUTPUT_PRIVATE,	 /* a new file has mode 0600; no FIFO */
	OUTPUT_USERS,	 /* the same for root; for other users as their umask says */
	OUTPUT_COMMANDS, /* as private; it may be there already, whoever it belongs to; a file */
};
/*
 * open(2) with @flags, and O_CREAT when there is no such file; a new one belongs to the invoking
 * user. *@created, if not NULL: it is new. Symbolic links are not followed, but by ordinary users
 * writing OUTPUT_USERS, and but for /dev/stdout and the like; but for OUTPUT_COMMANDS, root does
 * not write to files of others than root and the invoking user. What is there is looked at before
 * it is opened. Returns the descriptor; an error names the file and what to do.
 */
int output_file_open(const char *path, int flags, enum output_kind kind, bool *created,
		     struct error *err);
/* The error that @path cannot be opened for writing, errno being @code. */
int output_file_error(const char *path, int code, enum output_kind kind, struct error *err);

#endif
