// SPDX-License-Identifier: GPL-2.0-or-later
/* Debug information in other files, and tables kept on disk. */
#include "test_map_util.h"

#include "host/privileges.h"
#include "table/table.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/wait.h>

static const char source[] = "volatile int sink;\n"
			     "__attribute__((noinline)) int work(int x)\n"
			     "{\n"
			     "	sink = x; /* @work */\n"
			     "	return sink;\n"
			     "}\n"
			     "int main(int argc, char **argv)\n"
			     "{\n"
			     "	(void)argv;\n"
			     "	return work(argc);\n"
			     "}\n";

static void compile(const char *flags, const char *name)
{
	_cleanup_free_ char *path = in_scratch("files.c");

	write_file(path, source, strlen(source));
	sh("gcc -rdynamic %s files.c -o %s", flags, name);
}

static bool has_lines(const struct maptable *t)
{
	uint32_t line = line_of(source, "work");
	struct addr_ranges r;

	if (maptable_lines_ranges(t, "files.c", line, line, &r, NULL))
		return false;
	addr_ranges_free(&r);
	return true;
}

static void test_by_build_id(void **state)
{
	_cleanup_free_ char *path = in_scratch("by-id"), *root = in_scratch("debug-root");
	struct map_options opt = { .debug_root = root };
	_cleanup_free_ char *id = NULL;
	struct maptable *t;

	(void)state;
	compile("-O1 -g -Wl,--build-id", "by-id");
	sh("objcopy --only-keep-debug by-id by-id.debug; strip by-id");
	id = build_id_of(path);
	assert_int_equal(strlen(id), 40);
	t = open_with(path, &opt);
	assert_int_equal(maptable_source(t), MAP_SYMTAB);
	assert_false(has_lines(t));
	maptable_free(t);

	sh("mkdir -p debug-root/.build-id/%.2s; cp by-id.debug debug-root/.build-id/%.2s/%s.debug",
	   id, id, id + 2);
	t = open_with(path, &opt);
	assert_int_equal(maptable_source(t), MAP_DWARF);
	assert_null(maptable_warning(t));
	assert_true(has_lines(t));
	maptable_free(t);

	/* In a container: under the root of the process first. */
	sh("mkdir -p box; mv debug-root box/");
	opt.debug_root = "/debug-root";
	opt.root = in_scratch("box");
	t = open_with(path, &opt);
	assert_true(has_lines(t));
	maptable_free(t);
	free((char *)opt.root);
	opt.root = NULL;
	opt.debug_root = root;
	sh("mv box/debug-root .");

	/* What a third user has put there is not believed. */
	if (!geteuid()) {
		sh("chown 1234 debug-root/.build-id/%.2s/%s.debug", id, id + 2);
		t = open_with(path, &opt);
		assert_int_equal(maptable_source(t), MAP_SYMTAB);
		maptable_free(t);
		sh("chown 1234 by-id");
		t = open_with(path, &opt);
		assert_int_equal(maptable_source(t), MAP_DWARF);
		maptable_free(t);
		sh("chown 0 by-id debug-root/.build-id/%.2s/%s.debug", id, id + 2);
	}

	/* Another file's debug information there is not believed. */
	compile("-O2 -g -Wl,--build-id", "another");
	sh("cp another debug-root/.build-id/%.2s/%s.debug", id, id + 2);
	t = open_with(path, &opt);
	assert_int_equal(maptable_source(t), MAP_SYMTAB);
	assert_non_null(strstr(maptable_warning(t), "does not match"));
	maptable_free(t);

	/* Nor is half a file a reason to fail. */
	sh("head -c 3000 by-id.debug >debug-root/.build-id/%.2s/%s.debug", id, id + 2);
	t = open_with(path, &opt);
	assert_int_equal(maptable_source(t), MAP_SYMTAB);
	assert_non_null(strstr(maptable_warning(t), ".debug"));
	maptable_free(t);
}

