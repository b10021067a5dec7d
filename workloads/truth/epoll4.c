// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A server of one thread that waits for three clients with epoll_wait() and a timeout of 20 ms, as
 * event loops do: for each request 50 % target and 20 % rest; each client computes 30 % between an
 * answer and the next request.
 */
#include <sys/epoll.h>
#include <sys/socket.h>

#include "truth.h"

#define CLIENTS 3

static int server_end[CLIENTS], client_end[CLIENTS];

static void exchange(bool send, int fd, char *byte)
{
	ssize_t n = send ? write(fd, byte, 1) : read(fd, byte, 1);

	if (n != 1)
		truth_die("%s: %s", send ? "write" : "read", n < 0 ? strerror(errno) : "the end");
}

static void server(void *arg)
{
	uint64_t target = truth_share(50), rest = truth_share(20);
	struct epoll_event events[CLIENTS];
	int epoll = epoll_create1(0);

	(void)arg;
	for (int i = 0; i < CLIENTS; i++) {
		struct epoll_event e = { .events = EPOLLIN, .data.fd = server_end[i] };

		if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, server_end[i], &e))
			truth_die("epoll: %s", strerror(errno));
	}
	for (;;) {
		int n = epoll_wait(epoll, events, CLIENTS, 20);

		for (int i = 0; i < n; i++) {
			char byte;

			exchange(false, events[i].data.fd, &byte);
			truth_target(truth_cut(TRUTH_TARGET, target));
			truth_rest(rest);
			exchange(true, events[i].data.fd, &byte);
		}
	}
}

static void client(void *arg)
{
	uint64_t other = truth_share(30);
	int nr = (int)(intptr_t)arg;
	char byte = 0;

	for (;;) {
		truth_other(truth_cut(TRUTH_OTHER, other));
		exchange(true, client_end[nr], &byte);
		exchange(false, client_end[nr], &byte);
		truth_progress(nr);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = { { 0 } };

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "An event loop (50 % target + 20 %) and three clients (30 %).",
			   .iter_us = 800,
			   .opt = opt,
		   });
	for (int i = 0; i < CLIENTS; i++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
			truth_die("socketpair: %s", strerror(errno));
		server_end[i] = pair[0];
		client_end[i] = pair[1];
	}
	truth_spawn(server, NULL);
	for (intptr_t i = 0; i < CLIENTS; i++)
		truth_spawn(client, (void *)i);
	return truth_run();
}
