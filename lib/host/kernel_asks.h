/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel is asked by name where it has something. It finds out in microseconds to a millisecond
 * what a program that reads its type information (5 MB) and its symbols (200,000 lines) needs a
 * tenth of a second of CPU for.
 */
#ifndef SCOZ_HOST_KERNEL_ASKS_H
#define SCOZ_HOST_KERNEL_ASKS_H

#include "base/base.h"

struct kernel_asks;

/* NULL: the kernel does not let us ask (rights), or cannot answer (before Linux 5.16). */
struct kernel_asks *kernel_asks_open(void);
void kernel_asks_close(struct kernel_asks *k);
/*
 * It was found that libbpf believes, for as long as this process lives, that the kernel knows no
 * types of functions: one of its own calls failed when it looked, for want of memory. Large
 * programs are checked without them all the same, but for minutes.
 */
bool kernel_asks_misled(void);

/*
 * The id in the kernel's own type information, modules' left out, of what has this name and this
 * BTF_KIND_; or -errno, -ENOENT: there is no such thing.
 */
int kernel_asks_type(struct kernel_asks *k, const char *name, int kind);

/* The address of a function or variable; 0: there is no such thing, or it is not told. */
uint64_t kernel_asks_address(struct kernel_asks *k, const char *name);

#endif
