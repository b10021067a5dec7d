// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * amplify_traces DIRECTORY: what amplify does, for causal recordings, by our own writer; into a
 * directory each, which are there, for those that are to cost `waits`, `whatif` and `whatif --cpus`
 * (cpus).
 */
#include "record/recording.h"
#include "trace/trace.h"

#include <unistd.h>

#define MS 1000000ull
#define S  1000000000ull

static struct trace_writer *w;
static uint64_t now;

static void check(int rc, const struct error *err)
{
	if (!rc)
		return;
	fprintf(stderr, "amplify_traces: %s\n", err->text);
	exit(1);
}

static void put(struct trace_event e)
{
	e.time = now;
	trace_write_event(w, &e);
}

/* ---- parts of recordings ---- */

static void runs(uint32_t thread)
{
	put((struct trace_event){ .type = TRACE_FOLLOW, .thread = thread });
}

static void follows(uint32_t thread, enum trace_wait wait)
{
	put((struct trace_event){
		.type = TRACE_FOLLOW, .thread = thread, .why = TRACE_BLOCKED, .wait = wait });
}

static void blocks(uint32_t thread, enum trace_wait wait)
{
	put((struct trace_event){
		.type = TRACE_LEAVE, .thread = thread, .why = TRACE_BLOCKED, .wait = wait });
}

static void enters(uint32_t thread, uint32_t cpu)
{
	put((struct trace_event){ .type = TRACE_ENTER, .thread = thread, .cpu = cpu });
}

static void wakes(uint32_t waker, uint32_t thread)
{
	put((struct trace_event){
		.type = TRACE_WAKE, .thread = thread, .by = TRACE_BY_THREAD, .other = waker });
}

static void visits(uint32_t thread)
{
	put((struct trace_event){ .type = TRACE_PROGRESS, .thread = thread });
}

static void forks(uint32_t parent, uint32_t thread)
{
	put((struct trace_event){ .type = TRACE_FORK, .thread = thread, .other = parent });
}

static void ends(uint32_t thread)
{
	put((struct trace_event){ .type = TRACE_EXIT, .thread = thread });
}

static void met(uint32_t thread, uint32_t cpu, uint32_t stack, bool spins)
{
	put((struct trace_event){ .type = TRACE_SAMPLE,
				  .thread = thread,
				  .cpu = cpu,
				  .stack = stack,
				  .weight = MS,
				  .spins = spins });
}

static void threads(uint32_t n, bool alike)
{
	char name[16];

	trace_write_process(w, 0, 1, "a");
	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "t%u", alike ? 0 : i);
		trace_write_thread(w, &(struct trace_thread){ 1 + i, 1, 0, name });
	}
}

static void functions(uint32_t n, const char *name, const char *object)
{
	for (uint32_t i = 0; i < n; i++) {
		_cleanup_free_ char *symbol = xasprintf("%s%u", name, i);

		trace_write_frame(w, &(struct record_frame){ .symbol = symbol, .object = object });
		trace_write_stack(w, &(struct record_stack){ i, RECORDING_NONE });
	}
}

/* So that there is something to be said: a thread's visits, and samples of it. */
static void progress(uint32_t thread)
{
	for (uint32_t i = 0; i < 100; i++) {
		now += MS;
		met(thread, 0, 0, false);
		visits(thread);
	}
}

/* ---- recordings ---- */

/* All wait for one, who wakes each. */
static void many_threads(void)
{
	const uint32_t n = 32000;

	functions(20, "f", "/a");
	threads(n, false);
	runs(0);
	for (uint32_t i = 1; i < n; i++)
		follows(i, TRACE_WAIT_FUTEX);
	for (uint32_t i = 1; i < n; i++) {
		now += 1000;
		if (i % 100 == 0)
			met(0, 0, i / 100 % 20, false);
		wakes(0, i);
		enters(i, 1);
	}
	progress(0);
}

/* They wait in different ways, so that each is compared with each. */
static void ways(void)
{
	const uint32_t n = 20000;

	threads(n, true);
	runs(0);
	for (uint32_t i = 1; i < n; i++)
		follows(i, TRACE_WAIT_OTHER);
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 1; i < n; i++) {
			now += (i * 2654435761u >> (3 * round) & 0xff) * 1000;
			wakes(0, i);
			enters(i, 1);
			blocks(i, (i >> (3 * round)) % TRACE_WAITS);
		}
	}
}

