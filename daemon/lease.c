// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/lease.h"
#include "host/privileges.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

/* On cores of their own: a host may take one of them for longer than the lease lasts. */
#define RENEWERS 2

struct lease;
struct renewer {
	struct lease *lease;
	pthread_t thread;
	int core; /* index in lease.cores */
	uint64_t first_ns;
};

struct lease {
	struct engine *engine;
	const struct cores *cores;
	struct renewer renewer[RENEWERS];
	int n;
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
	uint64_t now = clock_now_ns(), last;

	if (now > l->beat_ns + LEASE_PATIENCE_MS * NSEC_PER_MSEC)
		return;
	engine_renew_lease(l->engine);
	last = atomic_exchange(&l->renewed_ns, now);
	l->lapsed_ns += without_lease(last, now);
}

/*
 * Above whoever may take a core for longer than the lease lasts: it is for microseconds, and where
 * it comes late the windows are lost in which that happened, and only those.
 */
static void be_urgent(const struct renewer *r)
{
	struct sched_param rt = { .sched_priority = sched_get_priority_max(SCHED_FIFO) - 1 };

	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &rt) && r == r->lease->renewer)
		log_info("no real-time priority for the lease: stops may pause under load");
}

static void *lease_main(void *arg)
{
	const struct renewer *r = arg;
	struct lease *l = r->lease;
	uint64_t next = r->first_ns;

	pthread_setname_np(pthread_self(), "scozd/lease");
	cores_bind_thread(l->cores, r->core);
	be_urgent(r);
	privileges_keep(PRIVILEGE(CAP_BPF));
	while (!l->stop) {
		struct timespec until = { .tv_sec = next / NSEC_PER_SEC,
					  .tv_nsec = next % NSEC_PER_SEC };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		renew(l);
		next += l->n * ENGINE_LEASE_RENEW_NS;
		if (next < clock_now_ns()) /* it was stopped: what it missed is over */
			next = clock_now_ns();
	}
	return NULL;
}

int lease_start(struct engine *e, const struct cores *cores, struct lease **ret, struct error *err)
{
	struct lease *l = xcalloc(1, sizeof(*l));
	uint64_t now = clock_now_ns();

	l->engine = e;
	l->cores = cores;
	l->beat_ns = l->renewed_ns = now;
	engine_renew_lease(e);
	l->n = cores->n < RENEWERS ? cores->n : RENEWERS;
	for (int i = 0; i < l->n; i++) {
		struct renewer *r = &l->renewer[i];
		int failed;

		*r = (struct renewer){ .lease = l,
				       .core = i * cores->n / l->n,
				       .first_ns = now + i * ENGINE_LEASE_RENEW_NS };
		failed = pthread_create(&r->thread, NULL, lease_main, r);
		if (failed) {
			l->n = i;
			lease_stop(l);
			return error_set(err, failed, "starting a thread: %s", strerror(failed));
		}
	}
	*ret = l;
	return 0;
}

void lease_stop(struct lease *l)
{
	if (!l)
		return;
	l->stop = true;
	for (int i = 0; i < l->n; i++)
		pthread_join(l->renewer[i].thread, NULL);
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
