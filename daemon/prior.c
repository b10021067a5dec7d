// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/prior.h"

#include "daemon/prior_process.h"
#include "host/process.h"

#include <poll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define BEGIN_MS 4000 /* that the command waits for the recording to begin */

struct prior {
	int socket;
	int process; /* a pidfd: it ends by itself, and is collected with what the command leaves */
	bool asked, recording, concluded, over;
	bool marks;	 /* are among what it records */
	size_t n_points; /* progress points of the run */
	uint64_t began_ns;
	struct expectations *e;
};

static bool is_wanted(const struct options *o)
{
	uint32_t points[PRIOR_POINTS];

	return o->replay && o->warmup > 0 && (o->end_to_end || prior_points(o, points));
}

static bool records_marks(const struct options *o)
{
	uint32_t points[PRIOR_POINTS];

	for (size_t n = prior_points(o, points); n > 0; n--) {
		if (o->points[points[n - 1]].begin.kind == POINT_MARK)
			return true;
	}
	return false;
}

struct prior *prior_start(const struct options *o)
{
	struct prior *p;
	int pair[2], pid, process;

	if (!is_wanted(o) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return NULL;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(pair[0]);
		prior_main(pair[1], o);
	}
	close(pair[1]);
	process = pid < 0 ? -1 : pidfd_open(pid, 0);
	if (process < 0) {
		close(pair[0]); /* it ends with that */
		return NULL;
	}
	p = xcalloc(1, sizeof(*p));
	*p = (struct prior){ .socket = pair[0],
			     .process = process,
			     .marks = records_marks(o),
			     .n_points = options_progress(o) };
	p->e = xcalloc(1, sizeof(*p->e));
	return p;
}

/* ---- what comes ---- */

static void give_up(struct prior *p, const char *why)
{
	p->over = true;
	p->e->n = p->e->n_next = p->e->n_awaited = 0;
	snprintf(p->e->why, sizeof(p->e->why), "%s", why);
}

static void add(struct expectations *e, const struct expectation *x)
{
	if (x->after[0]) {
		array_reserve(e->next, e->cap_next, e->n_next + 1);
		e->next[e->n_next++] = *x;
	} else {
		array_reserve(e->list, e->cap, e->n + 1);
		e->list[e->n++] = *x;
	}
}

/* As many of each kind as there may be, so that they come to an end. */
static void take_message(struct prior *p, const struct prior_message *m, size_t size)
{
	struct expectations *e = p->e;
	bool sound = prior_message_is_sound(m, size, p->n_points);

	if (sound && m->type == PRIOR_READY && !p->recording) {
		p->recording = true;
		p->began_ns = clock_now_ns();
	} else if (sound && m->type == PRIOR_EXPECTED && e->n + e->n_next < PRIOR_MOST) {
		add(e, &m->expected);
	} else if (sound && m->type == PRIOR_AWAITED && e->n_awaited < PRIOR_MOST) {
		array_reserve(e->awaited, e->cap_awaited, e->n_awaited + 1);
		e->awaited[e->n_awaited++] = m->awaited;
	} else if (sound && m->type == PRIOR_DONE) {
		e->replay = m->done.replay;
		memcpy(e->through, m->done.through, sizeof(e->through));
		memcpy(e->why, m->done.why, sizeof(e->why));
		p->over = true;
	} else {
		give_up(p, "what came of the replay makes no sense");
	}
}

static bool receive(struct prior *p, int ms)
{
	struct pollfd fd = { p->socket, POLLIN, 0 };
	struct prior_message m;
	ssize_t size;

	if (p->over || poll(&fd, 1, ms) <= 0)
		return false;
	size = recv(p->socket, &m, sizeof(m), MSG_DONTWAIT);
	if (size > 0)
		take_message(p, &m, size);
	else if (!size || (errno != EAGAIN && errno != EINTR))
		give_up(p, "the process that recorded has ended (no memory, or it was killed)");
	return true;
}

static void tell(struct prior *p, enum prior_type type, int pid)
{
	const struct prior_order o = { type, pid };

	if (send(p->socket, &o, sizeof(o), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		give_up(p, "the process that records has ended");
}

void prior_record(struct prior *p, int pid)
{
	uint64_t end = clock_now_ns() + BEGIN_MS * NSEC_PER_MSEC;

	if (!p || p->asked)
		return;
	p->asked = true;
	tell(p, PRIOR_BEGIN, pid);
	while (!p->recording && !p->over && clock_now_ns() < end)
		receive(p, 20);
	if (!p->recording && !p->over)
		log_info("the recording for the replay has not begun yet");
}

double prior_recorded(const struct prior *p)
{
	return p && p->recording ? (clock_now_ns() - p->began_ns) / 1e9 : 0;
}

bool prior_records_marks(const struct prior *p)
{
	return p && p->recording && !p->concluded && !p->over && p->marks;
}

void prior_conclude(struct prior *p)
{
	if (!p || !p->asked || p->concluded)
		return;
	p->concluded = true;
	if (!p->over)
		tell(p, PRIOR_END, 0);
}

bool prior_pending(const struct prior *p)
{
	return p && p->asked && p->e;
}

struct expectations *prior_take(struct prior *p)
{
	struct expectations *e;

	if (!prior_pending(p))
		return NULL;
	while (receive(p, 0))
		;
	if (!p->over)
		return NULL;
	e = p->e;
	e->replay.why = e->why;
	e->replay.through = e->through;
	p->e = NULL;
	return e;
}

void prior_stop(struct prior *p)
{
	if (!p)
		return;
	process_end(p->process, true);
	close(p->socket);
	expectations_free(p->e);
	free(p);
}
