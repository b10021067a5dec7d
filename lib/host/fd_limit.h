/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCOZ_FD_LIMIT_H
#define SCOZ_FD_LIMIT_H

/*
 * This process may open as many files as it is allowed to allow itself. Programs, maps, rings and
 * files held open are some hundreds; more on machines with many cores.
 */
void fd_limit_raise(void);

#endif
