// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One process after the other, each over in some 20 ms (starting one takes up to 5, on a busy
 * machine more): brief exec|fork SECONDS FILE. Built twice: as a library (BRIEF_LIBRARY), in which
 * library_work() takes half of the time, and as the program, with the other half in caller(), which
 * is nothing but what it calls. Without frame pointers. FILE has, after each of them, the CPU time
 * of all so far in library_work(), in caller() and in all, ns.
 */
#include "../compute.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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

struct truth {
	uint64_t library_ns, caller_ns;
};

#define TRUTH_FD 9 /* of all of them */

static uint64_t own_ns(void)
{
	return 1e9 * clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

static struct truth *share(void)
{
	void *p = mmap(NULL, sizeof(struct truth), PROT_READ | PROT_WRITE, MAP_SHARED, TRUTH_FD, 0);

	if (p == MAP_FAILED)
		exit(1);
	return p;
}

static void live(long unit)
{
	struct truth *t = share();
	uint64_t begin = own_ns(), between;

	library_work(unit);
	between = own_ns();
	caller(unit);
	t->library_ns += between - begin;
	t->caller_ns += own_ns() - between;
	round_done();
}

static void tell(const char *path, const struct truth *t)
{
	struct rusage u;
	char line[80];
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	getrusage(RUSAGE_CHILDREN, &u);
	snprintf(line, sizeof(line), "%20llu %20llu %20llu\n", (unsigned long long)t->library_ns,
		 (unsigned long long)t->caller_ns,
		 (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000ULL +
			 (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000ULL + own_ns());
	if (pwrite(fd, line, strlen(line), 0) < 0)
		exit(1);
	close(fd);
}

int main(int argc, char **argv)
{
	const struct truth *truth;
	char unit[24];
	time_t end;

	if (argc == 3 && !strcmp(argv[1], "once")) {
		live(atol(argv[2]));
		return 0;
	}
	if (argc != 4 || dup2(memfd_create("truth", 0), TRUTH_FD) < 0 ||
	    ftruncate(TRUTH_FD, sizeof(*truth)))
		return 2;
	truth = share();
	snprintf(unit, sizeof(unit), "%ld", (long)(compute_speed(20, 100000) * 10e-3));
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
		tell(argv[3], truth);
	}
	return 0;
}
#endif
