// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples of a program and of all it starts, each unwound twice: by engine bpf in the kernel, and
 * here by unwind_stack(), from the registers and the stack that the kernel copied at that very
 * moment. (unwind_check compares unwind_stack() with libdw.)
 *
 *   unwind_samples [-n STACKS] [-t SECONDS] [-d] [-v] COMMAND [ARG...]
 *
 * One line: stacks that both have; of them, those that reach the outermost function, alike; those
 * that are as long as a chain may be; those whose copy ended first; those that the kernel's walk
 * left incomplete, at the end or (by frame pointers, until a table is there) between; frames that
 * it found, and those of them that are no caller's; stacks that miss callers between; samples
 * without tables; frames that the kernel's walks found by frame pointers.
 *
 * -d: after half of the stacks all that the kernel's walk reads is replaced by random bytes, again
 * and again: then frames may differ, and nothing else may happen.
 */
#include "engine/bpf/bpf_engine.h"
#include "maps/maps_perf.h"
#include "ring/perf_ring.h"
#include "run/cores.h"
#include "unwind/follow.h"
#include "unwind/unwind_table.h"

#include <asm/perf_regs.h>
#include <bpf/bpf.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES 32768
#define MAX_PIDS    (4 << 20)
#define EXACT	    ((uint64_t)PERF_CONTEXT_USER)
#define USER_REGS   (0x1ffULL | 0xffULL << PERF_REG_X86_R8)
#define N_REGS	    17

static struct maps *maps;
static struct unwind_follow *follow;
static struct engine *engine;
static struct cores cores;
static bool *ours, verbose;
static struct unwind_table **tables; /* by binary */
static bool *tried;
static size_t n_tables;

static struct {
	uint64_t stacks, complete, full, cut, incomplete, frames, wrong, missing, pointers, gone,
		damaged;
} sum;

/* A thread that has been reaped has no number, which is -1. */
static bool is_ours(uint32_t pid)
{
	return pid < MAX_PIDS && ours[pid];
}

struct memory {
	int pid;
	uint64_t at;
	const char *bytes;
	size_t n;
};

static void __attribute__((noreturn)) give_up(const struct error *err)
{
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

static const struct unwind_table *table_of(int pid, const struct maps_region *r)
{
	_cleanup_free_ char *path = NULL;
	struct error err;

	if (r->binary >= n_tables) {
		size_t n = r->binary * 2 + 16;

		tables = xreallocarray(tables, n, sizeof(*tables));
		tried = xreallocarray(tried, n, sizeof(*tried));
		memset(tables + n_tables, 0, (n - n_tables) * sizeof(*tables));
		memset(tried + n_tables, 0, (n - n_tables) * sizeof(*tried));
		n_tables = n;
	}
	if (!tried[r->binary]) {
		_cleanup_close_ int fd = maps_open_region(maps, pid, r, &path);

		if (path && !strcmp(path, MAPS_VDSO))
			fd = unwind_open_vdso();
		/* For as long as this lasts, the id is this one's. */
		maps_binary_unread(maps, r->binary);
		tried[r->binary] = true;
		if (fd >= 0)
			unwind_table_open(fd, path, NULL, &tables[r->binary], &err);
	}
	return tables[r->binary];
}

static bool read_copy(void *arg, uint64_t at, void *dst, size_t n)
{
	const struct memory *m = arg;

	if (at < m->at || at - m->at > m->n || n > m->n - (at - m->at))
		return false;
	memcpy(dst, m->bytes + (at - m->at), n);
	return true;
}

static bool find_table(void *arg, uint64_t pc, const struct unwind_table **t, uint64_t *address)
{
	const struct memory *m = arg;
	_cleanup_free_ struct maps_region *r = NULL;
	size_t n = maps_regions(maps, m->pid, &r);
	uint64_t bias;

	*t = NULL;
	for (size_t i = 0; i < n; i++) {
		if (pc < r[i].start || pc >= r[i].end)
			continue;
		*t = table_of(m->pid, &r[i]);
		if (*t && !unwind_table_bias(*t, r[i].start, r[i].pgoff, &bias))
			*t = NULL;
		if (*t)
			*address = pc - bias;
		return true;
	}
	return false;
}

static void print_both(const struct ring_sample *s, const uint64_t *pc, size_t n,
		       const struct unwind_frame *f, size_t n_ref, enum unwind_why why)
{
	printf("process %u: kernel %zu frames, here %zu (end %d)\n", s->pid, n, n_ref, why);
	for (size_t i = 0; i < n || i < n_ref; i++)
		printf("  %16llx %16llx%s\n", i < n ? (unsigned long long)pc[i] : 0,
		       i < n_ref ? (unsigned long long)f[i].pc : 0,
		       i < n && i < n_ref && pc[i] != f[i].pc ? "  <-" : "");
}

static void compare(const struct ring_sample *s, const struct unwind_registers *at,
		    struct memory *copy)
{
	struct unwind_source source = { EM_X86_64, copy, read_copy, find_table };
	static struct unwind_frame f[SCOZ_MAX_FRAMES];
	uint64_t pc[SCOZ_MAX_FRAMES], wrong = 0, incomplete = sum.incomplete;
	size_t n = 0, n_ref, next = 0, missed = 0, at_ref;
	enum unwind_why why;

	for (size_t i = 0; i < s->n_user && n < ARRAY_SIZE(pc); i++) {
		if (s->user[i] != EXACT)
			pc[n++] = s->user[i];
	}
	n_ref = unwind_stack(&source, at, f, ARRAY_SIZE(f), &why);
	if (why == UNWIND_NO_CODE && n_ref == 1) { /* it has execed or ended since */
		sum.gone++;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		for (at_ref = next; at_ref < n_ref && f[at_ref].pc != pc[i];)
			at_ref++;
		if (at_ref < n_ref) {
			missed += at_ref - next;
			next = at_ref + 1;
		} else {
			wrong += next < n_ref || why == UNWIND_COMPLETE;
		}
	}
	sum.stacks++;
	sum.frames += n < n_ref ? n : n_ref;
	sum.wrong += wrong;
	sum.missing += missed > 0;
	if (missed)
		sum.incomplete++;
	else if (s->n_user == SCOZ_MAX_FRAMES)
		sum.full++;
	else if (n == n_ref && why == UNWIND_COMPLETE)
		sum.complete++;
	else if (n >= n_ref && why == UNWIND_NO_STACK)
		sum.cut++;
	else
		sum.incomplete++;
	if (verbose && (wrong || sum.incomplete != incomplete))
		print_both(s, pc, n, f, n_ref, why);
}

/* What follows the chain: raw data, registers, stack. */
static void read_sample(const struct perf_event_header *h)
{
	static const uint8_t dwarf[] = { 0, 3, 2, 1, 4, 5, 6, 7 };
	struct unwind_registers at = { .known = 0xffff };
	struct ring_sample s;
	const uint64_t *w;
	struct memory m;

	if (!ring_decode_sample(h, &s) || !s.user || !is_ours(s.pid))
		return;
	w = s.user + s.n_user;
	if (*w++ != PERF_SAMPLE_REGS_ABI_64)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(dwarf); i++)
		at.r[dwarf[i]] = w[i];
	at.pc = w[8];
	for (size_t i = 8; i < 16; i++)
		at.r[i] = w[i + 1];
	w += N_REGS;
	m = (struct memory){ s.pid, at.r[7], (const char *)(w + 1), *w };
	m.n = *w ? w[1 + *w / 8] : 0;
	compare(&s, &at, &m);
	unwind_follow_sampled(follow, s.pid);
}

