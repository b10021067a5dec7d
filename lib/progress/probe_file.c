// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/probe_file.h"

#include "elf/eh_frame.h"
#include "progress/instructions.h"

#include <gelf.h>
#include <unistd.h>

#define MAX_FUNCTION (64u << 20) /* bytes: larger ones are damaged symbols */

static const char danger[] = "a probe elsewhere would change what the program computes";

struct function {
	uint64_t start, end; /* end is start where the size is not known */
};

struct functions {
	struct function *list;
	size_t n, cap;
};

struct probe_file {
	const struct held_file *file;
	Elf *elf;
	uint16_t machine;
	struct functions unwind, symbols; /* each sorted by start */
	/* What .symtab of arm64 calls data in the text, and where code goes on. */
	struct functions data;
	/* The code that the last check read, and where in the file it is. */
	struct {
		uint8_t *bytes;
		size_t n;
		uint64_t offset;
	} checked;
};

static void add(struct functions *f, uint64_t start, uint64_t end)
{
	array_reserve(f->list, f->cap, f->n + 1);
	f->list[f->n++] = (struct function){ start, end };
}

static int compare(const void *pa, const void *pb)
{
	const struct function *a = pa, *b = pb;

	return a->start != b->start ? (a->start < b->start ? -1 : 1)
				    : (a->end < b->end) - (a->end > b->end);
}

static void sort(struct functions *f)
{
	if (f->n)
		qsort(f->list, f->n, sizeof(*f->list), compare);
}

/* The first function that begins behind @addr, as an index. */
static size_t first_behind(const struct functions *f, uint64_t addr)
{
	size_t lo = 0, hi = f->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->list[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Of nested ones the outer, which begins first. */
static bool covering(const struct functions *f, uint64_t addr, struct function *ret)
{
	bool found = false;
	size_t i = first_behind(f, addr);

	/* Nested functions are few: none reaches over many others. */
	for (int n = 0; i-- > 0 && n < 64; n++) {
		if (f->list[i].end > addr) {
			*ret = f->list[i];
			found = true;
		}
	}
	return found;
}

static bool add_unwind(const struct eh_frame_entry *e, void *arg)
{
	struct probe_file *f = arg;

	if (e->end - e->start <= MAX_FUNCTION)
		add(&f->unwind, e->start, e->end);
	return true;
}

static void read_symbols(struct probe_file *f, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		int type = GELF_ST_TYPE(sym.st_info);
		const char *name;

		if (sym.st_shndx == SHN_UNDEF || !sym.st_value)
			continue;
		if ((type == STT_FUNC || type == STT_GNU_IFUNC) && sym.st_size <= MAX_FUNCTION)
			add(&f->symbols, sym.st_value, sym.st_value + sym.st_size);
		if (f->machine != EM_AARCH64 || type != STT_NOTYPE)
			continue;
		name = elf_strptr(f->elf, sh->sh_link, sym.st_name);
		if (name && name[0] == '$' && (name[1] == 'd' || name[1] == 'x') &&
		    (!name[2] || name[2] == '.'))
			add(&f->data, sym.st_value, name[1] == 'd');
	}
}

static int open_elf(struct probe_file *f, struct error *err)
{
	Elf_Scn *scn = NULL;
	GElf_Ehdr eh;
	GElf_Shdr sh;

	elf_version(EV_CURRENT);
	f->elf = elf_begin(f->file->fd, ELF_C_READ, NULL);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &eh))
		return error_set(err, ENOEXEC, "%s is not an ELF file", f->file->name);
	f->machine = eh.e_machine;
	if (!code_machine_known(f->machine))
		return error_set(err, ENOTSUP,
				 "%s is for a machine (ELF number %u) whose instructions are not "
				 "known here: use a tracepoint, a system call or a mark",
				 f->file->name, f->machine);
	while ((scn = elf_nextscn(f->elf, scn))) {
		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM))
			read_symbols(f, scn, &sh);
	}
	eh_frame_walk(f->elf, EH_FRAME, add_unwind, f);
	sort(&f->unwind);
	sort(&f->symbols);
	sort(&f->data);
	return 0;
}

