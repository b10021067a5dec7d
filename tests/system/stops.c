// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stops PID KILL|STOP|MAIN|FREEZE CGROUP: in the middle of heavy stopping, sends the signal to
 * scozd PID and looks when the stops end. Other load must not be taken for stops, nor hide them: so
 * this does not look at what a program loses but reads scozd's delay page, which it holds on to
 * (engine bpf: a map). MAIN: no signal; the main thread alone stands still (ptrace), as if it
 * waited for something that never comes, while all others go on; a second later the lease must have
 * ended, and nobody must be stopped for 2 % of the time. FREEZE: no signal; all that is in CGROUP
 * is frozen.
 * stops PID SHARE PERCENT: for so many percent of any stretch of time a core may stop, and 1 ms;
 * tells by how much it was more, at the most, in four seconds with stops.
 * Exit 0: all stops ended with the lease; 1: they did not; 77: there is no such page.
 */
#include "base/base.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/scoz.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEASE_NS      (8 * NSEC_PER_MSEC) /* renewed to at most so far ahead */
#define PATIENCE_NS   NSEC_PER_SEC
#define ENOUGH_STOPS  50
#define WAIT_S	      60 /* for stops to be seen: others may have most of the cores */
#define AFTERWARDS_US 500000
#define WATCH_NS      (4 * NSEC_PER_SEC)

static const volatile char *page;
static uint32_t n_cores;
static const char *cgroup;

static const volatile struct scoz_header *header(void)
{
	return (const volatile struct scoz_header *)page;
}

static const volatile struct scoz_core *core(uint32_t i)
{
	return (const volatile struct scoz_core *)(page + (SCOZ_SLOT_CORE0 + i) * SCOZ_SLOT_SIZE);
}

/* That of an earlier scozd may not be gone yet. */
static bool holds_map(int pid, uint32_t id)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/fdinfo", pid);
	_cleanup_free_ char *line = xasprintf("map_id:\t%u\n", id);
	DIR *files = opendir(path);
	struct dirent *entry;
	bool held = false;

	while (files && !held && (entry = readdir(files))) {
		_cleanup_free_ char *info = xasprintf("%s/%s", path, entry->d_name);
		_cleanup_free_ char *text = entry->d_name[0] == '.' ? NULL : read_file(info, NULL);

		held = text && strstr(text, line);
	}
	if (files)
		closedir(files);
	return held;
}

static bool map_page(int pid)
{
	uint32_t id = 0;

	while (!bpf_map_get_next_id(id, &id)) {
		struct bpf_map_info info = {};
		uint32_t length = sizeof(info);
		int fd = bpf_map_get_fd_by_id(id);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &length) &&
		    !strcmp(info.name, "delay_page") && info.value_size == SCOZ_SLOT_SIZE &&
		    holds_map(pid, id)) {
			page = mmap(NULL, (size_t)info.max_entries * info.value_size, PROT_READ,
				    MAP_SHARED, fd, 0);
			n_cores = info.max_entries - SCOZ_SLOT_CORE0;
			return page != MAP_FAILED;
		}
		if (fd >= 0)
			close(fd);
	}
	return false;
}

/* The sum of both changes with every stop. */
static uint64_t count_stops(int64_t *stopped_ns, uint32_t *under_way)
{
	uint64_t stops = 0;

	*stopped_ns = 0;
	*under_way = 0;
	for (uint32_t i = 0; i < n_cores; i++) {
		stops += core(i)->stops;
		*stopped_ns += core(i)->stopped;
		*under_way += core(i)->stop_began != 0;
	}
	return stops;
}

static bool is_frozen(void)
{
	_cleanup_free_ char *path = xasprintf("%s/cgroup.events", cgroup);
	_cleanup_free_ char *text = read_file(path, NULL);

	return text && strstr(text, "frozen 1");
}

static bool freeze(void)
{
	_cleanup_free_ char *path = xasprintf("%s/cgroup.freeze", cgroup);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ret = fd >= 0 && write(fd, "1", 1) == 1;

	if (fd >= 0)
		close(fd);
	return ret;
}

/* A thread of its own renews the lease: all of them must have stopped, or be gone. */
static bool is_over(int pid, int signal)
{
	if (!signal)
		return is_frozen();

	_cleanup_free_ char *path = xasprintf("/proc/%d/task", pid);
	DIR *tasks = opendir(path);
	struct dirent *entry;
	bool over = true;

	while (tasks && over && (entry = readdir(tasks))) {
		_cleanup_free_ char *stat = xasprintf("%s/%s/stat", path, entry->d_name);
		_cleanup_free_ char *text = entry->d_name[0] == '.' ? NULL : read_file(stat, NULL);
		const char *end = text ? strrchr(text, ')') : NULL;

		over = !end || strchr(signal == SIGSTOP ? "ZXT" : "ZX", end[2]);
	}
	if (tasks)
		closedir(tasks);
	return over;
}

static void sleep_until(uint64_t ns)
{
	while (clock_now_ns() < ns)
		usleep(1000);
}

