// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwind tables, and stacks by them: of hand-written CFI, and libc's whole table beside libdw's. */
#include "test_map_util.h"

#include "elf/elf_image.h"
#include "unwind/unwind.h"
#include "unwind/unwind_cfi.h"
#include "unwind/unwind_table.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>

/* Every function is padded so that none of them begins where the one before it ends. */
static const char source[] =
	".text\n.globl _start\n"
	"_start: .cfi_startproc\n.cfi_undefined rip\ncall plain\n.cfi_endproc\n.skip 32\n"
	"plain: .cfi_startproc\n"
	"push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset rbp,-16\n"
	"plain_pushed: mov %rsp,%rbp\n.cfi_def_cfa_register rbp\n"
	"plain_framed: sub $64,%rsp\n.cfi_remember_state\n"
	"leave\n.cfi_def_cfa rsp,8\n.cfi_restore rbp\n"
	"plain_left: ret\n.cfi_restore_state\n"
	"plain_again: call leaf\n.cfi_endproc\n"
	"plain_end: .skip 32\n"
	"leaf: .cfi_startproc\nnop\nret\n.cfi_endproc\n"
	".p2align 4\n"
	"beside: .cfi_startproc\nnop\nret\n.cfi_endproc\n.skip 32\n"
	"realigned: .cfi_startproc\n"
	".cfi_escape 0x0f,0x03,0x76,0x78,0x06\n"      /* CFA = *(rbp - 8) */
	".cfi_escape 0x10,0x06,0x02,0x76,0x00\nnop\n" /* rbp at rbp + 0 */
	"realigned_more: .cfi_escape 0x0f,0x06,0x77,0x98,0x01,0x06,0x23,0x08\n" /* *(rsp+152) + 8 */
	"nop\n.cfi_endproc\n.skip 32\n"
	".p2align 4\nstub: .cfi_startproc\n"
	".cfi_escape 0x0f,0x0b,0x77,0x08,0x80,0x00,0x3f,0x1a,0x3b,0x2a,0x33,0x24,0x22\n"
	".skip 16\n.cfi_endproc\n.skip 32\n"
	"strange: .cfi_startproc\nnop\n"
	"strange_here: .cfi_escape 0x0f,0x02,0x31,0x32\nnop\n.cfi_endproc\n.skip 32\n"
	"unheard: .cfi_startproc\nnop\n"
	"unheard_here: .cfi_escape 0x3e\nnop\n.cfi_def_cfa_offset 16\nnop\n.cfi_endproc\n.skip 32\n"
	"moved: .cfi_startproc\n.cfi_register rip,rdi\n.cfi_def_cfa rsp,0\nnop\n.cfi_endproc\n"
	".skip 32\n"
	"nop\n"
	"handler: .cfi_startproc simple\n.cfi_signal_frame\n"
	".cfi_escape 0x0f,0x04,0x77,0xa0,0x01,0x06\n"	   /* CFA = *(rsp + 160) */
	".cfi_escape 0x10,0x10,0x03,0x77,0xa8,0x01\n"	   /* rip at rsp + 168 */
	".cfi_escape 0x10,0x06,0x03,0x77,0xf8,0x00\nnop\n" /* rbp at rsp + 120 */
	"handler_here: nop\n.cfi_endproc\n.skip 32\n"
	"bare: nop\nnop\n.skip 32\n";

static const char arm64[] = ".text\n.globl _start\n_start:\n"
			    "function: .cfi_startproc simple\n.cfi_return_column 30\n"
			    ".cfi_def_cfa 31,0\nnop\n"
			    "signed: .cfi_escape 0x2d\nnop\n"
			    "stored: .cfi_def_cfa 29,32\n.cfi_offset 29,-32\n.cfi_offset 30,-24\n"
			    "nop\n.cfi_endproc\n";

struct program {
	struct elf_image *image;
	struct unwind_table *table;
};

static struct elf_image *open_image(const char *path)
{
	struct elf_image *image;
	struct error err;

	if (elf_image_open(path, path, ELF_PROGRAMS, &image, &err))
		fail_msg("%s", err.text);
	return image;
}

static const char *linked_too = ""; /* another source, how */

static int make(const char *text, const char *head, uint16_t machine, struct program *ret,
		struct error *err)
{
	_cleanup_free_ char *file = in_scratch("s.s"), *out = in_scratch("program");
	_cleanup_free_ char *whole = xasprintf("%s%s", head, text);
	_cleanup_close_ int fd = -1;

