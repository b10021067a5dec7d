// SPDX-License-Identifier: GPL-2.0-or-later
/* docs/file-format.md says what the fields mean. */
#include "record/format.h"

/* clang-format off */
#define F(...) FIELD(union record_line, __VA_ARGS__)
/* Called in the file as in the struct. */
#define M(type, part, member, ...) F(#member, type, part.member, ##__VA_ARGS__)

static const struct field header_fields[] = {
	M(TEXT, header.start, format), M(U64, header.start, version), M(TEXT, header.h, engine),
	M(U64, header.h, period_ns), M(TEXT, header.h, command), M(TEXT, header.h, scope),
	M(TEXT, header.h, host), M(TEXT, header.h, kernel), M(TEXT, header.h, started),
	M(U32, header.h, cpus), { 0 },
};
static const struct field frame_fields[] = {
	M(ID, frame, id), M(TEXT, frame.f, symbol), M(TEXT, frame.f, object),
	M(TEXT, frame, kind), M(TEXT, frame.f, file, FIELD_OPTIONAL),
	M(U32, frame.f, line, FIELD_OPTIONAL), M(U64, frame.f, address, FIELD_OPTIONAL), { 0 },
};
static const struct field stack_fields[] = {
	M(ID, stack, id), M(ID, stack.s, parent), M(ID, stack.s, frame), { 0 },
};
static const struct field process_fields[] = {
	M(ID, process, id), M(I32, process, pid), F("t", U64, process.start),
	M(TEXT, process, name), M(I32, process, rank, FIELD_OPTIONAL),
	M(TEXT, process, rank_from, FIELD_OPTIONAL), M(FLAG, process, kernel), { 0 },
};
static const struct field thread_fields[] = {
	M(ID, thread, id), M(I32, thread, tid), M(I32, thread, pid),
	M(ID, thread, process, FIELD_OPTIONAL), F("t", U64, thread.start), M(TEXT, thread, comm),
	{ 0 },
};
static const struct field scozd_fields[] = {
	M(I32, scozd, pid), M(U64, scozd, from), M(U64, scozd, to), { 0 },
};
static const struct field comm_fields[] = {
	M(ID, comm, thread), F("t", U64, comm.time), M(TEXT, comm, comm), { 0 },
};
static const struct field sample_fields[] = {
	F("t", U64, sample.s.time), M(ID, sample.s, thread), M(U32, sample.s, cpu),
	M(TEXT, sample, class), F("n", U32, sample.s.points, FIELD_OPTIONAL),
	F("d", U64, sample.s.duration, FIELD_OPTIONAL), M(ID, sample.s, stack, FIELD_OPTIONAL),
	M(TEXT, sample.s, kind, FIELD_OPTIONAL), M(ID, sample.s, holder, FIELD_OPTIONAL),
	M(ID, sample.s, waker, FIELD_OPTIONAL), M(TEXT, sample.s, event, FIELD_OPTIONAL),
	M(FLAG, sample.s, unfinished), { 0 },
};
static const struct field times_fields[] = {
	F("thread", ID, thread.id), M(U64, thread, from), M(U64, thread, to), M(U64, thread, on),
	M(U64, thread, sched), M(U64, thread, io), M(U64, thread, other),
	M(FLAG, thread, exited), { 0 },
};
static const struct field footer_fields[] = {
	F("duration_ns", U64, footer.duration), M(U64, footer, samples), M(U64, footer, points),
	M(U64, footer, lost), M(U64, footer, broken_chains), M(U64, footer, without_chain),
	M(I32, footer, command_status), M(TEXT, footer, end), { 0 },
};

#define NONE RECORDING_NONE
#define KIND(type, member, ...) { #type, type##_fields, &(const union record_line){ .member = { __VA_ARGS__ } } }

static const struct line_kind kinds[RECORD_LINE_KINDS] = {
	[RECORD_LINE_HEADER] = KIND(header, header, .start.format = "",
				    .h = { .engine = "", .command = "", .scope = "", .host = "",
					   .kernel = "", .started = "" }),
	[RECORD_LINE_SAMPLE] = KIND(sample, sample,
				    .s = { .points = 1, .thread = NONE, .stack = NONE,
					   .holder = NONE, .waker = NONE },
				    .class = ""),
	[RECORD_LINE_STACK] = KIND(stack, stack, .s = { NONE, NONE }, .id = NONE),
	[RECORD_LINE_FRAME] = KIND(frame, frame, .f = { .symbol = "[unknown]", .object = "" },
				   .id = NONE, .kind = ""),
	[RECORD_LINE_THREAD] = KIND(thread, thread, .id = NONE, .process = NONE, .comm = ""),
	[RECORD_LINE_COMM] = KIND(comm, comm, .thread = NONE, .comm = ""),
	[RECORD_LINE_TIMES] = KIND(times, thread, .id = NONE, .process = NONE, .comm = ""),
	[RECORD_LINE_PROCESS] = KIND(process, process, .id = NONE, .name = "", .rank = -1),
	[RECORD_LINE_SCOZD] = KIND(scozd, scozd, .pid = 0),
	[RECORD_LINE_FOOTER] = KIND(footer, footer, .command_status = -1, .end = ""),
};
/* clang-format on */

const struct jsonl_format record_format = {
	.name = "scoz-record",
	.version = RECORDING_VERSION,
	.noun = "recording",
	.command = "scoz record -o",
	.line_size = sizeof(union record_line),
	.kinds = kinds,
	.n_kinds = ARRAY_SIZE(kinds),
};
