// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables on disk: the very bytes of a table, mapped back when everything in its header still holds
 * (version, size and change of the file, state of the debug files, checksum) and every
 * index in it leads inside. A file is written under another name and renamed, so nobody sees half
 * of one. Whatever goes wrong costs only the cache: the table is built again, or not kept. All of
 * it happens in a directory that is opened once and that nobody else may write to.
 *
 * Every build of a program makes a new file. When they add up to more than cache_max_bytes, those
 * used least lately go; a hit renews the time of the file, once an hour at most. To add up looks at
 * all of them, so it is done when a process has written its first one, and a sixteenth of that
 * more.
 */
#include "table/table_build.h"

#include "files/held_file.h"
#include "host/privileges.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/random.h>
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
	const char *xdg = user_env("XDG_CACHE_HOME"), *home = user_env("HOME");

	if (geteuid() == 0)
		return xstrdup("/var/cache/scoz");
	if (xdg && *xdg == '/')
		return xasprintf("%s/scoz", xdg);
	return home && *home == '/' ? xasprintf("%s/.cache/scoz", home)
				    : xasprintf("/tmp/scoz-cache-%u", (unsigned int)geteuid());
}

/*
 * What nobody but the kernel sets: who wants a file of his to be taken for another one can choose
 * its content, its build-id and its modification time, but neither its place nor when it was
 * changed. In a file system that a user's program makes up all of these are that program's.
 */
