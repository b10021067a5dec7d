// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for two network peers in turn: peers SECONDS. What they send comes over the loopback device
 * of this network namespace, which test-peers has made slow: it lets BURST bytes pass, and further
 * ones at its pace, by a timer. So each message is sent behind a burst that nobody reads, and comes
 * as if from another machine, as late as it is long. 127.0.0.2 sends long ones, by TCP, 127.0.0.3
 * short ones, by UDP. Prints which shares of its time it waited for each. peers SECONDS PERCENT:
 * the long ones are that much shorter.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BURST 3000 /* with the heads of the packet */
#define HEADS 42
#define LONG  2900
#define SHORT 900
#define COMPUTE \
	5000000 /* ns after each message: longer than it takes until a burst passes again \
		 */
#define PORT 9000

static char message[BURST];
static volatile uint64_t computed;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void check(int r, const char *what)
{
	if (r >= 0)
		return;
	perror(what);
	exit(1);
}

static struct sockaddr_in address(const char *host, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };

	inet_pton(AF_INET, host, &a.sin_addr);
	return a;
}

static int bound(int type, const char *host, int port)
{
	struct sockaddr_in a = address(host, port);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0), on = 1;

	check(fd, "socket");
	check(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), "SO_REUSEADDR");
	check(bind(fd, (struct sockaddr *)&a, sizeof(a)), "bind");
	return fd;
}

static int connected(int fd, const char *host, int port)
{
	struct sockaddr_in a = address(host, port);

	check(connect(fd, (struct sockaddr *)&a, sizeof(a)), "connect");
	return fd;
}

/* @ret[0] sends what @ret[1] receives. */
static void make_tcp(const char *peer, int *ret)
{
	int listening = bound(SOCK_STREAM, "127.0.0.1", PORT), on = 1;

	check(listen(listening, 1), "listen");
	ret[0] = connected(bound(SOCK_STREAM, peer, 0), "127.0.0.1", PORT);
	check(setsockopt(ret[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), "TCP_NODELAY");
	ret[1] = accept(listening, NULL, NULL);
	check(ret[1], "accept");
	close(listening);
}

static void make_udp(const char *peer, int *ret)
{
	ret[0] = bound(SOCK_DGRAM, peer, PORT + 2);
	ret[1] = connected(bound(SOCK_DGRAM, "127.0.0.1", PORT + 1), peer, PORT + 2);
	connected(ret[0], "127.0.0.1", PORT + 1);
}

static void compute(void)
{
	uint64_t until = now_ns() + COMPUTE;

	while (now_ns() < until)
		computed++;
}

/* For how long it waited. */
__attribute__((noinline)) static uint64_t ask(const int *peer, int aside, size_t length)
{
	uint64_t begin;

	check(send(aside, message, BURST - HEADS, 0), "send aside");
	check(send(peer[0], message, length, 0), "send");
	begin = now_ns();
	for (size_t got = 0; got < length;) {
		ssize_t n = recv(peer[1], message, length - got, 0);

		check(n > 0 ? 0 : -1, "recv");
		got += n;
	}
	return now_ns() - begin;
}

__attribute__((noinline)) void round_done(void)
{
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	uint64_t begin = now_ns(), end, first = 0, second = 0;
	int tcp[2], udp[2], aside, size = 1, rounds = 0;
	size_t length = LONG;

	if (argc < 2)
		return 2;
	if (argc > 2)
		length -= length * atoi(argv[2]) / 100;
	aside = bound(SOCK_DGRAM, "127.0.0.4", PORT + 3);
	setsockopt(aside, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	aside = connected(bound(SOCK_DGRAM, "127.0.0.4", PORT + 4), "127.0.0.4", PORT + 3);
	make_tcp("127.0.0.2", tcp);
	make_udp("127.0.0.3", udp);
	end = begin + strtoul(argv[1], NULL, 10) * 1000000000ULL;
	while (now_ns() < end) {
		compute();
		first += ask(tcp, aside, length);
		compute();
		second += ask(udp, aside, SHORT);
		round_done();
		rounds++;
	}
	end = now_ns();
	printf("peers: %.3f %.3f, %d rounds\n", (double)first / (end - begin),
	       (double)second / (end - begin), rounds);
	return 0;
}