/* One has so many children at a time; and they end while it is queued. */
static void children(void)
{
	const uint32_t n = 40000;

	functions(2, "f", "/a");
	threads(n, false);
	runs(0);
	for (uint32_t i = 1; i < n; i++) {
		now += 1000;
		forks(0, i);
	}
	for (uint32_t i = 1; i < n; i++) {
		now += 10000;
		enters(i, 1);
		if (i == 1)
			blocks(0, TRACE_WAIT_CHILD);
		if (i == n - 1)
			wakes(i, 0);
		ends(i);
	}
	progress(0);
}

/* Each is woken by the next one, which waited as long for the one after it. */
static void chain(void)
{
	const uint32_t n = 20000;

	functions(2, "f", "/a");
	threads(n, false);
	for (uint32_t i = 0; i < n - 1; i++)
		follows(i, TRACE_WAIT_FUTEX);
	runs(n - 1);
	now += 10 * S;
	for (uint32_t i = n - 1; i > 0; i--) {
		now += 1000;
		wakes(i, i - 1);
		enters(i - 1, 1);
	}
	progress(0);
}

/* The same, and those that are seen first wait for the last one: held up from behind. */
static void chain_backwards(void)
{
	const uint32_t n = 20000;

	threads(n, false);
	runs(0);
	visits(0);
	for (uint32_t i = 1; i < n; i++)
		follows(i, TRACE_WAIT_FUTEX);
	now += 10 * S;
	for (uint32_t i = 1; i < n; i++) {
		now += 1000;
		wakes(i - 1, i);
		enters(i, 1);
		blocks(i - 1, TRACE_WAIT_FUTEX);
	}
	now += 10 * S;
	for (uint32_t i = n - 1; i > 0; i--) {
		now += 1000;
		wakes(i, i - 1);
		enters(i - 1, 1);
	}
}

/* Many pairs, each of which is a knot. */
static void pairs(void)
{
	const uint32_t n = 24000;

	threads(n, false);
	for (uint32_t i = 0; i < n; i++)
		i % 2 ? runs(i) : follows(i, TRACE_WAIT_FUTEX);
	for (uint32_t round = 0; round < 2; round++) {
		now += S;
		for (uint32_t i = 0; i < n; i += 2) {
			wakes(i + 1 - round, i + round);
			enters(i + round, 0);
			blocks(i + 1 - round, TRACE_WAIT_FUTEX);
		}
	}
	now += S;
}

/* One knot, of which one thread after the other can be taken away. */
static void knot(void)
{
	const uint32_t n = 12500;

	threads(n, false);
	for (uint32_t i = 0; i < n; i++)
		follows(i, TRACE_WAIT_FUTEX);
	for (uint32_t i = 1; i < n; i++) {
		now += 1000 + i;
		wakes(i, i - 1);
		enters(i - 1, 0);
		blocks(i - 1, TRACE_WAIT_FUTEX);
	}
	for (uint32_t i = n - 1; i > 0; i--) {
		now += 1000 + i / 2;
		wakes(i - 1, i);
		enters(i, 0);
	}
}

/* A second between two events. */
static void seconds(void)
{
	const uint32_t n = 20000;

	functions(2, "f", "/a");
	threads(n, false);
	runs(0);
	for (uint32_t i = 1; i < n; i++) {
		now += i % 2 ? 2 * S : 1ull << 40;
		follows(i, TRACE_WAIT_FUTEX);
	}
	for (uint32_t i = 1; i < n; i++) {
		now += 2 * S;
		wakes(0, i);
	}
	progress(0);
}

/* The highest numbers of CPUs, and threads that spin there. */
static void cpus(void)
{
	const uint32_t n = 4000;

	functions(20, "spin_lock", "/a");
	threads(n, true);
	for (uint32_t i = 0; i < n; i++)
		follows(i, TRACE_WAIT_FUTEX);
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 1; i < n; i++) {
			now += 10000;
			wakes(0, i);
			enters(i, round ? 8191 - i : 8191);
			met(i, 8191 - i, i % 20, true);
			met(0, 8191, i % 20, true);
			now += 100;
			blocks(i, TRACE_WAIT_FUTEX);
			visits(0);
		}
	}
}

