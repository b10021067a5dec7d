// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libdw walks the entries; what it leaves alone are the pointers in them, which are encoded as the
 * entry's CIE says (augmentation letter R), nearly always as 32 bits relative to the field itself.
 */
#include "elf/eh_frame.h"
#include "elf/dwarf_cursor.h"

#include <dwarf.h>
#include <gelf.h>

struct frames {
	Elf_Data *data;
	uint64_t addr; /* of its first byte */
	const unsigned char *ident;
	bool wide; /* 64 bit */
	bool eh;   /* .eh_frame */
	/* The last CIE; most entries are of one or two. */
	Dwarf_Off cie_at;
	Dwarf_CFI_Entry cie;
	uint8_t encoding; /* of the pointers of its entries */
	bool cie_good;
};

/* As its header says, or as was usual before by its name, ".zdebug_frame". */
static bool decompress(Elf_Scn *scn, const GElf_Shdr *sh, const char *name)
{
	if (sh->sh_flags & SHF_COMPRESSED)
		return elf_compress(scn, 0, 0) >= 0;
	return name[1] != 'z' || elf_compress_gnu(scn, 0, 0) >= 0;
}

static bool is_called(const char *name, const char *wanted)
{
	return !strcmp(name, wanted) ||
	       (!strncmp(name, ".z", 2) && wanted[1] == 'd' && !strcmp(name + 2, wanted + 1));
}

static bool find_section(Elf *elf, const char *wanted, struct frames *f)
{
	Elf_Scn *scn = NULL;
	size_t strings;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(elf, &strings))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, strings, sh.sh_name);
		if (!name || !is_called(name, wanted) || !decompress(scn, &sh, name))
			continue;
		f->data = elf_getdata(scn, NULL);
		f->addr = sh.sh_addr;
		return f->data && f->data->d_buf;
	}
	return false;
}

/* A pointer encoded as @encoding at *@p, of the entry at @base + offset; moves *@p on. */
static bool read_pointer(const struct frames *f, uint8_t encoding, const uint8_t **p,
			 const uint8_t *end, uint64_t *ret)
{
	const uint8_t *start = *p;
	size_t size;
	uint64_t v = 0;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_signed:
		size = f->wide ? 8 : 4;
		break;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		size = 2;
		break;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		size = 4;
		break;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		size = 8;
		break;
	default:
		return false;
	}
	if ((size_t)(end - start) < size)
		return false;
	/* Files of the other byte order are refused before anybody comes here. */
	memcpy((uint8_t *)&v + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 8 - size : 0), start,
	       size);
	if (encoding & DW_EH_PE_signed && size < 8 && v >> (size * 8 - 1))
		v |= ~0ULL << (size * 8);
	switch (encoding & 0x70) {
	case 0:
		break;
	case DW_EH_PE_pcrel:
		v += f->addr + (start - (const uint8_t *)f->data->d_buf);
		break;
	default:
		return false;
	}
	*p = start + size;
	*ret = f->wide ? v : (uint32_t)v;
	return true;
}

/* Where the table of PT_GNU_EH_FRAME says that the frames are: for files without sections. */
static bool find_segment(Elf *elf, struct frames *f)
{
	GElf_Phdr ph, header = { .p_filesz = 0 };
	size_t n = 0;
	uint64_t at;
	const uint8_t *p, *end;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++) {
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_GNU_EH_FRAME)
			header = ph;
	}
	if (header.p_filesz < 8)
		return false;
	f->data = elf_getdata_rawchunk(elf, header.p_offset, header.p_filesz, ELF_T_BYTE);
	if (!f->data || !f->data->d_buf)
		return false;
	f->addr = header.p_vaddr;
	p = f->data->d_buf;
	end = p + f->data->d_size;
	if (p[0] != 1)
		return false;
	p += 4;
	if (!read_pointer(f, ((const uint8_t *)f->data->d_buf)[1], &p, end, &at))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD || at < ph.p_vaddr ||
		    at - ph.p_vaddr >= ph.p_filesz)
			continue;
		f->data = elf_getdata_rawchunk(elf, ph.p_offset + (at - ph.p_vaddr),
					       ph.p_filesz - (at - ph.p_vaddr), ELF_T_BYTE);
		f->addr = at;
		return f->data && f->data->d_buf;
	}
	return false;
}

