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

#include "scoz.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#define GONE_NS NSEC_PER_SEC /* so long who is about to count in a file that is gone may take */
#define MAX_ROUNDS \
	2000 /* for consistent slots, all together; from the 50th on writers get the CPU */
#define YIELD_FROM 50
#define MAX_LOOKS  50 /* a second: so often a file is searched for new names */

struct known_slot {
	uint32_t index;
	char name[SCOZ_NAME_SIZE_];
};

struct marks_file {
	uid_t uid;
	int fd;
	uint64_t gone_ns;	     /* deleted then: still read, but not to be used any more */
	bool counts;		     /* its user is among those asked for */
	struct marks_counts *before; /* of each slot, at the time that the file came in; NULL: 0 */
	uint32_t claims;	     /* the header's, when the slots were last looked through */
	uint64_t second_ns;	     /* began then, and so often it was done since */
	unsigned int looks;
	struct known_slot *known;
	size_t n_known, cap_known;
};

/* What was counted in files that are gone, and have been read to their end. */
struct rest {
	uid_t uid;
	char name[SCOZ_NAME_SIZE_];
	struct marks_counts counts;
};

struct marks {
	char *dir;
	int dirfd; /* -1: it is not ours, there are no files */
	struct marks_file *files;
	size_t n_files, cap_files;
	struct rest *rests;
	size_t n_rests, cap_rests;
	size_t left_out; /* users */
	bool opened;	 /* files that come later are read from then on */
	bool paused;	 /* programs are to execute their probes */
	uid_t *users;	 /* NULL: all */
	size_t n_users;
};

/* ---- files of counters ---------------------------------------------------------------------- */

static void look_through(struct marks_file *f);
static struct marks_counts read_once(const struct marks_file *f, uint32_t index);
static void add_counts(struct marks_counts *sum, const struct marks_counts *c);
static void take_off(struct marks_counts *c, const struct marks_counts *before);

static int write_active(int fd, uint32_t active)
{
	size_t at = offsetof(struct scoz_header_1, active);

	return pwrite(fd, &active, sizeof(active), at) == sizeof(active) ? 0 : -EIO;
}

/* Gives the file its size, its blocks and its header; what is already right stays as it is. */
static int prepare_file(const struct marks *m, int fd, const struct stat *st)
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
	return write_active(fd, !m->paused);
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
	r = prepare_file(m, fd, &st);
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
	if ((uint64_t)st.st_size != SCOZ_FILE_SIZE_ && prepare_file(m, f->fd, &st))
		log_debug("counters of marks %s/%s cannot be repaired", m->dir, name);
	return true;
}

bool marks_user_counts(const struct marks *m, uid_t uid)
{
	for (size_t i = 0; i < m->n_users; i++) {
		if (m->users[i] == uid)
			return true;
	}
	return !m->users;
}

/* What is in a file that comes in late was counted before: only differences matter. */
static void come_in(struct marks *m, struct marks_file *f)
{
	f->counts = true;
	if (!m->opened || f->before)
		return;
	f->before = xcalloc(SCOZ_SLOTS_, sizeof(*f->before));
	look_through(f);
	for (size_t i = 0; i < f->n_known; i++)
		f->before[f->known[i].index] = read_once(f, f->known[i].index);
}

void marks_only_users(struct marks *m, const uid_t *uids, size_t n)
{
	bool first = !m->users;

	m->users = xreallocarray(m->users, m->n_users + n + 1, sizeof(*m->users));
	for (size_t i = 0; i < n; i++) {
		if (first || !marks_user_counts(m, uids[i]))
			m->users[m->n_users++] = uids[i];
	}
	for (size_t i = 0; i < m->n_files; i++) {
		struct marks_file *f = &m->files[i];
		bool counts = marks_user_counts(m, f->uid);

		if (counts && !f->counts)
			come_in(m, f);
		f->counts = counts;
	}
}

static void close_file(struct marks *m, size_t i)
{
	struct marks_file *f = &m->files[i];

	close(f->fd);
	free(f->known);
	free(f->before);
	*f = m->files[--m->n_files];
}

