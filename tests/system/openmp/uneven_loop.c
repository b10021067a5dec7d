// SPDX-License-Identifier: GPL-2.0-or-later
/* Two threads of OpenMP, of which one computes and the other waits for it at the end of the loop.
 */
#include "../compute.h"

__attribute__((noipa)) void turn(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noipa)) void work(long n)
{
	compute(n);
}

int main(void)
{
	for (;;) {
#pragma omp parallel for num_threads(2) schedule(static, 1)
		for (int i = 0; i < 2; i++)
			work(i ? 5000000 : 100000);
		turn();
	}
}
