// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Workers joined by channels that hold few records, so that stages soon feel each other: pipes,
 * a queue with a mutex and condition variables, a ring in shared memory with futexes, or TCP. One
 * writer and one reader each.
 */
#ifndef WORKLOADS_STAGES_H
#define WORKLOADS_STAGES_H

#include "truth.h"
#include <arpa/inet.h>
#include <linux/futex.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define RECORD 4096 /* one pipe buffer each */
#define DEPTH  4

static long via_pipe, via_queue, via_shm, via_tcp;

#define STAGES_OPTIONS \
	{ "pipe", true, &via_pipe, "records pass through a pipe" }, \
		{ "queue", true, &via_queue, "... a queue, mutex and condition variables" }, \
		{ "shm", true, &via_shm, "... a ring in shared memory, futexes" }, \
	{ \
		"tcp", true, &via_tcp, "... a loopback TCP connection" \
	}

struct truth_ring {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	uint32_t sent __attribute__((aligned(64)));
	uint32_t receiver_asleep;
	uint32_t received __attribute__((aligned(64)));
	uint32_t sender_asleep;
	char record[DEPTH][RECORD] __attribute__((aligned(64)));
};

struct truth_channel {
	int fd[2];
	struct truth_ring *ring;
};

static inline void truth_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC))
		truth_die("cannot make a pipe: %s", strerror(errno));
	if (fcntl(fd[1], F_SETPIPE_SZ, RECORD * DEPTH) < 0)
		truth_die("cannot set a pipe's size: %s", strerror(errno));
}

static inline void truth_send(int fd, const void *buf, size_t size)
{
	const char *p = buf;

	while (size) {
		ssize_t n = write(fd, p, size);

		if (n <= 0)
			truth_die("cannot send: %s", n ? strerror(errno) : "nothing taken");
		p += n;
		size -= (size_t)n;
	}
}

static inline void truth_receive(int fd, void *buf, size_t size)
{
	char *p = buf;

	while (size) {
		ssize_t n = read(fd, p, size);

		if (n <= 0)
			truth_die("cannot receive: %s", n ? strerror(errno) : "the other end went");
		p += n;
		size -= (size_t)n;
	}
}

/* A connection over loopback: fd[0] and fd[1] are its ends. */
static inline void truth_tcp(int fd[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int one = 1, room = RECORD * DEPTH;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || fd[1] < 0 ||
	    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) ||
	    setsockopt(fd[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) ||
	    bind(listener, (struct sockaddr *)&address, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &len) ||
	    connect(fd[1], (struct sockaddr *)&address, len))
		truth_die("cannot connect over the loopback interface: %s", strerror(errno));
	fd[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd[0] < 0)
		truth_die("cannot accept: %s", strerror(errno));
	close(listener);
	for (int i = 0; i < 2; i++)
		setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static inline long truth_futex(uint32_t *word, int op, uint32_t value)
{
	return syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

/* Until *word is no longer what was seen; says so in *asleep, for truth_notify() to wake. */
static inline void truth_await(uint32_t *word, uint32_t seen, uint32_t *asleep)
{
	__atomic_store_n(asleep, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == seen)
		truth_futex(word, FUTEX_WAIT, seen);
}

static inline void truth_notify(uint32_t *word, uint32_t *asleep)
{
	__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
	if (__atomic_exchange_n(asleep, 0, __ATOMIC_SEQ_CST))
		truth_futex(word, FUTEX_WAKE, 1);
}

static inline void truth_mutex_init(pthread_mutex_t *m)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(m, &attr);
	pthread_mutexattr_destroy(&attr);
}

static inline void truth_cond_init(pthread_cond_t *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
}

/* Processes use a pipe unless told otherwise, threads a queue. */
static inline void truth_channel(struct truth_channel *c)
{
	if (via_pipe + via_queue + via_shm + via_tcp > 1)
		truth_die("one of --pipe, --queue, --shm and --tcp");
	if (!(via_pipe + via_queue + via_shm + via_tcp))
		*(truth.threads ? &via_queue : &via_pipe) = 1;
	if (via_pipe)
		truth_pipe(c->fd);
	if (via_tcp)
		truth_tcp(c->fd);
	if (via_queue || via_shm) {
		c->ring = truth_alloc_shared(sizeof(*c->ring));
		truth_mutex_init(&c->ring->lock);
		truth_cond_init(&c->ring->filled);
		truth_cond_init(&c->ring->emptied);
	}
}

static inline void truth_put(struct truth_channel *c, const void *record)
{
	struct truth_ring *r = c->ring;
	uint32_t received;

	if (via_queue) {
		pthread_mutex_lock(&r->lock);
		while (r->sent - r->received == DEPTH)
			pthread_cond_wait(&r->emptied, &r->lock);
		memcpy(r->record[r->sent++ % DEPTH], record, RECORD);
		pthread_cond_signal(&r->filled);
		pthread_mutex_unlock(&r->lock);
	} else if (via_shm) {
		while (received = __atomic_load_n(&r->received, __ATOMIC_ACQUIRE),
		       r->sent - received == DEPTH)
			truth_await(&r->received, received, &r->sender_asleep);
		memcpy(r->record[r->sent % DEPTH], record, RECORD);
		truth_notify(&r->sent, &r->receiver_asleep);
	} else {
		truth_send(c->fd[1], record, RECORD);
	}
}

static inline void truth_get(struct truth_channel *c, void *record)
{
	struct truth_ring *r = c->ring;
	uint32_t sent;

	if (via_queue) {
		pthread_mutex_lock(&r->lock);
		while (r->sent == r->received)
			pthread_cond_wait(&r->filled, &r->lock);
		memcpy(record, r->record[r->received++ % DEPTH], RECORD);
		pthread_cond_signal(&r->emptied);
		pthread_mutex_unlock(&r->lock);
	} else if (via_shm) {
		while (sent = __atomic_load_n(&r->sent, __ATOMIC_ACQUIRE), sent == r->received)
			truth_await(&r->sent, sent, &r->receiver_asleep);
		memcpy(record, r->record[r->received % DEPTH], RECORD);
		truth_notify(&r->received, &r->sender_asleep);
	} else {
		truth_receive(c->fd[0], record, RECORD);
	}
}

#endif
