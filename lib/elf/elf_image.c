// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ELF files through libelf. Files are read, not mapped (ELF_C_READ): whoever may write to a file
 * that is being profiled could truncate it while it is parsed, and a mapping would then answer
 * with SIGBUS, which would end the profiler. It costs a copy of the debug sections while a table
 * is built.
 */
#include "elf/table_make.h"
#include "elf/elf_image.h"
#include "files/file_open.h"
#include "elf/section_stream.h"
#include "table/table_build.h"

#include <elfutils/libdwelf.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* Sections decompressed here: libelf has pointers to them, and does not free them. */
struct elf_buffers {
	void **v;
	size_t n, cap;
	const char *trouble; /* with the last that could not be */
};

static void init_libelf(void)
{
	elf_version(EV_CURRENT);
}

void elf_image_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init_libelf);
}

static void hex(char *dst, size_t room, const uint8_t *bytes, size_t n)
{
	*dst = '\0';
	for (size_t i = 0; i < n && 2 * i + 3 <= room; i++)
		sprintf(dst + 2 * i, "%02x", bytes[i]);
}

static int bad_elf(const struct elf_image *image, struct error *err, const char *what)
{
	return error_set(err, EINVAL, "%s: malformed or truncated ELF file: %s", image->name, what);
}

static bool section_name_is(const char *have, const char *name)
{
	if (*have++ != '.')
		return false;
	return !strcmp(have, name) || (*have == 'z' && !strcmp(have + 1, name));
}

static Elf_Scn *find_section(const struct elf_image *image, const char *name, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	size_t strndx;

	if (elf_getshdrstrndx(image->elf, &strndx))
		return NULL;
	while ((scn = elf_nextscn(image->elf, scn))) {
		const char *s;

		if (!gelf_getshdr(scn, shdr) || shdr->sh_type == SHT_NOBITS)
			continue;
		s = elf_strptr(image->elf, strndx, shdr->sh_name);
		if (s && section_name_is(s, name))
			return scn;
	}
	return NULL;
}

