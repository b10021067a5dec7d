// SPDX-License-Identifier: GPL-2.0-or-later
/* often [SECONDS]: a mark that is met some hundred thousand times a second. */
#include <scoz.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static volatile uint64_t sink;

int main(int argc, char **argv)
{
	if (argc > 1)
		alarm(atoi(argv[1]));
	for (;;) {
		for (int i = 0; i < 1000; i++)
			sink++;
		SCOZ_PROGRESS_NAMED("often");
	}
}
