// SPDX-License-Identifier: GPL-2.0-or-later
/* A disk that hangs under one thread's write: for how long others wait for it, whatever the date.
 */
#include "lib/profile/writer.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define HOUR_S 3600

static bool set_back; /* the date is, by an hour, right after it was asked for */
static pthread_barrier_t held;
static atomic_bool done;

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int ret = syscall(SYS_clock_gettime, id, ts);

	if (!ret && id == CLOCK_REALTIME && set_back)
		ts->tv_sec += HOUR_S;
	return ret;
}

/* Not for ever, so that who waits longer is seen to. */
static void *hang(void *arg)
{
	struct profile_writer *w = arg;

	pthread_mutex_lock(&w->lock);
	pthread_barrier_wait(&held);
	for (int i = 0; i < 100 * LOCK_PATIENCE_S && !done; i++)
		usleep(100000);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void test_date_is_set(void **state)
{
	const struct profile_header h = { .engine = "bpf",
					  .model = "wait",
					  .frequency_hz = 1000,
					  .period_s = 0.001,
					  .command = "true",
					  .host = "h",
					  .kernel = "k",
					  .started = "s",
					  .mode = "windows",
					  .cpus = 1 };
	const struct profile_progress point = { .name = "a", .spec = "mark:a" };
	const struct profile_choice choice = { .target = "a.c:1", .samples = 1 };
	char path[] = "/tmp/test_profile_lock.XXXXXX";
	struct profile_writer *w;
	struct error err = {};
	pthread_t thread;

	(void)state;
	close(mkstemp(path));
	assert_int_equal(profile_writer_open(path, &h, &point, 1, &w, &err), 0);
	pthread_barrier_init(&held, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, hang, w), 0);
	pthread_barrier_wait(&held);
	set_back = true;
	assert_int_equal(profile_writer_choice(w, &choice, &err), -ETIMEDOUT);
	set_back = false;
	done = true;
	pthread_join(thread, NULL);
	assert_int_equal(profile_writer_choice(w, &choice, &err), 0);
	profile_writer_close(w);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_date_is_set) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