/* Deep chains, also of MPI, and many that end differently. */
static void deep(uint32_t depth, uint32_t n_ends, bool mpi)
{
	static const char *const mpis[] = { "PMPI_Recv", "MPIDI_progress", "ucp_worker_progress" };

	for (uint32_t i = 0; i < 100; i++) {
		_cleanup_free_ char *symbol = xasprintf("s%u", i);

		trace_write_frame(w, &(struct record_frame){ .symbol = symbol, .object = "/a" });
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(mpis); i++)
		trace_write_frame(w, &(struct record_frame){ .symbol = mpis[i],
							     .object = i < 2 ? "/lib/libmpich.so.12"
									     : "/lib/libucp.so" });
	trace_write_frame(w, &(struct record_frame){ .symbol = "k", .object = "[kernel]" });
	for (uint32_t i = 0; i < depth; i++)
		trace_write_stack(w, &(struct record_stack){ mpi && i > 10 ? 103 : i % 100,
							     i ? i - 1 : RECORDING_NONE });
	for (uint32_t i = 0; i < n_ends; i++)
		trace_write_stack(w, &(struct record_stack){ mpi ? 103 : i % 100, depth - 1 });
	threads(200, false);
	for (uint32_t i = 0; i < 200; i++)
		runs(i);
	for (uint32_t i = 0; i < n_ends; i++) {
		now += MS;
		met(i % 200, 0, depth + i, false);
		visits(0);
	}
}

static void deep_stacks(void)
{
	deep(8000, 20000, false);
}

static void deep_polls(void)
{
	deep(8000, 20000, true);
}

/* Deeper than any that is written. */
static void deepest_stack(void)
{
	deep(100000, 10, false);
}

/* Engines of MPI without end. */
static void engines(void)
{
	const uint32_t n = 30000;

	trace_write_frame(w, &(struct record_frame){ .symbol = "ucp_worker_progress",
						     .object = "/lib/libucp.so.0" });
	trace_write_frame(w, &(struct record_frame){ .symbol = "PMPI_Recv",
						     .object = "/lib/libmpich.so.12" });
	for (uint32_t i = 0; i < n; i++) {
		_cleanup_free_ char *symbol = xasprintf("e%u", i);

		trace_write_frame(w, &(struct record_frame){ .symbol = symbol,
							     .object = "/lib/libmpich.so.12" });
		trace_write_stack(w, &(struct record_stack){ 2 + i, RECORDING_NONE });
		trace_write_stack(w, &(struct record_stack){ 0, 2 * i });
	}
	threads(1, false);
	runs(0);
	progress(0);
}

/* Long names that begin alike. */
static void long_names(void)
{
	char *name = xmalloc(4097);

	memset(name, 'n', 4096);
	for (uint32_t i = 0; i < 4000; i++) {
		snprintf(name + 4080, 16, "%u", i);
		trace_write_frame(
			w, &(struct record_frame){ .symbol = name, .object = name, .file = name });
		trace_write_stack(w, &(struct record_stack){ i, RECORDING_NONE });
	}
	free(name);
	threads(1, false);
	runs(0);
	progress(0);
}

/* Names that would all be found at the same place by hash_bytes(), where differences cancel out. */
static void chosen_names(void)
{
	char name[16 * 15 + 1];

	for (uint32_t i = 0; i < 20000; i++) {
		for (uint32_t b = 0; b < 15; b++) {
			char *part = name + 16 * b;

			memcpy(part, "abcdefghijklmnop", 17);
			if (i >> b & 1) {
				part[7] ^= 0x80;
				part[15] ^= 0x80;
				part[12] ^= 0x04;
			}
		}
		trace_write_frame(w, &(struct record_frame){ .symbol = name, .object = "/a" });
		trace_write_stack(w, &(struct record_stack){ i, RECORDING_NONE });
	}
	threads(1, false);
	runs(0);
	progress(0);
}

/* As many requests open as are remembered, of as many devices as there can be. */
static void requests(void)
{
	const uint32_t n = TRACE_DEVICES_MOST;

	functions(20, "f", "/a");
	for (uint32_t i = 0; i < n; i++) {
		_cleanup_free_ char *name = xasprintf("d%u", i);

		trace_write_device(w, name);
	}
	threads(2, false);
	runs(0);
	for (uint32_t k = 0; k < 50; k++) {
		for (uint32_t d = 0; d < n; d++) {
			now += 10;
			put((struct trace_event){
				.type = TRACE_ISSUE, .thread = 0, .other = d, .stack = k });
		}
	}
	for (uint32_t d = 0; d < n; d++) {
		put((struct trace_event){ .type = TRACE_COMPLETE,
					  .thread = TRACE_NONE,
					  .cpu = 2 * d,
					  .other = d,
					  .stack = 30 });
	}
	progress(0);
}

/* Hundreds of megabytes of the same event. */
static void dense(void)
{
	functions(2, "f", "/a");
	threads(2, false);
	runs(0);
	for (uint32_t i = 0; i < 3000000; i++)
		enters(0, 0);
	progress(0);
}

static void dense_samples(void)
{
	functions(2, "f", "/a");
	threads(2, false);
	runs(0);
	for (uint32_t i = 0; i < 2000000; i++)
		met(0, 0, 0, false);
	progress(0);
}

