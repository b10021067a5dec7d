// SPDX-License-Identifier: GPL-2.0-or-later
/* bpf_programs: how many are loaded, whether or not /proc/kallsyms tells their names. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>

int main(void)
{
	unsigned int id = 0, n = 0;

	while (!bpf_prog_get_next_id(id, &id))
		n++;
	if (errno != ENOENT) {
		perror("bpf_prog_get_next_id");
		return 1;
	}
	printf("%u\n", n);
	return 0;
}
