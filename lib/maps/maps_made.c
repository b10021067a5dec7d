// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that processes make while they run lies in no file. Many that do say what is where in
 * /tmp/perf-PID.map, to which they add a line for each function (table/table_perf_map.c). Such a
 * file becomes a binary like others; as it grows, it is read again when an address is not in it,
 * which then is another binary.
 *
 * Anybody may leave a file of that name in /tmp. So it must be of the user that the process is of,
 * and not older than the process, of which another one of the same number may have written it. As
 * all files that tables are made of it is read by a process without rights.
 */
#include "elf/table_open.h"
#include "files/file_open.h"
#include "maps/maps_internal.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define AGAIN_NS    (NSEC_PER_SEC / 2) /* between two readings, at least */
#define SHARE	    20		       /* nor for more than this part of the time */
#define MOST_READ   256		       /* times, of one process */
#define MOST_MISSED 4096
#define STARTTIME   22 /* field of /proc/PID/stat */
#define EARLIER_S   2  /* than the process, as clocks tell it, at most */

struct made {
	int pid;
	uint32_t binary; /* the last one */
	uint32_t readings;
	uint64_t asked_ns;
	/* What it is known by once it has ended; of whoever builds. */
	int inner_pid; /* as it sees itself; 0: not looked up */
	uid_t uid;
	bool apart; /* it has a file system of its own */
};

/* An address that was in none of the readings until then. */
struct missed {
	uint64_t addr;
	int pid;
	uint32_t readings;
};

struct made_code {
	struct made *list;
	size_t n, cap;
	struct hash_index by_pid;
	struct missed *missed;
	size_t n_missed, cap_missed;
	struct hash_index by_addr;
};

struct made_code *made_create(void)
{
	return xcalloc(1, sizeof(struct made_code));
}

void made_free(struct made_code *c)
{
	if (!c)
		return;
	free(c->list);
	free(c->missed);
	hash_index_deinit(&c->by_pid);
	hash_index_deinit(&c->by_addr);
	free(c);
}

/* ---- whoever builds ---- */

/* Numbers of the last words of a line of /proc/PID/status. */
static bool last_number(const char *status, const char *key, long *ret)
{
	const char *at = strstr(status, key), *end, *word;

	if (!at)
		return false;
	at += strlen(key);
	end = at + strcspn(at, "\n");
	for (word = end; word > at && word[-1] != '\t' && word[-1] != ' '; word--)
		;
	*ret = strtol(word, NULL, 10);
	return word < end;
}

static bool has_own_root(int pid)
{
	_cleanup_free_ char *root = sysroot_path("/proc/%d/root", pid);
	struct stat theirs, ours;

	return stat(root, &theirs) || stat("/", &ours) || theirs.st_dev != ours.st_dev ||
	       theirs.st_ino != ours.st_ino;
}

static bool look_at_process(int pid, struct made *ret)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/status", pid);
	_cleanup_free_ char *status = read_file(path, NULL);
	const char *uids = status ? strstr(status, "\nUid:") : NULL;
	unsigned int uid;
	long inner;

	if (!uids || sscanf(uids, "\nUid: %*u %u", &uid) != 1)
		return false;
	ret->inner_pid = last_number(status, "\nNSpid:", &inner) ? inner : pid;
	ret->uid = uid;
	ret->apart = has_own_root(pid);
	return true;
}

/* When the process began, s; clocks tell that to a second or so. */
static bool began_at(int pid, int64_t *ret)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/stat", pid),
			    *text = read_file(path, NULL);
	const char *at = text ? strrchr(text, ')') : NULL;
	struct timespec up;
	unsigned long long ticks;

	for (int i = 0; at && i < STARTTIME - 2; i++) {
		at = strchr(at, ' ');
		at += !!at;
	}
	if (!at || sscanf(at, "%llu", &ticks) != 1 || clock_gettime(CLOCK_BOOTTIME, &up))
		return false;
	*ret = time(NULL) - up.tv_sec + ticks / sysconf(_SC_CLK_TCK);
	return true;
}

static int open_map(int pid, struct made *of, struct error *err)
{
	_cleanup_free_ char *root = sysroot_path("/proc/%d/root", pid), *path = NULL;
	struct made now = *of;
	bool lives = look_at_process(pid, &now);
	struct stat st;
	int64_t began;
	int fd;

	if (!lives && (!of->inner_pid || of->apart))
		return error_set(err, ESRCH, "process %d: it has ended", pid);
	path = xasprintf("/tmp/perf-%d.map", now.inner_pid);
	fd = file_open(lives ? root : NULL, path, &st);
	if (fd < 0)
		return error_set(err, -fd, "%s: %s", path, strerror(-fd));
	if (st.st_uid != now.uid || (st.st_mode & 022)) {
		close(fd);
		return error_set(err, EPERM,
				 "%s: not of the user that process %d is of, or others "
				 "may write to it",
				 path, pid);
	}
	if (lives && began_at(pid, &began) && st.st_mtim.tv_sec + EARLIER_S < began) {
		close(fd);
		return error_set(err, ESTALE, "%s: older than process %d", path, pid);
	}
	*of = now;
	return fd;
}

