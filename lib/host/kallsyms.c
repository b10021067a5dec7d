// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/kallsyms.h"

bool kallsyms_parse(char *line, struct kallsym *ret)
{
	char *end, *name;

	ret->address = strtoull(line, &end, 16);
	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	name = end + 3;
	name[strcspn(name, " \t\n")] = '\0';
	ret->type = end[1];
	ret->name = name;
	return *name;
}

int kallsyms_each(bool (*each)(const struct kallsym *sym, void *arg), void *arg)
{
	_cleanup_free_ char *path = sysroot_path("/proc/kallsyms"), *line = NULL;
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	struct kallsym sym;
	size_t cap = 0;

	if (!f)
		return -errno;
	while (getline(&line, &cap, f) > 0) {
		if (kallsyms_parse(line, &sym) && each(&sym, arg))
			break;
	}
	return 0;
}
