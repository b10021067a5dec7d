// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unwind tables of a file that has nothing else: the first byte says how they are found (by a
 * section, or by the table of PT_GNU_EH_FRAME), the rest is that table's head and the tables.
 */
#include "tests/fuzz/fuzz.h"

#include "map/eh_frame.h"
#include "map/elf_image.h"

#define ADDRESS 0x1000
#define MAX	(64 << 10)

struct file {
	Elf64_Ehdr e;
	Elf64_Phdr p[2];
	Elf64_Shdr s[3];
	char names[16];
	_Alignas(16) uint8_t frames[MAX];
};

static bool take(uint64_t start, uint64_t end, void *arg)
{
	uint64_t *sum = arg;

	if (end <= start)
		abort();
	*sum += end - start;
	return true;
}

static void make(struct file *f, bool sections, size_t n)
{
	const size_t at = offsetof(struct file, frames);

	f->e = (Elf64_Ehdr){ .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					  ELFDATA2LSB, EV_CURRENT },
			     .e_type = ET_DYN,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_ehsize = sizeof(f->e),
			     .e_phoff = offsetof(struct file, p),
			     .e_phentsize = sizeof(f->p[0]),
			     .e_phnum = 2 };
	f->p[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
				.p_flags = PF_R | PF_X,
				.p_offset = at,
				.p_vaddr = ADDRESS,
				.p_filesz = n,
				.p_memsz = n };
	f->p[1] = f->p[0];
	f->p[1].p_type = PT_GNU_EH_FRAME;
	if (!sections)
		return;
	f->e.e_shoff = offsetof(struct file, s);
	f->e.e_shentsize = sizeof(f->s[0]);
	f->e.e_shnum = 3;
	f->e.e_shstrndx = 1;
	memcpy(f->names, "\0.eh_frame", 11);
	f->s[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct file, names),
				.sh_size = sizeof(f->names) };
	f->s[2] = (Elf64_Shdr){ .sh_name = 1,
				.sh_type = SHT_PROGBITS,
				.sh_addr = ADDRESS,
				.sh_offset = at,
				.sh_size = n };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct file *f;
	uint64_t sum = 0;
	Elf *elf;

	if (!size || size - 1 > MAX)
		return 0;
	f = xcalloc(1, sizeof(*f));
	make(f, data[0] & 1, size - 1);
	memcpy(f->frames, data + 1, size - 1);
	elf_image_init();
	elf = elf_memory((char *)f, offsetof(struct file, frames) + size - 1);
	if (elf)
		eh_frame_walk(elf, take, &sum);
	elf_end(elf);
	free(f);
	return 0;
}
