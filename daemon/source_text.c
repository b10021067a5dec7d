// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/source_text.h"

#include "files/file_open.h"
#include "files/output_file.h"
#include "host/privileges.h"
#include "host/process.h"

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PATIENCE_NS (3 * NSEC_PER_SEC) /* with all files of a run */
#define MOST_LINE   240		       /* bytes of it */
#define MOST_LINES  (2 * SOURCE_LINES_AROUND + 1)
#define NOBODY	    65534 /* who owns nothing that matters */

struct request {
	struct file_id id;
	char text[2 * PATH_MAX]; /* binary, location, each with its NUL */
};

struct answer {
	uint32_t first, n; /* no lines: there are none to be had */
	bool newer;
	char text[MOST_LINES * (MOST_LINE + 1) + 1]; /* ended by newlines */
};

struct sources {
	int socket, process; /* a pidfd */
	uint64_t waited_ns;
};

/* ---- the process that reads ---- */

/* No more than the one who asked root for the run. */
static bool become_invoking_user(void)
{
	struct passwd *pw;
	uid_t uid;
	gid_t gid;

	if (invoking_user(&uid, &gid)) {
		pw = getpwuid(uid);
		if ((pw ? initgroups(pw->pw_name, gid) : setgroups(1, &gid)) ||
		    setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
			return false;
	}
	if (geteuid()) {
		privileges_keep(0);
		return true;
	}
	privileges_keep(PRIVILEGE(CAP_SETUID) | PRIVILEGE(CAP_SETGID) |
			PRIVILEGE(CAP_DAC_READ_SEARCH));
	return !setgroups(0, NULL);
}

/* Root itself looks for files as the owner of the program that names them. */
static void look_as(uid_t uid, gid_t gid)
{
	if (!geteuid()) {
		setfsgid(gid);
		setfsuid(uid);
	}
}

static int64_t changed(const struct stat *st)
{
	return st->st_mtim.tv_sec * (int64_t)NSEC_PER_SEC + st->st_mtim.tv_nsec;
}

static bool is_it(const struct stat *st, const struct file_id *id)
{
	return st->st_ino == id->ino && major(st->st_dev) == id->dev_major &&
	       minor(st->st_dev) == id->dev_minor;
}

/*
 * A path without a beginning is below where the run was started, or above the program: compilers
 * are told to leave the rest out.
 */
static int open_source(const char *path, const char *binary, uid_t owner, struct stat *st)
{
	_cleanup_free_ char *here = getcwd(NULL, 0), *dir = xstrdup(binary);
	int fd = -ENOENT;

	if (*path == '/')
		return file_open_named(NULL, path, owner, st);
	if (here) {
		_cleanup_free_ char *full = xasprintf("%s/%s", here, path);

		fd = file_open_named(NULL, full, owner, st);
	}
	while (fd < 0 && *dir) {
		_cleanup_free_ char *full = NULL;

		*strrchr(dir, '/') = '\0';
		full = xasprintf("%s/%s", dir, path);
		fd = file_open_named(NULL, full, owner, st);
	}
	return fd;
}

static void add_lines(struct answer *a, const struct source_lines *s)
{
	char *to = a->text;

	for (size_t i = 0; i < s->n && i < MOST_LINES; i++) {
		size_t n = source_line_length(s->line[i]);

		n = n < MOST_LINE ? n : MOST_LINE;
		to = mempcpy(to, s->line[i], n);
		*to++ = '\n';
		a->n++;
	}
	*to = '\0';
	a->first = s->first;
}

static void answer_one(const struct request *r, struct answer *a)
{
	const char *binary = r->text, *location = binary + strlen(binary) + 1;
	size_t line, length = source_location(location, &line);
	_cleanup_free_ char *path = xstrndup(location, length);
	_cleanup_close_ int fd = -1;
	struct source_lines lines;
	uid_t owner = NOBODY;
	gid_t group = NOBODY;
	struct stat program, st;
	bool known = *binary == '/' && !stat(binary, &program) && is_it(&program, &r->id);

	if (known) {
		owner = program.st_uid;
		group = program.st_gid;
	}
	look_as(owner, group);
	fd = length ? open_source(path, *binary == '/' ? binary : "", owner, &st) : -1;
	look_as(0, 0);
	if (fd < 0 || !source_lines_read(fd, line, SOURCE_LINES_AROUND, &lines))
		return;
	add_lines(a, &lines);
	a->newer = known && changed(&st) > changed(&program);
	source_lines_free(&lines);
}

static void __attribute__((noreturn)) sources_main(int socket)
{
	static struct request r;
	static struct answer a;
	ssize_t n;

	prctl(PR_SET_NAME, "scozd-sources");
	if (!become_invoking_user())
		_exit(1);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* changing the user has reset it */
	signal(SIGINT, SIG_IGN);	  /* that is for the run */
	while ((n = recv(socket, &r, sizeof(r), 0)) > (ssize_t)offsetof(struct request, text)) {
		a = (struct answer){ .n = 0 };
		answer_one(&r, &a);
		if (send(socket, &a, offsetof(struct answer, text) + strlen(a.text) + 1,
			 MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

/* ---- who asks ---- */

struct sources *sources_start(void)
{
	struct sources *s;
	int pair[2], pid, process;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return NULL;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(pair[0]);
		sources_main(pair[1]);
	}
	close(pair[1]);
	process = pid < 0 ? -1 : pidfd_open(pid, 0);
	if (process < 0) {
		close(pair[0]); /* it ends with that */
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	*s = (struct sources){ .socket = pair[0], .process = process };
	return s;
}

static bool receive(struct sources *s, struct answer *a)
{
	struct pollfd p = { s->socket, POLLIN, 0 };
	uint64_t began = clock_now_ns();
	ssize_t n = -1;

	if (s->waited_ns < PATIENCE_NS &&
	    poll(&p, 1, (PATIENCE_NS - s->waited_ns) / 1000000 + 1) > 0)
		n = recv(s->socket, a, sizeof(*a), MSG_DONTWAIT);
	s->waited_ns += clock_now_ns() - began;
	if (n <= (ssize_t)offsetof(struct answer, text)) {
		s->waited_ns = PATIENCE_NS; /* it may answer later, but to what? */
		return false;
	}
	a->text[sizeof(a->text) - 1] = '\0';
	return true;
}

bool sources_read(struct sources *s, const char *binary, const struct file_id *id,
		  const char *location, struct source_lines *ret, bool *newer)
{
	size_t n = strlen(binary) + 1, m = strlen(location) + 1;
	struct request r = { .id = *id };
	struct answer a;
	char *p;

	if (!s || s->waited_ns >= PATIENCE_NS || n + m > sizeof(r.text))
		return false;
	memcpy(r.text, binary, n);
	memcpy(r.text + n, location, m);
	if (send(s->socket, &r, sizeof(r), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 || !receive(s, &a) ||
	    !a.n || a.n > MOST_LINES)
		return false;
	*newer = a.newer;
	*ret = (struct source_lines){ .text = xstrdup(a.text), .first = a.first };
	ret->line = xcalloc(a.n, sizeof(*ret->line));
	p = ret->text;
	while (ret->n < a.n && *p) {
		ret->line[ret->n++] = p;
		p += source_line_length(p);
		p += *p == '\n';
	}
	return true;
}

void sources_stop(struct sources *s)
{
	if (!s)
		return;
	process_end(s->process, false); /* it may hang in a file */
	close(s->socket);
	free(s);
}
