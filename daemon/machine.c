// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/machine.h"

#include <unistd.h>

#define TRIES 3
#define TURNS 768

void machine_read(const struct cores *cores, struct machine_times *per_core,
		  struct machine_times *sum)
{
	_cleanup_free_ char *path = sysroot_path("/proc/stat");
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	double tick = 1.0 / sysconf(_SC_CLK_TCK);
	unsigned long long v[8];
	char line[512];
	int cpu;

	*sum = (struct machine_times){ 0 };
	while (f && fgets(line, sizeof(line), f)) {
		struct machine_times t;

		/* user, nice, system, idle, iowait, irq, softirq, steal */
		if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &v[0],
			   &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) != 9)
			continue;
		t.stolen = v[7] * tick;
		t.busy = (v[0] + v[1] + v[2] + v[5] + v[6]) * tick;
		for (int i = 0; i < cores->n; i++) {
			if (cores->cpus[i] != cpu)
				continue;
			sum->stolen += t.stolen;
			sum->busy += t.busy;
			if (per_core)
				per_core[i] = t;
		}
	}
}

/* Several chains at once, so that a sibling that takes the core's units is felt as well. */
static uint64_t work(uint64_t seed)
{
	uint64_t a = seed, b = seed + 1, c = seed + 2, d = seed + 3;

	for (int i = 0; i < TURNS; i++) {
		a = a * 0x9e3779b97f4a7c15ULL + 1;
		b = b * 0xbf58476d1ce4e5b9ULL + 3;
		c = c * 0x94d049bb133111ebULL + 5;
		d = d * 0xd6e8feb86659fd93ULL + 7;
	}
	return a ^ b ^ c ^ d;
}

uint32_t machine_speed_ns(void)
{
	uint64_t best = UINT32_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t start = clock_now_ns(), took;
		uint64_t result = work(start);

		asm volatile("" : : "r"(result));
		took = clock_now_ns() - start;
		best = took < best ? took : best;
	}
	return best;
}