static void test_by_link(void **state)
{
	_cleanup_free_ char *path = in_scratch("by-link"), *root = in_scratch("link-root");
	_cleanup_free_ char *id = NULL;
	struct map_options opt = { .debug_root = root };
	struct maptable *t;

	(void)state;
	compile("-O1 -g -Wl,--build-id=none", "by-link");
	sh("objcopy --only-keep-debug by-link by-link.debug; strip by-link; "
	   "objcopy --add-gnu-debuglink=by-link.debug by-link");
	id = build_id_of(path);
	assert_string_equal(id, "");
	t = open_with(path, &opt);
	assert_true(has_lines(t));
	maptable_free(t);

	/* Called by another name than its path. */
	assert_int_equal(maptable_make(path, "by-link", &opt, &t, NULL), 0);
	assert_true(has_lines(t));
	maptable_free(t);

	sh("mkdir -p .debug; mv by-link.debug .debug/");
	t = open_with(path, &opt);
	assert_true(has_lines(t));
	maptable_free(t);

	sh("mkdir -p link-root%s; mv .debug/by-link.debug link-root%s/", scratch, scratch);
	t = open_with(path, &opt);
	assert_true(has_lines(t));
	assert_null(maptable_warning(t));
	maptable_free(t);

	sh("printf x >>link-root%s/by-link.debug", scratch);
	t = open_with(path, &opt);
	assert_false(has_lines(t));
	assert_non_null(strstr(maptable_warning(t), "checksum"));
	maptable_free(t);
}

static void test_dwz(void **state)
{
	_cleanup_free_ char *path = NULL;
	struct maptable *t;
	uint64_t addr;

	(void)state;
	if (system("dwz --version >/dev/null 2>&1")) {
		print_message("skipped: no dwz\n");
		skip();
	}
	path = in_scratch("dwz-a");
	compile("-O1 -gdwarf-4 -Wl,--build-id", "dwz-a");
	compile("-O2 -gdwarf-4 -Wl,--build-id", "dwz-b");
	sh("dwz -m common.debug dwz-a dwz-b && test -e common.debug");
	t = open_with(path, NULL);
	assert_true(has_lines(t));
	assert_null(maptable_warning(t));
	assert_int_equal(maptable_function_address(t, "work", &addr, NULL), 0);
	maptable_free(t);
	sh("for f in dwz-a common.debug; do objcopy --compress-debug-sections=zstd $f; done");
	t = open_with(path, NULL);
	assert_true(has_lines(t));
	assert_null(maptable_warning(t));
	maptable_free(t);
	sh("rm common.debug");
	t = open_with(path, NULL);
	assert_non_null(strstr(maptable_warning(t), "common.debug"));
	assert_true(has_lines(t));
	maptable_free(t);
}

static char *only_file_in(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char *path = NULL;

	assert_non_null(d);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		assert_null(path);
		path = xasprintf("%s/%s", dir, e->d_name);
	}
	closedir(d);
	assert_non_null(path);
	return path;
}

/* Opens through the cache and says whether it was a hit; the content is right either way. */
static bool hits(const char *path, const struct map_options *opt, bool lines)
{
	struct maptable *t = open_with(path, opt);
	struct map_frame f[4];
	uint64_t addr;
	bool hit = t->mapped;

	assert_int_equal(has_lines(t), lines);
	assert_int_equal(maptable_function_address(t, "work", &addr, NULL), 0);
	assert_int_equal(maptable_lookup(t, addr, f, 4), 1);
	assert_string_equal(f[0].function, "work");
	assert_string_equal(maptable_name(t), path);
	maptable_free(t);
	return hit;
}

