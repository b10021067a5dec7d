// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/fd_pass.h"

#include <sys/socket.h>
#include <unistd.h>

union control {
	char bytes[CMSG_SPACE(FD_PASS_MAX * sizeof(int))];
	struct cmsghdr align;
};

bool fd_pass_send(int socket, const void *data, size_t size, const int *fds, int n)
{
	union control control = {};
	struct iovec part = { (void *)data, size };
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *c;
	ssize_t r;

	if (n) {
		h.msg_control = control.bytes;
		h.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	do
		r = sendmsg(socket, &h, MSG_NOSIGNAL);
	while (r < 0 && errno == EINTR);
	return r > 0;
}

ssize_t fd_pass_receive(int socket, void *data, size_t size, int *fds)
{
	union control control;
	struct iovec part = { data, size };
	struct msghdr h = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	ssize_t r;

	for (int i = 0; i < FD_PASS_MAX; i++)
		fds[i] = -1;
	do
		r = recvmsg(socket, &h, MSG_CMSG_CLOEXEC);
	while (r < 0 && errno == EINTR);
	if (r <= 0) {
		errno = r ? errno : EPIPE;
		return r;
	}
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&h); c; c = CMSG_NXTHDR(&h, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && n <= FD_PASS_MAX)
			memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	}
	if (!(h.msg_flags & MSG_CTRUNC))
		return r;
	for (int i = 0; i < FD_PASS_MAX; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
	errno = EMFILE;
	return -1;
}
