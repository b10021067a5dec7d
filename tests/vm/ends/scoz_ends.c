// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/scoz_ends: who reads it waits until a thread of the kernel ends that. What has been written
 * last says who it is, and by what that was set in motion: a timer (lower case) or the reader.
 *
 *	b	a thread that ends a bio
 *	n, N	one that polls a network device
 *	w, W	a kthread_worker
 *	t	one that does nothing of this kind
 */
#include <linux/bio.h>
#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/uaccess.h>

static DECLARE_COMPLETION(ended);
static char who = 't';

static struct task_struct *thread;
static atomic_t pending;
static DECLARE_WAIT_QUEUE_HEAD(thread_waits);
static struct bio bio;

static struct kthread_worker *worker;
static struct kthread_work work;
static struct net_device device;
static struct napi_struct napi;
static struct hrtimer timer;

static void bio_ended(struct bio *unused)
{
	complete(&ended);
}

static int run_thread(void *arg)
{
	while (!kthread_should_stop()) {
		wait_event_interruptible(thread_waits,
					 atomic_read(&pending) || kthread_should_stop());
		if (!atomic_xchg(&pending, 0))
			continue;
		if (who != 'b') {
			complete(&ended);
			continue;
		}
		bio_init(&bio, NULL, NULL, 0, REQ_OP_READ);
		bio.bi_end_io = bio_ended;
		bio_endio(&bio);
	}
	return 0;
}

static void do_work(struct kthread_work *unused)
{
	complete(&ended);
}

static int poll(struct napi_struct *n, int budget)
{
	complete(&ended);
	napi_complete_done(n, 0);
	return 0;
}

static void set_in_motion(void)
{
	switch (who) {
	case 'n':
	case 'N':
		napi_schedule(&napi);
		break;
	case 'w':
	case 'W':
		kthread_queue_work(worker, &work);
		break;
	default:
		atomic_set(&pending, 1);
		wake_up_interruptible(&thread_waits);
	}
}

static enum hrtimer_restart expired(struct hrtimer *unused)
{
	set_in_motion();
	return HRTIMER_NORESTART;
}

static ssize_t ends_read(struct file *file, char __user *buf, size_t size, loff_t *at)
{
	reinit_completion(&ended);
	if (who == 'N' || who == 'W') {
		local_bh_disable();
		set_in_motion();
		local_bh_enable();
	} else {
		hrtimer_start(&timer, ns_to_ktime(200 * NSEC_PER_USEC), HRTIMER_MODE_REL_HARD);
	}
	return wait_for_completion_interruptible(&ended) ?: 1;
}

static ssize_t ends_write(struct file *file, const char __user *buf, size_t size, loff_t *at)
{
	return get_user(who, buf) ? -EFAULT : size;
}

static const struct file_operations ends_operations = {
	.owner = THIS_MODULE,
	.read = ends_read,
	.write = ends_write,
};

static struct miscdevice ends_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "scoz_ends",
	.fops = &ends_operations,
};

static int __init ends_init(void)
{
	int ret;

	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = expired;
	init_dummy_netdev(&device);
	netif_napi_add(&device, &napi, poll);
	napi_enable(&napi);
	ret = dev_set_threaded(&device, true);
	if (ret)
		goto no_threads;
	thread = kthread_run(run_thread, NULL, "scoz_ends");
	worker = kthread_create_worker(0, "scoz_ends_worker");
	kthread_init_work(&work, do_work);
	if (!IS_ERR(thread) && !IS_ERR(worker)) {
		ret = misc_register(&ends_device);
		if (!ret)
			return 0;
	} else {
		ret = -ENOMEM;
	}
	if (!IS_ERR(thread))
		kthread_stop(thread);
	if (!IS_ERR(worker))
		kthread_destroy_worker(worker);
no_threads:
	napi_disable(&napi);
	netif_napi_del(&napi);
	return ret;
}

static void __exit ends_exit(void)
{
	misc_deregister(&ends_device);
	hrtimer_cancel(&timer);
	kthread_stop(thread);
	kthread_destroy_worker(worker);
	napi_disable(&napi);
	netif_napi_del(&napi);
}

module_init(ends_init);
module_exit(ends_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("waits that are ended by threads of the kernel");
