// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/source_lines.h"

#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES (8 << 20)

size_t source_location(const char *location, size_t *line)
{
	const char *colon = strrchr(location, ':');

	*line = colon ? strtoul(colon + 1, NULL, 10) : 0;
	return *line ? (size_t)(colon - location) : 0;
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

bool source_lines_read(int fd, size_t line, size_t around, struct source_lines *ret)
{
	size_t at = 1;

	*ret = (struct source_lines){ .first = line > around ? line - around : 1 };
	if (!line)
		return false;
	ret->text = read_all(fd);
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
	source_lines_free(ret);
	return false;
}

void source_lines_free(struct source_lines *s)
{
	free(s->text);
	free(s->line);
	*s = (struct source_lines){ .n = 0 };
}

size_t source_line_length(const char *line)
{
	return strcspn(line, "\n");
}
