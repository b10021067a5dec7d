// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * made SECONDS [KIND [LATE]]: makes code while it runs, as a just-in-time compiler does: copies of
 * a function that spins, in memory that is in no file. Most of the time is in "made hot", a fifth
 * in "made cold", which calls go through "made caller", and half way, or after LATE seconds, "made
 * late" takes the place of "made cold". What it has made it tells in /tmp/perf-PID.map, as it goes.
 * Each round is one of made_round(). At a SIGUSR1 "made hot" and "made cold" change places, and are
 * told by names of V8's, as if they were compiled better. KIND: "anonymous" (default), "memfd": the
 * memory is a file without a name; "silent": no map is written, whoever runs it has put something
 * there; it waits for a line on standard input then; "jitdump": it tells in jit-PID.dump, in the
 * directory where it runs, with the line 7 of made.src for all of it.
 */
#include <fcntl.h>
#include <signal.h>
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

static FILE *map, *dump;

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

/* As perf's jitdump-specification.txt has it. */
struct dump_header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};

struct dump_record {
	uint32_t id, size;
	uint64_t time;
};

struct dump_lines {
	struct dump_record record;
	uint64_t address, n;
	uint64_t at;
	uint32_t line, discriminator;
	char file[9];
} __attribute__((packed));

struct dump_load {
	struct dump_record record;
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void open_dump(void)
{
	struct dump_header h = { 0x4a695444, 1, sizeof(h), 62, 0, getpid(), now_ns(), 0 };
	char path[64];

	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	dump = fopen(path, "w+");
	if (!dump)
		exit(1);
	fwrite(&h, sizeof(h), 1, dump);
	fflush(dump);
	/* By that profilers find it. */
	if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		exit(1);
}

static void tell_dump(const uint8_t *at, size_t size, const char *name)
{
	uint64_t address = (uintptr_t)at;
	struct dump_lines lines = {
		{ 2, sizeof(lines), now_ns() }, address, 1, address, 7, 0, "made.src"
	};
	struct dump_load load = { { 0, sizeof(load) + strlen(name) + 1 + size, now_ns() },
				  getpid(),
				  getpid(),
				  address,
				  address,
				  size,
				  address };

	fwrite(&lines, sizeof(lines), 1, dump);
	fwrite(&load, sizeof(load), 1, dump);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite(at, size, 1, dump);
	fflush(dump);
}

static void *make(uint8_t *at, const void *code, size_t size, const char *name)
{
	memcpy(at, code, size);
	__builtin___clear_cache((char *)at, (char *)at + size);
	if (map) {
		fprintf(map, "%lx %zx %s\n", (unsigned long)at, size, name);
		fflush(map);
	}
	if (dump)
		tell_dump(at, size, name);
	return at;
}

static volatile sig_atomic_t change;

static void on_signal(int number)
{
	(void)number;
	change = 1;
}

void made_round(void);
__attribute__((noinline, noclone)) void made_round(void)
{
	__asm__ volatile("" ::: "memory");
}

static spin_fn hot, cold;
static uint8_t *code;

static void set_writable(int writable)
{
	if (mprotect(code, 4 * PAGE, PROT_READ | (writable ? PROT_WRITE : PROT_EXEC)))
		exit(1);
}

static void change_places(void)
{
	spin_fn before = hot;

	change = 0;
	set_writable(1);
	hot = (spin_fn)make((uint8_t *)cold, spin_code, sizeof(spin_code), "JS:*hot made.js:1:1");
	cold = (spin_fn)make((uint8_t *)before, spin_code, sizeof(spin_code),
			     "JS:*cold made.js:2:1");
	set_writable(0);
}

static void run_until(double end, call_fn call)
{
	while (now() < end) {
		hot(4000000);
		call(cold, 1000000);
		made_round();
		if (change)
			change_places();
	}
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, begin;
	double until_late = argc > 3 ? atof(argv[3]) : seconds / 2;
	const char *kind = argc > 2 ? argv[2] : "anonymous";
	char path[64];
	call_fn call;

#ifdef NO_CODE
	return 77;
#endif
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	if (!strcmp(kind, "jitdump"))
		open_dump();
	else if (strcmp(kind, "silent"))
		map = fopen(path, "w");
	else if (getchar() < 0)
		return 1;
	code = memory(kind, 4 * PAGE);
	if (!code)
		return 1;
	hot = (spin_fn)make(code, spin_code, sizeof(spin_code), "made hot");
	cold = (spin_fn)make(code + PAGE, spin_code, sizeof(spin_code), "made cold");
	call = (call_fn)make(code + 2 * PAGE, call_code, sizeof(call_code), "made caller");
	signal(SIGUSR1, on_signal);
	set_writable(0);
	begin = now();
	run_until(begin + until_late, call);
	set_writable(1);
	make(code + PAGE, spin_code, sizeof(spin_code), "made late");
	set_writable(0);
	run_until(begin + seconds, call);
	if (map)
		fclose(map);
	return 0;
}
