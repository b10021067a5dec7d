// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/causal/source.h"

#include "files/held_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_below(int dir, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					   RESOLVE_NO_MAGICLINKS };
	_cleanup_close_ int found = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	struct stat st;

	return found < 0 ? -1 : held_file_reopen(found, &st);
}

static int find_file(const char *dir, const char *path)
{
	_cleanup_close_ int base = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = -1;

	if (base < 0)
		return -1;
	while (fd < 0 && *path) {
		path += strspn(path, "/");
		fd = *path ? open_below(base, path) : -1;
		if (fd < 0)
			path += strcspn(path, "/");
	}
	return fd;
}

bool source_read(const char *dir, const char *location, size_t around, struct source_lines *ret)
{
	size_t line, n = source_location(location, &line);
	_cleanup_free_ char *path = n ? xstrndup(location, n) : NULL;
	_cleanup_close_ int fd = path ? find_file(dir, path) : -1;

	return fd >= 0 && source_lines_read(fd, line, around, ret);
}
