// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jitdumps, which whoever runs a program writes. The first byte says where the file ended when it
 * was read first, in steps of eight bytes: it is read in two parts, and at once.
 */
#include "tests/fuzz/fuzz_loads.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t first = size ? data[0] * 8 : 0;

	if (!size)
		return 0;
	data++;
	size--;
	if (first < size)
		fuzz_loads(data, first, CODE_LOADS_JITDUMP, 0);
	fuzz_loads(data, size, CODE_LOADS_JITDUMP, first);
	return fuzz_loads(data, size, CODE_LOADS_JITDUMP, 0);
}
