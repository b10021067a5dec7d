// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's lines, without its kernel: a machine made of files (sysroot) with a small image
 * linked where kernels are, a module, and a kallsyms that says where KASLR has put them.
 */
#include "elf/table_make.h"
#include "test_map_util.h"

#include "table/table.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <sys/utsname.h>

#define SLIDE	    0x1c600000ULL
#define MODULE_TEXT 0xffffffffc0123000ULL
#define RELEASE	    "6.9.0-test"

static const char header[] = "static inline int get_link(int x)\n"
			     "{\n"
			     "	for (int i = 0; i < x; i++) /* @loop */\n"
			     "		*(volatile int *)&sink += i;\n"
			     "	return sink;\n"
			     "}\n";

static const char namei[] = "extern int sink;\n"
			    "#include <linux/namei.h>\n"
			    "__attribute__((noinline)) int path_openat(int x)\n"
			    "{\n"
			    "	int n = get_link(x); /* @call */\n"
			    "	sink += 3; /* @openat */\n"
			    "	return n;\n"
			    "}\n"
			    "int do_filp_open(int x)\n"
			    "{\n"
			    "	return path_openat(x) + path_openat(x + 1); /* @filp */\n"
			    "}\n";

static const char core[] = "__asm__(\".text\\n.globl _text, _stext\\n_text:\\n_stext:\\n\");\n"
			   "int sink;\n"
			   "int do_filp_open(int);\n"
			   "int _start(int x)\n"
			   "{\n"
			   "	return do_filp_open(x) + 1; /* @start */\n"
			   "}\n";

static const char module[] = "extern int sink;\n"
			     "#include <linux/namei.h>\n"
			     "__attribute__((noinline)) int burn_cpu(int x)\n"
			     "{\n"
			     "	return get_link(x) + 1; /* @burn */\n"
			     "}\n"
			     "__attribute__((section(\".init.text\"))) int init_module(void)\n"
			     "{\n"
			     "	return burn_cpu(sink); /* @init */\n"
			     "}\n";

static void put(const char *name, const char *text)
{
	_cleanup_free_ char *path = in_scratch("%s", name);

	sh("mkdir -p $(dirname %s)", name);
	write_file(path, text, strlen(text));
}

/* Sources in one place, objects in another, as with make O=. */
static void make_sources(void)
{
	put("src/include/linux/namei.h", header);
	put("src/fs/namei.c", namei);
	put("src/kernel/core.c", core);
	put("src/drivers/burn/burn-cpu.c", module);
	sh("mkdir -p obj");
}

static const char *code_model(void)
{
	struct utsname u;

	uname(&u);
	return strcmp(u.machine, "x86_64") ? "" : "-mcmodel=kernel -mno-red-zone";
}

static void make_image(const char *name, const char *flags, const char *link)
{
	sh("cd obj && gcc %s -O2 -g %s -ffreestanding -fno-pie -fno-pic "
	   "-fno-asynchronous-unwind-tables -static -nostdlib -no-pie -I../src/include "
	   "../src/kernel/core.c $PWD/../src/fs/namei.c -Wl,-Ttext=0xffffffff81000000 "
	   "-Wl,-Tdata=0xffffffff82000000 -Wl,-z,norelro %s -o %s",
	   code_model(), flags, link, name);
}

static void make_module(const char *name, const char *flags)
{
	sh("cd obj && gcc %s -O2 -g %s -ffreestanding -fno-pie -fno-pic "
	   "-fno-asynchronous-unwind-tables -c -I../src/include "
	   "$PWD/../src/drivers/burn/burn-cpu.c "
	   "-o burn.o && ld -r --build-id burn.o -o %s",
	   code_model(), flags, name);
}

static void dump_notes(const char *image, const char *to)
{
	sh("mkdir -p $(dirname %s) && objcopy -O binary -j .note.gnu.build-id %s %s", to, image,
	   to);
}

static uint64_t address_of(const char *image, const char *symbol)
{
	_cleanup_free_ char *path = in_scratch("%s", image);
	const struct map_options opt = { .kernel = true };
	struct maptable *t = open_with(path, &opt);
	uint64_t addr;

	assert_int_equal(maptable_function_address(t, symbol, &addr, NULL), 0);
	maptable_free(t);
	return addr;
}

