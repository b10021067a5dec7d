// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Entries are not sorted in a file, and nothing keeps them from overlapping. So the rows of all
 * are collected first, each entry's together; then the entries are sorted, and an entry ends where
 * the next one begins.
 */
#include "unwind/unwind.h"
#include "base/hash_index.h"
#include "unwind/unwind_cfi.h"

#include <gelf.h>

/* What a program does before it calls its first function, when nothing tells how long that is. */
#define ENTRY_CODE 128

/* Functions begin at multiples of it; what is between two of them is padding. */
#define ALIGNMENT 16

struct row {
	uint32_t off; /* from the entry's beginning */
	uint16_t rule;
};

struct entry {
	uint64_t start, end;
	size_t first; /* of its rows, which go on to those of the entry after it in the file */
	uint32_t n;
};

struct build {
	const struct cfi_machine *m;
	struct entry *entry;
	struct row *row;
	struct unwind_rule *rule;
	size_t n_sorted; /* of the entries: those of .eh_frame, once they are all there */
	size_t n_entry, cap_entry, n_row, cap_row, n_rule, cap_rule;
	struct hash_index by_content;
	uint64_t from; /* of the entry at hand */
	uint32_t n_strange, n_left;
};

static bool same_rule(const void *items, uint32_t number, const void *key)
{
	return !memcmp(&((const struct unwind_rule *)items)[number], key,
		       sizeof(struct unwind_rule));
}

static uint16_t rule_number(struct build *b, const struct unwind_rule *rule)
{
	uint64_t hash = hash_bytes(HASH_START, rule, sizeof(*rule));
	uint32_t i = hash_index_find(&b->by_content, hash, same_rule, b->rule, rule);

	if (i != HASH_NONE)
		return (uint16_t)i;
	if (b->n_rule == UNWIND_MAX_RULES) /* no program has that many */
		return UNWIND_STRANGE;
	array_reserve(b->rule, b->cap_rule, b->n_rule + 1);
	b->rule[b->n_rule] = *rule;
	hash_index_add(&b->by_content, hash, (uint32_t)b->n_rule);
	return (uint16_t)b->n_rule++;
}

static void add_row(void *arg, uint64_t address, const struct unwind_rule *rule)
{
	struct build *b = arg;
	struct entry *e = &b->entry[b->n_entry - 1];
	uint16_t number = rule_number(b, rule);

	if ((e->n && b->row[b->n_row - 1].rule == number) || address - b->from > UINT32_MAX)
		return;
	array_reserve(b->row, b->cap_row, b->n_row + 1);
	b->row[b->n_row++] = (struct row){ (uint32_t)(address - b->from), number };
	e->n++;
}

static bool add_entry(const struct eh_frame_entry *e, void *arg)
{
	struct build *b = arg;

	array_reserve(b->entry, b->cap_entry, b->n_entry + 1);
	b->entry[b->n_entry++] = (struct entry){ e->rules_from, e->end, b->n_row, 0 };
	b->from = e->rules_from;
	b->n_strange += !cfi_run(b->m, e, add_row, b);
	return b->n_row < UINT32_MAX - (64 << 10);
}

/* Where a program begins, nobody called: the dynamic linker's own beginning has no entry. */
static void add_entry_point(struct build *b, uint64_t address)
{
	const struct unwind_rule end = { .cfa = UNWIND_END };

	for (size_t i = 0; i < b->n_entry; i++) {
		if (address >= b->entry[i].start && address < b->entry[i].end)
			return;
	}
	if (!address || address > UINT64_MAX - ENTRY_CODE)
		return;
	array_reserve(b->entry, b->cap_entry, b->n_entry + 1);
	b->entry[b->n_entry++] = (struct entry){ address, address + ENTRY_CODE, b->n_row, 0 };
	b->from = address;
	add_row(b, address, &end);
}

static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

struct rows {
	uint32_t *off;
	uint16_t *rule;
	size_t n, cap;
};

static void put_row(struct rows *r, uint64_t off, uint16_t rule)
{
	if (r->n && r->off[r->n - 1] == off) {
		r->n--;
		if (r->n && r->rule[r->n - 1] == rule)
			return;
	} else if (r->n && r->rule[r->n - 1] == rule) {
		return;
	}
	if (r->n == r->cap) {
		r->cap += r->cap / 2 + 64;
		r->off = xreallocarray(r->off, r->cap, sizeof(*r->off));
		r->rule = xreallocarray(r->rule, r->cap, sizeof(*r->rule));
	}
	r->off[r->n] = (uint32_t)off;
	r->rule[r->n++] = rule;
}

