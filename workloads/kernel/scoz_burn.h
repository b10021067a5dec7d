/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* /dev/scoz_burn: the argument of each call is a number of turns of a loop in the kernel. */
#ifndef SCOZ_BURN_H
#define SCOZ_BURN_H

#include <linux/ioctl.h>

#define SCOZ_BURN_DEVICE    "/dev/scoz_burn"
#define SCOZ_BURN_PLAIN	    _IO('Z', 1)
#define SCOZ_BURN_MUTEX	    _IO('Z', 2) /* one caller at a time; the others sleep */
#define SCOZ_BURN_SPINLOCK  _IO('Z', 3) /* one caller at a time; the others spin */
#define SCOZ_BURN_MAX_TURNS (1UL << 30)
/* Under the spin lock nobody else gets the core, not even who renews the lease (8 ms). */
#define SCOZ_BURN_MAX_SPIN 1000000UL /* about 3 ms under emulation, 1 ms without */

#endif
