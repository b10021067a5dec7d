// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * job wait|test|deliver: two ranks, in turns of 20 ms of which the one computes and the other
 * waits for it by MPI_Recv(); asks for it by MPI_Test(); or is busy with what has come.
 */
#include "../compute.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

extern volatile int *awaited;
extern volatile int delivers;
int MPI_Test(void);
void MPI_Recv(void);

__attribute__((noipa)) void turn(void)
{
	__asm__ volatile("" ::: "memory");
}

/* The target: nothing of its own, if what it calls waits. */
__attribute__((noipa)) void receive(int by_test)
{
	if (!by_test)
		MPI_Recv();
	while (by_test && !MPI_Test())
		;
	*awaited = 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "wait";

	awaited = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	delivers = !strcmp(how, "deliver");
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			receive(!strcmp(how, "test"));
			turn();
		}
	}
	for (;;) {
		compute(20000000);
		*awaited = 1;
		while (*awaited)
			usleep(100);
	}
}
