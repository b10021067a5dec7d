// SPDX-License-Identifier: GPL-2.0-or-later
// Runs in the guest (test-kernel-ends): whose are waits that a thread of the kernel ends? Those of
// a device if it ends a bio, or if its work was queued or its poll scheduled by an interrupt; of a
// task if that was done by one, or if it does nothing of the kind.
// usage: guest-ends: the module of tests/vm/ends is loaded.
#include "scoz_test.h"

#include <sys/prctl.h>

#define WAITS 300

// Of involved tasks: ended by devices, and by tasks.
static void count_waits(const struct session *s, uint64_t *external, uint64_t *syncs)
{
	*external = 0;
	*syncs = 0;
	for (uint32_t i = 0; i < s->args.cores; i++) {
		*external += core(s, i)->external_waits;
		*syncs += core(s, i)->syncs;
	}
}

static void wait_often(int fd)
{
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fd, &c, 1) == 1)
		;
	_exit(1);
}

// 0: they are a device's, if @device, or a task's.
static int waits_are(char who, bool device)
{
	uint64_t external = 0, syncs = 0, end;
	int fd = open("/dev/scoz_ends", O_RDWR | O_CLOEXEC);
	struct session s;
	uint32_t tgid;
	pid_t pid;

	if (fd < 0 || write(fd, &who, 1) != 1 || session_open(&s) || lease_starts(&s)) {
		perror("guest-ends");
		return 1;
	}
	pid = fork();
	if (!pid)
		wait_often(fd);
	tgid = pid;
	if (ioctl(s.fd, SCOZ_IOC_INVOLVE, &tgid) || ioctl(s.fd, SCOZ_IOC_ENABLE)) {
		perror("guest-ends: session");
		return 1;
	}
	end = now_ns() + 60000000000ULL;
	while (external + syncs < WAITS && now_ns() < end) {
		usleep(1000);
		count_waits(&s, &external, &syncs);
	}
	session_close(&s);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	printf("%c: %llu by a device, %llu by a task\n", who, (unsigned long long)external,
	       (unsigned long long)syncs);
	if (external + syncs < WAITS)
		return 1;
	// A thread that has to do with the reader is involved, and what it waits for counts, too.
	return (device ? external > 10 * syncs : 3 * syncs > 2 * external) ? 0 : 1;
}

int main(void)
{
	int bad = 0;

	bad |= waits_are('t', false);
	bad |= waits_are('b', true);
	bad |= waits_are('n', true);
	bad |= waits_are('w', true);
	bad |= waits_are('N', false);
	bad |= waits_are('W', false);
	return bad;
}