static bool hold_main_thread(int pid)
{
	return !ptrace(PTRACE_SEIZE, pid, NULL, NULL) &&
	       !ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) && waitpid(pid, NULL, __WALL) == pid;
}

/* Afterwards it may go on. */
static int look_at_stuck(int pid)
{
	int64_t stopped_before, stopped_after;
	uint64_t held, from, to;
	uint32_t under_way;
	double share;
	bool renewed;

	if (!hold_main_thread(pid)) {
		printf("ptrace: %s\n", strerror(errno));
		return 1;
	}
	held = clock_now_ns();
	sleep_until(held + PATIENCE_NS + 10 * LEASE_NS);
	count_stops(&stopped_before, &under_way);
	from = clock_now_ns();
	sleep_until(from + NSEC_PER_SEC);
	count_stops(&stopped_after, &under_way);
	to = clock_now_ns();
	share = (stopped_after - stopped_before) /
		((double)(to - from) * sysconf(_SC_NPROCESSORS_ONLN));
	printf("a second after the main thread got stuck, cores stood still for %.2f %% of the "
	       "time; "
	       "the lease ended %.0f ms after\n",
	       100 * share, ((double)header()->lease_until - held) / 1e6);
	renewed = header()->lease_until > from; /* it is, as soon as the thread goes on */
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return share >= 0.02 || renewed;
}

/*
 * A bucket for each core: stops fill it, time empties it by the share. What a stop has taken is
 * known when it has ended, so that the time of a look is read before the page is.
 */
static int look_at_share(double share)
{
	uint64_t end = clock_now_ns() + WATCH_NS, *last = xcalloc(n_cores, sizeof(*last));
	int64_t *stopped = xcalloc(n_cores, sizeof(*stopped));
	double *level = xcalloc(n_cores, sizeof(*level)), most = 0, all = 0;

	for (uint32_t i = 0; i < n_cores; i++) {
		last[i] = clock_now_ns();
		stopped[i] = core(i)->stopped;
	}
	do {
		usleep(500);
		for (uint32_t i = 0; i < n_cores; i++) {
			uint64_t now = clock_now_ns();
			int64_t by_now = core(i)->stopped;

			level[i] += by_now - stopped[i] - share * (now - last[i]);
			level[i] = level[i] > 0 ? level[i] : 0;
			most = level[i] > most ? level[i] : most;
			all += by_now - stopped[i];
			stopped[i] = by_now;
			last[i] = now;
		}
	} while (last[0] < end);
	printf("%.1f %.3f\n", most / NSEC_PER_MSEC, all / NSEC_PER_SEC);
	free(last);
	free(stopped);
	free(level);
	return 0;
}

int main(int argc, char **argv)
{
	int pid = argc > 1 ? atoi(argv[1]) : 0, sig;
	uint64_t limit = clock_now_ns() + WAIT_S * NSEC_PER_SEC, sent, over, lease;
	uint64_t before = 0, after;
	int64_t stopped_before, stopped_after;
	uint32_t under_way;

	if (argc < 3 || ((!strcmp(argv[2], "FREEZE") || !strcmp(argv[2], "SHARE")) && argc < 4))
		return 2;
	sig = !strcmp(argv[2], "STOP") ? SIGSTOP : SIGKILL;
	if (!strcmp(argv[2], "FREEZE")) {
		sig = 0;
		cgroup = argv[3];
	}
	for (;;) {
		if (clock_now_ns() > limit || is_over(pid, SIGKILL)) {
			printf("no stops were seen: %s\n",
			       !page ? "scozd has no delay page" : "the target was not hit");
			return page || is_over(pid, SIGKILL) ? 1 : 77;
		}
		if ((!page && !map_page(pid)) || !header()->speedup)
			usleep(1000);
		else if (count_stops(&stopped_before, &under_way) >= ENOUGH_STOPS && under_way)
			break;
	}
	if (!strcmp(argv[2], "MAIN"))
		return look_at_stuck(pid);
	if (!strcmp(argv[2], "SHARE"))
		return look_at_share(atof(argv[3]) / 100);
	sent = clock_now_ns();
	if (sig ? kill(pid, sig) : !freeze()) {
		printf("%s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	while (!is_over(pid, sig) && clock_now_ns() < limit)
		;
	over = clock_now_ns();
	lease = header()->lease_until;
	if (!is_over(pid, sig) || lease > over + LEASE_NS) {
		printf("scozd goes on after the signal\n");
		return 1;
	}
	/* A stop that was under way ends with the lease, if its core is given to us at all. */
	for (sleep_until(lease); clock_now_ns() < limit; usleep(1000)) {
		count_stops(&stopped_before, &under_way);
		if (!under_way)
			break;
	}
	usleep(1000); /* it counts them when they are over */
	before = count_stops(&stopped_before, &under_way);
	usleep(AFTERWARDS_US);
	after = count_stops(&stopped_after, &under_way);
	printf("%llu stops; the lease ended %.1f ms after the signal, %llu stops since\n",
	       (unsigned long long)before, ((double)lease - sent) / 1e6,
	       (unsigned long long)(after - before));
	return under_way || after != before || stopped_after != stopped_before ||
	       header()->lease_until != lease;
}
