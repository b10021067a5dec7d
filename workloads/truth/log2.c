// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A small database: clients that wait for their servers, which compute (the target, 60 %; the rest
 * 30 %, the client 10 %), write a block to a log each and make it durable. Beside them a writer
 * that sleeps --writer-ms, then writes and syncs a few blocks of its own on the same disk, and for
 * which nobody waits. --knob io leaves out that share of the servers' writing, evenly spread; what
 * that gains is their share of the time that it takes, which depends on the disk.
 */
#include "durable.h"
#include "stages.h"

#define MAX_SESSIONS 16

static long sessions = 2, writer_ms = 200;
static int ends[MAX_SESSIONS][2];

static void server(void *arg)
{
	uint64_t target = truth_share(60), rest = truth_share(30);
	int end = ends[(intptr_t)arg][1], fd = durable_file();
	char request;

	for (;;) {
		truth_receive(end, &request, 1);
		truth_target(truth_cut(TRUTH_TARGET, target));
		truth_rest(rest);
		truth_io(fd, true);
		truth_send(end, &request, 1);
	}
}

static void client(void *arg)
{
	uint64_t other = truth_share(10);
	int nr = (int)(intptr_t)arg;
	char request = 0;

	for (;;) {
		truth_other(truth_cut(TRUTH_OTHER, other));
		truth_send(ends[nr][0], &request, 1);
		truth_receive(ends[nr][0], &request, 1);
		truth_progress(nr);
	}
}

static void writer(void *arg)
{
	struct timespec pause = { writer_ms / 1000, writer_ms % 1000 * 1000000 };
	int fd = durable_file();

	(void)arg;
	for (uint64_t nr = 0;; nr += 8) {
		nanosleep(&pause, NULL);
		for (int i = 0; i < 8; i++) {
			durable_write(fd, nr + i);
			if (i % 4 == 3)
				durable_sync(fd, true);
		}
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		{ "sessions", false, &sessions, "clients, each with its server (2)" },
		{ "writer-ms", false, &writer_ms, "for how long the writer sleeps, 0: none (200)" },
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Clients, servers that log (60 % target), a writer.",
			   .iter_us = 300,
			   .opt = opt,
			   .processes = true,
		   });
	if (sessions < 1 || sessions > MAX_SESSIONS)
		truth_die("--sessions: 1 to %d", MAX_SESSIONS);
	if (writer_ms < 0 || writer_ms > 100000)
		truth_die("--writer-ms: 0 to 100000");
	for (long i = 0; i < sessions; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends[i]))
			truth_die("socketpair: %s", strerror(errno));
		truth_spawn(server, (void *)(intptr_t)i);
		truth_spawn(client, (void *)(intptr_t)i);
	}
	if (writer_ms)
		truth_spawn(writer, NULL);
	return truth_run();
}
