// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A batch that lingers: four threads compute (30 % target, 10 % rest), hand their piece over, and
 * wait for the batch to be done. A fifth takes what has come within 75 % of an iteration of the
 * first piece, as databases do before they write their log, and needs 10 % for it. There are never
 * as many pieces as would make a batch full, so the clock decides: it is told the same point in
 * time again each time that another piece has come.
 */
#include "stages.h"

#define PIECES 4

static struct {
	pthread_mutex_t lock;
	pthread_cond_t come, gone;
	int pieces;
	uint64_t batches;
} * log_of;

static void *writer(void *arg)
{
	uint64_t target = truth_share(30), rest = truth_share(10), seen;
	int nr = (int)(intptr_t)arg;

	for (;;) {
		truth_target(truth_cut(TRUTH_TARGET, target));
		truth_rest(rest);
		pthread_mutex_lock(&log_of->lock);
		log_of->pieces++;
		seen = log_of->batches;
		pthread_cond_signal(&log_of->come);
		while (log_of->batches == seen)
			pthread_cond_wait(&log_of->gone, &log_of->lock);
		pthread_mutex_unlock(&log_of->lock);
		truth_progress(nr);
	}
	return NULL;
}

static struct timespec linger_until(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += (long)(truth.iter_us * 750);
	ts.tv_sec += ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	return ts;
}

static void process(void *arg)
{
	uint64_t other = truth_share(10);

	(void)arg;
	for (intptr_t i = 0; i < PIECES; i++)
		truth_thread(writer, (void *)i);
	for (;;) {
		struct timespec until;

		pthread_mutex_lock(&log_of->lock);
		while (!log_of->pieces)
			pthread_cond_wait(&log_of->come, &log_of->lock);
		until = linger_until();
		while (log_of->pieces < 2 * PIECES &&
		       !pthread_cond_timedwait(&log_of->come, &log_of->lock, &until))
			;
		log_of->pieces = 0;
		pthread_mutex_unlock(&log_of->lock);
		truth_other(truth_cut(TRUTH_OTHER, other));
		pthread_mutex_lock(&log_of->lock);
		log_of->batches++;
		pthread_cond_broadcast(&log_of->gone);
		pthread_mutex_unlock(&log_of->lock);
	}
}

int main(int argc, char **argv)
{
	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "A batch that waits for 75 % of an iteration for more to come.",
			   .iter_us = 2000,
		   });
	log_of = truth_alloc_shared(sizeof(*log_of));
	pthread_mutex_init(&log_of->lock, NULL);
	pthread_cond_init(&log_of->come, NULL);
	pthread_cond_init(&log_of->gone, NULL);
	truth_spawn(process, NULL);
	return truth_run();
}
