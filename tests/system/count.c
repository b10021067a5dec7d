// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * count UNITS CHILDREN [NAME]: each of CHILDREN processes does UNITS units of work, one a
 * millisecond. A unit is a call of count_unit(), a mark, a USDT probe, a getppid() and a begin/end
 * pair, so that whoever counts them must come to the same number. NAME: in a thread that calls
 * itself so. With COUNT_READS in the environment two more make and serve READS readv() that a timer
 * interrupts. Prints how long a pair took on average.
 */
#include <pthread.h>
#include <scoz.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sdt.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
static uint64_t *requests_ns; /* of all children */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

#define READS 1000

__attribute__((noinline)) void count_work(uint64_t ns)
{
	uint64_t end = now_ns() + ns;

	while (now_ns() < end)
		sink++;
}

__attribute__((noinline)) void count_unit(void)
{
	__asm__ volatile("");
}

/* An instruction that kernels put no probe on, one with a long immediate (at +6), ret (at +16). */
#ifdef __x86_64__
__asm__(".text\n"
	".type count_edges, @function\n"
	"count_edges:\n"
	".cfi_startproc\n"
	"lock addl $1, -8(%rsp)\n"
	"movabs $0x90909090cccccccc, %rax\n"
	"ret\n"
	".cfi_endproc\n"
	".size count_edges, . - count_edges\n");
void count_edges(void);
#else
static void count_edges(void)
{
}
#endif

static const char *thread_name;

static void *work(void *arg)
{
	long units = *(long *)arg;

	if (thread_name)
		prctl(PR_SET_NAME, thread_name);
	for (long i = 0; i < units; i++) {
		uint64_t began = now_ns();

		SCOZ_BEGIN("request");
		count_work(400000);
		SCOZ_END("request");
		__atomic_fetch_add(requests_ns, now_ns() - began, __ATOMIC_RELAXED);
		count_unit(); /* line of the unit */
		count_edges();
		SCOZ_PROGRESS_NAMED("unit");
		DTRACE_PROBE(count, unit);
		syscall(SYS_getppid);
		usleep(300);
	}
	return NULL;
}

static void ignore(int sig)
{
	(void)sig;
}

/* Reads that a timer interrupts, and that begin again; each is for the next byte. */
static void read_interrupted(void)
{
	const struct sigaction sa = { .sa_handler = ignore, .sa_flags = SA_RESTART };
	const struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };
	int ends[2];

	if (pipe(ends))
		_exit(1);
	if (!fork()) {
		for (int i = 0; i < READS; i++) {
			usleep(5000);
			if (write(ends[1], "x", 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < READS; i++) {
		char byte;
		struct iovec at = { &byte, 1 };

		if (readv(ends[0], &at, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void child(long units)
{
	pthread_t thread;

	if (!thread_name)
		work(&units);
	else if (!pthread_create(&thread, NULL, work, &units))
		pthread_join(thread, NULL);
	_exit(0);
}

int main(int argc, char **argv)
{
	long units = argc > 1 ? atol(argv[1]) : 1000, children = argc > 2 ? atol(argv[2]) : 2;

	requests_ns = mmap(NULL, sizeof(*requests_ns), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (requests_ns == MAP_FAILED)
		return 1;
	thread_name = argc > 3 ? argv[3] : NULL;
	usleep(700000);
	for (long i = 0; i < children; i++) {
		if (!fork())
			child(units);
	}
	if (getenv("COUNT_READS") && !fork())
		read_interrupted();
	while (wait(NULL) > 0)
		;
	printf("a request took %.3f ms\n", *requests_ns / 1e6 / (units * children));
	return 0;
}
