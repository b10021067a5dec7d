// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What there is to do with files for a `struct maps`, away from whoever tells of events or looks
 * addresses up: a file may lie on a server that does not answer, or be of somebody who wants it to
 * take long.
 *
 * Chores are done in order by one thread, or by maps_catch_up(). Tables, which take longer, are
 * built by others, so that files are opened before their processes have gone. All that anybody
 * waits for here is `lock`, which is held for a few instructions.
 */
#include "base/cond_wait.h"
#include "host/process.h"
#include "maps/maps_internal.h"

#include <ctype.h>
#include <dirent.h>

#define MAX_BUILDERS 2
#define MAX_OPENS    4096
#define LOOK_NS	     NSEC_PER_SEC /* between two looks at processes without a first thread */
#define RINGS_NS     (100 * NSEC_PER_MSEC) /* what is older has been read from all rings */

enum chore_kind {
	CHORE_OPEN,
	CHORE_CHECK,
	CHORE_LEADER,
	CHORE_CODE,
	CHORE_EXPECT,
	CHORE_MADE,
	CHORE_READ,
	CHORE_SCAN
};

struct chore {
	struct chore *next;
	enum chore_kind kind;
	uint32_t binary;
	int pid;
	uint64_t time, addr, count;
	struct sighting sighting; /* its path belongs to the chore */
	void (*fn)(enum maps_code code, uint64_t count, void *arg);
	void *arg;
};

struct leader {
	int pid;
	uint64_t time;	     /* when it ended */
	uint64_t goes_on_ns; /* since when a process of that number is seen to, 0: it is not */
};

struct chores {
	pthread_mutex_t lock;
	pthread_cond_t more, ended;
	struct chore *first, **last;
	struct read {
		struct read *next;
		struct made_read *what;
	} * first_read, **last_read; /* of made code, in order; done before tables by turns */
	bool read_last;
	uint32_t *build; /* ids, in order */
	size_t build_first, n_build, cap_build;
	uint8_t *asked; /* by id */
	size_t n_asked;
	size_t awaited;
	size_t n_opens;		/* of files, among what there is to do */
	struct leader *leaders; /* that ended before other threads; of who does chores */
	size_t n_leaders, cap_leaders;
	uint64_t looked_ns; /* at these */
	bool stop;
	int threads; /* that run */
	void (*on_exit)(int pid, void *arg);
	void *on_exit_arg;
};

struct chores *chores_create(void)
{
	struct chores *c = xcalloc(1, sizeof(*c));

	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->more, NULL);
	pthread_cond_init(&c->ended, NULL);
	c->last = &c->first;
	c->last_read = &c->first_read;
	return c;
}

static void chore_free(struct chore *ch)
{
	free((char *)ch->sighting.path);
	free(ch);
}

void chores_destroy(struct chores *c)
{
	for (struct chore *ch = c->first, *next; ch; ch = next) {
		next = ch->next;
		if (ch->kind == CHORE_READ)
			made_read_free(ch->arg);
		chore_free(ch);
	}
	for (struct read *r = c->first_read, *next; r; r = next) {
		next = r->next;
		made_read_free(r->what);
		free(r);
	}
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->more);
	pthread_cond_destroy(&c->ended);
	free(c->build);
	free(c->asked);
	free(c->leaders);
	free(c);
}

/* Under the lock. */
static void append(struct chores *c, const struct chore *what)
{
	struct chore *ch = xmalloc(sizeof(*ch));

	*ch = *what;
	ch->next = NULL;
	*c->last = ch;
	c->last = &ch->next;
	c->n_opens += ch->kind == CHORE_OPEN;
	pthread_cond_broadcast(&c->more);
}

static void put(struct chores *c, const struct chore *what)
{
	pthread_mutex_lock(&c->lock);
	append(c, what);
	pthread_mutex_unlock(&c->lock);
}

bool chores_open(struct maps *m, uint32_t id)
{
	struct chores *c = m->chores;
	bool room;

	pthread_mutex_lock(&c->lock);
	room = c->n_opens < MAX_OPENS;
	if (room)
		append(c, &(struct chore){ .kind = CHORE_OPEN, .binary = id });
	pthread_mutex_unlock(&c->lock);
	return room;
}

void chores_scan(struct maps *m, int pid)
{
	put(m->chores, &(struct chore){ .kind = CHORE_SCAN, .pid = pid });
}

void chores_check(struct maps *m, uint32_t id, const struct sighting *s)
{
	struct chore ch = { .kind = CHORE_CHECK, .binary = id, .sighting = *s };

	ch.sighting.path = xstrdup(s->path);
	put(m->chores, &ch);
}

void chores_made(struct maps *m, int pid)
{
	put(m->chores, &(struct chore){ .kind = CHORE_MADE, .pid = pid });
}

void maps_expect_names(struct maps *m, int pid)
{
	if (m->perf_maps)
		put(m->chores, &(struct chore){ .kind = CHORE_EXPECT, .pid = pid });
}

