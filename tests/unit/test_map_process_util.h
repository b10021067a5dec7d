/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that map programs, in a /proc made up for the purpose. */
#ifndef SCOZ_TEST_MAP_PROCESS_UTIL_H
#define SCOZ_TEST_MAP_PROCESS_UTIL_H

#include "test_map_util.h"

#include <inttypes.h>
#include <sys/sysmacros.h>

static const char program_source[] =
	"volatile int sink;\n"
	"__attribute__((noinline)) int work(int x) { sink = x; return sink; }\n"
	"int main(int argc, char **argv) { (void)argv; return work(argc); }\n";

__attribute__((unused)) static struct file_id id_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (struct file_id){ .dev_major = major(st.st_dev),
				 .dev_minor = minor(st.st_dev),
				 .ino = st.st_ino };
}

struct program {
	char *path;
	struct file_id id;
	uint64_t work, bias, pgoff, map_vaddr;
};

/* Compiles and looks up where its code segment is mapped from. */
__attribute__((unused)) static struct program make_program(const char *name, const char *flags)
{
	_cleanup_free_ char *c = in_scratch("processes.c");
	struct program p = { .path = in_scratch("%s", name) };
	struct maptable *t;
	uint64_t offset;

	write_file(c, program_source, strlen(program_source));
	sh("gcc -O1 -g %s processes.c -o %s", flags, name);
	p.id = id_of(p.path);
	t = open_with(p.path, NULL);
	assert_int_equal(maptable_function_address(t, "work", &p.work, NULL), 0);
	assert_true(maptable_vaddr_to_offset(t, p.work, &offset));
	p.pgoff = offset & ~0xfffULL;
	p.map_vaddr = p.work - (offset - p.pgoff);
	maptable_free(t);
	return p;
}

__attribute__((unused)) static void make_process(int pid, const char *maps)
{
	_cleanup_free_ char *path = in_scratch("proc/%d/maps", pid);

	sh("mkdir -p proc/%d; ln -sfn / proc/%d/root", pid, pid);
	write_file(path, maps, strlen(maps));
}

__attribute__((unused)) static char *maps_line(const struct program *p, uint64_t start,
					       const char *perms, const char *suffix)
{
	return xasprintf("%" PRIx64 "-%" PRIx64 " %s %08" PRIx64 " %02x:%02x %" PRIu64
			 "                   %s%s\n",
			 start, start + 0x1000, perms, p->pgoff, p->id.dev_major, p->id.dev_minor,
			 p->id.ino, p->path, suffix);
}

__attribute__((unused)) static struct maps *create(const char *const *scope, size_t n)
{
	struct maps_options opt = { .binary_scope = scope, .n_binary_scope = n };
	struct maps *m;
	struct error err;

	assert_int_equal(maps_create(&opt, &m, &err), 0);
	return m;
}

/* The function at the place of work() in a mapping at @start, or NULL. */
__attribute__((unused)) static const char *function_at(struct maps *m, int pid,
						       const struct program *p, uint64_t start)
{
	const struct maps_binary *b;
	struct map_frame f[4];
	uint64_t vaddr, place;
	uint32_t id;
	int n;

	maps_catch_up(m);
	if (!maps_place_of(m, pid, start + (p->work - p->map_vaddr) + 1, &id, &place))
		return NULL;
	assert_int_equal(place, p->pgoff + (p->work - p->map_vaddr) + 1);
	b = maps_binary_wait(m, id);
	assert_non_null(b);
	if (!b->table)
		return b->error;
	vaddr = maps_vaddr(b, place);
	assert_int_equal(vaddr, p->work + 1);
	n = maptable_lookup(b->table, vaddr, f, 4);
	return n ? f[n - 1].function : "?";
}

__attribute__((unused)) static uint32_t id_at(struct maps *m, int pid, uint64_t addr)
{
	uint64_t vaddr;
	uint32_t id;

	return maps_place_of(m, pid, addr, &id, &vaddr) ? id : UINT32_MAX;
}

__attribute__((unused)) static int count_mappings(const struct maps_mapping *map, void *arg)
{
	assert_true(map->end > map->start);
	++*(int *)arg;
	return 0;
}

__attribute__((unused)) static int mappings_of(struct maps *m, uint32_t id)
{
	int n = 0;

	maps_for_each_mapping(m, id, count_mappings, &n);
	return n;
}

#endif