static void make_kallsyms(const char *image)
{
	_cleanup_free_ char *text =
		xasprintf("%016llx T _text\n%016llx T _stext\n%016llx T path_openat\n"
			  "%016llx T do_filp_open\n%016llx t bpf_prog_1234\t[bpf]\n"
			  "%016llx t other_function\t[other]\n",
			  0xffffffff81000000 + SLIDE, 0xffffffff81000000 + SLIDE,
			  (unsigned long long)address_of(image, "path_openat") + SLIDE,
			  (unsigned long long)address_of(image, "do_filp_open") + SLIDE,
			  0xffffffffc0001000ULL, 0xffffffffc0002000ULL);

	put("root/proc/kallsyms", text);
}

/* A machine that runs obj/vmlinux with the module burn_cpu of obj/burn-cpu.ko. */
static void make_machine(void)
{
	_cleanup_free_ char *text = xasprintf("0x%llx\n", MODULE_TEXT);
	_cleanup_free_ char *init = xasprintf("0x%llx\n", MODULE_TEXT + 0x100000);

	make_sources();
	make_image("vmlinux", "-gdwarf-5", "-Wl,--build-id");
	make_module("burn-cpu.ko", "-gdwarf-5");
	sh("rm -rf root");
	make_kallsyms("obj/vmlinux");
	put("root/proc/sys/kernel/osrelease", RELEASE "\n");
	put("root/proc/modules", "burn_cpu 16384 0 - Live 0xffffffffc0123000 (O)\n"
				 "other 16384 0 - Live 0xffffffffc0002000\n");
	put("root/sys/module/burn_cpu/sections/.text", text);
	put("root/sys/module/burn_cpu/sections/.init.text", init);
	dump_notes("obj/vmlinux", "root/sys/kernel/notes");
	dump_notes("obj/burn-cpu.ko", "root/sys/module/burn_cpu/notes/.note.gnu.build-id");
	sysroot = in_scratch("root");
}

static void leave_machine(void)
{
	free((char *)sysroot);
	sysroot = "";
}

static struct maps *open_kernel(const char *const *images, size_t n, int expected,
				struct error *err)
{
	struct maps *m;
	int rc;

	assert_int_equal(maps_create(NULL, &m, NULL), 0);
	rc = maps_open_kernel(m, images, n, err);
	if (rc != expected)
		fail_msg("%d instead of %d: %s", rc, expected, rc ? err->text : "");
	return m;
}

static int look_up(struct maps *m, uint64_t addr, struct map_frame *f, const char **binary)
{
	const struct maps_binary *b;
	uint64_t vaddr;
	uint32_t id;

	assert_true(maps_place_of(m, 4711, addr, &id, &vaddr));
	b = maps_binary_wait(m, id);
	assert_non_null(b);
	assert_true(b->kernel);
	assert_true(maps_binary_is_kernel(m, id));
	*binary = b->path;
	return b->table ? maptable_lookup(b->table, vaddr, f, MAP_MAX_INLINE) : 0;
}

/* Somewhere in @function there must be the given chain, innermost first. */
static void expect_chain(struct maps *m, uint64_t from, const char *const *chain, int depth,
			 const char *wanted)
{
	struct map_frame f[MAP_MAX_INLINE];
	const char *binary;

	for (uint64_t addr = from; addr < from + 256; addr++) {
		int n = look_up(m, addr, f, &binary), i;

		for (i = 0; i < n && n == depth; i++) {
			_cleanup_free_ char *text = xasprintf(
				"%s %s:%u", f[i].function, f[i].file ? f[i].file : "?", f[i].line);

			if (strcmp(text, chain[i]))
				break;
		}
		if (i == depth) {
			assert_string_equal(binary, wanted);
			return;
		}
	}
	fail_msg("nowhere from %#lx on is %s", (unsigned long)from, chain[0]);
}

static void expect_lines(struct maps *m)
{
	_cleanup_free_ char *loop =
		xasprintf("get_link include/linux/namei.h:%u", line_of(header, "loop"));
	_cleanup_free_ char *call = xasprintf("path_openat fs/namei.c:%u", line_of(namei, "call"));
	_cleanup_free_ char *openat =
		xasprintf("path_openat fs/namei.c:%u", line_of(namei, "openat"));
	const char *inlined[] = { loop, call }, *plain[] = { openat };
	uint64_t at = address_of("obj/vmlinux", "path_openat") + SLIDE;

	expect_chain(m, at, inlined, 2, "[kernel]");
	expect_chain(m, at, plain, 1, "[kernel]");
}

