// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unwind tables of a file that has nothing else: the first byte says how they are found (by a
 * section, or by the table of PT_GNU_EH_FRAME), the rest is that table's head and the tables.
 */
#include "tests/fuzz/fuzz.h"

#include "elf/eh_frame.h"
#include "elf/elf_image.h"

static bool take(const struct eh_frame_entry *e, void *arg)
{
	uint64_t *sum = arg;

	if (e->end <= e->start || e->program > e->program_end)
		abort();
	*sum += e->end - e->start;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t sum = 0;
	Elf *elf;

	if (!size || size - 1 > FUZZ_MAX_FRAMES)
		return 0;
	elf = fuzz_frames(data + 1, size - 1, data[0] & 1 ? ".eh_frame" : NULL);
	if (elf)
		eh_frame_walk(elf, EH_FRAME, take, &sum);
	elf_end(elf);
	return 0;
}
