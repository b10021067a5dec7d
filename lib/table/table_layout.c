// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flattening: from sequences, pieces of scopes and symbols to the sorted arrays of a table.
 *
 * Scopes are swept from low to high addresses with a stack: where a piece begins, its scope holds
 * from there on; where it ends, whatever is still open below it on the stack does. A piece of a
 * child sorts after the piece of its parent that it lies in (same start: longer first, then lower
 * scope number), so children paint over parents. Files are not to be trusted, so pieces need not
 * nest: the sweep only relies on starts being sorted.
 *
 * Symbols are swept by themselves and fill what DWARF left open; functions without names fill what
 * both left open.
 */
#include "table/table_build.h"

struct intervals {
	uint32_t *off, *scope;
	size_t n, cap_off, cap_scope;
};

static void mark(struct intervals *iv, uint32_t off, uint32_t scope)
{
	if (iv->n && iv->off[iv->n - 1] == off) {
		iv->scope[iv->n - 1] = scope;
		if (iv->n > 1 && iv->scope[iv->n - 2] == scope)
			iv->n--;
		return;
	}
	if (iv->n ? iv->scope[iv->n - 1] == scope : scope == NONE)
		return;
	array_reserve(iv->off, iv->cap_off, iv->n + 1);
	array_reserve(iv->scope, iv->cap_scope, iv->n + 1);
	iv->off[iv->n] = off;
	iv->scope[iv->n++] = scope;
}

static uint32_t scope_at(const struct intervals *iv, uint32_t off)
{
	uint32_t i = table_search(iv->off, iv->n, off);

	return i == NONE ? NONE : iv->scope[i];
}

static int compare_piece(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return (a->scope > b->scope) - (a->scope < b->scope);
}

struct stack {
	struct piece *p;
	size_t n, cap;
};

static void close_until(struct stack *st, struct intervals *iv, uint32_t off)
{
	while (st->n && st->p[st->n - 1].end <= off) {
		uint32_t end = st->p[--st->n].end;

		while (st->n && st->p[st->n - 1].end <= end)
			st->n--;
		mark(iv, end, st->n ? st->p[st->n - 1].scope : NONE);
	}
}

/* @nest: pieces of different functions may lie in each other (symbols); else the first wins. */
static void sweep(struct piece *piece, size_t n, const uint32_t *root, bool nest,
		  struct intervals *iv)
{
	struct stack st = { 0 };

	sort_array(piece, n, sizeof(*piece), compare_piece);
	for (size_t i = 0; i < n; i++) {
		close_until(&st, iv, piece[i].start);
		if (!nest && st.n && root[piece[i].scope] != root[st.p[0].scope])
			continue;
		array_reserve(st.p, st.cap, st.n + 1);
		st.p[st.n++] = piece[i];
		mark(iv, piece[i].start, piece[i].scope);
	}
	close_until(&st, iv, NONE);
	free(st.p);
}

