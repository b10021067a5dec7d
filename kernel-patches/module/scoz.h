/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SCOZ_H
#define _SCOZ_H

#include <linux/types.h>

int scoz_kick(u32 cpu);

#endif
