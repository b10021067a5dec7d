// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * syscall_hits [--engine NAME] [--frequency HZ] [--functions|--older] [CALLS]: is every sample of a
 * system call a hit when that system call is the target? A child does nothing but one call (or a
 * few that need one another) in a loop; so whatever of it is sampled in the kernel is known, by the
 * program and not by names of kernel functions, to belong to these calls. For each call: samples in
 * the kernel, hits as the engine counted them. Hits of other processes come on top, so a share
 * above 100 % says nothing; a call that nobody makes must have none. --functions: by the names of
 * the kernel's functions, as engine kernel does where it has no other way. --older: as if the
 * kernel carried older patches, which have none.
 */
#include "elf/table_make.h"
#include "host/syscall_names.h"
#include "engine/backend.h"
#include "ring/perf_ring.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/scoz_target.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES	   60 /* of a case and target */
#define FEW	   30 /* too few to say anything */
#define PATIENCE_S 4
#define ENOUGH	   0.95 /* the rest: page faults, interrupts of the program */
#define SIGMAS	   4
#define SKIPPED	   77
#define PAGE	   4096

static char buf[16 * PAGE], dir[64], path[128], path2[128];
static int file, zero, null, pair[2], pipes[2], epoll, event, dirfd_;

static void do_read(void)
{
	if (read(zero, buf, sizeof(buf)) < 0)
		_exit(1);
}

static void do_write(void)
{
	if (write(file, buf, PAGE) < 0 || lseek(file, 0, SEEK_SET))
		_exit(1);
}

static void do_pread(void)
{
	if (pread(file, buf, PAGE, 0) < 0)
		_exit(1);
}

static void do_pwrite(void)
{
	if (pwrite(file, buf, PAGE, 0) < 0)
		_exit(1);
}

static struct iovec iov[2] = { { buf, PAGE }, { buf + PAGE, PAGE } };

static void do_readv(void)
{
	if (readv(zero, iov, 2) < 0)
		_exit(1);
}

static void do_writev(void)
{
	if (writev(null, iov, 2) < 0)
		_exit(1);
}

static void do_sendmsg(void)
{
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 1 };

	if (sendmsg(pair[0], &m, 0) < 0 || recvmsg(pair[1], &m, 0) < 0)
		_exit(1);
}

static void do_sendto(void)
{
	if (send(pair[0], buf, 64, 0) < 0 || recv(pair[1], buf, 64, 0) < 0)
		_exit(1);
}

static void do_sendmmsg(void)
{
	struct mmsghdr m[2] = {
		{ .msg_hdr = { .msg_iov = iov, .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = iov, .msg_iovlen = 1 } },
	};

	if (sendmmsg(pair[0], m, 2, 0) < 0 || recvmmsg(pair[1], m, 2, 0, NULL) < 0)
		_exit(1);
}

static void do_mmap(void)
{
	void *p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p, PAGE, PROT_READ | PROT_WRITE) || munmap(p, PAGE))
		_exit(1);
}

static void do_brk(void)
{
	char *at = sbrk(0);

	if (brk(at + 64 * PAGE) || brk(at))
		_exit(1);
}

static void do_madvise(void)
{
	madvise(buf, sizeof(buf) & ~(PAGE - 1UL), MADV_WILLNEED);
}

static void do_open(void)
{
	close(open(path, O_RDONLY));
}

static void do_stat(void)
{
	struct stat st;

	syscall(SYS_newfstatat, AT_FDCWD, path, &st, 0);
}

static void do_fstat(void)
{
	struct stat st;

	syscall(SYS_fstat, file, &st);
}

static void do_statx(void)
{
	struct statx st;

	statx(AT_FDCWD, path, 0, STATX_ALL, &st);
}

static void do_access(void)
{
	faccessat(AT_FDCWD, path, R_OK, 0);
}

static void do_readlink(void)
{
	if (readlink("/proc/self/exe", buf, PAGE) < 0)
		_exit(1);
}

static void do_getdents(void)
{
	syscall(SYS_lseek, dirfd_, 0, SEEK_SET);
	syscall(SYS_getdents64, dirfd_, buf, sizeof(buf));
}