int probe_file_open(const struct held_file *file, struct probe_file **ret, struct error *err)
{
	struct probe_file *f = xcalloc(1, sizeof(*f));
	int r;

	f->file = file;
	r = open_elf(f, err);
	if (r) {
		probe_file_close(f);
		return r;
	}
	*ret = f;
	return 0;
}

void probe_file_close(struct probe_file *f)
{
	if (!f)
		return;
	if (f->elf)
		elf_end(f->elf);
	free(f->unwind.list);
	free(f->symbols.list);
	free(f->data.list);
	free(f->checked.bytes);
	free(f);
}

bool probe_file_imports(const struct probe_file *f, const char *function)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Sym sym;

	while ((scn = elf_nextscn(f->elf, scn))) {
		Elf_Data *data = gelf_getshdr(scn, &sh) && sh.sh_type == SHT_DYNSYM
					 ? elf_getdata(scn, NULL)
					 : NULL;

		for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
			const char *name = sym.st_shndx == SHN_UNDEF
						   ? elf_strptr(f->elf, sh.sh_link, sym.st_name)
						   : NULL;

			if (name && !strcmp(name, function))
				return true;
		}
	}
	return false;
}

/* The segment whose code is in the file around @vaddr. */
static bool code_segment(const struct probe_file *f, uint64_t vaddr, GElf_Phdr *ret)
{
	size_t n = 0;

	elf_getphdrnum(f->elf, &n);
	for (size_t i = 0; i < n; i++) {
		if (gelf_getphdr(f->elf, i, ret) && ret->p_type == PT_LOAD && ret->p_flags & PF_X &&
		    vaddr >= ret->p_vaddr && vaddr - ret->p_vaddr < ret->p_filesz)
			return true;
	}
	return false;
}

bool probe_file_vaddr(const struct probe_file *f, uint64_t offset, uint64_t *vaddr)
{
	GElf_Phdr ph;
	size_t n = 0;

	elf_getphdrnum(f->elf, &n);
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(f->elf, i, &ph) || ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) ||
		    offset < ph.p_offset || offset - ph.p_offset >= ph.p_filesz)
			continue;
		*vaddr = ph.p_vaddr + (offset - ph.p_offset);
		return true;
	}
	return false;
}

/* No function: what lies between those around @vaddr, in its segment. */
static void gap_around(const struct functions *f, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	size_t i = first_behind(f, vaddr);

	if (i < f->n && f->list[i].start < *end)
		*end = f->list[i].start;
	for (int n = 0; i-- > 0 && n < 64; n++) {
		uint64_t known = f->list[i].end;

		if (known <= vaddr && known > *start)
			*start = known;
		/* Of one whose size is not known, so much at least is its own. */
		if (known == f->list[i].start)
			break;
	}
}

static bool function_around(const struct probe_file *f, uint64_t vaddr, struct function *ret)
{
	return covering(&f->unwind, vaddr, ret) || covering(&f->symbols, vaddr, ret);
}

bool probe_file_around(const struct probe_file *f, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	struct function function;
	GElf_Phdr ph;

	if (!code_segment(f, vaddr, &ph))
		return false;
	*start = ph.p_vaddr;
	*end = ph.p_vaddr + ph.p_filesz;
	if (!function_around(f, vaddr, &function)) {
		gap_around(&f->unwind, vaddr, start, end);
		gap_around(&f->symbols, vaddr, start, end);
		return true;
	}
	if (function.start > *start)
		*start = function.start;
	if (function.end < *end)
		*end = function.end;
	return true;
}

/* The probe of scoz.h, which no function holds: bti or endbr64, nop, return. */
static bool is_probe_of_mark(const struct code *c, uint64_t vaddr)
{
	static const uint8_t x86[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3 };
	static const uint8_t arm64[] = { 0x5f, 0x24, 0x03, 0xd5, 0x1f, 0x20,
					 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6 };
	const uint8_t *want = c->machine == EM_AARCH64 ? arm64 : x86;
	size_t n = c->machine == EM_AARCH64 ? sizeof(arm64) : sizeof(x86);

	if (c->machine != EM_AARCH64 && c->machine != EM_X86_64)
		return false;
	return vaddr - c->start >= 4 && c->end - (vaddr - 4) >= n &&
	       !memcmp(c->bytes + (vaddr - 4 - c->start), want, n);
}