	write_file(file, whole, strlen(whole));
	sh("gcc -nostdlib -static -Wl,--no-ld-generated-unwind-info s.s %s -o program", linked_too);
	fd = open(out, O_WRONLY);
	assert_int_equal(pwrite(fd, &machine, 2, offsetof(Elf64_Ehdr, e_machine)), 2);
	ret->image = open_image(out);
	ret->table = NULL;
	return unwind_table_build(ret->image->elf, "program", &ret->table, err);
}

static struct program program(const char *text, const char *head, uint16_t machine)
{
	struct program p;
	struct error err;

	if (make(text, head, machine, &p, &err))
		fail_msg("%s", err.text);
	return p;
}

static void drop(struct program *p)
{
	unwind_table_free(p->table);
	elf_image_close(p->image);
}

/* Value of a symbol of .symtab, of any type. */
static bool symbol_of(const struct elf_image *image, const char *name, uint64_t *value)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(image->elf, scn))) {
		Elf_Data *data;
		GElf_Sym sym;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
			const char *s = elf_strptr(image->elf, shdr.sh_link, sym.st_name);

			if (s && !strcmp(s, name) && sym.st_shndx != SHN_UNDEF) {
				*value = sym.st_value;
				return true;
			}
		}
	}
	return false;
}

static uint64_t address(const struct program *p, const char *name)
{
	uint64_t ret = 0;

	if (!symbol_of(p->image, name, &ret))
		fail_msg("no symbol %s", name);
	return ret;
}

static const struct unwind_rule *rule(const struct program *p, const char *name, int off)
{
	return unwind_table_find(p->table, address(p, name) + off);
}

#define assert_cfa(r, kind, reg, offset, more) \
	do { \
		const struct unwind_rule *r__ = (r); \
		assert_int_equal(r__->cfa, kind); \
		assert_int_equal(r__->cfa_reg, reg); \
		assert_int_equal(r__->cfa_off, offset); \
		assert_int_equal(r__->cfa_add, more); \
	} while (0)
#define assert_saved(r, which, where, base, offset) \
	do { \
		const struct unwind_rule *r__ = (r); \
		assert_int_equal(r__->at[which].place, where); \
		assert_int_equal(r__->at[which].reg, base); \
		assert_int_equal(r__->at[which].off, offset); \
	} while (0)

static void check_rules(const struct program *p)
{
	assert_int_equal(rule(p, "_start", 0)->cfa, UNWIND_END);
	assert_int_equal(rule(p, "_start", -1)->cfa, UNWIND_NOTHING);
	assert_cfa(rule(p, "plain", 0), UNWIND_REG, 7, 8, 0);
	assert_saved(rule(p, "plain", 0), UNWIND_RA, UNWIND_AT_CFA, 0, -8);
	assert_saved(rule(p, "plain", 0), UNWIND_FP, UNWIND_SAME, 0, 0);
	assert_cfa(rule(p, "plain_pushed", 0), UNWIND_REG, 7, 16, 0);
	assert_saved(rule(p, "plain_pushed", 0), UNWIND_FP, UNWIND_AT_CFA, 0, -16);
	assert_cfa(rule(p, "plain_pushed", 3), UNWIND_REG, 6, 16, 0);
	assert_cfa(rule(p, "plain_left", 0), UNWIND_REG, 7, 8, 0);
	assert_saved(rule(p, "plain_left", 0), UNWIND_FP, UNWIND_SAME, 0, 0);
	assert_cfa(rule(p, "plain_again", 0), UNWIND_REG, 6, 16, 0);
	assert_cfa(rule(p, "plain_end", -1), UNWIND_REG, 6, 16, 0);
	assert_int_equal(rule(p, "plain_end", 0)->cfa, UNWIND_NOTHING);
	/* Padding is no gap. */
	assert_cfa(rule(p, "beside", -1), UNWIND_REG, 7, 8, 0);
	assert_cfa(rule(p, "realigned", 0), UNWIND_DEREF, 6, -8, 0);
	assert_saved(rule(p, "realigned", 0), UNWIND_FP, UNWIND_AT_REG, 6, 0);
	assert_cfa(rule(p, "realigned_more", 0), UNWIND_DEREF, 7, 152, 8);
	assert_cfa(rule(p, "stub", 0), UNWIND_PLT, 7, 8, 11);
	assert_cfa(rule(p, "strange", 0), UNWIND_REG, 7, 8, 0);
	assert_int_equal(rule(p, "strange_here", 0)->cfa, UNWIND_STRANGE);
	assert_int_equal(rule(p, "unheard_here", 1)->cfa, UNWIND_STRANGE);
	assert_saved(rule(p, "moved", 0), UNWIND_RA, UNWIND_IN_REG, 5, 0);
	/* From a byte before it on: who returns there looks there. */
	assert_cfa(rule(p, "handler", 0), UNWIND_DEREF, 7, 160, 0);
	assert_saved(rule(p, "handler", 0), UNWIND_RA, UNWIND_AT_REG, 7, 168);
	assert_int_equal(rule(p, "handler", 0)->signal, 1);
	assert_int_equal(rule(p, "bare", 0)->cfa, UNWIND_NOTHING);
	assert_int_equal(unwind_table_size(p->table).strange, 2);
}