void chores_read_done(struct maps *m, struct made_read *r)
{
	put(m->chores, &(struct chore){ .kind = CHORE_READ, .arg = r });
}

/* Where there are no threads, now. */
void chores_read(struct maps *m, struct made_read *what)
{
	struct chores *c = m->chores;
	bool threads;

	pthread_mutex_lock(&c->lock);
	threads = c->threads;
	if (threads) {
		struct read *r = xmalloc(sizeof(*r));

		*r = (struct read){ NULL, what };
		*c->last_read = r;
		c->last_read = &r->next;
		pthread_cond_broadcast(&c->more);
	}
	pthread_mutex_unlock(&c->lock);
	if (!threads)
		made_read(m, what);
}

void maps_leader_ended(struct maps *m, uint64_t time, int pid)
{
	put(m->chores, &(struct chore){ .kind = CHORE_LEADER, .pid = pid, .time = time });
}

void maps_ask_code(struct maps *m, int pid, uint64_t addr, uint64_t count,
		   void (*fn)(enum maps_code code, uint64_t count, void *arg), void *arg)
{
	put(m->chores, &(struct chore){ .kind = CHORE_CODE,
					.pid = pid,
					.addr = addr,
					.count = count,
					.fn = fn,
					.arg = arg });
}

void maps_on_exit(struct maps *m, void (*fn)(int pid, void *arg), void *arg)
{
	m->chores->on_exit = fn;
	m->chores->on_exit_arg = arg;
}

/* Once for each binary: who has its table does not ask. */
void chores_build(struct maps *m, uint32_t id)
{
	struct chores *c = m->chores;

	pthread_mutex_lock(&c->lock);
	if (id >= c->n_asked) {
		size_t n = (id + 1) * 2;

		c->asked = xreallocarray(c->asked, n, 1);
		memset(c->asked + c->n_asked, 0, n - c->n_asked);
		c->n_asked = n;
	}
	if (!c->asked[id]) {
		c->asked[id] = 1;
		c->awaited++;
		array_reserve(c->build, c->cap_build, c->build_first + c->n_build + 1);
		c->build[c->build_first + c->n_build++] = id;
		pthread_cond_broadcast(&c->more);
	}
	pthread_mutex_unlock(&c->lock);
}

size_t maps_awaited(struct maps *m)
{
	size_t n;

	pthread_mutex_lock(&m->chores->lock);
	n = m->chores->awaited;
	pthread_mutex_unlock(&m->chores->lock);
	return n;
}

/* A process whose first thread ends by pthread_exit() goes on. */
static bool has_other_threads(int pid)
{
	_cleanup_free_ char *path = sysroot_path("/proc/%d/task", pid);
	DIR *dir = opendir(path);
	bool others = false;
	struct dirent *d;

	if (!dir)
		return false;
	while (!others && (d = readdir(dir)))
		others = isdigit((unsigned char)d->d_name[0]) && atoi(d->d_name) != pid;
	closedir(dir);
	return others;
}

/* The first thread ends also where another one executes a program, and then takes its number. */
static bool goes_on(int pid)
{
	struct process_status s;

	return process_read_status(pid, &s) && !process_has_ended(s.state);
}

/*
 * False: others go on, or are still on their way out; or there is a process of that number, and
 * what it has executed, or that it has begun, may lie in a ring yet. Where there is none, all that
 * is told of that number until now is of who has gone: other threads may have gone on for a while.
 */
static bool process_ends(struct maps *m, struct leader *l)
{
	uint64_t ended = clock_now_ns();

	if (has_other_threads(l->pid))
		return false;
	if (goes_on(l->pid)) {
		if (!l->goes_on_ns)
			l->goes_on_ns = clock_now_ns();
		if (clock_now_ns() - l->goes_on_ns < RINGS_NS)
			return false;
		ended = l->time;
	}
	if (maps_exit(m, ended, l->pid) && m->chores->on_exit)
		m->chores->on_exit(l->pid, m->chores->on_exit_arg);
	return true;
}

static void look_at_leaders(struct maps *m)
{
	struct chores *c = m->chores;
	size_t kept = 0;

	c->looked_ns = clock_now_ns();
	for (size_t i = 0; i < c->n_leaders; i++) {
		if (!process_ends(m, &c->leaders[i]))
			c->leaders[kept++] = c->leaders[i];
	}
	c->n_leaders = kept;
}

static void leader_ended(struct maps *m, struct leader *l)
{
	struct chores *c = m->chores;

	if (process_ends(m, l))
		return;
	array_reserve(c->leaders, c->cap_leaders, c->n_leaders + 1);
	c->leaders[c->n_leaders++] = *l;
}

