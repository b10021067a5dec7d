// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * engine_figures [OPTION] BINARY TARGET SPEEDUP_PCT HZ SECONDS -- COMMAND...: runs the command with
 * one target sped up all the time and prints, as one JSON line: consumed over inserted delay for
 * each core, and how long after a hit the stop began and the debt was paid (p50, p99), in sampling
 * periods too.
 */
#include "engine/engine.h"
#include "elf/table_make.h"
#include "maps/maps.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static struct engine *engine;
static volatile bool stop;

static void *renew(void *arg)
{
	(void)arg;
	while (!stop) {
		engine_renew_lease(engine);
		usleep(ENGINE_LEASE_RENEW_NS / NSEC_PER_USEC);
	}
	return NULL;
}

static void die(const struct error *err)
{
	fprintf(stderr, "engine_figures: %s\n", err->text);
	exit(1);
}

int main(int argc, char **argv)
{
	struct addr_ranges ranges = {};
	struct engine_options opt = {
		.name = "bpf",
		.model = SCOZ_MODEL_WAIT,
		.max_stop_ns = 2 * NSEC_PER_MSEC,
		.max_share = 90,
		.measure_latency = true,
		.trace_tasks = true,
	};
	uint64_t n, begun50, begun99, paid50, paid99;
	struct engine_part part;
	struct map_options map_opt = {};
	struct error err = {};
	struct maptable *table;
	struct stat st;
	pthread_t thread;
	int cpus[1024], pid;
	double consumed, worst = 1;
	uint64_t kicks = 0;

	for (; argc > 2 && !strncmp(argv[1], "--", 2); argv++, argc--) {
		if (!strcmp(argv[1], "--kick"))
			opt.flags = SCOZ_F_KICK;
		else if (!strcmp(argv[1], "--no-module"))
			opt.no_ways = ENGINE_MODULE;
		else if (!strcmp(argv[1], "--kernel"))
			opt.name = "kernel";
	}
	if (argc < 8 || strcmp(argv[6], "--")) {
		fprintf(stderr, "usage: engine_figures [--kernel|--no-module] [--kick] BINARY "
				"TARGET SPEEDUP_PCT HZ SECONDS -- COMMAND...\n");
		return 2;
	}
	opt.n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	for (int i = 0; i < opt.n_cpus; i++)
		cpus[i] = i;
	opt.cpus = cpus;
	opt.period_ns = NSEC_PER_SEC / atof(argv[4]);
	if (maptable_make(argv[1], argv[1], &map_opt, &table, &err) ||
	    maptable_function_ranges(table, argv[2], &ranges, &err) || stat(argv[1], &st) ||
	    engine_create(&opt, &engine, &err))
		die(&err);
	part = (struct engine_part){
		.binary = 1,
		.file = { major(st.st_dev), minor(st.st_dev), st.st_ino },
		.code_vaddr = maptable_code_vaddr(table),
		.ranges = &ranges,
	};
	if (engine_set_target(engine, &part, 1, &err))
		die(&err);
	engine_set_speedup(engine, atof(argv[3]) / 100);
	pthread_create(&thread, NULL, renew, NULL);
	pid = fork();
	if (!pid) {
		execvp(argv[7], argv + 7);
		_exit(127);
	}
	if (engine_involve(engine, pid, &err) || engine_start(engine, &err))
		die(&err);
	for (int i = 0; i < atof(argv[5]) * 50; i++) {
		usleep(20000);
		for (int c = 0; c < opt.n_cpus; c++) /* as the handlers do */
			engine_set_period(engine, c, opt.period_ns * (0.8 + 0.4 * drand48()));
	}
	engine_set_speedup(engine, 0);
	usleep(20000);
	printf("{\"hz\": %s, \"speedup_pct\": %s, \"inserted_s\": %.6f, \"consumed\": [", argv[4],
	       argv[3], engine_delay(engine) / 1e9);
	for (int i = 0; i < opt.n_cpus; i++) {
		struct scoz_core c = engine_core(engine, i);

		/* what this core had to consume: all but its own hits and what was excused */
		consumed = c.stopped / (double)(engine_delay(engine) - c.own - c.excused);
		kicks += c.kicks;
		if (c.stops > 10 && consumed < worst)
			worst = consumed;
		printf("%s%.5f", i ? ", " : "", c.stops > 10 ? consumed : 1.0);
	}
	begun50 = engine_latency_quantile(engine, 0.5, false, &n);
	begun99 = engine_latency_quantile(engine, 0.99, false, NULL);
	paid50 = engine_latency_quantile(engine, 0.5, true, NULL);
	paid99 = engine_latency_quantile(engine, 0.99, true, NULL);
	printf("], \"worst\": %.5f, \"kicks\": %llu, \"hits_paid\": %llu, \"begun_us\": [%llu, "
	       "%llu], \"paid_us\": "
	       "[%llu, %llu], \"begun_p99_periods\": %.2f, \"paid_p99_periods\": %.2f}\n",
	       worst, (unsigned long long)kicks, (unsigned long long)n,
	       (unsigned long long)begun50 / 1000, (unsigned long long)begun99 / 1000,
	       (unsigned long long)paid50 / 1000, (unsigned long long)paid99 / 1000,
	       begun99 / (double)opt.period_ns, paid99 / (double)opt.period_ns);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	stop = true;
	pthread_join(thread, NULL);
	engine_destroy(engine);
	maptable_free(table);
	return 0;
}
