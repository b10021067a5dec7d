/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running kernel's symbols: (sysroot-relative) /proc/kallsyms. */
#ifndef SCOZ_HOST_KALLSYMS_H
#define SCOZ_HOST_KALLSYMS_H

#include "base/base.h"

struct kallsym {
	uint64_t address; /* 0: hidden from this user */
	const char *name;
	char type; /* as nm has it */
};

/* Takes a line "address type name [module]" apart; it is cut at the end of the name. */
bool kallsyms_parse(char *line, struct kallsym *ret);

/*
 * Calls @each for every symbol in the order of the file until it returns true; the name is valid
 * that long. 0 or -errno when the file cannot be read. The file is long: stop early.
 */
int kallsyms_each(bool (*each)(const struct kallsym *sym, void *arg), void *arg);

#endif