static void test_rules(void **state)
{
	static const char *const sections[] = { "", ".cfi_sections .debug_frame\n",
						".cfi_sections .eh_frame, .debug_frame\n" };
	static const char crt[] = ".text\ncrt: .cfi_startproc\nnop\n.cfi_endproc\n.skip 32\n";
	/* What is linked to every program may have .eh_frame, and the program none. */
	static const char *const linked[] = { "", "crt.s",
					      "-Wl,--compress-debug-sections=zlib-gabi",
					      "-Wl,--compress-debug-sections=zlib-gnu crt.s" };
	_cleanup_free_ char *file = in_scratch("crt.s");

	(void)state;
	write_file(file, crt, strlen(crt));
	for (size_t i = 0; i < ARRAY_SIZE(sections) * ARRAY_SIZE(linked); i++) {
		struct program p;

		linked_too = linked[i % ARRAY_SIZE(linked)];
		p = program(source, sections[i / ARRAY_SIZE(linked)], EM_X86_64);
		check_rules(&p);
		if (strstr(linked_too, "crt.s"))
			assert_cfa(rule(&p, "crt", 0), UNWIND_REG, 7, 8, 0);
		drop(&p);
	}
	linked_too = "";
}

static void test_arm64(void **state)
{
	struct program p = program(arm64, "", EM_AARCH64);

	(void)state;
	assert_cfa(rule(&p, "function", 0), UNWIND_REG, 31, 0, 0);
	assert_saved(rule(&p, "function", 0), UNWIND_RA, UNWIND_SAME, 0, 0);
	assert_int_equal(rule(&p, "function", 0)->ra_signed, 0);
	assert_int_equal(rule(&p, "signed", 0)->ra_signed, 1);
	assert_cfa(rule(&p, "stored", 0), UNWIND_REG, 29, 32, 0);
	assert_saved(rule(&p, "stored", 0), UNWIND_RA, UNWIND_AT_CFA, 0, -24);
	assert_saved(rule(&p, "stored", 0), UNWIND_FP, UNWIND_AT_CFA, 0, -32);
	drop(&p);
}

static void test_refused(void **state)
{
	struct program p;
	struct error err;

	(void)state;
	assert_int_equal(make("_start: nop\n.globl _start\n", "", EM_X86_64, &p, &err), -ENODATA);
	assert_non_null(strstr(err.text, "program: has no .eh_frame"));
	drop(&p);
	assert_int_equal(make(source, "", EM_S390, &p, &err), -ENOTSUP);
	drop(&p);
	assert_int_equal(make(".globl _start\n_start: nop\n"
			      ".section .eh_frame,\"a\"\n.long 0x7fff0000,0,1\n",
			      "", EM_X86_64, &p, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "no entry in it can be read"));
	drop(&p);
}

/* Bytes of a finished table that are wrong: refused. */
static void test_damaged(void **state)
{
	struct program p = program(source, "", EM_X86_64);
	size_t n = unwind_table_size(p.table).bytes, refused = 0;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		uint8_t *copy = xmalloc(n);
		struct unwind_table *t;

		memcpy(copy, p.table->mem, n);
		copy[i] ^= 0xff;
		t = unwind_table_attach(copy, n, false);
		refused += !t;
		for (uint64_t pc = 0; t && pc < 4096; pc++)
			unwind_table_find(t, p.table->h->base + pc);
		unwind_table_free(t);
	}
	assert_true(refused > 100);
	drop(&p);
}

/* A stack in memory, with the code of a program that lies at its own addresses. */
#define STACK 0x7000000
struct machine {
	const struct program *program;
	uint64_t words[64];
};

static bool read_words(void *arg, uint64_t at, void *dst, size_t n)
{
	struct machine *m = arg;

	if (at < STACK || at - STACK > sizeof(m->words) || n > sizeof(m->words) - (at - STACK))
		return false;
	memcpy(dst, (char *)m->words + (at - STACK), n);
	return true;
}

static bool find_code(void *arg, uint64_t pc, const struct unwind_table **t, uint64_t *ret)
{
	struct machine *m = arg;

	*t = m->program->table;
	*ret = pc;
	return pc >= address(m->program, "_start") && pc < address(m->program, "bare") + 16;
}

