// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A client (30 %) and a server (50 % target, 20 % rest) over loopback TCP, one request at a time:
 * everything is in the path, so s % of the target is s / 2 % of the run time, less what the
 * network takes. With --depth N that many requests are under way: then the server is the
 * bottleneck, and the client's work is slack.
 */
#include "stages.h"

#define MESSAGE 64

static long depth = 1;
static int listener;
static struct sockaddr_in address;

static void no_delay(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void server(void *arg)
{
	uint64_t target = truth_share(50), rest = truth_share(20);
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	char message[MESSAGE];

	(void)arg;
	if (fd < 0)
		truth_die("cannot accept: %s", strerror(errno));
	no_delay(fd);
	for (;;) {
		truth_receive(fd, message, sizeof(message));
		truth_target(truth_cut(TRUTH_TARGET, target));
		truth_rest(rest);
		truth_send(fd, message, sizeof(message));
	}
}

static void client(void *arg)
{
	uint64_t other = truth_share(30);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char message[MESSAGE] = "";

	(void)arg;
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		truth_die("cannot connect: %s", strerror(errno));
	no_delay(fd);
	for (long i = 1; i < depth; i++)
		truth_send(fd, message, sizeof(message));
	for (;;) {
		truth_other(truth_cut(TRUTH_OTHER, other));
		truth_send(fd, message, sizeof(message));
		truth_receive(fd, message, sizeof(message));
		truth_progress(0);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		{ "depth", false, &depth, "requests under way (1)" },
		{ 0 },
	};
	socklen_t len = sizeof(address);

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "TCP client (30 %) and server (50 % target + 20 %).",
			   .iter_us = 1000,
			   .opt = opt,
		   });
	if (depth < 1 || depth > 256)
		truth_die("--depth: 1 to 256");
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, len) ||
	    listen(listener, 1) || getsockname(listener, (struct sockaddr *)&address, &len))
		truth_die("cannot listen on the loopback interface: %s", strerror(errno));
	truth_spawn(server, NULL);
	truth_spawn(client, NULL);
	return truth_run();
}