static void expect_functions_only(struct maps *m)
{
	struct map_frame f[MAP_MAX_INLINE];
	const char *binary;
	uint64_t at = address_of("obj/vmlinux", "path_openat") + SLIDE;

	assert_int_equal(look_up(m, at, f, &binary), 1);
	assert_string_equal(f[0].function, "path_openat");
	assert_null(f[0].file);
}

static void test_image(void **state)
{
	_cleanup_free_ char *vmlinux = in_scratch("obj/vmlinux");
	const char *images[] = { vmlinux };
	struct map_frame f[MAP_MAX_INLINE];
	const struct maps_binary *kernel;
	struct addr_ranges r;
	struct error err;
	const char *binary;
	struct maps *m;
	uint64_t at;

	(void)state;
	make_machine();
	m = open_kernel(images, 1, 0, &err);
	assert_true(maps_kernel_targets(m));
	expect_lines(m);

	/* Targets, in addresses of the running kernel. */
	kernel = maps_binary_wait(m, MAPS_KERNEL_ID);
	at = address_of("obj/vmlinux", "path_openat");
	assert_int_equal(maptable_function_ranges(kernel->table, "path_openat", &r, NULL), 0);
	assert_true(in_ranges(&r, at));
	maps_kernel_ranges(m, MAPS_KERNEL_ID, &r);
	assert_true(in_ranges(&r, at + SLIDE));
	assert_false(in_ranges(&r, at));
	addr_ranges_free(&r);
	assert_int_equal(maptable_lines_ranges(kernel->table, "fs/namei.c",
					       line_of(namei, "openat"), line_of(namei, "openat"),
					       &r, NULL),
			 0);
	maps_kernel_ranges(m, MAPS_KERNEL_ID, &r);
	assert_true(r.n > 0 && r.r[0].start > at + SLIDE && r.r[0].end < at + SLIDE + 256);
	addr_ranges_free(&r);
	assert_int_equal(maptable_file_ranges(kernel->table, "fs/*", &r, NULL), 0);
	assert_true(in_ranges(&r, at));
	assert_false(in_ranges(&r, address_of("obj/vmlinux", "_start")));
	addr_ranges_free(&r);
	assert_int_equal(maptable_functions_ranges(kernel->table, "*_open*", &r, NULL), 0);
	assert_true(in_ranges(&r, at));
	assert_false(in_ranges(&r, address_of("obj/vmlinux", "_start")));
	assert_true(in_ranges(&r, address_of("obj/vmlinux", "do_filp_open")));
	addr_ranges_free(&r);
	assert_int_equal(maptable_functions_ranges(kernel->table, "*nothing*", &r, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no function that \"*nothing*\" matches"));

	/* Without the marks of its beginning: it is where its first segment is. */
	maps_destroy(m);
	sh("cd obj && objcopy --strip-symbol=_text --strip-symbol=_stext vmlinux");
	m = open_kernel(images, 1, 0, &err);
	expect_lines(m);

	/* What the image does not know is in kallsyms: BPF programs, modules without a file. */
	assert_int_equal(look_up(m, 0xffffffffc0001010, f, &binary), 1);
	assert_string_equal(f[0].function, "bpf_prog_1234");
	assert_int_equal(look_up(m, 0xffffffffc0002010, f, &binary), 1);
	assert_string_equal(f[0].function, "other_function");
	maps_destroy(m);
	leave_machine();
}

static void refuse(const char *image, int expected, const char *words)
{
	_cleanup_free_ char *path = in_scratch("%s", image);
	const char *images[] = { path };
	struct error err = { 0 };

	maps_destroy(open_kernel(images, 1, expected, &err));
	if (!strstr(err.text, words) || !strstr(err.text, "--kernel-scope"))
		fail_msg("no \"%s\" in: %s", words, err.text);
}

