// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/held_file.h"

#include <fcntl.h>
#include <unistd.h>

int held_file_reopen(int found, struct stat *st)
{
	char way[32];
	int fd;

	if (fstat(found, st))
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -ENOEXEC;
	snprintf(way, sizeof(way), "/proc/self/fd/%d", found);
	fd = open(way, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int held_file_adopt(int fd, const char *name, struct held_file *ret, struct error *err)
{
	*ret = HELD_FILE_INIT;
	if (fd < 0)
		return error_set(err, -fd, "%s: %s", name, strerror(-fd));
	ret->fd = fd;
	snprintf(ret->path, sizeof(ret->path), "/proc/self/fd/%d", fd);
	ret->name = xstrdup(name);
	return 0;
}

int held_file_open(const char *path, struct held_file *ret, struct error *err)
{
	/* To open a FIFO waits for its writer, and to open some devices does something. */
	_cleanup_close_ int found = open(path, O_PATH | O_CLOEXEC);
	struct stat st;
	int fd = found < 0 ? -errno : held_file_reopen(found, &st);

	*ret = HELD_FILE_INIT;
	if (fd == -ENOEXEC)
		return error_set(err, S_ISDIR(st.st_mode) ? EISDIR : EINVAL,
				 "%s is %s: name a program or a library", path,
				 S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
	return held_file_adopt(fd, path, ret, err);
}

void held_file_close(struct held_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->name);
	*f = HELD_FILE_INIT;
}
