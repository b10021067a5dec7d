// SPDX-License-Identifier: GPL-2.0-or-later
/* docs/file-format.md says what the fields mean. */
#include "profile/format.h"

/* clang-format off */
#define F(...) FIELD(union profile_line, __VA_ARGS__)
/* Called in the file as in the struct. */
#define M(type, part, member, ...) F(#member, type, part.member, ##__VA_ARGS__)
#define ITEM(type, item, member, ...) FIELD(struct item, #member, type, member, ##__VA_ARGS__)
#define LIST(of, item) 0, of, sizeof(struct item)

static const struct field binary_fields[] = {
	ITEM(TEXT, profile_binary, path), ITEM(TEXT, profile_binary, build), { 0 },
};
static const struct field header_fields[] = {
	M(TEXT, header.start, format), M(U64, header.start, version),
	M(U32, header, run, FIELD_REQUIRED), M(TEXT, header.h, engine), M(TEXT, header.h, model),
	M(TEXT, header.h, mode), M(FLAG, header.h, waits), M(REAL, header.h, frequency_hz), M(REAL, header.h, period_s),
	M(BITS, header.h, seed), M(COUNT, header.h, cpus), M(TEXT, header.h, command),
	M(TEXTS, header, arguments),
	M(OBJECTS, header, binaries, LIST(binary_fields, profile_binary)), M(TEXT, header.h, host), M(TEXT, header.h, kernel),
	M(TEXT, header.h, started), { 0 },
};
static const struct field progress_fields[] = {
	M(U32, progress.p, id, FIELD_REQUIRED), M(TEXT, progress.p, name),
	M(TEXT, progress, kind), M(TEXT, progress.p, spec), { 0 },
};
static const struct field target_fields[] = {
	M(U32, target, id, FIELD_REQUIRED), M(TEXT, target, name), M(TEXT, target, kind),
	M(TEXT, target, location), { 0 },
};
static const struct field frequency_fields[] = {
	M(U32, frequency, run), M(REAL, frequency, hz), { 0 },
};
static const struct field window_progress_fields[] = {
	ITEM(REAL, window_progress, visits), ITEM(REAL, window_progress, virtual_s),
	ITEM(REAL, window_progress, inflight), { 0 },
};
static const struct field window_fields[] = {
	M(U32, window.w, run, FIELD_REQUIRED), M(U32, window.w, seq, FIELD_REQUIRED),
	M(U32, window.w, target, FIELD_REQUIRED), M(REAL, window.w, speedup),
	M(FLAG, window.w, real), M(REAL, window.w, start_s), M(REAL, window.w, wall_s),
	M(REAL, window.w, inserted_s), M(REAL, window.w, external_s),
	M(REAL, window.w, crowded_s), M(REAL, window.w, shared_s),
	M(REAL, window.w, urgent_s), M(REAL, window.w, queued_s), M(REAL, window.w, woken_s),
	M(REAL, window.w, polled_s), M(REAL, window.w, absolute_waits),
	M(REAL, window.w, external_waits),
	M(REAL, window.w, ran_s), M(REAL, window.w, related_s), M(REAL, window.w, stolen_s),
	M(REAL, window.w, target_ran_s),
	M(REAL, window.w, target_waited_s), M(REAL, window.w, target_alone_s),
	M(FLAG, window.w, waits_sped), M(FLAG, window.w, hits_seen), M(REAL, window.w, busy_s),
	M(REAL, window.w, stopped_s), M(REAL, window.w, ticks), M(REAL, window.w, work_ns),
	M(REAL, window.w, syncs), M(REAL, window.w, spun_s), M(REAL, window.w, spun_first_s),
	M(REAL, window.w, throttled_s), M(REAL, window.w, quota_cpus),
	M(REAL, window.w, expected_pp), M(REAL, window.w, flaws_pp), M(U64, window.w, hits),
	M(U64, window.w, others_hits, FIELD_OPTIONAL), M(TEXT, window, discard),
	M(OBJECTS, window, progress, LIST(window_progress_fields, window_progress)), { 0 },
};
static const struct field discard_fields[] = {
	M(U32, discard, run, FIELD_REQUIRED), M(U32, discard, before_seq, FIELD_REQUIRED),
	M(TEXT, discard, why), { 0 },
};
static const struct field sample_fields[] = {
	M(U32, sample, run), M(TEXT, sample.s, target), M(TEXT, sample.s, location),
	M(TEXT, sample.s, binary), M(U64, sample.s, self), M(U64, sample.s, total),
	M(U64, sample.s, credit, FIELD_OPTIONAL), M(U64, sample.s, unnamed, FIELD_OPTIONAL),
	M(U64, sample.s, polled, FIELD_OPTIONAL), { 0 },
};
static const struct field place_fields[] = {
	ITEM(U32, profile_place, sample), ITEM(U64, profile_place, self),
	ITEM(U64, profile_place, total), ITEM(U64, profile_place, credit), { 0 },
};
static const struct field process_fields[] = {
	M(U32, process.p, run), M(COUNT, process.p, pid, FIELD_OPTIONAL),
	M(U64, process.p, members, FIELD_OPTIONAL), M(TEXT, process.p, name),
	M(I32, process.p, rank, FIELD_OPTIONAL), M(TEXT, process.p, rank_from, FIELD_OPTIONAL),
	M(U64, process.p, samples), M(U64, process.p, polled, FIELD_OPTIONAL), M(U64, process.p, left_out, FIELD_OPTIONAL),
	M(ROWS, process, places, LIST(place_fields, profile_place)), { 0 },
};
static const struct field core_fields[] = {
	ITEM(COUNT, profile_core, cpu, FIELD_REQUIRED), ITEM(REAL, profile_core, stolen_s),
	ITEM(REAL, profile_core, busy_s), ITEM(REAL, profile_core, stopped_s),
	ITEM(REAL, profile_core, work_ns), { 0 },
};
static const struct field machine_fields[] = {
	M(U32, machine.m, run), M(REAL, machine.m, tick_cost_s), M(U64, machine.m, ticks),
	M(OBJECTS, machine, cores, LIST(core_fields, profile_core)), { 0 },
};
static const struct field bin_fields[] = {
	FIELD(struct profile_latency_bin, "from", REAL, from_s),
	FIELD(struct profile_latency_bin, "to", REAL, to_s),
	ITEM(U64, profile_latency_bin, count), { 0 },
};
static const struct field latency_fields[] = {
	M(U32, latency, run), M(U32, latency.l, progress, FIELD_REQUIRED),
	M(U64, latency.l, measured), M(U64, latency.l, elsewhere), M(TEXT, latency.l, why),
	M(ROWS, latency, bins, LIST(bin_fields, profile_latency_bin)), { 0 },
};
static const struct field source_fields[] = {
	M(U32, source.s, run), M(U32, source.s, target, FIELD_REQUIRED), M(U32, source.s, first),
	M(FLAG, source.s, newer), M(TEXTS, source, lines), { 0 },
};
static const struct field seen_fields[] = {
	M(U32, seen, run), M(U32, seen, target, FIELD_REQUIRED), M(U64, seen, samples),
	M(U64, seen, all), M(U64, seen, polled, FIELD_OPTIONAL), { 0 },
};
static const struct field path_fields[] = {
	M(U32, path.p, run), M(U32, path.p, target, FIELD_REQUIRED), M(U64, path.p, samples),
	M(TEXTS, path, functions), { 0 },
};
static const struct field replay_fields[] = {
	M(U32, replay, run), M(REAL, replay, seconds), M(U64, replay, events),
	M(U64, replay, samples), M(U64, replay, lost), M(REAL, replay, crowded),
	M(REAL, replay, spun), M(TEXT, replay, why), M(REAL, replay, disk_waits),
	M(TEXT, replay, through), M(REAL, replay, through_share), { 0 },
};
static const struct field expectation_fields[] = {
	ITEM(REAL, profile_expectation, speedup), ITEM(REAL, profile_expectation, pct),
	ITEM(REAL, profile_expectation, low), ITEM(REAL, profile_expectation, high), { 0 },
};
static const struct field expected_fields[] = {
	M(U32, expected.e, run), M(TEXT, expected.e, target), M(TEXT, expected.e, kind),
	M(TEXT, expected.e, location), M(TEXT, expected.e, function),
	M(U32, expected.e, progress, FIELD_REQUIRED),
	M(REAL, expected.e, share), M(U64, expected.e, samples),
	M(ROWS, expected, at, LIST(expectation_fields, profile_expectation)), { 0 },
};
static const struct field expected_next_fields[] = {
	M(U32, expected_next.e, run), M(TEXT, expected_next.e, after),
	M(TEXT, expected_next.e, target), M(TEXT, expected_next.e, kind),
	M(TEXT, expected_next.e, location), M(U32, expected_next.e, progress, FIELD_REQUIRED),
	M(ROWS, expected_next, at, LIST(expectation_fields, profile_expectation)), { 0 },
};
static const struct field waiter_fields[] = {
	ITEM(TEXT, profile_waiter, name), ITEM(U32, profile_waiter, threads),
	ITEM(REAL, profile_waiter, share), ITEM(U64, profile_waiter, samples),
	ITEM(TEXT, profile_waiter, wait), { 0 },
};
static const struct field waiters_fields[] = {
	M(U32, waiters.w, run), M(TEXT, waiters.w, target), M(REAL, waiters.w, seconds),
	M(OBJECTS, waiters, list, LIST(waiter_fields, profile_waiter)), { 0 },
};
static const struct field choice_fields[] = {
	M(U32, choice, run), M(TEXT, choice, target), M(U64, choice, samples), { 0 },
};
static const struct field footer_fields[] = {
	M(U32, footer, run), M(REAL, footer.f, duration_s), M(U64, footer.f, samples_total),
	M(U64, footer.f, samples_lost), M(U64, footer.f, samples_unnamed),
	M(REAL, footer.f, inserted_s), M(REAL, footer.f, stopped_s), M(REAL, footer.f, own_s),
	M(REAL, footer.f, excused_s), M(REAL, footer.f, overhead_s), M(REAL, footer.f, waived_s),
	M(REAL, footer.f, owed_s), M(I32, footer.f, command_status), M(TEXT, footer.f, end),
	M(TEXTS, footer, reasons), M(TEXTS, footer, warnings), { 0 },
};