static void test_refusals(void **state)
{
	_cleanup_free_ char *path = in_scratch("obj/vmlinux"), *cut = in_scratch("obj/cut");
	_cleanup_free_ char *data = NULL;
	size_t size;

	(void)state;
	make_machine();
	/* The same source, another build: the lines would be wrong. */
	make_image("foreign", "-O1", "-Wl,--build-id=0x12345678");
	refuse("obj/foreign", -ESTALE, "build-id is 12345678");
	make_image("nameless", "", "-Wl,--build-id=none");
	refuse("obj/nameless", -ESTALE, "build-id is missing");
	put("obj/vmlinuz", "\037\213 compressed");
	refuse("obj/vmlinuz", -ENOEXEC, "vmlinuz");
	refuse("obj/none", -ENOENT, "cannot be opened");
	data = read_file(path, &size);
	write_file(cut, data, size / 2);
	refuse("obj/cut", -EINVAL, "truncated");
	/* A module of another build. */
	make_module("foreign.ko", "-O1");
	refuse("obj/foreign.ko", -ESTALE, "no loaded module");
	/* Addresses hidden; no build-id of the running kernel. */
	put("root/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T _stext\n");
	{
		struct error err = { 0 };
		const char *images[] = { path };

		maps_destroy(open_kernel(images, 1, -EACCES, &err));
		assert_non_null(strstr(err.text, "kptr_restrict"));
	}
	make_kallsyms("obj/vmlinux");
	sh("rm root/sys/kernel/notes");
	refuse("obj/vmlinux", -ENODATA, "build-id");
	leave_machine();
}

static void expect_auto(const char *place, bool found)
{
	static const char *const images[] = { "auto" };
	struct error err;
	struct maps *m;

	if (place)
		sh("mkdir -p $(dirname root/%s) && cp obj/vmlinux root/%s", place, place);
	m = open_kernel(images, 1, 0, &err);
	if (found)
		expect_lines(m);
	else
		expect_functions_only(m);
	maps_destroy(m);
	if (place)
		sh("rm root/%s", place);
}

