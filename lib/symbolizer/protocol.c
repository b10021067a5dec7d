// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolizer/protocol.h"

#include <unistd.h>

#define HEAD offsetof(struct message, text)

/* Of the text, what is used: strings end with the last of MSG_STRINGS NULs. */
static size_t text_size(const struct message *m)
{
	size_t n = 0;

	for (int i = 0; i < MSG_STRINGS && n < sizeof(m->text); i++)
		n += strnlen(m->text + n, sizeof(m->text) - n - 1) + 1;
	return n;
}

bool message_send(int socket, const struct message *m, const int *fds, int n)
{
	return fd_pass_send(socket, m, HEAD + text_size(m), fds, n);
}

bool message_receive(int socket, struct message *m, int fds[MSG_FDS])
{
	ssize_t r = fd_pass_receive(socket, m, sizeof(*m) - 1, fds);

	if (r <= 0)
		return false;
	errno = EBADMSG;
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