static void do_chore(struct maps *m, const struct chore *ch)
{
	switch (ch->kind) {
	case CHORE_OPEN:
		binary_open(m, ch->binary);
		break;
	case CHORE_CHECK:
		binary_check(m, ch->binary, &ch->sighting);
		break;
	case CHORE_LEADER:
		leader_ended(m, &(struct leader){ ch->pid, ch->time, 0 });
		break;
	case CHORE_CODE:
		ch->fn(maps_code_at(ch->pid, ch->addr), ch->count, ch->arg);
		break;
	case CHORE_EXPECT:
		made_expect(m, ch->pid);
		break;
	case CHORE_MADE:
		made_look(m, ch->pid);
		break;
	case CHORE_READ:
		made_read_done(m, ch->arg);
		break;
	case CHORE_SCAN:
		maps_scan_again(m, ch->pid);
		break;
	}
}

/* Under the lock. */
static struct chore *take(struct chores *c)
{
	struct chore *ch = c->first;

	if (!ch)
		return NULL;
	c->first = ch->next;
	if (!c->first)
		c->last = &c->first;
	c->n_opens -= ch->kind == CHORE_OPEN;
	return ch;
}

void maps_catch_up(struct maps *m)
{
	struct chores *c = m->chores;
	struct chore *ch;

	for (;;) {
		pthread_mutex_lock(&c->lock);
		ch = take(c);
		pthread_mutex_unlock(&c->lock);
		if (!ch)
			break;
		do_chore(m, ch);
		chore_free(ch);
	}
	look_at_leaders(m);
}

/* Under the lock: until there may be something to do. */
static void wait_for_chores(struct chores *c)
{
	if (c->n_leaders)
		cond_wait_until(&c->more, &c->lock, c->looked_ns + LOOK_NS);
	else
		pthread_cond_wait(&c->more, &c->lock);
}

/* With the lock, which the caller gives back. */
static void thread_ends(struct chores *c)
{
	c->threads--;
	pthread_cond_broadcast(&c->ended);
	pthread_mutex_unlock(&c->lock);
}

static void *open_main(void *arg)
{
	struct maps *m = arg;
	struct chores *c = m->chores;
	struct chore *ch;

	pthread_setname_np(pthread_self(), "scoz/files");
	pthread_mutex_lock(&c->lock);
	while (!c->stop) {
		bool look = c->n_leaders && clock_now_ns() - c->looked_ns > LOOK_NS;

		ch = take(c);
		if (!ch && !look) {
			wait_for_chores(c);
			continue;
		}
		pthread_mutex_unlock(&c->lock);
		if (look)
			look_at_leaders(m);
		if (ch) {
			do_chore(m, ch);
			chore_free(ch);
		}
		pthread_mutex_lock(&c->lock);
	}
	thread_ends(c);
	return NULL;
}

/* Under the lock; NULL: none, or it is a table's turn. */
static struct made_read *take_read(struct chores *c)
{
	struct made_read *what;
	struct read *r = c->first_read;

	c->read_last = r && !(c->read_last && c->n_build);
	if (!c->read_last)
		return NULL;
	what = r->what;
	c->first_read = r->next;
	if (!c->first_read)
		c->last_read = &c->first_read;
	free(r);
	return what;
}

static void *build_main(void *arg)
{
	struct maps *m = arg;
	struct chores *c = m->chores;
	struct made_read *read;
	uint32_t id;

	pthread_setname_np(pthread_self(), "scoz/tables");
	pthread_mutex_lock(&c->lock);
	while (!c->stop) {
		read = take_read(c);
		if (read) {
			pthread_mutex_unlock(&c->lock);
			made_read(m, read);
			pthread_mutex_lock(&c->lock);
			continue;
		}
		if (!c->n_build) {
			pthread_cond_wait(&c->more, &c->lock);
			continue;
		}
		id = c->build[c->build_first++];
		if (!--c->n_build)
			c->build_first = 0;
		pthread_mutex_unlock(&c->lock);
		maps_binary_wait(m, id);
		pthread_mutex_lock(&c->lock);
		c->awaited--;
	}
	thread_ends(c);
	return NULL;
}

static int start_thread(struct maps *m, void *(*fn)(void *), struct error *err)
{
	struct chores *c = m->chores;
	pthread_t thread;
	int ret;

	pthread_mutex_lock(&c->lock);
	ret = pthread_create(&thread, NULL, fn, m);
	c->threads += !ret;
	pthread_mutex_unlock(&c->lock);
	if (ret)
		return error_set(err, ret, "starting a thread: %s", strerror(ret));
	pthread_detach(thread);
	return 0;
}

int maps_start(struct maps *m, struct error *err)
{
	int ret = start_thread(m, open_main, err);

	for (int i = 0; !ret && i < MAX_BUILDERS; i++)
		ret = start_thread(m, build_main, err);
	return ret;
}

bool maps_stop(struct maps *m, double seconds)
{
	struct chores *c = m->chores;
	uint64_t end = clock_now_ns() + (uint64_t)(seconds * NSEC_PER_SEC);
	bool done;

	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_broadcast(&c->more);
	while (c->threads && cond_wait_until(&c->ended, &c->lock, end))
		;
	done = !c->threads;
	pthread_mutex_unlock(&c->lock);
	return done;
}
