// SPDX-License-Identifier: GPL-2.0-or-later
/* As Open MPI's libopen-pal: what asks for progress, and what looks and delivers below it. */
#include <stdint.h>

volatile int *awaited; /* not 0: it has come */
volatile int delivers;
static volatile uint64_t sink;

static __attribute__((noipa)) int look(void)
{
	int come = 0;

	for (int i = 0; i < 1000; i++)
		come |= *awaited;
	return come;
}

static __attribute__((noipa)) void unpack(long n)
{
	uint64_t x = 1;

	for (; n > 0; n--) {
		x = x * 6364136223846793005ULL + 1;
		__asm__ volatile("" : "+r"(x));
	}
	sink = x;
}

static __attribute__((noipa)) void deliver(void)
{
	unpack(5000000);
	__asm__ volatile("");
}

static __attribute__((noipa)) int device(void)
{
	int come = look();

	if (delivers)
		deliver();
	__asm__ volatile("" : "+r"(come));
	return come;
}

__attribute__((noipa)) int opal_progress(void)
{
	int come = delivers ? device() : look();

	__asm__ volatile("" : "+r"(come));
	return come;
}
