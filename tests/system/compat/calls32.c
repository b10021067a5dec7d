// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program of 32 bits, without a library: after a second 500 calls each of number 110, which is
 * getppid() in programs of 64 bits (here: iopl(0)), and of 64, which is getppid() here (there:
 * semget()).
 */
#define TURNS 500

enum { EXIT = 1, GETPPID = 64, IOPL = 110, NANOSLEEP = 162 };

static int call(int number, const void *a, const void *b)
{
	int ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(number), "b"(a), "c"(b) : "memory");
	return ret;
}

void _start(void)
{
	const int second[2] = { 1, 0 };

	call(NANOSLEEP, second, 0);
	for (int i = 0; i < TURNS; i++) {
		call(IOPL, 0, 0);
		call(GETPPID, 0, 0);
	}
	call(EXIT, 0, 0);
	for (;;)
		;
}
