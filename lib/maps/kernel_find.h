/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running kernel and its modules: who they are, where they lie, which files tell of them. */
#ifndef SCOZ_MAPS_KERNEL_FIND_H
#define SCOZ_MAPS_KERNEL_FIND_H

#include "elf/elf_image.h"

struct running_kernel {
	char *release;		   /* as uname -r tells it */
	char build_id[2 * 64 + 1]; /* hex, "" when the kernel does not tell */
	uint64_t text, stext;	   /* addresses of _text and _stext, 0: unknown */
};
int running_kernel_read(struct running_kernel *k, struct error *err);
void running_kernel_free(struct running_kernel *k);

/* The file at @path must be this kernel's image, or its debug file. */
int kernel_image_check(const struct running_kernel *k, const struct elf_image *image,
		       struct error *err);
/* The first file with debug information that is this kernel's; NULL when there is none. */
char *kernel_image_find(const struct running_kernel *k, const struct map_options *opt);

/* A module with a file that has its build-id. */
struct kernel_module {
	char *name, *file;
	char build_id[2 * 64 + 1];
};
struct kernel_modules {
	struct kernel_module *v;
	size_t n, cap;
};
/* The loaded modules; `file` is NULL for those of which no file is known. @image: the kernel's. */
void kernel_modules_read(struct kernel_modules *m, const struct running_kernel *k,
			 const struct map_options *opt, const char *image);
void kernel_modules_free(struct kernel_modules *m);
/* Where a section of a loaded module lies, 0: not known. */
uint64_t module_section_address(const char *module, const char *section);

#endif
