/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program with one function, work(), in a process that is made up: for tests of the daemon's
 * parts. */
#ifndef SCOZ_TEST_PROGRAM_H
#define SCOZ_TEST_PROGRAM_H

#include "elf/table_make.h"
#include "test_map_util.h"

#include <sys/sysmacros.h>

#define PID   10
#define START 0x555500000000

struct program {
	char *path;
	struct file_id id;
	uint64_t vaddr, offset, pgoff; /* of work() */
};

/* @directory of the scratch directory: "." or one that is made; @source: the name of the file,
 * which work() begins in line 2 of. */
static void program_make(const char *directory, const char *source, const char *name,
			 struct program *ret)
{
	static const char text[] =
		"volatile int sink;\n"
		"__attribute__((noinline)) int work(int x) { sink = x; return sink; }\n"
		"int main(int argc, char **argv) { (void)argv; return work(argc); }\n";
	_cleanup_free_ char *c = in_scratch("%s", source);
	struct map_options opt = { 0 };
	struct maptable *t;
	struct stat st;

	ret->path = in_scratch("%s/%s", directory, name);
	write_file(c, text, strlen(text));
	sh("mkdir -p %s && gcc -O1 -g %s -o '%s/%s'", directory, source, directory, name);
	assert_int_equal(stat(ret->path, &st), 0);
	ret->id = (struct file_id){ .dev_major = major(st.st_dev),
				    .dev_minor = minor(st.st_dev),
				    .ino = st.st_ino };
	assert_int_equal(maptable_make(ret->path, ret->path, &opt, &t, NULL), 0);
	assert_int_equal(maptable_function_address(t, "work", &ret->vaddr, NULL), 0);
	assert_true(maptable_vaddr_to_offset(t, ret->vaddr, &ret->offset));
	ret->pgoff = ret->offset & ~0xfffULL;
	maptable_free(t);
}

/* @pid has it mapped at START. */
static void program_map(const struct program *p, struct maps *maps, int pid)
{
	maps_add(maps, 0, pid, START, 0x1000, p->pgoff, p->id, p->path);
}

/* Somebody waits for a name in what @pid makes, until all is known that is there now. */
__attribute__((unused)) static void program_is_asked(struct maps *m, int pid)
{
	struct maps_made_place at = { .pid = pid, .time = clock_now_ns() };

	while (maps_name_awaited(m, &at)) {
		maps_catch_up(m);
		usleep(1000);
	}
}

/* @pid, below sysroot, has this perf map. */
__attribute__((unused)) static void program_makes(int pid, const char *map)
{
	_cleanup_free_ char *status = in_scratch("proc/%d/status", pid),
			    *path = in_scratch("made/tmp/perf-%d.map", pid), *text = NULL;

	sh("mkdir -p proc/%d made/tmp; ln -sfn %s/made proc/%d/root", pid, scratch, pid);
	text = xasprintf("Name:\tjit\nUid:\t0\t%u\nGid:\t0\t%u\n", getuid(), getgid());
	write_file(status, text, strlen(text));
	write_file(path, map, strlen(map));
}

#endif