static void put_entries(struct build *b, struct rows *rows)
{
	uint64_t base = b->entry[0].start, end = base;

	for (size_t i = 0; i < b->n_entry; i++) {
		const struct entry *e = &b->entry[i];
		uint64_t stop = i + 1 < b->n_entry && b->entry[i + 1].start < e->end
					? b->entry[i + 1].start
					: e->end;

		if (stop <= e->start || e->end - base > UINT32_MAX) {
			b->n_left++;
			continue;
		}
		if (e->start - end >= ALIGNMENT)
			put_row(rows, end - base, UNWIND_NOTHING);
		for (uint32_t k = 0; k < e->n; k++) {
			const struct row *r = &b->row[e->first + k];

			if (r->off < stop - e->start)
				put_row(rows, e->start - base + r->off, r->rule);
		}
		end = stop;
	}
	if (end > base)
		put_row(rows, end - base, UNWIND_NOTHING);
}

static void put_segments(Elf *elf, struct unwind_header *h)
{
	GElf_Phdr p;
	size_t n = 0;

	if (elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n && h->n_segment < UNWIND_MAX_SEGMENTS; i++) {
		if (gelf_getphdr(elf, i, &p) && p.p_type == PT_LOAD && p.p_flags & PF_X)
			h->segment[h->n_segment++] =
				(struct unwind_segment){ p.p_offset, p.p_filesz, p.p_vaddr };
	}
}

static struct unwind_table *lay_out(const struct build *b, const struct rows *rows, Elf *elf)
{
	struct unwind_header h = {
		.magic = UNWIND_MAGIC,
		.version = UNWIND_VERSION,
		.endian = UNWIND_ENDIAN,
		.base = b->entry[0].start,
		.machine = b->m->elf,
		.n_row = (uint32_t)rows->n,
		.n_rule = (uint32_t)b->n_rule,
		.n_entry = (uint32_t)b->n_entry,
		.n_strange = b->n_strange,
		.n_left = b->n_left,
	};
	uint8_t *mem, *p;

	put_segments(elf, &h);
	h.size = sizeof(h) + h.n_rule * sizeof(*b->rule) +
		 h.n_row * (sizeof(*rows->off) + sizeof(*rows->rule));
	p = mem = xmalloc(h.size);
	p = mempcpy(p, &h, sizeof(h));
	p = mempcpy(p, b->rule, h.n_rule * sizeof(*b->rule));
	p = mempcpy(p, rows->off, h.n_row * sizeof(*rows->off));
	memcpy(p, rows->rule, h.n_row * sizeof(*rows->rule));
	return unwind_table_attach(mem, h.size, false);
}

static void build_deinit(struct build *b)
{
	free(b->entry);
	free(b->row);
	free(b->rule);
	hash_index_deinit(&b->by_content);
}

/* @e is of .debug_frame: what .eh_frame covers is known. */
static bool add_missing(const struct eh_frame_entry *e, void *arg)
{
	struct build *b = arg;
	size_t low = 0, high = b->n_sorted;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (b->entry[mid].start <= e->rules_from)
			low = mid + 1;
		else
			high = mid;
	}
	return (low && e->rules_from < b->entry[low - 1].end) || add_entry(e, arg);
}

/*
 * What is compiled without .eh_frame (-fno-asynchronous-unwind-tables) has .debug_frame by -g, and
 * is linked with what has: the beginning of every program, the PLT.
 */
static bool collect(struct build *b, Elf *elf)
{
	bool found = eh_frame_walk(elf, EH_FRAME, add_entry, b);

	if (b->n_entry)
		qsort(b->entry, b->n_entry, sizeof(*b->entry), by_start);
	b->n_sorted = b->n_entry;
	return eh_frame_walk(elf, DEBUG_FRAME, add_missing, b) || found;
}

int unwind_table_build(Elf *elf, const char *name, struct unwind_table **ret, struct error *err)
{
	struct build b = { 0 };
	struct rows rows = { 0 };
	GElf_Ehdr ehdr;
	bool found;

	if (!gelf_getehdr(elf, &ehdr))
		return error_set(err, EINVAL, "%s: no complete ELF header", name);
	b.m = cfi_machine(ehdr.e_machine);
	if (!b.m || gelf_getclass(elf) != ELFCLASS64)
		return error_set(err, ENOTSUP,
				 "%s: how calls are unwound on its machine (ELF number %u) is not "
				 "known here",
				 name, ehdr.e_machine);
	/* Their numbers are those of their kinds. */
	rule_number(&b, &(struct unwind_rule){ .cfa = UNWIND_NOTHING });
	rule_number(&b, &(struct unwind_rule){ .cfa = UNWIND_END });
	rule_number(&b, &(struct unwind_rule){ .cfa = UNWIND_STRANGE });
	found = collect(&b, elf);
	if (!b.n_entry) {
		build_deinit(&b);
		if (!found)
			return error_set(err, ENODATA, "%s: has no .eh_frame", name);
		return error_set(err, EINVAL, "%s: .eh_frame: no entry in it can be read", name);
	}
	add_entry_point(&b, ehdr.e_entry);
	qsort(b.entry, b.n_entry, sizeof(*b.entry), by_start);
	put_entries(&b, &rows);
	*ret = rows.n ? lay_out(&b, &rows, elf) : NULL;
	build_deinit(&b);
	free(rows.off);
	free(rows.rule);
	return *ret ? 0
		    : error_set(err, EINVAL, "%s: .eh_frame: its entries lie too far apart", name);
}