static void do_rename(void)
{
	rename(path2, path);
	rename(path, path2);
}

static void do_mkdir(void)
{
	char name[160];

	snprintf(name, sizeof(name), "%s/d", dir);
	mkdir(name, 0700);
	rmdir(name);
}

static void do_unlink(void)
{
	char name[160];

	snprintf(name, sizeof(name), "%s/f", dir);
	link(path, name);
	unlink(name);
}

static void do_ftruncate(void)
{
	if (ftruncate(file, 64 * PAGE) || ftruncate(file, PAGE))
		_exit(1);
}

static void do_fsync(void)
{
	if (pwrite(file, buf, PAGE, 0) < 0 || fsync(file))
		_exit(1);
}

static void do_fork(void)
{
	/* The C library calls clone. */
	int pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void do_vfork(void)
{
	int pid = vfork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void do_futex(void)
{
	static uint32_t word;

	syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void do_poll(void)
{
	struct pollfd p = { pipes[0], POLLIN, 0 };
	struct timespec none = { 0, 0 };

	ppoll(&p, 1, &none, NULL);
}

static void do_select(void)
{
	struct timespec none = { 0, 0 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pipes[0], &set);
	pselect(pipes[0] + 1, &set, NULL, NULL, &none, NULL);
}

static void do_epoll(void)
{
	struct epoll_event e = { .events = EPOLLIN };

	epoll_ctl(epoll, EPOLL_CTL_MOD, event, &e);
	epoll_pwait(epoll, &e, 1, 0, NULL);
}

static void do_pipe(void)
{
	int p[2];

	if (pipe2(p, 0) || close(p[0]) || close(p[1]))
		_exit(1);
}

static void do_dup(void)
{
	close(dup(file));
}

static void do_socket(void)
{
	int s[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) || close(s[0]) || close(s[1]))
		_exit(1);
}

static void do_getsockopt(void)
{
	socklen_t n = 4;

	getsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, buf, &n);
	setsockopt(pair[0], SOL_SOCKET, SO_RCVLOWAT, buf + PAGE, 4);
}

static void do_getrandom(void)
{
	if (getrandom(buf, PAGE, 0) < 0)
		_exit(1);
}

static void do_ioctl(void)
{
	int n;

	ioctl(pipes[0], FIONREAD, &n);
}

static void do_fcntl(void)
{
	fcntl(file, F_GETFL);
}

static void do_kill(void)
{
	kill(getpid(), 0);
}

static void do_getpid(void)
{
	syscall(SYS_getppid);
}

static void do_yield(void)
{
	sched_yield();
}

static void do_uname(void)
{
	struct utsname u;

	uname(&u);
}

static void do_getrusage(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
}

static void do_statfs(void)
{
	struct statfs s;

	statfs("/", &s);
}

static void do_sendfile(void)
{
	off_t at = 0;

	if (sendfile(null, file, &at, PAGE) < 0)
		_exit(1);
}

static void do_eventfd(void)
{
	close(eventfd(0, 0));
}

static void do_sigaction(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGUSR2, SIG_IGN);
}

