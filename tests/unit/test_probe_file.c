// SPDX-License-Identifier: GPL-2.0-or-later
/* Where instructions begin, and that a probe anywhere else is refused. */
#include "elf/table_make.h"
#include "maps/maps.h"
#include "progress/instructions.h"
#include "progress/probe_file.h"
#include "progress/probe_sites.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define BASE 0x1000

/* ---- the flow of control ---- */

/* What begins in @bytes, as letters: B begins, '.' not. */
static void flow_is(uint16_t machine, const uint8_t *bytes, size_t n, const char *want,
		    bool conflict)
{
	struct code code = { machine, bytes, BASE, BASE + n };
	char got[256] = "";
	struct code_flow f;

	code_flow_init(&f, &code);
	code_flow_enter(&f, BASE);
	for (size_t i = 0; i < n; i++)
		got[i] = code_flow_begins(&f, BASE + i) ? 'B' : '.';
	assert_string_equal(got, want);
	assert_int_equal(f.conflict, conflict);
	code_flow_deinit(&f);
}
#define FLOW(machine, want, conflict, ...) \
	do { \
		static const uint8_t bytes[] = { __VA_ARGS__ }; \
		flow_is(machine, bytes, sizeof(bytes), want, conflict); \
	} while (0)

static void follows_control(void **state)
{
	(void)state;
	/* endbr64; movabs; ret; int3 padding is no way on */
	FLOW(EM_X86_64, "B...B.........B..", false, 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0xb8, 0x90, 0x90,
	     0xcc, 0xcc, 0x90, 0x90, 0x90, 0x90, 0xc3, 0xcc, 0xcc);
	/* je +1; nop; data is jumped over: jmp +2; 2 bytes; ret */
	FLOW(EM_X86_64, "B.BB...B", false, 0x74, 0x01, 0x90, 0xeb, 0x02, 0x48, 0xb8, 0xc3);
	/* call +3 over a string to pop: its bytes are no code; pop; ret */
	FLOW(EM_X86_64, "B.......BB", false, 0xe8, 0x03, 0x00, 0x00, 0x00, 'a', 'b', 0, 0x58, 0xc3);
	/* a call elsewhere returns */
	FLOW(EM_X86_64, "B....B", false, 0xe8, 0x00, 0x10, 0x00, 0x00, 0xc3);
	/* jmp *%rax: what follows is reached by no way that can be seen */
	FLOW(EM_X86_64, "B...", false, 0xff, 0xe0, 0x90, 0xc3);
	/* je past the lock prefix: a probe on what remains would be a lock of int3 */
	FLOW(EM_X86_64, "B.B...B", false, 0x74, 0x01, 0xf0, 0x48, 0xff, 0x00, 0xc3);
	/* je into an immediate: somebody is wrong */
	FLOW(EM_X86_64, "B.B....B", true, 0x74, 0x02, 0xb8, 0x90, 0x90, 0x90, 0x90, 0xc3);
	/* a jump to itself; the last instruction is cut off */
	FLOW(EM_X86_64, "B.", false, 0xeb, 0xfe);
	FLOW(EM_X86_64, "B...", false, 0x90, 0x48, 0xb8, 0x00);
	/* inc %eax in 32 bits, a prefix in 64 */
	FLOW(EM_386, "BB", false, 0x40, 0xc3);
	FLOW(EM_X86_64, "B.", false, 0x40, 0xc3);
	/* arm64: b.eq +8; nop; cbz x0, +8; ret; a literal */
	FLOW(EM_AARCH64, "B...B...B...B.......", false, 0x40, 0, 0, 0x54, 0x1f, 0x20, 0x03, 0xd5,
	     0x20, 0, 0, 0xb4, 0xc0, 0x03, 0x5f, 0xd6, 0x11, 0x22, 0x33, 0x44);
	/* b -4 behind bl; blr returns, br does not */
	FLOW(EM_AARCH64, "B...B...B.......", false, 0x00, 0x10, 0, 0x94, 0x20, 0, 0x3f, 0xd6, 0x20,
	     0, 0x1f, 0xd6, 0x1f, 0x20, 0x03, 0xd5);
}