static int check_headers(struct elf_image *image, enum elf_what what, struct error *err)
{
	const char *ident;
	GElf_Ehdr ehdr;
	GElf_Shdr shdr;
	size_t n, ident_size, strndx;

	if (elf_kind(image->elf) != ELF_K_ELF)
		return maptable_not_elf(image->fd, image->name, err);
	ident = elf_getident(image->elf, &ident_size);
	if (!ident || ident_size < EI_NIDENT || !gelf_getehdr(image->elf, &ehdr))
		return bad_elf(image, err, "no complete ELF header");
	if (ident[EI_DATA] != (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
		return error_set(err, ENOEXEC, "%s: of a machine with the other byte order",
				 image->name);
	image->relocatable = what == ELF_PROGRAMS_AND_MODULES && ehdr.e_type == ET_REL;
	if (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN && !image->relocatable)
		return error_set(err, ENOEXEC,
				 "%s: neither an executable nor a shared library (ELF type %u)",
				 image->name, ehdr.e_type);
	if (elf_getphdrnum(image->elf, &n) ||
	    (n && (ehdr.e_phoff > image->size || !ehdr.e_phentsize ||
		   n > (image->size - ehdr.e_phoff) / ehdr.e_phentsize)))
		return bad_elf(image, err, "program headers lie beyond its end");
	if (!ehdr.e_shoff) {
		image->no_sections = true;
		return 0;
	}
	/* libelf makes "no sections" of section headers that are cut off: look for oneself. */
	if (ehdr.e_shoff > image->size || elf_getshdrnum(image->elf, &n) || !n ||
	    n < ehdr.e_shnum || !ehdr.e_shentsize ||
	    n > (image->size - ehdr.e_shoff) / ehdr.e_shentsize)
		return bad_elf(image, err, "section headers lie beyond its end");
	if (elf_getshdrstrndx(image->elf, &strndx))
		return bad_elf(image, err, "its section names cannot be found");
	image->has_dwarf = find_section(image, "debug_info", &shdr) ||
			   find_section(image, "debug_line", &shdr);
	return 0;
}

int elf_image_open(const char *path, const char *name, enum elf_what what, struct elf_image **ret,
		   struct error *err)
{
	int fd = file_open_told(path, name, err);

	if (fd < 0)
		return fd;
	return elf_image_open_fd(fd, path, name, what, ret, err);
}

int elf_image_open_fd(int fd, const char *path, const char *name, enum elf_what what,
		      struct elf_image **ret, struct error *err)
{
	struct elf_image *image = xcalloc(1, sizeof(*image));
	const void *build_id;
	struct stat st;
	ssize_t n;
	int rc;

	elf_image_init();
	image->buffers = xcalloc(1, sizeof(*image->buffers));
	image->path = xstrdup(path);
	image->name = xstrdup(name);
	image->fd = fd;
	if (fstat(fd, &st)) {
		rc = error_set(err, errno, "%s: %s", name, strerror(errno));
		goto fail;
	}
	image->size = st.st_size;
	image->dev = st.st_dev;
	image->ino = st.st_ino;
	image->owner = st.st_uid;
	image->ctime_ns = st.st_ctim.tv_sec * (int64_t)NSEC_PER_SEC + st.st_ctim.tv_nsec;
	image->elf = elf_begin(image->fd, ELF_C_READ, NULL);
	if (!image->elf) {
		rc = error_set(err, EINVAL, "%s: cannot be read as ELF: %s", name, elf_errmsg(-1));
		goto fail;
	}
	rc = check_headers(image, what, err);
	if (rc)
		goto fail;
	if (image->relocatable)
		elf_image_place_sections(image);
	n = dwelf_elf_gnu_build_id(image->elf, &build_id);
	if (n > 0)
		hex(image->build_id, sizeof(image->build_id), build_id, n);
	*ret = image;
	return 0;
fail:
	elf_image_close(image);
	return rc;
}

void elf_image_close(struct elf_image *image)
{
	if (!image)
		return;
	elf_end(image->elf);
	for (size_t i = 0; i < image->buffers->n; i++)
		free(image->buffers->v[i]);
	free(image->buffers->v);
	free(image->buffers);
	if (image->fd >= 0)
		close(image->fd);
	free(image->path);
	free(image->name);
	free(image->section_addr);
	free(image);
}

void cleanup_elf_image(struct elf_image **image)
{
	elf_image_close(*image);
}

/* .zdebug_*: they begin with "ZLIB" and the size, high byte first. */
static bool old_compression(const struct elf_image *image, const GElf_Shdr *shdr)
{
	const char *name;
	size_t strndx;

	if (elf_getshdrstrndx(image->elf, &strndx))
		return false;
	name = elf_strptr(image->elf, strndx, shdr->sh_name);
	return name && !strncmp(name, ".z", 2);
}

/* From the file itself: libelf would read the whole section to look at its head. */
static void read_compression(const struct elf_image *image, struct elf_section *ret)
{
	bool wide = gelf_getclass(image->elf) == ELFCLASS64;
	size_t skip = wide ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	union {
		Elf64_Chdr c64;
		Elf32_Chdr c32;
	} head;
	uint32_t type;

	if (ret->size < skip || pread(image->fd, &head, skip, ret->offset) != (ssize_t)skip)
		return;
	type = wide ? head.c64.ch_type : head.c32.ch_type;
	ret->uncompressed = wide ? head.c64.ch_size : head.c32.ch_size;
	ret->offset += skip;
	ret->size -= skip;
	if (type == ELFCOMPRESS_ZLIB)
		ret->compression = ELF_ZLIB;
	else if (type == ELFCOMPRESS_ZSTD)
		ret->compression = ELF_ZSTD;
}

static void read_old_compression(const struct elf_image *image, struct elf_section *ret)
{
	uint8_t head[12];

	if (ret->size < sizeof(head) ||
	    pread(image->fd, head, sizeof(head), ret->offset) != sizeof(head) ||
	    memcmp(head, "ZLIB", 4))
		return;
	ret->compression = ELF_ZLIB;
	ret->offset += sizeof(head);
	ret->size -= sizeof(head);
	ret->uncompressed = 0;
	for (int i = 4; i < 12; i++)
		ret->uncompressed = ret->uncompressed << 8 | head[i];
}

static struct elf_section find_place(const struct elf_image *image, const GElf_Shdr *shdr)
{
	struct elf_section s = { shdr->sh_offset, shdr->sh_size, shdr->sh_size, ELF_PLAIN };

	if (shdr->sh_flags & SHF_COMPRESSED) {
		s.compression = ELF_OTHER;
		read_compression(image, &s);
	} else if (old_compression(image, shdr)) {
		s.compression = ELF_OTHER;
		read_old_compression(image, &s);
	}
	return s;
}

bool elf_image_find_section(const struct elf_image *image, const char *name,
			    struct elf_section *ret)
{
	GElf_Shdr shdr;

	if (!find_section(image, name, &shdr))
		return false;
	*ret = find_place(image, &shdr);
	return true;
}

/* libelf knows zstd from 0.189 on, if built so. Here it is given what it would have made. */
static bool expand_zstd(const struct elf_image *image, Elf_Scn *scn, GElf_Shdr *shdr)
{
	struct elf_section place = find_place(image, shdr);
	struct elf_buffers *keep = image->buffers;
	uint8_t *bytes = NULL;
	Elf_Data *raw, *cooked; /* libelf keeps two views */

	if (place.compression != ELF_ZSTD)
		return true;
	keep->trouble = section_read_whole(image, &place, &bytes);
	if (keep->trouble)
		return false;
	raw = elf_rawdata(scn, NULL);
	cooked = elf_getdata(scn, NULL);
	shdr->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	shdr->sh_size = place.uncompressed;
	if (!raw || !cooked || !gelf_update_shdr(scn, shdr)) {
		keep->trouble = "libelf cannot read it";
		free(bytes);
		return false;
	}
	raw->d_buf = cooked->d_buf = bytes;
	raw->d_size = cooked->d_size = place.uncompressed;
	raw->d_type = cooked->d_type = ELF_T_BYTE;
	array_reserve(keep->v, keep->cap, keep->n + 1);
	keep->v[keep->n++] = bytes;
	return true;
}

const void *elf_image_section(const struct elf_image *image, const char *name, size_t *size)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = find_section(image, name, &shdr);
	Elf_Data *data;
	bool old;

	*size = 0;
	if (!scn || !expand_zstd(image, scn, &shdr))
		return NULL;
	if (shdr.sh_flags & SHF_COMPRESSED && elf_compress(scn, 0, 0) < 0)
		return NULL;
	old = old_compression(image, &shdr);
	if (old) /* fails when it has been done before */
		elf_compress_gnu(scn, 0, 0);
	data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || (old && data->d_size > 4 && !memcmp(data->d_buf, "ZLIB", 4)))
		return NULL;
	/* The section is in memory of libelf's own (ELF_C_READ), or of the image's. */
	if (image->relocatable && !elf_image_relocate(image, scn, data->d_buf, data->d_size))
		return NULL;
	*size = data->d_size;
	return data->d_buf;
}

