// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/end_signals.h"
#include "base/cond_wait.h"
#include "daemon/finish.h"
#include "daemon/truth.h"

#include <signal.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int over = -1; /* the exit status */
static bool begun;    /* there is an engine, which stops cores */
static struct experiment *experiment;
static const struct guardian *guardian;

/* False when the main thread did not get there in time. */
static bool main_is_done(void)
{
	uint64_t end = clock_now_ns() + ENDING_PATIENCE_S * NSEC_PER_SEC;

	pthread_mutex_lock(&lock);
	while (over < 0 && cond_wait_until(&changed, &lock, end))
		;
	pthread_mutex_unlock(&lock);
	return over >= 0;
}

static void stop_delaying(struct session *s)
{
	pthread_mutex_lock(&lock);
	if (over < 0 && begun)
		engine_set_speedup(s->engine, 0);
	pthread_mutex_unlock(&lock);
}

static void __attribute__((noreturn)) end_at_once(struct experiment *x)
{
	struct session *s = x->s;
	int status;

	session_at_once = true;
	stop_delaying(s);
	truth_set(s->truth, 0); /* a write may wait for a disk */
	if (main_is_done()) {
		guardian_restore(guardian);
		_exit(over);
	}
	status = finish_at_once(x);
	command_kill(&s->command, 0);
	guardian_restore(guardian);
	_exit(status); /* closes the engine's descriptors: nobody is stopped any more */
}

/* By any thread, which may hold locks; there may still be memory for a little, or none. */
static void out_of_memory(char *text, size_t size)
{
	struct session *s = experiment->s;

	session_at_once = true;
	stop_delaying(s);
	guardian_restore(guardian);
	truth_set(s->truth, 0);
	if (s->writer)
		snprintf(text, size, "the run is over%s; what %s holds so far is valid",
			 s->command.pid ? ", and the command is ended with it" : "", s->opt.output);
	command_kill(&s->command, ENDING_PATIENCE_S);
}

static void *ending_main(void *arg)
{
	sigset_t set;
	int sig;

	pthread_setname_np(pthread_self(), "scozd/ending");
	pthread_sigmask(SIG_BLOCK, NULL, &set); /* those that are blocked */
	while (sigwait(&set, &sig) || !session_interrupted)
		session_interrupted = true;
	end_at_once(arg);
}

int ending_start(struct experiment *x, const struct guardian *g, struct error *err)
{
	const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	pthread_t thread;
	sigset_t set;
	int ret;

	sigemptyset(&set);
	/*
	 * nohup keeps its word, as with `scoz record`: blocked, the signal would be waited for
	 * though it is ignored. SIGINT is ignored in all jobs that scripts start in the background,
	 * and ends those all the same: kill -INT is how scripts end them.
	 */
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
		struct sigaction was;

		if (ending[i] != SIGHUP || sigaction(SIGHUP, NULL, &was) ||
		    was.sa_handler != SIG_IGN)
			sigaddset(&set, ending[i]);
	}
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	experiment = x;
	guardian = g;
	ret = pthread_create(&thread, NULL, ending_main, x);
	if (ret)
		return error_set(err, ret, "starting a thread: %s", strerror(ret));
	pthread_detach(thread);
	on_out_of_memory(out_of_memory);
	return 0;
}

void ending_run_begins(void)
{
	pthread_mutex_lock(&lock);
	begun = true;
	pthread_mutex_unlock(&lock);
}

void ending_is_over(int status)
{
	pthread_mutex_lock(&lock);
	over = status;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}
