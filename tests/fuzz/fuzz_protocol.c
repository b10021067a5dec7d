// SPDX-License-Identifier: GPL-2.0-or-later
/* What the symbolizer's worker may send; the first byte: with how many descriptors. */
#include "tests/fuzz/fuzz.h"

#include "symbolizer/protocol.h"

#include <sys/socket.h>
#include <unistd.h>

static void send_raw(int socket, const uint8_t *data, size_t size, int n)
{
	union {
		char bytes[CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov = { (void *)data, size };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (n) {
		h.msg_control = control.bytes;
		h.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		for (int i = 0; i < n; i++)
			((int *)(void *)CMSG_DATA(c))[i] = socket;
	}
	if (sendmsg(socket, &h, MSG_NOSIGNAL) < 0)
		abort();
}

static int first_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int pair[2], fds[MSG_FDS], before = first_free();
	size_t n = 0;
	struct message m, copy;

	if (size < 2 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return 0;
	send_raw(pair[0], data + 1, size - 1, data[0] % 9);
	if (message_receive(pair[1], &m, fds)) {
		/* Three strings, each with its end. */
		for (int i = 0; i < MSG_STRINGS && n < sizeof(m.text); i++)
			n += strlen(m.text + n) + 1;
		for (int i = 0; i < MSG_FDS; i++) {
			if (fds[i] >= 0)
				close(fds[i]);
		}
		if (!message_send(pair[1], &m, NULL, 0) || !message_receive(pair[0], &copy, fds) ||
		    memcmp(&m, &copy, offsetof(struct message, text)))
			abort();
	}
	close(pair[0]);
	close(pair[1]);
	/* Descriptors that nobody asked for must not stay. */
	if (first_free() != before)
		abort();
	return 0;
}
