// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/truth.h"
#include "files/output_file.h"
#include "run/launcher.h"

#include <fcntl.h>
#include <unistd.h>

bool truth_set(int fd, int percent)
{
	int32_t value = percent;

	return fd < 0 || pwrite(fd, &value, sizeof(value), 0) == sizeof(value);
}

/* The program that reads it is @owner's. */
static int give_to(int fd, const struct launcher *owner)
{
	return owner && !geteuid() ? fchown(fd, owner->uid, owner->gid) : 0;
}

int truth_open(const char *path, const struct launcher *owner, struct error *err)
{
	bool created = false;
	int fd = output_file_open(path, O_RDWR | O_NONBLOCK, OUTPUT_COMMANDS, &created, err), saved;

	if (fd < 0) {
		error_prefix(err, "--truth");
		return fd;
	}
	if ((!created || !give_to(fd, owner)) && truth_set(fd, 0))
		return fd;
	saved = errno;
	close(fd);
	return error_set(err, saved, "--truth %s: %s", path, strerror(saved));
}
