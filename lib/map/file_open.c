// SPDX-License-Identifier: GPL-2.0-or-later
#include "map/file_open.h"

#include "base/held_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

bool file_open_is_served;

static int find(const char *root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = root ? RESOLVE_IN_ROOT : 0 };
	_cleanup_close_ int dir = -1;

	if (root) {
		dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			return -1;
	}
	return syscall(SYS_openat2, root ? dir : AT_FDCWD, path, &how, sizeof(how));
}

int file_open(const char *root, const char *path, struct stat *st)
{
	_cleanup_close_ int found = -1;
	struct stat own;

	st = st ? st : &own;
	if (file_open_is_served) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd >= 0 && fstat(fd, st)) {
			close(fd);
			return -1;
		}
		return fd;
	}
	found = find(root, path);
	return found < 0 ? -1 : held_file_reopen(found, st);
}

int file_open_told(const char *path, const char *name, struct error *err)
{
	int fd = file_open(NULL, path, NULL);

	if (fd < 0 && errno == ENOEXEC)
		return error_set(err, ENOEXEC, "%s: not a regular file", name);
	if (fd < 0)
		return error_set(err, errno, "%s: cannot be opened%s%s: %s", name,
				 strcmp(path, name) ? " as " : "", strcmp(path, name) ? path : "",
				 strerror(errno));
	return fd;
}

int file_open_named(const char *root, const char *path, uid_t owner, struct stat *st)
{
	size_t n = root ? strlen(root) : 0;
	struct stat own;
	int fd;

	st = st ? st : &own;
	if (file_open_is_served)
		fd = file_open(NULL, path, st);
	else if (n && !strncmp(path, root, n) && path[n] == '/')
		fd = file_open(root, path + n, st);
	else
		fd = file_open("/", path, st);
	if (fd >= 0 && !(st->st_mode & S_IROTH) && owner && st->st_uid != owner) {
		close(fd);
		errno = EACCES;
		return -1;
	}
	return fd;
}