static void read_record(const struct perf_event_header *h)
{
	const uint32_t *ids = (const uint32_t *)(h + 1);
	struct ring_sample s;
	int pid;

	if (h->type == PERF_RECORD_SAMPLE) {
		if (!ring_decode_sample(h, &s) || !is_ours(s.pid))
			return;
		sum.pointers++;
		unwind_follow_sampled(follow, s.pid);
		return;
	}
	if (h->type == PERF_RECORD_FORK && ids[0] < MAX_PIDS) {
		ours[ids[0]] |= is_ours(ids[1]);
		unwind_follow_forked(follow, ids[1], ids[0]);
	}
	if (maps_perf_record(maps, h, &pid) == MAPS_PERF_EXEC)
		unwind_follow_execed(follow, pid);
}

static void on_mapping(uint32_t binary, const struct maps_mapping *m, void *arg)
{
	(void)binary, (void)arg;
	unwind_follow_mapped(follow, m->pid);
}

static void on_exit_of(int pid, void *arg)
{
	(void)arg;
	unwind_follow_exited(follow, pid);
}

static void drain(struct ring *r, void (*fn)(const struct perf_event_header *))
{
	const struct perf_event_header *h;

	while ((h = ring_next(r))) {
		fn(h);
		ring_release(r);
	}
}

static void open_copies(struct ring *ring, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.size = sizeof(attr),
		.sample_period = 1,
		.sample_type = ENGINE_SAMPLE_TYPE | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.exclude_callchain_user = 1,
		.sample_regs_user = USER_REGS,
		.sample_stack_user = STACK_BYTES,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_engine *b = (struct bpf_engine *)engine;
	uint32_t key = cpu;
	struct error err;

	if (fd < 0 || bpf_map_update_elem(bpf_map__fd(b->skel->maps.chain_events), &key, &fd, 0)) {
		error_set(&err, errno, "chains of CPU %d: %s", cpu, strerror(errno));
		give_up(&err);
	}
	if (ring_map(ring, fd, 2048, &err))
		give_up(&err);
}

