// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/lease.h"
#include "host/privileges.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

struct lease {
	struct engine *engine;
	pthread_t thread;
	atomic_bool stop;
	atomic_uint_fast64_t beat_ns;	 /* when the main thread was last seen at work */
	atomic_uint_fast64_t renewed_ns; /* when the lease was last renewed */
	atomic_uint_fast64_t lapsed_ns;	 /* without a lease, before that */
};

static uint64_t without_lease(uint64_t renewed_ns, uint64_t now)
{
	return now > renewed_ns + ENGINE_LEASE_NS ? now - renewed_ns - ENGINE_LEASE_NS : 0;
}

static void renew(struct lease *l)
{
	uint64_t now = clock_now_ns();

	if (now > l->beat_ns + LEASE_PATIENCE_MS * NSEC_PER_MSEC)
		return;
	engine_renew_lease(l->engine);
	l->lapsed_ns += without_lease(l->renewed_ns, now);
	l->renewed_ns = now;
}

static void *lease_main(void *arg)
{
	struct sched_param rt = { .sched_priority = 1 };
	struct lease *l = arg;
	struct timespec next;

	pthread_setname_np(pthread_self(), "scozd/lease");
	/* On a busy machine an ordinary thread may wait longer than the lease lasts. */
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &rt))
		log_info("no real-time priority for the lease: stops may pause under load");
	privileges_keep(PRIVILEGE(CAP_BPF));
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!l->stop) {
		renew(l);
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
	l->beat_ns = l->renewed_ns = clock_now_ns();
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

void lease_beat(struct lease *l)
{
	if (l)
		l->beat_ns = clock_now_ns();
}

uint64_t lease_lapsed_ns(const struct lease *l)
{
	return l ? l->lapsed_ns + without_lease(l->renewed_ns, clock_now_ns()) : 0;
}