/* Decoding in a straight line from the last instruction that is known leads to @vaddr. */
static bool leads_to(const struct code_flow *flow, uint64_t vaddr)
{
	uint64_t at;

	if (!code_flow_before(flow, vaddr, &at))
		return false;
	while (at < vaddr) {
		unsigned int n = code_length(&flow->code, at);

		if (!n)
			return false;
		at += n;
	}
	return at == vaddr;
}

static bool is_data(const struct probe_file *f, uint64_t vaddr)
{
	size_t i = first_behind(&f->data, vaddr);

	return i && f->data.list[i - 1].end;
}

static char *place_name(const struct probe_place *place, uint64_t vaddr)
{
	if (!place->function || vaddr < place->function_vaddr)
		return xasprintf("0x%llx", (unsigned long long)vaddr);
	if (vaddr == place->function_vaddr)
		return xstrdup(place->function);
	return xasprintf("%s+%llu", place->function,
			 (unsigned long long)(vaddr - place->function_vaddr));
}

static char *neighbours(const struct code_flow *flow, const struct probe_place *place)
{
	uint64_t before, after;
	bool has_before = code_flow_before(flow, place->vaddr, &before);
	bool has_after = code_flow_after(flow, place->vaddr, &after);
	_cleanup_free_ char *b = has_before ? place_name(place, before) : NULL;
	_cleanup_free_ char *a = has_after ? place_name(place, after) : NULL;

	if (!has_before && !has_after)
		return xstrdup("no instruction near it is known");
	return xasprintf("the nearest instructions begin at %s%s%s", b ? b : a,
			 b && a ? " and " : "", b && a ? a : "");
}

static int refuse(const struct probe_file *f, const struct code_flow *flow,
		  const struct probe_place *place, struct error *err)
{
	_cleanup_free_ char *name = place_name(place, place->vaddr);
	_cleanup_free_ char *near = neighbours(flow, place);
	uint64_t before;

	if (!flow->conflict && code_flow_before(flow, place->vaddr, &before) &&
	    before + code_length(&flow->code, before) > place->vaddr)
		return error_set(err, ENOTSUP, "%s: %s is in the middle of an instruction: %s; %s",
				 f->file->name, name, near, danger);
	return error_set(err, ENOTSUP,
			 "%s: nothing shows that an instruction begins at %s (no way leads there "
			 "from the start of the function: data, or the target of a jump table): "
			 "%s; name a line of a program compiled with -g, or a mark of scoz.h, "
			 "instead; %s",
			 f->file->name, name, near, danger);
}

static int refuse_conflict(const struct probe_file *f, const struct code_flow *flow,
			   const struct probe_place *place, struct error *err)
{
	_cleanup_free_ char *name = place_name(place, place->vaddr);

	return error_set(err, EINVAL,
			 "%s: whether an instruction begins at %s cannot be told: what symbols, "
			 "unwind tables and lines say contradicts the code at 0x%llx; do they "
			 "belong to this build? Reinstall the program or its debug symbols; %s",
			 f->file->name, name, (unsigned long long)flow->conflict_at, danger);
}

static void enter_functions(const struct functions *f, struct code_flow *flow)
{
	for (size_t i = flow->code.start ? first_behind(f, flow->code.start - 1) : 0;
	     i < f->n && f->list[i].start < flow->code.end; i++)
		code_flow_enter(flow, f->list[i].start);
}

static int check_instruction(const struct probe_file *f, const struct code_flow *flow,
			     const struct probe_place *place, struct error *err)
{
	const char *why = code_no_probe(&flow->code, place->vaddr);
	_cleanup_free_ char *name = NULL, *near = NULL;

	if (!why)
		return 0;
	name = place_name(place, place->vaddr);
	near = neighbours(flow, place);
	return error_set(err, ENOTSUP,
			 "%s: the kernel puts no probe on the instruction at %s (%s): %s",
			 f->file->name, name, why, near);
}

