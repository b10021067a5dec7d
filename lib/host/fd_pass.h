/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Datagrams with open descriptors between processes of ours (unix(7), SCM_RIGHTS). */
#ifndef SCOZ_FD_PASS_H
#define SCOZ_FD_PASS_H

#include "base/base.h"

#include <sys/types.h>

#define FD_PASS_MAX 2

/* @n descriptors, at most FD_PASS_MAX, go along; they stay the sender's, too. False: errno. */
bool fd_pass_send(int socket, const void *data, size_t size, const int *fds, int n);
/*
 * Returns the size of what came (at most @size), 0 when the other side is gone (EPIPE), -1 with
 * errno: EMFILE where descriptors came and this process may open no more.
 * @fds, FD_PASS_MAX of them, are the receiver's; -1 where none came.
 */
ssize_t fd_pass_receive(int socket, void *data, size_t size, int *fds);

#endif
