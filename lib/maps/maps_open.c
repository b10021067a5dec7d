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
 * All of these may be another file by now (the mapping, too: who executes another program, or wants
 * its file to be taken for another one's, has that in the same place), so device and inode are
 * compared. On overlayfs and btrfs the device (and on overlayfs the inode) that stat() tells is not
 * the one that the kernel tells in mappings; there the path has to do as the process sees it. As
 * we see it, it is in another file system where the process is in a container.
 */
#include "files/file_open.h"
#include "files/held_file.h"
#include "host/process.h"
#include "maps/maps_internal.h"

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

static int only_if_fit(int fd, const struct stat *st, const struct file_id *id)
{
	if (fd >= 0 && compare(fd, st, id) == NO_FIT) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

int maps_open_file(const char *path, const struct file_id *id)
{
	struct stat st;
	int fd = file_open(NULL, path, &st);

	return only_if_fit(fd, &st, id);
}

char *maps_path_of(int fd)
{
	return xasprintf("/proc/self/fd/%d", fd);
}

/* Below or at what /proc/@tid/@name leads to; @path NULL: at it. */
static int open_below(int tid, const char *name, const char *path, struct stat *st)
{
	_cleanup_close_ int fd = process_open(tid, name);
	_cleanup_free_ char *at = fd < 0 ? NULL : maps_path_of(fd);

	if (fd < 0)
		return fd;
	return path ? file_open(at, path, st) : held_file_reopen(fd, st);
}

int maps_open_file_of(int pid, const char *path, const struct file_id *id)
{
	struct stat st;
	int fd = open_below(pid, "root", path, &st);

	return only_if_fit(fd, &st, id);
}

static int64_t ns_of(const struct timespec *t)
{
	return t->tv_sec * (int64_t)NSEC_PER_SEC + t->tv_nsec;
}

static struct file_state state_of(const struct stat *st)
{
	return (struct file_state){ st->st_ino, st->st_size, ns_of(&st->st_mtim),
				    ns_of(&st->st_ctim) };
}

void sighting_open(const struct sighting *s, struct opened *ret)
{
	int tid = process_living_thread(s->pid);
	_cleanup_free_ char *map_file = xasprintf(
		"map_files/%llx-%llx", (unsigned long long)s->start, (unsigned long long)s->end);
	const struct {
		const char *name, *path;
		bool may_fit; /* is enough */
	} ways[] = { { map_file, NULL, true },
		     { "root", s->path, true },
		     { "exe", NULL, false },
		     { NULL, s->path, false } };
	struct stat st;

	*ret = (struct opened){ .fd = -1, .errnum = ENOENT };
	for (size_t i = 0; i < ARRAY_SIZE(ways) && ret->fd < 0; i++) {
		int fd = ways[i].name ? open_below(tid, ways[i].name, ways[i].path, &st)
				      : file_open(NULL, ways[i].path, &st);
		enum fit fit;

		if (fd < 0) {
			/* Of all the reasons, the one for the path means most to people. */
			if (ways[i].name && ways[i].path)
				ret->errnum = -fd;
			continue;
		}
		fit = compare(fd, &st, &s->id);
		if (fit == FITS ||
		    (fit == MAY_FIT && (ways[i].may_fit || st.st_ino == s->id.ino))) {
			ret->fd = fd;
		} else {
			close(fd);
			if (ways[i].path == s->path)
				ret->errnum = ESTALE;
		}
	}
	if (ret->fd < 0)
		return;
	ret->errnum = 0;
	ret->state = state_of(&st);
}

bool sighting_state(const struct sighting *s, struct file_state *ret)
{
	struct stat st;
	_cleanup_close_ int fd = open_below(s->pid, "root", s->path, &st);

	if (fd < 0)
		fd = file_open(NULL, s->path, &st);
	if (fd < 0)
		return false;
	*ret = state_of(&st);
	return true;
}
