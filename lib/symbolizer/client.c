// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The side that wants tables. It never looks into a file: it opens what it is asked for, if that is
 * a regular file that the one who named it may read, passes descriptors on, and checks what comes
 * back. It waits for answers only where nothing else waits for it, and no longer than a file of
 * that size can take.
 */
#include "base/hash_index.h"
#include "elf/table_make.h"
#include "files/file_open.h"
#include "progress/probe_sites.h"
#include "table/code_loads.h"
#include "table/table.h"
#include "symbolizer/asked.h"
#include "symbolizer/protocol.h"
#include "symbolizer/sandbox.h"
#include "symbolizer/symbolizer.h"
#include "unwind/unwind.h"
#include "unwind/unwind_table.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEGABYTE       (1ULL << 20)
#define BASE_MEMORY    (512 * MEGABYTE)
#define MEMORY_PER     16 /* bytes for each of the files */
#define BASE_CPU_S     5
#define BYTES_A_SECOND (4 * MEGABYTE)
#define MOST_CPU_S     300
#define BASE_WAIT_S    30
#define MAX_OPENS      4096
#define MAX_ANSWER     (256 * MEGABYTE)	  /* where probes go, or what is told of made code */
#define STUCK_NS       (3 * NSEC_PER_SEC) /* on a busy machine a worker has its turn late */
#define DEAD_NS	       (20 * NSEC_PER_SEC)
#define MAX_LATE       8 /* messages: there are four of a job */

uint64_t symbolizer_most_wait_s = UINT64_MAX;

static struct {
	int socket, abandon, pid;
	int process; /* pidfd of it: its number may be that of another one by now */
	pthread_mutex_t lock;
	uint64_t tables; /* bytes in all, of those that are in no file */
	int waiting;	 /* for a worker, longer than it should take */
	bool open;	 /* workers cannot be locked in */
	bool dead;	 /* has not answered for so long that nobody waits any more */
	bool gone;	 /* that has been told */
} symbolizer = { .socket = -1, .abandon = -1, .process = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

struct job {
	const char *name, *root, *cache;
	const char *spec; /* no table is wanted, but where its probes go; "": those of marks */
	bool frames;	  /* nor that, but its unwind table */
	bool made;	  /* nor that, but what it tells of code that is made, */
	enum code_loads_kind kind;
	uint64_t from; /* from there on */
	const struct map_options *opt;
	int file;
	uid_t owner;
	int socket, worker, opens; /* -1: not there yet */
	bool ready, begun, found, waits, ended;
	int status, n_opens, n_late;
	uint64_t memory, cpu_s, since, work;
	struct asked asked;
	struct maptable *table;
	struct probe_sites *sites;
	struct unwind_table *unwind;
	struct code_loads *loads;
	struct error *err;
	int result; /* of the whole, once it is ended */
};

static uint64_t half_of_memory(void)
{
	uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 2;

	return half > BASE_MEMORY ? half : BASE_MEMORY;
}

/* A file more: memory and time for it. */
static void allow(struct job *j, uint64_t size)
{
	uint64_t most = half_of_memory();

	j->memory += MEMORY_PER * size;
	if (j->memory > most)
		j->memory = most;
	j->cpu_s += size / BYTES_A_SECOND;
	if (j->cpu_s > MOST_CPU_S) /* a file may say that it is as large as it likes */
		j->cpu_s = MOST_CPU_S;
}

/* ---- opening for a worker ---- */

static bool read_path(int pid, uint64_t from, char *path)
{
	size_t page = sysconf(_SC_PAGESIZE), n = 0;

	while (n < PATH_MAX) {
		size_t part = page - (from + n) % page;
		struct iovec to = { path + n, part > PATH_MAX - n ? PATH_MAX - n : part };
		struct iovec of = { (void *)(uintptr_t)(from + n), to.iov_len };
		ssize_t got = process_vm_readv(pid, &to, 1, &of, 1, 0);

		if (got <= 0)
			return false;
		if (memchr(path + n, '\0', got))
			return true;
		n += got;
	}
	return false;
}

static void raise_limits(const struct job *j, int pid)
{
	const struct rlimit as = { j->memory, j->memory }, cpu = { j->cpu_s, j->cpu_s + 1 };

	if (SANDBOX_LIMITS_MEMORY)
		prlimit(pid, RLIMIT_AS, &as, NULL);
	prlimit(pid, RLIMIT_CPU, &cpu, NULL);
}

static int open_for(struct job *j, const struct seccomp_notif *n)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if (j->n_opens++ >= MAX_OPENS || !read_path(n->pid, n->data.args[1], path) ||
	    ioctl(j->opens, SECCOMP_IOCTL_NOTIF_ID_VALID, &n->id)) {
		j->asked.lost = true;
		return -EACCES;
	}
	fd = file_open_partner(j->root, path, j->owner, &st);
	if (j->cache && !j->found)
		asked_note(&j->asked, path, fd, &st);
	if (fd >= 0) {
		allow(j, st.st_size);
		raise_limits(j, n->pid);
	}
	log_debug("%s names %s: %s", j->name, path, fd < 0 ? strerror(-fd) : "opened");
	return fd;
}

