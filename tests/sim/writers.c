// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs that wait for a disk beside tasks that wake up now and then to use it as well: a
 * database's background writer, its log writer, its checkpoints. Nobody waits for these, but for
 * moments.
 */
#include "builder.h"

#include "base/base.h"

/* Tasks that compute and have what they did written. */
static void users(struct builder *b, int n, int disk)
{
	for (int i = 0; i < n; i++) {
		task(b), work(b, 0.8 + 0.2 * i), target_wait(b, OP_IO, 0.5, disk);
		progress(b);
	}
}

/* Each a client and a server of its own, as with a database. */
static void sessions(struct builder *b, int n, int disk)
{
	for (int i = 0; i < n; i++) {
		int there = object(b, 1), back = object(b, 1);

		task(b), work(b, 0.1), op(b, OP_SEND, there), op(b, OP_RECEIVE, back);
		progress(b);
		task(b), op(b, OP_RECEIVE, there), work(b, 0.4 + 0.1 * i);
		target_wait(b, OP_IO, 0.4, disk), op(b, OP_SEND, back);
	}
}

/* Wakes up, computes a little and writes, a few times. */
static void writer(struct builder *b, double sleep, int writes, int disk)
{
	task(b), timed(b, OP_SLEEP, sleep, -1), work(b, 0.1);
	for (int i = 0; i < writes; i++)
		work(b, 0.02), timed(b, OP_IO, 0.1, disk);
}

static void locking_writer(struct builder *b, double sleep, int lock, int disk)
{
	task(b), timed(b, OP_SLEEP, sleep, -1), op(b, OP_LOCK, lock);
	work(b, 0.05), timed(b, OP_IO, 0.2, disk), op(b, OP_UNLOCK, lock);
}

static void users_on_2(struct builder *b)
{
	int disk = object(b, 1);

	users(b, 3, disk), writer(b, 50, 3, disk);
}

static void users_parallel(struct builder *b)
{
	int disk = object(b, 8);

	users(b, 3, disk), writer(b, 50, 3, disk);
}

static void users_two_writers(struct builder *b)
{
	int disk = object(b, 8);

	users(b, 3, disk), writer(b, 30, 2, disk), writer(b, 70, 6, disk);
}

static void sessions_serial(struct builder *b)
{
	int disk = object(b, 1);

	sessions(b, 2, disk), writer(b, 50, 3, disk);
}

static void sessions_parallel(struct builder *b)
{
	int disk = object(b, 8);

	sessions(b, 2, disk), writer(b, 50, 3, disk);
}

static void sessions_two_writers(struct builder *b)
{
	int disk = object(b, 8);

	sessions(b, 2, disk), writer(b, 30, 2, disk), writer(b, 70, 6, disk);
}

static void sessions_plain(struct builder *b)
{
	sessions(b, 2, object(b, 8));
}

/* What the background writes is part of what is sped up. */
static void sessions_target_writer(struct builder *b)
{
	int disk = object(b, 8);

	sessions(b, 2, disk);
	task(b), timed(b, OP_SLEEP, 50, -1), work(b, 0.1);
	for (int i = 0; i < 3; i++)
		work(b, 0.02), target_wait(b, OP_IO, 0.1, disk);
}

/* The log's lock is held while it is written, now and then by its own writer. */
static void logged(struct builder *b, int cores_disk)
{
	int disk = object(b, cores_disk), lock = object(b, 1);

	for (int i = 0; i < 3; i++) {
		task(b), work(b, 0.9 + 0.1 * i), op(b, OP_LOCK, lock);
		work(b, 0.03), target_wait(b, OP_IO, 0.3, disk), op(b, OP_UNLOCK, lock);
		progress(b);
	}
	locking_writer(b, 50, lock, disk);
}

static void logged_serial(struct builder *b)
{
	logged(b, 1);
}

static void logged_parallel(struct builder *b)
{
	logged(b, 8);
}

/* As above, and code is the target. */
static void code_beside_writer(struct builder *b)
{
	int disk = object(b, 8);

	for (int i = 0; i < 2; i++) {
		int there = object(b, 1), back = object(b, 1);

		task(b), work(b, 0.1), op(b, OP_SEND, there), op(b, OP_RECEIVE, back);
		progress(b);
		task(b), op(b, OP_RECEIVE, there), target(b, 0.4 + 0.1 * i);
		timed(b, OP_IO, 0.4, disk), op(b, OP_SEND, back);
	}
	writer(b, 50, 3, disk);
}

const struct sim_model writer_models[] = {
	{ "writer: 3 users", 2, users_on_2 },
	{ "writer: 3 users on 4", 4, users_on_2 },
	{ "writer: 3 users, parallel", 2, users_parallel },
	{ "writer: 3 users, two", 2, users_two_writers },
	{ "writer: sessions, none", 2, sessions_plain },
	{ "writer: sessions", 2, sessions_serial },
	{ "writer: sessions, parallel", 2, sessions_parallel },
	{ "writer: sessions on 4", 4, sessions_parallel },
	{ "writer: sessions, two", 2, sessions_two_writers },
	{ "writer: sessions, sped up", 2, sessions_target_writer },
	{ "writer: log", 2, logged_serial },
	{ "writer: log, parallel", 2, logged_parallel },
	{ "writer: log on 4", 4, logged_parallel },
	{ "writer: code", 2, code_beside_writer },
	{ .name = NULL },
};
