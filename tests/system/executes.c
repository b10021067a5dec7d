// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * executes MB CPU: a process that executes a program and is not done with it as long as others want
 * @CPU, as it has that much memory to give up, and the lowest priority. Prints its number; it is
 * killed with this program, which keeps the CPU busy.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define BUSY 8

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(1);
}

static int child(void)
{
	int pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setsid(); /* what shares the CPU are sessions */
	}
	return pid;
}

static void execute(size_t size, int cpu, int ready)
{
	int priority = open("/proc/self/autogroup", O_WRONLY);
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || priority < 0)
		_exit(1);
	madvise(memory, size, MADV_NOHUGEPAGE); /* page by page takes longest to give up */
	for (size_t i = 0; i < size; i += 4096)
		memory[i] = 1;
	on_cpu(cpu);
	sched_setscheduler(0, SCHED_IDLE,
			   &(struct sched_param){ 0 }); /* where sessions share nothing */
	if (write(priority, "19", 2) != 2 || write(ready, "", 1) != 1)
		_exit(1);
	execl("/bin/sleep", "sleep", "1000", NULL);
	_exit(1);
}

int main(int argc, char **argv)
{
	int cpu = argc > 2 ? atoi(argv[2]) : 0, ready[2], pid;
	char c;

	if (argc < 3 || pipe(ready))
		return 2;
	pid = child();
	if (!pid) {
		close(ready[0]);
		execute((size_t)atoi(argv[1]) << 20, cpu, ready[1]);
	}
	close(ready[1]);
	for (int i = 0; i < BUSY; i++) {
		if (!child()) {
			on_cpu(cpu);
			for (;;)
				;
		}
	}
	if (read(ready[0], &c, 1) != 1)
		return 77;
	printf("%d\n", pid);
	fflush(stdout);
	pause();
	return 0;
}
