// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel modules are relocatable files: their sections have no addresses, and neither has what
 * their debug information says of them. Here every section gets one, in the order of the file, so
 * that a module's table does not depend on where the module happens to be loaded and can be kept;
 * `struct maps` knows for each section how far it lies from there in the running kernel.
 *
 * Sections with code come first, each on its own page; the others follow far away: nothing in them
 * is looked up. Debug sections stay at 0, for references among them are offsets.
 */
#include "elf/elf_image.h"
#include "table/table_build.h"

#define FIRST_CODE (1ULL << 20)
#define FIRST_DATA (1ULL << 40)
#define ALIGN_CODE 4096

static uint64_t place(uint64_t *next, const GElf_Shdr *s)
{
	uint64_t at = *next;

	*next = (at + s->sh_size + 2 * ALIGN_CODE - 1) & ~(uint64_t)(ALIGN_CODE - 1);
	return at;
}

void elf_image_place_sections(struct elf_image *image)
{
	uint64_t code = FIRST_CODE, data = FIRST_DATA;
	Elf_Scn *scn = NULL;
	size_t n;

	if (elf_getshdrnum(image->elf, &n))
		return;
	image->section_addr = xcalloc(n, sizeof(*image->section_addr));
	image->n_section = n;
	while ((scn = elf_nextscn(image->elf, scn))) {
		size_t i = elf_ndxscn(scn);
		GElf_Shdr s;

		if (i >= n || !gelf_getshdr(scn, &s) || !(s.sh_flags & SHF_ALLOC) ||
		    s.sh_size > UINT32_MAX)
			continue;
		image->section_addr[i] = place(s.sh_flags & SHF_EXECINSTR ? &code : &data, &s);
	}
}

/* Bytes that a relocation of this type fills with symbol + addend; 0: unknown. */
static size_t plain_size(int machine, uint32_t type)
{
	switch (machine) {
	case EM_X86_64:
		return type == R_X86_64_64			     ? 8
		       : type == R_X86_64_32 || type == R_X86_64_32S ? 4
								     : 0;
	case EM_AARCH64:
		return type == R_AARCH64_ABS64 ? 8 : type == R_AARCH64_ABS32 ? 4 : 0;
	case EM_S390:
		return type == R_390_64 ? 8 : type == R_390_32 ? 4 : 0;
	case EM_PPC64:
		return type == R_PPC64_ADDR64 ? 8 : type == R_PPC64_ADDR32 ? 4 : 0;
	default:
		return 0;
	}
}

static bool is_none(uint32_t type)
{
	return type == 0; /* R_*_NONE, everywhere */
}

static bool symbol_value(const struct elf_image *image, Elf_Data *symbols, size_t index,
			 uint64_t *ret)
{
	GElf_Sym sym;

	if (!gelf_getsym(symbols, index, &sym))
		return false;
	*ret = sym.st_value;
	if (sym.st_shndx < image->n_section)
		*ret += image->section_addr[sym.st_shndx];
	return true;
}

static bool apply(const struct elf_image *image, Elf_Scn *rela_scn, const GElf_Shdr *rela,
		  uint8_t *bytes, size_t size)
{
	Elf_Data *data = elf_getdata(rela_scn, NULL);
	Elf_Scn *symbol_scn = elf_getscn(image->elf, rela->sh_link);
	Elf_Data *symbols = symbol_scn ? elf_getdata(symbol_scn, NULL) : NULL;
	GElf_Ehdr ehdr;
	GElf_Rela r;

	if (!data || !symbols || !gelf_getehdr(image->elf, &ehdr))
		return false;
	for (int i = 0; gelf_getrela(data, i, &r); i++) {
		size_t n = plain_size(ehdr.e_machine, GELF_R_TYPE(r.r_info));
		uint64_t v;

		if (is_none(GELF_R_TYPE(r.r_info)))
			continue;
		if (!n || r.r_offset > size || n > size - r.r_offset ||
		    !symbol_value(image, symbols, GELF_R_SYM(r.r_info), &v))
			return false;
		v += r.r_addend;
		/* The low bytes, in this machine's order: check_headers() has seen to that. */
		if (n == 4) {
			uint32_t low = v;

			memcpy(bytes + r.r_offset, &low, 4);
		} else {
			memcpy(bytes + r.r_offset, &v, 8);
		}
	}
	return true;
}

bool elf_image_relocate(const struct elf_image *image, Elf_Scn *target, void *bytes, size_t size)
{
	size_t index = elf_ndxscn(target);
	Elf_Scn *scn = NULL;
	bool ok = true;

	while ((scn = elf_nextscn(image->elf, scn))) {
		GElf_Shdr s;

		if (!gelf_getshdr(scn, &s) || s.sh_info != index)
			continue;
		if (s.sh_type == SHT_RELA)
			ok &= apply(image, scn, &s, bytes, size);
		else if (s.sh_type == SHT_REL)
			ok = false;
	}
	return ok;
}

size_t elf_image_code_sections(const struct elf_image *image, struct elf_code **ret)
{
	struct elf_code *code = NULL;
	size_t n = 0, cap = 0, strndx;
	Elf_Scn *scn = NULL;

	*ret = NULL;
	if (elf_getshdrstrndx(image->elf, &strndx))
		return 0;
	while ((scn = elf_nextscn(image->elf, scn))) {
		size_t i = elf_ndxscn(scn);
		const char *name;
		GElf_Shdr s;

		if (!gelf_getshdr(scn, &s) || !(s.sh_flags & SHF_EXECINSTR) ||
		    !(s.sh_flags & SHF_ALLOC) || !s.sh_size || s.sh_size > UINT32_MAX)
			continue;
		name = elf_strptr(image->elf, strndx, s.sh_name);
		array_reserve(code, cap, n + 1);
		code[n++] = (struct elf_code){
			.name = xstrdup(name ? name : ""),
			.addr = i < image->n_section ? image->section_addr[i] : s.sh_addr,
			.size = s.sh_size,
		};
	}
	*ret = code;
	return n;
}
