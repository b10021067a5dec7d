/* SPDX-License-Identifier: GPL-2.0-only OR GPL-2.0-or-later */
/* What kernel_asks.bpf.c and kernel_asks.c both know. */
#ifndef SCOZ_HOST_BPF_SHARED_H
#define SCOZ_HOST_BPF_SHARED_H

#define KERNEL_NAME 128 /* bytes of a name, with the one that ends it */

#endif