static int check_begins(const struct probe_file *f, struct code_flow *flow,
			const struct probe_place *place, struct error *err)
{
	uint64_t start = flow->code.start, end = flow->code.end;

	enter_functions(&f->unwind, flow);
	enter_functions(&f->symbols, flow);
	for (size_t i = 0; i < place->n_statements; i++) {
		if (place->statements[i] >= start && place->statements[i] < end)
			code_flow_enter(flow, place->statements[i]);
	}
	if (flow->conflict)
		return refuse_conflict(f, flow, place, err);
	if (is_data(f, place->vaddr))
		return refuse(f, flow, place, err);
	if (code_flow_begins(flow, place->vaddr))
		return 0;
	if (!place->note || !code_is_nop(&flow->code, place->vaddr))
		return refuse(f, flow, place, err);
	if (is_probe_of_mark(&flow->code, place->vaddr))
		return 0;
	if (!leads_to(flow, place->vaddr))
		return refuse(f, flow, place, err);
	code_flow_enter(flow, place->vaddr);
	if (flow->conflict)
		return refuse_conflict(f, flow, place, err);
	return code_flow_begins(flow, place->vaddr) ? 0 : refuse(f, flow, place, err);
}

static int read_code(struct probe_file *f, uint64_t offset, size_t n)
{
	free(f->checked.bytes);
	f->checked.bytes = xmalloc(n);
	f->checked.n = n;
	f->checked.offset = offset;
	return pread(f->file->fd, f->checked.bytes, n, offset) == (ssize_t)n ? 0 : -EIO;
}

const uint8_t *probe_file_checked(const struct probe_file *f, uint64_t *offset, uint64_t *size)
{
	*offset = f->checked.offset;
	*size = f->checked.n;
	return f->checked.bytes;
}

int probe_file_check(struct probe_file *f, const struct probe_place *place, struct error *err)
{
	_cleanup_free_ char *name = place_name(place, place->vaddr);
	uint64_t start, end;
	struct code_flow flow;
	struct code code;
	GElf_Phdr ph;
	int r;

	if (!probe_file_around(f, place->vaddr, &start, &end) ||
	    !code_segment(f, place->vaddr, &ph))
		return error_set(err, ENOTSUP, "%s: %s is not in its code: %s", f->file->name, name,
				 danger);
	if (place->function &&
	    (place->function_vaddr < start || place->function_vaddr > place->vaddr))
		return error_set(err, ENOTSUP,
				 "%s: %s is outside of function \"%s\": take an OFFSET within it",
				 f->file->name, name, place->function);
	if (end - start > MAX_FUNCTION) {
		start = place->vaddr - start > MAX_FUNCTION / 2 ? place->vaddr - MAX_FUNCTION / 2
								: start;
		end = end - start > MAX_FUNCTION ? start + MAX_FUNCTION : end;
	}
	if (read_code(f, ph.p_offset + (start - ph.p_vaddr), end - start))
		return error_set(err, EIO, "%s: its code at 0x%llx cannot be read", f->file->name,
				 (unsigned long long)start);
	code = (struct code){ f->machine, f->checked.bytes, start, end };
	code_flow_init(&flow, &code);
	r = check_begins(f, &flow, place, err);
	if (!r)
		r = check_instruction(f, &flow, place, err);
	code_flow_deinit(&flow);
	return r;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int probe_file_function(const struct probe_file *f, uint64_t vaddr, uint64_t limit,
			struct code *code, uint64_t *offset, struct error *err)
{
	struct function function;
	uint8_t *bytes;
	GElf_Phdr ph;
	size_t n;

	if (!code_segment(f, vaddr, &ph) || !function_around(f, vaddr, &function) ||
	    function.start != vaddr || function.end <= vaddr || is_data(f, vaddr))
		return error_set(err, ENOTSUP, "%s: no function begins at 0x%llx", f->file->name,
				 (unsigned long long)vaddr);
	n = least(least(function.end, limit), ph.p_vaddr + ph.p_filesz) - vaddr;
	*offset = ph.p_offset + (vaddr - ph.p_vaddr);
	bytes = xmalloc(n);
	if (n > MAX_FUNCTION || pread(f->file->fd, bytes, n, *offset) != (ssize_t)n) {
		free(bytes);
		return error_set(err, EIO, "%s: its code at 0x%llx cannot be read", f->file->name,
				 (unsigned long long)vaddr);
	}
	*code = (struct code){ f->machine, bytes, vaddr, vaddr + n };
	return 0;
}
