// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_loads jitdump|perf-map FILE: has the symbolizer read what a program tells of code that it
 * makes, whole and as it would grow, and looks that code up. 1: the text says why it cannot be.
 */
#include "maps/made_code.h"
#include "maps/made_name.h"
#include "symbolizer/symbolizer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECES	  5
#define MOST	  (64u << 20) /* as of each process */
#define MOST_LOOK 50000

static struct made_code *code;

static void look_up(const struct code_loads *l)
{
	struct similar similar = { .wanted = "f" };
	struct made_function f;
	struct addr_ranges r;
	uint32_t step = l->h->n_load / MOST_LOOK + 1;

	for (uint32_t i = 0; i < l->h->n_load; i += step) {
		const struct code_load *load = &l->load[i];

		made_code_find(code, load->start, 0, &f);
		made_code_find(code, load->start + load->size / 2, load->time, &f);
	}
	if (!made_code_ranges(code, l->h->n_text ? l->text : "f", &r))
		addr_ranges_free(&r);
	if (!made_code_ranges(code, NULL, &r))
		addr_ranges_free(&r);
	made_code_near(code, &similar);
}

/* All that there is so far; where it ends, or 0: it cannot be read. */
static uint64_t read_on(int fd, const char *name, enum code_loads_kind kind, uint64_t from)
{
	struct error err = { 0 };

	for (;;) {
		struct code_loads *l = code_loads_open(fd, name, kind, from, &err);
		bool more = l && l->h->more && l->h->next > from;

		if (!l) {
			fprintf(stderr, "%s\n", err.text);
			exit(1);
		}
		from = l->h->next;
		if (!made_code_add(code, l, MOST, 1))
			fprintf(stderr, "%s: tells of more code than is kept\n", name);
		look_up(l);
		code_loads_free(l);
		if (!more)
			return from;
	}
}

int main(int argc, char **argv)
{
	enum code_loads_kind kind = CODE_LOADS_PERF_MAP;
	struct made_names *names = made_names_create();
	_cleanup_free_ char *bytes = NULL;
	uint64_t from = 0;
	struct error err;
	struct stat st;
	int fd, part;

	if (argc != 3 || (strcmp(argv[1], "jitdump") && strcmp(argv[1], "perf-map"))) {
		fprintf(stderr, "usage: read_loads jitdump|perf-map FILE\n");
		return 2;
	}
	if (!strcmp(argv[1], "jitdump"))
		kind = CODE_LOADS_JITDUMP;
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	part = memfd_create("part", MFD_CLOEXEC);
	if (fd < 0 || part < 0 || fstat(fd, &st)) {
		perror(argv[2]);
		return 1;
	}
	if (symbolizer_start(&err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	code = made_code_create(names);
	read_on(fd, argv[2], kind, 0);
	printf("%llu bytes kept", (unsigned long long)made_code_memory(code));
	made_code_clear(code);
	bytes = xmalloc(st.st_size + 1);
	if (pread(fd, bytes, st.st_size, 0) != st.st_size) {
		perror(argv[2]);
		return 1;
	}
	for (int i = 1; i <= PIECES; i++) {
		size_t to = st.st_size * i / PIECES;

		if (pwrite(part, bytes, to, 0) != (ssize_t)to)
			return 1;
		from = read_on(part, argv[2], kind, from);
	}
	printf(", %llu when it grew, up to byte %llu\n", (unsigned long long)made_code_memory(code),
	       (unsigned long long)from);
	made_code_destroy(code);
	made_names_destroy(names);
	symbolizer_stop();
	close(fd);
	close(part);
	return 0;
}