static size_t walk(struct machine *m, uint64_t pc, uint64_t sp, uint64_t fp, uint64_t *pcs,
		   enum unwind_why *why)
{
	struct unwind_source s = { EM_X86_64, m, read_words, find_code };
	struct unwind_registers at = { .pc = pc, .known = 0xffff };
	struct unwind_frame f[8];
	size_t n;

	at.r[7] = sp;
	at.r[6] = fp;
	at.r[5] = address(m->program, "plain_again") + 5;
	n = unwind_stack(&s, &at, f, 8, why);
	for (size_t i = 0; i < n; i++)
		pcs[i] = f[i].pc;
	return n;
}

static void test_walk(void **state)
{
	struct program p = program(source, "", EM_X86_64);
	struct machine m = { .program = &p };
	uint64_t in_plain = address(&p, "plain_again") + 5, in_start = address(&p, "_start") + 5;
	uint64_t pcs[8], sp = STACK + 8;
	enum unwind_why why;

	(void)state;
	/* leaf, called by plain, which has a frame at word 4, called by _start. */
	m.words[1] = in_plain;
	m.words[4] = 0;
	m.words[5] = in_start;
	assert_int_equal(walk(&m, address(&p, "leaf"), sp, STACK + 32, pcs, &why), 3);
	assert_int_equal(why, UNWIND_COMPLETE);
	assert_int_equal(pcs[1], in_plain);
	assert_int_equal(pcs[2], in_start);
	/* A stub; from its twelfth byte on it has pushed something. */
	assert_int_equal(walk(&m, address(&p, "stub") + 10, sp, STACK + 32, pcs, &why), 3);
	m.words[2] = in_start;
	assert_int_equal(walk(&m, address(&p, "stub") + 11, sp, STACK + 32, pcs, &why), 2);
	assert_int_equal(pcs[1], in_start);
	/* vfork() has no frame while it has its return address in a register. */
	assert_int_equal(walk(&m, address(&p, "moved"), sp, STACK + 32, pcs, &why), 3);
	assert_int_equal(pcs[1], in_plain);
	/* Code without an entry goes by its frame pointer. */
	assert_int_equal(walk(&m, address(&p, "bare"), sp, STACK + 32, pcs, &why), 2);
	assert_int_equal(pcs[1], in_start);
	m.words[5] = 12345;
	assert_int_equal(walk(&m, address(&p, "bare"), sp, STACK + 32, pcs, &why), 1);
	assert_int_equal(why, UNWIND_NO_CODE);
	m.words[5] = in_start;
	/* Not by one that leads down the stack. */
	assert_int_equal(walk(&m, address(&p, "bare"), sp, STACK, pcs, &why), 1);
	/* What is not understood ends it. */
	assert_int_equal(walk(&m, address(&p, "strange_here"), sp, STACK + 32, pcs, &why), 1);
	assert_int_equal(why, UNWIND_NO_RULE);
	/* No frame ends below itself. */
	assert_int_equal(walk(&m, address(&p, "plain_again"), STACK + 64, STACK + 32, pcs, &why),
			 1);
	assert_int_equal(why, UNWIND_NO_STACK);
	assert_int_equal(walk(&m, address(&p, "leaf"), STACK + 1024, 0, pcs, &why), 1);
	assert_int_equal(why, UNWIND_NO_STACK);
	m.words[1] = 99;
	assert_int_equal(walk(&m, address(&p, "leaf"), sp, 0, pcs, &why), 1);
	assert_int_equal(why, UNWIND_NO_CODE);
	/* As many as there is room for. */
	for (size_t i = 0; i < ARRAY_SIZE(m.words); i++)
		m.words[i] = address(&p, "leaf") + 1;
	assert_int_equal(walk(&m, address(&p, "leaf"), sp, 0, pcs, &why), 8);
	assert_int_equal(why, UNWIND_FULL);
	drop(&p);
}

/* A handler's frame: the code above it was interrupted, at its first byte. */
static void test_signal(void **state)
{
	struct program p = program(source, "", EM_X86_64);
	struct machine m = { .program = &p };
	uint64_t pcs[8];
	enum unwind_why why;

	(void)state;
	m.words[0] = address(&p, "handler_here"); /* leaf is the handler */
	m.words[1 + 160 / 8] = STACK + 40 * 8;
	m.words[1 + 168 / 8] = address(&p, "leaf");
	m.words[40] = address(&p, "_start") + 5;
	assert_int_equal(walk(&m, address(&p, "leaf"), STACK, 0, pcs, &why), 4);
	assert_int_equal(why, UNWIND_COMPLETE);
	assert_int_equal(pcs[2], address(&p, "leaf"));
	drop(&p);
}

