// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/table_make.h"
#include "table/maptable.h"

#include <unistd.h>

int maptable_not_elf(int fd, const char *name, struct error *err)
{
	char line[128] = "", *interpreter;
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);

	if (n < 2 || strncmp(line, "#!", 2))
		return error_set(err, ENOEXEC,
				 "%s: not an ELF file: name the program or the library that runs",
				 name);
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	interpreter = line + 2 + strspn(line + 2, " \t");
	return error_set(err, ENOEXEC,
			 "%s: not an ELF file but a script of %s: name the program that runs in "
			 "the end (/proc/PID/exe of the running process is it), or that "
			 "interpreter",
			 name, interpreter);
}
