// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perf maps: a line for each function, "START SIZE NAME", both numbers hexadecimal, appended as
 * functions are made. Lines that say nothing are passed over; a last line without an end is still
 * being written.
 */
#include "table/code_loads_build.h"

#include <unistd.h>

#define MAX_READ (32 << 20) /* of the file, for one block */
#define MAX_LINE CODE_LOADS_LINE

static bool hex(const char **at, const char *end, uint64_t *ret)
{
	const char *p = *at;
	int digits = 0;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (*ret = 0; p < end && digits <= 16; p++, digits++) {
		int c = *p >= '0' && *p <= '9'	 ? *p - '0'
			: *p >= 'a' && *p <= 'f' ? *p - 'a' + 10
			: *p >= 'A' && *p <= 'F' ? *p - 'A' + 10
						 : -1;

		if (c < 0)
			break;
		*ret = *ret << 4 | c;
	}
	*at = p;
	return digits && digits <= 16;
}

static bool blanks(const char **at, const char *end)
{
	const char *p = *at;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (p == *at)
		return false;
	*at = p;
	return true;
}

static void read_line(struct loads_builder *b, const char *p, const char *end)
{
	uint64_t start, size;

	if (end > p && end[-1] == '\r')
		end--;
	if (!hex(&p, end, &start) || !blanks(&p, end) || !hex(&p, end, &size) || !blanks(&p, end))
		return;
	if (p == end || !*p || size > UINT32_MAX)
		return;
	loads_add(b, &(struct code_load){ .start = start,
					  .size = size,
					  .name = loads_text(b, p, end - p),
					  .line = b->n_line });
}

/* Returns how many bytes of it are dealt with. */
static size_t read_lines(struct loads_builder *b, const char *text, size_t n)
{
	const char *line = text, *end;

	while (!loads_full(b) && (end = memchr(line, '\n', text + n - line))) {
		read_line(b, line, end);
		line = end + 1;
	}
	return !loads_full(b) && text + n - line > MAX_LINE ? n : (size_t)(line - text);
}

/* What there is from @from on, as far as one block takes it; -1: it cannot be read. */
static ssize_t read_part(int fd, uint64_t from, char **text)
{
	size_t n = 0, cap = 0;
	ssize_t got = 1;

	while (got && n < MAX_READ) {
		array_reserve(*text, cap, n + MAX_LINE);
		got = pread(fd, *text + n, MAX_LINE - 1, from + n);
		if (got < 0 && errno != EINTR)
			return -1;
		n += got > 0 ? got : 0;
	}
	return n;
}

int loads_of_perf_map(struct loads_builder *b, int fd, uint64_t from)
{
	_cleanup_free_ char *text = NULL;
	ssize_t n = read_part(fd, from, &text);

	if (n < 0)
		return -errno;
	b->next = from + read_lines(b, text, n);
	b->more = loads_full(b) || n >= MAX_READ;
	return 0;
}
