// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fileserver FILE SECONDS: a server of one thread ("nfsd") that reads blocks of the file and sums
 * them up for three clients ("client"), each of which waits for its answer and then computes for a
 * fifth as long.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compute.h"

#define CLIENTS 3
#define BLOCK	(64 << 10)
#define TURNS	400000

__attribute__((noipa)) void served(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noipa)) static void serve(int file, int client)
{
	static char block[BLOCK];
	uint32_t number;

	if (read(client, &number, sizeof(number)) != sizeof(number) ||
	    pread(file, block, BLOCK, (off_t)(number % 16) * BLOCK) < 0)
		exit(1);
	compute(TURNS);
	if (write(client, &number, sizeof(number)) != sizeof(number))
		exit(1);
}

static void be_client(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = port,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	prctl(PR_SET_NAME, "client");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
		exit(1);
	for (uint32_t i = 0;; i++) {
		if (write(fd, &i, sizeof(i)) != sizeof(i) || read(fd, &i, sizeof(i)) != sizeof(i))
			exit(1);
		served();
		compute(TURNS / 5);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(a);
	struct pollfd client[CLIENTS];
	int s = socket(AF_INET, SOCK_STREAM, 0), file;
	time_t end;

	if (argc < 3 || (file = open(argv[1], O_RDONLY)) < 0 ||
	    bind(s, (struct sockaddr *)&a, sizeof(a)) || listen(s, CLIENTS) ||
	    getsockname(s, (struct sockaddr *)&a, &size))
		return 1;
	prctl(PR_SET_NAME, "nfsd");
	for (int i = 0; i < CLIENTS; i++) {
		if (!fork())
			be_client(a.sin_port);
		client[i] = (struct pollfd){ accept(s, NULL, NULL), POLLIN, 0 };
	}
	end = time(NULL) + atoi(argv[2]);
	while (time(NULL) < end && poll(client, CLIENTS, -1) > 0) {
		for (int i = 0; i < CLIENTS; i++) {
			if (client[i].revents)
				serve(file, client[i].fd);
		}
	}
	return 0;
}
