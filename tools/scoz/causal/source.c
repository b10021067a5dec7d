// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/causal/source.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_BYTES (8 << 20)

static int open_below(int dir, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					   RESOLVE_NO_MAGICLINKS };

	return syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

static char *read_all(int fd)
{
	struct stat st;
	char *text;
	ssize_t n;
	size_t used = 0;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > MOST_BYTES)
		return NULL;
	text = xmalloc(st.st_size + 1);
	while (used < (size_t)st.st_size && (n = read(fd, text + used, st.st_size - used)) > 0)
		used += n;
	text[used] = '\0';
	/* With a 0 in it, it is no source. */
	if (strlen(text) == used)
		return text;
	free(text);
	return NULL;
}

static char *find_file(const char *dir, const char *path)
{
	int base = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	char *text = NULL;

	if (base < 0)
		return NULL;
	while (fd < 0 && *path) {
		path += strspn(path, "/");
		fd = *path ? open_below(base, path) : -1;
		if (fd < 0)
			path += strcspn(path, "/");
	}
	if (fd >= 0) {
		text = read_all(fd);
		close(fd);
	}
	close(base);
	return text;
}

bool source_read(const char *dir, const char *location, size_t around, struct source_lines *ret)
{
	const char *colon = strrchr(location, ':');
	size_t line = colon ? strtoul(colon + 1, NULL, 10) : 0, at = 1;
	_cleanup_free_ char *path = colon ? xstrndup(location, colon - location) : NULL;

	*ret = (struct source_lines){ .first = line > around ? line - around : 1 };
	if (!line)
		return false;
	ret->text = find_file(dir, path);
	if (!ret->text)
		return false;
	ret->line = xcalloc(2 * around + 1, sizeof(*ret->line));
	for (const char *p = ret->text; *p && at <= line + around; at++) {
		if (at >= ret->first)
			ret->line[ret->n++] = p;
		p += source_line_length(p);
		p += *p == '\n';
	}
	if (at > line)
		return true;
	source_free(ret); /* another file, or another version of it */
	return false;
}

void source_free(struct source_lines *s)
{
	free(s->text);
	free(s->line);
	*s = (struct source_lines){ .n = 0 };
}

size_t source_line_length(const char *line)
{
	return strcspn(line, "\n");
}
