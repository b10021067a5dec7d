// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/cgroup.h"

#include <ftw.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define CGROUP_ROOT "/sys/fs/cgroup"

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

static bool is_absolute(const char *path)
{
	return !strncmp(path, CGROUP_ROOT, strlen(CGROUP_ROOT));
}

/* The cgroup at @path: absolute, or below @mount. To be freed. */
static char *cgroup_dir(const char *mount, const char *path)
{
	return is_absolute(path) ? sysroot_path("%s", path) : sysroot_path("%s/%s", mount, path);
}

int cgroup_each_process(const char *path, int (*fn)(int pid, void *arg, struct error *err),
			void *arg, struct error *err)
{
	_cleanup_free_ char *dir = cgroup_dir(CGROUP_ROOT, path);
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
	static const char *const mounts[] = { CGROUP_ROOT, CGROUP_ROOT "/unified" };
	size_t n = is_absolute(path) ? 1 : ARRAY_SIZE(mounts);
	bool other = false;
	struct statfs fs;
	struct stat st;

	for (size_t i = 0; i < n; i++) {
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

/* v2: "QUOTA PERIOD" or "max PERIOD" in cpu.max; v1: cpu.cfs_quota_us, -1 without a limit. */
static bool group_has_quota(const char *mount, const char *group, char *quota, size_t size)
{
	_cleanup_free_ char *v2 = sysroot_path("%s%s/cpu.max", mount, group);
	_cleanup_free_ char *v1 = sysroot_path("%s%s/cpu.cfs_quota_us", mount, group);
	_cleanup_free_ char *max = read_file(v2, NULL), *cfs = read_file(v1, NULL);

	if (max && strncmp(max, "max", 3)) {
		snprintf(quota, size, "%s: %.*s", v2, (int)strcspn(max, "\n"), max);
		return true;
	}
	if (cfs && atol(cfs) > 0) {
		snprintf(quota, size, "%s: %.*s", v1, (int)strcspn(cfs, "\n"), cfs);
		return true;
	}
	return false;
}

bool cgroup_has_quota(int pid, char *quota, size_t size)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/cgroup", pid);
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	char line[4096];

	while (f && fgets(line, sizeof(line), f)) {
		char *controllers = strchr(line, ':'), *group;
		const char *mount;

		group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		if (!controllers[1])
			mount = CGROUP_ROOT;
		else if (strstr(controllers, "cpu") && !strstr(controllers, "cpuset"))
			mount = CGROUP_ROOT "/cpu";
		else
			continue;
		for (char *end = group + strlen(group); *group; end = strrchr(group, '/')) {
			*end = '\0';
			if (group_has_quota(mount, group, quota, size))
				return true;
			if (end == group || !strchr(group, '/'))
				break;
		}
	}
	return false;
}
