// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collecting what a table is made of. The readers (DWARF, symbol tables, kallsyms) call in here in
 * any order; table_layout.c flattens the result.
 *
 * Whatever a file claims is checked against its text on the way in: rows, scopes and symbols
 * outside the executable sections are what the linker left of discarded sections (address 0 or a
 * tombstone), or nonsense, and are dropped. So everything kept fits in 32-bit offsets.
 */
#include "table/table_build.h"

#define BASE_NAMES     (64 << 20)
#define NAMES_PER_BYTE 2
#define BASE_WORK      (4 << 20) /* of demangling; a symbol of a hundred bytes takes some 300 */
#define WORK_PER_BYTE  4
#define STR_UNKNOWN    1 /* where builder_init() has put "[unknown]" */

/*
 * A few hundred KB of names that are all ends of one long one would be gigabytes: names are cut off
 * and all together are limited by the size of the files that they are from.
 */
uint32_t builder_string(struct table_builder *b, const char *s)
{
	struct strpool *p = &b->str;
	size_t len = strnlen(s, BUILDER_MAX_NAME + 1);
	uint64_t h;
	uint32_t at;

	if (len > BUILDER_MAX_NAME) {
		len = BUILDER_MAX_NAME;
		b->flags |= TABLE_NAMES_CUT;
	}
	h = hash_bytes(HASH_START, s, len);
	for (size_t i = 0; (at = hash_index_next(&p->index, h, &i)) != HASH_NONE;) {
		const char *have = p->buf + at;

		if (!strncmp(have, s, len) && !have[len])
			return at;
	}
	if (p->n + len + 1 > p->max) {
		b->flags |= TABLE_NAMES_CUT;
		return STR_UNKNOWN;
	}
	at = p->n;
	array_reserve(p->buf, p->cap, p->n + len + 1);
	memcpy(p->buf + p->n, s, len);
	p->buf[p->n + len] = '\0';
	p->n += len + 1;
	hash_index_add(&p->index, h, at);
	return at;
}

#define MOST_SIZE 64 /* of an element that is moved by itself */

void sort_array(void *base, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	char one[MOST_SIZE], *begin = base;
	size_t moves = 0;

	for (size_t i = 1; i < n; i++) {
		char *at = begin + i * size, *to = at;

		while (to > begin && compare(to - size, at) > 0 && moves++ < n)
			to -= size;
		if (moves > n || (to < at && size > MOST_SIZE)) {
			qsort(base, n, size, compare);
			return;
		}
		if (to == at)
			continue;
		memcpy(one, at, size);
		memmove(to + size, to, at - to);
		memcpy(to, one, size);
	}
}

void builder_expect(struct table_builder *b, uint64_t file_size)
{
	uint64_t max = b->str.max + NAMES_PER_BYTE * file_size;

	b->str.max = max < NONE ? max : NONE - 1;
	b->demangling_left += WORK_PER_BYTE * file_size;
}

void builder_init(struct table_builder *b)
{
	memset(b, 0, sizeof(*b));
	b->str.max = BASE_NAMES;
	b->demangling_left = BASE_WORK;
	builder_string(b, "");
	builder_func(b, "[unknown]", NULL);
}

void builder_deinit(struct table_builder *b)
{
	addr_ranges_free(&b->text);
	free(b->phdr);
	free(b->str.buf);
	hash_index_deinit(&b->str.index);
	hash_index_deinit(&b->file_ids);
	hash_index_deinit(&b->func_ids);
	free(b->file);
	free(b->func);
	free(b->row);
	free(b->seq);
	free(b->scope);
	free(b->scope_root);
	free(b->piece);
	free(b->sym);
	free(b->symbol);
	free(b->unnamed);
	free(b->warning);
	memset(b, 0, sizeof(*b));
}

void builder_text(struct table_builder *b, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	if (b->text.n && b->text.r[b->text.n - 1].end == start) {
		b->text.r[b->text.n - 1].end = end;
		return;
	}
	array_reserve(b->text.r, b->cap_text, b->text.n + 1);
	b->text.r[b->text.n++] = (struct addr_range){ start, end };
}