char *cache_file_name(const struct map_options *opt, int fd, const char *kind)
{
	struct statfs fs;
	struct stat st;

	if (!opt || !opt->cache_dir || !*opt->cache_dir || fstat(fd, &st) || fstatfs(fd, &fs) ||
	    fs.f_type == FUSE_MAGIC)
		return NULL;
	return xasprintf("%s/%llx-%llx-%llx-%llx-%llx-%x%s.map", opt->cache_dir,
			 (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
			 (unsigned long long)ctime_ns(&st), (unsigned long long)st.st_size,
			 (unsigned long long)fs.f_type, st.st_uid, kind);
}

static bool still_true(const struct maptable *t, const struct stat *st, uint64_t debug_fingerprint)
{
	return t->h->file_size == (uint64_t)st->st_size && t->h->file_ctime_ns == ctime_ns(st) &&
	       t->h->debug_fingerprint == debug_fingerprint;
}

/*
 * The directory that @file lies in, whoever renames what meanwhile; refused where somebody else may
 * change what is in it. @name: that of the file there.
 */
static int open_directory(const char *file, const char **name)
{
	_cleanup_free_ char *path = xstrndup(file, strrchr(file, '/') - file);
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	*name = strrchr(file, '/') + 1;
	if (dir < 0)
		return -1;
	if (!fstat(dir, &st) && (st.st_uid == geteuid() || st.st_uid == 0) &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return dir;
	log_debug("%s: others may write there: no table is kept", path);
	close(dir);
	errno = EPERM;
	return -1;
}

/*
 * Has this process rights that other processes of user @owner lack, as when its file has
 * capabilities? They could change what has been checked, while it is mapped.
 */
static bool outranks(uid_t owner)
{
	return owner && privileges_own("CapPrm");
}

static void *copy_file(int fd, size_t size)
{
	char *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t at = 0;
	ssize_t n;

	if (mem == MAP_FAILED)
		return mem;
	while (at < size &&
	       ((n = pread(fd, mem + at, size - at, at)) > 0 || (n < 0 && errno == EINTR)))
		at += n > 0 ? n : 0;
	if (at == size && !mprotect(mem, size, PROT_READ))
		return mem;
	munmap(mem, size);
	return MAP_FAILED;
}

void *cache_map(const char *file, size_t *size, bool *copied)
{
	const char *name;
	_cleanup_close_ int dir = open_directory(file, &name);
	_cleanup_close_ int found =
		dir < 0 ? -1 : openat(dir, name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	_cleanup_close_ int fd = found < 0 ? -1 : held_file_reopen(found, &st);
	bool copy;
	void *mem;

	if (fd < 0 || st.st_size <= 0)
		return NULL;
	/* What another user can write is not believed. */
	if ((st.st_uid != geteuid() && st.st_uid != 0) || st.st_mode & (S_IWGRP | S_IWOTH))
		return NULL;
	copy = outranks(st.st_uid);
	if (copied)
		*copied = copy;
	mem = copy ? copy_file(fd, st.st_size)
		   : mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (mem == MAP_FAILED)
		return NULL;
	if (time(NULL) - st.st_mtime > 3600)
		futimens(fd, NULL);
	*size = st.st_size;
	return mem;
}

/*
 * All of it was looked at; what lookups need comes back, the rest need not be here. The segments
 * are asked for with every sample, and the kernel would map what lies around them, too.
 */
static void mark_cached(struct maptable *t)
{
	t->cached = true;
	t->segments = xcalloc(t->n_phdr, sizeof(*t->segments));
	memcpy(t->segments, t->phdr, t->n_phdr * sizeof(*t->segments));
	t->phdr = t->segments;
	madvise(t->mem, t->size, MADV_DONTNEED);
}

void maptable_rest(struct maptable *t)
{
	bool wanted = __atomic_exchange_n(&t->wanted, false, __ATOMIC_RELAXED);

	if (t->cached && !wanted && !t->resting)
		madvise(t->mem, t->size, MADV_DONTNEED);
	t->resting = !wanted;
}

struct maptable *cache_load(const char *file, int of, uint64_t debug_fingerprint)
{
	struct maptable *t;
	struct stat now;
	bool copied;
	size_t size;
	void *mem;

	if (fstat(of, &now))
		return NULL;
	mem = cache_map(file, &size, &copied);
	if (!mem)
		return NULL;
	t = table_attach(mem, size, true, true);
	if (t && !still_true(t, &now, debug_fingerprint)) {
		maptable_free(t);
		t = NULL;
	}
	if (t && !copied)
		mark_cached(t);
	log_debug("cached table %s: %s", file, t ? "used" : "stale or damaged, built again");
	return t;
}

struct cached {
	char *name;
	uint64_t size;
	int64_t used;
};

static int compare_cached(const void *pa, const void *pb)
{
	const struct cached *a = pa, *b = pb;

	return (a->used > b->used) - (a->used < b->used);
}

static bool has_written_much(size_t size)
{
	static _Atomic uint64_t written;
	uint64_t before = atomic_fetch_add(&written, size), much = cache_max_bytes / 16 + 1;

	return !before || before / much != (before + size) / much;
}

/* @dir stays the caller's. */
static void prune(int dir, const char *newest)
{
	int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct cached *c = NULL;
	size_t n = 0, cap = 0;
	uint64_t total = 0;
	struct dirent *e;
	DIR *d = own < 0 ? NULL : fdopendir(own);

	if (!d && own >= 0)
		close(own);
	while (d && (e = readdir(d))) {
		struct stat st;

		/* Also what a process that was killed left half written. */
		if (!strstr(e->d_name, ".map") ||
		    fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		array_reserve(c, cap, n + 1);
		c[n++] = (struct cached){ xstrdup(e->d_name), st.st_size,
					  st.st_mtim.tv_sec * (int64_t)NSEC_PER_SEC +
						  st.st_mtim.tv_nsec };
		total += st.st_size;
	}
	if (d)
		closedir(d);
	sort_array(c, n, sizeof(*c), compare_cached);
	for (size_t i = 0; i < n; i++) {
		if (total > cache_max_bytes && strcmp(c[i].name, newest) &&
		    !unlinkat(dir, c[i].name, 0))
			total -= c[i].size;
		free(c[i].name);
	}
	free(c);
}

/* Tables name functions and sources also of programs that others may not read. */
static void make_directories(const char *file)
{
	_cleanup_free_ char *path = xstrdup(file);

	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, strchr(p + 1, '/') ? 0755 : 0700);
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

static int create_beside(int dir, const char *name, char **ret)
{
	uint64_t tag;

	if (getrandom(&tag, sizeof(tag), 0) != sizeof(tag))
		return -1;
	*ret = xasprintf("%s.%016llx", name, (unsigned long long)tag);
	return openat(dir, *ret, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

void cache_write(const char *file, const void *mem, size_t size)
{
	_cleanup_free_ char *tmp = NULL;
	_cleanup_close_ int dir = -1;
	const char *name;
	bool ok;
	int fd;

	make_directories(file);
	dir = open_directory(file, &name);
	fd = dir < 0 ? -1 : create_beside(dir, name, &tmp);
	if (fd < 0) {
		log_debug("%s: cannot be written (%s): the table is not cached", file,
			  strerror(errno));
		return;
	}
	ok = write_all(fd, mem, size);
	ok = !close(fd) && ok;
	if (ok && !renameat(dir, tmp, dir, name)) {
		if (has_written_much(size))
			prune(dir, name);
		return;
	}
	log_debug("%s: cannot be written (%s): the table is not cached", file, strerror(errno));
	unlinkat(dir, tmp, 0);
}

void cache_store(const char *file, const struct maptable *t)
{
	struct table_header *h = t->mem;

	if (t->h->flags & TABLE_PARTIAL)
		return;
	if (!t->mapped) /* else it is so already */
		h->checksum = table_checksum(t->mem, t->size);
	cache_write(file, t->mem, t->size);
}
