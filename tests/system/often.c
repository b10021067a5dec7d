// SPDX-License-Identifier: GPL-2.0-or-later
/* A mark that is met some hundred thousand times a second. */
#include <scoz.h>
#include <stdint.h>

static volatile uint64_t sink;

int main(void)
{
	for (;;) {
		for (int i = 0; i < 1000; i++)
			sink++;
		SCOZ_PROGRESS_NAMED("often");
	}
}
