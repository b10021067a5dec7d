/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs tell of code that they make, from the file to who looks addresses up. */
#ifndef SCOZ_FUZZ_LOADS_H
#define SCOZ_FUZZ_LOADS_H

#include "tests/fuzz/fuzz.h"

#include "maps/made_code.h"

static void fuzz_find(struct made_code *c, const struct code_loads *l)
{
	struct made_function f;

	for (uint64_t address = 0x1000; address < 0x1400; address += 8)
		made_code_find(c, address, 0, &f);
	for (uint32_t i = 0; i < l->h->n_load && i < 1000; i++) {
		const struct code_load *load = &l->load[i];

		/* The last one that was told is there, as long as nothing else was told of it. */
		if (made_code_find(c, load->start, 0, &f) && (!f.name || f.until != UINT64_MAX))
			abort();
		made_code_find(c, load->start + load->size, load->time, &f);
		if (made_code_find(c, load->start, load->time, &f) && f.since > load->time &&
		    load->time)
			abort();
	}
}

static int fuzz_loads(const uint8_t *data, size_t size, enum code_loads_kind kind, uint64_t from)
{
	const struct fuzz_file *file = fuzz_file(data, size);
	struct made_names *names = made_names_create();
	struct made_code *c = made_code_create(names);
	struct error err = { 0 };
	struct code_loads *l = code_loads_read(file->fd, "file", kind, from, &err), *copy;
	void *mem;

	if (!l || l->h->next < from || (from <= size && l->h->next > size))
		abort();
	mem = xmalloc(l->size);
	memcpy(mem, l->mem, l->size);
	copy = code_loads_attach(mem, l->size, false);
	if (!copy)
		abort();
	code_loads_free(l);
	/* In little memory, as well, where what is covered has to go. */
	made_code_add(c, copy, 4096, 1);
	fuzz_find(c, copy);
	if (!made_code_add(c, copy, 1 << 30, 1))
		abort();
	fuzz_find(c, copy);
	made_code_clear(c);
	if (made_code_memory(c))
		abort();
	code_loads_free(copy);
	made_code_destroy(c);
	made_names_destroy(names);
	return 0;
}

#endif