static void test_cache(void **state)
{
	_cleanup_free_ char *path = in_scratch("cached"), *dir = in_scratch("cache/deep/er"),
			    *root = in_scratch("debug-root"), *id = NULL, *file = NULL;
	struct map_options opt = { .cache_dir = dir, .debug_root = root };
	_cleanup_close_ int fd = -1;

	(void)state;
	compile("-O1 -g -Wl,--build-id", "cached");
	sh("objcopy --only-keep-debug cached cached.debug; strip cached");
	id = build_id_of(path);
	assert_false(hits(path, &opt, false));
	assert_true(hits(path, &opt, false));
	/* Debug symbols are installed, and removed again. */
	sh("mkdir -p debug-root/.build-id/%.2s; cp cached.debug debug-root/.build-id/%.2s/%s.debug",
	   id, id, id + 2);
	assert_false(hits(path, &opt, true));
	assert_true(hits(path, &opt, true));
	sh("touch -d @1000000000 debug-root/.build-id/%.2s/%s.debug", id, id + 2);
	assert_false(hits(path, &opt, true));
	assert_true(hits(path, &opt, true));
	sh("rm -r debug-root/.build-id/%.2s", id);
	assert_false(hits(path, &opt, false));
	assert_true(hits(path, &opt, false));
	/* The binary changes. */
	sh("touch -d @1000000000 cached");
	assert_false(hits(path, &opt, false));
	assert_true(hits(path, &opt, false));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	file = cache_file_name(&opt, fd, "");
	/* Somebody else could write to it. */
	assert_int_equal(chmod(file, 0666), 0);
	assert_false(hits(path, &opt, false));
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

/* What is in private programs is for nobody but who owns the cache. */
static void test_cache_is_private(void **state)
{
	_cleanup_free_ char *path = in_scratch("private"), *above = in_scratch("new-cache"),
			    *dir = in_scratch("new-cache/scoz"), *file = NULL;
	struct map_options opt = { .cache_dir = dir };
	mode_t before = umask(022);

	(void)state;
	compile("-O1 -g", "private");
	assert_int_equal(chmod(path, 0700), 0);
	assert_false(hits(path, &opt, true));
	umask(before);
	file = only_file_in(dir);
	assert_int_equal(mode_of(above), 0755);
	assert_int_equal(mode_of(dir), 0700);
	assert_int_equal(mode_of(file), 0600);
	assert_true(hits(path, &opt, true));
}

static bool on_fuse;
int __real_fstatfs(int fd, struct statfs *fs);
int __wrap_fstatfs(int fd, struct statfs *fs)
{
	int r = __real_fstatfs(fd, fs);

	if (on_fuse)
		fs->f_type = 0x65735546;
	return r;
}

/* A user's program says there what a file is, and when it was changed. */
static void test_none_of_fuse(void **state)
{
	_cleanup_free_ char *path = in_scratch("fused"), *dir = in_scratch("cache-fuse");
	struct map_options opt = { .cache_dir = dir };

	(void)state;
	compile("-O1 -g", "fused");
	on_fuse = true;
	assert_false(hits(path, &opt, true));
	assert_false(hits(path, &opt, true));
	on_fuse = false;
	assert_int_equal(access(dir, F_OK), -1);
	assert_false(hits(path, &opt, true));
	assert_true(hits(path, &opt, true));
}

/* Of the files whose mapped names contain @name: KB that are resident. */
static long resident_kb(const char *name)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[1024];
	bool of_it = false;
	long sum = 0, kb;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Rss: %ld kB", &kb) == 1)
			sum += of_it ? kb : 0;
		else if (strchr("0123456789abcdef", line[0]))
			of_it = strstr(line, name) != NULL;
	}
	fclose(f);
	return sum;
}

