// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The profiler's side of include/scoz.h.
 *
 * A file of counters belongs to the user whose processes write to it: they could truncate any
 * file they may write to, and that would kill every other process that has mapped it. So there
 * is one file for each user, 0600, in a directory that only we can change. For the same reason
 * the files are never mapped here, only read, and nothing in them is believed: states, names and
 * counters may be garbage, and the worst that garbage does is a wrong count for its author.
 *
 * All blocks are allocated when the file is made: a hole that cannot be filled because the file
 * system is full would be a SIGBUS in the program that touches it.
 *
 * Begins and ends come with sums of times, and a sum must belong to its count. A writer adds to
 * "started", to the sum, then to the count. Counters only grow; so when two copies taken one
 * after the other agree, and started equals the count, no writer was under way in between.
 */
#include "progress/marks.h"

#include "progress/notes.h"
#include "scoz.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES  256	/* descriptors; further users' marks are counted by their uprobes */
#define MAX_TRIES  2000 /* for a consistent slot; from the 50th on the writer gets the CPU */
#define YIELD_FROM 50

struct known_slot {
	uint32_t index;
	char name[SCOZ_NAME_SIZE_];
};

struct marks_file {
	uid_t uid;
	int fd;
	uint32_t claims; /* the header's, when the slots were last looked through */
	struct known_slot *known;
	size_t n_known, cap_known;
};

struct marks {
	char *dir;
	int dirfd;
	struct marks_file *files;
	size_t n_files, cap_files;
};

/* ---- sites in binaries ---------------------------------------------------------------------- */

struct site_list {
	struct mark_site *sites;
	size_t n, cap;
};

static int found_note(const struct elf_note *note, void *arg, struct error *err)
{
	uint64_t at[3], kind;
	struct site_list *list = arg;
	struct mark_site site;
	char name[SCOZ_NAME_SIZE_];

	if (note->len < 28 || !note->vaddr)
		return error_set(err, EINVAL, "it is not one that scoz.h writes");
	for (int i = 0; i < 3; i++)
		at[i] = note->vaddr + i * 8 + elf_note_word(note->desc + i * 8, 8);
	kind = elf_note_word(note->desc + 24, 4);
	if (kind > MARK_END)
		return error_set(err, EINVAL, "there is no kind of mark %llu",
				 (unsigned long long)kind);
	if (!elf_file_string(note->file, at[2], name, sizeof(name)))
		return error_set(err, EINVAL, "the mark's name is not in the file");
	if (!elf_file_offset(note->file, at[0], true, &site.probe_offset))
		return error_set(err, EINVAL, "the probe of mark '%s' is not in the code", name);
	if (!elf_file_offset(note->file, at[1], false, &site.semaphore_offset))
		return error_set(err, EINVAL, "the semaphore of mark '%s' is not in the file",
				 name);
	site.name = xstrdup(name);
	site.kind = kind;
	array_reserve(list->sites, list->cap, list->n + 1);
	list->sites[list->n++] = site;
	return 0;
}

int marks_find_sites(const struct held_file *file, struct mark_site **ret, size_t *n,
		     struct error *err)
{
	struct elf_notes want = {
		.file = file, .section = ".note.scoz", .owner = "scoz", .type = 1
	};
	struct site_list list = { 0 };
	int r = elf_notes_walk(&want, found_note, &list, err);

	*ret = NULL;
	*n = 0;
	if (r) {
		mark_sites_free(list.sites, list.n);
		return r;
	}
	*ret = list.sites;
	*n = list.n;
	return 0;
}

void mark_sites_free(struct mark_site *sites, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(sites[i].name);
	free(sites);
}

