// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perf maps: what programs that make code while they run tell of it, in /tmp/perf-PID.map, a line
 * for each function: "START SIZE NAME", both numbers hexadecimal, appended as functions are made.
 *
 * Memory is used again, so of what overlaps the later line wins. The code may lie anywhere in the
 * process, a table has 32 bits: stretches near to each other are segments of the table, one behind
 * the other from TABLE_PERF_MAP on, where no address of a program lies. So a place that is in none
 * of them is not found, rather than taken for another one.
 *
 * The file grows, so a table is made of what has come since the last one: header.file_size is where
 * the next one begins. A last line without an end is still being written.
 */
#include "base/hash_index.h"
#include "table/table_build.h"

#include <unistd.h>

#define MAX_READ     (32 << 20) /* of the file, for one table */
#define MAX_ENTRIES  (1 << 19)
#define MAX_SIZE     (1 << 30) /* of a function */
#define MAX_NAME     1024
#define MAX_LINE     TABLE_PERF_LINE
#define MAX_SEGMENTS 1024
#define NEAR	     (16 << 20) /* what lies nearer is one segment */

struct entry {
	uint64_t start, end;
	const char *name;
};

struct entries {
	struct entry *v;
	size_t n, cap;
};

/* A piece of code that one entry has. */
struct owned {
	uint64_t start, end;
	uint32_t entry;
};

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

/* The name is ended where it lies. */
static bool read_line(char *line, char *end, struct entry *ret)
{
	const char *p = line;
	uint64_t start, size;

	if (end > line && end[-1] == '\r')
		end--;
	if (!hex(&p, end, &start) || !blanks(&p, end) || !hex(&p, end, &size) || !blanks(&p, end))
		return false;
	if (p == end || !*p || !size || size > MAX_SIZE || start >> 63 || (start + size) >> 63)
		return false;
	*(end - p > MAX_NAME ? (char *)p + MAX_NAME : end) = '\0';
	*ret = (struct entry){ start, start + size, p };
	return true;
}

/* @text[n] may be written to. Returns how many bytes of it are dealt with. */
static size_t read_lines(char *text, size_t n, struct entries *e)
{
	char *line = text, *end;

	while (e->n < MAX_ENTRIES && (end = memchr(line, '\n', text + n - line))) {
		array_reserve(e->v, e->cap, e->n + 1);
		if (read_line(line, end, &e->v[e->n]))
			e->n++;
		line = end + 1;
	}
	return e->n < MAX_ENTRIES && text + n - line > MAX_LINE ? n : (size_t)(line - text);
}

/* ---- who has what ---- */

static int compare_start(const void *pa, const void *pb, void *arg)
{
	const struct entry *v = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (v[a].start != v[b].start)
		return v[a].start < v[b].start ? -1 : 1;
	return (a > b) - (a < b);
}