/* Tables that nobody asks take no memory of ours, and answer all the same. */
static void test_cached_tables_rest(void **state)
{
	_cleanup_free_ char *path = in_scratch("resting"), *dir = in_scratch("cache-resting");
	struct map_options opt = { .cache_dir = dir };
	struct maptable *t;
	struct map_frame f;
	uint64_t addr, place;

	(void)state;
	compile("-O1 -g", "resting");
	assert_false(hits(path, &opt, true));
	t = open_with(path, &opt);
	assert_true(t->mapped);
	assert_int_equal(maptable_function_address(t, "work", &addr, NULL), 0);
	assert_true(resident_kb(dir) > 0);
	/* It was asked since the last time; then not. */
	maptable_rest(t);
	assert_true(resident_kb(dir) > 0);
	maptable_rest(t);
	assert_int_equal(resident_kb(dir), 0);
	/* What is asked with every sample needs none of it. */
	assert_true(maptable_vaddr_to_offset(t, addr, &place));
	assert_true(maptable_offset_to_vaddr(t, place, &place));
	assert_int_equal(place, addr);
	assert_int_equal(resident_kb(dir), 0);
	assert_int_equal(maptable_lookup(t, addr, &f, 1), 1);
	assert_string_equal(f.function, "work");
	maptable_rest(t);
	assert_int_equal(maptable_lookup(t, addr, &f, 1), 1);
	maptable_rest(t);
	assert_true(resident_kb(dir) > 0);
	maptable_rest(t);
	assert_int_equal(resident_kb(dir), 0);
	maptable_free(t);
	/* One in memory of its own stays what it is. */
	opt.cache_dir = NULL;
	t = open_with(path, &opt);
	maptable_rest(t);
	maptable_rest(t);
	assert_int_equal(maptable_lookup(t, addr, &f, 1), 1);
	assert_string_equal(f.function, "work");
	maptable_free(t);
}

static const char *function_of(const char *path, const struct map_options *opt)
{
	static const char *const names[] = { "work", "evil" };
	struct maptable *t = open_with(path, opt);
	const char *found = NULL;
	uint64_t addr;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!maptable_function_address(t, names[i], &addr, NULL))
			found = names[i];
	}
	maptable_free(t);
	return found;
}

/* A file with the build-id, the size and the time of another one is not that one. */
static void test_poisoned_cache(void **state)
{
	_cleanup_free_ char *victim = in_scratch("victim"), *forged = in_scratch("forged"),
			    *dir = in_scratch("cache-poisoned");
	struct map_options opt = { .cache_dir = dir };

	(void)state;
	compile("-O1 -g -Wl,--build-id=0x0123456789abcdef0123456789abcdef", "victim");
	sh("sed -e s/work/evil/g victim >forged; chmod +x forged; touch -r victim forged; "
	   "test $(stat -c %%s victim) = $(stat -c %%s forged)");
	assert_string_equal(function_of(forged, &opt), "evil");
	assert_string_equal(function_of(victim, &opt), "work");
	/* Nor is it after it has been put in its place. */
	sh("mv victim saved; mv forged victim");
	assert_string_equal(function_of(victim, &opt), "evil");
	sh("cp saved new; touch -r saved new; cat new >victim; touch -r saved victim");
	assert_string_equal(function_of(victim, &opt), "work");
}

/* A unit whose name is in the common file, which is what the caller made of "common". */
static const char alt_source[] =
	".globl work\n.text\n.Ls: work: nop\nret\n.Le:\n.globl main\nmain: ret\n"
	".section .debug_abbrev,\"\",@progbits\n"
	".byte 1,0x11,1, 0x03; .uleb128 0x1f21; .byte 0x11,1, 0x12,7, 0,0\n"
	".byte 2,0x2e,0, 0x03; .uleb128 0x1f21; .byte 0x11,1, 0x12,7, 0,0, 0\n"
	".section .debug_info,\"\",@progbits\n"
	".long .Lend-.Lbegin\n.Lbegin: .short 4\n.long .debug_abbrev\n.byte 8\n"
	".byte 1\n.long 0\n.quad .Ls, .Le-.Ls\n"
	".byte 2\n.long 0\n.quad .Ls, .Le-.Ls\n.byte 0\n.Lend:\n"
	".section .gnu_debugaltlink,\"\",@progbits\n"
	".asciz \"%s/common\"\n.fill 20,1,0xab\n"
	".section .note.GNU-stack,\"\",@progbits\n";