static void do_nanosleep(void)
{
	struct timespec t = { 0, 1 };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static void do_sysinfo(void)
{
	syscall(SYS_sched_getaffinity, 0, 128, buf);
}

static const struct {
	void (*run)(void);
	const char *calls; /* all that it makes */
} cases[] = {
	{ do_read, "read" },
	{ do_write, "write lseek" },
	{ do_pread, "pread64" },
	{ do_pwrite, "pwrite64" },
	{ do_readv, "readv" },
	{ do_writev, "writev" },
	{ do_sendmsg, "sendmsg recvmsg" },
	{ do_sendto, "sendto recvfrom" },
	{ do_sendmmsg, "sendmmsg recvmmsg" },
	{ do_mmap, "mmap mprotect munmap" },
	{ do_brk, "brk" },
	{ do_madvise, "madvise" },
	{ do_open, "openat close" },
	{ do_stat, "newfstatat" },
	{ do_fstat, "fstat" },
	{ do_statx, "statx" },
	{ do_access, "faccessat faccessat2" },
	{ do_readlink, "readlink readlinkat" },
	{ do_getdents, "getdents64 lseek" },
	{ do_rename, "rename renameat renameat2" },
	{ do_mkdir, "mkdir mkdirat rmdir unlinkat" },
	{ do_unlink, "link linkat unlink unlinkat" },
	{ do_ftruncate, "ftruncate" },
	{ do_fsync, "fsync pwrite64" },
	{ do_fork, "clone wait4" },
	{ do_vfork, "vfork clone wait4" },
	{ do_futex, "futex" },
	{ do_poll, "ppoll" },
	{ do_select, "pselect6" },
	{ do_epoll, "epoll_ctl epoll_pwait" },
	{ do_pipe, "pipe2 close" },
	{ do_dup, "dup close" },
	{ do_socket, "socketpair close" },
	{ do_getsockopt, "getsockopt setsockopt" },
	{ do_getrandom, "getrandom" },
	{ do_ioctl, "ioctl" },
	{ do_fcntl, "fcntl" },
	{ do_kill, "kill getpid" },
	{ do_getpid, "getppid" },
	{ do_yield, "sched_yield" },
	{ do_uname, "uname" },
	{ do_getrusage, "getrusage" },
	{ do_statfs, "statfs" },
	{ do_sendfile, "sendfile" },
	{ do_eventfd, "eventfd2 close" },
	{ do_sigaction, "rt_sigprocmask rt_sigaction" },
	{ do_nanosleep, "clock_nanosleep" },
	{ do_sysinfo, "sched_getaffinity" },
};

/* A thread of the kernel that this process has made by a call looks for work for ever. */
static void do_polling_thread(void)
{
	struct io_uring_params p = { .flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 1000000 };
	int fd = syscall(SYS_io_uring_setup, 1, &p);
	char *ring;

	if (fd < 0)
		_exit(SKIPPED);
	ring = mmap(NULL, p.sq_off.array + sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    IORING_OFF_SQ_RING);
	if (ring == MAP_FAILED)
		_exit(1);
	/* It has to see work once: the request that all zeros are does nothing. */
	__atomic_store_n((uint32_t *)(ring + p.sq_off.tail), 1, __ATOMIC_RELEASE);
	syscall(SYS_io_uring_enter, fd, 0, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0);
	for (;;)
		pause();
}

#if defined(__x86_64__)
static void no_such_entry(int sig)
{
	(void)sig;
	_exit(SKIPPED);
}

/* The entry for 32-bit programs; there, the number of fremovexattr is getuid's. */
static void do_other_entry(void)
{
	long ret = SYS_fremovexattr;

	signal(SIGSEGV, no_such_entry);
	__asm__ volatile("int $0x80" : "+a"(ret)::"memory", "r8", "r9", "r10", "r11");
	if (ret != getuid())
		_exit(SKIPPED);
	for (int i = 0; i < 1000; i++) {
		ret = SYS_fremovexattr;
		__asm__ volatile("int $0x80" : "+a"(ret)::"memory", "r8", "r9", "r10", "r11");
	}
}
#endif

/* What must never count for the call. */
static const struct {
	const char *what;
	void (*run)(void);
	const char *call;
} others[] = {
	{ "nobody calls", do_read, "acct" },
	{ "thread of the kernel's", do_polling_thread, "io_uring_setup" },
#if defined(__x86_64__)
	{ "entry for 32-bit programs", do_other_entry, "fremovexattr" },
#endif
};

static bool older;

/* Replaces that of the C library, for the engine, too. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (older && request == SCOZ_IOC_SYSCALL) {
		errno = ENOTTY;
		return -1;
	}
	return syscall(SYS_ioctl, fd, request, arg);
}

static struct engine *engine;
static atomic_bool finished;
static struct ring *rings;
static int n_cpus;

static void die(const char *what, const struct error *err)
{
	fprintf(stderr, "syscall_hits: %s: %s\n", what, err ? err->text : strerror(errno));
	exit(1);
}

static void set_up_files(void)
{
	struct epoll_event e = { .events = EPOLLIN };

	snprintf(dir, sizeof(dir), "/dev/shm/syscall_hits.XXXXXX");
	if (!mkdtemp(dir))
		die(dir, NULL);
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(path2, sizeof(path2), "%s/other", dir);
	file = open(path, O_RDWR | O_CREAT, 0600);
	close(open(path2, O_RDWR | O_CREAT, 0600));
	zero = open("/dev/zero", O_RDONLY);
	null = open("/dev/null", O_WRONLY);
	dirfd_ = open("/proc", O_RDONLY | O_DIRECTORY);
	epoll = epoll_create1(0);
	event = eventfd(1, 0);
	if (file < 0 || zero < 0 || null < 0 || dirfd_ < 0 || pwrite(file, buf, PAGE, 0) < 0 ||
	    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) || pipe(pipes) ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, event, &e))
		die(dir, NULL);
}

static void remove_files(void)
{
	unlink(path);
	unlink(path2);
	rmdir(dir);
}

static bool in_kernel(const struct ring_sample *s)
{
	return s->n_chain && s->chain[0] == PERF_CONTEXT_KERNEL;
}

/* Samples of @pid in the kernel since the last time. */
static uint64_t drain(uint32_t pid)
{
	const struct perf_event_header *h;
	struct ring_sample s;
	uint64_t n = 0;

	for (int i = 0; i < n_cpus; i++) {
		while ((h = ring_next(&rings[i]))) {
			if (h->type == PERF_RECORD_SAMPLE && ring_decode_sample(h, &s) &&
			    s.pid == pid)
				n += in_kernel(&s);
			ring_release(&rings[i]);
		}
	}
	return n;
}

static struct maptable *functions;

static void add_function(struct addr_ranges *all, const char *name)
{
	struct addr_ranges one;

	if (maptable_function_ranges(functions, name, &one, NULL))
		return;
	all->r = xreallocarray(all->r, all->n + one.n, sizeof(*all->r));
	memcpy(all->r + all->n, one.r, one.n * sizeof(*one.r));
	all->n += one.n;
	addr_ranges_sort_merge(all);
	addr_ranges_free(&one);
}

static void set_target(const char *name)
{
	struct addr_ranges ranges = { NULL, 0 };
	struct engine_part part = { .binary = MAPS_KERNEL_ID,
				    .ranges = &ranges,
				    .by_syscall = !functions || older,
				    .syscall = syscall_number(name) };
	struct error err = {};
	char *function;

	for (size_t i = 0; functions && (function = syscall_function(name, i)); i++) {
		add_function(&ranges, function);
		free(function);
	}
	if (engine_set_target(engine, &part, 1, &err))
		die("target", &err);
	addr_ranges_free(&ranges);
	if (engine_target_by_functions(engine) != older)
		die("the engine says otherwise about how it knows a system call", NULL);
}

/* Hits for every sample of @pid in the kernel while system call @name is the target. */
static double share_of(int pid, const char *name, uint64_t *samples)
{
	uint64_t before, end;
	struct engine_ledger ledger;
	siginfo_t stopped;

	set_target(name);
	drain(pid);
	engine_read_ledger(engine, &ledger);
	before = ledger.hits;
	*samples = 0;
	kill(pid, SIGCONT);
	end = clock_now_ns() + PATIENCE_S * NSEC_PER_SEC;
	while (*samples < SAMPLES && clock_now_ns() < end) {
		usleep(5000);
		*samples += drain(pid);
	}
	kill(pid, SIGSTOP);
	waitid(P_PID, pid, &stopped, WSTOPPED | WEXITED | WNOWAIT);
	*samples += drain(pid);
	engine_read_ledger(engine, &ledger);
	return *samples ? (double)(ledger.hits - before) / *samples : 0;
}

static int start_child(void (*run)(void))
{
	struct error err = {};
	int pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raise(SIGSTOP);
		for (;;)
			run();
	}
	if (pid < 0 || waitpid(pid, NULL, WUNTRACED) < 0)
		die("child", NULL);
	if (engine_involve(engine, pid, &err))
		die("child", &err);
	return pid;
}

