// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of ELF files: both readers, that of programs and that of kernel images and modules. */
#include "tests/fuzz/fuzz.h"

#include "elf/table_make.h"
#include "maps/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct fuzz_file *f = fuzz_file(data, size);
	struct error err;

	for (int kernel = 0; kernel < 2; kernel++) {
		const struct map_options opt = { .kernel = kernel, .debug_root = "/nonexistent" };
		struct maptable *t = NULL;

		if (maptable_make_fd(f->fd, "input", &opt, &t, &err))
			continue;
		fuzz_use_table(t);
		maptable_free(t);
	}
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate_elf(data, size, max, seed);
}