/* Whatever a file names instead of another file is not waited for, and not opened. */
static void test_names_no_file(void **state)
{
	static const char *const others[] = { "mkfifo common", "mkdir common",
					      "mknod common c 1 3 || mkfifo common",
					      "ln -s common common", "ln -s /dev/zero common" };
	_cleanup_free_ char *path = in_scratch("names"), *s = in_scratch("names.s"),
			    *text = xasprintf(alt_source, scratch), *linked = in_scratch("linked");
	struct maptable *t;

	(void)state;
#if !defined(__x86_64__)
	skip();
#endif
	write_file(s, text, strlen(text));
	sh("gcc names.s -o names");
	compile("-O1 -g", "linked");
	sh("objcopy --only-keep-debug linked common; objcopy --strip-debug "
	   "--add-gnu-debuglink=common linked; rm common");
	alarm(120); /* that is how it failed */
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		sh("%s", others[i]);
		t = open_with(path, NULL);
		assert_non_null(strstr(maptable_warning(t), "common"));
		maptable_free(t);
		t = open_with(linked, NULL);
		assert_int_equal(maptable_source(t), MAP_SYMTAB);
		maptable_free(t);
		sh("rm -r common");
	}
	/* A file, but another one than was meant. */
	sh("cp linked common");
	t = open_with(path, NULL);
	assert_non_null(strstr(maptable_warning(t), "does not match: its build-id"));
	maptable_free(t);
	alarm(0);
}

/* A function whose name, in a namespace, is in a file beside the one that refers to it. */
static const char common_user[] =
	".globl work\n.text\n.Ls: work: nop\nret\n.Le:\n.globl main\nmain: ret\n"
	".section .debug_abbrev,\"\",@progbits\n"
	".byte 1,0x11,1, 0,0\n"
	".byte 2,0x2e,0, 0x31; .uleb128 0x1f20; .byte 0x11,1, 0x12,7, 0,0, 0\n"
	".section .debug_info,\"\",@progbits\n"
	".long .Lend-.Lbegin\n.Lbegin: .short 4\n.long .debug_abbrev\n.byte 8\n"
	".byte 1\n.byte 2\n.long 19\n.quad .Ls, .Le-.Ls\n.byte 0\n.Lend:\n"
	".section .gnu_debugaltlink,\"\",@progbits\n"
	".asciz \"common.debug\"\n.fill 20,1,0xab\n"
	".section .note.GNU-stack,\"\",@progbits\n";
static const char common_names[] =
	".globl f\nf: ret\n"
	".section .debug_abbrev,\"\",@progbits\n"
	".byte 1,0x3c,1, 0,0, 2,0x39,1, 3,8, 0,0, 3,0x2e,0, 3,8, 0,0, 0\n"
	".section .debug_info,\"\",@progbits\n"
	".long .Lend-.Lbegin\n.Lbegin: .short 4\n.long 0\n.byte 8\n"
	".byte 1, 2\n.asciz \"outer\"\n.byte 3\n.asciz \"in_common\"\n.byte 0, 0\n.Lend:\n"
	".section .note.GNU-stack,\"\",@progbits\n";

static void common_is_found(const char *path, const struct map_options *opt)
{
	struct map_frame f[MAP_MAX_INLINE];
	struct maptable *t = open_with(path, opt);
	struct error err;
	uint64_t addr;

	if (maptable_warning(t))
		fail_msg("%s", maptable_warning(t));
	if (maptable_function_address(t, "outer::in_common", &addr, &err))
		fail_msg("%s", err.text);
	assert_int_equal(maptable_lookup(t, addr, f, MAP_MAX_INLINE), 1);
	assert_string_equal(f[0].function, "outer::in_common");
	maptable_free(t);
}

