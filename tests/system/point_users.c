// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * point_users [ENGINE]: whose arrivals at a point by_user count: those of users that were named,
 * and of processes that take part. And what happens where more users are named than there is room
 * for.
 */
#include "engine/bpf/shared.h"
#include "engine/engine.h"
#include "host/process.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRANGER 65534
#define ARRIVALS 10

static struct engine *engine;
static int point = -1;

__attribute__((noinline)) static void arrive(void)
{
	__asm__ volatile("");
}

static void die(const char *what)
{
	printf("FAILED: %s\n", what);
	exit(1);
}

/* In a child: what the engine's own process does counts never. */
static void arrivals_of(uint32_t uid, bool involved, uint64_t wanted, const char *whose)
{
	struct engine_count before, after;
	struct error err = {};
	int status, go[2];
	pid_t pid;
	char c = 0;

	engine_read_point(engine, point, &before);
	if (pipe(go))
		die("pipe");
	pid = fork();
	if (!pid) {
		if (syscall(SYS_setresuid, -1, uid, -1) || read(go[0], &c, 1) != 1)
			_exit(1);
		for (int i = 0; i < ARRIVALS; i++)
			arrive();
		_exit(0);
	}
	if (involved && engine_involve(engine, pid, &err))
		die(err.text);
	if (write(go[1], &c, 1) != 1 || waitpid(pid, &status, 0) != pid || status)
		die("the child");
	close(go[0]);
	close(go[1]);
	engine_read_point(engine, point, &after);
	printf("%s: %llu of %d arrivals count\n", whose,
	       (unsigned long long)(after.visits - before.visits), ARRIVALS);
	if (after.visits - before.visits != wanted)
		die("these are not those that should");
}

static void name_many(bool limited)
{
	int ret = 0, n = 1; /* STRANGER */

	while (!ret && n < 2 * BPF_MAX_USERS) {
		ret = engine_count_user(engine, 100000 + n);
		n += !ret;
	}
	printf("%d users have been named: %s\n", n, ret ? strerror(-ret) : "no end");
	if (limited ? ret != -E2BIG || n != BPF_MAX_USERS : ret)
		die("there is room for others than that");
	if (engine_count_user(engine, STRANGER))
		die("who was named before is not known any more");
}

int main(int argc, char **argv)
{
	const int cpus[] = { 0 };
	const struct engine_options opt = { .name = argc > 1 ? argv[1] : "auto",
					    .cpus = cpus,
					    .n_cpus = 1,
					    .model = SCOZ_MODEL_WAIT,
					    .period_ns = 10 * NSEC_PER_MSEC,
					    .max_stop_ns = NSEC_PER_MSEC,
					    .max_share = 10,
					    .record_hz = 1000,
					    .members_known = true,
					    .trace_tasks = true };
	struct engine_point p = { .kind = ENGINE_UPROBE,
				  .role = ENGINE_VISIT,
				  .path = "/proc/self/exe",
				  .file_name = argv[0],
				  .latency = -1,
				  .by_user = true };
	struct error err = {};

	setvbuf(stdout, NULL, _IOLBF, 0);
	p.fd = open(p.path, O_RDONLY | O_CLOEXEC);
	if (p.fd < 0 || !process_own_offset(arrive, &p.offset) ||
	    engine_create(&opt, &engine, &err) || engine_add_point(engine, &p, &point, &err) ||
	    engine_start(engine, &err))
		die(err.text);
	if (engine_counts_all_users(engine))
		die("this kernel's patches are older ones");
	arrivals_of(STRANGER, false, 0, "a stranger");
	arrivals_of(0, false, 0, "root");
	arrivals_of(0, true, ARRIVALS, "root, profiled");
	if (engine_count_user(engine, STRANGER))
		die("one user cannot be named");
	arrivals_of(STRANGER, false, ARRIVALS, "a user who was named");
	name_many(!strcmp(engine_name(engine), "bpf"));
	engine_destroy(engine);
	return 0;
}
