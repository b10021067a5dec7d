// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/marks.h"
#include "progress/usdt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

static char dir[] = "/tmp/scoz-usdt-XXXXXX";

/*
 * Links a program whose notes are @notes (assembly); there are the labels probe and probe2 in
 * the code, semaphore in the data, beyond in .bss.
 */
static char *assemble(const char *notes, const char *flags)
{
	char *path = xasprintf("%s/prog", dir);
	_cleanup_free_ char *source = xasprintf("%s/prog.s", dir);
	_cleanup_free_ char *command = xasprintf("gcc %s %s -o %s", flags, source, path);
	FILE *f = fopen(source, "w");

	fprintf(f,
		".text\n.globl main\nmain: xorl %%eax, %%eax\nprobe: nop\nprobe2: nop\nret\n"
		".section .probes, \"aw\", @progbits\nsemaphore: .2byte 0\n"
		".bss\nbeyond: .space 8\n"
		".section .stapsdt.base, \"a\", @progbits\nbase: .space 1\n"
		".section .note.stapsdt, \"\", @note\n%s\n"
		".section .note.GNU-stack, \"\", @progbits\n",
		notes);
	fclose(f);
	if (system(command))
		fail_msg("%s", command);
	return path;
}

#define NOTE(pc, base, semaphore, strings) \
	".balign 4\n.4byte 8, 2f - 1f, 3\n.asciz \"stapsdt\"\n" \
	"1: .8byte " pc ", " base ", " semaphore "\n" strings "\n2: .balign 4\n"
#define STRINGS(provider, name) \
	".asciz \"" provider "\"\n.asciz \"" name "\"\n.asciz \"-4@%eax 8@(%rdi)\""

static unsigned char byte_at(const char *path, uint64_t offset)
{
	_cleanup_close_ int fd = open(path, O_RDONLY);
	unsigned char c = 0;

	assert_int_equal(pread(fd, &c, 1, offset), 1);
	return c;
}

static int find(const char *path, const char *provider, const char *name, struct usdt_site **sites,
		size_t *n, struct error *err)
{
	_cleanup_held_file_ struct held_file file = HELD_FILE_INIT;
	int r = held_file_open(path, &file, err);

	return r ? r : usdt_find(&file, provider, name, sites, n, err);
}

static void test_found(void **state)
{
	static const char *const flags[] = { "-pie -fPIE", "-no-pie", "-static", "-pie -s" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		_cleanup_free_ char *path = assemble(
			NOTE("probe", "base", "semaphore", STRINGS("prov", "one"))
				NOTE("probe2", "base", "0", STRINGS("prov", "two")) NOTE(
					"probe2", "base", "semaphore", STRINGS("prov", "one"))
					NOTE("0", "base", "0",
					     STRINGS("prov", "one")) /* dropped by the linker */
			NOTE("probe2 + 0x1000", "base + 0x1000", "semaphore + 0x1000",
			     STRINGS("prov",
				     "prelinked")) ".4byte 4, 4, 3\n.asciz \"GNU\"\n.4byte 0\n",
			flags[i]);
		_cleanup_free_ struct usdt_site *one = NULL, *two = NULL, *moved = NULL;
		struct error err = { 0 };
		size_t n;

		if (find(path, "prov", "one", &one, &n, &err))
			fail_msg("%s", err.text);
		assert_int_equal(n, 2);
		assert_int_equal(byte_at(path, one[0].probe_offset), 0x90);
		assert_int_equal(byte_at(path, one[0].probe_offset - 1), 0xc0);
		assert_int_equal(one[1].probe_offset, one[0].probe_offset + 1);
		assert_true(one[0].semaphore_offset != 0);
		assert_int_equal(one[0].semaphore_offset, one[1].semaphore_offset);
		assert_int_equal(find(path, "prov", "two", &two, &n, &err), 0);
		assert_int_equal(n, 1);
		assert_int_equal(two[0].semaphore_offset, 0);
		assert_int_equal(find(path, "prov", "prelinked", &moved, &n, &err), 0);
		assert_int_equal(moved[0].probe_offset, one[1].probe_offset);
		assert_int_equal(moved[0].semaphore_offset, one[1].semaphore_offset);
	}
}

