// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/truth.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool truth_set(int fd, int percent)
{
	int32_t value = percent;

	return fd < 0 || pwrite(fd, &value, sizeof(value), 0) == sizeof(value);
}

int truth_open(const char *path, struct error *err)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK), saved;
	struct stat st;

	/* Not at once: the kernel refuses O_CREAT on other users' files in /tmp. */
	if (fd < 0 && errno == ENOENT)
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
	if (fd < 0)
		return error_set(err, errno, "--truth %s: %s", path, strerror(errno));
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && truth_set(fd, 0))
		return fd;
	saved = S_ISREG(st.st_mode) ? errno : EINVAL;
	close(fd);
	return error_set(err, saved, "--truth %s: %s", path,
			 saved == EINVAL ? "not a regular file" : strerror(saved));
}
