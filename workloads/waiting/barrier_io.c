// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two threads and a barrier (Ahn et al., OSDI 2024, Figure 1). In each iteration T1 computes a
 * little, writes 4 KiB and reads eight times 512 bytes, all without the page cache, and T2 only
 * computes; then they meet at a barrier made of a mutex and a condition variable.
 *
 *   --case 1	T2 is slower: only compute_heavy() is worth optimising
 *   --case 2	T1 is slower: what counts is its reads, then its write
 */
#include "waiting.h"

#define FILE_SIZE (16 << 20)

static double ratio, seconds = 5, light_us = 20, heavy_us;
static long iterations, reads = 8, read_size = 512, write_size = 4096;
static uint64_t light_turns, heavy_turns, deadline;
static char *buffer;
static int fd;

static bool futex_barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static unsigned int arrived;
static atomic_uint arrived_word, generation;
static bool done;

enum { LIGHT, WRITE, READ, BARRIER };

#define BARRIER_PHASE \
	{ \
		.name = "barrier_wait", \
		.functions = "pthread_cond_wait __futex_abstimed_wait_common", .class = "L", \
		.kind = "futex wait", .rest = true \
	}

static struct truth thread[2] = {
	{ .cheap = true,
	  .phase = { [LIGHT] = { .name = "compute_light" },
		     [WRITE] = { .name = "disk_write",
				 .functions = "pwrite64 pwrite __libc_pwrite64 __libc_pwrite",
				 .class = "I",
				 .kind = "disk" },
		     [READ] = { .name = "disk_read",
				.functions = "pread64 pread __libc_pread64 __libc_pread",
				.class = "I",
				.kind = "disk" },
		     [BARRIER] = BARRIER_PHASE } },
	{ .cheap = true,
	  .phase = { [LIGHT] = { .name = "compute_heavy" }, [BARRIER] = BARRIER_PHASE } },
};

NOIPA void compute_light(void)
{
	SPIN_TURNS(light_turns);
}

NOIPA void compute_heavy(void)
{
	SPIN_TURNS(heavy_turns);
}

NOIPA void disk_write(off_t at)
{
	if (pwrite(fd, buffer, (size_t)write_size, at) != write_size)
		die("cannot write %ld bytes at %ld: %s", write_size, (long)at, strerror(errno));
}

NOIPA void disk_read(off_t at)
{
	if (pread(fd, buffer, (size_t)read_size, at) != read_size)
		die("cannot read %ld bytes at %ld: %s", read_size, (long)at, strerror(errno));
}

NOIPA void iteration_done(void)
{
	static long n;

	n++;
	done = iterations ? n >= iterations : now_ns() >= deadline;
}

/* Whoever comes last ends the iteration. */
NOIPA void barrier_wait(void)
{
	unsigned int gen;

	if (futex_barrier) {
		gen = atomic_load(&generation);
		if (atomic_fetch_add(&arrived_word, 1) == 1) {
			iteration_done();
			atomic_store(&arrived_word, 0);
			atomic_store(&generation, gen + 1);
			futex_wake(&generation, 1);
		}
		while (atomic_load(&generation) == gen)
			futex_wait(&generation, gen);
		return;
	}
	pthread_mutex_lock(&mutex);
	gen = generation;
	if (++arrived == 2) {
		iteration_done();
		arrived = 0;
		generation++;
		pthread_cond_signal(&cond);
	}
	while (generation == gen)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
}

/* Spread over the file, so that no two in a row are neighbours. */
static off_t next_place(long size)
{
	static uint64_t nr;

	return (off_t)(nr++ * 2654435761U % (uint64_t)(FILE_SIZE / size) * (uint64_t)size);
}

static NOIPA void *thread1(void *arg)
{
	struct truth *t = arg;

	truth_begin(t, "T1");
	phase_begin(t);
	while (!done) {
		compute_light();
		phase_end(t, LIGHT);
		disk_write(next_place(write_size));
		phase_end(t, WRITE);
		for (long i = 0; i < reads; i++)
			disk_read(next_place(read_size));
		phase_end(t, READ);
		barrier_wait();
		phase_end(t, BARRIER);
	}
	truth_end(t);
	return NULL;
}

