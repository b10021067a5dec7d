// SPDX-License-Identifier: GPL-2.0-or-later
/* Which disk a name stands for, and what is said of names that stand for none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "host/block_device.h"

static char root[] = "/tmp/test_block_device.XXXXXX";

static void sh(const char *command)
{
	_cleanup_free_ char *all = xasprintf("cd %s && %s", root, command);

	assert_int_equal(system(all), 0);
}

static void refused(const char *name, int code, const char *text)
{
	struct error err = {};
	uint32_t disk = 0;

	assert_int_equal(block_disk_find(name, &disk, &err), -code);
	if (!strstr(err.text, text))
		fail_msg("'%s' is not in: %s", text, err.text);
	assert_int_equal(disk, 0);
}

static void test_disks(void **state)
{
	uint32_t disk = 0;

	(void)state;
	sh("mkdir -p sys/block sys/class/block sys/devices/block/vda/vda1 sys/devices/block/vda/mq "
	   "sys/devices/block/dm-0/slaves/vda sys/devices/block/zram0/slaves");
	sh("echo 254:16 > sys/devices/block/vda/dev; echo 254:17 > sys/devices/block/vda/vda1/dev; "
	   "echo 1 > sys/devices/block/vda/vda1/partition; "
	   "echo 253:0 > sys/devices/block/dm-0/dev; echo 252:0 > sys/devices/block/zram0/dev");
	sh("for d in vda dm-0 zram0; do ln -s ../devices/block/$d sys/block; "
	   "ln -s ../../devices/block/$d sys/class/block; done; "
	   "ln -s ../../devices/block/vda/vda1 sys/class/block");
	assert_int_equal(block_disk_find("vda", &disk, NULL), 0);
	assert_int_equal(disk, 254 << 20 | 16);
	refused("vda1", ENOTSUP,
		"a partition, and what serves requests is the whole disk: name "
		"that (vda)");
	refused("dm-0", ENOTSUP, "lies below it: name that (vda)");
	refused("zram0", ENOTSUP, "zram0 has no queue of requests");
	refused("vdb", ENOENT, "there is no block device 'vdb'");
	refused("vdb", ENOENT, "vda");
	sh("echo nonsense > sys/devices/block/vda/dev");
	refused("vda", ENOENT, "there is no block device 'vda'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disks),
	};
	int ret;

	if (!mkdtemp(root))
		return 1;
	sysroot = root;
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	sh("rm -r sys");
	remove(root);
	return ret;
}
