// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/file_open.h"

#include "files/held_file.h"
#include "files/output_file.h"

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

	int fd;

	if (root) {
		dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			return -errno;
	}
	fd = syscall(SYS_openat2, root ? dir : AT_FDCWD, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

/* @owner: of the one who named it, 0: anything may be opened. */
static int open_for(const char *root, const char *path, uid_t owner, struct stat *st)
{
	_cleanup_close_ int found = find(root, path);

	if (found < 0)
		return found;
	if (fstat(found, st))
		return -errno;
	if (!(st->st_mode & S_IROTH) && owner && st->st_uid != owner)
		return -EACCES;
	return held_file_reopen(found, st);
}

/* By who answers for the one that may open nothing, which has looked at whose it is. */
static int open_served(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = fd < 0 ? -errno : fd;

	if (fd >= 0 && fstat(fd, st)) {
		ret = -errno;
		close(fd);
	}
	return ret;
}

int file_open(const char *root, const char *path, struct stat *st)
{
	struct stat own;

	st = st ? st : &own;
	return file_open_is_served ? open_served(path, st) : open_for(root, path, 0, st);
}

int file_open_told(const char *path, const char *name, struct error *err)
{
	int fd = file_open(NULL, path, NULL);

	if (fd == -ENOEXEC)
		return error_set(err, ENOEXEC, "%s: not a regular file", name);
	if (fd < 0)
		return error_set(err, -fd, "%s: cannot be opened%s%s: %s", name,
				 strcmp(path, name) ? " as " : "", strcmp(path, name) ? path : "",
				 strerror(-fd));
	return fd;
}

int file_open_named(const char *root, const char *path, uid_t owner, struct stat *st)
{
	size_t n = root ? strlen(root) : 0;
	struct stat own;

	st = st ? st : &own;
	if (file_open_is_served)
		return open_served(path, st);
	if (n && !strncmp(path, root, n) && path[n] == '/')
		return open_for(root, path + n, owner, st);
	return open_for("/", path, owner, st);
}

static bool is_believed(uid_t owner, uid_t user)
{
	uid_t invoking;
	gid_t group;

	return !user || user == owner || user == geteuid() ||
	       (invoking_user(&invoking, &group) && user == invoking);
}

int file_open_partner(const char *root, const char *path, uid_t owner, struct stat *st)
{
	struct stat own;
	int fd;

	st = st ? st : &own;
	fd = file_open_named(root, path, owner, st);
	/* Of one that is served, who serves it sees to that. */
	if (fd < 0 || file_open_is_served || is_believed(owner, st->st_uid))
		return fd;
	log_info("%s: not read: it belongs to user %u, what it is to tell of to user %u", path,
		 st->st_uid, owner);
	close(fd);
	return -EPERM;
}

bool file_is_open_already(const char *path)
{
	const char *ways[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/",
			       "/proc/self/fd/" };

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (!strncmp(path, ways[i], strlen(ways[i])))
			return true;
	}
	return false;
}