static void close_opens(struct job *j)
{
	close(j->opens);
	j->opens = -1;
}

static void answer_open(struct job *j)
{
	struct seccomp_notif n = { 0 };
	struct seccomp_notif_resp no = { 0 };
	struct seccomp_notif_addfd yes = { .flags = SECCOMP_ADDFD_FLAG_SEND,
					   .newfd_flags = O_CLOEXEC };
	int fd;

	if (ioctl(j->opens, SECCOMP_IOCTL_NOTIF_RECV, &n)) {
		if (errno != ENOENT && errno != EINTR) /* it is something else */
			close_opens(j);
		return;
	}
	fd = open_for(j, &n);
	yes.id = no.id = n.id;
	yes.srcfd = fd;
	no.error = fd < 0 ? fd : -EACCES;
	if (fd < 0 || ioctl(j->opens, SECCOMP_IOCTL_NOTIF_ADDFD, &yes) < 0)
		ioctl(j->opens, SECCOMP_IOCTL_NOTIF_SEND, &no);
	if (fd >= 0)
		close(fd);
}

/* ---- what workers say ---- */

static int end(struct job *j, int result)
{
	j->ended = true;
	return j->result = result;
}

static void go_on(struct job *j)
{
	const struct message go = { .type = MSG_GO };

	message_send(j->socket, &go, NULL, 0);
}

/* @fd: of the worker, and not to be trusted. */
static bool is_sealed(int fd, uint64_t size)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	struct stat st;

	return fd >= 0 && (fcntl(fd, F_GET_SEALS) & seals) == seals && !fstat(fd, &st) &&
	       (uint64_t)st.st_size == size && size;
}

static void *take_block(struct job *j, int fd, uint64_t size)
{
	void *mem = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);

	if (mem != MAP_FAILED)
		return mem;
	end(j, error_set(j->err, errno, "%s: mapping what was read of it: %s", j->name,
			 strerror(errno)));
	return NULL;
}

/* NULL: it is none that can be believed, or, where the job is over with that, cannot be had. */
static void *take_sealed(struct job *j, int fd, uint64_t size, uint64_t most)
{
	return size <= most && is_sealed(fd, size) ? take_block(j, fd, size) : NULL;
}

/* In a file it takes memory only as long as there is some to spare. */
static void keep_table(struct job *j)
{
	struct maptable *kept;

	cache_store(j->cache, j->table);
	kept = cache_load(j->cache, j->file, j->table->h->debug_fingerprint);
	if (!kept)
		return;
	maptable_free(j->table);
	j->table = kept;
}

static int is_damaged(struct job *j)
{
	log_warn("%s: the symbolizer made a table of it that cannot be: the file is malformed, or "
		 "made to harm; the run goes on without its lines",
		 j->name);
	return end(j, error_set(j->err, EBADMSG, "%s: its table is damaged", j->name));
}