/* Of a name as many files may have been replaced as there like: they are one. */
static void keep_rest(struct marks *m, uid_t uid, const char *name, const struct marks_counts *c)
{
	size_t names = 0;

	for (size_t i = 0; i < m->n_rests; i++) {
		if (m->rests[i].uid != uid)
			continue;
		if (!strcmp(m->rests[i].name, name)) {
			add_counts(&m->rests[i].counts, c);
			return;
		}
		names++;
	}
	if (names == SCOZ_SLOTS_) /* of one who wants it so */
		return;
	array_reserve(m->rests, m->cap_rests, m->n_rests + 1);
	m->rests[m->n_rests] = (struct rest){ .uid = uid, .counts = *c };
	memcpy(m->rests[m->n_rests++].name, name, SCOZ_NAME_SIZE_);
}

/* A file that nobody counts in any more needs no descriptor. */
static void lay_to_rest(struct marks *m, size_t i)
{
	struct marks_file *f = &m->files[i];

	f->looks = 0;
	if (f->counts)
		look_through(f);
	for (size_t k = 0; f->counts && k < f->n_known; k++) {
		struct marks_counts c = read_once(f, f->known[k].index);

		if (f->before)
			take_off(&c, &f->before[f->known[k].index]);
		keep_rest(m, f->uid, f->known[k].name, &c);
	}
	close_file(m, i);
}

/* @all: also those that somebody may be about to count in. */
static void lay_gone_to_rest(struct marks *m, bool all)
{
	uint64_t now = clock_now_ns();

	for (size_t i = m->n_files; i-- > 0;) {
		if (m->files[i].gone_ns && (all || now - m->files[i].gone_ns > GONE_NS))
			lay_to_rest(m, i);
	}
}

/* Those of users who do not count are only there to spare their programs the probes. */
static bool make_room(struct marks *m, uid_t uid)
{
	if (m->n_files < MARKS_MOST_FILES)
		return true;
	lay_gone_to_rest(m, true);
	for (size_t i = m->n_files; m->n_files == MARKS_MOST_FILES && i-- > 0;) {
		if (m->files[i].counts || !marks_user_counts(m, uid))
			continue;
		write_active(m->files[i].fd, 0);
		close_file(m, i);
	}
	return m->n_files < MARKS_MOST_FILES;
}

/* Returns whether there was room for it, or -errno. */
static int add_user(struct marks *m, uid_t uid, struct error *err)
{
	struct marks_file f = { .uid = uid };
	int r;

	for (size_t i = m->n_files; i-- > 0;) {
		if (m->files[i].uid != uid || m->files[i].gone_ns)
			continue;
		if (still_there(m, &m->files[i]))
			return true;
		/* Deleted (systemd's RemoveIPC does that): who has mapped it still counts in it,
		 * so it is read to the end, and told not to be used any more. */
		m->files[i].gone_ns = clock_now_ns();
		write_active(m->files[i].fd, 0);
		break;
	}
	if (geteuid() && uid != geteuid())
		return true;
	if (!make_room(m, uid))
		return false;
	r = open_file(m, uid, &f.fd, err);
	if (r)
		return r;
	array_reserve(m->files, m->cap_files, m->n_files + 1);
	m->files[m->n_files++] = f;
	if (marks_user_counts(m, uid))
		come_in(m, &m->files[m->n_files - 1]);
	return true;
}

struct users {
	uid_t *v;
	size_t n, cap;
};