void made_build(struct maps *m, struct binary *b, struct error *err)
{
	struct map_options opt = { .perf_map = true };
	struct made of = {};
	struct made_code *c = m->made;
	uint32_t i;
	int fd;

	pthread_rwlock_rdlock(&m->lock);
	i = hash_index_find_id(&c->by_pid, b->made_by);
	if (i != HASH_NONE)
		of = c->list[i];
	pthread_rwlock_unlock(&m->lock);
	fd = open_map(b->made_by, &of, err);
	if (fd < 0)
		return;
	pthread_rwlock_wrlock(&m->lock);
	if (i != HASH_NONE) { /* they only ever become more */
		c->list[i].inner_pid = of.inner_pid;
		c->list[i].uid = of.uid;
		c->list[i].apart = of.apart;
	}
	pthread_rwlock_unlock(&m->lock);
	maptable_open_fd(fd, b->pub.path, &opt, &b->table, err);
	close(fd);
}

/* ---- whoever looks up ---- */

static struct made *find(struct maps *m, int pid)
{
	struct made_code *c = m->made;
	uint32_t i = hash_index_find_id(&c->by_pid, pid);

	if (i != HASH_NONE)
		return &c->list[i];
	array_reserve(c->list, c->cap, c->n + 1);
	c->list[c->n] = (struct made){ .pid = pid, .binary = NONE_BINARY };
	hash_index_add_id(&c->by_pid, pid, c->n);
	return &c->list[c->n++];
}

static void read_again(struct maps *m, struct made *of)
{
	_cleanup_free_ char *path = xasprintf("/tmp/perf-%d.map", of->pid);

	of->binary = binary_add_made(m, of->pid, path);
	of->readings++;
	of->asked_ns = clock_now_ns();
}

static bool same_address(const void *items, uint32_t number, const void *key)
{
	const struct missed *a = (const struct missed *)items + number, *b = key;

	return a->addr == b->addr && a->pid == b->pid;
}

/* Has it been missed before the last reading, too? Then it has no name. */
static bool is_nameless(struct made_code *c, const struct made *of, uint64_t addr)
{
	const struct missed key = { addr, of->pid, of->readings };
	uint64_t h = hash_mix(hash_mix(HASH_START, addr), of->pid);
	uint32_t i = hash_index_find(&c->by_addr, h, same_address, c->missed, &key);

	if (i != HASH_NONE)
		return c->missed[i].readings < of->readings;
	if (c->n_missed == MOST_MISSED)
		return true;
	array_reserve(c->missed, c->cap_missed, c->n_missed + 1);
	c->missed[c->n_missed] = key;
	hash_index_add(&c->by_addr, h, c->n_missed++);
	return false;
}

enum maps_made maps_made_code(struct maps *m, int pid, uint64_t addr, uint32_t *binary)
{
	enum maps_made ret = MAPS_MADE_LATER;
	struct map_frame frame[MAP_MAX_INLINE];
	const struct binary *b = NULL;
	struct made *of;
	uint64_t now;

	pthread_rwlock_wrlock(&m->lock);
	of = find(m, pid);
	if (of->binary == NONE_BINARY)
		read_again(m, of);
	b = m->binary[of->binary];
	if (__atomic_load_n(&b->state, __ATOMIC_ACQUIRE) == BUILT) {
		now = clock_now_ns();
		if (b->pub.table && maptable_lookup(b->pub.table, addr, frame, MAP_MAX_INLINE) > 0)
			ret = MAPS_MADE_KNOWN;
		else if (of->readings >= MOST_READ || (!b->pub.table && of->readings > 2) ||
			 is_nameless(m->made, of, addr))
			ret = MAPS_MADE_UNKNOWN;
		else if (now - of->asked_ns > AGAIN_NS && now - of->asked_ns > SHARE * b->took_ns)
			read_again(m, of);
	}
	*binary = of->binary;
	pthread_rwlock_unlock(&m->lock);
	if (ret == MAPS_MADE_LATER)
		maps_binary_known(m, *binary); /* asks for it */
	return ret;
}
