/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program with marks, for test_marks.c; also valid C++. "program MODE N [OFFSET...]" raises
 * the semaphores at these file offsets first, as the kernel does for a uprobe's reference
 * counter: in the private, writable mapping of this file.
 */
#include <scoz.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __cplusplus
template <class T> static inline T templated(T n)
{
	SCOZ_PROGRESS_NAMED("template");
	return n + 1;
}
extern "C"
#endif
	unsigned int
	hot(unsigned int *p);

__attribute__((noinline)) unsigned int hot(unsigned int *p)
{
	SCOZ_PROGRESS_NAMED("hot");
	return *p + 1;
}

static inline void request(void)
{
	SCOZ_BEGIN("request");
	__asm__ volatile("" ::: "memory");
	SCOZ_END("request");
}

static void loop(long n)
{
	unsigned int x = 0;
	long i;

	for (i = 0; i < n; i++) {
		SCOZ_PROGRESS_NAMED("loop");
		request();
		x = hot(&x);
	}
	if (n > 1)
		COZ_PROGRESS;
	if (n > 2)
		SCOZ_PROGRESS();
	else
		SCOZ_PROGRESS_NAMED("odd %d {a|b} \"q\" \\ \xc3\xa9");
	COZ_BEGIN("coz")
	COZ_END("coz");
	SCOZ_PROGRESS_NAMED("long: 0123456789 0123456789 0123456789 0123456789 0123456789 "
			    "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
			    "0123456789 0123456789 0123456789 the end");
#ifdef __cplusplus
	templated(1);
	templated(2L);
#endif
}

static void raise_semaphore(unsigned long offset)
{
	char self[4096], line[8192], perms[8], path[4096];
	unsigned long start, end, pgoff;
	FILE *maps = fopen("/proc/self/maps", "r");
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &start, &end, perms, &pgoff,
			   path) != 5 ||
		    strcmp(perms, "rw-p") || strcmp(path, self))
			continue;
		if (offset >= pgoff && offset < pgoff + (end - start))
			(*(unsigned short *)(start + offset - pgoff))++;
	}
	if (maps)
		fclose(maps);
}

static void *thread(void *arg)
{
	loop((long)arg);
	return 0;
}

static volatile sig_atomic_t ticks;

static void on_tick(int sig)
{
	(void)sig;
	SCOZ_PROGRESS_NAMED("tick");
	SCOZ_BEGIN("request");
	SCOZ_END("request");
	ticks = ticks + 1;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "count";
	long n = argc > 2 ? atol(argv[2]) : 3, i;

	for (i = 3; i < argc; i++)
		raise_semaphore(strtoul(argv[i], 0, 0));
	if (!strcmp(mode, "threads")) {
		pthread_t t[8];

		for (i = 0; i < 8; i++)
			pthread_create(&t[i], 0, thread, (void *)n);
		for (i = 0; i < 8; i++)
			pthread_join(t[i], 0);
	} else if (!strcmp(mode, "fork")) {
		loop(n);
		for (i = 0; i < 4; i++) {
			if (!fork()) {
				loop(n);
				_exit(0);
			}
		}
		while (wait(0) > 0)
			;
	} else if (!strcmp(mode, "signal")) {
		/* The first tick may come while the main program maps the file. */
		timer_t timer;
		struct itimerspec when;

		memset(&when, 0, sizeof(when));
		when.it_value.tv_nsec = 1000;
		when.it_interval.tv_nsec = 200000;
		signal(SIGALRM, on_tick);
		timer_create(CLOCK_MONOTONIC, 0, &timer);
		timer_settime(timer, 0, &when, 0);
		while (ticks < 50)
			loop(n);
		memset(&when, 0, sizeof(when));
		timer_settime(timer, 0, &when, 0);
		usleep(1); /* ThreadSanitizer may have put off the last tick until a call that
			      waits. */
		printf("%d\n", (int)ticks);
	} else if (!strcmp(mode, "steps")) {
		/* One mark for every character on stdin, answered. */
		char c;

		while (read(0, &c, 1) == 1) {
			for (i = 0; i < n; i++)
				SCOZ_PROGRESS_NAMED("step");
			if (write(1, &c, 1) != 1)
				return 1;
		}
	} else {
		loop(n);
	}
	return 0;
}