static void test_auto(void **state)
{
	_cleanup_free_ char *id = NULL, *by_id = NULL, *path = in_scratch("obj/vmlinux");

	(void)state;
	make_machine();
	id = build_id_of(path);
	by_id = xasprintf("usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	expect_auto(NULL, false);
	expect_auto("usr/lib/debug/boot/vmlinux-" RELEASE, true);
	expect_auto("usr/lib/debug/lib/modules/" RELEASE "/vmlinux", true);
	expect_auto("lib/modules/" RELEASE "/build/vmlinux", true);
	expect_auto("boot/vmlinux-" RELEASE, true);
	expect_auto("boot/vmlinux-6.9.0-other", false);
	expect_auto(by_id, true);
	free(by_id);
	setenv("DEBUGINFOD_CACHE_PATH", "/cache", 1);
	by_id = xasprintf("cache/%s/debuginfo", id);
	expect_auto(by_id, geteuid() != 0); /* not by root: whose cache may that be? */
	unsetenv("DEBUGINFOD_CACHE_PATH");
	setenv("XDG_CACHE_HOME", "/cache", 1);
	free(by_id);
	by_id = xasprintf("cache/debuginfod_client/%s/debuginfo", id);
	expect_auto(by_id, geteuid() != 0);
	unsetenv("XDG_CACHE_HOME");
	free(by_id);
	setenv("HOME", "/home/somebody", 1);
	by_id = xasprintf("home/somebody/.cache/debuginfod_client/%s/debuginfo", id);
	expect_auto(by_id, geteuid() != 0);

	/* Another kernel's image in the usual place is passed over. */
	make_image("foreign", "", "-Wl,--build-id=0x12345678");
	sh("mkdir -p root/boot && cp obj/foreign root/boot/vmlinux-" RELEASE);
	expect_auto(NULL, false);
	expect_auto("usr/lib/debug/boot/vmlinux-" RELEASE, true);
	leave_machine();
}

static void test_separate_debug_file(void **state)
{
	_cleanup_free_ char *stripped = in_scratch("obj/stripped");
	const char *images[] = { stripped };
	struct error err;
	struct maps *m;

	(void)state;
	make_machine();
	sh("cd obj && objcopy --only-keep-debug vmlinux vmlinux.debug && "
	   "objcopy -S --add-gnu-debuglink=vmlinux.debug vmlinux stripped");
	m = open_kernel(images, 1, 0, &err);
	expect_lines(m);
	maps_destroy(m);
	/* Without its debug file it is no better than kallsyms. */
	sh("rm obj/vmlinux.debug");
	m = open_kernel(images, 1, 0, &err);
	expect_functions_only(m);
	maps_destroy(m);
	/* The debug file alone will do: that is what build-id trees hold. */
	sh("cd obj && objcopy --only-keep-debug vmlinux stripped");
	m = open_kernel(images, 1, 0, &err);
	expect_lines(m);
	maps_destroy(m);
	leave_machine();
}

static void expect_module(struct maps *m)
{
	_cleanup_free_ char *loop =
		xasprintf("get_link include/linux/namei.h:%u", line_of(header, "loop"));
	_cleanup_free_ char *burn =
		xasprintf("burn_cpu drivers/burn/burn-cpu.c:%u", line_of(module, "burn"));
	const char *inlined[] = { loop, burn }, *plain[] = { burn };
	struct map_frame f[MAP_MAX_INLINE];
	struct addr_ranges r;
	const char *binary;
	uint64_t vaddr;
	uint32_t id;

	expect_chain(m, MODULE_TEXT, inlined, 2, "[burn_cpu]");
	expect_chain(m, MODULE_TEXT, plain, 1, "[burn_cpu]");
	/* Its initialization is over: what is there now is not known. */
	for (uint64_t a = MODULE_TEXT + 0x100000; a < MODULE_TEXT + 0x100010; a++)
		assert_true(look_up(m, a, f, &binary) == 0 || strcmp(f[0].function, "init_module"));

	assert_true(maps_place_of(m, 1, MODULE_TEXT, &id, &vaddr));
	assert_int_equal(
		maptable_function_ranges(maps_binary_wait(m, id)->table, "burn_cpu", &r, NULL), 0);
	maps_kernel_ranges(m, id, &r);
	assert_true(in_ranges(&r, MODULE_TEXT));
	addr_ranges_free(&r);
	/* Ranges of what is not in the running kernel come to nothing. */
	assert_int_equal(
		maptable_function_ranges(maps_binary_wait(m, id)->table, "init_module", &r, NULL),
		0);
	maps_kernel_ranges(m, id, &r);
	assert_int_equal(r.n, 0);
	addr_ranges_free(&r);
}

static void test_modules(void **state)
{
	_cleanup_free_ char *vmlinux = in_scratch("obj/vmlinux");
	_cleanup_free_ char *ko = in_scratch("obj/burn-cpu.ko");
	const char *images[] = { vmlinux, ko }, *only_module[] = { ko };
	struct map_frame f[MAP_MAX_INLINE];
	struct error err;
	const char *binary;
	struct maps *m;

	(void)state;
	make_machine();
	/* Found by nothing: its functions come from kallsyms, which knows none. */
	m = open_kernel(images, 1, 0, &err);
	expect_lines(m);
	assert_int_equal(look_up(m, MODULE_TEXT, f, &binary), 0);
	maps_destroy(m);
	/* Named. */
	m = open_kernel(images, 2, 0, &err);
	expect_lines(m);
	expect_module(m);
	maps_destroy(m);
	/* Named, with an image that is nowhere. */
	m = open_kernel(only_module, 1, 0, &err);
	expect_functions_only(m);
	expect_module(m);
	maps_destroy(m);
	/* In the build directory of the image. */
	sh("mkdir -p obj/drivers/burn && cp obj/burn-cpu.ko obj/drivers/burn/");
	put("obj/modules.order", "fs/other.o\ndrivers/burn/burn-cpu.o\n");
	m = open_kernel(images, 1, 0, &err);
	expect_module(m);
	maps_destroy(m);
	put("obj/modules.order", "kernel/drivers/burn/burn-cpu.ko\n");
	m = open_kernel(images, 1, 0, &err);
	expect_module(m);
	maps_destroy(m);
	sh("rm obj/modules.order");
	/* Where distributions put it; the installed one is compressed. */
	put("root/lib/modules/" RELEASE "/modules.dep",
	    "kernel/drivers/burn/burn-cpu.ko.xz: kernel/fs/other.ko.xz\n"
	    "kernel/fs/other.ko.xz:\n");
	sh("d=root/usr/lib/debug/lib/modules/" RELEASE "/kernel/drivers/burn; mkdir -p $d; "
	   "objcopy --only-keep-debug obj/burn-cpu.ko $d/burn-cpu.ko.debug");
	m = open_kernel(images, 1, 0, &err);
	expect_module(m);
	maps_destroy(m);
	/* There is another build of it: passed over. */
	make_module("foreign.ko", "-O1 -DX");
	sh("d=root/usr/lib/debug/lib/modules/" RELEASE "/kernel/drivers/burn; rm $d/*; "
	   "cp obj/foreign.ko $d/burn-cpu.ko");
	m = open_kernel(images, 1, 0, &err);
	assert_int_equal(look_up(m, MODULE_TEXT, f, &binary), 0);
	maps_destroy(m);
	leave_machine();
}

static void test_cache(void **state)
{
	_cleanup_free_ char *vmlinux = in_scratch("obj/vmlinux"), *cache = in_scratch("cache");
	const char *images[] = { vmlinux };
	struct maps_options opt = { .table.cache_dir = cache };
	struct error err;
	struct maps *m;

	(void)state;
	make_machine();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(maps_create(&opt, &m, NULL), 0);
		assert_int_equal(maps_open_kernel(m, images, 1, &err), 0);
		assert_int_equal(
			((struct maptable *)maps_binary_wait(m, MAPS_KERNEL_ID)->table)->mapped,
			i == 1);
		expect_lines(m);
		maps_destroy(m);
	}
	leave_machine();
}

