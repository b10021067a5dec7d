// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A causal recording to measure `scoz whatif` with: whatif_trace FILE EVENTS. 200 threads on 4 CPUs
 * in pairs, of which one works, wakes the other, and waits for it; 100 functions; a sample every
 * millisecond.
 */
#include <stdio.h>

#include "trace/trace.h"

#define FUNCTIONS 100
#define THREADS	  200
#define CPUS	  4
#define TURN	  20000 /* ns */

static void fill(struct trace_writer *w)
{
	char name[32];

	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "function_%u", i);
		trace_write_frame(
			w, &(struct record_frame){ .symbol = name, .object = "/bin/synthetic" });
		trace_write_stack(w, &(struct record_stack){ i, UINT32_MAX });
	}
	trace_write_process(w, 0, 100, "synthetic");
	for (int i = 0; i < THREADS; i++)
		trace_write_thread(w, &(struct trace_thread){ 100 + i, 100, 0, "worker" });
	trace_write_point(w, "done");
}

/* Its partner has waited for it, and runs in its place. */
static void hand_over(struct trace_writer *w, uint64_t now, uint32_t thread, uint16_t cpu,
		      uint64_t sampled)
{
	uint32_t other = thread ^ 1;

	if (sampled)
		trace_write_event(w, &(struct trace_event){ .time = now,
							    .type = TRACE_SAMPLE,
							    .thread = thread,
							    .cpu = cpu,
							    .weight = 1000000,
							    .stack = sampled * 31 % FUNCTIONS });
	trace_write_event(w, &(struct trace_event){ .time = now,
						    .type = TRACE_WAKE,
						    .thread = other,
						    .cpu = cpu,
						    .by = TRACE_BY_THREAD,
						    .other = thread });
	trace_write_event(w, &(struct trace_event){ .time = now,
						    .type = TRACE_LEAVE,
						    .thread = thread,
						    .cpu = cpu,
						    .why = TRACE_BLOCKED,
						    .wait = TRACE_WAIT_READ });
	trace_write_event(w,
			  &(struct trace_event){
				  .time = now, .type = TRACE_ENTER, .thread = other, .cpu = cpu });
	trace_write_event(
		w, &(struct trace_event){
			   .time = now, .type = TRACE_PROGRESS, .thread = other, .cpu = cpu });
}

int main(int argc, char **argv)
{
	const struct trace_header header = { 1000000, "synthetic", "command",
					     "host",  "kernel",	   "2026-01-01T00:00:00Z",
					     CPUS };
	struct trace_footer footer = { .end = "command ended" };
	uint64_t events = argc == 3 ? strtoull(argv[2], NULL, 10) : 0, now = 0;
	uint32_t running[CPUS];
	struct trace_writer *w;
	struct error err = {};

	if (!events || trace_writer_open(argv[1], &header, &w, &err)) {
		fprintf(stderr, "usage: whatif_trace NEW-FILE EVENTS\n%s\n", err.text);
		return 2;
	}
	fill(w);
	for (uint32_t i = 0; i < THREADS; i++) {
		struct trace_event e = { .type = TRACE_FOLLOW,
					 .thread = i,
					 .cpu = i / 2 % CPUS,
					 .why = i % 2 ? TRACE_BLOCKED : TRACE_RUNS,
					 .wait = TRACE_WAIT_READ };

		trace_write_event(w, &e);
	}
	for (uint32_t i = 0; i < CPUS; i++)
		running[i] = 2 * i;
	for (uint64_t i = 0; i < events / 4; i++) {
		uint16_t cpu = i % CPUS;

		now += TURN / CPUS;
		hand_over(w, now, running[cpu], cpu, i % 50 ? 0 : i / 50 + 1);
		running[cpu] ^= 1;
		/* Another pair, now and then. */
		if (i % 64 < CPUS)
			running[cpu] = (running[cpu] + 2 * CPUS) % THREADS;
	}
	footer.duration = now;
	if (trace_writer_close(w, &footer, &err)) {
		fprintf(stderr, "whatif_trace: %s\n", err.text);
		return 1;
	}
	return 0;
}