void builder_text_done(struct table_builder *b)
{
	size_t kept = 0;

	addr_ranges_sort_merge(&b->text);
	b->base = b->text.n ? b->text.r[0].start : 0;
	for (size_t i = 0; i < b->text.n; i++) {
		struct addr_range *r = &b->text.r[i];

		/* One byte short of 4 GiB: NONE is never an offset. */
		if (r->end - b->base >= NONE) {
			b->far_text = true;
			if (r->start - b->base >= NONE - 1)
				continue;
			r->end = b->base + NONE - 1;
		}
		b->text.r[kept++] = *r;
	}
	b->text.n = kept;
	if (b->far_text)
		builder_warn(b, "text further than 4 GiB from its beginning is left out");
}

/* Index of the stretch of text that holds @addr, or -1. */
static ssize_t find_text(const struct table_builder *b, uint64_t addr)
{
	size_t lo = 0, hi = b->text.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (addr >= b->text.r[mid].end)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < b->text.n && addr >= b->text.r[lo].start ? (ssize_t)lo : -1;
}

bool builder_offset(const struct table_builder *b, uint64_t addr, uint32_t *off)
{
	if (find_text(b, addr) < 0)
		return false;
	*off = addr - b->base;
	return true;
}

uint32_t builder_text_end(const struct table_builder *b, uint32_t off)
{
	ssize_t i = find_text(b, b->base + off);

	return i < 0 ? off : b->text.r[i].end - b->base;
}

void builder_warn(struct table_builder *b, const char *fmt, ...)
{
	va_list ap;

	if (b->warning)
		return;
	va_start(ap, fmt);
	if (vasprintf(&b->warning, fmt, ap) < 0)
		b->warning = NULL;
	va_end(ap);
}

uint32_t builder_file(struct table_builder *b, const char *path)
{
	uint32_t name = builder_string(b, path);
	uint32_t id = hash_index_find_id(&b->file_ids, name);

	if (id == HASH_NONE) {
		id = b->n_file++;
		array_reserve(b->file, b->cap_file, b->n_file);
		b->file[id] = name;
		hash_index_add_id(&b->file_ids, name, id);
	}
	return id;
}

static bool same_func(const void *funcs, uint32_t id, const void *key)
{
	const struct table_func *a = (const struct table_func *)funcs + id, *b = key;

	return a->name == b->name && a->linkage == b->linkage;
}

uint32_t builder_func(struct table_builder *b, const char *name, const char *linkage)
{
	uint32_t n = builder_string(b, name);
	uint32_t l = linkage && strcmp(linkage, name) ? builder_string(b, linkage) : 0;

	return builder_func_of(b, n, l == STR_UNKNOWN ? 0 : l);
}

uint32_t builder_func_of(struct table_builder *b, uint32_t name, uint32_t linkage)
{
	struct table_func func = { name, linkage };
	uint64_t h = hash_mix(name, linkage);
	uint32_t id = hash_index_find(&b->func_ids, h, same_func, b->func, &func);

	if (id == HASH_NONE) {
		id = b->n_func++;
		array_reserve(b->func, b->cap_func, b->n_func);
		b->func[id] = func;
		hash_index_add(&b->func_ids, h, id);
	}
	return id;
}

void builder_sequence_drop(struct table_builder *b)
{
	if (b->seq_open)
		b->n_row = b->seq_first;
	b->seq_open = b->seq_outside = false;
}

