// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How much work engine bpf's programs are for this kernel's verifier, with all that engines can be
 * asked for and by each way to stop after a task switch:
 *
 *   verified [MOST]
 *
 * One line for each program that is loaded: how many instructions the verifier has looked at, of
 * the million that it has patience for. Fails where the programs are refused, or loaded without
 * unwind tables, and where one takes more than MOST (400000).
 */
#include "base/base.h"
#include "engine/bpf/bpf_engine.h"
#include "engine/engine.h"

#include <bpf/bpf.h>

static uint32_t most = 400000;

static int look_at(const struct bpf_program *p)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);
	int fd = bpf_program__fd(p);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
		return 0;
	if (info.verified_insns > 10000)
		printf("  %-20s %7u\n", bpf_program__name(p), info.verified_insns);
	if (info.verified_insns <= most)
		return 0;
	printf("%s is %u instructions' work for the verifier, more than %u\n", bpf_program__name(p),
	       info.verified_insns, most);
	return 1;
}

static int try(const char *title, enum scoz_model model, uint32_t no_ways)
{
	static const int cpus[] = { 0 };
	const struct engine_options opt = { .name = "bpf",
					    .cpus = cpus,
					    .n_cpus = 1,
					    .model = model,
					    .period_ns = NSEC_PER_MSEC,
					    .max_stop_ns = NSEC_PER_MSEC,
					    .max_share = 10,
					    .record_hz = 1000,
					    .waive = true,
					    .members_known = true,
					    .measure_latency = true,
					    .waits = model == SCOZ_MODEL_WAIT,
					    .unwind = true,
					    .trace_tasks = true,
					    .no_ways = no_ways };
	struct bpf_program *p;
	struct engine *e;
	struct error err;
	int ret = 0;

	printf("%s:\n", title);
	if (engine_create(&opt, &e, &err)) {
		puts(err.text);
		return 1;
	}
#if defined(__x86_64__)
	if (!engine_unwind_maps(e)) {
		puts("loaded without unwind tables only");
		ret = 1;
	}
#endif
	bpf_object__for_each_program(p, bpf_engine(e)->skel->obj) ret |= look_at(p);
	engine_destroy(e);
	return ret;
}

int main(int argc, char **argv)
{
	int ret = 0;

	if (argc > 1)
		most = strtoul(argv[1], NULL, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	log_level = LOG_VERBOSE;
	ret |= try("model wait", SCOZ_MODEL_WAIT, 0);
	ret |= try("after switches in an interrupt", SCOZ_MODEL_WAIT, ENGINE_SWITCH_EXIT);
	ret |= try("at the ends of system calls", SCOZ_MODEL_CORE,
		   ENGINE_SWITCH_EXIT | ENGINE_SELF_INTERRUPT);
	return ret;
}
