// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables on disk: the very bytes of a table, mapped back when everything in its header still holds
 * (version, size and change of the file, state of the debug files, checksum) and every
 * index in it leads inside. A file is written under another name and renamed, so nobody sees half
 * of one. Whatever goes wrong costs only the cache: the table is built again, or not kept.
 *
 * Every build of a program makes a new file. When they add up to more than cache_max_bytes, those
 * used least lately go; a hit renews the time of the file, once an hour at most.
 */
#include "map/table_build.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define FUSE_MAGIC 0x65735546

uint64_t cache_max_bytes = 2ULL << 30;

static int64_t ctime_ns(const struct stat *st)
{
	return st->st_ctim.tv_sec * (int64_t)NSEC_PER_SEC + st->st_ctim.tv_nsec;
}

char *maptable_default_cache_dir(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (xdg && *xdg == '/')
		return xasprintf("%s/scoz", xdg);
	if (geteuid() == 0)
		return xstrdup("/var/cache/scoz");
	return home && *home == '/' ? xasprintf("%s/.cache/scoz", home)
				    : xasprintf("/tmp/scoz-cache-%u", (unsigned int)geteuid());
}

/*
 * What nobody but the kernel sets: who wants a file of his to be taken for another one can choose
 * its content, its build-id and its modification time, but neither its place nor when it was
 * changed. In a file system that a user's program makes up all of these are that program's.
 */
char *cache_file_name(const struct map_options *opt, int fd)
{
	struct statfs fs;
	struct stat st;

	if (!opt || !opt->cache_dir || !*opt->cache_dir || fstat(fd, &st) || fstatfs(fd, &fs) ||
	    fs.f_type == FUSE_MAGIC)
		return NULL;
	return xasprintf("%s/%llx-%llx-%llx-%llx-%llx-%x%s.map", opt->cache_dir,
			 (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
			 (unsigned long long)ctime_ns(&st), (unsigned long long)st.st_size,
			 (unsigned long long)fs.f_type, st.st_uid, opt->kernel ? "-kernel" : "");
}

static bool still_true(const struct maptable *t, const struct stat *st, uint64_t debug_fingerprint)
{
	return t->h->file_size == (uint64_t)st->st_size && t->h->file_ctime_ns == ctime_ns(st) &&
	       t->h->debug_fingerprint == debug_fingerprint;
}

struct maptable *cache_load(const char *file, int of, uint64_t debug_fingerprint)
{
	_cleanup_close_ int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct maptable *t;
	struct stat st, now;
	void *mem;

	if (fd < 0 || fstat(of, &now) || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return NULL;
	/* What another user can write is not believed. */
	if ((st.st_uid != geteuid() && st.st_uid != 0) || st.st_mode & (S_IWGRP | S_IWOTH))
		return NULL;
	mem = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (mem == MAP_FAILED)
		return NULL;
	t = table_attach(mem, st.st_size, true, true);
	if (t && !still_true(t, &now, debug_fingerprint)) {
		maptable_free(t);
		t = NULL;
	}
	if (t && time(NULL) - st.st_mtime > 3600)
		futimens(fd, NULL);
	log_debug("cached table %s: %s", file, t ? "used" : "stale or damaged, built again");
	return t;
}

struct cached {
	char *path;
	uint64_t size;
	int64_t used;
};

static int compare_cached(const void *pa, const void *pb)
{
	const struct cached *a = pa, *b = pb;

	return (a->used > b->used) - (a->used < b->used);
}

static void prune(const char *newest)
{
	_cleanup_free_ char *dir = xstrndup(newest, strrchr(newest, '/') - newest);
	struct cached *c = NULL;
	size_t n = 0, cap = 0;
	uint64_t total = 0;
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d))) {
		struct stat st;

		/* Also what a process that was killed left half written. */
		if (!strstr(e->d_name, ".map") ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		array_reserve(c, cap, n + 1);
		c[n++] = (struct cached){ xasprintf("%s/%s", dir, e->d_name), st.st_size,
					  st.st_mtim.tv_sec * (int64_t)NSEC_PER_SEC +
						  st.st_mtim.tv_nsec };
		total += st.st_size;
	}
	if (d)
		closedir(d);
	sort_array(c, n, sizeof(*c), compare_cached);
	for (size_t i = 0; i < n; i++) {
		if (total > cache_max_bytes && strcmp(c[i].path, newest) && !unlink(c[i].path))
			total -= c[i].size;
		free(c[i].path);
	}
	free(c);
}

static void make_directories(const char *file)
{
	_cleanup_free_ char *path = xstrdup(file);

	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
}

static bool write_all(int fd, const void *mem, size_t size)
{
	const char *p = mem;

	while (size) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= n;
	}
	return true;
}

void cache_store(const char *file, const struct maptable *t)
{
	_cleanup_free_ char *tmp = xasprintf("%s.XXXXXX", file);
	struct table_header *h = t->mem;
	bool ok;
	int fd;

	make_directories(file);
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0) {
		log_debug("%s: cannot be written (%s): the table is not cached", file,
			  strerror(errno));
		return;
	}
	if (!t->mapped) /* else it is so already */
		h->checksum = table_checksum(t->mem, t->size);
	ok = write_all(fd, t->mem, t->size) && !fchmod(fd, 0644);
	ok = !close(fd) && ok;
	if (ok && !rename(tmp, file)) {
		prune(file);
		return;
	}
	log_debug("%s: cannot be written (%s): the table is not cached", file, strerror(errno));
	unlink(tmp);
}