/* ---- the reader of .debug_info ---- */

static const char many[] =
	"#include \"many.h\"\n"
	"volatile int sink;\n"
	"static inline __attribute__((always_inline)) int leaf(int x)\n"
	"{\n"
	"	for (int i = 0; i < x; i++)\n"
	"		sink += i * x;\n"
	"	return sink;\n"
	"}\n"
	"static inline __attribute__((always_inline)) int middle(int x)\n"
	"{\n"
	"	if (x > 3) { int y = leaf(x); sink = y; }\n"
	"	return leaf(x + 1) + shared(x);\n"
	"}\n"
	"__attribute__((noinline)) int work(int x) { return middle(x) + middle(x * 2); }\n"
	"__attribute__((cold, noinline)) void rare(void) { sink = 7; }\n"
	"static int part(int x) { if (__builtin_expect(x == 77, 0)) { rare(); sink = 8; rare(); }\n"
	"	return shared(x); }\n"
	"int other(int);\n"
	"int main(int argc, char **argv) { (void)argv; return work(argc) + part(argc) +\n"
	"	other(argc); }\n";
static const char many_h[] = "extern volatile int sink;\n"
			     "static inline int shared(int x)\n"
			     "{\n"
			     "	while (x-- > 0) sink ^= x;\n"
			     "	return sink;\n"
			     "}\n";
static const char other_c[] = "#include \"many.h\"\n"
			      "int other(int x) { return shared(x) * 2 + shared(x + 1); }\n";
static const char spaces[] =
	"volatile int sink;\n"
	"namespace outer { namespace { struct A { int v; inline int get(int n) const\n"
	"{ for (int i = 0; i < n; i++) sink += i; return v; } static int made(int); }; }\n"
	"int A::made(int x) { return x + sink; }\n"
	"__attribute__((noinline)) int use(A &a, int n) { return a.get(n) + A::made(n); } }\n"
	"template <typename T> T twice(T x) { sink = x; return x + x; }\n"
	"int main(int argc, char **) { outer::A a{argc}; auto f = [](int x) { return twice(x); };\n"
	"	return outer::use(a, argc) + f(argc); }\n";

/* Inlined calls and function at @pc, innermost first, as libdw finds them. */
static int libdw_chain(Dwarf *dw, uint64_t pc, const char **names, int max)
{
	Dwarf_Off off = 0, next;
	size_t header;
	int n = 0;

	for (; !dwarf_next_unit(dw, off, &next, &header, NULL, NULL, NULL, NULL, NULL, NULL);
	     off = next) {
		Dwarf_Die cu, split, *innermost, *outer;
		uint8_t type = DW_UT_compile;
		int n_outer;

		if (!dwarf_offdie(dw, off + header, &cu) || dwarf_haspc(&cu, pc) <= 0)
			continue;
		if (!dwarf_cu_info(cu.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) &&
		    type == DW_UT_skeleton)
			cu = split;
		if (dwarf_getscopes(&cu, pc, &innermost) <= 0)
			continue;
		n_outer = dwarf_getscopes_die(innermost, &outer);
		for (int i = 0; i < n_outer && n < max; i++) {
			int tag = dwarf_tag(&outer[i]);

			if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram)
				names[n++] = dwarf_diename(&outer[i]);
			if (tag == DW_TAG_subprogram)
				break;
		}
		free(outer);
		free(innermost);
		return n;
	}
	return 0;
}