static int compare_symbol(const void *pa, const void *pb)
{
	const struct raw_symbol *a = pa, *b = pb;

	if (a->off != b->off)
		return a->off < b->off ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static bool func_is(const struct table_builder *b, uint32_t func, uint32_t name)
{
	return b->func[func].name == name || b->func[func].linkage == name;
}

static uint32_t add_shown(struct table_builder *b, uint32_t name, bool *cold)
{
	_cleanup_free_ char *raw = xstrdup(b->str.buf + name);
	_cleanup_free_ char *shown = symbol_display_name(raw, cold, &b->demangling_left);

	return builder_func(b, shown, raw);
}

/*
 * Symbols that DWARF does not know become functions of their own or further names of one; @dwarf
 * are the intervals so far.
 */
static void add_symbols(struct table_builder *b, const struct intervals *dwarf, struct piece **ret,
			size_t *n_ret)
{
	size_t n = 0, cap = 0;
	struct piece *piece = NULL;

	sort_array(b->symbol, b->n_symbol, sizeof(*b->symbol), compare_symbol);
	for (size_t i = 0, next; i < b->n_symbol; i = next) {
		uint32_t off = b->symbol[i].off, known = scope_at(dwarf, off);
		uint32_t limit = builder_text_end(b, off), best = NONE, best_size = 0;

		for (next = i; next < b->n_symbol && b->symbol[next].off == off; next++)
			;
		for (size_t k = i; k < next; k++) {
			const struct raw_symbol *s = &b->symbol[k];
			uint32_t size = s->size, name = s->name, func;
			bool cold = false;

			if (k > i && name == s[-1].name)
				continue;
			if (!size)
				size = (next < b->n_symbol ? b->symbol[next].off : limit) - off;
			if (size > limit - off)
				size = limit - off;
			if (known != NONE && func_is(b, b->scope[b->scope_root[known]].func, name))
				continue;
			if (symbol_is_name(b->str.buf + name))
				func = builder_func_of(b, name, 0);
			else
				func = add_shown(b, name, &cold);
			/* A cold part that DWARF attributes to its function is no news either. */
			if (!(cold && known != NONE)) {
				array_reserve(b->sym, b->cap_sym, b->n_sym + 1);
				b->sym[b->n_sym++] =
					(struct table_sym){ func, off, size, cold ? SYM_COLD : 0 };
			}
			if (best == NONE)
				best = func;
			if (size > best_size)
				best_size = size;
		}
		if (best == NONE || !best_size)
			continue;
		if (known != NONE && scope_at(dwarf, off + best_size - 1) != NONE)
			continue;
		array_reserve(piece, cap, n + 1);
		piece[n] = (struct piece){ off, off + best_size, builder_scope(b, NONE, NONE, 0) };
		b->scope[piece[n++].scope].func = best;
	}
	*ret = piece;
	*n_ret = n;
}

/* @under shows through where @over has nothing. */
static void combine(const struct intervals *over, const struct intervals *under,
		    struct intervals *ret)
{
	uint32_t o = NONE, u = NONE;

	for (size_t i = 0, k = 0; i < over->n || k < under->n;) {
		uint32_t oo = i < over->n ? over->off[i] : NONE;
		uint32_t uo = k < under->n ? under->off[k] : NONE;

		if (oo <= uo)
			o = over->scope[i++];
		if (uo <= oo)
			u = under->scope[k++];
		mark(ret, oo < uo ? oo : uo, o != NONE ? o : u);
	}
}

/* Functions whose beginning nothing in @known covers. */
static void sweep_unnamed(struct table_builder *b, const struct intervals *known,
			  struct intervals *ret)
{
	struct piece *piece = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < b->n_unnamed; i++) {
		const struct unnamed *u = &b->unnamed[i];
		char name[32];

		if (scope_at(known, u->off) != NONE)
			continue;
		snprintf(name, sizeof(name), "0x%llx", (unsigned long long)(b->base + u->off));
		array_reserve(piece, cap, n + 1);
		piece[n] = (struct piece){ u->off, u->end, builder_scope(b, NONE, NONE, 0) };
		b->scope[piece[n++].scope].func = builder_func(b, name, NULL);
	}
	sweep(piece, n, b->scope_root, true, ret);
	free(piece);
}

static void free_intervals(struct intervals *iv)
{
	free(iv->off);
	free(iv->scope);
}

static void make_intervals(struct table_builder *b, struct intervals *ret)
{
	struct intervals dwarf = { 0 }, symbols = { 0 }, named = { 0 }, unnamed = { 0 };
	struct piece *piece;
	size_t n;

	sweep(b->piece, b->n_piece, b->scope_root, false, &dwarf);
	add_symbols(b, &dwarf, &piece, &n);
	sweep(piece, n, b->scope_root, true, &symbols);
	free(piece);
	combine(&dwarf, &symbols, &named);
	sweep_unnamed(b, &named, &unnamed);
	combine(&named, &unnamed, ret);
	free_intervals(&dwarf);
	free_intervals(&symbols);
	free_intervals(&named);
	free_intervals(&unnamed);
}

