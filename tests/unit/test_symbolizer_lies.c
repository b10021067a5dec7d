// SPDX-License-Identifier: GPL-2.0-or-later
/* A symbolizer that somebody has taken over: this nursery_main() stands for the real one. */
#include "elf/table_make.h"
#include "test_map_util.h"

#include "symbolizer/protocol.h"
#include "symbolizer/sandbox.h"
#include "symbolizer/symbolizer.h"
#include "table/table.h"
#include "unwind/unwind.h"
#include "unwind/unwind_table.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HUGE (1ULL << 60)

static bool is(const char *name, const char *lie)
{
	return !strncmp(name, lie, strlen(lie));
}

/* @what: "sealed", or which seal it lacks. */
static int block_of(const void *bytes, size_t size, const char *what)
{
	int fd = memfd_create("lie", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int seals = (is(what, "can shrink") ? 0 : F_SEAL_SHRINK) |
		    (is(what, "can grow") ? 0 : F_SEAL_GROW) |
		    (is(what, "can be written") ? 0 : F_SEAL_WRITE);

	if (fd < 0 || ftruncate(fd, size) ||
	    (bytes && pwrite(fd, bytes, size, 0) != (ssize_t)size) || fcntl(fd, F_ADD_SEALS, seals))
		_exit(1);
	return fd;
}

/* Whole ones, of the program that was asked for. */
static int whole_table(const char *what, uint64_t *size)
{
	struct maptable *t;
	struct error err;

	maptable_set_maker(NULL);
	if (maptable_make("/proc/self/exe", "it", NULL, &t, &err))
		_exit(1);
	((struct table_header *)t->mem)->checksum = table_checksum(t->mem, t->size);
	*size = t->size;
	return block_of(t->mem, t->size, what);
}

static int whole_unwind_table(const char *what, uint64_t *size)
{
	struct unwind_table *t;
	struct error err;

	if (unwind_table_read(open("/proc/self/exe", O_RDONLY), "it", &t, &err))
		_exit(1);
	if (is(what, "another file"))
		((struct unwind_header *)t->mem)->file_size++;
	*size = t->size;
	return block_of(t->mem, t->size, what);
}

/* Says something all the time, and nothing that the other side waits for. */
static void go_on_and_on(int socket, const char *name)
{
	struct message m = { .type = is(name, "finds for ever") ? MSG_FOUND : MSG_GO };
	int fds[] = { memfd_create("never asks", MFD_CLOEXEC) };

	signal(SIGPIPE, SIG_IGN);
	if (is(name, "always open")) {
		m.type = MSG_READY;
		message_send(socket, &m, fds, 1);
		pause();
	}
	while (message_send(socket, &m, NULL, 0))
		usleep(20000);
	_exit(0);
}

/* The name of the file begins with the lie. */
static void lie(int socket, const char *name, bool frames)
{
	struct message m = { .type = frames ? MSG_UNWIND : MSG_TABLE };
	int block = -1;

	if (is(name, "more than there is"))
		m.number = HUGE;
	else if (is(name, "so much that it counts backwards"))
		m.number = -4096ULL;
	else
		m.number = 1 << 20;
	if (is(name, "can ") || is(name, "sealed") || is(name, "another file"))
		block = (frames ? whole_unwind_table : whole_table)(name, &m.number);
	else if (!is(name, "no block"))
		block = block_of(NULL, 1 << 20, "sealed");
	message_send(socket, &m, &block, block >= 0);
}

/* A worker that is ended by its limits; that it is not would be another message. */
static void take_too_much(const char *name)
{
	clock_t most = clock() + 5 * CLOCKS_PER_SEC;

	sandbox_limit(64 << 20, 1);
	if (is(name, "takes memory")) {
		for (int mb = 0; mb < 256; mb++)
			memset(xmalloc(1 << 20), 1, 1 << 20);
	} else {
		while (clock() < most)
			;
	}
	abort();
}

/* How the worker ended is what its keeper says. */
static void end_of_worker(int socket, const struct message *job)
{
	static struct message m = { .type = MSG_ENDED };
	int status = 0, pid;

	signal(SIGCHLD, SIG_DFL);
	pid = fork();
	if (!pid)
		take_too_much(job->text);
	waitpid(pid, &status, 0);
	signal(SIGCHLD, SIG_IGN);
	m.number = status;
	message_send(socket, &m, NULL, 0);
}

static void tell_limits(int socket, const struct message *job)
{
	static struct message m = { .type = MSG_ERROR, .number = EINVAL };

	snprintf(m.text, sizeof(m.text), "%llu %llu", (unsigned long long)job->memory,
		 (unsigned long long)job->cpu_s);
	message_send(socket, &m, NULL, 0);
}

void nursery_main(int socket)
{
	static struct message job;
	int fds[MSG_FDS];

	signal(SIGCHLD, SIG_IGN);
	while (message_receive(socket, &job, fds)) {
		bool talks = is(job.text, "finds for ever") || is(job.text, "talks") ||
			     is(job.text, "always open");

		if (talks && !fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			go_on_and_on(fds[1], job.text);
		}
		if (is(job.text, "takes "))
			end_of_worker(fds[1], &job);
		else if (is(job.text, "limits"))
			tell_limits(fds[1], &job);
		else if (!talks)
			lie(fds[1], job.text, job.flags & MSG_FRAMES);
		close(fds[0]);
		close(fds[1]);
	}
	_exit(0);
}

/* None is believed, and none costs the tables of other files their room. */
static void test_sizes(void **state)
{
	static const char *const lies[] = { "more than there is",
					    "so much that it counts backwards", "no block",
					    "zeros" };
	struct maptable *t = NULL;
	struct error err;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
			int r = maptable_make("/proc/self/exe", lies[i], NULL, &t, &err);

			if (r != -EBADMSG || !strstr(err.text, "damaged"))
				fail_msg("%s: %d, %s", lies[i], r, err.text);
			if (symbolizer_memory())
				fail_msg("%s: counted as %llu bytes", lies[i],
					 (unsigned long long)symbolizer_memory());
		}
	}
}

