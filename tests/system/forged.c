// SPDX-License-Identifier: GPL-2.0-or-later
/* forged SECONDS: comes to mark "unit" of count.c every 100 us, where only probes count it. */
#define SCOZ_PROBES_ONLY
#include <scoz.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long visits = argc > 1 ? atol(argv[1]) * 10000 : 10000;

	for (long i = 0; i < visits; i++) {
		SCOZ_PROGRESS_NAMED("unit");
		usleep(100);
	}
	return 0;
}
