// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/held_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int held_file_open(const char *path, struct held_file *ret, struct error *err)
{
	/* To open a FIFO waits for its writer, and to open some devices does something. */
	_cleanup_close_ int found = open(path, O_PATH | O_CLOEXEC);
	char way[32];
	struct stat st;

	*ret = HELD_FILE_INIT;
	if (found < 0 || fstat(found, &st))
		return error_set(err, errno, "%s: %m", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, S_ISDIR(st.st_mode) ? EISDIR : EINVAL,
				 "%s is %s: name a program or a library", path,
				 S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
	snprintf(way, sizeof(way), "/proc/self/fd/%d", found);
	ret->fd = open(way, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (ret->fd < 0)
		return error_set(err, errno, "%s: %m", path);
	snprintf(ret->path, sizeof(ret->path), "/proc/self/fd/%d", ret->fd);
	ret->name = xstrdup(path);
	return 0;
}

void held_file_close(struct held_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->name);
	*f = HELD_FILE_INIT;
}
