// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two programs with a known answer. All work is counted in turns of one loop; a file, which scozd
 * --truth writes, says by how many percent the target's part is really made shorter.
 *
 *   turns    two threads take turns, the target is a quarter of the way: all of it counts
 *   barrier  two threads meet, of 5 and 4 parts, the target is two of the five: half of it counts
 */
#include "tools/scoz/commands/prove.h"
#include "tools/scoz/cmds.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define PART_NS 1000000.0

/* Code that scozd finds by name: one copy each, called, not inlined. */
#if defined(__has_attribute) && __has_attribute(noipa)
#define FINDABLE __attribute__((noipa))
#else
#define FINDABLE __attribute__((noinline))
#endif

const char *const prove_names[] = { "turns", "barrier", NULL };

static struct {
	const int32_t *knob;
	uint64_t part; /* turns of the loop */
	sem_t go[2];
	pthread_barrier_t meet;
} prove_state;

static inline void burn(uint64_t turns)
{
	uint32_t x = turns;

	for (; turns; turns--) {
		x = x * 1664525 + 1013904223;
		__asm__ volatile("" : "+r"(x));
	}
}

void scoz_prove_target(uint64_t turns);
void scoz_prove_rest(uint64_t turns);
void scoz_prove_progress(void);

FINDABLE void scoz_prove_target(uint64_t turns)
{
	burn(turns);
	__asm__ volatile("" ::: "memory");
}

FINDABLE void scoz_prove_rest(uint64_t turns)
{
	burn(turns);
	__asm__ volatile("" ::: "memory");
}

FINDABLE void scoz_prove_progress(void)
{
	__asm__ volatile("" ::: "memory");
}

static void target(double parts)
{
	int32_t less = __atomic_load_n(prove_state.knob, __ATOMIC_RELAXED);

	scoz_prove_target(parts * prove_state.part * (100 - less) / 100);
}

static void rest(double parts)
{
	scoz_prove_rest(parts * prove_state.part);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* The fastest of some tries: others may be at work. */
static void calibrate(void)
{
	uint64_t turns = 200000;
	double best = INFINITY;

	for (int i = 0; i < 20; i++) {
		double start = now_ns();

		scoz_prove_rest(turns);
		best = fmin(best, now_ns() - start);
	}
	prove_state.part = turns * PART_NS / fmax(best, 1);
}

static void wait_for(sem_t *s)
{
	while (sem_wait(s) && errno == EINTR)
		;
}

static void *turns(void *arg)
{
	int me = arg != NULL;

	for (;;) {
		wait_for(&prove_state.go[me]);
		if (me) {
			target(1);
			rest(1);
			scoz_prove_progress();
		} else {
			rest(2);
		}
		sem_post(&prove_state.go[!me]);
	}
	return NULL;
}

static void *barrier(void *arg)
{
	for (;;) {
		if (arg) {
			target(2);
			rest(3);
			scoz_prove_progress();
		} else {
			rest(4);
		}
		pthread_barrier_wait(&prove_state.meet);
	}
	return NULL;
}

static bool map_knob(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	void *p = MAP_FAILED;

	if (fd >= 0 && (lseek(fd, 0, SEEK_END) >= 4 || !ftruncate(fd, 4)))
		p = mmap(NULL, 4, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		log_warn("cannot use the knob file %s: %s", path, strerror(errno));
	else
		prove_state.knob = p;
	if (fd >= 0)
		close(fd);
	return p != MAP_FAILED;
}

int prove_program(int argc, char **argv)
{
	void *(*run)(void *) = argc < 2				  ? NULL
			       : !strcmp(argv[0], prove_names[0]) ? turns
			       : !strcmp(argv[0], prove_names[1]) ? barrier
								  : NULL;
	pthread_t other;

	if (!run) {
		log_warn("doctor " PROVE_PROGRAM ": give it a program (turns, barrier) and a file");
		return EXIT_USAGE;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (!map_knob(argv[1]))
		return EXIT_FAILED;
	calibrate();
	sem_init(&prove_state.go[0], 0, 1);
	sem_init(&prove_state.go[1], 0, 0);
	pthread_barrier_init(&prove_state.meet, NULL, 2);
	if (pthread_create(&other, NULL, run, NULL)) {
		log_warn("cannot start a thread: %s", strerror(errno));
		return EXIT_FAILED;
	}
	run(&other);
	return EXIT_DONE;
}
