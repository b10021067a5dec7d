// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/version.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

struct build_id {
	const unsigned char *byte;
	size_t n;
};

#define ALIGNED(n) (((n) + 3) & ~(size_t)3)

static int find_build_id(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct build_id *ret = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *at = (const char *)(info->dlpi_addr + ph->p_vaddr);
		const char *end = at + ph->p_memsz;

		while (ph->p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *note = (const void *)at;
			const char *name = at + sizeof(*note);

			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
			    !memcmp(name, "GNU", 4)) {
				ret->byte = (const void *)(name + 4);
				ret->n = note->n_descsz;
			}
			at = name + ALIGNED(note->n_namesz) + ALIGNED(note->n_descsz);
		}
	}
	return 1; /* the program itself is first */
}

void version_print(FILE *out, const char *program)
{
	struct build_id id = { NULL, 0 };

	dl_iterate_phdr(find_build_id, &id);
	fprintf(out, "%s %s", program, PROGRAM_VERSION);
	if (id.n)
		fprintf(out, " (build-id ");
	for (size_t i = 0; i < id.n; i++)
		fprintf(out, "%02x", id.byte[i]);
	fprintf(out, "%s\n", id.n ? ")" : "");
}
