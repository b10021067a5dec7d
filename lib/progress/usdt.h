/* SPDX-License-Identifier: GPL-2.0-or-later */
/* USDT probes: the .note.stapsdt notes of an ELF file. */
#ifndef SCOZ_USDT_H
#define SCOZ_USDT_H

#include "files/held_file.h"

struct usdt_site {
	uint64_t probe_offset;	   /* in the file */
	uint64_t semaphore_offset; /* in the file: the uprobe's ref_ctr_offset; 0: none */
};
/*
 * Every place of PROVIDER:NAME in the ELF file @file (inlining makes many of one probe).
 * -ENOENT when there is none; the text then lists the probes that the file does have.
 */
int usdt_find(const struct held_file *file, const char *provider, const char *name,
	      struct usdt_site **ret, size_t *n, struct error *err);

#endif