static void test_common_file(void **state)
{
	_cleanup_free_ char *path = in_scratch("user"), *user = in_scratch("user.s"),
			    *names = in_scratch("names.s"), *box = in_scratch("room");
	_cleanup_free_ char *root = NULL, *id = NULL;
	struct map_options opt = { .debug_root = "/debug" };
	int fd;

	(void)state;
#if !defined(__x86_64__)
	skip();
#endif
	write_file(user, common_user, strlen(common_user));
	write_file(names, common_names, strlen(common_names));
	sh("gcc -Wl,--build-id user.s -o user && gcc -shared -nostdlib -Wl,--build-id=0x$(printf "
	   "'ab%%.0s' "
	   "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20) names.s -o common.debug");
	common_is_found(path, NULL);

	/* Beside the debug file in a container, whose root is held open. */
	id = build_id_of(path);
	sh("mkdir -p room/debug/.build-id/%.2s; objcopy --only-keep-debug user "
	   "room/debug/.build-id/%.2s/%s.debug; mv common.debug room/debug/.build-id/%.2s/; strip "
	   "user",
	   id, id, id + 2, id);
	fd = open(box, O_PATH | O_DIRECTORY);
	assert_true(fd >= 0);
	opt.root = root = xasprintf("/proc/self/fd/%d", fd);
	common_is_found(path, &opt);
	close(fd);
}

/* One unit whose header and abbreviations are the arguments. */
static const char damaged_source[] = ".globl work\n.text\nwork: ret\n.globl main\nmain: ret\n"
				     ".section .debug_abbrev,\"\",@progbits\n%s\n"
				     ".section .debug_info,\"\",@progbits\n"
				     ".long .Lend-.Lbegin\n.Lbegin: %s\n.byte 1, 0\n.Lend:\n"
				     ".section .note.GNU-stack,\"\",@progbits\n";

/* What is damaged is told with the value that was found. */
static void test_damaged_units(void **state)
{
	static const char head[] = ".short 4\n.long .debug_abbrev\n.byte 8",
			  abbrev[] = ".byte 1,0x11,0,0,0,0";
	static const struct {
		const char *abbrev, *head, *words;
	} all[] = {
		{ abbrev, ".short 9\n.long .debug_abbrev\n.byte 8", ": version 9: none of 2 to 5" },
		{ abbrev, ".short 0x104\n.long .debug_abbrev\n.byte 8",
		  ": version 260: none of 2 to 5" },
		{ abbrev, ".short 4\n.long .debug_abbrev\n.byte 3",
		  "addresses of 3 bytes: neither 4 nor 8" },
		{ abbrev, ".short 4\n.long 0x7000000\n.byte 8",
		  "its abbreviations, at 0x7000000, lie beyond" },
		{ ".byte 7,0x11,0,0,0,0", head, "it uses abbreviation 1, which does not exist" },
		{ ".byte 1,0x11,0; .uleb128 0x12345; .byte 8,0,0,0", head,
		  "abbreviation 1: attribute 0x12345 of form 0x8" },
		{ ".uleb128 0x123456; .byte 0x11,0,0,0,0", head,
		  "abbreviation 1193046: no more than 1048576 are read" },
	};
	_cleanup_free_ char *path = in_scratch("damaged"), *s = in_scratch("damaged.s");

	(void)state;
#if !defined(__x86_64__)
	skip();
#endif
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		_cleanup_free_ char *text = xasprintf(damaged_source, all[i].abbrev, all[i].head);
		struct maptable *t;
		const char *w;

		write_file(s, text, strlen(text));
		sh("gcc -nostdlib -Wl,-e,main damaged.s -o damaged");
		t = open_with(path, NULL);
		w = maptable_warning(t);
		if (!w || !strstr(w, all[i].words))
			fail_msg("no \"%s\" in: %s", all[i].words, w ? w : "(no warning)");
		maptable_free(t);
	}
}

static void test_cache_without_build_id(void **state)
{
	_cleanup_free_ char *path = in_scratch("no-id"), *dir = in_scratch("cache-no-id");
	struct map_options opt = { .cache_dir = dir };

	(void)state;
	compile("-O1 -g -Wl,--build-id=none", "no-id");
	assert_false(hits(path, &opt, true));
	assert_true(hits(path, &opt, true));
	sh("touch -d @1000000000 no-id");
	assert_false(hits(path, &opt, true));
	assert_true(hits(path, &opt, true));
}