/* Tables have names with namespaces and classes. */
static void expect_name(const char *full, const char *name)
{
	size_t n = strlen(full), k = strlen(name);

	if (n < k || strcmp(full + n - k, name) || (n > k && full[n - k - 1] != ':'))
		fail_msg("%s, where libdw says %s", full, name);
}

/* The same functions as libdw finds, at every address. Returns how deep inlined calls are,
 * or SIZE_MAX: libdw cannot read it. */
static size_t compare_with_libdw(const char *name)
{
	_cleanup_free_ char *path = in_scratch("%s", name);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct maptable *t = open_with(path, NULL);
	Dwarf *dw = dwarf_begin(fd, DWARF_C_READ);
	struct addr_ranges r;
	size_t deepest = 0, compared = 0;

	if (maptable_warning(t))
		fail_msg("%s", maptable_warning(t));
	assert_int_equal(maptable_source(t), MAP_DWARF);
	if (!dw) { /* compressed in a way that it does not know */
		maptable_free(t);
		return SIZE_MAX;
	}
	assert_int_equal(maptable_all_ranges(t, &r, NULL), 0);
	for (size_t i = 0; i < r.n; i++) {
		for (uint64_t at = r.r[i].start; at < r.r[i].end; at++) {
			const char *names[MAP_MAX_INLINE];
			struct map_frame f[MAP_MAX_INLINE];
			int n = maptable_lookup(t, at, f, MAP_MAX_INLINE);
			int wanted = libdw_chain(dw, at, names, MAP_MAX_INLINE);

			deepest = (size_t)n > deepest ? (size_t)n : deepest;
			/* Of the C library's start files, only symbols are known. */
			if (!wanted)
				continue;
			assert_int_equal(n, wanted);
			for (int k = 0; k < n; k++)
				expect_name(f[k].function, names[k]);
			compared++;
		}
	}
	assert_true(compared > 20);
	addr_ranges_free(&r);
	dwarf_end(dw);
	maptable_free(t);
	return deepest;
}

static void test_same_as_libdw(void **state)
{
	static const char *const compilers[] = {
		"gcc -O2 -gdwarf-5",
		"gcc -O2 -gdwarf-4",
		"gcc -O2 -gdwarf-3 -gstrict-dwarf",
		"gcc -O2 -gdwarf-5 -gdwarf64",
		"gcc -O2 -gdwarf-5 -gz=zlib",
		"gcc -O2 -gdwarf-4 -gz=zlib-gnu",
		"gcc -O2 -gdwarf-5 -gz=zstd",
		"gcc -O2 -gdwarf-4 -gz=zstd",
		"gcc -O2 -g -flto",
		"gcc -O2 -g -ffunction-sections",
		"clang -O2 -gdwarf-5",
		"clang -O2 -gdwarf-4",
		"clang -O2 -gdwarf-5 -flto -fuse-ld=lld",
		"gcc -O2 -gdwarf-5 -gsplit-dwarf",
		"gcc -O2 -gdwarf-4 -gsplit-dwarf",
		"clang -O2 -gdwarf-5 -gsplit-dwarf",
		"clang -O2 -gdwarf-4 -gsplit-dwarf",
	};
	static const char *const cxx[] = {
		"g++ -O2 -g",
		"g++ -O2 -g -flto",
		"g++ -O2 -gdwarf-5 -fdebug-types-section",
		"g++ -O2 -gdwarf-5 -gsplit-dwarf",
		"clang++ -O2 -g",
		"clang++ -O2 -gdwarf-4 -gsplit-dwarf",
	};
	size_t compared = 0, depth;

	(void)state;
	put("many.c", many);
	put("many.h", many_h);
	put("other.c", other_c);
	put("spaces.cc", spaces);
	for (size_t i = 0; i < ARRAY_SIZE(compilers); i++) {
		if (try_compile(compilers[i], "many.c other.c", "many")) {
			print_message("not available: %s\n", compilers[i]);
			continue;
		}
		depth = compare_with_libdw("many");
		if (depth < 3)
			fail_msg("%s: no inlined calls to compare", compilers[i]);
		compared += depth != SIZE_MAX;
	}
	for (size_t i = 0; i < ARRAY_SIZE(cxx); i++) {
		if (try_sh("%s spaces.cc -o spaces", cxx[i]))
			print_message("not available: %s\n", cxx[i]);
		else
			compare_with_libdw("spaces");
	}
	assert_true(compared >= 7);
}

