// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * count UNITS CHILDREN: each of CHILDREN processes does UNITS units of work, one a millisecond. A
 * unit is a call of count_unit(), a mark, a USDT probe, a getppid() and a begin/end pair, so that
 * whoever counts them must come to the same number..
 */
#include <scoz.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

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

static void child(long units)
{
	for (long i = 0; i < units; i++) {
		SCOZ_BEGIN("request");
		count_work(400000);
		SCOZ_END("request");
		count_unit(); /* line of the unit */
		SCOZ_PROGRESS_NAMED("unit");
		DTRACE_PROBE(count, unit);
		syscall(SYS_getppid);
		usleep(300);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	long units = argc > 1 ? atol(argv[1]) : 1000, children = argc > 2 ? atol(argv[2]) : 2;

	usleep(700000);
	for (long i = 0; i < children; i++) {
		if (!fork())
			child(units);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
