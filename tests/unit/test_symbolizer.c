// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables made by processes without rights: the same ones, and what hostile files come to. */
#include "test_map_util.h"

#include "map/file_open.h"
#include "map/table.h"
#include "symbolizer/symbolizer.h"

#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

static const char source[] =
	"static inline __attribute__((always_inline)) int twice(int x) { return x + x; }\n"
	"volatile int sink;\n"
	"__attribute__((noinline)) int work(int x) { sink = twice(x); return sink; }\n"
	"int main(int argc, char **argv) { (void)argv; return work(argc); }\n";

static void compile_source(const char *flags, const char *name)
{
	_cleanup_free_ char *c = in_scratch("s.c");

	write_file(c, source, strlen(source));
	sh("gcc -O1 -g %s s.c -o %s", flags, name);
}

static bool has_inline(const struct maptable *t)
{
	struct addr_ranges r;

	if (maptable_function_ranges(t, "twice", &r, NULL))
		return false;
	addr_ranges_free(&r);
	return true;
}

static struct maptable *open_it(const char *path, const struct map_options *opt)
{
	struct maptable *t = NULL;
	struct error err = { 0 };

	if (maptable_open(path, path, opt, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

/* Of the file itself, of files that it names, and from the cache. */
static void test_same_tables(void **state)
{
	_cleanup_free_ char *plain = in_scratch("plain"), *cache = in_scratch("cache"),
			    *apart = in_scratch("apart"), *split = in_scratch("split");
	struct map_options opt = { .cache_dir = cache };
	struct maptable *t;

	(void)state;
	compile_source("", "plain");
	compile_source("-gz=zlib", "apart");
	sh("objcopy --only-keep-debug apart apart.debug; objcopy --strip-debug "
	   "--add-gnu-debuglink=apart.debug apart; chmod 644 apart.debug");
	compile_source("-gsplit-dwarf", "split");
	for (int round = 0; round < 3; round++) {
		t = open_it(plain, round ? &opt : NULL);
		assert_int_equal(maptable_source(t), MAP_DWARF);
		assert_true(has_inline(t));
		assert_true(t->mapped);
		maptable_free(t);
	}
	t = open_it(apart, NULL);
	assert_int_equal(maptable_source(t), MAP_DWARF);
	assert_true(has_inline(t));
	assert_null(maptable_warning(t));
	maptable_free(t);
	t = open_it(split, NULL);
	assert_true(has_inline(t));
	assert_null(maptable_warning(t));
	maptable_free(t);
}

static void test_errors(void **state)
{
	_cleanup_free_ char *text = in_scratch("text");
	struct maptable *t;
	struct error err;

	(void)state;
	write_file(text, "no program\n", 11);
	assert_int_equal(maptable_open(text, "shown-name", NULL, &t, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "shown-name"));
}

/* What somebody who runs as another user wants us to read for him. */
static void test_private_files(void **state)
{
	_cleanup_free_ char *path = in_scratch("curious");
	struct maptable *t;

	(void)state;
	if (geteuid())
		skip();
	compile_source("", "curious");
	sh("objcopy --only-keep-debug curious curious.debug; objcopy --strip-debug "
	   "--add-gnu-debuglink=curious.debug curious; chmod 600 curious.debug; chown 1234 "
	   "curious");
	t = open_it(path, NULL);
	assert_int_equal(maptable_source(t), MAP_SYMTAB);
	maptable_free(t);
	sh("chown 1234 curious.debug");
	t = open_it(path, NULL);
	assert_int_equal(maptable_source(t), MAP_DWARF);
	maptable_free(t);
}

/* No rights, from the beginning. */
static void test_rights(void **state)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/status", symbolizer_pid());
	_cleanup_free_ char *status = NULL;

	(void)state;
	/* It has got them off when it answers. */
	test_errors(NULL);
	status = read_file(path, NULL);
	assert_non_null(status);
	assert_non_null(strstr(status, "NoNewPrivs:\t1\n"));
	assert_non_null(strstr(status, "CapEff:\t0000000000000000\n"));
	assert_non_null(strstr(status, "CapPrm:\t0000000000000000\n"));
	if (!geteuid()) {
		assert_non_null(strstr(status, "Uid:\t65534\t65534\t65534\t65534\n"));
		assert_non_null(strstr(status, "CapBnd:\t0000000000000000\n"));
	}
}

/* Replaces section @name of the file by @megabytes of zeros, compressed to next to nothing. */
static void inflate_section(const char *file, const char *name, size_t megabytes)
{
	_cleanup_free_ char *path = in_scratch("%s", file), *bytes = NULL;
	_cleanup_free_ char *zeros = xcalloc(1, 1 << 20), *out = xmalloc(4 << 20);
	ZSTD_CStream *z = ZSTD_createCStream();
	ZSTD_outBuffer o = { out, 4 << 20, 0 };
	Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZSTD, .ch_size = megabytes << 20 };
	const char *names;
	Elf64_Ehdr *e;
	Elf64_Shdr *s;
	size_t size;
	FILE *f;

	for (size_t i = 0; i < megabytes; i++) {
		ZSTD_inBuffer in = { zeros, 1 << 20, 0 };

		while (in.pos < in.size)
			assert_false(ZSTD_isError(ZSTD_compressStream(z, &o, &in)));
	}
	assert_false(ZSTD_isError(ZSTD_endStream(z, &o)));
	ZSTD_freeCStream(z);
	bytes = read_file(path, &size);
	e = (Elf64_Ehdr *)bytes;
	s = (Elf64_Shdr *)(bytes + e->e_shoff);
	names = bytes + s[e->e_shstrndx].sh_offset;
	for (int i = 0; i < e->e_shnum; i++) {
		if (strcmp(names + s[i].sh_name, name) != 0)
			continue;
		s[i].sh_offset = size;
		s[i].sh_size = sizeof(head) + o.pos;
		s[i].sh_flags |= SHF_COMPRESSED;
	}
	f = fopen(path, "w");
	fwrite(bytes, 1, size, f);
	fwrite(&head, 1, sizeof(head), f);
	fwrite(out, 1, o.pos, f);
	assert_int_equal(fclose(f), 0);
}

/* A small file that becomes a large one ends its reader; the next file has another. */
static void test_amplification(void **state)
{
	_cleanup_free_ char *bomb = in_scratch("bomb"), *good = in_scratch("plain");
	struct maptable *t = NULL;
	struct error err = { 0 };
	struct stat st;

	(void)state;
	compile_source("", "bomb");
	inflate_section("bomb", ".debug_str", 900);
	assert_int_equal(stat(bomb, &st), 0);
	assert_true(st.st_size < 256 << 10);
	if (!maptable_open(bomb, "bomb", NULL, &t, &err)) {
		/* Not even begun, because of what it says that it has. */
		assert_non_null(maptable_warning(t));
		maptable_free(t);
	} else {
		assert_non_null(strstr(err.text, "bomb: "));
	}
	t = open_it(good, NULL);
	assert_true(has_inline(t));
	maptable_free(t);
}

static void *open_good(void *arg)
{
	struct maptable *t = NULL;
	struct error err;

	maptable_open(arg, arg, NULL, &t, &err);
	maptable_free(t);
	return NULL;
}

/* Stopped, it holds up nobody but who waits for a table, and not even that one for good. */
static void test_stopped(void **state)
{
	_cleanup_free_ char *good = in_scratch("plain");
	pthread_t thread;
	int status, pid;

	(void)state;
	assert_false(symbolizer_is_stuck());
	assert_int_equal(kill(symbolizer_pid(), SIGSTOP), 0);
	assert_int_equal(waitpid(symbolizer_pid(), &status, WUNTRACED), symbolizer_pid());
	assert_true(WIFSTOPPED(status));
	assert_int_equal(pthread_create(&thread, NULL, open_good, good), 0);
	while (!symbolizer_is_stuck())
		usleep(10000);
	symbolizer_abandon();
	assert_int_equal(pthread_join(thread, NULL), 0);
	pid = symbolizer_pid();
	symbolizer_stop();
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	assert_int_equal(kill(pid, 0), -1);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_tables),   cmocka_unit_test(test_errors),
		cmocka_unit_test(test_private_files), cmocka_unit_test(test_rights),
		cmocka_unit_test(test_amplification), cmocka_unit_test(test_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	struct error err;

	if (symbolizer_start(&err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return run_in_scratch(run, true);
}