static void test_damaged_cache(void **state)
{
	_cleanup_free_ char *path = in_scratch("damaged"), *dir = in_scratch("cache-damaged"),
			    *file = NULL, *good = NULL;
	struct map_options opt = { .cache_dir = dir };
	size_t size;

	(void)state;
	compile("-O1 -g", "damaged");
	assert_false(hits(path, &opt, true));
	file = only_file_in(dir);
	good = read_file(file, &size);
	for (size_t n = 0; n < size; n += 61) {
		write_file(file, good, n);
		assert_false(hits(path, &opt, true));
	}
	srandom(1);
	for (int i = 0; i < 500; i++) {
		_cleanup_free_ char *bad = xmalloc(size);
		size_t at = random() % size;

		memcpy(bad, good, size);
		bad[at] ^= 1 + random() % 255;
		write_file(file, bad, size);
		assert_false(hits(path, &opt, true));
	}
	/* Damage with a checksum to match: every index is looked at before it is used. */
	for (int i = 0; i < 2000; i++) {
		_cleanup_free_ char *bad = xmalloc(size);
		struct table_header *h = (void *)bad;
		struct addr_ranges r;
		struct maptable *t;
		uint64_t addr;

		memcpy(bad, good, size);
		for (long k = random() % 4; k >= 0; k--)
			bad[random() % size] = random();
		h->checksum = table_checksum(bad, size);
		write_file(file, bad, size);
		t = open_with(path, &opt);
		maptable_function_address(t, "work", &addr, NULL);
		for (uint64_t a = maptable_code_vaddr(t); a < maptable_code_vaddr(t) + 4096;
		     a += 7) {
			struct map_frame f[MAP_MAX_INLINE];
			int n = maptable_lookup(t, a, f, MAP_MAX_INLINE);

			for (int k = 0; k < n; k++)
				assert_true(strlen(f[k].function) < size);
		}
		if (!maptable_function_ranges(t, "main", &r, NULL))
			addr_ranges_free(&r);
		if (!maptable_lines_ranges(t, "files.c", 10, 10, &r, NULL))
			addr_ranges_free(&r);
		maptable_free(t);
	}
	write_file(file, good, size);
	assert_true(hits(path, &opt, true));
}

static void test_cache_that_cannot_be(void **state)
{
	_cleanup_free_ char *path = in_scratch("full"), *dir = in_scratch("cache-full"),
			    *under_file = in_scratch("full/cache");
	struct map_options opt = { .cache_dir = under_file };
	struct rlimit old, tiny = { 1000, RLIM_INFINITY };

	(void)state;
	compile("-O1 -g", "full");
	assert_false(hits(path, &opt, true));
	assert_false(hits(path, &opt, true));
	/* No room: as on a full disk, write() fails half way. */
	opt.cache_dir = dir;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
	assert_false(hits(path, &opt, true));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(try_sh("test -z \"$(ls -A cache-full)\""), 0);
	assert_false(hits(path, &opt, true));
	assert_true(hits(path, &opt, true));
}

static void test_cache_stays_small(void **state)
{
	_cleanup_free_ char *dir = in_scratch("cache-small");
	struct map_options opt = { .cache_dir = dir };
	_cleanup_free_ char *first = NULL;
	uint64_t before = cache_max_bytes;
	struct stat st;
	char *path[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		_cleanup_free_ char *name = xasprintf("small%d", i);
		_cleanup_free_ char *flags =
			xasprintf("-O1 -g -DSMALL=%d -Wl,--build-id=0x%d%d%d%d", i, i, i, i, i);

		compile(flags, name);
		path[i] = in_scratch("%s", name);
	}
	assert_false(hits(path[0], &opt, true));
	first = only_file_in(dir);
	assert_int_equal(stat(first, &st), 0);
	cache_max_bytes = st.st_size * 5 / 2;
	for (int i = 1; i < 4; i++) {
		assert_false(hits(path[i], &opt, true));
		assert_true(hits(path[i], &opt, true)); /* the newest is kept */
	}
	assert_false(hits(path[0], &opt, true));
	cache_max_bytes = before;
	for (int i = 0; i < 4; i++)
		free(path[i]);
}

