// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The nursery is forked before there is anything worth knowing in its parent's memory, gives up its
 * rights and forks two processes for each job: one to read the file, and its keeper, which tells
 * how that one ended. Each dies with its parent.
 */
#include "elf/table_make.h"
#include "files/file_open.h"
#include "progress/probe_sites.h"
#include "table/table.h"
#include "symbolizer/protocol.h"
#include "symbolizer/sandbox.h"
#include "unwind/unwind.h"
#include "table/code_loads.h"
#include "unwind/unwind_table.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE_FILE (1 << 20)
#define LARGE_HEAP (64 << 20)

/* ---- the worker ---- */

static void __attribute__((noreturn)) fail(int socket, const struct error *err)
{
	struct message m = { .type = MSG_ERROR, .number = -err->code };

	snprintf(m.text, sizeof(m.text), "%s", err->text);
	message_send(socket, &m, NULL, 0);
	_exit(0);
}

static void wait_for_go(int socket)
{
	struct message m;
	int fds[MSG_FDS];

	if (!message_receive(socket, &m, fds) || m.type != MSG_GO)
		_exit(0);
}

/* What follows is checked by who gets it; after this nobody can change it. */
static bool put(int fd, const char *p, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write(fd, p + done, size - done);

		if (n <= 0)
			return false;
		done += n;
	}
	return !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
}

static void __attribute__((noreturn))
answer(int socket, uint32_t type, const char *name, int memory, const void *block, size_t size)
{
	struct message m = { .type = type, .number = size };
	struct error err = { 0 };

	if (!put(memory, block, size)) {
		error_set(&err, errno, "%s: what was read of it cannot be written: %s", name,
			  strerror(errno));
		fail(socket, &err);
	}
	message_send(socket, &m, &memory, 1);
	_exit(0);
}

static void __attribute__((noreturn))
make_table(const struct message *job, int file, int socket, int memory)
{
	const char *name = job->text, *root = name + strlen(name) + 1;
	const char *debug_root = root + strlen(root) + 1;
	const char *path = debug_root + strlen(debug_root) + 1;
	struct map_options opt = { .debug_root = *debug_root ? debug_root : NULL,
				   .root = *root ? root : NULL,
				   .path = path,
				   .kernel = job->flags & MSG_KERNEL,
				   .kallsyms = job->flags & MSG_KALLSYMS };
	struct message m = { .type = MSG_FOUND };
	struct error err = { 0 };
	struct table_work *work;
	struct table_header *h;
	struct maptable *t;

	if (table_work_begin(file, name, &opt, &work, &m.number, &err))
		fail(socket, &err);
	message_send(socket, &m, NULL, 0);
	wait_for_go(socket);
	t = table_work_build(work, &opt, &err);
	if (!t)
		fail(socket, &err);
	h = t->mem;
	h->checksum = table_checksum(t->mem, t->size);
	answer(socket, MSG_TABLE, name, memory, t->mem, t->size);
}

static void __attribute__((noreturn))
find_probes(const struct message *job, int file, int socket, int memory)
{
	const char *name = job->text, *spec = name + strlen(name) + 1;
	const char *none = spec + strlen(spec) + 1, *path = none + strlen(none) + 1;
	struct probe_sites *sites;
	struct error err = { 0 };

	if (probe_sites_read(file, name, path, spec, &sites, &err))
		fail(socket, &err);
	answer(socket, MSG_SITES, name, memory, sites->mem, sites->size);
}

static void __attribute__((noreturn))
make_unwind_table(const struct message *job, int file, int socket, int memory)
{
	const char *name = job->text;
	struct unwind_table *t;
	struct error err = { 0 };

	if (unwind_table_read(file, name, &t, &err))
		fail(socket, &err);
	answer(socket, MSG_UNWIND, name, memory, t->mem, t->size);
}

static void __attribute__((noreturn))
read_loads(const struct message *job, int file, int socket, int memory)
{
	enum code_loads_kind kind =
		job->flags & MSG_JITDUMP ? CODE_LOADS_JITDUMP : CODE_LOADS_PERF_MAP;
	struct error err = { 0 };
	struct code_loads *l = code_loads_read(file, job->text, kind, job->number, &err);

	if (!l)
		fail(socket, &err);
	answer(socket, MSG_BLOCK, job->text, memory, l->mem, l->size);
}

