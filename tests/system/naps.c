// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * naps SECONDS: one thread waits for a timer in nap() and is on a CPU in work(), another waits in
 * handed() for the first one. Prints "SECONDS IN nap()" "SECONDS IN handed()" "SECONDS IN ALL" and
 * "SECONDS THAT nap() HAS ASKED FOR" (the rest, it has waited for a CPU), on SIGTERM too.
 * naps SECONDS terminal: a third one waits in terminal() for what a thread of the kernel hands on
 * from the first one.
 * naps SECONDS sync: instead of napping it writes a file to disk, in synced(), and works less.
 * naps SECONDS long: naps of 1.3 s, while another thread comes to nap_done() often.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static uint32_t word;
static double waited;
static int master, slave, file;
static struct timespec length = { 0, 3000000 };
static volatile sig_atomic_t ended;

static void end_soon(int signal)
{
	(void)signal;
	ended = 1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* By itself: libc's wrapper has no frame, and then its caller is missing in call chains. */
static inline long call(long number, long a, long b, long c, long d)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
#else
	return syscall(number, a, b, c, d);
#endif
}

__attribute__((noipa)) void nap(void)
{
	call(SYS_nanosleep, (long)&length, 0, 0, 0);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noipa)) void synced(void)
{
	call(SYS_pwrite64, file, (long)&length, sizeof(length), 0);
	call(SYS_fsync, file, 0, 0, 0);
	__asm__ volatile("" ::: "memory");
}

static int turns = 400000;

__attribute__((noipa)) void work(void)
{
	for (volatile int i = 0; i < turns; i++)
		;
}

__attribute__((noipa)) void nap_done(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noipa)) void handed(uint32_t seen)
{
	call(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, seen, 0);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noipa)) void terminal(void)
{
	char c;

	call(SYS_read, slave, (long)&c, 1, 0);
	__asm__ volatile("" ::: "memory");
}

static void *busy(void *arg)
{
	for (;;) {
		work();
		nap_done();
	}
	return arg;
}

static void *reader(void *arg)
{
	for (;;)
		terminal();
	return arg;
}

static void open_file(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];

	snprintf(path, sizeof(path), "%s/naps.XXXXXX", dir ? dir : "/var/tmp");
	file = mkstemp(path);
	if (file < 0)
		exit(1);
	unlink(path);
	turns /= 10;
}

static void open_terminal(void)
{
	struct termios t;

	master = posix_openpt(O_RDWR | O_NOCTTY);
	if (master < 0 || grantpt(master) || unlockpt(master))
		exit(1);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (slave < 0 || tcgetattr(slave, &t))
		exit(1);
	cfmakeraw(&t);
	tcsetattr(slave, TCSANOW, &t);
}

static void *taker(void *arg)
{
	for (;;) {
		double t = now();

		handed(__atomic_load_n(&word, __ATOMIC_ACQUIRE));
		waited += now() - t;
	}
	return arg;
}

int main(int argc, char **argv)
{
	double begin = now(), napped = 0, end = begin + (argc > 1 ? atof(argv[1]) : 10);
	long naps = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, taker, NULL);
	signal(SIGTERM, end_soon);
	if (argc > 2 && !strcmp(argv[2], "terminal")) {
		open_terminal();
		pthread_create(&thread, NULL, reader, NULL);
	} else if (argc > 2 && !strcmp(argv[2], "sync")) {
		open_file();
	} else if (argc > 2) {
		length = (struct timespec){ 1, 300000000 };
		pthread_create(&thread, NULL, busy, NULL);
	}
	while (!ended && now() < end) {
		double t = now();

		if (file)
			synced();
		else
			nap();
		napped += now() - t;
		naps++;
		work();
		__atomic_add_fetch(&word, 1, __ATOMIC_RELEASE);
		call(SYS_futex, (long)&word, FUTEX_WAKE_PRIVATE, 1, 0);
		if (master)
			call(SYS_write, master, (long)"x", 1, 0);
		nap_done();
	}
	printf("%.3f %.3f %.3f %.3f\n", napped, waited, now() - begin,
	       naps * (length.tv_sec + length.tv_nsec * 1e-9));
	return 0;
}