static void test_default_directory(void **state)
{
	char *dir;

	(void)state;
	setenv("XDG_CACHE_HOME", "/somewhere", 1);
	setenv("HOME", "/home/somebody", 1);
	dir = maptable_default_cache_dir();
	assert_string_equal(dir, geteuid() ? "/somewhere/scoz" : "/var/cache/scoz");
	free(dir);
	unsetenv("XDG_CACHE_HOME");
	dir = maptable_default_cache_dir();
	assert_string_equal(dir, geteuid() ? "/home/somebody/.cache/scoz" : "/var/cache/scoz");
	free(dir);
}

/* A directory that others can write to, or that a link leads to, keeps and loses nothing. */
static void test_cache_of_others(void **state)
{
	_cleanup_free_ char *path = in_scratch("others"), *dir = in_scratch("cache-others"),
			    *link = in_scratch("cache-link");
	struct map_options opt = { .cache_dir = dir };
	uint64_t before = cache_max_bytes;

	(void)state;
	compile("-O1 -g", "others");
	sh("mkdir cache-others; touch cache-others/precious.map; ln -s cache-others cache-link");
	cache_max_bytes = 1;
	opt.cache_dir = link;
	assert_false(hits(path, &opt, true));
	assert_false(hits(path, &opt, true));
	opt.cache_dir = dir;
	assert_int_equal(chmod(dir, 0777), 0);
	assert_false(hits(path, &opt, true));
	assert_false(hits(path, &opt, true));
	assert_int_equal(try_sh("test $(ls -A cache-others) = precious.map"), 0);
	assert_int_equal(chmod(dir, 0755), 0);
	assert_false(hits(path, &opt, true));
	assert_true(hits(path, &opt, true));
	assert_int_not_equal(try_sh("test -e cache-others/precious.map"), 0);
	cache_max_bytes = before;
}

/* As scozd with capabilities has it: a cache that its user's other programs may write to. */
static int lookup_after_truncation(const char *path, const struct map_options *opt)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *file = cache_file_name(opt, fd, "");
	struct maptable *t;
	uint64_t addr;

	if (prctl(PR_SET_KEEPCAPS, 1) || setgroups(0, NULL) || setgid(65534) || setuid(65534))
		return 2;
	privileges_raise();
	for (int i = 0; i < 2; i++) {
		t = open_with(path, opt);
		if (t->mapped != (i == 1))
			return 3;
		if (!i)
			maptable_free(t);
	}
	if (truncate(file, 0))
		return 5;
	maptable_rest(t);
	maptable_rest(t);
	return maptable_function_address(t, "work", &addr, NULL) ? 4 : 0;
}

static void test_cache_of_less_privileged(void **state)
{
	_cleanup_free_ char *path = in_scratch("ranks"), *dir = in_scratch("cache-ranks");
	struct map_options opt = { .cache_dir = dir };
	int pid, status;

	(void)state;
	if (geteuid())
		skip();
	compile("-O1 -g", "ranks");
	sh("mkdir cache-ranks; chown 65534:65534 cache-ranks ranks");
	pid = fork();
	if (!pid)
		_exit(lookup_after_truncation(path, &opt));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_build_id),
		cmocka_unit_test(test_by_link),
		cmocka_unit_test(test_dwz),
		cmocka_unit_test(test_common_file),
		cmocka_unit_test(test_damaged_units),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_cache_is_private),
		cmocka_unit_test(test_none_of_fuse),
		cmocka_unit_test(test_cached_tables_rest),
		cmocka_unit_test(test_cache_without_build_id),
		cmocka_unit_test(test_poisoned_cache),
		cmocka_unit_test(test_names_no_file),
		cmocka_unit_test(test_damaged_cache),
		cmocka_unit_test(test_cache_that_cannot_be),
		cmocka_unit_test(test_cache_stays_small),
		cmocka_unit_test(test_cache_of_others),
		cmocka_unit_test(test_cache_of_less_privileged),
		cmocka_unit_test(test_default_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
	return run_in_scratch(run, true);
}