static int on_table(struct job *j, int fd, uint64_t size)
{
	uint64_t most = half_of_memory() / 2;
	void *mem;

	if (!is_sealed(fd, size)) /* what it says of its size is not counted with */
		return is_damaged(j);
	if (__atomic_add_fetch(&symbolizer.tables, size, __ATOMIC_RELAXED) > most) {
		__atomic_sub_fetch(&symbolizer.tables, size, __ATOMIC_RELAXED);
		return end(j, error_set(j->err, E2BIG,
					"%s: its lines are left out: the tables of all files may "
					"take %llu MB",
					j->name, (unsigned long long)(most / MEGABYTE)));
	}
	mem = take_block(j, fd, size);
	j->table = mem ? table_attach(mem, size, true, true) : NULL;
	if (!j->table) {
		__atomic_sub_fetch(&symbolizer.tables, size, __ATOMIC_RELAXED);
		return mem ? is_damaged(j) : j->result;
	}
	j->table->counted = &symbolizer.tables;
	if (j->cache)
		keep_table(j);
	return end(j, 0);
}

/* It lives only until it has been handed on, so it is not counted among the tables. */
static int on_unwind(struct job *j, int fd, uint64_t size)
{
	void *mem = take_sealed(j, fd, size, half_of_memory() / 2);

	if (j->ended)
		return j->result;
	j->unwind = mem ? unwind_table_attach(mem, size, true) : NULL;
	if (j->unwind && unwind_table_is_of(j->unwind, j->file)) {
		if (j->cache)
			unwind_table_keep(j->cache, j->unwind);
		return end(j, 0);
	}
	unwind_table_free(j->unwind);
	j->unwind = NULL;
	log_warn("%s: the symbolizer made an unwind table of it that cannot be: the file is "
		 "malformed, or made to harm; its call chains are followed by frame pointers",
		 j->name);
	return end(j, error_set(j->err, EBADMSG, "%s: its unwind table is damaged", j->name));
}

/* Of probes, or of code that is made. */
static int on_answer(struct job *j, int fd, uint64_t size)
{
	void *mem = take_sealed(j, fd, size, MAX_ANSWER);

	if (j->ended)
		return j->result;
	if (mem && j->spec)
		j->sites = probe_sites_attach(mem, size, true);
	else if (mem)
		j->loads = code_loads_attach(mem, size, true);
	if (j->sites || j->loads)
		return end(j, 0);
	return end(j, error_set(j->err, EBADMSG,
				"%s: what its reader says of %s cannot be: the file is malformed, "
				"or made to harm",
				j->name, j->spec ? "its probes" : "it"));
}

static int on_death(struct job *j)
{
	int sig = WIFSIGNALED(j->status) ? WTERMSIG(j->status) : 0;
	const char *why;
	char what[96];

	/* To end it by its limit of time the kernel takes SIGXCPU first. */
	if (sig == SIGKILL)
		snprintf(what, sizeof(what),
			 "its reader was killed, for want of memory or by hand");
	else if (sig == SIGXCPU)
		snprintf(what, sizeof(what), "to read it takes longer than %llu s",
			 (unsigned long long)j->cpu_s);
	else if (sig)
		snprintf(what, sizeof(what), "its reader crashed (%s)", strsignal(sig));
	else
		snprintf(what, sizeof(what), "to read it takes more than %llu MB of memory",
			 (unsigned long long)(j->memory / MEGABYTE));
	why = sig == SIGKILL ? "" : ": the file is malformed, or made to harm";
	if (!j->spec && !j->made)
		log_warn("%s: %s%s; the run goes on without its %s", j->name, what, why,
			 j->frames ? "unwind table" : "lines");
	return end(j, error_set(j->err, EBADMSG, "%s: %s%s", j->name, what, why));
}