static NOIPA void *thread2(void *arg)
{
	struct truth *t = arg;

	truth_begin(t, "T2");
	phase_begin(t);
	while (!done) {
		compute_heavy();
		phase_end(t, LIGHT);
		barrier_wait();
		phase_end(t, BARRIER);
	}
	truth_end(t);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What T1 takes for an iteration: the middle of some. */
static double measure_t1(void)
{
	double us[200];

	for (int i = 0; i < 200; i++) {
		uint64_t start = now_ns();

		compute_light();
		disk_write(next_place(write_size));
		for (long k = 0; k < reads; k++)
			disk_read(next_place(read_size));
		us[i] = (double)(now_ns() - start) / 1e3;
	}
	qsort(us, 200, sizeof(*us), compare);
	return us[100];
}

static void usage(FILE *f)
{
	fprintf(f,
		"usage: barrier_io [--case 1|2] [option]...\n"
		"  --case N            1: T2 is slower (default), 2: T1\n"
		"  --ratio R           T2's time over T1's (1.1, or 0.5 in case 2)\n"
		"  --light-us US       compute_light (20)\n"
		"  --heavy-us US       compute_heavy, instead of --ratio\n"
		"  --reads N           reads an iteration (8)\n"
		"  --read-size BYTES   (512) and\n"
		"  --write-size BYTES  (4096): multiples of the disk's block size\n"
		"  --seconds S         (5), or\n"
		"  --count N           iterations\n"
		"  --futex             a barrier without libc: its call chains need no unwinder\n"
		"  --truth FILE        what each thread did how long, as JSON; \"-\": standard "
		"output\n");
}

int main(int argc, char **argv)
{
	enum {
		CASE = 256,
		RATIO,
		LIGHT_US,
		HEAVY_US,
		READS,
		RSIZE,
		WSIZE,
		SECS,
		COUNT,
		FUTEX,
		TRUTH
	};
	static const struct option opt[] = {
		{ "case", 1, NULL, CASE },
		{ "ratio", 1, NULL, RATIO },
		{ "light-us", 1, NULL, LIGHT_US },
		{ "heavy-us", 1, NULL, HEAVY_US },
		{ "reads", 1, NULL, READS },
		{ "read-size", 1, NULL, RSIZE },
		{ "write-size", 1, NULL, WSIZE },
		{ "seconds", 1, NULL, SECS },
		{ "count", 1, NULL, COUNT },
		{ "futex", 0, NULL, FUTEX },
		{ "truth", 1, NULL, TRUTH },
		{ "help", 0, NULL, 'h' },
		{ 0 },
	};
	int c, which = 1;
	const char *truth = NULL;
	pthread_t t[2];
	double speed;

	program = "barrier_io";
	while ((c = getopt_long(argc, argv, "h", opt, NULL)) != -1) {
		switch (c) {
		case CASE:
			which = (int)number(optarg, 1, 2);
			break;
		case RATIO:
			ratio = number(optarg, 0, 1000);
			break;
		case LIGHT_US:
			light_us = number(optarg, 0, 1e9);
			break;
		case HEAVY_US:
			heavy_us = number(optarg, 0, 1e9);
			break;
		case READS:
			reads = (long)number(optarg, 0, 1e6);
			break;
		case RSIZE:
			read_size = (long)number(optarg, 512, FILE_SIZE);
			break;
		case WSIZE:
			write_size = (long)number(optarg, 512, FILE_SIZE);
			break;
		case SECS:
			seconds = number(optarg, 0, 1e6);
			break;
		case COUNT:
			iterations = (long)number(optarg, 1, 1e12);
			break;
		case FUTEX:
			futex_barrier = true;
			break;
		case TRUTH:
			truth = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind < argc) {
		usage(stderr);
		return 2;
	}
	buffer = aligned_alloc(4096, FILE_SIZE);
	if (!buffer)
		die("out of memory");
	memset(buffer, 0x5a, (size_t)(read_size > write_size ? read_size : write_size));
	fd = direct_file(FILE_SIZE);
	speed = spin_speed();
	light_turns = (uint64_t)(speed * light_us);
	if (!heavy_us)
		heavy_us = measure_t1() * (ratio ? ratio : which == 1 ? 1.1 : 0.5);
	heavy_turns = (uint64_t)(speed * heavy_us);

	deadline = now_ns() + (uint64_t)(seconds * 1e9);
	start_thread(&t[0], thread1, &thread[0], 0);
	start_thread(&t[1], thread2, &thread[1], 0);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	if (truth) {
		print_truth(truth, thread, 2);
		return 0;
	}
	printf("{\"iterations\": %llu, \"seconds\": %.3f, \"rate\": %.3f, \"heavy_us\": %.1f}\n",
	       (unsigned long long)thread[0].phase[BARRIER].count, (double)thread[0].wall / 1e9,
	       (double)thread[0].phase[BARRIER].count * 1e9 / (double)thread[0].wall, heavy_us);
	return 0;
}
