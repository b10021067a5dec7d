// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs with many binaries, for the memory and the rings of scozd:
 *   many_binaries map SECONDS LIBRARY...   maps all of them, and computes in each in turn
 *   many_binaries run SECONDS PROGRAM...   runs each once, all within SECONDS
 * One line at the end: rounds, or how long all programs took.
 */
#include "base/base.h"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 20000 /* about a quarter of a millisecond */

__attribute__((noinline)) void round_done(void)
{
	asm volatile("");
}

static int map(double seconds, char **library, int n)
{
	unsigned int (**work)(unsigned int) = xcalloc(n, sizeof(*work));
	uint64_t end, rounds = 0;

	for (int i = 0; i < n; i++) {
		void *so = dlopen(library[i], RTLD_NOW | RTLD_LOCAL);

		work[i] = so ? (unsigned int (*)(unsigned int))dlsym(so, "work") : NULL;
		if (!work[i]) {
			fprintf(stderr, "many_binaries: %s\n", dlerror());
			return 1;
		}
	}
	end = clock_now_ns() + seconds * NSEC_PER_SEC;
	do {
		for (int i = 0; i < n; i++)
			work[i](TURNS);
		round_done();
		rounds++;
	} while (clock_now_ns() < end);
	printf("%llu rounds\n", (unsigned long long)rounds);
	free(work);
	return 0;
}

static int run(double seconds, char **program, int n)
{
	extern char **environ;
	uint64_t start = clock_now_ns();

	for (int i = 0; i < n; i++) {
		uint64_t due = start + i * (uint64_t)(seconds * NSEC_PER_SEC / n);
		int64_t early = due - clock_now_ns();
		char *argv[] = { program[i], NULL };
		pid_t pid;

		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (early > 0)
			usleep(early / 1000);
		if (posix_spawn(&pid, program[i], NULL, NULL, argv, environ)) {
			fprintf(stderr, "many_binaries: %s: %s\n", program[i], strerror(errno));
			return 1;
		}
	}
	while (wait(NULL) > 0)
		;
	printf("%d programs within %.2f s\n", n, (clock_now_ns() - start) / 1e9);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[1], "map"))
		return map(atof(argv[2]), argv + 3, argc - 3);
	if (argc > 3 && !strcmp(argv[1], "run"))
		return run(atof(argv[2]), argv + 3, argc - 3);
	fprintf(stderr, "usage: many_binaries map|run SECONDS FILE...\n");
	return 2;
}
