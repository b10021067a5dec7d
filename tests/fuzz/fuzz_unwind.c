// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unwind tables made of hostile sections, and finished ones that are hostile. The first byte: 1
 * .eh_frame, 2 .debug_frame, other odd numbers where PT_GNU_EH_FRAME is, other even ones a finished
 * table. Then a stack is walked whose memory are the input's own bytes.
 */
#include "tests/fuzz/fuzz.h"

#include "unwind/unwind.h"
#include "unwind/unwind_table.h"

#define STACK 0x10000

struct input {
	const uint8_t *data;
	size_t n;
	const struct unwind_table *table;
};

static bool read_bytes(void *arg, uint64_t at, void *dst, size_t n)
{
	const struct input *in = arg;

	if (at < STACK || at - STACK > in->n || n > in->n - (at - STACK))
		return false;
	memcpy(dst, in->data + (at - STACK), n);
	return true;
}

static bool find(void *arg, uint64_t pc, const struct unwind_table **t, uint64_t *at)
{
	const struct input *in = arg;

	*t = pc & 1 << 20 ? NULL : in->table;
	*at = pc & 0xffff;
	return true;
}

static void use(struct input *in)
{
	struct unwind_source s = { in->table->h->machine, in, read_bytes, find };
	uint64_t base = in->table->h->base;
	struct unwind_registers r = { .known = ~0u };
	struct unwind_frame f[64];
	enum unwind_why why;

	for (uint32_t i = 0; i < in->table->h->n_row && i < 64; i++) {
		uint64_t at = base + in->table->off[i];

		if (unwind_table_find(in->table, at) != &in->table->rules[in->table->rule[i]])
			abort();
		r.pc = at & 0xffff;
		for (int k = 0; k < UNWIND_REGISTERS; k++)
			r.r[k] = STACK + 16 * k;
		if (!unwind_stack(&s, &r, f, ARRAY_SIZE(f), &why))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_table *t = NULL;
	struct input in;
	struct error err;

	if (!size || size - 1 > FUZZ_MAX_FRAMES)
		return 0;
	in = (struct input){ data + 1, size - 1, NULL };
	if (data[0] & 1 || data[0] == 2) {
		Elf *elf = fuzz_frames(in.data, in.n,
				       data[0] == 1   ? ".eh_frame"
				       : data[0] == 2 ? ".debug_frame"
						      : NULL);

		if (elf && !unwind_table_build(elf, "input", &t, &err) &&
		    unwind_table_size(t).bytes > 24 * in.n + 1024)
			abort();
		elf_end(elf);
	} else {
		uint8_t *copy = xmalloc(size);

		memcpy(copy, in.data, in.n);
		t = unwind_table_attach(copy, in.n, false);
	}
	in.table = t;
	if (t)
		use(&in);
	unwind_table_free(t);
	return 0;
}
