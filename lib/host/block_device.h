/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Block devices by name. */
#ifndef SCOZ_BLOCK_DEVICE_H
#define SCOZ_BLOCK_DEVICE_H

#include "base/base.h"

/*
 * The number by which the kernel's programs know the disk @name (of /sys/block): major << 20 |
 * minor. -ENOENT: there is none; -ENOTSUP: it is none that serves requests itself, but a part of
 * one (vda1), or one that hands all on to others (dm-0, md0) or to nobody (zram0). @err says which
 * to name instead.
 */
int block_disk_find(const char *name, uint32_t *ret, struct error *err);

#endif
