// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/fuzz/fuzz.h"

#include "elf/elf_image.h"
#include "maps/maps.h"

#include <sys/mman.h>
#include <unistd.h>

const struct fuzz_file *fuzz_file(const void *data, size_t size)
{
	static struct fuzz_file f = { .fd = -1 };

	if (f.fd < 0) {
		f.fd = memfd_create("input", MFD_CLOEXEC);
		snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
	}
	if (f.fd < 0 || ftruncate(f.fd, 0) || lseek(f.fd, 0, SEEK_SET) ||
	    write(f.fd, data, size) != (ssize_t)size || lseek(f.fd, 0, SEEK_SET))
		abort();
	return &f;
}

FILE *fuzz_sink(void)
{
	FILE *f = fopen("/dev/null", "we");

	if (!f)
		abort();
	return f;
}

#define ADDRESS 0x1000

struct frames_file {
	Elf64_Ehdr e;
	Elf64_Phdr p[2];
	Elf64_Shdr s[3];
	char names[16];
	_Alignas(16) uint8_t frames[FUZZ_MAX_FRAMES];
};

Elf *fuzz_frames(const uint8_t *frames, size_t n, const char *section)
{
	static struct frames_file f;
	const size_t at = offsetof(struct frames_file, frames);

	f.e = (Elf64_Ehdr){ .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_ehsize = sizeof(f.e),
			    .e_phoff = offsetof(struct frames_file, p),
			    .e_phentsize = sizeof(f.p[0]),
			    .e_phnum = 2 };
	f.p[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_offset = at,
			       .p_vaddr = ADDRESS,
			       .p_filesz = n,
			       .p_memsz = n };
	f.p[1] = f.p[0];
	f.p[1].p_type = PT_GNU_EH_FRAME;
	if (section) {
		f.e.e_shoff = offsetof(struct frames_file, s);
		f.e.e_shentsize = sizeof(f.s[0]);
		f.e.e_shnum = 3;
		f.e.e_shstrndx = 1;
		strncpy(f.names + 1, section, sizeof(f.names) - 2);
		f.s[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				       .sh_offset = offsetof(struct frames_file, names),
				       .sh_size = sizeof(f.names) };
		f.s[2] = (Elf64_Shdr){ .sh_name = 1,
				       .sh_type = SHT_PROGBITS,
				       .sh_addr = ADDRESS,
				       .sh_offset = at,
				       .sh_size = n };
	}
	memcpy(f.frames, frames, n);
	elf_image_init();
	return elf_memory((char *)&f, at + n);
}

static void ask_name(const struct maptable *t, const char *name)
{
	struct addr_ranges r;
	uint64_t addr, *addrs;
	size_t n;

	if (!maptable_function_ranges(t, name, &r, NULL))
		addr_ranges_free(&r);
	maptable_function_address(t, name, &addr, NULL);
	if (!maptable_function_addresses(t, name, &addrs, &n, NULL))
		free(addrs);
	free(maptable_function_overloads(t, name));
}

static void ask_line(const struct maptable *t, const char *file, uint32_t line)
{
	struct addr_ranges r;
	uint64_t *addrs;
	size_t n;

	if (!maptable_lines_ranges(t, file, line, line, &r, NULL))
		addr_ranges_free(&r);
	if (!maptable_line_addresses(t, file, line, &addrs, &n, NULL))
		free(addrs);
}

static void ask_address(const struct maptable *t, uint64_t addr, unsigned int *names)
{
	struct map_frame frames[MAP_MAX_INLINE];
	int n = maptable_lookup(t, addr, frames, ARRAY_SIZE(frames));
	uint64_t other;

	for (int i = 0; i < n; i++) {
		/* What it says must be there to be read, to its end. */
		if (strlen(frames[i].function) > 1 << 20 ||
		    (frames[i].file && strlen(frames[i].file) > 1 << 20))
			abort();
		if ((*names)++ > 16)
			continue;
		ask_name(t, frames[i].function);
		if (frames[i].file)
			ask_line(t, frames[i].file, frames[i].line);
	}
	maptable_vaddr_to_offset(t, addr, &other);
	maptable_offset_to_vaddr(t, addr, &other);
}

void fuzz_use_table(const struct maptable *t)
{
	static const char *const names[] = { "main", "0x1010", "ns::f(int)", "" };
	unsigned int asked = 0;
	struct addr_ranges r;
	uint64_t *addrs;
	size_t n;

	if (strlen(maptable_name(t)) + (maptable_warning(t) ? strlen(maptable_warning(t)) : 0) >
	    1 << 20)
		abort();
	maptable_source(t);
	maptable_code_vaddr(t);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ask_name(t, names[i]);
	ask_line(t, "s.c", 3);
	if (!maptable_file_ranges(t, "*s.c", &r, NULL))
		addr_ranges_free(&r);
	ask_address(t, 0, &asked);
	ask_address(t, UINT64_MAX, &asked);
	if (maptable_all_ranges(t, &r, NULL))
		return;
	for (size_t i = 0; i < r.n && i < 64; i++) {
		uint64_t size = r.r[i].end - r.r[i].start;

		if (r.r[i].end <= r.r[i].start)
			abort();
		for (int k = 0; k < 16; k++)
			ask_address(t, r.r[i].start + size / 16 * k, &asked);
		ask_address(t, r.r[i].end - 1, &asked);
		ask_address(t, r.r[i].end, &asked);
		maptable_statements(t, r.r[i].start, r.r[i].end, &addrs, &n);
		free(addrs);
	}
	addr_ranges_free(&r);
}
