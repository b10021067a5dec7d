// SPDX-License-Identifier: GPL-2.0-only
/*
 * A target in the kernel whose size is known: scoz_burn_turns() takes processor time in proportion
 * to the argument of an ioctl. Callers do that at will, one at a time under a mutex, or one at a
 * time under a plain spin lock, so that what is waited for is the target, and the wait is not.
 *
 * Interrupts stay on in all of them: a sample of code that runs with interrupts off is taken where
 * they are turned on again, and would be somebody else's.
 */
#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>

#include "scoz_burn.h"

#define CHUNK 100000UL

static DEFINE_MUTEX(burn_mutex);
static DEFINE_SPINLOCK(burn_lock);

static atomic_long_t burned;

static int get_burned(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%ld\n", atomic_long_read(&burned));
}

static const struct kernel_param_ops burned_operations = {
	.get = get_burned,
};
module_param_cb(burned, &burned_operations, NULL, 0444);
MODULE_PARM_DESC(burned, "turns asked for so far");

/* A chain of dependent operations: no compiler shortens it. */
static noinline void scoz_burn_turns(unsigned long turns)
{
	u64 x = 88172645463325252ULL;

	while (turns--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		barrier_data(&x);
	}
}

static noinline void scoz_burn_plain(unsigned long turns)
{
	for (; turns > CHUNK; turns -= CHUNK) {
		scoz_burn_turns(CHUNK);
		cond_resched();
		if (signal_pending(current))
			return;
	}
	scoz_burn_turns(turns);
}

static noinline int scoz_burn_mutex(unsigned long turns)
{
	if (mutex_lock_interruptible(&burn_mutex))
		return -ERESTARTSYS;
	scoz_burn_plain(turns);
	mutex_unlock(&burn_mutex);
	return 0;
}

static noinline int scoz_burn_spinlock(unsigned long turns)
{
	if (turns > SCOZ_BURN_MAX_SPIN)
		return -EINVAL;
	spin_lock(&burn_lock);
	scoz_burn_turns(turns);
	spin_unlock(&burn_lock);
	return 0;
}

static long burn_ioctl(struct file *file, unsigned int command, unsigned long turns)
{
	if (turns > SCOZ_BURN_MAX_TURNS)
		return -EINVAL;
	atomic_long_add(turns, &burned);
	switch (command) {
	case SCOZ_BURN_PLAIN:
		scoz_burn_plain(turns);
		return 0;
	case SCOZ_BURN_MUTEX:
		return scoz_burn_mutex(turns);
	case SCOZ_BURN_SPINLOCK:
		return scoz_burn_spinlock(turns);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations burn_operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = burn_ioctl,
};

static struct miscdevice burn_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "scoz_burn",
	.fops = &burn_operations,
};
module_misc_device(burn_device);

MODULE_DESCRIPTION("Takes processor time in the kernel, as much as asked for (tests of scoz)");
MODULE_LICENSE("GPL");
