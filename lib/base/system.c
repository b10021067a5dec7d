// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/base.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

const char *sysroot = "";

uint64_t clock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

char *sysroot_path(const char *fmt, ...)
{
	_cleanup_free_ char *path = NULL;
	va_list ap;

	va_start(ap, fmt);
	path = xvasprintf(fmt, ap);
	va_end(ap);
	return xasprintf("%s%s", __atomic_load_n(&sysroot, __ATOMIC_RELAXED), path);
}

static char *read_most(int fd, size_t most, size_t *len)
{
	size_t cap = 4096, n = 0;
	char *buf = xmalloc(cap);

	while (n < most) {
		size_t room = cap - n - 1;
		ssize_t got = read(fd, buf + n, room < most - n ? room : most - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int saved = errno;

			free(buf);
			errno = saved;
			return NULL;
		}
		if (!got)
			break;
		n += got;
		if (cap - n < 2) {
			cap *= 2;
			buf = xreallocarray(buf, cap, 1);
		}
	}
	buf[n] = '\0';
	if (len)
		*len = n;
	return buf;
}

char *read_fd(int fd, size_t *len)
{
	return read_most(fd, SIZE_MAX, len);
}

char *read_file(const char *path, size_t *len)
{
	return read_file_begin(path, SIZE_MAX, len);
}

char *read_file_begin(const char *path, size_t most, size_t *len)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? NULL : read_most(fd, most, len);
}

char *read_first_line(const char *path)
{
	char *text = read_file(path, NULL);

	if (text)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

char *task_comm(int tid)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/comm", tid);

	return read_first_line(path);
}

const char *user_env(const char *name)
{
	return geteuid() ? getenv(name) : NULL;
}

bool terminal_obeys(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}