/* 0: as it must be. */
static int try_case(size_t i)
{
	_cleanup_free_ char *calls = xstrdup(cases[i].calls);
	int pid = start_child(cases[i].run);
	double share = 0, one, variance = 0;
	uint64_t samples, least = UINT64_MAX;
	char *save = NULL;
	bool bad;

	for (char *name = strtok_r(calls, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
		if (syscall_number(name) < 0) /* another architecture's */
			continue;
		one = share_of(pid, name, &samples);
		share += one;
		/* Each call of several is counted at another time: that takes its toll. */
		if (samples && one < 1)
			variance += one * (1 - one) / samples;
		if (samples < least)
			least = samples;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	bad = least >= FEW && share < ENOUGH - SIGMAS * sqrt(variance);
	printf("%-32s %5llu samples, hits %6.1f %%%s\n", cases[i].calls, (unsigned long long)least,
	       100 * share,
	       bad	     ? "  FAILED"
	       : least < FEW ? "  (too few)"
			     : "");
	fflush(stdout);
	return bad;
}

/* Samples of what only looks like the call; 0: none is a hit. */
static int try_other(size_t i)
{
	int pid = start_child(others[i].run), status;
	uint64_t samples;
	double share;
	bool skipped;

	share_of(pid, others[i].call, &samples); /* until it has begun */
	share = share_of(pid, others[i].call, &samples);
	kill(pid, SIGKILL);
	skipped = waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		  WEXITSTATUS(status) == SKIPPED;
	printf("%s (%s) %5llu samples, hits %6.1f %%%s\n", others[i].what, others[i].call,
	       (unsigned long long)samples, 100 * share,
	       share > 0       ? "  FAILED"
	       : skipped       ? "  (not in this kernel)"
	       : samples < FEW ? "  (too few)"
			       : "");
	fflush(stdout);
	return share > 0;
}

/*
 * Nothing is ever inserted here, so nothing can hang: a lease as long as the kernel takes it, also
 * where everything is slow.
 */
static void *renew_lease(void *arg)
{
	while (!finished) {
		__atomic_store_n(&engine_header(engine)->lease_until,
				 clock_now_ns() + 90 * NSEC_PER_MSEC, __ATOMIC_RELAXED);
		usleep(5000);
	}
	return arg;
}

int main(int argc, char **argv)
{
	struct engine_options opt = {
		.name = "bpf",
		.model = SCOZ_MODEL_WAIT,
		.max_stop_ns = NSEC_PER_MSEC,
		.max_share = 90,
		.period_ns = 100 * NSEC_PER_USEC,
		.record_hz = 1e6,
		.trace_tasks = true,
	};
	struct error err = {};
	int cpus[1024], failed = 0;
	bool by_functions = false;
	const char *only = NULL;
	pthread_t renewer;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--engine") && i + 1 < argc)
			opt.name = argv[++i];
		else if (!strcmp(argv[i], "--frequency") && i + 1 < argc)
			opt.period_ns = NSEC_PER_SEC / atoi(argv[++i]);
		else if (!strcmp(argv[i], "--older"))
			older = by_functions = true;
		else if (!strcmp(argv[i], "--functions"))
			by_functions = true;
		else
			only = argv[i];
	}
	opt.n_cpus = n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	for (int i = 0; i < n_cpus; i++)
		cpus[i] = i;
	opt.cpus = cpus;
	if (by_functions && maptable_make_kallsyms(&functions, &err))
		die("symbols", &err);
	set_up_files();
	atexit(remove_files);
	if (engine_create(&opt, &engine, &err))
		die("engine", &err);
	rings = xcalloc(n_cpus, sizeof(*rings));
	for (int i = 0; i < n_cpus; i++) {
		if (ring_map(&rings[i], engine_event_fd(engine, i), 256, &err))
			die("ring", &err);
	}
	if (pthread_create(&renewer, NULL, renew_lease, NULL))
		die("pthread_create", NULL);
	if (engine_start(engine, &err))
		die("engine", &err);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		failed += (!only || !strcmp(only, cases[i].calls)) && try_case(i);
	for (size_t i = 0; !only && i < ARRAY_SIZE(others); i++)
		failed += try_other(i);
	finished = true;
	pthread_join(renewer, NULL);
	for (int i = 0; i < n_cpus; i++)
		ring_unmap(&rings[i]);
	engine_destroy(engine);
	maptable_free(functions);
	printf("%d of %zu failed\n", failed, ARRAY_SIZE(cases) + ARRAY_SIZE(others));
	return failed > 0;
}
