// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes what our own writers write, as seeds: profiles, recordings, tables of ELF files. */
#include "elf/table_make.h"
#include "maps/maps.h"
#include "profile/profile.h"
#include "record/recording.h"
#include "trace/trace.h"

#include <unistd.h>

static void check(int rc, const struct error *err)
{
	if (!rc)
		return;
	fprintf(stderr, "make_seeds: %s\n", err->text);
	exit(1);
}

static void window(struct profile_writer *w, uint32_t seq, uint32_t target, double speedup,
		   enum discard discard)
{
	struct error err;
	struct window_progress progress[] = { { .visits = 900 + seq % 7, .virtual_s = 1 },
					      { .visits = 3, .virtual_s = 1, .inflight = 2 } };
	const struct profile_window win = {
		.run = profile_writer_run(w),
		.seq = seq,
		.target = target,
		.speedup = speedup,
		.start_s = seq,
		.wall_s = 1 + speedup / 3,
		.inserted_s = speedup / 3,
		.busy_s = 1.5,
		.ticks = 900,
		.hits = 300 + seq,
		.discard = discard,
		.discard_other = "eclipse",
		.progress = progress,
		.n_progress = ARRAY_SIZE(progress),
	};

	check(profile_writer_window(w, &win, &err), &err);
}

static void write_run(const char *path, double hz)
{
	static const char *const text[] = { "worth knowing" };
	static const struct profile_progress points[] = {
		{ 0, "iter", PROGRESS_THROUGHPUT, "a.out:work" },
		{ 1, "req", PROGRESS_LATENCY, "mark:b,mark:e" },
	};
	const struct profile_header h = { .engine = "bpf",
					  .model = "wait",
					  .mode = "throughput",
					  .frequency_hz = hz,
					  .seed = 1,
					  .cpus = 2,
					  .command = "./a.out",
					  .host = "h",
					  .kernel = "6.1",
					  .started = "2024-01-01T00:00:00Z" };
	const struct profile_target targets[] = {
		{ .name = "func:work@a.out", .kind = "function", .location = "s.c:3" },
		{ .name = "s.c:4", .kind = "line", .location = "work" },
	};
	const struct profile_sample samples[] = {
		{ .target = "func:work@a.out", .location = "s.c:3", .self = 9, .total = 12 },
		{ .target = "func:main@a.out", .location = "s.c:9", .self = 3, .total = 15 },
	};
	struct profile_place places[] = { { 0, 9, 12, 1 }, { 1, 3, 15, 1 } };
	const struct profile_process process = { .pid = 7,
						 .members = 1,
						 .name = "a.out",
						 .rank = -1,
						 .rank_from = "",
						 .samples = 12,
						 .places = places,
						 .n_places = ARRAY_SIZE(places) };
	struct profile_core core = { .cpu = 1, .busy_s = 3, .stopped_s = 0.5, .work_ns = 100 };
	const struct profile_machine machine = {
		.tick_cost_s = 1e-6, .ticks = 9000, .cores = &core, .n_cores = 1
	};
	const struct profile_footer footer = { .duration_s = 21,
					       .samples_total = 15,
					       .inserted_s = 4,
					       .stopped_s = 4,
					       .own_s = 4,
					       .command_status = 0,
					       .end = "done",
					       .warnings = text,
					       .n_warnings = 1 };
	struct profile_writer *w;
	struct error err;
	uint32_t ids[2], seq = 0;

	check(profile_writer_open(path, &h, points, ARRAY_SIZE(points), &w, &err), &err);
	check(profile_writer_frequency(w, 2 * hz, &err), &err);
	for (int i = 0; i < 2; i++)
		check(profile_writer_target(w, &targets[i], &ids[i], &err), &err);
	for (int i = 0; i < 20; i++)
		window(w, seq++, ids[i / 10], i % 4 * 0.25,
		       i == 7	? DISCARD_STEAL
		       : i == 9 ? DISCARD_OTHER
				: KEPT);
	check(profile_writer_discard(w, 2, DISCARD_UNSETTLED, &err), &err);
	check(profile_writer_samples(w, samples, ARRAY_SIZE(samples), &err), &err);
	check(profile_writer_process(w, &process, &err), &err);
	check(profile_writer_machine(w, &machine, &err), &err);
	check(profile_writer_finish(w, &footer, &err), &err);
	profile_writer_close(w);
}