static int compare_sequence(const void *pa, const void *pb)
{
	const struct sequence *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/*
 * Rows of all sequences in order; of overlapping sequences the first keeps what it covers.
 * Returns the number of rows, which are written out when the arrays are given.
 */
static size_t make_rows(const struct table_builder *b, uint32_t *off, uint32_t *file,
			uint32_t *line)
{
	uint32_t covered = 0;
	size_t n = 0;

	for (size_t i = 0; i < b->n_seq; i++) {
		const struct sequence *s = &b->seq[i];
		const struct row *r = &b->row[s->first], *end = r + s->n;
		uint32_t from = s->start;

		if (s->end <= covered)
			continue;
		if (from < covered) {
			from = covered;
			while (r + 1 < end && r[1].off <= covered)
				r++;
		}
		for (; r < end; r++, n++) {
			if (!off)
				continue;
			off[n] = r->off < from ? from : r->off;
			file[n] = r->file;
			line[n] = r->off < from ? r->line & ROW_LINE : r->line;
		}
		covered = s->end;
		if (i + 1 == b->n_seq || b->seq[i + 1].start > covered) {
			if (off) {
				off[n] = covered;
				file[n] = NONE;
				line[n] = 0;
			}
			n++;
		}
	}
	return n;
}

static uint64_t place(struct table_header *h, enum table_array a, uint64_t at, size_t n)
{
	at = (at + 7) & ~7ULL;
	h->array[a].offset = at;
	h->array[a].n = n;
	return at + n * table_element_size[a];
}

static void fill(void *mem, const struct table_header *h, enum table_array a, const void *src)
{
	if (h->array[a].n)
		memcpy((char *)mem + h->array[a].offset, src,
		       h->array[a].n * table_element_size[a]);
}

struct maptable *builder_finish(struct table_builder *b, enum map_source source,
				const struct table_identity *id)
{
	struct table_header h = {
		.magic = TABLE_MAGIC,
		.version = TABLE_VERSION,
		.endian = TABLE_ENDIAN,
		.header_size = sizeof(h),
		.source = source,
		.flags = b->flags,
		.file_size = id->file_size,
		.file_ctime_ns = id->file_ctime_ns,
		.debug_fingerprint = id->debug_fingerprint,
		.base = b->base,
		.code_vaddr = b->code_vaddr,
	};
	struct intervals iv = { 0 };
	size_t n_row;
	uint64_t at;
	char *mem;

	builder_sequence_drop(b);
	make_intervals(b, &iv);
	sort_array(b->seq, b->n_seq, sizeof(*b->seq), compare_sequence);
	n_row = make_rows(b, NULL, NULL, NULL);
	b->str.max = NONE - 1; /* what follows is small, and must be there */
	h.debug_path = builder_string(b, id->debug_path ? id->debug_path : "");
	h.warning = builder_string(b, b->warning ? b->warning : "");

	at = place(&h, TA_PHDR, sizeof(h), b->n_phdr);
	at = place(&h, TA_TEXT, at, b->text.n);
	at = place(&h, TA_ROW_OFF, at, n_row);
	at = place(&h, TA_ROW_FILE, at, n_row);
	at = place(&h, TA_ROW_LINE, at, n_row);
	at = place(&h, TA_FILE, at, b->n_file);
	at = place(&h, TA_IV_OFF, at, iv.n);
	at = place(&h, TA_IV_SCOPE, at, iv.n);
	at = place(&h, TA_SCOPE, at, b->n_scope);
	at = place(&h, TA_FUNC, at, b->n_func);
	at = place(&h, TA_SYM, at, b->n_sym);
	at = place(&h, TA_STR, at, b->str.n);
	h.size = (at + 7) & ~7ULL;
	mem = xcalloc(1, h.size);
	memcpy(mem, &h, sizeof(h));
	fill(mem, &h, TA_PHDR, b->phdr);
	fill(mem, &h, TA_TEXT, b->text.r);
	make_rows(b, (uint32_t *)(mem + h.array[TA_ROW_OFF].offset),
		  (uint32_t *)(mem + h.array[TA_ROW_FILE].offset),
		  (uint32_t *)(mem + h.array[TA_ROW_LINE].offset));
	fill(mem, &h, TA_FILE, b->file);
	fill(mem, &h, TA_IV_OFF, iv.off);
	fill(mem, &h, TA_IV_SCOPE, iv.scope);
	fill(mem, &h, TA_SCOPE, b->scope);
	fill(mem, &h, TA_FUNC, b->func);
	fill(mem, &h, TA_SYM, b->sym);
	fill(mem, &h, TA_STR, b->str.buf);
	free_intervals(&iv);
	return table_attach(mem, h.size, false, false);
}
