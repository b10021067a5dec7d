/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call frame instructions of one entry, executed: which rule holds from where on. */
#ifndef SCOZ_UNWIND_CFI_H
#define SCOZ_UNWIND_CFI_H

#include "elf/eh_frame.h"
#include "unwind/unwind_table.h"

/* The registers of a machine that matter, by their DWARF numbers. */
struct cfi_machine {
	uint32_t elf; /* EM_* */
	uint8_t sp, n;
	uint8_t followed[UNWIND_FOLLOWED]; /* CFI_NO_REGISTER: none */
	bool link_register;		   /* a call leaves the return address in a register */
};
#define CFI_NO_REGISTER 255
/* NULL: not known here. */
const struct cfi_machine *cfi_machine(uint32_t elf);

/* Called with rising addresses from e->rules_from on. */
typedef void (*cfi_row)(void *arg, uint64_t address, const struct unwind_rule *rule);

/*
 * false: an instruction is not understood, or an address does not rise; the last row says so then
 * (UNWIND_STRANGE) and holds to the end of the entry.
 */
bool cfi_run(const struct cfi_machine *m, const struct eh_frame_entry *e, cfi_row row, void *arg);

#endif
