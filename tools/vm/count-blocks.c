// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plugin for QEMU that counts the instructions which the guest's kernel executes, by the address
 * of their block (a run of instructions up to the next jump), for tests/bench/kernel-cost-where.
 * Counts are exact but for blocks that a fault ends early. One host thread only (vm run --icount).
 *
 *   -plugin count-blocks.so,from=ADDRESS,to=ADDRESS,mark=ADDRESS,out=FILE[,sites=FILE]
 *
 * Each time that the guest executes mark, what was counted since the last time is appended to FILE
 * as lines "NUMBER-OF-MARK ADDRESS INSTRUCTIONS", those of programs with address 0 and all else
 * outside of [from, to) with address 1, and counting begins anew. How often each instruction was
 * executed whose address is a line of sites: "NUMBER-OF-MARK site ADDRESS TIMES".
 *
 * Debian has no qemu-plugin.h, so what is used of it is declared here (version 1, QEMU 4.2 to 8.2).
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*cb)(uint64_t id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  void (*cb)(unsigned cpu, void *data), int flags,
					  void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned cpu, void *data), int flags,
					    void *data);
int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);
extern int qemu_plugin_version;
int qemu_plugin_version = 1;

enum { NO_REGISTERS = 0 }; /* the callbacks look at none */
enum { OF_PROGRAMS, ELSEWHERE, TEXT };
enum { MAX_SITES = 4096 };

static uint64_t from, to, mark, nr;
static uint64_t *counts; /* by TEXT + offset in [from, to) */
static struct site {
	uint64_t address, times;
} sites[MAX_SITES];
static size_t n_sites;
static FILE *out;

static void at_mark(void)
{
	for (size_t i = 0; i < n_sites; i++) {
		if (sites[i].times)
			fprintf(out, "%" PRIu64 " site %" PRIx64 " %" PRIu64 "\n", nr,
				sites[i].address, sites[i].times);
		sites[i].times = 0;
	}
	for (uint64_t i = 0; i < TEXT + to - from; i++) {
		if (!counts[i])
			continue;
		fprintf(out, "%" PRIu64 " %" PRIx64 " %" PRIu64 "\n", nr,
			i < TEXT ? i : from + i - TEXT, counts[i]);
		counts[i] = 0;
	}
	fflush(out);
	nr++;
}

/* data: which count, and in its upper half by how much it grows. */
static void executed(unsigned cpu, void *data)
{
	uint64_t what = (uintptr_t)data;

	(void)cpu;
	if ((uint32_t)what == (uint32_t)(mark - from + TEXT))
		at_mark();
	counts[(uint32_t)what] += what >> 32;
}

static void passed(unsigned cpu, void *data)
{
	struct site *site = data;

	(void)cpu;
	site->times++;
}

static void find_sites(struct qemu_plugin_tb *tb, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);

		for (size_t k = 0; k < n_sites; k++) {
			if (sites[k].address == address)
				qemu_plugin_register_vcpu_insn_exec_cb(insn, passed, NO_REGISTERS,
								       &sites[k]);
		}
	}
}

static int read_sites(const char *path)
{
	FILE *f = fopen(path, "r");

	if (!f) {
		perror(path);
		return -1;
	}
	while (n_sites < MAX_SITES && fscanf(f, "%" SCNx64, &sites[n_sites].address) == 1)
		n_sites++;
	fclose(f);
	return 0;
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb), n = qemu_plugin_tb_n_insns(tb);
	uint64_t which = address >= from && address < to ? address - from + TEXT
			 : address >> 63		 ? ELSEWHERE
							 : OF_PROGRAMS;

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, NO_REGISTERS,
					     (void *)(uintptr_t)(n << 32 | which));
	if (which >= TEXT)
		find_sites(tb, n);
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		uint64_t number = strtoull(argv[i] + strcspn(argv[i], "=") + 1, NULL, 16);

		if (!strncmp(argv[i], "from=", 5))
			from = number;
		else if (!strncmp(argv[i], "to=", 3))
			to = number;
		else if (!strncmp(argv[i], "mark=", 5))
			mark = number;
		else if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "w");
		else if (!strncmp(argv[i], "sites=", 6) && read_sites(argv[i] + 6))
			return -1;
	}
	if (!out || from >= to || to - from >= UINT32_MAX - TEXT || mark < from || mark >= to) {
		fprintf(stderr, "count-blocks: wants from=, to=, mark= (in between) and out=\n");
		return -1;
	}
	counts = mmap(NULL, (TEXT + to - from) * sizeof(*counts), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (counts == MAP_FAILED) {
		perror("count-blocks");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