static void on_message(struct job *j, struct message *m, int fds[MSG_FDS])
{
	switch (m->type) {
	case MSG_STARTED:
		if (j->worker < 0) {
			j->worker = fds[0];
			fds[0] = -1;
		}
		break;
	case MSG_READY:
		if (!j->ready) {
			j->ready = true;
			j->opens = fds[0];
			fds[0] = -1;
		}
		if (j->opens < 0 && !__atomic_exchange_n(&symbolizer.open, true, __ATOMIC_RELAXED))
			log_info("this kernel has no filters of system calls (seccomp): who reads "
				 "files has no rights, but could open what everybody may");
		break;
	case MSG_FOUND:
		if (j->found)
			break;
		j->found = true;
		if (j->cache && j->opens >= 0)
			asked_keep(&j->asked, j->cache, j->work, m->number);
		j->table = j->cache ? cache_load(j->cache, j->file, m->number) : NULL;
		if (j->table)
			end(j, 0);
		else
			go_on(j);
		break;
	case MSG_TABLE:
		if (!j->spec && !j->frames && !j->made)
			on_table(j, fds[0], m->number);
		break;
	case MSG_UNWIND:
		if (j->frames)
			on_unwind(j, fds[0], m->number);
		break;
	case MSG_SITES:
		if (j->spec)
			on_answer(j, fds[0], m->number);
		break;
	case MSG_BLOCK:
		if (j->made)
			on_answer(j, fds[0], m->number);
		break;
	case MSG_ERROR:
		m->text[sizeof(j->err->text) - 1] = '\0';
		end(j, error_set(j->err, m->number && m->number < 4096 ? (int)m->number : EINVAL,
				 "%s", m->text));
		break;
	case MSG_ENDED:
		j->status = m->number;
		on_death(j);
		break;
	default:
		break;
	}
	if (j->worker >= 0 && j->ready && !j->begun && !j->ended) {
		j->begun = true;
		go_on(j);
	}
}

/* It was killed: all files from now on have the same fate, so this is told once. */
static void is_gone(struct job *j)
{
	struct pollfd over = { symbolizer.abandon, POLLIN, 0 };

	if (poll(&over, 1, 0) <= 0 &&
	    !__atomic_exchange_n(&symbolizer.gone, true, __ATOMIC_RELAXED))
		log_warn("the symbolizer (process %d) has gone: the run goes on without the lines "
			 "of files that have not been read so far",
			 symbolizer.pid);
	end(j, error_set(j->err, EPIPE, "%s: not read: the symbolizer has gone", j->name));
}

static void receive(struct job *j)
{
	struct message *m = xmalloc(sizeof(*m));
	int fds[MSG_FDS];

	if (message_receive(j->socket, m, fds)) {
		on_message(j, m, fds);
		for (int i = 0; i < MSG_FDS; i++) {
			if (fds[i] >= 0)
				close(fds[i]);
		}
	} else if (errno == EMFILE) {
		end(j, error_set(j->err, EMFILE, "%s: taking what was read of it: %s", j->name,
				 strerror(EMFILE)));
	} else {
		is_gone(j);
	}
	free(m);
}

/* ---- a job ---- */

static void note_waiting(struct job *j)
{
	bool waits = !j->begun && !j->ended && clock_now_ns() - j->since > STUCK_NS;

	if (waits != j->waits)
		__atomic_add_fetch(&symbolizer.waiting, waits ? 1 : -1, __ATOMIC_RELAXED);
	j->waits = waits;
}

/* It has been stopped, or the machine is: one who waits is enough. */
static void give_up(struct job *j)
{
	if (!__atomic_exchange_n(&symbolizer.dead, true, __ATOMIC_RELAXED))
		log_warn("the symbolizer (process %d) does not answer: the run goes on without "
			 "the lines of files that have not been read so far",
			 symbolizer.pid);
	end(j,
	    error_set(j->err, ETIMEDOUT, "%s: not read: the symbolizer does not answer", j->name));
}

/* Is the time over? What has come by then is looked at, if that is no more than there can be. */
static bool is_late(struct job *j, bool message)
{
	uint64_t most = BASE_WAIT_S + 4 * j->cpu_s, waited = clock_now_ns() - j->since;
	bool dead = !j->begun && waited > DEAD_NS;

	if (most > symbolizer_most_wait_s)
		most = symbolizer_most_wait_s;
	if ((!dead && waited <= most * NSEC_PER_SEC) || (message && j->n_late++ < MAX_LATE))
		return false;
	if (dead)
		give_up(j);
	else
		end(j, error_set(j->err, ETIMEDOUT,
				 "%s: not read: the symbolizer did not answer for %llu s", j->name,
				 (unsigned long long)most));
	return true;
}

