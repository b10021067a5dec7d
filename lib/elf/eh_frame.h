/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entries of a program's own unwind tables: ranges of functions, in the file that runs also
 * where all symbols have been stripped, and how to find their callers.
 */
#ifndef SCOZ_ELF_EH_FRAME_H
#define SCOZ_ELF_EH_FRAME_H

#include "base/base.h"

#include <elfutils/libdw.h>
#include <libelf.h>

/* An entry as it is handed out; what it points at is good until the walk ends. */
struct eh_frame_entry {
	uint64_t start, end; /* of the function; addresses are those of the file */
	uint64_t rules_from; /* a byte before @start where a signal handler returns to */
	bool signal;	     /* the frame below it was interrupted, and called nothing */
	const Dwarf_CIE *cie;
	const uint8_t *program, *program_end; /* its own CFA instructions */
};

enum eh_frame_section { EH_FRAME, DEBUG_FRAME };

/*
 * Calls @fn for every entry of .eh_frame, or of .debug_frame, in file order. The part of a
 * function that was split off (foo.cold) has an entry of its own, and all stubs of .plt share
 * one. @fn returns false to end the walk. Entries that cannot be read are passed over. false: the
 * file has none.
 */
bool eh_frame_walk(Elf *elf, enum eh_frame_section which,
		   bool (*fn)(const struct eh_frame_entry *e, void *arg), void *arg);

#endif
