// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolizer/protocol.h"

#include <sys/socket.h>
#include <unistd.h>

#define HEAD offsetof(struct message, text)

/* Of the text, what is used: strings end with the last of three NULs. */
static size_t text_size(const struct message *m)
{
	size_t n = 0;

	for (int i = 0; i < 3 && n < sizeof(m->text); i++)
		n += strnlen(m->text + n, sizeof(m->text) - n - 1) + 1;
	return n;
}

bool message_send(int socket, const struct message *m, const int *fds, int n)
{
	union {
		char bytes[CMSG_SPACE(MSG_FDS * sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec data = { (void *)m, HEAD + text_size(m) };
	struct msghdr h = { .msg_iov = &data, .msg_iovlen = 1 };
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

bool message_receive(int socket, struct message *m, int fds[MSG_FDS])
{
	union {
		char bytes[CMSG_SPACE(MSG_FDS * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec data = { m, sizeof(*m) - 1 };
	struct msghdr h = { .msg_iov = &data,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	ssize_t r;

	fds[0] = fds[1] = -1;
	do
		r = recvmsg(socket, &h, MSG_CMSG_CLOEXEC);
	while (r < 0 && errno == EINTR);
	if (r <= 0)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&h); c; c = CMSG_NXTHDR(&h, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && n <= MSG_FDS)
			memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	}
	if ((size_t)r >= HEAD) {
		memset((char *)m + r, 0, sizeof(*m) - r);
		return true;
	}
	for (int i = 0; i < MSG_FDS; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	return false;
}