static void warn_unreadable(const struct elf_image *image, const char *name,
			    enum elf_compression how, struct table_builder *b)
{
	builder_warn(b, "%s: .%s: %s", image->name, name,
		     how == ELF_ZSTD	? image->buffers->trouble
		     : how == ELF_OTHER ? "it is compressed by a method other than zlib and zstd"
					: "it is damaged or cut off");
}

const void *elf_image_load(const struct elf_image *image, const char *name, size_t *size,
			   struct table_builder *b)
{
	const void *bytes = elf_image_section(image, name, size);
	struct elf_section place;

	if (!bytes && elf_image_find_section(image, name, &place) && place.size)
		warn_unreadable(image, name, place.compression, b);
	return bytes;
}

static int read_module_layout(const struct elf_image *image, struct table_builder *b,
			      struct error *err)
{
	struct elf_code *code;
	size_t n = elf_image_code_sections(image, &code);

	for (size_t i = 0; i < n; i++) {
		builder_text(b, code[i].addr, code[i].addr + code[i].size);
		if (!i || code[i].addr < b->code_vaddr)
			b->code_vaddr = code[i].addr;
		free(code[i].name);
	}
	free(code);
	builder_text_done(b);
	return n ? 0 : error_set(err, ENOEXEC, "%s: has no code", image->name);
}

