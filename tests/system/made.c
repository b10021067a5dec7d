// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * made SECONDS: a program that makes code while it runs, as virtual machines do, and says so in
 * /tmp/perf-PID.map: made_first from the beginning, and for the second half of the time
 * "made_second file.x:3", of which it tells then. A third function it never tells of. Prints its
 * process id.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define APART 4096

/* A loop of about a million turns. */
#if defined(__x86_64__)
static const uint8_t code[] = { 0xb9, 0, 0, 0x10, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
#else
static const uint32_t code[] = { 0x52a00201, 0x71000421, 0x54ffffe1, 0xd65f03c0 };
#endif

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 2, begin = now();
	char *at = mmap(NULL, 3 * APART, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[64];
	FILE *map;

	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	map = fopen(name, "w");
	if (at == MAP_FAILED || !map)
		return 1;
	for (int i = 0; i < 3; i++)
		memcpy(at + i * APART, code, sizeof(code));
	__builtin___clear_cache(at, at + 3 * APART);
	fprintf(map, "%lx %zx made_first\n", (unsigned long)at, sizeof(code));
	fflush(map);
	while (now() - begin < seconds / 2) {
		((void (*)(void))at)();
		((void (*)(void))(at + 2 * APART))();
	}
	fprintf(map, "%lx %zx made_second file.x:3\n", (unsigned long)at + APART, sizeof(code));
	fflush(map);
	while (now() - begin < seconds)
		((void (*)(void))(at + APART))();
	fclose(map);
	printf("%d\n", getpid());
	return 0;
}
