// SPDX-License-Identifier: GPL-2.0-or-later
/* Code of x86 and arm64 (first byte) that control is followed through. */
#include "tests/fuzz/fuzz.h"

#include "progress/instructions.h"
#include "record/call_check.h"

#include <elf.h>

static void check(const struct code_flow *f)
{
	const struct code *c = &f->code;
	uint64_t addr, last = 0;

	for (addr = c->start; code_flow_after(f, addr, &addr); last = addr) {
		unsigned int n = code_length(c, addr);

		if (addr < c->start || addr >= c->end || (last && addr <= last) || !n ||
		    n > c->end - addr || !code_flow_begins(f, addr))
			abort();
	}
	for (addr = c->end; code_flow_before(f, addr, &addr);) {
		if (addr < c->start || addr >= c->end)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes;
	struct code c;
	struct code_flow f;
	uint64_t target;

	if (size < 2)
		return 0;
	/* Of just that size, so that what lies beyond is noticed. */
	bytes = xmalloc(size - 1);
	memcpy(bytes, data + 1, size - 1);
	c = (struct code){ .machine = data[0] & 1 ? EM_AARCH64 : EM_X86_64,
			   .bytes = bytes,
			   .start = data[0] & 2 ? 0x401000 : UINT64_MAX - size };
	c.end = c.start + size - 1;
	code_flow_init(&f, &c);
	code_flow_enter(&f, c.start);
	code_flow_enter(&f, c.start + size / 2);
	code_flow_enter(&f, c.end);
	if (!f.conflict)
		check(&f);
	code_flow_deinit(&f);
	code_is_nop(&c, c.start);
	code_decode_call(bytes, size - 1, c.end, &target);
	free(bytes);
	return 0;
}