int elf_image_read_layout(const struct elf_image *image, struct table_builder *b, struct error *err)
{
	bool have_sections = false, have_code = false;
	Elf_Scn *scn = NULL;
	size_t n = 0;

	elf_getphdrnum(image->elf, &n);
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;
		bool exec;

		if (!gelf_getphdr(image->elf, i, &p))
			return bad_elf(image, err, "a program header cannot be read");
		if (p.p_type != PT_LOAD)
			continue;
		if (p.p_vaddr + p.p_memsz < p.p_vaddr)
			return bad_elf(image, err, "a segment wraps around the address space");
		exec = p.p_flags & PF_X;
		array_reserve(b->phdr, b->cap_phdr, b->n_phdr + 1);
		b->phdr[b->n_phdr++] = (struct table_phdr){ p.p_offset, p.p_filesz, p.p_vaddr,
							    p.p_memsz,	exec,	    0 };
		if (exec && (!have_code || p.p_vaddr < b->code_vaddr))
			b->code_vaddr = p.p_vaddr;
		have_code |= exec;
	}
	if (image->relocatable)
		return read_module_layout(image, b, err);
	if (!have_code)
		return error_set(err, ENOEXEC, "%s: has no executable segment", image->name);

	/*
	 * Executable sections are narrower than segments, which begin with headers in small
	 * programs: line rows of discarded sections, at address 0, would look like code.
	 */
	while ((scn = elf_nextscn(image->elf, scn))) {
		GElf_Shdr s;
		bool inside = false;

		/* In a file of debug information alone, code is NOBITS. */
		if (!gelf_getshdr(scn, &s) || !(s.sh_flags & SHF_EXECINSTR) ||
		    !(s.sh_flags & SHF_ALLOC))
			continue;
		for (size_t i = 0; i < b->n_phdr; i++) {
			const struct table_phdr *p = &b->phdr[i];

			inside |= p->exec && s.sh_addr >= p->vaddr &&
				  s.sh_addr - p->vaddr < p->memsz &&
				  s.sh_size <= p->memsz - (s.sh_addr - p->vaddr);
		}
		if (!inside || !s.sh_size)
			continue;
		builder_text(b, s.sh_addr, s.sh_addr + s.sh_size);
		have_sections = true;
	}
	for (size_t i = 0; !have_sections && i < b->n_phdr; i++) {
		if (b->phdr[i].exec)
			builder_text(b, b->phdr[i].vaddr, b->phdr[i].vaddr + b->phdr[i].memsz);
	}
	builder_text_done(b);
	return 0;
}

/* Rank of a symbol as the name of its address: lower is better. -1: not a function. */
static int symbol_rank(const GElf_Sym *sym, const char *name)
{
	int type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info), rank;

	if (sym->st_shndx == SHN_UNDEF || !*name)
		return -1;
	if (type == STT_NOTYPE) {
		/* Assembly without .type; the linker's own marks are no functions. */
		if (bind == STB_LOCAL || sym->st_shndx == SHN_ABS || !strcmp(name, "_etext") ||
		    !strcmp(name, "etext") || !strcmp(name, "__etext"))
			return -1;
		return 100;
	}
	if (type != STT_FUNC && type != STT_GNU_IFUNC)
		return -1;
	rank = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
	/* Of aliases, the one without underscores is the one people write. */
	for (const char *p = name; *p == '_' && p < name + 3; p++)
		rank += 3;
	if (strchr(name, '.'))
		rank += 3;
	return rank;
}