/*
 * Much memory for a moment: to fault in its small pages took more than half of the time of a table
 * of 120,000 symbols. So large pages, and arrays that grow where others have been.
 */
static void expect_large_tables(void)
{
	char *block, *begin, *end;

	mallopt(M_MMAP_THRESHOLD, LARGE_HEAP / 2); /* which is the most */
	mallopt(M_TRIM_THRESHOLD, INT_MAX);	   /* none of it goes back */
	mallopt(M_TOP_PAD, LARGE_HEAP);
	block = malloc(LARGE_FILE); /* extends the heap by what is wanted now */
	mallopt(M_TOP_PAD, LARGE_FILE);
	begin = block + (-(uintptr_t)block & (sysconf(_SC_PAGESIZE) - 1));
	end = sbrk(0);
	if (block && begin < end)
		madvise(begin, end - begin, MADV_HUGEPAGE);
	free(block);
}

static bool is_large(const struct message *job, int file)
{
	struct stat st;

	return job->flags & MSG_KALLSYMS || (!fstat(file, &st) && st.st_size > LARGE_FILE);
}

static void __attribute__((noreturn)) worker_main(const struct message *job, int file, int socket)
{
	int memory = memfd_create("table", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int failed = memory < 0 ? errno : 0, opens;
	struct message m = { .type = MSG_READY };
	const char *name = job->text;
	struct error err = { 0 };
	bool locked_in;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sandbox_limit(job->memory, job->cpu_s);
	if (is_large(job, file))
		expect_large_tables();
	opens = sandbox_enter();
	locked_in = opens >= 0;
	if (failed) {
		error_set(&err, failed, "%s: not read: its reader has no memory to answer with: %s",
			  name, strerror(failed));
		fail(socket, &err);
	}
	if (!locked_in && opens != -ENOSYS && opens != -EINVAL) {
		error_set(&err, -opens, "%s: not read: its reader cannot be locked in: %s", name,
			  strerror(-opens));
		fail(socket, &err);
	}
	/* A kernel without seccomp's filters: what user nobody may open, it may. */
	message_send(socket, &m, &opens, locked_in);
	if (locked_in)
		close(opens);
	wait_for_go(socket);
	file_open_is_served = locked_in;
	(job->flags & MSG_PROBES   ? find_probes
	 : job->flags & MSG_FRAMES ? make_unwind_table
	 : job->flags & MSG_LOADS  ? read_loads
				   : make_table)(job, file, socket, memory);
}

/* ---- its keeper, and the nursery ---- */

static void __attribute__((noreturn)) keeper_main(const struct message *job, int file, int socket)
{
	struct message m = { .type = MSG_STARTED };
	int pidfd, status = 0, pid;

	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pid = fork();
	if (!pid)
		worker_main(job, file, socket);
	close(file);
	pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
	if (pidfd < 0)
		_exit(1);
	m.number = pid;
	message_send(socket, &m, &pidfd, 1);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	m.type = MSG_ENDED;
	m.number = status;
	message_send(socket, &m, NULL, 0);
	_exit(0);
}

static void be_alone(int socket)
{
	static const int ignored[] = { SIGINT,	SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE,
				       SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD };
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	setsid(); /* a Ctrl-C is not for it */
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "scozd-symbols");
	socket = dup2(socket, 3) < 0 ? -1 : 3;
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	if (socket < 0 || close_range(4, ~0U, 0))
		_exit(1);
	fcntl(3, F_SETFD, FD_CLOEXEC);
}

void nursery_main(int socket)
{
	static struct message job;
	int fds[MSG_FDS];

	be_alone(socket);
	sandbox_drop_rights();
	while (message_receive(3, &job, fds)) {
		int pid = -1;

		if (job.type == MSG_JOB && fds[0] >= 0 && fds[1] >= 0)
			pid = fork();
		if (!pid) {
			close(3);
			keeper_main(&job, fds[0], fds[1]);
		}
		for (int i = 0; i < MSG_FDS; i++) {
			if (fds[i] >= 0)
				close(fds[i]);
		}
	}
	_exit(0);
}