/* A relocatable file says the same of itself as what is linked of it. */
static void test_relocation(void **state)
{
	static const char *const flags[] = { "-gdwarf-5", "-gdwarf-4", "-gdwarf-5 -gz=zlib",
					     "-gdwarf-5 -gz=zstd" };
	const struct map_options kernel = { .kernel = true };
	_cleanup_free_ char *path = in_scratch("many.o");
	struct map_frame f[MAP_MAX_INLINE];
	struct maptable *t = NULL;
	struct error err;
	uint64_t work, rare;

	(void)state;
	put("many.c", many);
	put("many.h", many_h);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		_cleanup_free_ char *gcc = xasprintf("gcc -O2 -ffunction-sections -c %s", flags[i]);

		if (try_compile(gcc, "many.c", "many.o"))
			fail_msg("command failed: %s", gcc);
		t = open_with(path, &kernel);
		assert_int_equal(maptable_function_address(t, "work", &work, NULL), 0);
		assert_int_equal(maptable_function_address(t, "rare", &rare, NULL), 0);
		assert_true(work != rare); /* both are at 0 of their sections */
		assert_true(maptable_lookup(t, rare, f, MAP_MAX_INLINE) == 1);
		assert_string_equal(f[0].function, "rare");
		assert_int_equal(f[0].line, 15);
		maptable_free(t);
	}
	/* Programs are no modules, and modules no programs. */
	t = NULL;
	assert_int_equal(maptable_make(path, path, NULL, &t, &err), -ENOEXEC);
	assert_null(t);
}

/* However its sections are compressed, a file says the same. */
static void compare_tables(const char *name, const char *other)
{
	static const struct map_options ways[] = { { .kernel = false }, { .kernel = true } };
	_cleanup_free_ char *path = in_scratch("%s", name), *other_path = in_scratch("%s", other);

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct maptable *a = open_with(path, &ways[i]),
				*b = open_with(other_path, &ways[i]);

		assert_null(maptable_warning(b));
		assert_int_equal(a->size, b->size);
		assert_memory_equal(a->h + 1, b->h + 1, a->size - sizeof(*a->h));
		maptable_free(a);
		maptable_free(b);
	}
}

/* Large sections pass through a window: also when a unit does not fit into it. */
static void test_large(void **state)
{
	_cleanup_free_ char *path = in_scratch("large.c");
	FILE *f;

	(void)state;
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "volatile int sink;\nstatic inline int leaf(int x) { while (x--) sink += x; "
		   "return sink; }\nint main(void) { return 0; }\n");
	for (int i = 0; i < 9000; i++)
		fprintf(f, "int function_%d(int a, int b) {\n return leaf(a) + leaf(b) * %d; }\n",
			i, i);
	fclose(f);
	put("many.c", many);
	put("many.h", many_h);
	put("other.c", other_c);
	sh("sed 's/main/not_main/; s/sink/other_sink/g' many.c >m2.c; sed -i 's/sink/other_sink/' "
	   "many.h; sed -i 's/.*many.h.*/#define sink other_sink\\n#include \"many.h\"/' other.c; "
	   "gcc -O1 -g m2.c large.c other.c -o large && for how in zlib zstd; do objcopy "
	   "--compress-debug-sections=$how large large-$how || exit 1; done");
	compare_tables("large", "large-zlib");
	compare_tables("large", "large-zstd");
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_image),	      cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_auto),	      cmocka_unit_test(test_separate_debug_file),
		cmocka_unit_test(test_modules),	      cmocka_unit_test(test_cache),
		cmocka_unit_test(test_same_as_libdw), cmocka_unit_test(test_relocation),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return run_in_scratch(run, true);
}