static bool skip_leb128(const uint8_t **p, const uint8_t *end)
{
	while (*p < end) {
		if (!(*(*p)++ & 0x80))
			return true;
	}
	return false;
}

/* How the pointers of a CIE's entries are encoded; false: it cannot be told. */
static bool fde_encoding(const struct frames *f, const Dwarf_CIE *cie, uint8_t *ret)
{
	const uint8_t *p = cie->augmentation_data, *end = p + cie->augmentation_data_size;
	uint64_t ignored;

	*ret = DW_EH_PE_absptr;
	if (cie->augmentation[0] != 'z')
		return !cie->augmentation[0] || !strcmp(cie->augmentation, "S");
	for (const char *a = cie->augmentation + 1; *a; a++) {
		switch (*a) {
		case 'R':
			if (!p || p >= end)
				return false;
			*ret = *p;
			return true;
		case 'L':
			if (!p || p++ >= end)
				return false;
			break;
		case 'P':
			if (!p || end - p < 2)
				return false;
			p++;
			if ((p[-1] & 0x0f) == DW_EH_PE_uleb128 ||
			    (p[-1] & 0x0f) == DW_EH_PE_sleb128) {
				if (!skip_leb128(&p, end))
					return false;
			} else if (!read_pointer(f, p[-1] & 0x0f, &p, end, &ignored)) {
				return false;
			}
			break;
		case 'S':
		case 'B':
			break;
		default:
			return false;
		}
	}
	return true;
}

static bool find_cie(struct frames *f, Dwarf_Off at)
{
	Dwarf_Off next;

	if (at == f->cie_at)
		return f->cie_good;
	f->cie_at = at;
	f->cie_good = !dwarf_next_cfi(f->ident, f->data, f->eh, at, &next, &f->cie) &&
		      dwarf_cfi_cie_p(&f->cie) && fde_encoding(f, &f->cie.cie, &f->encoding) &&
		      !(f->encoding & DW_EH_PE_indirect);
	return f->cie_good;
}

static bool read_entry(struct frames *f, const Dwarf_FDE *fde, struct eh_frame_entry *e)
{
	struct cursor c = { .p = fde->start, .end = fde->end };
	uint64_t size;

	if (!find_cie(f, fde->CIE_pointer) ||
	    !read_pointer(f, f->encoding, &c.p, c.end, &e->rules_from) ||
	    !read_pointer(f, f->encoding & 0x07, &c.p, c.end, &size))
		return false;
	e->cie = &f->cie.cie;
	if (e->cie->augmentation[0] == 'z')
		cursor_skip(&c, cursor_uleb(&c));
	e->program = c.p;
	e->program_end = c.end;
	e->signal = strchr(e->cie->augmentation, 'S') != NULL;
	e->end = e->rules_from + size;
	/* The entry of a signal's return begins a byte early, for unwinders that look before it. */
	e->start = e->rules_from + (size > 1 && e->signal);
	/* What the linker has dropped is at 0, and has no size. */
	return !c.bad && e->start > 1 && e->end > e->start;
}

bool eh_frame_walk(Elf *elf, enum eh_frame_section which,
		   bool (*fn)(const struct eh_frame_entry *e, void *arg), void *arg)
{
	const char *ident = elf_getident(elf, NULL);
	struct frames f = { .ident = (const unsigned char *)ident, .eh = which == EH_FRAME };
	Dwarf_Off offset = 0, next = 0;

	if (!ident)
		return false;
	f.wide = ident[EI_CLASS] == ELFCLASS64;
	f.cie_at = (Dwarf_Off)-1;
	if (f.eh ? !find_section(elf, ".eh_frame", &f) && !find_segment(elf, &f)
		 : !find_section(elf, ".debug_frame", &f))
		return false;
	for (;; offset = next) {
		Dwarf_CFI_Entry entry;
		struct eh_frame_entry e;
		int r;

		/* A failure that leaves @next where it was cannot be passed over. */
		next = offset;
		r = dwarf_next_cfi(f.ident, f.data, f.eh, offset, &next, &entry);
		if (r > 0 || next <= offset || next == (Dwarf_Off)-1)
			return true;
		if (!r && !dwarf_cfi_cie_p(&entry) && read_entry(&f, &entry.fde, &e) &&
		    !fn(&e, arg))
			return true;
	}
}