/* What could be changed after it has been checked is not believed, whatever is in it. */
static void test_seals(void **state)
{
	static const char *const lies[] = { "can be written", "can shrink", "can grow" };
	struct unwind_table *u = NULL;
	struct maptable *t = NULL;
	struct error err;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		r = maptable_make("/proc/self/exe", lies[i], NULL, &t, &err);
		if (r != -EBADMSG || t)
			fail_msg("%s: its table is believed: %d", lies[i], r);
		r = unwind_table_open(fd, lies[i], NULL, &u, &err);
		if (r != -EBADMSG || u)
			fail_msg("%s: its unwind table is believed: %d", lies[i], r);
	}
	assert_int_equal(maptable_make("/proc/self/exe", "sealed", NULL, &t, &err), 0);
	assert_int_equal(unwind_table_open(fd, "sealed", NULL, &u, &err), 0);
	maptable_free(t);
	unwind_table_free(u);
	close(fd);
}

static void give_up(int signal)
{
	(void)signal;
	symbolizer_abandon();
}

/* Who never comes to an end is waited for no longer, and costs nothing meanwhile. */
static void test_endless(void **state)
{
	static const char *const lies[] = { "talks", "finds for ever", "always open" };
	clock_t before = clock();
	struct maptable *t = NULL;
	struct error err;

	(void)state;
	symbolizer_most_wait_s = 1;
	signal(SIGALRM, give_up);
	alarm(10);
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		int r = maptable_make("/proc/self/exe", lies[i], NULL, &t, &err);

		if (r != -ETIMEDOUT)
			fail_msg("%s: %d, %s", lies[i], r, err.text);
	}
	assert_true(alarm(0) > 0);
	symbolizer_most_wait_s = UINT64_MAX;
	assert_true(clock() - before < CLOCKS_PER_SEC / 2);
}

/* And that is said, with what it was allowed: by the size of its file. */
static void test_too_much(void **state)
{
	struct maptable *t = NULL;
	unsigned long long memory, cpu_s;
	_cleanup_free_ char *too_large = NULL, *too_long = NULL;
	struct error err;
	struct stat st;

	(void)state;
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	assert_int_equal(maptable_make("/proc/self/exe", "limits", NULL, &t, &err), -EINVAL);
	assert_int_equal(sscanf(err.text, "%llu %llu", &memory, &cpu_s), 2);
	assert_int_equal(memory, (512 << 20) + 16 * st.st_size);
	assert_int_equal(cpu_s, 5 + (st.st_size >> 22));
	too_large = xasprintf("takes more than %llu MB of memory", memory >> 20);
	too_long = xasprintf("takes longer than %llu s", cpu_s);
	if (SANDBOX_LIMITS_MEMORY) {
		assert_int_equal(maptable_make("/proc/self/exe", "takes memory", NULL, &t, &err),
				 -EBADMSG);
		if (!strstr(err.text, too_large))
			fail_msg("not '%s': %s", too_large, err.text);
	}
	assert_int_equal(maptable_make("/proc/self/exe", "takes time", NULL, &t, &err), -EBADMSG);
	if (!strstr(err.text, too_long))
		fail_msg("not '%s': %s", too_long, err.text);
}

static void test_unwind_tables(void **state)
{
	static const char *const lies[] = { "more than there is", "no block", "zeros",
					    "another file" };
	struct unwind_table *t = NULL;
	struct error err;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		int r = unwind_table_open(fd, lies[i], NULL, &t, &err);

		if (r != -EBADMSG || t || !strstr(err.text, "damaged"))
			fail_msg("%s: %d, %s", lies[i], r, err.text);
	}
	close(fd);
}

/* Another process may have its number by the time when it is ended. */
static void test_number_of_another(void **state)
{
	int pid = child_of(getpid()), set[] = { pid }, other;
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = (uintptr_t)set,
				   .set_tid_size = 1 };
	siginfo_t info = { 0 };

	(void)state;
	if (!pid)
		skip();
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	other = syscall(SYS_clone3, &args, sizeof(args));
	if (!other) {
		pause();
		_exit(0);
	}
	if (other < 0) /* rights, or an old kernel, or somebody was faster */
		print_message("no process of that number: %s\n", strerror(errno));
	symbolizer_stop();
	if (other < 0)
		skip();
	usleep(50000); /* a signal is there before kill() returns; whom it ends is soon gone */
	assert_int_equal(waitid(P_PID, other, &info, WEXITED | WNOHANG), 0);
	assert_int_equal(info.si_pid, 0);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),	 cmocka_unit_test(test_seals),
		cmocka_unit_test(test_too_much), cmocka_unit_test(test_unwind_tables),
		cmocka_unit_test(test_endless),	 cmocka_unit_test(test_number_of_another),
	};
	struct error err;

	if (symbolizer_start(&err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
