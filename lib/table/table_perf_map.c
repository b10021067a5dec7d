// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a process says of the code that it makes (/tmp/perf-PID.map): a line for each function, its
 * address and size in hexadecimal, and its name. Lines are only ever added; where code lay that is
 * gone, other code may lie now, so of two that overlap the later one holds.
 */
#include "table/table_build.h"

struct line {
	uint64_t start, end;
	const char *name;
	size_t number;
};

static bool parse_line(char *text, struct line *ret)
{
	char *at;
	uint64_t size;

	ret->start = strtoull(text, &at, 16);
	if (at == text || *at != ' ')
		return false;
	text = at + 1;
	size = strtoull(text, &at, 16);
	if (at == text || *at != ' ' || !at[1] || !size)
		return false;
	ret->end = ret->start + size;
	ret->name = at + 1;
	return ret->end > ret->start && !(ret->end >> 63);
}

/* The text is cut into strings. */
static struct line *parse(char *text, size_t *n)
{
	struct line *list = NULL;
	size_t cap = 0, number = 0;

	*n = 0;
	for (char *at = text, *next; at && *at; at = next) {
		next = strchr(at, '\n');
		if (!next) /* it is being written */
			break;
		*next++ = '\0';
		array_reserve(list, cap, *n + 1);
		if (!parse_line(at, &list[*n]))
			continue;
		list[(*n)++].number = number++;
	}
	return list;
}

static int by_start(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->number > b->number ? -1 : 1;
}

/* In order of their starts, each ends before the next one begins; returns how many are left. */
static size_t disjoin(struct line *list, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct line *last = kept ? &list[kept - 1] : NULL, line = list[i];

		if (last && last->end > line.start) {
			if (line.number > last->number)
				last->end = line.start;
			else
				line.start = last->end;
		}
		if (line.start < line.end)
			list[kept++] = line;
	}
	return kept;
}

struct maptable *table_of_perf_map(int fd, const char *path, struct error *err)
{
	_cleanup_free_ char *text = read_fd(fd, NULL);
	_cleanup_free_ struct line *list = NULL;
	struct table_identity id = { 0 };
	struct table_builder b;
	struct maptable *t;
	size_t n;

	if (!text) {
		error_set(err, errno, "%s: cannot be read: %s", path, strerror(errno));
		return NULL;
	}
	list = parse(text, &n);
	sort_array(list, n, sizeof(*list), by_start);
	n = disjoin(list, n);
	if (!n) {
		error_set(err, ENODATA, "%s names no functions", path);
		return NULL;
	}
	builder_init(&b);
	builder_expect(&b, strlen(text));
	b.code_vaddr = list[0].start;
	for (size_t i = 0; i < n; i++)
		builder_text(&b, list[i].start, list[i].end);
	builder_text_done(&b);
	for (size_t i = 0; i < n; i++)
		builder_symbol(&b, list[i].name, list[i].start, list[i].end - list[i].start, 0);
	t = builder_finish(&b, MAP_SYMTAB, &id);
	builder_deinit(&b);
	return t;
}
