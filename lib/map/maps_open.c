// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Getting at the file behind a mapping. In order:
 *
 *   /proc/PID/map_files/START-END  the very file, even deleted or in another mount namespace, but
 *				    only for root, and only while exactly this mapping exists
 *   /proc/PID/root/PATH	    the path as the process sees it
 *   /proc/PID/exe		    its executable
 *   PATH			    when the process has gone
 *
 * All but the first may be another file by now, so device and inode are compared. On overlayfs
 * and btrfs the device (and on overlayfs the inode) that stat() tells is not the one that the
 * kernel tells in mappings; there the path has to do.
 */
#include "map/maps_internal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define OVERLAYFS_MAGIC 0x794c7630
#define BTRFS_MAGIC	0x9123683e

enum fit { NO_FIT, MAY_FIT, FITS };

static enum fit compare(int fd, const struct stat *st, const struct file_id *id)
{
	struct statfs fs;

	if (!id->ino)
		return FITS;
	if (st->st_ino == id->ino && major(st->st_dev) == id->dev_major &&
	    minor(st->st_dev) == id->dev_minor)
		return FITS;
	if (fd >= 0 ? fstatfs(fd, &fs) : 1)
		return NO_FIT;
	if ((unsigned long)fs.f_type == OVERLAYFS_MAGIC)
		return MAY_FIT;
	return (unsigned long)fs.f_type == BTRFS_MAGIC && st->st_ino == id->ino ? MAY_FIT : NO_FIT;
}

static int open_regular(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -1;
	if (fstat(fd, st) || !S_ISREG(st->st_mode)) {
		close(fd);
		errno = ENOEXEC;
		return -1;
	}
	return fd;
}

int maps_open_file(const char *path, const struct file_id *id)
{
	struct stat st;
	int fd = open_regular(path, &st);

	if (fd >= 0 && compare(fd, &st, id) == NO_FIT) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int64_t mtime_of(const struct stat *st)
{
	return st->st_mtim.tv_sec * (int64_t)NSEC_PER_SEC + st->st_mtim.tv_nsec;
}

void sighting_open(const struct sighting *s, struct opened *ret)
{
	_cleanup_free_ char *map_file =
		sysroot_path("/proc/%d/map_files/%llx-%llx", s->pid, (unsigned long long)s->start,
			     (unsigned long long)s->end);
	_cleanup_free_ char *in_root = sysroot_path("/proc/%d/root%s", s->pid, s->path);
	_cleanup_free_ char *exe = sysroot_path("/proc/%d/exe", s->pid);
	const char *way[] = { map_file, in_root, exe, s->path };
	struct stat st;

	*ret = (struct opened){ .fd = -1, .errnum = ENOENT };
	for (size_t i = 0; i < ARRAY_SIZE(way) && ret->fd < 0; i++) {
		int fd = open_regular(way[i], &st);
		enum fit fit;

		if (fd < 0) {
			/* Of all the reasons, the one for the path means most to people. */
			if (way[i] == in_root)
				ret->errnum = errno;
			continue;
		}
		fit = way[i] == map_file ? FITS : compare(fd, &st, &s->id);
		if (fit == FITS || (fit == MAY_FIT && way[i] != exe)) {
			ret->fd = fd;
		} else {
			close(fd);
			if (way[i] != exe)
				ret->errnum = ESTALE;
		}
	}
	if (ret->fd < 0)
		return;
	ret->errnum = 0;
	ret->ino = st.st_ino;
	ret->size = st.st_size;
	ret->mtime_ns = mtime_of(&st);
}

bool sighting_identity(const struct sighting *s, uint64_t *ino, uint64_t *size, int64_t *mtime_ns)
{
	_cleanup_free_ char *in_root = sysroot_path("/proc/%d/root%s", s->pid, s->path);
	struct stat st;

	if (stat(in_root, &st) && stat(s->path, &st))
		return false;
	*ino = st.st_ino;
	*size = st.st_size;
	*mtime_ns = mtime_of(&st);
	return true;
}
