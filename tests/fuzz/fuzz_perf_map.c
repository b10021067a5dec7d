// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perf maps, which whoever runs a program writes. The first byte says where reading begins; what is
 * made of the rest is looked at as whoever gets it from another process does.
 */
#include "tests/fuzz/fuzz.h"

#include "table/table.h"

#include <unistd.h>

static void ask(const struct maptable *t, uint64_t address)
{
	struct map_frame f[2];
	uint64_t vaddr;

	if (maptable_offset_to_vaddr(t, address, &vaddr) && vaddr >= TABLE_PERF_MAP &&
	    maptable_lookup(t, vaddr, f, 2) > 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t from = size ? data[0] : 0;
	const struct fuzz_file *f;
	struct error err = { 0 };
	struct maptable *t;
	void *mem;

	if (!size)
		return 0;
	f = fuzz_file(data + 1, size - 1);
	t = table_of_perf_map(f->fd, "map", from, &err);
	if (!t || t->h->file_size < from || (from < size && t->h->file_size > size - 1))
		abort();
	mem = xmalloc(t->size);
	memcpy(mem, t->mem, t->size);
	((struct table_header *)mem)->checksum = table_checksum(mem, t->size);
	maptable_free(t);
	t = table_attach(mem, ((struct table_header *)mem)->size, false, true);
	if (!t)
		abort();
	for (uint64_t address = 0x1000; address < 0x1400; address += 8)
		ask(t, address);
	for (uint32_t i = 0; i < t->n_phdr; i++) {
		ask(t, t->phdr[i].offset - 1);
		ask(t, t->phdr[i].offset);
		ask(t, t->phdr[i].offset + t->phdr[i].filesz - 1);
		ask(t, t->phdr[i].offset + t->phdr[i].filesz);
	}
	fuzz_use_table(t);
	maptable_free(t);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate_lines(data, size, max, seed);
}
