// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread, "mixed", that sleeps, reads from the disk, waits for a lock, a pipe, poll(), a socket,
 * a child and a signal, and computes, in known shares of its time. Another, "helper", ends what
 * mixed waits for. Two more, "burn_a" and "burn_b", compute on the same CPU, so that one of them
 * always waits in the run queue (--burners 0: without).
 *
 * In each cycle (--cycle-ms) each phase goes on until its share of the cycle is over.
 */
#include "waiting.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <semaphore.h>

#define FILE_SIZE (16 << 20)
#define BLOCK	  4096

enum { SLEEP, READ, LOCK, PIPE, POLL, NETWORK, CHILD, SIGNAL, COMPUTE, PHASES };
enum { HELPER_IDLE, HELPER_SLEEP, HELPER_ACT };

static double seconds = 10, cycle_ms = 200;
static double share[PHASES] = { 20, 15, 15, 10, 5, 5, 5, 5, 20 };
static long n_burners = 2;
static bool use_libc;
static uint64_t deadline;
static int fd, pipe_fd[2], poll_fd[2], net_fd[2];
static char *buffer;

/* mixed asks, helper does it after that time. */
static int request;
static uint64_t request_ns;
static atomic_uint asked, taken;
static atomic_uint lock;
static sem_t asked_sem, taken_sem;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t mixed_tid;

static struct truth thread[4] = {
	{ .phase = { [SLEEP] = { .name = "phase_sleep", .class = "B", .kind = "sleep" },
		     [READ] = { .name = "phase_read", .class = "I", .kind = "disk" },
		     [LOCK] = { .name = "phase_lock", .class = "L", .kind = "futex lock" },
		     [PIPE] = { .name = "phase_pipe", .class = "B", .kind = "pipe" },
		     [POLL] = { .name = "phase_poll", .class = "B", .kind = "poll" },
		     [NETWORK] = { .name = "phase_network", .class = "B", .kind = "network" },
		     [CHILD] = { .name = "phase_child", .class = "B", .kind = "child" },
		     [SIGNAL] = { .name = "phase_signal", .class = "B", .kind = "signal" },
		     [COMPUTE] = { .name = "phase_compute" } } },
	{ .phase = { [HELPER_IDLE] = { .name = "helper_idle", .class = "L", .kind = "futex wait" },
		     [HELPER_SLEEP] = { .name = "helper_sleep", .class = "B", .kind = "sleep" },
		     [HELPER_ACT] = { .name = "helper_act" } } },
	{ .phase = { { .name = "burn_a" } } },
	{ .phase = { { .name = "burn_b" } } },
};

static void ask(int what, uint64_t ns)
{
	request = what;
	request_ns = ns;
	use_libc ? (void)sem_post(&asked_sem) : post_word(&asked);
	if (what == PHASES)
		return;
	if (use_libc) {
		while (sem_wait(&taken_sem))
			;
	} else {
		wait_word(&taken);
	}
}

NOIPA void helper_idle(void)
{
	if (use_libc) {
		while (sem_wait(&asked_sem))
			;
	} else {
		wait_word(&asked);
	}
}

NOIPA void helper_sleep(uint64_t ns)
{
	if (request == LOCK)
		use_libc ? (void)pthread_mutex_lock(&mutex) : lock_word(&lock);
	if (use_libc)
		sem_post(&taken_sem);
	else
		post_word(&taken);
	if (use_libc)
		nanosleep(&(struct timespec){ (time_t)(ns / SEC), (long)(ns % SEC) }, NULL);
	else
		raw_sleep(ns);
}

NOIPA void helper_act(int what)
{
	switch (what) {
	case LOCK:
		use_libc ? (void)pthread_mutex_unlock(&mutex) : unlock_word(&lock);
		break;
	case PIPE:
		raw_write(pipe_fd[1], "x", 1);
		break;
	case POLL:
		raw_write(poll_fd[1], "x", 1);
		break;
	case NETWORK:
		raw_write(net_fd[1], "x", 1);
		break;
	case SIGNAL:
		raw_syscall(SYS_tgkill, thread[1].pid, mixed_tid, SIGUSR1, 0, 0, 0);
		break;
	}
}