static int by_uid(const void *a, const void *b)
{
	const uid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static size_t count_users(struct users *u)
{
	size_t n = 0;

	if (u->n)
		qsort(u->v, u->n, sizeof(*u->v), by_uid);
	for (size_t i = 0; i < u->n; i++)
		n += !i || u->v[i] != u->v[i - 1];
	return n;
}

/* A file that another user keeps from being opened (by a lease, say) is lost to that user only. */
static void add_other_user(struct marks *m, uid_t uid, uid_t *failed, struct users *left_out)
{
	struct error err = { 0 };
	int r = uid == *failed ? true : add_user(m, uid, &err);

	if (r < 0) {
		*failed = uid; /* most have many processes */
		log_msg(m->opened ? LOG_DEBUG : LOG_NORMAL,
			"%s: marks of user %u are counted by probes", err.text, (unsigned int)uid);
	} else if (!r && marks_user_counts(m, uid)) {
		array_reserve(left_out->v, left_out->cap, left_out->n + 1);
		left_out->v[left_out->n++] = uid;
	}
}

/* Who counts before who does not; else whoever /proc lists first. */
int marks_refresh(struct marks *m, struct error *err)
{
	_cleanup_free_ char *path = sysroot_path("/proc");
	struct users left_out = { 0 };
	DIR *proc = opendir(path);
	uid_t failed = geteuid();
	struct dirent *d;
	int r;

	if (m->dirfd < 0) {
		if (proc)
			closedir(proc);
		return 0;
	}
	if (!proc)
		return error_set(err, errno, "%s: %m", path);
	lay_gone_to_rest(m, false);
	r = add_user(m, geteuid(), err);
	for (size_t i = 0; r >= 0 && i < m->n_users; i++)
		add_other_user(m, m->users[i], &failed, &left_out);
	while (r >= 0 && (d = readdir(proc))) {
		struct stat st;

		if (isdigit((unsigned char)d->d_name[0]) &&
		    !fstatat(dirfd(proc), d->d_name, &st, 0))
			add_other_user(m, st.st_uid, &failed, &left_out);
	}
	closedir(proc);
	m->left_out = count_users(&left_out);
	free(left_out.v);
	return r < 0 ? r : 0;
}

size_t marks_left_out(const struct marks *m)
{
	return m->left_out;
}

/* What is in the place of our directory can be another user's, who could change what is in it. */
static int find_dir(struct marks *m, struct error *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (!mkdir(m->dir, 0755))
		chmod(m->dir, 0755); /* whatever the umask */
	else if (errno != EEXIST)
		return error_set(err, errno, "directory of marks %s: %m", m->dir);
	fd = open(m->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return error_set(err, EEXIST, "directory of marks %s: %m: remove it", m->dir);
	if (st.st_uid != geteuid())
		return error_set(err, EEXIST, "directory of marks %s belongs to user %u: remove it",
				 m->dir, (unsigned int)st.st_uid);
	if (st.st_mode & 022)
		return error_set(err, EPERM,
				 "directory of marks %s has mode %03o, others could have changed "
				 "what is in it: remove it with 'rm -r %s'",
				 m->dir, st.st_mode & 0777, m->dir);
	m->dirfd = fd;
	fd = -1;
	return 0;
}

/*
 * Nobody keeps others from profiling by being there first: root puts what is there aside, without
 * looking into it; others do without files.
 */
static int open_dir(struct marks *m, struct error *err)
{
	_cleanup_free_ char *aside = xasprintf("%s.%d", m->dir, getpid());
	int ret = find_dir(m, err);

	if (ret == -EEXIST && !geteuid() && !rename(m->dir, aside)) {
		log_msg(LOG_NORMAL, "%s; it is %s now", err->text, aside);
		ret = find_dir(m, err);
	}
	if (ret != -EEXIST)
		return ret;
	log_warn("%s: marks are counted by probes alone", err->text);
	return 0;
}

/* Whatever is there, no more than that it is the file of counters of that user. */
static void silence(int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char magic[sizeof(SCOZ_MAGIC_) - 1];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
	    (uint64_t)st.st_size != SCOZ_FILE_SIZE_ ||
	    pread(fd, magic, sizeof(magic), 0) != sizeof(magic) ||
	    memcmp(magic, SCOZ_MAGIC_, sizeof(magic)) != 0)
		return;
	if (write_active(fd, 0))
		log_debug("counters of marks %s: %m", name);
}

void marks_silence(const char *dir)
{
	_cleanup_close_ int fd =
		open(dir ? dir : SCOZ_MARKS_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *e;
	struct stat st;
	DIR *d;

	/* Others could have put there what must not even be opened. */
	if (fd < 0 || fstat(fd, &st) || (st.st_uid && st.st_uid != geteuid()) || st.st_mode & 022)
		return;
	d = fdopendir(fd);
	if (!d)
		return;
	fd = -1;
	while ((e = readdir(d))) {
		if (isdigit((unsigned char)e->d_name[0]))
			silence(dirfd(d), e->d_name);
	}
	closedir(d);
}

int marks_open(const char *dir, struct marks **ret, struct error *err)
{
	struct marks *m = xcalloc(1, sizeof(*m));
	int r;

	*ret = NULL;
	m->dir = xstrdup(dir ? dir : SCOZ_MARKS_DIR);
	m->dirfd = -1;
	r = open_dir(m, err);
	marks_silence(m->dir);
	if (!r)
		r = marks_refresh(m, err);
	if (r) {
		marks_close(m);
		return r;
	}
	m->opened = true;
	*ret = m;
	return 0;
}

void marks_pause(struct marks *m, bool paused)
{
	m->paused = paused;
	for (size_t i = 0; i < m->n_files; i++)
		write_active(m->files[i].fd, !paused && !m->files[i].gone_ns);
}

void marks_close(struct marks *m)
{
	if (!m)
		return;
	while (m->n_files) {
		write_active(m->files[0].fd, 0);
		close_file(m, 0);
	}
	free(m->rests);
	free(m->users);
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

/*
 * Where programs put that name. Several slots of one name can only be among these few: of programs
 * that came to it at the same time.
 */
static bool is_in_its_place(const struct scoz_slot_1 *slot, uint32_t index)
{
	uint32_t hash = scoz_hash_1(slot->name);

	return slot->hash == hash && (index - hash) % SCOZ_SLOTS_ < SCOZ_PROBES_;
}

/* Learns the names that have been added since the last time. */
static void look_through(struct marks_file *f)
{
	struct scoz_slot_1 *slots;
	uint64_t now = clock_now_ns();
	uint32_t claims;

	if (now - f->second_ns > NSEC_PER_SEC) {
		f->second_ns = now;
		f->looks = 0;
	}
	if (f->looks == MAX_LOOKS)
		return;
	if (pread(f->fd, &claims, sizeof(claims), offsetof(struct scoz_header_1, claims)) !=
		    sizeof(claims) ||
	    claims == f->claims)
		return;
	slots = xcalloc(SCOZ_SLOTS_, sizeof(*slots));
	f->n_known = 0;
	f->looks++;
	if (pread(f->fd, slots, SCOZ_SLOTS_ * sizeof(*slots), slot_offset(0)) > 0) {
		f->claims = claims;
		for (uint32_t i = 0; i < SCOZ_SLOTS_; i++) {
			if (slots[i].state != SCOZ_READY_ || !name_is_sound(slots[i].name) ||
			    !is_in_its_place(&slots[i], i))
				continue;
			array_reserve(f->known, f->cap_known, f->n_known + 1);
			f->known[f->n_known].index = i;
			memcpy(f->known[f->n_known++].name, slots[i].name, SCOZ_NAME_SIZE_);
		}
	}
	free(slots);
}

/* A copy is no moment: a counter can be from before an update, and a sum from after it. */
static bool shard_settled(const struct scoz_shard_1 *a, const struct scoz_shard_1 *b)
{
	return a->begin_started == b->begin_started && a->begins == b->begins &&
	       a->end_started == b->end_started && a->ends == b->ends &&
	       a->begin_ns == b->begin_ns && a->end_ns == b->end_ns &&
	       a->begin_started == a->begins && a->end_started == a->ends;
}

/* Of one that never settled: one at least, as it changed between two reads. */
static uint64_t updates_underway(const struct scoz_shard_1 *s)
{
	uint64_t n = s->begin_started - s->begins + s->end_started - s->ends;

	return n ? n : 1;
}

static void add_shard(struct marks_counts *c, const struct scoz_shard_1 *s)
{
	c->visits += s->visits;
	c->begins += s->begins;
	c->ends += s->ends;
	c->sum_begin_ns += s->begin_ns;
	c->sum_end_ns += s->end_ns;
}

static off_t shards_offset(uint32_t index)
{
	return slot_offset(index) + offsetof(struct scoz_slot_1, shard);
}

static struct marks_counts read_once(const struct marks_file *f, uint32_t index)
{
	struct scoz_shard_1 now[SCOZ_SHARDS_] = { 0 };
	struct marks_counts ret = { 0 };

	if (pread(f->fd, now, sizeof(now), shards_offset(index)) == sizeof(now)) {
		for (int i = 0; i < SCOZ_SHARDS_; i++) {
			const struct scoz_shard_1 *s = &now[i];

			add_shard(&ret, s);
			ret.underway += s->begin_started - s->begins + s->end_started - s->ends;
		}
	}
	return ret;
}

/* A slot that is being read. */
struct reading {
	const struct marks_file *file;
	uint32_t index;
	uint32_t left; /* shards that are not settled yet, as bits */
	bool cut;      /* cut short by its owner; marks_refresh() mends it */
	struct scoz_shard_1 now[SCOZ_SHARDS_];
};

/* False when there is nothing more to be done for this slot. */
static bool read_round(struct reading *r, bool first, struct marks_counts *ret)
{
	struct scoz_shard_1 before[SCOZ_SHARDS_];

	memcpy(before, r->now, sizeof(before));
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (pread(r->file->fd, r->now, sizeof(r->now), shards_offset(r->index)) != sizeof(r->now)) {
		r->cut = true;
		return false;
	}
	for (int i = 0; !first && i < SCOZ_SHARDS_; i++) {
		if (!(r->left & 1u << i) || !shard_settled(&before[i], &r->now[i]))
			continue;
		add_shard(ret, &r->now[i]);
		r->left &= ~(1u << i);
	}
	return r->left;
}

/*
 * All slots in turn, so that one that never settles, because a program stands still or its owner
 * wants it so, keeps no other one waiting; and one budget for all.
 */
static void read_slots(struct reading *list, size_t n, struct marks_counts *ret)
{
	size_t open = n;

	for (int round = 0, reads = 0; open && reads < MAX_ROUNDS + 2 * (int)n; round++) {
		if (round > YIELD_FROM)
			sched_yield();
		open = 0;
		for (size_t i = 0; i < n; i++) {
			struct reading *r = &list[i];

			if (!r->left || r->cut)
				continue;
			reads++;
			open += read_round(r, !round, ret);
		}
	}
	for (size_t i = 0; i < n; i++) {
		for (int k = 0; k < SCOZ_SHARDS_; k++) {
			if (!(list[i].left & 1u << k))
				continue;
			add_shard(ret, &list[i].now[k]);
			ret->underway += updates_underway(&list[i].now[k]);
		}
	}
}

static void add_counts(struct marks_counts *sum, const struct marks_counts *c)
{
	sum->visits += c->visits;
	sum->begins += c->begins;
	sum->ends += c->ends;
	sum->sum_begin_ns += c->sum_begin_ns;
	sum->sum_end_ns += c->sum_end_ns;
	sum->underway += c->underway;
}

static void take_off(struct marks_counts *c, const struct marks_counts *before)
{
	c->visits -= before->visits;
	c->begins -= before->begins;
	c->ends -= before->ends;
	c->sum_begin_ns -= before->sum_begin_ns;
	c->sum_end_ns -= before->sum_end_ns;
}

int marks_read(struct marks *m, const char *pattern, struct marks_counts *ret, struct error *err)
{
	_cleanup_free_ struct reading *list = NULL;
	size_t n = 0, cap = 0;

	*ret = (struct marks_counts){ 0 };
	if (!*pattern)
		return error_set(err, EINVAL, "the name of the mark is empty");
	for (size_t i = 0; i < m->n_files; i++) {
		struct marks_file *f = &m->files[i];

		if (!f->counts)
			continue;
		look_through(f);
		for (size_t k = 0; k < f->n_known; k++) {
			if (!mark_name_matches(pattern, f->known[k].name))
				continue;
			array_reserve(list, cap, n + 1);
			list[n++] = (struct reading){ .file = f,
						      .index = f->known[k].index,
						      .left = (1u << SCOZ_SHARDS_) - 1 };
			if (f->before)
				take_off(ret, &f->before[f->known[k].index]);
		}
	}
	read_slots(list, n, ret);
	for (size_t i = 0; i < m->n_rests; i++) {
		if (mark_name_matches(pattern, m->rests[i].name))
			add_counts(ret, &m->rests[i].counts);
	}
	return 0;
}
