// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/cgroup.h"

#include <ftw.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* nftw() has no argument for its callback. */
static struct {
	char **files;
	size_t n, cap;
} found;

static int note_procs(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	if (type == FTW_F && !strcmp(path + ftw->base, "cgroup.procs")) {
		array_reserve(found.files, found.cap, found.n + 1);
		found.files[found.n++] = xstrdup(path);
	}
	return 0;
}

/* Where version 2 may be mounted: alone, or beside version 1. */
static const char *const mounts[] = { CGROUP_ROOT, CGROUP_ROOT "/unified" };

static bool is_absolute(const char *path)
{
	return text_after(path, CGROUP_ROOT) != NULL;
}

/* The cgroup at @path: absolute, or below @mount. To be freed. */
static char *cgroup_dir(const char *mount, const char *path)
{
	return is_absolute(path) ? sysroot_path("%s", path) : sysroot_path("%s/%s", mount, path);
}

/* The number of mounts below which @path may be. */
static size_t n_mounts(const char *path)
{
	return is_absolute(path) ? 1 : ARRAY_SIZE(mounts);
}

/* Below the first mount that has it, else the first of all. To be freed. */
static char *find_dir(const char *path)
{
	for (size_t i = 0; i < n_mounts(path); i++) {
		char *dir = cgroup_dir(mounts[i], path);

		if (!access(dir, F_OK))
			return dir;
		free(dir);
	}
	return cgroup_dir(mounts[0], path);
}

int cgroup_each_process(const char *path, int (*fn)(int pid, void *arg, struct error *err),
			void *arg, struct error *err)
{
	_cleanup_free_ char *dir = find_dir(path);
	int ret = 0, pids = 0;

	found.n = 0;
	if (nftw(dir, note_procs, 16, FTW_PHYS))
		return error_set(err, errno, "--cgroup %s: %s: %s", path, dir, strerror(errno));
	for (size_t i = 0; i < found.n; i++) {
		_cleanup_fclose_ FILE *f = fopen(found.files[i], "re");
		int pid;

		while (!ret && f && fscanf(f, "%d", &pid) == 1) {
			ret = fn(pid, arg, err);
			pids++;
		}
		free(found.files[i]);
	}
	if (!ret && !pids)
		return error_set(err, ENOENT, "--cgroup %s: no process is in %s or below it", path,
				 dir);
	return ret;
}

int cgroup_id(const char *path, uint64_t *ret, struct error *err)
{
	bool other = false;
	struct statfs fs;
	struct stat st;

	for (size_t i = 0; i < n_mounts(path); i++) {
		_cleanup_free_ char *dir = cgroup_dir(mounts[i], path);

		if (stat(dir, &st) || !S_ISDIR(st.st_mode) || statfs(dir, &fs))
			continue;
		if (fs.f_type == CGROUP2_SUPER_MAGIC) {
			*ret = st.st_ino;
			return 0;
		}
		other = true;
	}
	if (other)
		return error_set(
			err, ENOTSUP,
			"%s is a cgroup of version 1, of which a task is in many: give one "
			"of version 2 (a line of /proc/PID/cgroup that begins with 0::)",
			path);
	return error_set(err, ENOENT,
			 "there is no cgroup %s below %s: see /proc/PID/cgroup of one of its "
			 "processes",
			 path, CGROUP_ROOT);
}
