/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of functions as a program's own unwind tables have them: in the file that runs, also where
 * all symbols have been stripped.
 */
#ifndef SCOZ_MAP_EH_FRAME_H
#define SCOZ_MAP_EH_FRAME_H

#include "base/base.h"

#include <libelf.h>

/*
 * Calls @fn for the range of every entry of .eh_frame, in file order; addresses are those of the
 * file. The part of a function that was split off (foo.cold) has an entry of its own, and all
 * stubs of .plt share one. @fn returns false to end the walk. Entries that cannot be read are
 * passed over. false: the file has none.
 */
bool eh_frame_walk(Elf *elf, bool (*fn)(uint64_t start, uint64_t end, void *arg), void *arg);

#endif
