// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/wakers.h"

#include <limits.h>
#include <unistd.h>

struct name {
	enum record_woken_by by;
	uint32_t number;
	char *text;
};

struct wakers {
	struct name *names; /* few */
	size_t n, cap;
};

/* dev_t of the kernel: 12 bits major, 20 bits minor. */
static char *device_name(uint32_t number)
{
	_cleanup_free_ char *path =
		sysroot_path("/sys/dev/block/%u:%u", number >> 20, number & 0xfffff);
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	const char *slash;

	if (n <= 0)
		return xasprintf("block device %u:%u", number >> 20, number & 0xfffff);
	target[n] = '\0';
	slash = strrchr(target, '/');
	return xstrdup(slash ? slash + 1 : target);
}

/* The last column of /proc/interrupts says whose interrupt it is. */
static char *irq_name(uint32_t number)
{
	_cleanup_free_ char *path = sysroot_path("/sys/kernel/irq/%u/actions", number);
	_cleanup_free_ char *actions = read_file(path, NULL);

	if (actions)
		actions[strcspn(actions, "\n")] = '\0';
	return actions && *actions ? xasprintf("irq %s", actions) : xasprintf("irq %u", number);
}

static char *softirq_name(uint32_t vector)
{
	static const char *const names[] = { "hi",	 "timer",   "network", "network", "block",
					     "irq_poll", "tasklet", "sched",   "timer",	  "rcu" };

	return xstrdup(vector < ARRAY_SIZE(names) ? names[vector] : "softirq");
}

static char *make_name(enum record_woken_by by, uint32_t number)
{
	switch (by) {
	case RECORD_BY_TIMER:
		return xstrdup("timer");
	case RECORD_BY_DEVICE:
		return device_name(number);
	case RECORD_BY_IRQ:
		return irq_name(number);
	case RECORD_BY_SOFTIRQ:
		return softirq_name(number);
	case RECORD_BY_CPU:
		return xstrdup("another CPU");
	default:
		return NULL;
	}
}

const char *wakers_name(struct wakers *w, enum record_woken_by by, uint32_t number)
{
	if (by == RECORD_BY_NOBODY || by == RECORD_BY_TASK)
		return NULL;
	if (by == RECORD_BY_TIMER || by == RECORD_BY_CPU)
		number = 0;
	for (size_t i = 0; i < w->n; i++) {
		if (w->names[i].by == by && w->names[i].number == number)
			return w->names[i].text;
	}
	array_reserve(w->names, w->cap, w->n + 1);
	w->names[w->n] = (struct name){ by, number, make_name(by, number) };
	return w->names[w->n++].text;
}

struct wakers *wakers_create(void)
{
	return xcalloc(1, sizeof(struct wakers));
}

void wakers_destroy(struct wakers *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n; i++)
		free(w->names[i].text);
	free(w->names);
	free(w);
}
