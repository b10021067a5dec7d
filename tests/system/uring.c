// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * uring FILE: reads from it by threads that the kernel makes (io_uring), some of which it makes
 * while the program is in epoll_wait(). Prints its pid. Exit status 77: there is no io_uring.
 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READS  8 /* at a time */
#define ROUNDS 100
#define BLOCK  65536

struct uring {
	int fd;
	struct io_uring_params p;
	char *submitted, *completed;
	struct io_uring_sqe *entries;
};

static void *map(const struct uring *u, size_t size, off_t what)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, u->fd, what);

	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return at;
}

static void put(struct uring *u, int file, char *to, off_t from)
{
	uint32_t *tail = (uint32_t *)(u->submitted + u->p.sq_off.tail);
	uint32_t mask = *(uint32_t *)(u->submitted + u->p.sq_off.ring_mask), at = *tail & mask;

	u->entries[at] = (struct io_uring_sqe){ .opcode = IORING_OP_READ,
						.fd = file,
						.addr = (uintptr_t)to,
						.len = BLOCK,
						.off = from,
						.flags = IOSQE_ASYNC };
	((uint32_t *)(u->submitted + u->p.sq_off.array))[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
}

/* How many have been read. */
static int take(struct uring *u)
{
	uint32_t *head = (uint32_t *)(u->completed + u->p.cq_off.head);
	uint32_t *tail = (uint32_t *)(u->completed + u->p.cq_off.tail);
	int n = __atomic_load_n(tail, __ATOMIC_ACQUIRE) - *head;

	__atomic_store_n(head, *head + n, __ATOMIC_RELEASE);
	return n;
}

int main(int argc, char **argv)
{
	struct epoll_event event = { .events = EPOLLIN };
	int file, done = eventfd(0, EFD_NONBLOCK), poll = epoll_create1(0);
	struct uring u = {};
	uint64_t ended;
	char *to;

	if (argc != 2)
		return 2;
	u.fd = syscall(SYS_io_uring_setup, 64, &u.p);
	if (u.fd < 0) {
		perror("io_uring");
		return 77;
	}
	u.submitted = map(&u, u.p.sq_off.array + u.p.sq_entries * 4, IORING_OFF_SQ_RING);
	u.completed = map(&u, u.p.cq_off.cqes + u.p.cq_entries * sizeof(struct io_uring_cqe),
			  IORING_OFF_CQ_RING);
	u.entries = map(&u, u.p.sq_entries * sizeof(*u.entries), IORING_OFF_SQES);
	file = open(argv[1], O_RDONLY | O_DIRECT);
	if (file < 0 || posix_memalign((void **)&to, 4096, READS * BLOCK) ||
	    syscall(SYS_io_uring_register, u.fd, IORING_REGISTER_EVENTFD, &done, 1) ||
	    epoll_ctl(poll, EPOLL_CTL_ADD, done, &event)) {
		perror(argv[1]);
		return 1;
	}
	printf("pid %d\n", getpid());
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < READS; i++)
			put(&u, file, to + i * BLOCK, i * BLOCK);
		syscall(SYS_io_uring_enter, u.fd, READS, 0, 0, NULL, 0);
		for (int n = 0; n < READS; n += take(&u)) {
			epoll_wait(poll, &event, 1, 100);
			if (read(done, &ended, sizeof(ended)) < 0)
				continue;
		}
	}
	return 0;
}