bool mark_name_matches(const char *pattern, const char *name)
{
	size_t np = strlen(pattern);
	const char *colon = strrchr(pattern, ':');

	/* Longer names are known by their end only. */
	if (np > SCOZ_NAME_SIZE_ - 1)
		pattern += np - (SCOZ_NAME_SIZE_ - 1);
	if (!strcmp(pattern, name))
		return true;
	if (!colon || colon == pattern || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
		return false;
	return path_ends_with(name, pattern);
}

/* ---- files of counters ---------------------------------------------------------------------- */

static int write_active(int fd, uint32_t active)
{
	size_t at = offsetof(struct scoz_header_1, active);

	return pwrite(fd, &active, sizeof(active), at) == sizeof(active) ? 0 : -EIO;
}

/* Gives the file its size, its blocks and its header; what is already right stays as it is. */
static int prepare_file(int fd, const struct stat *st)
{
	struct scoz_header_1 h = { .size = SCOZ_FILE_SIZE_ };
	int r;

	if ((uint64_t)st->st_size != SCOZ_FILE_SIZE_ && ftruncate(fd, SCOZ_FILE_SIZE_))
		return -errno;
	r = posix_fallocate(fd, 0, SCOZ_FILE_SIZE_);
	if (r)
		return -r;
	memcpy(h.magic, SCOZ_MAGIC_, sizeof(h.magic));
	if (pwrite(fd, &h, offsetof(struct scoz_header_1, active), 0) < 0)
		return -errno;
	return write_active(fd, 1);
}

static int open_file(struct marks *m, uid_t uid, int *ret, struct error *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	char name[16];
	int r;

	snprintf(name, sizeof(name), "%u", (unsigned int)uid);
	fd = openat(m->dirfd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st))
		return error_set(err, errno, "counters of marks %s/%s: %m%s", m->dir, name,
				 errno == ELOOP ? ": it is a symbolic link: remove it" : "");
	if (!S_ISREG(st.st_mode) || (st.st_uid != uid && st.st_uid != geteuid()))
		return error_set(err, EINVAL,
				 "counters of marks %s/%s: not a regular file of user %u: remove "
				 "it, and see who put it there",
				 m->dir, name, (unsigned int)uid);
	r = prepare_file(fd, &st);
	if (r)
		return error_set(err, -r, "counters of marks %s/%s: %s%s", m->dir, name,
				 strerror(-r),
				 r == -ENOSPC ? ": make room on this file system" : "");
	/* Last: from here on the user's processes can open it. */
	if (st.st_uid != uid && fchown(fd, uid, -1))
		return error_set(err, errno, "counters of marks %s/%s: %m", m->dir, name);
	*ret = fd;
	fd = -1;
	return 0;
}

static bool still_there(const struct marks *m, const struct marks_file *f)
{
	struct stat st, now;
	char name[16];

	snprintf(name, sizeof(name), "%u", (unsigned int)f->uid);
	if (fstat(f->fd, &st) || fstatat(m->dirfd, name, &now, AT_SYMLINK_NOFOLLOW) ||
	    st.st_dev != now.st_dev || st.st_ino != now.st_ino)
		return false;
	if ((uint64_t)st.st_size != SCOZ_FILE_SIZE_ && prepare_file(f->fd, &st))
		log_debug("counters of marks %s/%s cannot be repaired", m->dir, name);
	return true;
}

static int add_user(struct marks *m, uid_t uid, struct error *err)
{
	struct marks_file f = { .uid = uid };
	int r;

	for (size_t i = m->n_files; i-- > 0;) {
		if (m->files[i].uid != uid)
			continue;
		if (still_there(m, &m->files[i]))
			return 0;
		/* Deleted (systemd's RemoveIPC does that): who has mapped it still counts in it,
		 * so it is read to the end, and told not to be used any more. */
		write_active(m->files[i].fd, 0);
		break;
	}
	if (m->n_files == MAX_FILES || (geteuid() && uid != geteuid()))
		return 0;
	r = open_file(m, uid, &f.fd, err);
	if (r)
		return r;
	array_reserve(m->files, m->cap_files, m->n_files + 1);
	m->files[m->n_files++] = f;
	return 0;
}

int marks_refresh(struct marks *m, struct error *err)
{
	_cleanup_free_ char *path = sysroot_path("/proc");
	DIR *proc = opendir(path);
	struct dirent *d;
	int r;

	if (!proc)
		return error_set(err, errno, "%s: %m", path);
	r = add_user(m, geteuid(), err);
	while (!r && (d = readdir(proc))) {
		struct stat st;

		if (isdigit((unsigned char)d->d_name[0]) &&
		    !fstatat(dirfd(proc), d->d_name, &st, 0))
			r = add_user(m, st.st_uid, err);
	}
	closedir(proc);
	return r;
}

