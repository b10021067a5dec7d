// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/wait_kinds.h"

#include <assert.h>
#include <fnmatch.h>

/* How far from the scheduler the function lies that says what is waited for. */
#define SEARCH_DEPTH 24

struct rule {
	const char *function; /* pattern */
	const char *kind;
};

/* Locks: the scheduler is called by the lock itself, so these are looked for among few. */
static const struct rule locks[] = {
	{ "__mutex_lock*", "mutex" },
	{ "mutex_lock*", "mutex" },
	{ "__ww_mutex_lock*", "mutex" },
	{ "rwsem_down_*", "rwsem" },
	{ "down_read*", "rwsem" },
	{ "down_write*", "rwsem" },
	{ "__down*", "semaphore" },
	{ "rt_mutex_*", "rtmutex" },
	{ "__rt_mutex_*", "rtmutex" },
	{ "rwbase_*", "rtmutex" },
	{ "percpu_down_write", "percpu-rwsem" },
	{ "percpu_rwsem_wait*", "percpu-rwsem" },
	{ "__percpu_down_read*", "percpu-rwsem" },
	{ "futex_wait*", "futex" },
	{ "__futex_wait*", "futex" },
	{ "futex_do_wait*", "futex" },
	{ "futex_sleep_multiple*", "futex" },
	{ "futex_lock_pi*", "futex" },
};
#define LOCK_DEPTH 6

/*
 * The first one that any function of the chain fits decides. Compilers inline what is called once:
 * so the system calls are named, too.
 */
static const struct rule waits[] = {
	{ "*_page_fault", "page fault" },
	{ "do_mem_abort", "page fault" },
	{ "pipe_*", "pipe" },
	{ "anon_pipe_*", "pipe" },
	{ "fifo_open", "pipe" },
	{ "wait_for_partner", "pipe" },
	{ "ep_poll", "poll" },
	{ "do_epoll_*", "poll" },
	{ "do_poll*", "poll" },
	{ "*_sys_p*poll*", "poll" },
	{ "do_select", "poll" },
	{ "*_sys_*select*", "poll" },
	{ "do_nanosleep", "sleep" },
	{ "hrtimer_nanosleep", "sleep" },
	{ "common_nsleep*", "sleep" },
	{ "do_wait*", "child" },
	{ "*_wait4*", "child" },
	{ "*_waitid*", "child" },
	{ "wait_for_vfork_done", "child" },
	{ "*sigtimedwait*", "signal" },
	{ "*sigsuspend*", "signal" },
	{ "__*_sys_pause", "signal" },
	{ "do_signal_stop", "stopped" },
	{ "ptrace_stop*", "stopped" },
	{ "do_freezer_trap", "stopped" },
	{ "io_cqring_wait*", "io_uring" },
	{ "io_wq_worker", "io_uring" },
	{ "timerfd_read*", "timer" },
	{ "eventfd_read", "eventfd" },
	{ "inotify_read", "inotify" },
	{ "fuse_*", "fuse" },
	{ "__fuse_*", "fuse" },
	{ "rpc_wait*", "network file system" },
	{ "nfs*", "network file system" },
	{ "p9_*", "network file system" },
	{ "sk_wait_data", "network" },
	{ "sk_stream_wait*", "network" },
	{ "__skb_wait*", "network" },
	{ "__skb_recv*", "network" },
	{ "__lock_sock", "network" },
	{ "tcp_*", "network" },
	{ "udp*_recvmsg", "network" },
	{ "inet*_accept", "network" },
	{ "inet_csk_*", "network" },
	{ "inet_wait*", "network" },
	{ "unix_*", "socket" },
	{ "vsock_*", "socket" },
	{ "netlink_*", "socket" },
	{ "sock_*", "network" },
	{ "n_tty_*", "terminal" },
	{ "tty_*", "terminal" },
	{ "*semtimedop*", "semaphore set" },
	{ "do_msg*", "message queue" },
	{ "*_msgrcv*", "message queue" },
	{ "*_msgsnd*", "message queue" },
	{ "wq_sleep", "message queue" },
	{ "jbd2_*", "journal" },
	{ "xfs_log*", "journal" },
	{ "xlog_*", "journal" },
	{ "throttle_direct_reclaim", "memory" },
	{ "balance_dirty_pages*", "writeback" },
	{ "blkdev_*", "disk" },
	{ "*iomap_dio*", "disk" },
	{ "submit_bio_wait", "disk" },
	{ "*dio_complete*", "disk" },
	{ "*direct_IO*", "disk" },
	{ "*blockdev_direct*", "disk" },
	{ "blk_*", "disk" },
	{ "rq_qos_wait", "disk" },
	{ "wbt_wait", "disk" },
	{ "*folio_wait*", "page cache" },
	{ "__folio_lock*", "page cache" },
	{ "wait_on_page*", "page cache" },
	{ "__lock_page*", "page cache" },
	{ "filemap_*", "page cache" },
	{ "__wait_on_buffer", "page cache" },
	{ "synchronize_*", "rcu" },
	{ "wait_rcu_*", "rcu" },
	{ "rcu_*", "kernel thread" },
	{ "worker_thread", "kernel thread" },
	{ "rescuer_thread", "kernel thread" },
	{ "smpboot_thread_fn", "kernel thread" },
	{ "kthread", "kernel thread" },
};

static uint8_t first_rule(const struct rule *rules, size_t n, const char *function)
{
	size_t r = 0;

	while (r < n && fnmatch(rules[r].function, function, 0))
		r++;
	return r;
}

struct wait_rules record_wait_rules(const char *function)
{
	static_assert(ARRAY_SIZE(locks) < UINT8_MAX && ARRAY_SIZE(waits) < UINT8_MAX, "numbers");

	return (struct wait_rules){ first_rule(locks, ARRAY_SIZE(locks), function),
				    first_rule(waits, ARRAY_SIZE(waits), function) };
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

const char *record_wait_kind_of(const struct wait_rules *rules, size_t n, enum record_class *class)
{
	size_t lock = ARRAY_SIZE(locks), wait = ARRAY_SIZE(waits);

	if (*class == RECORD_SCHED || *class == RECORD_ON)
		return NULL;
	for (size_t i = 0; i < n && i < LOCK_DEPTH; i++)
		lock = smaller(lock, rules[i].lock);
	if (lock < ARRAY_SIZE(locks) && *class != RECORD_IO) {
		*class = RECORD_LOCK;
		return locks[lock].kind;
	}
	for (size_t i = 0; i < n && i < SEARCH_DEPTH; i++)
		wait = smaller(wait, rules[i].wait);
	if (wait < ARRAY_SIZE(waits))
		return waits[wait].kind;
	return *class == RECORD_IO ? "disk" : NULL;
}

const char *record_wait_kind(const char *const *functions, size_t n, enum record_class *class)
{
	struct wait_rules rules[SEARCH_DEPTH];

	n = smaller(n, SEARCH_DEPTH);
	for (size_t i = 0; i < n; i++)
		rules[i] = record_wait_rules(functions[i]);
	return record_wait_kind_of(rules, n, class);
}
