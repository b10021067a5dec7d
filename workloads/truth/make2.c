// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A build: a driver keeps two jobs running until a batch of six is done, then runs one more, the
 * link. Each job is a process of its own, forked and executed, that lives for a quarter of the
 * iteration: the target (80 %) and a rest. The link is the other quarter. Target: 0.6 s, other:
 * 0.25 s, less what making processes takes.
 */
#include "truth.h"

#define JOBS	 6
#define PARALLEL 2

static char self[4096];

static int job(char **argv)
{
	uint64_t n = strtoull(argv[2], NULL, 10);

	if (!strcmp(argv[1], "--job")) {
		truth_target(n);
		truth_rest(strtoull(argv[3], NULL, 10));
	} else {
		truth_other(n);
	}
	return 0;
}

static void run(const char *what, uint64_t n, uint64_t rest)
{
	char a[24], b[24];
	pid_t parent = getpid(), pid;

	snprintf(a, sizeof(a), "%llu", (unsigned long long)n);
	snprintf(b, sizeof(b), "%llu", (unsigned long long)rest);
	pid = fork();
	if (pid < 0)
		truth_die("cannot fork: %s", strerror(errno));
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		execl(self, truth.name, what, a, b, (char *)NULL);
	_exit(127);
}

static void reap(void)
{
	int status;

	if (wait(&status) < 0 || status)
		truth_die("a job failed");
}

static void driver(void *arg)
{
	uint64_t target = truth_share(20), rest = truth_share(5), other = truth_share(25);

	(void)arg;
	for (;;) {
		for (int i = 0; i < JOBS; i++) {
			if (i >= PARALLEL)
				reap();
			run("--job", truth_cut(TRUTH_TARGET, target), rest);
		}
		for (int i = 0; i < PARALLEL; i++)
			reap();
		run("--link", truth_cut(TRUTH_OTHER, other), 0);
		reap();
		truth_progress(0);
	}
}

int main(int argc, char **argv)
{
	if (argc == 4 && (!strcmp(argv[1], "--job") || !strcmp(argv[1], "--link")))
		return job(argv);
	truth_init(argc, argv,
		   &(struct truth_spec){
			   .about = "A build: six jobs (80 % target), two at a time, then a link.",
			   .iter_us = 30000,
			   .processes = true,
		   });
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		truth_die("cannot tell where this program is: %s", strerror(errno));
	truth_spawn(driver, NULL);
	return truth_run();
}