/* ---- files ---- */

#ifdef __x86_64__
/*
 * known: movabs (10 bytes; nops in it), test, je to the end, an indirect jump, a block that only
 * the table knows (nop, nop), ret. Offsets: 0, 10, 13, 15, 17, 18, 19.
 */
__asm__(".text\n"
	".globl known\n"
	".type known, @function\n"
	"known:\n"
	".cfi_startproc\n"
	"movabs $0x90909090cccccccc, %rax\n"
	"test %rax, %rax\n"
	"je 1f\n"
	"jmp *%rax\n"
	"nop\n"
	"nop\n"
	"1: ret\n"
	".cfi_endproc\n"
	".size known, . - known\n"
	/* Bytes behind it that no function holds. */
	".byte 0x0f, 0x1f, 0x00, 0x90\n"
	/* A label that is no function: a table in the code. */
	".globl table\n"
	"table:\n"
	".quad 0x9090909090909090\n"
	/* The unwind table of a signal's return begins a byte early. */
	".globl signal_return\n"
	"nop\n"
	".cfi_startproc\n"
	".cfi_signal_frame\n"
	"nop\n"
	".type signal_return, @function\n"
	"signal_return:\n"
	"mov $15, %eax\n"
	"ret\n"
	".cfi_endproc\n"
	".size signal_return, . - signal_return\n"
	/* 16 bytes each; the first `refused` are what no kernel puts a probe on. */
	".balign 16\n"
	".globl instructions\n"
	".type instructions, @function\n"
	"instructions:\n"
	".cfi_startproc\n"
	"lock incq (%rax)\n .balign 16\n"
	"lock cmpxchg %rcx, (%rax)\n .balign 16\n"
	".byte 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n .balign 16\n" /* nopw %cs:... */
	".byte 0x3e, 0xff, 0xe0\n .balign 16\n"				   /* notrack jmp *%rax */
	"int3\n .balign 16\n"
	"int $0x80\n .balign 16\n"
	"vpxor %xmm0, %xmm0, %xmm0\n .balign 16\n"
	"vmovdqa %xmm0, %xmm1\n .balign 16\n"
	"mov %ecx, %ss\n .balign 16\n"
	".byte 0x66, 0xe8, 0, 0, 0, 0\n .balign 16\n" /* 66: callw */
	"endbr64\n .balign 16\n"
	"xchg %rcx, (%rax)\n .balign 16\n"
	"mov %fs:0, %rax\n .balign 16\n"
	"rep stosb\n .balign 16\n"
	"vaddps %ymm0, %ymm1, %ymm2\n .balign 16\n"
	"pxor %xmm0, %xmm0\n .balign 16\n"
	"data16 nop\n .balign 16\n"
	"jmp *%rax\n .balign 16\n"
	"syscall\n .balign 16\n"
	"push %rbp\n .balign 16\n"
	".cfi_endproc\n"
	".size instructions, . - instructions\n");
#define REFUSED	     10
#define INSTRUCTIONS 20
extern char instructions[];
#else
__asm__(".text\n"
	".globl known\n"
	".type known, @function\n"
	"known:\n"
	".cfi_startproc\n"
	"nop\n"
	"ret\n"
	".cfi_endproc\n"
	".size known, . - known\n");
#endif
void known(void);

static uint64_t vaddr_of(const void *p)
{
	static uint64_t bias;
	struct link_map *map = NULL;

	if (!bias) {
		map = _r_debug.r_map;
		bias = map->l_addr;
	}
	return (uintptr_t)p - bias;
}

