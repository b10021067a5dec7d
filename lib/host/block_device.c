// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/block_device.h"

#include "base/similar.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static bool has(const char *name, const char *what)
{
	_cleanup_free_ char *path = sysroot_path("/sys/class/block/%s/%s", name, what);

	return !access(path, F_OK);
}

/* The disk that @partition is a part of; NULL: that cannot be told. */
static char *whole(const char *partition)
{
	_cleanup_free_ char *link = sysroot_path("/sys/class/block/%s", partition);
	_cleanup_free_ char *path = realpath(link, NULL); /* .../block/vda/vda1 */
	char *slash = path ? strrchr(path, '/') : NULL;

	if (!slash)
		return NULL;
	*slash = '\0';
	slash = strrchr(path, '/');
	return slash ? xstrdup(slash + 1) : NULL;
}

/* "a, b" of the names in directory @path; "" when there are none. */
static char *names_in(const char *path)
{
	DIR *dir = opendir(path);
	char *text = xstrdup("");
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] != '.')
			text_add(&text, "%s%s", *text ? ", " : "", d->d_name);
	}
	if (dir)
		closedir(dir);
	return text;
}

static char *near(const char *name)
{
	_cleanup_free_ char *path = sysroot_path("/sys/block");
	DIR *dir = opendir(path);
	struct similar similar;
	struct dirent *d;

	similar_init(&similar, name);
	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] != '.')
			similar_add(&similar, d->d_name);
	}
	if (dir)
		closedir(dir);
	return similar_text(&similar);
}

static int refuse_partition(const char *name, struct error *err)
{
	_cleanup_free_ char *disk = whole(name);

	return error_set(err, ENOTSUP,
			 "%s is a partition, and what serves requests is the whole disk: name that "
			 "(%s)",
			 name, disk ? disk : "see lsblk");
}

/* Made of bios, not of requests: device mapper, md, memory. */
static int refuse_handing_on(const char *name, struct error *err)
{
	_cleanup_free_ char *path = sysroot_path("/sys/class/block/%s/slaves", name);
	_cleanup_free_ char *below = names_in(path);

	if (*below)
		return error_set(err, ENOTSUP,
				 "%s hands on what it is asked for, and what serves the requests "
				 "lies below it: name that (%s)",
				 name, below);
	return error_set(err, ENOTSUP,
			 "%s has no queue of requests: what is asked of it is done at once, by who "
			 "asks, or by drivers that tell nobody; nobody is seen to wait for it",
			 name);
}

int block_disk_find(const char *name, uint32_t *ret, struct error *err)
{
	_cleanup_free_ char *path = sysroot_path("/sys/class/block/%s/dev", name);
	_cleanup_free_ char *dev = read_file(path, NULL);
	unsigned int major, minor;

	if (!dev || sscanf(dev, "%u:%u", &major, &minor) != 2) {
		_cleanup_free_ char *names = near(name);

		return error_set(err, ENOENT, "there is no block device '%s' (lsblk lists them)%s",
				 name, names);
	}
	if (has(name, "partition"))
		return refuse_partition(name, err);
	if (!has(name, "mq"))
		return refuse_handing_on(name, err);
	*ret = major << 20 | minor;
	return 0;
}
