// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two processes take turns, each computing half of the iteration while the other waits: every
 * saving counts, so s % of the target is s / 2 % of the run time. Turns pass by futex, by pipe, or
 * by mutex and condition variable. With --alarm-ms an alarm now and then interrupts whoever is at
 * it or waits, which changes nothing.
 */
#include "stages.h"
#include <limits.h>
#include <sys/time.h>

static long by_pipe, by_cond, alarm_ms;
static int fd[2][2];
static struct {
	uint32_t turn;
	pthread_mutex_t lock;
	pthread_cond_t passed;
} * game;

static void futex_wait_turn(uint32_t me)
{
	uint32_t now;

	while ((now = __atomic_load_n(&game->turn, __ATOMIC_ACQUIRE)) != me)
		truth_futex(&game->turn, FUTEX_WAIT, now);
}

static void futex_pass_turn(uint32_t to)
{
	__atomic_store_n(&game->turn, to, __ATOMIC_RELEASE);
	truth_futex(&game->turn, FUTEX_WAKE, INT_MAX);
}

static void cond_wait_turn(uint32_t me)
{
	pthread_mutex_lock(&game->lock);
	while (game->turn != me)
		pthread_cond_wait(&game->passed, &game->lock);
	pthread_mutex_unlock(&game->lock);
}

static void cond_pass_turn(uint32_t to)
{
	pthread_mutex_lock(&game->lock);
	game->turn = to;
	pthread_cond_signal(&game->passed);
	pthread_mutex_unlock(&game->lock);
}

static void wait_turn(int me)
{
	char c;

	if (by_pipe)
		truth_receive(fd[me][0], &c, 1);
	else if (by_cond)
		cond_wait_turn((uint32_t)me);
	else
		futex_wait_turn((uint32_t)me);
}

static void pass_turn(int me)
{
	if (by_pipe)
		truth_send(fd[!me][1], "", 1);
	else if (by_cond)
		cond_pass_turn(!me);
	else
		futex_pass_turn(!me);
}

static void set_alarm(int signal)
{
	struct itimerval timer = { .it_value = { alarm_ms / 1000, alarm_ms % 1000 * 1000 } };

	(void)signal;
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Armed once for each time that it goes off, as timeouts are. */
static void begin_alarms(void)
{
	struct sigaction action = { .sa_handler = set_alarm, .sa_flags = SA_RESTART };

	if (!alarm_ms)
		return;
	sigaction(SIGALRM, &action, NULL);
	set_alarm(SIGALRM);
}

static void ping(void *arg)
{
	uint64_t target = truth_share(50);

	(void)arg;
	begin_alarms();
	for (;;) {
		truth_target(truth_cut(TRUTH_TARGET, target));
		pass_turn(0);
		wait_turn(0);
		truth_progress(0);
	}
}

static void pong(void *arg)
{
	uint64_t other = truth_share(50);

	(void)arg;
	for (;;) {
		wait_turn(1);
		truth_other(truth_cut(TRUTH_OTHER, other));
		pass_turn(1);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		{ "pipe", true, &by_pipe, "pass turns by pipe instead of futex" },
		{ "cond", true, &by_cond, "pass turns by mutex and condition variable" },
		{ "alarm-ms", false, &alarm_ms, "an alarm after so many milliseconds" },
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Two processes take turns: 50 % target, 50 % other.",
			   .iter_us = 1000,
			   .opt = opt,
		   });
	game = truth_alloc_shared(sizeof(*game));
	truth_mutex_init(&game->lock);
	truth_cond_init(&game->passed);
	truth_pipe(fd[0]);
	truth_pipe(fd[1]);
	truth_spawn(ping, NULL);
	truth_spawn(pong, NULL);
	return truth_run();
}