static NOIPA void *helper(void *arg)
{
	struct truth *t = arg;
	int what;

	truth_begin(t, "helper");
	do {
		phase_begin(t);
		helper_idle();
		phase_end(t, HELPER_IDLE);
		what = request;
		if (what == PHASES)
			break;
		phase_begin(t);
		helper_sleep(request_ns);
		phase_end(t, HELPER_SLEEP);
		phase_begin(t);
		helper_act(what);
		phase_end(t, HELPER_ACT);
	} while (1);
	truth_end(t);
	return NULL;
}

/* A level of its own: with a libc without frame pointers the caller of libc is not seen. */
static NOIPA void read_byte(int from)
{
	char c;

	if ((use_libc ? read(from, &c, 1) : raw_read(from, &c, 1)) != 1)
		die("cannot read from the helper");
}

NOIPA void phase_sleep(uint64_t ns)
{
	if (use_libc)
		nanosleep(&(struct timespec){ (time_t)(ns / SEC), (long)(ns % SEC) }, NULL);
	else
		raw_sleep(ns);
}

static NOIPA void read_block(off_t at)
{
	ssize_t n;

	if (use_libc)
		n = pread(fd, buffer, BLOCK, at);
	else
		n = raw_syscall(SYS_pread64, fd, (long)buffer, BLOCK, at, 0, 0);
	if (n != BLOCK)
		die("cannot read from the disk");
}

NOIPA void phase_read(uint64_t ns)
{
	static uint64_t nr;
	uint64_t end = now_ns() + ns;

	do
		read_block((off_t)(nr++ * 2654435761U % (FILE_SIZE / BLOCK) * BLOCK));
	while (now_ns() < end);
}

NOIPA void phase_lock(uint64_t ns)
{
	(void)ns;
	if (use_libc) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	} else {
		lock_word(&lock);
		unlock_word(&lock);
	}
}

NOIPA void phase_pipe(uint64_t ns)
{
	(void)ns;
	read_byte(pipe_fd[0]);
}

NOIPA void phase_poll(uint64_t ns)
{
	struct pollfd p = { poll_fd[0], POLLIN, 0 };
	char c;

	(void)ns;
	while ((use_libc ? poll(&p, 1, -1) : raw_poll(&p, 1)) != 1)
		;
	raw_read(poll_fd[0], &c, 1);
}

NOIPA void phase_network(uint64_t ns)
{
	(void)ns;
	read_byte(net_fd[0]);
}

NOIPA void child_sleep(uint64_t ns)
{
	raw_sleep(ns);
	raw_syscall(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

NOIPA void phase_child(uint64_t ns)
{
	pid_t pid = use_libc ? fork() : (pid_t)raw_syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);

	if (!pid)
		child_sleep(ns);
	if (pid < 0)
		die("cannot fork");
	if (use_libc)
		waitpid(pid, NULL, 0);
	else
		raw_syscall(SYS_wait4, pid, 0, 0, 0, 0, 0);
}

NOIPA void phase_signal(uint64_t ns)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	(void)ns;
	if (use_libc)
		sigwaitinfo(&set, NULL);
	else
		raw_syscall(SYS_rt_sigtimedwait, (long)&set, 0, 0, _NSIG / 8, 0, 0);
}

NOIPA void phase_compute(uint64_t ns)
{
	spin_until(now_ns() + ns);
}

static void (*const phase_fn[PHASES])(uint64_t ns) = {
	phase_sleep,   phase_read,  phase_lock,	  phase_pipe,	 phase_poll,
	phase_network, phase_child, phase_signal, phase_compute,
};

/* Until the helper has the CPU to take what is asked of him, the wait is none of the phase. */
static const bool asks[PHASES] = {
	[LOCK] = true, [PIPE] = true, [POLL] = true, [NETWORK] = true, [SIGNAL] = true,
};

static NOIPA void *mixed(void *arg)
{
	struct truth *t = arg;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	mixed_tid = (pid_t)syscall(SYS_gettid);
	truth_begin(t, "mixed");
	while (now_ns() < deadline) {
		for (int i = 0; i < PHASES; i++) {
			uint64_t ns = (uint64_t)(cycle_ms * share[i] / 100 * 1e6);

			if (!(share[i] > 0))
				continue;
			if (asks[i])
				ask(i, ns);
			phase_begin(t);
			phase_fn[i](ns);
			phase_end(t, i);
		}
	}
	truth_end(t);
	ask(PHASES, 0);
	return NULL;
}

NOIPA void burn_a(uint64_t end)
{
	spin_until(end);
}

NOIPA void burn_b(uint64_t end)
{
	spin_until(end);
}

