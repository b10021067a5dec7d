// SPDX-License-Identifier: GPL-2.0-or-later
#include "map/map.h"

#include <fcntl.h>
#include <unistd.h>

int maptable_not_elf(const char *path, const char *name, struct error *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool by_name = !strcmp(path, name) || !strncmp(path, "/proc/self/fd/", 14);
	_cleanup_free_ char *where = by_name ? xstrdup(name) : xasprintf("%s (%s)", name, path);
	char line[128] = "", *interpreter;
	ssize_t n = fd < 0 ? -1 : pread(fd, line, sizeof(line) - 1, 0);

	if (n < 2 || strncmp(line, "#!", 2))
		return error_set(err, ENOEXEC,
				 "%s: not an ELF file: name the program or the library that runs",
				 where);
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	interpreter = line + 2 + strspn(line + 2, " \t");
	return error_set(err, ENOEXEC,
			 "%s: not an ELF file but a script of %s: name the program that runs in "
			 "the end (/proc/PID/exe of the running process is it), or that "
			 "interpreter",
			 where, interpreter);
}
