// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/patience.h"

#include "base/cond_wait.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Who computes, or has no CPU, is not waited for in vain; but not for ever. */
#define PATIENCES 10
/* Threads kept for the next question: to begin one takes twice as long as to wake it. */
#define MOST_IDLE 2

/* On the stack of who waits for them. */
struct questions {
	pthread_cond_t changed;
	const int *pids;
	void *const *args;
	int *ret;
	size_t n, next; /* that nobody has begun with */
	bool answered;
};

struct patient_thread {
	pthread_cond_t asked;
	struct patience *of;
	struct questions *questions; /* NULL: it was given up, or is idle */
	void (*fn)(void *arg);	     /* NULL: it is idle */
	void (*then)(void *arg);
	void (*drop)(void *arg);
	void *arg;
	int pid;
	int tid, nice;
	int schedstat;	 /* -1: this kernel does not tell */
	uint64_t began;	 /* 0: not yet */
	uint64_t worked; /* by then */
	struct patient_thread *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct patient_thread *idle;
static size_t n_idle;

/* All of these are called under the lock. */

/* Nanoseconds in which it had a CPU or wanted one. */
static uint64_t worked(const struct patient_thread *t)
{
	unsigned long long ran, queued;
	char text[64];
	ssize_t n = t->schedstat < 0 ? -1 : pread(t->schedstat, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	return sscanf(text, "%llu %llu", &ran, &queued) == 2 ? ran + queued : 0;
}

/* Until it has been waiting for too long, at the earliest; 0: it has. */
static uint64_t patience_left(const struct patient_thread *t)
{
	uint64_t took = t->began ? clock_now_ns() - t->began : 0, patience = t->of->ns, at_work,
		 waited;

	if (took < patience)
		return patience - took;
	at_work = worked(t) - t->worked;
	waited = at_work < took ? took - at_work : 0;
	if (waited >= patience || took >= PATIENCES * patience)
		return 0;
	return patience - waited;
}

/* @pid 0: how many do. */
static size_t hangs(const struct patience *p, int pid)
{
	size_t n = 0;

	for (const struct patient_thread *t = p->stuck; t; t = t->next)
		n += !pid || t->pid == pid;
	return n;
}

static void come_back(struct patient_thread *t)
{
	struct patient_thread **at = &t->of->stuck;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	pthread_mutex_unlock(&lock);
	t->drop(t->arg);
	pthread_mutex_lock(&lock);
}

/* False: there is nothing more to ask. */
static bool begin_next(struct patient_thread *t)
{
	struct questions *q = t->questions;
	size_t i;

	if (q->next == q->n)
		return false;
	i = q->next++;
	t->pid = q->pids[i];
	t->arg = q->args[i];
	if (!t->of->again && hangs(t->of, t->pid)) {
		q->ret[i] = -EBUSY;
		t->pid = 0;
		return true;
	}
	q->ret[i] = 0;
	t->began = clock_now_ns();
	t->worked = worked(t);
	return true;
}

static void answer(struct patient_thread *t)
{
	while (begin_next(t)) {
		if (!t->pid)
			continue;
		pthread_mutex_unlock(&lock);
		t->fn(t->arg);
		pthread_mutex_lock(&lock);
		t->began = 0;
		if (!t->questions) {
			come_back(t);
			return;
		}
		if (t->then) {
			pthread_mutex_unlock(&lock);
			t->then(t->arg);
			pthread_mutex_lock(&lock);
		}
	}
	t->questions->answered = true;
	pthread_cond_signal(&t->questions->changed);
	t->questions = NULL;
}

static void *patient_main(void *arg)
{
	struct patient_thread *t = arg;

	pthread_setname_np(pthread_self(), "scoz/patient");
	t->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	pthread_mutex_lock(&lock);
	t->tid = gettid();
	for (;;) {
		while (!t->fn)
			pthread_cond_wait(&t->asked, &lock);
		answer(t);
		t->fn = NULL;
		if (n_idle == MOST_IDLE)
			break;
		t->next = idle;
		idle = t;
		n_idle++;
	}
	pthread_mutex_unlock(&lock);
	pthread_cond_destroy(&t->asked);
	if (t->schedstat >= 0)
		close(t->schedstat);
	free(t);
	return NULL;
}

/* Of who waits for it. */
static void take_priority(struct patient_thread *t)
{
	int own = getpriority(PRIO_PROCESS, 0);

	if (t->nice != own && !setpriority(PRIO_PROCESS, t->tid, own))
		t->nice = own;
}

static struct patient_thread *find_thread(void)
{
	struct patient_thread *t = idle;
	pthread_t thread;

	if (t) {
		idle = t->next;
		n_idle--;
		take_priority(t);
		return t;
	}
	t = calloc(1, sizeof(*t)); /* who has no memory may come here again, to end the command */
	if (!t)
		return NULL;
	pthread_cond_init(&t->asked, NULL);
	t->schedstat = -1;
	t->nice = getpriority(PRIO_PROCESS, 0);
	if (pthread_create(&thread, NULL, patient_main, t)) {
		pthread_cond_destroy(&t->asked);
		free(t);
		return NULL;
	}
	pthread_detach(thread);
	return t;
}

static void give_up(struct patient_thread *t)
{
	t->questions->ret[t->questions->next - 1] = -ETIMEDOUT;
	t->questions = NULL;
	t->next = t->of->stuck;
	t->of->stuck = t;
}

/* By one thread, until it hangs, or all is answered; false: there is none. */
static bool ask(struct patience *p, struct questions *q, void (*fn)(void *arg),
		void (*then)(void *arg), void (*drop)(void *arg))
{
	struct patient_thread *t = hangs(p, 0) < p->max_stuck ? find_thread() : NULL;

	if (!t)
		return false;
	t->of = p;
	t->questions = q;
	t->fn = fn;
	t->then = then;
	t->drop = drop;
	t->began = 0;
	pthread_cond_signal(&t->asked);
	while (!q->answered) {
		uint64_t left = patience_left(t);

		if (!left) {
			give_up(t);
			break;
		}
		cond_wait_until(&q->changed, &lock, clock_now_ns() + left);
	}
	return true;
}

void patiently_all(struct patience *p, const int *pids, size_t n, void (*fn)(void *arg),
		   void (*then)(void *arg), void *const *args, void (*drop)(void *arg), int *ret)
{
	struct questions q = {
		.changed = PTHREAD_COND_INITIALIZER, .pids = pids, .args = args, .ret = ret, .n = n
	};

	pthread_mutex_lock(&lock);
	while (q.next < n && ask(p, &q, fn, then, drop))
		;
	pthread_mutex_unlock(&lock);
	for (; q.next < n; q.next++)
		ret[q.next] = -EAGAIN;
	for (size_t i = 0; i < n; i++) {
		if (ret[i] && ret[i] != -ETIMEDOUT)
			drop(args[i]);
	}
}

int patiently(struct patience *p, int pid, void (*fn)(void *arg), void *arg,
	      void (*drop)(void *arg))
{
	int ret;

	patiently_all(p, &pid, 1, fn, NULL, &arg, drop, &ret);
	return ret;
}