static int check(const struct probe_place *place, char *text)
{
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT;
	struct probe_file *f;
	struct error err = {};
	int r;

	assert_int_equal(held_file_open("/proc/self/exe", &file, &err), 0);
	assert_int_equal(probe_file_open(&file, &f, &err), 0);
	r = probe_file_check(f, place, &err);
	if (text)
		strcpy(text, err.text);
	probe_file_close(f);
	return r;
}

static int check_offset(uint64_t offset, char *text)
{
	const struct probe_place place = {
		.vaddr = vaddr_of(known) + offset,
		.function = "known",
		.function_vaddr = vaddr_of(known),
	};

	return check(&place, text);
}

static void refuses_the_middle(void **state)
{
	char text[sizeof(((struct error *)0)->text)];

	(void)state;
	assert_int_equal(check_offset(0, text), 0);
#ifdef __x86_64__
	for (int i = 1; i < 10; i++) {
		assert_int_equal(check_offset(i, text), -ENOTSUP);
		assert_non_null(strstr(text, "in the middle of an instruction"));
		assert_non_null(strstr(text, "known and known+10"));
	}
	assert_int_equal(check_offset(10, text), 0);
	assert_int_equal(check_offset(13, text), 0);
	assert_int_equal(check_offset(15, text), 0);
	assert_int_equal(check_offset(19, text), 0);
	/* Behind the jump it may be code or not. */
	assert_int_equal(check_offset(17, text), -ENOTSUP);
	assert_non_null(strstr(text, "nothing shows"));
	assert_non_null(strstr(text, "known+15 and known+19"));
#else
	assert_int_equal(check_offset(4, text), 0);
	assert_int_equal(check_offset(2, text), -ENOTSUP);
#endif
	assert_int_equal(check_offset(20, text), -ENOTSUP);
	assert_non_null(strstr(text, "outside of function"));
	assert_int_equal(check_offset(1ULL << 40, text), -ENOTSUP);
	assert_non_null(strstr(text, "not in its code"));
}

#ifdef __x86_64__
extern char table[], signal_return[];

static void labels_are_no_functions(void **state)
{
	struct probe_place place = { .vaddr = vaddr_of(table),
				     .function = "table",
				     .function_vaddr = vaddr_of(table) };

	(void)state;
	assert_int_equal(check(&place, NULL), -ENOTSUP);
	place = (struct probe_place){ .vaddr = vaddr_of(signal_return) };
	assert_int_equal(check(&place, NULL), 0);
}

