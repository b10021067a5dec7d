// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/unwinding.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "maps/maps_perf.h"
#include "record/sideband.h"
#include "unwind/follow.h"

#define POLL_MS	      250 /* CPUs come and go */
#define REPAIR_NS     NSEC_PER_SEC
#define SETTLE_US     500 /* what comes at once is read at once */
#define JOIN_RETRY_US 1000

struct unwinding {
	struct maps *maps;
	struct unwind_follow *follow;
	struct sideband sideband;
	bool listens, runs;
	/* What was lost when all processes were last looked at; when, and how long that took. */
	uint64_t repaired, repaired_ns, repair_ns;
	pthread_t reader;
	int stop;      /* eventfd */
	int will_exec; /* atomic; it is us yet, whose tables nobody needs; 0: nobody */
};

static void on_record(const struct perf_event_header *header, void *arg)
{
	const uint32_t *ids = (const uint32_t *)(header + 1); /* pid, ppid */
	struct unwinding *u = arg;
	int pid, ours;

	if (header->type == PERF_RECORD_FORK && header->size >= sizeof(*header) + 2 * sizeof(*ids))
		unwind_follow_forked(u->follow, ids[1], ids[0]);
	if (maps_perf_record(u->maps, header, &pid) != MAPS_PERF_EXEC)
		return;
	ours = pid;
	if (__atomic_compare_exchange_n(&u->will_exec, &ours, 0, false, __ATOMIC_ACQ_REL,
					__ATOMIC_RELAXED))
		unwind_follow_involved(u->follow, pid);
	else
		unwind_follow_execed(u->follow, pid);
}

static void on_mapping(uint32_t binary, const struct maps_mapping *m, void *arg)
{
	struct unwinding *u = arg;

	(void)binary;
	unwind_follow_mapped(u->follow, m->pid);
}

static void on_exit_of(int pid, void *arg)
{
	unwind_follow_exited(((struct unwinding *)arg)->follow, pid);
}

static void forget_mappings(int pid, void *arg)
{
	unwind_follow_execed(((struct unwinding *)arg)->follow, pid);
}

static void rescan(struct unwinding *u)
{
	maps_rescan(u->maps, forget_mappings, u, NULL);
}

void unwinding_repair(struct unwinding *u)
{
	if (!u->listens)
		rescan(u);
}

static void repair_own(struct unwinding *u)
{
	uint64_t now = clock_now_ns();

	if (u->sideband.lost == u->repaired || now - u->repaired_ns < REPAIR_NS + 10 * u->repair_ns)
		return;
	u->repaired = u->sideband.lost;
	rescan(u);
	u->repaired_ns = clock_now_ns();
	u->repair_ns = u->repaired_ns - now;
}

/* Returns how many to wait for. */
static size_t to_wait_for(const struct unwinding *u, struct pollfd **fds, size_t *cap)
{
	const struct cpu_events *e = &u->sideband.events;
	size_t n = 0;

	array_reserve(*fds, *cap, e->n + 1);
	(*fds)[n++] = (struct pollfd){ .fd = u->stop, .events = POLLIN };
	for (size_t i = 0; i < e->n; i++)
		(*fds)[n++] = (struct pollfd){ .fd = e->list[i].fd, .events = POLLIN };
	return n;
}

static void *reader_main(void *arg)
{
	struct unwinding *u = arg;
	struct pollfd *fds = NULL;
	size_t cap = 0;

	pthread_setname_np(pthread_self(), "scoz/mapped");
	for (;;) {
		size_t n = to_wait_for(u, &fds, &cap);

		poll(fds, n, POLL_MS);
		if (fds[0].revents)
			break;
		sideband_drain(&u->sideband, NULL, on_record, u);
		repair_own(u);
		usleep(SETTLE_US);
	}
	free(fds);
	return NULL;
}

int unwinding_create(const struct unwind_maps *to, bool everybody, const char *cache_dir,
		     struct unwinding **ret, struct error *err)
{
	struct unwinding *u = xcalloc(1, sizeof(*u));
	struct error why = { 0 };
	int rc = maps_create(NULL, &u->maps, err);

	u->stop = eventfd(0, EFD_CLOEXEC);
	if (!rc && u->stop < 0)
		rc = error_set(err, errno, "eventfd: %s", strerror(errno));
	if (!rc) {
		u->listens = !sideband_open(&u->sideband, true, &why);
		if (!u->listens)
			log_debug("%s: what is mapped is read with the rest", why.text);
	}
	if (!rc && everybody)
		rc = maps_scan_all(u->maps, err);
	if (!rc)
		rc = unwind_follow_start(u->maps, to, cache_dir, &u->follow, err);
	if (rc) {
		unwinding_destroy(u, 0);
		return rc;
	}
	maps_on_mapping(u->maps, on_mapping, u);
	maps_on_exit(u->maps, on_exit_of, u);
	*ret = u;
	return 0;
}

int unwinding_start(struct unwinding *u, struct error *err)
{
	int rc = maps_start(u->maps, err);

	if (rc || !u->listens)
		return rc;
	rc = pthread_create(&u->reader, NULL, reader_main, u);
	if (rc)
		return error_set(err, rc, "starting a thread: %s", strerror(rc));
	u->runs = true;
	return 0;
}

void unwinding_add(struct unwinding *u, int pid, bool will_exec)
{
	if (will_exec) {
		__atomic_store_n(&u->will_exec, pid, __ATOMIC_RELEASE);
	} else {
		maps_scan_process(u->maps, pid);
		unwind_follow_involved(u->follow, pid);
	}
}

void unwinding_sampled(struct unwinding *u, int pid)
{
	if (pid != __atomic_load_n(&u->will_exec, __ATOMIC_ACQUIRE))
		unwind_follow_sampled(u->follow, pid);
}

bool unwinding_in_no_file(const struct unwinding *u, int pid, uint64_t address)
{
	uint64_t place;
	uint32_t binary;

	return !maps_place_of(u->maps, pid, address, &binary, &place);
}

void (*unwinding_reader(const struct unwinding *u))(const struct perf_event_header *h, void *arg)
{
	return u && !u->listens ? on_record : NULL;
}

void unwinding_log(struct unwinding *u)
{
	if (u->sideband.lost)
		log_info("%llu records of what is mapped were lost: some call chains go by frame "
			 "pointers",
			 (unsigned long long)u->sideband.lost);
	unwind_follow_log(u->follow);
}

bool unwinding_destroy(struct unwinding *u, double seconds)
{
	uint64_t end = clock_now_ns() + (uint64_t)((1 + seconds) * NSEC_PER_SEC);
	bool stopped;

	if (!u)
		return true;
	if (u->runs) {
		eventfd_write(u->stop, 1);
		while (pthread_tryjoin_np(u->reader, NULL)) {
			if (clock_now_ns() >= end)
				return false;
			usleep(JOIN_RETRY_US);
		}
		u->runs = false;
	}
	/* In this order: the threads of the one tell the other who has ended. */
	stopped =
		(!u->maps || maps_stop(u->maps, seconds)) && unwind_follow_stop(u->follow, seconds);
	if (!stopped)
		return false;
	sideband_close(&u->sideband);
	maps_destroy(u->maps);
	if (u->stop >= 0)
		close(u->stop);
	free(u);
	return true;
}
