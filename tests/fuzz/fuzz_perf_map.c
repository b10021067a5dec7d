// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perf maps, which whoever runs a program writes. The first byte says where reading begins; what is
 * made of the rest is looked at as whoever gets it from another process does.
 */
#include "tests/fuzz/fuzz_loads.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return size ? fuzz_loads(data + 1, size - 1, CODE_LOADS_PERF_MAP, data[0]) : 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate_lines(data, size, max, seed);
}
