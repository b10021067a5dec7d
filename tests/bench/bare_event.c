// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bare_event HZ [COMMAND...]: a plain cpu-clock event on every CPU, nobody reading, while the
 * command runs (or until a signal): what sampling alone costs.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IP,
	};
	int status = 0, pid;

	if (argc < 2)
		return 2;
	attr.sample_period = 1e9 / atof(argv[1]);
	for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++) {
		if (syscall(SYS_perf_event_open, &attr, -1, i, -1, PERF_FLAG_FD_CLOEXEC) < 0) {
			perror("bare_event: perf_event_open");
			return 1;
		}
	}
	if (argc == 2) {
		pause();
		return 0;
	}
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
