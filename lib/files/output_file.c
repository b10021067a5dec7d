// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/output_file.h"

#include "files/file_open.h"

#include <fcntl.h>
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

static int check_owner(const char *path, const struct stat *st, struct error *err)
{
	uid_t uid = 0;
	gid_t gid;

	if (geteuid() || !S_ISREG(st->st_mode) || !st->st_uid)
		return 0;
	if (invoking_user(&uid, &gid) && st->st_uid == uid)
		return 0;
	return error_set(err, EPERM,
			 "%s belongs to user %u, who could read what is written for you: remove "
			 "it, or choose another file with -o",
			 path, (unsigned int)st->st_uid);
}

static int cannot_open(const char *path, int errnum, struct error *err)
{
	return error_set(err, errnum,
			 "%s: cannot open for writing: %s: choose another file with -o", path,
			 errnum == ELOOP ? "it is a symbolic link, and these are not followed"
					 : strerror(errnum));
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

int output_file_open(const char *path, int flags, enum output_kind kind, bool *created,
		     struct error *err)
{
	bool ordinary = kind == OUTPUT_USERS && geteuid(), new = false;
	_cleanup_close_ int fd = -1;
	struct stat st;
	int ret;

	flags |= O_CLOEXEC;
	if (!ordinary && !file_is_open_already(path))
		flags |= O_NOFOLLOW;
	for (int tries = 0; tries < 3; tries++) {
		fd = open(path, flags);
		if (fd < 0 && errno == ENOENT) {
			fd = create(path, flags, ordinary ? 0666 : 0600);
			new = fd >= 0;
		}
		if (fd >= 0 || errno != EEXIST) /* else another has made it meanwhile */
			break;
	}
	if (fd < 0 || fstat(fd, &st))
		return cannot_open(path, errno, err);
	ret = kind == OUTPUT_COMMANDS ? 0 : check_owner(path, &st, err);
	if (ret)
		return ret;
	if (created)
		*created = new;
	ret = fd;
	fd = -1;
	return ret;
}