static void dense_words(void)
{
	char **words = xcalloc(1000001, sizeof(*words));

	for (uint32_t i = 0; i < 1000000; i++)
		words[i] = (char *)"";
	trace_write_command(w, words);
	free(words);
	threads(2, false);
	runs(0);
}

/* Each wait of some covers all short ones of others, which cover those of others again. */
static void cascade(void)
{
	const uint32_t n = 200, m = 300;

	threads(n + 3, false);
	for (uint32_t i = 0; i < n + 2; i++)
		follows(i, TRACE_WAIT_FUTEX);
	runs(n + 2);
	for (uint32_t k = 0; k < m; k++) {
		for (uint32_t i = 0; i < m; i++) {
			now += 1000;
			wakes(n + 2, n + 1);
			enters(n + 1, 1);
			if (i == m - 1)
				wakes(n + 1, n);
			blocks(n + 1, TRACE_WAIT_FUTEX);
		}
		enters(n, 1);
		blocks(n, TRACE_WAIT_FUTEX);
	}
	for (uint32_t k = 0; k < 50; k++) {
		for (uint32_t i = 0; i < n; i++) {
			now += 1;
			wakes(n, i);
		}
	}
}

/* One wakes as many at once as can be, again and again. */
static void bursts(void)
{
	functions(20, "f", "/a");
	threads(70, true);
	runs(0);
	for (uint32_t i = 1; i < 70; i++)
		follows(i, TRACE_WAIT_FUTEX);
	for (uint32_t k = 0; k < 1000; k++) {
		now += 1;
		for (uint32_t i = 1; i < 70; i++) {
			wakes(0, i);
			blocks(i, TRACE_WAIT_FUTEX);
		}
		met(0, 0, k % 20, false);
	}
	progress(0);
}

/* For a day each runs, on one CPU. */
static void long_runs(void)
{
	const uint32_t n = 1000;

	functions(2, "f", "/a");
	threads(n, false);
	for (uint32_t i = 0; i < n; i++)
		runs(i);
	visits(0);
	now += 86400 * S;
	for (uint32_t i = 0; i < n; i++) {
		now++;
		blocks(i, TRACE_WAIT_FUTEX);
		wakes((i + 1) % n, i);
	}
	for (uint32_t i = 0; i < n; i++)
		enters(i, 0);
	progress(0);
}

/* As many CPUs as a header can claim. */
static void many_cpus(void)
{
	functions(2, "f", "/a");
	threads(2, false);
	runs(0);
	progress(0);
}

static const struct {
	const char *command; /* that it is for */
	const char *name;
	void (*make)(void);
} files[] = {
	{ "waits", "threads", many_threads },
	{ "waits", "ways", ways },
	{ "waits", "children", children },
	{ "waits", "chain", chain },
	{ "waits", "chain-backwards", chain_backwards },
	{ "waits", "pairs", pairs },
	{ "waits", "knot", knot },
	{ "waits", "cascade", cascade },
	{ "waits", "seconds", seconds },
	{ "waits", "dense", dense },
	{ "waits", "dense-words", dense_words },
	{ "waits", "long-names", long_names },
	{ "whatif", "threads", many_threads },
	{ "whatif", "cpus", cpus },
	{ "whatif", "many-cpus", many_cpus },
	{ "whatif", "deep-stacks", deep_stacks },
	{ "whatif", "deep-polls", deep_polls },
	{ "whatif", "deepest-stack", deepest_stack },
	{ "whatif", "engines", engines },
	{ "whatif", "chosen-names", chosen_names },
	{ "whatif", "requests", requests },
	{ "whatif", "dense-samples", dense_samples },
	{ "whatif", "bursts", bursts },
	{ "cpus", "long-runs", long_runs },
};

int main(int argc, char **argv)
{
	struct trace_header header = { MS, "./a", "command", "h", "6.1", "", 0 };
	static const struct trace_footer footer = { 100 * S, 0, 0, "done" };
	struct error err;

	if (argc != 2) {
		fprintf(stderr, "usage: amplify_traces DIRECTORY\n");
		return 2;
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_free_ char *path =
			xasprintf("%s/%s/%s", argv[1], files[i].command, files[i].name);

		header.cpus = files[i].make == many_cpus ? UINT16_MAX : TRACE_CPUS_MOST;
		check(trace_writer_open(path, &header, &w, &err), &err);
		trace_write_point(w, "iter");
		now = 1000;
		files[i].make();
		check(trace_writer_close(w, &footer, &err), &err);
	}
	return 0;
}
