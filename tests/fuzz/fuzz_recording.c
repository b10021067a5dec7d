// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings: reports of all kinds, and exports. */
#include "tests/fuzz/fuzz.h"

#include "record/recording.h"
#include "tools/scoz/cmds.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	log_level = LOG_QUIET;
	return 0;
}

#define ARGS 8
static const struct {
	int (*cmd)(int argc, char **argv);
	const char *args[ARGS];
} runs[] = {
	{ cmd_report, { "--call-graph", "--inline" } },
	{ cmd_report, { "--json", "--call-graph", "--sort", "comm,dso,sym,pid,tid,class,kind" } },
	{ cmd_report, { "--sort", "cpu,waker,file,srcline,process,rank", "--no-children" } },
	{ cmd_report, { "--top-waits", "--per", "process" } },
	{ cmd_report, { "--per", "rank", "--no-idle", "--no-kernel" } },
	{ cmd_report, { "--per", "thread", "--class", "off", "--percent-limit", "1" } },
	{ cmd_plot, { "-o", "-" } },
	{ cmd_export, { "--format", "folded", "--per", "process" } },
	{ cmd_export, { "--format", "speedscope" } },
	{ cmd_export, { "--format", "firefox" } },
	{ cmd_export, { "--format", "pprof" } },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size)->path;
	struct recording *r;

	if (recording_read(path, &r, NULL))
		return 0;
	recording_free(r);
	if (!recording_is(path))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		char *argv[ARGS + 3] = { "scoz" };
		int argc = 1;

		for (int k = 0; k < ARGS && runs[i].args[k]; k++)
			argv[argc++] = (char *)runs[i].args[k];
		argv[argc++] = (char *)path;
		runs[i].cmd(argc, argv);
	}
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate_lines(data, size, max, seed);
}
