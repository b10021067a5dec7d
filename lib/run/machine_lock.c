// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/machine_lock.h"
#include "host/privileges.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LOCK_FILE     "/run/scozd.lock"
#define LOCK_NAME     "scozd.lock"
#define VANISHING_MS  5000 /* so long the guardian of one that has gone may keep what it held */
#define RETRY_US      20000
#define UNSEEN_HOLDER 0 /* of a process that is not in our PID namespace */

static int busy(struct error *err, const char *what, int pid)
{
	_cleanup_free_ char *who = pid > 0 ? xasprintf(", process %d", pid) : xstrdup("");

	return error_set(err, EBUSY,
			 "another scozd is profiling this machine (%s is locked%s): two would "
			 "stop each other's cores; wait until it has ended",
			 what, who);
}

static socklen_t address(const char *name, struct sockaddr_un *a)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	/* A zero byte first: the name is in no directory, and goes with its holder. */
	strncpy(a->sun_path + 1, name, sizeof(a->sun_path) - 2);
	return offsetof(struct sockaddr_un, sun_path) + 1 + strlen(a->sun_path + 1);
}

/* Who began to listen under the name; false when it cannot be told. */
static bool holder(const char *name, struct ucred *ret)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t len = sizeof(*ret);
	struct sockaddr_un a;

	return fd >= 0 && !connect(fd, (struct sockaddr *)&a, address(name, &a)) &&
	       !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret, &len);
}

static bool exists(int pid)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d", pid);

	return !access(path, F_OK);
}

/* It could, or cannot be seen and is root. */
static bool profiles(const struct ucred *who)
{
	return who->pid == UNSEEN_HOLDER ? !who->uid : privileges_of_profiler(who->pid, who->uid);
}

/* Who has it may be gone but for a guardian, which holds it until the old settings are written. */
static int lock_file(struct machine_lock *l, const char *path, const char *name, struct error *err)
{
	uint64_t end = clock_now_ns() + VANISHING_MS * NSEC_PER_MSEC;
	struct ucred who;

	l->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (l->file < 0)
		return 0; /* not root, or a file system that cannot be written to */
	while (flock(l->file, LOCK_EX | LOCK_NB)) {
		if (holder(name, &who) && profiles(&who))
			return busy(err, path, who.pid);
		if (clock_now_ns() > end)
			return busy(err, path, 0);
		usleep(RETRY_US);
	}
	return 0;
}

static int lock_name(struct machine_lock *l, const char *name, struct error *err)
{
	uint64_t end = clock_now_ns() + VANISHING_MS * NSEC_PER_MSEC;
	struct ucred who = { .pid = -1 };
	struct sockaddr_un a;
	socklen_t len = address(name, &a);

	l->name = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->name < 0)
		return error_set(err, errno, "no socket to find other scozds by: %s",
				 strerror(errno));
	while (bind(l->name, (struct sockaddr *)&a, len)) {
		if (errno != EADDRINUSE)
			return error_set(err, errno, "the name %s: %s", name, strerror(errno));
		if (holder(name, &who)) {
			if (profiles(&who))
				return busy(err, name, who.pid);
			if (who.pid != UNSEEN_HOLDER && exists(who.pid))
				break;
		}
		if (clock_now_ns() > end)
			break;
		usleep(RETRY_US);
	}
	if (!listen(l->name, SOMAXCONN)) /* fails where bind() did */
		return 0;
	close(l->name);
	l->name = -1;
	if (l->file < 0)
		log_warn("process %d of user %d, which cannot profile, keeps the name %s: going on "
			 "without a lock against a second scozd",
			 who.pid, (int)who.uid, name);
	return 0;
}

int machine_lock_take(struct machine_lock *l, const char *file, const char *name, struct error *err)
{
	int ret;

	*l = (struct machine_lock){ -1, -1 };
	name = name ? name : LOCK_NAME;
	ret = lock_file(l, file ? file : LOCK_FILE, name, err);
	if (!ret)
		ret = lock_name(l, name, err);
	if (ret)
		machine_lock_release(l);
	return ret;
}

/* Without connecting: nobody takes connections off the holder's queue. */
static bool name_exists(const char *name)
{
	_cleanup_free_ char *path = sysroot_path("/proc/net/unix");
	_cleanup_free_ char *sockets = read_file(path, NULL), *line = xasprintf(" @%s\n", name);

	return sockets && strstr(sockets, line);
}

int machine_lock_holder(const char *name, int known)
{
	struct ucred who;

	name = name ? name : LOCK_NAME;
	if (!name_exists(name))
		return 0;
	if (known)
		return known;
	if (!holder(name, &who) || !profiles(&who))
		return 0;
	return who.pid == UNSEEN_HOLDER ? -1 : who.pid;
}

void machine_lock_release(struct machine_lock *l)
{
	if (l->file >= 0)
		close(l->file);
	if (l->name >= 0)
		close(l->name);
	*l = (struct machine_lock){ -1, -1 };
}