/* A register's place as libdw has it, in our terms; false: not one of the plain ones. */
static bool place_of(Dwarf_Frame *f, int reg, int *place, int64_t *off)
{
	Dwarf_Op mem[3], *ops;
	size_t n;

	if (dwarf_frame_register(f, reg, mem, &ops, &n))
		return false;
	*off = 0;
	*place = n ? UNWIND_AT_CFA : ops ? UNWIND_LOST : UNWIND_SAME;
	if (n > 2 || (n && ops[0].atom != DW_OP_call_frame_cfa) ||
	    (n == 2 && ops[1].atom != DW_OP_plus_uconst))
		return false;
	if (n == 2)
		*off = (int64_t)ops[1].number;
	return true;
}

static bool compare_row(Dwarf_CFI *cfi, uint64_t pc, const struct unwind_rule *r)
{
	static const int numbers[] = { 16, 6, 3 };
	Dwarf_Frame *f;
	Dwarf_Op *ops;
	int64_t off;
	size_t n;
	int place;

	if (r->cfa == UNWIND_NOTHING)
		return dwarf_cfi_addrframe(cfi, pc, &f) != 0;
	if (r->cfa != UNWIND_REG && r->cfa != UNWIND_END)
		return false;
	if (dwarf_cfi_addrframe(cfi, pc, &f)) /* padding */
		return false;
	if (!place_of(f, 16, &place, &off)) { /* vfork() has it in a register */
		assert_int_not_equal(r->at[UNWIND_RA].place, UNWIND_AT_CFA);
		free(f);
		return false;
	}
	if (r->cfa == UNWIND_END) {
		assert_int_equal(place, UNWIND_LOST);
		free(f);
		return true;
	}
	assert_int_equal(dwarf_frame_cfa(f, &ops, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(ops[0].atom, DW_OP_bregx);
	assert_int_equal(ops[0].number, r->cfa_reg);
	assert_int_equal((int64_t)ops[0].number2, r->cfa_off);
	for (int i = 0; i < UNWIND_FOLLOWED; i++) {
		if (!place_of(f, numbers[i], &place, &off) || r->at[i].place > UNWIND_AT_CFA)
			continue;
		/* What nothing is said about, libdw gives up where callees must preserve it. */
		if (i != UNWIND_RA && place == UNWIND_LOST && r->at[i].place == UNWIND_SAME)
			continue;
		assert_int_equal(place, r->at[i].place);
		assert_int_equal(off, r->at[i].off);
	}
	free(f);
	return true;
}

static void test_libc(void **state)
{
	static const char *const paths[] = { "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6",
					     "/lib/libc.so.6" };
	struct program p = { 0 };
	struct unwind_table_size s;
	Dwarf_CFI *cfi;
	struct error err;
	uint32_t compared = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths) && !p.image; i++) {
		if (!access(paths[i], R_OK))
			p.image = open_image(paths[i]);
	}
	if (!p.image || unwind_table_build(p.image->elf, "libc", &p.table, &err) == -ENOTSUP)
		skip();
	assert_non_null(p.table);
	s = unwind_table_size(p.table);
	assert_int_equal(s.strange, 0);
	assert_true(s.entries > 2000 && s.bytes < 16 * s.rows);
	cfi = dwarf_getcfi_elf(p.image->elf);
	assert_non_null(cfi);
	for (uint32_t i = 0; i < s.rows; i++) {
		uint64_t from = p.table->h->base + p.table->off[i];
		const struct unwind_rule *r = &p.table->rules[p.table->rule[i]];

		assert_ptr_equal(unwind_table_find(p.table, from), r);
		compared += compare_row(cfi, from, r);
		if (i + 1 < s.rows && r->cfa != UNWIND_NOTHING)
			compare_row(cfi, p.table->h->base + p.table->off[i + 1] - 1, r);
	}
	/* All but PLT stubs, signal frames, and where the stack is realigned. */
	assert_true(compared > s.rows / 100 * 98);
	dwarf_cfi_end(cfi);
	drop(&p);
}

static int run(void)
{
	static const struct CMUnitTest here[] = {
		cmocka_unit_test(test_rules),	cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_walk),	cmocka_unit_test(test_signal),
		cmocka_unit_test(test_libc),
	};

	return cmocka_run_group_tests_name("unwind", here, NULL, NULL);
}

int main(void)
{
#ifndef __x86_64__
	printf("skipped: the programs to look at are written for x86-64\n");
	return 77;
#endif
	return run_in_scratch(run, true);
}
