// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/unwind_table.h"
#include "unwind/unwind.h"
#include "unwind/unwind_cfi.h"

#include <unistd.h>

static bool good_rule(const struct unwind_rule *r, const struct cfi_machine *m)
{
	if (r->cfa >= UNWIND_CFA_KINDS || r->cfa_reg >= m->n)
		return false;
	for (int i = 0; i < UNWIND_FOLLOWED; i++) {
		if (r->at[i].place >= UNWIND_PLACES || r->at[i].reg >= m->n)
			return false;
	}
	return true;
}

static bool good_table(const struct unwind_table *t, size_t size)
{
	const struct unwind_header *h = t->h;
	const struct cfi_machine *m;
	uint64_t want;

	if (size < sizeof(*h) || memcmp(h->magic, UNWIND_MAGIC, sizeof(h->magic)) ||
	    h->version != UNWIND_VERSION || h->endian != UNWIND_ENDIAN || h->size != size)
		return false;
	m = cfi_machine(h->machine);
	want = sizeof(*h) + (uint64_t)h->n_rule * sizeof(*t->rules) +
	       (uint64_t)h->n_row * (sizeof(*t->off) + sizeof(*t->rule));
	if (!m || !h->n_row || h->n_segment > UNWIND_MAX_SEGMENTS || h->n_rule > UNWIND_MAX_RULES ||
	    want != size)
		return false;
	for (uint32_t i = 0; i < h->n_rule; i++) {
		if (!good_rule(&t->rules[i], m))
			return false;
	}
	for (uint32_t i = 0; i < h->n_row; i++) {
		if (t->rule[i] >= h->n_rule || (i && t->off[i] <= t->off[i - 1]))
			return false;
	}
	return true;
}

struct unwind_table *unwind_table_attach(void *mem, size_t size, bool mapped)
{
	struct unwind_table *t = xcalloc(1, sizeof(*t));

	t->mem = mem;
	t->mapped = mapped;
	t->size = size;
	t->h = mem;
	if (size >= sizeof(*t->h)) {
		t->rules = (const void *)(t->h + 1);
		t->off = (const void *)(t->rules + t->h->n_rule);
		t->rule = (const void *)(t->off + t->h->n_row);
	}
	if (!good_table(t, size)) {
		unwind_table_free(t);
		return NULL;
	}
	return t;
}

void unwind_table_free(struct unwind_table *t)
{
	if (!t)
		return;
	block_free(t->mem, t->size, t->mapped);
	free(t);
}

const struct unwind_rule *unwind_table_find(const struct unwind_table *t, uint64_t pc)
{
	static const struct unwind_rule nothing = { .cfa = UNWIND_NOTHING };
	uint32_t low = 0, high = t->h->n_row;

	if (pc < t->h->base || pc - t->h->base > UINT32_MAX)
		return &nothing;
	pc -= t->h->base;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->off[middle] <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &t->rules[t->rule[low - 1]] : &nothing;
}

bool unwind_table_bias(const struct unwind_table *t, uint64_t start, uint64_t pgoff, uint64_t *bias)
{
	uint64_t page = sysconf(_SC_PAGESIZE);

	for (uint32_t i = 0; i < t->h->n_segment; i++) {
		const struct unwind_segment *s = &t->h->segment[i];
		uint64_t first = s->offset & ~(page - 1);

		if (pgoff >= first && pgoff - first < s->size + (s->offset - first)) {
			*bias = start - (s->vaddr + (pgoff - s->offset));
			return true;
		}
	}
	return false;
}

struct unwind_table_size unwind_table_size(const struct unwind_table *t)
{
	return (struct unwind_table_size){ t->h->size,	  t->h->n_row,	   t->h->n_rule,
					   t->h->n_entry, t->h->n_strange, t->h->n_left };
}
