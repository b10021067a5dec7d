// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What has to be ordered in the BPF programs, as it was compiled: x86 orders more than it is asked
 * for, so that nothing would show there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <gelf.h>
#include <linux/bpf.h>

#include "base/base.h"
#include "scoz.skel.h"

struct function {
	const struct bpf_insn *insns;
	size_t n;
};

/* Of @section, which holds functions that programs call. */
static Elf_Data *data_of(Elf *elf, size_t section)
{
	return elf_getdata(elf_getscn(elf, section), NULL);
}

static struct function find(Elf *elf, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *scn = NULL;
	GElf_Sym symbol;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *symbols = elf_getdata(scn, NULL);

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		for (int i = 0; gelf_getsym(symbols, i, &symbol); i++) {
			const char *is = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && is && !strcmp(is, name))
				return (struct function){
					(const struct bpf_insn *)((const char *)data_of(
									  elf, symbol.st_shndx)
									  ->d_buf +
								  symbol.st_value),
					symbol.st_size / sizeof(struct bpf_insn)
				};
		}
	}
	fail_msg("there is no function %s", name);
	return (struct function){};
}

static bool is_exchange(const struct bpf_insn *i)
{
	return i->code == (BPF_STX | BPF_ATOMIC | BPF_W) && i->imm == BPF_XCHG;
}

/* Common debt is waived under a lock; whoever takes it next has to find what was taken off. */
static void waivers_are_ordered(void **state)
{
	const struct bpf_insn *lock = NULL;
	size_t size, exchanges = 0;
	const void *bytes = scoz__elf_bytes(&size);
	struct function f;
	Elf *elf;

	(void)state;
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)bytes, size);
	assert_non_null(elf);
	f = find(elf, "account_hit");
	for (size_t i = 0; i < f.n && !lock; i++)
		lock = is_exchange(&f.insns[i]) ? &f.insns[i] : NULL;
	assert_non_null(lock);
	for (size_t i = 0; i < f.n; i++) {
		const struct bpf_insn *x = &f.insns[i];

		if (x->off != lock->off)
			continue;
		exchanges += is_exchange(x);
		/* A plain store may come to be seen before what it is to protect. */
		assert_false(x->code == (BPF_STX | BPF_MEM | BPF_W) ||
			     x->code == (BPF_ST | BPF_MEM | BPF_W));
	}
	assert_int_equal(exchanges, 2);
	elf_end(elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waivers_are_ordered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
