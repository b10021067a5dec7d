// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One process after the other, each over in some 10 ms: brief exec|fork SECONDS. Built twice: as a
 * library (BRIEF_LIBRARY), in which library_work() takes half of the time, and as the program, with
 * the other half in caller(), which is nothing but what it calls. Without frame pointers.
 */
#include "../compute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noipa)) void library_work(long n);
__attribute__((noipa)) void round_done(void);

#ifdef BRIEF_LIBRARY
void library_work(long n)
{
	compute(n);
	__asm__ volatile("");
}
#else
void round_done(void)
{
	__asm__ volatile("");
}

__attribute__((noipa)) static void called(long n)
{
	compute(n);
	__asm__ volatile("");
}

__attribute__((noipa)) void caller(long n)
{
	for (int i = 0; i < 8; i++)
		called(n / 8);
	__asm__ volatile("");
}

static void live(long unit)
{
	library_work(unit);
	caller(unit);
	round_done();
}

int main(int argc, char **argv)
{
	char unit[24];
	time_t end;

	if (argc == 3 && !strcmp(argv[1], "once")) {
		live(atol(argv[2]));
		return 0;
	}
	if (argc != 3)
		return 2;
	snprintf(unit, sizeof(unit), "%ld", (long)(compute_speed(20, 100000) * 5e-3));
	end = time(NULL) + atol(argv[2]);
	while (time(NULL) < end) {
		pid_t pid = fork();

		if (!pid && !strcmp(argv[1], "fork")) {
			live(atol(unit));
			_exit(0);
		}
		if (!pid) {
			execl(argv[0], argv[0], "once", unit, NULL);
			_exit(1);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}
#endif