/* Is @offset in this program where the kernel puts a probe? 0, or what it says. */
static int kernel_probe(uint64_t offset)
{
	_cleanup_free_ char *type = read_file("/sys/bus/event_source/devices/uprobe/type", NULL);
	struct perf_event_attr attr = { .type = type ? atoi(type) : 0,
					.size = sizeof(attr),
					.uprobe_path = (uintptr_t) "/proc/self/exe",
					.probe_offset = offset };
	int fd;

	if (!type)
		return EPERM;
	fd = syscall(SYS_perf_event_open, &attr, getpid(), -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* What the kernel would pass over in silence is refused, and nothing else; by this very kernel. */
static void knows_what_the_kernel_refuses(void **state)
{
	uint64_t base = vaddr_of(instructions);
	struct code code = { EM_X86_64, (const uint8_t *)instructions, base,
			     base + INSTRUCTIONS * 16 };
	struct probe_place place = { .vaddr = base,
				     .function = "instructions",
				     .function_vaddr = base };
	char text[sizeof(((struct error *)0)->text)];
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT;
	struct error err = {};
	struct probe_file *f;
	uint64_t offset, size;

	(void)state;
	assert_int_equal(check(&place, text), -ENOTSUP);
	assert_non_null(strstr(text, "the kernel puts no probe"));
	assert_non_null(strstr(text, "a lock prefix"));
	assert_non_null(strstr(text, "instructions+4"));
	assert_int_equal(held_file_open("/proc/self/exe", &file, &err), 0);
	assert_int_equal(probe_file_open(&file, &f, &err), 0);
	probe_file_check(f, &place, NULL);
	probe_file_checked(f, &offset, &size);
	probe_file_close(f);
	for (int i = 0; i < INSTRUCTIONS; i++) {
		bool refused = code_no_probe(&code, base + i * 16ULL);
		int kernel = kernel_probe(offset + i * 16ULL);

		if (refused != (i < REFUSED))
			fail_msg("instruction %d: refused %d", i, refused);
		if (kernel == EPERM || kernel == EACCES)
			continue;
		if (refused != (kernel == 524))
			fail_msg("instruction %d: refused %d, by the kernel %d", i, refused,
				 kernel);
	}
}

static void believes_lines_and_notes(void **state)
{
	uint64_t base = vaddr_of(known);
	uint64_t right[] = { base + 17 }, wrong[] = { base + 4 };
	struct probe_place place = { .vaddr = base + 18, .statements = right, .n_statements = 1 };
	char text[sizeof(((struct error *)0)->text)];

	(void)state;
	assert_int_equal(check(&place, NULL), 0);
	/* Lines that begin in the midst of an instruction are of another build. */
	place = (struct probe_place){ .vaddr = base, .statements = wrong, .n_statements = 1 };
	assert_int_equal(check(&place, text), -EINVAL);
	assert_non_null(strstr(text, "do they belong to this build"));
	/* A note where the jump table leads, and one in the midst of an immediate. */
	place = (struct probe_place){ .vaddr = base + 17, .note = true };
	assert_int_equal(check(&place, NULL), 0);
	place = (struct probe_place){ .vaddr = base + 6, .note = true };
	assert_int_equal(check(&place, NULL), -ENOTSUP);
	place = (struct probe_place){ .vaddr = base + 23, .note = true };
	assert_int_equal(check(&place, NULL), -ENOTSUP);
}
#endif

/* Each statement of a function of this program is a place for a probe, and nothing within one. */
static void agrees_with_the_line_table(void **state)
{
	struct map_options opt = { .cache_dir = NULL };
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT;
	uint64_t vaddr, start, end, *statements;
	struct error err = {};
	struct probe_file *f;
	struct maptable *t;
	size_t n, shown = 0;

	(void)state;
	assert_int_equal(maptable_make("/proc/self/exe", "self", &opt, &t, &err), 0);
	assert_int_equal(maptable_function_address(t, "follows_control", &vaddr, &err), 0);
	assert_int_equal(held_file_open("/proc/self/exe", &file, &err), 0);
	assert_int_equal(probe_file_open(&file, &f, &err), 0);
	assert_true(probe_file_around(f, vaddr, &start, &end));
	assert_int_equal(start, vaddr);
	maptable_statements(t, start, end, &statements, &n);
	assert_true(n > 5);
	for (size_t i = 0; i < n; i++) {
		struct probe_place place = { .vaddr = statements[i] };

		assert_true(!i || statements[i] > statements[i - 1]);
		assert_int_equal(probe_file_check(f, &place, &err), 0);
	}
	for (uint64_t at = start; at < end; at++) {
		struct probe_place place = { .vaddr = at,
					     .statements = statements,
					     .n_statements = n };

		shown += !probe_file_check(f, &place, NULL);
	}
	assert_true(shown > n && shown < (end - start) / 2);
	free(statements);
	probe_file_close(f);
	maptable_free(t);
}

/* Stripped of everything, unwind tables still tell functions from one another. */
static void works_on_stripped_files(void **state)
{
	char path[] = "/tmp/test_probe_file.XXXXXX", command[256];
	struct probe_place place = { .vaddr = vaddr_of(known) };
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT;
	int fd = mkstemp(path);
	struct probe_file *f;
	struct error err = {};

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	snprintf(command, sizeof(command),
		 "objcopy --strip-all -R .dynsym /proc/%d/exe %s 2>/dev/null", getpid(), path);
	if (system(command)) {
		unlink(path);
		skip();
	}
	assert_int_equal(held_file_open(path, &file, &err), 0);
	assert_int_equal(probe_file_open(&file, &f, &err), 0);
	unlink(path);
	assert_int_equal(probe_file_check(f, &place, &err), 0);
	place.vaddr += 2;
	assert_int_equal(probe_file_check(f, &place, &err), -ENOTSUP);
	probe_file_close(f);
}

/* What was opened by others, or could not be. */
static void adopts_a_file(void **state)
{
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat opened, found;
	struct error err = {};

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(held_file_adopt(fd, "the program", &file, &err), 0);
	assert_int_equal(file.fd, fd);
	assert_string_equal(file.name, "the program");
	assert_int_equal(fstat(fd, &opened), 0);
	assert_int_equal(stat(file.path, &found), 0);
	assert_true(found.st_ino == opened.st_ino && found.st_dev == opened.st_dev);
	held_file_close(&file);
	assert_int_equal(fcntl(fd, F_GETFD), -1);

	assert_int_equal(held_file_adopt(-ESTALE, "another", &file, &err), -ESTALE);
	assert_string_equal(err.text, "another: Stale file handle");
	assert_int_equal(file.fd, -1);
	assert_null(file.name);
}

/* What others do to the path, or to the file itself, after it was looked at. */
static void holds_the_file(void **state)
{
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT, again = HELD_FILE_INIT;
	char path[] = "/tmp/test_probe_file.XXXXXX", other[sizeof(path) + 2], command[256];
	struct probe_sites *sites;
	struct stat held, now;
	struct error err = {};
	struct point point;
	uint64_t offset;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", getpid(), path);
	assert_int_equal(system(command), 0);
	assert_int_equal(held_file_open(path, &file, &err), 0);
	assert_int_equal(point_parse("x:known", &point, &err), 0);
	if (probe_sites_find(&file, &point, &sites, &err))
		fail_msg("%s", err.text);
	assert_int_equal(sites->n, 1);
	offset = sites->list[0].offset;

	/* Another one in its place: the way that the kernel is given leads to what was read. */
	snprintf(other, sizeof(other), "%s.2", path);
	assert_int_equal(symlink("/bin/true", other), 0);
	assert_int_equal(rename(other, path), 0);
	assert_int_equal(stat(file.path, &now), 0);
	assert_int_equal(fstat(fd, &held), 0);
	assert_int_equal(now.st_ino, held.st_ino);
	assert_int_equal(probe_sites_unchanged(sites, 0, &file, &err), 0);

	/* Written to, of the same size. */
	assert_int_equal(pwrite(fd, "\x90\x90\x90\x90", 4, offset), 4);
	assert_int_equal(probe_sites_unchanged(sites, 0, &file, &err), -ESTALE);
	assert_non_null(strstr(err.text, "was changed while"));
	assert_int_equal(ftruncate(fd, 64), 0);
	assert_int_equal(probe_sites_unchanged(sites, 0, &file, &err), -ESTALE);
	probe_sites_free(sites);
	point_free(&point);
	close(fd);
	unlink(path);

	/* Nothing but files is opened, and nobody is waited for. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(held_file_open(path, &again, &err), -EINVAL);
	unlink(path);
	assert_int_equal(held_file_open("/dev/null", &again, &err), -EINVAL);
	assert_int_equal(held_file_open("/tmp", &again, &err), -EISDIR);
	assert_int_equal(held_file_open(path, &again, &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_control),
		cmocka_unit_test(refuses_the_middle),
#ifdef __x86_64__
		cmocka_unit_test(labels_are_no_functions),
		cmocka_unit_test(knows_what_the_kernel_refuses),
		cmocka_unit_test(believes_lines_and_notes),
#endif
		cmocka_unit_test(agrees_with_the_line_table),
		cmocka_unit_test(works_on_stripped_files),
		cmocka_unit_test(adopts_a_file),
		cmocka_unit_test(holds_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