static NOIPA void *burner(void *arg)
{
	struct truth *t = arg;
	bool first = t == &thread[2];

	pin_cpu(last_cpu());
	truth_begin(t, first ? "burn_a" : "burn_b");
	phase_begin(t);
	(first ? burn_a : burn_b)(deadline);
	phase_end(t, 0);
	truth_end(t);
	return NULL;
}

static void connect_loopback(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	net_fd[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&a, &size) ||
	    connect(net_fd[1], (struct sockaddr *)&a, sizeof(a)))
		die("no loopback connection: %s", strerror(errno));
	net_fd[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (net_fd[0] < 0)
		die("no loopback connection: %s", strerror(errno));
	close(listener);
}

/* "sleep=30,compute=70": the others 0. */
static void parse_shares(char *text)
{
	memset(share, 0, sizeof(share));
	for (char *item = strtok(text, ","); item; item = strtok(NULL, ",")) {
		char *value = strchr(item, '=');
		int i;

		if (!value)
			die("--shares: '%s' is not PHASE=PERCENT", item);
		*value++ = 0;
		for (i = 0; i < PHASES; i++)
			if (!strcmp(item, thread[0].phase[i].name + strlen("phase_")))
				break;
		if (i == PHASES)
			die("--shares: there is no phase '%s'", item);
		share[i] = number(value, 0, 100);
	}
}

static void usage(FILE *f)
{
	fprintf(f,
		"usage: shares [option]...\n"
		"  --seconds S       (10)\n"
		"  --cycle-ms MS     each phase once in each cycle (200)\n"
		"  --shares LIST     percent of a cycle: the default is sleep=20,read=15,lock=15,\n"
		"                    pipe=10,poll=5,network=5,child=5,signal=5,compute=20\n"
		"  --burners 0|2     threads that share a CPU (2)\n"
		"  --libc            wait in functions of libc\n"
		"  --truth FILE      what each thread did how long, as JSON (standard output)\n");
}

int main(int argc, char **argv)
{
	enum { SECS = 256, CYCLE, SHARES, BURNERS, LIBC, TRUTH };
	static const struct option opt[] = {
		{ "seconds", 1, NULL, SECS },  { "cycle-ms", 1, NULL, CYCLE },
		{ "shares", 1, NULL, SHARES }, { "burners", 1, NULL, BURNERS },
		{ "libc", 0, NULL, LIBC },     { "truth", 1, NULL, TRUTH },
		{ "help", 0, NULL, 'h' },      { 0 },
	};
	const char *truth = "-";
	pthread_t t[4];
	int c;

	program = "shares";
	while ((c = getopt_long(argc, argv, "h", opt, NULL)) != -1) {
		switch (c) {
		case SECS:
			seconds = number(optarg, 0, 1e6);
			break;
		case CYCLE:
			cycle_ms = number(optarg, 1, 1e6);
			break;
		case SHARES:
			parse_shares(optarg);
			break;
		case BURNERS:
			n_burners = number(optarg, 0, 2) > 0 ? 2 : 0;
			break;
		case LIBC:
			use_libc = true;
			break;
		case TRUTH:
			truth = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind < argc) {
		usage(stderr);
		return 2;
	}
	/* Of a lock of its own for which one thread only ever waits nobody can tell that it is one.
	 */
	if (!use_libc)
		thread[0].phase[LOCK].kind = "futex";
	buffer = aligned_alloc(BLOCK, BLOCK);
	if (!buffer || pipe2(pipe_fd, O_CLOEXEC) || pipe2(poll_fd, O_CLOEXEC) ||
	    sem_init(&asked_sem, 0, 0) || sem_init(&taken_sem, 0, 0))
		die("cannot begin: %s", strerror(errno));
	connect_loopback();
	if (share[READ] > 0) /* tmpfs has no O_DIRECT on older kernels */
		fd = direct_file(FILE_SIZE);

	deadline = now_ns() + (uint64_t)(seconds * 1e9);
	for (long i = 0; i < n_burners; i++)
		start_thread(&t[2 + i], burner, &thread[2 + i], 0);
	start_thread(&t[1], helper, &thread[1], 0);
	start_thread(&t[0], mixed, &thread[0], 0);
	for (long i = 0; i < 2 + n_burners; i++)
		pthread_join(t[i], NULL);
	print_truth(truth, thread, 2 + (size_t)n_burners);
	return 0;
}