static void wait_for_end(struct job *j)
{
	while (!j->ended) {
		struct pollfd p[] = { { j->socket, POLLIN, 0 },
				      { symbolizer.abandon, POLLIN, 0 },
				      { j->opens, POLLIN, 0 } };

		poll(p, ARRAY_SIZE(p), 500);
		note_waiting(j);
		if (p[1].revents)
			end(j, error_set(j->err, EINTR, "%s: not read: the run is over", j->name));
		else if (is_late(j, p[0].revents))
			break;
		else if (p[0].revents)
			receive(j);
		else if (p[2].revents & POLLIN)
			answer_open(j);
		else if (p[2].revents) /* nobody is left who could ask, and it is ready for ever */
			close_opens(j);
	}
	note_waiting(j);
}

static struct message *job_message(const struct job *j)
{
	_cleanup_free_ char *path =
		j->opt && j->opt->path ? xstrdup(j->opt->path) : table_file_path(j->file);
	struct message *m = xcalloc(1, sizeof(*m));

	m->type = MSG_JOB;
	m->flags = (j->opt && j->opt->kernel ? MSG_KERNEL : 0) |
		   (j->opt && j->opt->kallsyms ? MSG_KALLSYMS : 0) | (j->spec ? MSG_PROBES : 0) |
		   (j->frames ? MSG_FRAMES : 0) | (j->made ? MSG_LOADS : 0) |
		   (j->made && j->kind == CODE_LOADS_JITDUMP ? MSG_JITDUMP : 0);
	m->number = j->from;
	m->memory = j->memory;
	m->cpu_s = j->cpu_s;
	snprintf(m->text, sizeof(m->text), "%.*s%c%.*s%c%.*s%c%s", PATH_MAX - 1, j->name, 0,
		 PATH_MAX - 1,
		 j->spec   ? j->spec
		 : j->root ? j->root
			   : "",
		 0, PATH_MAX - 1, j->opt && j->opt->debug_root ? j->opt->debug_root : "", 0, path);
	return m;
}

static bool send_job(const struct job *j, const struct message *m, int other)
{
	int fds[MSG_FDS] = { j->file, other };
	bool sent;

	pthread_mutex_lock(&symbolizer.lock);
	sent = symbolizer.socket >= 0 && message_send(symbolizer.socket, m, fds, 2);
	pthread_mutex_unlock(&symbolizer.lock);
	return sent;
}

/* Of the cache, if the worker would find it there. */
static bool is_known(struct job *j, const struct message *m)
{
	uint64_t fingerprint;

	if (!j->cache || j->frames)
		return false;
	j->work = hash_mix(hash_bytes(HASH_START, m->text, sizeof(m->text)), m->flags);
	if (asked_before(j->cache, j->work, j->root, j->owner, &fingerprint))
		j->table = cache_load(j->cache, j->file, fingerprint);
	return j->table;
}

/* Waits until it is done. */
static int run(struct job *j)
{
	_cleanup_free_ struct message *m = NULL;
	struct stat st;
	int pair[2];

	j->socket = j->worker = j->opens = -1;
	j->memory = BASE_MEMORY;
	j->cpu_s = BASE_CPU_S;
	j->since = clock_now_ns();
	if (fstat(j->file, &st))
		return error_set(j->err, errno, "%s: %s", j->name, strerror(errno));
	j->owner = st.st_uid;
	/* Of what tells of made code a part is read, which is bounded. */
	allow(j, j->made ? 0 : st.st_size);
	m = job_message(j);
	if (is_known(j, m))
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return error_set(j->err, errno, "%s: %s", j->name, strerror(errno));
	j->socket = pair[0];
	if (__atomic_load_n(&symbolizer.dead, __ATOMIC_RELAXED))
		give_up(j);
	else if (!send_job(j, m, pair[1]))
		is_gone(j);
	close(pair[1]);
	wait_for_end(j);
	if (j->worker >= 0) {
		pidfd_send_signal(j->worker, SIGKILL, NULL, 0);
		close(j->worker);
	}
	if (j->opens >= 0)
		close(j->opens);
	close(j->socket);
	asked_free(&j->asked);
	return j->result;
}

