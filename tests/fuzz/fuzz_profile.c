// SPDX-License-Identifier: GPL-2.0-or-later
/* Profiles, and all that is made of them: estimates, table, JSON, HTML, SVG, exports. */
#include "tests/fuzz/fuzz.h"

#include "tools/scoz/cmds.h"
#include "tools/scoz/causal/plot.h"
#include "tools/scoz/causal/ranking.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	log_level = LOG_QUIET;
	return 0;
}

static void run(int (*cmd)(int argc, char **argv), const char *path, const char *option,
		const char *value)
{
	char *argv[] = { "scoz", (char *)option, (char *)value, (char *)path, NULL };
	int argc = 4;

	if (!value) {
		argv[2] = (char *)path;
		argv[argc = 3] = NULL;
	}
	cmd(argc, argv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size)->path;
	struct model *m;
	FILE *sink;

	if (model_load(path, &m, NULL))
		return 0;
	sink = fuzz_sink();
	plot_write_html(m, NULL, sink);
	plot_write_svg(m, sink);
	model_write_json(m, &(struct ranking_choice){ .limit = SIZE_MAX }, sink);
	fclose(sink);
	model_free(m);
	run(cmd_report, path, "--json", NULL);
	run(cmd_report, path, "--limit", "0");
	run(cmd_report, path, "--per", "process");
	run(cmd_report, path, "--per", "rank");
	run(cmd_targets, path, "--", NULL);
	run(cmd_export, path, "--format", "coz");
	run(cmd_export, path, "--format", "csv");
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	return fuzz_mutate_lines(data, size, max, seed);
}
