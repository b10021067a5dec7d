// SPDX-License-Identifier: GPL-2.0-or-later
/* Options of the tool, one a line; the first letter says of which command. */
#include "tests/fuzz/fuzz.h"

#include "record/recording.h"
#include "tools/scoz/cmds.h"

#include <unistd.h>

#define MAX_ARGS 16

static char recording[64], profile[64];

/* Something for the options to choose from. */
static void write_files(void)
{
	static const char p[] =
		"{\"type\":\"header\",\"format\":\"scoz-profile\",\"version\":1,\"run\":0}\n"
		"{\"type\":\"progress\",\"id\":0,\"name\":\"i\",\"kind\":\"throughput\"}\n"
		"{\"type\":\"sample\",\"target\":\"func:f\",\"location\":\"f.c:1\",\"total\":9}\n";
	const struct record_header h = { .engine = "bpf",
					 .period_ns = 1000000,
					 .command = "",
					 .scope = "all",
					 .host = "",
					 .kernel = "",
					 .started = "",
					 .cpus = 2 };
	const struct record_footer footer = { .duration = NSEC_PER_SEC, .end = "done" };
	const struct record_frame frame = { .symbol = "f", .object = "/bin/f" };
	const struct record_stack stack = { 0, RECORDING_NONE };
	const struct record_thread thread = {
		.tid = 7, .pid = 7, .comm = "f", .process = RECORDING_NONE
	};
	struct record_sample sample = {
		.points = 3, .stack = 0, .holder = RECORDING_NONE, .waker = RECORDING_NONE
	};
	struct recording_writer *w;
	FILE *f;

	snprintf(recording, sizeof(recording), "/tmp/scoz-fuzz-%d.record", getpid());
	snprintf(profile, sizeof(profile), "/tmp/scoz-fuzz-%d.scoz", getpid());
	f = fopen(profile, "w");
	if (!f || fputs(p, f) < 0 || fclose(f) || recording_writer_open(recording, &h, &w, NULL))
		abort();
	recording_write_frame(w, 0, &frame);
	recording_write_stack(w, 0, &stack);
	recording_write_thread(w, &thread);
	for (int i = 0; i < RECORD_CLASSES; i++) {
		sample.class = i;
		sample.time = i * NSEC_PER_MSEC;
		recording_write_sample(w, &sample);
	}
	if (recording_writer_close(w, &footer, NULL))
		abort();
}

static void remove_files(void)
{
	unlink(recording);
	unlink(profile);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	log_level = LOG_QUIET;
	/* A number is a process to `targets`: reading one of this machine may take minutes. */
	sysroot = "/nowhere";
	write_files();
	atexit(remove_files);
	return 0;
}

/* It could be one that writes a file. */
static bool is_harmless(const char *arg)
{
	return strncmp(arg, "-o", 2) && strncmp(arg, "--o", 3) && strcmp(arg, "--") &&
	       (arg[0] != '-' || arg[1] == '-');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int (*const commands[])(int, char **) = { cmd_report, cmd_export, cmd_targets,
							 cmd_report };
	_cleanup_free_ char *text = NULL;
	char *argv[MAX_ARGS + 3] = { "scoz" }, *rest, *arg;
	int argc = 1, which;

	if (!size)
		return 0;
	which = data[0] & 3;
	text = xstrndup((const char *)data + 1, size - 1);
	rest = text;
	while (argc < MAX_ARGS && (arg = strsep(&rest, "\n"))) {
		if (is_harmless(arg))
			argv[argc++] = arg;
	}
	argv[argc++] = which == 2 || which == 3 ? profile : recording;
	commands[which](argc, argv);
	return 0;
}
