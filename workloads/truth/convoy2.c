// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A lock that becomes contended when the target is faster. Two workers compute the target (61 %)
 * outside and 39 % inside a lock that is handed to whoever waits longest. Handing it to a waiter
 * takes 30 % (the other knob) while it is held, as wake-ups and statistics under locks do, and who
 * has waited computes 2 % more afterwards, as with cold caches: that keeps them apart once they
 * met. With a long target the two take turns and never meet: 100 % for two units, 85 % with s = 25.
 * With a target shorter than the work inside, every unlock hands over: 138 %.
 */
#include "stages.h"

static struct {
	pthread_mutex_t guard;
	pthread_cond_t passed;
	uint32_t next, serving;
} * lock;

static bool fair_lock(void)
{
	bool waited;
	uint32_t mine;

	pthread_mutex_lock(&lock->guard);
	mine = lock->next++;
	waited = mine != lock->serving;
	while (mine != lock->serving)
		pthread_cond_wait(&lock->passed, &lock->guard);
	pthread_mutex_unlock(&lock->guard);
	return waited;
}

static void fair_unlock(uint64_t other)
{
	bool contended;

	pthread_mutex_lock(&lock->guard);
	contended = lock->next != lock->serving + 1;
	pthread_mutex_unlock(&lock->guard);
	if (contended)
		truth_other(truth_cut(TRUTH_OTHER, other));
	pthread_mutex_lock(&lock->guard);
	lock->serving++;
	pthread_cond_broadcast(&lock->passed);
	pthread_mutex_unlock(&lock->guard);
}

static void worker(void *arg)
{
	uint64_t target = truth_share(61), rest = truth_share(39);
	uint64_t other = truth_share(30), cold = truth_share(2);
	int nr = *(int *)arg;

	for (;;) {
		bool waited;

		truth_target(truth_cut(TRUTH_TARGET, target));
		waited = fair_lock();
		truth_rest(rest);
		fair_unlock(other);
		if (waited)
			truth_rest(cold);
		truth_progress(nr);
	}
}

int main(int argc, char **argv)
{
	static int nr[] = { 0, 1 };

	truth_init(
		argc, argv,
		&(struct truth_spec){
			.about =
				"A fair lock: 61 % target outside, 39 % inside, 30 % to hand over.",
			.iter_us = 4000,
		});
	lock = truth_alloc_shared(sizeof(*lock));
	truth_mutex_init(&lock->guard);
	truth_cond_init(&lock->passed);
	truth_spawn(worker, &nr[0]);
	truth_spawn(worker, &nr[1]);
	return truth_run();
}
