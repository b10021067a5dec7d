// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/lease.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

struct lease {
	struct engine *engine;
	pthread_t thread;
	volatile bool stop;
};

static void *lease_main(void *arg)
{
	struct sched_param rt = { .sched_priority = 1 };
	struct lease *l = arg;
	struct timespec next;

	pthread_setname_np(pthread_self(), "scozd/lease");
	/* On a busy machine an ordinary thread may wait longer than the lease lasts. */
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &rt))
		log_info("no real-time priority for the lease: stops may pause under load");
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!l->stop) {
		engine_renew_lease(l->engine);
		next.tv_nsec += ENGINE_LEASE_RENEW_NS;
		if (next.tv_nsec >= (long)NSEC_PER_SEC) {
			next.tv_nsec -= NSEC_PER_SEC;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	return NULL;
}

int lease_start(struct engine *e, struct lease **ret, struct error *err)
{
	struct lease *l = xcalloc(1, sizeof(*l));
	int r;

	l->engine = e;
	engine_renew_lease(e);
	r = pthread_create(&l->thread, NULL, lease_main, l);
	if (r) {
		free(l);
		return error_set(err, r, "starting a thread: %s", strerror(r));
	}
	*ret = l;
	return 0;
}

void lease_stop(struct lease *l)
{
	if (!l)
		return;
	l->stop = true;
	pthread_join(l->thread, NULL);
	free(l);
}