void builder_row(struct table_builder *b, uint64_t addr, uint32_t file, uint32_t line, bool stmt)
{
	uint32_t off;
	struct row *last;

	if (b->seq_open && addr < b->base + b->row[b->n_row - 1].off)
		builder_sequence_end(b, b->base + b->row[b->n_row - 1].off);
	/*
	 * A sequence that begins outside the text is dropped whole: a discarded function "at" 0 may
	 * be long enough to reach the text. One that leaves the text is cut off where it does.
	 */
	if (b->seq_outside || b->n_row >= NONE - 1)
		return;
	if (!builder_offset(b, addr, &off)) {
		b->seq_outside = !b->seq_open;
		return;
	}
	if (line > ROW_LINE)
		line = 0;
	if (line == 0)
		stmt = false;
	if (!b->seq_open) {
		b->seq_open = true;
		b->seq_first = b->n_row;
	} else {
		last = &b->row[b->n_row - 1];
		if (last->file == file && (last->line & ROW_LINE) == line) {
			if (last->off == off) {
				last->line |= stmt ? ROW_STMT : 0;
				return;
			}
			/* The same line goes on; only where a statement begins is it news. */
			if (!stmt || (last->line & ROW_STMT))
				return;
		} else if (last->off == off && !(last->line & ROW_STMT)) {
			b->n_row--;
			if (b->n_row == b->seq_first)
				b->seq_open = false;
			builder_row(b, addr, file, line, stmt);
			return;
		}
	}
	array_reserve(b->row, b->cap_row, b->n_row + 1);
	b->row[b->n_row++] = (struct row){ off, file, line | (stmt ? ROW_STMT : 0) };
}

void builder_sequence_end(struct table_builder *b, uint64_t addr)
{
	uint32_t start, text_end, end;

	b->seq_outside = false;
	if (!b->seq_open)
		return;
	start = b->row[b->seq_first].off;
	text_end = builder_text_end(b, start);
	end = addr < b->base ? 0 : addr - b->base > text_end ? text_end : addr - b->base;
	if (end <= start) {
		builder_sequence_drop(b);
		return;
	}
	while (b->row[b->n_row - 1].off >= end)
		b->n_row--;
	array_reserve(b->seq, b->cap_seq, b->n_seq + 1);
	b->seq[b->n_seq++] = (struct sequence){ start, end, b->seq_first, b->n_row - b->seq_first };
	b->seq_open = false;
}

uint32_t builder_scope(struct table_builder *b, uint32_t parent, uint32_t call_file,
		       uint32_t call_line)
{
	uint32_t id = b->n_scope;

	array_reserve(b->scope, b->cap_scope, b->n_scope + 1);
	array_reserve(b->scope_root, b->cap_scope_root, b->n_scope + 1);
	b->scope[id] = (struct table_scope){ 0, parent, call_file, call_line };
	b->scope_root[id] = parent == NONE ? id : b->scope_root[parent];
	b->n_scope++;
	return id;
}

bool builder_scope_range(struct table_builder *b, uint32_t scope, uint64_t start, uint64_t end)
{
	uint32_t off, text_end;

	if (start >= end || !builder_offset(b, start, &off))
		return false;
	text_end = builder_text_end(b, off);
	array_reserve(b->piece, b->cap_piece, b->n_piece + 1);
	b->piece[b->n_piece++] = (struct piece){
		off, end - b->base > text_end ? text_end : (uint32_t)(end - b->base), scope
	};
	return true;
}

void builder_symbol(struct table_builder *b, const char *name, uint64_t addr, uint64_t size,
		    int rank)
{
	uint32_t off;

	if (!*name || !builder_offset(b, addr, &off))
		return;
	array_reserve(b->symbol, b->cap_symbol, b->n_symbol + 1);
	b->symbol[b->n_symbol++] = (struct raw_symbol){ off, size > NONE ? NONE : (uint32_t)size,
							builder_string(b, name), rank };
}

void builder_unnamed(struct table_builder *b, uint64_t start, uint64_t end)
{
	uint32_t off, text_end;

	if (start >= end || !builder_offset(b, start, &off))
		return;
	text_end = builder_text_end(b, off);
	array_reserve(b->unnamed, b->cap_unnamed, b->n_unnamed + 1);
	b->unnamed[b->n_unnamed++] =
		(struct unnamed){ off,
				  end - b->base > text_end ? text_end : (uint32_t)(end - b->base) };
}
