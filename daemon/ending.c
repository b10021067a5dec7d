// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/ending.h"
#include "daemon/truth.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

volatile bool session_interrupted, session_at_once;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int over = -1; /* the exit status */

/* False when the main thread did not get there in time. */
static bool main_is_done(void)
{
	struct timespec until;
	int ret = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ENDING_PATIENCE_S;
	pthread_mutex_lock(&lock);
	while (over < 0 && !ret)
		ret = pthread_cond_timedwait(&changed, &lock, &until);
	pthread_mutex_unlock(&lock);
	return over >= 0;
}

static void stop_delaying(struct session *s)
{
	pthread_mutex_lock(&lock);
	if (over < 0 && s->engine)
		engine_set_speedup(s->engine, 0);
	pthread_mutex_unlock(&lock);
}

static void __attribute__((noreturn)) end_at_once(struct session *s)
{
	int status;

	session_at_once = true;
	stop_delaying(s);
	truth_set(s->truth, 0); /* a write may wait for a disk */
	if (main_is_done())
		_exit(over);
	status = session_finish_at_once(s);
	command_kill(&s->command);
	_exit(status); /* closes the engine's descriptors: nobody is stopped any more */
}

static void *ending_main(void *arg)
{
	struct session *s = arg;
	sigset_t set;
	int sig;

	pthread_setname_np(pthread_self(), "scozd/ending");
	pthread_sigmask(SIG_BLOCK, NULL, &set); /* those that are blocked */
	while (sigwait(&set, &sig) || !session_interrupted)
		session_interrupted = true;
	end_at_once(s);
}

int ending_start(struct session *s, struct error *err)
{
	const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	pthread_t thread;
	sigset_t set;
	int ret;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		sigaddset(&set, ending[i]);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	ret = pthread_create(&thread, NULL, ending_main, s);
	if (ret)
		return error_set(err, ret, "starting a thread: %s", strerror(ret));
	pthread_detach(thread);
	return 0;
}

void ending_is_over(int status)
{
	pthread_mutex_lock(&lock);
	over = status;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}