/* Address and size of a section that is loaded with the program; false: there is none. */
static bool loaded_section(const struct elf_image *image, const char *name, uint64_t *vaddr,
			   uint64_t *size)
{
	GElf_Shdr shdr;

	if (image->no_sections || !find_section(image, name, &shdr) || !(shdr.sh_flags & SHF_ALLOC))
		return false;
	*vaddr = shdr.sh_addr;
	*size = shdr.sh_size;
	return true;
}

/* glibc's libc.so.6 has an interpreter, too: it can be run. */
bool elf_image_is_program(const struct elf_image *image)
{
	Elf_Scn *scn = NULL;
	GElf_Ehdr ehdr;
	GElf_Shdr shdr;
	const char *base = strrchr(image->name, '/');

	if (gelf_getehdr(image->elf, &ehdr) && ehdr.e_type == ET_EXEC)
		return true;
	while ((scn = elf_nextscn(image->elf, scn))) {
		Elf_Data *data;
		GElf_Dyn dyn;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_DYNAMIC)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
			if (dyn.d_tag == DT_FLAGS_1)
				return dyn.d_un.d_val & DF_1_PIE;
		}
	}
	/* Linkers before 2018 do not say; nor do files without sections. */
	return !strstr(base ? base : image->name, ".so");
}

bool elf_image_has_symtab(const struct elf_image *image)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(image->elf, scn))) {
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_SYMTAB)
			return true;
	}
	return false;
}

void elf_image_read_stubs(const struct elf_image *image, struct table_builder *b)
{
	static const char *const names[] = { "plt", "plt.sec", "plt.got", "plt.bnd", "iplt" };
	uint64_t vaddr, size;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (loaded_section(image, names[i], &vaddr, &size))
			builder_symbol(b, "[plt]", vaddr, size, 0);
	}
}

static size_t read_symbol_table(const struct elf_image *image, Elf_Scn *scn, const GElf_Shdr *shdr,
				struct table_builder *b)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n, found = 0;

	if (!data || !data->d_buf || !shdr->sh_entsize) {
		builder_warn(b, "%s: its symbol table cannot be read (%s)", image->name,
			     data ? "empty or malformed" : elf_errmsg(-1));
		return 0;
	}
	n = data->d_size / gelf_fsize(image->elf, ELF_T_SYM, 1, EV_CURRENT);
	for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
		_cleanup_free_ char *resolver = NULL;
		const char *name;
		GElf_Sym sym;
		int rank;

		if (!gelf_getsym(data, i, &sym))
			break;
		name = elf_strptr(image->elf, shdr->sh_link, sym.st_name);
		if (!name)
			continue;
		rank = symbol_rank(&sym, name);
		if (rank < 0)
			continue;
		/* What is there only chooses the function, once; as target_clones names it. */
		if (GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC)
			name = resolver =
				xasprintf("%.*s" RESOLVER_SUFFIX, (int)strcspn(name, "@"), name);
		if (image->relocatable && sym.st_shndx < image->n_section)
			sym.st_value += image->section_addr[sym.st_shndx];
		builder_symbol(b, name, sym.st_value, sym.st_size, rank);
		found++;
	}
	return found;
}

size_t elf_image_read_symbols(const struct elf_image *image, struct table_builder *b)
{
	static const GElf_Word types[] = { SHT_SYMTAB, SHT_DYNSYM };
	size_t found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(types) && !found; i++) {
		Elf_Scn *scn = NULL;
		GElf_Shdr shdr;

		while ((scn = elf_nextscn(image->elf, scn))) {
			if (gelf_getshdr(scn, &shdr) && shdr.sh_type == types[i])
				found += read_symbol_table(image, scn, &shdr, b);
		}
	}
	return found;
}
