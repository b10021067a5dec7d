// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A client that keeps some requests under way (3) and computes 30 % for each answer, and a server:
 * 50 % target, 20 % rest. truth_begin() is called when a request is sent, truth_end() when it is
 * answered. Throughput: the server decides until it is as fast as the client, min(0.71 s, 57).
 * Latency: a request waits for those before it, so it gains more. With --depth 1 the latency is the
 * server's time, 0.71 s, and the throughput gains 0.5 s.
 */
#include "stages.h"

static long depth = 3;
static struct truth_channel request, answer;

static void server(void *arg)
{
	uint64_t target = truth_share(50), rest = truth_share(20);
	static char record[RECORD];

	(void)arg;
	for (;;) {
		truth_get(&request, record);
		truth_target(truth_cut(TRUTH_TARGET, target));
		truth_rest(rest);
		truth_put(&answer, record);
	}
}

static void send_request(void)
{
	static char record[RECORD];

	truth_begin();
	truth_put(&request, record);
}

static void client(void *arg)
{
	uint64_t other = truth_share(30);
	static char record[RECORD];

	(void)arg;
	for (long i = 0; i < depth; i++)
		send_request();
	for (;;) {
		truth_get(&answer, record);
		truth_end(0);
		truth_other(truth_cut(TRUTH_OTHER, other));
		send_request();
		truth_progress(0);
	}
}

int main(int argc, char **argv)
{
	static const struct truth_opt opt[] = {
		{ "depth", false, &depth, "requests under way (3)" },
		STAGES_OPTIONS,
		{ 0 },
	};

	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "Client (30 %) and server (50 % target + 20 %), with latency.",
			   .iter_us = 2000,
			   .opt = opt,
		   });
	if (depth < 1 || depth > DEPTH)
		truth_die("--depth: 1 to %d", DEPTH);
	truth_channel(&request);
	truth_channel(&answer);
	truth_spawn(server, NULL);
	truth_spawn(client, NULL);
	return truth_run();
}
