// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of counters: whose come first where there are more users than files, and how few they are.
 */
#include "daemon/marked.c"
#include "daemon/members.c"
#include "daemon/points.c"
#include "daemon/probe_cost.c"
#include "engine/backend.h"
#include "scoz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

#include "test_descriptors.h"

#define FIRST_UID 20000
#define USERS	  300
#define OURS	  30000

static char dir[] = "/tmp/scoz-marks-files-XXXXXX";
static char *counters;

static void sh(const char *command)
{
	assert_int_equal(system(command), 0);
}

static void remove_all(void)
{
	_cleanup_free_ char *command = xasprintf("rm -rf %s/proc %s", dir, counters);

	sh(command);
}

/* A process of that user, as far as /proc tells. */
static void make_process(int pid, uid_t uid)
{
	_cleanup_free_ char *proc = xasprintf("%s/proc", dir);
	_cleanup_free_ char *path = xasprintf("%s/%d", proc, pid);

	mkdir(proc, 0755);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(chown(path, uid, uid), 0);
}

static struct marks *open_marks(void)
{
	struct error err = { 0 };
	struct marks *m;

	if (marks_open(counters, &m, &err))
		fail_msg("%s", err.text);
	return m;
}

static char *file_of(uid_t uid)
{
	return xasprintf("%s/%u", counters, (unsigned int)uid);
}

static bool is_active(uid_t uid)
{
	_cleanup_free_ char *path = file_of(uid);
	_cleanup_close_ int fd = open(path, O_RDONLY);
	uint32_t active = 0;

	return pread(fd, &active, sizeof(active), offsetof(struct scoz_header_1, active)) ==
		       sizeof(active) &&
	       active;
}

/* As a program of that user does. */
static void count(uid_t uid, const char *name, uint64_t n)
{
	uint32_t hash = scoz_hash_1(name), claims = 1;
	off_t at = sizeof(struct scoz_header_1) +
		   (off_t)(hash % SCOZ_SLOTS_) * sizeof(struct scoz_slot_1);
	_cleanup_free_ char *path = file_of(uid);
	_cleanup_close_ int fd = open(path, O_RDWR);
	struct scoz_slot_1 slot;

	assert_int_equal(pread(fd, &slot, sizeof(slot), at), sizeof(slot));
	slot.state = SCOZ_READY_;
	slot.hash = hash;
	snprintf(slot.name, sizeof(slot.name), "%s", name);
	slot.shard[0].visits += n;
	assert_int_equal(pwrite(fd, &slot, sizeof(slot), at), sizeof(slot));
	assert_int_equal(
		pwrite(fd, &claims, sizeof(claims), offsetof(struct scoz_header_1, claims)),
		sizeof(claims));
}

static uint64_t visits(struct marks *m, const char *name)
{
	struct marks_counts c;

	assert_int_equal(marks_read(m, name, &c, NULL), 0);
	assert_int_equal(c.underway, 0);
	return c.visits;
}

static void test_more_users_than_files(void **state)
{
	int before = open_files(), taken = 0;
	uid_t ours = FIRST_UID;
	struct points p = { 0 };
	struct error why;

	(void)state;
	for (int i = 0; i < USERS; i++)
		make_process(100 + i, FIRST_UID + i);
	p.marks = open_marks();
	/* One is our own, one the directory's. */
	assert_int_equal(open_files(), before + MARKS_MOST_FILES + 1);
	assert_int_equal(marks_left_out(p.marks), USERS + 1 - MARKS_MOST_FILES);
	assert_true(points_leave_users_out(&p, &why));
	assert_non_null(strstr(why.text, "marks of 45 users are "));
	assert_false(points_leave_users_out(&p, &why));

	/* Whoever was left out comes first as soon as it is known to be profiled. */
	while (is_active(ours))
		ours++;
	marks_only_users(p.marks, &ours, 1);
	assert_int_equal(marks_refresh(p.marks, NULL), 0);
	assert_int_equal(marks_left_out(p.marks), 0);
	assert_int_equal(open_files(), before + MARKS_MOST_FILES + 1);
	assert_true(is_active(ours));
	count(ours, "unit", 3);
	assert_int_equal(visits(p.marks, "unit"), 3);
	for (int i = 0; i < USERS; i++)
		taken += is_active(FIRST_UID + i);
	assert_int_equal(taken, MARKS_MOST_FILES - 1);
	marks_close(p.marks);
	assert_int_equal(open_files(), before);
	remove_all();
}

/* Each time somebody deletes it (systemd's RemoveIPC) there is another, and all that was counted.
 */
static void test_replaced_often(void **state)
{
	_cleanup_free_ char *path = file_of(OURS);
	uint64_t end = clock_now_ns() + 60 * NSEC_PER_SEC;
	const uid_t ours = OURS;
	int before = open_files();
	struct marks *m;

	(void)state;
	make_process(4000, ours);
	m = open_marks();
	marks_only_users(m, &ours, 1);
	for (int i = 1; i <= 2 * MARKS_MOST_FILES; i++) {
		count(ours, "unit", 2);
		if (i == 7)
			count(ours, "seldom", 1);
		assert_int_equal(unlink(path), 0);
		assert_int_equal(marks_refresh(m, NULL), 0);
		assert_true(is_active(ours));
		assert_true(open_files() <= before + MARKS_MOST_FILES + 1);
		if (i % 50 == 0)
			assert_int_equal(visits(m, "unit"), 2 * i);
	}
	assert_int_equal(visits(m, "unit"), 4 * MARKS_MOST_FILES);
	assert_int_equal(visits(m, "seldom"), 1);
	/* After a moment those that are gone take no descriptors any more. */
	while (open_files() > before + 3 && clock_now_ns() < end) {
		usleep(10000);
		assert_int_equal(marks_refresh(m, NULL), 0);
	}
	assert_int_equal(open_files(), before + 3);
	count(ours, "unit", 2);
	assert_int_equal(visits(m, "unit"), 4 * MARKS_MOST_FILES + 2);
	assert_int_equal(marks_left_out(m), 0);
	marks_close(m);
	remove_all();
}

/* What was there before its user counted does not count when it is laid to rest either. */
static void test_replaced_late(void **state)
{
	_cleanup_free_ char *path = file_of(OURS);
	const uid_t me = geteuid(), ours = OURS;
	struct marks *m;

	(void)state;
	make_process(4000, ours);
	m = open_marks();
	marks_only_users(m, &me, 1);
	count(ours, "unit", 100);
	marks_only_users(m, &ours, 1);
	count(ours, "unit", 5);
	for (int i = 0; i <= MARKS_MOST_FILES; i++) {
		assert_int_equal(unlink(path), 0);
		assert_int_equal(marks_refresh(m, NULL), 0);
	}
	assert_int_equal(visits(m, "unit"), 5);
	marks_close(m);
	remove_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_more_users_than_files),
		cmocka_unit_test(test_replaced_often),
		cmocka_unit_test(test_replaced_late),
	};
	int failed;

	if (geteuid()) {
		printf("skipped: files of other users need root\n");
		return 77;
	}
	if (!mkdtemp(dir))
		abort();
	counters = xasprintf("%s/marks", dir);
	sysroot = dir;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	remove_all();
	rmdir(dir);
	free(counters);
	return failed;
}
