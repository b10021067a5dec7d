// SPDX-License-Identifier: GPL-2.0-or-later
/* Causal recordings. */
#include "tests/fuzz/fuzz.h"

#include "tools/scoz/cmds.h"
#include "trace/trace.h"
#include "trace/trace_format.h"
#include "waits/behind.h"

#include <endian.h>
#include <zstd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	log_level = LOG_QUIET;
	return 0;
}

static int see(const struct trace_event *e, void *arg)
{
	const struct trace *t = arg;
	bool needs_thread =
		e->type != TRACE_COMPLETE && e->type != TRACE_ISSUE && e->type != TRACE_PROGRESS;

	if (e->thread >= t->n_threads && (needs_thread || e->thread != TRACE_NONE))
		abort();
	if (e->type == TRACE_PROGRESS && e->other >= t->n_points)
		abort();
	if (e->type == TRACE_SAMPLE && e->stack != TRACE_NONE && e->stack >= t->n_stacks)
		abort();
	return 0;
}

/* What --verify looks for before it begins experiments. */
static void look_behind(const struct trace *t)
{
	struct waits_behind behind[WAITS_BEHIND_EDGES];
	struct waits_recorded r;
	size_t n;

	if (waits_read(t, 0, &r, NULL))
		return;
	waits_group(&r, true);
	n = r.graph.n < WAITS_BEHIND_EDGES ? r.graph.n : WAITS_BEHIND_EDGES;
	if (n && !waits_find_behind(&r, r.graph.edges, n, behind, NULL)) {
		for (size_t i = 0; i < n; i++) {
			if (behind[i].frame != TRACE_NONE)
				free(waits_target_of(&t->frames[behind[i].frame]));
		}
	}
	waits_recorded_free(&r);
}

static const struct {
	int (*cmd)(int argc, char **argv);
	const char *option;
} runs[] = {
	{ cmd_waits, "--least=0" },  { cmd_waits, "--dot" },	  { cmd_waits, "--no-merge" },
	{ cmd_whatif, "--lines=3" }, { cmd_whatif, "--cpus=+1" },
};

/* The first byte chooses: a file, or the records of one chunk, which nobody guesses packed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char start[] = TRACE_START "1\n";
	size_t head = strlen(start) + sizeof(struct trace_chunk), n;
	uint8_t *file = NULL;
	const char *path;
	struct trace *t;

	if (!size)
		return 0;
	if (data[0] & 1) {
		struct trace_chunk c;

		file = xmalloc(head + ZSTD_compressBound(size));
		memcpy(file, start, strlen(start));
		n = ZSTD_compress(file + head, ZSTD_compressBound(size), data + 1, size - 1, 1);
		c = (struct trace_chunk){ htole32(n), htole32(size - 1) };
		memcpy(file + strlen(start), &c, sizeof(c));
		data = file;
		size = head + n;
	} else {
		data++;
		size--;
	}
	path = fuzz_file(data, size)->path;
	if (!trace_open(path, &t, NULL)) {
		trace_each(t, see, t, NULL);
		look_behind(t);
		trace_free(t);
		for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
			char *argv[] = { "scoz", (char *)runs[i].option, (char *)path, NULL };

			runs[i].cmd(3, argv);
		}
	}
	free(file);
	return 0;
}