static int open_dir(struct marks *m, struct error *err)
{
	struct stat st;

	if (!mkdir(m->dir, 0755))
		chmod(m->dir, 0755); /* whatever the umask */
	else if (errno != EEXIST)
		return error_set(err, errno, "directory of marks %s: %m", m->dir);
	m->dirfd = open(m->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (m->dirfd < 0 || fstat(m->dirfd, &st))
		return error_set(err, errno, "directory of marks %s: %m: remove it", m->dir);
	if (st.st_uid != geteuid() || st.st_mode & 022)
		return error_set(err, EPERM,
				 "directory of marks %s belongs to user %u with mode %03o, others "
				 "could change what is in it: remove it with 'rm -r %s'",
				 m->dir, (unsigned int)st.st_uid, st.st_mode & 0777, m->dir);
	return 0;
}

int marks_open(const char *dir, struct marks **ret, struct error *err)
{
	struct marks *m = xcalloc(1, sizeof(*m));
	int r;

	*ret = NULL;
	m->dir = xstrdup(dir ? dir : SCOZ_MARKS_DIR);
	m->dirfd = -1;
	r = open_dir(m, err);
	if (!r)
		r = marks_refresh(m, err);
	if (r) {
		marks_close(m);
		return r;
	}
	*ret = m;
	return 0;
}

void marks_close(struct marks *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n_files; i++) {
		write_active(m->files[i].fd, 0);
		close(m->files[i].fd);
		free(m->files[i].known);
	}
	if (m->dirfd >= 0)
		close(m->dirfd);
	free(m->files);
	free(m->dir);
	free(m);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Names may come from anywhere: what could upset a terminal or a file format is left out. */
static bool name_is_sound(const char *name)
{
	size_t n = strnlen(name, SCOZ_NAME_SIZE_);

	if (!n || n == SCOZ_NAME_SIZE_)
		return false;
	for (size_t i = 0; i < n; i++)
		if (iscntrl((unsigned char)name[i]))
			return false;
	return true;
}

static off_t slot_offset(uint32_t index)
{
	return sizeof(struct scoz_header_1) + (off_t)index * sizeof(struct scoz_slot_1);
}

/* Learns the names that have been added since the last time. */
static void look_through(struct marks_file *f)
{
	struct scoz_slot_1 *slots;
	uint32_t claims;

	if (pread(f->fd, &claims, sizeof(claims), offsetof(struct scoz_header_1, claims)) !=
		    sizeof(claims) ||
	    claims == f->claims)
		return;
	slots = xcalloc(SCOZ_SLOTS_, sizeof(*slots));
	f->n_known = 0;
	if (pread(f->fd, slots, SCOZ_SLOTS_ * sizeof(*slots), slot_offset(0)) > 0) {
		f->claims = claims;
		for (uint32_t i = 0; i < SCOZ_SLOTS_; i++) {
			if (slots[i].state != SCOZ_READY_ || !name_is_sound(slots[i].name))
				continue;
			array_reserve(f->known, f->cap_known, f->n_known + 1);
			f->known[f->n_known].index = i;
			memcpy(f->known[f->n_known++].name, slots[i].name, SCOZ_NAME_SIZE_);
		}
	}
	free(slots);
}

static bool shard_settled(const struct scoz_shard_1 *a, const struct scoz_shard_1 *b)
{
	return a->begin_started == b->begin_started && a->begins == b->begins &&
	       a->end_started == b->end_started && a->ends == b->ends &&
	       a->begin_started == a->begins && a->end_started == a->ends;
}

static void add_shard(struct marks_counts *c, const struct scoz_shard_1 *s)
{
	c->visits += s->visits;
	c->begins += s->begins;
	c->ends += s->ends;
	c->sum_begin_ns += s->begin_ns;
	c->sum_end_ns += s->end_ns;
}

static void read_slot(const struct marks_file *f, uint32_t index, struct marks_counts *ret)
{
	struct scoz_shard_1 now[SCOZ_SHARDS_] = { 0 }, before[SCOZ_SHARDS_];
	off_t at = slot_offset(index) + offsetof(struct scoz_slot_1, shard);
	uint32_t left = (1u << SCOZ_SHARDS_) - 1;

	for (int try = 0; left && try < MAX_TRIES; try++) {
		if (try > YIELD_FROM)
			sched_yield();
		memcpy(before, now, sizeof(now));
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (pread(f->fd, now, sizeof(now), at) != sizeof(now))
			break; /* cut short by its owner; marks_refresh() mends it */
		for (int i = 0; try && i < SCOZ_SHARDS_; i++) {
			if (!(left & 1u << i) || !shard_settled(&before[i], &now[i]))
				continue;
			add_shard(ret, &now[i]);
			left &= ~(1u << i);
		}
	}
	for (int i = 0; i < SCOZ_SHARDS_; i++)
		if (left & 1u << i)
			add_shard(ret, &now[i]);
	ret->torn |= left != 0;
}

int marks_read(struct marks *m, const char *pattern, struct marks_counts *ret, struct error *err)
{
	*ret = (struct marks_counts){ 0 };
	if (!*pattern)
		return error_set(err, EINVAL, "the name of the mark is empty");
	for (size_t i = 0; i < m->n_files; i++) {
		struct marks_file *f = &m->files[i];

		look_through(f);
		for (size_t k = 0; k < f->n_known; k++)
			if (mark_name_matches(pattern, f->known[k].name))
				read_slot(f, f->known[k].index, ret);
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void marks_names(struct marks *m, char ***names, size_t *n)
{
	size_t cap = 0, kept = 0;

	*names = NULL;
	*n = 0;
	for (size_t i = 0; i < m->n_files; i++) {
		look_through(&m->files[i]);
		for (size_t k = 0; k < m->files[i].n_known; k++) {
			array_reserve(*names, cap, *n + 1);
			(*names)[(*n)++] = xstrdup(m->files[i].known[k].name);
		}
	}
	if (*n)
		qsort(*names, *n, sizeof(**names), compare_names);
	for (size_t i = 0; i < *n; i++) {
		if (kept && !strcmp((*names)[kept - 1], (*names)[i]))
			free((*names)[i]);
		else
			(*names)[kept++] = (*names)[i];
	}
	*n = kept;
}
