// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * asked serve SOCKET: answers one who asks, byte by byte. One thread computes for 200 ms in
 * asked_work(), another one reads, waits for it, and answers in asked_done().
 * asked ask SOCKET: asks.
 */
#include "compute.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static sem_t asked, answered;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

__attribute__((noinline)) void asked_work(void)
{
	double end = now() + 0.2;

	while (now() < end)
		compute(10000);
}

__attribute__((noinline)) void asked_done(void)
{
	__asm__ volatile("");
}

static void *work(void *arg)
{
	for (;;) {
		sem_wait(&asked);
		asked_work();
		sem_post(&answered);
	}
	return arg;
}

static void serve(int with)
{
	char byte;

	while (read(with, &byte, 1) == 1) {
		sem_post(&asked);
		sem_wait(&answered);
		asked_done();
		if (write(with, &byte, 1) != 1)
			break;
	}
}

static void ask(int whom)
{
	char byte = 1;

	while (write(whom, &byte, 1) == 1 && read(whom, &byte, 1) == 1)
		;
}

int main(int argc, char **argv)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pthread_t worker;

	if (argc < 3 || s < 0)
		return 1;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", argv[2]);
	if (!strcmp(argv[1], "ask")) {
		if (connect(s, (void *)&at, sizeof(at)))
			return 1;
		ask(s);
		return 0;
	}
	if (bind(s, (void *)&at, sizeof(at)) || listen(s, 1) ||
	    pthread_create(&worker, NULL, work, NULL))
		return 1;
	serve(accept(s, NULL, NULL));
	return 0;
}
