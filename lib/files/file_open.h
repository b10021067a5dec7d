/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that tables are made from. Nothing but regular files is ever opened, and to find out what
 * a path leads to opens nothing: a FIFO would wait, and a device may do something.
 */
#ifndef SCOZ_FILES_FILE_OPEN_H
#define SCOZ_FILES_FILE_OPEN_H

#include "base/base.h"

#include <sys/stat.h>

/*
 * By a path that the user or the kernel gave. @root (or NULL): a directory that @path is below, as
 * a process sees it that has it for its root; symbolic links do not lead out of it. Returns a
 * descriptor, or a negative errno (-ENOEXEC: no regular file). @st may be NULL.
 */
int file_open(const char *root, const char *path, struct stat *st);
/* The same without a root; @name: what people call it. Returns a descriptor, or a negative errno.
 */
int file_open_told(const char *path, const char *name, struct error *err);

/*
 * By a path that a binary of user @owner named, which begins with @root where that is not NULL or
 * "". What others may not read is opened only if it is of the same user, or if @owner is root.
 */
int file_open_named(const char *root, const char *path, uid_t owner, struct stat *st);

/*
 * The same of what tells what is in that binary: debug files. In a mount namespace of one's own the
 * binaries of others can lie where one's own files are, which then would name their code: the file
 * must belong to root, to @owner, or to who runs this program, or asked root to. -EPERM: it does
 * not.
 */
int file_open_partner(const char *root, const char *path, uid_t owner, struct stat *st);

/*
 * Does @path name a file that we were started with? Links, but of the kernel, in directories that
 * only root can write to.
 */
bool file_is_open_already(const char *path);

/*
 * In the symbolizer, which may open nothing: its opens are done by who handed it its work, as
 * above.
 */
extern bool file_open_is_served;

#endif