static void set_up(struct ring *events, struct ring *copies)
{
	struct engine_options opt = { .name = "bpf",
				      .cpus = cores.cpus,
				      .n_cpus = cores.n,
				      .model = SCOZ_MODEL_WAIT,
				      .period_ns = NSEC_PER_MSEC,
				      .max_stop_ns = NSEC_PER_MSEC,
				      .max_share = 10,
				      .record_hz = 1e6,
				      .all_involved = true,
				      .unwind = true,
				      .trace_tasks = true };
	struct error err;

	if (maps_create(NULL, &maps, &err) || maps_start(maps, &err) ||
	    engine_create(&opt, &engine, &err))
		give_up(&err);
	if (!engine_unwind_maps(engine)) {
		puts("skipped: this kernel refuses the programs that unwind");
		exit(77);
	}
	for (int i = 0; i < cores.n; i++) {
		if (ring_map(&events[i], engine_event_fd(engine, i), 256, &err))
			give_up(&err);
	}
	if (unwind_follow_start(maps, engine_unwind_maps(engine), NULL, &follow, &err) ||
	    engine_start(engine, &err))
		give_up(&err);
	for (int i = 0; i < cores.n; i++)
		open_copies(&copies[i], cores.cpus[i]);
	maps_on_mapping(maps, on_mapping, NULL);
	maps_on_exit(maps, on_exit_of, NULL);
}

/* In whatever a process without rights could have had a say. */
static void damage(void)
{
	const struct unwind_maps *to = engine_unwind_maps(engine);
	static struct unwind_space space;
	union unwind_block block;
	uint32_t id, key = 0, next;

	for (uint32_t t = 1; !bpf_map_lookup_elem(to->tables, &t, &id); t++) {
		int fd = bpf_map_get_fd_by_id(id);

		for (uint32_t i = 0; i < 1000; i++) {
			for (size_t k = 0; k < sizeof(block); k++)
				((uint8_t *)&block)[k] = random() >> 8;
			if (random() % 2) { /* so that rows are found, of whatever rule */
				memset(block.off, 0, sizeof(block.off) / 2);
				block.root.deep = random() % 2;
				block.root.leaves = random() % 8;
				block.root.rules = random() % 8;
			}
			if (bpf_map_update_elem(fd, &i, &block, BPF_ANY))
				break;
			sum.damaged++;
		}
		close(fd);
	}
	while (!bpf_map_get_next_key(to->spaces, key ? &key : NULL, &next)) {
		key = next;
		if (bpf_map_lookup_elem(to->spaces, &key, &space))
			continue;
		for (int i = 0; i < UNWIND_MAX_MAPPINGS; i++) {
			space.map[i].zero += random() % 64;
			space.map[i].table = random() % 8;
		}
		if (random() % 4 == 0)
			space.n = random();
		bpf_map_update_elem(to->spaces, &key, &space, BPF_ANY);
	}
}

static int start(char **argv)
{
	int pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		setpgid(0, 0);
		dup2(null, 1); /* whoever reads our line does not wait for its children */
		dup2(null, 2);
		raise(SIGSTOP);
		execvp(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, NULL, WUNTRACED);
	return pid;
}

int main(int argc, char **argv)
{
	uint64_t most = 2000, until, seconds = 20;
	struct ring *events, *copies;
	struct unwind_counts c;
	struct error err;
	bool damages = false;
	int o, child;

	while ((o = getopt(argc, argv, "+n:t:dv")) != -1) {
		if (o == 'n')
			most = strtoull(optarg, NULL, 10);
		else if (o == 't')
			seconds = strtoull(optarg, NULL, 10);
		else if (o == 'd')
			damages = true;
		else if (o == 'v')
			verbose = true;
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	ours = xcalloc(MAX_PIDS, sizeof(*ours));
	if (cores_select(NULL, &cores, &err))
		give_up(&err);
	events = xcalloc(cores.n, sizeof(*events));
	copies = xcalloc(cores.n, sizeof(*copies));
	set_up(events, copies);
	child = start(argv + optind);
	ours[child] = true;
	kill(child, SIGCONT);
	until = clock_now_ns() + seconds * NSEC_PER_SEC;
	while (sum.stacks < most && clock_now_ns() < until &&
	       waitpid(child, NULL, WNOHANG) != child) {
		for (int i = 0; i < cores.n; i++) {
			drain(&events[i], read_record);
			drain(&copies[i], read_sample);
		}
		if (damages && sum.stacks >= most / 2)
			damage();
		usleep(3000);
	}
	kill(-child, SIGKILL);
	kernel_tables_counts(engine_unwind_maps(engine), &c);
	printf("stacks=%llu complete=%llu full=%llu cut=%llu incomplete=%llu frames=%llu "
	       "wrong=%llu missing=%llu "
	       "pointers=%llu by_pointer=%llu gone=%llu damaged=%llu\n",
	       (unsigned long long)sum.stacks, (unsigned long long)sum.complete,
	       (unsigned long long)sum.full, (unsigned long long)sum.cut,
	       (unsigned long long)sum.incomplete, (unsigned long long)sum.frames,
	       (unsigned long long)sum.wrong, (unsigned long long)sum.missing,
	       (unsigned long long)sum.pointers, (unsigned long long)c.by_pointer,
	       (unsigned long long)sum.gone, (unsigned long long)sum.damaged);
	unwind_follow_stop(follow, 5);
	engine_destroy(engine);
	return 0;
}