static void test_missing(void **state)
{
	_cleanup_free_ char *path =
		assemble(NOTE("probe", "base", "0", STRINGS("prov", "one"))
				 NOTE("probe", "base", "0", STRINGS("prov", "one"))
					 NOTE("probe", "base", "0", STRINGS("prov", "on")),
			 "-no-pie");
	struct usdt_site *sites;
	struct error err = { 0 };
	size_t n;

	(void)state;
	assert_int_equal(find(path, "prov", "three", &sites, &n, &err), -ENOENT);
	assert_null(sites);
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, "it has prov:one, prov:on"));
	assert_null(strstr(strstr(err.text, "prov:one") + 1, "prov:one"));
	assert_int_equal(find("/bin/true", "a", "b", &sites, &n, &err), -ENOENT);
	assert_non_null(strstr(err.text, "none at all"));
	assert_int_equal(find("/nonexistent", "a", "b", &sites, &n, &err), -ENOENT);
}

static void test_many_names(void **state)
{
	_cleanup_free_ char *notes = xstrdup(""), *path = NULL;
	struct usdt_site *sites;
	struct error err = { 0 };
	size_t n;

	(void)state;
	for (int i = 0; i < 100; i++) {
		char *more = xasprintf("%s.equ i, %d\n", notes, i);

		more = xreallocarray(more, strlen(more) + 400, 1);
		strcat(more, NOTE("probe", "base", "0",
				  ".asciz \"provider\"\n"
				  ".byte 'n', '0' + i / 10, '0' + i % 10, 0\n.asciz \"\""));
		free(notes);
		notes = more;
	}
	path = assemble(notes, "-no-pie");
	assert_int_equal(find(path, "a", "b", &sites, &n, &err), -ENOENT);
	assert_non_null(strstr(err.text, "provider:n07"));
	assert_non_null(strstr(err.text, ", ..."));
}

static void test_damaged(void **state)
{
	static const struct {
		const char *notes, *word;
	} bad[] = {
		{ ".4byte 8, 16, 3\n.asciz \"stapsdt\"\n.8byte probe, base\n", "too short" },
		{ NOTE("probe", "base", "0", ".ascii \"abc\""), "provider's name does not end" },
		{ NOTE("probe", "base", "0", ".asciz \"abc\"\n.ascii \"d\""),
		  "probe's name does not end" },
		{ NOTE("probe", "base", "0", ".asciz \"abc\""), "probe's name does not end" },
		{ NOTE("semaphore", "base", "0", STRINGS("p", "n")), "where there is no code" },
		{ NOTE("0x123456789", "base", "0", STRINGS("p", "n")), "where there is no code" },
		{ NOTE("probe", "base", "0x123456789", STRINGS("p", "n")), "outside of the file" },
		{ NOTE("probe", "base", "beyond + 0x100000", STRINGS("p", "n")),
		  "outside of the file" },
		{ ".4byte 8, 4096, 3\n.asciz \"stapsdt\"\n", "damaged" },
		{ ".4byte 0xffffffff, 8, 3\n.asciz \"stapsdt\"\n", "damaged" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_free_ char *path = assemble(bad[i].notes, "-no-pie");
		struct usdt_site *sites;
		struct error err = { 0 };
		size_t n;

		if (find(path, "p", "n", &sites, &n, &err) != -EINVAL)
			fail_msg("%zu (%s): %s", i, bad[i].word, err.text);
		if (!strstr(err.text, bad[i].word) || !strstr(err.text, path))
			fail_msg("%zu (%s): %s", i, bad[i].word, err.text);
		assert_null(sites);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_damaged),
	};
	_cleanup_free_ char *remove = NULL;
	int failed;

#ifndef __x86_64__
	printf("skipped: the programs to look at are written in x86-64 assembly\n");
	return 77;
#endif
	if (system("command -v gcc >/dev/null 2>&1")) {
		printf("skipped: there is no gcc to build programs with probes\n");
		return 77;
	}
	if (!mkdtemp(dir))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	remove = xasprintf("rm -rf %s", dir);
	return system(remove) ? 1 : failed;
}