static int compare_u64(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

/* A heap: the latest entry is at its top. */
static void push(uint32_t *heap, size_t *n, uint32_t x)
{
	size_t i = (*n)++;

	for (; i && heap[(i - 1) / 2] < x; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = x;
}

static void pop(uint32_t *heap, size_t *n)
{
	uint32_t x = heap[--*n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < *n) {
		if (child + 1 < *n && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= x)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = x;
}

/* Sorted and disjoint; malloc'ed. */
static struct owned *owners(const struct entries *e, size_t *ret)
{
	_cleanup_free_ uint32_t *order = xcalloc(e->n + 1, sizeof(*order));
	_cleanup_free_ uint32_t *heap = xcalloc(e->n + 1, sizeof(*heap));
	_cleanup_free_ uint64_t *edge = xcalloc(2 * e->n + 1, sizeof(*edge));
	struct owned *owned = xcalloc(2 * e->n + 1, sizeof(*owned));
	size_t n = 0, n_heap = 0, next = 0;

	for (size_t i = 0; i < e->n; i++) {
		order[i] = i;
		edge[2 * i] = e->v[i].start;
		edge[2 * i + 1] = e->v[i].end;
	}
	if (e->n)
		qsort_r(order, e->n, sizeof(*order), compare_start, e->v);
	sort_array(edge, 2 * e->n, sizeof(*edge), compare_u64);
	for (size_t i = 0; i + 1 < 2 * e->n; i++) {
		uint64_t from = edge[i], to = edge[i + 1];

		while (next < e->n && e->v[order[next]].start <= from)
			push(heap, &n_heap, order[next++]);
		while (n_heap && e->v[heap[0]].end <= from)
			pop(heap, &n_heap);
		if (from == to || !n_heap)
			continue;
		if (n && owned[n - 1].end == from && owned[n - 1].entry == heap[0])
			owned[n - 1].end = to;
		else
			owned[n++] = (struct owned){ from, to, heap[0] };
	}
	*ret = n;
	return owned;
}

/* ---- the table ---- */

static void add_segment(struct table_builder *b, uint64_t start, uint64_t end, uint64_t vaddr)
{
	array_reserve(b->phdr, b->cap_phdr, b->n_phdr + 1);
	b->phdr[b->n_phdr++] = (struct table_phdr){ .offset = start,
						    .filesz = end - start,
						    .vaddr = vaddr,
						    .memsz = end - start,
						    .exec = 1 };
	builder_text(b, vaddr, vaddr + (end - start));
}

/* Returns how many of @owned have found a place. What is beyond 32 bits the builder leaves out. */
static size_t add_segments(struct table_builder *b, const struct owned *owned, size_t n)
{
	uint64_t vaddr = TABLE_PERF_MAP;

	for (size_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && owned[k].start - owned[k - 1].end < NEAR; k++)
			;
		if (b->n_phdr == MAX_SEGMENTS) {
			builder_warn(b, "its code is spread over too many places: names are left "
					"out");
			return i;
		}
		add_segment(b, owned[i].start, owned[k - 1].end, vaddr);
		vaddr += owned[k - 1].end - owned[i].start;
	}
	return n;
}

static void add_function(struct table_builder *b, struct hash_index *scopes, const char *name,
			 uint64_t start, uint64_t end)
{
	uint32_t func = builder_func(b, name, NULL), scope = hash_index_find_id(scopes, func);

	if (scope == HASH_NONE) {
		scope = builder_scope(b, NONE, NONE, 0);
		b->scope[scope].func = func;
		hash_index_add_id(scopes, func, scope);
	}
	builder_scope_range(b, scope, start, end);
}

static struct maptable *make_table(const struct entries *e, uint64_t read_until)
{
	struct table_identity id = { .file_size = read_until };
	struct hash_index scopes = { 0 };
	_cleanup_free_ struct owned *owned = NULL;
	const struct table_phdr *p;
	struct table_builder b;
	struct maptable *t;
	size_t n;

	owned = owners(e, &n);
	builder_init(&b);
	n = add_segments(&b, owned, n);
	builder_text_done(&b);
	p = b.phdr;
	for (size_t i = 0; i < n; i++) {
		const struct owned *o = &owned[i];

		while (o->start - p->offset >= p->filesz)
			p++;
		add_function(&b, &scopes, e->v[o->entry].name, p->vaddr + (o->start - p->offset),
			     p->vaddr + (o->end - p->offset));
	}
	t = builder_finish(&b, MAP_SYMTAB, &id);
	builder_deinit(&b);
	hash_index_deinit(&scopes);
	return t;
}

/* What there is from @from on, as far as one table takes it; -1: it cannot be read. */
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

struct maptable *table_of_perf_map(int fd, const char *path, uint64_t from, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	ssize_t n = read_part(fd, from, &text);
	struct entries e = { 0 };
	struct maptable *t;

	if (n < 0) {
		error_set(err, errno, "%s: cannot be read: %s", path, strerror(errno));
		return NULL;
	}
	n = read_lines(text, n, &e);
	t = make_table(&e, from + n);
	free(e.v);
	return t;
}
