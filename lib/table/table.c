// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/table.h"

const uint8_t table_element_size[TA_COUNT] = {
	[TA_PHDR] = sizeof(struct table_phdr),
	[TA_TEXT] = sizeof(struct addr_range),
	[TA_ROW_OFF] = 4,
	[TA_ROW_FILE] = 4,
	[TA_ROW_LINE] = 4,
	[TA_FILE] = 4,
	[TA_IV_OFF] = 4,
	[TA_IV_SCOPE] = 4,
	[TA_SCOPE] = sizeof(struct table_scope),
	[TA_FUNC] = sizeof(struct table_func),
	[TA_SYM] = sizeof(struct table_sym),
	[TA_STR] = 1,
};

uint64_t table_checksum(const void *mem, size_t size)
{
	const char *p = mem;
	uint64_t h = 0x9e3779b97f4a7c15ULL ^ size;

	for (size_t i = 0; i + 8 <= size; i += 8) {
		uint64_t w;

		memcpy(&w, p + i, 8);
		if (i == offsetof(struct table_header, checksum))
			w = 0;
		h = (h ^ w) * 0x9fb21c651e98df25ULL;
		h ^= h >> 32;
	}
	return h;
}

uint32_t table_search(const uint32_t *off, uint32_t n, uint32_t x)
{
	uint32_t base = 0;

	if (!n || x < off[0])
		return NONE;
	/* Without branches that depend on the data: the compiler makes conditional moves of it. */
	while (n > 1) {
		uint32_t half = n / 2;

		base = off[base + half] <= x ? base + half : base;
		n -= half;
	}
	return base;
}

static bool sorted(const uint32_t *v, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		if (v[i] < v[i - 1])
			return false;
	}
	return true;
}

static bool below(const uint32_t *v, uint32_t n, uint32_t limit, bool none_allowed)
{
	for (uint32_t i = 0; i < n; i++) {
		if (v[i] >= limit && !(none_allowed && v[i] == NONE))
			return false;
	}
	return true;
}

static bool header_ok(const struct table_header *h, size_t size)
{
	if (size < sizeof(*h) || memcmp(h->magic, TABLE_MAGIC, sizeof(h->magic)) ||
	    h->version != TABLE_VERSION || h->endian != TABLE_ENDIAN ||
	    h->header_size != sizeof(*h) || h->size != size || size % 8)
		return false;
	for (int a = 0; a < TA_COUNT; a++) {
		uint64_t off = h->array[a].offset, n = h->array[a].n;

		if (off % 8 || off < sizeof(*h) || off > size || n >= NONE ||
		    n > (size - off) / table_element_size[a])
			return false;
	}
	return h->array[TA_STR].n > 0 && h->array[TA_ROW_OFF].n == h->array[TA_ROW_FILE].n &&
	       h->array[TA_ROW_OFF].n == h->array[TA_ROW_LINE].n &&
	       h->array[TA_IV_OFF].n == h->array[TA_IV_SCOPE].n &&
	       h->checksum == table_checksum(h, size);
}

static bool content_ok(const struct maptable *t)
{
	uint32_t n_str = t->h->array[TA_STR].n;

	if (t->str[n_str - 1] || t->h->warning >= n_str || t->h->debug_path >= n_str || !t->n_func)
		return false;
	if (!sorted(t->row_off, t->n_row) || !sorted(t->iv_off, t->n_iv) ||
	    !below(t->row_file, t->n_row, t->n_file, true) ||
	    !below(t->file, t->n_file, n_str, false) ||
	    !below(t->iv_scope, t->n_iv, t->n_scope, true))
		return false;
	for (uint32_t i = 0; i < t->n_scope; i++) {
		const struct table_scope *s = &t->scope[i];

		if (s->func >= t->n_func || (s->parent != NONE && s->parent >= i) ||
		    (s->call_file != NONE && s->call_file >= t->n_file))
			return false;
	}
	for (uint32_t i = 0; i < t->n_func; i++) {
		if (t->func[i].name >= n_str || t->func[i].linkage >= n_str)
			return false;
	}
	for (uint32_t i = 0; i < t->n_sym; i++) {
		if (t->sym[i].func >= t->n_func)
			return false;
	}
	return true;
}

