// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/fd_pass.h"

static void test_passed(void **state)
{
	int pair[2], fds[FD_PASS_MAX];
	char c = 0;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_true(fd_pass_send(pair[0], "x", 1, pair, 1));
	assert_int_equal(fd_pass_receive(pair[1], &c, 1, fds), 1);
	assert_int_equal(c, 'x');
	assert_true(fds[0] > pair[1]);
	assert_int_equal(fds[1], -1);
	close(fds[0]);
	close(pair[0]);
	assert_int_equal(fd_pass_receive(pair[1], &c, 1, fds), 0);
	close(pair[1]);
}

/* Who may open no more must not take it for a message without descriptors. */
static void test_no_room(void **state)
{
	int pair[2], fds[FD_PASS_MAX];
	struct rlimit before, low;
	char c;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (int room = 0; room < 3; room++) {
		assert_true(fd_pass_send(pair[0], "x", 1, pair, 2));
		low = (struct rlimit){ pair[1] + 1 + room, before.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
		errno = 0;
		assert_int_equal(fd_pass_receive(pair[1], &c, 1, fds), room == 2 ? 1 : -1);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		if (room < 2) {
			assert_int_equal(errno, EMFILE);
			assert_int_equal(fds[0], -1);
			assert_int_equal(dup(pair[0]), pair[1] + 1); /* none is kept */
			close(pair[1] + 1);
		}
	}
	for (int i = 0; i < FD_PASS_MAX; i++)
		close(fds[i]);
	close(pair[0]);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passed),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
