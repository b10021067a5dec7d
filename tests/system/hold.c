// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hold TID SECONDS: holds that thread, and no other of its process, as a page that has to come
 * from a disk that does not answer would. Says "held" when it does. Ends when the thread does.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int tid = argc > 2 ? atoi(argv[1]) : 0, status;

	if (!tid)
		return 2;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ||
	    waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status)) {
		fprintf(stderr, "cannot hold thread %d: %s\n", tid, strerror(errno));
		return 1;
	}
	puts("held");
	fflush(stdout);
	alarm(atoi(argv[2])); /* ends us, and lets it go */
	while (waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status))
		;
	return 0;
}
