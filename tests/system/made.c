// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * made SECONDS [KIND]: makes code while it runs, as a just-in-time compiler does: copies of a
 * function that spins, in memory that is in no file. Most of the time is in "made hot", a fifth in
 * "made cold", which calls go through "made caller", and half way "made late" takes the place of
 * "made cold". What it has made it tells in /tmp/perf-PID.map, as it goes. KIND: "anonymous"
 * (default), "memfd": the memory is a file without a name; "silent": no map is written, whoever
 * runs it has put something there; it waits for a line on standard input then.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

typedef void (*spin_fn)(uint64_t);
typedef void (*call_fn)(spin_fn, uint64_t);

#if defined(__x86_64__)
static const uint8_t spin_code[] = {
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0x48, 0xff, 0xcf, /* dec %rdi */
	0x75, 0xfb,	  /* jnz to it */
	0x5d, 0xc3,	  /* pop %rbp; ret */
};
static const uint8_t call_code[] = {
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0x48, 0x89, 0xf8, /* mov %rdi, %rax */
	0x48, 0x89, 0xf7, /* mov %rsi, %rdi */
	0xff, 0xd0,	  /* call *%rax */
	0x5d, 0xc3,	  /* pop %rbp; ret */
};
#elif defined(__aarch64__)
static const uint32_t spin_code[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xf1000400, /* subs x0, x0, #1 */
	0x54ffffe1, /* b.ne to it */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
static const uint32_t call_code[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xaa0003e2, /* mov x2, x0 */
	0xaa0103e0, /* mov x0, x1 */
	0xd63f0040, /* blr x2 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
#else
#define NO_CODE 1
static const uint8_t spin_code[1], call_code[1];
#endif

static FILE *map;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void *memory(const char *kind, size_t size)
{
	int fd = strcmp(kind, "memfd") ? -1 : memfd_create("code", 0);
	void *p;

	if (fd >= 0 && ftruncate(fd, size))
		exit(1);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void *make(uint8_t *at, const void *code, size_t size, const char *name)
{
	memcpy(at, code, size);
	__builtin___clear_cache((char *)at, (char *)at + size);
	if (map) {
		fprintf(map, "%lx %zx %s\n", (unsigned long)at, size, name);
		fflush(map);
	}
	return at;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, begin;
	const char *kind = argc > 2 ? argv[2] : "anonymous";
	spin_fn hot, cold;
	uint8_t *code;
	char path[64];
	call_fn call;

#ifdef NO_CODE
	return 77;
#endif
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	if (strcmp(kind, "silent"))
		map = fopen(path, "w");
	else if (getchar() < 0)
		return 1;
	code = memory(kind, 4 * PAGE);
	if (!code)
		return 1;
	hot = (spin_fn)make(code, spin_code, sizeof(spin_code), "made hot");
	cold = (spin_fn)make(code + PAGE, spin_code, sizeof(spin_code), "made cold");
	call = (call_fn)make(code + 2 * PAGE, call_code, sizeof(call_code), "made caller");
	if (mprotect(code, 4 * PAGE, PROT_READ | PROT_EXEC))
		return 1;
	begin = now();
	while (now() < begin + seconds / 2) {
		hot(4000000);
		call(cold, 1000000);
	}
	if (mprotect(code, 4 * PAGE, PROT_READ | PROT_WRITE))
		return 1;
	make(code + PAGE, spin_code, sizeof(spin_code), "made late");
	if (mprotect(code, 4 * PAGE, PROT_READ | PROT_EXEC))
		return 1;
	while (now() < begin + seconds) {
		hot(4000000);
		call(cold, 1000000);
	}
	if (map)
		fclose(map);
	return 0;
}