static void write_recording(const char *path)
{
	const struct record_header h = { .engine = "bpf",
					 .period_ns = 1000000,
					 .command = "./a.out",
					 .scope = "command",
					 .host = "h",
					 .kernel = "6.1",
					 .started = "2024-01-01T00:00:00Z",
					 .cpus = 2 };
	static const struct record_frame frames[] = {
		{ .symbol = "main", .object = "/bin/a.out", .file = "s.c", .line = 9 },
		{ .symbol = "twice", .object = "/bin/a.out", .kind = FRAME_INLINED, .address = 64 },
		{ .symbol = "io_schedule", .object = "[kernel]", .kind = FRAME_KERNEL },
		{ .symbol = "[missing frames]", .object = "", .kind = FRAME_MISSING },
	};
	static const struct record_stack stacks[] = {
		{ 0, RECORDING_NONE }, { 1, 0 }, { 2, 0 }, { 3, RECORDING_NONE }
	};
	static const char *const kinds[] = { NULL, "disk", "futex lock", NULL, "sleep" };
	const struct record_process process = {
		.pid = 7, .name = "a.out", .rank = 0, .rank_from = "PMI_RANK"
	};
	const struct record_scozd scozd = { .pid = 9, .from = 0, .to = 1000 };
	const struct record_footer footer = {
		.duration = NSEC_PER_SEC, .samples = 10, .points = 30, .lost = 1, .end = "done"
	};
	struct recording_writer *w;
	struct error err;

	check(recording_writer_open(path, &h, &w, &err), &err);
	for (uint32_t i = 0; i < ARRAY_SIZE(frames); i++)
		recording_write_frame(w, i, &frames[i]);
	for (uint32_t i = 0; i < ARRAY_SIZE(stacks); i++)
		recording_write_stack(w, i, &stacks[i]);
	recording_write_process(w, &process);
	for (uint32_t i = 0; i < 2; i++) {
		const struct record_thread t = { .id = i, .tid = 7 + i, .pid = 7, .comm = "a.out" };

		recording_write_thread(w, &t);
	}
	recording_write_comm(w, 1, 500, "b");
	for (uint32_t i = 0; i < 10; i++) {
		const struct record_sample s = { .time = (10 - i) * NSEC_PER_MSEC,
						 .duration = i % 5 ? NSEC_PER_MSEC : 0,
						 .points = 3,
						 .thread = i % 2,
						 .stack = i % 4,
						 .kind = kinds[i % 5],
						 .holder = i == 2 ? 1 : RECORDING_NONE,
						 .waker = i == 7 ? 0 : RECORDING_NONE,
						 .event = i == 1 ? "nvme0n1" : NULL,
						 .class = i % RECORD_CLASSES };

		recording_write_sample(w, &s);
	}
	recording_write_scozd(w, &scozd);
	check(recording_writer_close(w, &footer, &err), &err);
}

static void write_trace(const char *path)
{
	const struct trace_header h = { 1000000, "./a.out", "command",
					"h",	 "6.1",	    "2024-01-01T00:00:00Z",
					2 };
	const struct record_frame frame = { .symbol = "main", .object = "/bin/a.out" };
	const struct trace_footer footer = { NSEC_PER_SEC, 0, 0, "done" };
	struct trace_writer *w;
	struct error err;

	check(trace_writer_open(path, &h, &w, &err), &err);
	trace_write_frame(w, &frame);
	trace_write_stack(w, &(struct record_stack){ 0, RECORDING_NONE });
	trace_write_process(w, 0, 7, "a.out");
	trace_write_rank(w, 0, 3, "PMI_RANK");
	trace_write_device(w, "sda");
	trace_write_point(w, "iter");
	for (uint32_t i = 0; i < 2; i++)
		trace_write_thread(w, &(struct trace_thread){ 7 + i, 7, 0, "a.out" });
	for (uint32_t i = 0; i < 4 * TRACE_TYPES; i++) {
		const struct trace_event e = { .type = i % TRACE_TYPES,
					       .time = i * 1000,
					       .thread = i / TRACE_TYPES % 2,
					       .other = i % TRACE_TYPES == TRACE_WAKE,
					       .why = TRACE_BLOCKED,
					       .wait = i / TRACE_TYPES + 1,
					       .by = TRACE_BY_THREAD,
					       .weight = 100 };

		trace_write_event(w, &e);
	}
	check(trace_writer_close(w, &footer, &err), &err);
}

int main(int argc, char **argv)
{
	struct maptable *t;
	struct error err;

	if (argc == 3 && !strcmp(argv[1], "profile")) {
		write_run(argv[2], 1000);
		write_run(argv[2], 1000);
	} else if (argc == 3 && !strcmp(argv[1], "recording")) {
		write_recording(argv[2]);
	} else if (argc == 3 && !strcmp(argv[1], "trace")) {
		write_trace(argv[2]);
	} else if (argc == 4 && !strcmp(argv[1], "table")) {
		/* Into a cache directory. */
		const struct map_options opt = { .cache_dir = argv[3] };

		check(maptable_make(argv[2], argv[2], &opt, &t, &err), &err);
		maptable_free(t);
	} else {
		fprintf(stderr,
			"usage: make_seeds profile|recording|trace FILE | table ELF DIRECTORY\n");
		return 2;
	}
	return 0;
}
