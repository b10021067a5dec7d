// SPDX-License-Identifier: GPL-2.0-or-later
/* Notes of probes (USDT, marks), and where a probe may be put. */
#include "tests/fuzz/fuzz.h"

#include "progress/marks.h"
#include "progress/probe_file.h"
#include "progress/probe_sites.h"
#include "progress/usdt.h"

static void place(const struct held_file *file)
{
	const uint64_t statements[] = { 0x1000, 0x1010, 0x401000, 0x401010 };
	struct probe_file *f;
	uint64_t vaddr;

	if (probe_file_open(file, &f, NULL))
		return;
	for (uint64_t offset = 0x1000; offset < 0x1080; offset += 11) {
		struct probe_place at = { .function = "work",
					  .statements = statements,
					  .n_statements = ARRAY_SIZE(statements) };
		uint64_t start, end;

		if (!probe_file_vaddr(f, offset, &vaddr))
			continue;
		at.vaddr = at.function_vaddr = vaddr;
		at.note = offset & 1;
		if (probe_file_around(f, vaddr, &start, &end))
			at.function_vaddr = start;
		probe_file_check(f, &at, NULL);
	}
	probe_file_close(f);
}

static void sites(const struct held_file *file, const char *spec)
{
	struct probe_sites *s;
	struct point point;

	if (*spec && point_parse(spec, &point, NULL))
		abort();
	if (!probe_sites_find(file, *spec ? &point : NULL, &s, NULL)) {
		for (size_t i = 0; i < s->n; i++) {
			if (!s->list[i].refused && probe_sites_unchanged(s, i, file, NULL))
				abort();
		}
		probe_sites_free(s);
	}
	if (*spec)
		point_free(&point);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct held_file file = { .fd = fuzz_file(data, size)->fd, .name = "input" };
	struct usdt_site *usdt = NULL;
	struct mark_site *marks = NULL;
	struct error err;
	size_t n = 0;

	snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	if (!usdt_find(&file, "scoz", "progress", &usdt, &n, &err))
		free(usdt);
	if (!marks_find_sites(&file, &marks, &n, &err)) {
		for (size_t i = 0; i < n; i++)
			mark_name_matches("main.c:12", marks[i].name);
		mark_sites_free(marks, n);
	}
	place(&file);
	sites(&file, "");
	sites(&file, "usdt:x:scoz:progress");
	sites(&file, "x:work");
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate_elf(data, size, max, seed);
}
