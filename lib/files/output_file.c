// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/output_file.h"

#include "files/file_open.h"

#include <fcntl.h>
#include <libgen.h>
#include <sys/stat.h>
#include <unistd.h>

static bool number_from(const char *variable, unsigned int *ret)
{
	const char *text = getenv(variable);
	unsigned long v;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || *end || v >= UINT32_MAX)
		return false;
	*ret = v;
	return true;
}

bool invoking_user(uid_t *uid, gid_t *gid)
{
	return !geteuid() && number_from("SUDO_UID", uid) && number_from("SUDO_GID", gid);
}

static const char *another(enum output_kind kind)
{
	return kind == OUTPUT_COMMANDS ? "choose another file" : "choose another file with -o";
}

/*
 * May what is there already be written to? A FIFO of others would hand to them what is written, and
 * be waited for until they read it.
 */
static int check(const char *path, const struct stat *st, enum output_kind kind, struct error *err)
{
	uid_t uid = 0;
	gid_t gid;

	if (S_ISLNK(st->st_mode))
		return error_set(err, ELOOP,
				 "%s: cannot open for writing: it is a symbolic link, and these "
				 "are not followed: %s",
				 path, another(kind));
	if (S_ISDIR(st->st_mode))
		return error_set(err, EISDIR, "%s: cannot open for writing: %s: %s", path,
				 strerror(EISDIR), another(kind));
	if (kind == OUTPUT_COMMANDS && !S_ISREG(st->st_mode))
		return error_set(err, EINVAL, "%s: not a regular file", path);
	if (kind == OUTPUT_PRIVATE && !S_ISREG(st->st_mode) && !S_ISCHR(st->st_mode))
		return error_set(err, EINVAL, "%s: not a regular file: choose another file with -o",
				 path);
	if (kind == OUTPUT_COMMANDS || geteuid() || S_ISCHR(st->st_mode) || !st->st_uid ||
	    file_is_open_already(path))
		return 0;
	if (invoking_user(&uid, &gid) && st->st_uid == uid)
		return 0;
	return error_set(err, EPERM,
			 "%s belongs to user %u, who could read what is written for you: remove "
			 "it, or choose another file with -o",
			 path, (unsigned int)st->st_uid);
}

int output_file_error(const char *path, int code, enum output_kind kind, struct error *err)
{
	_cleanup_free_ char *copy = xstrdup(path);
	const char *dir = dirname(copy);

	if (code == ENOENT && access(dir, F_OK))
		return error_set(
			err, code,
			"%s: cannot open for writing: there is no directory %s: make it, or "
			"%s",
			path, dir, another(kind));
	return error_set(err, code, "%s: cannot open for writing: %s: %s", path, strerror(code),
			 another(kind));
}

static int create(const char *path, int flags, mode_t mode)
{
	/* For nobody else, before it has its owner. */
	int fd = open(path, flags | O_CREAT | (flags & O_NOFOLLOW ? O_EXCL : 0), mode);
	uid_t uid;
	gid_t gid;

	if (fd >= 0 && invoking_user(&uid, &gid) && fchown(fd, uid, gid))
		log_info("%s: it remains root's: %s", path, strerror(errno));
	return fd;
}

/* What was looked at, and nothing that has come to its path since. */
static int open_found(int found, const char *path, int flags, enum output_kind kind,
		      struct error *err)
{
	struct stat st;
	char way[32];
	int ret;

	if (fstat(found, &st))
		return output_file_error(path, errno, kind, err);
	ret = check(path, &st, kind, err);
	if (ret)
		return ret;
	snprintf(way, sizeof(way), "/proc/self/fd/%d", found);
	ret = open(way, flags & ~O_NOFOLLOW);
	if (ret >= 0)
		return ret;
	if (errno == ENOENT)
		return error_set(err, ENOENT,
				 "%s: cannot open for writing: /proc is not mounted here", path);
	return output_file_error(path, errno, kind, err);
}

int output_file_open(const char *path, int flags, enum output_kind kind, bool *created,
		     struct error *err)
{
	bool ordinary = kind == OUTPUT_USERS && geteuid();
	int fd = -1, found = -1;

	flags |= O_CLOEXEC;
	if (!ordinary && !file_is_open_already(path))
		flags |= O_NOFOLLOW;
	for (int tries = 0; tries < 3 && found < 0 && fd < 0; tries++) {
		found = open(path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));
		if (found < 0 && errno == ENOENT)
			fd = create(path, flags, ordinary ? 0666 : 0600);
		if (found < 0 && fd < 0 && errno != EEXIST) /* else another has made it meanwhile */
			break;
	}
	if (found < 0 && fd < 0)
		return output_file_error(path, errno, kind, err);
	if (created)
		*created = fd >= 0;
	if (found >= 0) {
		fd = open_found(found, path, flags, kind, err);
		close(found);
	}
	return fd;
}
