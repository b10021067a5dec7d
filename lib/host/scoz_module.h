/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The module of kernel-patches/module: scoz.ko. */
#ifndef SCOZ_HOST_SCOZ_MODULE_H
#define SCOZ_HOST_SCOZ_MODULE_H

/* What may call it here. */
#define SCOZ_MODULE_AT_TRACEPOINTS (1 << 0)
#define SCOZ_MODULE_IN_TICKS	   (1 << 1) /* programs that perf events run, too */

/*
 * SCOZ_MODULE_*, found out by trying. -ENOENT: it is not loaded; -ENODATA: it is, but the kernel
 * has no types of it; -EPERM: CAP_SYS_ADMIN is missing; other errors: the kernel refuses programs
 * that call it.
 */
int scoz_module_probe(void);

/* "is not loaded", and the like, for what scoz_module_probe() has returned. */
const char *scoz_module_state(int probed);

#endif
