// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collecting what a table is made of. The readers (DWARF, symbol tables, kallsyms) call in here in
 * any order; table_layout.c flattens the result.
 *
 * Whatever a file claims is checked against its text on the way in: rows, scopes and symbols
 * outside the executable sections are what the linker left of discarded sections (address 0 or a
 * tombstone), or nonsense, and are dropped. So everything kept fits in 32-bit offsets.
 */
#include "map/table_build.h"

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ (x >> 32);
}

static struct idmap_slot *idmap_find(struct idmap_slot *slot, size_t cap, uint64_t key)
{
	size_t i = mix(key) & (cap - 1);

	while (slot[i].value != NONE && slot[i].key != key)
		i = (i + 1) & (cap - 1);
	return &slot[i];
}

uint32_t idmap_add(struct idmap *m, uint64_t key, uint32_t fresh)
{
	struct idmap_slot *s;

	if (m->n * 2 >= m->cap) {
		size_t cap = m->cap ? m->cap * 2 : 256;
		struct idmap_slot *slot = xcalloc(cap, sizeof(*slot));

		for (size_t i = 0; i < cap; i++)
			slot[i].value = NONE;
		for (size_t i = 0; i < m->cap; i++) {
			if (m->slot[i].value != NONE)
				*idmap_find(slot, cap, m->slot[i].key) = m->slot[i];
		}
		free(m->slot);
		m->slot = slot;
		m->cap = cap;
	}
	s = idmap_find(m->slot, m->cap, key);
	if (s->value == NONE) {
		s->key = key;
		s->value = fresh;
		m->n++;
	}
	return s->value;
}

void idmap_free(struct idmap *m)
{
	free(m->slot);
	*m = (struct idmap){ 0 };
}

static uint64_t hash_string(const char *s, size_t n)
{
	uint64_t h = 0xcbf29ce484222325ULL ^ n;

	while (n >= 8) {
		uint64_t w;

		memcpy(&w, s, 8);
		h = (h ^ w) * 0x9fb21c651e98df25ULL;
		h ^= h >> 29;
		s += 8;
		n -= 8;
	}
	while (n--)
		h = (h ^ (uint8_t)*s++) * 0x100000001b3ULL;
	return mix(h);
}

static void strpool_grow(struct strpool *p)
{
	size_t n = p->n_slot ? p->n_slot * 2 : 1024;
	uint32_t *slot = xmalloc(n * sizeof(*slot));

	memset(slot, 0xff, n * sizeof(*slot));
	for (size_t i = 0; i < p->n_slot; i++) {
		const char *s;
		size_t k;

		if (p->slot[i] == NONE)
			continue;
		s = p->buf + p->slot[i];
		k = hash_string(s, strlen(s)) & (n - 1);
		while (slot[k] != NONE)
			k = (k + 1) & (n - 1);
		slot[k] = p->slot[i];
	}
	free(p->slot);
	p->slot = slot;
	p->n_slot = n;
}

uint32_t builder_string(struct table_builder *b, const char *s)
{
	struct strpool *p = &b->str;
	size_t len = strlen(s), k;

	if (p->n_strings * 2 >= p->n_slot)
		strpool_grow(p);
	k = hash_string(s, len) & (p->n_slot - 1);
	while (p->slot[k] != NONE) {
		if (!strcmp(p->buf + p->slot[k], s))
			return p->slot[k];
		k = (k + 1) & (p->n_slot - 1);
	}
	if (p->n + len + 1 >= NONE)
		return 0;
	array_reserve(p->buf, p->cap, p->n + len + 1);
	memcpy(p->buf + p->n, s, len + 1);
	p->slot[k] = p->n;
	p->n += len + 1;
	p->n_strings++;
	return p->slot[k];
}

void builder_init(struct table_builder *b)
{
	memset(b, 0, sizeof(*b));
	builder_string(b, "");
	builder_func(b, "[unknown]", NULL);
}

void builder_deinit(struct table_builder *b)
{
	addr_ranges_free(&b->text);
	free(b->phdr);
	free(b->str.buf);
	free(b->str.slot);
	idmap_free(&b->file_ids);
	idmap_free(&b->func_ids);
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
	uint32_t id = idmap_add(&b->file_ids, name, b->n_file);

	if (id == b->n_file) {
		array_reserve(b->file, b->cap_file, b->n_file + 1);
		b->file[b->n_file++] = name;
	}
	return id;
}

uint32_t builder_func(struct table_builder *b, const char *name, const char *linkage)
{
	uint32_t n = builder_string(b, name);
	uint32_t l = linkage && strcmp(linkage, name) ? builder_string(b, linkage) : 0;
	uint32_t id = idmap_add(&b->func_ids, (uint64_t)n << 32 | l, b->n_func);

	if (id == b->n_func) {
		array_reserve(b->func, b->cap_func, b->n_func + 1);
		b->func[b->n_func++] = (struct table_func){ n, l };
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
