/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and numbers of this architecture's system calls, as the C library's headers have them. */
#ifndef SCOZ_HOST_SYSCALL_NAMES_H
#define SCOZ_HOST_SYSCALL_NAMES_H

#include "base/base.h"

/* -1: there is none of that name. */
int syscall_number(const char *name);
/* The same with an error that names the most similar ones. */
int syscall_find(const char *name, struct error *err);
/*
 * Makes a thread or process, which comes to the end of the call as well where it begins (on x86),
 * with result 0.
 */
bool syscall_forks(int number);
/* Nobody comes back from it. */
bool syscall_ends(int number);
/*
 * The @i-th name that a function of the kernel may have which does the work of system call @name
 * alone, whether there is one or not: entries often end with a jump to it, and are then in no call
 * chain. malloc'ed; NULL: no more.
 */
char *syscall_function(const char *name, size_t i);
/* The call that is entered by this function of the kernel, by its name alone; NULL: none. */
const char *syscall_entered_by(const char *function);

#endif
