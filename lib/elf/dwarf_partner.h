/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other files that a file's debug information is in. */
#ifndef SCOZ_ELF_DWARF_PARTNER_H
#define SCOZ_ELF_DWARF_PARTNER_H

#include "elf/dwarf_file.h"

/* The file that dwz moved common parts to; NULL: there is none, @b hears of one that is missing. */
struct elf_image *dwarf_common_open(const struct elf_image *debug, const struct map_options *opt,
				    struct table_builder *b);
/*
 * The file with the other half of @skeleton, loaded with that unit at hand. false: it is not to be
 * had; @why says so, malloc'ed, unless it has said something before (NULL: it has not).
 */
bool dwarf_split_open(struct dwarf_file *f, struct elf_image **image, const struct elf_image *debug,
		      const struct map_options *opt, const struct unit *skeleton,
		      struct table_builder *b, char **why);

#endif
