/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subcommands of scoz in the test's own process: they are no part of the library. */
#ifndef TEST_REPORT_TOOL_H
#define TEST_REPORT_TOOL_H

#include <fcntl.h>
#include <unistd.h>

#include "tools/scoz/arguments.c"
#include "tools/scoz/json_values.c"
#include "tools/scoz/text.c"

#include "tools/scoz/wrong_file.c"
#include "tools/scoz/causal/callers.c"
#include "tools/scoz/causal/expected.c"
#include "tools/scoz/causal/latency.c"
#include "tools/scoz/causal/model.c"
#include "tools/scoz/causal/model_json.c"
#include "tools/scoz/causal/model_trust.c"
#include "tools/scoz/causal/next.c"
#include "tools/scoz/causal/ranking.c"
#include "tools/scoz/causal/mpi_view.c"
#include "tools/scoz/causal/plot_curve.c"
#include "tools/scoz/causal/process_view.c"
#include "tools/scoz/causal/report_axis.c"
#include "tools/scoz/causal/report_target.c"
#define print_row print_report_row
#include "tools/scoz/causal/report_text.c"
#undef print_row
#define print_notes print_report_notes
#include "tools/scoz/causal/report_run.c"
#undef print_notes
#include "tools/scoz/causal/plot_lists.c"
#include "tools/scoz/causal/plot_source.c"
#define columns svg_columns
#define style	style_svg
#include "tools/scoz/causal/plot_svg.c"
#undef style
#undef columns
#define write_row write_page_row
#include "tools/scoz/causal/plot_html.c"
#undef write_row
#include "tools/scoz/causal/source.c"
#include "tools/scoz/causal/waiters.c"
#define write_row   write_recording_row
#define write_facts write_recording_facts
#define write_page  write_recording_page
#include "tools/scoz/recording/record_page.c"
#undef write_row
#undef write_facts
#undef write_page
#undef LINE
#define usage usage_plot
#include "tools/scoz/commands/plot.c"
#undef usage
#include "tools/scoz/recording/record_filter.c"
#include "tools/scoz/recording/record_graph.c"
#include "tools/scoz/recording/record_json.c"
#include "tools/scoz/recording/record_model.c"
#include "tools/scoz/recording/record_options.c"
#include "tools/scoz/recording/record_report.c"
#include "tools/scoz/recording/record_rows.c"
#include "tools/scoz/recording/record_text.c"
#include "tools/scoz/recording/record_waits.c"
#include "tools/scoz/causal/diff_html.c"
#define usage usage_report
#include "tools/scoz/commands/report.c"
#undef usage
#include "tools/scoz/export/profile_export.c"
#include "tools/scoz/export/record_export.c"
#include "tools/scoz/export/record_firefox.c"
#include "tools/scoz/export/record_folded.c"
#include "tools/scoz/export/record_pprof.c"
#include "tools/scoz/export/record_speedscope.c"
#define usage	 usage_diff
#define headline diff_headline
#include "tools/scoz/commands/diff.c"
#undef headline
#undef usage
#define usage usage_export
#include "tools/scoz/commands/export.c"
#undef usage
#define usage usage_targets
#include "tools/scoz/commands/targets.c"
#undef usage

/* What the last run() printed; freed by the next one. */
static char *out_text, *err_text;

static inline int capture(int fd, const char *path)
{
	int saved = dup(fd), file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (dup2(file, fd) < 0)
		abort();
	close(file);
	return saved;
}

static inline char *release(int fd, int saved, const char *path)
{
	char *text;

	dup2(saved, fd);
	close(saved);
	text = read_file(path, NULL);
	unlink(path);
	return text;
}

/* run(cmd_report, "--json", file, NULL): the exit code. */
static inline int run(int (*cmd)(int, char **), ...)
{
	char *argv[16] = { "scoz" };
	char out[] = "/tmp/test_report-out-XXXXXX", err[] = "/tmp/test_report-err-XXXXXX";
	int argc = 1, saved_out, saved_err, ret;
	va_list ap;

	va_start(ap, cmd);
	while ((argv[argc] = va_arg(ap, char *)))
		argc++;
	va_end(ap);
	close(mkstemp(out));
	close(mkstemp(err));
	fflush(stdout);
	saved_out = capture(STDOUT_FILENO, out);
	saved_err = capture(STDERR_FILENO, err);
	ret = cmd(argc, argv);
	fflush(stdout);
	free(out_text);
	free(err_text);
	out_text = release(STDOUT_FILENO, saved_out, out);
	err_text = release(STDERR_FILENO, saved_err, err);
	return ret;
}

#endif
