/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A regular file that is opened once. Who looks at a file and then does something to it by its
 * path may do it to another one: a path leads wherever others want it to. What is done through
 * this is done to the file that was looked at.
 */
#ifndef SCOZ_HELD_FILE_H
#define SCOZ_HELD_FILE_H

#include "base/base.h"

#include <sys/stat.h>

struct held_file {
	int fd;	       /* for reading */
	char *name;    /* the path that it was opened by, for people */
	char path[32]; /* opens this very file: for interfaces that want a path */
};

/*
 * Never waits, and opens nothing but regular files: FIFOs and devices are refused unopened
 * (-EINVAL, directories -EISDIR). Follows symbolic links.
 */
int held_file_open(const char *path, struct held_file *ret, struct error *err);
/*
 * What was opened already, by whoever made sure that it is a regular file: @fd, for reading, which
 * @ret owns from then on (held_file_close() closes it), or the negative errno that came in its
 * place, which is what fails then, told with @name. @name is copied.
 */
int held_file_adopt(int fd, const char *name, struct held_file *ret, struct error *err);
/*
 * For reading: what @found (O_PATH) leads to, if that is a regular file. Returns a descriptor, or a
 * negative errno (-ENOEXEC: no regular file). *@st is that of the file.
 */
int held_file_reopen(int found, struct stat *st);
void held_file_close(struct held_file *f);
#define HELD_FILE_INIT	    ((struct held_file){ .fd = -1 })
#define _cleanup_held_file_ __attribute__((cleanup(held_file_close)))

#endif