static int table_in_symbolizer(int fd, const char *name, const struct map_options *opt,
			       const char *cache, struct maptable **ret, struct error *err)
{
	struct job j = { .name = name,
			 .root = opt ? opt->root : NULL,
			 .cache = cache,
			 .opt = opt,
			 .file = fd,
			 .err = err };
	int r = run(&j);

	*ret = j.table;
	return r;
}

static int build_unwind(int fd, const char *name, const char *cache, struct unwind_table **ret,
			struct error *err)
{
	struct job j = { .name = name, .frames = true, .cache = cache, .file = fd, .err = err };
	int r = run(&j);

	*ret = j.unwind;
	return r;
}

static struct code_loads *read_loads(int fd, const char *name, enum code_loads_kind kind,
				     uint64_t from, struct error *err)
{
	struct job j = {
		.name = name, .made = true, .kind = kind, .from = from, .file = fd, .err = err
	};

	return run(&j) ? NULL : j.loads;
}

static int find_probes(int fd, const char *name, const char *spec, struct probe_sites **ret,
		       struct error *err)
{
	struct job j = { .name = name, .spec = spec, .file = fd, .err = err };
	int r;

	if (strlen(spec) >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "%s: no POINT is that long", spec);
	r = run(&j);
	*ret = j.sites;
	return r;
}

/* ---- from begin to end ---- */

int symbolizer_start(struct error *err)
{
	int pair[2], pid, ret = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		if (errno != EAFNOSUPPORT)
			return error_set(err, errno, "making a socket to scozd-symbols: %s",
					 strerror(errno));
		log_warn("this kernel has no local sockets (CONFIG_UNIX): files are read with all "
			 "the rights that this process has");
		return 0;
	}
	symbolizer.dead = symbolizer.gone = false;
	symbolizer.abandon = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fflush(NULL);
	pid = fork();
	if (!pid)
		nursery_main(pair[1]);
	symbolizer.process = pid > 0 ? pidfd_open(pid, 0) : -1;
	if (symbolizer.process < 0 || symbolizer.abandon < 0)
		ret = error_set(err, errno, "starting scozd-symbols, which reads programs: %s",
				strerror(errno));
	close(pair[1]);
	if (ret) {
		close(pair[0]); /* it ends with that */
		return ret;
	}
	fcntl(pair[0], F_SETFL, O_NONBLOCK); /* who is stopped takes no jobs */
	symbolizer.socket = pair[0];
	symbolizer.pid = pid;
	maptable_set_maker(table_in_symbolizer);
	unwind_table_build_by(build_unwind);
	probe_sites_read_by(find_probes);
	code_loads_read_by(read_loads);
	return 0;
}

void symbolizer_abandon(void)
{
	if (symbolizer.abandon >= 0)
		eventfd_write(symbolizer.abandon, 1);
}

void symbolizer_stop(void)
{
	if (symbolizer.socket < 0)
		return;
	maptable_set_maker(NULL);
	unwind_table_build_by(NULL);
	probe_sites_read_by(NULL);
	code_loads_read_by(NULL);
	pthread_mutex_lock(&symbolizer.lock);
	close(symbolizer.socket);
	symbolizer.socket = -1;
	pthread_mutex_unlock(&symbolizer.lock);
	pidfd_send_signal(symbolizer.process, SIGKILL, NULL, 0);
	poll(&(struct pollfd){ symbolizer.process, POLLIN, 0 }, 1, 1000);
	waitid(P_PIDFD, symbolizer.process, NULL, WEXITED | WNOHANG);
	close(symbolizer.process);
	symbolizer.process = -1;
	symbolizer.pid = 0;
	close(symbolizer.abandon);
	symbolizer.abandon = -1;
}

bool symbolizer_is_stuck(void)
{
	return __atomic_load_n(&symbolizer.waiting, __ATOMIC_RELAXED) > 0;
}

uint64_t symbolizer_memory(void)
{
	return __atomic_load_n(&symbolizer.tables, __ATOMIC_RELAXED);
}
