// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finished tables, as the cache and the symbolizer hand them over. Size and checksum are made
 * right: whoever makes such a file on purpose does that, too.
 */
#include "tests/fuzz/fuzz.h"

#include "table/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct table_header *h;
	struct maptable *t;
	void *mem;

	if (size < sizeof(*h)) {
		mem = xmalloc(size);
		memcpy(mem, data, size);
		maptable_free(table_attach(mem, size, false, true));
		return 0;
	}
	size -= size % 8;
	mem = xmalloc(size);
	memcpy(mem, data, size);
	h = mem;
	memcpy(h->magic, TABLE_MAGIC, sizeof(h->magic));
	h->version = TABLE_VERSION;
	h->endian = TABLE_ENDIAN;
	h->header_size = sizeof(*h);
	h->size = size;
	h->checksum = table_checksum(mem, size);
	t = table_attach(mem, size, false, true);
	if (t)
		fuzz_use_table(t);
	maptable_free(t);
	return 0;
}