struct maptable *table_attach(void *mem, size_t size, bool mapped, bool check)
{
	struct maptable *t = xcalloc(1, sizeof(*t));
	const struct table_header *h = mem;

	t->mem = mem;
	t->size = size;
	t->mapped = mapped;
	t->h = h;
	if (check && !header_ok(h, size)) {
		maptable_free(t);
		return NULL;
	}
#define ATTACH(field, array_id) \
	do { \
		t->field = (const void *)((const char *)mem + h->array[array_id].offset); \
		t->n_##field = h->array[array_id].n; \
	} while (0)
	ATTACH(phdr, TA_PHDR);
	ATTACH(text, TA_TEXT);
	ATTACH(file, TA_FILE);
	ATTACH(scope, TA_SCOPE);
	ATTACH(func, TA_FUNC);
	ATTACH(sym, TA_SYM);
#undef ATTACH
	t->row_off = (const void *)((const char *)mem + h->array[TA_ROW_OFF].offset);
	t->row_file = (const void *)((const char *)mem + h->array[TA_ROW_FILE].offset);
	t->row_line = (const void *)((const char *)mem + h->array[TA_ROW_LINE].offset);
	t->n_row = h->array[TA_ROW_OFF].n;
	t->iv_off = (const void *)((const char *)mem + h->array[TA_IV_OFF].offset);
	t->iv_scope = (const void *)((const char *)mem + h->array[TA_IV_SCOPE].offset);
	t->n_iv = h->array[TA_IV_OFF].n;
	t->str = (const char *)mem + h->array[TA_STR].offset;
	if (check && !content_ok(t)) {
		maptable_free(t);
		return NULL;
	}
	return t;
}

void maptable_free(struct maptable *t)
{
	if (!t)
		return;
	if (t->counted)
		__atomic_sub_fetch(t->counted, t->size, __ATOMIC_RELAXED);
	block_free(t->mem, t->size, t->mapped);
	free(t->segments);
	free(t->name);
	free(t);
}

const char *maptable_name(const struct maptable *t)
{
	return t->name ? t->name : "[unknown]";
}

enum map_source maptable_source(const struct maptable *t)
{
	return t->h->source;
}

bool maptable_is_program(const struct maptable *t)
{
	return t->h->flags & TABLE_PROGRAM;
}

bool maptable_is_stripped(const struct maptable *t)
{
	return t->h->flags & TABLE_STRIPPED;
}

const char *maptable_warning(const struct maptable *t)
{
	return t->h->warning ? t->str + t->h->warning : NULL;
}

uint64_t maptable_code_vaddr(const struct maptable *t)
{
	return t->h->code_vaddr;
}

void maptable_code(const struct maptable *t, struct map_code *ret)
{
	*ret = (struct map_code){ .n = 0 };
	for (uint32_t i = 0; i < t->n_phdr && ret->n < MAP_STRETCHES; i++) {
		const struct table_phdr *p = &t->phdr[i];

		if (p->exec)
			ret->stretch[ret->n++] =
				(struct map_stretch){ p->offset, p->filesz, p->vaddr };
	}
}

/* An executable segment that holds the place comes before one that does not. */
bool maptable_offset_to_vaddr(const struct maptable *t, uint64_t offset, uint64_t *vaddr)
{
	const struct table_phdr *best = NULL;

	for (uint32_t i = 0; i < t->n_phdr; i++) {
		const struct table_phdr *p = &t->phdr[i];

		if (offset >= p->offset && offset - p->offset < p->filesz &&
		    (!best || (p->exec && !best->exec)))
			best = p;
	}
	if (!best)
		return false;
	*vaddr = best->vaddr + (offset - best->offset);
	return true;
}

bool maptable_vaddr_to_offset(const struct maptable *t, uint64_t vaddr, uint64_t *offset)
{
	for (uint32_t i = 0; i < t->n_phdr; i++) {
		const struct table_phdr *p = &t->phdr[i];

		if (vaddr >= p->vaddr && vaddr - p->vaddr < p->filesz) {
			*offset = p->offset + (vaddr - p->vaddr);
			return true;
		}
	}
	return false;
}
