// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/notes.h"

#include "elf/table_make.h"
#include "table/maptable.h"

#include <gelf.h>
#include <unistd.h>

struct elf_file {
	Elf *elf;
	int fd;
	size_t wordsize;
};

static void cleanup_elf(Elf **elf)
{
	if (*elf)
		elf_end(*elf);
}

bool elf_file_offset(const struct elf_file *f, uint64_t vaddr, bool executable, uint64_t *offset)
{
	size_t n = 0;

	elf_getphdrnum(f->elf, &n);
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(f->elf, i, &ph) || ph.p_type != PT_LOAD)
			continue;
		/* What lies beyond p_filesz is not in the file: no probe can be there. */
		if (vaddr < ph.p_vaddr || vaddr - ph.p_vaddr >= ph.p_filesz)
			continue;
		if (executable && !(ph.p_flags & PF_X))
			return false;
		*offset = vaddr - ph.p_vaddr + ph.p_offset;
		return true;
	}
	return false;
}

bool elf_file_string(const struct elf_file *f, uint64_t vaddr, char *buf, size_t size)
{
	char chunk[256];
	uint64_t offset;
	size_t used = 0;

	/* PATH_MAX and a line number is the longest name a compiler makes. */
	for (size_t done = 0; done < 8192; done += sizeof(chunk)) {
		ssize_t got;
		size_t n;

		if (!elf_file_offset(f, vaddr + done, false, &offset))
			return false;
		got = pread(f->fd, chunk, sizeof(chunk), offset);
		if (got <= 0)
			return false;
		n = strnlen(chunk, got);
		for (size_t i = 0; i < n; i++) {
			if (used == size - 1)
				memmove(buf, buf + 1, --used);
			buf[used++] = chunk[i];
		}
		buf[used] = '\0';
		if (n < (size_t)got)
			return true;
		if ((size_t)got < sizeof(chunk))
			return false;
	}
	return false;
}

static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *got;

		if (!gelf_getshdr(scn, sh))
			continue;
		got = elf_strptr(elf, strings, sh->sh_name);
		if (got && !strcmp(got, name))
			return scn;
	}
	return NULL;
}

uint64_t elf_file_section(const struct elf_file *f, const char *name)
{
	GElf_Shdr sh;

	return find_section(f->elf, name, &sh) ? sh.sh_addr : 0;
}

uint64_t elf_note_word(const unsigned char *p, size_t size)
{
	uint64_t v64;
	uint32_t v32;

	if (size == 4) {
		memcpy(&v32, p, 4);
		return v32;
	}
	memcpy(&v64, p, 8);
	return v64;
}

static int walk_data(const struct elf_notes *want, const struct elf_file *f, Elf_Data *data,
		     uint64_t addr,
		     int (*fn)(const struct elf_note *note, void *arg, struct error *err),
		     void *arg, struct error *err)
{
	size_t pos = 0, next, name_pos, desc_pos;
	GElf_Nhdr nh;
	int r;

	while (pos < data->d_size) {
		const char *base = data->d_buf;

		next = gelf_getnote(data, pos, &nh, &name_pos, &desc_pos);
		if (!next)
			return error_set(err, EINVAL,
					 "%s: the note at offset %zu of %s is damaged: rebuild or "
					 "reinstall the file",
					 want->file->name, pos, want->section);
		if (nh.n_type == want->type && nh.n_namesz == strlen(want->owner) + 1 &&
		    !memcmp(base + name_pos, want->owner, nh.n_namesz)) {
			struct elf_note note = {
				.file = f,
				.desc = (const unsigned char *)base + desc_pos,
				.len = nh.n_descsz,
				.vaddr = addr ? addr + desc_pos : 0,
				.wordsize = f->wordsize,
			};

			r = fn(&note, arg, err);
			if (r) {
				error_prefix(err, "%s: note at offset %zu of %s", want->file->name,
					     pos, want->section);
				return r;
			}
		}
		pos = next;
	}
	return 0;
}

/* Without section headers the notes that are loaded can still be found by their segment. */
static int walk_segments(const struct elf_notes *want, const struct elf_file *f,
			 int (*fn)(const struct elf_note *note, void *arg, struct error *err),
			 void *arg, struct error *err)
{
	size_t n = 0;

	elf_getphdrnum(f->elf, &n);
	for (size_t i = 0; i < n; i++) {
		Elf_Data *data;
		GElf_Phdr ph;
		int r;

		if (!gelf_getphdr(f->elf, i, &ph) || ph.p_type != PT_NOTE)
			continue;
		data = elf_getdata_rawchunk(f->elf, ph.p_offset, ph.p_filesz,
					    ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (!data)
			return error_set(err, EINVAL, "%s: its note segment is damaged: %s",
					 want->file->name, elf_errmsg(-1));
		r = walk_data(want, f, data, ph.p_vaddr, fn, arg, err);
		if (r)
			return r;
	}
	return 0;
}

static int walk_sections(const struct elf_notes *want, const struct elf_file *f,
			 int (*fn)(const struct elf_note *note, void *arg, struct error *err),
			 void *arg, struct error *err)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	if (elf_getshdrstrndx(f->elf, &strings))
		return error_set(err, EINVAL, "%s: its section headers are damaged: %s",
				 want->file->name, elf_errmsg(-1));
	while ((scn = elf_nextscn(f->elf, scn))) {
		const char *name;
		Elf_Data *data;
		GElf_Shdr sh;
		int r;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_NOTE)
			continue;
		name = elf_strptr(f->elf, strings, sh.sh_name);
		if (!name || strcmp(name, want->section))
			continue;
		data = elf_getdata(scn, NULL);
		if (!data)
			return error_set(err, EINVAL, "%s: %s is damaged: %s", want->file->name,
					 want->section, elf_errmsg(-1));
		r = walk_data(want, f, data, sh.sh_flags & SHF_ALLOC ? sh.sh_addr : 0, fn, arg,
			      err);
		if (r)
			return r;
	}
	return 0;
}

int elf_notes_walk(const struct elf_notes *want,
		   int (*fn)(const struct elf_note *note, void *arg, struct error *err), void *arg,
		   struct error *err)
{
	Elf *elf __attribute__((cleanup(cleanup_elf))) = NULL;
	struct elf_file f;
	GElf_Ehdr eh;
	size_t n = 0;

	elf_version(EV_CURRENT);
	elf = elf_begin(want->file->fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh))
		return maptable_not_elf(want->file->fd, want->file->name, err);
	if (eh.e_ident[EI_DATA] !=
	    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB))
		return error_set(err, ENOEXEC, "%s is for a machine of the other byte order",
				 want->file->name);
	if (eh.e_type != ET_EXEC && eh.e_type != ET_DYN)
		return error_set(err, ENOEXEC,
				 "%s is not a program or a shared library: name what it is linked "
				 "into",
				 want->file->name);
	f.elf = elf;
	f.fd = want->file->fd;
	f.wordsize = eh.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
	if (elf_getshdrnum(elf, &n))
		return error_set(err, EINVAL, "%s: its section headers are damaged: %s",
				 want->file->name, elf_errmsg(-1));
	return n ? walk_sections(want, &f, fn, arg, err) : walk_segments(want, &f, fn, arg, err);
}