#define KIND(type, ...) { #type, type##_fields, &(const union profile_line){ .type = { __VA_ARGS__ } } }

static const struct line_kind kinds[PROFILE_LINE_KINDS] = {
	[LINE_HEADER] = KIND(header, .start.format = "",
			     .h = { .engine = "", .model = "", .mode = "", .command = "",
				    .host = "", .kernel = "", .started = "" }),
	[LINE_PROGRESS] = KIND(progress, .p = { .name = "", .spec = "" }, .kind = ""),
	[LINE_TARGET] = KIND(target, .name = "", .kind = "", .location = ""),
	[LINE_FREQUENCY] = KIND(frequency, .hz = 0),
	[LINE_WINDOW] = KIND(window, .discard = NULL),
	[LINE_DISCARD] = KIND(discard, .why = ""),
	[LINE_SAMPLE] = KIND(sample, .s = { .target = "", .location = "", .binary = "" }),
	[LINE_PROCESS] = KIND(process, .p = { .name = "", .rank = -1, .rank_from = "" }),
	[LINE_MACHINE] = KIND(machine, .m = { .run = 0 }),
	[LINE_LATENCY] = KIND(latency, .l = { .why = "" }),
	[LINE_SOURCE] = KIND(source, .s = { .run = 0 }),
	[LINE_SEEN] = KIND(seen, .run = 0),
	[LINE_PATH] = KIND(path, .p = { .run = 0 }),
	[LINE_REPLAY] = KIND(replay, .why = "", .through = ""),
	[LINE_EXPECTED] = KIND(expected, .e = { .target = "", .kind = "", .location = "",
						.function = "" }),
	[LINE_EXPECTED_NEXT] = KIND(expected_next, .e = { .target = "", .kind = "", .location = "",
							  .after = "" }),
	[LINE_WAITERS] = KIND(waiters, .w = { .target = "" }),
	[LINE_CHOICE] = KIND(choice, .target = ""),
	[LINE_FOOTER] = KIND(footer, .f = { .command_status = -1, .end = "" }),
};
/* clang-format on */

const struct jsonl_format profile_format = {
	.name = "scoz-profile",
	.version = PROFILE_VERSION,
	.noun = "profile",
	.command = "scozd -p POINT -o",
	.line_size = sizeof(union profile_line),
	.kinds = kinds,
	.n_kinds = ARRAY_SIZE(kinds),
};
